"""What pages are made of: one file of HTML that asks nothing of a network, every name escaped."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from pt_reuse._files import check_writable, checked_path, replacing
from pt_reuse._report import Column, Digits
from pt_reuse._text import Printed, html_text, is_missing
from pt_reuse._version import __version__
from pt_reuse.cards import figures
from pt_reuse.cards.questions import Verdict
from pt_reuse.errors import flag

_ANSWERS = {verdict.value: verdict.name.lower() for verdict in Verdict}  # answer -> the class of its colour


class Page(Printed):
    """What is shown as a page of HTML that needs no network."""

    @property
    @abstractmethod
    def html(self) -> str:
        """Return the page."""

    def save(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write the page.

        Args:
            path: the file, such as ``"dl21.html"``.
            overwrite: replace a file that exists already; default is an error.

        Returns:
            Path: the file.

        Raises:
            InputError: a file that exists, a folder that cannot be written to, or no library for figures.
        """
        file = checked_path(path)
        check_writable(file.parent, [file.name], overwrite=flag("overwrite", overwrite), argument="path")
        page = self.html.encode("utf-8", "surrogateescape")
        file.parent.mkdir(parents=True, exist_ok=True)
        with replacing(file) as written:
            written.write(page)
        return file


def document(title: str, heading: str, body: str, drawn: Mapping[str, Any], runs: Mapping[str, Any]) -> str:
    """Return a whole page, which nothing but its own scripts runs in."""
    scripts = [figures.bundle()] if drawn else []
    scripts = [script.replace("</script", r"<\/script") for script in (*scripts, _asset("page.js"))]
    digests = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    hashes = " ".join(f"'sha256-{digest}'" for digest in digests)
    policy = f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data: blob:"
    titles = re.findall(r'<section id="([\w-]+)"><h2>(.*?)</h2>', body)
    links = "".join(f'<li><a href="#{name}">{said}</a></li>' for name, said in titles)
    nav = f'<nav aria-label="Sections"><ul>{links}</ul></nav>' if links else ""
    data = "".join(_json(name, spec) for name, spec in {"runs": runs, **drawn}.items())
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="color-scheme" content="light dark"><title>{html_text(title)}</title>'
        f"<style>{_asset('page.css')}</style></head><body>"
        f'<a class="skip" href="#main">Skip to the content</a><header><h1>{html_text(heading)}</h1></header>{nav}'
        f'<main id="main">{body}</main><p id="said" role="status"></p>'
        f"<footer><p>Made with pt_reuse {__version__}.</p></footer>{data}"
        f"{''.join(f'<script>{script}</script>' for script in scripts)}</body></html>"
    )


def table(
    columns: Sequence[Column],
    caption: str,
    name: str,
    *,
    runs: bool = False,
    folded: str = "",
    links: Mapping[str, str] | None = None,
) -> str:
    """Return a table that sorts and downloads, folded below a title; `name` is that of its file.

    `links` are where the names of rows lead. Paper has no table of runs.
    """
    heads = ((_side(column), html_text(column.heading)) for column in columns)
    head = "".join(f'<th scope="col"{side}><button type="button">{each}</button></th>' for side, each in heads)
    cells = [column.cells() for column in columns]
    body = []
    for at in range(len(cells[0])):
        run = f' data-run="{escape(str(columns[0].values[at]))}"' if runs else ""
        row = [_cell(column, cells[n][at], column.values[at], first=n == 0) for n, column in enumerate(columns)]
        if link := (links or {}).get(str(columns[0].values[at])):
            row[0] = row[0].replace(html_text(cells[0][at]), f'<a href="{escape(link)}">{html_text(cells[0][at])}</a>')
        body.append(f"<tr{run}>{''.join(row)}</tr>")
    whole = scrolled(html_text(name), html_text(caption), html_text(caption), head, "".join(body))
    kind = ' class="runs"' if runs else ""
    return f"<details{kind}><summary>{html_text(folded)}</summary>{whole}</details>" if folded else whole


def scrolled(name: str, label: str, caption: str, head: str, body: str, kind: str = "") -> str:
    """Return a table of HTML that is within its place, with a button that downloads it."""
    return (
        f'<div class="table"><button type="button" class="csv" data-name="{name}">Download CSV</button>'
        f'<div class="scroll" tabindex="0" role="region" aria-label="{label}"><table{kind}><caption><span>{caption}'
        f"</span></caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div></div>"
    )


def _cell(column: Column, shown: str, value: Any, *, first: bool) -> str:
    raw = "" if column.digits is Digits.TEXT or is_missing(value) else f' data-v="{float(value):.10g}"'
    tag, scope = ("th", ' scope="row"') if first else ("td", "")
    text = html_text(shown) if value not in _ANSWERS else answer(str(value), shown)
    return f"<{tag}{scope}{_side(column)}{raw}>{text}</{tag}>"


def answer(said: str, words: str) -> str:
    """Return the words of an answer in its colour."""
    return f'<b class="{_ANSWERS[said]}">{html_text(words)}</b>'


def _side(column: Column) -> str:
    return "" if column.digits is Digits.TEXT else ' class="n"'


def slug(text: str) -> str:
    """Return a text as the name of a place on the page."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _asset(name: str) -> str:
    return (files("pt_reuse.cards") / name).read_text(encoding="utf-8")


def _json(name: str, value: Any) -> str:
    # no name of a run ends the script that it stands in
    text = json.dumps(value, separators=(",", ":")).replace("<", r"\u003c")
    return f'<script type="application/json" id="data-{name}">{text}</script>'


def section(title: str, body: str) -> str:
    """Return a section with its heading."""
    return f'<section id="{slug(title)}"><h2>{html_text(title)}</h2>{body}</section>'


def facts(named: Iterable[tuple[str, str]]) -> str:
    """Return names with what they are."""
    rows = "".join(f"<dt>{html_text(name)}</dt><dd>{html_text(value)}</dd>" for name, value in named)
    return f"<dl>{rows}</dl>"
