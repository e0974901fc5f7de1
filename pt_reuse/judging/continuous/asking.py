"""Asking: a batch of documents goes to the judge, or its labels come from the journal of the session."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import pandas as pd

from pt_reuse._check import examples, shown
from pt_reuse._errors import InputError, arguments_as
from pt_reuse.judging.journal import Journal
from pt_reuse.judging.judge import Judge
from pt_reuse.judging.topic_texts import TopicTexts

#: how the documents of a round were chosen: by the classifier
CAL = "cal"
#: the fields of a batch that hold one value for each document
_EACH = ("docnos", "reasons", "labels", "judges", "times")


@dataclass(frozen=True)
class Batch:
    """Documents of a topic that are judged together.

    Attributes:
        qid: the topic.
        round: in which round, from 1.
        strategy: how they were chosen: ``"depth-10 pool"``, or ``"cal"``.
        docnos: the documents, in the order in which they are judged.
        reasons: why each was chosen.
    """

    qid: str
    round: int
    strategy: str
    docnos: tuple[str, ...]
    reasons: tuple[str, ...]

    def rest(self, done: int) -> Batch:
        """Return the batch without its first documents."""
        return replace(self, docnos=self.docnos[done:], reasons=self.reasons[done:])


@dataclass(frozen=True)
class Judged(Batch):
    """A batch with its labels.

    Attributes:
        labels: None for a document to which the judge gave none.
        judges: who gave each label, None where there is none.
        times: when, ISO 8601 in UTC; None where there is no label.
    """

    labels: tuple[int | None, ...]
    judges: tuple[str | None, ...]
    times: tuple[str | None, ...]

    def to_record(self) -> dict[str, Any]:
        """Return the batch as the journal keeps it."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def read(cls, record: Mapping[str, Any]) -> Judged:
        """Return a batch that the journal kept."""
        given = ((field.name, record[field.name]) for field in fields(cls))
        values: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in given}
        return cls(**values)

    def first(self, n: int) -> Judged:
        """Return the first documents of the batch."""
        return replace(self, **{name: getattr(self, name)[:n] for name in _EACH})

    def with_more(self, more: Judged) -> Judged:
        """Return the documents of this and of another part of the batch."""
        return replace(self, **{name: getattr(self, name) + getattr(more, name) for name in _EACH})

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per label, with its provenance."""
        columns = (self.docnos, self.labels, self.judges, self.times, self.reasons)
        return [
            {
                "qid": self.qid,
                "docno": docno,
                "label": label,
                "judge": judge,
                "time": time,
                "strategy": self.strategy,
                "round": self.round,
                "reason": reason,
            }
            for docno, label, judge, time, reason in zip(*columns, strict=True)
            if label is not None
        ]


class Asking:
    """Has batches judged, as far as the journal does not hold their labels.

    Args:
        judge: who is asked.
        topics: what the judge is told of each topic.
        texts: document -> text, which the judge gets beside; None for none.
        journal: of the session, None where there is none.
    """

    def __init__(self, judge: Judge, topics: TopicTexts, texts: Mapping[str, str] | None, journal: Journal | None):
        self._judge, self._topics, self._texts, self._journal = judge, topics, texts, journal
        self._kept: dict[tuple[str, int], Judged] = {}
        for record in [] if journal is None else journal.records:
            batch = Judged.read(record)
            # a budget may have cut a batch, of which a larger one had the rest judged
            before = self._kept.get((batch.qid, batch.round))
            self._kept[batch.qid, batch.round] = batch if before is None else before.with_more(batch)

    def judged(self, batch: Batch) -> Judged:
        """Return a batch with its labels; when this returns they are in the journal."""
        kept = self._kept.get((batch.qid, batch.round))
        if kept is None:
            return self._ask(batch)
        n = min(len(kept.docnos), len(batch.docnos))
        if (kept.strategy, kept.docnos[:n]) != (batch.strategy, batch.docnos[:n]):
            raise InputError(
                f"the session has labels of {examples(kept.docnos, 2)} for topic {shown(batch.qid)} in round "
                f"{batch.round}, where {examples(batch.docnos, 2)} would be judged now. Something has changed since: "
                "the texts, or the library that scores them. Go on with what the session was begun with, or begin anew "
                "in another folder.",
                argument="session",
            )
        if n == len(batch.docnos):
            return kept.first(n)
        return kept.with_more(self._ask(batch.rest(n)))

    def _ask(self, batch: Batch) -> Judged:
        pairs = pd.DataFrame({"qid": batch.qid, "docno": list(batch.docnos)}, dtype=object)
        pairs = self._topics.beside(pairs)
        if self._texts is not None:
            pairs["text"] = pd.Series([self._texts.get(docno) for docno in batch.docnos], dtype=object)
        said = self._judge.transform(pairs)
        labels = [None if pd.isna(label) else int(label) for label in said["label"]]
        judges, times = (
            tuple(None if pd.isna(value) else str(value) for value in said[column]) for column in ("judge", "time")
        )
        made = Judged(
            qid=batch.qid,
            round=batch.round,
            strategy=batch.strategy,
            docnos=batch.docnos,
            reasons=batch.reasons,
            labels=tuple(labels),
            judges=judges,
            times=times,
        )
        if self._journal is not None:
            with arguments_as(path="session"):
                self._journal.append(made.to_record())
        return made
