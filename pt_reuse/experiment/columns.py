"""The columns that Experiment adds: which there are, and how they are computed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import ir_measures
import numpy as np
from numpy.typing import NDArray

from pt_reuse._check import count, listed
from pt_reuse.arrays import pairs
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.pooling.fit import PoolFit
from pt_reuse.scoring.bounds import score_bounds
from pt_reuse.scoring.caveats import Caveat
from pt_reuse.scoring.measures import Unjudged, cutoff_of, native_spec
from pt_reuse.scoring.run_scores import score
from pt_reuse.scoring.scores import Scores
from pt_reuse.scoring.topic_sets import mean_over_topics
from pt_reuse.studies.uniques import LeaveOutUniques, leave_out_uniques

#: column name of a measure, as pt.Experiment has it -> the measure
Measures = Mapping[str, ir_measures.Measure]
#: what `reuse=` may name
REUSE = ("lou", "rank", "unjudged", "bounds", "filled")
#: the order of pt.Experiment's own scores, so that all columns rank documents alike
ORDER = "trec_eval9"
#: what `reuse=` stands for where the user leaves it out, with a field (of these :func:`_empty` are left out) or without
DEFAULTS = {True: ("lou", "rank", "unjudged", "bounds"), False: ("unjudged", "rank", "bounds")}
#: what settings say of systems of which none counts as a contributor
NOT_POOLED = "not pooled"
#: ends the names of columns for which the systems alone were the pool, so that nobody takes them for the others
NO_FIELD = " (no field)"
#: columns that hold ranks or differences of ranks, the ends of what a score may be, and numbers of documents
RANKS = ("rank", *(f"{name}{end}" for name in ("LOU rank", "drop") for end in ("", NO_FIELD)))
BOUNDS = ("low", "high")
COUNTS = ("filled docs", "filled unknown")
#: the key of `settings` for caveats about uniques where no column shows what they are worth
BEWARE_OF_UNIQUES = "beware of uniques"
#: columns of measures for which pt.Experiment reports the sum over topics, not the mean
SUMMED = {"num_q", "num_rel", "num_ret", "num_rel_ret", "NumQ", "NumRel", "NumRet", "NumRelRet"}


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """Which columns are wanted, and how systems are pooled; `alone` without a field, `labels` those that there are."""

    kinds: tuple[str, ...]
    by: str
    depth: int | None
    pool_order: str | None
    verbose: bool
    alone: bool
    by_default: bool
    idle: tuple[str, ...] = ()
    labels: NDArray[np.int16] | None = None

    @property
    def left_out(self) -> bool:
        """Return whether units are to be left out of the pool."""
        return "lou" in self.kinds

    @property
    def ranked(self) -> bool:
        """Return whether the systems are to be placed in the field."""
        return self.left_out or "rank" in self.kinds


@dataclass(frozen=True)
class Values:
    """A number per system: of all topics together, (systems,), and of each topic, (topics, systems)."""

    mean: NDArray
    by_topic: NDArray

    @classmethod
    def of(cls, scores: Scores, measure: ir_measures.Measure, times: int = 1) -> Values:
        """Return the scores by a measure, the mean so many times."""
        m = scores.measures.index(repr(measure))
        return cls(scores.mean_values[m] * times, scores.values[m])

    def at(self, systems: NDArray[np.int64]) -> Values:
        """Return the values of some systems."""
        return Values(self.mean[systems], self.by_topic[:, systems])

    def unknown(self) -> Values:
        """Return that none of the values is known."""
        return Values(np.full_like(self.mean, np.nan), np.full_like(self.by_topic, np.nan))


@dataclass(frozen=True, kw_only=True)
class Columns:
    """What was computed for the systems; of leaving units out also who contributed, the fit, and a summary."""

    systems: list[str]
    qids: list[str]
    measures: list[str]
    scores: dict[str, Values] = field(default_factory=dict)
    added: dict[str, dict[str, Values]] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    contributed: dict[str, bool] = field(default_factory=dict)
    fit: PoolFit | None = None
    summary: list[dict[str, Any]] = field(default_factory=list)
    empty: tuple[str, ...] = ()
    hint: str = ""
    caveats: tuple[Caveat, ...] = ()

    @property
    def pooled(self) -> dict[str, bool] | None:
        """Return system -> whether it counts as a contributor; None where no column says what it would lose."""
        return None if self.fit is None or "lou" in self.empty else self.contributed

    def attrs(self) -> dict[str, Any]:
        """Return what the result carries with it."""
        return {"summary": self.summary, "settings": self.settings, "hint": self.hint}

    def with_settings(self, more: Mapping[str, Any]) -> Columns:
        """Return the same columns with further settings."""
        return replace(self, settings={**self.settings, **more})


def times_of(name: str, qrels: Qrels) -> int:
    """Return how many times the mean pt.Experiment shows: a count is the sum over topics."""
    return len(qrels.topics) if name in SUMMED else 1


def compute_columns(systems: RunSet, field: RunSet | None, qrels: Qrels, measures: Measures, wanted: Wanted) -> Columns:
    """Compute the columns that are wanted."""
    columns = Columns(systems=systems.names, qids=qrels.topics, measures=list(measures))
    if wanted.ranked:
        runs = systems if field is None else field.reorder(ORDER) | systems
        columns = _placed(columns, systems, runs, qrels, measures, wanted)
    elif known := {name: measure for name, measure in measures.items() if native_spec(measure) is not None}:
        # those alone that this package computes
        scores = score(systems, qrels, list(known.values()), without_topics="zero", verbose=wanted.verbose)
        columns = replace(columns, scores={n: Values.of(scores, m, times_of(n, qrels)) for n, m in known.items()})
    kinds = [kind for kind in wanted.kinds if kind not in columns.empty]
    added, settings = {**columns.added}, {"reuse": kinds, "order": ORDER, **columns.settings}
    if "unjudged" in kinds:
        rates = {name: unjudged_to(measure) for name, measure in measures.items()}
        scores = score(systems, qrels, list(dict.fromkeys(rates.values())), without_topics="zero")
        added["unjudged"] = {name: Values.of(scores, rate) for name, rate in rates.items()}
    if "bounds" in kinds:
        known_bounds, more = _bounds(systems, qrels, measures, wanted.labels)
        added, settings = {**added, **known_bounds}, {**settings, **more}
    return replace(columns, added=added, settings=settings)


def _placed(
    columns: Columns, systems: RunSet, runs: RunSet, qrels: Qrels, measures: Measures, wanted: Wanted
) -> Columns:
    """Add the columns that follow from the place of the systems among all runs."""
    at = np.array([runs.row(name) for name in systems.names])
    distinct, lou = list(measures.values()), None
    # a system that finds nothing on the judged topics scores 0, as in pt.Experiment
    how: dict[str, Any] = {"without_topics": "zero", "verbose": wanted.verbose}
    if wanted.left_out:
        pooling: dict[str, Any] = {"by": wanted.by, "depth": wanted.depth, "pool_order": wanted.pool_order}
        lou = leave_out_uniques(runs, qrels, distinct, **pooling, **how)
    full = score(runs, qrels, distinct, **how) if lou is None else lou.scores
    empty = _empty(systems, at, lou, wanted)
    scores: dict[str, Values] = {}
    added: dict[str, dict[str, Values]] = {}
    for name, measure in measures.items():
        times = times_of(name, qrels)
        scores[name] = Values.of(full, measure, times).at(at)
        shown = None if "lou" in empty else lou
        for column, values in _of_measure(full, shown, measure, times, "rank" in wanted.kinds).items():
            end = NO_FIELD if wanted.alone and column != "rank" else ""
            added.setdefault(column + end, {})[name] = values.at(at)
    among = {"runs ranked": len(runs), "ranked among": _among(len(systems), len(runs))}
    settings = {**full.settings, **(lou.settings if lou else {}), **among}
    columns = replace(columns, scores=scores, added=added, settings=settings, empty=empty)
    if lou is None:
        return columns
    name_of = {repr(measure): name for name, measure in measures.items()}
    summary = lou.summary.assign(measure=[name_of[measure] for measure in lou.summary["measure"]])
    contributed = dict(zip(systems.names, systems.pooled.tolist(), strict=True))
    columns = columns.with_settings({"systems": _pooled_in_words(systems.pooled.tolist())})
    return replace(columns, contributed=contributed, fit=lou.fit, summary=summary.to_dict("records"))


def _empty(systems: RunSet, at: NDArray[np.int64], lou: LeaveOutUniques | None, wanted: Wanted) -> tuple[str, ...]:
    """Return the default kinds of columns that would say nothing of any system, or less than others do."""
    if lou is None or not wanted.by_default:
        return ()
    # a unit without a contributor has nothing to lose; a pooled system has LOU in the place of bounds
    loses = lou.unique_counts["contributing"].to_numpy()[lou.units.of_run[at]] > 0
    return (*(() if loses.any() else ("lou",)), *(("bounds",) if systems.pooled.all() else ()))


def _among(n_systems: int, n_runs: int) -> str:
    systems, official = count(n_systems, "system"), n_runs - n_systems
    if official:
        return f"{count(official, 'run')} of the field and {systems}"
    return f"the {systems} alone" if n_systems > 1 else "the only system"


def _pooled_in_words(pooled: list[bool]) -> str:
    if all(pooled):
        return "pooled"
    return f"{sum(pooled):,} of {len(pooled):,} pooled" if any(pooled) else NOT_POOLED


def _of_measure(
    full: Scores, lou: LeaveOutUniques | None, measure: ir_measures.Measure, times: int, ranked: bool
) -> dict[str, Values]:
    """Return added column -> its values for all runs ranked."""
    base, columns = Values.of(full, measure), {}
    own = None if lou is None else Values.of(lou.own_scores, measure)
    if own is not None:
        columns["LOU"] = Values(own.mean * times, own.by_topic)
        per_cent = pairs.per_cent_change
        columns["LOU %"] = Values(per_cent(base.mean, own.mean), per_cent(base.by_topic, own.by_topic))
    if ranked:
        rank = columns["rank"] = Values(_ranks(base.mean), _ranks(base.by_topic))
        if own is not None and lou is not None:
            unit = lou.units.of_run
            after = Values(_rank_alone(base.mean, own.mean, unit), _rank_alone(base.by_topic, own.by_topic, unit))
            columns["LOU rank"] = after
            columns["drop"] = Values(after.mean - rank.mean, after.by_topic - rank.by_topic)
    return columns


def _bounds(
    systems: RunSet, qrels: Qrels, measures: Measures, labels: NDArray[np.int16] | None
) -> tuple[dict[str, dict[str, Values]], dict[str, str]]:
    """Return the columns of the measures whose bounds are known, and what settings say of them and of the others."""
    bounds = score_bounds(systems, qrels, dict.fromkeys(measures.values()), labels)
    at = {measure: m for m, measure in enumerate(bounds.measures)}
    known = {name: at[measure] for name, measure in measures.items() if measure in at}
    unknown = [name for name in measures if name not in known]
    added = {
        column: {name: Values(mean_over_topics(values[m], None), values[m]) for name, m in known.items()}
        for column, values in zip(BOUNDS, (bounds.low, bounds.high), strict=True)
        if known
    }
    settings = {"bounds": bounds.in_words()} if at else {}
    return added, {**settings, **({"no bounds": listed(unknown)} if unknown else {})}


def unjudged_to(measure: ir_measures.Measure) -> ir_measures.Measure:
    """Return the share of unjudged documents down to the cutoff of a measure."""
    cutoff = cutoff_of(measure)
    return Unjudged if cutoff is None else Unjudged @ cutoff


def _rank_alone(full: NDArray[np.float64], own: NDArray[np.float64], unit: NDArray[np.int64]) -> NDArray[np.int64]:
    return pairs.rank_alone(np.round(full, DECIMALS), np.round(own, DECIMALS), unit)


def _ranks(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    return pairs.ranks(np.round(scores, DECIMALS))
