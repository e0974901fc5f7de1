"""Calibration: what a model says of documents, turned into probabilities of what people would say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pt_reuse._errors import InputError

#: of logistic regression: the inverse of the strength of its penalty, scikit-learn's default
C = 1.0


@dataclass(frozen=True)
class Calibration:
    """Probabilities that people give at least a grade, by logistic regression on what a model says.

    There is one regression for each grade above the lowest that people gave: does the label reach it? Of documents
    that a grade is less likely reached by than the next one, the smaller probability counts for both.

    Attributes:
        grades: (grades,) those that people gave above the lowest, ascending.
        lowest: the lowest grade that they gave.
        weights: (grades, features).
        intercepts: (grades,).
        rel: the lowest label that is relevant.
    """

    grades: NDArray[np.int64]
    lowest: int
    weights: NDArray[np.float64]
    intercepts: NDArray[np.float64]
    rel: int

    def at_least(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (documents, grades): the probability that the label is at least each grade; it falls with the grade.

        Args:
            features: (documents, features).
        """
        logits = features @ self.weights.T + self.intercepts
        # the logistic function, which overflows on neither side when written so
        reached = 0.5 * (1 + np.tanh(logits / 2))
        return np.minimum.accumulate(reached, axis=1)

    def relevant(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (documents,) the probability that a document is relevant."""
        return self.at_least(features)[:, int(np.searchsorted(self.grades, self.rel))]

    def labels(self, features: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return (documents,) the highest grade that is reached with a probability of at least .5."""
        reached = (self.at_least(features) >= 0.5).sum(axis=1)
        return np.concatenate([[self.lowest], self.grades])[reached]


def calibrated(features: NDArray[np.float64], labels: NDArray[np.int64], rel: int) -> Calibration | None:
    """Return the calibration that some labels of people teach.

    Args:
        features: (documents, features) what the model says of the documents that people judged.
        labels: (documents,) what people say of them.
        rel: the lowest label that is relevant.

    Returns:
        Calibration: None where people have not found both relevant documents and others yet.

    Raises:
        InputError: scikit-learn is not installed.
    """
    if not ((labels >= rel).any() and (labels < rel).any()):
        return None
    regression = _logistic_regression()
    lowest, *grades = np.unique(labels).tolist()
    fits = [regression(C=C).fit(features, labels >= grade) for grade in grades]
    return Calibration(
        np.array(grades),
        int(lowest),
        np.concatenate([fit.coef_ for fit in fits]),
        np.concatenate([fit.intercept_ for fit in fits]),
        rel,
    )


def standardised(features: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return features with mean 0 and standard deviation 1, those that never change as 0."""
    spread = features.std(axis=0)
    return (features - features.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def _logistic_regression() -> Any:
    try:
        from sklearn.linear_model import LogisticRegression
    except ImportError as error:
        raise InputError(
            "calibrating a model needs scikit-learn. Install it: pip install 'pt-reuse[judging]'."
        ) from error
    return LogisticRegression
