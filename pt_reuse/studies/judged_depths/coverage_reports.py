"""What a paper prints of coverage: a row per run, per team or type, or per topic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from pt_reuse._check import choice, count
from pt_reuse._errors import door
from pt_reuse._report import Column, Digits, Report
from pt_reuse.scoring.caveats import BEWARE
from pt_reuse.scoring.measures import MeasureLike, measure_among
from pt_reuse.studies.judged_depths.unjudged_documents import UnjudgedDocuments

#: what the rows of a report can be
_ROWS = ("run", "team", "type", "topic")
#: columns of shares that a report of groups has room for
_DEPTHS = 4


class CoverageReports:
    """Reports the tables of a ``Coverage``, which has the attributes that are named here."""

    by_run: pd.DataFrame
    condensed: pd.DataFrame
    groups: pd.DataFrame
    by_topic: pd.DataFrame
    counts: UnjudgedDocuments
    measures: list[str]
    at: int
    p: float
    left_out: str | None
    settings: Mapping[str, Any]

    @door
    def report(self, by: str = "run", *, measure: MeasureLike | None = None) -> Report:
        """Return what a paper prints.

        Args:
            by: the rows: each ``"run"`` (default), the one with the largest residual first: unjudged at the depth
                `at`, the same without its own team where that is known, the rank to which it is judged in the median,
                its residual and the ranks it gains on condensed lists; each ``"type"`` or ``"team"`` with its share of
                unjudged documents at up to four depths; each ``"topic"``.
            measure: the one by which runs rise; default the first.
        """
        choice("by", by, _ROWS)
        name = measure_among(self.measures, measure)
        if by == "run":
            return _per_run(self, name)
        return _per_topic(self) if by == "topic" else _per_group(self, by)


def _per_run(result: CoverageReports, measure: str) -> Report:
    """Return a row per run, the one with the largest residual first."""
    rise = result.condensed[result.condensed["measure"] == measure].set_index("name")["rise"]
    rows = result.by_run.sort_values("residual", ascending=False, kind="stable")
    without, what = [], ""
    if result.left_out is not None:
        own = "itself" if result.left_out == "run" else f"its own {result.left_out}"
        without = [Column(f"Without {own}", rows["unjudged_without_own"], Digits.SCORE)]
        what = f"the same had {own} not been in the pool, "
    return Report(
        [
            Column("Run", rows["name"]),
            Column(f"Unjudged at {result.at}", rows["unjudged"], Digits.SCORE),
            *without,
            Column("Judged to rank", rows["median_judged_to"], Digits.COUNT),
            Column("Residual", rows["residual"], Digits.SCORE),
            Column("Rise", rise.loc[rows["name"]], Digits.COUNT),
        ],
        caption=(
            f"How far the judgments cover {count(len(rows), 'run')}: the share of unjudged documents down to rank "
            f"{result.at}, {what}the rank to which a list is judged without a gap (median over topics), the residual "
            f"of RBP (p = {result.p:g}), and the ranks gained by {measure} when unjudged documents are dropped from "
            "all lists."
        ),
        notes=_notes(result),
    )


def _per_group(result: CoverageReports, by: str) -> Report:
    """Return a row per team or type: the mean share of unjudged documents of its runs at some depths."""
    depths = list(result.counts.cutoffs)
    shown = depths if len(depths) <= _DEPTHS else [depths[round(i * (len(depths) - 1) / 3)] for i in range(_DEPTHS)]
    rows = result.groups[result.groups["by"] == by]
    wide = rows.pivot_table(index="group", columns="depth", values="unjudged", sort=False)
    runs = rows.drop_duplicates("group").set_index("group")["runs"]
    groups = list(wide.index)
    return Report(
        [
            Column(by.capitalize(), groups),
            Column("Runs", [int(runs[group]) for group in groups], Digits.COUNT),
            *(Column(f"Unjudged at {k}", wide[k], Digits.SCORE) for k in shown if k in wide),
        ],
        caption=f"The share of unjudged documents down to a rank, the mean over the runs of each {by}.",
        notes=_notes(result),
    )


def _per_topic(result: CoverageReports) -> Report:
    """Return a row per topic, the one with most unjudged documents first."""
    rows = result.by_topic[result.by_topic["depth"] == result.at]
    rows = rows.sort_values("unjudged", ascending=False, kind="stable")
    return Report(
        [
            Column("Topic", rows["qid"]),
            Column("Runs", rows["runs"], Digits.COUNT),
            Column(f"Unjudged at {result.at}", rows["unjudged"], Digits.SCORE),
            Column("Of the worst run", rows["max_unjudged"], Digits.SCORE),
            Column("All runs judged to", rows["judged_to"], Digits.COUNT),
        ],
        caption=(
            f"The share of unjudged documents down to rank {result.at} on each topic, the mean over runs and that of "
            "the worst run, and the rank to which every run is judged."
        ),
        notes=_notes(result),
    )


def _notes(result: CoverageReports) -> list[str]:
    settings = result.settings
    topics = "all topics" if settings["complete"] else "the topics that a run has"
    said = (
        "Judged is a label of at least 0; shares are of the documents returned, and 1 where a run returns none; means "
        f"are over {topics}; documents are ranked in the order {settings['order']}."
    )
    return [said, f"Beware: {settings[BEWARE]}."] if BEWARE in settings else [said]
