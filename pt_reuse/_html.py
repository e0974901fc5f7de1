"""HTML for notebooks: tables that scroll inside their cell, settings that fold away, every name escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from pt_reuse._text import TextColumn, text_columns, visible

#: a cell up to this length stays on one line, as the table scrolls; a longer one has room for a few words
_SHORT, _ONE_LINE, _SEVERAL = 60, "white-space:nowrap", "min-width:24em"
_SCROLLS = '<div style="overflow-x:auto;max-width:100%">{}</div>'


def headline(title: str, *lines: str) -> str:
    """Return a title in bold, and lines below it."""
    below = "".join(f"<br>{html.escape(visible(line))}" for line in lines)
    return f'<p style="overflow-wrap:anywhere"><b>{html.escape(visible(title))}</b>{below}</p>'


def lines(texts: Iterable[str]) -> str:
    """Return lines below a table."""
    return "".join(f"<p><small>{html.escape(visible(text))}</small></p>" for text in texts)


def folded(settings: Mapping[str, Any]) -> str:
    """Return settings as a list that shows when one asks for it; nothing where there are none."""
    if not settings:
        return ""
    return f"<details><summary>settings</summary>{listed(settings.items())}</details>"


def listed(facts: Iterable[tuple[str, Any]]) -> str:
    """Return facts as a table of two columns."""
    rows = [
        f'<tr><th style="text-align:left">{html.escape(visible(str(name)))}</th>'
        f'<td style="text-align:left">{html.escape(visible(str(value)))}</td></tr>'
        for name, value in facts
    ]
    return _SCROLLS.format(f"<table>{''.join(rows)}</table>")


def table(frame: pd.DataFrame, *, numbers: str = "{:.4f}", most: int | None = None, what: str = "rows") -> str:
    """Return a frame as a table that scrolls sideways, in the words of :func:`pt_reuse._text.table`."""
    shown = frame if most is None else frame.head(most)
    rest = len(frame) - len(shown)
    more = f"... and {rest:,} more {what}" if rest else f"(no {what})" if not len(frame) else ""
    return of_columns(text_columns(shown, numbers)) + (f"<p>{html.escape(more)}</p>" if more else "")


def of_columns(columns: Sequence[TextColumn]) -> str:
    """Return columns as a table that scrolls sideways."""
    sides = ["right" if column.right else "left" for column in columns]
    head = "".join(
        f'<th style="text-align:{side}">{html.escape(column.heading)}</th>'
        for column, side in zip(columns, sides, strict=True)
    )
    rows = [
        "".join(
            f'<td style="text-align:{side};{_ONE_LINE if len(cell) <= _SHORT else _SEVERAL}">{html.escape(cell)}</td>'
            for cell, side in zip(row, sides, strict=True)
        )
        for row in zip(*(column.cells for column in columns), strict=True)
    ]
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return _SCROLLS.format(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")
