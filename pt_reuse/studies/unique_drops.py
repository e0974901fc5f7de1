"""Units whose absence makes a run fall far: what leave-out-uniques is summed up by in the literature."""

from __future__ import annotations

import pandas as pd

from pt_reuse._check import whole
from pt_reuse._errors import door
from pt_reuse.data.units import Units


class LargeDrops:
    """Counts the units whose absence makes a run drop, for results with the attributes that are named here."""

    table: pd.DataFrame
    units: Units

    @door
    def large_drops(self, more_than: int = 10) -> pd.DataFrame:
        """Return how many units have a run, of any unit, that drops more than so many ranks when they are left out.

        Args:
            more_than: the number of ranks that is exceeded, 0 or more.

        Returns:
            DataFrame: one row per measure: ``measure``; ``units``, how many such units there are, and ``of``, of how
            many; ``largest``, the largest drop of all; ``names``, those units, the one with the largest drop first,
            separated by commas.

        Raises:
            InputError: a number that is none.

        Source: Voorhees, Craswell and Lin 2022, Too many relevants, SIGIR, section 3, which counts teams with a drop of
        more than ten ranks.
        """
        least = whole("more_than", more_than, "ranks", least=0)
        rows = []
        for measure, of in self.table.groupby("measure", sort=False):
            falling = of[of["max_drop"] > least].sort_values("max_drop", ascending=False, kind="stable")
            rows.append(
                {
                    "measure": measure,
                    "units": len(falling),
                    "of": len(of),
                    "largest": int(of["max_drop"].max()),
                    "names": ", ".join(map(str, falling[self.units.column])),
                }
            )
        return pd.DataFrame(rows)
