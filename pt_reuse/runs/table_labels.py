"""TableLabels: what tables say of the runs in them, taken where the user says nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from pt_reuse._choices import ORDERS
from pt_reuse._errors import InputError, Option, warn
from pt_reuse.formats.table_notes import TableNotes, notes_of
from pt_reuse.formats.tables import is_table
from pt_reuse.runs.how_pooled import HowPooled
from pt_reuse.runs.labels import is_missing
from pt_reuse.runs.metadata import make_run_table


@dataclass(frozen=True)
class TableLabels:
    """What tables say of their runs.

    Attributes:
        notes: the tables among some files, and what each says; None where it says nothing.
    """

    notes: Mapping[Path, TableNotes | None]

    @staticmethod
    def of(paths: Sequence[Path]) -> TableLabels:
        """Return what the tables among some files say."""
        return TableLabels({path: notes_of(path) for path in paths if is_table(path)})

    @property
    def columns(self) -> set[str]:
        """Return the columns of a table of runs in which anything stands of some of them."""
        rows = [run for notes in self.notes.values() if notes is not None for run in notes.runs]
        return {column for row in rows for column, value in row.items() if value is not None} - {"name"}

    def base(self, names: Sequence[str], paths: Sequence[Path]) -> pd.DataFrame | None:
        """Return the table of some runs as far as their files say what stands in it; None where no file does.

        Args:
            names: the runs.
            paths: the file of each.
        """
        said = {
            path: {str(run["name"]): run for run in notes.runs}
            for path, notes in self.notes.items()
            if notes is not None and path in paths
        }
        if not said:
            return None
        rows = [said.get(path, {}).get(name, {}) for name, path in zip(names, paths, strict=True)]
        table = make_run_table(names)
        for column in dict.fromkeys(column for row in rows for column in row if column != "name"):
            table[column] = _as_column([row.get(column) for row in rows], column)
        return table

    def how_pooled(self, given: HowPooled) -> HowPooled:
        """Return how the runs were pooled: what the user gives, and where this is nothing, what the tables say."""
        notes = {path: found for path, found in self.notes.items() if found is not None}
        order = given.order or _agreed("pool_order", {path: found.pool_order for path, found in notes.items()})
        depth = given.depth or _agreed("pool_depth", {path: found.pool_depth for path, found in notes.items()})
        return HowPooled(order, depth)

    def tell(self, order: str) -> None:
        """Warn where the default order, which nobody had to choose, is another than that of a table."""
        others = {path: found.order for path, found in self.notes.items() if found is not None and found.order != order}
        if order != next(iter(ORDERS)) or not others:
            return
        path, written = next(iter(others.items()))
        warn(
            f"its runs were in the order {written!r} when they were written, and are ranked here by {order!r}. ",
            Option("order", "rank"),
            " keeps the ranks that they have in it.",
            place=str(path),
        )


def packed_labels(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table of runs as values that a text can hold: what is no text, number or flag is a text."""
    rows = table.to_dict("records")
    return [{str(column): _plain(value) for column, value in row.items()} for row in rows]


def _plain(value: Any) -> Any:
    if is_missing(value):
        return None
    value = value.item() if hasattr(value, "item") else value
    return value if isinstance(value, str | bool | int | float) else str(value)


def _as_column(values: list[Any], column: str) -> pd.Series:
    if column == "pooled":
        return pd.Series(values, dtype="boolean")
    kinds = {type(value) for value in values if value is not None}
    texts = column in ("team", "type") or str in kinds or len(kinds) != 1
    return pd.Series(values, dtype=object if texts else None)


def _agreed(option: str, said: Mapping[Path, Any]) -> Any:
    given = {path: value for path, value in said.items() if value is not None}
    if len(set(given.values())) > 1:
        (one, mine), (other, theirs) = list({value: (path, value) for path, value in given.items()}.values())[:2]
        raise InputError(
            f"the runs in {one} were pooled with {option}={mine!r} by what it says, those in {other} with {theirs!r}. "
            f"Give both the same ",
            Option(option, ...),
            ".",
            argument=option,
        )
    return next(iter(given.values()), None)
