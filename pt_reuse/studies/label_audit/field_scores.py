"""The field scored under many labels of the same documents: one pass, however many judges there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import ir_measures
import numpy as np
from numpy.typing import NDArray

from pt_reuse.arrays.bootstrap import TopicScores
from pt_reuse.arrays.cells import UNJUDGED
from pt_reuse.arrays.rescore import Changes
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.scoring.rescoring import rescore
from pt_reuse.scoring.topic_sets import topics_of_runs

#: a label for each document that people judged, `UNJUDGED` for none
Labels: TypeAlias = NDArray[np.int16]


class LabelSheet:
    """Sets of labels of the documents that people judged, a row each, to be scored together.

    Args:
        human: the judgments of people.

    Attributes:
        human: as given.
    """

    def __init__(self, human: Qrels):
        self.human = human
        self._sets: list[Labels] = []

    def labels_of(self, judged: Qrels) -> Labels:
        """Return the labels that judgments of some of the documents give."""
        labels = np.full(len(self.human), UNJUDGED, dtype=np.int16)
        labels[self.human.arrays.documents.find(judged.arrays.documents)] = judged.arrays.labels
        return labels

    def add(self, labels: Labels) -> int:
        """Add a set and return its number; one that is there already keeps its own."""
        for number, known in enumerate(self._sets):
            if np.array_equal(known, labels):
                return number
        self._sets.append(labels)
        return len(self._sets) - 1

    def places(self, topics: Sequence[str]) -> NDArray[np.int64]:
        """Return the positions of topics among those of people."""
        place = self.human.arrays.documents.place
        return np.array([place[topic] for topic in topics], dtype=np.int64)

    def scored(
        self,
        runs: RunSet,
        measures: Sequence[ir_measures.Measure],
        *,
        complete: bool,
        n_jobs: int | None,
        verbose: bool,
    ) -> FieldScores:
        """Return the scores of every run under every set."""
        values = np.empty((len(self._sets), len(measures), len(self.human.topics), len(runs)))
        for block in rescore(runs, self.human, measures, self._changes(), n_jobs=n_jobs, verbose=verbose):
            values[:, :, block.topics.start : block.topics.stop] = block.base[None]
            values[block.set, :, block.topic] = block.values.transpose(1, 0, 2)
        return FieldScores(self._sets, values, None if complete else topics_of_runs(runs, self.human))

    def _changes(self) -> Changes:
        base = self.human.arrays.labels
        rows = [np.flatnonzero(labels != base) for labels in self._sets]
        return Changes(
            len(self._sets),
            np.repeat(np.arange(len(rows)), [len(changed) for changed in rows]),
            np.concatenate(rows),
            np.concatenate([labels[changed] for labels, changed in zip(self._sets, rows, strict=True)]),
        )


@dataclass(frozen=True)
class FieldScores:
    """Scores of a field under sets of labels.

    Attributes:
        labels: of each set.
        values: (sets, measures, topics of people, runs).
        has_topic: (topics, runs) whether a run has the topic, where means are over its own; None where over all.
    """

    labels: Sequence[Labels]
    values: NDArray[np.float64]
    has_topic: NDArray[np.bool_] | None

    def of(self, number: int, measure: int, topics: NDArray[np.int64]) -> TopicScores:
        """Return the scores under one set by one measure on some topics."""
        return TopicScores(self.values[number, measure, topics], self.has(topics))

    def has(self, topics: NDArray[np.int64]) -> NDArray[np.bool_] | None:
        """Return (topics, runs) whether a run has each of some topics; None where all count for all."""
        return None if self.has_topic is None else self.has_topic[topics]
