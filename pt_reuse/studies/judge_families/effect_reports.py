"""What a paper prints of the effects of judges on families of runs, and what they say in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from pt_reuse._check import count
from pt_reuse._report import Column, Digits, Report, intervals
from pt_reuse._text import with_ends
from pt_reuse.scoring.agreement import INTERVALS
from pt_reuse.scoring.caveats import BEWARE
from pt_reuse.studies.judge_families.gains import ALONE, MATCHED, OTHERS

_DIGITS = {"rank": Digits.PLACES, "score": Digits.SCORE}


def of_cells(others: pd.DataFrame, matched: pd.DataFrame, measure: str, of: str, settings: Mapping[str, Any]) -> Report:
    """Return a row per judge and family.

    Args:
        others: the effects against all other runs.
        matched: the same cells among matched runs.
        measure: by which runs are scored.
        of: ``"rank"`` or ``"score"``.
        settings: of the result.
    """
    digits, name = _DIGITS[of], f"{of}_effect"
    cells = [
        f"{row.judge}: {row.family}{' (own)' if row.own else ''}"
        for row in others[["judge", "family", "own"]].itertuples(index=False)
    ]
    columns = [Column("Judge: family", cells), Column("Effect", others[name], digits)]
    ends = f"{name}_low" in others
    if ends:
        columns.append(intervals("effect", others[f"{name}_low"], others[f"{name}_high"], digits))
    columns.append(Column("Matched", matched[name], digits))
    if ends:
        columns.append(intervals("matched", matched[f"{name}_low"], matched[f"{name}_high"], digits))
    unmatched = int(matched["unmatched"].sum())
    sizes = dict(zip(others["family"], others["runs"], strict=True))
    what = "ranks gained" if of == "rank" else "score gained at equal scores by people"
    return Report(
        columns,
        caption=(
            f"What judges make of families of runs by {measure}, beside people: mean {what} by the runs of a family, "
            "less that of all other runs (effect), and less that of runs that people score alike (matched)."
        ),
        notes=[
            f"Runs: {', '.join(f'{family} {n:,}' for family, n in sizes.items())}.",
            f"Matched within {settings['matched within']}; {count(unmatched, 'run')} in all rows without a match.",
            *([f"Intervals: {settings[INTERVALS]}."] if ends else []),
            *([f"Beware: {settings[BEWARE]}."] if BEWARE in settings else []),
        ],
    )


def effect_in_words(row: Mapping[str, Any], of: str) -> str:
    """Return an effect with its interval: ``+4.41 (+2.10 to +6.72)``."""
    return with_ends(row, f"{of}_effect", "+.2f" if of == "rank" else "+.4f")


def sentences(table: pd.DataFrame, n_runs: int) -> list[str]:
    """Return what was found in sentences."""
    found: list[str] = []
    for measure, rows in table.groupby("measure", sort=False):
        for _, of_judge in rows.groupby("judge", sort=False):
            found.extend(_of_judge(of_judge, str(measure), n_runs))
        found.extend(_of_all(rows, str(measure)))
    return found


def _of_judge(rows: pd.DataFrame, measure: str, n_runs: int) -> Iterator[str]:
    """Yield a sentence on each own family of a judge, else on the one on which its effect is largest."""
    cells = rows[rows["against"] == OTHERS]
    shown = cells[cells["own"]]
    which = "its own family, {},"
    if shown.empty:
        shown = cells.iloc[[int(cells["rank_effect"].abs().to_numpy().argmax())]]
        which = "family {}" if len(cells) == 1 else "family {}, which it moves most,"
    for cell in shown.to_dict("records"):
        same = rows[rows["family"] == cell["family"]].set_index("against")
        near, runs = same.loc[MATCHED].to_dict(), count(int(cell["runs"]), "run")
        whose = which.format(cell["family"])
        text = (
            f"Under the labels of {cell['judge']} the mean gain of the {runs} of {whose} over the other "
            f"{n_runs - int(cell['runs']):,} by {measure} is {effect_in_words(cell, 'rank')} ranks"
        )
        if near["runs"]:
            of = f"{int(near['runs']):,} of {int(cell['runs']):,} matched"
            text += f", and {effect_in_words(near, 'rank')} over runs that people score alike ({of})"
        else:
            text += "; no other run is scored alike by people"
        if not pd.isna(cell["score_effect"]):
            text += f". At equal scores by people it is {effect_in_words(cell, 'score')} in the score"
        yield f"{text}."


def _of_all(rows: pd.DataFrame, measure: str) -> Iterator[str]:
    """Yield in how many cells the interval leaves out 0."""
    if "rank_effect_low" not in rows:
        return
    cells = rows[rows["against"] == ALONE]
    known = cells[cells["rank_effect_low"].notna()]
    if len(known) < 2:
        return
    off = int(((known["rank_effect_low"] > 0) | (known["rank_effect_high"] < 0)).sum())
    yield (
        f"In {off:,} of {len(known):,} pairs of a judge and a family the interval of the ranks gained by {measure} "
        "leaves out 0; the intervals are not corrected for the number of pairs."
    )
