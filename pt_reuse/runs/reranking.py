"""Runs whose first documents are put in the order of labels: what re-ranking by a judge makes of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pt_reuse.engine.field import Field
from pt_reuse.engine.hits import HitIndex
from pt_reuse.engine.places import Places
from pt_reuse.qrels.judgments import Qrels
from pt_reuse.runs.run_set import RunSet


def rerank_by_labels(runs: RunSet, labels: Qrels, depth: int) -> RunSet:
    """Return runs whose first documents of each list are sorted by their labels, the best label first.

    The sort is stable: documents of the same label stay in the order of the run. A document without a label, or with a
    negative one, keeps its place, and the others are sorted into the places that are left. Scores count down, so that
    the lists stand alike in every ranking order.

    Args:
        runs: the field, in its ranking order.
        labels: of documents by topic; lists of other topics stay as they are.
        depth: how many documents of each list are sorted among each other.

    Returns:
        RunSet: runs of the same names and documents.
    """
    step = Reranked(labels, depth)
    field = runs.field
    changed = step.of(field) if isinstance(field, Field) else field.changed(step, field.lengths)
    return RunSet(changed, runs.run_table, runs.order, runs.how_pooled)


@dataclass(frozen=True, eq=False)
class Reranked:
    """Sorts the first documents of the lists of a block by their labels."""

    labels: Qrels
    depth: int

    def of(self, block: Field) -> Field:
        """Return the block with its lists sorted."""
        mine = [topic for topic in self.labels.topics if topic in block.topic_row]
        return _reranked(block, self.labels.select(mine), self.depth)


def _reranked(field: Field, labels: Qrels, depth: int) -> Field:
    first = np.repeat(field.starts[:-1], np.diff(field.starts))
    place = np.arange(len(field.codes)) - first
    of_row = np.full(len(field.codes), -1, dtype=np.int64)
    index, given = HitIndex(field, labels.arrays.documents), labels.arrays.labels.astype(np.int64)
    for at, row_of_code in zip(index.field_topic, index.rows_of_codes(index.topics), strict=True):
        if row_of_code is not None:
            rows = field.rows(at)
            judgment = row_of_code.take(field.codes[rows])
            of_row[rows] = np.where(judgment >= 0, given.take(judgment), -1) if len(given) else -1
    # the places that have a label among the first of their list; each list's are filled by its own, the best first
    places = np.flatnonzero((of_row >= 0) & (place < depth))
    order = np.arange(len(field.codes))
    order[places] = places[np.lexsort((places, -of_row[places], first[places]))]
    return replace(
        field,
        codes=field.codes[order],
        scores=-place.astype(np.float64),
        file=Places.none(),
        rank=Places.none(),
        ranked=np.ones(field.n_runs, dtype=bool),
    )
