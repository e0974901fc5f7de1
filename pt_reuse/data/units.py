"""Units: what can be left out of a field, or stand alone in it: teams, types, families, or each run by itself."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import choice, count, examples
from pt_reuse._errors import Argument, Aside, InputError, Option, Part, arguments_as, warn
from pt_reuse.arrays.open_field import AnyField
from pt_reuse.data.metadata import record_in_words


def distinct(column: pd.Series) -> list[str]:
    """Return the distinct values of a column of a table of runs, in order of appearance."""
    return [value for value in dict.fromkeys(column) if value is not None]


def counts_in_words(field: AnyField, table: pd.DataFrame) -> Iterator[str]:
    """Return how many runs, teams, types, topics and rows there are, each in words."""
    yield f"{count(len(table), 'run')} ({record_in_words(table['pooled'])})"
    yield from (count(n, noun) for noun in ("team", "type") if (n := len(distinct(table[noun]))))
    yield count(len(field.topics), "topic")
    yield count(field.n_rows, "row")


#: by -> the column of a table of runs that names the unit
COLUMNS = {"team": "team", "run": "name", "type": "type", "family": "family"}
#: what every table of runs has
_OF_EVERY_RUN = ("name", "team", "type", "pooled")


@dataclass(frozen=True)
class Units:
    """The units of a table of runs.

    Attributes:
        by: ``"team"``, ``"run"``, ``"type"`` or ``"family"``.
        names: of the units, in order of appearance.
        of_run: (runs,) the unit of each run, as a position among the names.
        own: how many runs without a team are each a team of their own.
    """

    by: str
    names: tuple[str, ...]
    of_run: NDArray[np.int64]
    own: int = 0

    def __len__(self) -> int:
        return len(self.names)

    @property
    def column(self) -> str:
        """Return the column in which frames name the unit: ``team``, ``type``, ``family`` or, for a run, ``name``."""
        return COLUMNS[self.by]

    @property
    def settings(self) -> dict[str, str]:
        """Return what the settings of a result say of runs without a team."""
        return {"teams": f"{count(self.own, 'run')} without a team, each a team of its own"} if self.own else {}

    def runs(self) -> NDArray[np.int64]:
        """Return (units,): how many runs each has."""
        return np.bincount(self.of_run, minlength=len(self))

    def positions(self, names: Sequence[str]) -> NDArray[np.int64]:
        """Return the position of each of some names among the units."""
        place = {name: u for u, name in enumerate(self.names)}
        return np.array([place[name] for name in names], dtype=np.int64)


def check_unit(by: Any) -> None:
    """Raise unless a user's ``by=`` is a key of :data:`COLUMNS`."""
    choice("by", by, tuple(COLUMNS))


def check_unit_is_given(by: str, columns: Collection[str], *, argument: str = "by", grouping: bool = False) -> None:
    """Raise when no run will have the unit, before runs are read whose tables have these columns filled.

    Args:
        by: a key of :data:`COLUMNS`.
        columns: of the tables that are filled.
        argument: what the user calls `by`.
        grouping: runs need not be grouped at all, so that the advice is to leave `by` out, in place of single runs.
    """
    # a run without a team is a team of its own
    if by not in ("run", "team") and COLUMNS[by] not in columns:
        with arguments_as(by=argument):
            raise _without_unit(by, "no run has one", grouping=grouping)


def units_of(run_table: pd.DataFrame, by: str, *, grouping: bool = False) -> Units:
    """Return the units of a table of runs: a run without a team is a team of its own, by its name.

    Args:
        run_table: one row per run, with ``name team type``, and ``family`` where anybody gave one.
        by: a key of :data:`COLUMNS`.
        grouping: see :func:`check_unit_is_given`.

    Raises:
        InputError: another `by`, runs without a type or family, a run without a team that has the name of one.

    Warns:
        ReuseWarning: runs without a team.
    """
    check_unit(by)
    values = column_of(run_table, by)
    lacking = run_table["name"][values.isna()].tolist()
    if lacking and by == "team":
        _tell_own_teams(lacking, set(values.dropna()))
        values = values.where(values.notna(), run_table["name"])
    elif lacking:
        check_every_run_has(run_table, by, grouping=grouping)
    codes, names = pd.factorize(values)
    return Units(by, tuple(str(name) for name in names), codes.astype(np.int64), own=len(lacking))


def check_every_run_has(run_table: pd.DataFrame, by: str, *, grouping: bool = False) -> None:
    """Raise where a run has no unit, also where it could be a team of its own; see :func:`check_unit_is_given`."""
    lacking = run_table["name"][column_of(run_table, by).isna()].tolist()
    if lacking:
        raise _without_unit(by, f"{count(len(lacking), 'run')} without: {examples(lacking)}", grouping=grouping)


def _tell_own_teams(lacking: list[str], teams: Collection[str]) -> None:
    """Warn of runs that are their own teams, since nobody says of which team they are."""
    clash = [name for name in lacking if name in teams]
    if clash:
        raise InputError(
            f"{examples(clash)} is a team, and a run without one has this name, which would be its own team. Give ",
            *how_to_give("team"),
            Aside(" when reading the runs"),
            ".",
            argument="by",
        )
    warn(
        f"{count(len(lacking), 'run')} without a team, each taken for a team of its own: {examples(lacking)}. ",
        *how_to_give("team"),
        Aside(" when reading the runs"),
        " says whose they are.",
    )


def column_of(run_table: pd.DataFrame, by: str) -> pd.Series:
    """Return which unit each run is of, None where that is not on record.

    Args:
        run_table: one row per run.
        by: a key of :data:`COLUMNS`.
    """
    column = COLUMNS[by]
    if column in run_table:
        return run_table[column]
    # a family is a further column of metadata, which a table need not have
    return pd.Series([None] * len(run_table), index=run_table.index, dtype=object, name=column)


def described(run_table: pd.DataFrame) -> pd.DataFrame:
    """Return what tables of results say of each run: ``name team type pooled``, and ``family`` where one was given."""
    return run_table[[*_OF_EVERY_RUN, *(("family",) if "family" in run_table else ())]]


def how_to_give(by: str) -> tuple[Part, ...]:
    """Return the advice that says of which unit each run is; a family has no argument of its own."""
    if by == "family":
        return (Option("metadata", ...), " with a column 'family'")
    return (Option(f"{by}s", ...),)


def _without_unit(by: str, who: str, *, grouping: bool = False) -> InputError:
    return InputError(
        Option("by", by),
        f" needs the {by} of every run; {who}. Give ",
        *how_to_give(by),
        Aside(" when reading the runs"),
        *((", or leave out ", Argument("by")) if grouping else (", or use ", Option("by", "run"))),
        ".",
        argument="by",
    )
