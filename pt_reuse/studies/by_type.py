"""by_type and leave_out_type: rankings by the pool of one type of system alone, and without one type."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from math import comb
from typing import Annotated, Any, NamedTuple

import numpy as np
import pandas as pd
from ir_measures import RR
from numpy.typing import NDArray

from pt_reuse import options
from pt_reuse.arrays import pairs
from pt_reuse.arrays.bootstrap import TopicBootstrap
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.arrays.rescore import HitIndex
from pt_reuse.columns import Table
from pt_reuse.data.judgments import Qrels, as_qrels
from pt_reuse.data.run_set import RunSet, as_runs_before
from pt_reuse.data.units import Units
from pt_reuse.errors import InputError, choice, count, examples, listed, names, plural, positive, shown
from pt_reuse.inputs import Inputs, interval_settings, settings_of
from pt_reuse.plots.bars import plot_recovery, plot_tau_of_pools
from pt_reuse.plots.run_scores import plot_squares
from pt_reuse.plots.sheet import MOST, Axes, Place, of_tau, plain
from pt_reuse.pooling.fit import SLACK, find_uniques, pool_on_topics
from pt_reuse.pooling.pool import contributors_of
from pt_reuse.result import KeyFigures, Result, cells, drawn_by_measure, records
from pt_reuse.scoring.caveats import Caveat, beware, one_unit, usual_measures
from pt_reuse.scoring.measures import MeasureLike, measure_among
from pt_reuse.scoring.scores import scores_of
from pt_reuse.studies.leave_one_out import scores_without
from pt_reuse.studies.leave_out_uniques import LeaveOutUniques, leave_out_uniques
from pt_reuse.study import study

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

#: what all runs that are tested are called
ALL = "all"
#: as many halves are enumerated at most
_MOST = 20_000
#: the depth of the paper's pools, where neither the user nor the field says another
DEPTH = 10
#: splits that are scored together; the numbers do not depend on it
_AT_ONCE = 50
#: measures of which the answer speaks
_IN_ANSWER = 3
_TAUS = ("tau_b", "gamma", "tau_ap_b")
#: the numbers that compare two rankings
_NUMBERS = (*_TAUS, "max_drop")


def _draw_scores(result: PoolsByType, measure: str, place: Place, pool: str | None = None) -> Axes:
    chosen = result.pools if pool is None else [choice("pool", pool, result.pools)]
    if place.ax is not None and len(chosen) > 1:
        raise InputError(f"ax takes one pool, and there are those of {listed(chosen)}.", argument="pool")
    panels = {}
    for name in chosen:
        taus = result.table[(result.table["measure"] == measure) & (result.table["pool"] == name)]
        # those of many types would fill the figure
        shown = taus if len(taus) <= MOST and len(chosen) == 1 else taus[taus["tested"] == ALL]
        words = [f"{plain(tested)} {of_tau(tau)}" for tested, tau in zip(shown["tested"], shown["tau_b"], strict=True)]
        rows = result.scores(name, measure=measure).rename(columns={"score": "x", "estimated": "y"})
        panels[f"Pool of {name}\n{', '.join(words)}"] = rows
    x, y = f"{measure}, actual", f"{measure}, by the pool (mean of splits)"
    return plot_squares(panels, x=x, y=y, title="Scores by the pool of one type", place=place)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PoolsByType(Result):
    """How far pools of one type of system rank systems of that type, of each other type, and all of them, rightly.

    Attributes:
        run_table: the runs: ``name team type pooled``.
        gold: (measures, runs) means by the gold.
        estimated: (measures, splits of all types, runs) means by the judgments of each split's pool, in the order of
            the rows of `splits`.
        picked: (splits of all types, runs) the runs that belong to what was picked: these are not tested.
    """

    title = "Pools of one type"
    valid_for = (
        "depth-{depth} pools of half a type ({splits}) and the runs that are held out, against {gold}; means over "
        "splits."
    )
    not_covered = "pools of all runs of a type, and types that have no run here."
    plots = {"scores": _draw_scores, "tau_b": drawn_by_measure(plot_tau_of_pools)}
    key = (KeyFigures(("tau_b", "max_drop"), row="pool of {pool}, tested {tested}"),)
    columns = """
    pool      | Pool      |        | the type whose half made the pool
    tested    | Tested    |        | the ranked runs: those held out of the pool's type, all of another, or "all"
    splits    | Splits    | count  | splits in which tau has a value
    undefined | Undefined | count  | splits in which it has none: fewer than two runs, or all tie
    runs      | Runs      | tenths | how many runs are tested, a mean over splits
    max_drop  | Largest drop | tenths | the most ranks that a run loses
    sd        | SD        | score  | standard deviation over splits (of a sample: n - 1)
    min       | Least     | score  | the least of a split
    max       | Largest   | score  | the largest of a split
    tau_b_    | tau_b     |        | over splits, of tau_b
    gamma_    | gamma     |        | the same of gamma
    tau_ap_b_ | tau_AP    |        | the same of tau_ap_b
    max_drop_ | drop      |        | the same of max_drop
    split     | Split     | count  | the split of the type, from 0
    picked    | Picked    |        | the teams, runs or families whose runs make the pool
    """

    table: Annotated[
        pd.DataFrame,
        Table(
            "measure, pool and tested group; numbers are means over splits",
            "measure pool tested runs splits undefined "
            + " ".join(f"{name}~ {name}_sd {name}_min {name}_max" for name in _NUMBERS),
            report="pool tested tau_b tau_b_sd max_drop splits",
        ),
    ]
    by_split: Annotated[
        pd.DataFrame,
        Table(
            "measure, pool, tested group and split", "measure pool* tested* split* runs tau_b* gamma tau_ap_b max_drop*"
        ),
    ]
    splits: Annotated[pd.DataFrame, Table("pool and split", "pool split picked runs documents judged relevant")]
    run_table: pd.DataFrame
    gold: Floats
    estimated: Floats
    picked: Bools

    @property
    def pools(self) -> list[str]:
        """Return the types that made pools."""
        return list(dict.fromkeys(self.table["pool"]))

    @property
    def tested(self) -> list[str]:
        """Return the groups that were tested: every type, and ``"all"``."""
        return list(dict.fromkeys(self.table["tested"]))

    def answers(self) -> list[str]:
        """Return for each measure how the best and the worst pool rank all runs, and which type is ranked worst."""
        lines, unit = [], plural(self.settings["unit"])
        for measure, rows in list(self.table.groupby("measure", sort=False))[:_IN_ANSWER]:
            ranked = rows.dropna(subset="tau_b").sort_values("tau_b", ascending=False, kind="stable")
            of_all, of_types = (records(ranked[(ranked["tested"] == ALL) == is_all]) for is_all in (True, False))
            ends = [cells(row, self.columns) for row in of_all[:: max(len(of_all) - 1, 1)]]
            pools = " to ".join(f"{end['tau_b']} (half the {end['pool']} {unit} pooled)" for end in ends)
            line = f"{measure}: all runs held out are ranked with tau_b {pools or 'undefined'}"
            if len(self.tested) > 2 and of_types:
                lowest = "; of one type the lowest is {tau_b}, {tested} runs by a pool of {pool} ones"
                line += lowest.format_map(cells(of_types[-1], self.columns))
            lines.append(line)
        return lines

    def wide(self) -> pd.DataFrame:
        """Return tau_b as a paper has it: a row per type of the pool, columns ``measure`` and ``tested``."""
        wide = self.table.pivot_table("tau_b", "pool", ["measure", "tested"], "first", dropna=False)
        order = pd.MultiIndex.from_product([self.measures, self.tested], names=["measure", "tested"])
        return wide.reindex(index=pd.Index(self.pools, name="pool"), columns=order)

    def scores(self, pool: str, *, measure: MeasureLike | None = None) -> pd.DataFrame:
        """Return what the tested runs score by the gold, and by the judgments of one type's pool.

        Args:
            pool: the type that made the pool.
            measure: one of the measures; default the first.

        Returns:
            DataFrame: one row per run: ``name team type score estimated splits``; the estimate is the mean over the
            splits in which it was tested, and how many these are.
        """
        m = self.measures.index(measure_among(self.measures, measure))
        chosen = np.flatnonzero(self.splits["pool"] == choice("pool", pool, self.pools))
        tested = ~self.picked[chosen]
        times = tested.sum(axis=0)
        total = np.where(tested, self.estimated[m, chosen], 0.0).sum(axis=0)
        frame = self.run_table[["name", "team", "type"]].assign(
            score=self.gold[m], estimated=total / np.maximum(times, 1), splits=times
        )
        return frame[times > 0].reset_index(drop=True)


def _checked_splits(splits: Any) -> int | None:
    if isinstance(splits, str) and splits != "all":
        raise InputError(f"splits must be a number of random halves, or 'all', got {shown(splits)}.", argument="splits")
    return None if isinstance(splits, str) else positive("splits", splits, "random halves")


#: the measures of the paper: RR, from a grade on, and ``nDCG@10``
_usual = partial(usual_measures, binary=RR)


@study(
    question="Is a pool of one type of system fair to another type?",
    command="by-type",
    aim="fair",
    summary="how runs would rank if systems of one type alone had made the pool",
    details="The pool of half the teams of a type is judged; all other runs are ranked by it and by the pool of all.",
    papers="[Y20]_",
    needs=("type",),
    screen=("table",),
    measures=_usual,
)
def by_type(
    runs: options.Runs,
    qrels: options.Judgments,
    measures: Annotated[
        Any,
        options.Option(
            "ir_measures measures or their names, one or several; default RR, from the relevant grade on, and "
            "``nDCG@10``, which are the paper's.",
            check="pt_reuse.scoring.scores:checked_measures",
            flag=options.Flag(help="comma-separated", metavar="LIST", kind="list", default="RR and nDCG@10"),
        ),
    ] = None,
    *,
    pools: Annotated[
        Any,
        options.Option(
            "the types of which pools are made; default every type that can be split. All types are tested.",
            check=partial(names, "pools"),
            flag=options.Flag(metavar="LIST", kind="list", default="every type that can be split"),
        ),
    ] = None,
    unit: Annotated[
        str,
        options.Option(
            'what is split: each ``"team"`` (default) or ``"family"``, all of whose runs of the type go together, or '
            'each ``"run"``. An odd number leaves the larger half to be tested.',
            choices=("team", "run", "family"),
            flag=options.Flag(help="what is split: team, run or family", metavar="UNIT", kind="text"),
        ),
    ] = "team",
    splits: Annotated[
        Any,
        options.Option(
            'how many different halves are drawn at random, or ``"all"``, also where there are no more than asked for.',
            check=_checked_splits,
            flag=options.Flag(help="how many random halves, or all", kind="count or text"),
        ),
    ] = 10,
    gold: Annotated[
        str,
        options.Option(
            'the judgments that rank the runs rightly: those in the depth-k ``"pool"`` of all contributing runs '
            '(default), or all ``"judgments"``.',
            choices=("pool", "judgments"),
            flag=options.Flag(help="the right judgments: pool, or all judgments", metavar="WHICH", kind="text"),
        ),
    ] = "pool",
    depth: Annotated[
        int | None,
        options.Option(
            "of every pool, documents per run and topic; default the one on record for the collection "
            "(``runs.pool_depth``), else 10, the paper's.",
            check="pt_reuse.pooling.depth:checked_depth",
            flag=options.Flag(help="pool depth", metavar="K", default="that of the collection, else 10"),
        ),
    ] = None,
    contributors: options.Contributing = "pooled",
    pool_order: options.PoolOrder = None,
    rel: options.Rel = None,
    resamples: options.Resamples = 0,
    confidence: options.Confidence = 0.95,
    seed: options.Seed = 0,
    n_jobs: options.Jobs = None,
    verbose: options.Verbose = False,
) -> PoolsByType:
    """Rank systems as if systems of one type alone had made the pool.

    The teams of a type are split in halves. The judgments in the depth-k pool of one half rank the other half of the
    type, all runs of each other type, and all of these together; each ranking is compared with that by the gold
    judgments. This is done for many splits, and for each type. A pooled document without a judgment is not relevant.

    Args:
        contributors: the runs that can be in a pool: ``"pooled"`` (default), ``"all"`` or run names. A run of a team in
            the pooled half is never tested, even if it does not contribute.
        resamples: of topics, and of splits if these are random, for intervals of means over splits; 0 for none.
        seed: of the splits and of the bootstrap; the order of the runs does not matter.

    Raises:
        InputError: a run without a type or team, an unknown type, a requested type that cannot be split, or no type
            that can; all halves, if there are more than 20,000.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.demo.simulate_field(seed=7)
        >>> found = ptr.by_type(field.runs, field.qrels, "nDCG@10", pools="lexical", splits="all", depth=field.depth)
        >>> found.wide().round(2).values.tolist()
        [[0.44, 0.24, 0.38, 0.49]]

    Source: Yilmaz, Craswell, Mitra and Campos 2020, On the reliability of test collections for evaluating systems of
    different types, SIGIR, https://doi.org/10.1145/3397271.3401317, tables 1 and 2, figures 2 and 3.
    """
    inputs = Inputs.read(runs, qrels, measures, rel, usual=_usual)
    pooled = inputs.pooled(depth, contributors, pool_order, usual=DEPTH)
    kinds, units, contributing = types_of(inputs.runs), inputs.runs.units(unit), pooled.contributors.runs
    halves, unsplit = _splits_of(kinds, units, contributing, pools, number=splits, seed=seed)
    picked = np.concatenate([of_type.picked for of_type in halves])
    pool = pool_on_topics(pooled.ranked, pooled.depth, pooled.contributors, inputs.qrels.topics)
    judged = inputs.qrels
    if gold == "pool":
        judged = judged.keep(pool.documents.find(judged.arrays.documents) >= 0)
    row, labels = judged.arrays.documents.find(pool.documents), judged.arrays.labels_of(pool.documents)
    beware(
        unsplit,
        _odd_pool(labels, pooled.depth, inputs.runs.run_table, unit),
        one_unit(kinds, np.ones(len(inputs.runs), dtype=bool), "all tested runs are of the type of the pool"),
    )
    bootstrap = inputs.bootstrap(resamples, seed, confidence, n_jobs)

    entries = pool.entries
    pools_of_splits = [np.unique(entries.document[of_run[entries.run]]) for of_run in picked[:, contributing]]
    how: dict[str, Any] = {"by_topic": bootstrap is not None, "n_jobs": n_jobs, "verbose": verbose}
    base, estimated, by_topic = _scored(inputs, judged, [row[documents] for documents in pools_of_splits], **how)
    means = scores_of(inputs.runs, judged, inputs.measures, base, complete=True).mean_values
    groups = {name: kinds.of_run == k for k, name in enumerate(kinds.names)} | {ALL: np.True_}
    by_split, ends = [], []
    for m, measure in enumerate(map(repr, inputs.measures)):
        first = 0
        for of_type in halves:
            places = range(first, first := first + len(of_type.picked))
            for name, group in groups.items():
                tested = group & ~of_type.picked
                ranked = [
                    _numbers(means[m][None, who], estimated[m, at][None, who])
                    for at, who in zip(places, tested, strict=True)
                ]
                about = {"measure": measure, "pool": of_type.type, "tested": name, "split": range(len(places))}
                numbers = {number: [of_split[number].item() for of_split in ranked] for number in _NUMBERS}
                by_split.append(pd.DataFrame({**about, "runs": tested.sum(axis=1), **numbers}))
                if bootstrap is not None:
                    scores = base[m], by_topic[m, places]
                    ends.append(_ends(by_split[-1], tested, *scores, bootstrap, random=of_type.random))
    every = pd.concat(by_split, ignore_index=True)
    grouped = every.groupby(["measure", "pool", "tested"], sort=False)
    table = grouped.agg(runs=("runs", "mean"), splits=("tau_b", "count"))
    table["undefined"] = grouped["tau_b"].size() - table["splits"]
    for name in _NUMBERS:
        table[[name, f"{name}_sd", f"{name}_min", f"{name}_max"]] = grouped[name].agg(["mean", "std", "min", "max"])
    drawn = [of_type.type for of_type in halves if of_type.random]
    settings = settings_of(
        pooled,
        units,
        inputs,
        interval_settings(bootstrap, f", and over the splits of {examples(drawn)}" if drawn else ""),
        unit=unit,
        splits="; ".join(of_type.words for of_type in halves),
        seed=seed,
        gold="all judgments" if gold == "judgments" else f"the judgments in the depth-{pooled.depth} pool of all",
        judged=int((inputs.qrels.arrays.labels >= 0).sum()),
        pool_of_all=len(pool),
        pool_of_all_without_judgment=int((labels < 0).sum()),
    )
    split_table = pd.DataFrame(
        {
            "pool": [of_type.type for of_type in halves for _ in of_type.picked],
            "split": [number for of_type in halves for number in range(len(of_type.picked))],
            "picked": [", ".join(sorted({units.names[u] for u in units.of_run[of_run].tolist()})) for of_run in picked],
            "runs": (picked & contributing).sum(axis=1),
            "documents": [len(documents) for documents in pools_of_splits],
            "judged": [int((labels[documents] >= 0).sum()) for documents in pools_of_splits],
            "relevant": [int((labels[documents] >= inputs.rel).sum()) for documents in pools_of_splits],
        }
    )
    return PoolsByType(
        table=pd.concat([table.reset_index(), pd.DataFrame(ends)], axis=1),
        by_split=every,
        splits=split_table,
        run_table=inputs.runs.run_table[["name", "team", "type", "pooled"]],
        gold=means,
        estimated=estimated,
        picked=picked,
        settings=settings,
    )


class _TypeSplits(NamedTuple):
    """The splits of one type."""

    type: str  # its name
    picked: Bools  # (splits, runs)
    words: str  # how many units make a pool, and in which splits, for settings
    random: bool  # whether the splits are a random part of all halves


def types_of(runs: RunSet) -> Units:
    """Return the types of a field."""
    table = runs.run_table
    lacking = table["name"][table["type"].isna()].tolist()
    if lacking:
        lack = f"{count(len(lacking), 'run')} without one: {examples(lacking)}"
        raise InputError(f"every run must have a type, got {lack}. Give types=.", argument="runs")
    kinds = runs.units("type")
    if ALL in kinds.names:
        raise InputError(f"a type is called {ALL!r}, which here are all tested runs. Rename it.", argument="runs")
    return kinds


def _splits_of(
    kinds: Units, units: Units, contributing: Bools, wanted: Sequence[str] | None, *, number: int | None, seed: int
) -> tuple[list[_TypeSplits], list[Caveat]]:
    """Return the splits of each type that can be split, and what is to be told of those that cannot."""
    for name in wanted or ():
        choice("pools", name, kinds.names)
    splits: list[_TypeSplits] = []
    caveats: list[Caveat] = []
    for k, name in enumerate(kinds.names):
        if wanted is not None and name not in wanted:
            continue
        of_type = kinds.of_run == k
        can = np.unique(units.of_run[of_type & contributing])
        names, n = [units.names[unit] for unit in can.tolist()], len(can)
        if n < 2:
            which = f"type {name!r} has {count(n, units.by)} that contributed to the pool {names or ''}".strip()
            caveats.append(Caveat(f"type {name} is not split", f"{which}, and a split takes two."))
            continue
        # units in the order of their names, whatever that of the runs is
        order = can[sorted(range(n), key=lambda at: names[at].encode("utf-8", "surrogateescape"))]
        possible = comb(n, n // 2)
        if number is None and possible > _MOST:
            text = f"splits: type {name!r} has {possible:,} halves, more than {_MOST:,}. Draw some."
            raise InputError(text, argument="splits")
        if number is None or number >= possible:
            halves = list(combinations(range(n), n // 2))
        else:
            random = np.random.default_rng([seed, zlib.crc32(name.encode("utf-8", "surrogateescape"))])
            drawn: dict[tuple[int, ...], None] = {}
            while len(drawn) < number:
                drawn[tuple(sorted(random.permutation(n)[: n // 2].tolist()))] = None
            halves = list(drawn)
        is_random = len(halves) < possible
        which = f"{count(len(halves), 'split')} at random" if is_random else f"all {count(len(halves), 'split')}"
        words = f"{name}: {n // 2:,} of {count(n, units.by)}, {which}"
        picked = np.stack([np.isin(units.of_run, order[list(places)]) & of_type for places in halves])
        splits.append(_TypeSplits(name, picked, words, is_random))
    if caveats and (wanted is not None or not splits):
        raise InputError(caveats[0].text, argument="pools" if wanted is not None else "runs")
    return splits, caveats


def _odd_pool(labels: NDArray[np.int16], depth: int, run_table: pd.DataFrame, unit: str) -> Iterator[Caveat]:
    """Yield caveats where more than a little of the pool of all was never judged, and teams have several types."""
    share = (labels < 0).sum() / max(len(labels), 1)
    if share > SLACK:
        note = f"{share:.0%} of the depth-{depth} pool of all contributing runs is unjudged"
        yield Caveat(note, f"{note}, and counts as not relevant.")
    several = run_table.groupby("team", sort=False)["type"].nunique()
    teams = several.index[several > 1].tolist()
    if teams and unit == "team":
        note = f"{count(len(teams), 'team')} with runs of several types"
        yield Caveat(note, f"{note} ({examples(teams)}): runs of one type are pooled, those of another are tested.")


def _scored(
    inputs: Inputs, judged: Qrels, rows_of_splits: Sequence[NDArray[np.int64]], *, by_topic: bool, **how: Any
) -> tuple[Floats, Floats, Floats]:
    """Return (measures, topics, runs) scores under the gold, and under the judged rows of each split's pool.

    Of the splits (measures, splits, runs) means, and (measures, splits, topics, runs), no split unless by topic.
    """
    parts = []
    for first in range(0, len(rows_of_splits), _AT_ONCE):
        some = rows_of_splits[first : first + _AT_ONCE]
        gone = np.ones((len(some), len(judged) + 1), dtype=bool)
        for split, rows in enumerate(some):
            gone[split, rows] = False
        whole, gone_rows = range(len(some)) if by_topic else (), np.nonzero(gone[:, :-1])
        scored = scores_without(inputs, gone_rows, len(some), qrels=judged, whole=whole, **how)
        topics = list(scored.whole.values())
        parts.append((scored.base, scored.means, np.stack(topics, axis=1) if topics else scored.base[:, None][:, :0]))
    base, means, values = zip(*parts, strict=True)
    return base[0], np.concatenate(means, axis=1), np.concatenate(values, axis=1)


def _ends(
    by_split: pd.DataFrame, tested: Bools, gold: Floats, estimated: Floats, bootstrap: TopicBootstrap, *, random: bool
) -> dict[str, float]:
    """Return the ends of the intervals of the means over splits.

    (splits, runs) say who is tested; scores are (topics, runs) and (splits, topics, runs).
    """
    (n_topics, _), n_splits = gold.shape, len(tested)
    counts = bootstrap.counts(n_topics).astype(np.float64)
    drawn = [
        _numbers(counts @ gold[:, who] / n_topics, counts @ scores[:, who] / n_topics)
        for who, scores in zip(tested, estimated, strict=True)
    ]
    often: NDArray[Any] = np.ones(n_splits)
    if random:
        # a stream of its own, so that splits are not drawn as topics were
        chance = np.random.default_rng([bootstrap.seed, n_splits])
        often = chance.multinomial(n_splits, np.full(n_splits, 1 / n_splits), bootstrap.resamples)
    ends = {}
    for name in _NUMBERS:
        values = np.stack([of_split[name] for of_split in drawn], axis=1)
        weight = np.where(np.isnan(values), 0.0, often)
        total, summed = weight.sum(axis=1), (np.nan_to_num(values) * weight).sum(axis=1)
        mean = np.divide(summed, total, out=np.full(len(total), np.nan), where=total > 0)
        within = (0.0, max(0.0, tested.sum(axis=1).max() - 1.0)) if name == "max_drop" else (-1.0, 1.0)
        ends[f"{name}_low"], ends[f"{name}_high"] = bootstrap.interval(by_split[name].mean(), mean, within=within)
    return ends


def _numbers(truths: Floats, estimates: Floats) -> dict[str, Floats]:
    """Return the numbers, (draws,) each, of (draws, runs) means; NaN where fewer than two runs are tested."""
    if truths.shape[1] < 2:
        return {name: np.full(len(truths), np.nan) for name in _NUMBERS}
    numbers = pairs.coefficients(np.round(truths, DECIMALS), np.round(estimates, DECIMALS), _TAUS)
    return {name: numbers[name].astype(np.float64) for name in _NUMBERS}


def _draw(result: LeftOutTypes, _: str, place: Place, left_out: str | None = None, top: int | None = None) -> Axes:
    # the type that loses most
    kinds, usual = result.table["type"].tolist(), int(result.table["lost"].to_numpy().argmax())
    name = kinds[usual] if left_out is None else choice("left_out", left_out, list(dict.fromkeys(kinds)))
    rows = result.recovery[result.recovery["left_out"] == name]
    lost = int((result.documents["left_out"] == name).sum())
    return plot_recovery(rows, left_out=name, lost=lost, top=top, place=place)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LeftOutTypes(Result):
    """What leaving out each type of system loses, what that does to the ranking, and who recovers how much of it.

    Attributes:
        uniques: leave-out-uniques by type, with the scores under all judgments and every further table.
    """

    title = "Types left out"
    valid_for = "the types {left out}; depth-{depth} pool, contributors: {contributors}; relevant: {relevant}."
    not_covered = "types without a run here, and whether other runs rank the lost documents high enough."
    plots = {"recovery": _draw}
    key = (KeyFigures(("tau_b", "max_drop", "lost", "recovered"), row="without {type}"),)
    columns = """
    lost         | Lost          | count | relevant documents that the type alone contributed to the pool
    recovered    | Recovered     | count | how many of these other types retrieve; in a row of a run, how many it does
    dropped      | Dropped run   |       | the run with the largest drop
    left_out     | Left out      |       | the type that is left out
    median_rank  | Median rank   | count | the median of the ranks at which the run has lost documents
    deepest_rank | Deepest rank  | count | the largest of them; of a pooled run all are below the depth of the pool
    runs         | Runs          | count | runs of the type; in a row of a document, those of others that retrieve it
    best_rank    | Best rank     | count | the best rank of a lost document among them, missing where none retrieves it
    """

    table: Annotated[
        pd.DataFrame,
        Table(
            "measure and left-out type, all runs ranked without the lost documents",
            "type* measure runs lost* recovered* tau_b~* gamma~* tau_ap_b~ max_drop~* dropped",
        ),
    ]
    recovery: Annotated[
        pd.DataFrame,
        Table(
            "left-out type and run of another type, most recovered first",
            "left_out name* team type* pooled recovered* share* median_rank* deepest_rank*",
            caption="Who retrieves the relevant documents that only {left_out} runs contributed.",
            select={"left_out": None},
        ),
    ]
    documents: Annotated[
        pd.DataFrame, Table("lost document", "left_out qid docno label runs best_rank", select={"left_out": None})
    ]
    uniques: LeaveOutUniques

    def answers(self) -> list[str]:
        """Return for each of the first types how runs rank without it, and what is lost."""
        lines = []
        for name, rows in list(self.table.groupby("type", sort=False))[:_IN_ANSWER]:
            taus = ", ".join(f"{row['measure']} {cells(row, self.columns)['tau_b']}" for row in records(rows))
            lost, recovered = rows["lost"].iloc[0], rows["recovered"].iloc[0]
            counts = f"{count(lost, 'relevant document')} lost, {recovered:,} of them in other runs"
            lines.append(f"Without {name}: tau_b {taus}; {counts}")
        return lines


@study(
    question="What do systems lose if none of their type was pooled?",
    aim="fair",
    group="pools",
    page="studies/by-type",
    papers="[Y20]_",
)
def leave_out_type(
    runs: options.Runs,
    qrels: options.Judgments,
    measures: options.Measures = None,
    *,
    types: Annotated[
        str | Iterable[str] | None,
        options.Option("the types to leave out, one at a time; default each.", check=partial(names, "types")),
    ] = None,
    depth: options.Depth = None,
    rel: options.Rel = None,
    contributors: options.Contributing = "pooled",
    pool_order: options.PoolOrder = None,
    resamples: options.Resamples = 0,
    confidence: options.Confidence = 0.95,
    seed: options.Seed = 0,
    verbose: options.Verbose = False,
) -> LeftOutTypes:
    """Leave a type of system out of the pool, and show what is lost and which other runs would have found it.

    The pool has all types but one, where :func:`by_type` makes pools of one type. The numbers are those of
    :func:`leave_out_uniques` with ``by="type"``, and in addition which runs recover the lost documents. Every run can
    recover documents.

    Raises:
        InputError: as of :func:`leave_out_uniques`, or an unknown type.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.demo.simulate_field(seed=7)
        >>> left = ptr.pools.leave_out_type(field.runs, field.qrels, "AP", types="manual", depth=field.depth)
        >>> left.table[["lost", "recovered", "max_drop"]].values.tolist()
        [[29, 29, 4]]

    Source: Voorhees, Soboroff and Lin 2022, Can old TREC collections reliably evaluate modern neural retrieval models?,
    https://arxiv.org/abs/2201.11086, section 5.
    """
    field, given = as_runs_before(runs, qrels)
    judgments, kinds = as_qrels(given), types_of(field)
    left_out = [choice("types", name, kinds.names) for name in dict.fromkeys(types or kinds.names)]
    how: dict[str, Any] = {"depth": depth, "rel": rel, "contributors": contributors, "pool_order": pool_order}
    how |= {"resamples": resamples, "confidence": confidence, "seed": seed, "verbose": verbose}
    uniques = leave_out_uniques(field, judgments, measures, by="type", **how)
    who = contributors_of(field, contributors)
    unique = find_uniques(field, judgments, kinds, who, depth=uniques.depth, pool_order=pool_order)
    owner, row = unique.of_label(uniques.rel)
    lost = {name: np.sort(row[owner == kinds.names.index(name)]) for name in left_out}
    parts = [_recovered(field, judgments, rows, name) for name, rows in lost.items()]
    recovery, documents = (pd.concat(frames, ignore_index=True) for frames in zip(*parts, strict=True))
    again = documents[documents["runs"] > 0].groupby("left_out").size()
    table = uniques.table[uniques.table["type"].isin(left_out)].reset_index(drop=True)
    table = table.rename(columns={"removed": "lost"}).drop(columns=["unique", "unique_relevant"])
    table.insert(table.columns.get_loc("lost") + 1, "recovered", table["type"].map(again).fillna(0).astype(int))
    settings = {"left out": ", ".join(left_out), "recovered": "at any rank", **uniques.settings}
    return LeftOutTypes(table=table, recovery=recovery, documents=documents, uniques=uniques, settings=settings)


def _recovered(runs: RunSet, qrels: Qrels, rows: NDArray[np.int64], name: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return who recovers how much of the documents lost without a type, and of each document who does."""
    table, wanted = runs.run_table, np.zeros(len(qrels), dtype=bool)
    other = (table["type"] != name).to_numpy()
    wanted[rows] = True
    hits = HitIndex(runs.field, qrels.arrays.documents).gather(range(len(qrels.topics)), wanted)
    places = pd.DataFrame({"run": hits.of % len(runs), "row": hits.row, "rank": hits.rank})
    places = places[other[places["run"]]]
    of_run = places.groupby("run")["rank"].agg(["size", "median", "max"]).reindex(np.flatnonzero(other))
    recovered = of_run["size"].fillna(0).to_numpy(dtype=np.int64)
    recovery = table.loc[other, ["name", "team", "type", "pooled"]].assign(
        recovered=recovered,
        share=recovered / len(rows) if len(rows) else np.nan,
        median_rank=of_run["median"].to_numpy(dtype=float),
        deepest_rank=of_run["max"].astype("Int64").array,
    )
    recovery.insert(0, "left_out", name)
    of_row = places.groupby("row").agg(runs=("run", "size"), best_rank=("rank", "min")).reindex(rows)
    documents = qrels.arrays.documents.take(rows)
    return recovery.sort_values("recovered", ascending=False, kind="stable", ignore_index=True), pd.DataFrame(
        {
            "left_out": name,
            "qid": documents.qids(),
            "docno": documents.docnos(),
            "label": qrels.arrays.labels[rows].astype(np.int64),
            "runs": of_row["runs"].fillna(0).to_numpy(dtype=np.int64),
            "best_rank": of_row["best_rank"].astype("Int64").array,
        }
    )
