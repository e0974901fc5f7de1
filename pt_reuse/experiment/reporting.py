"""The short answer of an experiment: what a paper prints of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import ir_measures
import pandas as pd

from pt_reuse._check import choice, count, examples, listed, told
from pt_reuse._errors import InputError
from pt_reuse._report import MOST, Column, Digits, Report, intervals
from pt_reuse.experiment.columns import NO_FIELD, NOT_POOLED, SUMMED
from pt_reuse.experiment.layouts import TIME
from pt_reuse.scoring.caveats import BEWARE
from pt_reuse.scoring.measures import MeasureLike

#: heads the column of what a score may be
_BOUNDS = "Lowest to highest"


@dataclass(frozen=True)
class AtHand:
    """What a frame shows of an experiment."""

    names: list[str]
    measures: list[str]


def at_hand(frame: pd.DataFrame, means: pd.DataFrame) -> AtHand:
    """Return what a frame shows: the systems and measures of its rows, or of its columns."""
    known = list(dict.fromkeys(means["name"]))
    names = known
    if "name" in frame.columns:
        names = list(dict.fromkeys(frame["name"]))
    elif "name" in frame.index.names:
        names = list(dict.fromkeys(frame.index.get_level_values("name")))
    strangers = [name for name in names if name not in known]
    if strangers:
        raise InputError(
            f"{examples(strangers)} in the column 'name' names no system of the experiment, which had "
            f"{examples(known, 12)}. Report first, then rename."
        )
    shown = frame["measure"] if "measure" in frame.columns else frame.columns
    return AtHand(names, [measure for measure in means["measure"].unique() if measure in set(shown)])


def report_of(
    means: pd.DataFrame,
    shown: AtHand,
    measures: MeasureLike | Iterable[MeasureLike] | None,
    settings: Mapping[str, Any],
    n_topics: int,
) -> Report:
    """Return the report of some systems under some measures."""
    names, known = shown.names, [measure for measure in means["measure"].unique() if measure != TIME]
    there = [measure for measure in known if measure in shown.measures]
    chosen = _chosen(measures, known) if measures is not None else there or known
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
    if "filled" in rows:
        columns.append(Column("Filled", rows["filled"].tolist(), Digits.SCORE))
    # a report has no room for all of them, and what is filled says more
    if "unjudged" in rows and len(columns) <= MOST:
        columns.append(Column("Unjudged share", rows["unjudged"].tolist(), Digits.SCORE))
    if "low" in rows and len(columns) <= MOST:
        bounds = intervals("", rows["low"], rows["high"], Digits.SCORE)
        columns.append(replace(bounds, heading=_BOUNDS))
    notes = _notes(settings, columns, not says and settings.get("systems") == NOT_POOLED)
    return Report(columns, caption=_caption(chosen, settings, columns, n_topics), notes=notes)


def _chosen(measures: MeasureLike | Iterable[MeasureLike], known: list[str]) -> list[str]:
    several = [measures] if isinstance(measures, str | ir_measures.Measure) else measures
    if not isinstance(several, Iterable):
        raise InputError(
            f"measures must name some of {examples(known, 12)}, got {told(measures)}.", argument="measures"
        )
    wanted = [str(measure) for measure in several]
    if not wanted:
        raise InputError(f"measures names none. There is {examples(known, 12)}.", argument="measures")
    return [choice("measures", measure, known) for measure in dict.fromkeys(wanted)]


def _caption(measures: list[str], settings: Mapping[str, Any], columns: list[Column], n_topics: int) -> str:
    headings = {column.heading.split(",")[0] for column in columns}
    summed = [measure for measure in measures if measure in SUMMED]
    how = "sums" if len(summed) == len(measures) else "means"
    over = f", {how} over {count(n_topics, 'topic')}"
    if summed and how == "means":
        over += f" ({listed(summed)}: the sum)"
    parts = [f"{listed(measures)} of the systems of an experiment{over}"]
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


def _notes(settings: Mapping[str, Any], columns: list[Column], idle: bool) -> list[str]:
    notes = [f"Documents are ranked in the order {settings['order']}, as pt.Experiment ranks them."]
    if "other order" in settings:
        notes.append(f"In another order: {settings['other order']}.")
    if idle:
        notes.append("No system counts as pooled, so that leaving out its uniques changes nothing and is not shown.")
    if columns[-1].heading == _BOUNDS:
        without = f". No bounds are known of {settings['no bounds']}" if "no bounds" in settings else ""
        notes.append(f"{_BOUNDS}: {settings['bounds']}{without}.")
    if "fill" in settings:
        notes.append(f"Filled: the score with {settings['filled']}, labelled by a judge ({settings['fill']}).")
    if BEWARE in settings:
        notes.append(f"Beware: {settings[BEWARE]}.")
    return notes
