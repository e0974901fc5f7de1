"""NamedRuns: the runs of a field by their names, each with its team, type and whether it was pooled."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from pt_reuse._errors import door
from pt_reuse.runs.counts import distinct
from pt_reuse.runs.selection import check_known
from pt_reuse.runs.units import Units, column_of, units_of


class NamedRuns:
    """Runs in an order, known by their names.

    Args:
        run_table: one row per run, with ``name team type pooled``.
    """

    def __init__(self, run_table: pd.DataFrame):
        self._table = run_table.reset_index(drop=True)
        self._names: list[str] = run_table["name"].tolist()
        self._row = {name: row for row, name in enumerate(self._names)}

    def __len__(self) -> int:
        return len(self._names)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self._row

    @door
    def row(self, name: str) -> int:
        """Return the position of a run among the runs, from 0.

        Args:
            name: of the run.

        Raises:
            InputError: no such run; the error says which names are near.
        """
        check_known("run", name, self._names)
        return self._row[name]

    @property
    def names(self) -> list[str]:
        """Return the run names, in the order given."""
        return list(self._names)

    @property
    def run_table(self) -> pd.DataFrame:
        """Return a copy of the runs' metadata, ``name team type pooled`` and all further columns, one row per run."""
        return self._table.copy()

    @property
    def teams(self) -> list[str]:
        """Return the distinct teams, in order of appearance."""
        return distinct(self._table["team"])

    @property
    def types(self) -> list[str]:
        """Return the distinct types, in order of appearance."""
        return distinct(self._table["type"])

    @property
    def families(self) -> list[str]:
        """Return the distinct families, in order of appearance; none where the runs' metadata has no ``family``."""
        return distinct(column_of(self._table, "family"))

    @property
    def pooled(self) -> pd.Series:
        """Return which runs contributed to the pool, True or False, <NA> where nobody recorded it (``boolean``)."""
        return self._table["pooled"].copy()

    @property
    def pool_is_on_record(self) -> bool:
        """Return whether somebody recorded of every run whether it was pooled."""
        return bool(self._table["pooled"].notna().all())

    @door
    def units(self, by: str) -> Units:
        """Return the teams, types, families or runs of the field.

        Args:
            by: ``"team"``, ``"type"``, ``"family"`` or ``"run"``.

        Raises:
            InputError: another `by`, or runs without a type or family.
        """
        return units_of(self._table, by)
