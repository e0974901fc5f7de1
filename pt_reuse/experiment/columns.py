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

#: what `reuse=` may name, and the columns it adds for a measure m
REUSE = {
    "lou": "`m LOU`, the score without the uniques of the system's own unit, and `m LOU %`, its change in per cent",
    "rank": "`m rank`; with `lou` also `m LOU rank` and `m drop` = LOU rank - rank",
    "unjudged": "`m unjudged`, the share of unjudged documents down to the measure's cutoff",
    "bounds": "`m low` and `m high`, the lowest and the highest score that the unjudged documents allow",
    "filled": "`m filled`, the score with these labelled by a judge, and how many it labelled and did not",
}
#: the order of pt.Experiment's own scores, so that all columns rank documents alike
ORDER = "trec_eval9"
#: what `reuse=` stands for where the user leaves it out: with a field, of which `says_something` are added, and without
DEFAULTS = {True: ("lou", "rank", "unjudged", "bounds"), False: ("unjudged", "rank", "bounds")}
#: what settings say of systems of which none counts as a contributor
NOT_POOLED = "not pooled"
#: ends the names of columns for which the systems alone were the pool, so that nobody takes them for the others
NO_FIELD = " (no field)"
#: columns that hold ranks or differences of ranks
RANKS = ("rank", *(f"{name}{end}" for name in ("LOU rank", "drop") for end in ("", NO_FIELD)))
#: columns that hold the ends of what a score may be
BOUNDS = ("low", "high")
#: the key of `settings` for caveats about uniques where no column shows what they are worth
BEWARE_OF_UNIQUES = "beware of uniques"
#: columns that count documents
COUNTS = ("filled docs", "filled unknown")
#: columns of measures for which pt.Experiment reports the sum over topics, not the mean
SUMMED = {"num_q", "num_rel", "num_ret", "num_rel_ret", "NumQ", "NumRel", "NumRet", "NumRelRet"}


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What the user wants to know."""

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

    def of(self, systems: NDArray[np.int64]) -> Values:
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


def compute_columns(
    systems: RunSet,
    field: RunSet | None,
    qrels: Qrels,
    measures: Mapping[str, ir_measures.Measure],
    asked: Asked,
) -> Columns:
    """Compute the columns asked for; `measures` are named as pt.Experiment names them."""
    if asked.ranked:
        runs = systems if field is None else field.reorder(ORDER) | systems
        columns = _placed(systems, runs, qrels, measures, asked)
    else:
        columns = Columns(
            systems=systems.names,
            qids=qrels.topics,
            measures=list(measures),
            scores=_alone(systems, qrels, measures, verbose=asked.verbose),
        )
    kinds = [kind for kind in asked.kinds if kind not in columns.empty]
    added, settings = {**columns.added}, {"reuse": kinds, "order": ORDER, **columns.settings}
    if "unjudged" in kinds:
        added["unjudged"] = _unjudged(systems, qrels, measures)
    if "bounds" in kinds:
        known, more = _bounds(systems, qrels, measures, asked.labels)
        added, settings = {**added, **known}, {**settings, **more}
    return replace(columns, added=added, settings=settings)


def _placed(
    systems: RunSet, runs: RunSet, qrels: Qrels, measures: Mapping[str, ir_measures.Measure], asked: Asked
) -> Columns:
    """Compute the columns that follow from the place of the systems among all runs."""
    at = np.array([runs.row(name) for name in systems.names])
    distinct = list(measures.values())
    # a system that finds nothing on the judged topics scores 0, as in pt.Experiment
    options: dict[str, Any] = {"without_topics": "zero", "verbose": asked.verbose}
    lou = None
    if asked.left_out:
        pooling: dict[str, Any] = {"by": asked.by, "depth": asked.depth, "pool_order": asked.pool_order}
        lou = leave_out_uniques(runs, qrels, distinct, **pooling, **options)
    full = score(runs, qrels, distinct, **options) if lou is None else lou.scores
    empty = _empty(systems, at, lou, asked)
    scores: dict[str, Values] = {}
    added: dict[str, dict[str, Values]] = {}
    for name, measure in measures.items():
        times = len(qrels.topics) if name in SUMMED else 1
        base = _values(full, measure)
        scores[name] = _as_theirs(full, name, measure, qrels).of(at)
        shown = None if "lou" in empty else lou
        for column, values in _of_measure(base, shown, measure, times, "rank" in asked.kinds).items():
            alone = asked.alone and column not in ("rank", "unjudged")
            added.setdefault(f"{column}{NO_FIELD}" if alone else column, {})[name] = values.of(at)
    settings = {
        **full.settings,
        **(lou.settings if lou else {}),
        "runs ranked": len(runs),
        "ranked among": _among(len(systems), len(runs)),
        **({"systems": _pooled_in_words(systems.pooled.tolist())} if lou else {}),
    }
    return Columns(
        systems=systems.names,
        qids=qrels.topics,
        measures=list(measures),
        scores=scores,
        added=added,
        settings=settings,
        empty=empty,
        **(_of_uniques(systems, lou, measures) if lou else {}),
    )


def _empty(systems: RunSet, at: NDArray[np.int64], lou: LeaveOutUniques | None, asked: Asked) -> tuple[str, ...]:
    """Return the default kinds of columns that would say nothing of any system, or less than others do."""
    if lou is None or not asked.by_default:
        return ()
    # a unit without a contributor has nothing to lose; a pooled system has LOU in the place of bounds
    loses = lou.unique_counts["contributing"].to_numpy()[lou.units.of_run[at]] > 0
    return (*(() if loses.any() else ("lou",)), *(("bounds",) if systems.pooled.all() else ()))


def _among(n_systems: int, n_runs: int) -> str:
    systems, official = count(n_systems, "system"), n_runs - n_systems
    if not official:
        return f"the {systems} alone" if n_systems > 1 else "the only system"
    return f"{count(official, 'run')} of the field and {systems}"


def _pooled_in_words(pooled: list[bool]) -> str:
    if all(pooled):
        return "pooled"
    return f"{sum(pooled):,} of {len(pooled):,} pooled" if any(pooled) else NOT_POOLED


def _of_uniques(systems: RunSet, lou: LeaveOutUniques, measures: Mapping[str, ir_measures.Measure]) -> dict[str, Any]:
    """Return what leaving units out says besides the columns."""
    name_of = {repr(measure): name for name, measure in measures.items()}
    summary = lou.summary.assign(measure=[name_of[measure] for measure in lou.summary["measure"]])
    contributed = dict(zip(systems.names, systems.pooled.tolist(), strict=True))
    return {"contributed": contributed, "fit": lou.fit, "summary": summary.to_dict("records")}


def _of_measure(
    base: Values, lou: LeaveOutUniques | None, measure: ir_measures.Measure, times: int, ranked: bool
) -> dict[str, Values]:
    """Return added column -> its values for all runs ranked."""
    found = {}
    if lou is not None:
        own = _values(lou.own_scores, measure)
        found["LOU"] = Values(own.mean * times, own.by_topic)
        found["LOU %"] = Values(
            pairs.per_cent_change(base.mean, own.mean), pairs.per_cent_change(base.by_topic, own.by_topic)
        )
    if ranked:
        rank = found["rank"] = Values(_ranks(base.mean), _ranks(base.by_topic))
        if lou is not None:
            unit = lou.units.of_run
            after = Values(_rank_alone(base.mean, own.mean, unit), _rank_alone(base.by_topic, own.by_topic, unit))
            found["LOU rank"] = after
            found["drop"] = Values(after.mean - rank.mean, after.by_topic - rank.by_topic)
    return found


def _unjudged(systems: RunSet, qrels: Qrels, measures: Mapping[str, ir_measures.Measure]) -> dict[str, Values]:
    rates = {name: unjudged_to(measure) for name, measure in measures.items()}
    found = score(systems, qrels, list(dict.fromkeys(rates.values())), without_topics="zero")
    return {name: _values(found, rate) for name, rate in rates.items()}


def _bounds(
    systems: RunSet, qrels: Qrels, measures: Mapping[str, ir_measures.Measure], labels: NDArray[np.int16] | None
) -> tuple[dict[str, dict[str, Values]], dict[str, str]]:
    """Return the columns of the measures whose bounds are known, and what settings say of them and of the others."""
    found = score_bounds(systems, qrels, dict.fromkeys(measures.values()), labels)
    at = {measure: m for m, measure in enumerate(found.measures)}
    added: dict[str, dict[str, Values]] = {}
    for name, measure in measures.items():
        for column, values in zip(BOUNDS, (found.low, found.high), strict=True):
            if measure in at:
                mine = values[at[measure]]
                added.setdefault(column, {})[name] = Values(mean_over_topics(mine, None), mine)
    unknown = [name for name, measure in measures.items() if measure not in at]
    settings = {"bounds": found.in_words()} if at else {}
    return added, {**settings, **({"no bounds": listed(unknown)} if unknown else {})}


def _alone(
    systems: RunSet, qrels: Qrels, measures: Mapping[str, ir_measures.Measure], *, verbose: bool
) -> dict[str, Values]:
    """Return the scores of systems in the order of the added columns, by the measures that this package computes."""
    known = {name: measure for name, measure in measures.items() if native_spec(measure) is not None}
    if not known:
        return {}
    scores = score(systems, qrels, list(known.values()), without_topics="zero", verbose=verbose)
    return {name: _as_theirs(scores, name, measure, qrels) for name, measure in known.items()}


def _as_theirs(scores: Scores, name: str, measure: ir_measures.Measure, qrels: Qrels) -> Values:
    """Return the values of a measure with the mean that pt.Experiment shows, a sum for counts."""
    found = _values(scores, measure)
    return replace(found, mean=found.mean * len(qrels.topics)) if name in SUMMED else found


def _values(scores: Scores, measure: ir_measures.Measure) -> Values:
    m = scores.measures.index(repr(measure))
    return Values(scores.mean_values[m], scores.values[m])


def unjudged_to(measure: ir_measures.Measure) -> ir_measures.Measure:
    """Return the share of unjudged documents down to the cutoff of a measure."""
    cutoff = cutoff_of(measure)
    return Unjudged if cutoff is None else Unjudged @ cutoff


def _rank_alone(full: NDArray[np.float64], own: NDArray[np.float64], unit: NDArray[np.int64]) -> NDArray[np.int64]:
    return pairs.rank_alone(np.round(full, DECIMALS), np.round(own, DECIMALS), unit)


def _ranks(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    return pairs.ranks(np.round(scores, DECIMALS))
