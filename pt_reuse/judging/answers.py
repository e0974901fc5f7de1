"""Answer: what a judge said of one document, and what is known of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import pandas as pd

from pt_reuse.qrels.judgments import Qrels


@dataclass(frozen=True)
class Answer:
    """What a judge said of one document.

    Attributes:
        qid: the topic.
        docno: the document.
        label: None where the judge gave none.
        judge: who judged; None where nobody did.
        time: when, ISO 8601 in UTC.
        round: in which round of its topic, from 1.
        reason: why the document was chosen.
    """

    qid: str
    docno: str
    label: int | None
    judge: str | None
    time: str
    round: int
    reason: str

    @classmethod
    def read(cls, saved: Mapping[str, Any]) -> Answer:
        """Return an answer from what :meth:`to_dict` made of it."""
        return cls(**{field.name: saved[field.name] for field in fields(cls)})

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as JSON takes it."""
        return asdict(self)


def qrels_of(answers: Iterable[Answer], strategy: str, topics: Iterable[str], rel: int | None) -> Qrels:
    """Return the labels of some answers as judgments with their provenance; those without a label are left out."""
    rows = [answer for answer in answers if answer.label is not None]
    frame = pd.DataFrame(
        {
            "qid": pd.Series([row.qid for row in rows], dtype=object),
            "docno": pd.Series([row.docno for row in rows], dtype=object),
            "label": pd.Series([row.label for row in rows], dtype="int64"),
            "judge": pd.Series([row.judge for row in rows], dtype=object),
            "time": pd.Series([row.time for row in rows], dtype=object),
            "strategy": pd.Series([strategy] * len(rows), dtype=object),
            "round": pd.Series([row.round for row in rows], dtype="int64"),
            "reason": pd.Series([row.reason for row in rows], dtype=object),
        }
    )
    return Qrels(frame, topics=topics, rel=rel)
