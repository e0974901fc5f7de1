"""FieldMark: by what a field is known again, and what differs between two."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

from pt_reuse._check import count, examples, shown
from pt_reuse.pooling.adaptive.lists import TopicLists


@dataclass(frozen=True)
class FieldMark:
    """By what the lists that are pooled are known again: the same runs, topics, documents and scores.

    Attributes:
        runs: the contributing runs, in the order of the field.
        topics: topic -> the mark of its lists.
        lists: what was marked, where it is at hand; a mark that was read has none.
    """

    runs: tuple[str, ...]
    topics: Mapping[str, str]
    lists: Sequence[TopicLists] = ()

    @classmethod
    def of(cls, topics: Sequence[TopicLists]) -> FieldMark:
        """Return the mark of a field, topic by topic."""
        return cls(topics[0].names if topics else (), {one.qid: _mark(one) for one in topics}, topics)

    @classmethod
    def read(cls, saved: Mapping[str, Any]) -> FieldMark:
        """Return a mark from what :meth:`to_dict` made of it."""
        return cls(tuple(saved["runs"]), dict(saved["topics"]))

    def to_dict(self) -> dict[str, Any]:
        """Return the mark as JSON takes it."""
        return {"runs": list(self.runs), "topics": dict(self.topics)}

    def differences(self, now: FieldMark) -> list[str]:
        """Return in words what another field has that this one had not, and the other way round."""
        found = [*_sets("run", self.runs, now.runs), *_sets("topic", self.topics, now.topics)]
        if not found:
            marks = now.marks_in(self.runs)
            changed = [qid for qid, mark in self.topics.items() if marks[qid] != mark]
            if changed:
                found.append(f"the documents of {count(len(changed), 'topic')} differ, such as {shown(changed[0])}")
        return found

    def marks_in(self, runs: Sequence[str]) -> Mapping[str, str]:
        """Return the marks as they are where the same runs stand in another order, which decides nothing.

        Args:
            runs: the same runs.
        """
        if tuple(runs) == self.runs:
            return self.topics
        order = np.array([self.runs.index(run) for run in runs], dtype=np.int64)
        return {one.qid: _mark(one.in_order(order)) for one in self.lists}


def _mark(topic: TopicLists) -> str:
    digest = blake2b(digest_size=8)
    digest.update(json.dumps(topic.docnos).encode())
    digest.update(topic.starts.astype("<i8").tobytes())
    digest.update(topic.codes.astype("<i8").tobytes())
    digest.update(topic.scores.astype("<f8").tobytes())
    return digest.hexdigest()


def _sets(noun: str, then: Iterable[str], now: Iterable[str]) -> list[str]:
    before, after = dict.fromkeys(then), dict.fromkeys(now)
    gone, new = [one for one in before if one not in after], [one for one in after if one not in before]
    return [
        f"{noun if len(names) == 1 else noun + 's'} {examples(names)} {'is' if len(names) == 1 else 'are'} {what}"
        for names, what in ((gone, "not there"), (new, "new"))
        if names
    ]
