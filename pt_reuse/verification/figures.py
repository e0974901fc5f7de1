"""The kinds of published figures: how each is computed from runs and judgments."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from pt_reuse._check import InputError, choice, examples, flag, positive
from pt_reuse.engine.order import ORDERS
from pt_reuse.measures import parse_measures
from pt_reuse.stats.correlation import agreement
from pt_reuse.studies.uniques import LeaveOutUniques
from pt_reuse.verification.published import Figure
from pt_reuse.verification.replay import PoolKey, Replay

#: name -> what was computed for it
Computed = dict[str, float]
#: the parameters of a figure, complete and checked
Given = Mapping[str, Any]

_BIN = re.compile(r"(\d+)-(\d+)")
#: those of runs, and by score with ties as in the file, as NIST pooled in 2025
_ORDERS = (*ORDERS, "file_ties")
_AGREEMENT = ("tau_b", "gamma", "tau_ap_b", "max_drop")
_MEASURE = {"order": _ORDERS, "measure": ..., "complete": True}
_POOL = {"order": _ORDERS, "depth": 100, "contributors": ("pooled", "all")}
_LOU = {**_POOL, "by": ("team", "run", "type"), "remove": ("relevant", "judged"), "complete": True}


@dataclass(frozen=True)
class Kind:
    """How figures of one kind are computed.

    Attributes:
        compute: returns name -> number for the names that it knows, from a replay, the parameters, and the names asked.
        parameters: the parameters that a figure may have with their defaults: a tuple stands for one of several, of
            which the first is the default, and ``...`` for one that must be given.
        names: the names that values can have, or a test for them; None where they are runs, teams, types or prefixes.
        needs: the judgments, the runs that are here (each value concerns one run), or all runs.
    """

    compute: Callable[[Replay, Given, list[str]], Computed]
    parameters: Mapping[str, Any]
    names: tuple[str, ...] | Callable[[str], bool] | None = None
    needs: Literal["judgments", "runs", "all runs"] = "all runs"


def compute_judgments(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Count judgments: in all, by label, by topic."""
    summary = replay.qrels.summary()
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
    types = {f"{kind} runs": int(n) for kind, n in runs.table["type"].value_counts().items()}
    return {
        **types, "runs": len(runs), "teams": len(runs.teams), "pooled runs": int(runs.pooled.sum()),
        "topics": len(runs.topics), "rows": len(runs.field.codes),
    }  # fmt: skip


def compute_pool(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Count the documents of a depth-k pool, and those by which it differs from the judged ones."""
    pool, judged = replay.pool(_pool(given)), replay.judged_in(_pool(given)).summary()
    sizes, missed = np.diff(pool.starts), replay.judged_in(_pool(given), outside=True).summary()
    return {
        "contributing runs": len(pool.table), "documents": len(pool), "relevant": int(judged["relevant"].sum()),
        "smallest topic": int(sizes.min(initial=sizes.max(initial=0))), "largest topic": int(sizes.max(initial=0)),
        "not judged": len(pool) - int(judged["judged"].sum()), "judged but not pooled": int(missed["judged"].sum()),
    }  # fmt: skip


def compute_scores(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Score each run; of several measures, take the mean of the scores."""
    return _by_name(replay.means(given["order"], given["measure"], given["complete"]))


def compute_statistic(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Take the largest, smallest, mean or median score of the runs of each type or team, or pooled and unpooled."""
    means = replay.means(given["order"], given["measure"], given["complete"])
    table = replay.runs(given["order"]).table.set_index("name")
    if given["by"] == "all":
        group = pd.Series("all", index=means.index)
    elif given["by"] == "pooled":
        group = table["pooled"].map({True: "pooled", False: "unpooled"})
    else:
        group = table[given["by"]]
    return _by_name(means.groupby(group).agg(given["statistic"]))


def compute_saturation(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Count the topics on which the median run scores at least each value that is given as a name."""
    scores = [replay.scores(given["order"], measure).values[0] for measure in given["measure"]]
    median = np.median(np.mean(scores, axis=0), axis=1)
    # 9 relevant of 10 are .9, also where floating point falls short of it
    return {name: int((median >= float(name) - 1e-12).sum()) for name in names}


def compute_uniques(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Count the documents that each team, run or type alone put into the pool; ``total`` adds them up."""
    # uniques do not depend on the measure: any will do
    found = _left_out(replay, given, parse_measures("P@10", "verify")[0]).uniques
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
    return {**_by_name(loss.groupby(rows["type"]).agg(statistic)), "all": float(loss.agg(statistic))}


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
    found = agreement(truth.reindex(means.index).to_numpy(), means.to_numpy()[None]).iloc[0]
    return {
        "documents": len(replay.pool(key)), "judged": len(kept), "relevant": int(kept.summary()["relevant"].sum()),
        **{name: float(found[name]) for name in _AGREEMENT},
    }  # fmt: skip


def compute_minimum_rank(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Count the relevant documents by the best rank at which a contributing run has them: ``"1-10"``, ``"never"``."""
    pool, labels = replay.pool(_pool(given)), replay.qrels.judgments.labels
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


def _pool(given: Given) -> PoolKey:
    return given["order"], given["depth"], given["contributors"]


def _unit(given: Given) -> str:
    return "name" if given["by"] == "run" else given["by"]


def _left_out(replay: Replay, given: Given, measure: Any) -> LeaveOutUniques:
    options = {name: given[name] for name in ("by", "remove", "complete")}
    return replay.left_out(_pool(given), measure, **options)


def _is_bin(name: str) -> bool:
    return name == "never" or _BIN.fullmatch(name) is not None


def _is_number(name: str) -> bool:
    try:
        return math.isfinite(float(name))
    except ValueError:
        return False


#: every kind that a data file can name
KINDS: dict[str, Kind] = {
    "judgments": Kind(compute_judgments, {}, (
        "topics", "judgments", "judged", "relevant", "unjudged", "junk", "smallest topic", "largest topic",
        "mean density", "largest density", "topics denser than 1/3", "topics denser than 1/2",
    ), "judgments"),
    "prefixes": Kind(compute_prefixes, {"count": ("judged", "relevant")}, None, "judgments"),
    "field": Kind(compute_field, {"order": _ORDERS}),
    "pool": Kind(compute_pool, _POOL, (
        "contributing runs", "documents", "relevant", "smallest topic", "largest topic", "not judged",
        "judged but not pooled",
    )),
    "scores": Kind(compute_scores, _MEASURE, None, "runs"),
    "score_statistic": Kind(compute_statistic, {
        **_MEASURE, "by": ("type", "team", "pooled", "all"), "statistic": ("max", "mean", "median", "min"),
    }),
    "saturation": Kind(compute_saturation, {"order": _ORDERS, "measure": ...}, _is_number),
    "uniques": Kind(compute_uniques, {**_LOU, "count": ("unique_relevant", "unique", "unique_nonrelevant")}),
    "left_out": Kind(compute_left_out, {**_LOU, "measure": ..., "statistic": (*_AGREEMENT, "removed")}),
    "own_uniques": Kind(compute_own, {**_LOU, "measure": ...}, _AGREEMENT),
    "own_losses": Kind(compute_losses, {**_LOU, "measure": ..., "statistic": ("mean", "max")}),
    "shallow_pool": Kind(compute_shallow, {
        **_POOL, **_MEASURE, "pool_order": ("same", *_ORDERS), "truth": None, "decimals_of_scores": None,
    }, ("documents", "judged", "relevant", *_AGREEMENT)),
    "minimum_rank": Kind(compute_minimum_rank, {**_POOL, "contributors": ("all", "pooled")}, _is_bin),
}  # fmt: skip


@dataclass(frozen=True)
class Convention:
    """One way to compute a figure: what is particular about it, all its parameters, how values were rounded."""

    label: str
    given: Given
    rounding: str


def conventions_of(figure: Figure, figures: tuple[Figure, ...]) -> list[Convention]:
    """Return the ways to compute a figure, in the order in which its file lists them.

    Args:
        figure: the figure.
        figures: all figures of its file, among which its ``truth`` must be.

    Raises:
        InputError: a kind, a parameter or a name that there is not.
    """
    kind = KINDS[choice(figure.where, "kind", figure.kind, tuple(KINDS))]
    _check_names(figure, kind)
    found = []
    for convention in figure.conventions:
        own = {**figure.parameters, **convention}
        rounding = choice(figure.where, "rounding", own.pop("rounding", "half"), ("half", "truncate"))
        odd = [name for name in own if name not in kind.parameters]
        if odd:
            known = examples([*kind.parameters, "rounding"], 20)
            raise InputError(f"{figure.where}: kind {figure.kind!r} has no parameter {examples(odd)}; it has {known}.")
        given = {name: _checked(figure, name, default, own, figures) for name, default in kind.parameters.items()}
        shown = {name: given[name] for name in ("order", "contributors") if name in given} | dict(convention)
        found.append(Convention(", ".join(f"{name}={value}" for name, value in shown.items()), given, rounding))
    return found


def _check_names(figure: Figure, kind: Kind) -> None:
    for name in figure.values:
        if isinstance(kind.names, tuple):
            choice(figure.where, "the name of a value", name, kind.names)
        elif kind.names is not None and not kind.names(name):
            wanted = "ranks such as '11-50', or 'never'" if figure.kind == "minimum_rank" else "numbers such as '0.9'"
            raise InputError(f"{figure.where}: the names of the values must be {wanted}, got {name!r}.")


def _checked(figure: Figure, name: str, default: Any, own: Mapping[str, Any], figures: tuple[Figure, ...]) -> Any:
    where = figure.where
    if name == "measure":
        if name not in own:
            raise InputError(f'{where}: kind {figure.kind!r} needs measure = "AP", or several to take the mean of.')
        measures = parse_measures(own[name], where)
        if len(measures) > 1 and KINDS[figure.kind].parameters.get("by") == _LOU["by"]:
            raise InputError(f"{where}: kind {figure.kind!r} takes one measure, got {own[name]!r}.")
        return measures
    if isinstance(default, tuple):
        return choice(where, name, own.get(name, default[0]), default)
    value = own.get(name, default)
    if isinstance(default, bool):
        return flag(where, name, value)
    if name == "truth":
        scored = tuple(other.what for other in figures if other.kind == "scores")
        return None if value is None else choice(where, name, value, scored)
    return None if value is None else positive(where, name, value, "decimals" if "decimals" in name else "documents")
