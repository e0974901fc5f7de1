"""The kinds of published figures: how each is computed from runs and judgments."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from pt_reuse._check import choice, count, examples, flag, positive
from pt_reuse._errors import InputError
from pt_reuse.engine.order import ORDERS
from pt_reuse.scoring.measures import parse_measures
from pt_reuse.stats.correlation import correlations
from pt_reuse.studies.uniques import LeaveOutUniques
from pt_reuse.verification.published import PublishedFigure
from pt_reuse.verification.replay import NotComputedError, PoolKey, Replay

#: name -> what was computed for it, or why nothing was
Computed = dict[str, float | str]
#: the parameters of a figure, complete and checked
Given = Mapping[str, Any]

#: parameters that say what is computed; all others say how
_WHAT = ("by", "statistic", "count")
_BIN = re.compile(r"(\d+)-(\d+)")
#: those of runs, and by score with ties as in the file, as NIST pooled in 2025
_ORDERS = (*ORDERS, "file_ties")
_AGREEMENT = ("tau_b", "gamma", "tau_ap_b", "max_drop")
_MEASURE = {"order": _ORDERS, "measure": ..., "complete": True}
_NO_RECORD = "who was pooled is not on record"
_POOL = {"order": _ORDERS, "depth": 100, "contributors": ("pooled", "all")}
_LOU = {**_POOL, "by": ("team", "run", "type"), "remove": ("relevant", "judged"), "complete": True}


@dataclass(frozen=True)
class Kind:
    """How figures of one kind are computed.

    Attributes:
        compute: returns name -> number for the names that it knows, from a replay, the parameters, and the names asked.
        parameters: the parameters that a figure may have with their defaults: a tuple stands for one of several, of
            which the first is the default, and ``...`` for one that must be given.
        names: the names that values can have, or what is wrong with one; None where they are runs, teams, types or
            prefixes.
        needs: the judgments, the runs that are here (each value concerns one run), or all runs.
        counts: the names, or statistics, that are counts; True where all are. Other numbers have decimals.
    """

    compute: Callable[[Replay, Given, list[str]], Computed]
    parameters: Mapping[str, Any]
    names: tuple[str, ...] | Callable[[str, Given], str] | None = None
    needs: Literal["judgments", "runs", "all runs"] = "all runs"
    counts: tuple[str, ...] | Literal[True] = ()


def compute_judgments(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Count judgments: in all, by label, by topic."""
    summary = replay.qrels.counts()
    judged, density = summary["judged"], summary["density"]
    labels = summary[["judged", "relevant", "unjudged", "junk"]].sum().astype(int)
    return {
        "topics": len(summary), "judgments": len(replay.qrels), **labels,
        "smallest topic": int(judged.min()), "largest topic": int(judged.max()),
        "mean density": float(density.mean()), "largest density": float(density.max()),
        "topics denser than 1/3": int((density > 1 / 3).sum()), "topics denser than 1/2": int((density > 1 / 2).sum()),
    }  # fmt: skip


def compute_prefixes(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Count the judged or relevant documents whose docno begins with each name."""
    frame = replay.qrels.to_frame()
    docnos = frame.loc[frame["label"] >= (1 if given["count"] == "relevant" else 0), "docno"]
    return {name: int(docnos.str.startswith(name).sum()) for name in names}


def compute_field(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Count runs, teams, topics and rows of run files, and the runs of each type."""
    runs = replay.runs(given["order"])
    lacking = {column: _lacking(runs.run_table, column) for column in ("team", "type")}
    types = runs.run_table["type"].value_counts()
    found: Computed = {
        "runs": len(runs), "teams": lacking["team"] or len(runs.teams),
        "pooled runs": int(runs.pooled.sum()) if runs.pool_is_on_record else _NO_RECORD,
        "topics": len(runs.topics), "rows": len(runs.field.codes),
    }  # fmt: skip
    of_types = {name: name.removesuffix(" runs") for name in names if name not in found}
    return found | {name: lacking["type"] or int(types.get(kind, 0)) for name, kind in of_types.items()}


def compute_pool(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Count the documents of a depth-k pool, and those by which it differs from the judged ones."""
    pool, judged = replay.pool(_pool(given)), replay.judged_in(_pool(given)).counts()
    sizes, missed = pool.documents.sizes, replay.judged_in(_pool(given), outside=True).counts()
    return {
        "contributing runs": len(pool.run_table), "documents": len(pool), "relevant": int(judged["relevant"].sum()),
        "smallest topic": int(sizes.min(initial=sizes.max(initial=0))), "largest topic": int(sizes.max(initial=0)),
        "not judged": len(pool) - int(judged["judged"].sum()), "judged but not pooled": int(missed["judged"].sum()),
    }  # fmt: skip


def compute_scores(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Score each run; of several measures, take the mean of the scores."""
    return _by_name(replay.means(given["order"], given["measure"], given["complete"]))


def compute_statistic(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Take the largest, smallest, mean or median score of the runs of each type or team, or pooled and unpooled."""
    means = replay.means(given["order"], given["measure"], given["complete"])
    runs = replay.runs(given["order"])
    table = runs.run_table.set_index("name")
    if given["by"] == "all":
        group = pd.Series("all", index=means.index)
    elif given["by"] == "pooled":
        if not runs.pool_is_on_record:
            raise NotComputedError(_NO_RECORD)
        group = table["pooled"].map({True: "pooled", False: "unpooled"})
    else:
        lacking = _lacking(table.reset_index(), given["by"])
        if lacking:
            raise NotComputedError(lacking)
        group = table[given["by"]]
    none: Computed = {name: f"no run is {name}" for name in ("pooled", "unpooled") if given["by"] == "pooled"}
    return none | _by_name(means.groupby(group).agg(given["statistic"]))


def compute_saturation(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Count the topics on which the median run scores at least each value that is given as a name."""
    scores = [replay.scores(given["order"], measure).values[0] for measure in given["measure"]]
    median = np.median(np.mean(scores, axis=0), axis=1)
    # 9 relevant of 10 are .9, also where floating point falls short of it
    return {name: int((median >= float(name) - 1e-12).sum()) for name in names}


def compute_uniques(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Count the documents that each team, run or type alone put into the pool; ``total`` adds them up."""
    # uniques do not depend on the measure: any will do
    found = _left_out(replay, given, parse_measures("P@10")[0]).unique_counts
    counts = found.set_index(_unit(given))[given["count"]]
    return {**_by_name(counts), "total": int(counts.sum())}


def compute_left_out(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Leave one team, run or type out and rank all runs again."""
    table = _left_out(replay, given, given["measure"][0]).table
    return _by_name(table.set_index(_unit(given))[given["statistic"]])


def compute_own(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Rank runs by their scores without the uniques of their own team, run or type."""
    row = _left_out(replay, given, given["measure"][0]).summary.iloc[0]
    return {name: float(row[f"own_{name}"]) for name in _AGREEMENT}


def compute_losses(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Take the mean or largest loss of score in per cent, by type, without the uniques of the run's own unit."""
    rows = _left_out(replay, given, given["measure"][0]).by_run
    loss = -rows["change_pct"]
    statistic = given["statistic"]
    lacking = _lacking(rows, "type")
    types: Computed = dict.fromkeys(names, lacking) if lacking else _by_name(loss.groupby(rows["type"]).agg(statistic))
    return {**types, "all": float(loss.agg(statistic))}


def compute_shallow(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Keep the judgments of another pool and rank the runs by them."""
    key = _pool({**given, "order": given["order"] if given["pool_order"] == "same" else given["pool_order"]})
    kept = replay.judged_in(key)
    means = replay.means(given["order"], given["measure"], given["complete"], within=key)
    if given["decimals_of_scores"] is not None:
        means = means.round(given["decimals_of_scores"])
    if given["truth"] is None:
        truth = replay.means(given["order"], given["measure"], given["complete"])
    else:
        truth = replay.published(given["truth"])
    found = correlations(truth.reindex(means.index).to_numpy(), means.to_numpy()[None]).iloc[0]
    return {
        "documents": len(replay.pool(key)), "judged": len(kept), "relevant": int(kept.counts()["relevant"].sum()),
        **{name: float(found[name]) for name in _AGREEMENT},
    }  # fmt: skip


def compute_minimum_rank(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Count the relevant documents by the best rank at which a contributing run has them: ``"1-10"``, ``"never"``."""
    pool, labels = replay.pool(_pool(given)), replay.qrels.arrays.labels
    rows = replay.rows_in(_pool(given))
    relevant = (rows >= 0) & (np.append(labels, np.int16(-1))[rows] > 0)
    rank = pool.to_frame().loc[relevant, "rank"]
    found: Computed = {"never": int((labels > 0).sum() - relevant.sum())}
    for name in names:
        if name != "never":
            first, last = map(int, name.split("-"))
            found[name] = int(rank.between(first, last).sum())
    return found


def _by_name(values: pd.Series) -> Computed:
    return {str(name): float(value) for name, value in values.items()}


def _lacking(table: pd.DataFrame, column: str) -> str:
    """Return which runs have no team or no type, empty where all have."""
    names = table["name"][table[column].isna()].unique()
    lacking = f"needs the {column} of every run: {count(len(names), 'run')} without: {examples(names)}"
    return lacking if len(names) else ""


def _pool(given: Given) -> PoolKey:
    return given["order"], given["depth"], given["contributors"]


def _unit(given: Given) -> str:
    return "name" if given["by"] == "run" else given["by"]


def _left_out(replay: Replay, given: Given, measure: Any) -> LeaveOutUniques:
    options = {name: given[name] for name in ("by", "remove", "complete")}
    return replay.left_out(_pool(given), measure, **options)


def _wrong_ranks(name: str, given: Given) -> str:
    found = _BIN.fullmatch(name)
    if found is None:
        return "" if name == "never" else "must be ranks such as '11-50', or 'never'"
    first, last = map(int, found.groups())
    if 1 <= first <= last <= given["depth"]:
        return ""
    return f"must be ranks from 1 to the depth {given['depth']}, the better one first"


def _wrong_number(name: str, given: Given) -> str:
    try:
        return "" if math.isfinite(float(name)) else "must be finite numbers"
    except ValueError:
        return "must be numbers such as '0.9'"


def _wrong_count(name: str, given: Given) -> str:
    known = ("runs", "teams", "pooled runs", "topics", "rows")
    right = name in known or (name.endswith(" runs") and bool(name.removesuffix(" runs").strip()))
    return "" if right else f"must be one of {examples(known, 5)}, or a type as in 'manual runs'"


#: every kind that a data file can name
KINDS: dict[str, Kind] = {
    "judgments": Kind(compute_judgments, {}, (
        "topics", "judgments", "judged", "relevant", "unjudged", "junk", "smallest topic", "largest topic",
        "mean density", "largest density", "topics denser than 1/3", "topics denser than 1/2",
    ), "judgments", (
        "topics", "judgments", "judged", "relevant", "unjudged", "junk", "smallest topic", "largest topic",
        "topics denser than 1/3", "topics denser than 1/2",
    )),
    "prefixes": Kind(compute_prefixes, {"count": ("judged", "relevant")}, None, "judgments", True),
    "field": Kind(compute_field, {"order": _ORDERS}, _wrong_count, counts=True),
    "pool": Kind(compute_pool, _POOL, (
        "contributing runs", "documents", "relevant", "smallest topic", "largest topic", "not judged",
        "judged but not pooled",
    ), counts=True),
    "scores": Kind(compute_scores, _MEASURE, None, "runs"),
    "score_statistic": Kind(compute_statistic, {
        **_MEASURE, "by": ("type", "team", "pooled", "all"), "statistic": ("max", "mean", "median", "min"),
    }),
    "saturation": Kind(compute_saturation, {"order": _ORDERS, "measure": ...}, _wrong_number, counts=True),
    "uniques": Kind(
        compute_uniques, {**_LOU, "count": ("unique_relevant", "unique", "unique_nonrelevant")}, counts=True
    ),
    "left_out": Kind(
        compute_left_out, {**_LOU, "measure": ..., "statistic": (*_AGREEMENT, "removed")},
        counts=("max_drop", "removed"),
    ),
    "own_uniques": Kind(compute_own, {**_LOU, "measure": ...}, _AGREEMENT, counts=("max_drop",)),
    "own_losses": Kind(compute_losses, {**_LOU, "measure": ..., "statistic": ("mean", "max")}),
    "shallow_pool": Kind(compute_shallow, {
        **_POOL, **_MEASURE, "pool_order": ("same", *_ORDERS), "truth": None, "decimals_of_scores": None,
    }, ("documents", "judged", "relevant", *_AGREEMENT), counts=("documents", "judged", "relevant", "max_drop")),
    "minimum_rank": Kind(
        compute_minimum_rank, {**_POOL, "contributors": ("all", "pooled")}, _wrong_ranks, counts=True
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Convention:
    """One way to compute a figure: what its numbers hang on, in words; all its parameters; how they were rounded."""

    label: str
    given: Given
    rounding: str


def conventions_of(figure: PublishedFigure, figures: tuple[PublishedFigure, ...]) -> list[Convention]:
    """Return the ways to compute a figure, in the order in which its file lists them.

    Args:
        figure: the figure.
        figures: all figures of its file, among which its ``truth`` must be.

    Raises:
        InputError: a kind, a parameter or a name that there is not.
    """
    kind = KINDS[choice("kind", figure.kind, tuple(KINDS))]
    found = []
    for convention in figure.conventions:
        own = {**figure.parameters, **convention}
        rounding = choice("rounding", own.pop("rounding", "half"), ("half", "truncate"))
        odd = [name for name in own if name not in kind.parameters]
        if odd:
            known = examples([*kind.parameters, "rounding"], 20)
            raise InputError(f"{figure.where}: kind {figure.kind!r} has no parameter {examples(odd)}; it has {known}.")
        given = {name: _checked(figure, name, default, own, figures) for name, default in kind.parameters.items()}
        _check_values(figure, kind, given)
        found.append(Convention(_label(kind, given, rounding, convention), given, rounding))
    return found


def _label(kind: Kind, given: Given, rounding: str, convention: Given) -> str:
    """Return what the numbers hang on: order and contributors, and whatever else is not as usual."""
    shown = {name: given[name] for name in ("order", "contributors") if name in given}
    for name, default in kind.parameters.items():
        # what is computed is told by the figure, how it is computed here
        if name in (*shown, *_WHAT) or given[name] == (default[0] if isinstance(default, tuple) else default):
            continue
        if name != "measure" or any(set(measure.params) - {"cutoff"} for measure in given[name]):
            shown[name] = " and ".join(map(str, given[name])) if name == "measure" else given[name]
    if rounding != "half":
        shown["rounding"] = rounding
    # what a convention lays over the rest comes last, even where it is as usual
    for name in convention:
        if name not in ("order", "contributors"):
            shown.pop(name, None)
            shown[name] = convention[name]
    return ", ".join(f"{name}={value}" for name, value in shown.items())


def _check_values(figure: PublishedFigure, kind: Kind, given: Given) -> None:
    for name, value in figure.values.items():
        if isinstance(kind.names, tuple):
            choice("the name of a value", name, kind.names)
        elif kind.names is not None and kind.names(name, given):
            raise InputError(f"{figure.where}: the names of the values {kind.names(name, given)}, got {name!r}.")
        counted = kind.counts is True or name in kind.counts or given.get("statistic") in kind.counts
        # 0 would stand for all from -.5 to .5
        if not counted and value.unit >= 1 and not value.declared:
            raise InputError(
                f"{figure.where}, {name!r}: {value.number:.10g} is a whole number, and this is no count: write the "
                f'decimals that were published, "{value.number:.4f}", or say how many there were, decimals = 4.'
            )


def _checked(
    figure: PublishedFigure, name: str, default: Any, own: Mapping[str, Any], figures: tuple[PublishedFigure, ...]
) -> Any:
    where = figure.where
    if name == "measure":
        if name not in own:
            raise InputError(f'{where}: kind {figure.kind!r} needs measure = "AP", or several to take the mean of.')
        measures = parse_measures(own[name])
        if len(measures) > 1 and KINDS[figure.kind].parameters.get("by") == _LOU["by"]:
            raise InputError(f"{where}: kind {figure.kind!r} takes one measure, got {own[name]!r}.")
        return measures
    if isinstance(default, tuple):
        return choice(name, own.get(name, default[0]), default)
    value = own.get(name, default)
    if isinstance(default, bool):
        return flag(name, value)
    if name == "truth":
        scored = tuple(other.what for other in figures if other.kind == "scores")
        return None if value is None else choice(name, value, scored)
    return None if value is None else positive(name, value, "decimals" if "decimals" in name else "documents")
