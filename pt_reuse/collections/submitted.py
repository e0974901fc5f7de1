"""The runs on record of a collection: those that are wanted, their types, and what a RunSet keeps of each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from pt_reuse._errors import Call, InputError, Option, ReuseWarning, warn
from pt_reuse.collections.collection import Collection
from pt_reuse.runs.labels import RunLabels
from pt_reuse.runs.metadata import OF_CHANGES, GivenMetadata, given_metadata
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
    collection: Collection, types: OwnTypes | None, pooled: bool | None, **conditions: str | Iterable[str] | None
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


@dataclass(frozen=True)
class OwnTypes:
    """Types of runs that the user gives.

    Attributes:
        labels: what says the type of each run.
        origin: where they come from: a file, or ``"given"``.
    """

    labels: GivenMetadata
    origin: str


def read_types(types: RunLabels | None) -> OwnTypes | None:
    """Read a user's ``types=``, None where none are given."""
    if types is None:
        return None
    return OwnTypes(given_metadata(types=types), str(types) if isinstance(types, str | Path) else "given")


def with_types(table: pd.DataFrame, types: OwnTypes | None, *, before: str = "catalogue") -> pd.DataFrame:
    """Return a table of runs with the user's types over those it had `before`; ``type_source`` says whose each is."""
    if types is None:
        return table.copy()
    base = table[["name"]].assign(team=None, type=None, pooled=True)
    given = types.labels.table(table["name"].tolist(), base, OF_CHANGES)
    said = given["type"].notna().to_numpy()
    known = table["type_source"] if "type_source" in table.columns else before
    return table.assign(
        type=np.where(said, given["type"], table["type"]),
        type_source=np.where(said, types.origin, known).astype(object),
    )
