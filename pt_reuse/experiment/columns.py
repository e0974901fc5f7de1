"""The columns that Experiment adds: which there are, how they are computed, and how they join a result."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse.arrays import pairs
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.arrays.lists import BY_SCORE
from pt_reuse.collections.collection import catalogued
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.metadata import judged_alike
from pt_reuse.data.run_set import RunSet
from pt_reuse.errors import InputError, count, examples, listed, warn
from pt_reuse.pooling.fit import SLACK, PoolFit
from pt_reuse.scoring.bounds import score_bounds
from pt_reuse.scoring.caveats import (
    BEWARE,
    Caveat,
    CaveatWarning,
    misfits,
    none_relevant,
    not_pooled,
    noted,
    of_judged,
    relevant_only,
    tell,
    without_judged,
)
from pt_reuse.scoring.measures import Unjudged, adds_up, cutoff_of, native_spec
from pt_reuse.scoring.rescoring import base_scores
from pt_reuse.scoring.scores import Scores, mean_over_topics, score, topics_of_runs
from pt_reuse.studies.check_new_run import check_new_run
from pt_reuse.studies.leave_out_uniques import leave_out_uniques
from pt_reuse.studies.new_runs.predictor import is_predicted

#: column name of a measure, as pt.Experiment has it -> the measure
Measures = Mapping[str, ir_measures.Measure]
#: what `reuse=` may name
REUSE = ("lou", "rank", "unjudged", "bounds", "predicted", "against", "filled")
#: the order of pt.Experiment's own scores, so that all columns rank documents alike
ORDER = "trec_eval9"
#: what `reuse=` stands for where the user leaves it out, with a field (of these :func:`_empty` are left out) or without
DEFAULTS = {True: ("lou", "rank", "unjudged", "bounds"), False: ("unjudged", "rank", "bounds")}
#: what settings say of systems of which none counts as a contributor
NOT_POOLED = "not pooled"
#: ends the names of columns for which the systems alone were the pool, so that nobody takes them for the others
NO_FIELD = " (no field)"
#: here nobody gives the arguments in a wrong order
_SWAPPED = ".*the other way round"
#: what is predicted of a system, see :func:`check_new_run`, and under which name a column has it
PREDICTED = {
    "predicted": "predicted",
    "predicted_low": "predicted low",
    "predicted_high": "predicted high",
    "predicted_rank_low": "predicted rank low",
    "predicted_rank_high": "predicted rank high",
    "both_rank_low": "predicted both rank low",
    "both_rank_high": "predicted both rank high",
    "abstains": "abstains",
}
#: columns that hold ranks or differences of ranks, the ends of what a score may be, and whole numbers
RANKS = (
    "rank",
    *(f"{name}{end}" for name in ("LOU rank", "drop") for end in ("", NO_FIELD)),
    *(PREDICTED[f"{of}_rank_{end}"] for of in ("predicted", "both") for end in ("low", "high")),
)
BOUNDS = ("low", "high")
COUNTS = ("filled docs", "filled unknown", "abstains")
#: the key of `settings` for caveats about uniques where no column shows what they are worth
BEWARE_OF_UNIQUES = "beware of uniques"
#: columns for which pt.Experiment reports the sum over topics; it goes by these names, and averages NumRet(rel=2)
SUMMED = {"num_q", "num_rel", "num_ret", "num_rel_ret", "NumQ", "NumRel", "NumRet", "NumRelRet"}


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """Which columns are wanted, and how systems are pooled; `alone` without a field.

    Systems are pooled `by_score` where the order of pooling is that of the field, which says nothing of theirs.
    """

    kinds: tuple[str, ...]
    by: str
    depth: int | None
    pool_order: str | None
    verbose: bool
    alone: bool
    by_default: bool
    idle: tuple[str, ...] = ()
    by_score: bool = False
    rival: str = ""  # the baseline, with which the others are compared

    @property
    def left_out(self) -> bool:
        return "lou" in self.kinds

    @property
    def ranked(self) -> bool:
        """Return whether the systems are to be placed in the field."""
        return self.left_out or "rank" in self.kinds

    def of_study(self) -> dict[str, Any]:
        """Return what :func:`check_new_run` is asked with."""
        by = "run" if self.by == "run" else "team"
        return {"by": by, "depth": self.depth, "pool_order": self.pool_order}


@dataclass(frozen=True)
class Values:
    """A number per system: of all topics together, (systems,), and of each topic, (topics, systems)."""

    mean: NDArray
    by_topic: NDArray

    @classmethod
    def of(cls, scores: Scores, measure: ir_measures.Measure, times: float = 1) -> Values:
        """Return the scores by a measure, that over all topics so many times."""
        m = scores.measures.index(repr(measure))
        return cls(scores.mean_values[m] * times, scores.values[m])

    def apply(self, function: Callable[..., NDArray], *others: Values) -> Values:
        """Return what a function makes of both, beside those of others."""
        means, by_topic = [other.mean for other in others], [other.by_topic for other in others]
        return Values(function(self.mean, *means), function(self.by_topic, *by_topic))

    def at(self, systems: NDArray[np.int64]) -> Values:
        return self.apply(lambda values: values[..., systems])


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
        return {"summary": self.summary, "settings": self.settings, "hint": self.hint}

    def with_settings(self, more: Mapping[str, Any]) -> Columns:
        return replace(self, settings={**self.settings, **more})


def times_of(name: str, measure: ir_measures.Measure, qrels: Qrels) -> float:
    """Return how many times our value over all topics pt.Experiment shows: of some sums it shows the mean."""
    return 1.0 if name in SUMMED or not adds_up([measure]).any() else 1 / max(len(qrels.topics), 1)


def compute_columns(systems: RunSet, field: RunSet | None, qrels: Qrels, measures: Measures, wanted: Wanted) -> Columns:
    """Compute the columns that are wanted."""
    columns = Columns(systems=systems.names, qids=qrels.topics, measures=list(measures))
    if wanted.ranked:
        runs = systems if field is None else field.reorder(ORDER) | systems
        columns = _placed(columns, systems, runs, qrels, measures, wanted)
    elif known := {name: measure for name, measure in measures.items() if native_spec(measure) is not None}:
        # those alone that this package computes
        scores = score(systems, qrels, list(known.values()), without_topics="zero", verbose=wanted.verbose)
        columns = replace(columns, scores={n: Values.of(scores, m, times_of(n, m, qrels)) for n, m in known.items()})
    kinds = [kind for kind in wanted.kinds if kind not in columns.empty]
    added, settings = {**columns.added}, {"reuse": kinds, "order": ORDER, **columns.settings}
    if "unjudged" in kinds:
        rates = {name: unjudged_to(measure) for name, measure in measures.items()}
        scores = score(systems, qrels, list(dict.fromkeys(rates.values())), without_topics="zero")
        added["unjudged"] = {name: Values.of(scores, rate) for name, rate in rates.items()}
        # systems that have judged documents, and none where a measure looks; `misfits` tells of those without any
        nothing = np.all([(shares.by_topic == 1).all(axis=0) for shares in added["unjudged"].values()], axis=0)
        nothing &= topics_of_runs(systems, qrels).any(axis=0) & ~without_judged(systems, qrels)
        if nothing.any():
            names = [systems.names[s] for s in np.flatnonzero(nothing)]
            warn(
                f"no document that counts is judged for {count(len(names), 'system')}: {examples(names)}. Check that "
                "their docnos are those of the judgments."
            )
    in_order = None if field is None else field.reorder(ORDER)
    parts = [_bounds(systems, qrels, measures)] if "bounds" in kinds else []
    if "predicted" in kinds and in_order is not None:
        parts.append(_predicted(systems, in_order, qrels, measures, wanted))
    if "against" in kinds:
        parts.append(_against(systems, in_order, qrels, measures, wanted))
    for more, about in parts:
        added, settings = {**added, **more}, {**settings, **about}
    return replace(columns, added=added, settings=settings)


def _rounded(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.round(values, DECIMALS)


def _placed(
    columns: Columns, systems: RunSet, runs: RunSet, qrels: Qrels, measures: Measures, wanted: Wanted
) -> Columns:
    """Add the columns that follow from the place of the systems among all runs."""
    at = np.array([runs.row(name) for name in systems.names])
    distinct, lou, empty = list(measures.values()), None, tuple[str, ...]()
    # a system that finds nothing on the judged topics scores 0, as in pt.Experiment
    how: dict[str, Any] = {"without_topics": "zero", "verbose": wanted.verbose}
    if wanted.left_out:
        pooling: dict[str, Any] = {"by": wanted.by, "depth": wanted.depth, "pool_order": wanted.pool_order}
        lou = leave_out_uniques(runs, qrels, distinct, **pooling, **how)
    full = score(runs, qrels, distinct, **how) if lou is None else lou.scores
    if lou is not None and wanted.by_default:
        # a unit without a contributor has nothing to lose; a pooled system has LOU in the place of bounds
        loses = lou.unique_counts["contributing"].to_numpy()[lou.units.of_run[at]] > 0
        empty = (*(() if loses.any() else ("lou",)), *(("bounds",) if systems.pooled.all() else ()))
    shown = None if "lou" in empty else lou
    scores: dict[str, Values] = {}
    added: dict[str, dict[str, Values]] = {}
    for name, measure in measures.items():
        base, times, new = Values.of(full, measure), times_of(name, measure, qrels), dict[str, Values]()
        scores[name] = Values.of(full, measure, times).at(at)
        if shown is not None:
            new["LOU"] = Values.of(shown.own_scores, measure, times)
            own = Values.of(shown.own_scores, measure)
            new["LOU %"] = base.apply(pairs.per_cent_change, own)
        if "rank" in wanted.kinds:
            base = base.apply(_rounded)
            rank = new["rank"] = base.apply(pairs.ranks)
            if shown is not None:
                own = own.apply(_rounded)
                after = base.apply(partial(pairs.rank_alone, unit=shown.units.of_run), own)
                new |= {"LOU rank": after, "drop": after.apply(np.subtract, rank)}
        for column, values in new.items():
            end = NO_FIELD if wanted.alone and column != "rank" else ""
            added.setdefault(column + end, {})[name] = values.at(at)
    among = f"the {count(len(systems), 'system')} alone" if len(systems) > 1 else "the only system"
    if others := len(runs) - len(systems):
        among = f"{count(others, 'run')} of the field and {count(len(systems), 'system')}"
    settings = {**full.settings, **(lou.settings if lou else {}), "runs ranked": len(runs), "ranked among": among}
    columns = replace(columns, scores=scores, added=added, settings=settings, empty=empty)
    if lou is None:
        return columns
    if shown is not None:
        contributed = lou.by_run["contributed"].to_numpy(dtype=bool)[: len(runs)]
        ours = np.isin(np.arange(len(runs)), at)
        columns = replace(columns, caveats=(*columns.caveats, *not_pooled(lou.units, contributed, ours)))
    name_of = {repr(measure): name for name, measure in measures.items()}
    summary = lou.summary.assign(measure=[name_of[measure] for measure in lou.summary["measure"]])
    pooled = systems.pooled.tolist()
    in_words = f"{sum(pooled):,} of {len(pooled):,} pooled" if any(pooled) else NOT_POOLED
    by_score = {"pool order of systems": ORDER} if wanted.by_score else {}
    columns = columns.with_settings({"systems": "pooled" if all(pooled) else in_words, **by_score})
    of_systems = dict(zip(systems.names, pooled, strict=True))
    return replace(columns, contributed=of_systems, fit=lou.fit, summary=summary.to_dict("records"))


def _bounds(systems: RunSet, qrels: Qrels, measures: Measures) -> tuple[dict[str, dict[str, Values]], dict[str, str]]:
    """Return the columns of the measures whose bounds are known, and what settings say of them and of the others."""
    bounds = score_bounds(systems, qrels, dict.fromkeys(measures.values()))
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


def _predicted(
    systems: RunSet, field: RunSet, qrels: Qrels, measures: Measures, wanted: Wanted
) -> tuple[dict[str, dict[str, Values]], dict[str, Any]]:
    """Return what is predicted of the systems that were not pooled, and what settings say of it."""
    new = np.flatnonzero(~systems.pooled.to_numpy(dtype=bool))
    known = {name: measure for name, measure in measures.items() if is_predicted(measure)}
    unknown = [name for name in measures if name not in known]
    settings: dict[str, Any] = {"no prediction": listed(unknown)} if unknown else {}
    if not len(new) or not known:
        return {}, settings
    names = [systems.names[s] for s in new.tolist()]
    with warnings.catch_warnings():
        # few topics are told by the experiment; that the field is not judged to the depth, here alone
        warnings.filterwarnings("ignore", message=".*topics? only", category=CaveatWarning)
        warnings.filterwarnings("ignore", message=_SWAPPED)
        result = check_new_run(systems.select(names=names), field, qrels, list(known.values()), **wanted.of_study())
    added: dict[str, dict[str, Values]] = {column: {} for column in PREDICTED.values()}
    for name, measure in known.items():
        table = result.table[result.table["measure"] == repr(measure)].set_index("name").loc[names]
        by_topic = result.topics[result.topics["measure"] == repr(measure)].pivot_table(
            index="qid", columns="name", values="predicted", dropna=False
        )
        for column, shown in PREDICTED.items():
            mean, topics = np.full(len(systems), np.nan), np.full((len(qrels.topics), len(systems)), np.nan)
            mean[new] = table[column].to_numpy(dtype=float)
            if column == "predicted":
                topics[:, new] = by_topic.loc[qrels.topics, names].to_numpy()
            added[shown][name] = Values(mean, topics)
    settings["predicted"] = f"intervals at {result.settings['calibrated']}"
    return added, {**settings, "completions": result.settings["completions"]}


def _against(
    systems: RunSet, field: RunSet | None, qrels: Qrels, measures: Measures, wanted: Wanted
) -> tuple[dict[str, dict[str, Values]], dict[str, Any]]:
    """Return by how much systems are ahead of the baseline, under every labelling, and what decides it."""
    known = {name: measure for name, measure in measures.items() if is_predicted(measure)}
    others = [name for name in systems.names if name != wanted.rival]
    if not known or not others:
        return {}, {}
    # without a field the baseline is one, from which nothing is predicted
    new, runs = (
        (systems, field) if field is not None else (systems.select(names=others), systems.select(names=[wanted.rival]))
    )
    how = {**wanted.of_study(), "against": wanted.rival, "contributors": "pooled" if field is not None else "all"}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=_SWAPPED)
        result = check_new_run(new, runs, qrels, list(known.values()), **how)
    prefix, nothing = f"against {wanted.rival}", np.full((len(qrels.topics), len(systems)), np.nan)
    shown = {"difference": prefix, "difference_low": f"{prefix} low", "difference_high": f"{prefix} high"}
    added: dict[str, dict[str, Values]] = {column: {} for column in (*shown.values(), "decided by")}
    for name, measure in known.items():
        table = result.against[result.against["measure"] == repr(measure)].set_index("name").reindex(systems.names)
        for column, called in shown.items():
            added[called][name] = Values(table[column].to_numpy(dtype=float), nothing)
        added["decided by"][name] = Values(table["decided_by"].fillna("").to_numpy(dtype=object), nothing)
    meaning = "ends under every labelling of the documents of both that nobody judged"
    return added, {"against": f"{wanted.rival}, {meaning}"}


def unjudged_to(measure: ir_measures.Measure) -> ir_measures.Measure:
    """Return the share of unjudged documents down to the cutoff of a measure."""
    cutoff = cutoff_of(measure)
    return Unjudged if cutoff is None else Unjudged @ cutoff


#: the order in which `score` and the studies rank what nobody orders otherwise
USUAL = BY_SCORE[0]


def hint_of(qrels: pd.DataFrame) -> str:
    """Return how to get the field of a known collection's judgments, nothing where they are those of none."""
    relevant = pd.to_numeric(qrels["label"], errors="coerce") > 0
    names = judged_alike(qrels["qid"].nunique(), len(qrels), int(relevant.sum()))
    known = [(name, catalogued(name)) for name in names]
    with_runs = {name: len(each.submitted) for name, each in known if each and each.submitted is not None}
    if not with_runs:
        return ""
    names_known = " or ".join(f"reuse:{name}" for name in with_runs)
    name, n_runs = next(iter(with_runs.items()))
    call = f'field=pt.get_dataset("reuse:{name}").get_runs()'
    return f"these are the judgments of {names_known}; {call} brings its field of {count(n_runs, 'run')}"


def tell_remarks(
    columns: Columns, runs: RunSet, qrels: Qrels, measures: Measures, wanted: Wanted, grade: Iterable[Caveat] = ()
) -> Columns:
    """Warn of what the columns do not mean, and return them with the same in their settings.

    `grade` is told where documents are counted as relevant.
    """
    fit, n, of_uniques = columns.fit, len(columns.systems), list[Caveat]()
    if fit is not None and not wanted.alone:
        of_uniques = [*fit.caveats(), *none_relevant(qrels, qrels.rel)]
    elif fit is not None:
        of_uniques = [*fit.of_pool(), *none_relevant(qrels, qrels.rel)]
        if fit.stranger_share > SLACK:
            few = f"{count(n, 'system')} of this experiment alone"
            get = sentence(columns.hint) if columns.hint else "field= takes the runs that were pooled."
            among = Caveat(
                f"uniques among the {count(n, 'system')} alone, {fit.stranger_share:.0%} of the judgments have no "
                "contributor",
                f"the columns that end in{NO_FIELD} know the {few}: a unique is a judged document that no other of "
                f"them has in its top {fit.depth}. No system has {fit.strangers:,} of {fit.judged:,} judged documents "
                f"({fit.stranger_share:.0%}) there: another pool was judged, and what a system loses here says nothing "
                f"of it. {get}",
            )
            of_uniques.insert(0, among)
    shares = {"unjudged", *BOUNDS} & columns.added.keys()
    caveats = [
        *(relevant_only(qrels) if shares or of_judged(measures.values()) else ()),
        *(grade if fit is not None or PREDICTED["predicted"] in columns.added else ()),
        *columns.caveats,
        # which systems lack topics was told when they had run
        *misfits(runs, qrels, list(measures.values()), without_topics="zero"),
    ]
    # where no column shows what uniques are worth, the summary alone does
    shown, for_summary = (caveats, of_uniques) if "lou" in columns.empty else ([*of_uniques, *caveats], [])
    tell(shown)
    if wanted.alone and wanted.by_default and (columns.hint or wanted.idle):
        where = f"ranks are among the {n:,} systems alone" if n > 1 else "the only system is always of rank 1"
        idle = f", so that {listed(wanted.idle)} changed no column" if wanted.idle else ""
        hint = f"{sentence(columns.hint)} " if columns.hint else ""
        warn(
            f"without a field, {where}, and leave-out-uniques is left out{idle}. {hint}reuse={list(wanted.kinds)!r} "
            "says that these columns are all you want."
        )
    # what the study noted is said here in other words
    settings = {name: value for name, value in columns.settings.items() if name != BEWARE}
    return replace(columns, settings={**settings, **noted(shown), **noted(for_summary, BEWARE_OF_UNIQUES)})


def sentence(hint: str) -> str:
    """Return a hint as a sentence of its own."""
    return f"{hint[0].upper()}{hint[1:]}."


def tell_other_order(
    columns: Columns, runs: RunSet, order: str, qrels: Qrels, measures: Measures, wanted: Wanted
) -> Columns:
    """Warn where the systems score otherwise in another order, and return the columns with a setting that says it."""
    known = {name: m for name, m in measures.items() if wanted.ranked or native_spec(m) is not None}
    if "unjudged" in wanted.kinds:
        known |= {f"{name} unjudged": unjudged_to(measure) for name, measure in measures.items()}
    if order == runs.order or not known:
        return columns
    ordered, moved = runs.reorder(order), np.zeros(runs.field.n_topics, dtype=bool)
    for i, topics in enumerate(runs.field.parts):
        field = runs.field.part(i)
        rows = np.flatnonzero(field.codes != ordered.field.part(i).codes)
        moved[topics.start + (np.searchsorted(field.starts, rows, side="right") - 1) // field.n_runs] = True
    # the judged topics on which some list is in another order
    judged = qrels.select([topic for topic in qrels.topics if moved[runs.field.topic_row.get(topic, [])].any()])
    if not judged.topics:
        return columns
    here, there = (base_scores(part, judged, list(known.values())) for part in (runs, ordered))
    differ = here != there
    if not differ.any():
        return columns
    n_topics = differ.any(axis=0).sum(axis=0)
    odd = {runs.names[r]: int(n_topics[r]) for r in np.flatnonzero(n_topics)}
    m, t, r = (int(axis[0]) for axis in np.nonzero(differ))
    usual = order == USUAL
    what = "float64, the default of ptr.score and the studies" if usual else "the order of the runs given"
    some = [f"{examples([name])} on {count(topic, 'topic')}" for name, topic in list(odd.items())[:3]]
    more = f" and {len(odd) - 3} more" if len(odd) > 3 else ""
    of = f"{len(odd):,} of {count(len(runs), 'system')} are different"
    warn(
        f"pt.Experiment ranks documents by float32 scores (order={ORDER!r})"
        f"{', to which different scores may be equal' if usual else ''}. In order={order!r} ({what}) the "
        f"scores of {of}: {', '.join(some)}{more}. {list(known)[m]} of {runs.names[r]!r} on topic "
        f"{judged.topics[t]!r} is {here[m, t, r]:.6f} here and {there[m, t, r]:.6f} there. For the scores in that "
        f"order use ptr.score(result.runs.reorder({order!r}), qrels, measures)."
    )
    return columns.with_settings({"other order": f"by {order} the scores of {of}"})


_SAME = 1e-9
_SAME_BY_GDEVAL = 6e-6  # it prints five decimals, and computes nDCG(dcg='exp-log2')


class Adding:
    """Puts columns into whatever pt.Experiment returned, and notes where its scores and ours differ."""

    def __init__(self, columns: Columns, rounding: int | dict[str, int] | None):
        self.columns, self.rounding = columns, rounding
        # measure -> system -> its first score that differs: where, theirs, ours
        self._odd: dict[str, dict[str, tuple[str, float, float]]] = {}

    def to(self, result: Any, perquery: bool | str) -> Any:
        """Return a result with the columns; in a pair or a Styler they are in the frames."""
        if perquery == "both":
            return like(result, self.to(result[0], False), self.to(result[1], True))
        if perquery:
            return self.to_topics(result)
        if isinstance(result, pd.DataFrame):
            return self.to_means(result)
        # a Styler: the same styles on the wider frame
        return self.to_means(result.data).style.use(result.export())

    def means(self, result: Any, perquery: bool | str) -> pd.DataFrame | None:
        """Return the means of a result that has the columns, not rounded, in the long layout; None without any."""
        scores, systems = self.columns.scores, self.columns.systems
        if perquery is True:
            if not set(self.columns.measures) <= set(scores):
                return None
            frame, shown = pd.DataFrame({"name": list(dict.fromkeys(result["name"]))}), self.columns.measures
        else:
            frame = result[0] if isinstance(result, tuple) else result
            frame = frame if isinstance(frame, pd.DataFrame) else frame.data
            if self.rounding is None:
                return to_long(frame, self.columns.measures, self.columns.added)
            shown = list(frame.columns.intersection(list(scores)))
        attrs = frame.attrs
        for measure in shown:
            ours = scores[measure].mean[pd.Index(systems).get_indexer(frame["name"].map(str))]
            if measure in frame:
                # our scores where pt.Experiment's are these, rounded
                theirs = frame[measure].to_numpy()
                ours = np.where(np.abs(theirs - ours) <= self._same(measure), ours, theirs)
            frame = frame.assign(**{measure: ours})
        frame.attrs = attrs
        whole = Adding(self.columns, None).to_means(frame)
        return to_long(whole, self.columns.measures, self.columns.added)

    def warn_of_differences(self, finished: bool) -> None:
        """Warn, once per measure, where pt.Experiment's score is not the one the added columns go with."""
        for measure, odd in self._odd.items():
            place, theirs, ours = next(iter(odd.values()))
            why = "the runs, judgments or topics are not those of the experiment, or it is rounded (pass round=), or "
            warn(
                f"{measure} of {place} is {theirs:.6f} by pt.Experiment and {ours:.6f} in the order of the added "
                f"columns ({ORDER}), and differs for {len(odd)} of {count(len(self.columns.systems), 'system')}: "
                f"{why if finished else ''}its provider breaks score ties another way, averages differently, or mixes "
                "it up with another measure. Compare its added columns among themselves."
            )

    def to_means(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return a frame of means, a row per system, with the columns."""
        names, added = list(frame["name"].map(str)), dict[str, NDArray]()
        s, places = pd.Index(self.columns.systems).get_indexer(names), [repr(name) for name in names]
        for measure in self.columns.measures:
            theirs = frame[measure].to_numpy(dtype=np.float64) if measure in frame.columns else None
            new = self._of(measure, s, theirs, names, places)
            added |= {f"{measure} {column}": values for column, values in new.items()}
        return self._beside(frame, added)

    def to_topics(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return a frame with a row per system, topic and measure with the columns."""
        columns = self.columns
        system = pd.Index(columns.systems).get_indexer(frame["name"].map(str))
        topic = pd.Index(columns.qids).get_indexer(frame["qid"].map(str))
        scores = frame["value"].to_numpy(dtype=np.float64)
        added = {column: np.full(len(frame), np.nan) for column in columns.added}
        for measure in columns.measures:
            # a topic without judgments has no value, as in pt.Experiment
            rows = np.flatnonzero((frame["measure"] == measure).to_numpy() & (topic >= 0))
            t, s = topic[rows], system[rows]
            names = [columns.systems[i] for i in s]
            places = [f"{name!r} on topic {columns.qids[i]!r}" for name, i in zip(names, t, strict=True)]
            new = self._of(measure, (t, s), scores[rows], names, places)
            for column, values in new.items():
                added[column][rows] = values
        whole = [name for name, values in added.items() if name in (*RANKS, *COUNTS) and not np.isnan(values).any()]
        return self._beside(frame, {**added, **{name: added[name].astype(np.int64) for name in whole}})

    def _of(
        self,
        measure: str,
        at: NDArray | tuple[NDArray, NDArray],
        theirs: NDArray[np.float64] | None,
        names: list[str],
        places: list[str],
    ) -> dict[str, NDArray]:
        """Return the columns of a measure for rows of a frame: no bound past the score beside it, rounded as it is."""
        columns, new, digits = self.columns, dict[str, NDArray](), self._digits(measure)

        def here(values: Values) -> NDArray:
            return values.by_topic[at] if isinstance(at, tuple) else values.mean[at]

        if theirs is not None and measure in columns.scores:
            ours = here(columns.scores[measure])
            # both must rank documents alike, or the columns of one row would not be comparable; NaN is
            # pt.Experiment's value where a topic has no judgments, of which it warns itself
            for i in np.flatnonzero(np.abs(theirs - ours) > self._same(measure)).tolist():
                first = (places[i], float(theirs[i]), float(ours[i]))
                self._odd.setdefault(measure, {}).setdefault(names[i], first)
        for column, by_measure in columns.added.items():
            if measure not in by_measure:
                continue
            values = here(by_measure[measure])
            if column in BOUNDS and theirs is not None:
                # from which a mean may differ in its last bit
                bounds = (np.minimum if column == BOUNDS[0] else np.maximum)(values, theirs)
                values = np.where(np.abs(bounds - values) <= self._same(measure), bounds, values)
            new[column] = values if digits is None or values.dtype.kind != "f" else np.round(values, digits)
        return new

    def _beside(self, frame: pd.DataFrame, added: Mapping[str, NDArray]) -> pd.DataFrame:
        """Return a frame with columns, anew those that were added before; columns that are somebody's own stay."""
        there = [column for column in added if column in frame.columns]
        if there and "reuse" not in frame.attrs:
            raise InputError(
                f"the result has columns of its own by the names of those to add, {examples(there)}. Rename them.",
                argument="result",
            )
        wide = pd.concat([frame.drop(columns=there), pd.DataFrame(added, index=frame.index)], axis=1)
        if self.columns.pooled is not None:
            wide["pooled"] = np.array([self.columns.pooled[str(name)] for name in frame["name"]], dtype=bool)
        wide.attrs = {**frame.attrs, "reuse": self.columns.attrs()}
        return wide

    def _digits(self, measure: str) -> int | None:
        return self.rounding.get(measure) if isinstance(self.rounding, dict) else self.rounding

    def _same(self, measure: str) -> float:
        """Return how far a score of pt.Experiment may be from ours and be the same."""
        digits = self._digits(measure)
        same = _SAME_BY_GDEVAL if "exp-log2" in measure else _SAME
        return same + (0.0 if digits is None else 0.5 * 10.0**-digits)


def like(pair: Any, first: Any, second: Any) -> Any:
    """Return two results as the pair that pt.Experiment returns, a tuple or a named one."""
    return type(pair)(first, second) if hasattr(pair, "_fields") else (first, second)


# layouts: wide, a column per number of each measure; long, a row per measure

#: what `layout=` may be, the default first
LAYOUTS = ("wide", "long")
#: what pt.Experiment adds to a measure beside a baseline
OF_BASELINE = ("+", "-", "p-value", "reject", "p-value corrected")
#: columns that follow from others, which a row of the long layout has no room for: it is rank + drop
_FOLLOWS = frozenset(f"LOU rank{end}" for end in ("", NO_FIELD))
#: columns of whole numbers, empty for the baseline itself or for a time
_WHOLE = (*RANKS, *COUNTS, "+", "-")
#: the mean response time, a column of pt.Experiment that is no measure
TIME = "mrt"


def in_layout(
    result: Any, layout: str, perquery: bool | str, measures: Iterable[str], added: Iterable[str] = ()
) -> Any:
    """Return a wide result in the layout asked for; a frame by topic has a row per measure in either."""
    if layout == "wide" or perquery is True:
        return result
    if perquery == "both":
        return like(result, to_long(result[0], measures, added), result[1])
    return to_long(result, measures, added)


def to_long(wide: pd.DataFrame, measures: Iterable[str], added: Iterable[str]) -> pd.DataFrame:
    """Return a frame of means as one row per system and measure, systems first."""
    rows = [measure for measure in [*dict.fromkeys(measures), TIME] if measure in wide.columns]
    suffixes = [*OF_BASELINE, *(column for column in added if column not in _FOLLOWS)]
    parts = []
    for i, measure in enumerate(rows):
        part = pd.DataFrame({"name": wide["name"].to_numpy(), "measure": measure, "value": wide[measure].to_numpy()})
        for suffix in suffixes:
            if f"{measure} {suffix}" in wide.columns:
                part[suffix] = wide[f"{measure} {suffix}"].to_numpy()
        parts.append(part.set_index(np.arange(len(wide)) * len(rows) + i))
    long = pd.concat(parts).sort_index()
    long = long[[column for column in ("name", "measure", "value", *suffixes) if column in long]].reset_index(drop=True)
    for column in _WHOLE:
        if column in long.columns and not pd.api.types.is_integer_dtype(long[column]):
            long[column] = long[column].astype("Int64")
    long.attrs = dict(wide.attrs)
    return long
