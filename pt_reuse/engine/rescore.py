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
    every_label = np.concatenate([labels, changes.label])
    further = slice(cells.n_topics, None)
    for depth in dict.fromkeys(spec.depth for spec in specs):
        mine = [(place, spec) for place, spec in zip(places, specs, strict=True) if spec.depth == depth]
        dividends = _dividends(hits.top(depth), labels, changes, cells, [spec for _, spec in mine])
        for (place, spec), dividend in zip(mine, dividends, strict=True):
            divisor = KERNELS[spec.kernel].of_cell(cells, spec, every_label)[:, None]
            scores = np.divide(dividend, divisor, out=np.zeros(dividend.shape), where=divisor > 0)
            base[place] = scores[: cells.n_topics]
            changed[place] = base[place][:, None, :]
            changed[place, cells.topic[further], cells.set] = scores[further]


def _dividends(
    hits: Hits, labels: Labels, changes: Changes, cells: Cells, specs: Sequence[Spec]
) -> list[NDArray[np.float64]]:
    """Return for each measure (cells, runs): what of a score is the list's own."""
    out = [np.zeros((len(cells), hits.n_runs)) for _ in specs]
    touched = _Touched(hits, changes, cells, len(labels))
    n_base = cells.n_topics * hits.n_runs
    for local in (True, False):
        chosen = [m for m, spec in enumerate(specs) if KERNELS[spec.kernel].local is local]
        if not chosen:
            continue
        further = touched.targets if local else np.arange(n_base, len(cells) * hits.n_runs)
        targets = np.concatenate([np.arange(n_base), further])
        found = _walk(hits, labels, changes, cells, touched, targets, [specs[m] for m in chosen])
        for m, values in zip(chosen, found, strict=True):
            dividend = out[m]
            dividend.reshape(-1)[:n_base] = values[:n_base]
            dividend[cells.n_topics :] = dividend[cells.topic[cells.n_topics :]]
            dividend.reshape(-1)[further] = values[n_base:]
    return out


class _Touched:
    """The lists that a change reaches, numbered by cell and run, and what changes in them."""

    def __init__(self, hits: Hits, changes: Changes, cells: Cells, n_rows: int):
        order = np.argsort(changes.row, kind="stable")
        firsts = np.searchsorted(changes.row[order], np.arange(n_rows + 1))
        per_row = np.diff(firsts)
        hit = np.flatnonzero((per_row > 0)[hits.row])
        rows = hits.row[hit]
        change = order[ranges(firsts[:-1][rows], per_row[rows])]
        hit = np.repeat(hit, per_row[rows])
        in_list = np.searchsorted(hits.starts, hit, side="right") - 1
        self.key = cells.of_change[change] * hits.n_runs + in_list % hits.n_runs
        self.label = changes.label[change]
        self.offset = hit - hits.starts[in_list]  # place of the changed document among the list's hits
        marks = np.zeros(len(cells) * hits.n_runs, dtype=bool)
        marks[self.key] = True
        self.targets = np.flatnonzero(marks)


def _walk(
    hits: Hits,
    labels: Labels,
    changes: Changes,
    cells: Cells,
    touched: _Touched,
    targets: NDArray[np.int64],
    specs: Sequence[Spec],
) -> list[NDArray[np.float64]]:
    """Walk down the target lists, numbered by cell and run; return (targets,) for each measure."""
    cell, run = np.divmod(targets, hits.n_runs)
    source = cells.topic[cell] * hits.n_runs + run
    sizes = np.diff(hits.starts)[source]
    order = np.argsort(-sizes, kind="stable")
    source, sizes = source[order], sizes[order]
    lists = Lists(
        hits.starts[:-1][source], sizes, hits.lengths[source], cell[order], cells, np.append(labels, changes.label)
    )
    place = np.zeros(len(cells) * hits.n_runs, dtype=np.int64)
    place[targets[order]] = np.arange(len(targets))
    by_step = np.argsort(touched.offset, kind="stable")
    at, new = place[touched.key[by_step]], touched.label[by_step]

    steps = int(sizes.max(initial=0))
    active = np.searchsorted(-sizes, -np.arange(steps), side="left").tolist()
    bounds = np.searchsorted(touched.offset[by_step], np.arange(steps + 1)).tolist()
    walkers = [KERNELS[spec.kernel].walker(lists, spec) for spec in specs]
    for i, n in enumerate(active):
        hit = lists.begins[:n] + i
        label = labels[hits.row[hit]]
        label[at[bounds[i] : bounds[i + 1]]] = new[bounds[i] : bounds[i + 1]]
        rank = hits.rank[hit]
        for walker in walkers:
            walker.step(n, rank, label)
    back = np.empty(len(targets), dtype=np.int64)
    back[order] = np.arange(len(targets))
    return [walker.values()[back] for walker in walkers]
