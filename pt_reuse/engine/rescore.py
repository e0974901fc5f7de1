"""Score a field under a base judgment set and under many more that each differ from it in some documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pt_reuse.engine.cells import Cells
from pt_reuse.engine.field import ranges
from pt_reuse.engine.hits import HitIndex, Hits
from pt_reuse.engine.kernels import KERNELS, Lists, Spec

Labels = NDArray[np.int16]


@dataclass(frozen=True)
class Changes:
    """Judgment sets as what they change in a base set: (set, row of the base, new label), each pair once."""

    n_sets: int
    in_set: NDArray[np.int64]
    row: NDArray[np.int64]
    label: Labels

    def visible(self, labels: Labels) -> Changes:
        """Return the changes that a measure blind to non-relevant documents can see."""
        seen = np.maximum(labels[self.row], self.label) > 0
        return Changes(self.n_sets, self.in_set[seen], self.row[seen], self.label[seen])

    def part(self, first: int, stop: int) -> Changes:
        """Return the sets from `first` up to, not including, `stop`, renumbered from 0."""
        mine = (self.in_set >= first) & (self.in_set < stop)
        return Changes(min(stop, self.n_sets) - first, self.in_set[mine] - first, self.row[mine], self.label[mine])


NO_CHANGES = Changes(0, np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int16))


def score_field(
    index: HitIndex, labels: Labels, specs: Sequence[Spec], changes: Changes = NO_CHANGES
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Score all runs under the base set and under each changed set.

    Args:
        index: where the runs have judged documents.
        labels: (rows,) label of each row of the index in the base set.
        specs: the measures.
        changes: the further sets.

    Returns:
        (measures, topics, runs) under the base set and (measures, topics, sets, runs) under the others.
    """
    n_topics, n_runs = len(index.topics), index.field.n_runs
    base = np.empty((len(specs), n_topics, n_runs))
    changed = np.empty((len(specs), n_topics, changes.n_sets, n_runs))
    for wide in (False, True):
        chosen = [m for m, spec in enumerate(specs) if spec.sees_nonrelevant is wide]
        if chosen:
            hits = index.gather(None if wide else relevant_rows(labels, changes))
            score_hits(hits, index.starts, labels, [specs[m] for m in chosen], changes, base, changed, chosen)
    return base, changed


def relevant_rows(labels: Labels, changes: Changes) -> NDArray[np.bool_]:
    """Return which rows are relevant in the base set or in any other."""
    wanted = labels > 0
    wanted[changes.row[changes.label > 0]] = True
    return wanted


def score_hits(
    hits: Hits,
    starts: NDArray[np.int64],
    labels: Labels,
    specs: Sequence[Spec],
    changes: Changes,
    base: NDArray[np.float64],
    changed: NDArray[np.float64],
    places: Sequence[int],
) -> None:
    """Score `specs` on hits gathered before; the results go to ``base[place]`` and ``changed[place]``."""
    if not any(spec.sees_nonrelevant for spec in specs):
        changes = changes.visible(labels)
    cells = Cells(starts, labels, changes.in_set, changes.row, changes.label)
    every_label = np.unique(np.concatenate([labels, changes.label]))
    further = slice(cells.n_topics, None)
    for depth in dict.fromkeys(spec.depth for spec in specs):
        mine = [(place, spec) for place, spec in zip(places, specs, strict=True) if spec.depth == depth]
        dividends = _dividends(hits.top(depth), labels, changes, cells, every_label, [spec for _, spec in mine])
        for (place, spec), dividend in zip(mine, dividends, strict=True):
            divisor = KERNELS[spec.kernel].of_cell(cells, spec, every_label)[:, None]
            scores = np.divide(dividend, divisor, out=np.zeros(dividend.shape), where=divisor > 0)
            base[place] = scores[: cells.n_topics]
            changed[place] = base[place][:, None, :]
            changed[place, cells.topic[further], cells.set] = scores[further]


def _dividends(
    hits: Hits, labels: Labels, changes: Changes, cells: Cells, every_label: Labels, specs: Sequence[Spec]
) -> list[NDArray[np.float64]]:
    """Return for each measure (cells, runs): what of a score is the list's own."""
    out = [np.zeros((len(cells), hits.n_runs)) for _ in specs]
    label_of_hit = labels[hits.row]
    touched = _Touched(hits, changes, cells, len(labels))
    base_lists = np.arange(cells.n_topics * hits.n_runs)
    n_base = len(base_lists)
    for local in (True, False):
        chosen = [m for m, spec in enumerate(specs) if KERNELS[spec.kernel].local is local]
        if not chosen:
            continue
        measures = [specs[m] for m in chosen]
        # up to its first changed hit a list is as in the base set; a kernel that is not local sees more than the list
        further = touched.lists if local else np.arange(n_base, len(cells) * hits.n_runs)
        skip = touched.first[further] if local else np.zeros(len(further), dtype=np.int64)
        base = _Walk(hits, cells, every_label, base_lists, np.zeros(n_base, dtype=np.int64), measures)
        changed = _Walk(hits, cells, every_label, further, skip, measures)
        base.run(label_of_hit, successor=changed if local else None)
        changed.run(label_of_hit, touched)
        for m, mine, theirs in zip(chosen, base.values(), changed.values(), strict=True):
            dividend = out[m]
            dividend.reshape(-1)[:n_base] = mine
            dividend[cells.n_topics :] = dividend[cells.topic[cells.n_topics :]]
            dividend.reshape(-1)[further] = theirs
    return out


class _Touched:
    """The lists that a change reaches, numbered by cell and run, and what changes in them."""

    def __init__(self, hits: Hits, changes: Changes, cells: Cells, n_rows: int):
        order = _stable_order(changes.row)
        per_row = np.bincount(changes.row, minlength=n_rows)
        hit = np.flatnonzero((per_row > 0)[hits.row])
        rows = hits.row[hit]
        change = order[ranges((np.cumsum(per_row) - per_row)[rows], per_row[rows])]
        hit = np.repeat(hit, per_row[rows])
        source = hits.of[hit]
        self.list = cells.of_change[change] * hits.n_runs + source % hits.n_runs
        self.label = changes.label[change]
        self.offset = hit - hits.starts[source]  # place of the changed document among the list's hits
        #: for each list the place of its first changed hit
        self.first = np.full(len(cells) * hits.n_runs, _NEVER)
        np.minimum.at(self.first, self.list, self.offset)
        self.lists = np.flatnonzero(self.first != _NEVER)


_NEVER = np.iinfo(np.int64).max


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
        order = _stable_order(sizes)[::-1]
        self.place = np.empty(len(order), dtype=np.int64)
        self.place[order] = np.arange(len(order))
        self.numbers, self.skip, self.rank, self.sizes = numbers, skip, hits.rank, sizes[order]
        self.begins = (hits.starts[:-1][self.source] + skip)[order]
        lists = Lists(hits.lengths[self.source][order], cell[order], cells, every_label)
        self.walkers = [KERNELS[spec.kernel].walker(lists, spec) for spec in specs]

    def run(self, label_of_hit: Labels, touched: _Touched | None = None, successor: _Walk | None = None) -> None:
        """Walk, with the labels that `touched` changes; `successor` takes over each list after the hits it skips."""
        steps = int(self.sizes.max(initial=0))
        active = np.searchsorted(-self.sizes, -np.arange(steps), side="left").tolist()
        if touched is not None:
            where = np.searchsorted(self.numbers, touched.list)
            when = touched.offset - self.skip[where]
            by_step = _stable_order(when)
            at, new = self.place[where[by_step]], touched.label[by_step]
            change_bounds = np.searchsorted(when[by_step], np.arange(steps + 1)).tolist()
        if successor is not None:
            by_step = _stable_order(successor.skip)
            mine, theirs = self.place[successor.source[by_step]], successor.place[by_step]
            take_over = np.searchsorted(successor.skip[by_step], np.arange(steps + 1)).tolist()
        for i, n in enumerate(active):
            if successor is not None and take_over[i] < take_over[i + 1]:
                some = slice(take_over[i], take_over[i + 1])
                for walker, next_walker in zip(self.walkers, successor.walkers, strict=True):
                    next_walker.resume(walker, theirs[some], mine[some])
            hit = self.begins[:n] + i
            label = label_of_hit[hit]
            if touched is not None:
                some = slice(change_bounds[i], change_bounds[i + 1])
                label[at[some]] = new[some]
            rank = self.rank[hit]
            for walker in self.walkers:
                walker.step(n, rank, label)

    def values(self) -> list[NDArray[np.float64]]:
        """Return (lists,) for each measure, in the order of the numbers given."""
        return [walker.values()[self.place] for walker in self.walkers]


def _stable_order(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    # numpy sorts 16 bits by radix, several times as fast
    small = keys.astype(np.uint16) if len(keys) and int(keys.max()) < 2**16 else keys
    return np.argsort(small, kind="stable")
