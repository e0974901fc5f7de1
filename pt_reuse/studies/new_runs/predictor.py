"""NewRunPredictor: what judgments say of new runs beside a field, and how far it errs for units left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any, TypeAlias

import ir_measures
import numpy as np
import pandas as pd
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse.arrays.correlation import CLOSE
from pt_reuse.arrays.expected import EXPECTED, Floats, by_unit, conformal_quantile
from pt_reuse.arrays.kernels import UNJUDGED, Spec
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.metadata import pool_depth_of
from pt_reuse.data.run_set import RunSet, as_runs
from pt_reuse.errors import InputError, count, examples, located, warn
from pt_reuse.inputs import Inputs, Pooled
from pt_reuse.options import SHARED, Flag, Option
from pt_reuse.pooling.depth import pool_to_depth
from pt_reuse.pooling.fit import SLACK, depth_on_record, unjudged_tops, with_unjudged
from pt_reuse.pooling.pool import Contributors
from pt_reuse.pooling.scorers import checked_corpus
from pt_reuse.scoring.bounds import score_bounds
from pt_reuse.scoring.caveats import Caveat
from pt_reuse.scoring.measures import native_spec, spec_of
from pt_reuse.scoring.rescoring import base_scores
from pt_reuse.scoring.scores import check_topics
from pt_reuse.studies.new_runs.estimators import (
    ESTIMATORS,
    ZERO,
    Cases,
    Effects,
    Estimator,
    MeasureModel,
    Prediction,
    chances_of,
    named_estimators,
    wrong_stop,
)
from pt_reuse.studies.new_runs.evidence import Case, Evidence, LeaveOneOutSetting, signals_of
from pt_reuse.studies.new_runs.sampling import Sample, shifted

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
    others_least: Floats  # (topics, others) the lowest scores of the others, each apart
    others_most: Floats  # (topics, others) the highest

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


#: a single result without a name
NEW = "new run"
#: with a larger share of the pool unjudged nothing is predicted: of DL 2019, DL 2021 and TREC-8 with some teams taken
#: for pooled that were not, intervals of 90% cover 86 to 100% at .08 to .24, and 57 to 100% from .39 on
_BROKEN = 0.2
#: of so few runs no field is made, but one may compare new runs with them
_FEW = 3
#: weighs what is below a pool so little that judging it hardly matters
_TOP_HEAVY = "rbp"

Confidence: TypeAlias = Annotated[
    float,
    replace(
        SHARED["confidence"],
        meaning="the confidence level of intervals; at 0.9 it takes nine teams to calibrate one, at 0.95 nineteen.",
    ),
]
Judge: TypeAlias = Annotated[
    Any,
    Option(
        "a model's labels for documents that nobody judged and for judged ones: judgments in any form, a "
        ":class:`judging.Judge`, a function or a pipeline. They are one more thing that is known of a document.",
        flag=Flag(help="a model's labels of documents, judged ones among them", metavar="FILE", kind="judgments"),
        name="judge",
    ),
]
Corpus: TypeAlias = Annotated[
    Any,
    Option(
        "texts, one dict each with ``docno`` and ``text``, or a frame with these columns, or a "
        ":class:`~pt_reuse.judging.Scorer`. What a classifier says that is trained on the judged texts of a topic is "
        "one more thing that is known of a document.",
        check=lambda corpus: corpus if corpus is None else checked_corpus(corpus),
        name="corpus",
    ),
]
LeftOut: TypeAlias = Annotated[
    str,
    Option(
        'what is left out to learn from: each ``"team"`` (default) or ``"run"``.',
        choices=("team", "run"),
        flag=Flag(help="what is left out to learn from: team or run", metavar="UNIT", kind="text"),
        name="by",
    ),
]


@dataclass(frozen=True)
class PoolGap:
    """How much of the pool of a field nobody judged."""

    depth: int
    documents: int
    unjudged: int
    on_record: tuple[str, int] | None  # the collection whose judgments these are, and the depth of its pool

    @classmethod
    def of(cls, pooled: Pooled, qrels: Qrels) -> PoolGap:
        counts = pool_to_depth(pooled.ranked, pooled.depth, pooled.contributors).counts(qrels)
        n, unjudged = counts.loc[counts["qid"].isin(qrels.topics), ["documents", "to_judge"]].sum()
        on_record = pool_depth_of(len(qrels.topics), qrels.arrays.labels)
        return cls(pooled.depth, int(n), int(unjudged), on_record)

    @property
    def share(self) -> float:
        return self.unjudged / self.documents if self.documents else 0.0

    @property
    def in_words(self) -> str:
        """Return that, or nothing where it is only a little."""
        return f"{self.share:.0%} of the pool is unjudged" if self.share > SLACK else ""

    def caveats(self) -> Iterator[Caveat]:
        if self.in_words:
            message = (
                f"{self.unjudged:,} of the {self.documents:,} documents that the pooled runs have down to depth "
                f"{self.depth} ({self.share:.0%}) are unjudged. They count as not relevant, and new runs are predicted "
                "as if theirs were judged. Give the depth of the pool, and the runs that were pooled; "
                f"infer_pool(runs, qrels) says which fit the judgments.{depth_on_record(self.on_record, self.depth)}"
            )
            yield Caveat(self.in_words, message)


def as_new_runs(new: Any, runs: RunSet, qrels: Qrels, topics: pd.DataFrame | None, *, call: str = "") -> RunSet:
    """Return new runs in the order of the field, which have topics of the judgments: runs, a result or pipelines.

    With a `call`, warn that it has the arguments in this order where the new runs look like the field.
    """
    if isinstance(new, pt.Transformer):
        new = {NEW: new}
    if isinstance(new, Mapping) and new and all(isinstance(each, pt.Transformer) for each in new.values()):
        if topics is None:
            raise InputError("pipelines need topics. Pass topics=, a frame of qid and query.", argument="new")
        given = RunSet.from_pipelines(dict(new), topics, order=runs.order)
    elif isinstance(new, pd.DataFrame) and "name" not in new:
        given = RunSet.from_frames({NEW: new}, order=runs.order)
    else:
        given = as_runs(new, argument="new", order=runs.order)
    n_pooled = int(given.pooled.fillna(False).sum())
    if call and len(given) > len(runs) and (len(runs) < _FEW or len(runs) < n_pooled):
        fields = f"`new` has {count(len(given), 'run')} and `runs` {len(runs):,}"
        warn(f"{fields}. Are they the other way round? It is {call}: `new` are the new runs, `runs` the field.")
    if given.order != runs.order:
        given = given.reorder(runs.order)
    both = [name for name in given.names if name in runs]
    if both:
        message = f"{examples(both)} is among the runs of the field. Leave it out of one of the two."
        raise InputError(message, argument="new")
    with located("new"):
        check_topics(given, qrels)
    # a run without a team is one of its own; a team of the field keeps its pooled runs for itself
    teams = [name if team is None else team for name, team in zip(given.names, given.run_table["team"], strict=True)]
    known = set(runs.teams)
    teams = [f"{team} (new)" if team in known else team for team in teams]
    return given.with_metadata(teams=dict(zip(given.names, teams, strict=True)), pooled=False)


@dataclass(frozen=True)
class RunInCase:
    """A run of a case."""

    case: Case
    at: int  # the case among all, first those to learn from
    place: int  # the run in it


class NewRunPredictor:
    """New runs beside a field: their unjudged documents, and what is predicted of them."""

    def __init__(
        self,
        inputs: Inputs,
        pooled: Pooled,
        new: RunSet,
        *,
        by: str = "team",
        estimators: Sequence[str] | None = None,
        confidence: float,
        judge: Any = None,
        corpus: Any = None,
    ):
        both = inputs.runs.union(new)
        contributing = np.append(pooled.contributors.runs, np.zeros(len(new), dtype=bool))
        contributors = Contributors(pooled.contributors.rule, contributing, pooled.contributors.assumed)
        self.runs, self.measures, self.new, self.confidence = both, list(inputs.measures), set(new.names), confidence
        self.gap, self.units = PoolGap.of(pooled, inputs.qrels), both.units(by)
        self._estimators = named_estimators(estimators, judge=judge, corpus=corpus)
        evidence = Evidence(both, new.names, inputs.qrels, self.units, replace(pooled, contributors=contributors))
        signals = signals_of(evidence, [evidence.new], judge=judge, corpus=corpus)
        #: the units that are left out to learn from
        self.train = [unit for unit in evidence.pooled if unit not in evidence.new]
        setting = LeaveOneOutSetting(evidence, evidence.new, evidence.every_label(self.measures), signals)
        self.evidence, self.cases = evidence, Cases(setting, self.train, evidence.new)
        #: how many of them brought documents that no other one brought
        self.n_telling = sum(len(case.unjudged_docs) > 0 for case in self.cases.train)
        #: labels of a sample of the unjudged documents, if there is one
        self.sample: Sample | None = None
        self._effects: dict[tuple[int, int, int], Effects] = {}
        self._critical_values: dict[int, float] = {}
        self._of_others: dict[tuple[int, str], tuple[Floats, Floats]] = {}
        #: (measures, topics, runs) with what is judged
        self.scores = base_scores(both, evidence.qrels, self.measures)
        for row in self.rows():
            if not row.case.known[row.case.row[row.case.of_run(row.place)]].any():
                name = self.name(row)
                others = both.select(names=[other for other in both.names if other != name]).docnos()
                if set(others).isdisjoint(both.select(names=[name]).docnos()):
                    problem = f"run {name!r} shares no document with the runs of the field. Are ids written alike?"
                    raise InputError(problem, argument="new")

    @cached_property
    def predicted(self) -> list[Predicted]:
        ranked = ranked_among(self.cases, self.measures, self.scores.mean(axis=1))
        return [
            Predicted.of(self.cases, measure, fields, self._estimators, self.confidence)
            for measure, fields in zip(self.measures, ranked, strict=True)
        ]

    def learn_nothing(self) -> None:
        """Predict nothing: fewer than two units say what their runs would score."""
        self.train, self.cases = [], Cases(self.cases.setting, [], self.evidence.new)
        self._estimators = {ZERO: ESTIMATORS[ZERO]}

    def check(self) -> None:
        """Raise where fewer than two units can be left out to learn from."""
        if self.n_telling < 2:
            unit = self.units.by
            raise InputError(
                f"{count(self.n_telling, unit)} of the field brought judged documents that no other {unit} brought to "
                f"depth {self.evidence.depth}; it takes two to learn from. Are these the pooled runs, and the depth?",
                argument="runs",
            )

    @cached_property
    def _ends(self) -> list[tuple[tuple[Floats, Floats], tuple[Floats, Floats]]]:
        """Return of each new unit the bounds with its own documents unknown, and with those of all new runs."""
        of, unknown = self.evidence.bounds, self.evidence.unknown
        return [(of(case, self.measures), of(case, self.measures, unknown)) for case in self.cases.targets]

    def bounds(self, m: int, row: RunInCase) -> tuple[Floats, Floats]:
        """Return (runs,) the lowest and the highest mean scores of the unit of a new run, its own documents unknown."""
        low, high = self._ends[row.at - len(self.train)][0]
        return low[m].mean(axis=0), high[m].mean(axis=0)

    def completed(self, m: int, row: RunInCase) -> Completed:
        """Return what every completion of the documents of all new runs allows a new run, topic by topic."""
        low, high = self._own_ends(m, row)
        return Completed(low, high, *self._ends_of_others(m, row))

    def _own_ends(self, m: int, row: RunInCase) -> tuple[Floats, Floats]:
        """Return (topics,) the lowest and the highest scores of a new run."""
        low, high = self._ends[row.at - len(self.train)][1]
        return low[m, :, row.place], high[m, :, row.place]

    def _ends_of_others(self, m: int, row: RunInCase) -> tuple[Floats, Floats]:
        """Return (topics, others) the ends of the scores of others by any labels of the documents of new runs."""
        model, unknown, name = self.predicted[m].model, self.evidence.unknown, self.name(row)
        judgments, depth = self.evidence.qrels, self.evidence.depth
        is_judged = judgments.arrays.labels >= 0
        # a label below 0 is none, of a document that runs may share as well
        is_plain = bool((is_judged | (judgments.arrays.labels == UNJUDGED)).all())
        if model.dilutes and is_plain and not self._sharing(unknown, model.spec.cutoff):
            others = self.predicted[m].ranked[row.at].by_topic
            of_topic = np.bincount(self.evidence.topic[unknown], minlength=len(others)).astype(float)
            return others * model.least_part(row.case, of_topic)[:, None], others
        key = m, "" if model.dilutes else name
        if key not in self._of_others:
            highest, judgments = judgments.arrays.highest, judgments.keep(is_judged)
            new = self.runs.select(names=[other for other in self.runs.names if other in self.new])
            judgments = with_unjudged(judgments, unjudged_tops(new, judgments, depth))
            if not model.dilutes:
                # below the depth those count that the measure sees in the run itself
                run = self.runs.select(names=[name])
                deepest = model.spec.cutoff or max(1, int(run.field.lengths.max(initial=0)))
                judgments = with_unjudged(judgments, unjudged_tops(run, judgments, deepest))
            field = self.runs.select(names=[other for other in self.runs.names if other not in self.new])
            found = score_bounds(field, judgments, [self.measures[m]], highest, listed_alone=True)
            self._of_others[key] = found.low[0], found.high[0]
        return self._of_others[key]

    def depth(self, m: int) -> int:
        """Return down to which rank documents count as unjudged by a measure."""
        return min(self.predicted[m].model.spec.cutoff or self.evidence.depth, self.evidence.depth)

    def unjudged(self, m: int, row: RunInCase) -> float:
        """Return which share of the first documents of a run is unjudged."""
        return float(self.cases.unjudged(self.depth(m))[row.at][row.place])

    def as_sampled(self, m: int, row: RunInCase, sample: Sample) -> tuple[float, Effects, Ranked]:
        """Return the mean score of a run by the document model, what labels do to it, and what it is ranked among.

        Where what a document adds depends on the others, chances are first shifted to the share of the sample that is
        relevant, so that the divisor is not that of the model alone.
        """
        predicted, case = self.predicted[m], row.case
        model, field = predicted.model, predicted.ranked[row.at]
        chances: Mapping[int, Floats] = chances_of(model)[row.at]
        if self.is_linear(m):
            return float(model.likely(case, chances).score[row.place]), self.effects(m, row), field
        _, at, places = np.intersect1d(sample.row, case.unjudged_docs, assume_unique=True, return_indices=True)
        order, places = np.sort(at), places[np.argsort(at)]
        chances = {
            label: shifted(chance, places, sample.label[order] >= label, sample.probability[order])
            for label, chance in chances.items()
        }
        score, part = float(model.likely(case, chances).score[row.place]), model.dilution(case, chances)[0]
        field = replace(field, expected=(part[:, None] * field.by_topic).mean(axis=0))
        return score, model.effects(row.at, row.place, chances), field

    def rows(self) -> list[RunInCase]:
        return _runs_in(self.cases.targets, len(self.train))

    def left_out(self) -> list[RunInCase]:
        return _runs_in(self.cases.train, 0)

    def name(self, row: RunInCase) -> str:
        return self.runs.names[int(row.case.runs[row.place])]

    def why_not(self, m: int, row: RunInCase) -> list[str]:
        """Return why nothing is predicted of a run at the confidence level; nothing where something is."""
        limits, model, depth, unit = self.predicted[m].limits, self.predicted[m].model, self.depth(m), self.units.by
        share, least = self.unjudged(m, row), units_needed(self.confidence)
        n = len(self.train) or self.n_telling
        if n < least:
            return [f"it needs {least} left-out {unit}s, and this field has {n}"]
        condensed = float(model.condensed(limits.spec)[row.at][row.place].mean())
        reasons = [self.gap.in_words] if self.gap.share > _BROKEN else []
        if share > limits.unjudged + CLOSE:
            of = f"of left-out {unit}s {limits.unjudged:.0%}"
            reasons.append(f"{share:.0%} of its first {depth} documents are unjudged, {of}")
        if condensed > limits.condensed + CLOSE:
            by = "a precision of" if limits.spec != model.spec else "a score of"
            than = f"more than any left-out run ({limits.condensed:.4f})"
            reasons.append(f"without its unjudged documents it has {by} {condensed:.4f}, {than}")
        return reasons

    def caveats(self, m: int) -> list[str]:
        spec, depth = self.predicted[m].model.spec, self.evidence.depth
        reasons = [self.gap.in_words] if self.gap.in_words else []
        if spec.kernel != _TOP_HEAVY and (spec.cutoff or depth + 1) > depth:
            reasons.append(
                f"{self.measures[m]!r} looks below the pool: with all 58 unpooled runs of TREC-8 judged at once, "
                "intervals covered 44% by AP, 51% by P@20, 86% by nDCG@20 and 4% by R@100"
            )
        return reasons

    def effects(self, m: int, row: RunInCase) -> Effects:
        key = m, row.at, row.place
        if key not in self._effects:
            self._effects[key] = self.predicted[m].model.effects(row.at, row.place)
        return self._effects[key]

    def critical_value(self, m: int) -> float:
        """Return how many deviations a difference must have for decisions on one more unit to be right."""
        if m not in self._critical_values:
            predicted, worst, unit = self.predicted[m], [], []
            for row in self.left_out():
                effects, field, model = self.effects(m, row), predicted.ranked[row.at], predicted.model
                course = model.course(row.at, row.place, effects, row.case.labels[effects.row], field.by_topic)
                # what the others gain deeper than the pool shows once all is judged
                truth = course.score[-1] - (course.others[:, -1] if model.dilutes else field.true)
                worst.append(wrong_stop(course.score - course.others, truth, effects.spread()))
                unit.append(row.case.unit)
            reach = conformal_quantile(np.array(worst), np.array(unit), self.confidence) if unit else np.inf
            self._critical_values[m] = reach
        return self._critical_values[m]

    def only_bounds(self, m: int, row: RunInCase) -> bool:
        """Return whether only bounds are known of a run; where they are one number, or with a sample, more is."""
        if self.sample is not None or not self.why_not(m, row) or not len(self.effects(m, row).row):
            return False
        low, high = self._own_ends(m, row)
        return bool(high.mean() - low.mean() > CLOSE)

    def predicted_score(self, m: int, row: RunInCase) -> float:
        """Return what the chosen estimator says of a run, inside the bounds; NaN where only these are known."""
        predicted = self.predicted[m]
        score = predicted.by[predicted.chosen][row.at].score[row.place]
        low, high = (ends[row.place] for ends in self.bounds(m, row))
        return np.nan if self.only_bounds(m, row) else float(np.clip(score, low, high))

    def expected(
        self, m: int, row: RunInCase, known: NDArray[np.int16]
    ) -> tuple[tuple[Floats, Floats, Floats], tuple[Floats, Floats, Floats]]:
        """Return (topics,) what a run is expected to score given (documents,) further labels, and the others beside it.

        Each is expected, at least and at most, whatever is relevant of the documents of new runs that have no label.
        The others are (topics, others), in the order of the field.
        """
        model = self.predicted[m].model
        case, left = row.case.judged_since(known)
        chances = {label: chance[left] for label, chance in chances_of(model)[row.at].items()}
        score = case.scored(model.spec, chances, model.gains)[0][row.place]
        others = self.judged_since(m, known)
        unknown = self.evidence.unknown
        unknown = unknown[known[unknown] < 0]
        of_topic = np.bincount(self.evidence.topic[unknown], minlength=len(score)).astype(float)
        expected, least = model.dilution(case, chances)[0], model.least_part(case, of_topic)
        low, high = (ends[0, :, row.place] for ends in self.evidence.bounds(case, [self.measures[m]], unknown))
        return (score, low, high), (others * expected[:, None], others * least[:, None], others)

    def by_topic(self, m: int, row: RunInCase) -> Floats:
        """Return (topics,) what is predicted of a run; an estimator of means alone has all topics gain alike.

        With a sample, what its labels and the document model say.
        """
        if self.sample is not None:
            known = np.full(len(self.evidence.labels), UNJUDGED)
            known[self.sample.row] = self.sample.label
            return self.expected(m, row, known)[0][0]
        predicted = self.predicted[m]
        made, zero = predicted.by[predicted.chosen][row.at], predicted.model.zero[row.at][row.place]
        by_topic: Floats = zero + (made.score[row.place] - zero.mean())
        return by_topic if made.by_topic is None else made.by_topic[row.place]

    @property
    def topic_critical(self) -> float:
        """Return how many deviations of its scores on topics the interval of a mean takes to each side."""
        from scipy.stats import t

        n = self.evidence.n_topics
        return float(t.ppf((1 + self.confidence) / 2, n - 1) / np.sqrt(n)) if n > 1 else np.nan

    def dilution(self, m: int, row: RunInCase) -> Floats:
        """Return (topics,) what scores of others are expected to become a part of with the documents of a run."""
        model = self.predicted[m].model
        if self.predicted[m].chosen == ZERO and self.sample is None:
            return np.ones(row.case.shape[1])
        return model.dilution(row.case, chances_of(model)[row.at])[0]

    def judged_since(self, m: int, known: NDArray[np.int16]) -> Floats:
        """Return (topics, runs) scores with (documents,) further labels; below 0 is none."""
        if not (known >= 0).any():
            return self.scores[m]
        arrays = self.evidence.qrels.arrays
        labels = np.where(known >= 0, known, self.evidence.labels).astype(np.int16)
        return base_scores(self.runs, Qrels.of_arrays(arrays.labelled(labels)), [self.measures[m]])[0]

    def sharing(self, m: int, effects: Effects) -> frozenset[str]:
        """Return the runs of the field that have some documents where the measure looks."""
        return self._sharing(effects.row, self.predicted[m].model.spec.cutoff)

    def _sharing(self, documents: NDArray[np.int64], cutoff: int | None) -> frozenset[str]:
        lists, is_one = self.evidence.lists, np.zeros(len(self.evidence.labels), dtype=bool)
        is_one[documents] = True
        seen = is_one[lists.row] & (lists.rank <= (cutoff or self.evidence.depth))
        return frozenset(self.runs.names[run] for run in lists.runs_of(seen)) - self.new

    def effects_on(self, m: int, row: RunInCase, name: str) -> Effects:
        """Return what the labels of the unjudged documents of a new run do to a run of the field that has them."""
        run, model = np.array([self.runs.row(name)]), self.predicted[m].model
        counts, docs, rank = self.evidence.lists.of_runs(run)
        lengths = self.evidence.lists.lengths[:, run].T
        case = replace(row.case, runs=run, counts=counts, rank=rank, row=docs, lengths=lengths)
        effects = model.effects_in(case, 0, chances_of(model)[row.at])
        return effects.take(case.ranks(0)[effects.row] <= (model.spec.cutoff or self.evidence.depth))

    def is_linear(self, m: int) -> bool:
        """Return whether each document adds the same to a score by a measure, whatever the others are."""
        return self.predicted[m].model.spec.kernel in ("p", "rbp")

    def bounds_are_exact(self, m: int) -> bool:
        """Return whether nothing but a run's own documents in the plan can move it against others by a measure."""
        spec, depth = self.predicted[m].model.spec, self.evidence.depth
        if spec.cutoff is None or spec.cutoff > depth:
            return False
        return spec.cutoff == depth or spec.kernel not in ("ap", "ndcg", "r")


def _runs_in(cases: list[Case], first: int) -> list[RunInCase]:
    return [RunInCase(case, first + at, place) for at, case in enumerate(cases) for place in range(len(case.runs))]
