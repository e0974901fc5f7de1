"""sensitivity: how far the conventions of a study move its key figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar
from warnings import catch_warnings, simplefilter

import numpy as np
import pandas as pd
import pyterrier as pt

from pt_reuse._check import choice, count, flag, told
from pt_reuse._errors import InputError, Option, ReuseWarning, door
from pt_reuse._report import Column, Digits, Report
from pt_reuse._result import Result
from pt_reuse.data.judgments import Qrels, as_qrels
from pt_reuse.data.run_reading import as_runs_before
from pt_reuse.data.run_set import RunSet
from pt_reuse.scoring.measures import MeasureLike, measure_among
from pt_reuse.studies.varied_conventions.grid import (
    ORDER,
    Choice,
    Convention,
    KeptOrders,
    Study,
    StudyCall,
    checked_grid,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: what a key figure is known by
KEYS = ["measure", "figure"]
#: what a change must exceed to be one; sums in another order differ by less
_NOTHING = 1e-12


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Sensitivity(Result):
    """Which key figures of a study move with which convention, and by how much.

    Attributes:
        table: one row per convention, value and key figure, the other conventions at their defaults: ``convention``,
            ``value`` (what it is called), ``is_default``, ``measure`` (None where the figure is of no measure),
            ``figure``; the figure at the ``default`` values and ``here``, and ``change`` = here - default.
        spans: one row per convention and key figure: ``convention measure figure default lowest highest``, the figure
            at the default and its ends over the values, and ``largest_change`` with the value ``at`` which it is, None
            where none changes it. NaN is a change by nobody knows how much: the figure is defined either at the default
            or at that value alone.
        figures: one row per combination and key figure: a column for each convention, ``measure figure value``.
        combinations: one row per combination: a column for each convention; ``default``, whether it is the one of
            defaults; ``refused``, why the study refuses it, None where it does not; ``warned``, what it warned of,
            None for nothing (of the defaults, the user was warned).
        study: what the study is called.
    """

    title: ClassVar[str] = "Sensitivity"

    spans: pd.DataFrame
    figures: pd.DataFrame
    combinations: pd.DataFrame
    study: str

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table by name."""
        return {
            "table": self.table,
            "spans": self.spans,
            "figures": self.figures,
            "combinations": self.combinations,
        }

    @property
    def measures(self) -> list[str]:
        """Return the measures that key figures are of, none where they are of none."""
        return [measure for measure in dict.fromkeys(self.figures["measure"]) if measure is not None]

    @property
    def figure_names(self) -> list[str]:
        """Return the names of the key figures, the most telling first."""
        return list(dict.fromkeys(self.figures["figure"]))

    def headline(self) -> str:
        """Return which convention moves the first key figure most, and how many combinations were refused."""
        figure, measure = self._asked(None, None)
        rows = self.of_figure(figure, measure)
        name = figure if measure is None else f"{measure} {figure}"
        default = self.figures.loc[self._is(self.figures, figure, measure), "value"].iloc[0]
        moved = rows[rows["at"].notna()]
        if moved.empty:
            said = f"{name} {default:g} stays under {count(len(rows), 'convention')}"
        else:
            most = moved.iloc[int(moved["largest_change"].abs().fillna(-1).to_numpy().argmax())]
            there = most["default"] + most["largest_change"]
            far = "to or from undefined" if np.isnan(there) else f"{there:.6g}"
            said = (
                f"{name} {default:.6g} moves most with {most['convention']}: {far} under {most['at']}; "
                f"moved by {len(moved)} of {count(len(rows), 'convention')}"
            )
        refused = int(self.combinations["refused"].notna().sum())
        return f"{said}; {count(refused, 'combination')} refused" if refused else said

    def of_figure(self, figure: str, measure: str | None = None) -> pd.DataFrame:
        """Return the rows of `spans` of one key figure, the convention that moves it furthest first.

        Args:
            figure: its name.
            measure: the measure that it is of, None where it is of none.
        """
        rows = self.spans[self._is(self.spans, figure, measure)]
        width = (rows["highest"] - rows["lowest"]).fillna(-1)
        return rows.iloc[np.argsort(-width.to_numpy(), kind="stable")].reset_index(drop=True)

    @door
    def report(self, figure: str | None = None, *, measure: MeasureLike | None = None) -> Report:
        """Return what a paper prints: a row per convention, the one that moves the figure furthest first.

        Args:
            figure: one of the key figures; default the first.
            measure: the one that it is of; default the first.
        """
        name, of = self._asked(figure, measure)
        rows = self.of_figure(name, of)
        at_default = self.table[self.table["is_default"]].drop_duplicates("convention").set_index("convention")["value"]
        refused = self.combinations[self.combinations["refused"].notna()]
        notes = [f"Not counted: {count(len(refused), 'combination')} that the study refuses."] if len(refused) else []
        what, digits = in_words(name), _digits(rows)
        return Report(
            [
                Column("Convention", rows["convention"].str.replace("_", " ")),
                Column("Default", at_default.loc[rows["convention"]]),
                Column("Lowest", rows["lowest"], digits),
                Column("Highest", rows["highest"], digits),
                Column("Largest change", rows["largest_change"], digits),
                Column("Under", rows["at"]),
            ],
            caption=(
                f"How {what}{f' by {of}' if of else ''} of {self.study.replace('_', ' ')} moves when one convention at "
                "a time takes other values."
            ),
            notes=notes,
        )

    @door
    def plot(
        self,
        figure: str | None = None,
        *,
        measure: MeasureLike | None = None,
        ax: Axes | None = None,
        title: str | None = None,
        legend: bool = True,
        width: float | None = None,
    ) -> Axes:
        """Draw how far each convention moves a key figure, those that move it furthest on top.

        Args:
            figure: one of the key figures; default the first.
            measure: the one that it is of; default the first.
            ax: axes to draw into; default a new figure. The other three are those of :doc:`every figure <figures>`.
            title: default the figure's own in a new figure, none in `ax`; ``""`` for none.
            legend: of no effect, as there is nothing to explain.
            width: of a new figure in inches, default 7, a page's; 3.3 for a column.

        Returns:
            Axes: a bar per convention from the lowest to the highest value, a point for each of its values, and an
            upright line at the default.
        """
        from pt_reuse.plots.bars import plot_tornado
        from pt_reuse.plots.sheet import Place

        name, of = self._asked(figure, measure)
        points = self.table[self._is(self.table, name, of)]
        label = in_words(name) + (f", {of}" if of else "")
        return plot_tornado(self.of_figure(name, of), points, label=label, place=Place(ax, title, legend, width))

    def _asked(self, figure: str | None, measure: MeasureLike | None) -> tuple[str, str | None]:
        """Return a key figure and its measure, as a user asks for them."""
        name = self.figure_names[0] if figure is None else choice("figure", figure, self.figure_names)
        of = self.figures[self.figures["figure"] == name]["measure"]
        if measure is None:
            return name, of.iloc[0]
        measures = [one for one in dict.fromkeys(of) if one is not None]
        return name, measure_among(measures, measure) if measures else None

    @staticmethod
    def _is(rows: pd.DataFrame, figure: str, measure: str | None) -> pd.Series:
        of = rows["measure"].isna() if measure is None else rows["measure"] == measure
        return (rows["figure"] == figure) & of


def in_words(figure: str) -> str:
    """Return the name of a key figure as people write it.

    Example:
        >>> in_words("own_tau_b"), in_words("field_max_drop")
        ('own tau-b', 'field max drop')
    """
    return figure.replace("tau_ap_b", "tau-AP").replace("tau_b", "tau-b").replace("_", " ")


def change_table(conventions: Sequence[Convention], figures: pd.DataFrame) -> pd.DataFrame:
    """Return one row per convention, value and key figure, see ``Sensitivity``.

    Args:
        conventions: what was varied.
        figures: one row per combination and key figure.
    """
    names = [convention.name for convention in conventions]
    defaults = {convention.name: convention.default.label for convention in conventions}
    at_default = {name: figures[name] == label for name, label in defaults.items()}
    base = _by_key(figures[_all([*at_default.values()], len(figures))])
    rows = []
    for convention in conventions:
        others = _all([at_default[name] for name in names if name != convention.name], len(figures))
        for value in convention.choices:
            found = _by_key(figures[others & (figures[convention.name] == value.label).to_numpy()])
            # refused where there is nothing
            for key in dict.fromkeys([*base, *found]) if found else ():
                default, here = base.get(key, np.nan), found.get(key, np.nan)
                is_default = value.label == convention.default.label
                rows.append((convention.name, value.label, is_default, *key, default, here, here - default))
    columns = ["convention", "value", "is_default", *KEYS, "default", "here", "change"]
    return frame_of(rows, columns, texts=("convention", "value", *KEYS)).astype({"is_default": bool})


def span_table(table: pd.DataFrame) -> pd.DataFrame:
    """Return one row per convention and key figure: its ends, and the largest change."""
    rows = []
    for (convention, measure, figure), part in table.groupby(["convention", *KEYS], sort=False, dropna=False):
        change, here = part["change"].abs().fillna(0).to_numpy(), part["here"].to_numpy()
        # a figure that is defined under some values alone moves, too, by nobody knows how much
        undefined = np.isnan(here) != np.isnan(part["default"].to_numpy())
        moved: tuple[float, str | None] = (0.0, None)
        if change.max() > _NOTHING:
            most = part.iloc[int(change.argmax())]
            moved = (most["change"], most["value"])
        elif undefined.any():
            moved = (np.nan, part["value"].iloc[int(undefined.argmax())])
        ends = (part["default"].iloc[0], part["here"].min(), part["here"].max())
        rows.append((convention, None if measure != measure else measure, figure, *ends, *moved))
    columns = ["convention", *KEYS, "default", "lowest", "highest", "largest_change", "at"]
    return frame_of(rows, columns, texts=("convention", *KEYS, "at"))


def frame_of(rows: Sequence[Sequence[Any]], columns: Sequence[str], *, texts: Sequence[str]) -> pd.DataFrame:
    """Return rows as a frame, in whose columns of texts None stays None.

    Args:
        rows: of as many cells as there are columns.
        columns: their names.
        texts: those that hold texts.
    """
    cells = {name: [row[i] for row in rows] for i, name in enumerate(columns)}
    return pd.DataFrame({name: pd.Series(cells[name], dtype=object if name in texts else None) for name in columns})


def _all(conditions: list[pd.Series], n: int) -> np.ndarray:
    return np.logical_and.reduce([np.ones(n, dtype=bool), *(one.to_numpy() for one in conditions)])


def _by_key(figures: pd.DataFrame) -> dict[tuple[str | None, str], float]:
    keys = zip(figures["measure"], figures["figure"], strict=True)
    return dict(zip(keys, figures["value"], strict=True))


def _digits(rows: pd.DataFrame) -> Digits:
    """Return how a figure is written: whole numbers as they are counted, all else with four decimals."""
    values = rows[["lowest", "highest"]].to_numpy(dtype=float)
    return Digits.COUNT if (np.round(values) == values)[~np.isnan(values)].all() else Digits.SCORE


@door
def sensitivity(
    study: Study,
    runs: Any,
    qrels: Any,
    measures: MeasureLike | Iterable[MeasureLike] | None = None,
    *,
    grid: Mapping[str, Any] | Iterable[str] | None = None,
    key_figures: Callable[[Result], Mapping[str, float]] | None = None,
    full: bool = False,
    verbose: bool = False,
    **options: Any,
) -> Sensitivity:
    """Run a study under the grid of its conventions, and say which key figures move and by how much.

    Each convention is varied alone, the others at their defaults: what the user gives in `options`, else what the study
    would take on this field. With ``full=True`` every combination is run as well.

    The conventions that are varied by default, as far as the study has an option of that name:

    - ``order``, in which documents are ranked for scoring (of the runs; every study has it). The order of pooling stays
      as it is meanwhile;
    - ``pool_order``, in which runs were pooled: both in the orders by score, in that of the file, and by the rank
      column where all runs have one;
    - ``contributors``: ``"pooled"`` and ``"all"``, where these differ;
    - ``depth`` of the pool: half of it, the default, and twice that;
    - ``rel``, the lowest label that is relevant: each label above 0 of the judgments;
    - ``complete``: means over all topics of the judgments, or over those that a run has;
    - ``remove``: unique documents that are relevant, or that are judged.

    Args:
        study: a function of runs, judgments and measures that returns a result with ``key_figures()``: any study of
            this library, such as :func:`leave_out_uniques`, :func:`by_type` or :func:`~pt_reuse.pools.pool_costs`, or
            one's own, such as a function that scores twice and returns an ``Agreement``. A study of scores
            (:func:`~pt_reuse.profile.stability`, :func:`~pt_reuse.profile.discriminative_power`,
            :func:`~pt_reuse.profile.saturation`; its first argument is called ``scores``) is given those of the runs by
            the judgments, and takes ``complete`` and ``without_topics`` besides its own options. A study of judgments
            (:func:`~pt_reuse.profile.density`) is given these, and the runs where it takes any.
        runs: the field: a RunSet, a dict of run name -> results, or run files, see :doc:`runs`.
        qrels: the judgments: a Qrels, a frame, tuples, a dict or a file, see :doc:`runs`.
        measures: ir_measures measures or their names, one or several, where the study takes any.
        grid: what to vary: names of the conventions above, or a dict of ``"order"``, or any option of the study, ->
            values, or -> a dict of label -> value; default all conventions above.
        key_figures: a function of a result that returns name -> number, for a result that has no ``key_figures()`` or
            where others are wanted.
        full: run every combination, too, see ``.figures``.
        verbose: show a progress bar.
        **options: further options of the study, such as ``qrels_b`` of :func:`compare_judgments`, the same in every
            combination where they are not varied.

    Returns:
        Sensitivity: ``.table`` (per convention, value and key figure), ``.spans`` (per convention and key figure),
        ``.figures`` and ``.combinations``, ``.plot()``.

    Raises:
        InputError: what is no study, an option or convention that it does not have, one that it needs and nobody
            gives, a result without key figures, and what the study raises under the defaults. A combination that the
            study refuses is reported as refused.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.simulate_field(seed=7)
        >>> found = ptr.profile.sensitivity(
        ...     ptr.leave_out_uniques, field.runs, field.qrels, "AP", depth=field.depth, grid=["rel", "contributors"]
        ... )
        >>> rows = found.spans[found.spans["figure"] == "own_max_drop"]
        >>> rows[["convention", "default", "lowest", "highest", "at"]].values.tolist()
        [['rel', 2.0, 2.0, 3.0, '2'], ['contributors', 2.0, 2.0, 3.0, 'all']]

    Source: the conventions are those under which published figures of reusability were found to differ: those of the
    pool by Voorhees, Craswell and Lin 2022, Too many relevants, SIGIR, those of scoring in trec_eval 9 and 10.
    """
    flag("full", full)
    verbose = flag("verbose", verbose)
    call = StudyCall.of(study, measures, options)
    wanted = checked_grid(grid, call)
    call.check_complete(wanted.values)
    if key_figures is not None and not callable(key_figures):
        raise InputError(
            f"key_figures must be a function of a result, got {told(key_figures)}.", argument="key_figures"
        )
    runs, qrels = as_runs_before(runs, qrels)
    qrels = as_qrels(qrels)
    conventions = wanted.conventions(call, runs, qrels)
    names = [convention.name for convention in conventions]
    kept = [name for name in wanted.values if name not in names]
    work = _Work(call, runs, qrels, key_figures)
    combinations = _combinations(conventions, full=full)
    rows: list[tuple[Any, ...]] = []
    parts = []
    for chosen in pt.tqdm(combinations, desc="conventions", unit="combination", disable=not verbose):
        default = not rows
        found = work.told(chosen) if default else work.recorded(chosen)
        labels = [choice.label for choice in chosen.values()]
        rows.append((*labels, default, found.refused, found.warned))
        parts += [(*labels, *row) for row in found.figures]
    figures = frame_of(parts, [*names, *KEYS, "value"], texts=(*names, *KEYS))
    table = change_table(conventions, figures)
    return Sensitivity(
        table=table,
        spans=span_table(table),
        figures=figures,
        combinations=frame_of(rows, [*names, "default", "refused", "warned"], texts=(*names, "refused", "warned")),
        study=call.name,
        settings={
            "study": call.name,
            **{name: _in_words(value) for name, value in call.unusual.items() if name not in names},
            **({} if ORDER in names else {"order": runs.order}),
            "varied": "each alone" if not full else "each alone and in every combination",
            **({"not varied": ", ".join(kept) + " (one value)"} if kept else {}),
            **{f"{one.name} at": f"{one.default.label} (tried: {_labels(one)})" for one in conventions},
        },
    )


@dataclass(frozen=True)
class _Found:
    """What one combination gave.

    Attributes:
        figures: measure, name and value of each key figure, none where it was refused.
        refused: why, None where it was not.
        warned: what was warned of, None for nothing.
    """

    figures: Sequence[tuple[str | None, str, float]]
    refused: str | None = None
    warned: str | None = None


class _Work:
    """Runs a study under conventions."""

    def __init__(
        self,
        call: StudyCall,
        runs: RunSet,
        qrels: Qrels,
        key_figures: Callable[[Result], Mapping[str, float]] | None,
    ):
        self._call, self._qrels, self._key_figures = call, qrels, key_figures
        self._runs = KeptOrders.of(runs)

    def told(self, chosen: Mapping[str, Choice]) -> _Found:
        """Return the key figures; what the study raises or warns of goes to the user."""
        values = {name: choice.value for name, choice in chosen.items()}
        runs = self._runs.reorder(values.pop(ORDER, self._runs.order))
        return _Found(self._figures(self._call.under(runs, self._qrels, values)))

    def recorded(self, chosen: Mapping[str, Choice]) -> _Found:
        """Return the key figures, or why the study refuses, and what it warns of."""
        with catch_warnings(record=True) as caught:
            simplefilter("always")
            try:
                found = self.told(chosen)
            except _NoKeyFiguresError:
                raise
            except InputError as error:
                found = _Found((), refused=str(error))
        said = dict.fromkeys(str(one.message) for one in caught if issubclass(one.category, ReuseWarning))
        return _Found(found.figures, found.refused, "; ".join(said) or None)

    def _figures(self, result: Result) -> list[tuple[str | None, str, float]]:
        if self._key_figures is None:
            own = getattr(type(result), "key_figures", Result.key_figures)
            if own is Result.key_figures:
                raise _NoKeyFiguresError(
                    f"{self._call.name} returns {_a(result)} without key figures. Give ",
                    Option("key_figures", ...),
                    ", a function of the result that returns name -> number.",
                    argument="key_figures",
                )
            found = result.key_figures()
            return list(zip(found["measure"], found["figure"], found["value"], strict=True))
        given = self._key_figures(result)
        if not isinstance(given, Mapping) or not given:
            raise _NoKeyFiguresError(
                f"key_figures must return a dict of name -> number, got {told(given)}.", argument="key_figures"
            )
        odd = [name for name, value in given.items() if not isinstance(value, int | float | np.number)]
        if odd:
            raise _NoKeyFiguresError(
                f"key_figures must return numbers; {told(odd[0])} is {told(given[odd[0]])}.", argument="key_figures"
            )
        return [(None, str(name), float(value)) for name, value in given.items()]


class _NoKeyFiguresError(InputError):
    """The result of the study says nothing that could be compared."""


def _combinations(conventions: Sequence[Convention], *, full: bool) -> list[dict[str, Choice]]:
    """Return the defaults, each other value alone, and with `full` all further combinations."""
    default = {convention.name: convention.default for convention in conventions}
    alone = [{**default, one.name: choice} for one in conventions for choice in one.others]
    return [default, *alone, *(_further(conventions) if full else ())]


def _further(conventions: Sequence[Convention]) -> Iterator[dict[str, Choice]]:
    for chosen in product(*(convention.choices for convention in conventions)):
        others = sum(one.label != of.default.label for one, of in zip(chosen, conventions, strict=True))
        if others > 1:
            yield {of.name: one for one, of in zip(chosen, conventions, strict=True)}


def _labels(convention: Convention) -> str:
    return ", ".join(choice.label for choice in convention.choices)


def _in_words(value: Any) -> Any:
    if isinstance(value, str | int | float) or value is None:
        return value
    return ", ".join(map(str, value)) if isinstance(value, list | tuple | set | frozenset | range) else told(value)


def _a(result: Any) -> str:
    kind = type(result).__name__
    return f"an {kind}" if kind[0] in "AEIOU" else f"a {kind}"
