"""Families of the runs of a field, and of judges: who is of which, and what cannot be compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count, examples
from pt_reuse._errors import Argument, InputError, Option, warn
from pt_reuse.data.units import column_of, how_to_give
from pt_reuse.judging.judges import NamedJudge
from pt_reuse.scoring.caveats import Caveat
from pt_reuse.studies.judge_families.gains import LEAST_IN_LINE


class FamilyRuns:
    """Which runs of a field are of which family.

    Args:
        run_table: one row per run: ``name``, and ``family`` where anybody gave one. Runs without a family are of none,
            and others for every family.

    Attributes:
        names: the families, in order of appearance.
        of_run: (runs,) the family of each, None for none.

    Raises:
        InputError: no run has a family, or all runs are of the same one.
    """

    def __init__(self, run_table: pd.DataFrame):
        column = column_of(run_table, "family")
        self.of_run: list[str | None] = [None if pd.isna(value) else str(value) for value in column]
        self.names = list(dict.fromkeys(value for value in self.of_run if value is not None))
        self.runs = run_table["name"].tolist()
        if not self.names:
            raise InputError("no run has a family. Give ", *how_to_give("family"), ".", argument="runs")
        if len(self.names) == 1 and None not in self.of_run:
            raise InputError(
                f"{_every(len(self.of_run))} of the family {self.names[0]!r}, so there is no other run to hold it "
                "against. Add runs of other families, or of none.",
                argument="runs",
            )

    def positions(self, family: str) -> NDArray[np.int64]:
        """Return (k,) the positions of the runs of a family."""
        return np.flatnonzero([value == family for value in self.of_run])

    @property
    def without(self) -> int:
        """Return how many runs have no family."""
        return sum(value is None for value in self.of_run)

    def caveats(self) -> Iterator[Caveat]:
        """Yield what keeps an effect of a family from saying something of the family."""
        runs = {family: self.positions(family) for family in self.names}
        single = [family for family, rows in runs.items() if len(rows) == 1]
        if single:
            which = examples(f"{family} ({self.runs[runs[family][0]]})" for family in single)
            one = len(single) == 1
            yield Caveat(
                f"{count(len(single), 'family')} of one run",
                (
                    f"{count(len(single), 'family')} of one run: {which}. What {'its' if one else 'their'} effect says "
                    f"is true of {'this run' if one else 'these runs'}, and need not be of another run of "
                    f"the {'family' if one else 'families'}.",
                ),
            )
        few = [family for family, rows in runs.items() if len(self.of_run) - len(rows) < LEAST_IN_LINE]
        if few:
            yield Caveat(
                f"fewer than {LEAST_IN_LINE} other runs for {examples(few)}",
                (
                    f"there are fewer than {LEAST_IN_LINE} runs that are not of {examples(few)}. A line through so few "
                    "scores says nothing, so there is no effect on scores; that on ranks is one of "
                    "very few places.",
                ),
            )

    def check_judges(self, judges: Sequence[NamedJudge]) -> None:
        """Warn where the family of a judge is that of no run, and one of the runs is written almost alike."""
        known = {family.casefold().strip(): family for family in self.names}
        for judge in judges:
            if judge.family is None or judge.family in self.names:
                continue
            near = known.get(judge.family.casefold().strip())
            if near is not None:
                warn(
                    f"{judge.name} is of the family {judge.family!r}, and runs are of {near!r}: these count as two "
                    "families. Write both alike in ",
                    Argument("families"),
                    " or in ",
                    Option("metadata", ...),
                    " of the runs, where they are one.",
                )


def _every(n_runs: int) -> str:
    return "the only run is" if n_runs == 1 else f"all {n_runs:,} runs are"
