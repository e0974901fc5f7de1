"""leaderboard: which ranks of a leaderboard are real, as a page that a phone shows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from pt_reuse._report import Column, Digits
from pt_reuse._text import html_text
from pt_reuse.arrays.significance import CONVENTIONS
from pt_reuse.cards.page import Page, document, facts, table
from pt_reuse.errors import count, per_cent
from pt_reuse.studies.rank_intervals import PAIRWISE, RankIntervals, rank_intervals

_SHOWN = {
    "name": ("System", Digits.TEXT),
    "score": ("Score", Digits.SCORE),
    "rank": ("Rank", Digits.COUNT),
    "rank_low": ("Best", Digits.COUNT),
    "rank_high": ("Worst", Digits.COUNT),
}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Leaderboard(Page):
    """The page of a leaderboard: what :func:`leaderboard` returns.

    Attributes:
        name: of the leaderboard.
        found: the rank intervals, by each convention.
        verdict: how many systems may be the best, what the convention changes, and whose scores these are.
    """

    name: str
    found: RankIntervals
    verdict: list[str]

    @property
    def html(self) -> str:
        """Return the page, which needs no network: a bar for the possible ranks of each system, and the numbers."""
        lines, sections = "".join(f"<p>{html_text(line)}</p>" for line in self.verdict), ""
        for measure in self.found.measures:
            rows = self.found.table[self.found.table["measure"] == measure]
            bars = "".join(_bar(row, len(rows)) for row in rows.to_dict("records"))
            columns = [Column(heading, list(rows[name]), digits) for name, (heading, digits) in _SHOWN.items()]
            place = "".join(letter if letter.isalnum() else "-" for letter in measure.lower())
            caption = f"Possible ranks of {count(len(rows), 'system')} by {measure}."
            numbers = table(columns, caption, place, folded="Table")
            sections += f'<section id="by-{escape(place)}"><h2>{html_text(measure)}</h2>'
            sections += f'<ol class="ranks">{bars}</ol>{numbers}</section>'
        notes = "".join(f'<p class="small">{html_text(note)}</p>' for note in self.found.notes())
        settings = facts((key, str(value)) for key, value in self.found.settings.items())
        methods = f'<section id="methods"><h2>Methods</h2>{notes}{settings}</section>'
        body = f'<div class="verdict">{lines}</div>{sections}{methods}'
        return document(f"{self.name}: which ranks are real", self.name, body, {}, {})

    def __repr__(self) -> str:
        n = len(self.found.table) // max(len(self.found.measures), 1)
        return f"Leaderboard: {self.name}; {count(n, 'system')}; .save('FILE.html') writes the page"

    def __str__(self) -> str:
        return "\n".join([self.name, *self.verdict])


def _bar(row: dict[str, Any], of: int) -> str:
    """Return the line of a system: its name, and a bar from its best to its worst possible rank."""
    left, width = 100 * (row["rank_low"] - 1) / of, 100 * (row["rank_high"] - row["rank_low"] + 1) / of
    ranks = f"{row['rank_low']}" if row["rank_low"] == row["rank_high"] else f"{row['rank_low']} to {row['rank_high']}"
    at = 100 * (row["rank"] - 0.5) / of
    return (
        f'<li value="{row["rank"]}"><span>{html_text(str(row["name"]))}</span> '
        f"<small>rank {row['rank']}, possible {ranks}</small>"
        f'<div class="bar"><i style="left:{left:.2f}%;width:{width:.2f}%"></i>'
        f'<b style="left:{at:.2f}%"></b></div></li>'
    )


def _verdict(found: RankIntervals) -> Iterator[str]:
    """Yield how many systems may be the best by the first convention, what others change, whose scores these are."""
    summary = found.summary()
    first = summary.iloc[0]
    table = found.table[found.table["measure"] == first["measure"]]
    best = int(first["candidates"])
    if best == 1:
        who = f"{table['name'].iloc[0]} is the best of {int(first['systems']):,} systems"
        yield f"{who}, on other such tasks, too, at {per_cent(found.confidence)}."
    else:
        which = f"{best:,} of {count(int(first['systems']), 'system')} may be the best by {first['measure']}"
        yield f"{which}, at {per_cent(found.confidence)}."
    certain = int((table["rank_low"] == table["rank_high"]).sum())
    ranks = f"{count(certain, 'rank')} certain" if certain else "No rank is certain"
    yield f"{ranks}; a system may have {first['mean_width']:.0f} ranks on average."
    pairwise, borda = found.settings["missing"].startswith(PAIRWISE), CONVENTIONS["borda"][0]
    for row in summary.iloc[1:].to_dict("records"):
        votes = ", where a missing score has no votes" if pairwise and row["measure"].endswith(borda) else ""
        yield f"By {row['measure']}, {row['swapped']:.1%} of pairs change places{votes}."
    if pairwise:
        yield "Systems are compared on the tasks of both; a rank counts the better ones, so there may be no rank 1."
    whose = found.settings.get("whose scores")
    if whose:
        yield f"{int(first['systems']):,} of {found.settings['systems']} are ranked; scores: {whose}."
    yield "Tasks are few and chosen: an interval says how much a rank depends on which tasks were taken."


def leaderboard(scores: Any, *, name: str | None = None, **options: Any) -> Leaderboard:
    """Make the page of a leaderboard: between which ranks each system is, and what the convention changes.

    Args:
        scores: what :func:`rank_intervals` takes: Scores, a frame, a table in a file or MTEB's folder of results.
        name: of the leaderboard; default that of the file.
        **options: of :func:`rank_intervals`: ``convention families missing confidence``; here ``missing="pairwise"`` is
            the default.

    Returns:
        Leaderboard: ``.found``, ``.verdict``, ``.html``, ``.save(path)``.

    Raises:
        InputError: as of :func:`rank_intervals`.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> tasks = {"A": [8, 5, 2], "B": [7, 5, 4], "C": [9, 6, 3], "D": [8, 4, 4], "E": [7, 5, 1]}
        >>> board = ptr.leaderboard(pd.DataFrame({"model": ["x", "y", "z"], **tasks}), name="Small")
        >>> print(board.verdict[0])
        x is the best of 3 systems, on other such tasks, too, at 95%.
    """
    found = rank_intervals(scores, **{"missing": "pairwise", **options})
    title = name or (Path(scores).name if isinstance(scores, str | Path) else "Leaderboard")
    return Leaderboard(name=title, found=found, verdict=list(_verdict(found)))
