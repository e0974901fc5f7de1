"""How far predictions err for units that are left out, and what follows for one more unit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import ir_measures
import numpy as np
from numpy.typing import NDArray

from pt_reuse._check import examples
from pt_reuse.arrays.correlation import CLOSE
from pt_reuse.arrays.expected import EXPECTED, Floats, by_unit, conformal_quantile
from pt_reuse.arrays.kernels import Spec
from pt_reuse.errors import InputError
from pt_reuse.scoring.measures import native_spec, spec_of
from pt_reuse.studies.new_runs.estimators import ZERO, Cases, Estimator, MeasureModel, Prediction, chances_of

Ranks = NDArray[np.int64]


@dataclass(frozen=True)
class Ranked:
    """The scores that the runs of a unit are ranked among: (others,) those of the runs of other units.

    Relevant documents of the unit lower the scores of others by nDCG and R, which share a divisor with it.
    """

    expected: Floats  # by what is known without the unit, in the order of the field
    least: Floats  # with all of its unknown documents relevant
    as_judged: Floats  # with none, in the order of the field
    true: Floats  # with its documents judged, in the order of the field
    by_topic: Floats  # (topics, others) by what is known, in the order of the field

    @classmethod
    def of(cls, by_topic: Floats, true: Floats, dilution: tuple[Floats, Floats]) -> Ranked:
        expected, least = ((part[:, None] * by_topic).mean(axis=0) for part in dilution)
        return cls(expected, least, by_topic.mean(axis=0), true, by_topic)

    def diluted(self, part: Floats) -> Ranked:
        """Return the same, where (topics,) scores of others are expected to become a part of what they are."""
        return replace(self, expected=(part[:, None] * self.by_topic).mean(axis=0))

    def beside(self, estimator: str) -> Ranked:
        """Return the same for an estimator: others keep their scores where it has no document of the unit relevant."""
        return replace(self, expected=self.as_judged) if estimator == ZERO else self

    def rank(self, score: Floats, *, worst: bool = False) -> Ranks:
        """Return 1 + how many are better by what is known; the worst rank counts those that are equal, too."""
        return rank_among(self.expected, score, worst=worst)

    def rank_errors(self, predicted: Floats, spread: Floats, true: Floats) -> Floats:
        ranks, wanted = self.rank(predicted), rank_among(self.true, true)
        best_first = np.sort(self.expected)[::-1]
        if not len(best_first):
            return np.zeros(len(predicted))
        above, below = (best_first[np.clip(wanted - step, 0, len(best_first) - 1)] for step in (2, 1))
        off = np.where(wanted > ranks, predicted - above, np.where(wanted < ranks, below - predicted, 0.0))
        return np.maximum(off, 0) / spread


def rank_among(others: Floats, score: Floats, *, worst: bool = False) -> Ranks:
    """Return 1 + how many other scores are better than each; the worst rank counts those that are equal, too."""
    at = score - CLOSE if worst else score + CLOSE
    better: Ranks = len(others) - np.searchsorted(np.sort(others), at, side="left" if worst else "right")
    return 1 + better


@dataclass(frozen=True)
class Completed:
    """What every completion allows a new run and the others beside it."""

    low: Floats  # (topics,) the lowest score
    high: Floats  # (topics,) the highest
    others_least: Floats  # (topics, others) with all unknown documents relevant
    others_most: Floats  # (topics, others) with none

    def table(self) -> dict[str, float]:
        """Return the mean scores and the ranks that it allows."""
        lowest, highest = float(self.low.mean()), float(self.high.mean())
        best = rank_among(self.others_least.mean(axis=0), np.array([highest]))
        worst = rank_among(self.others_most.mean(axis=0), np.array([lowest]))
        return {"lowest": lowest, "highest": highest, "rank_best": int(best[0]), "rank_worst": int(worst[0])}

    def with_topics(self, critical: float) -> dict[str, float]:
        """Return the same with the doubt from topics, so many deviations of scores, added to each end."""
        best, worst = self.others_least - self.high[:, None], self.others_most - self.low[:, None]
        return {
            "both_low": self.low.mean() - critical * self.low.std(ddof=1),
            "both_high": self.high.mean() + critical * self.high.std(ddof=1),
            "both_rank_low": 1 + int((best.mean(axis=0) > critical * best.std(axis=0, ddof=1)).sum()),
            "both_rank_high": 1 + int((worst.mean(axis=0) > -critical * worst.std(axis=0, ddof=1)).sum()),
        }


@dataclass(frozen=True)
class Calibration:
    """The errors of an estimator for the units that are left out, and what they say of one more at a confidence."""

    unit: NDArray[np.int64]  # (runs,) the unit of each run
    errors: Floats  # (runs,) of the score
    spreads: Floats  # (runs,) what they are divided by
    rank_errors: Floats  # (runs,) spreads that the rank takes, see :meth:`Ranked.rank_errors`
    confidence: float

    @classmethod
    def of(
        cls, model: MeasureModel, predictions: Sequence[Prediction], ranked: Sequence[Ranked], confidence: float
    ) -> Calibration:
        train, none = model.train, np.zeros(0)
        truth = [scores.mean(axis=1) for scores in model.truth[: len(train)]]
        cases = list(zip(ranked, predictions, truth, strict=False))
        return cls(
            np.repeat([case.unit for case in train], [len(case.runs) for case in train]).astype(np.int64),
            np.concatenate([none, *(made.score - true for _, made, true in cases)]),
            np.concatenate([none, *(made.spread for _, made, _ in cases)]),
            np.concatenate([none, *(field.rank_errors(made.score, made.spread, true) for field, made, true in cases)]),
            confidence,
        )

    @property
    def error(self) -> float:
        """Return the mean absolute error of the score, each unit one weight."""
        return mean_of_units(np.abs(self.errors), self.unit)

    @cached_property
    def score(self) -> float:
        """Return how many spreads of the score an interval takes to each side."""
        return self.critical(self.errors, self.confidence)

    @cached_property
    def rank(self) -> float:
        """Return how many spreads of the score the interval of a rank takes to each side."""
        return conformal_quantile(self.rank_errors, self.unit, self.confidence)

    def critical(self, errors: Floats, confidence: float) -> float:
        return conformal_quantile(np.abs(errors) / self.spreads, self.unit, confidence)


def mean_of_units(values: Floats, unit: NDArray[np.int64]) -> float:
    """Return the mean over units of the means of their runs."""
    return float(np.mean([values[unit == each].mean() for each in np.unique(unit)])) if len(values) else np.nan


def units_needed(confidence: float) -> int:
    """Return how many units must be left out for an interval of a confidence to exist."""
    return int(np.ceil(confidence / (1 - confidence) - 1e-9))


@dataclass(frozen=True)
class ApplicabilityLimits:
    """What runs are like for which the predictions are calibrated: those of units that are left out."""

    unjudged: float  # nine in ten have at most this share of unjudged documents
    condensed: float  # none has a higher score without its unjudged documents
    spec: Spec  # by which measure: one that looks deeper than the pool says little of a run's top, so precision there

    @classmethod
    def of(cls, model: MeasureModel) -> ApplicabilityLimits:
        train, spec, depth = model.train, model.spec, model.of.setting.evidence.depth
        if (spec.cutoff or depth + 1) > depth:
            spec = Spec("p", cutoff=depth, rel=max(spec.rel, 1))
        if not train:
            return cls(np.nan, np.nan, spec)
        unit = np.repeat([case.unit for case in train], [len(case.runs) for case in train])
        share = np.concatenate(model.of.unjudged(min(spec.cutoff or depth, depth))[: len(train)])
        highest = max(float(scores.mean(axis=1).max()) for scores in model.condensed(spec)[: len(train)])
        return cls(by_unit(share, unit, 0.9), highest, spec)


@dataclass(frozen=True)
class Predicted:
    """What runs would score by one measure, by each estimator, and how far each errs for the units left out."""

    model: MeasureModel
    by: Mapping[str, list[Prediction]]  # of each case
    calibrations: Mapping[str, Calibration]
    ranked: list[Ranked]  # what each case is ranked among
    limits: ApplicabilityLimits
    chosen: str  # the estimator with the smallest error

    @classmethod
    def of(
        cls,
        cases: Cases,
        measure: ir_measures.Measure,
        ranked: list[Ranked],
        estimators: Mapping[str, Estimator],
        confidence: float,
    ) -> Predicted:
        model = MeasureModel(cases, spec_of(measure))
        by = {name: estimator(model) for name, estimator in estimators.items()}
        calibrations = {
            name: Calibration.of(model, made, [field.beside(name) for field in ranked], confidence)
            for name, made in by.items()
        }
        chosen = min(calibrations, key=lambda name: calibrations[name].error)
        return cls(model, by, calibrations, ranked, ApplicabilityLimits.of(model), chosen)

    def columns(self, at: int, name: str, bounds: tuple[Floats, Floats]) -> dict[str, NDArray[Any]]:
        """Return (runs,) of a case what an estimator says of their scores and ranks, inside the bounds.

        Without an interval, for too few units, the ends are those of the bounds. ``clipped`` says where an estimator
        had a score that no completion gives.
        """
        made, calibration, field = self.by[name][at], self.calibrations[name], self.ranked[at].beside(name)
        lowest, highest = bounds
        half, rank_half = calibration.score * made.spread, calibration.rank * made.spread
        score, zero = np.clip(made.score, lowest, highest), self.model.zero[at].mean(axis=1)
        best, worst = rank_among(field.least, highest), rank_among(field.as_judged, lowest)
        return {
            "zero": zero,
            "predicted": score,
            "low": np.clip(made.score - half, lowest, highest),
            "high": np.clip(made.score + half, lowest, highest),
            "lowest": lowest,
            "highest": highest,
            "clipped": np.abs(score - made.score) > CLOSE,
            "predicted_rank": np.clip(field.rank(score), best, worst),
            "rank_low": np.clip(field.rank(made.score + rank_half), best, worst),
            "rank_high": np.clip(field.rank(made.score - rank_half, worst=True), best, worst),
            "rank_best": best,
            "rank_worst": worst,
        }

    def pairs(self, at: int, name: str) -> tuple[Ranks, Ranks]:
        """Return (runs,) with how many runs of other units the interval decides a pair, and how often wrongly."""
        made, field = self.by[name][at], self.ranked[at].beside(name)
        apart = made.score[:, None] - field.expected
        decided = np.abs(apart) > self.calibrations[name].score * made.spread[:, None]
        true = self.model.truth[at].mean(axis=1)[:, None] - field.true
        wrong = decided & (np.sign(apart) != np.sign(np.where(np.abs(true) <= CLOSE, 0, true)))
        return decided.sum(axis=1), wrong.sum(axis=1)

    def critical_against(self, run: int) -> float:
        """Return how many spreads the difference to a run of the field takes to each side.

        It is calibrated on the differences of left-out runs to that very run, which may gain or lose by their labels.
        """
        calibration, moved = self.calibrations[self.chosen], []
        units = self.model.of.setting.evidence.units.of_run
        outside = np.isin(units, self.model.of.setting.outside)
        for case, field in zip(self.model.train, self.ranked, strict=False):
            others = np.flatnonzero(~outside & (units != case.unit))
            # what its own unit brought it is left without as well
            change = (field.true - field.beside(self.chosen).expected)[others == run].sum()
            moved.append(np.full(len(case.runs), change))
        return calibration.critical(calibration.errors + np.concatenate([np.zeros(0), *moved]), calibration.confidence)


def ranked_among(cases: Cases, measures: Sequence[ir_measures.Measure], whole: Floats) -> list[list[Ranked]]:
    """Return by each measure what each case is ranked among; `whole` are (measures, runs) with all that is judged."""
    evidence, outside, n_train = cases.setting.evidence, cases.setting.outside, len(cases.train)
    known = evidence.without(measures, [*([*outside, case.unit] for case in cases.train), outside])
    is_outside = np.isin(evidence.units.of_run, outside)
    by_measure = []
    for m, measure in enumerate(measures):
        model, ranked = MeasureModel(cases, spec_of(measure)), []
        chances = chances_of(model)
        outside_alone = known[m, n_train].mean(axis=0)
        for at, case in enumerate(cases.every):
            others = ~is_outside & (evidence.units.of_run != case.unit)
            true = outside_alone if at < n_train else whole[m]
            by_topic = known[m, min(at, n_train)][:, others]
            ranked.append(Ranked.of(by_topic, true[others], model.dilution(case, chances[at])))
        by_measure.append(ranked)
    return by_measure


def is_predicted(measure: ir_measures.Measure) -> bool:
    """Return whether the expected score by a measure is known."""
    spec = native_spec(measure)
    return spec is not None and spec.kernel in EXPECTED and not spec.judged_only and not spec.gains


def check_predicted(measures: Iterable[ir_measures.Measure]) -> None:
    """Raise where the expected score by a measure is not known."""
    unknown = [repr(measure) for measure in measures if not is_predicted(measure)]
    if unknown:
        known = "AP, nDCG, P, R, RBP(rel=1), RR and Success"
        raise InputError(f"cannot predict {examples(unknown)}; it can {known}.", argument="measures")
