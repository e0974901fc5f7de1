"""Figures that need to leave a team, a run or a type out of the pool."""

from __future__ import annotations

import ir_measures

from pt_reuse.scoring.measures import parse_measures
from pt_reuse.studies.uniques import LeaveOutUniques
from pt_reuse.verification.computed import Computed, by_name
from pt_reuse.verification.of_pools import AGREEMENT, pool_of
from pt_reuse.verification.of_runs import lacking
from pt_reuse.verification.parameters import Given
from pt_reuse.verification.replay import Replay


def count_uniques(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Count the documents that each team, run or type alone put into the pool; ``total`` adds them up."""
    # uniques do not depend on the measure: any will do that counts no label as relevant of itself
    found = _left_out(replay, given, parse_measures("nDCG@10")[0]).unique_counts
    counts = found.set_index(_unit(given))[given["count"]]
    return Computed({**by_name(counts), "total": int(counts.sum())})


def leave_out(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Leave one team, run or type out and rank all runs again."""
    table = _left_out(replay, given, given["measure"][0]).table
    return Computed(by_name(table.set_index(_unit(given))[given["statistic"]]))


def compare_without_own(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Rank runs by their scores without the uniques of their own team, run or type."""
    row = _left_out(replay, given, given["measure"][0]).summary.iloc[0]
    return Computed({name: float(row[f"own_{name}"]) for name in AGREEMENT})


def take_worst(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Take the smallest tau_b and the largest drop over all that are left out, and count the drops of many ranks."""
    table = _left_out(replay, given, given["measure"][0]).table
    return Computed(
        {
            "smallest tau_b": float(table["tau_b"].min()),
            "largest drop": int(table["max_drop"].max()),
            "large drops": int((table["max_drop"] > given["ranks"]).sum()),
        }
    )


def take_losses(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Take the mean or largest loss of score in per cent, by type, without the uniques of the run's own unit."""
    rows = _left_out(replay, given, given["measure"][0]).by_run
    loss, statistic = -rows["change_pct"], given["statistic"]
    every = {"all": float(loss.agg(statistic))}
    if none := lacking(rows, "type"):
        return Computed(every, {name: none for name in names if name != "all"})
    return Computed({**by_name(loss.groupby(rows["type"]).agg(statistic)), **every})


def take_changes(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Take the mean change of the scores of each team's, type's or single run without its own uniques."""
    rows = _left_out(replay, given, given["measure"][0]).by_run
    return Computed(by_name(rows.groupby(_unit(given))["change"].mean()))


def _left_out(replay: Replay, given: Given, measure: ir_measures.Measure) -> LeaveOutUniques:
    return replay.left_out(
        pool_of(given),
        measure,
        order=given["order"],
        by=given["by"],
        remove=given["remove"],
        rel=given["rel"],
        complete=given["complete"],
    )


def _unit(given: Given) -> str:
    return "name" if given["by"] == "run" else given["by"]
