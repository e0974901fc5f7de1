"""What a paper prints of leave-out-uniques: a row per measure, per left-out unit, or per run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from pt_reuse._check import choice, count, listed
from pt_reuse._errors import door
from pt_reuse._report import Column, Digits, Report, intervals
from pt_reuse.data.units import Units
from pt_reuse.scoring.agreement import INTERVALS
from pt_reuse.scoring.caveats import BEWARE
from pt_reuse.scoring.measures import MeasureLike, measure_among
from pt_reuse.scoring.scores import Scores
from pt_reuse.studies.filled_uniques.findings import FilledUniques, filled_report

#: what the rows of a report can be
_ROWS = ("measure", "unit", "run", "fill")


class UniqueReports(FilledUniques):
    """Reports the tables of a ``LeaveOutUniques``, which has the attributes that are named here."""

    table: pd.DataFrame
    by_run: pd.DataFrame
    summary: pd.DataFrame
    unique_counts: pd.DataFrame
    scores: Scores
    units: Units
    depth: int
    rel: int
    remove: str
    settings: Mapping[str, Any]

    @property
    def has_intervals(self) -> bool:
        """Return whether intervals over topics were asked for."""
        return "tau_b_low" in self.table

    @door
    def report(self, by: str = "measure", *, measure: MeasureLike | None = None, judge: str | None = None) -> Report:
        """Return what a paper prints; the caption says what was removed, and the pool that it was unique in.

        Args:
            by: the rows: each ``"measure"`` (default) with tau-b, largest drop and worst change of the runs under the
                reduced judgments of their own units, and the smallest tau-b of the whole field; each left-out
                ``"unit"`` with its uniques, tau-b and largest drop of the whole field; each ``"run"`` with its score,
                the one without its own unit's uniques, change, rank and drop. Intervals, where there are any, take the
                place of the last columns. ``"fill"``: each left-out unit with its uniques and the mean change of its
                own runs when these are removed and when a judge labels them, where one did.
            measure: the one that units or runs are shown under; default the first.
            judge: the one that fills; default the first.
        """
        if choice("by", by, _ROWS) == "fill":
            return filled_report(self, measure, judge, _notes(self))
        name = measure_among(self.scores.measures, measure)
        return (
            _per_measure(self) if by == "measure" else _per_unit(self, name) if by == "unit" else _per_run(self, name)
        )


def _per_measure(result: UniqueReports) -> Report:
    """Return a row per measure: the runs under the reduced judgments of their own units, and the whole field."""
    summary, by, lost, least = result.summary, result.units.by, [], []
    for measure in summary["measure"]:
        runs, units = (frame[frame["measure"] == measure] for frame in (result.by_run, result.table))
        lost.append(_worst(runs["name"], runs["change_pct"].where(runs["change_pct"] < 0)))
        # an undefined tau comes first: all runs tie without this unit
        least.append(_worst(units[result.units.column], units["tau_b"].fillna(-2).where(units["tau_b"].ne(1))))
    drop = Column("Largest drop", summary["own_max_drop"], Digits.COUNT)
    if result.has_intervals:
        rest = [
            intervals("tau-b", summary["own_tau_b_low"], summary["own_tau_b_high"], Digits.SCORE),
            drop,
            intervals("the drop", summary["own_max_drop_low"], summary["own_max_drop_high"], Digits.COUNT),
        ]
    else:
        rest = [
            drop,
            Column("Worst change, %", 0.0 - summary["largest_loss_pct"], Digits.PERCENT),
            Column("Of run", lost),
        ]
    return Report(
        [
            Column("Measure", summary["measure"]),
            Column("tau-b", summary["own_tau_b"], Digits.SCORE),
            *rest,
            Column("Smallest tau-b, field", summary["field_min_tau_b"], Digits.SCORE),
        ],
        caption=(
            f"Leave-out-uniques by {by}: the ranking of {_field(result)} against the one in which each run is scored "
            f"without {_removed(result, own=True)}; the last column is the smallest tau-b when all runs are ranked "
            f"without the uniques of one {by}."
        ),
        notes=[*_least_in_words(least, summary["measure"].tolist(), by), *_notes(result)],
    )


def _per_unit(result: UniqueReports, measure: str) -> Report:
    """Return a row per left-out unit under one measure: its uniques, and the whole field re-ranked without them."""
    rows, by = result.table[result.table["measure"] == measure], result.units.by
    tau, drop = Column("tau-b", rows["tau_b"], Digits.SCORE), Column("Largest drop", rows["max_drop"], Digits.COUNT)
    relevant = Column("Relevant uniques", rows["unique_relevant"], Digits.COUNT)
    if result.has_intervals:
        of_tau = intervals("tau-b", rows["tau_b_low"], rows["tau_b_high"], Digits.SCORE)
        of_drop = intervals("the drop", rows["max_drop_low"], rows["max_drop_high"], Digits.COUNT)
        columns = [relevant, tau, of_tau, drop, of_drop]
    else:
        uniques = Column("Uniques", rows["unique"], Digits.COUNT)
        columns = [uniques, relevant, tau, drop, Column("Dropped run", rows["dropped"])]
    return Report(
        [Column(by.capitalize(), rows[result.units.column]), *columns],
        caption=(
            f"Leave-out-uniques by {by} under {measure}: the ranking of {_field(result)} against the one of all runs "
            f"scored without {_removed(result, own=False)}."
        ),
        notes=_notes(result),
    )


def _per_run(result: UniqueReports, measure: str) -> Report:
    """Return a row per run under one measure, the best first: what it loses without its own unit's uniques."""
    rows, by = result.by_run[result.by_run["measure"] == measure].sort_values("rank", kind="stable"), result.units.by
    alone = "that run is" if by == "run" else f"the runs of that {by} are"
    if result.has_intervals:
        changes = [
            Column("Change", rows["change"], Digits.SCORE),
            intervals("the change", rows["change_low"], rows["change_high"], Digits.SCORE),
        ]
    else:
        changes = [
            Column("Change, %", rows["change_pct"], Digits.PERCENT),
            Column("Rank", rows["rank"], Digits.COUNT),
        ]
    return Report(
        [
            Column("Run", rows["name"]),
            Column(measure, rows["score"], Digits.SCORE),
            Column("Without own uniques", rows["reduced_score"], Digits.SCORE),
            *changes,
            Column("Drop", rows["drop"], Digits.COUNT),
        ],
        caption=(
            f"Leave-out-uniques by {by}: each of {_field(result)} under {measure}, and without "
            f"{_removed(result, own=True)}; the drop is in ranks, when only {alone} scored anew."
        ),
        notes=_notes(result),
    )


def _field(result: UniqueReports) -> str:
    return count(len(result.scores.names), "run")


def _removed(result: UniqueReports, *, own: bool) -> str:
    contributors, by = result.unique_counts["contributing"].sum(), result.units.by
    who = f"the {by}" if not own else "it" if by == "run" else f"its own {by}"
    return (
        f"the {result.remove} documents that {who} alone contributed to the depth-{result.depth} "
        f"pool of {count(int(contributors), 'run')}"
    )


def _notes(result: UniqueReports) -> list[str]:
    settings = result.settings
    topics = "all topics" if result.scores.complete else "the topics that a run has"
    said = (
        f"Documents are ranked in the order {settings['order']} and pooled in the order {settings['pool order']}; "
        f"relevant is a label of at least {result.rel}; means are over {topics}."
    )
    notes = [said, f"Intervals: {settings[INTERVALS]}."] if result.has_intervals else [said]
    return [*notes, f"Beware: {settings[BEWARE]}."] if BEWARE in settings else notes


def _worst(names: pd.Series, values: pd.Series) -> Any:
    """Return the name with the smallest value, the first of several, None where there is no value."""
    found = values.to_numpy(dtype=float)
    return None if np.isnan(found).all() else names.iloc[int(np.nanargmin(found))]


def _least_in_words(units: Sequence[Any], measures: Sequence[str], by: str) -> list[str]:
    """Return a sentence that says without which unit the field's tau-b is smallest, none where none changes it."""
    under: dict[Any, list[str]] = {}
    for unit, measure in zip(units, measures, strict=True):
        if unit is not None:
            under.setdefault(unit, []).append(measure)
    parts = [f"without {unit} under {listed(names)}" for unit, names in under.items()]
    return [f"The field's tau-b is smallest {'; '.join(parts)} (one {by} left out at a time)."] if parts else []
