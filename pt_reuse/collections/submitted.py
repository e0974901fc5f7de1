"""The runs of a collection: those on record that are wanted, what a RunSet keeps of each, and those of own files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pt_reuse._errors import Call, InputError, Option, ReuseWarning, warn
from pt_reuse.collections.collection import Collection
from pt_reuse.runs.labels import RunLabels
from pt_reuse.runs.metadata import make_run_table
from pt_reuse.runs.reading import read_runs
from pt_reuse.runs.run_set import RunSet
from pt_reuse.runs.selection import chosen_rows


class PoolUnknownWarning(ReuseWarning):
    """Nobody recorded which runs were pooled."""


def submitted_runs(collection: Collection) -> pd.DataFrame:
    """Return one row per run on record, or raise where there is no record."""
    if collection.submitted is None:
        raise InputError(
            "no run of it is on record. ",
            Call("get_runs"),
            " reads what its folder, or ",
            Option("runs", "FOLDER"),
            ", holds.",
        )
    return collection.submitted


def choose_runs(
    collection: Collection, types: RunLabels | None, pooled: bool | None, **conditions: str | Iterable[str] | None
) -> pd.DataFrame:
    """Return the runs on record that meet all conditions, with the user's types over those on record."""
    submitted = submitted_runs(collection)
    if pooled is not None and not collection.pooled_is_on_record:
        raise InputError(
            "who was pooled is not on record. Leave out pooled, and let ",
            Call("infer_pool", "runs, qrels"),
            " say which runs must have contributed.",
            argument="pooled",
        )
    table = with_types(submitted, types)
    chosen = chosen_rows(table, pooled=pooled, shown_by="`submitted()`", **conditions)
    return table[chosen].reset_index(drop=True)


def run_metadata(collection: Collection, table: pd.DataFrame) -> pd.DataFrame:
    """Return what a RunSet keeps of each run; warn where nobody recorded who was pooled."""
    frame = table.drop(columns=["published", "url"], errors="ignore")
    if not collection.pooled_is_on_record:
        warn(
            "who was pooled is not on record, so every run counts as a contributor. ",
            Call("infer_pool", "runs, qrels"),
            " says which must have been; ",
            Call("runs.with_metadata", "pooled=..."),
            " keeps it.",
            category=PoolUnknownWarning,
        )
    blank = [column for column in ("task", "official_type") if not any(filter(None, frame[column]))]
    return frame.drop(columns=blank)


def with_types(table: pd.DataFrame, types: RunLabels | None, *, before: str = "catalogue") -> pd.DataFrame:
    """Return a table of runs with the user's types over those it had `before`; ``type_source`` says whose each is."""
    if types is None:
        return table.copy()
    names = table["name"].tolist()
    given = make_run_table(names, types=types, base=table[["name"]].assign(team=None, type=None, pooled=True))
    said = given["type"].notna().to_numpy()
    label = str(types) if isinstance(types, str | Path) else "given"
    return table.assign(
        type=np.where(said, given["type"], table["type"]), type_source=np.where(said, label, before).astype(object)
    )


def read_own_runs(
    collection: Collection,
    conditions: Mapping[str, Any],
    types: RunLabels | None,
    folder: str | Path | None,
    reading: Mapping[str, Any],
) -> RunSet:
    """Return the runs of an own collection, or of a `folder`, that meet all conditions, as `get_runs` takes them."""
    source = collection.runs if folder is None else folder
    if source is None:
        whose = "no run of it is on record. Where you have some,"
        if collection.origin == "own":
            whose = "its definition names no runs. Add them to it, or"
        raise InputError(f"{whose} pass ", Option("runs", "FOLDER"), ".", argument="runs")
    if conditions["task"] is not None:
        raise InputError("its runs have no tasks.", argument="task")
    runs = read_runs(source, **collection.labels, **reading)
    if conditions["pooled"] is not None and pd.isna(runs.pooled).all():
        raise InputError(
            "who was pooled is not on record. Leave out pooled, or add 'pooled' to its definition; ",
            Call("infer_pool", "runs, qrels"),
            " says which runs must have contributed.",
            argument="pooled",
        )
    if types is not None:
        runs = runs.with_metadata(metadata=with_types(runs.run_table, types, before="definition"))
    given = {name: value for name, value in conditions.items() if value is not None}
    return runs.select(**given) if given else runs
