"""The kinds of published figures: the parameters of each, the names its values may have, and how it is computed."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias, TypeVar

import ir_measures
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import choice, count, did_you_mean, examples, flag, positive
from pt_reuse.arrays.correlation import correlations
from pt_reuse.arrays.field import Field
from pt_reuse.data.judgments import Qrels, checked_rel
from pt_reuse.data.run_set import RunSet
from pt_reuse.data.units import check_every_run_has
from pt_reuse.errors import InputError
from pt_reuse.options import ORDERS
from pt_reuse.pooling.depth import depth_pool
from pt_reuse.pooling.pool import Pool
from pt_reuse.scoring.caveats import told_elsewhere
from pt_reuse.scoring.measures import native_spec, parse_measures
from pt_reuse.scoring.scores import Scores, score
from pt_reuse.studies.leave_out_uniques import LeaveOutUniques, leave_out_uniques

_T = TypeVar("_T")
#: the parameters of a figure, complete and checked: name -> value
Options: TypeAlias = Mapping[str, Any]
#: by score, documents of one score as they stand in the file: how NIST pooled in 2025
FILE_TIES = "file_ties"
#: the order of the pool where it is that of scoring
SAME = "same"
#: how a ranking of runs compares with another, as in :func:`pt_reuse.arrays.correlation.correlations`
AGREEMENT = ("tau_b", "gamma", "tau_ap_b", "max_drop")


class Reason(str):
    """Why there is no number."""


class NotComputedError(Exception):
    """None of a group's figures can be computed from what is here."""


@dataclass(frozen=True)
class Material:
    """Judgments, and runs or why there are none; the names of the runs on record, and of those that are not here."""

    qrels: Qrels
    runs: RunSet | None
    no_runs: Reason | None = None
    submitted: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


class PoolKey(NamedTuple):
    """Which pool: its order, depth and contributors."""

    order: str
    depth: int
    contributors: str | tuple[str, ...]

    @classmethod
    def of(cls, options: Options) -> PoolKey:
        """Return which pool the parameters of a figure name."""
        own = options.get("pool_order", SAME)
        return cls(options["order"] if own == SAME else own, options["depth"], options["contributors"])


def _once(make: Callable[..., _T]) -> Callable[..., _T]:
    """Keep what a method of a replay returns, by its arguments."""

    @wraps(make)
    def kept(replay: Replay, *key: Any) -> _T:
        if (make.__name__, key) not in replay.made:
            # a published figure is equal or not, whatever it means
            with told_elsewhere():
                replay.made[make.__name__, key] = make(replay, *key)
        result: _T = replay.made[make.__name__, key]
        return result

    return kept


class Replay:
    """The runs and judgments of a verification; whatever is computed from them is computed once."""

    def __init__(self, material: Material, *, published: Mapping[str, pd.Series], verbose: bool = False):
        self.material, self.qrels, self.published = material, material.qrels, published
        self._verbose = verbose
        self.made: dict[Any, Any] = {}

    @_once
    def runs(self, order: str) -> RunSet:
        """Return the runs in an order: one of :data:`pt_reuse.arrays.lists.ORDERS`, or :data:`FILE_TIES`."""
        if self.material.runs is None:
            raise NotComputedError(self.material.no_runs or "no runs")
        # pooled in the order that the figure names, whatever the order of the collection's own pool
        runs = RunSet(self.material.runs.field, self.material.runs.run_table, self.material.runs.order)
        return _by_score(runs.reorder("file")) if order == FILE_TIES else runs.reorder(order)

    @_once
    def pool(self, key: PoolKey) -> Pool:
        """Return the depth-k pool of the contributing runs."""
        return depth_pool(self.runs(key.order), depth=key.depth, contributors=key.contributors)

    @_once
    def rows_in(self, key: PoolKey) -> NDArray[np.int64]:
        """Return for each document of a pool its row among the judgments, or -1."""
        return self.qrels.arrays.documents.find(self.pool(key).documents)

    def judged_topics(self, key: PoolKey) -> NDArray[np.int64]:
        """Return (judged topics,) the sizes of a pool; runs may have topics that were not judged."""
        pool = self.pool(key)
        return np.asarray(pool.documents.sizes[np.isin(pool.topics, self.qrels.topics)])

    @_once
    def judged_in(self, key: PoolKey, outside: bool = False) -> Qrels:
        """Return the judgments of the documents in a pool, or of all others."""
        rows, inside = self.rows_in(key), np.zeros(len(self.qrels), dtype=bool)
        inside[rows[rows >= 0]] = True
        return self.qrels.keep(inside != outside)

    @_once
    def scores(
        self, order: str, measure: ir_measures.Measure, complete: bool = True, within: PoolKey | None = None
    ) -> Scores:
        """Return the scores of all runs, under all judgments or those `within` a pool."""
        qrels = self.qrels if within is None else self.judged_in(within)
        return score(self.runs(order), qrels, measure, complete=complete, verbose=self._shows(measure))

    def means(self, options: Options, within: PoolKey | None = None) -> pd.Series:
        """Return run -> score; of several measures, the mean of the scores."""
        order, complete = options["order"], options["complete"]
        scores = [self.scores(order, measure, complete, within) for measure in options["measure"]]
        return pd.Series(np.mean([one.mean_values[0] for one in scores], axis=0), index=scores[0].names)

    def left_out(self, options: Options) -> LeaveOutUniques:
        """Return what leaving out each team, run or type does."""
        # uniques do not depend on the measure: any will do that counts no label as relevant of itself
        measure = options["measure"][0] if "measure" in options else parse_measures("nDCG@10")[0]
        # a published figure is of the teams that there were: a run without one must not count as one
        check_every_run_has(self.runs(options["order"]).run_table, options["by"])
        how = tuple((name, options[name]) for name in ("by", "remove", "rel", "complete"))
        return self._left_out(PoolKey.of(options), measure, options["order"], how)

    @_once
    def _left_out(
        self, key: PoolKey, measure: ir_measures.Measure, order: str, how: tuple[tuple[str, Any], ...]
    ) -> LeaveOutUniques:
        return leave_out_uniques(
            self.runs(order),
            self.qrels,
            measure,
            depth=key.depth,
            pool_order=None if key.order == order else key.order,
            contributors=key.contributors,
            verbose=self._shows(measure),
            **dict(how),
        )

    def _shows(self, measure: ir_measures.Measure) -> bool:
        return self._verbose and native_spec(measure) is None


def _by_score(runs: RunSet) -> RunSet:
    """Return runs in the order of their files by score; documents of one score stay as they stand in the file."""
    return RunSet(runs.field.changed(_stable_by_score, runs.field.lengths), runs.run_table, runs.order)


def _stable_by_score(block: Field) -> Field:
    scores = -np.asarray(block.scores)
    # list by list, since each of them is nearly sorted as it stands
    order = np.arange(len(scores))
    for start, stop in pairwise(block.starts.tolist()):
        order[start:stop] = start + np.argsort(scores[start:stop], kind="stable")
    return block.permute(order)


# what the parameters of a figure may be


@dataclass(frozen=True)
class Parameter:
    """A parameter of figures."""

    checked: Callable[[str, Any, Sequence[str]], Any]
    usual: Any = None
    says_what: bool = False


def one_of(*words: str) -> Parameter:
    """Return a parameter that is one of several words, of which the first is the usual one."""
    return Parameter(lambda name, value, _: choice(name, value, words), words[0])


def _what(*words: str) -> Parameter:
    return replace(one_of(*words), says_what=True)


def _whole(unit: str, usual: int | None = None) -> Parameter:
    return Parameter(lambda name, value, _: positive(name, value, unit), usual)


def _one_measure(name: str, value: Any, scored: Sequence[str]) -> list[ir_measures.Measure]:
    measures = parse_measures(value)
    if len(measures) > 1:
        raise InputError(f"the figure takes one measure, got {value!r}.", argument="measure")
    return measures


def _checked_truth(name: str, value: Any, scored: Sequence[str]) -> str:
    if not scored:
        raise InputError(f"{name} must be a figure of kind 'scores', and the file has none; got {value!r}.")
    return choice(name, value, scored)


def _checked_contributors(name: str, value: Any, scored: Sequence[str]) -> str | tuple[str, ...]:
    if isinstance(value, list) and value and all(isinstance(run, str) for run in value):
        return tuple(value)
    return choice(name, value, ("pooled", "all"))


#: name -> number, or the reason why there is none
Computed: TypeAlias = Mapping[str, float | Reason]
_Compute: TypeAlias = Callable[[Replay, Options, list[str]], Computed]
_NO_RECORD = "who was pooled is not on record"
_COMPLETE = {"complete": Parameter(lambda name, value, _: flag(name, value), True)}
#: 1 where none is given: a figure does not depend on what judgments say
_REL = {"rel": Parameter(lambda name, value, _: checked_rel(value) or 1, 1)}
_ORDER = {"order": one_of(*ORDERS, FILE_TIES)}
_MEASURES = {"measure": Parameter(lambda name, value, _: parse_measures(value), ...)}
_POOL = {**_ORDER, "depth": _whole("documents", 100), "contributors": Parameter(_checked_contributors, "pooled")}
_UNIQUES = {
    **_POOL,
    # the order of the pool is that of scoring, but where the two differ
    "pool_order": one_of(SAME, *ORDERS),
    **_REL,
    "by": _what("team", "run", "type"),
    "remove": one_of("relevant", "judged"),
    **_COMPLETE,
}
_UNIQUES_BY_ONE = {**_UNIQUES, "measure": Parameter(_one_measure, ...)}
_SCORES = {**_ORDER, **_MEASURES, **_COMPLETE}
_COUNTED = ("runs", "teams", "pooled runs", "topics", "rows")


def _type_of(name: str) -> str:
    """Return the type of which the runs are counted, empty where a name is no such count."""
    kind = name.removesuffix(" runs")
    return kind if kind != name and kind.strip() else ""


def _spans_ranks(name: str, options: Options) -> bool:
    ranks = re.fullmatch(r"(\d+)-(\d+)", name)
    return name == "never" or (ranks is not None and 1 <= int(ranks[1]) <= int(ranks[2]) <= options["depth"])


def _is_finite(name: str, options: Options) -> bool:
    try:
        return math.isfinite(float(name))
    except ValueError:
        return False


@dataclass(frozen=True)
class Kind:
    """How figures of one kind are computed: by a function of a replay, the parameters and the names asked."""

    compute: Callable[[Replay, Options, list[str]], Computed]
    parameters: Mapping[str, Parameter]
    names: tuple[str, ...] = ()
    of_name: Callable[[str, Options], bool] | None = None
    expected: str = ""
    needs: str = "all runs"
    counts: tuple[str, ...] | None = ()

    def check_name(self, name: str, options: Options) -> None:
        """Raise where no value can have a name."""
        known = self.of_name(name, options) if self.of_name else not self.names or name in self.names
        if not known:
            expected = self.expected or f"one of {examples(self.names, 12)}"
            near = did_you_mean(name, self.names)
            raise InputError(f"the names of the values must be {expected}, got {name!r}.{near}")

    def is_count(self, name: str, options: Options) -> bool:
        """Return whether the value of a name is a count."""
        return self.counts is None or name in self.counts or options.get("statistic") in self.counts


#: every kind that a data file can name
KINDS: dict[str, Kind] = {}


def _kind(parameters: Mapping[str, Parameter], **others: Any) -> Callable[[_Compute], _Compute]:
    """Make a function compute the figures of the kind that it is named after."""

    def declare(compute: _Compute) -> _Compute:
        KINDS[compute.__name__.removeprefix("_")] = Kind(compute, parameters, **others)
        return compute

    return declare


_OF_JUDGMENTS = (
    "topics", "judgments", "judged", "relevant", "unjudged", "junk", "smallest topic", "largest topic",
    "fewest relevant", "topics denser than 1/3", "topics denser than 1/2",
)  # fmt: skip
_SHARES = ("mean topic", "mean density", "largest density")
_OF_A_POOL = (
    "contributing runs", "documents", "relevant", "smallest topic", "largest topic", "not judged",
    "judged but not pooled", "topics denser than 1/3", "topics denser than 1/2",
)  # fmt: skip


# what is computed


def _by_name(values: pd.Series) -> dict[str, float]:
    return {str(name): float(value) for name, value in values.items()}


def _lacking(table: pd.DataFrame, column: str) -> Reason | None:
    """Return that some runs of a table have no team or no type, None where all have."""
    names = table["name"][table[column].isna()].unique()
    if not len(names):
        return None
    return Reason(f"needs the {column} of every run: {count(len(names), 'run')} without: {examples(names)}")


def _denser(density: pd.Series) -> dict[str, float]:
    return {f"topics denser than 1/{k}": int((density > 1 / k).sum()) for k in (3, 2)}


@_kind(_REL, names=_OF_JUDGMENTS + _SHARES, needs="judgments", counts=_OF_JUDGMENTS)
def _judgments(replay: Replay, options: Options, names: list[str]) -> Computed:
    """Count judgments: in all, by label, by topic."""
    summary = replay.qrels.counts(rel=options["rel"])
    judged, density = summary["judged"], summary["density"]
    return {
        "topics": len(summary),
        "judgments": len(replay.qrels),
        **summary[["judged", "relevant", "unjudged", "junk"]].sum().astype(int),
        "smallest topic": int(judged.min()),
        "largest topic": int(judged.max()),
        "mean topic": float(judged.mean()),
        "fewest relevant": int(summary["relevant"].min()),
        "mean density": float(density.mean()),
        "largest density": float(density.max()),
        **_denser(density),
    }


@_kind({"count": _what("judged", "relevant"), **_REL}, needs="judgments", counts=None)
def _prefixes(replay: Replay, options: Options, names: list[str]) -> Computed:
    """Count the judged or relevant documents whose docno begins with each name."""
    frame = replay.qrels.to_frame()
    docnos = frame.loc[frame["label"] >= (options["rel"] if options["count"] == "relevant" else 0), "docno"]
    return {name: int(docnos.str.startswith(name).sum()) for name in names}


@_kind(
    _ORDER,
    of_name=lambda name, _: name in _COUNTED or bool(_type_of(name)),
    expected=f"one of {examples(_COUNTED, 5)}, or a type as in 'manual runs'",
    counts=None,
)
def _field(replay: Replay, options: Options, names: list[str]) -> Computed:
    """Count runs, teams, topics and rows of run files, and the runs of each type."""
    runs = replay.runs(options["order"])
    table = runs.run_table
    numbers: dict[str, float | Reason] = {
        "runs": len(runs),
        "topics": len(runs.topics),
        "rows": runs.field.n_rows,
        "teams": _lacking(table, "team") or len(runs.teams),
        "pooled runs": int(runs.pooled.sum()) if runs.pool_is_on_record else Reason(_NO_RECORD),
    }
    no_type, types = _lacking(table, "type"), table["type"].value_counts()
    of_types = [name for name in names if name not in numbers]
    return numbers | {name: no_type or int(types.get(_type_of(name), 0)) for name in of_types}


@_kind(_SCORES, needs="runs")
def _scores(replay: Replay, options: Options, names: list[str]) -> Computed:
    """Score each run; of several measures, take the mean of the scores."""
    return _by_name(replay.means(options))


@_kind({**_SCORES, "by": _what("type", "team", "pooled", "all"), "statistic": _what("max", "mean", "median", "min")})
def _score_statistic(replay: Replay, options: Options, names: list[str]) -> Computed:
    """Take the largest, smallest, mean or median score of the runs of each type or team, or pooled and unpooled."""
    means, runs, by = replay.means(options), replay.runs(options["order"]), options["by"]
    table = runs.run_table.set_index("name")
    absent: dict[str, float | Reason] = {}
    if by == "all":
        group = pd.Series("all", index=means.index)
    elif by == "pooled":
        if not runs.pool_is_on_record:
            raise NotComputedError(_NO_RECORD)
        group = table["pooled"].map({True: "pooled", False: "unpooled"})
        absent = {name: Reason(f"no run is {name}") for name in ("pooled", "unpooled") if name not in set(group)}
    else:
        if none := _lacking(runs.run_table, by):
            raise NotComputedError(none)
        group = table[by]
    return {**_by_name(means.groupby(group).agg(options["statistic"])), **absent}


@_kind({**_ORDER, **_MEASURES}, of_name=_is_finite, expected="finite numbers such as '0.9'", counts=None)
def _saturation(replay: Replay, options: Options, names: list[str]) -> Computed:
    """Count the topics on which the median run scores at least each value that is given as a name."""
    scores = [replay.scores(options["order"], measure).values[0] for measure in options["measure"]]
    median = np.median(np.mean(scores, axis=0), axis=1)
    # 9 relevant of 10 are .9, also where floating point falls short of it
    return {name: int((median >= float(name) - 1e-12).sum()) for name in names}


@_kind({**_POOL, **_REL}, names=_OF_A_POOL, counts=None)
def _pool(replay: Replay, options: Options, names: list[str]) -> Computed:
    """Count the documents of a depth-k pool, and those by which it differs from the judged ones."""
    key = PoolKey.of(options)
    sizes, judged = replay.judged_topics(key), replay.judged_in(key).counts(rel=options["rel"])
    return {
        "contributing runs": len(replay.pool(key).run_table),
        "documents": int(sizes.sum()),
        "relevant": int(judged["relevant"].sum()),
        "smallest topic": int(sizes.min(initial=sizes.max(initial=0))),
        "largest topic": int(sizes.max(initial=0)),
        "not judged": int(sizes.sum()) - int(judged["judged"].sum()),
        "judged but not pooled": int(replay.judged_in(key, True).counts()["judged"].sum()),
        **_denser(judged["density"]),
    }


@_kind(
    {
        **_POOL,
        **_SCORES,
        "pool_order": one_of(SAME, *ORDERS, FILE_TIES),
        **_REL,
        "among": one_of("all", "others", "others of the type", "other types"),
        "truth": Parameter(_checked_truth),
        "decimals_of_scores": _whole("decimals"),
    },
    names=("documents", "judged", "relevant", *AGREEMENT),
    counts=("documents", "judged", "relevant", "max_drop"),
)
def _shallow_pool(replay: Replay, options: Options, names: list[str]) -> Computed:
    """Keep the judgments of another pool and rank the runs by them."""
    key = PoolKey.of(options)
    kept, means = replay.judged_in(key), replay.means(options, within=key)
    if options["decimals_of_scores"] is not None:
        means = means.round(options["decimals_of_scores"])
    truth = replay.means(options) if options["truth"] is None else replay.published[options["truth"]]
    if options["among"] != "all":
        means = means[_compared(replay, options)]
    agreement = correlations(truth.reindex(means.index).to_numpy(), means.to_numpy()[None]).iloc[0]
    return {
        "documents": int(replay.judged_topics(key).sum()),
        "judged": len(kept),
        "relevant": int(kept.counts(rel=options["rel"])["relevant"].sum()),
        **{name: float(agreement[name]) for name in AGREEMENT},
    }


def _compared(replay: Replay, options: Options) -> list[str]:
    """Return the runs that did not make the pool: all of them, or those of its runs' types or of other types."""
    table, among = replay.runs(options["order"]).run_table, options["among"]
    if among != "others" and (none := _lacking(table, "type")):
        raise NotComputedError(none)
    made = table["name"].isin(replay.pool(PoolKey.of(options)).run_table["name"])
    alike = table["type"].isin(table["type"][made])
    chosen = {"others": ~made, "others of the type": ~made & alike, "other types": ~alike}[among]
    return list(table["name"][chosen])


@_kind(
    {**_POOL, "contributors": one_of("all", "pooled"), **_REL},
    of_name=_spans_ranks,
    expected="ranks such as '11-50', the better one first and none beyond the depth, or 'never'",
    counts=None,
)
def _minimum_rank(replay: Replay, options: Options, names: list[str]) -> Computed:
    """Count the relevant documents by the best rank at which a contributing run has them: ``"1-10"``, ``"never"``."""
    key, labels = PoolKey.of(options), replay.qrels.arrays.labels
    rows = replay.rows_in(key)
    relevant = (rows >= 0) & (np.append(labels, np.int16(-1))[rows] >= options["rel"])
    rank = replay.pool(key).to_frame().loc[relevant, "rank"]
    never = int((labels >= options["rel"]).sum() - relevant.sum())
    spans = {name: map(int, name.split("-")) for name in names if name != "never"}
    return {**{name: int(rank.between(*span).sum()) for name, span in spans.items()}, "never": never}


@_kind({**_UNIQUES, "count": _what("unique_relevant", "unique", "unique_nonrelevant")}, counts=None)
def _uniques(replay: Replay, options: Options, names: list[str]) -> Computed:
    """Count the documents that each team, run or type alone put into the pool; ``total`` adds them up."""
    counts = replay.left_out(options).unique_counts.set_index(_unit(options))[options["count"]]
    return {**_by_name(counts), "total": int(counts.sum())}


@_kind({**_UNIQUES_BY_ONE, "statistic": _what(*AGREEMENT, "removed")}, counts=("max_drop", "removed"))
def _left_out(replay: Replay, options: Options, names: list[str]) -> Computed:
    """Leave one team, run or type out and rank all runs again."""
    return _by_name(replay.left_out(options).table.set_index(_unit(options))[options["statistic"]])


@_kind(
    {**_UNIQUES_BY_ONE, "ranks": _whole("ranks", 10)},
    names=("smallest tau_b", "largest drop", "large drops"),
    counts=("largest drop", "large drops"),
)
def _worst_left_out(replay: Replay, options: Options, names: list[str]) -> Computed:
    """Take the smallest tau_b and the largest drop over all that are left out, and count the drops of many ranks."""
    table = replay.left_out(options).table
    return {
        "smallest tau_b": float(table["tau_b"].min()),
        "largest drop": int(table["max_drop"].max()),
        "large drops": int((table["max_drop"] > options["ranks"]).sum()),
    }


@_kind(_UNIQUES_BY_ONE, names=AGREEMENT, counts=("max_drop",))
def _own_uniques(replay: Replay, options: Options, names: list[str]) -> Computed:
    """Rank runs by their scores without the uniques of their own team, run or type."""
    row = replay.left_out(options).summary.iloc[0]
    return {name: float(row[f"own_{name}"]) for name in AGREEMENT}


@_kind({**_UNIQUES_BY_ONE, "statistic": _what("mean", "max")})
def _own_losses(replay: Replay, options: Options, names: list[str]) -> Computed:
    """Take the mean or largest loss of score in per cent, by type, without the uniques of the run's own unit."""
    rows, statistic = replay.left_out(options).by_run, options["statistic"]
    loss = -rows["change_pct"]
    every = {"all": float(loss.agg(statistic))}
    if none := _lacking(rows, "type"):
        return {**dict.fromkeys(names, none), **every}
    return {**_by_name(loss.groupby(rows["type"]).agg(statistic)), **every}


@_kind(_UNIQUES_BY_ONE)
def _own_changes(replay: Replay, options: Options, names: list[str]) -> Computed:
    """Take the mean change of the scores of each team's, type's or single run without its own uniques."""
    return _by_name(replay.left_out(options).by_run.groupby(_unit(options))["change"].mean())


def _unit(options: Options) -> str:
    return "name" if options["by"] == "run" else options["by"]
