"""What a paper prints, and says, of prediction-powered scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from pt_reuse._check import count
from pt_reuse._report import Column, Digits, Report, intervals
from pt_reuse._text import ends, with_ends
from pt_reuse.scoring.caveats import BEWARE

#: what the rows of a report may be
ROWS = ("judge", "run", "pair")


def of_summary(summary: pd.DataFrame, settings: Mapping[str, Any], *, level: str) -> Report:
    """Return a report of judges and measures."""
    several = len(set(summary["judge"])) > 1
    names = [f"{m}, {j}" if several else m for j, m in zip(summary["judge"], summary["measure"], strict=True)]
    n, more = _from_to(summary["n"]), _from_to(summary["N"])
    pairs = int(summary["pairs"].iloc[0])
    return Report(
        [
            Column("Measure and judge" if several else "Measure", names),
            Column("Reach, people alone", summary["human_reach"], Digits.SCORE),
            Column("Reach", summary["reach"], Digits.SCORE),
            Column(f"Effective {level}", summary["n_eff"], Digits.TENTHS),
            Column("Pairs, people alone", summary["human_significant"], Digits.COUNT),
            Column("Pairs", summary["significant"], Digits.COUNT),
        ],
        caption=(
            f"Scores by {n} {level} with people's labels and {more} with the judge's alone: half the width of the "
            f"intervals (median over {count(int(summary['runs'].iloc[0]), 'run')}), how many {level} the labels of "
            f"people are worth beside the judge's, and how many of {count(pairs, 'pair')} of runs differ significantly."
        ),
        notes=[
            f"Intervals: {settings['intervals']}.",
            f"Pairs: {settings['pairs']}.",
            *_conventions(settings),
        ],
    )


def of_runs(table: pd.DataFrame, ranks: pd.DataFrame, settings: Mapping[str, Any], *, level: str) -> Report:
    """Return a report of the runs of one judge and measure, the best first."""
    order = table["estimate"].argsort(kind="stable").to_numpy()[::-1]
    rows, places = table.iloc[order], ranks.iloc[order]
    first = table.iloc[0]
    return Report(
        [
            Column("Run", rows["name"]),
            Column("People alone", rows["human"], Digits.SCORE),
            Column("Estimate", rows["estimate"], Digits.SCORE),
            intervals("the estimate", rows["estimate_low"], rows["estimate_high"], Digits.SCORE),
            Column("Rank", places["rank"], Digits.COUNT),
            intervals("the rank", places["rank_low"], places["rank_high"], Digits.COUNT),
        ],
        caption=(
            f"{first['measure']} by {first['n']:,} {level} with people's labels and {first['N']:,} with those of "
            f"{first['judge']} alone, the highest estimate first."
        ),
        notes=[f"Intervals: {settings['intervals']}.", f"Ranks: {settings['pairs']}.", *_conventions(settings)],
    )


def of_pairs(pairs: pd.DataFrame, settings: Mapping[str, Any]) -> Report:
    """Return a report of the pairs of runs of one judge and measure that differ significantly."""
    rows = pairs[pairs["significant"]]
    rows = rows.iloc[rows["difference"].abs().argsort(kind="stable").to_numpy()[::-1]]
    if not len(rows):
        # a report has a row
        rows = pairs.iloc[pairs["p"].argsort(kind="stable").to_numpy()[:1]]
    found = int(pairs["significant"].sum())
    return Report(
        [
            Column("Pair", [f"{a} - {b}" for a, b in zip(rows["first"], rows["second"], strict=True)]),
            Column("People alone", rows["human"], Digits.SCORE),
            Column("Difference", rows["difference"], Digits.SCORE),
            intervals("the difference", rows["difference_low"], rows["difference_high"], Digits.SCORE),
            Column("p, corrected", rows["p_corrected"], Digits.P),
        ],
        caption=(
            f"The {found:,} of {count(len(pairs), 'pair')} of runs that differ significantly, the largest difference "
            "first."
            if found
            else f"None of {count(len(pairs), 'pair')} of runs differs significantly; the one of lowest p."
        ),
        notes=[f"Pairs: {settings['pairs']}; intervals are for each pair alone.", *_conventions(settings)],
    )


def said(
    summary: pd.DataFrame,
    table: pd.DataFrame,
    ranks: pd.DataFrame,
    settings: Mapping[str, Any],
    *,
    level: str,
    confidence: float,
) -> list[str]:
    """Return what was found in sentences."""
    found, several = [], len(set(summary["judge"])) > 1
    for row in summary.to_dict("records"):
        with_judge = f" with {row['judge']}" if several else ""
        key = (table["judge"] == row["judge"]) & (table["measure"] == row["measure"])
        runs, places = table[key], ranks[(ranks["judge"] == row["judge"]) & (ranks["measure"] == row["measure"])]
        measure, judge = row["measure"], row["judge"]
        worth = "" if pd.isna(row["n_eff"]) else f": the {row['n']:,} are worth {row['n_eff']:,.1f} (median)"
        known = (
            "has no interval, which takes two topics"
            if pd.isna(row["reach"])
            else f"is known to ±{row['reach']:.4f}, and by people's labels alone to ±{row['human_reach']:.4f}"
        )
        found.append(
            f"With {row['n']:,} {level} labelled by people and {row['N']:,} by {judge} alone, the {measure} of a run "
            f"{known}{worth}; lambda is {row['lambda']:.2f}."
        )
        if row["pairs"]:
            comma = "," if several else ""
            found.append(
                f"By {measure}{with_judge}{comma} {row['significant']:,} of {count(row['pairs'], 'pair')} of runs "
                f"differ significantly ({settings['pairs']}), {row['human_significant']:,} by people's labels alone; "
                f"the interval of a rank is {row['rank_width']:.1f} ranks wide on average, and "
                f"{row['human_rank_width']:.1f} by people's labels alone."
            )
        best = int(runs["estimate"].to_numpy().argmax())
        run, place = runs.iloc[best].to_dict(), places.iloc[best]
        reach = ends(run, "estimate", ".4f")
        interval = f" ({100 * confidence:.4g} % interval {reach})" if reach else ""
        found.append(
            f"The highest {measure}{with_judge} has {run['name']}: {run['estimate']:.4f}{interval}, rank "
            f"{place['rank_low']} to {place['rank_high']}; by people's labels alone {with_ends(run, 'human', '.4f')}."
        )
        outside = (
            f"{count(row['outside'], 'run')} of {row['runs']:,} would have a score outside of its interval of "
            f"{measure}; "
        )
        found.append(
            f"By the labels of {judge} alone {outside if reach else ''}{run['name']} would have {run['by_judge']:.4f}."
        )
    return [*found, *_beware(settings)]


def _from_to(numbers: pd.Series) -> str:
    """Return the lowest and the highest of whole numbers, or the only one: judges may have labelled other topics."""
    low, high = int(numbers.min()), int(numbers.max())
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _conventions(settings: Mapping[str, Any]) -> list[str]:
    """Return what all numbers hang on, for the notes of a report."""
    return [
        f"Lambda: {settings['lambda']}.",
        f"Labels of people: {settings['human']}; of judges: {settings['judges']}.",
        f"Runs: ranked in the order {settings['order']}.",
        *_beware(settings),
    ]


def _beware(settings: Mapping[str, Any]) -> list[str]:
    return [f"Beware: {settings[BEWARE]}."] if BEWARE in settings else []
