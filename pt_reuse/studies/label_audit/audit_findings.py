"""An audit of labels in sentences, each with its number and its interval."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from pt_reuse._check import count
from pt_reuse._text import ends, with_ends
from pt_reuse.studies.label_audit.audit_reports import signed
from pt_reuse.studies.label_audit.label_agreement import LabelAgreement


def all_findings(
    table: pd.DataFrame,
    movers: pd.DataFrame,
    documents: pd.DataFrame,
    yardstick: pd.DataFrame,
    labels: LabelAgreement,
) -> list[str]:
    """Return what an audit found; the arguments are tables of a LabelAudit."""
    rankings: list[str] = []
    beside: list[str] = []
    groups: list[str] = []
    moves: list[str] = []
    for judge in dict.fromkeys(table.loc[table["kind"] == "model", "judge"]):
        for measure in dict.fromkeys(table["measure"]):
            ranked, people, runs, causes = (_of(each, judge, measure) for each in (table, yardstick, movers, documents))
            rankings += _of_ranking(judge, measure, ranked)
            beside += _of_people(judge, measure, people)
            groups += _of_groups(judge, measure, ranked)
            moves += _of_movers(judge, measure, runs, causes, _bounds(labels, judge)) if _is_ranked(ranked) else []
    # a kind of number stands together, so that judges can be read beside each other
    found = [*rankings, *beside, *groups, *moves, *labels.findings()]
    if not len(yardstick):
        found.append(
            "There are no labels of other people here, so that nothing says whether another person would do better "
            "than the judge."
        )
    return found


def _of(table: pd.DataFrame, judge: str, measure: str) -> pd.DataFrame:
    return table[(table["judge"] == judge) & (table["measure"] == measure)]


def _is_ranked(table: pd.DataFrame) -> bool:
    """Return whether there are two rankings: where all runs tie, none moves."""
    return bool(table.loc[table["by"] == "all", "tau_b"].notna().all())


def _bounds(labels: LabelAgreement, judge: str) -> tuple[int, int]:
    """Return the lowest labels that are relevant, of people and of a judge."""
    row = labels.bounds[labels.bounds["judge"] == judge].iloc[0]
    return int(row["rel"]), int(row["judge_rel"])


def _of_ranking(judge: str, measure: str, table: pd.DataFrame) -> Iterator[str]:
    row = table[table["by"] == "all"].iloc[0].to_dict()
    if np.isnan(row["tau_b"]):
        yield f"{judge}: by {measure} all runs tie under people or under the judge, so that there is no ranking."
        return
    at_k = ""
    for best in table[(table["by"] == "best") & table["tau_b"].notna()].to_dict("records"):
        at_k = f"; among the {best['part']} it is {with_ends(best, 'tau_b', '.4f')}"
    yield (
        f"{judge} ranks {count(int(row['runs']), 'run')} by {measure} on {count(int(row['topics']), 'topic')} with "
        f"tau_b {with_ends(row, 'tau_b', '.4f')} to the ranking by people{at_k}."
    )


def _of_people(judge: str, measure: str, yardstick: pd.DataFrame) -> Iterator[str]:
    for row in yardstick.to_dict("records"):
        if not row["people"]:
            yield (
                f"{judge}: on the documents of other people all runs tie by {measure} under people, under the judge or "
                "under them, so that there is no ranking to compare."
            )
            continue
        people = f"{count(row['people'], 'other person')}, who reach{'es' * (row['people'] == 1)}"
        verdict = ""
        if "difference_low" in row and not np.isnan(row["difference_low"]):
            if row["difference_low"] > 0:
                verdict = " So it is nearer to these people than the others are."
            elif row["difference_high"] < 0:
                verdict = " So it is further from these people than the others are."
            else:
                verdict = " So the two are not told apart."
        yield (
            f"{judge} reaches tau_b {row['tau_b']:.4f} by {measure} on the documents of {people} "
            f"{row['people_tau_b']:.4f}: a difference of {with_ends(row, 'difference', '+,.4f')}.{verdict}"
        )


def _of_groups(judge: str, measure: str, table: pd.DataFrame) -> Iterator[str]:
    for row in table[~table["by"].isin(["all", "best"])].to_dict("records"):
        if not row["mean_rise"]:
            continue
        moves = "gain" if row["mean_rise"] > 0 else "lose"
        yield (
            f"{judge}: the {count(row['runs'], 'run')} of {row['by']} {row['part']} {moves}{'s' * (row['runs'] == 1)} "
            f"{abs(row['mean_rise']):.1f} ranks by {measure} on average{_rise_ends(row, 'mean_rise')}."
        )


def _of_movers(
    judge: str, measure: str, movers: pd.DataFrame, documents: pd.DataFrame, bounds: tuple[int, int]
) -> Iterator[str]:
    moved = movers[movers["rise"] != 0]
    if not len(moved):
        yield f"{judge}: by {measure} every run has the rank that people give it."
        return
    for row, way in ((movers.iloc[0], "gains"), (movers.iloc[-1], "loses")):
        if (row["rise"] > 0) != (way == "gains") or row["rise"] == 0:
            continue
        # a run may move since others do
        mine = documents[documents["name"] == row["name"]]
        yield (
            f"{judge}: by {measure} run {row['name']} {way} most, {count(abs(int(row['rise'])), 'rank')}"
            f"{_rise_ends(row.to_dict(), 'rise')}, from {row['rank']:,} to {row['judge_rank']:,}; its score changes by "
            f"{signed(row['change'], 4)}, {signed(row['relative'], 4)} beyond the mean run.{_document(mine, bounds)}"
        )


def _document(mine: pd.DataFrame, bounds: tuple[int, int]) -> str:
    if not len(mine):
        return ""
    row = mine.iloc[0]
    people, theirs = (_label(row[name], bounds, at) for at, name in enumerate(("label", "judge_label")))
    where = "which it has not" if pd.isna(row["rank"]) else f"at rank {row['rank']:,}"
    return (
        f" The document that does most is {row['docno']} of topic {row['qid']}, {where} (people {people}, "
        f"the judge {theirs}): {signed(row['effect'], 5)}."
    )


def _label(label: int, bounds: tuple[int, int], at: int) -> str:
    """Return a label in words; where the same number is relevant on one scale alone, whether it is relevant."""
    if pd.isna(label):
        return "no label"
    if bounds[0] == bounds[1]:
        return f"label {label}"
    return f"label {label}, {'relevant' if label >= bounds[at] else 'not relevant'}"


def _rise_ends(row: Mapping[Any, Any], name: str) -> str:
    """Return the interval of ranks gained, with signs, since an end may be on the other side of 0."""
    between = ends(row, name, "+,.0f" if name == "rise" else "+,.1f")
    return f" ({between} ranks gained)" if between else ""
