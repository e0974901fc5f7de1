"""compare_strategies: what strategies find for a budget, and how near the ranking then comes to the truth."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse._check import checked_jobs, checked_seed, choice, count, examples, flag, positive, told
from pt_reuse._errors import Argument, Aside, InputError, arguments_as, door
from pt_reuse._report import Column, Digits, Report
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.data.judgments import as_qrels, checked_rel, relevant_from
from pt_reuse.data.ordering import check_order_or_none
from pt_reuse.data.run_reading import as_runs_before
from pt_reuse.data.units import COLUMNS, units_of
from pt_reuse.pooling.adaptive.oracle import OracleTopic, OracleTopics, caveats_of, check_some_judged
from pt_reuse.pooling.adaptive.strategy import CHOOSERS, Strategy, as_strategy
from pt_reuse.pooling.contributors import contributors_of
from pt_reuse.pooling.depth import checked_depth, depth_of
from pt_reuse.result import Result, key_figures_of
from pt_reuse.scoring.caveats import alone, noted, one_run, tell, usual_measures, warn_of_lower_grades
from pt_reuse.scoring.measures import MeasureLike, measure_among
from pt_reuse.scoring.run_scores import checked_measures, provided_measures
from pt_reuse.scoring.topic_sets import check_topics
from pt_reuse.studies.strategy_comparison.built import (
    TOLD,
    Budgets,
    Group,
    LeavingOut,
    ScoredField,
    Task,
    checked_budgets,
    group_rows,
    groups_of,
    over_seeds,
    prefixes,
    rankings,
    run_tasks,
)

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
class StrategyComparison(Result):
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


@door
def compare_strategies(
    runs: Any,
    qrels: Any,
    strategies: Any = None,
    *,
    budgets: float | Iterable[float] = (0.01, 0.05, 0.1, 0.25, 0.5),
    measures: MeasureLike | Iterable[MeasureLike] | None = None,
    depth: int | None = None,
    contributors: str | Iterable[str] = "pooled",
    pool_order: str | None = None,
    rel: int | None = None,
    leave_out: str | None = None,
    repeats: int = 5,
    seed: int = 0,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> StrategyComparison:
    """Compare ways of choosing what to judge, on a collection whose judgments are known.

    Each strategy asks for documents of the depth-k pool, topic by topic, and the judgments answer. A document of the
    pool without a label of at least 0 gets no answer and costs nothing. At each budget it is counted how many relevant
    documents were found, and the systems are ranked by the judgments that there would have been, a document not judged
    counting as not relevant, and by all judgments.

    Args:
        runs: the field: a RunSet, a dict of run name -> results, or run files, see :doc:`runs`.
        qrels: the judgments that answer: a Qrels, a frame, tuples, a dict or a file.
        strategies: names (``"mtf"``, ``"hedge"``, ...), :class:`~pt_reuse.pools.Strategy` objects or subclasses of
            :class:`~pt_reuse.pools.Chooser`, one or several; default every strategy there is.
        budgets: shares of each topic's judged pool (fractions, ``.1``; rounded to the nearest judgment, halves up), or
            judgments per topic (whole numbers); one or several.
        measures: ir_measures measures, or their names, by which the systems are ranked; means over all topics of the
            judgments. Default AP, from the grade from which documents are relevant, and ``nDCG@10``.
        depth: of the pool, documents per run and topic; default the one on record, else 100.
        contributors: the runs that make the pool: ``"pooled"`` (default), ``"all"`` or run names. All runs are scored.
        pool_order: the order in which runs are pooled; default the one in which the field is pooled.
        rel: the lowest label that a strategy is told is relevant, and that is counted; default the judgments' own.
        leave_out: also build the judgments without each ``"team"``, ``"type"``, ``"family"`` or ``"run"`` in turn, to
            the same budgets, and say what that does to the runs (`left_out`); by the first seed. Default None: do not.
        repeats: how many seeds.
        seed: the first of them; the others follow it. A seed decides what a strategy draws and in which order it tries
            runs that tie.
        n_jobs: jobs at a time, as joblib takes it; default what ``joblib.parallel_config`` says, else 1. The numbers do
            not depend on it.
        verbose: show progress bars.

    Returns:
        StrategyComparison: ``.table``, ``.curve``, ``.by_seed``, ``.groups``, ``.left_out``; ``.plot()``.

    Raises:
        InputError: an unknown strategy, two of one name, a budget below 0 or a share above 1, an unknown measure; a
            strategy that chooses a document twice.

    Warns:
        ReuseWarning: a binary measure that counts labels below `rel`; a pool of which every judged document is
            relevant, so that all strategies find alike, or of which more than half has no label.
            ``settings["beware"]`` says the last two, too.
            Also a field of one run, and with `leave_out` contributing runs of one unit alone.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.simulate_field(seed=7)
        >>> options = {"depth": field.depth, "budgets": [.1, .5], "measures": "AP"}
        >>> found = ptr.pools.compare_strategies(field.runs, field.qrels, ["rank", "mtf"], **options)
        >>> found.table[["strategy", "budget", "judged"]].values.tolist()
        [['rank', 0.1, 89], ['rank', 0.5, 452], ['mtf', 0.1, 89], ['mtf', 0.5, 452]]

    Source: the way of comparing is that of Losada, Parapar and Barreiro, Multi-armed bandits for adjudicating documents
    in pooling-based evaluation of information retrieval systems, IPM 53, 2017; leaving teams out of a dynamic way of
    judging that of Voorhees, Craswell and Lin, SIGIR 2022, section 3.
    """
    chosen = checked_strategies(strategies)
    wanted, given = checked_budgets(budgets), None if measures is None else checked_measures(measures)
    check_comparing(depth=depth, rel=rel, leave_out=leave_out, repeats=repeats, seed=seed, n_jobs=n_jobs)
    check_order_or_none("pool_order", pool_order)
    seeds = range(int(seed), int(seed) + int(repeats))
    verbose = flag("verbose", verbose)
    runs, qrels = as_runs_before(runs, qrels)
    qrels = as_qrels(qrels)
    check_topics(runs, qrels)
    contributing = contributors_of(runs, contributors)
    with arguments_as(by="leave_out"):
        units = None if leave_out is None else units_of(runs.run_table, leave_out)
    asked, lowest = depth_of(runs, depth), relevant_from(qrels, rel)
    parsed = usual_measures(lowest) if given is None else given
    warn_of_lower_grades(parsed, lowest)
    with arguments_as(order="pool_order"):
        ranked = runs.in_pool_order(pool_order)
    oracle = OracleTopics(ranked, qrels, asked.value, lowest, contributing.runs)
    topics = [oracle.topic(qid) for qid in qrels.topics]
    check_some_judged(topics)
    caveats = list(one_run(len(runs)) if units is None else alone(units, contributing.runs))
    caveats += caveats_of(topics, lowest)
    tell(caveats)
    n_judged = np.array([0 if topic is None else topic.n_judged for topic in topics], dtype=np.int64)
    lengths = [wanted.judgments(value, n_judged) for value in wanted.values]
    orders = _orders(topics, lengths[-1], seeds, chosen, n_jobs=n_jobs, verbose=verbose)
    field = ScoredField(runs, qrels, parsed)
    found_at_most = sum(topic.n_relevant for topic in topics if topic)
    relevant = qrels.arrays.labels >= lowest
    groups = groups_of(runs.run_table, contributing.runs)
    names = [repr(measure) for measure in parsed]
    built = _Tables(field, wanted, lengths, _Relevant(relevant, found_at_most), groups, names)
    by_seed, moved, curve = [], [], []
    bar = pt.tqdm(chosen, desc="scoring", unit="strategy", disable=not verbose)
    for strategy, of_seed in zip(bar, orders, strict=True):
        found, drops = built.of_strategy(strategy.name, of_seed, seeds)
        by_seed.append(found)
        moved.append(drops)
        curve.append(built.curve(strategy.name, of_seed, seeds, n_judged))
    all_seeds = pd.concat(by_seed, ignore_index=True)
    keys = ["strategy", "budget", "measure"]
    left_out = pd.DataFrame(columns=[*keys, "units"])
    if units is not None:
        leaving = LeavingOut(oracle, topics, field, units, seeds[0], n_jobs, verbose)
        left_out = leaving.table(chosen, [of_seed[0] for of_seed in orders], wanted, lengths)
    provided = provided_measures(parsed)
    return StrategyComparison(
        table=over_seeds(all_seeds, [*keys, "judged"], TOLD),
        by_seed=all_seeds,
        curve=over_seeds(pd.concat(curve, ignore_index=True), ["strategy", "budget", "judged"], ("relevant", "recall")),
        groups=over_seeds(
            pd.concat(moved, ignore_index=True),
            [*keys, "by", "group", "runs"],
            ("mean_drop", "change_pct", "others_change_pct"),
        )
        if groups
        else pd.DataFrame(columns=[*keys, "by", "group", "runs"]),
        left_out=left_out,
        settings={
            "budget": wanted.unit,
            "depth": asked.value,
            "depth from": asked.origin.value,
            "contributors": str(contributing),
            **({} if units is None else units.settings),
            **runs.settings,
            "pool order": ranked.order,
            "relevant": f"label of at least {lowest}",
            "judged in the pool": int(n_judged.sum()),
            "relevant in the pool": found_at_most,
            "judged in all": int((qrels.arrays.labels >= 0).sum()),
            "relevant in all": int(relevant.sum()),
            "without a label in the pool": sum(len(topic.lists) - topic.n_judged for topic in topics if topic),
            "seeds": f"{seeds[0]} to {seeds[-1]}",
            "leave out": leave_out or "nobody",
            **({} if groups else {"groups": "none: no two types are on record, and no team that did not contribute"}),
            "complete": True,
            "ties": f"means equal to {DECIMALS} decimals",
            **({"by ir_measures": provided} if provided else {}),
            **noted(caveats),
        },
    )


def check_comparing(*, depth: Any, rel: Any, leave_out: Any, repeats: Any, seed: Any, n_jobs: Any) -> None:
    """Raise where arguments of :func:`~pt_reuse.pools.compare_strategies` are wrong whatever the runs are.

    Raises:
        InputError: a number out of range, or an unknown unit to leave out.
    """
    if depth is not None:
        checked_depth(depth)
    checked_rel(rel)
    if leave_out is not None:
        choice("leave_out", leave_out, tuple(COLUMNS))
    positive("repeats", repeats, "seeds")
    checked_seed(seed)
    checked_jobs(n_jobs)


def checked_strategies(strategies: Any) -> list[Strategy]:
    """Return a user's ``strategies=`` as strategies of different names; all there are for None.

    Raises:
        InputError: none, an unknown one, or two of one name.
    """
    if strategies is None:
        return [as_strategy(name) for name in CHOOSERS]
    single = isinstance(strategies, str | Strategy | type)
    if not single and not isinstance(strategies, Iterable):
        raise InputError(
            Argument("strategies"), f" must be one strategy or several, got {told(strategies)}.", argument="strategies"
        )
    with arguments_as(strategy="strategies"):
        found = [as_strategy(one) for one in ([strategies] if single else strategies)]
    names = [strategy.name for strategy in found]
    again = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if again or not found:
        problem = f"{examples(again)} given more than once." if again else "no strategy given."
        rest = Aside("; None takes all there are")
        raise InputError(f"{problem} Give each strategy once", rest, ".", argument="strategies")
    return found


def _orders(
    topics: Sequence[OracleTopic | None],
    budget: NDArray[np.int64],
    seeds: range,
    strategies: Sequence[Strategy],
    *,
    n_jobs: int | None,
    verbose: bool,
) -> list[list[list[NDArray[np.int64]]]]:
    """Return for each strategy, seed and topic the rows of the judgments in the order in which they were judged."""
    nothing = [np.zeros(0, dtype=np.int64)] * len(strategies)
    at, tasks = [], []
    for s, seed in enumerate(seeds):
        for t, topic in enumerate(topics):
            if topic is not None and budget[t]:
                at.append((s, t))
                tasks.append(Task(topic, int(budget[t]), seed, strategies))
    found = dict(zip(at, run_tasks(tasks, n_jobs=n_jobs, verbose=verbose), strict=True))
    return [
        [[found.get((s, t), nothing)[i] for t in range(len(topics))] for s in range(len(seeds))]
        for i in range(len(strategies))
    ]


@dataclass(frozen=True)
class _Relevant:
    """Which judgments are relevant, and how many of these the pool has.

    Attributes:
        rows: (judgments,) which are relevant.
        in_pool: how many the pool has.
    """

    rows: NDArray[np.bool_]
    in_pool: int

    def found(self, n: int) -> dict[str, float]:
        """Return a number of relevant documents found, and what share of the pool's that is, 0 where it has none."""
        return {"relevant": n, "recall": n / max(self.in_pool, 1)}


class _Tables:
    """Counts and scores what strategies found.

    Args:
        field: what is scored.
        budgets: the budgets.
        lengths: for each budget (topics,) judgments of each topic.
        relevant: which judgments are relevant.
        groups: runs of which it is told how they move.
        measures: names of the measures.
    """

    def __init__(
        self,
        field: ScoredField,
        budgets: Budgets,
        lengths: Sequence[NDArray[np.int64]],
        relevant: _Relevant,
        groups: Sequence[Group],
        measures: Sequence[str],
    ):
        self.field, self.budgets, self.lengths, self.groups = field, budgets, lengths, groups
        self.relevant, self.measures = relevant, measures

    def of_strategy(
        self, name: str, of_seed: Sequence[Sequence[NDArray[np.int64]]], seeds: range
    ) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return what a strategy found and how the systems rank, and how groups move, at each budget and seed."""
        cells = [
            ({"strategy": name, "budget": value, "seed": seed}, prefixes(orders, self.lengths[b]))
            for b, value in enumerate(self.budgets.values)
            for seed, orders in zip(seeds, of_seed, strict=True)
        ]
        full, built = self.field.means([kept for _, kept in cells])
        rows, moved = [], []
        for i, (key, kept) in enumerate(cells):
            counts = {"judged": len(kept), **self.relevant.found(int(self.relevant.rows[kept].sum()))}
            rows.append(rankings({**key, **counts}, self.measures, full, built[:, i]))
            moved.append(group_rows(key, self.measures, full, built[:, i], self.groups))
        return pd.concat(rows, ignore_index=True), pd.concat(moved, ignore_index=True)

    def curve(
        self, name: str, of_seed: Sequence[Sequence[NDArray[np.int64]]], seeds: range, n_judged: NDArray[np.int64]
    ) -> pd.DataFrame:
        """Return how many relevant documents a strategy has found along its course, for each seed."""
        points, rows = self.budgets.curve(int(n_judged.max(initial=0))), []
        for seed, orders in zip(seeds, of_seed, strict=True):
            sums = [np.concatenate([[0], np.cumsum(self.relevant.rows[order])]) for order in orders]
            for value in points:
                lengths = self.budgets.judgments(value, n_judged)
                found = sum(int(one[n]) for one, n in zip(sums, lengths.tolist(), strict=True))
                key = {"strategy": name, "budget": value, "seed": seed, "judged": int(lengths.sum())}
                rows.append({**key, **self.relevant.found(found)})
        return pd.DataFrame(rows)
