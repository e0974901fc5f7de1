"""The short answer of an experiment: what a paper prints of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from pt_reuse._check import choice, examples, told
from pt_reuse._errors import InputError
from pt_reuse._report import Column, Digits, Report
from pt_reuse.experiment.columns import NO_FIELD, NOT_POOLED
from pt_reuse.experiment.layouts import TIME
from pt_reuse.scoring.caveats import BEWARE


def report_of(
    means: pd.DataFrame, names: Sequence[str], measures: str | Iterable[str] | None, settings: Mapping[str, Any]
) -> Report:
    """Return the report of some systems under some measures.

    Args:
        means: the long layout.
        names: of the systems, in the order of the rows.
        measures: those to show, as pt.Experiment names them; None for all.
        settings: the conventions.
    """
    known = [measure for measure in means["measure"].unique() if measure != TIME]
    chosen = _chosen(measures, known)
    rows = means[means["measure"].isin(chosen) & means["name"].isin(names)]
    at_name, at_measure = {name: i for i, name in enumerate(names)}, {measure: i for i, measure in enumerate(chosen)}
    place = rows["measure"].map(at_measure) * len(names) + rows["name"].map(at_name)
    rows = rows.iloc[place.argsort(kind="stable").to_numpy()]
    one = len(chosen) == 1
    labels = rows["name"].map(str) if one else rows["name"].map(str) + ", " + rows["measure"]
    columns = [
        Column("System" if one else "System, measure", labels.tolist()),
        Column(chosen[0] if one else "Score", rows["value"].tolist(), Digits.SCORE),
    ]
    corrected = "p-value corrected" in rows
    if corrected or "p-value" in rows:
        heading = "p, corrected" if corrected else "p"
        columns.append(Column(heading, rows["p-value corrected" if corrected else "p-value"].tolist(), Digits.P))
    lou = next((column for column in ("LOU %", f"LOU %{NO_FIELD}") if column in rows), None)
    # the zeros of systems that nothing can be taken from are no finding
    says = lou is not None and (settings["systems"] != NOT_POOLED or bool(rows[lou].fillna(0).any()))
    if lou is not None and says:
        columns.append(Column(f"{lou[:3]}, change in %{lou[5:]}", rows[lou].tolist(), Digits.PERCENT))
    if "rank" in rows:
        columns.append(Column("Rank", rows["rank"].tolist(), Digits.COUNT))
    if "unjudged" in rows:
        columns.append(Column("Unjudged share", rows["unjudged"].tolist(), Digits.SCORE))
    notes = _notes(settings, lou is not None and not says)
    return Report(columns, caption=_caption(chosen, settings, columns), notes=notes)


def _chosen(measures: str | Iterable[str] | None, known: list[str]) -> list[str]:
    if measures is None:
        return known
    if not isinstance(measures, Iterable):
        raise InputError(
            f"measures must name some of {examples(known, 12)}, got {told(measures)}.", argument="measures"
        )
    wanted = [measures] if isinstance(measures, str) else [str(measure) for measure in measures]
    if not wanted:
        raise InputError(f"measures names none. There is {examples(known, 12)}.", argument="measures")
    return [choice("measures", measure, known) for measure in dict.fromkeys(wanted)]


def _caption(measures: list[str], settings: Mapping[str, Any], columns: list[Column]) -> str:
    headings = {column.heading.split(",")[0] for column in columns}
    parts = [f"{' and '.join(filter(None, [', '.join(measures[:-1]), measures[-1]]))} of the systems of an experiment"]
    if "p" in headings:
        corrected = f" (correction: {settings['correction']})" if "correction" in settings else ""
        parts.append(f"p by {settings['test']} against {settings['baseline']}{corrected}")
    if "Rank" in headings:
        parts.append(f"rank among {settings['ranked among']}")
    if "LOU" in headings:
        parts.append(
            f"LOU: the score without the unique documents of the system's own {settings['by']} "
            f"(pool depth {settings['depth']})"
        )
    return f"{'; '.join(parts)}."


def _notes(settings: Mapping[str, Any], idle: bool) -> list[str]:
    notes = [f"Documents are ranked in the order {settings['order']}, as pt.Experiment ranks them."]
    if "other order" in settings:
        notes.append(f"In another order: {settings['other order']}.")
    if idle:
        notes.append("No system counts as pooled, so that leaving out its uniques changes nothing and is not shown.")
    if BEWARE in settings:
        notes.append(f"Beware: {settings[BEWARE]}.")
    return notes
