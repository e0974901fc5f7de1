"""What filling holes does to the units of a field: in sentences, as a report and as a figure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from pt_reuse._check import choice, count
from pt_reuse._errors import InputError, Option, door
from pt_reuse._report import Column, Digits, Report, intervals
from pt_reuse._text import with_ends
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.data.units import Units
from pt_reuse.scoring.measures import MeasureLike, measure_among
from pt_reuse.scoring.scores import Scores

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class FilledUniques:
    """Says what filling does, for results with the attributes that are named here."""

    filled: pd.DataFrame | None
    filled_summary: pd.DataFrame | None
    scores: Scores
    units: Units
    settings: Mapping[str, Any]

    def findings(self) -> list[str]:
        """Return what filling the holes does to the units, in plain sentences.

        Returns:
            list of str: for each judge how many documents it labelled, and how many of them it calls relevant; for each
            measure the mean change of the units' own runs when their uniques are removed and when the judge labels
            them, how many units it puts above the truth, the unit that gains most, and tau_b of the rankings; each
            number with its interval over topics where there are any. None where nothing was filled.
        """
        rows, summary = self.filled, self.filled_summary
        if rows is None or summary is None:
            return []
        found = []
        for judge, of_judge in summary.groupby("judge", sort=False):
            found.append(_labels(str(judge), of_judge.iloc[0].to_dict(), self.units.by))
            for said in of_judge.to_dict("records"):
                mine = rows[(rows["judge"] == judge) & (rows["measure"] == said["measure"])]
                found += _of_measure(said, mine, self.units)
        # what a unit loses without any judge is said once
        return list(dict.fromkeys(found))

    @door
    def plot_fill(
        self,
        measure: MeasureLike | None = None,
        *,
        judge: str | None = None,
        top: int | None = None,
        ax: Axes | None = None,
        title: str | None = None,
        legend: bool = True,
        width: float | None = None,
    ) -> Axes:
        """Draw what each unit's own runs score without its uniques, truly, and with these labelled by a judge.

        Args:
            measure: one of the measures; default the first.
            judge: one of the judges; default the first.
            top: how many units at most, those that lose most without their uniques; default 30, 15 in a column.
            ax: axes to draw into; default a new figure. For this and what follows see :meth:`plot`.
            title: what stands above.
            legend: whether there is one.
            width: of a new figure, in inches.

        Returns:
            Axes: a line per unit from "removed", a hollow mark, over the truth, at 0, to "filled"; thin lines beside
            the marks are their intervals over topics, where there are any.

        Raises:
            InputError: nothing was filled, or there is no such judge.
        """
        from pt_reuse.plots.forests import plot_filled
        from pt_reuse.plots.marks import checked_top
        from pt_reuse.plots.sheet import Place

        rows = _rows_of(self, measure, judge)
        return plot_filled(rows, unit=self.units.column, top=checked_top(top), place=Place(ax, title, legend, width))


def filled_report(
    result: FilledUniques, measure: MeasureLike | None, judge: str | None, notes: Sequence[str]
) -> Report:
    """Return a row per unit: its uniques, and what becomes of its own runs when these are removed or filled.

    Args:
        result: what has the tables.
        measure: one of its measures; None for the first.
        judge: one of its judges; None for the first.
        notes: the conventions of leaving uniques out.
    """
    rows, by = _rows_of(result, measure, judge), result.units.by
    who, name = (rows[column].iloc[0] for column in ("judge", "measure"))
    if "filled_change_low" in rows:
        rest = [
            part
            for way, word in (("removed", "removed"), ("filled", "filled"))
            for part in (
                Column(word.capitalize(), rows[f"{way}_change"], Digits.SCORE),
                intervals(word, rows[f"{way}_change_low"], rows[f"{way}_change_high"], Digits.SCORE),
            )
        ]
        ranks = ""
    else:
        rest = [
            Column("Removed", rows["removed_change"], Digits.SCORE),
            Column("Filled", rows["filled_change"], Digits.SCORE),
            Column("Largest fall, removed", rows["removed_max_drop"], Digits.COUNT),
            Column("Largest rise, filled", rows["filled_max_rise"], Digits.COUNT),
        ]
        ranks = f"; falls and rises are of any run, in ranks, when the whole field is scored anew for the {by}"
    settings = result.settings
    return Report(
        [Column(by.capitalize(), rows[result.units.column]), Column("Uniques", rows["removed"], Digits.COUNT), *rest],
        caption=(
            f"Mean change of {name} of the {by}'s own runs against the truth, when its unique documents are removed "
            f"from the judgments, and when {who} labels them instead{ranks}."
        ),
        notes=[
            f"Filled: {settings['holes']}. Judge: {settings['fill']}.",
            f"Pool of depth {settings['depth']}; {settings['remove']} uniques are removed.",
            *notes,
        ],
    )


def _rows_of(result: FilledUniques, measure: MeasureLike | None, judge: str | None) -> pd.DataFrame:
    """Return the rows of one measure and judge, the first by default, the largest loss by removal first."""
    rows, name = _needed(result.filled), measure_among(result.scores.measures, measure)
    judges = list(dict.fromkeys(rows["judge"]))
    who = judges[0] if judge is None else choice("judge", judge, judges)
    mine = rows[(rows["judge"] == who) & (rows["measure"] == name)]
    return mine.sort_values(["removed_change", result.units.column], kind="stable", ignore_index=True)


def _needed(frame: pd.DataFrame | None) -> pd.DataFrame:
    if frame is None:
        raise InputError("no hole was filled. Call leave_out_uniques with ", Option("fill", ...), ", a judge.")
    return frame


def _labels(judge: str, said: Mapping[Any, Any], by: str) -> str:
    unknown = f", and gave no label to {said['unknown']:,}" if said["unknown"] else ""
    return (
        f"{judge} labelled {said['labelled']:,} of {count(said['removed'], 'document')} that one {by} alone "
        f"contributed{unknown}; it calls {said['judge_relevant']:,} of those relevant, people {said['relevant']:,}."
    )


def _of_measure(said: Mapping[Any, Any], rows: pd.DataFrame, units: Units) -> Iterator[str]:
    measure, judge, by, n = said["measure"], said["judge"], units.by, said["units"]
    if not n:
        yield f"{measure}: no {by} has a unique document, so that there is nothing to fill."
        return
    whose = f"the own runs of {count(n, by)} with uniques"
    yield (
        f"{measure}: without their uniques {whose} change by {with_ends(said, 'removed_change', '+.4f')} on average, "
        f"filled by {judge} by {with_ends(said, 'filled_change', '+.4f')}, by {judge} alone by "
        f"{with_ends(said, 'judge_alone_change', '+.4f')}.{_verdict(said, judge)}"
    )
    yield (
        f"{measure}: filled by {judge}, {with_ends(said, 'filled_above', '.0f')} of {count(n, by)} stand above the "
        f"true score; without their uniques {with_ends(said, 'removed_above', '.0f')}."
    )
    for way, word, best in (("removed", "without its uniques", "idxmin"), ("filled", f"filled by {judge}", "idxmax")):
        row = rows.loc[getattr(rows[f"{way}_change"], best)()].to_dict()
        moved, fall = ("loses", "drop") if way == "removed" else ("gains", "rise")
        change = round(row[f"{way}_change"], DECIMALS)
        if not (change < 0 if way == "removed" else change > 0):
            continue
        ranks = row[f"{way}_own_{fall}"]
        run = f"a run of it {moved} {count(ranks, 'rank')}" if ranks else f"no run of it {moved} a rank"
        yield (
            f"{measure}: {word}, {row[units.column]} {moved} most: {with_ends(row, f'{way}_change', '+.4f')}, and "
            f"{run} when its {by} alone is scored anew."
        )
    yield (
        f"{measure}: tau_b with the true ranking is {with_ends(said, 'removed_tau_b', '.4f')} when each run is scored "
        f"without its own {by}'s uniques, {with_ends(said, 'filled_tau_b', '.4f')} with them filled by {judge}, and "
        f"{with_ends(said, 'judge_alone_tau_b', '.4f')} by {judge} alone."
    )


def _verdict(said: Mapping[Any, Any], judge: str) -> str:
    """Return what the interval of the filled change says, nothing without one."""
    low, high = (said.get(f"filled_change_{end}", float("nan")) for end in ("low", "high"))
    if low > 0:
        return f" So {judge} does not mend the loss: it gives more than people do."
    if high < 0:
        return f" So {judge} does not mend all of the loss."
    return " The interval holds 0: a bias on average is neither shown nor excluded." if low <= 0 <= high else ""
