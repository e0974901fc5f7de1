"""plan_collection: how many topics to judge, how deep, in which order and by whom, for a ranking that is wanted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Annotated, Any, TypeAlias

import ir_measures
import numpy as np
import pandas as pd
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse import options
from pt_reuse.arrays import pairs
from pt_reuse.arrays.correlation import rounded
from pt_reuse.columns import Table
from pt_reuse.data.judgments import Qrels, as_qrels, checked_rel
from pt_reuse.data.units import Units
from pt_reuse.errors import InputError, ascending, columns, count, fraction, number, positive, shown, whole
from pt_reuse.inputs import Inputs, settings_of
from pt_reuse.judge import Scale, as_judges, of_each
from pt_reuse.options import POOL_DEPTHS
from pt_reuse.plots.lines import plot_plans
from pt_reuse.plots.sheet import Axes, Place
from pt_reuse.pooling.adaptive.strategy import OracleTopic, OracleTopics, Strategy, caveats_of, check_some_judged
from pt_reuse.pooling.fit import PoolUniques, find_uniques
from pt_reuse.result import Result, records
from pt_reuse.scoring.caveats import Caveat, beware, few_topics
from pt_reuse.scoring.rescoring import base_scores
from pt_reuse.studies.compare_strategies import Task, checked_strategies, prefixes, run_tasks
from pt_reuse.studies.leave_one_out import scores_without
from pt_reuse.studies.pool_costs import Depths
from pt_reuse.studies.prediction_powered import labels_for
from pt_reuse.study import study

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

#: the judgments as they are, among the judges
GIVEN = "as judged"
#: the strategy whose first judgments are the pool of a depth
_DEPTH = "rank"
#: what a plan is measured by, and which column says what is wanted of it
_NUMBERS = {"tau": "tau_b", "drop": "max_drop", "width": "width"}
#: tau_b to topics that the plan does not have
_DISJOINT = "tau_b_disjoint"
_CELL = ["topics", "depth", "strategy", "judge"]
#: of the intervals whose width is planned
_CONFIDENCE = 0.95
#: the tau_b that is wanted where nothing else is, usual for rankings that are as good as equal
_TAU = 0.9
#: fewer usable topics cannot be planned from and checked on
_FEWEST = 4


def _draw(column: str, title: str, label: str, result: CollectionPlan, measure: str, place: Place) -> Axes:
    rows = result.table[result.table["measure"] == measure]
    wanted = {_NUMBERS[name]: value for name, value in result.wanted().items()}.get(column)
    return plot_plans(rows, column=column, wanted=wanted, place=place, title=title, label=f"{label} ({measure})")


#: the numbers of a plan, as its half says and as the other half does
_PLANNED = "judgments tau_b max_drop width"
_REACHED = " ".join(f"{name}_reached" for name in _PLANNED.split())
_OF_PLAN = (
    f"measure topics depth strategy judge cost {_PLANNED} {_REACHED} judgments_error tau_b_error max_drop_error "
    "width_error tau_b_disjoint enough extrapolated"
)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CollectionPlan(Result):
    """What plans of a collection cost and reach, planned from half of the topics and checked on the others.

    Attributes:
        tau: tau_b that is wanted at least, None where it does not matter.
        drop: the most ranks that a run may lose, None where it does not matter.
        width: the largest width that is wanted, None where it does not matter.
    """

    title = "Plan of a collection"
    answer = (
        "plan",
        "{measure}: {judgments} judgments, {topics:topic}, depth {depth}, {strategy}, {judge}; tau_b {tau_b}, in the "
        "other half {tau_b_reached}, to its topics {tau_b_disjoint}; largest drop {max_drop}, width {width}",
    )
    key = "judgments topics depth tau_b tau_b_reached tau_b_error tau_b_disjoint"
    valid_for = (
        "{wanted}; runs and topics like these ({usable} of {tried} topics usable), judged documents of the "
        "depth-{depth} pool, contributors: {contributors}; means of {repeats} splits."
    )
    not_covered = "documents that nobody judged here."
    plots = {
        "tau_b": partial(_draw, "tau_b", "How plans rank the runs", "tau_b to all judgments"),
        "max_drop": partial(_draw, "max_drop", "What a run loses without its own unit", "largest drop, in ranks"),
        "width": partial(_draw, "width", "How precise differences of runs are", "mean width of an interval"),
    }
    columns = """
    topics    | Topics    | count | how many usable topics
    judgments | Judgments | count | how many, those of topics that end unusable included
    cost      | Cost      | tenths | judgments by price
    tau_b     | tau_b     | score | of the ranking by the plan to that by all judgments of all topics of its half
    max_drop  | Largest drop | ranks | the most ranks that a run loses without what its own unit alone brought
    width     | Width     | score | of the 95% interval of a difference of two runs, mean over pairs
    judgments_reached | Judgments, other half | count | judgments by the same plan within the other half
    tau_b_reached     | tau_b, other half     | score | tau_b there
    max_drop_reached  | Largest drop, other half | ranks | the largest drop there
    width_reached     | Width, other half     | score | the width there
    judgments_error   | Error of judgments    | tenths | mean size of the difference of the two halves
    tau_b_error       | Error of tau_b        | score | the same of tau_b
    max_drop_error    | Error of the drop     | tenths | the same of the largest drop
    width_error       | Error of the width    | score | the same of the width
    tau_b_disjoint    | tau_b, disjoint       | score | to the ranking by all judgments of the half that it lacks
    enough       | Enough       | | whether what is planned is what is wanted
    extrapolated | Extrapolated | | whether it has more topics than the half it is planned from
    split        | Split        | | the split
    held         | Held         | | whether what is reached was enough
    """

    table: Annotated[
        pd.DataFrame,
        Table(
            "measure and plan, means over splits",
            _OF_PLAN,
            report="topics depth judgments tau_b tau_b_reached tau_b_disjoint",
            select={"strategy": None, "judge": None},
            noun="plans",
        ),
    ]
    plan: Annotated[
        pd.DataFrame,
        Table(
            "measure: the cheapest plan that is enough, without numbers where none is",
            _OF_PLAN,
            report="measure topics depth strategy judge judgments",
            noun="measures",
        ),
    ]
    choices: Annotated[
        pd.DataFrame,
        Table(
            "measure and split: the cheapest plan that is enough by the first half",
            f"measure split topics depth strategy judge cost {_PLANNED} {_REACHED} tau_b_disjoint held",
            report="split topics depth judgments tau_b_reached held",
            noun="splits",
        ),
    ]
    at_hand: Annotated[
        pd.DataFrame,
        Table(
            "measure, depth, strategy and judge, by all usable topics, each once",
            f"measure depth strategy judge {_PLANNED}",
            report="depth judgments tau_b max_drop width",
            select={"strategy": None, "judge": None},
            about="Nothing is planned here: tau_b is what fewer judgments alone change.",
            noun="depths",
        ),
    ]
    tau: float | None
    drop: float | None
    width: float | None

    def wanted(self) -> dict[str, float]:
        """Return what is wanted: ``tau``, ``drop`` and ``width``, those that matter."""
        given = {"tau": self.tau, "drop": self.drop, "width": self.width}
        return {name: value for name, value in given.items() if value is not None}

    def answers(self) -> list[str]:
        """Return the cheapest plan that is enough by each measure, and what it reaches elsewhere."""
        found = zip(self.plan["measure"], self.plan["topics"].isna(), super().answers(), strict=True)
        return [f"{measure}: no plan here is enough" if none else line for measure, none, line in found]


@options.described
def topic_yield(
    judged: Any, topics: int | Iterable[int], *, max_density: float = 0.5, min_relevant: int = 3, rel: int | None = None
) -> pd.DataFrame:
    """Compute how many judgments it takes until so many usable topics come out, and how many of them are wasted.

    A topic is *usable* if fewer than a share `max_density` of its judged documents are relevant, and at least
    `min_relevant` are. New topics are taken to be like those given.

    Args:
        judged: judgments in any form, or a table with a row per topic, ``judged relevant``, such as
            :func:`~pt_reuse.profile.density` and :meth:`Qrels.counts` return.
        topics: how many usable topics are wanted, one number or several.
        max_density: at this share of relevant documents a topic is not usable.
        min_relevant: with fewer relevant documents a topic is not usable.
        rel: the lowest label that is relevant, of judgments; default what they say.

    Returns:
        DataFrame: one row per number of ``topics``: how many must be ``tried``, ``judgments`` of all these, ``wasted``
        ones, and their ``share``; NaN where no topic is usable.

    Raises:
        InputError: a table without these columns or with a number below 0, more relevant documents than judged ones.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> seen = pd.DataFrame({"qid": ["1", "2", "3"], "judged": [100, 200, 60], "relevant": [20, 150, 1]})
        >>> ptr.pools.topic_yield(seen, [10])
           topics  tried  judgments  wasted     share
        0      10     30     3600.0  2600.0  0.722222

    Source: Voorhees, Craswell and Lin 2022, Too many relevants, SIGIR, section 7.1.
    """
    table, wanted = judged, np.array(ascending("topics", topics, "topics"))
    if not isinstance(judged, pd.DataFrame) or not {"judged", "relevant"} & set(judged.columns):
        table = as_qrels(judged, "judged").counts(rel=checked_rel(rel))
    columns("judged", table.columns, ("judged", "relevant"))
    # NaN is none of this either
    good = (table["relevant"] >= 0) & (table["judged"] >= table["relevant"])
    if not good.all():
        row = shown(table[~good].iloc[0].to_dict())
        what = f"judged must have numbers of 0 or more, no more relevant than judged ones, got {row}."
        raise InputError(what, argument="judged")
    least = whole("min_relevant", min_relevant, "documents", least=0)
    usable = _usable(table, fraction("max_density", max_density), least)
    of_topic, n = table["judged"].to_numpy(), int(usable.sum())
    each = wanted / n if n else np.full(len(wanted), np.nan)
    tried = pd.Series(np.ceil(np.round(each * len(usable), 9))).astype("Int64" if not n else "int64")
    found = pd.DataFrame({"topics": wanted, "tried": tried, "judgments": each * of_topic.sum()})
    found = found.assign(wasted=each * of_topic[~usable].sum())
    return found.assign(share=found["wasted"] / found["judgments"].where(found["judgments"] != 0))


def _usable(table: pd.DataFrame, max_density: float, min_relevant: int) -> NDArray[np.bool_]:
    relevant, judged = table["relevant"].to_numpy(), table["judged"].to_numpy()
    return (judged > 0) & (relevant < max_density * judged) & (relevant >= min_relevant)


@study(
    question="How many topics and judgments does a new collection need?",
    command="profile plan-collection",
    aim="building",
    summary="topics, depth and judgments that a new collection needs, by an existing one",
    details="Plans are made from half of the topics and checked on the others, with their errors.",
    group="pools",
    papers="[V22b]_",
    screen=("plan", "table"),
)
def plan_collection(
    runs: options.Runs,
    qrels: options.Judgments,
    measures: options.Measures = None,
    *,
    tau: Annotated[
        float | None,
        options.Option(
            "tau_b that the plan must have at least; default any, and .9 if nothing else is wanted.",
            check=partial(fraction, "tau"),
            flag=options.Flag(metavar="T", kind="float", default=f"{_TAU:g} if nothing else is wanted"),
        ),
    ] = None,
    drop: Annotated[
        float | None,
        options.Option(
            "the most ranks that a run may lose without what its own unit alone brought; default any.",
            check=partial(number, "drop"),
            flag=options.Flag(metavar="R", kind="float"),
        ),
    ] = None,
    width: Annotated[
        float | None,
        options.Option(
            "the largest mean width of the 95% interval of a difference of two runs; default any.",
            check=partial(number, "width"),
            flag=options.Flag(metavar="W", kind="float"),
        ),
    ] = None,
    topics: Annotated[
        Any,
        options.Option(
            "numbers of usable topics; default a quarter and a half of those at hand, all, and twice as many. More "
            "than half are extrapolated.",
            check=partial(ascending, "topics", unit="topics"),
            flag=options.Flag(metavar="LIST", kind="counts", default="a quarter, half, all and twice those at hand"),
        ),
    ] = None,
    depths: Depths = POOL_DEPTHS,
    strategies: Annotated[
        Any,
        options.Option(
            'in which order documents are judged: names or :class:`~pt_reuse.pools.Strategy` objects. ``"rank"`` '
            "(default) judges the pool of each depth; others choose as many documents of the deepest pool.",
            check=checked_strategies,
            flag=options.Flag(metavar="LIST", kind="list"),
        ),
    ] = _DEPTH,
    judge: Annotated[
        Any,
        options.Option(
            "who else could judge: judgments in any form, a :class:`judging.Judge` such as "
            ":class:`~pt_reuse.judging.Noisy`, a function, or a dict of name -> one of these. The judgments as they "
            "are count as well. The truth is always theirs."
        ),
    ] = None,
    judge_rel: options.JudgeGrade = None,
    prices: Annotated[
        Mapping[str, float] | None,
        options.Option('judge -> what a judgment costs; default 1, also for ``"as judged"``.'),
    ] = None,
    max_density: Annotated[
        float,
        options.Option(
            "a topic is not usable where this share of its judged documents, or more, is relevant.",
            check=partial(fraction, "max_density"),
            flag=options.Flag(metavar="P", kind="float"),
        ),
    ] = 0.5,
    min_relevant: Annotated[
        int,
        options.Option(
            "a topic with fewer relevant documents is not usable.",
            check=lambda value: whole("min_relevant", value, "documents", least=0),
            flag=options.Flag(),
        ),
    ] = 3,
    by: options.Unit = "team",
    rel: options.Rel = None,
    contributors: options.Contributing = "pooled",
    pool_order: options.PoolOrder = None,
    repeats: Annotated[
        int,
        options.Option(
            "how often the topics are split into halves.",
            check=partial(positive, "repeats", unit="splits"),
            flag=options.Flag(),
        ),
    ] = 10,
    draws: Annotated[
        int,
        options.Option(
            "how often topics of a half are drawn, for each number of them.",
            check=partial(positive, "draws", unit="draws"),
        ),
    ] = 20,
    seed: options.Seed = 0,
    n_jobs: options.Jobs = None,
    verbose: options.Verbose = False,
) -> CollectionPlan:
    """Plan a new collection by an existing one: the topics, depth, strategy and judge that are enough and cost least.

    The usable topics are split in halves at random. One half says what each plan costs and reaches, the other says the
    same for itself. Topics of a plan are drawn with replacement from the half: *tau_b*, to the ranking by all judgments
    of the half, and the *drop* are means over draws; ``tau_b_disjoint`` is to the ranking by the other half. Plans of
    more topics than the half has are extrapolations. The *width* is proportional to a quantile of Student's t /
    sqrt(topics). Judgments of topics that end unusable are part of the cost, at the yield of all topics at hand.

    Raises:
        InputError: fewer than two runs or four usable topics, an unknown strategy, judge or measure.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.demo.simulate_field(seed=7)
        >>> options = {"depths": [1, 2, 5, 10], "topics": [6, 12], "tau": .7, "max_density": .8}
        >>> found = ptr.pools.plan_collection(field.runs, field.qrels, "nDCG@10", **options)
        >>> found.plan[["topics", "depth", "enough", "extrapolated"]].values.tolist()
        [[12, 5, True, False]]

    Source: what unusable topics waste, Voorhees, Craswell and Lin 2022, SIGIR, section 7.1; see :func:`topic_yield`.
    """
    inputs = Inputs.read(runs, qrels, measures, rel)
    runs, qrels = inputs.runs, inputs.qrels
    if len(runs) < 2:
        raise InputError("it takes two runs to rank.", argument="runs")
    table = qrels.counts(rel=inputs.rel)
    usable = _usable(table, max_density, min_relevant)
    n = int(usable.sum())
    if n < _FEWEST:
        what = f"qrels has {count(n, 'usable topic')} of {len(usable):,}, and a plan takes {_FEWEST}."
        raise InputError(f"{what} See max_density= and min_relevant=.", argument="qrels")
    half = n // 2
    sizes = sorted({max(n // 4, 2), half, n, 2 * n}) if topics is None else topics
    beware(few_topics(n))
    judges, frame = {GIVEN: qrels}, qrels.to_frame()
    # everyone who could judge, on the rows of the judgments as they are
    asked = frame.loc[frame["label"] >= 0, ["qid", "docno"]].reset_index(drop=True)
    for named in [] if judge is None else as_judges(judge, rel=judge_rel):
        if named.name == GIVEN:
            raise InputError(f"judge names a judge {shown(GIVEN)}, as the judgments are called.", argument="judge")
        labels = labels_for(named, asked, Scale.of(qrels)).labels.arrays.labels_of(qrels.arrays.documents)
        judges[named.name] = Qrels.of_arrays(qrels.arrays.labelled(labels), qrels.rel)
    price = {**dict.fromkeys(judges, 1.0), **of_each(prices, judges, "prices")}
    price = {name: number(f"prices[{name!r}]", value) for name, value in price.items()}
    units, pooled = runs.units(by), inputs.pooled(max(depths), contributors, pool_order)
    who, how = pooled.contributors, dict[str, Any](n_jobs=n_jobs, verbose=verbose)
    # by depth the judged documents that one unit alone brought into its pool
    uniques = {depth: find_uniques(runs, qrels, units, who, depth=depth, pool_order=pool_order) for depth in depths}
    cells = list[_Cell]()
    for name, labelled in judges.items():
        oracle = OracleTopics(pooled.ranked, labelled, pooled.depth, inputs.rel, who.runs)
        pool = [oracle.topic(qid) for qid in qrels.topics]
        if name == GIVEN:
            check_some_judged(pool)
            beware(caveats_of(pool, inputs.rel))
        cells += _cells(name, labelled, pool, strategies, uniques, inputs, units=units, seed=seed, **how)
    work = _Planning(cells, inputs.measures, units, base_scores(runs, qrels, inputs.measures), usable)
    splits, there = [], np.flatnonzero(usable)
    at_hand = work.numbers(there, n, np.ones((1, n), dtype=np.int64), {"tau_b": there})
    for split in pt.tqdm(range(repeats), desc="planning", unit="split", disable=not verbose):
        random = np.random.default_rng([seed, split])
        shuffled = random.permutation(there)
        halves = np.sort(shuffled[:half]), np.sort(shuffled[half : 2 * half])
        for size in sizes:
            drawn = partial(random.multinomial, size, np.full(half, 1 / half), draws)
            both = ((topics, {"tau_b": topics, _DISJOINT: others}) for topics, others in (halves, halves[::-1]))
            planned, reached = (work.numbers(topics, size, drawn(), truths) for topics, truths in both)
            splits.append(planned.join(reached[_PLANNED.split()].add_suffix("_reached")).assign(split=split))
    every = pd.concat(splits, ignore_index=True)
    every["cost"] = every["judgments"] * every["judge"].map(price)
    tau = _TAU if tau is drop is width is None else tau
    given = {"tau": tau, "drop": drop, "width": width}
    wanted = {name: value for name, value in given.items() if value is not None}
    errors = {f"{name}_error": (every[f"{name}_reached"] - every[name]).abs() for name in _PLANNED.split()}
    names = [name for name, _ in CollectionPlan.declared["table"].names if name not in ("enough", "extrapolated")]
    by_plan = every.assign(**errors).groupby(names[: 1 + len(_CELL)], sort=False)
    plans = by_plan[names[1 + len(_CELL) :]].mean().reset_index()
    plans["enough"], plans["extrapolated"] = _enough(plans, wanted), plans["topics"] > half
    cheapest = [_cheapest(plans[plans["measure"] == measure], wanted) for measure in plans["measure"].unique()]
    plan = pd.concat(cheapest, ignore_index=True)
    beyond = [f"{row['measure']}: a plan of {row['topics']} topics" for row in records(plan[plan["extrapolated"]])]
    beware(Caveat(note := f"{what}, extrapolated from {half}", f"{note}.") for what in beyond)
    settings = {
        "usable": n,
        "tried": len(usable),
        "usable topics": f"density below {max_density:g}, at least {min_relevant} relevant, by all judgments",
        "wanted": ", ".join(
            f"{name} of at {'least' if name == 'tau' else 'most'} {value:g}" for name, value in wanted.items()
        ),
        "repeats": repeats,
        "draws": draws,
        "seed": seed,
        "prices": ", ".join(f"{name}: {value:g}" for name, value in price.items()),
    }
    parts = [_cheapest(rows, wanted) for _, rows in every.groupby(["measure", "split"], sort=False)]
    names = [name for name, _ in CollectionPlan.declared["choices"].names if name != "held"]
    choices = pd.concat(parts, ignore_index=True)[names]
    held = _enough(choices, wanted, "_reached") & choices["topics"].notna()
    return CollectionPlan(
        table=plans,
        plan=plan,
        choices=choices.assign(held=held.to_numpy(dtype=bool)),
        at_hand=at_hand[["measure", *_CELL[1:], *_PLANNED.split()]],
        tau=tau,
        drop=drop,
        width=width,
        settings=settings_of(settings, pooled, units, inputs),
    )


@dataclass(frozen=True)
class _Cell:
    """What a way of judging gives: its judgments by topic, and scores of (measures, topics, runs)."""

    key: dict[str, Any]  # ``depth strategy judge``
    judgments: Ints  # (topics,)
    base: Floats  # by the judgments
    own: Floats  # without what the unit of each run alone brought


def _cells(
    judge: str,
    given: Qrels,
    topics: Sequence[OracleTopic | None],
    strategies: Sequence[Strategy],
    uniques: Mapping[int, PoolUniques],
    inputs: Inputs,
    *,
    units: Units,
    seed: int,
    **how: Any,
) -> Iterator[_Cell]:
    """Yield every way in which a judge judges: the pool of each depth, or as many documents by a strategy."""
    there = [(t, topic) for t, topic in enumerate(topics) if topic is not None and topic.n_judged]
    orders = run_tasks([Task(topic, topic.n_judged, seed, strategies) for _, topic in there], **how)
    lengths = {depth: np.zeros(len(topics), dtype=np.int64) for depth in uniques}
    for t, topic in there:
        best = np.full(len(topic.lists), np.iinfo(np.int64).max)
        np.minimum.at(best, topic.lists.codes, topic.lists.rank)
        for depth, length in lengths.items():
            length[t] = ((best <= depth) & (topic.relevant >= 0)).sum()
    at = [t for t, _ in there]
    for (s, strategy), (depth, length) in product(enumerate(strategies), lengths.items()):
        kept = np.zeros(len(given), dtype=bool)
        kept[prefixes([order[s] for order in orders], length[at])] = True
        of_pool = uniques[depth if strategy.name == _DEPTH else max(uniques)]
        there_too = kept[of_pool.row]
        row, owner = (np.cumsum(kept) - 1)[of_pool.row[there_too]], of_pool.owner[there_too].astype(np.int64)
        found = scores_without(inputs, (owner, row), len(units), qrels=given.keep(kept), units=units)
        yield _Cell({"depth": depth, "strategy": strategy.name, "judge": judge}, length, found.base, found.own[0])


@dataclass(frozen=True)
class _Planning:
    """What ways of judging reach on some of the usable topics, `truth` being scores by all judgments."""

    cells: Sequence[_Cell]
    measures: Sequence[ir_measures.Measure]
    units: Units
    truth: Floats
    usable: NDArray[np.bool_]

    def numbers(self, topics: Ints, size: int, counts: Ints, truths: Mapping[str, Ints]) -> pd.DataFrame:
        """Return what every way reaches on draws of topics, tau_b to rankings by all judgments of given topics."""
        rows, of_run = [], self.units.of_run
        for cell, (m, measure) in product(self.cells, enumerate(map(repr, self.measures))):
            per_topic = cell.judgments[topics].mean() + cell.judgments[~self.usable].sum() / self.usable.sum()
            y, own = (rounded(counts @ values[m][topics] / size) for values in (cell.base, cell.own))
            row = {"measure": measure, "topics": size, **cell.key, "judgments": size * per_topic}
            for name, these in truths.items():
                true = rounded(self.truth[m][these].mean(axis=0))
                row[name] = pairs.coefficients(true, y, ("tau_b",))["tau_b"].mean()
            row["max_drop"] = float((pairs.rank_alone(y, own, of_run) - pairs.ranks(y)).max(axis=1).mean())
            rows.append({**row, "width": _mean_width(cell.base[m][topics], size)})
        return pd.DataFrame(rows)


def _mean_width(values: Floats, size: int) -> float:
    """Return the width of the t interval of a difference over so many topics, the mean over pairs; NaN for one."""
    from scipy.special import stdtrit

    both = np.cov(values, rowvar=False)
    first, second = np.triu_indices(len(both), 1)
    apart = np.maximum(both[first, first] + both[second, second] - 2 * both[first, second], 0)
    reach = float(stdtrit(size - 1, (1 + _CONFIDENCE) / 2) / np.sqrt(size)) if size > 1 else float("nan")
    return float(2 * reach * np.sqrt(apart).mean())


def _enough(rows: pd.DataFrame, wanted: Mapping[str, float], end: str = "") -> pd.Series:
    """Return (rows,): whether each has all that is wanted; with the `end` ``"_reached"``, on the other half."""
    found = pd.Series(True, index=rows.index)
    for name, value in wanted.items():
        numbers = rows[f"{_NUMBERS[name]}{end}"].astype(float).round(9)
        found &= numbers >= value if name == "tau" else numbers <= value
    return found


def _cheapest(rows: pd.DataFrame, wanted: Mapping[str, float]) -> pd.DataFrame:
    """Return the row that costs least of those that are enough, a row without numbers where none is."""
    good = rows[_enough(rows, wanted)].sort_values(["cost", "topics"], kind="stable").head(1)
    if good.empty:
        nothing = dict.fromkeys(rows.columns.difference(["measure", "split"]))
        good = rows.head(1).assign(**nothing).assign(enough=False, extrapolated=False)
    return good.astype({"topics": "Int64", "depth": "Int64"})
