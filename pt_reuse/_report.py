"""Report: what a paper prints of a result, a name and at most five columns, as text, HTML and LaTeX."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from numbers import Integral
from typing import Any

import pandas as pd

from pt_reuse._text import (
    WIDTH,
    TextColumn,
    display_width,
    ends,
    html_columns,
    html_lines,
    html_text,
    is_missing,
    lay_out,
    prose,
    visible,
    written,
)
from pt_reuse.errors import InputError, count, examples, flag, positive

#: columns of numbers beside the first
MOST = 5
_LEAST_P = 0.0001


class Digits(Enum):
    """How the numbers of a column are written; the value is Python's format where that is all there is to it."""

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

    def written(self, value: Any) -> str:
        """Return one cell; ``-`` where it is missing, and no sign where it rounds to 0."""
        if is_missing(value):
            return "-"
        if self is Digits.TEXT:
            return visible(str(value))
        if self is Digits.P and value < _LEAST_P:
            return "<0.0001"
        form = Digits.SCORE if self is Digits.P else self
        if self is Digits.NUMBER:
            form = Digits.COUNT if isinstance(value, Integral) else Digits.SCORE
        if self is Digits.RANKS:
            form = Digits.COUNT if value == round(value) else Digits.TENTHS
        return written(value, form.value)


@dataclass(frozen=True)
class Column:
    """A column of a report."""

    heading: str  # in words, ``"Largest drop"``; ``tau_b`` and ``tau_AP`` become mathematics in LaTeX
    values: Sequence[Any] | pd.Series  # (rows,) the values, not rounded
    digits: Digits = Digits.TEXT  # how they are written
    ends: tuple[Sequence[Any] | pd.Series, Sequence[Any] | pd.Series] | None = None  # of the interval of each

    def cells(self) -> tuple[str, ...]:
        """Return the values as they are written, ``0.9500 (0.9124 to 0.9871)``; no interval that has no width."""
        texts = map(self.digits.written, self.values)
        if self.ends is None:
            return tuple(texts)
        found = zip(texts, intervals("", *self.ends, self.digits).values, strict=True)
        return tuple(f"{text} ({between})" if between else text for text, between in found)

    def head(self, n: int) -> Column:
        """Return the first rows."""
        between = self.ends and (self.ends[0][:n], self.ends[1][:n])
        return replace(self, values=self.values[:n], ends=between)


def intervals(of: str, low: Sequence[Any] | pd.Series, high: Sequence[Any] | pd.Series, digits: Digits) -> Column:
    """Return a column of intervals, ``0.9124 to 0.9871``; ``-`` where there is none, or one without width."""
    pairs = ({"_low": a, "_high": b} for a, b in zip(low, high, strict=True))
    return Column(f"Interval of {of}", [ends(pair, "", digits.written) or None for pair in pairs])


class Report:
    """A result as a paper prints it: a name and at most five columns, a caption with the conventions, notes.

    Made by ``.report()`` of every result. It prints as a text table of 80 columns, shows as a table in a notebook, and
    :meth:`to_latex` gives the table of a paper. Scores and correlations have four decimals, percentages one and a sign;
    ``-`` is a missing value.

    Args:
        columns: the first says what the rows are; at most five more.
        caption: one sentence: what is counted, under which conventions.
        notes: what else a reader must know, a sentence each.
        verdict: what was found, a sentence each, printed above the caption; not in LaTeX, as findings belong in the
            text of a paper.

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
        Means of 18 runs on 25 topics (over all topics, of which those that a run lacks
        count 0), the best by AP first.
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
        return pd.DataFrame({column.heading: pd.Series(list(column.values)) for column in self.columns})

    def shown(self) -> pd.DataFrame:
        """Return the table with its headings, every cell as printed."""
        return pd.DataFrame({column.heading: list(column.cells()) for column in self.columns})

    def head(self, n: int) -> Report:
        """Return the first rows as a report, with a note that says how many there are.

        Args:
            n: how many rows to keep, at least 1.
        """
        most, rows = positive("n", n, "rows"), len(self.columns[0].values)
        more = [f"The first {most:,} of {rows:,} rows."] if most < rows else []
        columns = [column.head(most) for column in self.columns]
        return Report(columns, caption=self.caption, notes=[*self.notes, *more], verdict=self.verdict)

    def _text_columns(self) -> list[TextColumn]:
        return [TextColumn(visible(c.heading), c.cells(), right=c.digits is not Digits.TEXT) for c in self.columns]

    def _above(self) -> list[str]:
        return [text for text in (" ".join(self.verdict), self.caption) if text]

    def __str__(self) -> str:
        table = lay_out(self._text_columns(), width=WIDTH)
        rule = "-" * max(map(display_width, table.split("\n")))
        above, below = ([prose(text, width=WIDTH) for text in texts] for texts in (self._above(), self.notes))
        return "\n".join([*above, rule, table, rule, *below])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        above = "".join(f"<p>{html_text(text)}</p>" for text in self._above())
        return above + html_columns(self._text_columns()) + html_lines(self.notes)

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
        environment = "table*" if flag("wide", wide) else "table"
        sides = "".join(_side(column) for column in self.columns)
        cells = (map(_latex_cell, c.cells(), c.values, [c.digits] * len(c.values)) for c in self.columns)
        lines = [
            rf"\begin{{{environment}}}",
            r"\centering",
            rf"\caption{{{_latex_prose(self.caption) if caption is None else caption}}}",
            *([rf"\label{{{label}}}"] if label else []),
            r"\small",
            r"\setlength{\tabcolsep}{4pt}",
            rf"\begin{{tabular}}{{{sides}}}",
            r"\toprule",
            rf"{' & '.join(map(_latex_heading, self.columns))} \\",
            r"\midrule",
            *(rf"{' & '.join(row)} \\" for row in zip(*cells, strict=True)),
            r"\bottomrule",
            r"\end{tabular}",
            *(rf"\par\smallskip{{\footnotesize\raggedright {_latex_prose(note)}\par}}" for note in self.notes),
            rf"\end{{{environment}}}",
        ]
        return "\n".join(lines)


# LaTeX

#: a line of prose in LaTeX; a heading that is no longer than this stays on one line
_SOURCE, _LEAST_HEADING = 100, 8
#: words of headings and captions that LaTeX sets as mathematics
_MATHEMATICS = {"tau_b": r"$\tau_b$", "tau_AP": r"$\tau_{\mathrm{AP}}$"}
_ESCAPED = {
    **{c: f"\\{c}" for c in "&%_#${}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "`": r"\`{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
}


def latex(text: str) -> str:
    r"""Return a text as LaTeX sets it letter by letter: its special characters escaped, no ligatures of dashes."""
    escaped = "".join(_ESCAPED.get(character, character) for character in visible(text))
    # two dashes would become a long one, two apostrophes a quotation mark, "?`" is gone with the grave
    return re.sub(r"(?<=-)-", r"{}-", re.sub(r"(?<=')'", r"{}'", escaped))


def _side(column: Column) -> str:
    return "l" if column.digits is Digits.TEXT else "r"


def _latex_cell(text: str, value: Any, digits: Digits) -> str:
    if is_missing(value):
        return "--"
    return _latex_start(text) if digits is Digits.TEXT else re.sub(r"-(?=\d)", "$-$", text.replace("<", "$<$"))


def _latex_start(text: str) -> str:
    # what follows \\ in brackets, or as a star, is an option of the line's end
    return re.sub(r"^([\[*])", r"{\1}", latex(text))


def _latex_heading(column: Column) -> str:
    width = max(_LEAST_HEADING, *map(display_width, column.cells()), *map(len, column.heading.split()))
    lines = textwrap.wrap(column.heading, width, break_long_words=False, break_on_hyphens=False) or [""]
    stacked = r" \\ ".join(_mathematics(_latex_start(line)) for line in lines)
    return stacked if len(lines) == 1 else rf"\shortstack[{_side(column)}]{{{stacked}}}"


def _latex_prose(text: str) -> str:
    return textwrap.fill(_mathematics(latex(text)), _SOURCE, break_long_words=False, break_on_hyphens=False)


def _mathematics(text: str) -> str:
    for word, mathematics in _MATHEMATICS.items():
        text = mathematics.join(re.split(rf"(?<![\w-]){re.escape(latex(word))}(?![\w\\-])", text))
    return text
