"""Columns of results: the heading, the digits and the meaning of each, said once; tables name the ones they have."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import pandas as pd

from pt_reuse._report import Digits

#: a column that names a unit that is left out stands under one of these names
UNITS = ("team", "type", "family", "name")
_GROUP = re.compile(r"\{([\w,]*)\}")
_LINE = re.compile(r"(\S+)\s*\|\s*(.*?)\s*\|\s*(\w*)\s*\|\s*(.+)")

#: columns that several results have: name | heading | digits | meaning
_SHARED = """
name             | Run              |         | the run
team             | Team             |         | its team
type             | Type             |         | its type
family           | Family           |         | its family
pooled           | Pooled           |         | whether it was pooled; None where that is not on record
contributed      | Contributed      |         | whether the run was among the contributors here
measure          | Measure          |         | the measure
judgments        | Judgments        |         | the name of the judgments
judge            | Judge            |         | the judge
qid              | Topic            |         | the topic
docno            | Document         |         | the document
label            | Label            | number  | the label
depth            | Depth            | count   | depth of the pool
runs             | Runs             | count   | how many runs
topics           | Topics           | count   | how many topics
documents        | Documents        | count   | how many documents
judged           | Judged           | count   | judged documents
unjudged         | Unjudged         | count   | documents without a judgment
relevant         | Relevant         | count   | relevant documents
unique           | Uniques          | count   | judged documents that it alone contributed
unique_relevant  | Relevant uniques | count   | those of them that are relevant
removed          | Removed          | count   | how many of these were taken out
score            | Score            | score   | mean score under the judgments as they are
rank             | Rank             | ranks   | rank by it; ties share the best rank
drop             | Drop             | count   | ranks lost, the later rank less the earlier
change           | Change           | difference | later score less the earlier one
change_pct       | Change, %        | percent | the change in per cent of the earlier score, NaN where that is 0
tau_b            | tau_b            | score   | Kendall's tau_b of the two rankings, NaN where all runs tie in one
gamma            | gamma            | score   | Goodman and Kruskal's gamma of them
tau_ap_b         | tau_AP           | score   | tau_AP,b of them
max_drop         | Largest drop     | ranks   | the most ranks that a run loses
max_rise         | Largest rise     | ranks   | the most ranks that a run gains
share            | Share            | score   | the share
strategy         | Strategy         |         | the strategy
systems          | Systems          | count   | how many systems
pairs            | Pairs            | count   | how many pairs of runs
difference       | Difference       | difference | mean score of the first less that of the second
p                | p                | p       | the p-value of its test, NaN where there is none
p_corrected      | p, corrected     | p       | that corrected for the number of pairs
significant      | Significant      | count   | whether the difference is significant, or how many pairs differ so
untested         | Untested         | count   | pairs without a p-value
new_relevant     | New relevant     | count   | how many of the new ones are relevant
dropped          | Dropped run      |         | that run, the best one of several; None where no run loses any
largest_loss_pct | Largest loss, %  | tenths  | the largest loss of a run in per cent, 0 where none loses
field_min_tau_b  | Smallest tau_b, field | score | smallest tau_b when the whole field is ranked without one unit
field_worst      | By leaving out   |         | the unit with that drop, of several by tau_b; None where none loses
kind             | Kind             |         | "model", or "people" for another person
annotator        | Annotator        |         | the annotator
first            | Annotator        |         | an annotator
second           | And              |         | another
person           | Person           |         | the other person
items            | Items            |         | "all", or "relevant", which one of those compared calls so
labels           | Labels           |         | "grades", the labels as they are, or "binary", relevant or not
n_topics         | Topics           | count   | how many topics
n_items          | Items            | count   | how many items
agreement        | Agreement        | score   | share of equal labels
kappa            | Kappa            | score   | Cohen's kappa, without weights unless they are asked for
alpha_nominal    | Alpha            | score   | Krippendorff's alpha, nominal
alpha_ordinal    | Ordinal          | score   | Krippendorff's alpha of grades, ordinal
coefficient      | Coefficient      |         | which coefficient
value            | Value            | score   | its value
low              | From             | score   | lower end
high             | To               | score   | upper end
band             | Band             |         | the word for a kappa or an alpha of that size
why              | Why not          |         | why there is no value
"""


@dataclass(frozen=True)
class ColumnInfo:
    """What a column is."""

    heading: str
    digits: Digits
    meaning: str


@lru_cache(maxsize=64)
def columns_of(text: str) -> dict[str, ColumnInfo]:
    """Return the columns of a text of lines ``name | heading | digits | meaning``."""
    lines = (_LINE.fullmatch(line.strip()) for line in text.strip().splitlines())
    return {m[1]: ColumnInfo(m[2], Digits[(m[3] or "text").upper()], m[4]) for m in lines if m}


SHARED = columns_of(_SHARED)


@dataclass(frozen=True)
class Table:
    """What a table of a result holds: ``Annotated[pd.DataFrame, Table("unit and measure", "unit measure tau_b~")]``.

    Names stand between spaces. ``name~`` is a number whose interval may follow it, ``name_low name_high``; ``name?`` is
    a column that may be missing; ``name*`` is one that a paper prints; ``unit`` is ``team``, ``type``, ``family`` or
    ``name``; ``{a,b}_x`` is ``a_x b_x``.

    Attributes:
        rows: what there is one row of.
        columns: the names of all columns, in their order.
        report: the names of those that a paper prints, at most six, where their order is another; default those with
            a ``*``, else the first six. ``name?`` is left out where it has no value in any row.
        caption: of the report; ``{measure}``, settings, numbers and options by their names.
        descending: the columns by which the report is sorted, the largest first.
        select: column -> whose rows the report shows: a value, None for the first, ``...`` for all; each is an option
            of the report.
        noun: what the rows are, in the plural.
        about: further words for the docstring.
    """

    rows: str
    columns: str
    report: str = ""
    caption: str = ""
    descending: tuple[str, ...] = ()
    select: Mapping[str, Any] | None = None
    noun: str = "rows"
    about: str = ""

    @cached_property
    def names(self) -> tuple[tuple[str, str], ...]:
        """Return the name of each column and what follows it, ``~``, ``?`` or nothing."""
        return tuple((name, mark.replace("*", "")) for name, mark in _names(self.columns))

    @cached_property
    def reported(self) -> tuple[str, ...]:
        """Return the names of the columns that a report has."""
        if self.report:
            return tuple(name for name, _ in _names(self.report))
        marked = [name for name, mark in _names(self.columns) if "*" in mark]
        return tuple(marked or [name for name, _ in self.names][:6])

    def reported_of(self, frame: pd.DataFrame) -> list[str]:
        """Return the names of the columns that the report of a frame has."""
        spare = {
            name for name, mark in _names(self.report) if mark == "?" and name in frame and frame[name].isna().all()
        }
        names = (next((n for n in UNITS if n in frame), "name") if n == "unit" else n for n in self.reported)
        return [name for name in names if name in frame and name not in spare][:6]

    @property
    def of_measure(self) -> bool:
        """Return whether the report is of the rows of one measure."""
        return ("measure", "") in self.names and "measure" not in self.reported

    def check(self, frame: pd.DataFrame, where: str) -> None:
        """Raise where a frame has other columns."""
        left, missing = [str(name) for name in frame.columns], []
        for name, mark in self.names:
            held = [n for n in (UNITS if name == "unit" else (name,)) if n in left][:1]
            missing += [] if held or mark == "?" else [name]
            for known in held:
                left.remove(known)
                if mark == "~":
                    left = [other for other in left if other not in (f"{known}_low", f"{known}_high")]
        if missing or left:
            raise TypeError(f"{where} lacks {missing}, and has {left}, which are not declared")


def _names(text: str) -> Iterator[tuple[str, str]]:
    for word in text.split():
        name = word.rstrip("~?*")
        mark = word[len(name) :]
        group = _GROUP.search(name)
        for part in group[1].split(",") if group else [""]:
            yield _GROUP.sub(part, name), mark


def column(name: str, own: str = "") -> ColumnInfo:
    """Return what a column is; `own` are the lines of a result, of which ``own_ | | | of ...`` is a prefix."""
    mine = columns_of(own)
    if name in mine:
        return mine[name]
    if name in SHARED:
        return SHARED[name]
    for prefix in sorted((n for n in mine if n.endswith("_") and name.startswith(n)), key=len, reverse=True):
        base = column(name[len(prefix) :], own)
        return ColumnInfo(f"{base.heading}, {mine[prefix].heading}".removesuffix(", "), base.digits, base.meaning)
    raise TypeError(f"no column {name!r} is declared: add it to the result's `columns`, or to the shared ones")


def described(table: Table, own: str) -> str:
    """Return what a docstring says of a table."""
    mine = columns_of(own)
    prefixes = [name for name in mine if name.endswith("_")]
    parts: dict[str, str] = {}
    for name, _ in table.names:
        prefix = next((p for p in prefixes if name.startswith(p) and name not in mine), "")
        if name == "unit":
            parts[name] = "the unit under ``team``, ``type``, ``family`` or ``name``"
        elif prefix:
            members = " ".join(n for n, _ in table.names if n.startswith(prefix) and n not in mine)
            parts[prefix] = f"``{members}``, {mine[prefix].meaning}"
        else:
            parts[name] = f"``{name}``, {column(name, own).meaning}"
    ends = ", ".join(name for name, mark in table.names if mark == "~")
    parts |= {"~": f"where intervals are asked for, ``_low`` and ``_high`` follow {ends}"} if ends else {}
    return f"one row per {table.rows}: {'; '.join(parts.values())}.{' ' if table.about else ''}{table.about}"
