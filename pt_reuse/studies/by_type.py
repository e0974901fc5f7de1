"""by_type: what would a collection say of its systems, had one type of them alone made its pool?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import ir_measures
import numpy as np
import pandas as pd
from ir_measures import RR
from numpy.typing import NDArray

from pt_reuse._check import choice, count, examples, listed, plural, whole
from pt_reuse._jobs import run_jobs
from pt_reuse._report import MOST, Column, Digits, Report
from pt_reuse.arrays import pairs
from pt_reuse.arrays.bootstrap import TopicBootstrap
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.data.units import Units
from pt_reuse.errors import InputError
from pt_reuse.options import Flag, Parameter
from pt_reuse.pooling.fit import SLACK
from pt_reuse.pooling.pool import Pool
from pt_reuse.result import KeyFigures, Result, Shown, Told, View, records
from pt_reuse.scoring.caveats import Caveat, few_topics, one_unit, usual_measures
from pt_reuse.scoring.measures import MeasureLike, measure_among
from pt_reuse.studies.asked import Asked
from pt_reuse.studies.compare_strategies import ScoredField
from pt_reuse.studies.pool_costs import pool_on_topics
from pt_reuse.studies.type_splits import (
    ALL,
    TypeSplits,
    checked_splits,
    checked_types,
    splits_in_words,
    splits_of,
    types_of,
)
from pt_reuse.study import Command, Entry, study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pt_reuse.plots.sheet import Place

#: the depth of the paper's pools, where neither the user nor the field says another
DEPTH = 10
#: splits that are scored together; the numbers do not depend on it
_AT_ONCE = 50
#: measures of which the headline tells, and teams of a type below which these are few
_TOLD, _FEW = 3, 5
_FEW_TO_SPLIT = (
    "Few to split ({few}): what is found says more of these than of the type, and the spread over splits says little."
)
_TAUS = ("tau_b", "gamma", "tau_ap_b")
#: what is told of two rankings
_NUMBERS = (*_TAUS, "max_drop")
_KEYS = ("measure", "pool", "tested")
_IN_WORDS = {
    "tau_b": "tau_b",
    "gamma": "gamma",
    "tau_ap_b": "tau_AP (symmetric and with ties)",
    "max_drop": "the most ranks that a run loses",
}
_SPREADS = {
    "sd": "the standard deviation",
    "min": "the least",
    "max": "the largest",
    "low": "the lower end of the interval of the mean",
    "high": "the upper end of the interval of the mean",
}


def _wide_report(result: PoolsByType, number: str = "tau_b") -> Report:
    """Return a row per measure and pool, and a column per tested group; of many types a row for each group."""
    name, table = result.number(number), result.table
    digits = Digits.TENTHS if name.startswith("max_drop") else Digits.SCORE
    if len(result.tested) + 1 <= MOST:
        wide = table.pivot_table(name, list(_KEYS[:2]), "tested", "first", dropna=False).reindex(columns=result.tested)
        rows = wide.reindex(pd.MultiIndex.from_product([result.measures, result.pools], names=_KEYS[:2])).reset_index()
        columns = [Column("Pool", rows["pool"]), Column("Measure", rows["measure"])]
        columns += [Column(f"On {tested}", rows[tested], digits) for tested in result.tested]
    else:
        shown = {"Pool": "pool", "Measure": "measure", "Tested": "tested"}
        columns = [Column(heading, table[column]) for heading, column in shown.items()]
        columns += [Column("Number", table[name], digits), Column("Splits", table["splits"], Digits.COUNT)]
    base = max((n for n in _NUMBERS if name.startswith(n)), key=len)
    spread, settings = _SPREADS.get(name[len(base) + 1 :]), result.settings
    of = f"{spread} over splits of {_IN_WORDS[base]}" if spread else f"{_IN_WORDS[base]}, a mean over splits,"
    caption = (
        f"Pools of one type of system: {of} between the ranking by {settings['gold']} and the one by the judgments in "
        f"the depth-{settings['depth']} pool of one half of the {plural(settings['unit'])} of a type, on the other "
        "half of that type, on all runs of another type, and on all of these."
    )
    return Report(columns, caption=caption, notes=result.notes())


def _draw_tau(result: PoolsByType, measure: str, place: Place) -> Axes:
    """Draw a cell for each pool and tested group with its mean tau_b over splits, and the lowest of a split."""
    from pt_reuse.plots.maps import plot_tau_of_pools

    return plot_tau_of_pools(result.table[result.table["measure"] == measure], measure=measure, place=place)


def _draw_scores(
    result: PoolsByType, measure: str, place: Place, pool: str | None = None, split: int | None = None
) -> Axes:
    """Draw a point per tested run around y = x; of every pool in axes of its own, or of one."""
    from pt_reuse.plots.run_scores import plot_squares
    from pt_reuse.plots.sheet import MOST, of_tau, plain

    chosen = result.pools if pool is None else [choice("pool", pool, result.pools)]
    if place.ax is not None and len(chosen) > 1:
        problem = f"ax takes one pool, and there are those of {listed(chosen)}. Give "
        raise InputError(f"{problem}pool={chosen[0]!r}, or one after the other.", argument="pool")
    table = result.table if split is None else result.by_split[result.by_split["split"] == split]
    panels = {}
    for name in chosen:
        taus = table[(table["measure"] == measure) & (table["pool"] == name)]
        # those of many types would fill the figure
        shown = taus if len(taus) <= MOST and len(chosen) == 1 else taus[taus["tested"] == ALL]
        said = [f"{plain(tested)} {of_tau(tau)}" for tested, tau in zip(shown["tested"], shown["tau_b"], strict=True)]
        rows = result.scores(name, measure=measure, split=split)
        panels[f"Pool of {name}\n{', '.join(said)}"] = rows.rename(columns={"score": "x", "estimated": "y"})
    of = f"split {split}" if split is not None else "mean of splits"
    x, y = f"{measure}, actual", f"{measure}, by the pool ({of})"
    return plot_squares(panels, x=x, y=y, title="Scores by the pool of one type", place=place)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PoolsByType(Result):
    """How far pools of one type of system rank systems of that type, of each other type, and all of them, rightly.

    Its figures are ``"scores"``, a point per tested run by the pool of one type (``pool=``, default each in axes of its
    own; ``split=``, default the mean of all) against its score by the gold, and ``"tau_b"``, a map of the mean tau_b of
    each pool and tested group, with the lowest of a split.

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

    title = "Pools of one type"
    condition = (
        "It holds for depth-{depth} pools of half a type ({splits}) and the runs that are held out, against {gold}; "
        "means over splits."
    )
    limit = (
        "It does not say what pools of all runs of a type would do, nor what they do to a type that has no run here."
    )
    views = {
        "wide": _wide_report,
        "groups": View(
            columns=(
                Shown("Pool", "pool"),
                Shown("Tested", "tested"),
                Shown("tau_b", "tau_b", Digits.SCORE),
                Shown("SD over splits", "tau_b_sd", Digits.SCORE),
                Shown("Interval of tau_b", "tau_b", Digits.SCORE, interval=True),
                Shown("Largest drop", "max_drop", Digits.TENTHS),
                Shown("Splits", "splits", Digits.COUNT, unless="tau_b_low"),
            ),
            caption="By {measure}, the ranking of the tested runs by the pool of half a type against that by {gold}; "
            "means over splits",
            noun="groups",
        ),
    }
    plots = {"scores": _draw_scores, "tau_b": _draw_tau}
    key = (KeyFigures(("tau_b", "max_drop"), row="pool of {pool}, tested {tested}"),)
    sentences = {
        "splits": "Halves: {splits}.",
        "few": _FEW_TO_SPLIT,
    }

    by_split: pd.DataFrame
    splits: pd.DataFrame
    run_table: pd.DataFrame
    gold: NDArray[np.float64]
    estimated: NDArray[np.float64]
    picked: NDArray[np.bool_]

    @property
    def pools(self) -> list[str]:
        """Return the types that made pools."""
        return list(dict.fromkeys(self.table["pool"]))

    @property
    def tested(self) -> list[str]:
        """Return the groups that were tested: every type, and ``"all"``."""
        return list(dict.fromkeys(self.table["tested"]))

    def headline(self) -> str:
        """Return how pools of one type rank all runs, the best and the worst pool, and which type they rank worst."""
        of_all, of_types = (self.table[(self.table["tested"] == ALL) == whole] for whole in (True, False))
        unit, pools = plural(self.settings["unit"]), _from_best(of_all)["pool"].tolist()
        best, *worst = pools[:: max(len(pools) - 1, 1)]
        which = f" (best of {len(pools)} types)" if len(pools) > 2 else ""
        said = (
            f"Pools of half the {best} {unit}{which} rank all runs that are held out with tau_b "
            f"{_taus(of_all[of_all['pool'] == best], named=True)}"
        )
        for pool in worst:
            which = " (worst)" if len(pools) > 2 else ""
            said += f", pools of half the {pool} {unit}{which} with {_taus(of_all[of_all['pool'] == pool])}"
        last = _from_best(of_types).iloc[-1]
        if len(self.tested) > 2:
            rows = of_types[(of_types["pool"] == last["pool"]) & (of_types["tested"] == last["tested"])]
            said += f"; worst are the {last['tested']} runs by pools of {last['pool']} {unit}: {_taus(rows)}"
        return said

    def _further(self) -> list[str]:
        """Return of which types there are few to split."""
        return [_FEW_TO_SPLIT.format(**self.settings)] if "few" in self.settings else []

    def number(self, name: str) -> str:
        """Return the name of a column of numbers of `table`, or say that it is none."""
        return choice("number", name, [column for column in self.table.columns if column.startswith(_NUMBERS)])

    def wide(self, number: str = "tau_b") -> pd.DataFrame:
        """Return the table as a paper has it: a row per type of the pool, columns measure x tested group.

        Args:
            number: which number stands in the cells, a column of `table` such as ``"tau_b"`` or ``"tau_b_sd"``.

        Returns:
            DataFrame: pools as the index, columns of two levels, ``measure`` and ``tested``.
        """
        cells = self.table.pivot_table(self.number(number), "pool", ["measure", "tested"], "first", dropna=False)
        order = pd.MultiIndex.from_product([self.measures, self.tested], names=["measure", "tested"])
        return cells.reindex(index=pd.Index(self.pools, name="pool"), columns=order)

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
        m = self.measures.index(measure_among(self.measures, measure))
        choice("pool", pool, self.pools)
        chosen = np.flatnonzero(self.splits["pool"] == pool)
        if split is not None:
            if whole("split", split, "splits", least=0) >= len(chosen):
                raise InputError(f"split must be below {len(chosen):,}, the splits of {pool!r}.", argument="split")
            chosen = chosen[[split]]
        tested = ~self.picked[chosen]
        times = tested.sum(axis=0)
        total = np.where(tested, self.estimated[m, chosen], 0.0).sum(axis=0)
        frame = self.run_table[["name", "team", "type"]].assign(
            score=self.gold[m], estimated=total / np.maximum(times, 1), splits=times
        )
        return frame[times > 0].reset_index(drop=True)


def default_measures(rel: int) -> list[ir_measures.Measure]:
    """Return the measures of the paper: RR, from a grade on, and ``nDCG@10``."""
    return usual_measures(rel, RR)


@study(
    Parameter(
        name="measures",
        meaning="ir_measures measures or their names, one or several; default RR, from the grade from which documents "
        "are relevant, and ``nDCG@10``, which are the paper's. Means are over all topics of the judgments.",
        check="pt_reuse.scoring.scores:checked_measures",
        flag=Flag(
            help="comma-separated", metavar="LIST", kind="list", default="RR, from the relevant grade on, and nDCG@10"
        ),
    ),
    Parameter(
        name="pools",
        meaning="the types of which pools are made, one or several; default every type that can be split. All types "
        "are tested.",
        check=lambda value: checked_types(value, "pools"),
        flag=Flag(
            help="types that make pools, comma-separated",
            metavar="LIST",
            kind="list",
            default="every type that can be split",
        ),
    ),
    Parameter(
        name="unit",
        meaning='what is split: each ``"team"`` (default) or ``"family"``, all of whose runs of the type go together, '
        'or each ``"run"``, so that a pooled run and a tested one may be of one team. An odd number leaves the larger '
        "half to be tested.",
        choices=("team", "run", "family"),
        flag=Flag(help="what is split: team, run or family", metavar="UNIT", kind="text"),
    ),
    Parameter(
        name="splits",
        meaning='how many different halves are drawn at random, or ``"all"`` for every one. Where there are no more '
        "than asked for, all are taken.",
        check=checked_splits,
        flag=Flag(help="how many random halves, or all", kind="count or text"),
    ),
    Parameter(
        name="gold",
        meaning='the judgments that rank the runs rightly: those in the depth-k ``"pool"`` of all contributing runs '
        '(default), or all ``"judgments"``.',
        choices=("pool", "judgments"),
        flag=Flag(
            help="the right judgments: those in the pool of all (pool), or all (judgments)",
            metavar="WHICH",
            kind="text",
        ),
    ),
    Parameter(
        name="depth",
        meaning="of every pool, documents per run and topic; default the one on record for the collection "
        "(``runs.pool_depth``), else 10, the paper's.",
        check="pt_reuse.pooling.depth:checked_depth",
        flag=Flag(help="pool depth", metavar="K", default="that of the collection, else 10"),
    ),
    command=Command(
        name="by-type",
        summary="how runs would rank if systems of one type alone had made the pool",
        details="The teams of a type are split into halves at random. Only the pool of one half is judged. The other "
        "half, the runs of each other type, and all of these are ranked by it, and the ranking is compared with that "
        "by the pool of all runs.",
        needs=("type",),
        screen=("groups",),
    ),
    measures=default_measures,
    depth=DEPTH,
    entry=Entry(question="Is a pool of one type of system fair to another type?", papers="[Y20]_"),
)
def by_type(
    runs: Any,
    qrels: Any,
    measures: MeasureLike | Iterable[MeasureLike] | None = None,
    *,
    pools: str | Iterable[str] | None = None,
    unit: str = "team",
    splits: int | str = 10,
    gold: str = "pool",
    depth: int | None = None,
    contributors: str | Iterable[str] = "pooled",
    pool_order: str | None = None,
    rel: int | None = None,
    resamples: int = 0,
    confidence: float = 0.95,
    seed: int = 0,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> PoolsByType:
    """Rank systems as if systems of one type alone had made the pool.

    The teams of a type are split in halves. Only the depth-k pool of the runs of one half is judged. These judgments
    rank the other half of the type, all runs of each other type, and all of these together, and each ranking is
    compared with that by the gold judgments. This is done for many splits, and for each type.

    Args:
        runs: the field, every run with its type, and with its team where teams are split: a RunSet, a dict of run name
            -> results, or run files, see :doc:`runs`.
        qrels: the judgments: a Qrels, a frame, tuples, a dict or a file. A pooled document that has none counts as not
            relevant.
        contributors: the runs that can be in a pool: ``"pooled"`` (default), ``"all"`` or run names. A run of a team in
            the pooled half is never tested, even if it does not contribute.
        resamples: of the bootstrap for intervals of the means over splits; 0 (default) for none. Topics are drawn with
            replacement, and, if splits are random, as many splits, too.
        seed: of the splits and of the bootstrap: the same seed gives the same splits in every process, whatever the
            order of the runs.

    Returns:
        PoolsByType: ``.table``, ``.by_split``, ``.splits``, ``.scores(pool)``, ``.wide()``, ``.plot()``.

    Raises:
        InputError: a run without a type or team, an unknown type, a requested type that cannot be split, or no type
            that can; all halves, if there are more than 20,000.

    Warns:
        ReuseWarning: a type with fewer than two contributing teams (runs), which cannot make a pool; fewer than five
            topics; a split that leaves fewer than two runs to rank, or ties them all, which has no tau; teams with runs
            of several types, of which one can be pooled and another tested; more than a twentieth of the pool of all
            runs has no judgment. ``settings["beware"]`` has it, too. Also a field of one type.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.demo.simulate_field(seed=7)
        >>> found = ptr.by_type(field.runs, field.qrels, "nDCG@10", pools="lexical", splits="all", depth=field.depth)
        >>> found.wide().round(2).values.tolist()
        [[0.44, 0.24, 0.38, 0.49]]

    Source: Yilmaz, Craswell, Mitra and Campos 2020, On the reliability of test collections for evaluating systems of
    different types, SIGIR, https://doi.org/10.1145/3397271.3401317, tables 1 and 2, figures 2 and 3.
    """
    asked = Asked(by_type, locals())
    kinds, units, pooled = types_of(asked.runs), asked.units("unit"), asked.contributors.runs
    every, unsplit = splits_of(kinds, units, pooled, asked["pools"], number=asked["splits"], seed=asked["seed"])
    picked = np.concatenate([splits.picked for splits in every])
    depth_k = asked.depth.value
    pool = pool_on_topics(asked.ranked, depth_k, asked.contributors, asked.qrels)
    judged = asked.qrels
    if gold == "pool":
        judged = judged.keep(pool.documents.find(judged.arrays.documents) >= 0)
    row = judged.arrays.documents.find(pool.documents)
    labels = np.append(judged.arrays.labels, np.int16(-1))[row]
    alone = 'its pools are tested on its own runs alone, and "all" are the same runs'
    asked.tell(
        unsplit,
        few_topics(len(asked.qrels.topics)),
        _unjudged(labels, depth_k),
        one_unit(kinds, np.ones(len(asked.runs), dtype=bool), alone),
        _mixed_teams(asked.runs.run_table) if unit == "team" else (),
    )
    kept = list(_pooled_by(pool, picked[:, pooled]))
    rows = [row[documents][row[documents] >= 0] for documents in kept]
    field = ScoredField(asked.runs, judged, asked.measures)
    scores = _scored(field, rows, by_topic=asked.bootstrap is not None, **asked.how)
    compared = _Compared([repr(measure) for measure in asked.measures], kinds, every, *scores)
    by_split = compared.by_split()
    table = _over_splits(by_split)
    asked.tell(_without_tau(table))
    few = [splits for splits in every if splits.units < _FEW]
    words = {}
    if asked.bootstrap is not None:
        table = compared.with_intervals(table, asked.bootstrap)
        drawn = [splits.type for splits in every if splits.random]
        over = f", and over the splits of {examples(drawn)}" if drawn else ""
        words = {"intervals": f"{asked.bootstrap.words()}{over}"}
    return PoolsByType(
        table=table,
        by_split=by_split,
        splits=_splits_table(every, units, pooled, [labels[documents] for documents in kept], asked.rel),
        run_table=asked.runs.run_table[["name", "team", "type", "pooled"]],
        gold=compared.gold_means,
        estimated=compared.means,
        picked=picked,
        settings=asked.settings(
            unit=unit,
            splits=splits_in_words(every, unit),
            **({"few": splits_in_words(few, unit)} if few else {}),
            seed=seed,
            gold="all judgments" if gold == "judgments" else f"the judgments in the depth-{depth_k} pool of all",
            judged=int((asked.qrels.arrays.labels >= 0).sum()),
            pool_of_all=len(pool),
            pool_of_all_without_judgment=int((labels < 0).sum()),
            **words,
        ),
    )


def _from_best(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the first measure by their mean tau_b, the highest first; those without one are left out."""
    first = rows[rows["measure"] == rows["measure"].iloc[0]]
    ranked = first.sort_values("tau_b", ascending=False, kind="stable")
    return ranked if ranked["tau_b"].isna().all() else ranked[ranked["tau_b"].notna()]


def _taus(rows: pd.DataFrame, *, named: bool = False) -> str:
    """Return tau_b under each of the first measures, with the names of these where told to."""
    by = [f" by {measure}" * named for measure in rows["measure"].head(_TOLD)]
    return listed([f"{Told(row, 'tau_b'):.3f}{end}" for row, end in zip(records(rows), by, strict=False)])


def _pooled_by(pool: Pool, picked: NDArray[np.bool_]) -> Iterator[NDArray[np.int64]]:
    """Yield the documents of a pool that some of its runs have, for each of (splits, runs of the pool)."""
    entries = pool.entries
    for runs in picked:
        yield np.unique(entries.document[runs[entries.run]])


def _unjudged(labels: NDArray[np.int16], depth: int) -> Iterator[Caveat]:
    """Yield a caveat where more than a little of the pool of all was never judged."""
    unjudged = int((labels < 0).sum())
    share = unjudged / max(len(labels), 1)
    if share > SLACK:
        yield Caveat(
            f"{share:.0%} of the pool of all is unjudged",
            f"{unjudged:,} of the {len(labels):,} documents ({share:.0%}) in the depth-{depth} pool of all "
            "contributing runs have no judgment, and count as not relevant. If nobody judged these runs so deep, or "
            "in this order, the pool of a type is not what it would have been. depth= and pool_order= say how they "
            "were pooled.",
        )


def _mixed_teams(run_table: pd.DataFrame) -> Iterator[Caveat]:
    """Yield what is to be told where teams have runs of several types."""
    several = run_table.groupby("team", sort=False)["type"].nunique()
    teams = several.index[several > 1].tolist()
    if teams:
        noted = f"{count(len(teams), 'team')} with runs of several types"
        what = "where such a team's runs of one type are pooled, those of its other types are tested all the same."
        yield Caveat(noted, f"{noted} ({examples(teams)}): {what}")


def _without_tau(table: pd.DataFrame) -> Iterator[Caveat]:
    """Yield what is to be told of rankings that have no tau."""
    rows = table[table["undefined"] > 0]
    if rows.empty:
        return
    total, n = int((rows["undefined"] + rows["splits"]).sum()), int(rows["undefined"].sum())
    which = [f"{row.measure}, pool of {row.pool}, {row.tested} tested" for row in rows.itertuples()]
    yield Caveat(
        f"{n:,} rankings without a tau",
        f"tau has no value in {n:,} of {count(total, 'ranking')} ({examples(which)}), since fewer than two runs are "
        "left to be tested there, or all of them tie. Means are over the splits that have one.",
    )


def _splits_table(
    every: Sequence[TypeSplits],
    units: Units,
    contributing: NDArray[np.bool_],
    labels: Sequence[NDArray[np.int16]],
    lowest: int,
) -> pd.DataFrame:
    """Return one row per type and split: who was picked, and what their pool holds, by its labels."""
    places = [(splits, split) for splits in every for split in range(len(splits.picked))]
    rows = []
    for (splits, split), mine in zip(places, labels, strict=True):
        picked = splits.picked[split]
        rows.append(
            {
                "pool": splits.type,
                "split": split,
                "picked": ", ".join(sorted({units.names[unit] for unit in units.of_run[picked].tolist()})),
                "runs": int((picked & contributing).sum()),
                "documents": len(mine),
                "judged": int((mine >= 0).sum()),
                "relevant": int((mine >= lowest).sum()),
            }
        )
    return pd.DataFrame(rows)


#: (measures, topics, runs) under the gold; (measures, splits, runs) means under the judgments of each split; and
#: (measures, splits, topics, runs) what these are means of, or no topic
_Scores = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]


@dataclass(frozen=True)
class _Scoring:
    field: ScoredField
    kept: Sequence[NDArray[np.int64]]
    by_topic: bool

    def run(self) -> _Scores:
        gold, values = self.field.topic_scores(self.kept)
        means = values.sum(axis=2) / max(values.shape[2], 1)
        return gold, means, values if self.by_topic else values[:, :, :0].copy()


def _scored(field: ScoredField, kept: Sequence[NDArray[np.int64]], *, by_topic: bool, **how: Any) -> _Scores:
    """Score a field under its judgments and under the rows of them that each split has."""
    jobs = [_Scoring(field, kept[first : first + _AT_ONCE], by_topic) for first in range(0, len(kept), _AT_ONCE)]
    gold, means, values = zip(*run_jobs(jobs, len(jobs), desc="scoring", unit="part", **how), strict=True)
    return gold[0], np.concatenate(means, axis=1), np.concatenate(values, axis=1)


@dataclass(frozen=True)
class _Group:
    """Runs that are tested with the pools of one type under one measure."""

    key: Mapping[str, str]  # the measure, the type that makes the pool, and the name of the group
    measure: int  # the place of the measure
    splits: slice  # the places of the splits
    tested: NDArray[np.bool_]  # (splits, runs) who is in it
    random: bool  # whether the splits are a random part of all halves


@dataclass(frozen=True)
class _Compared:
    """The ranking of each tested group by each split's pool against that by the gold."""

    measures: Sequence[str]  # their names
    kinds: Units  # the types of the field
    every: Sequence[TypeSplits]  # the splits of each type, one after the other as in the scores
    gold: NDArray[np.float64]  # the scores, see :data:`_Scores`
    means: NDArray[np.float64]
    values: NDArray[np.float64]

    @property
    def gold_means(self) -> NDArray[np.float64]:
        """Return (measures, runs): the means by the gold."""
        return self.gold.sum(axis=1) / max(self.gold.shape[1], 1)

    def _groups(self) -> Iterator[_Group]:
        for m, measure in enumerate(self.measures):
            first = 0
            for splits in self.every:
                stop = first + len(splits.picked)
                for name, tested in splits.tested(self.kinds):
                    key = dict(zip(_KEYS, (measure, splits.type, name), strict=True))
                    yield _Group(key, m, slice(first, stop), tested, splits.random)
                first = stop

    def by_split(self) -> pd.DataFrame:
        """Return one row per measure, type that makes the pool, tested group and split."""
        gold, means = np.round(self.gold_means, DECIMALS), np.round(self.means, DECIMALS)
        rows = []
        for group in self._groups():
            sizes = group.tested.sum(axis=1)
            numbers = {name: np.empty(len(sizes)) for name in _NUMBERS}
            # splits that test as many runs are compared at once
            for size in np.unique(sizes).tolist():
                of_size = sizes == size
                tested, shape = group.tested[of_size], (int(of_size.sum()), size)
                x = np.broadcast_to(gold[group.measure], tested.shape)[tested]
                y = means[group.measure, group.splits][of_size][tested]
                for name, found in _numbers(x.reshape(shape), y.reshape(shape)).items():
                    numbers[name][of_size] = found
            rows.append(pd.DataFrame({**group.key, "split": np.arange(len(sizes)), "runs": sizes, **numbers}))
        return pd.concat(rows, ignore_index=True)

    def with_intervals(self, table: pd.DataFrame, bootstrap: TopicBootstrap) -> pd.DataFrame:
        """Return the table over splits with the ends of an interval beside each mean."""
        rows = []
        for group, (_, row) in zip(self._groups(), table.iterrows(), strict=True):
            drawn, often = self._drawn(group, bootstrap), _often(bootstrap, len(group.tested), group.random)
            most = max(0, int(group.tested.sum(axis=1).max(initial=0)) - 1)
            ends: dict[str, float] = {}
            for name in _NUMBERS:
                within = (0.0, float(most)) if name == "max_drop" else (-1.0, 1.0)
                low, high = bootstrap.interval(float(row[name]), _mean(drawn[name], often), within=within)
                ends |= {f"{name}_low": low, f"{name}_high": high}
            rows.append(ends)
        return pd.concat([table, pd.DataFrame(rows)], axis=1)

    def _drawn(self, group: _Group, bootstrap: TopicBootstrap) -> dict[str, NDArray[np.float64]]:
        """Return (draws, splits) each number on drawn topics."""
        gold, values = self.gold[group.measure], self.values[group.measure, group.splits]
        counts = bootstrap.counts(len(gold)).astype(np.float64)
        drawn = {name: np.empty((len(counts), len(group.tested))) for name in _NUMBERS}
        for split, tested in enumerate(group.tested):
            x = counts @ gold[:, tested] / len(gold)
            y = counts @ values[split][:, tested] / len(gold)
            for name, found in _numbers(np.round(x, DECIMALS), np.round(y, DECIMALS)).items():
                drawn[name][:, split] = found
        return drawn


def _over_splits(by_split: pd.DataFrame) -> pd.DataFrame:
    """Return the mean of each number over the splits that have one, with its standard deviation, least and most."""
    grouped = by_split.groupby(list(_KEYS), sort=False)
    undefined = grouped["tau_b"].size() - grouped["tau_b"].count()
    table = grouped.agg(runs=("runs", "mean"), splits=("tau_b", "count")).assign(undefined=undefined).reset_index()
    for name in _NUMBERS:
        column = grouped[name]
        table[name] = column.mean().to_numpy()
        for suffix, values in (("sd", column.std()), ("min", column.min()), ("max", column.max())):
            table[f"{name}_{suffix}"] = values.to_numpy()
    return table


def _often(bootstrap: TopicBootstrap, n_splits: int, random: bool) -> NDArray[np.float64]:
    """Return (draws, splits): how often each split counts; once, unless splits are drawn as topics are."""
    if not random:
        return np.ones((bootstrap.resamples, n_splits))
    # a stream of its own, so that splits are not drawn as topics were
    chance = np.random.default_rng([bootstrap.seed, n_splits])
    return chance.multinomial(n_splits, np.full(n_splits, 1 / n_splits), bootstrap.resamples).astype(np.float64)


def _mean(values: NDArray[np.float64], often: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (draws,) the mean over splits that have a value, NaN where none has."""
    known = np.where(np.isnan(values), 0.0, often)
    total = known.sum(axis=1)
    summed = (np.where(np.isnan(values), 0.0, values) * known).sum(axis=1)
    return np.divide(summed, total, out=np.full(len(total), np.nan), where=total > 0)


def _numbers(truths: NDArray[np.float64], estimates: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """Return the numbers, (draws,) each, of (draws, runs) means; NaN where fewer than two runs are tested."""
    if truths.shape[1] < 2:
        return {name: np.full(len(truths), np.nan) for name in _NUMBERS}
    found = pairs.coefficients(truths, estimates, _TAUS)
    return {name: found[name].astype(np.float64) for name in _NUMBERS}
