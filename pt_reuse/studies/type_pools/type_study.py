"""by_type: what would a collection say of its systems, had one type of them alone made its pool?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
from ir_measures import RR
from numpy.typing import NDArray

from pt_reuse._check import checked_jobs, checked_seed, choice, count, examples, flag
from pt_reuse._errors import Option, arguments_as, door
from pt_reuse.pooling.contributors import contributors_of
from pt_reuse.pooling.depth import DepthFrom, PoolDepth, checked_depth, depth_of
from pt_reuse.pooling.fit import SLACK
from pt_reuse.pooling.pool import Pool
from pt_reuse.qrels.judgments import Qrels, as_qrels, checked_rel, relevant_from
from pt_reuse.runs.given import as_runs_before
from pt_reuse.runs.ordering import check_order_or_none
from pt_reuse.runs.run_set import RunSet
from pt_reuse.runs.units import Units
from pt_reuse.scoring.caveats import Caveat, few_topics, noted, of_judged, one_unit, relevant_only, tell
from pt_reuse.scoring.grades import usual_measures, warn_of_lower_grades
from pt_reuse.scoring.measures import MeasureLike
from pt_reuse.scoring.run_scores import checked_measures, provided_measures
from pt_reuse.scoring.topic_sets import check_topics
from pt_reuse.stats.bootstrap import checked_bootstrap
from pt_reuse.stats.correlation import DECIMALS
from pt_reuse.studies.strategy_comparison.built import ScoredField
from pt_reuse.studies.type_pools.agreements import by_split_table, over_splits, with_intervals
from pt_reuse.studies.type_pools.estimates import estimates_of
from pt_reuse.studies.type_pools.halves import checked_splits
from pt_reuse.studies.type_pools.judged_topics import pool_on_topics
from pt_reuse.studies.type_pools.pools_by_type import PoolsByType
from pt_reuse.studies.type_pools.type_splits import (
    TypeSplits,
    checked_types,
    splits_in_words,
    splits_of,
    types_of,
)

#: what can be split: whole teams, or runs one by one
UNITS = ("team", "run", "family")
#: the depth of the paper's pools, where neither the user nor the field says another
DEPTH = 10


class Gold(Enum):
    """Which judgments rank the runs rightly."""

    POOL = "pool"
    JUDGMENTS = "judgments"


@door
def by_type(
    runs: Any,
    qrels: Any,
    measures: MeasureLike | Iterable[MeasureLike] | None = None,
    *,
    types: str | Iterable[str] | None = None,
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
    """Say how systems would rank, had systems of one type alone made the pool.

    The teams of a type are split in halves. The depth-k pool of the runs of one half is judged, and nothing else. By
    these judgments the other half of the type, all runs of each other type, and all of these together are ranked, and
    each ranking is compared with the one by the gold. That is done for many splits, and for each type.

    Args:
        runs: the field, every run with its type, and with its team where teams are split: a RunSet, a dict of run name
            -> results, or run files, see :doc:`runs`.
        qrels: the judgments: a Qrels, a frame, tuples, a dict or a file. A pooled document that has none counts as not
            relevant.
        measures: ir_measures measures or their names, one or several; default RR, from the grade from which documents
            are relevant, and ``nDCG@10``, which are the paper's. Means are over all topics of the judgments.
        types: the types of which pools are made, one or several; default every type that can be split. All types are
            tested.
        unit: what is split: each ``"team"`` (default) or ``"family"``, all of whose runs of the type go together, or
            each ``"run"``, so that a pooled run and a tested one may be of one team. An odd number leaves the larger
            half to be tested.
        splits: how many different halves are drawn at random, or ``"all"`` for every one. Where there are no more than
            asked for, all are taken.
        gold: the judgments that rank the runs rightly: those in the depth-k ``"pool"`` of all contributing runs
            (default), or all ``"judgments"``.
        depth: of every pool, documents per run and topic; default the one on record for the collection
            (``runs.pool_depth``), else 10, the paper's.
        contributors: the runs that can be in a pool: ``"pooled"`` (default), ``"all"`` or run names. A run of a team
            that was picked is not tested, although it may not contribute.
        pool_order: the order in which the runs were pooled, where it is not the one in which they are scored; default
            the one that the field knows of itself.
        rel: the lowest label that is relevant; default what the judgments say.
        resamples: of the bootstrap for intervals of the means over splits; 0 (default) for none. Topics are drawn with
            replacement, and of random splits as many splits, too.
        confidence: of the intervals.
        seed: of the splits and of the bootstrap: the same seed splits alike in every process, in whichever order the
            runs stand.
        n_jobs: jobs at a time, as joblib takes it; default what ``joblib.parallel_config`` says, else 1. The numbers do
            not depend on it.
        verbose: show a progress bar.

    Returns:
        PoolsByType: ``.table``, ``.by_split``, ``.splits``, ``.scores(pool)``, ``.wide()``, ``.plot()``.

    Raises:
        InputError: a run without a type or team, an unknown type, one that was asked for and cannot be split, or no
            type that can be; every half of more than 20,000.

    Warns:
        ReuseWarning: a type of which fewer than two teams (runs) contributed, of which no pool can be made; fewer than
            five topics; a split that leaves fewer than two runs to be ranked, or that ties them all, which has no tau;
            teams with runs of several types, of which one can be pooled and another tested; a pool of all of which more
            than a twentieth has no judgment. ``settings["beware"]`` says it, too.
            Also a field of one type.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.simulate_field(seed=7)
        >>> found = ptr.by_type(field.runs, field.qrels, "nDCG@10", types="lexical", splits="all", depth=field.depth)
        >>> found.wide().round(2).values.tolist()
        [[0.44, 0.24, 0.38, 0.49]]

    Source: Yilmaz, Craswell, Mitra and Campos 2020, On the reliability of test collections for evaluating systems of
    different types, SIGIR, https://doi.org/10.1145/3397271.3401317, tables 1 and 2, figures 2 and 3.
    """
    parsed = None if measures is None else checked_measures(measures)
    check_type_pools(unit=unit, gold=gold, depth=depth, rel=rel, pool_order=pool_order, n_jobs=n_jobs)
    wanted, halves = checked_types(types), checked_splits(splits, checked_seed(seed))
    bootstrap = checked_bootstrap(resamples=resamples, seed=seed, confidence=confidence)
    verbose = flag("verbose", verbose)
    runs, qrels = as_runs_before(runs, qrels)
    kinds, units = types_of(runs), _units(runs, unit)
    contributing = contributors_of(runs, contributors)
    every, caveats = splits_of(kinds, units, contributing.runs, wanted, halves)
    qrels = as_qrels(qrels)
    check_topics(runs, qrels)
    lowest = relevant_from(qrels, rel)
    parsed = default_measures(lowest) if parsed is None else parsed
    warn_of_lower_grades(parsed, lowest)
    asked = _depth(runs, depth)
    with arguments_as(order="pool_order"):
        ranked = runs.in_pool_order(pool_order)
    pool = pool_on_topics(ranked, asked.value, contributing, qrels)
    found = _Judged.of(pool, qrels, np.flatnonzero(contributing.runs), Gold(gold))
    caveats += [*few_topics(len(qrels.topics)), *relevant_only(qrels, of_judged(parsed)), *found.caveats(asked.value)]
    every_run = np.ones(len(runs), dtype=bool)
    caveats += one_unit(kinds, every_run, 'its pools are tested on its own runs alone, and "all" are the same runs')
    caveats += _mixed_teams(runs.run_table) if unit == "team" else []

    kept = [found.of_split(picked & contributing.runs) for splits in every for picked in splits.picked]
    field = ScoredField(runs, found.gold, parsed)
    rows = [found.row[documents] for documents in kept]
    by_topic = bootstrap is not None
    estimates = estimates_of(
        field, [row[row >= 0] for row in rows], by_topic=by_topic, n_jobs=checked_jobs(n_jobs), verbose=verbose
    )
    names = [repr(measure) for measure in parsed]
    by_split = by_split_table(names, kinds, every, estimates)
    table = over_splits(by_split)
    caveats += _without_tau(table)
    tell(caveats)
    if bootstrap is not None:
        table = with_intervals(table, names, kinds, every, estimates=estimates, bootstrap=bootstrap)
    return PoolsByType(
        table=table,
        by_split=by_split,
        splits=_splits_table(every, units, contributing.runs, kept, found, lowest),
        run_table=runs.run_table[["name", "team", "type", "pooled"]],
        gold=estimates.gold_means,
        estimated=estimates.means,
        picked=np.concatenate([splits.picked for splits in every]),
        settings={
            "unit": unit,
            "splits": splits_in_words(every),
            "seed": seed,
            "gold": found.in_words(asked.value),
            "depth": asked.value,
            "depth from": asked.origin.value,
            "relevant": f"label of at least {lowest}",
            "contributors": str(contributing),
            **units.settings,
            **runs.settings,
            "pool order": ranked.order,
            "complete": True,
            "ties": f"means equal to {DECIMALS} decimals",
            "judged": int((qrels.arrays.labels >= 0).sum()),
            "pool of all": len(pool),
            "pool of all without judgment": found.unjudged,
            **({"intervals": _intervals(bootstrap.words(), every)} if bootstrap is not None else {}),
            **({"by ir_measures": provided} if (provided := provided_measures(parsed)) else {}),
            **noted(caveats),
        },
    )


def check_type_pools(*, unit: Any, gold: Any, depth: Any, rel: Any, pool_order: Any, n_jobs: Any) -> None:
    """Raise where arguments of :func:`by_type` are wrong whatever the runs are.

    Raises:
        InputError: an unknown unit, gold or order, a number out of range.
    """
    choice("unit", unit, UNITS)
    choice("gold", gold, tuple(kind.value for kind in Gold))
    if depth is not None:
        checked_depth(depth)
    checked_rel(rel)
    check_order_or_none("pool_order", pool_order)
    checked_jobs(n_jobs)


def _units(runs: RunSet, unit: str) -> Units:
    with arguments_as(by="unit"):
        return runs.units(unit)


def _depth(runs: RunSet, depth: int | None) -> PoolDepth:
    asked = depth_of(runs, depth)
    return replace(asked, value=DEPTH) if asked.origin is DepthFrom.DEFAULT else asked


@dataclass(frozen=True)
class _Judged:
    """The depth-k pool of all contributing runs, and the judgments that are the gold.

    Attributes:
        pool: the pool, on the topics of the judgments.
        runs: the run of the field that each contributing run is.
        gold: the gold.
        kind: which it is.
        row: (documents of the pool,) the row of the gold that each is, -1 where it is not judged.
    """

    pool: Pool
    runs: NDArray[np.int64]
    gold: Qrels
    kind: Gold
    row: NDArray[np.int64]

    @classmethod
    def of(cls, pool: Pool, qrels: Qrels, runs: NDArray[np.int64], kind: Gold) -> _Judged:
        if kind is Gold.POOL:
            qrels = qrels.keep(pool.documents.find(qrels.arrays.documents) >= 0)
        return cls(pool, runs, qrels, kind, qrels.arrays.documents.find(pool.documents))

    @property
    def labels(self) -> NDArray[np.int16]:
        """Return (documents of the pool,) their labels, -1 where there is none."""
        return np.append(self.gold.arrays.labels, np.int16(-1))[self.row]

    @property
    def unjudged(self) -> int:
        """Return how many documents of the pool have no judgment."""
        return int((self.labels < 0).sum())

    def of_split(self, runs: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the documents that some (runs of the field,) have in the pool."""
        entries = self.pool.entries
        mine = np.zeros(len(self.pool), dtype=bool)
        mine[entries.document[runs[self.runs][entries.run]]] = True
        return np.flatnonzero(mine)

    def in_words(self, depth: int) -> str:
        """Return what the gold is."""
        return "all judgments" if self.kind is Gold.JUDGMENTS else f"the judgments in the depth-{depth} pool of all"

    def caveats(self, depth: int) -> Iterator[Caveat]:
        """Yield a caveat where more than a little of the pool of all was never judged."""
        share = self.unjudged / max(len(self.pool), 1)
        if share > SLACK:
            yield Caveat(
                f"{share:.0%} of the pool of all is unjudged",
                (
                    f"{self.unjudged:,} of the {len(self.pool):,} documents ({share:.0%}) in the depth-{depth} pool of "
                    "all contributing runs have no judgment, and count as not relevant. If nobody judged these runs "
                    "so deep, or in this order, the pool of a type is not what it would have been. ",
                    Option("depth", ...),
                    " and ",
                    Option("pool_order", ...),
                    " say how they were pooled.",
                ),
            )


def _mixed_teams(run_table: pd.DataFrame) -> list[Caveat]:
    """Return what is to be told where teams have runs of several types."""
    several = run_table.groupby("team", sort=False)["type"].nunique()
    teams = several.index[several > 1].tolist()
    if not teams:
        return []
    return [
        Caveat(
            f"{count(len(teams), 'team')} with runs of several types",
            (
                f"{count(len(teams), 'team')} with runs of several types ({examples(teams)}): where such a team's runs "
                "of one type are pooled, those of its other types are tested all the same.",
            ),
        )
    ]


def _without_tau(table: pd.DataFrame) -> list[Caveat]:
    """Return what is to be told of rankings that have no tau."""
    rows = table[table["undefined"] > 0]
    if rows.empty:
        return []
    total, n = int((rows["undefined"] + rows["splits"]).sum()), int(rows["undefined"].sum())
    which = [f"{row.measure}, pool of {row.pool}, {row.tested} tested" for row in rows.itertuples()]
    return [
        Caveat(
            f"{n:,} rankings without a tau",
            (
                f"tau has no value in {n:,} of {count(total, 'ranking')} ({examples(which)}), since fewer than two "
                "runs are left to be tested there, or all of them tie. Means are over the splits that have one.",
            ),
        )
    ]


def _splits_table(
    every: Sequence[TypeSplits],
    units: Units,
    contributing: NDArray[np.bool_],
    kept: Sequence[NDArray[np.int64]],
    found: _Judged,
    lowest: int,
) -> pd.DataFrame:
    """Return one row per type and split: who was picked, and what their pool holds."""
    labels, rows, at = found.labels, [], iter(kept)
    for splits in every:
        for split, picked in enumerate(splits.picked):
            mine = labels[next(at)]
            names = sorted(units.names[unit] for unit in np.unique(units.of_run[picked]).tolist())
            rows.append(
                {
                    "pool": splits.type,
                    "split": split,
                    "picked": ", ".join(names),
                    "runs": int((picked & contributing).sum()),
                    "documents": len(mine),
                    "judged": int((mine >= 0).sum()),
                    "relevant": int((mine >= lowest).sum()),
                }
            )
    return pd.DataFrame(rows)


def _intervals(words: str, every: Sequence[TypeSplits]) -> str:
    drawn = [splits.type for splits in every if splits.random]
    return f"{words}{f', and over the splits of {examples(drawn)}' if drawn else ''}"


def default_measures(rel: int) -> list[ir_measures.Measure]:
    """Return the measures of the paper: RR, from a grade on, and ``nDCG@10``."""
    return usual_measures(rel, RR)
