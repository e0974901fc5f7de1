"""What circularity comes to, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from pt_reuse._check import count
from pt_reuse._text import with_ends

Row = Mapping[Any, Any]


def gains_of(table: pd.DataFrame) -> Iterator[str]:
    """Yield in a line what runs gain by a judge's labels, judge by judge and measure by measure."""
    for own, people, _ in _by_judge(table):
        yield (
            f"{own['measure']} of runs re-ranked by {own['judge']}: {own['mean_gain']:+.4f} by {own['judge']}, "
            f"{people['mean_gain']:+.4f} by people"
        )


def findings_of(table: pd.DataFrame, rankings: pd.DataFrame, *, depth: int, best: int) -> list[str]:
    """Return what was found, sentence by sentence."""
    found = []
    for own, people, others in _by_judge(table):
        about = f"{own['judge']}, {own['measure']}"
        if not any(row["gaining"] or row["losing"] for row in (own, people, *others)):
            found.append(
                f"{about}: sorting the first {count(depth, 'document')} of each run by the judge's labels changes the "
                f"score of no run, whoever scores: {own['measure']} does not depend on the order of these documents, "
                "or they stand in this order already."
            )
            continue
        found.append(
            f"{about}: sorting the first {count(depth, 'document')} of each run by the judge's labels changes the "
            f"mean score by {_told(own, 'mean_gain')} under the judge itself and by {_told(people, 'mean_gain')} under "
            f"people. The difference is {_told(own, 'excess_gain')}{_meant(own)}."
        )
        if others:
            least, most = (pick(others, key=lambda row: row["mean_gain"]) for pick in (min, max))
            between = (
                f"by {_told(least, 'mean_gain')} under {least['scorer']}"
                if len(others) == 1
                else f"under other judges by {least['mean_gain']:+.4f} ({least['scorer']}) to {most['mean_gain']:+.4f} "
                f"({most['scorer']})"
            )
            found.append(f"{about}: the same sorting changes the mean score {between}.")
        found.append(
            f"{about}: a re-ranked run gains {own['mean_rise']:+.1f} ranks on average by the judge and "
            f"{people['mean_rise']:+.1f} by people; of the {best:,} best of all runs, as they were and re-ranked, "
            f"{_in_best(own)} by the judge and {_in_best(people)} by people are re-ranked."
        )
        mine = rankings[(rankings["judge"] == own["judge"]) & (rankings["measure"] == own["measure"])]
        taus = {row["field"]: row for row in mine[mine["same"]].to_dict("records")}
        if not pd.isna(taus["both"]["tau_b"]):
            found.append(
                f"{about}: tau_b of the judge's ranking with people's is {_told(taus['original'], 'tau_b', '.4f')} of "
                f"the runs as they were, {_told(taus['re-ranked'], 'tau_b', '.4f')} if every run is re-ranked, and "
                f"{_told(taus['both'], 'tau_b', '.4f')} of both together; of the {best:,} best of these by people "
                f"{_told(taus['both'], 'tau_b_best', '.4f')}."
            )
    return found


def _by_judge(table: pd.DataFrame) -> Iterator[tuple[Row, Row, list[Row]]]:
    """Yield of each judge and measure the row of the judge itself, of people, and of the other judges."""
    for _, part in table.groupby(["judge", "measure"], sort=False):
        rows: list[Row] = list(part.to_dict("records"))
        own = next(row for row in rows if row["same"])
        # people come first
        yield own, rows[0], [row for row in rows[1:] if not row["same"]]


def _meant(own: Row) -> str:
    """Return what the difference between the judge and people says, where it has an interval."""
    low, high = own.get("excess_gain_low"), own.get("excess_gain_high")
    if low is None or high is None or pd.isna(low):
        return ""
    if low > 0:
        return ": the judge rewards what it ranked itself"
    if high < 0:
        return ": people reward it more than the judge"
    return "" if low == high else ", which may be chance"


def _in_best(row: Row) -> str:
    return f"{int(row['reranked_in_best']):,} of {int(row['reranked_in_best'] + row['originals_in_best']):,}"


def _told(row: Row, name: str, digits: str = "+.4f") -> str:
    return with_ends(row, name, digits)
