"""What significance fidelity comes to, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from pt_reuse._check import count
from pt_reuse._text import ends


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
    """Return what was found, sentence by sentence."""
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
        n = int(row["false_claims"])
        yield (
            f"{about}: {n:,} of the {count(claimed, 'pair')} that {_differ(claimed)} significantly by the judge "
            f"({_share(row, 'false_share')}) {'is a false claim' if n == 1 else 'are false claims'}: not significant "
            "by people."
        )
    else:
        yield f"{about}: no pair of {pairs:,} differs significantly by the judge, so it claims nothing."
    if people:
        n = int(row["missed"])
        yield (
            f"{about}: {n:,} of the {count(people, 'pair')} that {_differ(people)} significantly by people "
            f"({_share(row, 'missed_share')}) {'is' if n == 1 else 'are'} missed: not significant by the judge."
        )
    else:
        yield f"{about}: no pair of {pairs:,} differs significantly by people, so nothing can be missed."
    if row["opposite"]:
        n = int(row["opposite"])
        yield f"{about}: {count(n, 'pair')} {_differ(n)} significantly by both, with opposite winners."


def _differ(n: int) -> str:
    return "differs" if n == 1 else "differ"


def _share(row: Mapping[Any, Any], name: str) -> str:
    between = ends(row, name, ".1%")
    return f"{row[name]:.1%}" + (f", interval {between}" if between else "")


def _percent(share: float) -> str:
    return "" if pd.isna(share) else f" ({share:.1%})"
