"""Verdict: what a judge said of one document, and what is known of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import pandas as pd

from pt_reuse.qrels.judgments import Qrels


@dataclass(frozen=True)
class Verdict:
    """What a judge said of one document.

    Attributes:
        qid: the topic.
        docno: the document.
        label: None where the judge gave none.
        judge: who judged; None where nobody did.
        time: when, ISO 8601 in UTC.
        round: in which round of its topic, from 1.
        reason: why the document was chosen.
        more: column -> what else the judge says of the label.
    """

    qid: str
    docno: str
    label: int | None
    judge: str | None
    time: str
    round: int
    reason: str
    more: Mapping[str, Any]

    @property
    def has_label(self) -> bool:
        """Whether the document got a label: one below 0 (not judged, junk) is none."""
        return self.label is not None and self.label >= 0

    @classmethod
    def read(cls, saved: Mapping[str, Any]) -> Verdict:
        """Return a verdict from what JSON made of :meth:`to_dict`."""
        more = {column: tuple(cell) if isinstance(cell, list) else cell for column, cell in saved["more"].items()}
        return cls(**{**{field.name: saved[field.name] for field in fields(cls)}, "more": more})

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as JSON takes it."""
        return {**asdict(self), "more": dict(self.more)}


def qrels_of(answers: Iterable[Verdict], strategy: str, topics: Iterable[str], rel: int | None) -> Qrels:
    """Return the labels of some answers as judgments with their provenance; those without a label are left out.

    Args:
        answers: in the order in which they are to stand within their topics.
        strategy: by which the documents were chosen.
        topics: the topic set.
        rel: the lowest label that is relevant, None where nobody says.
    """
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
    for column in dict.fromkeys(column for row in rows for column in row.more):
        frame[column] = _column([row.more.get(column) for row in rows])
    return Qrels(frame, topics=topics, rel=rel)


def _column(cells: list[Any]) -> pd.Series:
    """Return whole numbers as Int64, numbers as float64, True and False as boolean, all else as it is."""
    kinds = {type(cell) for cell in cells if cell is not None}
    for some, dtype in (({int}, "Int64"), ({int, float}, "float64"), ({bool}, "boolean")):
        if kinds and kinds <= some:
            return pd.Series(cells, dtype=dtype)
    return pd.Series(cells, dtype=object)
