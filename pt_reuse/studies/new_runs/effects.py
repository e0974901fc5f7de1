"""What the labels of unjudged documents do to scores, one document at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pt_reuse.arrays.correlation import CLOSE
from pt_reuse.arrays.expected import Floats

#: how much of an error all documents of a run share, and what no error falls below: chosen on Deep Learning 2019 and
#: 2021 and TREC-8; the intervals are calibrated whatever they are
_SHARED, LEAST = 0.06, 0.001
#: a document that the model is sure of may be another one all the same
_UNSURE = 0.15


def together(variance: Floats, deviations: Floats) -> Floats:
    """Return the deviation of sums of documents, whose variances and deviations are summed: part of it is shared."""
    return np.sqrt(variance + np.square(_SHARED * deviations) + LEAST**2)


@dataclass(frozen=True)
class Effects:
    """What the labels of some unjudged documents do to the mean score of a run."""

    row: NDArray[np.int64]  # (documents,) of the judgments
    labels: Sequence[int]  # at which something changes, ascending
    chance: Floats  # (documents, labels) that a document has at least that
    change: Floats  # (documents, labels) what it adds to the mean score

    def sorted(self) -> Effects:
        """Return them with the documents first that decide most."""
        return self.take(np.argsort(-self.size, kind="stable"))

    def take(self, chosen: NDArray[Any]) -> Effects:
        """Return some of the documents."""
        return Effects(self.row[chosen], self.labels, self.chance[chosen], self.change[chosen])

    @property
    def mean(self) -> Floats:
        """Return (documents,) what each is expected to add."""
        found: Floats = (self.chance * self.change).sum(axis=1)
        return found

    @property
    def variance(self) -> Floats:
        """Return (documents,) the variance of what each adds."""
        reached = np.cumsum(self.change, axis=1)
        squares = np.diff(np.square(reached), axis=1, prepend=0.0)
        return np.maximum((squares * self.chance).sum(axis=1) - np.square(self.mean), 0.0)

    @property
    def size(self) -> Floats:
        """Return (documents,) how much each decides: what it can change, and how unsure its label is."""
        unsure = np.maximum(self.chance * (1 - self.chance), _UNSURE * (1 - _UNSURE))
        found: Floats = (np.abs(self.change) * np.sqrt(unsure)).sum(axis=1)
        return found

    def ends(self) -> tuple[Floats, Floats]:
        """Return (documents + 1,) by how much the labels that are left may lower and raise what is expected."""
        reached = np.concatenate([np.zeros((len(self.row), 1)), np.cumsum(self.change, axis=1)], axis=1)
        off = reached - self.mean[:, None]
        return _left(off.min(axis=1)), _left(off.max(axis=1))

    def of_labels(self, label: NDArray[Any]) -> Floats:
        """Return (..., documents) what labels of these documents add."""
        found: Floats = ((label[..., None] >= np.array(self.labels)) * self.change).sum(axis=-1)
        return found

    def spread(self) -> Floats:
        """Return (documents + 1,) the deviation of what is left, after so many of them are judged."""
        return together(*(_left(part) for part in (self.variance, np.sqrt(self.variance))))

    def drawn(self, rng: np.random.Generator, n: int) -> NDArray[np.int64]:
        """Return (n, documents) labels drawn by their chances, 0 below the lowest that changes anything."""
        where = rng.random((n, len(self.row), 1)) < self.chance
        known = np.append(0, self.labels)
        found: NDArray[np.int64] = known[where.sum(axis=2)]
        return found


def _left(values: Floats) -> Floats:
    """Return (..., n + 1) the sums of all values, of those but the first, and so on."""
    sums = np.cumsum(values[..., ::-1], axis=-1)[..., ::-1]
    return np.concatenate([sums, np.zeros((*values.shape[:-1], 1))], axis=-1)


def wrong_stop(apart: Floats, truth: Floats, spread: Floats) -> float:
    """Return how many deviations a run must be apart from others for no decision ever to be wrong.

    (others, documents + 1) says how far it is expected to be apart after so many labels, (others,) how far it is. With
    the last label nothing is left to be wrong about.
    """
    true = np.where(np.abs(truth) <= CLOSE, 0.0, np.sign(truth))[:, None]
    wrong = (np.sign(apart) != true) & (true != 0)
    wrong[:, -1] = False
    return float((np.abs(apart) / spread * wrong).max(initial=0.0))
