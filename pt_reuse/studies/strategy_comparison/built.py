"""Built judgments: what strategies found at each budget, and what the field would then have scored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import ir_measures
import numpy as np
from numpy.typing import NDArray

from pt_reuse.arrays.cells import UNJUDGED
from pt_reuse.arrays.rescore import Changes
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.scoring.measures import native_spec
from pt_reuse.scoring.rescoring import MeansOfSets, rescore

#: judgments taken away that are worked on at once; each takes about a kilobyte for a hundred runs
AT_ONCE = 300_000


@dataclass(frozen=True)
class ScoredField:
    """Runs that are scored under judgments and under parts of them.

    Attributes:
        runs: the field.
        qrels: all judgments.
        measures: the measures.
    """

    runs: RunSet
    qrels: Qrels
    measures: Sequence[ir_measures.Measure]

    def means(self, kept: Sequence[NDArray[np.int64]]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Score the field under all judgments and under parts of them.

        Args:
            kept: for each part, one at least, the rows of the judgments that it has.

        Returns:
            Means over all topics of the judgments: (measures, runs) under all, (measures, parts, runs) under the parts.
        """
        parts = [self._rescored(gone) for gone in self._gone(kept)]
        return parts[0][0], np.concatenate([built for _, built in parts], axis=1)

    def topic_scores(self, kept: Sequence[NDArray[np.int64]]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Score the field topic by topic under all judgments and under parts of them.

        Args:
            kept: for each part, one at least, the rows of the judgments that it has.

        Returns:
            (measures, topics, runs) under all, (measures, parts, topics, runs) under the parts.
        """
        full = np.empty((len(self.measures), len(self.qrels.topics), len(self.runs)))
        built = []
        for gone in self._gone(kept):
            values = np.empty((len(self.measures), len(gone), *full.shape[1:]))
            for block in rescore(self.runs, self.qrels, self.measures, _without(gone)):
                topics = slice(block.topics.start, block.topics.stop)
                full[:, topics] = block.base
                values[:, :, topics] = block.base[:, None]
                values[:, block.set, block.topic] = block.values
            built.append(values)
        return full, np.concatenate(built, axis=1)

    def _gone(self, kept: Sequence[NDArray[np.int64]]) -> Iterator[list[NDArray[np.int64]]]:
        labels = self.qrels.arrays.labels
        specs = [native_spec(measure) for measure in self.measures]
        blind = all(spec is not None and not spec.sees_nonrelevant for spec in specs)
        # what no measure can see need not be taken away
        return _slices(labels > 0 if blind else labels != UNJUDGED, kept)

    def _rescored(self, gone: Sequence[NDArray[np.int64]]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the means under all judgments, and under those without the rows of each set."""
        changes, n_topics = _without(gone), len(self.qrels.topics)
        means = MeansOfSets((len(self.measures), len(gone), len(self.runs)), n_topics, None)
        full = np.zeros((len(self.measures), len(self.runs)))
        for block in rescore(self.runs, self.qrels, self.measures, changes):
            for i in range(len(block.topics)):
                full += block.base[:, i]
            means.add(block)
        return full / max(n_topics, 1), means.means()


def _without(gone: Sequence[NDArray[np.int64]]) -> Changes:
    """Return the sets that each lack some rows of the judgments."""
    row = np.concatenate([np.zeros(0, dtype=np.int64), *gone])
    in_set = np.repeat(np.arange(len(gone)), [len(rows) for rows in gone])
    return Changes(len(gone), in_set, row, np.full(len(row), UNJUDGED))


def _slices(counts: NDArray[np.bool_], kept: Sequence[NDArray[np.int64]]) -> Iterator[list[NDArray[np.int64]]]:
    """Yield for some parts at a time the rows of the judgments that each lacks."""
    held: list[NDArray[np.int64]] = []
    for part in kept:
        gone = counts.copy()
        gone[part] = False
        rows = np.flatnonzero(gone)
        if held and sum(map(len, held)) + len(rows) > AT_ONCE:
            yield held
            held = []
        held.append(rows)
    yield held


def prefixes(orders: Sequence[NDArray[np.int64]], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the first rows of each topic's order, together.

    Args:
        orders: for each topic the rows in the order in which they were judged.
        lengths: (topics,) how many of each.
    """
    parts = [order[:n] for order, n in zip(orders, lengths.tolist(), strict=True)]
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts])
