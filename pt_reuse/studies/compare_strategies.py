"""compare_strategies: what strategies find for a budget, and how near the ranking then comes to the truth."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Annotated, Any, TypeAlias

import numpy as np
import pandas as pd
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse import options
from pt_reuse._jobs import run_jobs
from pt_reuse.arrays import pairs
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.arrays.kernels import UNJUDGED
from pt_reuse.arrays.lists import neighbours
from pt_reuse.arrays.prediction_powered import share_of
from pt_reuse.columns import Table
from pt_reuse.data.units import COLUMNS, Units
from pt_reuse.errors import InputError, count, examples, positive, shown
from pt_reuse.inputs import Inputs, settings_of
from pt_reuse.options import FIXED, LEARNING
from pt_reuse.plots.lines import plot_strategies
from pt_reuse.plots.sheet import Axes, Place
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
from pt_reuse.scoring.measures import native_spec
from pt_reuse.studies.leave_one_out import scores_without
from pt_reuse.study import study

Ints = NDArray[np.int64]

#: steps of the curve when budgets are numbers of judgments
_STEPS = 100
#: shares that differ by less are one point of the curve
_NEAR = 1e-9
#: judgments taken away that are worked on at once; each takes about a kilobyte for a hundred runs
AT_ONCE = 300_000
TAUS = ("tau_b", "tau_ap_b")
_KEYS = ["strategy", "budget", "measure"]
#: how many strategies a figure shows
_DRAWN = 6


def _draw(column: str, label: str, result: StrategyComparison, measure: str, place: Place) -> Axes:
    table, known = result.table, list(dict.fromkeys(result.table["strategy"]))
    budgets = sorted(set(table["budget"]))
    middle = table[table["budget"] == budgets[len(budgets) // 2]].drop_duplicates("strategy")
    best = set(middle.sort_values("recall", ascending=False, kind="stable")["strategy"].head(_DRAWN))
    shown = [name for name in known if name in best]
    # correlations lie close to each other: what counts is how they differ
    against = shown[0] if column in TAUS and len(shown) > 1 else None
    rows = result.curve if column == "recall" else table[table["measure"] == measure]
    label = label if column == "recall" else f"{label} ({measure})"
    return plot_strategies(rows, strategies=shown, column=column, label=label, against=against, place=place)


def _draw_found(result: StrategyComparison, _: str, place: Place) -> Axes:
    return _draw("recall", "share of the pool's relevant documents found", result, "", place)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class StrategyComparison(Result):
    """What ways of judging find for a budget, and how far the systems rank under it as under all judgments.

    Every number is a mean over all ``seeds``, missing where one seed has none; ``_low`` and ``_high`` are the lowest
    and the highest. Figures have a line and a band for each strategy, of many the six that find most.
    """

    title = "Strategies"
    valid_for = (
        "the depth-{depth} pool, contributors: {contributors}, and its judged documents ({judged in the pool}, "
        "{relevant in the pool} of them relevant); means over the seeds {seeds}, with the lowest and the highest."
    )
    not_covered = "what a strategy would find beyond the judged documents of this pool."
    plots = {
        "relevant": _draw_found,
        "tau_b": partial(_draw, "tau_b", "tau_b to the ranking by all judgments"),
        "tau_ap_b": partial(_draw, "tau_ap_b", "tau_ap_b to the ranking by all judgments"),
        "max_drop": partial(_draw, "max_drop", "largest drop of a run, in ranks"),
    }

    key = "tau_b max_drop recall judged"
    columns = """
    budget     | Budget   | number | share of each topic's judged pool, or judgments per topic
    seed       | Seed     | | the seed
    seeds      | Seeds    | count | over how many seeds numbers are means
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
    field_max_drop   | Largest drop, field | count  | the most ranks that any run loses then
    """

    table: Annotated[
        pd.DataFrame,
        Table(
            "strategy, budget and measure",
            "strategy* budget* measure judged seeds relevant~ recall~* tau_b~* tau_ap_b~ max_drop~*",
            descending=("budget", "recall"),
            noun="strategies",
        ),
    ]
    by_seed: Annotated[
        pd.DataFrame,
        Table(
            "strategy, budget, seed and measure",
            "strategy* budget* seed* judged relevant recall* measure tau_b* tau_ap_b max_drop*",
        ),
    ]
    curve: Annotated[
        pd.DataFrame,
        Table(
            "strategy and point of its course, each per cent or a hundred steps to the largest budget, and each budget",
            "strategy* budget* judged* seeds relevant~ recall~*",
        ),
    ]
    groups: Annotated[
        pd.DataFrame,
        Table(
            "strategy, budget, measure and group of runs",
            "strategy* budget* measure by group* runs seeds mean_drop~* change_pct~* others_change_pct~*",
            noun="groups",
        ),
    ]
    left_out: Annotated[
        pd.DataFrame,
        Table(
            "strategy, budget and measure, by the first seed",
            "strategy* budget* measure units own_tau_b?* alone_max_drop?* largest_loss_pct? field_min_tau_b? "
            "field_max_drop?* field_worst?*",
            about="No rows where nothing was left out.",
            noun="strategies",
        ),
    ]

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


def checked_budgets(budgets: Any) -> Budgets:
    """Return a user's ``budgets=``, or say what is wrong with them."""
    several = isinstance(budgets, Iterable) and not isinstance(budgets, str)
    values = np.ravel(budgets).tolist() if isinstance(budgets, np.ndarray) else list(budgets) if several else [budgets]
    shares = all(isinstance(value, float | np.floating) and 0 <= value <= 1 for value in values)
    counts = all(isinstance(value, int | np.integer) and not isinstance(value, bool) and value >= 0 for value in values)
    if not values or not (shares or counts):
        expected = "shares of the judgments from 0.0 to 1.0, or whole numbers of judgments per topic"
        raise InputError(f"budgets must be {expected}, got {shown(budgets)}.", argument="budgets")
    return Budgets(tuple(sorted({float(value) if shares else int(value) for value in values})), shares)


def checked_strategies(strategies: Any) -> list[Strategy]:
    """Return a user's ``strategies=`` as strategies of different names, or say what is wrong with them."""
    single = isinstance(strategies, str | Strategy | type)
    if not single and not isinstance(strategies, Iterable):
        raise InputError(f"strategies must be one strategy or several, got {shown(strategies)}.", argument="strategies")
    chosen = [as_strategy(strategy, "strategies") for strategy in ([strategies] if single else strategies)]
    names = [strategy.name for strategy in chosen]
    if len(set(names)) < len(names) or not names:
        problem = f"strategies must be different ones, got {examples(names) or 'none'}. None takes all there are."
        raise InputError(problem, argument="strategies")
    return chosen


@study(
    question="Which documents should be judged first?",
    command="judge compare-strategies",
    aim="judging",
    summary="what judging strategies would have found, and how they would rank the runs",
    details="At each budget the relevant documents found are counted, and the runs ranked by the labels so far.",
    group="pools",
    page="building-judgments",
    papers="[L17]_",
    screen=("table", "left_out"),
)
def compare_strategies(
    runs: options.Runs,
    qrels: options.Judgments,
    strategies: Annotated[
        Any,
        options.Option(
            'names (``"mtf"``, ``"hedge"``, ...), :class:`~pt_reuse.pools.Strategy` objects or subclasses of '
            ":class:`~pt_reuse.pools.Chooser`, one or several; default every strategy there is.",
            check=checked_strategies,
            flag=options.Flag(help=f"of {', '.join((*LEARNING, *FIXED))}", metavar="LIST", kind="list", default="all"),
        ),
    ] = None,
    *,
    budgets: Annotated[
        Any,
        options.Option(
            "shares of each topic's judged pool (fractions, ``.1``; rounded to the nearest judgment, halves up), or "
            "judgments per topic (whole numbers); one or several.",
            check=checked_budgets,
            flag=options.Flag(metavar="LIST", kind="budgets"),
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
            flag=options.Flag(metavar="UNIT", kind="text"),
        ),
    ] = None,
    repeats: Annotated[
        int, options.Option("how many seeds.", check=partial(positive, "repeats", unit="seeds"), flag=options.Flag())
    ] = 5,
    seed: options.Seed = 0,
    n_jobs: options.Jobs = None,
    verbose: options.Verbose = False,
) -> StrategyComparison:
    """Compare judging strategies on a collection whose judgments are known.

    Each strategy chooses documents of the depth-k pool, topic by topic, and gets their labels from the judgments; one
    without a label of at least 0 costs nothing. At each budget the relevant documents found are counted, and the
    ranking by the labels so far (other documents are not relevant) is compared with that by all judgments.

    Args:
        contributors: the runs that make the pool: ``"pooled"`` (default), ``"all"`` or run names. All runs are scored.
        rel: the lowest label that is relevant, for strategies and for counts; default that of the judgments.
        seed: the first seed; the others follow it.

    Raises:
        InputError: an unknown strategy, two of the same name, a budget below 0 or a share above 1, an unknown measure;
            a strategy that chooses a document twice.

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
    chosen, seeds = strategies or [as_strategy(name) for name in CHOOSERS], range(seed, seed + repeats)
    how: dict[str, Any] = {"n_jobs": n_jobs, "verbose": verbose}
    inputs = Inputs.read(runs, qrels, measures, rel)
    runs, qrels, pooled = inputs.runs, inputs.qrels, inputs.pooled(depth, contributors, pool_order)
    units = None if leave_out is None else runs.units(leave_out)
    contributing = pooled.contributors.runs
    oracle = OracleTopics(pooled.ranked, qrels, pooled.depth, inputs.rel, contributing)
    topics = [oracle.topic(qid) for qid in qrels.topics]
    check_some_judged(topics)
    beware(one_run(len(runs)) if units is None else alone(units, contributing), caveats_of(topics, inputs.rel))
    n_judged = np.array([0 if topic is None else topic.n_judged for topic in topics], dtype=np.int64)
    lengths = [budgets.judgments(value, n_judged) for value in budgets.values]
    orders = _orders(topics, lengths[-1], seeds, chosen, **how)
    relevant, in_pool = qrels.arrays.labels >= inputs.rel, sum(topic.n_relevant for topic in topics if topic)
    points = [(value, budgets.judgments(value, n_judged)) for value in budgets.curve(int(n_judged.max(initial=0)))]
    groups = groups_of(runs.run_table, contributing)

    def counted(judged: int, n: int) -> dict[str, Any]:
        return {"judged": judged, "relevant": n, "recall": n / max(in_pool, 1)}

    rows, moves, courses = list[dict[str, Any]](), list[dict[str, Any]](), list[dict[str, Any]]()
    bar = pt.tqdm(chosen, desc="scoring", unit="strategy", disable=not verbose)
    for strategy, of_seed in zip(bar, orders, strict=True):
        built = [prefixes(order, length) for length in lengths for order in of_seed]
        full, means = _means(inputs, built)
        for i, ((budget, seed_of), kept) in enumerate(zip(product(budgets.values, seeds), built, strict=True)):
            key = {"strategy": strategy.name, "budget": budget, "seed": seed_of}
            for m, measure in enumerate(map(repr, inputs.measures)):
                ranked = pairs.coefficients(full[m].round(DECIMALS), means[m, [i]].round(DECIMALS), TAUS)
                numbers = {name: ranked[name][0] for name in (*TAUS, "max_drop")}
                rows.append({**key, **counted(len(kept), int(relevant[kept].sum())), "measure": measure, **numbers})
                moves += group_rows({**key, "measure": measure}, full[m], means[m, i], groups)
        for seed_of, order in zip(seeds, of_seed, strict=True):
            sums = [np.concatenate([[0], np.cumsum(relevant[rows_of])]) for rows_of in order]
            for budget, length in points:
                n = sum(int(of_topic[at]) for of_topic, at in zip(sums, length.tolist(), strict=True))
                key = {"strategy": strategy.name, "budget": budget, "seed": seed_of}
                courses.append({**key, **counted(int(length.sum()), n)})
    left_out = pd.DataFrame(columns=[*_KEYS, "units"])
    if units is not None:
        unit_of = dict(zip(runs.names, units.of_run.tolist(), strict=True))
        # every unit that alone has a relevant document of a topic, and what is left of the topic
        reduced: dict[tuple[int, int], OracleTopic] = {}
        for t, topic in enumerate(topics):
            if topic is None:
                continue
            of_list = np.array([unit_of[name] for name in topic.lists.names], dtype=np.int64)
            relevant_at = np.flatnonzero(topic.relevant > 0).tolist()
            owners = (np.unique(of_list[topic.lists.runs_of[at]]) for at in relevant_at)
            for unit in sorted({int(some[0]) for some in owners if len(some) == 1}):
                if (left := oracle.topic(qrels.topics[t], units.of_run == unit)) is not None:
                    reduced[unit, t] = left
        tasks = [Task(topic, int(lengths[-1][t]), seed, chosen) for (_, t), topic in reduced.items()]
        without = dict(zip(reduced, run_tasks(tasks, **how), strict=True))
        budgets_of = dict(zip(budgets.values, lengths, strict=True))
        left_out = _left_out(inputs, units, chosen, [of_seed[0] for of_seed in orders], without, budgets_of)
    group_keys, changes = [*_KEYS, "by", "group", "runs"], ("mean_drop", "change_pct", "others_change_pct")
    counts: dict[str, Any] = {
        "budget": "share of each topic's judged pool, to the nearest judgment"
        if budgets.shares
        else "judgments per topic",
        "judged in the pool": int(n_judged.sum()),
        "relevant in the pool": in_pool,
        "judged in all": int((qrels.arrays.labels >= 0).sum()),
        "relevant in all": int(relevant.sum()),
        "without a label in the pool": sum(len(topic.lists) - topic.n_judged for topic in topics if topic),
        "seeds": f"{seeds[0]} to {seeds[-1]}",
        "leave out": leave_out or "nobody",
        **({} if groups else {"groups": "none: no two types are on record, and no team that did not contribute"}),
    }
    by_seed = pd.DataFrame(rows)
    return StrategyComparison(
        table=over_seeds(by_seed, [*_KEYS, "judged"], ("relevant", "recall", *TAUS, "max_drop")),
        by_seed=by_seed,
        curve=over_seeds(pd.DataFrame(courses), ["strategy", "budget", "judged"], ("relevant", "recall")),
        groups=over_seeds(pd.DataFrame(moves, columns=[*group_keys, "seed", *changes]), group_keys, changes),
        left_out=left_out,
        settings=settings_of(counts, pooled, units, inputs),
    )


#: the rows of the judgments in the order in which a strategy judges the documents of a topic
Order: TypeAlias = Ints


def _orders(
    topics: Sequence[OracleTopic | None], budget: Order, seeds: range, strategies: Sequence[Strategy], **how: Any
) -> list[list[list[Order]]]:
    """Return for each strategy, seed and topic the order of its judgments."""
    cells = [(seed, t, topic) for seed in seeds for t, topic in enumerate(topics) if topic is not None and budget[t]]
    tasks = [Task(topic, int(budget[t]), seed, strategies) for seed, t, topic in cells]
    judged = {(seed, t): orders for (seed, t, _), orders in zip(cells, run_tasks(tasks, **how), strict=True)}
    nothing = [np.zeros(0, dtype=np.int64)] * len(strategies)
    return [
        [[judged.get((seed, t), nothing)[i] for t in range(len(topics))] for seed in seeds]
        for i in range(len(strategies))
    ]


@dataclass(frozen=True)
class Budgets:
    """Budgets in rising order: shares of each topic's judged pool, or judgments per topic."""

    values: tuple[float, ...]
    shares: bool

    def judgments(self, value: float, n_judged: Ints) -> Ints:
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

    def run(self) -> list[Order]:
        """Return for each strategy the rows of the judgments in the order in which it asked for them."""
        lists, relevant = self.topic.lists, self.topic.relevant
        return [
            self.topic.row[judged_in_order(strategy, lists, relevant, seed=self.seed, budget=self.budget)]
            for strategy in self.strategies
        ]


def run_tasks(tasks: Sequence[Task], *, n_jobs: int | None, verbose: bool) -> list[list[Order]]:
    """Run tasks by joblib, and return what each returns, in order."""
    return list(run_jobs(tasks, len(tasks), desc="judging", unit="topic", n_jobs=n_jobs, verbose=verbose))


def prefixes(orders: Sequence[Order], lengths: Ints) -> Ints:
    """Return the first rows of each topic's order, together; (topics,) say how many of each."""
    parts = [order[:n] for order, n in zip(orders, lengths.tolist(), strict=True)]
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts])


def _means(inputs: Inputs, kept: Sequence[Order]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return means, (measures, runs) under all judgments, (measures, parts, runs) under the rows that are kept."""
    labels, specs = inputs.qrels.arrays.labels, [native_spec(measure) for measure in inputs.measures]
    # what no measure can see need not be taken away
    blind = all(spec is not None and not spec.sees_nonrelevant for spec in specs)
    every = np.flatnonzero(labels > 0 if blind else labels != UNJUDGED)
    gone, parts = [np.setdiff1d(every, rows) for rows in kept], []
    for some in neighbours(np.array(list(map(len, gone))), AT_ONCE):
        in_set = np.repeat(np.arange(len(some)), [len(gone[part]) for part in some])
        row = np.concatenate([gone[part] for part in some])
        # in one more set all judgments stay
        parts.append(scores_without(inputs, (in_set, row), len(some) + 1).means)
    return parts[0][:, -1], np.concatenate([means[:, :-1] for means in parts], axis=1)


def _left_out(
    inputs: Inputs,
    units: Units,
    strategies: Sequence[Strategy],
    orders: Sequence[Sequence[Order]],
    without: Mapping[tuple[int, int], Sequence[Order]],
    lengths: Mapping[float, Ints],
) -> pd.DataFrame:
    """Return one row per strategy, budget and measure: what runs lose by judgments that are built without their unit.

    Of each strategy and topic an order has the rows judged; `without` has those of units and topics that differ.
    """
    involved, rows, of_run = sorted({unit for unit, _ in without}), [], units.of_run
    for (s, strategy), (value, length) in product(enumerate(strategies), lengths.items()):
        kept = [prefixes(orders[s], length)]
        for unit in involved:
            reduced = [without[unit, t][s] if (unit, t) in without else order for t, order in enumerate(orders[s])]
            kept.append(prefixes(reduced, length))
        means = _means(inputs, kept)[1].round(DECIMALS)
        for measure, (full, *others) in zip(map(repr, inputs.measures), means, strict=True):
            own = full.copy()
            for unit, scores in zip(involved, others, strict=True):
                own[of_run == unit] = scores[of_run == unit]
            # without a unit that changes anything the field stays as it is
            field = pairs.coefficients(full, np.array(others or [full]), ("tau_b",))
            tau, drop = (field["tau_b"], field["max_drop"]) if involved else (np.ones(1), np.zeros(1, dtype=int))
            worst = int(np.lexsort((tau, -drop))[0])
            rows.append(
                {
                    "strategy": strategy.name,
                    "budget": value,
                    "measure": measure,
                    "units": len(involved),
                    "own_tau_b": pairs.coefficients(full, own[None], ("tau_b",))["tau_b"][0],
                    "alone_max_drop": int((pairs.rank_alone(full, own, of_run) - pairs.ranks(full)).max()),
                    "largest_loss_pct": max(0.0, float(np.fmax.reduce(-pairs.per_cent_change(full, own)))),
                    "field_min_tau_b": float(tau.min()),
                    "field_max_drop": int(drop[worst]),
                    "field_worst": units.names[involved[worst]] if drop[worst] else None,
                }
            )
    return pd.DataFrame(rows)


#: runs of a type or team that a way of judging may favour or harm together: ``by``, its name, and (runs,) which
Group: TypeAlias = tuple[str, str, NDArray[np.bool_]]


def groups_of(run_table: pd.DataFrame, contributing: NDArray[np.bool_]) -> list[Group]:
    """Return every type of a field that has several, and every team none of whose runs contributes to the pool."""
    groups = []
    for by in ("type", "team"):
        for name in dict.fromkeys(run_table[by].dropna()):
            runs = (run_table[by] == name).to_numpy(dtype=bool)
            if (by == "type" and not runs.all()) or not (runs & contributing).any():
                groups.append((by, str(name), runs))
    return groups


def group_rows(
    key: Mapping[str, Any], full: NDArray[np.float64], built: NDArray[np.float64], groups: Sequence[Group]
) -> Iterator[dict[str, Any]]:
    """Yield a row per group: the ranks its runs lose on average, and the change of (runs,) scores."""
    drops = pairs.rank_drops(full.round(DECIMALS), built.round(DECIMALS)[None])[0]
    change = pairs.per_cent_change(full, built)
    for by, name, runs in groups:
        changes = {"change_pct": _mean(change[runs]), "others_change_pct": _mean(change[~runs])}
        yield {**key, "by": by, "group": name, "runs": int(runs.sum()), "mean_drop": drops[runs].mean(), **changes}


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
