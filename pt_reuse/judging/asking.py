"""Asking: documents put before a judge in batches, and what it says of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

import pandas as pd
import pyterrier as pt

from pt_reuse._check import told
from pt_reuse._errors import InputError, located
from pt_reuse.judging.answers import Answer
from pt_reuse.judging.judge import checked_labels
from pt_reuse.judging.topic_texts import TopicTexts


@dataclass(frozen=True)
class Asked:
    """A document that a judge is asked about.

    Attributes:
        qid: the topic.
        docno: the document.
        round: in which round, from 1.
        reason: why it was chosen.
    """

    qid: str
    docno: str
    round: int
    reason: str


class Asking:
    """Puts documents before a judge.

    Args:
        judge: whoever gives labels.
        texts: what it is told of the topics.
        batch_size: documents per call, None for all at once.
    """

    def __init__(self, judge: pt.Transformer, texts: TopicTexts, batch_size: int | None = None):
        self._judge, self._texts, self._batch_size = judge, texts, batch_size

    def answers(self, asked: Sequence[Asked]) -> Iterator[list[Answer]]:
        """Yield what the judge says, batch by batch; a document that it says nothing of has no label."""
        size = self._batch_size or max(len(asked), 1)
        for start in range(0, len(asked), size):
            yield self._of_batch(asked[start : start + size])

    def _of_batch(self, asked: Sequence[Asked]) -> list[Answer]:
        pairs = pd.DataFrame({"qid": [one.qid for one in asked], "docno": [one.docno for one in asked]}, dtype=object)
        said = judged_by(self._judge, self._texts.beside(pairs))
        now = datetime.now(timezone.utc).isoformat(timespec="seconds")
        answers = []
        for one in asked:
            label, judge, time = said.get((one.qid, one.docno), (None, None, None))
            answers.append(Answer(one.qid, one.docno, label, judge, time or now, one.round, one.reason))
        return answers


def judged_by(judge: pt.Transformer, pairs: pd.DataFrame) -> dict[tuple[str, str], tuple[int | None, Any, Any]]:
    """Return what a judge says of documents: (topic, document) -> label, who gave it, and when, as far as it says.

    Raises:
        InputError: no frame with labels, or a label out of range.
    """
    found: Any = judge.transform(pairs.copy())
    with located("judge"):
        if not isinstance(found, pd.DataFrame) or not {"qid", "docno", "label"} <= set(found.columns):
            what = (
                f"a frame with {', '.join(map(str, found.columns))}" if isinstance(found, pd.DataFrame) else told(found)
            )
            raise InputError(f"a judge must return a frame with qid, docno and label, got {what}.", argument="judge")
        labels = checked_labels(found["label"], found)
    more = [found[c].tolist() if c in found else [None] * len(found) for c in ("judge", "time")]
    rows = zip(found["qid"], found["docno"], labels.tolist(), *more, strict=True)
    return {
        (qid, docno): (None if label is pd.NA else int(label), *(None if v is pd.NA or v != v else v for v in rest))
        for qid, docno, label, *rest in rows
    }
