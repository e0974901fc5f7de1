"""PoolsByType: what pools of one type of system say of systems of that type, of others, and of all."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import choice, count, listed, plural, whole
from pt_reuse._errors import Argument, InputError, Option, door
from pt_reuse._report import MOST, Column, Digits, Report
from pt_reuse._result import OfMeasures, Result, key_figures_of
from pt_reuse.scoring.caveats import BEWARE
from pt_reuse.scoring.measures import MeasureLike, measure_among
from pt_reuse.studies.type_pools.agreements import KEYS, NUMBERS
from pt_reuse.studies.type_pools.type_splits import ALL

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pt_reuse.plots.sheet import Place

#: kinds of figures
_KINDS = ("scores", "tau_b")
_IN_WORDS = {
    "tau_b": "tau-b",
    "gamma": "gamma",
    "tau_ap_b": "tau-AP (symmetric and with ties)",
    "max_drop": "the most ranks that a run loses",
}
_SPREADS = {
    "sd": "the standard deviation",
    "min": "the least",
    "max": "the largest",
    "low": "the lower end of the interval of the mean",
    "high": "the upper end of the interval of the mean",
}
#: what numbers of an interval end with
_ENDS = ("_low", "_high")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PoolsByType(OfMeasures, Result):
    """How far pools of one type of system rank systems of that type, of each other type, and all of them, rightly.

    Attributes:
        table: one row per measure, type whose half made the ``pool``, and group of runs ``tested``: of the pool's own
            type the half that was held out, of another type all its runs, and ``"all"`` of these together; ``runs``,
            how many were tested (a mean over splits); ``splits`` in which tau has a value, and those in which it is
            ``undefined`` (fewer than two runs, or all tie); then the means over splits of ``tau_b gamma tau_ap_b
            max_drop`` between the ranking by the gold and the one by the pool's judgments, among the tested runs alone;
            with ``_sd``, the standard deviation over splits (of a sample: n - 1), ``_min`` and ``_max``; and where
            intervals were asked for, ``_low`` and ``_high``, the ends of that of the mean.
        by_split: the numbers of each ``split``, from 0.
        splits: one row per type and split: ``pool split``, the teams or runs ``picked``, how many ``runs`` pooled,
            the ``documents`` of their pool, and how many of these are ``judged`` and ``relevant``.
        run_table: the runs: ``name team type pooled``.
        gold: (measures, runs) means by the gold.
        estimated: (measures, splits of all types, runs) means by the judgments of each split's pool, in the order of
            the rows of `splits`.
        picked: (splits of all types, runs) the runs that belong to what was picked: these are not tested.
    """

    title: ClassVar[str] = "Pools of one type"

    by_split: pd.DataFrame
    splits: pd.DataFrame
    run_table: pd.DataFrame
    gold: NDArray[np.float64]
    estimated: NDArray[np.float64]
    picked: NDArray[np.bool_]

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table by name."""
        return {
            "table": self.table,
            "by_split": self.by_split,
            "splits": self.splits,
            "run_table": self.run_table,
        }

    @property
    def pools(self) -> list[str]:
        """Return the types that made pools."""
        return list(dict.fromkeys(self.table["pool"]))

    @property
    def tested(self) -> list[str]:
        """Return the groups that were tested: every type, and ``"all"``."""
        return list(dict.fromkeys(self.table["tested"]))

    def key_figures(self) -> pd.DataFrame:
        """Return mean tau_b and largest drop of each pool and group tested, see :meth:`Result.key_figures`."""
        rows = [f"pool of {row.pool}, tested {row.tested}" for row in self.table.itertuples()]
        return key_figures_of(self.table, ["tau_b", "max_drop"], rows=rows)

    def headline(self) -> str:
        """Return for each measure and pool the mean tau_b of each group."""
        parts = []
        for (measure, pool), rows in self.table.groupby(["measure", "pool"], sort=False):
            taus = ", ".join(f"{row.tested} {row.tau_b:.3f}" for row in rows.itertuples())
            parts.append(f"{measure}, pool of {pool}: tau_b {taus}")
        return "; ".join(parts)

    @door
    def wide(self, number: str = "tau_b") -> pd.DataFrame:
        """Return the table as a paper has it: a row per type of the pool, columns measure x tested group.

        Args:
            number: which number stands in the cells, a column of `table` such as ``"tau_b"`` or ``"tau_b_sd"``.

        Returns:
            DataFrame: pools as the index, columns of two levels, ``measure`` and ``tested``.
        """
        cells = self.table.pivot_table(self._number(number), "pool", ["measure", "tested"], "first", dropna=False)
        order = pd.MultiIndex.from_product([self.measures, self.tested], names=["measure", "tested"])
        return cells.reindex(index=pd.Index(self.pools, name="pool"), columns=order)

    @door
    def report(self, number: str = "tau_b") -> Report:
        """Return what a paper prints: a row per measure and type of the pool, a column per tested group.

        Of more than three types each tested group has a row of its own.

        Args:
            number: which number stands in the cells: ``"tau_b"`` (default), ``"gamma"``, ``"tau_ap_b"`` or
                ``"max_drop"``, or its spread over splits, such as ``"tau_b_sd"``.
        """
        name, table = self._number(number), self.table
        digits = Digits.SCORE
        if len(self.tested) + 1 <= MOST:
            wide = table.pivot_table(name, list(KEYS[:2]), "tested", "first", dropna=False).reindex(columns=self.tested)
            wide = wide.reindex(pd.MultiIndex.from_product([self.measures, self.pools], names=KEYS[:2]))
            rows = wide.reset_index()
            columns = [Column("Pool", rows["pool"]), Column("Measure", rows["measure"])]
            columns += [Column(f"On {tested}", rows[tested], digits) for tested in self.tested]
        else:
            columns = [
                Column("Pool", table["pool"]),
                Column("Measure", table["measure"]),
                Column("Tested", table["tested"]),
                Column("Number", table[name], digits),
                Column("Splits", table["splits"], Digits.COUNT),
            ]
        return Report(columns, caption=self._caption(name), notes=self._notes(name))

    def _number(self, number: str) -> str:
        allowed = [name for name in self.table.columns if name.startswith(NUMBERS)]
        return choice("number", number, allowed)

    def _caption(self, number: str) -> str:
        base = max((name for name in NUMBERS if number.startswith(name)), key=len)
        spread = _SPREADS.get(number[len(base) + 1 :])
        of = f"{spread} over splits of {_IN_WORDS[base]}" if spread else f"{_IN_WORDS[base]}, a mean over splits,"
        settings = self.settings
        units = plural(settings["unit"])
        return (
            f"Pools of one type of system: {of} between the ranking by {settings['gold']} and the one by the judgments "
            f"in the depth-{settings['depth']} pool of one half of the {units} of a type, on the other half of that "
            "type, on all runs of another type, and on all of these."
        )

    def _notes(self, number: str) -> list[str]:
        settings, counts = self.settings, self.table.groupby("pool", sort=False)["splits"].max()
        halves = ", ".join(f"{pool} {count(int(n), 'split')}" for pool, n in counts.items())
        said = [
            f"Halves: {halves} ({settings['splits']}).",
            f"Documents are ranked in the order {settings['order']} and pooled in the order {settings['pool order']}; "
            f"means are over all topics and tie where they are equal to 12 decimals.",
        ]
        if number.endswith(_ENDS):
            said.append(f"Intervals: {settings['intervals']}.")
        return [*said, f"Beware: {settings[BEWARE]}."] if BEWARE in settings else said

    @door
    def scores(self, pool: str, *, measure: MeasureLike | None = None, split: int | None = None) -> pd.DataFrame:
        """Return what the tested runs score by the gold, and by the judgments of one type's pool.

        Args:
            pool: the type that made the pool.
            measure: one of the measures; default the first.
            split: one split, from 0; default the mean over the splits in which a run was tested.

        Returns:
            DataFrame: one row per run that was tested: ``name team type score estimated splits``, the last in how many
            splits it was tested.
        """
        m, chosen = self._measure(measure), self._splits(pool, split)
        tested = ~self.picked[chosen]
        times = tested.sum(axis=0)
        total = np.where(tested, self.estimated[m, chosen], 0.0).sum(axis=0)
        frame = self.run_table[["name", "team", "type"]].assign(
            score=self.gold[m], estimated=total / np.maximum(times, 1), splits=times
        )
        return frame[times > 0].reset_index(drop=True)

    def _measure(self, measure: MeasureLike | None) -> int:
        return self.measures.index(measure_among(self.measures, measure))

    def _splits(self, pool: str, split: int | None) -> NDArray[np.int64]:
        """Return where the splits of a type, or one of them, stand among all."""
        choice("pool", pool, self.pools)
        found = np.flatnonzero(self.splits["pool"] == pool)
        if split is None:
            return found
        if whole("split", split, "splits", least=0) >= len(found):
            raise InputError(
                Argument("split"), f" must be below {len(found):,}, the splits of {pool!r}.", argument="split"
            )
        return found[[split]]

    @door
    def plot(
        self,
        measure: MeasureLike | None = None,
        *,
        kind: str = "scores",
        pool: str | None = None,
        split: int | None = None,
        ax: Axes | None = None,
        title: str | None = None,
        legend: bool = True,
        width: float | None = None,
    ) -> Axes:
        """Draw what each tested run scores by the pool of one type against its score by the gold, or how tau spreads.

        Args:
            measure: one of the measures; default the first.
            kind: ``"scores"`` (default): a point per tested run around y = x, with tau-b of each group in the title
                and in the legend. ``"tau_b"``: for each pool and tested group its mean tau-b, with the
                least and the largest of a split, and a standard deviation to both sides.
            pool: for scores, the type that made the pool; default every one, each in axes of its own, one below the
                other. `ax` takes one.
            split: for scores, one split, from 0; default the mean over all splits in which a run was tested.
            ax: axes to draw into; default a new figure. The other three are those of :doc:`every figure <figures>`.
            title: default the figure's own in a new figure, none in `ax`; ``""`` for none.
            legend: whether there is one, outside the axes.
            width: of a new figure in inches, default 7, a page's; 3.3 for a column.

        Returns:
            Axes: the figure's; of several the first, ``ax.figure.axes`` has all.

        Raises:
            InputError: an unknown measure, kind, pool or split; several pools for one `ax`, or a split of several.
        """
        from pt_reuse.plots.panels import plot_panels
        from pt_reuse.plots.sheet import Place
        from pt_reuse.plots.type_pools import plot_tau_of_pools

        choice("kind", kind, _KINDS)
        place, name = Place(ax, title, legend, width), measure_among(self.measures, measure)
        chosen = self.pools if pool is None else [choice("pool", pool, self.pools)]
        if kind == "tau_b":
            return plot_tau_of_pools(self.table[self.table["measure"] == name], place=place)
        if ax is not None and len(chosen) > 1:
            problem = f"ax takes one pool, and there are those of {listed(chosen)}. Give "
            raise InputError(problem, Option("pool", chosen[0]), ", or one after the other.", argument="pool")
        if len(chosen) == 1:
            return self._plot_scores(name, chosen[0], split, place)

        def panel(of: str, *, ax: Axes) -> Axes:
            return self._plot_scores(name, of, split, Place(ax, title, legend), own_title=title != "")

        return plot_panels([partial(panel, of) for of in chosen], place)

    def _plot_scores(
        self, measure: str, pool: str, split: int | None, place: Place, *, own_title: bool = False
    ) -> Axes:
        """Draw what runs score by one pool; with the figure's own title in axes that are given, too."""
        from pt_reuse.plots.type_pools import plot_type_scores, scores_title

        rows = self.scores(pool, measure=measure, split=split)
        taken = self.table if split is None else self.by_split[self.by_split["split"] == split]
        taken = taken[(taken["measure"] == measure) & (taken["pool"] == pool)]
        taus = dict(zip(taken["tested"], taken["tau_b"], strict=True))
        of = f"split {split}" if split is not None else f"mean of {count(len(self._splits(pool, split)), 'split')}"
        if own_title:
            # the legend has the others
            shown = {ALL: taus[ALL]} if place.legend else taus
            place = replace(place, title=scores_title(pool, shown, of))
        return plot_type_scores(rows, measure=measure, pool=pool, taus=taus, of=of, place=place)
