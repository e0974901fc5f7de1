"""Report: what a paper prints of a result, a name and at most five columns, as text, HTML and LaTeX."""

from __future__ import annotations

import html
import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from numbers import Integral
from typing import Any

import pandas as pd

from pt_reuse import _html
from pt_reuse._check import count, examples, flag, positive
from pt_reuse._text import TextColumn, display_width, is_missing, lay_out, prose, visible, written
from pt_reuse.errors import InputError

#: the width of a report as text, in columns
_WIDTH = 80
#: columns of numbers beside the first
MOST = 5
_LEAST_P = 0.0001
#: a line of prose in LaTeX
_SOURCE = 100
#: a heading of LaTeX that is no longer than this stays on one line
_LEAST_HEADING = 8
_MINUS = re.compile(r"-(?=\d)")
#: words of headings and captions that LaTeX sets as mathematics
_MATHEMATICS = {"tau_b": r"$\tau_b$", "tau_AP": r"$\tau_{\mathrm{AP}}$"}
_ESCAPED = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\`{}",
    **{c: f"\\{c}" for c in "&%_#${}"},
}


class Digits(Enum):
    """How the cells of a column are written; the value is Python's format where that is all there is to it."""

    #: as it is
    TEXT = ""
    #: a whole number, ``1,234``
    COUNT = ",.0f"
    #: a score, a share or a correlation, four decimals: three would make 1.000 of one swapped pair among 129 runs
    SCORE = ".4f"
    #: a whole number as such, any other with four decimals
    NUMBER = "number"
    #: a share in whole per cent, ``90%``
    SHARE = ".0%"
    #: ranks, ``3``, or a mean or median of them, one decimal: ``3.5``
    RANKS = "ranks"
    #: an effective number, one decimal: ``2,880.1``
    TENTHS = ",.1f"
    #: a change in per cent, one decimal, with its sign: ``-9.9``
    PERCENT = "+.1f"
    #: a mean of changes of rank, two decimals, with its sign: ``+4.41``
    PLACES = "+.2f"
    #: ranks gained or lost, with their sign
    RISE = "+,.0f"
    #: a difference of scores or correlations, with its sign
    DIFFERENCE = "+.4f"
    #: what one document adds to a score, with its sign
    EFFECT = "+.5f"
    #: the p-value of a test, four decimals, ``<0.0001`` below
    P = "p"
    #: a difference of which the size matters, two digits: ``0.00043``
    SIZE = ".2g"

    @property
    def format(self) -> str:
        """Return Python's format for a number in a sentence."""
        return {"number": ".4g", "ranks": ",.0f", "p": ".4f"}.get(self.value, self.value)

    def written(self, value: Any) -> str:
        """Return one cell; ``-`` where it is missing, and no sign where it rounds to 0."""
        if is_missing(value):
            return "-"
        if self is Digits.TEXT:
            return visible(str(value))
        if self is Digits.NUMBER:
            return written(value, (Digits.COUNT if isinstance(value, Integral) else Digits.SCORE).value)
        if self is Digits.RANKS:
            return written(value, (Digits.COUNT if value == round(value) else Digits.TENTHS).value)
        if self is Digits.P:
            return "<0.0001" if value < _LEAST_P else f"{value:.4f}"
        return written(value, self.value)


@dataclass(frozen=True)
class Column:
    """A column of a report."""

    heading: str  # in words, ``"Largest drop"``; ``tau_b`` and ``tau_AP`` become mathematics in LaTeX
    values: Sequence[Any] | pd.Series  # (rows,) the values, not rounded
    digits: Digits = Digits.TEXT  # how they are written
    ends: tuple[Sequence[Any] | pd.Series, Sequence[Any] | pd.Series] | None = (
        None  # of the interval of each, where there are intervals
    )

    def cells(self) -> tuple[str, ...]:
        """Return the values as they are written, ``0.9500 (0.9124 to 0.9871)``; no interval that has no width."""
        texts = [self.digits.written(value) for value in self.values]
        if self.ends is not None:
            between = intervals("", *self.ends, self.digits).values
            texts = [f"{text} ({ends})" if ends else text for text, ends in zip(texts, between, strict=True)]
        return tuple(texts)

    def head(self, n: int) -> Column:
        """Return the first rows."""
        ends = self.ends and tuple(pd.Series(end).head(n) for end in self.ends)
        return replace(self, values=pd.Series(self.values).head(n), ends=ends)


def intervals(of: str, low: Sequence[Any] | pd.Series, high: Sequence[Any] | pd.Series, digits: Digits) -> Column:
    """Return a column of intervals, ``0.9124 to 0.9871``; ``-`` where there is none, or one without width."""
    texts = [
        None if is_missing(a) or is_missing(b) or a == b else f"{digits.written(a)} to {digits.written(b)}"
        for a, b in zip(low, high, strict=True)
    ]
    return Column(f"Interval of {of}", texts)


class Report:
    """A result as a paper prints it: a name and at most five columns, a caption with the conventions, notes.

    Made by ``.report()`` of every result. It prints as a text table of 80 columns, shows as a table in a notebook, and
    :meth:`to_latex` gives the table of a paper. Scores and correlations have four decimals, percentages one and a sign;
    ``-`` is a missing value.

    Args:
        columns: the first says what the rows are; at most five more.
        caption: one sentence: what is counted, under which conventions.
        notes: what else a reader must know, a sentence each.
        verdict: what was found, under which condition it holds, and what it does not say, a sentence each. It is
            printed above the caption, but not in LaTeX, since findings belong in the text of a paper.

    Attributes:
        columns: as given.
        caption: as given.
        notes: as given.
        verdict: as given.

    Raises:
        InputError: no column, more than six, two of the same heading, or columns that are not equally long.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.demo.simulate_field(seed=7)
        >>> ptr.score(field.runs, field.qrels, ["AP", "RR"]).report().head(2)
        18 runs on 25 topics; highest: AP 0.6913 (man3a); RR 0.9600 (man6a and 2
        others).
        Means of 18 runs over 25 topics (a topic that a run lacks counts 0), the best by
        AP first.
        ---------------------
        Run        AP      RR
        man3a  0.6913  0.9280
        man6a  0.6828  0.9600
        ---------------------
        Documents are ranked in the order trec_eval.
        The first 2 of 18 rows.
    """

    def __init__(
        self, columns: Iterable[Column], *, caption: str, notes: Iterable[str] = (), verdict: Iterable[str] = ()
    ):
        self.columns, self.caption, self.notes = tuple(columns), caption, tuple(notes)
        self.verdict = tuple(verdict)
        headings = [column.heading for column in self.columns]
        if not 1 <= len(headings) <= 1 + MOST:
            raise InputError(
                f"a report has a first column and at most {MOST} more, got {count(len(headings), 'column')}."
            )
        if len(set(headings)) < len(headings):
            raise InputError(f"a report has one column of a heading, got {examples(headings, len(headings))}.")
        if len({len(column.values) for column in self.columns}) > 1:
            raise InputError("the columns of a report must be equally long.")

    def to_frame(self) -> pd.DataFrame:
        """Return the table with its headings; numbers are not rounded."""
        series = [pd.Series(column.values).reset_index(drop=True) for column in self.columns]
        return pd.DataFrame({column.heading: each for column, each in zip(self.columns, series, strict=True)})

    def shown(self) -> pd.DataFrame:
        """Return the table with its headings, every cell as printed."""
        return pd.DataFrame({column.heading: list(column.cells()) for column in self.columns})

    def head(self, n: int) -> Report:
        """Return the first rows as a report, with a note that says how many there are.

        Args:
            n: how many rows to keep, at least 1.
        """
        most, rows = positive("n", n, "rows"), len(self.columns[0].values)
        columns = [column.head(most) for column in self.columns]
        more = [f"The first {most:,} of {rows:,} rows."] if most < rows else []
        return Report(columns, caption=self.caption, notes=[*self.notes, *more], verdict=self.verdict)

    def under(self, verdict: Iterable[str]) -> Report:
        """Return the report below a verdict."""
        return Report(self.columns, caption=self.caption, notes=self.notes, verdict=verdict)

    def to_latex(self, *, label: str | None = None, wide: bool = False, caption: str | None = None) -> str:
        r"""Return the table for a paper: a float with the caption, rules of the package booktabs, and the notes.

        Names such as ``my_run & 50%`` are escaped. The preamble needs ``\usepackage{booktabs}``.

        Args:
            label: what ``\ref`` calls it, ``"tab:lou"``; default none.
            wide: set the table across both columns of a page (``table*``); default one column.
            caption: LaTeX to use as the caption.

        Returns:
            str: the lines of LaTeX.
        """
        flag("wide", wide)
        environment = "table*" if wide else "table"
        sides = "".join("l" if column.digits is Digits.TEXT else "r" for column in self.columns)
        heads = [_latex_heading(column) for column in self.columns]
        rows = [
            [_latex_cell(text, value, c.digits) for (text, value), c in zip(row, self.columns, strict=True)]
            for row in zip(*(zip(c.cells(), c.values, strict=True) for c in self.columns), strict=True)
        ]
        lines = [
            rf"\begin{{{environment}}}",
            r"\centering",
            rf"\caption{{{_latex_prose(self.caption) if caption is None else caption}}}",
            *([rf"\label{{{label}}}"] if label else []),
            r"\small",
            r"\setlength{\tabcolsep}{4pt}",
            rf"\begin{{tabular}}{{{sides}}}",
            r"\toprule",
            rf"{' & '.join(heads)} \\",
            r"\midrule",
            *(rf"{' & '.join(row)} \\" for row in rows),
            r"\bottomrule",
            r"\end{tabular}",
            *(rf"\par\smallskip{{\footnotesize\raggedright {_latex_prose(note)}\par}}" for note in self.notes),
            rf"\end{{{environment}}}",
        ]
        return "\n".join(lines)

    def _text_columns(self) -> list[TextColumn]:
        return [
            TextColumn(visible(column.heading), column.cells(), right=column.digits is not Digits.TEXT)
            for column in self.columns
        ]

    def __str__(self) -> str:
        table = lay_out(self._text_columns(), width=_WIDTH)
        rule = "-" * max(map(display_width, table.split("\n")))
        above = [prose(text, width=_WIDTH) for text in (" ".join(self.verdict), self.caption) if text]
        return "\n".join([*above, rule, table, rule, *(prose(note, width=_WIDTH) for note in self.notes)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        notes = "".join(f"<p><small>{html.escape(visible(note))}</small></p>" for note in self.notes)
        above = [html.escape(visible(text)) for text in (" ".join(self.verdict), self.caption) if text]
        return f"{''.join(f'<p>{text}</p>' for text in above)}{_html.of_columns(self._text_columns())}{notes}"


def latex(text: str) -> str:
    r"""Return a text as LaTeX sets it letter by letter: its special characters escaped, no ligatures of dashes."""
    escaped = "".join(_ESCAPED.get(character, character) for character in visible(text))
    # two dashes would become a long one, two apostrophes a quotation mark, "?`" is gone with the grave
    return re.sub(r"(?<=-)-", r"{}-", re.sub(r"(?<=')'", r"{}'", escaped))


def _latex_cell(text: str, value: Any, digits: Digits) -> str:
    if is_missing(value):
        return "--"
    return _latex_start(text) if digits is Digits.TEXT else _MINUS.sub("$-$", text.replace("<", "$<$"))


def _latex_start(text: str) -> str:
    escaped = latex(text)
    # what follows \\ in brackets, or as a star, is an option of the line's end
    return f"{{{escaped[0]}}}{escaped[1:]}" if escaped[:1] in ("[", "*") else escaped


def _latex_heading(column: Column) -> str:
    widest = max(map(display_width, column.cells()), default=0)
    words = max(map(len, column.heading.split()), default=1)
    width = max(widest, words, _LEAST_HEADING)
    lines = textwrap.wrap(column.heading, width, break_long_words=False, break_on_hyphens=False) or [""]
    texts = [_mathematics(_latex_start(line)) for line in lines]
    side, stacked = "l" if column.digits is Digits.TEXT else "r", r" \\ ".join(texts)
    return stacked if len(texts) == 1 else rf"\shortstack[{side}]{{{stacked}}}"


def _latex_prose(text: str) -> str:
    return textwrap.fill(_mathematics(latex(text)), _SOURCE, break_long_words=False, break_on_hyphens=False)


def _mathematics(text: str) -> str:
    for word, mathematics in _MATHEMATICS.items():
        text = mathematics.join(re.split(rf"(?<![\w-]){re.escape(latex(word))}(?![\w\\-])", text))
    return text
