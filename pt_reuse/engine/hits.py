"""Where the runs of a field have judged documents: the one index that every judgment set shares."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pt_reuse.engine import tokens
from pt_reuse.engine.field import Field
from pt_reuse.engine.topic_docs import TopicDocs


@dataclass(frozen=True)
class Hits:
    """Judged documents in ranked lists; list ``t * n_runs + r`` is what run r retrieves for topic t of the judgments.

    Attributes:
        n_runs: runs of the field.
        starts: (lists + 1,) the hits of each list, in ranking order.
        row: (hits,) the judgment that the document has, as a row of the judgments.
        rank: (hits,) from 1.
        lengths: (lists,) documents retrieved, judged or not.
    """

    n_runs: int
    starts: NDArray[np.int64]
    row: NDArray[np.int32]
    rank: NDArray[np.int32]
    lengths: NDArray[np.int64]

    @cached_property
    def of(self) -> NDArray[np.int64]:
        """Return (hits,): the list of each hit."""
        return np.repeat(np.arange(len(self.lengths)), np.diff(self.starts))

    def top(self, cutoff: int | None) -> Hits:
        """Return the hits at rank `cutoff` or better."""
        if cutoff is None:
            return self
        kept = np.flatnonzero(self.rank <= cutoff)
        starts = np.searchsorted(kept, self.starts)
        return Hits(self.n_runs, starts, self.row[kept], self.rank[kept], self.lengths)


class HitIndex:
    """Finds the judged documents of a field among its codes.

    Args:
        field: the coded runs.
        documents: the judged documents.
    """

    def __init__(self, field: Field, documents: TopicDocs):
        self.field = field
        self.topics, self.starts = documents.topics, documents.starts
        self.field_topic = [field.topic_row.get(topic, -1) for topic in documents.topics]
        codes, first = tokens.factorize(documents.words)
        #: (rows,) each judged document as a row of the field's vocabulary, -1 where no run retrieves it
        self.doc_of_row = tokens.find(documents.words[first], tokens.as_words(field.vocabulary))[codes]
        self._row_of_doc = np.full(len(field.vocabulary), -1, dtype=np.int32)

    def lengths(self, t: int) -> NDArray[np.int64]:
        """Return (runs,): how many documents each run retrieves for a topic of the judgments."""
        at = self.field_topic[t]
        return self.field.lengths[at] if at >= 0 else np.zeros(self.field.n_runs, dtype=np.int64)

    def row_of_code(self, t: int, wanted: NDArray[np.bool_] | None = None) -> NDArray[np.int32]:
        """Return for each document code of a topic its row of the judgments, -1 where it has none that is wanted."""
        at = self.field_topic[t]
        rows = np.arange(self.starts[t], self.starts[t + 1])
        docs = self.doc_of_row[rows]
        chosen = docs >= 0 if wanted is None else (docs >= 0) & wanted[rows]
        rows, docs = rows[chosen], docs[chosen]
        self._row_of_doc[docs] = rows
        found = self._row_of_doc[self.field.docs(at)]
        self._row_of_doc[docs] = -1  # the table is shared by all topics
        return found

    def gather(self, wanted: NDArray[np.bool_] | None = None) -> Hits:
        """Return the hits of all topics, only those on the `wanted` rows of the judgments when given."""
        n_runs = self.field.n_runs
        counts, rows, ranks, lengths = [], [], [], []
        for t, at in enumerate(self.field_topic):
            lengths.append(self.lengths(t))
            if at < 0:
                counts.append(np.zeros(n_runs, dtype=np.int64))
                continue
            row_of_code = self.row_of_code(t, wanted)
            codes = self.field.codes[self.field.rows(at)]
            where = np.flatnonzero((row_of_code >= 0)[codes])
            ends = np.cumsum(lengths[-1])
            counts.append(np.diff(np.searchsorted(where, ends), prepend=0))
            begins = np.repeat(ends - lengths[-1], counts[-1])
            rows.append(row_of_code[codes[where]])
            ranks.append((where - begins + 1).astype(np.int32))
        none = np.zeros(0, dtype=np.int32)
        return Hits(
            n_runs,
            np.concatenate([[0], np.cumsum(np.concatenate(counts) if counts else none)]).astype(np.int64),
            np.concatenate(rows) if rows else none,
            np.concatenate(ranks) if ranks else none,
            np.concatenate(lengths) if lengths else np.zeros(0, dtype=np.int64),
        )
