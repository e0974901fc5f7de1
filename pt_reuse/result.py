"""Result: what studies return. Its tables are fields; reports, figures, key figures and notes are declared."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from inspect import cleandoc, signature
from textwrap import fill
from typing import TYPE_CHECKING, Any, ClassVar, get_type_hints

import numpy as np
import pandas as pd

from pt_reuse._check import choice, examples, plural
from pt_reuse._report import Column, Report
from pt_reuse._result import Record
from pt_reuse._text import is_missing, with_ends
from pt_reuse.columns import UNITS, Table, column, described
from pt_reuse.errors import InputError
from pt_reuse.options import SHARED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: parts of a headline, of a measure or a judge each, that are told
_CLAUSES = 3


def only(rows: pd.DataFrame, wanted: Mapping[str, Any]) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return the rows with these values, column by column, and the values: None is the first there is, ``...`` any."""
    chosen = {}
    for name, value in wanted.items():
        known = list(dict.fromkeys(rows[name]))
        if value is ... or not (known or value is None):
            continue
        texts = all(isinstance(one, str) for one in known)
        if value is not None and not texts and value not in known:
            raise InputError(f"{name} must be one of {examples(known, 12)}, got {value!r}.", argument=name)
        chosen[name] = next(iter(known), None) if value is None else choice(name, value, known) if texts else value
        rows = rows[rows[name] == chosen[name]]
    return rows, chosen


@dataclass(frozen=True)
class KeyFigures:
    """Numbers that sum a result up: columns of a table, row by row."""

    columns: Sequence[str]  # the names of the numbers
    table: str = "table"  # the name of the table, or of the method that returns it
    row: str = ""  # what a row is called behind the name of the number, such as ``"pool of {pool}"`` of its cells
    last: bool = False  # whether the last row alone counts

    def of(self, result: Result) -> pd.DataFrame:
        """Return ``measure figure value``, see :func:`key_numbers`."""
        rows = result.frame(self.table)
        rows = rows.tail(1) if self.last else rows
        named = [self.row.format_map(row) for row in records(rows)]
        return key_figures_of(rows, self.columns, rows=named)


@dataclass(frozen=True)
class TableReport:
    """The report of a declared table: its columns, under a caption, see :class:`~pt_reuse.columns.Table`."""

    name: str  # of the table
    table: Table

    @property
    def noun(self) -> str:
        """Return what the rows are."""
        return self.table.noun

    @property
    def of_measure(self) -> bool:
        """Return whether it shows the rows of one measure."""
        return self.table.of_measure

    def options(self, kind: type) -> list[str]:
        """Return the names of what it takes."""
        return [*(self.table.select or ()), *(name for name in _taken(kind, self.name) if name != "measure")]

    def of(self, result: Result, measure: str | None, options: Mapping[str, Any]) -> Report:
        """Return the report of a result."""
        of_method = {name: value for name, value in options.items() if name in _taken(type(result), self.name)}
        options = {name: value for name, value in options.items() if name not in of_method}
        rows = result.frame(self.name, **of_method)
        if rows is None:
            raise InputError(f"{result.title} has no table {self.name!r} here. {self.table.about}")
        rows = rows if measure is None or "measure" not in rows else rows[rows["measure"] == measure]
        rows, chosen = only(rows, {**(self.table.select or {}), **options})
        if self.table.descending:
            rows = rows.sort_values(list(self.table.descending), ascending=False, kind="stable", na_position="last")
        names = self.table.reported_of(rows)
        words = {name.replace(" ", "_"): value for name, value in result.settings.items()}
        words |= {**_taken(type(result), self.name), **result.words(), **of_method, **chosen}
        words |= {"measure": measure, "rows": len(rows)}
        of = f", {measure}" if measure is not None else ""
        caption = self.table.caption.format(**words) if self.table.caption else f"{result.heading()}{of}."
        return Report([_reported(rows, n, names, result.columns) for n in names], caption=caption, notes=result.notes())


def _taken(kind: type, name: str) -> dict[str, Any]:
    """Return what the method that returns a table takes, with its defaults; nothing of a table that is a field."""
    method = getattr(kind, name, None)
    return {n: p.default for n, p in list(signature(method).parameters.items())[1:]} if callable(method) else {}


def _reported(rows: pd.DataFrame, name: str, names: Sequence[str], own: str) -> Column:
    known, beside = column(name, own), f"{name}_low" in rows and f"{name}_low" not in names
    ends = (rows[f"{name}_low"], rows[f"{name}_high"]) if beside else None
    return Column(known.heading, rows[name], known.digits, ends)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Result(Record):
    """A study's answer: every table, array and number is an attribute, `table` the main one.

    What a kind of result declares: its tables, ``Annotated[pd.DataFrame, Table(...)]``, of which docstring, reports and
    checks are made; ``columns``, those of its own, a line each; ``answer``, a table and the line said of each of its
    rows, numbers with their intervals; ``key``, the numbers of that table that sum it up; ``valid_for``,
    ``not_covered`` and ``about``, see :class:`Record`; ``plots``, what draws it, functions of :mod:`pt_reuse.plots` (as
    ``"lines:plot_depths"``) of the result, a measure, a place and options; ``derived``, tables that are saved and are
    no fields, by their methods, which declare them as what they return; ``main``, under which name its table is saved.

    Attributes:
        table: the main table.
        settings: the resolved value of every convention that the numbers depend on.
    """

    columns: ClassVar[str] = ""
    declared: ClassVar[Mapping[str, Table]] = {}
    views: ClassVar[Mapping[str, TableReport | Callable[..., Report]]] = {}
    main: ClassVar[str] = "table"
    plots: ClassVar[Mapping[str, str | Callable[..., Any]]] = {}
    key: ClassVar[Sequence[KeyFigures] | str] = ()
    answer: ClassVar[tuple[str, str] | None] = None
    derived: ClassVar[Mapping[str, str]] = {}

    table: pd.DataFrame

    def __init_subclass__(cls, **arguments: Any):
        super().__init_subclass__(**arguments)
        hints = get_type_hints(cls, include_extras=True)
        own = {name: part for name, hint in hints.items() for part in _tables_in(hint)}
        # a base has its tables in its own declaration, since signatures show the type alone
        cls.__annotations__ |= {name: hints[name].__origin__ for name in own}
        cls.declared = own = {**cls.declared, **own}
        of_methods = {name: get_type_hints(getattr(cls, name), include_extras=True) for name in cls.derived.values()}
        every = {name: part for name, hint in of_methods.items() for part in _tables_in(hint["return"])} | own
        if not every:
            return
        first = cls.answer[0] if cls.answer else "table"
        cls.views = {name: TableReport(name, every[name]) for name in sorted(every, key=lambda name: name != first)}
        entries = [f"{name}: {described(table, cls.columns)}" for name, table in every.items()]
        cls.__doc__ = with_attributes(cls.__doc__ or "", entries)

    def __post_init__(self) -> None:
        for name, table in self.declared.items():
            frame = getattr(self, name)
            if frame is not None and len(frame.columns):
                table.check(frame, f"{type(self).__name__}.{name}")

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table by name, the main one first."""
        values = {part.name: getattr(self, part.name) for part in fields(self)}
        found = {name: value for name, value in values.items() if isinstance(value, pd.DataFrame)}
        found = {self.main: found.pop("table"), **found}
        return {**found, **{name: self.frame(method) for name, method in self.derived.items()}}

    def frame(self, name: str, **options: Any) -> pd.DataFrame:
        """Return the table of a name, or what a method of this name returns."""
        found: Any = getattr(self, name)
        return found(**options) if callable(found) else found

    def to_frame(self) -> pd.DataFrame:
        """Return a copy of the main table."""
        return self.table.copy()

    # not a property: some results have a field of this name
    @cached_property
    def measures(self) -> list[str]:
        """Return the names of the measures, in the order asked for; none where no number is of a measure."""
        return self._names_in("measure")

    def _shown(self) -> pd.DataFrame:
        if not self.declared or self.table.empty:
            return self.table
        names, head = self.declared["table"].reported_of(self.table), list(self.table)[:2]
        units = (names[0],) if names[0] == head[0] else UNITS
        first = [n for n in units if n in head]
        # what tells rows apart that are otherwise alike
        first += ["measure"] if "measure" in head or (len(self.measures) > 1 and "measure" in self.table) else []
        return self.table[list(dict.fromkeys([*first, *names]))]

    def _rest(self) -> str:
        return "rows in .table"

    def _answers(self) -> list[str]:
        if isinstance(self.key, str):
            return self.key.split()
        return [name for figures in self.key for name in figures.columns]

    def _names_in(self, column: str) -> list[str]:
        every = [getattr(self, part.name) for part in fields(self)]
        found = [frame[column] for frame in every if isinstance(frame, pd.DataFrame) and column in frame]
        return list(dict.fromkeys(found[0].dropna())) if found else []

    def words(self) -> dict[str, Any]:
        """Return what captions, notes and the verdict speak of: settings, and numbers and names among attributes."""
        values = {part.name: getattr(self, part.name) for part in fields(self)}
        plain = {n: v for n, v in values.items() if v is None or isinstance(v, str | int | float)}
        return {**self.settings, **plain}

    def notes(self) -> list[str]:
        """Return what a reader must know beside the numbers: the conventions, and what is odd about the data."""
        return [*self.conditions(), *(f"Note: {text}." for name, text in self.settings.items() if name == "beware")]

    def answers(self) -> list[str]:
        """Return the answer, a line for each row of the table that says it, or a few words where none does."""
        if self.answer is None:
            return [f"{len(self.table):,} rows"]
        table, text = self.answer
        return [text.format_map({**self.words(), **cells(row, self.columns)}) for row in records(self.frame(table))]

    def headline(self) -> str:
        """Return the answer in one line."""
        return clauses(self.answers())

    def report(self, by: str | None = None, *, measure: Any = None, **options: Any) -> Report:
        """Return what a paper prints: a few columns of one of the tables.

        Args:
            by: which, one of `views`, or a measure; default the first.
            measure: whose rows are shown, where a view shows those of one measure; default the first.
            **options: those of the view.

        Raises:
            InputError: unknown rows, an unknown measure or option.
        """
        if not self.views:
            raise InputError(f"{self.title} has no report.")
        if measure is None and isinstance(by, str) and by not in self.views and by in self.measures:
            by, measure = None, by
        name = next(iter(self.views)) if by is None else choice("by", by, list(self.views))
        found = self.views[name]
        if not isinstance(found, TableReport):
            taken = list(signature(found).parameters)[1:]
            _check_options(options, taken, f"by={name!r}")
            report = found(self, **options, **({"measure": measure} if "measure" in taken else {}))
        else:
            _check_options(options, found.options(type(self)), f"by={name!r}")
            chosen = self._measure(measure) if found.of_measure or measure is not None else None
            report = found.of(self, chosen, options)
        return report.under([f"{line}." for line in self.answers()])

    def plot(
        self,
        which: Any = None,
        /,
        *,
        measure: Any = None,
        kind: str | None = None,
        ax: Axes | None = None,
        title: str | None = None,
        legend: bool = True,
        width: float | None = None,
        **options: Any,
    ) -> Axes:
        """Draw the result; :doc:`figures` shows and describes every figure.

        Args:
            which: a measure, or a kind of figure.
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
        if which is not None:
            measure, kind = (measure, which) if isinstance(which, str) and which in self.plots else (which, kind)
        name = next(iter(self.plots)) if kind is None else choice("kind", kind, list(self.plots))
        draw = drawing(self.plots[name])
        _check_options(options, list(signature(draw).parameters)[3:], f"kind={name!r}")
        chosen = self._measure(measure) if self.measures else None
        return draw(self, chosen, Place(ax, title, legend, width), **options)

    def _measure(self, measure: Any) -> str:
        """Return the name of one of the measures, the first for None."""
        if not self.measures:
            raise InputError(f"no number of this {self.title} is of a measure.", argument="measure")
        if measure is None:
            return self.measures[0]
        name = measure
        if not (isinstance(measure, str) and measure in self.measures):
            name = repr(SHARED["measures"].checked(measure)[0])
        if name not in self.measures:
            raise InputError(f"{name} was not computed; there is {examples(self.measures, 12)}.", argument="measure")
        return str(name)


def drawing(figure: str | Callable[..., Any]) -> Callable[..., Any]:
    """Return the function that draws a declared figure; what takes no measure calls its second argument ``_``."""
    if not isinstance(figure, str):
        return figure
    module, _, function = figure.partition(":")
    found: Callable[..., Any] = getattr(importlib.import_module(f"pt_reuse.plots.{module}"), function)
    return found


def clauses(found: Sequence[str]) -> str:
    """Return the first few parts of a headline, and how many there are beside them."""
    more = len(found) - _CLAUSES
    return "; ".join([*found[:_CLAUSES], *([f"and {more:,} more"] if more > 0 else [])])


def cells(row: Mapping[str, Any], own: str = "") -> dict[str, Told]:
    """Return the cells of a row as headlines write them."""
    return {name: Told(row, name, own) for name in row}


def _tables_in(hint: Any) -> list[Table]:
    return [part for part in getattr(hint, "__metadata__", ()) if isinstance(part, Table)]


def with_attributes(doc: str, entries: Sequence[str]) -> str:
    """Return the docstring of a class with entries at the beginning of its section on attributes."""
    head, section, tail = cleandoc(doc).partition("\n\nAttributes:\n")
    lines = [fill(entry, 116, initial_indent="    ", subsequent_indent="        ") for entry in entries]
    return "\n".join([head, "", "Attributes:", *lines, *([tail] if section else [])])


class Told:
    """A cell of a row in a sentence: with its interval where the row has one; a missing number is undefined.

    A format of letters is a noun that is counted.

    Example:
        >>> row = {"drop": 2, "drop_low": 1, "drop_high": 4, "name": "a"}
        >>> "{drop:rank}, {name}".format(drop=Told(row, "drop"), name=Told(row, "name"))
        '2 ranks (1 to 4), a'
    """

    def __init__(self, row: Mapping[Any, Any], name: str, own: str = ""):
        self._row, self._name, self._own = row, name, own

    def __format__(self, form: str) -> str:
        value = self._row[self._name]
        if isinstance(value, str):
            return format(value, form)
        if is_missing(value) and self._name.endswith("tau_b"):
            return "undefined (no two runs differ in one of the rankings)"
        if not form:
            form = column(self._name, self._own).digits.format
        if not form.isalpha():
            return with_ends(self._row, self._name, form)
        said = with_ends(self._row, self._name, ",.0f")
        number, space, between = said.partition(" ")
        return said if is_missing(value) else f"{number} {form if value == 1 else plural(form)}{space}{between}"


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows as dicts."""
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def key_numbers(result: Result) -> pd.DataFrame:
    """Return ``measure figure value`` of the numbers that sum a result up; none where no few numbers do.

    A number of several rows of a measure has the first columns that tell the rows apart behind its name.
    """
    if not isinstance(result.key, str):
        return pd.concat([pd.DataFrame(), *(figures.of(result) for figures in result.key)], ignore_index=True)
    rows = result.frame(result.answer[0] if result.answer else "table")
    measure, others = (["measure"] if "measure" in rows else []), [name for name in rows if name != "measure"]
    telling = (others[:n] for n in range(len(others)))
    names = next(some for some in telling if len(rows) == 1 or not rows.duplicated([*some, *measure]).any())
    named = [", ".join(map(str, row)) for row in rows[names].itertuples(index=False)]
    return key_figures_of(rows, result.key.split(), rows=named)


def _check_options(options: Mapping[str, Any], taken: Sequence[str], what: str) -> None:
    """Raise where something is asked for that a view or a figure does not take."""
    unknown = [name for name in options if name not in taken]
    if unknown:
        has = f"takes {examples(taken, 12)}" if taken else "takes none"
        raise InputError(f"{unknown[0]} is no option of {what}, which {has}.", argument=unknown[0])


def key_figures_of(summary: pd.DataFrame, figures: Sequence[str], *, rows: Sequence[str] | None = None) -> pd.DataFrame:
    """Return columns of a summary as :func:`key_numbers` does, row by row; `rows` says what each is called.

    Example:
        >>> key_figures_of(pd.DataFrame({"measure": ["AP"], "tau_b": [0.9], "max_drop": [2]}), ["tau_b", "max_drop"])
          measure    figure  value
        0      AP     tau_b    0.9
        1      AP  max_drop    2.0
    """
    measures = summary["measure"].tolist() if "measure" in summary else [None] * len(summary)
    values = [pd.to_numeric(summary[figure]).to_numpy(dtype=float, na_value=np.nan) for figure in figures]
    named = [f"{figure}, {row}" if row else figure for row in rows or [""] * len(summary) for figure in figures]
    return pd.DataFrame(
        {
            "measure": pd.Series([measure for measure in measures for _ in figures], dtype=object),
            "figure": pd.Series(named, dtype=object),
            "value": np.column_stack(values).ravel(),
        }
    )
