"""Score a field under a base judgment set and under many more that each differ from it in some documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pt_reuse.arrays import tokens
from pt_reuse.arrays.field import AnyField, Field
from pt_reuse.arrays.kernels import KERNELS, Cells, JudgedOnly, Judgments, Labels, Lists, Spec
from pt_reuse.arrays.lists import TopicDocs, offsets, ranges, stable_order


@dataclass(frozen=True)
class Hits:
    """Judged documents in ranked lists; list ``t * n_runs + r`` is what run r retrieves for the t-th topic gathered."""

    n_runs: int  # runs of the field
    starts: NDArray[np.int64]  # (lists + 1,) the hits of each list, in ranking order
    row: NDArray[np.int32]
    rank: NDArray[np.int32]  # (hits,) from 1
    lengths: NDArray[np.int64]  # (lists,) documents retrieved, judged or not

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
    """Finds the judged documents of a field among its codes; it holds nothing that a call changes."""

    def __init__(self, field: AnyField, documents: TopicDocs):
        self.field, self.documents = field, documents
        self.field_topic = [field.topic_row.get(topic, -1) for topic in documents.topics]
        # of a field of one block all judgments are found at once; of an open one those of each block as it comes
        self._found = (
            tokens.find(documents.words, tokens.as_words(field.vocabulary)) if isinstance(field, Field) else None
        )

    @property
    def topics(self) -> range:
        return range(len(self.field_topic))

    def lengths(self, t: int) -> NDArray[np.integer]:
        """Return (runs,): how many documents each run retrieves for a topic of the judgments."""
        at = self.field_topic[t]
        return self.field.lengths[at] if at >= 0 else np.zeros(self.field.n_runs, dtype=np.int64)

    def rows_of_codes(
        self, topics: range, wanted: NDArray[np.bool_] | None = None
    ) -> Iterator[NDArray[np.int32] | None]:
        """Yield for each topic the row of the judgments that each document code has, None where the field lacks it."""
        starts, before = self.documents.starts.tolist(), 0
        last: Field | None = None
        found = np.zeros(0, dtype=np.int64) if self._found is None else self._found
        for t in topics:
            if self.field_topic[t] < 0:
                yield None
                continue
            block, at = self.field.of(self.field_topic[t])
            if block is not last:
                last, row_of_doc = block, np.full(len(block.vocabulary), -1, dtype=np.int32)  # of this call alone
                if self._found is None:
                    of_block = range(self.field_topic[t] - at, self.field_topic[t] - at + block.n_topics)
                    end = max(u for u in topics if self.field_topic[u] in of_block) + 1
                    words, before = self.documents.words[starts[t] : starts[end]], starts[t]
                    found = tokens.find(words, tokens.as_words(block.vocabulary))
            docs, first = found[starts[t] - before : starts[t + 1] - before], starts[t] - starts[topics.start]
            kept = docs >= 0 if wanted is None else (docs >= 0) & wanted[first : first + len(docs)]
            chosen = np.flatnonzero(kept)
            row_of_doc[docs[chosen]] = first + chosen
            yield row_of_doc.take(block.docs(at))
            row_of_doc[docs[chosen]] = -1

    def gather(self, topics: range, wanted: NDArray[np.bool_] | None = None) -> Hits:
        """Return the hits of neighbouring topics, only those on the `wanted` rows of the judgments when given."""
        counts, lengths = (np.zeros((len(topics), self.field.n_runs), dtype=np.int64) for _ in range(2))
        rows, ranks = [np.zeros(0, dtype=np.int32)], [np.zeros(0, dtype=np.int32)]
        for i, row_of_code in enumerate(self.rows_of_codes(topics, wanted)):
            if row_of_code is None:
                continue
            lengths[i] = self.lengths(topics[i])
            block, at = self.field.of(self.field_topic[topics[i]])
            codes = block.codes[block.rows(at)]
            # take by 16-bit codes is several times as fast as indexing with them
            where = np.flatnonzero((row_of_code >= 0).take(codes))
            ends = np.cumsum(lengths[i])
            counts[i] = np.diff(np.searchsorted(where, ends), prepend=0)
            begins = np.repeat(ends - lengths[i], counts[i])
            rows.append(row_of_code.take(codes.take(where)))
            ranks.append((where - begins + 1).astype(np.int32))
        starts = offsets(counts.ravel())
        return Hits(self.field.n_runs, starts, np.concatenate(rows), np.concatenate(ranks), lengths.ravel())


def score_topics(
    index: HitIndex, judgments: Judgments, topics: range, specs: Sequence[Spec], cells: Cells
) -> NDArray[np.float64]:
    """Score all runs on neighbouring topics under the base set and under each set that changes one of them."""
    values = np.empty((len(specs), len(cells), index.field.n_runs))
    for wide in (False, True):
        chosen = [m for m, spec in enumerate(specs) if spec.sees_nonrelevant is wide]
        if chosen:
            hits = index.gather(topics, None if wide else judgments.relevant())
            values[chosen] = score_hits(hits, judgments, cells, [specs[m] for m in chosen])
    return values


def score_hits(hits: Hits, judgments: Judgments, cells: Cells, specs: Sequence[Spec]) -> NDArray[np.float64]:
    """Score hits gathered before: (measures, cells, runs), the cells those of the judgments.

    Lists are numbered by cell and run. What of a score is a list's own is found by walking down the list.
    """
    every_label, changes = judgments.every_label(), judgments.changes
    values = np.zeros((len(specs), len(cells), hits.n_runs))
    n_base, n_lists = cells.n_topics * hits.n_runs, len(cells) * hits.n_runs
    ways = [(spec.depth, KERNELS[spec.kernel].local) for spec in specs]
    for depth, local in dict.fromkeys(ways):
        chosen = [m for m, way in enumerate(ways) if way == (depth, local)]
        measures, top = [specs[m] for m in chosen], hits.top(depth)
        label_of_hit = judgments.labels.take(top.row)
        # the hits that changes reach: in which list, at which place among its hits, and their labels
        per_row = np.bincount(changes.row, minlength=len(judgments.labels))
        hit = np.flatnonzero((per_row > 0).take(top.row))
        rows = top.row[hit]
        change = stable_order(changes.row)[ranges((np.cumsum(per_row) - per_row)[rows], per_row[rows])]
        hit = np.repeat(hit, per_row[rows])
        source = top.of[hit]
        changed_list = cells.of_change[change] * hits.n_runs + source % hits.n_runs
        touched = (changed_list, hit - top.starts[source], changes.label[change])
        if local:
            # up to its first changed hit a list is as in the base set
            first = np.full(n_lists, _NEVER)
            np.minimum.at(first, touched[0], touched[1])
            further = np.flatnonzero(first != _NEVER)
            skip = first[further]
        else:
            further, skip = np.arange(n_base, n_lists), np.zeros(n_lists - n_base, dtype=np.int64)
        base = _Walk(top, cells, every_label, np.arange(n_base), np.zeros(n_base, dtype=np.int64), measures)
        changed = _Walk(top, cells, every_label, further, skip, measures)
        base.run(label_of_hit, successor=changed if local else None)
        changed.run(label_of_hit, touched)
        for m, spec, of_base, of_changed in zip(chosen, measures, base.values(), changed.values(), strict=True):
            dividend = np.empty((len(cells), hits.n_runs))
            dividend.reshape(-1)[:n_base] = of_base
            dividend[cells.n_topics :] = dividend[cells.topic[cells.n_topics :]]
            dividend.reshape(-1)[further] = of_changed
            divisor = KERNELS[spec.kernel].of_cell(cells, spec, every_label)[:, None]
            np.divide(dividend, divisor, out=values[m], where=divisor > 0)
    return values


_NEVER = np.iinfo(np.int64).max
#: in which list hits are, at which place among its hits, and their labels
_Touched: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64], Labels]


class _Walk:
    """Walks down lists, numbered by cell and run, all of them at once, longest first; `skip` hits are passed over."""

    def __init__(
        self,
        hits: Hits,
        cells: Cells,
        every_label: Labels,
        numbers: NDArray[np.int64],
        skip: NDArray[np.int64],
        specs: Sequence[Spec],
    ):
        cell, run = np.divmod(numbers, hits.n_runs)
        self.source = cells.topic[cell] * hits.n_runs + run
        sizes = np.diff(hits.starts)[self.source] - skip
        order = stable_order(sizes)[::-1]
        self.place = np.empty(len(order), dtype=np.int64)
        self.place[order] = np.arange(len(order))
        self.numbers, self.skip, self.rank, self.sizes = numbers, skip, hits.rank, sizes[order]
        self.begins = (hits.starts[:-1][self.source] + skip)[order]
        lists = Lists(hits.lengths[self.source][order], cell[order], cells, every_label)
        self.walkers = [KERNELS[spec.kernel](lists, spec) for spec in specs]
        for m, spec in enumerate(specs):
            if spec.judged_only:
                self.walkers[m] = JudgedOnly(self.walkers[m], lists, spec)

    def run(self, label_of_hit: Labels, touched: _Touched | None = None, successor: _Walk | None = None) -> None:
        """Walk, with the labels that `touched` changes; `successor` takes over each list after the hits it skips."""
        steps = int(self.sizes.max(initial=0))
        active = np.searchsorted(-self.sizes, -np.arange(steps), side="left").tolist()
        if touched is not None:
            place_of_number = np.zeros(int(self.numbers.max(initial=0)) + 1, dtype=np.int64)
            place_of_number[self.numbers] = np.arange(len(self.numbers))
            lists, offset, new_label = touched
            where = place_of_number[lists]
            when = offset - self.skip[where]
            by_step = stable_order(when)
            at, new = self.place[where[by_step]], new_label[by_step]
            change_bounds = np.searchsorted(when[by_step], np.arange(steps + 1)).tolist()
        if successor is not None:
            by_step = stable_order(successor.skip)
            mine, theirs = self.place[successor.source[by_step]], successor.place[by_step]
            take_over = np.searchsorted(successor.skip[by_step], np.arange(steps + 1)).tolist()
        next_hit = self.begins.copy()
        for i, n in enumerate(active):
            if successor is not None and take_over[i] < take_over[i + 1]:
                some = slice(take_over[i], take_over[i + 1])
                for walker, next_walker in zip(self.walkers, successor.walkers, strict=True):
                    next_walker.resume(walker, theirs[some], mine[some])
            hit = next_hit[:n]
            label = label_of_hit.take(hit)
            if touched is not None:
                some = slice(change_bounds[i], change_bounds[i + 1])
                label[at[some]] = new[some]
            rank = self.rank.take(hit)
            for walker in self.walkers:
                walker.step(n, rank, label)
            hit += 1

    def values(self) -> list[NDArray[np.float64]]:
        """Return (lists,) for each measure, in the order of the numbers given."""
        return [walker.values()[self.place] for walker in self.walkers]
