"""What a paper prints of an audit of labels: a row per judge, part of the field, run, document or other person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from pt_reuse._check import count, positive
from pt_reuse._report import Column, Digits, Report, intervals
from pt_reuse._text import written
from pt_reuse.arrays.bootstrap import OF_DROPS
from pt_reuse.scoring.caveats import BEWARE

_ENDS = ("low", "high")
#: what the rows of a report can be
ROWS = ("judge", "part", "run", "document", "person")


def of_judges(table: pd.DataFrame, settings: Mapping[str, Any]) -> Report:
    """Return a row per judge and per other person: tau-b with its interval, tau at k, the largest moves.

    Args:
        table: the rows of one measure.
        settings: of the audit.
    """
    rows, best = (table[table["by"] == by] for by in ("all", "best"))
    names = [f"{row.judge} (person)" if row.kind == "people" else row.judge for row in rows.itertuples()]
    columns = [Column("Judge", names), Column("tau-b", rows["tau_b"], Digits.SCORE)]
    if "tau_b_low" in rows:
        columns.append(intervals("tau-b", rows["tau_b_low"], rows["tau_b_high"], Digits.SCORE))
    else:
        columns.append(Column("tau-AP", rows["tau_ap_b"], Digits.SCORE))
    if len(best):
        at_k = best.set_index("judge")["tau_b"].reindex(rows["judge"])
        columns.append(Column(f"Tau at {best['part'].iloc[0].removeprefix('best ')}", at_k, Digits.SCORE))
    columns += [
        Column("Largest drop", rows["max_drop"], Digits.COUNT),
        Column("Largest rise", rows["max_rise"], Digits.COUNT),
    ]
    topics = sorted(set(rows["topics"]))
    over = count(topics[0], "topic") if len(topics) == 1 else f"{topics[0]:,} to {topics[-1]:,} topics"
    return Report(
        columns,
        caption=(
            f"The ranking of {count(int(rows['runs'].max()), 'run')} by {rows['measure'].iloc[0]} under the labels "
            f"of each judge against the one under those of people, over {over}: correlations, and the most "
            "ranks that a run loses or gains."
        ),
        notes=[
            *_notes(settings, with_intervals="tau_b_low" in rows, with_people=bool((rows["kind"] == "people").any())),
            *_of_drops(settings),
        ],
    )


def of_parts(table: pd.DataFrame, judge: str, settings: Mapping[str, Any]) -> Report:
    """Return a row per part of the field: the agreement within it, and how many ranks its runs gain on average.

    Args:
        table: the rows of one measure and judge.
        judge: whose they are.
        settings: of the audit.
    """
    columns = [
        Column("Runs", table["part"]),
        Column("Number", table["runs"], Digits.COUNT),
        Column("tau-b", table["tau_b"], Digits.SCORE),
        Column("Largest drop", table["max_drop"], Digits.COUNT),
        Column("Mean rise", [signed(value, 1) for value in table["mean_rise"]]),
    ]
    if "mean_rise_low" in table:
        low, high = ([signed(value, 1) for value in table[f"mean_rise_{end}"]] for end in _ENDS)
        columns.append(intervals("the rise", low, high, Digits.TEXT))
    return Report(
        columns,
        caption=(
            f"Runs ranked by {table['measure'].iloc[0]} under the labels of {judge} against those of people, within "
            "each part of the field; the mean rise is the number of ranks that its runs gain in the whole field."
        ),
        notes=[*_notes(settings, with_intervals="tau_b_low" in table), *_of_drops(settings)],
    )


def of_runs(movers: pd.DataFrame, judge: str, measure: str, most: int, settings: Mapping[str, Any]) -> Report:
    """Return a row per run that gains or loses most ranks."""
    rows = furthest(movers, most)
    rise = [signed(value, 0) for value in rows["rise"]]
    columns = [
        Column("Run", rows["name"]),
        Column("Score", rows["score"], Digits.SCORE),
        Column("Judge's score", rows["judge_score"], Digits.SCORE),
        Column("Rank", rows["rank"], Digits.COUNT),
        Column("Rise", rise),
    ]
    if "rise_low" in rows:
        low, high = ([signed(value, 0) for value in rows[f"rise_{end}"]] for end in _ENDS)
        columns.append(intervals("the rise", low, high, Digits.TEXT))
    return Report(
        columns,
        caption=(
            f"The runs that gain and lose most ranks by {measure} under the labels of {judge}, of "
            f"{count(len(movers), 'run')}: scores and rank under people, and the ranks gained under {judge}."
        ),
        notes=[*_none_moves(rows["name"].tolist()), *_notes(settings, with_intervals="rise_low" in rows)],
    )


def of_documents(
    movers: pd.DataFrame,
    documents: pd.DataFrame,
    judge: str,
    measure: str,
    most: int,
    settings: Mapping[str, Any],
) -> Report:
    """Return a row per document that does most for the runs that gain or lose most."""
    names = furthest(movers, most)["name"].tolist()
    parts = [documents[documents["name"] == name].head(most) for name in names]
    rows = pd.concat(parts, ignore_index=True) if parts else documents.head(0)
    rank = [None if pd.isna(value) else int(value) for value in rows["rank"]]
    labels = [
        f"{label} / {'-' if pd.isna(theirs) else theirs}"
        for label, theirs in zip(rows["label"], rows["judge_label"], strict=True)
    ]
    words = settings.get(f"documents, {measure}")
    return Report(
        [
            Column("Run", rows["name"]),
            Column("Topic", rows["qid"]),
            Column("Document", rows["docno"]),
            Column("People / judge", labels),
            Column("At rank", pd.Series(rank, dtype=object), Digits.COUNT),
            Column("Effect", [signed(value, 5) for value in rows["effect"]]),
        ],
        caption=(
            f"The documents that do most for the runs that gain and lose most ranks by {measure} under the labels of "
            f"{judge}: both labels, and what the judge's adds to the run's mean score beyond what it adds to that of "
            "all runs on average."
        ),
        notes=[
            *_none_moves(names),
            *([f"Effect: {words}."] if words else []),
            *_notes(settings, with_intervals=False),
        ],
    )


def of_people(
    beside: pd.DataFrame, yardstick: pd.DataFrame, judge: str, measure: str, settings: Mapping[str, Any]
) -> Report:
    """Return a row per other person: the judge's tau-b and the person's on the same documents, and all in the last.

    Args:
        beside: the rows of one judge and measure.
        yardstick: the same over all people.
        judge: whose they are.
        measure: by which runs are scored.
        settings: of the audit.
    """
    last = yardstick.rename(columns={"people_tau_b": "person_tau_b"}).assign(
        person="all, mean", topics=float("nan"), documents=float("nan")
    )
    rows = pd.concat([beside.astype({"topics": float, "documents": float}), last[list(beside.columns)]])
    columns = [
        Column("Person", rows["person"]),
        Column("Topics", rows["topics"], Digits.COUNT),
        Column("Judge's tau-b", rows["tau_b"], Digits.SCORE),
        Column("Person's tau-b", rows["person_tau_b"], Digits.SCORE),
        Column("Difference", [signed(value, 4) for value in rows["difference"]]),
    ]
    if "difference_low" in rows:
        low, high = ([signed(value, 4) for value in rows[f"difference_{end}"]] for end in _ENDS)
        columns.append(intervals("the difference", low, high, Digits.TEXT))
    return Report(
        columns,
        caption=(
            f"How far the ranking by {measure} under {judge} agrees with the one under people, and how far those under "
            "other people do, on the documents that each of them labelled."
        ),
        notes=[
            *_notes_of_mean(beside, yardstick),
            *_notes(settings, with_intervals="difference_low" in rows),
        ],
    )


def _notes_of_mean(beside: pd.DataFrame, yardstick: pd.DataFrame) -> list[str]:
    notes = ["Mean: each person counts alike."]
    if "difference_low" in beside:
        notes.append(
            "Topics are drawn for all people at once; a draw without a topic of a person is left out of the "
            "intervals of this person and of the mean."
        )
    if len(yardstick) and yardstick["people"].iloc[0] < len(beside):
        notes.append("Where all runs tie there is no ranking: such a person is no part of the mean.")
    if "difference_low" in beside and (beside["topics"] == 1).any():
        notes.append(
            "Of a person with one topic there is no interval, and none of a mean that such a person is part of."
        )
    return notes


def _none_moves(names: Sequence[str]) -> list[str]:
    """Return why a table of the runs that move furthest is empty, nothing where it is not."""
    return [] if names else ["No run: each has the rank that people give it."]


def signed(value: float, decimals: int) -> str | None:
    """Return a difference with its sign, ``+1.4``; without one where it rounds to 0, None where it is missing."""
    return None if value != value else written(value, f"+,.{decimals}f")


def furthest(movers: pd.DataFrame, most: int) -> pd.DataFrame:
    """Return the runs that gain most ranks, then those that lose most, each once, without those that stay."""
    n = positive("most", most, "runs")
    up, down = movers[movers["rise"] > 0].head(n), movers[movers["rise"] < 0].tail(n)
    return pd.concat([up, down])


def _notes(settings: Mapping[str, Any], *, with_intervals: bool, with_people: bool = False) -> list[str]:
    notes = [f"Missing: {settings['missing']}."]
    if with_people:
        notes.append("A person is compared on the documents that this person labelled, which are others.")
    if with_intervals:
        notes.append(f"Interval: {settings['intervals']}.")
    return [*notes, f"Beware: {settings[BEWARE]}."] if BEWARE in settings else notes


def _of_drops(settings: Mapping[str, Any]) -> list[str]:
    # without intervals, and in a result of an earlier version, nothing is said
    return [f"{name.capitalize()}: {settings[name]}." for name in OF_DROPS if name in settings]
