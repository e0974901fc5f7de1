"""StudyResult: what studies return. Its tables are fields, its reports lists of columns, its figures declared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from inspect import signature
from typing import TYPE_CHECKING, Any, ClassVar

import pandas as pd

from pt_reuse._check import choice, examples
from pt_reuse._errors import Argument, InputError, arguments_as, door
from pt_reuse._report import Column, Digits, Report, intervals
from pt_reuse._result import Result
from pt_reuse.options import SHARED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: the setting in which notes stand that a reader must know
_NOTED = "beware"


@dataclass(frozen=True)
class Shown:
    """A column of a view.

    Attributes:
        heading: in words.
        column: of the table; where it has none of this name, the view goes without.
        digits: how its cells are written.
        interval: whether it is the interval of the column, whose ends are in ``COLUMN_low`` and ``COLUMN_high``.
        unless: a column of the table in whose place it stands, so that the view goes without where there is this one.
    """

    heading: str
    column: str
    digits: Digits = Digits.TEXT
    interval: bool = False
    unless: str = ""

    def of(self, rows: pd.DataFrame) -> Iterator[Column]:
        """Yield the column of a report, none where the table has none."""
        if self.unless in rows:
            return
        if self.interval:
            if f"{self.column}_low" in rows:
                low, high = rows[f"{self.column}_low"], rows[f"{self.column}_high"]
                yield Column(self.heading, intervals(self.column, low, high, self.digits).values)
        elif self.column in rows:
            yield Column(self.heading, rows[self.column], self.digits)


@dataclass(frozen=True, kw_only=True)
class View:
    """A report of one table of a result: which columns, in which order of rows, under which caption.

    Attributes:
        columns: the first says what the rows are.
        caption: one sentence; ``{measure}`` is the measure whose rows are shown, ``{depth}`` the setting or the
            attribute *depth*, ``{judge}`` what is chosen of a column.
        table: the name of the table, an attribute of the result.
        select: column -> whose rows are shown: a value, None for the first, ``...`` for all. Each is an option of the
            report.
        descending: the columns by which rows are sorted, the largest first; default as they stand in the table.
        noun: what the rows are, in the plural.
        long: whether a command prints the first rows only, unless it is told to print all.
    """

    columns: tuple[Shown, ...]
    caption: str
    table: str = "table"
    select: Mapping[str, Any] = field(default_factory=dict)
    descending: tuple[str, ...] = ()
    noun: str = "rows"
    long: bool = False

    def of(self, result: StudyResult, measure: str | None, options: Mapping[str, Any]) -> Report:
        """Return the report of a result."""
        rows: pd.DataFrame = getattr(result, self.table)
        if measure is not None and "measure" in rows:
            rows = rows[rows["measure"] == measure]
        rows, chosen = only(rows, {**self.select, **options})
        if self.descending:
            rows = rows.sort_values(list(self.descending), ascending=False, kind="stable", na_position="last")
        words = {name.replace(" ", "_"): value for name, value in result.settings.items()}
        words |= {part.name: getattr(result, part.name) for part in fields(result)} | chosen
        caption = self.caption.format(**{**words, "measure": measure})
        return Report([c for shown in self.columns for c in shown.of(rows)], caption=caption, notes=result.notes())

    @property
    def of_measure(self) -> bool:
        """Return whether it shows the rows of one measure."""
        return "{measure}" in self.caption


def only(rows: pd.DataFrame, wanted: Mapping[str, Any]) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return the rows with these values, column by column, and the values: None is the first there is, ``...`` any."""
    chosen = {}
    for column, value in wanted.items():
        known = list(dict.fromkeys(rows[column]))
        if value is ... or not (known or value is None):
            continue
        chosen[column] = next(iter(known), None) if value is None else choice(column, value, known)
        rows = rows[rows[column] == chosen[column]]
    return rows, chosen


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class StudyResult(Result):
    """A study's answer: every table, array and number is an attribute, `table` the main one.

    Attributes:
        table: the main table.
        settings: the resolved value of every convention that the numbers depend on.
    """

    #: name -> view, or what makes a report of the result and of options; the first is the usual one
    views: ClassVar[Mapping[str, View | Callable[..., Report]]] = {}
    #: name -> what draws the result; the first is the usual one
    plots: ClassVar[Mapping[str, Callable[..., Any]]] = {}

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table by name, the main one first."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if isinstance(value, pd.DataFrame)}

    @property
    def measures(self) -> list[str]:
        """Return the names of the measures, in the order asked for; none where no number is of a measure."""
        found = [frame["measure"] for frame in self.tables().values() if "measure" in frame]
        return list(dict.fromkeys(found[0])) if found else []

    def notes(self) -> list[str]:
        """Return what a reader must know beside the numbers: the conventions, and what is odd about the data."""
        settings = self.settings
        sentences = {
            "order": "Documents are ranked in the order {order}.",
            "pool order": "They are pooled in the order {pool order}; contributors are {contributors}.",
            "relevant": "Relevant: {relevant}.",
            "intervals": "Intervals: {intervals}.",
            _NOTED: f"Note: {{{_NOTED}}}.",
        }
        told = [sentence for name, sentence in sentences.items() if settings.get(name) not in (None, "none")]
        known = {"contributors": "not recorded", **settings}
        return [sentence.format(**known) for sentence in told]

    @door
    def report(self, by: str | None = None, *, measure: Any = None, **options: Any) -> Report:
        """Return what a paper prints: a few columns of one of the tables.

        Args:
            by: which, one of `views`; default the first.
            measure: whose rows are shown, where a view shows those of one measure; default the first.
            **options: those of the view.

        Raises:
            InputError: unknown rows, an unknown measure or option.
        """
        name = next(iter(self.views)) if by is None else choice("by", by, list(self.views))
        found = self.views[name]
        if not isinstance(found, View):
            taken = _options_of(found, 1)
            _check_options(taken, options, f"by={name!r}")
            return found(self, **options, **({"measure": measure} if "measure" in taken else {}))
        _check_options(list(found.select), options, f"by={name!r}")
        return found.of(self, self._measure(measure) if found.of_measure or measure is not None else None, options)

    @door
    def plot(
        self,
        measure: Any = None,
        *,
        kind: str | None = None,
        ax: Axes | None = None,
        title: str | None = None,
        legend: bool = True,
        width: float | None = None,
        **options: Any,
    ) -> Axes:
        """Draw the result; :doc:`figures` shows and describes every figure.

        Args:
            measure: one of the measures; default the first.
            kind: one of `plots`; default the first.
            ax: axes to draw into; default a new figure.
            title: default the figure's own in a new figure, none in `ax`; ``""`` for none.
            legend: whether there is one, outside the axes.
            width: of a new figure in inches, default 7, a page's; 3.3 for a column.
            **options: those of the kind of figure.

        Returns:
            Axes: the figure's; of several the first, ``ax.figure.axes`` has all.

        Raises:
            InputError: an unknown measure, kind or option.
        """
        from pt_reuse.plots.sheet import Place

        if not self.plots:
            raise InputError(f"{self.title} has no figure.")
        name = next(iter(self.plots)) if kind is None else choice("kind", kind, list(self.plots))
        draw = self.plots[name]
        _check_options(_options_of(draw, 3), options, f"kind={name!r}")
        chosen = self._measure(measure) if self.measures else None
        return draw(self, chosen, Place(ax, title, legend, width), **options)

    def _measure(self, measure: Any) -> str:
        """Return the name of one of the measures, the first for None."""
        if measure is None:
            return self.measures[0]
        name = measure
        if not (isinstance(measure, str) and measure in self.measures):
            with arguments_as(measures="measure"):
                name = repr(SHARED["measures"].checked(measure)[0])
        if name not in self.measures:
            raise InputError(f"{name} was not computed; there is {examples(self.measures, 12)}.", argument="measure")
        return str(name)


def _options_of(call: Callable[..., Any], first: int) -> list[str]:
    return list(signature(call).parameters)[first:]


def _check_options(taken: list[str], options: Mapping[str, Any], what: str) -> None:
    """Raise where something is asked for that a view or a figure does not take."""
    unknown = [name for name in options if name not in taken]
    if unknown:
        has = f"takes {examples(taken, 12)}" if taken else "takes none"
        raise InputError(Argument(unknown[0]), f" is no option of {what}, which {has}.", argument=unknown[0])
