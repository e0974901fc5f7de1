"""compare_strategies: what strategies find for a budget, and how near the ranking then comes to the truth."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import ir_measures
import numpy as np
import pandas as pd
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse import options
from pt_reuse._check import choice, count, examples, positive, told
from pt_reuse._choices import FIXED, LEARNING
from pt_reuse._jobs import run_jobs
from pt_reuse.arrays import pairs
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.arrays.kernels import UNJUDGED
from pt_reuse.arrays.rescore import Changes
from pt_reuse.arrays.stratified import share_of
from pt_reuse.columns import Table
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.data.units import COLUMNS, Units
from pt_reuse.errors import InputError
from pt_reuse.inputs import Inputs, settings_of, units_by
from pt_reuse.pooling.adaptive.strategy import (
    CHOOSERS,
    OracleTopic,
    OracleTopics,
    Strategy,
    as_strategy,
    caveats_of,
    check_some_judged,
    judged_in_order,
)
from pt_reuse.result import Result, cells, records
from pt_reuse.scoring.caveats import alone, beware, one_run
from pt_reuse.scoring.measures import adds_up, native_spec
from pt_reuse.scoring.perturbed import MeansOfSets
from pt_reuse.scoring.rescoring import rescore
from pt_reuse.study import study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pt_reuse.plots.sheet import Place

#: steps of the curve when budgets are numbers of judgments
_STEPS = 100
#: shares that differ by less are one point of the curve
_NEAR = 1e-9
#: judgments taken away that are worked on at once; each takes about a kilobyte for a hundred runs
AT_ONCE = 300_000
TAUS = ("tau_b", "tau_ap_b")
#: what is told of every strategy, budget and measure as a mean over seeds, with the lowest and the highest
TOLD = ("relevant", "recall", *TAUS, "max_drop")
_KEYS = ["strategy", "budget", "measure"]
#: how many strategies a figure shows unless others are asked for
_DRAWN = 6


def _draw(
    result: StrategyComparison, rows: pd.DataFrame, column: str, label: str, place: Place, strategies: list[str] | None
) -> Axes:
    from pt_reuse.plots.lines import plot_strategies

    chosen = result._best() if strategies is None else list(strategies)
    for one in chosen:
        choice("strategies", one, result.strategies)
    # correlations lie close to each other: what counts is how they differ
    against = chosen[0] if column in TAUS and len(chosen) > 1 else None
    return plot_strategies(rows, strategies=chosen, column=column, label=label, against=against, place=place)


def _of_ranking(column: str, label: str) -> Callable[..., Axes]:
    """Return what draws a column of the ranking by a measure against the budget."""

    def draw(result: StrategyComparison, measure: str, place: Place, strategies: list[str] | None = None) -> Axes:
        rows = result.table[result.table["measure"] == measure]
        return _draw(result, rows, column, f"{label} ({measure})", place, strategies)

    return draw


def _draw_found(result: StrategyComparison, _: str, place: Place, strategies: list[str] | None = None) -> Axes:
    label = "share of the pool's relevant documents found"
    return _draw(result, result.curve, "recall", label, place, strategies)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class StrategyComparison(Result):
    """What ways of judging find for a budget, and how far the systems rank under it as under all judgments.

    Every number is a mean over all ``seeds``. Columns that end in ``_low`` and ``_high`` are the lowest and the highest
    of them. Where a coefficient is not defined for one seed, as where all systems tie, all three are missing;
    `by_seed` has those of the other seeds. A seed decides what a strategy draws, and in which order it tries runs that
    tie. Its figures have a line for each of some ``strategies``, by default the six that find most at the middle
    budget, and the band from its lowest to its highest seed.
    """

    title = "Strategies"
    valid_for = (
        "the depth-{depth} pool, contributors: {contributors}, and its judged documents ({judged in the pool}, "
        "{relevant in the pool} of them relevant); means over the seeds {seeds}, with the lowest and the highest."
    )
    not_covered = "what a strategy would find beyond the judged documents of this pool."
    plots = {
        "relevant": _draw_found,
        "tau_b": _of_ranking("tau_b", "tau_b to the ranking by all judgments"),
        "tau_ap_b": _of_ranking("tau_ap_b", "tau_ap_b to the ranking by all judgments"),
        "max_drop": _of_ranking("max_drop", "largest drop of a run, in ranks"),
    }

    key = "tau_b max_drop recall judged"
    columns = """
    strategy   | Strategy | | the strategy
    budget     | Budget   | number | share of each topic's judged pool, or judgments per topic
    seed       | Seed     | | the seed
    seeds      | Seeds    | count | over how many seeds numbers are means
    judged     | Judged   | count | how many documents were judged
    relevant   | Found    | tenths | relevant documents found
    recall     | Share found | score | their share of the relevant ones of the pool
    by         | By       | | ``type`` or ``team``
    group      | Group    | | a type, where there are several, or a team of which no run was pooled
    mean_drop  | Mean drop | tenths | the ranks that its runs lose on average, below 0 where they gain
    change_pct | Change, % | percent | mean change of their scores in per cent
    others_    | others   | | of all other runs
    units      | Units    | count | units that change the judgments
    own_       | own      | | of the ranking in which each run is scored by judgments built without its own unit
    alone_max_drop   | Own largest drop    | count  | the most ranks that a run loses when its unit alone is scored so
    largest_loss_pct | Largest loss, %     | tenths | the largest loss of a score in per cent
    field_min_tau_b  | Smallest tau_b, field | score | smallest tau_b when the whole field is ranked without one unit
    field_max_drop   | Largest drop, field | count  | the most ranks that any run loses then
    field_worst      | By leaving out      |        | the unit with that drop, None where none loses any
    """

    table: Annotated[
        pd.DataFrame,
        Table(
            "strategy, budget and measure",
            "strategy budget measure judged seeds relevant~ recall~ tau_b~ tau_ap_b~ max_drop~",
            report="strategy budget recall tau_b max_drop",
            descending=("budget", "recall"),
            noun="strategies",
        ),
    ]
    by_seed: Annotated[
        pd.DataFrame,
        Table(
            "strategy, budget, seed and measure",
            "strategy budget seed judged relevant recall measure tau_b tau_ap_b max_drop",
            report="strategy budget seed recall tau_b max_drop",
        ),
    ]
    curve: Annotated[
        pd.DataFrame,
        Table(
            "strategy and point of its course, each per cent or a hundred steps to the largest budget, and each budget",
            "strategy budget judged seeds relevant~ recall~",
            report="strategy budget judged recall",
        ),
    ]
    groups: Annotated[
        pd.DataFrame,
        Table(
            "strategy, budget, measure and group of runs",
            "strategy budget measure by group runs seeds mean_drop~ change_pct~ others_change_pct~",
            report="strategy budget group mean_drop change_pct others_change_pct",
            noun="groups",
        ),
    ]
    left_out: Annotated[
        pd.DataFrame,
        Table(
            "strategy, budget and measure, by the first seed",
            "strategy budget measure units own_tau_b? alone_max_drop? largest_loss_pct? field_min_tau_b? "
            "field_max_drop? field_worst?",
            report="strategy budget own_tau_b alone_max_drop field_max_drop field_worst",
            about="No rows where nothing was left out.",
            noun="strategies",
        ),
    ]

    @property
    def strategies(self) -> list[str]:
        """Return the names of the strategies."""
        return list(dict.fromkeys(self.table["strategy"]))

    def answers(self) -> list[str]:
        """Return of each budget which strategy finds most, and which keeps the ranking by the first measure best."""
        lines = []
        for budget, rows in self.table[self.table["measure"] == self.measures[0]].groupby("budget", sort=True):
            ranked = rows[rows["tau_b"].notna()]
            # where all systems tie under every strategy, none is best
            best = ranked.loc[[ranked["tau_b"].idxmax()]] if len(ranked) else rows.head(1)
            most, best = (cells(records(some)[0], self.columns) for some in (rows.loc[[rows["recall"].idxmax()]], best))
            per = f"{100 * budget:g}%" if isinstance(budget, float) else f"{count(int(budget), 'judgment')} per topic"
            lines.append(
                f"{per}: {most['strategy']} finds most, {most['recall']:.1%} of the relevant documents; "
                f"{best['strategy']} keeps the ranking by {self.measures[0]} best, tau_b {best['tau_b']}"
            )
        return lines

    def _best(self) -> list[str]:
        """Return the strategies that find most at the middle budget, in their order."""
        budgets = sorted(set(self.table["budget"]))
        rows = self.table.drop_duplicates(["strategy", "budget"])
        rows = rows[rows["budget"] == budgets[len(budgets) // 2]]
        best = set(rows.sort_values("recall", ascending=False, kind="stable")["strategy"].head(_DRAWN))
        return [name for name in self.strategies if name in best]


def checked_budgets(budgets: Any) -> Budgets:
    """Return a user's ``budgets=``, or say what is wrong with them."""
    single = isinstance(budgets, int | float | np.number)
    given = [budgets] if single else budgets.reshape(-1) if isinstance(budgets, np.ndarray) else budgets
    values = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else []
    are_numbers = all(isinstance(one, int | float | np.number) and not isinstance(one, bool) for one in values)
    shares = {isinstance(value, float | np.floating) for value in values}
    right = are_numbers and len(shares) == 1 and all(0 <= value <= (1 if True in shares else value) for value in values)
    if not right:
        raise InputError(
            "budgets must be one number or several of one kind: shares of the judgments from 0.0 to 1.0, such as "
            f".1 (all judgments are the share 1.0), or whole numbers of judgments per topic, got {told(budgets)}.",
            argument="budgets",
        )
    is_share = True in shares
    return Budgets(tuple(sorted({float(value) if is_share else int(value) for value in values})), is_share)


def checked_strategies(strategies: Any) -> list[Strategy]:
    """Return a user's ``strategies=`` as strategies of different names, or say what is wrong with them."""
    single = isinstance(strategies, str | Strategy | type)
    if not single and not isinstance(strategies, Iterable):
        raise InputError(f"strategies must be one strategy or several, got {told(strategies)}.", argument="strategies")
    found = [as_strategy(one, "strategies") for one in ([strategies] if single else strategies)]
    names = [strategy.name for strategy in found]
    again = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if again or not found:
        problem = f"{examples(again)} given more than once." if again else "no strategy given."
        rest = "; None takes all there are"
        raise InputError(f"{problem} Give each strategy once{rest}.", argument="strategies")
    return found


Strategies: TypeAlias = Annotated[
    Any,
    options.Option(
        'names (``"mtf"``, ``"hedge"``, ...), :class:`~pt_reuse.pools.Strategy` objects or subclasses of '
        ":class:`~pt_reuse.pools.Chooser`, one or several; default every strategy there is.",
        check=checked_strategies,
        flag=options.Flag(
            help=f"comma-separated, of: {', '.join((*LEARNING, *FIXED))}", metavar="LIST", kind="list", default="all"
        ),
    ),
]


@study(
    question="Which documents should be judged first?",
    command="judge compare-strategies",
    aim="judging",
    summary="what judging strategies would have found, and how they would rank the runs",
    details="Each strategy chooses documents of the pool, topic by topic, and the judgments give their labels. At each "
    "budget the relevant documents found are counted, and the ranking of runs by the labels so far is compared with "
    "that by all judgments.",
    group="pools",
    page="building-judgments",
    papers="[L17]_",
    screen=("table", "left_out"),
)
def compare_strategies(
    runs: options.Runs,
    qrels: options.Judgments,
    strategies: Strategies = None,
    *,
    budgets: Annotated[
        Any,
        options.Option(
            "shares of each topic's judged pool (fractions, ``.1``; rounded to the nearest judgment, halves up), or "
            "judgments per topic (whole numbers); one or several.",
            check=checked_budgets,
            flag=options.Flag(
                help="shares of each topic's judged pool (.1,.25), or whole numbers of judgments per topic (10,50)",
                metavar="LIST",
                kind="budgets",
            ),
        ),
    ] = (0.01, 0.05, 0.1, 0.25, 0.5),
    measures: options.Measures = None,
    depth: options.Depth = None,
    contributors: options.Contributing = "pooled",
    pool_order: options.PoolOrder = None,
    rel: options.Rel = None,
    leave_out: Annotated[
        str | None,
        options.Option(
            'also build the judgments without each ``"team"``, ``"type"``, ``"family"`` or ``"run"`` in turn, to the '
            "same budgets, and say what that does to the runs (`left_out`); by the first seed. Default None: do not.",
            choices=tuple(COLUMNS),
            flag=options.Flag(
                help="also leave out every team, type, family or run in turn, and say what that does to the runs",
                metavar="UNIT",
                kind="text",
            ),
        ),
    ] = None,
    repeats: Annotated[
        int,
        options.Option(
            "how many seeds.",
            check=partial(positive, "repeats", unit="seeds"),
            flag=options.Flag(help="how many seeds; numbers are means over these"),
        ),
    ] = 5,
    seed: options.Seed = 0,
    n_jobs: options.Jobs = None,
    verbose: options.Verbose = False,
) -> StrategyComparison:
    """Compare judging strategies on a collection whose judgments are known.

    Each strategy chooses documents of the depth-k pool, topic by topic, and gets their labels from the judgments. A
    document of the pool without a label of at least 0 gets no label and costs nothing. At each budget, the relevant
    documents found are counted, and the ranking of the systems by the labels so far (other documents count as not
    relevant) is compared with that by all judgments.

    Args:
        contributors: the runs that make the pool: ``"pooled"`` (default), ``"all"`` or run names. All runs are scored.
        rel: the lowest label that is relevant, for strategies and for counts; default that of the judgments.
        seed: the first seed; the others follow it.

    Returns:
        StrategyComparison: ``.table``, ``.curve``, ``.by_seed``, ``.groups``, ``.left_out``; ``.plot()``.

    Raises:
        InputError: an unknown strategy, two of the same name, a budget below 0 or a share above 1, an unknown measure;
            a strategy that chooses a document twice.

    Warns:
        ReuseWarning: a binary measure that counts labels below `rel`; a pool whose judged documents are all relevant,
            so that strategies cannot differ, or of which more than half has no label. ``settings["beware"]`` has the
            last two, too. Also a field of one run, and with `leave_out` contributing runs of only one unit.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.demo.simulate_field(seed=7)
        >>> options = {"depth": field.depth, "budgets": [.1, .5], "measures": "AP"}
        >>> found = ptr.pools.compare_strategies(field.runs, field.qrels, ["rank", "mtf"], **options)
        >>> found.table[["strategy", "budget", "judged"]].values.tolist()
        [['rank', 0.1, 89], ['rank', 0.5, 452], ['mtf', 0.1, 89], ['mtf', 0.5, 452]]

    Source: the way of comparing is that of Losada, Parapar and Barreiro, Multi-armed bandits for adjudicating documents
    in pooling-based evaluation of information retrieval systems, IPM 53, 2017; leaving teams out of a dynamic way of
    judging that of Voorhees, Craswell and Lin, SIGIR 2022, section 3.
    """
    chosen = [as_strategy(name) for name in CHOOSERS] if strategies is None else strategies
    wanted, seeds, how = budgets, range(seed, seed + repeats), {"n_jobs": n_jobs, "verbose": verbose}
    inputs = Inputs.read(runs, qrels, measures, rel)
    runs, qrels, pooled = inputs.runs, inputs.qrels, inputs.pooled(depth, contributors, pool_order)
    units = None if leave_out is None else units_by(runs, leave_out, "leave_out")
    field = ScoredField(runs, qrels, inputs.measures)
    oracle = OracleTopics(pooled.ranked, qrels, pooled.depth, inputs.rel, pooled.contributors.runs)
    topics = [oracle.topic(qid) for qid in qrels.topics]
    check_some_judged(topics)
    beware(
        one_run(len(runs)) if units is None else alone(units, pooled.contributors.runs), caveats_of(topics, inputs.rel)
    )
    n_judged = np.array([0 if topic is None else topic.n_judged for topic in topics], dtype=np.int64)
    lengths = [wanted.judgments(value, n_judged) for value in wanted.values]
    orders = _orders(topics, lengths[-1], seeds, chosen, **how)
    relevant = qrels.arrays.labels >= inputs.rel
    in_pool = sum(topic.n_relevant for topic in topics if topic)
    points = [(value, wanted.judgments(value, n_judged)) for value in wanted.curve(int(n_judged.max(initial=0)))]
    groups = groups_of(runs.run_table, pooled.contributors.runs)
    names, rows, moves, courses = [repr(measure) for measure in inputs.measures], [], [], []
    for strategy, of_seed in zip(
        pt.tqdm(chosen, desc="scoring", unit="strategy", disable=not verbose), orders, strict=True
    ):
        built = [prefixes(order, length) for length in lengths for order in of_seed]
        full, means = field.means(built)
        for i, ((budget, seed_of), kept) in enumerate(zip(product(wanted.values, seeds), built, strict=True)):
            key = {"strategy": strategy.name, "budget": budget, "seed": seed_of}
            found = _found(len(kept), int(relevant[kept].sum()), in_pool)
            rows.append(rankings({**key, **found}, names, full, means[:, i]))
            moves.append(group_rows(key, names, full, means[:, i], groups))
        for seed_of, order in zip(seeds, of_seed, strict=True):
            sums = [np.concatenate([[0], np.cumsum(relevant[rows_of])]) for rows_of in order]
            for budget, length in points:
                n = sum(int(one[at]) for one, at in zip(sums, length.tolist(), strict=True))
                key = {"strategy": strategy.name, "budget": budget, "seed": seed_of}
                courses.append({**key, **_found(int(length.sum()), n, in_pool)})
    by_seed, moved = (pd.concat(part, ignore_index=True) for part in (rows, moves))
    curve = pd.DataFrame(courses)
    left_out = pd.DataFrame(columns=[*_KEYS, "units"])
    if units is not None:
        leaving = LeavingOut(oracle, topics, field, units, seeds[0], how)
        left_out = leaving.table(chosen, [of_seed[0] for of_seed in orders], wanted, lengths)
    group_keys, changes = [*_KEYS, "by", "group", "runs"], ("mean_drop", "change_pct", "others_change_pct")
    columns = [*group_keys, "seed", *changes]
    counts: dict[str, Any] = {
        "budget": wanted.unit,
        "judged in the pool": int(n_judged.sum()),
        "relevant in the pool": in_pool,
        "judged in all": int((qrels.arrays.labels >= 0).sum()),
        "relevant in all": int(relevant.sum()),
        "without a label in the pool": sum(len(topic.lists) - topic.n_judged for topic in topics if topic),
        "seeds": f"{seeds[0]} to {seeds[-1]}",
        "leave out": leave_out or "nobody",
        **({} if groups else {"groups": "none: no two types are on record, and no team that did not contribute"}),
    }
    return StrategyComparison(
        table=over_seeds(by_seed, [*_KEYS, "judged"], TOLD),
        by_seed=by_seed,
        curve=over_seeds(curve, ["strategy", "budget", "judged"], ("relevant", "recall")),
        groups=over_seeds(moved if groups else moved.reindex(columns=columns), group_keys, changes),
        left_out=left_out,
        settings=settings_of(counts, pooled, units, inputs),
    )


def _orders(
    topics: Sequence[OracleTopic | None],
    budget: NDArray[np.int64],
    seeds: range,
    strategies: Sequence[Strategy],
    **how: Any,
) -> list[list[list[NDArray[np.int64]]]]:
    """Return for each strategy, seed and topic the rows of the judgments in the order in which they were judged."""
    nothing = [np.zeros(0, dtype=np.int64)] * len(strategies)
    at, tasks = [], []
    for s, seed in enumerate(seeds):
        for t, topic in enumerate(topics):
            if topic is not None and budget[t]:
                at.append((s, t))
                tasks.append(Task(topic, int(budget[t]), seed, strategies))
    found = dict(zip(at, run_tasks(tasks, **how), strict=True))
    return [
        [[found.get((s, t), nothing)[i] for t in range(len(topics))] for s in range(len(seeds))]
        for i in range(len(strategies))
    ]


def _found(judged: int, relevant: int, in_pool: int) -> dict[str, float]:
    """Return how many judgments these are, how many are relevant, and what share of the pool's that is."""
    return {"judged": judged, "relevant": relevant, "recall": relevant / max(in_pool, 1)}


@dataclass(frozen=True)
class Budgets:
    """Budgets in rising order: shares of each topic's judged pool, or judgments per topic."""

    values: tuple[float, ...]
    shares: bool

    @property
    def unit(self) -> str:
        """Return what the values count, in words."""
        return "share of each topic's judged pool, to the nearest judgment" if self.shares else "judgments per topic"

    def judgments(self, value: float, n_judged: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return (topics,): how many judgments a budget gives to topics with so many; shares are rounded halves up."""
        if not self.shares:
            return np.minimum(n_judged, int(value))
        return np.array([share_of(value, n) for n in n_judged.tolist()], dtype=np.int64)

    def curve(self, most: int) -> list[float]:
        """Return the points of the curve: every per cent, or a hundred steps, up to the largest budget."""
        last = self.values[-1]
        if self.shares:
            even = [step / 100 for step in range(math.floor(round(100 * last, 9)) + 1)]
            # a budget that is a per cent but for rounding stands on the curve already
            other = [value for value in self.values if min(abs(value - point) for point in even) > _NEAR]
            return sorted([*even, *other])
        end = min(last, most)
        return sorted({*(math.floor(end * step / _STEPS) for step in range(_STEPS + 1)), *self.values})


@dataclass(frozen=True)
class Task:
    """What one job works on; it needs nothing else, so that it can run anywhere."""

    topic: OracleTopic
    budget: int
    seed: int
    strategies: Sequence[Strategy]

    def run(self) -> list[NDArray[np.int64]]:
        """Return for each strategy the rows of the judgments in the order in which it asked for them."""
        lists, relevant = self.topic.lists, self.topic.relevant
        return [
            self.topic.row[judged_in_order(strategy, lists, relevant, seed=self.seed, budget=self.budget)]
            for strategy in self.strategies
        ]


def run_tasks(tasks: Sequence[Task], *, n_jobs: int | None, verbose: bool) -> list[list[NDArray[np.int64]]]:
    """Run tasks by joblib, and return what each returns, in order."""
    return list(run_jobs(tasks, len(tasks), desc="judging", unit="topic", n_jobs=n_jobs, verbose=verbose))


@dataclass(frozen=True)
class ScoredField:
    """Runs that are scored under judgments and under parts of them."""

    runs: RunSet
    qrels: Qrels
    measures: Sequence[ir_measures.Measure]

    def means(self, kept: Sequence[NDArray[np.int64]]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return means, (measures, runs) under all judgments, (measures, parts, runs) under the rows that are kept."""
        parts = [self._rescored(gone) for gone in self._gone(kept)]
        return parts[0][0], np.concatenate([built for _, built in parts], axis=1)

    def _gone(self, kept: Sequence[NDArray[np.int64]]) -> Iterator[list[NDArray[np.int64]]]:
        labels = self.qrels.arrays.labels
        specs = [native_spec(measure) for measure in self.measures]
        blind = all(spec is not None and not spec.sees_nonrelevant for spec in specs)
        # what no measure can see need not be taken away
        return _slices(labels > 0 if blind else labels != UNJUDGED, kept)

    def _rescored(self, gone: Sequence[NDArray[np.int64]]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the means under all judgments, and under those without the rows of each set."""
        changes, n_topics = _without(gone), len(self.qrels.topics)
        means = MeansOfSets(self.measures, len(gone), len(self.runs), n_topics, None)
        full = np.zeros((len(self.measures), len(self.runs)))
        for block in rescore(self.runs, self.qrels, self.measures, changes):
            for i in range(len(block.topics)):
                full += block.base[:, i]
            means.add(block)
        return full / np.where(adds_up(self.measures), 1, max(n_topics, 1))[:, None], means.means()


def _without(gone: Sequence[NDArray[np.int64]]) -> Changes:
    """Return the sets that each lack some rows of the judgments."""
    row = np.concatenate([np.zeros(0, dtype=np.int64), *gone])
    in_set = np.repeat(np.arange(len(gone)), [len(rows) for rows in gone])
    return Changes(len(gone), in_set, row, np.full(len(row), UNJUDGED))


def _slices(counts: NDArray[np.bool_], kept: Sequence[NDArray[np.int64]]) -> Iterator[list[NDArray[np.int64]]]:
    """Yield for some parts at a time the rows of the judgments that each lacks."""
    held: list[NDArray[np.int64]] = []
    for part in kept:
        gone = counts.copy()
        gone[part] = False
        rows = np.flatnonzero(gone)
        if held and sum(map(len, held)) + len(rows) > AT_ONCE:
            yield held
            held = []
        held.append(rows)
    yield held


def prefixes(orders: Sequence[NDArray[np.int64]], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the first rows of each topic's order, together; (topics,) say how many of each."""
    parts = [order[:n] for order, n in zip(orders, lengths.tolist(), strict=True)]
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts])


@dataclass(frozen=True)
class LeavingOut:
    """Every unit that contributed is left out once: it runs no more, and what it alone brought is not judged for it."""

    oracle: OracleTopics
    topics: Sequence[OracleTopic | None]
    field: ScoredField
    units: Units
    seed: int
    how: Mapping[str, Any]

    def table(
        self,
        strategies: Sequence[Strategy],
        orders: Sequence[Sequence[NDArray[np.int64]]],
        budgets: Budgets,
        lengths: Sequence[NDArray[np.int64]],
    ) -> pd.DataFrame:
        """Return one row per strategy, budget and measure; an order has for each strategy and topic the rows judged."""
        without = dict(self._reduced(strategies, lengths[-1]))
        names = [repr(measure) for measure in self.field.measures]
        involved = sorted({unit for unit, _ in without})
        rows = []
        for s, strategy in enumerate(strategies):
            for b, value in enumerate(budgets.values):
                kept = [prefixes(orders[s], lengths[b])]
                for unit in involved:
                    mine = [without[unit, t][s] if (unit, t) in without else order for t, order in enumerate(orders[s])]
                    kept.append(prefixes(mine, lengths[b]))
                means = self.field.means(kept)[1].round(DECIMALS)
                for m, measure in enumerate(names):
                    found = self._row(means[m, 0], means[m, 1:], involved)
                    rows.append({"strategy": strategy.name, "budget": value, "measure": measure, **found})
        return pd.DataFrame(rows)

    def _row(self, full: NDArray[np.float64], reduced: NDArray[np.float64], involved: list[int]) -> dict[str, object]:
        own = full.copy()
        for place, unit in enumerate(involved):
            mine = self.units.of_run == unit
            own[mine] = reduced[place, mine]
        alone = pairs.rank_alone(full, own, self.units.of_run) - pairs.ranks(full)
        change = pairs.per_cent_change(full, own)
        row: dict[str, object] = {
            "units": len(involved),
            "own_tau_b": pairs.coefficients(full, own[None], ("tau_b",))["tau_b"][0],
            "alone_max_drop": int(alone.max()),
            "largest_loss_pct": max(0.0, float(-np.nanmin(change))) if not np.isnan(change).all() else 0.0,
        }
        if not involved:
            return {**row, "field_min_tau_b": 1.0, "field_max_drop": 0, "field_worst": None}
        field = pairs.coefficients(full, reduced, ("tau_b",))
        worst = int(np.lexsort((field["tau_b"], -field["max_drop"]))[0])
        drop = int(field["max_drop"][worst])
        row |= {"field_min_tau_b": float(field["tau_b"].min()), "field_max_drop": drop}
        return {**row, "field_worst": self.units.names[involved[worst]] if drop else None}

    def _reduced(
        self, strategies: Sequence[Strategy], budget: NDArray[np.int64]
    ) -> Iterator[tuple[tuple[int, int], list[NDArray[np.int64]]]]:
        """Yield for each unit and topic that it changes what each strategy judges without it."""
        cells, tasks = [], []
        for t, topic in enumerate(self.topics):
            if topic is None:
                continue
            for unit in self._owners(topic):
                left = self.oracle.topic(topic.lists.qid, self.units.of_run == unit)
                if left is not None:
                    cells.append((unit, t))
                    tasks.append(Task(left, int(budget[t]), self.seed, strategies))
        return zip(cells, run_tasks(tasks, **self.how), strict=True)

    def _owners(self, topic: OracleTopic) -> list[int]:
        """Return the units that alone have a relevant document of the topic."""
        place = dict(zip(self.field.runs.names, self.units.of_run.tolist(), strict=True))
        unit_of = np.array([place[name] for name in topic.lists.names], dtype=np.int64)
        owners = set()
        for document in np.flatnonzero(topic.relevant > 0).tolist():
            units = set(unit_of[topic.lists.runs_of[document]].tolist())
            if len(units) == 1:
                owners |= units
        return sorted(owners)


#: runs of a type or team that a way of judging may favour or harm together: ``by``, its name, and (runs,) which
Group: TypeAlias = tuple[str, str, NDArray[np.bool_]]


def groups_of(run_table: pd.DataFrame, contributing: NDArray[np.bool_]) -> list[Group]:
    """Return every type of a field that has several, and every team none of whose runs contributes to the pool."""
    found = []
    for by in ("type", "team"):
        for name in dict.fromkeys(run_table[by].dropna()):
            runs = (run_table[by] == name).to_numpy(dtype=bool)
            if (by == "type" and not runs.all()) or not (runs & contributing).any():
                found.append((by, str(name), runs))
    return found


def rankings(
    key: Mapping[str, object],
    measures: Sequence[str],
    full: NDArray[np.float64],
    built: NDArray[np.float64],
) -> pd.DataFrame:
    """Return one row per measure: the ranking by (measures, runs) means under a built set against that under all."""
    rows = []
    for m, measure in enumerate(measures):
        found = pairs.coefficients(full[m].round(DECIMALS), built[m].round(DECIMALS)[None], TAUS)
        rows.append({**key, "measure": measure, **{name: found[name][0] for name in (*TAUS, "max_drop")}})
    return pd.DataFrame(rows)


def group_rows(
    key: Mapping[str, object],
    measures: Sequence[str],
    full: NDArray[np.float64],
    built: NDArray[np.float64],
    groups: Sequence[Group],
) -> pd.DataFrame:
    """Return one row per measure and group: the ranks its runs lose on average, and the change of their scores."""
    rows = []
    for m, measure in enumerate(measures):
        drops = pairs.rank_drops(full[m].round(DECIMALS), built[m].round(DECIMALS)[None])[0]
        change = pairs.per_cent_change(full[m], built[m])
        for by, name, mine in groups:
            row = {**key, "measure": measure, "by": by, "group": name, "runs": int(mine.sum())}
            row |= {"mean_drop": drops[mine].mean(), "change_pct": _mean(change[mine])}
            rows.append({**row, "others_change_pct": _mean(change[~mine])})
    return pd.DataFrame(rows)


def over_seeds(by_seed: pd.DataFrame, keys: Sequence[str], values: Sequence[str]) -> pd.DataFrame:
    """Return the mean of values over seeds, with the lowest and the highest, in the order in which keys appear."""
    grouped = by_seed.groupby(list(keys), sort=False)
    table = grouped.agg(seeds=("seed", "size")).reset_index()
    for name in values:
        column = grouped[name]
        has_all = column.count().to_numpy() == table["seeds"].to_numpy()
        for end, values_of in (("", column.mean()), ("_low", column.min()), ("_high", column.max())):
            table[f"{name}{end}"] = values_of.where(has_all).to_numpy()
    return table


def _mean(values: NDArray[np.float64]) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else np.nan
