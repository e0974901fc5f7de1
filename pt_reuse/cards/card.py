"""The card of a collection as an object and as a page, its first sentences, and the atlas of several cards."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from typing import Any

import pandas as pd

from pt_reuse import _text
from pt_reuse._report import Column, Digits, latex
from pt_reuse._text import html_text
from pt_reuse._version import __version__
from pt_reuse.cards import figures
from pt_reuse.cards.page import Page, answer, document, facts, scrolled, section, slug, table
from pt_reuse.cards.parts import AT_EQUAL_DEPTH, EQUAL_DEPTH, Asking, Part, upper_loss
from pt_reuse.cards.questions import Question, Verdict
from pt_reuse.errors import count
from pt_reuse.pooling.depth import depth_pool
from pt_reuse.result import Result
from pt_reuse.scoring.caveats import FEW_TOPICS
from pt_reuse.study import studies, study_of

CITATION = f"""@software{{pt_reuse,
  title   = {{pt_reuse: can I trust this test collection for my system?}},
  author  = {{{{The pt_reuse developers}}}},
  version = {{{__version__}}},
}}"""


def verdict(asking: Asking) -> list[str]:
    """Return what becomes of a new run, of another kind of system, and of the top ranks, a sentence each."""
    if len(asking.qrels.topics) < FEW_TOPICS:
        return [f"Fewer than {FEW_TOPICS} topics: nothing can be said of other ones."]
    return [_new_run(asking), _new_type(asking), top(asking)]


def _begun(asking: Asking, part: str) -> tuple[Any, str]:
    """Return the result of a part, with the judgments as they are, else cut to equal depth, and how a sentence begins.

    Where there is none, return why.
    """
    for name, begin in ((part, "No"), (part + AT_EQUAL_DEPTH, f"Judged to depth {EQUAL_DEPTH} alone, no")):
        if name in asking.found:
            return asking.found[name], begin
    return None, _reason(asking, part)


def losses(result: Any, asking: Asking) -> str:
    """Return the largest loss of a run, in per cent."""
    row = result.summary.set_index("measure").loc[asking.main]
    upper = upper_loss(result, asking.main)
    loss = f"{row['largest_loss_pct']:.1f}"
    of_upper = "" if f"{upper:.1f}" == loss else f" ({upper:.1f}% outside the lowest quarter)"
    return f"{loss}% of its {asking.main}{of_upper}"


def _reason(asking: Asking, part: str) -> str:
    why = asking.missing.get(part, "it was not computed")
    why = why.partition(": nothing")[0].rstrip(".")
    return why[:1].lower() + why[1:]


def _new_run(asking: Asking) -> str:
    result, begin = _begun(asking, "teams")
    if result is None:
        return f"Nothing is known of a new run: {begin}."
    if asking.by != "team":
        # as the question about a new run: runs of one team find the same, so that leaving out one says too little
        return "Nothing is known of a new run: no run has a team."
    return f"{begin} run of the field loses more than {losses(result, asking)} without its team."


def _new_type(asking: Asking) -> str:
    result, begin = _begun(asking, "types")
    if result is None:
        return f"Nothing is known of another kind of system: {begin}."
    types = ", ".join(asking.runs.types)
    return f"{begin} run of the field loses more than {losses(result.uniques, asking)} without its type ({types})."


def top(asking: Asking) -> str:
    """Return how many runs may be the best."""
    result: Any = asking.found.get("ranks")
    if result is None:
        return f"Nothing is known of the ranks: {_reason(asking, 'ranks')}."
    row = result.summary().set_index("measure").loc[asking.main]
    if row["candidates"] == 1:
        return f"{result.table['name'].iloc[0]} is the best of {int(row['systems']):,} runs, on topics like these, too."
    of = f"{int(row['candidates']):,} of {count(int(row['systems']), 'run')}"
    return f"{of} may be the best: topics do not separate them."


def paragraph(name: str, asking: Asking) -> str:
    """Return the sentences with what they hold for, as a paper has them."""
    labels, runs, depth = asking.qrels.arrays.labels, asking.given_runs, asking.depth
    sizes = [count(len(asking.qrels.topics), "topic"), f"{len(labels):,} judgments"]
    if runs is not None:
        sizes.append(count(len(runs), "run") + (f" of {count(len(runs.teams), 'team')}" if runs.teams else ""))
    pool = ""
    if depth is not None:
        pool = f", pool depth {depth:,}"
        if runs is not None and runs.pool_is_on_record:
            n = int(runs.pooled.sum())
            pool = f", {'' if n == len(runs) else f'{n:,} of them '}pooled to depth {depth:,}"
            within = len(asking.qrels.restrict(depth_pool(runs, depth=depth)))
            pool += f", a pool that has {within:,} of the judgments" if within < len(labels) else ""
    resamples = f"; {asking.how['resamples']:,} resamples of the topics" if asking.how["resamples"] else ""
    conventions = f"Relevant: label of at least {asking.qrels.rel}{resamples}."
    limits = (
        "Leave-out-uniques takes out the relevant documents that a team alone put into the pool; it speaks of runs "
        "like the participants', not of other kinds of systems, nor of relevant documents that no run found."
    )
    return f"{name} has {', '.join(sizes)}{pool}. {' '.join(verdict(asking))} {limits} {conventions}"


_SHORT = 12  # rows that are shown without being asked for
_RUN = ("Run", "System")  # headings of the column that names a run


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Card(Page):
    """The card of a collection: what :func:`report` returns.

    Attributes:
        name: of the collection.
        verdict: three sentences: of a new run, of another kind of system, and of the top ranks.
        results: the results of the studies by the name of the part: ``"pool" "density" "saturation" "teams" "types"
            "by_type" "type_coverage" "stability" "ranks" "power" "bounds" "bounds, further documents" "coverage"``;
            some also for the judgments cut to a pool of depth 10, ``"teams at depth 10"``.
        missing: why the others are not there, by the same names.
        questions: one row per question: ``question answer words number interval condition part``; ``answer`` is
            ``"yes"``, ``"with care"``, ``"no"`` or ``"cannot be said"``, and ``words`` says it.
        row: of the atlas, by the main measure: one row for the judgments as they are, and one for those of the depth-10
            pool: ``collection judgments depth rel topics runs teams``; ``tau_b loss upper_loss drop`` when each run is
            scored without the relevant uniques of its team, the losses in per cent, of all runs and without the lowest
            quarter by score; ``type_tau_b type_loss type_upper_loss`` without those of its type; ``type_judged``, of
            the first 10 documents of the type with the smallest share, had it not been pooled; ``power``; ``run_answer
            type_answer``, the answers about a new run and a new kind of system.
        settings: the conventions.
    """

    name: str
    verdict: list[str]
    summary: str
    flag: str
    facts: list[tuple[str, str]]
    results: Mapping[str, Result]
    missing: Mapping[str, str]
    questions: pd.DataFrame
    row: pd.DataFrame
    asking: Asking
    sections: Mapping[str, Sequence[Part]]
    asked: Sequence[Question]
    methods: str
    said: str
    settings: Mapping[str, Any]

    @cached_property
    def html(self) -> str:
        """Return the page, which needs no network."""
        drawn: dict[str, Any] = {}
        sections = [section("Questions", _questions(self))]
        for title, parts in self.sections.items():
            reasons = {self.missing.get(part.name) for part in parts}
            shown = "".join(_part(self, part, drawn) for part in parts if reasons == {None} or len(reasons) > 1)
            sections.append(section(title, shown or _missing(*map(str, reasons))))
        sections.append(section("Methods", _methods(self)))
        flag = f'<p class="flag">{html_text(self.flag)}</p>' if self.flag else ""
        runs: dict[str, str | None] = {}
        if self.asking.given_runs is not None:
            table = self.asking.runs.run_table
            teams = table["team"].astype(object).where(table["team"].notna(), None)
            runs = dict(zip(table["name"], teams, strict=True))
        about = section("The collection", f"<p>{html_text(self.summary)}</p>{flag}{facts(self.facts)}")
        sentences = "".join(f"<p>{html_text(sentence)}</p>" for sentence in self.verdict)
        body = f'<div class="verdict">{sentences}</div>{_picker(runs)}{sections[0]}{about}{"".join(sections[1:])}'
        return document(f"{self.name}: card of a test collection", self.name, body, drawn, runs)

    def paragraph(self) -> str:
        """Return the verdict for a paper: what the collection is, what was found, and for what it holds."""
        return self.said

    def latex(self) -> str:
        """Return the paragraph in LaTeX, with the citation, whose BibTeX entry follows as comments."""
        entry = "".join(f"% {line}\n" for line in CITATION.splitlines())
        return f"{latex(self.paragraph())} Computed with pt\\_reuse~\\cite{{pt_reuse}}.\n{entry}"

    def __repr__(self) -> str:
        counts = self.questions["answer"].value_counts()
        answers = ", ".join(f"{counts[each.value]} {each.value}" for each in Verdict if each.value in counts)
        return f"Card: {self.name}; {len(self.questions)} questions: {answers}; .save('FILE.html') writes the page"

    def __str__(self) -> str:
        return "\n".join([self.name, *self.verdict])

    def _repr_html_(self) -> str:
        shown = self.questions.drop(columns="part")
        return _text.html_headline(self.name, " ".join(self.verdict)) + _text.html_table(shown, what="questions")


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
    titles = {part.name: part.title for parts in card.sections.values() for part in parts}
    rows = []
    for row in card.questions.to_dict("records"):
        link = f'<a href="#part-{slug(row["part"])}">{html_text(titles[row["part"]])}</a>'
        named = ("number", "interval", "condition")
        cells = "".join(f'<td data-label="{name}">{html_text(row[name])}</td>' for name in named)
        question = f'<th scope="row">{html_text(row["question"])}</th><td>{answer(row["answer"], row["words"])}</td>'
        rows.append(f'<tr>{question}{cells}<td data-label="study">{link}</td></tr>')
    headings = ("Question", "Answer", "Number", "Interval", "Condition", "Study")
    head = "".join(f'<th scope="col"><button type="button">{each}</button></th>' for each in headings)
    caption = "Which questions this collection can answer, for the runs at hand; thresholds are in "
    caption += '<a href="#methods">Methods</a>.'
    return scrolled("questions", "Questions", caption, head, "".join(rows), ' class="questions"')


def _part(card: Card, part: Part, drawn: dict[str, Any]) -> str:
    head = f'<h3 id="part-{slug(part.name)}">{html_text(part.title)}</h3>'
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
    name = slug(part.name)
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
                file = "-".join(filter(None, [slug(part.name), name, slug(measure or "")]))
                of_runs = columns[0].heading in _RUN
                said = f"Table: {rows:,} {declared.noun}{f', {measure}' if measure else ''}"
                yield table(
                    columns, report.caption, file, runs=of_runs, folded=said if of_runs or rows > _SHORT else ""
                )


def _methods(card: Card) -> str:
    text = card.methods.format(version=__version__, main=card.asking.main, **card.settings)
    thresholds = dict.fromkeys(str(each) for question in card.asked for each in question.thresholds)
    limits = "".join(f"<li>{html_text(each)}</li>" for each in thresholds)
    used, papers = {type(result).__name__ for result in card.results.values()}, ""
    for call in studies().values():
        kind, source = study_of(call).result, re.search(r"Source: (.*)", call.__doc__ or "", re.DOTALL)
        if kind.__name__ in used and source:
            cited = " ".join(source[1].replace("``", "").split())
            papers += f"<li>{html_text(f'{kind.title}: {cited}')}</li>"
    settings = facts((name, str(value)) for name, value in card.settings.items())
    return (
        f"<p>{html_text(text)}</p><ul>{limits}</ul><h3>Sources</h3><ul>{papers}</ul>"
        f"<h3>For a paper</h3><p>{html_text(card.paragraph())}</p><h3>To cite</h3>"
        f'<pre tabindex="0">{escape(CITATION)}</pre><h3>Settings</h3>{settings}'
    )


#: heading, column and form of the cells
_SHOWN = (
    ("Collection", "collection", Digits.TEXT),
    ("Judgments", "judgments", Digits.TEXT),
    ("Relevant from", "rel", Digits.COUNT),
    ("New run", "run_answer", Digits.TEXT),
    ("New type", "type_answer", Digits.TEXT),
    ("Runs", "runs", Digits.COUNT),
    ("tau_b", "tau_b", Digits.SCORE),
    ("Largest loss, %", "loss", Digits.TENTHS),
    ("Without lowest quarter", "upper_loss", Digits.TENTHS),
    ("Largest drop", "drop", Digits.COUNT),
    ("tau_b, types", "type_tau_b", Digits.SCORE),
    ("Largest loss, types, %", "type_loss", Digits.TENTHS),
    ("Types, without lowest quarter", "type_upper_loss", Digits.TENTHS),
    ("Judged of a new type", "type_judged", Digits.SHARE),
    ("Power", "power", Digits.SHARE),
)
_CAPTION = (
    f"Collections by {{measures}}, with the judgments as they are, and cut to the depth-{EQUAL_DEPTH} pool, where they "
    "compare. tau_b, largest loss and drop: each run without the relevant documents that its own team alone put into "
    "the pool, the loss of all runs and without the lowest quarter by score, the drop if its team alone is scored so; "
    f"of types the same by type. Judged of a new type: of the first {EQUAL_DEPTH} documents of the type least covered, "
    "had it not been pooled. Power: the pairs of runs that differ significantly. New run and new type: whether a run "
    "like those pooled, and a new kind of system, may be scored."
)


def atlas_table(cards: Mapping[str, Card]) -> pd.DataFrame:
    """Return the rows of all cards."""
    return pd.concat([card.row for card in cards.values()], ignore_index=True)


def atlas_page(cards: Mapping[str, Card], missing: Mapping[str, str]) -> str:
    """Return the page with the table, links to the cards by their files, and why others have none."""
    rows = atlas_table(cards)
    depths = rows["depth"].map(" to depth {:.0f}".format, na_action="ignore").fillna("")
    rows["judgments"] = rows["judgments"].where(rows["judgments"] != "as judged", rows["judgments"] + depths)
    columns = [Column(heading, list(rows[column]), digits) for heading, column, digits in _SHOWN]
    mains = dict.fromkeys(card.asking.main for card in cards.values())
    links = {card.name: file for file, card in cards.items()}
    others = "".join(f"<li>{html_text(name)}: {html_text(reason)}</li>" for name, reason in missing.items())
    without = f"<h2>Without a card</h2><ul>{others}</ul>" if others else ""
    shown = table(columns, _CAPTION.format(measures=", ".join(mains)), "atlas", links=links)
    return document("Atlas of test collections", "Atlas", f"{shown}{without}", {}, {})
