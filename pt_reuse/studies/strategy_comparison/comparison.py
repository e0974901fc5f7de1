"""StrategyComparison: what ways of judging find, and what their judgments say of the systems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import pandas as pd

from pt_reuse._check import choice, count, examples, told
from pt_reuse._errors import InputError, door
from pt_reuse._report import Column, Digits, Report
from pt_reuse._result import OfMeasures, Result, key_figures_of
from pt_reuse.scoring.measures import MeasureLike, measure_among

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: kind of figure -> what its upright axis shows
KINDS = {
    "relevant": "share of the pool's relevant documents found",
    "tau_b": "tau-b to the ranking by all judgments",
    "tau_ap_b": "tau-AP to the ranking by all judgments",
    "max_drop": "largest drop of a run, in ranks",
}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class StrategyComparison(OfMeasures, Result):
    """What ways of judging find for a budget, and how far the systems rank under it as under all judgments.

    Every number is a mean over all ``seeds``. Columns that end in ``_low`` and ``_high`` are the lowest and the highest
    of them. Where a coefficient is not defined for one seed, as where all systems tie, all three are missing;
    `by_seed` has those of the other seeds. A seed decides what a strategy draws, and in which order it tries runs that
    tie.

    Attributes:
        table: one row per strategy, budget and measure: ``strategy budget measure seeds judged``; ``relevant``
            documents found and ``recall``, their share of the relevant ones of the pool; ``tau_b tau_ap_b max_drop`` of
            the ranking of the systems against the one by all judgments.
        by_seed: the same for each ``seed``.
        curve: one row per strategy and point of its course: ``strategy budget judged relevant recall``, each per cent,
            or a hundred steps up to the largest number of judgments, and each budget.
        groups: one row per strategy, budget, measure and group of runs, each type, where there are several, and
            each team of which no run was pooled (``by group runs``): ``mean_drop``, the ranks that its runs lose on
            average, below 0 where they gain; ``change_pct``, the mean change of their scores in per cent, and
            ``others_change_pct``, that of all others.
        left_out: where units were left out, one row per strategy, budget and measure, of the judgments built without
            each unit that changes them (``units``): ``own_tau_b`` of the ranking in which each run is scored by
            judgments built without its own unit, ``alone_max_drop`` of a run when its unit alone is,
            ``largest_loss_pct`` of a score, and over the whole field ``field_min_tau_b field_max_drop field_worst``.
            Else no rows.
    """

    title: ClassVar[str] = "Strategies"

    by_seed: pd.DataFrame
    curve: pd.DataFrame
    groups: pd.DataFrame
    left_out: pd.DataFrame

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table by name."""
        return {
            "table": self.table,
            "by_seed": self.by_seed,
            "curve": self.curve,
            "groups": self.groups,
            "left_out": self.left_out,
        }

    @property
    def strategies(self) -> list[str]:
        """Return the names of the strategies."""
        return list(dict.fromkeys(self.table["strategy"]))

    def key_figures(self) -> pd.DataFrame:
        """Return how runs rank by what each strategy finds for each budget, and how much that is."""
        rows = self.table
        once = rows.drop_duplicates(["strategy", "budget"])[["strategy", "budget", "recall", "judged"]]
        parts = []
        for each, figures in ((rows, ["tau_b", "max_drop"]), (once, ["recall", "judged"])):
            named = zip(each["strategy"], each["budget"], strict=True)
            parts.append(key_figures_of(each, figures, rows=[f"{one} at {self.said(budget)}" for one, budget in named]))
        return pd.concat(parts, ignore_index=True)

    def headline(self) -> str:
        """Return which strategy finds most, and which keeps the ranking best, at each budget."""
        parts = []
        for budget, rows in self.table[self.table["measure"] == self.measures[0]].groupby("budget", sort=True):
            most = rows.loc[rows["recall"].idxmax()]
            tau = rows["tau_b"]
            closest = (
                "" if tau.isna().all() else f", closest ranking {rows.loc[tau.idxmax(), 'strategy']} {tau.max():.3f}"
            )
            parts.append(f"{self.said(budget)}: most found {most['strategy']} {most['recall']:.1%}{closest}")
        return "; ".join(parts)

    @door
    def report(self, budget: float | None = None, *, measure: MeasureLike | None = None) -> Report:
        """Return what a paper prints: the strategies at one budget, the one that finds most first.

        Args:
            budget: one of the budgets; default the one nearest to the middle.
            measure: one of the measures; default the first.
        """
        name, budgets = measure_among(self.measures, measure), sorted(set(self.table["budget"]))
        chosen = budgets[len(budgets) // 2] if budget is None else budget
        if chosen not in budgets:
            raise InputError(f"budget must be one of {examples(budgets, 12)}, got {told(budget)}.", argument="budget")
        rows = self.table[(self.table["measure"] == name) & (self.table["budget"] == chosen)]
        rows = rows.sort_values("recall", ascending=False, kind="stable")
        n_seeds = int(rows["seeds"].iloc[0])
        return Report(
            [
                Column("Strategy", rows["strategy"]),
                Column("Found", rows["recall"], Digits.SCORE),
                Column("tau-b", rows["tau_b"], Digits.SCORE),
                Column("Lowest tau-b", rows["tau_b_low"], Digits.SCORE),
                Column("Highest tau-b", rows["tau_b_high"], Digits.SCORE),
                Column("Largest drop", rows["max_drop"], Digits.SCORE),
            ],
            caption=(
                f"Strategies of judging at a budget of {self.said(chosen)}: the share of the pool's relevant documents"
                f" found, and tau-b and the largest drop in ranks of the systems by {name}, against all judgments; "
                f"means over {count(n_seeds, 'seed')}, with the lowest and the highest tau-b."
            ),
            notes=[
                f"Budget: {self.settings['budget']}.",
                f"Pool: depth {self.settings['depth']}. Contributors: {self.settings['contributors']}.",
                f"Relevant: {self.settings['relevant']}.",
            ],
        )

    @door
    def plot(
        self,
        kind: str = "relevant",
        *,
        measure: MeasureLike | None = None,
        strategies: list[str] | None = None,
        ax: Axes | None = None,
        title: str | None = None,
        legend: bool = True,
        width: float | None = None,
    ) -> Axes:
        """Draw what each strategy finds, or how near its ranking of the systems is, against the budget.

        Args:
            kind: the upright axis: ``"relevant"`` (default), the share of the pool's relevant documents found;
                ``"tau_b"``, ``"tau_ap_b"`` or ``"max_drop"`` of the ranking of the systems.
            measure: of the ranking; default the first.
            strategies: which to draw; default the six that find most at the middle budget. More than six are told
                apart by their lines.
            ax: axes to draw into; default a new figure. The other three are those of :doc:`every figure <figures>`.
            title: default the figure's own in a new figure, none in `ax`; ``""`` for none.
            legend: whether there is one, outside the axes.
            width: of a new figure in inches, default 7, a page's; 3.3 for a column.

        Returns:
            Axes: a line for each strategy, the band from its lowest to its highest seed around it.
        """
        from pt_reuse.plots.lines import plot_strategies
        from pt_reuse.plots.sheet import Place

        choice("kind", kind, tuple(KINDS))
        name = measure_among(self.measures, measure)
        chosen = self._best() if strategies is None else list(strategies)
        for one in chosen:
            choice("strategies", one, self.strategies)
        rows = self.curve if kind == "relevant" else self.table[self.table["measure"] == name]
        column = "recall" if kind == "relevant" else kind
        return plot_strategies(
            rows,
            strategies=chosen,
            column=column,
            label=KINDS[kind] + ("" if kind == "relevant" else f" ({name})"),
            place=Place(ax, title, legend, width),
        )

    def said(self, budget: float) -> str:
        """Return a budget in words: ``10 %``, or ``20 judgments per topic``.

        Args:
            budget: one of the budgets.
        """
        shares = self.table["budget"].dtype.kind == "f"
        return f"{100 * budget:g} %" if shares else f"{count(int(budget), 'judgment')} per topic"

    def _best(self) -> list[str]:
        budgets = sorted(set(self.table["budget"]))
        rows = self.table[
            (self.table["measure"] == self.measures[0]) & (self.table["budget"] == budgets[len(budgets) // 2])
        ]
        best = rows.sort_values("recall", ascending=False, kind="stable")["strategy"].head(6)
        return [name for name in self.strategies if name in set(best)]
