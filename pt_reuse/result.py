"""Result: what studies return. Its tables are fields; how it prints, reports, figures and notes are declared."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from inspect import cleandoc, signature
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any, ClassVar, get_type_hints

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from pt_reuse import _saving, _text
from pt_reuse._files import checked_path
from pt_reuse._report import Column, Digits, Report
from pt_reuse._text import BESIDE, WIDTH, Printed, is_missing, prose, with_ends
from pt_reuse.columns import UNITS, Table, column, described
from pt_reuse.errors import InputError, choice, examples, flag, plural
from pt_reuse.options import SHARED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: rows of a table that are printed, of which a notebook has twice as many, and answers
_SHOWN, _ANSWERS = 8, 3
#: what is said of an empty table
_NOTHING = "nothing was computed."
#: what an interval looks like behind its number
_INTERVAL = re.compile(r"\(\S+ to \S+\)")


def first_of(lines: Sequence[str]) -> list[str]:
    """Return the first answers, and how many there are beside them."""
    more = len(lines) - _ANSWERS
    return [*lines] if more <= 1 else [*lines[:_ANSWERS], f"and {more:,} more"]


class _Said(dict[str, Any]):
    """What sentences speak of; what the settings of a saved result do not say is not recorded."""

    def __missing__(self, name: str) -> str:
        return "not recorded"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Record(Printed):
    """Tables, arrays and settings that can be saved to a folder, and read back by :func:`read_result`.

    What a kind of record declares: ``title``; ``about``, what of, behind the title; ``valid_for``, for what the answers
    hold, and ``not_covered``, what they do not say. All speak of settings and attributes by their names.

    Attributes:
        settings: under which conventions it was made, for display.
    """

    title: ClassVar[str] = "Result"
    about: ClassVar[str] = ""
    valid_for: ClassVar[str] = ""
    not_covered: ClassVar[str] = ""

    settings: Mapping[str, Any]

    def __init_subclass__(cls, **arguments: Any):
        super().__init_subclass__(**arguments)
        _saving.KINDS[cls.__name__] = cls

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table by name, the main one first; each is saved as a file of its own."""
        return {}

    def answers(self) -> list[str]:
        """Return the answer, a line for each measure or judge, the main number first."""
        return []

    def headline(self) -> str:
        """Return the answer in one line."""
        return "; ".join(first_of(self.answers()))

    def words(self) -> dict[str, Any]:
        """Return what captions, notes and the verdict speak of: the settings, and numbers and names beside them."""
        return dict(self.settings)

    def heading(self) -> str:
        """Return the title, and what of."""
        return self.title + (f", {self.about.format_map(_Said(self.words()))}" if self.about else "")

    def conditions(self) -> list[str]:
        """Return for what the answers hold, with which intervals, and what is not covered, a line each."""
        parts = (("For", self.valid_for), ("Not covered", self.not_covered))
        lines = [f"{what}: {text.format_map(_Said(self.words()))}" for what, text in parts if text]
        kind = str(self.settings.get("intervals", "none")).partition(": ")[0]
        if lines and kind != "none" and _INTERVAL.search("; ".join(self.answers())):
            lines[0] += f" Intervals: {kind}."
        return lines

    def notes(self) -> list[str]:
        """Return what a reader must know beside the numbers: the conventions, and what is odd about the data."""
        said = {
            "order": "documents ranked in the order {order}",
            "complete": "means over all topics" if self.settings.get("complete") else "means over a run's own topics",
        }
        found = [text.format_map(self.settings) for name, text in said.items() if name in self.settings]
        conventions = [f"Conventions: {'; '.join(found)}."] if found else []
        beware = [f"Note: {self.settings['beware']}."] if "beware" in self.settings else []
        return [*self.conditions(), *conventions, *beware]

    def save(self, folder: str | Path, *, overwrite: bool = False) -> list[Path]:
        """Write every table as CSV, the settings as JSON, and what else it takes to read the whole back.

        Args:
            folder: where to; made when it does not exist.
            overwrite: replace files that exist already; default is an error before anything is written.

        Returns:
            list of Path: what was written: a ``.csv`` per table, ``settings.json``, ``arrays.npz`` where there are
            arrays, and ``result.json``, which :func:`read_result` needs.

        Raises:
            InputError: a file that exists, a folder that cannot be written to, a table with cells that cannot be
                saved.
        """
        return _saving.save_with(self, {}, checked_path(folder), overwrite=flag("overwrite", overwrite))

    def _shown(self) -> pd.DataFrame:
        """Return the table whose first rows are shown."""
        return next(iter(self.tables().values()))

    def _rest(self) -> str:
        """Return what the rows are that are not shown, and where they are."""
        return f"rows in .{next(iter(self.tables()))}"

    def _answers(self) -> list[str]:
        """Return the columns that hold the answer, the most telling first."""
        return []

    def _parts(self) -> tuple[pd.DataFrame, list[str], list[str]]:
        """Return what is printed: the table, the answers above and the conditions below."""
        shown = self._shown()
        return (shown, [_NOTHING], []) if shown.empty else (shown, first_of(self.answers()), self.conditions())

    def __repr__(self) -> str:
        return f"{self.heading()}: {self.headline() if len(self._shown()) else _NOTHING}"

    def __str__(self) -> str:
        shown, answers, conditions = self._parts()
        # a narrow screen goes without these, first to last: numbers say more than ends, first columns more than last
        telling = [name for name in self._answers() if name in shown]
        worth = dict.fromkeys(telling, 2)
        if telling:
            # what the rows are says more than all numbers but one
            before = shown.columns[: shown.columns.get_loc(telling[0])]
            worth |= {telling[0]: 4, **{name: 3 for name in before if not is_numeric_dtype(shown[name])}}
        spare = sorted(shown.columns[:1:-1], key=lambda name: 0 if name.endswith(BESIDE) else worth.get(name, 1))
        rows = _text.table(shown, width=WIDTH, most=_SHOWN, what=self._rest(), spare=spare)
        above, below = ([prose(t, width=WIDTH) for t in part] for part in ([self.heading(), *answers], conditions))
        return "\n".join([*above, rows, *below, f"Settings: result.settings ({len(self.settings)})"])

    def _repr_html_(self) -> str:
        shown, answers, conditions = self._parts()
        rows = _text.html_table(shown, most=2 * _SHOWN, what=self._rest())
        below = _text.html_lines(conditions) + _text.html_folded(self.settings)
        return _text.html_headline(self.heading(), *answers) + rows + below


@dataclass(frozen=True)
class KeyFigures:
    """Numbers that sum a result up: columns of a table, row by row."""

    columns: Sequence[str]  # the names of the numbers
    table: str = "table"  # the name of the table, or of the method that returns it
    row: str = ""  # what a row is called behind the name of the number, such as ``"pool of {pool}"`` of its cells
    last: bool = False  # whether the last row alone counts


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Result(Record):
    """A study's answer: every table, array and number is an attribute, `table` the main one.

    What a kind of result declares: its tables, ``Annotated[pd.DataFrame, Table(...)]``, of which docstring, reports and
    checks are made; ``columns``, those of its own, a line each; ``answer``, a table and the line said of each of its
    rows, numbers with their intervals; ``key``, the numbers of that table that sum it up; ``valid_for``,
    ``not_covered`` and ``about``, see :class:`Record`; ``plots``, what draws it, functions of the result, a measure, a
    place and options; ``derived``, tables that are saved and are no fields, by their methods, which declare them as
    what they return; ``main``, under which name its table is saved.

    Attributes:
        table: the main table.
        settings: the resolved value of every convention that the numbers depend on.
    """

    columns: ClassVar[str] = ""
    declared: ClassVar[Mapping[str, Table]] = {}
    # what there are reports of: the declared tables and those of methods, that of the answer first
    views: ClassVar[Mapping[str, Table]] = {}
    main: ClassVar[str] = "table"
    plots: ClassVar[Mapping[str, Callable[..., Any]]] = {}
    key: ClassVar[tuple[KeyFigures, ...] | str] = ()
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
        cls.views = {name: every[name] for name in sorted(every, key=lambda name: name != first)}
        entries = [f"{name}: {described(table, cls.columns)}" for name, table in every.items()]
        head, section, tail = cleandoc(cls.__doc__ or "").partition("\n\nAttributes:\n")
        lines = [fill(entry, 116, initial_indent="    ", subsequent_indent="        ") for entry in entries]
        cls.__doc__ = "\n".join([head, "", "Attributes:", *lines, *([tail] if section else [])])

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
        every = [getattr(self, part.name) for part in fields(self)]
        found = [frame["measure"] for frame in every if isinstance(frame, pd.DataFrame) and "measure" in frame]
        return list(dict.fromkeys(found[0].dropna())) if found else []

    def _shown(self) -> pd.DataFrame:
        if not self.declared or self.table.empty:
            return self.table
        declared, head = self.declared["table"], list(self.table)[:2]
        names = declared.reported_of(self.table)
        units = (names[0],) if names[0] == head[0] else UNITS
        first = [n for n in units if n in head and self.table[n].notna().any()]
        # what tells rows apart that are otherwise alike
        first += [n for n in declared.select or () if n not in names and len(set(self.table[n])) > 1]
        first += ["measure"] if "measure" in head or (len(self.measures) > 1 and "measure" in self.table) else []
        return self.table[list(dict.fromkeys([*first, *names]))]

    def _rest(self) -> str:
        return "rows in .table"

    def _ordered(self, name: str, rows: pd.DataFrame) -> pd.DataFrame:
        """Return the rows of a table as they are shown, the telling ones first."""
        return rows

    def _answers(self) -> list[str]:
        if isinstance(self.key, str):
            return self.key.split()
        return [name for figures in self.key for name in figures.columns]

    def words(self) -> dict[str, Any]:
        """Return what captions, notes and the verdict speak of: settings, and numbers and names among attributes."""
        values = {part.name: getattr(self, part.name) for part in fields(self)}
        plain = {n: v for n, v in values.items() if v is None or isinstance(v, str | int | float)}
        return {**self.settings, **plain}

    def answers(self) -> list[str]:
        """Return the answer, a line for each row of the table that says it, or a few words where none does."""
        if self.answer is None:
            return [f"{len(self.table):,} rows"]
        table, text = self.answer
        return [text.format_map({**self.words(), **cells(row, self.columns)}) for row in records(self.frame(table))]

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
        table, of_method = self.views[name], self._options_of(name)
        _check_options(options, self.options_of(name), f"by={name!r}")
        given = {option: options.pop(option) for option in of_method if option in options}
        rows = self.frame(name, **given)
        if rows is None:
            raise InputError(f"{self.title} has no table {name!r} here. {table.about}")
        chosen = self._measure(measure) if table.of_measure or measure is not None else None
        if chosen is not None and "measure" in rows:
            rows = rows[rows["measure"] == chosen]
        rows, picked = only(rows, {**(table.select or {}), **options})
        rows = self._ordered(name, rows)
        if table.descending:
            rows = rows.sort_values(list(table.descending), ascending=False, kind="stable", na_position="last")
        words = {name.replace(" ", "_"): value for name, value in self.settings.items()} | of_method
        words |= {**self.words(), **given, **picked, "measure": chosen, "rows": len(rows)}
        of = "" if chosen is None else f", {chosen}"
        caption = table.caption.format(**words) if table.caption else f"{self.heading()}{of}."
        names, verdict = table.reported_of(rows), [f"{line}." for line in self.answers()]
        columns = []
        for each in names:
            known, beside = column(each, self.columns), f"{each}_low" in rows and f"{each}_low" not in names
            ends = (rows[f"{each}_low"], rows[f"{each}_high"]) if beside else None
            columns.append(Column(known.heading, rows[each], known.digits, ends))
        return Report(columns, caption=caption, notes=self.notes(), verdict=verdict)

    def options_of(self, view: str) -> list[str]:
        """Return the names of the options that the report of a view has."""
        return [*(self.views[view].select or ()), *(name for name in self._options_of(view) if name != "measure")]

    def _options_of(self, view: str) -> dict[str, Any]:
        """Return what the method that returns a table takes, with its defaults; nothing of a table that is a field."""
        method = getattr(type(self), view, None)
        return {n: p.default for n, p in [*signature(method).parameters.items()][1:]} if callable(method) else {}

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
        draw = self.plots[name]
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


def drawn_by_measure(draw: Callable[..., Axes], table: str = "table", **fixed: Any) -> Callable[..., Axes]:
    """Return what draws the rows of a table under a measure."""

    def drawn(result: Result, measure: str, place: Any) -> Axes:
        rows = result.frame(table)
        return draw(rows[rows["measure"] == measure], measure=measure, place=place, **fixed)

    return drawn


def _check_options(options: Mapping[str, Any], taken: Sequence[str], what: str) -> None:
    """Raise where something is asked for that a view or a figure does not take."""
    unknown = [name for name in options if name not in taken]
    if unknown:
        has = f"takes {examples(taken, 12)}" if taken else "takes none"
        raise InputError(f"{unknown[0]} is no option of {what}, which {has}.", argument=unknown[0])


def _tables_in(hint: Any) -> list[Table]:
    return [part for part in getattr(hint, "__metadata__", ()) if isinstance(part, Table)]


# rows in words and as numbers


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows as dicts."""
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def cells(row: Mapping[str, Any], own: str = "") -> dict[str, Told]:
    """Return the cells of a row as headlines write them."""
    return {name: Told(row, name, own) for name in row}


class Told:
    """A cell of a row in a sentence: with its interval where the row has one; a missing number is undefined.

    It has the digits of its column. A format of letters is a noun that is counted.

    Example:
        >>> row = {"drop": 2, "drop_low": 1, "drop_high": 4, "name": "a", "max_drop": 2.5}
        >>> said = {name: Told(row, name) for name in row}
        >>> "{drop:rank}, {name}, {max_drop}".format(**said)
        '2 ranks (1 to 4), a, 2.5'
    """

    def __init__(self, row: Mapping[Any, Any], name: str, own: str = ""):
        self._row, self._name, self._own = row, name, own

    def __format__(self, form: str) -> str:
        value = self._row[self._name]
        if isinstance(value, str):
            return format(value, form)
        if is_missing(value) and self._name.endswith("tau_b"):
            return "undefined (no two runs differ in one of the rankings)"
        if form and not form.isalpha():
            return with_ends(self._row, self._name, form)
        digits = Digits.RANKS if form else column(self._name, self._own).digits
        said = with_ends(self._row, self._name, digits.written)
        if not form or is_missing(value):
            return said
        number, space, between = said.partition(" ")
        return f"{number} {form if value == 1 else plural(form)}{space}{between}"


def key_numbers(result: Result) -> pd.DataFrame:
    """Return ``measure figure value`` of the numbers that sum a result up; none where no few numbers do.

    A number of several rows of a measure has the first columns that tell the rows apart behind its name.
    """
    if not result.key:
        return pd.DataFrame()
    if isinstance(result.key, str):
        figures: Sequence[str] = result.key.split()
        rows = result.frame(result.answer[0] if result.answer else "table")
        measure, others = (["measure"] if "measure" in rows else []), [name for name in rows if name != "measure"]
        telling = (others[:n] for n in range(len(others)))
        names = next(some for some in telling if len(rows) == 1 or not rows.duplicated([*some, *measure]).any())
        named = [", ".join(map(str, row)) for row in rows[names].itertuples(index=False)]
    else:
        (key,) = result.key
        figures, rows = key.columns, result.frame(key.table).iloc[-1 if key.last else 0 :]
        named = [key.row.format_map(row) for row in records(rows)]
    values = [pd.to_numeric(rows[figure]).to_numpy(dtype=float, na_value=np.nan) for figure in figures]
    measures = rows["measure"].tolist() if "measure" in rows else [None] * len(rows)
    return pd.DataFrame(
        {
            "measure": pd.Series([measure for measure in measures for _ in figures], dtype=object),
            "figure": pd.Series(
                [f"{figure}, {row}" if row else figure for row in named for figure in figures], dtype=object
            ),
            "value": np.column_stack(values).ravel(),
        }
    )
