"""Where the runs of a field have judged documents: the one index that every judgment set shares."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pt_reuse.engine import tokens
from pt_reuse.engine.field import Field
from pt_reuse.engine.open_field import AnyField
from pt_reuse.engine.topic_docs import TopicDocs


@dataclass(frozen=True)
class Hits:
    """Judged documents in ranked lists; list ``t * n_runs + r`` is what run r retrieves for the t-th topic gathered.

    Attributes:
        n_runs: runs of the field.
        starts: (lists + 1,) the hits of each list, in ranking order.
        row: (hits,) the judgment that the document has, as a row of the judgments of the topics gathered.
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
    """Finds the judged documents of a field among its codes; it holds nothing that a call changes.

    Args:
        field: the coded runs.
        documents: the judged documents.

    Attributes:
        field_topic: the topic of the field that each topic of the judgments is, -1 where the field lacks it.
    """

    def __init__(self, field: AnyField, documents: TopicDocs):
        self.field, self.documents = field, documents
        self.field_topic = [field.topic_row.get(topic, -1) for topic in documents.topics]
        # of a field of one block all judgments are found at once; of an open one those of each block as it comes
        self._found = self._find(field, self.topics) if isinstance(field, Field) else None

    @property
    def topics(self) -> range:
        """Return all topics of the judgments, as positions among them."""
        return range(len(self.field_topic))

    def lengths(self, t: int) -> NDArray[np.integer]:
        """Return (runs,): how many documents each run retrieves for a topic of the judgments."""
        at = self.field_topic[t]
        return self.field.lengths[at] if at >= 0 else np.zeros(self.field.n_runs, dtype=np.int64)

    def rows_of_codes(
        self, topics: range, wanted: NDArray[np.bool_] | None = None
    ) -> Iterator[NDArray[np.int32] | None]:
        """Yield for each topic the row of the judgments that each document code has, None where the field lacks it.

        Args:
            topics: neighbouring topics of the judgments; rows are counted from the first row of the first one.
            wanted: (rows of these topics,) the rows to look for; default all. A code without such a row has -1.
        """
        first_row = int(self.documents.starts[topics.start])
        for some, i in self._by_part(topics):
            if i < 0:
                yield from [None] * len(some)
                continue
            block = self.field.part(i)
            begin = self.field.parts[i].start
            found, before = (self._found, 0) if self._found is not None else (self._find(block, some), some.start)
            before = int(self.documents.starts[before])
            row_of_doc = np.full(len(block.vocabulary), -1, dtype=np.int32)  # of this call alone
            for t in some:
                at = self.field_topic[t]
                if at < 0:
                    yield None
                    continue
                start, stop = self.documents.starts[t : t + 2].tolist()
                docs = found[start - before : stop - before]
                start, stop = start - first_row, stop - first_row
                chosen = np.flatnonzero(docs >= 0 if wanted is None else (docs >= 0) & wanted[start:stop])
                row_of_doc[docs[chosen]] = start + chosen
                rows = row_of_doc.take(block.docs(at - begin))
                row_of_doc[docs[chosen]] = -1
                yield rows

    def _find(self, block: Field, topics: range) -> NDArray[np.int64]:
        # each judged document of these topics as a row of the block's vocabulary, -1 where no run retrieves it
        first, stop = self.documents.starts[[topics.start, topics.stop]].tolist()
        return tokens.find(self.documents.words[first:stop], tokens.as_words(block.vocabulary))

    def _by_part(self, topics: range) -> Iterator[tuple[range, int]]:
        # neighbouring topics whose runs lie in one block, and which one it is: -1 for topics that the field lacks
        if self._found is not None:
            yield from [(topics, 0)] if self.field.n_topics else [(topics, -1)]
            return
        part_of = np.repeat(np.arange(len(self.field.parts)), [len(part) for part in self.field.parts]).tolist()
        first, held = topics.start, -1
        for t in topics:
            at = self.field_topic[t]
            here = part_of[at] if at >= 0 else held
            if held >= 0 and here != held:
                yield range(first, t), held
                first = t
            held = here
        if topics.stop > first:
            yield range(first, topics.stop), held

    def gather(self, topics: range, wanted: NDArray[np.bool_] | None = None) -> Hits:
        """Return the hits of neighbouring topics, only those on the `wanted` rows of the judgments when given."""
        n_runs = self.field.n_runs
        counts, rows, ranks, lengths = [], [], [], []
        for t, row_of_code in zip(topics, self.rows_of_codes(topics, wanted), strict=True):
            lengths.append(self.lengths(t))
            if row_of_code is None:
                counts.append(np.zeros(n_runs, dtype=np.int64))
                continue
            block, at = self.field.of(self.field_topic[t])
            codes = block.codes[block.rows(at)]
            # take by 16-bit codes is several times as fast as indexing with them
            where = np.flatnonzero((row_of_code >= 0).take(codes))
            ends = np.cumsum(lengths[-1])
            counts.append(np.diff(np.searchsorted(where, ends), prepend=0))
            begins = np.repeat(ends - lengths[-1], counts[-1])
            rows.append(row_of_code.take(codes.take(where)))
            ranks.append((where - begins + 1).astype(np.int32))
        none = np.zeros(0, dtype=np.int32)
        return Hits(
            n_runs,
            np.concatenate([[0], np.cumsum(np.concatenate(counts) if counts else none)]).astype(np.int64),
            np.concatenate(rows) if rows else none,
            np.concatenate(ranks) if ranks else none,
            np.concatenate(lengths) if lengths else np.zeros(0, dtype=np.int64),
        )
