"""Figures that need runs: what is in their files, and how they score."""

from __future__ import annotations

import numpy as np
import pandas as pd

from pt_reuse._check import count, examples
from pt_reuse.verification.computed import Computed, NotComputedError, Reason, because, by_name
from pt_reuse.verification.names import type_of
from pt_reuse.verification.parameters import Given
from pt_reuse.verification.replay import Replay

_NO_RECORD = because("who was pooled is not on record")


def count_runs(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Count runs, teams, topics and rows of run files, and the runs of each type."""
    runs = replay.runs(given["order"])
    numbers = {"runs": len(runs), "topics": len(runs.topics), "rows": runs.field.n_rows}
    reasons: dict[str, Reason] = {}
    if no_team := lacking(runs.run_table, "team"):
        reasons["teams"] = no_team
    else:
        numbers["teams"] = len(runs.teams)
    if runs.pool_is_on_record:
        numbers["pooled runs"] = int(runs.pooled.sum())
    else:
        reasons["pooled runs"] = _NO_RECORD
    of_types = [name for name in names if name not in numbers and name not in reasons]
    types = runs.run_table["type"].value_counts()
    if no_type := lacking(runs.run_table, "type"):
        reasons.update(dict.fromkeys(of_types, no_type))
    else:
        numbers.update({name: int(types.get(type_of(name), 0)) for name in of_types})
    return Computed(numbers, reasons)


def score_runs(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Score each run; of several measures, take the mean of the scores."""
    return Computed(by_name(replay.means(given["order"], given["measure"], given["complete"])))


def summarise_scores(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Take the largest, smallest, mean or median score of the runs of each type or team, or pooled and unpooled."""
    means = replay.means(given["order"], given["measure"], given["complete"])
    runs = replay.runs(given["order"])
    table = runs.run_table.set_index("name")
    reasons: dict[str, Reason] = {}
    if given["by"] == "all":
        group = pd.Series("all", index=means.index)
    elif given["by"] == "pooled":
        if not runs.pool_is_on_record:
            raise NotComputedError(_NO_RECORD)
        group = table["pooled"].map({True: "pooled", False: "unpooled"})
        reasons = {name: because(f"no run is {name}") for name in ("pooled", "unpooled") if name not in set(group)}
    else:
        if none := lacking(runs.run_table, given["by"]):
            raise NotComputedError(none)
        group = table[given["by"]]
    return Computed(by_name(means.groupby(group).agg(given["statistic"])), reasons)


def count_saturated(replay: Replay, given: Given, names: list[str]) -> Computed:
    """Count the topics on which the median run scores at least each value that is given as a name."""
    scores = [replay.scores(given["order"], measure).values[0] for measure in given["measure"]]
    median = np.median(np.mean(scores, axis=0), axis=1)
    # 9 relevant of 10 are .9, also where floating point falls short of it
    return Computed({name: int((median >= float(name) - 1e-12).sum()) for name in names})


def lacking(table: pd.DataFrame, column: str) -> Reason | None:
    """Return that some runs of a table have no team or no type, None where all have."""
    names = table["name"][table[column].isna()].unique()
    if not len(names):
        return None
    return because(f"needs the {column} of every run: {count(len(names), 'run')} without: {examples(names)}")
