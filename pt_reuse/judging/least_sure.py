"""LeastSure: of which documents a calibrated model is least sure, while people judge one batch after another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse.engine.topic_docs import TopicDocs
from pt_reuse.judging.calibration import Calibration, Scale
from pt_reuse.judging.model_says import ModelSays
from pt_reuse.pooling.adaptive.lists import random_of_topic

#: probabilities that differ by less are equal, so that rounding does not decide who is asked
DECIMALS = 12


@dataclass(frozen=True)
class Batches:
    """How many documents people are asked about at a time, and how many labels they give in all.

    Attributes:
        size: documents of a batch.
        of_each_topic: whether a batch has so many of every topic, or of all together.
        most: (topics,) labels of each topic at most; a document without a label costs nothing.
        total: labels in all at most, None for no such bound.
    """

    size: int
    of_each_topic: bool
    most: NDArray[np.int64]
    total: int | None


class LeastSure:
    """Chooses the documents whose calibrated probability of being relevant is nearest to .5.

    Args:
        documents: of the pool.
        says: what the model says of them.
        batches: how many people are asked about.
        rel: the lowest label that is relevant.
        by_topic: whether each topic has a calibration of its own, as soon as it has relevant documents and others.
        seed: with the topic's id it decides which of equally sure documents comes first.

    Attributes:
        probability: (documents,) that each is relevant, NaN while nobody knows.
    """

    def __init__(self, documents: TopicDocs, says: ModelSays, batches: Batches, *, rel: int, by_topic: bool, seed: int):
        self._topic, self._says, self._batches = documents.topic, says, batches
        self._rel, self._by_topic = rel, by_topic
        self._scale = Scale.of(says.features[says.known])
        sizes = np.diff(documents.starts).tolist()
        ties = [random_of_topic(seed, qid).random(n) for qid, n in zip(documents.topics, sizes, strict=True)]
        self._ties = np.concatenate([np.zeros(0), *ties])
        self._left = batches.most.copy()
        self._n_labels = 0
        self._asked = np.zeros(len(self._topic), dtype=bool)
        self._labels = np.zeros(len(self._topic), dtype=np.int64)
        self._labelled = np.zeros(len(self._topic), dtype=bool)
        self._of: dict[int, Calibration] = {}  # topic -> calibration, -1 for all of them
        self.probability = np.full(len(self._topic), np.nan)

    def next(self) -> NDArray[np.int64]:
        """Return the documents of the next batch, those of which the model is least sure first; none at the end.

        Documents of which the model says nothing come last.
        """
        batches = self._batches
        rows = np.flatnonzero(~self._asked & (self._left[self._topic] > 0))
        # where nobody knows, each document is as good as any other
        unsure = np.round(np.abs(np.nan_to_num(self.probability[rows], nan=0.5) - 0.5), DECIMALS)
        rows = rows[np.lexsort((self._ties[rows], unsure, ~self._says.known[rows]))]
        place = pd.Series(self._topic[rows]).groupby(self._topic[rows]).cumcount().to_numpy()
        most = np.minimum(self._left, batches.size) if batches.of_each_topic else self._left
        rows = rows[place < most[self._topic[rows]]]
        size = len(rows) if batches.of_each_topic else batches.size
        return rows[: size if batches.total is None else min(size, batches.total - self._n_labels)]

    def learn(self, rows: NDArray[np.int64], labels: list[int | None]) -> None:
        """Take what people say of a batch; a label below 0 teaches nothing, like none.

        Args:
            rows: the documents of the batch.
            labels: of each, None where they give none.
        """
        self._asked[rows] = True
        for row, label in zip(rows.tolist(), labels, strict=True):
            if label is not None and label >= 0:
                self._n_labels += 1
                self._left[self._topic[row]] -= 1
                # what the model says nothing of cannot teach what its words mean
                self._labels[row], self._labelled[row] = label, self._says.known[row]
        changed = {-1, *(self._topic[rows].tolist() if self._by_topic else ())}
        for topic in sorted(changed):
            taught = self._labelled & (self._topic == topic) if topic >= 0 else self._labelled
            found = Calibration.fit(self._says.features[taught], self._labels[taught], rel=self._rel, scale=self._scale)
            if found is not None:
                self._of[topic] = found
        for calibration, known in self._calibrations():
            self.probability[known] = calibration.relevant(self._says.features[known])

    def labels(self) -> pd.Series:
        """Return (documents,) the labels of the calibrated model, else its own; <NA> where it has none."""
        labels = self._says.labels.copy()
        for calibration, known in self._calibrations():
            labels[known] = calibration.labels(self._says.features[known])
        return labels

    @property
    def is_known(self) -> NDArray[np.bool_]:
        """Return (documents,) whether the model says something of each."""
        return self._says.known

    @property
    def is_calibrated(self) -> bool:
        """Return whether people have found both relevant documents and others."""
        return -1 in self._of

    def _calibrations(self) -> list[tuple[Calibration, NDArray[np.bool_]]]:
        # that of all topics first, which stands where a topic has none of its own
        return [
            (self._of[topic], self._says.known & (self._topic == topic) if topic >= 0 else self._says.known)
            for topic in sorted(self._of)
        ]
