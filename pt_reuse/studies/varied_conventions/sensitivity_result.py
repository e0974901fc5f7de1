"""Sensitivity: which key figures of a study move with which convention, and by how much."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from pt_reuse._check import choice, count
from pt_reuse._errors import door
from pt_reuse._report import Column, Digits, Report
from pt_reuse._result import Result
from pt_reuse.scoring.measures import MeasureLike, measure_among
from pt_reuse.studies.varied_conventions.grid import Convention

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
