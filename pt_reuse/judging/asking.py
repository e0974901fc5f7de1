"""Asking: documents put before a judge in batches, and what it says of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from pt_reuse.judging.judge import Judge
from pt_reuse.judging.topic_texts import TopicTexts
from pt_reuse.judging.verdicts import Verdict
from pt_reuse.qrels.labelling import PROVENANCE, now, plain


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

    def __init__(self, judge: Judge, texts: TopicTexts, batch_size: int | None = None):
        self._judge, self._texts, self._batch_size = judge, texts, batch_size

    def answers(self, asked: Sequence[Asked]) -> Iterator[list[Verdict]]:
        """Yield what the judge says, batch by batch, in the order of asking."""
        size = self._batch_size or max(len(asked), 1)
        for start in range(0, len(asked), size):
            yield self._of_batch(asked[start : start + size])

    def _of_batch(self, asked: Sequence[Asked]) -> list[Verdict]:
        pairs = self._texts.beside(
            pd.DataFrame({"qid": [one.qid for one in asked], "docno": [one.docno for one in asked]}, dtype=object)
        )
        said = self._judge.transform(pairs)
        # why a document was chosen is known here; the rest the judge says
        more = [column for column in map(str, said) if column not in (*pairs.columns, "label", *PROVENANCE)]
        cells = {column: [_plain(cell) for cell in said[column]] for column in ("label", "judge", "time", *more)}
        return [
            Verdict(
                one.qid,
                one.docno,
                None if cells["label"][row] is None else int(cells["label"][row]),
                cells["judge"][row],
                cells["time"][row] or now(),
                one.round,
                one.reason,
                {column: cells[column][row] for column in more},
            )
            for row, one in enumerate(asked)
        ]


def _plain(cell: Any) -> Any:
    """Return a cell of the judge's answer as JSON can hold it, where it can; None for one that is missing."""
    if isinstance(cell, np.ndarray):
        cell = cell.tolist()
    cell = plain(cell)
    missing = cell is None or cell is pd.NA or (isinstance(cell, float) and cell != cell)
    return None if missing else tuple(cell) if isinstance(cell, list) else cell
