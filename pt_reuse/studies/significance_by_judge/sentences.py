"""What significance fidelity comes to, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from pt_reuse._check import count


def claims(row: Mapping[Any, Any]) -> str:
    """Return in a line what a judge claims by a measure."""
    told = f"{row['measure']} by {row['judge']}: "
    if row["untested"] == row["pairs"]:
        return f"{told}no test of {count(row['pairs'], 'pair')}"
    claimed, found = int(row["judge_significant"]), int(row["human_significant"])
    return (
        f"{told}{int(row['false_claims']):,} of {count(claimed, 'claim')} false{_percent(row['false_share'])}, "
        f"{int(row['missed']):,} of {found:,} missed{_percent(row['missed_share'])}"
    )


def findings_of(table: pd.DataFrame, *, alpha: float, corrected: bool) -> list[str]:
    """Return what was found, sentence by sentence.

    Args:
        table: of a :class:`~pt_reuse.SignificanceFidelity`.
        alpha: the level of significance.
        corrected: whether p-values allow for the number of pairs.
    """
    found = [sentence for row in table.to_dict("records") for sentence in _of_judge(row)]
    untested = table["untested"] == table["pairs"]
    if not corrected and not untested.all():
        found.append(
            f"The tests are not corrected for the number of pairs: of pairs of equal runs {100 * alpha:.4g} in 100 "
            "would be significant by chance, by people as by a judge."
        )
    return found


def _of_judge(row: Mapping[Any, Any]) -> Iterator[str]:
    about, pairs = f"{row['judge']}, {row['measure']}", int(row["pairs"])
    if row["untested"] == pairs:
        yield f"{about}: no pair was tested, since there are fewer than two topics."
        return
    claimed, people = int(row["judge_significant"]), int(row["human_significant"])
    if claimed:
        yield (
            f"{about}: of {count(claimed, 'pair')} that {_differ(claimed)} significantly by the judge, "
            f"{int(row['false_claims']):,} ({_share(row, 'false_share')}) {_do(row['false_claims'])} not by people: "
            "these are false claims."
        )
    else:
        yield f"{about}: no pair of {pairs:,} differs significantly by the judge, so it claims nothing."
    if people:
        yield (
            f"{about}: of {count(people, 'pair')} that {_differ(people)} significantly by people, "
            f"{int(row['missed']):,} ({_share(row, 'missed_share')}) {_do(row['missed'])} not by the judge: these "
            "are missed."
        )
    else:
        yield f"{about}: no pair of {pairs:,} differs significantly by people, so nothing can be missed."
    if row["opposite"]:
        n = int(row["opposite"])
        yield f"{about}: {count(n, 'pair')} {_differ(n)} significantly by both, with opposite winners."


def _differ(n: int) -> str:
    return "differs" if n == 1 else "differ"


def _do(n: float) -> str:
    return "does" if n == 1 else "do"


def _share(row: Mapping[Any, Any], name: str) -> str:
    said = f"{row[name]:.1%}"
    low, high = row.get(f"{name}_low"), row.get(f"{name}_high")
    if low is None or high is None or pd.isna(low):
        return said
    return f"{said}, interval {low:.1%} to {high:.1%}"


def _percent(share: float) -> str:
    return "" if pd.isna(share) else f" ({share:.1%})"
