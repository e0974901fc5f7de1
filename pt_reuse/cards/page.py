"""The page of a card: one file of HTML that asks nothing of a network, every name escaped."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import pandas as pd

from pt_reuse._report import Column, Digits
from pt_reuse._text import html_text, is_missing
from pt_reuse._version import __version__
from pt_reuse.cards import figures
from pt_reuse.cards.opening import CITATION
from pt_reuse.cards.parts import AT_EQUAL_DEPTH, Part
from pt_reuse.cards.questions import Verdict
from pt_reuse.result import Result
from pt_reuse.study import studies, study_of

if TYPE_CHECKING:
    from pt_reuse.cards.card import Card

_SHORT = 12  # rows that are shown without being asked for
_RUN = ("Run", "System")  # headings of the column that names a run
_ANSWERS = {verdict.value: verdict.name.lower() for verdict in Verdict}  # answer -> the class of its colour
METHODS = (
    "Each section is a study of the Python package pt_reuse {version} and repeats what the study says: the answer, "
    "when it holds, and what it does not say. Measures: {measures}; {main} is the main one. Relevant: label of at "
    "least {rel}. Intervals are at 95%, from {resamples:,} resamples of the topics where a study has any (100 of swap "
    "rates), seed {seed}. Leave-out-uniques scores each run without the relevant documents that its own team, or type, "
    "alone put into the pool. To compare collections, the judgments are also cut to the depth-10 pool of the runs on "
    "record as pooled. A question is answered yes where the worse end of the interval reaches the first threshold, no "
    "where the number itself misses the second, else with care; of several numbers the worst counts. With fewer "
    "than 5 topics nothing is said. The thresholds of tau_b are the usual ones, the others conventions of this card:"
)


def page_of(card: Card) -> str:
    """Return the page of a card."""
    drawn: dict[str, Any] = {}
    sections = [_section("Questions", _questions(card))]
    for title, parts in card.plan.sections.items():
        reasons = {card.missing.get(part.name) for part in parts}
        shown = "".join(_part(card, part, drawn) for part in parts if reasons == {None} or len(reasons) > 1)
        sections.append(_section(title, shown or _missing(*map(str, reasons))))
    sections.append(_section("Methods", _methods(card)))
    flag = f'<p class="flag">{html_text(card.flag)}</p>' if card.flag else ""
    runs = {} if card.asking.given_runs is None else _teams(card.asking.runs.run_table)
    about = _section("The collection", f"<p>{html_text(card.summary)}</p>{flag}{facts(card.facts)}")
    said = "".join(f"<p>{html_text(sentence)}</p>" for sentence in card.verdict)
    body = f'<div class="verdict">{said}</div>{_picker(runs)}{sections[0]}{about}{"".join(sections[1:])}'
    return document(f"{card.name}: card of a test collection", card.name, body, drawn, runs)


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
    whole = _scrolled(html_text(name), html_text(caption), html_text(caption), head, "".join(body))
    kind = ' class="runs"' if runs else ""
    return f"<details{kind}><summary>{html_text(folded)}</summary>{whole}</details>" if folded else whole


def _scrolled(name: str, label: str, caption: str, head: str, body: str, kind: str = "") -> str:
    """Return a table of HTML that is within its place, with a button that downloads it."""
    return (
        f'<div class="table"><button type="button" class="csv" data-name="{name}">Download CSV</button>'
        f'<div class="scroll" tabindex="0" role="region" aria-label="{label}"><table{kind}><caption><span>{caption}'
        f"</span></caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div></div>"
    )


def _cell(column: Column, shown: str, value: Any, *, first: bool) -> str:
    raw = "" if column.digits is Digits.TEXT or is_missing(value) else f' data-v="{float(value):.10g}"'
    tag, scope = ("th", ' scope="row"') if first else ("td", "")
    text = html_text(shown) if value not in _ANSWERS else _answer(str(value), shown)
    return f"<{tag}{scope}{_side(column)}{raw}>{text}</{tag}>"


def _answer(answer: str, words: str) -> str:
    return f'<b class="{_ANSWERS[answer]}">{html_text(words)}</b>'


def _side(column: Column) -> str:
    return "" if column.digits is Digits.TEXT else ' class="n"'


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _asset(name: str) -> str:
    return (files("pt_reuse.cards") / name).read_text(encoding="utf-8")


def _json(name: str, value: Any) -> str:
    # no name of a run ends the script that it stands in
    text = json.dumps(value, separators=(",", ":")).replace("<", r"\u003c")
    return f'<script type="application/json" id="data-{name}">{text}</script>'


def _section(title: str, body: str) -> str:
    return f'<section id="{_slug(title)}"><h2>{html_text(title)}</h2>{body}</section>'


def facts(named: Iterable[tuple[str, str]]) -> str:
    """Return names with what they are."""
    rows = "".join(f"<dt>{html_text(name)}</dt><dd>{html_text(value)}</dd>" for name, value in named)
    return f"<dl>{rows}</dl>"


def _teams(run_table: pd.DataFrame) -> dict[str, str | None]:
    teams = run_table["team"].astype(object).where(run_table["team"].notna(), None)
    return dict(zip(run_table["name"], teams, strict=True))


def _picker(runs: Mapping[str, str | None]) -> str:
    teams = sorted({team for team in runs.values() if team is not None}, key=str.lower)
    if not teams:
        return ""
    options = "".join(f'<option value="{escape(team)}">{html_text(team)}</option>' for team in teams)
    return (
        '<form class="picker"><label for="team">Show the runs of one team, in figures and tables</label> '
        f'<select id="team"><option value="">all teams</option>{options}</select> '
        '<span class="screen">A click on a run in a figure does the same; one on the legend shows a type.</span></form>'
    )


def _questions(card: Card) -> str:
    titles = {part.name: part.title for part in card.plan.parts}
    rows = []
    for row in card.questions.to_dict("records"):
        link = f'<a href="#part-{_slug(row["part"])}">{html_text(titles[row["part"]])}</a>'
        named = ("number", "interval", "condition")
        cells = "".join(f'<td data-label="{name}">{html_text(row[name])}</td>' for name in named)
        question = f'<th scope="row">{html_text(row["question"])}</th><td>{_answer(row["answer"], row["words"])}</td>'
        rows.append(f'<tr>{question}{cells}<td data-label="study">{link}</td></tr>')
    headings = ("Question", "Answer", "Number", "Interval", "Condition", "Study")
    head = "".join(f'<th scope="col"><button type="button">{each}</button></th>' for each in headings)
    caption = "Which questions this collection can answer, for the runs at hand; thresholds are in "
    caption += '<a href="#methods">Methods</a>.'
    return _scrolled("questions", "Questions", caption, head, "".join(rows), ' class="questions"')


def _part(card: Card, part: Part, drawn: dict[str, Any]) -> str:
    head = f'<h3 id="part-{_slug(part.name)}">{html_text(part.title)}</h3>'
    if part.name not in card.results:
        # why there is nothing at all stands with the judgments as they are
        return "" if part.name.endswith(AT_EQUAL_DEPTH) else head + _missing(card.missing[part.name])
    result = card.results[part.name]
    answers = result.answers() if len(result.table) else ["Nothing was computed"]
    said = "".join(f"<p>{html_text(each)}.</p>" for each in answers)
    said += "".join(f'<p class="small">{html_text(each)}</p>' for each in result.notes())
    settings = facts((name, str(value)) for name, value in result.settings.items())
    folded = f"<details><summary>Settings</summary>{settings}</details>"
    return f"{head}{said}{_figure(card, part, result, drawn)}{''.join(_tables(result, part))}{folded}"


def _missing(reason: str) -> str:
    return f'<p class="missing">Not computed. {html_text(reason)}</p>'


def _figure(card: Card, part: Part, result: Result, drawn: dict[str, Any]) -> str:
    # judgments that are cut have the numbers in tables
    cut = part.cut and part.name.removesuffix(AT_EQUAL_DEPTH) in card.results
    if not part.figure or cut:
        return ""
    spec = figures.figure(part.figure, result, card.asking.main, card.asking)
    if spec is None:
        return ""
    name = _slug(part.name)
    drawn[name] = spec
    caption = f"<figcaption>{html_text(spec['description'])} The numbers are in the table below.</figcaption>"
    return f'<figure><div class="chart" id="chart-{name}" data-spec="data-{name}"></div>{caption}</figure>'


def _tables(result: Result, part: Part) -> Iterator[str]:
    for name in part.tables:
        declared = result.views[name]
        for measure in result.measures if declared.of_measure else [None]:
            report = result.report(name, measure=measure)
            columns = [replace(column, values=list(column.values)) for column in report.columns]
            if rows := len(columns[0].values):
                file = "-".join(filter(None, [_slug(part.name), name, _slug(measure or "")]))
                of_runs = columns[0].heading in _RUN
                said = f"Table: {rows:,} {declared.noun}{f', {measure}' if measure else ''}"
                yield table(
                    columns, report.caption, file, runs=of_runs, folded=said if of_runs or rows > _SHORT else ""
                )


def _methods(card: Card) -> str:
    asking, measures = card.asking, ", ".join(card.asking.names)
    said = card.plan.methods.format(version=__version__, measures=measures, main=asking.main, **asking.conventions)
    limits = "".join(f"<li>{html_text(each)}</li>" for each in card.plan.thresholds())
    used = {type(result).__name__ for result in card.results.values()}
    papers = "".join(f"<li>{html_text(f'{title}: {source}')}</li>" for title, source in _sources(used))
    settings = facts((name, str(value)) for name, value in card.settings.items())
    return (
        f"<p>{html_text(said)}</p><ul>{limits}</ul><h3>Sources</h3><ul>{papers}</ul><h3>To cite</h3>"
        f'<pre tabindex="0">{escape(CITATION)}</pre><h3>Settings</h3>{settings}'
    )


def _sources(kinds: set[str]) -> Iterator[tuple[str, str]]:
    """Yield the titles of results and the sources that their studies name."""
    for call in studies().values():
        if study_of(call).result.__name__ in kinds:
            source = re.search(r"Source: (.*)", call.__doc__ or "", re.DOTALL)
            if source:
                yield study_of(call).result.title, " ".join(source[1].replace("``", "").split())
