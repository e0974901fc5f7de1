"""The runs of a collection of which none is on record: those of its folder, or of one the user gives."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from pt_reuse._errors import Call, InputError, Option
from pt_reuse.collections.collection import Collection
from pt_reuse.collections.submitted import with_types
from pt_reuse.runs.labels import RunLabels
from pt_reuse.runs.reading import read_runs
from pt_reuse.runs.run_set import RunSet


def read_own_runs(
    collection: Collection,
    conditions: Mapping[str, Any],
    types: RunLabels | None,
    folder: str | Path | None,
    reading: Mapping[str, Any],
) -> RunSet:
    """Return the runs of an own collection that meet all conditions.

    Args:
        collection: whose definition says where they are, and who submitted them.
        conditions: ``names team type pooled task``, as :meth:`ReuseDataset.get_runs` takes them.
        types: own types over those of the definition.
        folder: to read instead of that of the definition.
        reading: further arguments of :func:`read_runs`.
    """
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
            Call("infer_pool", "runs, qrels"), " says which runs must have contributed.", argument="pooled",
        )  # fmt: skip
    if types is not None:
        runs = runs.with_metadata(metadata=with_types(runs.run_table, types, before="definition"))
    given = {name: value for name, value in conditions.items() if value is not None}
    return runs.select(**given) if given else runs
