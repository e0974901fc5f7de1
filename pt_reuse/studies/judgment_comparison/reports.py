"""What a paper prints of two sets of judgments: a row per measure, selected run, topic or run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from pt_reuse._check import count
from pt_reuse._report import Column, Digits, Report, intervals
from pt_reuse.scoring.agreement import INTERVALS
from pt_reuse.scoring.caveats import BEWARE

#: what the rows of a report can be
ROWS = ("measure", "selected", "topic", "run")


def of_measures(
    table: pd.DataFrame, measured: Sequence[str], n_runs: int, names: tuple[str, str], settings: Mapping[str, Any]
) -> Report:
    """Return a row per measure: tau-b with its interval where there is one, gamma, and the largest moves."""
    columns = [Column("Measure", measured), Column("tau-b", table["tau_b"], Digits.SCORE)]
    if "tau_b_low" in table:
        columns.append(intervals("tau-b", table["tau_b_low"], table["tau_b_high"], Digits.SCORE))
    else:
        columns.append(Column("tau-AP", table["tau_ap_b"], Digits.SCORE))
    columns.append(Column("gamma", table["gamma"], Digits.SCORE))
    columns.append(Column("Largest drop", table["max_drop"], Digits.COUNT))
    columns.append(Column("Largest rise", table["max_rise"], Digits.COUNT))
    truth, other = names
    kind = "" if "tau_b_low" in table else " (tau-AP symmetric and with ties)"
    return Report(
        columns,
        caption=(
            f"The ranking of {count(n_runs, 'run')} by {other} against the one by {truth}: correlations{kind}, and the "
            "most ranks that a run loses or gains."
        ),
        notes=_notes(settings, with_intervals=True),
    )


def of_selected(
    selected: pd.DataFrame, measure: str, depth: int, names: tuple[str, str], settings: Mapping[str, Any]
) -> Report:
    """Return a row per selected run under one measure: score and rank under both, and its share of unjudged ones."""
    rows, (truth, other) = selected[selected["measure"] == measure], names
    pair = in_words(measure, rows["other_measure"].iloc[0])
    return Report(
        [
            Column("Run", [f"{row.name} ({row.why})" for row in rows[["name", "why"]].itertuples(index=False)]),
            Column(f"Score, {truth}", rows["score"], Digits.SCORE),
            Column(f"Score, {other}", rows["other_score"], Digits.SCORE),
            Column(f"Rank, {truth}", rows["rank"], Digits.COUNT),
            Column(f"Rank, {other}", rows["other_rank"], Digits.COUNT),
            Column("Unjudged", rows["unjudged_rate"], Digits.SCORE),
        ],
        caption=(
            f"Selected runs under two sets of judgments by {pair}, the best by {truth} first; unjudged is the share of "
            f"the first {depth:,} documents that {truth} does not know."
        ),
        notes=_notes(settings),
    )


def of_topics(per_topic: pd.DataFrame, names: tuple[str, str], settings: Mapping[str, Any]) -> Report:
    """Return a row per topic under one measure, the lowest tau-b first: the runs that move most."""
    rows, (truth, other) = per_topic.sort_values("tau_b", kind="stable", na_position="last"), names
    pair = in_words(rows["measure"].iloc[0], rows["other_measure"].iloc[0])
    without = int(rows["tau_b"].isna().sum())
    none = [f"{count(without, 'topic')} without tau-b: all runs tie by one of the two."] if without else []
    return Report(
        [
            Column("Topic", rows["qid"]),
            Column("tau-b", rows["tau_b"], Digits.SCORE),
            Column("Largest drop", rows["max_drop"], Digits.COUNT),
            Column("Of run", rows["dropped"]),
            Column("Largest rise", rows["max_rise"], Digits.COUNT),
            Column("By run", rows["risen"]),
        ],
        caption=(
            f"The runs ranked on each topic alone by {pair}: {other} against {truth}, and which run loses and which "
            "gains most ranks there."
        ),
        notes=[*none, *_notes(settings)],
    )


def of_runs(
    by_run: pd.DataFrame, newer: str, depth: int, names: tuple[str, str], settings: Mapping[str, Any]
) -> Report:
    """Return a row per run, the one with most unjudged documents first: how many of these are relevant."""
    older = names[names[0] == newer]
    rows = by_run.sort_values("unjudged", ascending=False, kind="stable")
    return Report(
        [
            Column("Run", rows["name"]),
            Column("Documents", rows["documents"], Digits.COUNT),
            Column("Unjudged", rows["unjudged"], Digits.COUNT),
            Column("Share", rows["unjudged_rate"], Digits.SCORE),
            Column("New", rows["new"], Digits.COUNT),
            Column("New relevant", rows["new_relevant"], Digits.COUNT),
        ],
        caption=(
            f"Of the first {depth:,} documents of each run on each topic: those that {older} does not know, and of "
            f"these the ones that {newer} has judged, and found relevant."
        ),
        notes=["Share: mean over topics of the share that is unjudged.", *_notes(settings)],
    )


def in_words(measure: str, other: str) -> str:
    """Return under which measure the two score: one name, or two where they differ."""
    return measure if measure == other else f"{measure} and {other}"


def _notes(settings: Mapping[str, Any], *, with_intervals: bool = False) -> list[str]:
    notes = [
        f"First: {settings['truth']}; other: {settings['estimate']}.",
        f"Topics: {settings['topics']}. Relevant: {settings['relevant']}.",
    ]
    if with_intervals and INTERVALS in settings:
        notes.append(f"Interval: {settings[INTERVALS]}.")
    return [*notes, f"Beware: {settings[BEWARE]}."] if BEWARE in settings else notes
