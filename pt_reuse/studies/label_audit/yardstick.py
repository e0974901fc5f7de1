"""What other people reach, on the documents that they labelled, and what each judge reaches on the very same."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse.arrays import pairs
from pt_reuse.arrays.bootstrap import TopicBootstrap, TopicScores
from pt_reuse.arrays.correlation import rounded
from pt_reuse.studies.label_audit.field_scores import FieldScores

#: columns of the table per other person, and of the one over all of them
BESIDE = ("judge", "person", "measure", "topics", "documents", "tau_b", "person_tau_b", "difference")
OVER_ALL = ("judge", "measure", "people", "tau_b", "people_tau_b", "difference")
ENDS = ("difference_low", "difference_high")


@dataclass(frozen=True)
class BesidePerson:
    """A judge and another person on the same documents.

    Attributes:
        judge: the name of the judge.
        person: the name of the other person.
        truth: the number of the labels of people among those scored, on these documents alone.
        by_judge: the number of those of the judge.
        by_person: the number of those of the other person.
        topics: of these documents, as positions among the topics of people.
        documents: how many there are.
    """

    judge: str
    person: str
    truth: int
    by_judge: int
    by_person: int
    topics: NDArray[np.int64]
    documents: int


@dataclass(frozen=True)
class _Taus:
    """tau_b of the judge and of the other person with people.

    Attributes:
        judge: of all topics.
        person: of all topics.
        drawn: (draws,) the first less the second in each draw; NaN where there is one topic.
    """

    judge: float
    person: float
    drawn: NDArray[np.float64]


class Yardstick:
    """The agreement that people reach with each other, beside that of each judge.

    Topics are drawn once for all, from those of people, so that the differences of several other people may be averaged
    draw by draw. A draw without a topic of a person has no difference there. A person on whose documents all runs tie,
    under people, judge or person, has no ranking to compare, and is no part of the mean.

    Args:
        scores: of the field under all labels.
        bootstrap: over topics, None for no intervals.
    """

    def __init__(self, scores: FieldScores, bootstrap: TopicBootstrap | None):
        self._scores, self._bootstrap = scores, bootstrap
        n_topics = scores.values.shape[2]
        self._counts = None if bootstrap is None else bootstrap.counts(n_topics)
        self._known: dict[tuple[int, int, int], tuple[float, NDArray[np.float64]]] = {}

    def tables(self, measures: Sequence[str], beside: Sequence[BesidePerson]) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return a row per judge, other person and measure, and one per judge and measure, the mean over the others."""
        rows, over_all = [], []
        for m, measure in enumerate(measures):
            for judge in dict.fromkeys(one.judge for one in beside):
                mine = [one for one in beside if one.judge == judge]
                taus = [self._taus(m, one) for one in mine]
                for one, found in zip(mine, taus, strict=True):
                    rows.append(
                        {
                            "judge": judge,
                            "person": one.person,
                            "measure": measure,
                            "topics": len(one.topics),
                            "documents": one.documents,
                            "tau_b": found.judge,
                            "person_tau_b": found.person,
                            # one topic is always itself
                            **self._difference(found.judge - found.person, found.drawn),
                        }
                    )
                ranked = [found for found in taus if not np.isnan(found.judge - found.person)]
                means = [_mean([getattr(found, who) for found in ranked]) for who in ("judge", "person")]
                drawn = np.mean([found.drawn for found in ranked], axis=0) if ranked else np.full(1, np.nan)
                over_all.append(
                    {
                        "judge": judge,
                        "measure": measure,
                        "people": len(ranked),
                        "tau_b": means[0],
                        "people_tau_b": means[1],
                        **self._difference(means[0] - means[1], drawn),
                    }
                )
        ends = () if self._bootstrap is None else ENDS
        return pd.DataFrame(rows, columns=[*BESIDE, *ends]), pd.DataFrame(over_all, columns=[*OVER_ALL, *ends])

    def _difference(self, value: float, drawn: NDArray[np.float64]) -> dict[str, float]:
        found = {"difference": value}
        if self._bootstrap is not None:
            found |= dict(zip(ENDS, self._bootstrap.interval(value, drawn, within=(-2, 2)), strict=True))
        return found

    def _taus(self, measure: int, one: BesidePerson) -> _Taus:
        judge, of_judge = self._tau(measure, one, one.by_judge)
        person, of_person = self._tau(measure, one, one.by_person)
        # one topic is always itself, so that nothing says what another one would do
        drawn = of_judge - of_person if len(one.topics) > 1 else np.full(len(of_judge), np.nan)
        return _Taus(judge, person, drawn)

    def _tau(self, measure: int, one: BesidePerson, estimate: int) -> tuple[float, NDArray[np.float64]]:
        # the same person beside each judge
        key = (measure, one.truth, estimate)
        if key not in self._known:
            sides = (
                self._scores.of(one.truth, measure, one.topics),
                self._scores.of(estimate, measure, one.topics),
            )
            value = float(_tau_b(*sides)[0])
            drawn = np.full(1, np.nan) if self._counts is None else _tau_b(*sides, self._counts[:, one.topics])
            self._known[key] = value, drawn
        return self._known[key]


def _mean(values: Sequence[float]) -> float:
    """Return the mean of values, NaN of none."""
    return float(np.mean(values)) if values else math.nan


def _tau_b(truth: TopicScores, estimate: TopicScores, counts: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
    """Return (draws,) tau_b of two rankings; NaN where all runs tie."""
    x, y = rounded(truth.means(counts)), rounded(estimate.means(counts))
    return pairs.coefficients(x, y, ("tau_b",))["tau_b"].astype(np.float64)
