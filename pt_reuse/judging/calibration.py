"""Calibration: what a model says of documents, turned into probabilities of what people would say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pt_reuse._errors import InputError

#: of logistic regression: the inverse of the strength of its penalty, scikit-learn's default
C = 1.0
#: at which steepness its fit ends: probabilities are then right to seven digits, on every machine
TOLERANCE = 1e-8


@dataclass(frozen=True)
class Scale:
    """What brings features to mean 0 and standard deviation 1; those that never change become 0.

    Attributes:
        center: (features,) their means.
        spread: (features,) their standard deviations, 1 where it is 0.
    """

    center: NDArray[np.float64]
    spread: NDArray[np.float64]

    @classmethod
    def of(cls, features: NDArray[np.float64]) -> Scale:
        """Return the scale of (documents, features)."""
        if not len(features):
            return cls(np.zeros(features.shape[1]), np.ones(features.shape[1]))
        spread = features.std(axis=0)
        return cls(features.mean(axis=0), np.where(spread > 0, spread, 1.0))

    def __call__(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return features on this scale."""
        return (features - self.center) / self.spread


@dataclass(frozen=True)
class Calibration:
    """Probabilities that people give at least a grade, by logistic regression on what a model says.

    There is one regression for each grade above the lowest that people gave: does the label reach it? A higher grade is
    never likelier reached than a lower one: where a regression says so, the smaller probability counts.

    Attributes:
        scale: on which the features are.
        grades: (grades,) those that people gave above the lowest, ascending.
        lowest: the lowest grade that they gave.
        weights: (grades, features).
        intercepts: (grades,).
        rel: the lowest label that is relevant.
    """

    scale: Scale
    grades: NDArray[np.int64]
    lowest: int
    weights: NDArray[np.float64]
    intercepts: NDArray[np.float64]
    rel: int

    @classmethod
    def fit(
        cls, features: NDArray[np.float64], labels: NDArray[np.int64], *, rel: int, scale: Scale
    ) -> Calibration | None:
        """Return the calibration that some labels of people teach.

        Args:
            features: (documents, features) what the model says of the documents that people judged.
            labels: (documents,) what people say of them.
            rel: the lowest label that is relevant.
            scale: on which the features are brought before.

        Returns:
            Calibration: None where people have not found both relevant documents and others.

        Raises:
            InputError: scikit-learn is not installed.
        """
        if not ((labels >= rel).any() and (labels < rel).any()):
            return None
        regression, scaled = logistic_regression(), scale(features)
        lowest, *grades = np.unique(labels).tolist()
        fits = [
            regression(C=C, tol=TOLERANCE, solver="newton-cholesky").fit(scaled, labels >= grade) for grade in grades
        ]
        weights = np.concatenate([fit.coef_ for fit in fits])
        intercepts = np.concatenate([fit.intercept_ for fit in fits])
        return cls(scale, np.array(grades), int(lowest), weights, intercepts, rel)

    def at_least(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (documents, grades): the probability that the label is at least each grade.

        Args:
            features: (documents, features).
        """
        logits = self.scale(features) @ self.weights.T + self.intercepts
        # the logistic function, written so that it overflows on neither side
        return np.minimum.accumulate(0.5 * (1 + np.tanh(logits / 2)), axis=1)

    def relevant(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (documents,) the probability that a document is relevant."""
        return self.at_least(features)[:, int(np.searchsorted(self.grades, self.rel))]

    def labels(self, features: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return (documents,) the highest grade that is reached with a probability of at least .5."""
        reached = (self.at_least(features) >= 0.5).sum(axis=1)
        return np.concatenate([[self.lowest], self.grades])[reached]


def logistic_regression() -> Any:
    """Return scikit-learn's logistic regression.

    Raises:
        InputError: scikit-learn is not installed.
    """
    try:
        from sklearn.linear_model import LogisticRegression
    except ImportError as error:
        raise InputError("this needs scikit-learn. Install it: pip install 'pt-reuse[judging]'.") from error
    return LogisticRegression
