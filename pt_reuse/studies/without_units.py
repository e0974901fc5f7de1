"""Scores and ranks of all runs without each unit, as sets of judgments say it: what each such study has in common."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar

import ir_measures
import numpy as np
import pandas as pd
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse._check import whole
from pt_reuse._errors import door
from pt_reuse._report import Digits
from pt_reuse.arrays import pairs
from pt_reuse.arrays.bootstrap import USUAL_COEFFICIENTS, TopicBootstrap, TopicScores, ranking_agreements, whole_changes
from pt_reuse.arrays.correlation import DECIMALS, rounded
from pt_reuse.arrays.kernels import UNJUDGED
from pt_reuse.arrays.open_field import AnyField
from pt_reuse.arrays.rescore import Changes
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.data.topic_jobs import Arrays, ArrayWork, run_topics
from pt_reuse.data.units import COLUMNS, Units, described
from pt_reuse.pooling.fit import Pooling, PoolUniques
from pt_reuse.result import KeyFigures, Result, Shown
from pt_reuse.scoring.rescoring import Block, MeansOfSets, Rescoring
from pt_reuse.scoring.scores import Scores, topics_of_runs
from pt_reuse.studies.asked import Asked

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pt_reuse.plots.sheet import Place

#: what has an interval in a row of a unit, and in the summary under ``own_``
OF_RANKINGS = (*USUAL_COEFFICIENTS, "max_drop")
#: means rounded at a time, 32 MB
_MEANS_AT_ONCE = 1 << 22
#: the unit that is left out, under whichever name it stands
UNIT = (Shown("Team", "team"), Shown("Type", "type"), Shown("Family", "family"), Shown("Run", "name"))
OF_SUMMARY = KeyFigures(
    (
        *("own_tau_b", "alone_max_drop", "own_max_drop", "field_min_tau_b", "field_max_drop"),
        *("mean_change_pct", "largest_loss_pct"),
    ),
    "summary",
)
OF_FIELD = (
    Shown("tau_b", "tau_b", Digits.SCORE),
    Shown("Interval of tau_b", "tau_b", Digits.SCORE, interval=True),
    Shown("Largest drop", "max_drop", Digits.COUNT),
    Shown("Interval of the drop", "max_drop", Digits.COUNT, interval=True),
    Shown("Dropped run", "dropped", unless="tau_b_low"),
)
OF_MEASURE = (
    Shown("Measure", "measure"),
    Shown("tau_b", "own_tau_b", Digits.SCORE),
    Shown("Interval of tau_b", "own_tau_b", Digits.SCORE, interval=True),
    Shown("Largest drop", "alone_max_drop", Digits.COUNT),
    Shown("Interval of the drop", "alone_max_drop", Digits.COUNT, interval=True),
    Shown("Largest loss, %", "largest_loss_pct", Digits.TENTHS, unless="own_tau_b_low"),
    Shown("Smallest tau_b, field", "field_min_tau_b", Digits.SCORE),
    Shown("Largest drop, field", "field_max_drop", Digits.COUNT, unless="own_tau_b_low"),
)


def draw_scores(
    result: WithoutUnits,
    measure: str,
    place: Place,
    view: str = "change",
    by: str | None = None,
    *,
    said: tuple[str, str, str] | None = None,
) -> Axes:
    """Draw what becomes of each run's score without its own unit, as ``"change"``, ``"percent"`` of it or ``"scores"``.

    `by` is what gives colour and marker, default the unit that was left out.
    """
    from pt_reuse.plots.run_scores import check_view, plot_reduced_scores

    check_view(view, by, tuple(COLUMNS), result.by_run)
    unit = result.units.by
    return plot_reduced_scores(result.by_run, measure=measure, unit=unit, kind=view, by=by, said=said, place=place)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class WithoutUnits(Result):
    """What runs score and how they rank without each unit; see :func:`leave_out_uniques` and ``leave_out_dynamic``."""

    answer = (
        "summary",
        "{measure}: judged without {own}, no run loses more than {largest_loss_pct:.1f} % of its score, or "
        "{alone_max_drop:rank} if {alone} scored so; if all runs are, tau_b to the full ranking is {own_tau_b:.4f}",
    )

    by_run: pd.DataFrame
    summary: pd.DataFrame
    unique_counts: pd.DataFrame
    scores: Scores
    own_scores: Scores
    reduced: NDArray[np.float64]
    units: Units
    depth: int
    rel: int

    def words(self) -> dict[str, Any]:
        """Return what captions, notes and the verdict speak of, with what is compared, and what each run is without."""
        by = self.units.by
        own = "its own uniques" if by == "run" else f"its own {by}'s uniques"
        alone = "it alone is" if by == "run" else f"the runs of its {by} alone are"
        return {**super().words(), "own": own, "alone": alone, "compared": self.scores.sizes()}

    @door
    def large_drops(self, more_than: int = 10) -> pd.DataFrame:
        """Return how many units have a run, of any unit, that drops more than so many ranks when they are left out.

        Args:
            more_than: the number of ranks that is exceeded, 0 or more.

        Returns:
            DataFrame: one row per measure: ``measure``; ``units``, how many such units there are, and ``of``, of how
            many; ``largest``, the largest drop of all; ``names``, those units, the one with the largest drop first,
            separated by commas.

        Raises:
            InputError: a number that is none.

        Source: Voorhees, Craswell and Lin 2022, Too many relevants, SIGIR, section 3, which counts teams with a drop of
        more than ten ranks.
        """
        least = whole("more_than", more_than, "ranks", least=0)
        rows = []
        for measure, of in self.table.groupby("measure", sort=False):
            falling = of[of["max_drop"] > least].sort_values("max_drop", ascending=False, kind="stable")
            names = ", ".join(map(str, falling[self.units.column]))
            rows.append((measure, len(falling), len(of), int(of["max_drop"].max()), names))
        return pd.DataFrame(rows, columns=["measure", "units", "of", "largest", "names"])


class UniqueScoring(ArrayWork):
    """Scoring without the uniques of each unit with at least the `lowest` label; sets are numbered as units."""

    axes: ClassVar[Mapping[str, int]] = Rescoring.axes

    def __init__(self, scoring: Rescoring, pooling: Pooling, n_units: int, lowest: int):
        self.scoring, self.pooling, self.n_units, self.lowest = scoring, pooling, n_units, lowest
        self.field, self.topics, self.has_own_bar = scoring.field, scoring.topics, scoring.has_own_bar

    def prepare(self) -> None:
        """Find the judged documents among the runs; once."""
        self.scoring.prepare()

    def cut(self, at_once: int) -> list[range]:
        """Return neighbouring topics that belong in one job, as if each document to remove were a unique."""
        documents, labels = self.scoring.documents, self.scoring.judgments.labels
        most = documents.counts(labels >= self.lowest)
        return self.scoring.cut_by(1 + np.minimum(most, self.n_units), at_once)

    def part(self, topics: range, *, verbose: bool = False) -> Arrays:
        """Return the uniques of some neighbouring topics, and the scores with and without them."""
        labels, before = self.scoring.judgments.labels, self.rows_before(topics.start)
        found = self.pooling.uniques(self.scoring.index, topics, labels)
        gone = labels[found.row] >= self.lowest
        row = found.row[gone] - before
        without = Changes(self.n_units, found.owner[gone], row, np.full(len(row), UNJUDGED))
        return {**self.scoring.block(topics, without.by_row(), verbose=verbose).arrays(), **found.arrays()}

    def rows_before(self, t: int) -> int:
        """Return how many judgments the topics before one have."""
        return self.scoring.rows_before(t)

    def of_topics(self, topics: range, field: AnyField) -> UniqueScoring:
        """Return the same work of some neighbouring topics alone."""
        return UniqueScoring(self.scoring.of_topics(topics, field), self.pooling, self.n_units, self.lowest)


@dataclass(frozen=True)
class SetScores:
    """Scores under sets of judgments, of which the first are those without each unit."""

    full: NDArray[np.float64]  # (measures, topics, runs) under the judgments as they are
    own: Sequence[NDArray[np.float64]]  # the same shape, each run under the set of its own unit
    alone: Sequence[NDArray[np.float64]]  # the same shape, all runs under one set; one for each of these
    means: NDArray[np.float64]  # (measures, sets, runs) of all runs under every set
    # topic and unit of each cell in which scores without a unit may be others, and (measures, cells, runs) these
    cells: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]] | None


def score_sets(
    blocks: Iterable[Block],
    runs: RunSet,
    qrels: Qrels,
    measures: Sequence[ir_measures.Measure],
    units: Units,
    *,
    own: Sequence[int] = (0,),
    alone: Sequence[int] = (),
    n_sets: int | None = None,
    complete: bool,
    with_cells: bool,
) -> SetScores:
    """Return the scores of all runs under all sets, of blocks in the order of the topics.

    `own` says which sets are the first of those of all units, `alone` under which ones scores are wanted topic by
    topic.
    """
    shape, has = (len(measures), len(qrels.topics), len(runs)), None if complete else topics_of_runs(runs, qrels)
    full, of_own, of_all = np.empty(shape), {n: np.empty(shape) for n in own}, {n: np.empty(shape) for n in alone}
    means = MeansOfSets(measures, len(units) if n_sets is None else n_sets, len(runs), shape[1], has)
    kept = []
    for block in blocks:
        here = slice(block.topics.start, block.topics.stop)
        full[:, here] = block.base
        for first, values in of_own.items():
            values[:, here] = block.base
            cell, run = np.nonzero((block.set - first)[:, None] == units.of_run)
            values[:, block.topic[cell], run] = block.values[:, cell, run]
        for number, values in of_all.items():
            values[:, here] = block.base
            cells = block.set == number
            values[:, block.topic[cells]] = block.values[:, cells]
        means.add(block)
        if with_cells:
            mine = block.set < len(units)
            kept.append((block.topic[mine], block.set[mine], block.values[:, mine]))
    joined = None
    if with_cells:
        topics, of_units, scores = zip(*kept, strict=True)
        joined = np.concatenate(topics), np.concatenate(of_units), np.concatenate(scores, axis=1)
    return SetScores(full, list(of_own.values()), list(of_all.values()), means.means(), joined)


def score_uniques(
    runs: RunSet,
    qrels: Qrels,
    measures: list[ir_measures.Measure],
    units: Units,
    pooling: Pooling,
    lowest: int,
    *,
    complete: bool,
    with_cells: bool,
    **how: Any,
) -> tuple[PoolUniques, SetScores]:
    """Find the uniques of each unit, and score all runs with and without them, in one pass."""
    work = UniqueScoring(Rescoring(runs.field, runs.names, qrels, measures), pooling, len(units), lowest)
    found: list[Arrays] = []

    def blocks() -> Iterator[Block]:
        for part in run_topics(work, runs.field, desc="scoring", **how):
            found.append({name: _small(part[name]) for name in PoolUniques.NAMES})
            yield Block.of(part)

    scored = score_sets(blocks(), runs, qrels, measures, units, complete=complete, with_cells=with_cells)
    return PoolUniques.of(found), scored


def _small(numbers: NDArray[np.int64]) -> NDArray[np.integer]:
    # of all topics there are millions
    return numbers.astype(np.int32) if numbers.max(initial=0) < 2**31 else numbers


def count_uniques(
    units: Units, contributed: NDArray[np.bool_], owner: NDArray[np.integer], relevant: NDArray[np.bool_]
) -> pd.DataFrame:
    """Return one row per unit: its runs, those contributing, and its uniques, of which `owner` has the units."""
    n = len(units)
    unique, unique_relevant = np.bincount(owner, minlength=n), np.bincount(owner[relevant], minlength=n)
    return pd.DataFrame(
        {
            units.column: list(units.names),
            "runs": units.runs(),
            "contributing": np.bincount(units.of_run[contributed], minlength=n),
            "unique": unique,
            "unique_relevant": unique_relevant,
            "unique_nonrelevant": unique - unique_relevant,
        }
    )


def without_units(
    asked: Asked,
    units: Units,
    scores: Scores,
    found: SetScores,
    *,
    judgments: str,
    counts: pd.DataFrame,
    removed: NDArray[np.int64],
) -> dict[str, Any]:
    """Return the attributes of :class:`WithoutUnits`; `judgments` says in words what each run's own ones are."""
    own_scores = replace(scores, values=found.own[0], settings={**scores.settings, "judgments": judgments})
    reduced = found.means[:, : len(units)]
    # scores that are equal to so many decimals are ties
    full, own = (np.round(each.mean_values, DECIMALS) for each in (scores, own_scores))
    table = _unit_table(units, counts.assign(removed=removed), scores, full, reduced)
    runs = described(asked.runs.run_table).assign(contributed=asked.contributors.runs)
    by_run = _by_run(runs, units, scores, own_scores)
    summary = _summary(units, table, by_run, scores.measures, full=full, own=own, reduced=reduced)
    tables = {"table": table, "by_run": by_run, "summary": summary}
    if asked.bootstrap is not None and found.cells is not None:
        verbose = asked["verbose"]
        tables = _with_intervals(tables, scores, own_scores, found.cells, units, asked.bootstrap, verbose=verbose)
    return {
        **tables,
        "unique_counts": counts,
        "scores": scores,
        "own_scores": own_scores,
        "reduced": reduced,
        "units": units,
        "depth": asked.depth.value,
        "rel": asked.rel,
    }


def interval_words(asked: Asked) -> dict[str, str]:
    """Return the setting that says how intervals are made, nothing without any."""
    if asked.bootstrap is None:
        return {}
    return {"intervals": f"{asked.bootstrap.words()}; of a change of score the percentile interval"}


def _rounded(means: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
    """Yield (units, runs) means as they are compared, some units at a time."""
    for some in pairs.blocks(len(means), means.shape[1], _MEANS_AT_ONCE):
        yield np.round(means[some], DECIMALS)


def _unit_table(
    units: Units, counts: pd.DataFrame, scores: Scores, full: NDArray[np.float64], reduced: NDArray[np.float64]
) -> pd.DataFrame:
    """Return one row per measure and left-out unit, most uniques first: the whole field re-ranked without it."""
    counts = counts[[units.column, "runs", "unique", "unique_relevant", "removed"]].sort_values(
        ["unique_relevant", "unique", units.column], ascending=[False, False, True], kind="stable"
    )
    order, names = counts.index.to_numpy(), np.array(scores.names, dtype=object)
    ranked = []
    for before, means in zip(full, reduced, strict=True):
        best_first = np.argsort(-before, kind="stable")
        for after in _rounded(means[order]):
            numbers = pairs.coefficients(before, after, USUAL_COEFFICIENTS)
            dropped = np.full(len(after), None, dtype=object)
            falling = np.flatnonzero(numbers["max_drop"] > 0)
            drops = pairs.rank_drops(before, after[falling])
            dropped[falling] = names[best_first[drops[:, best_first].argmax(axis=1)]]
            columns = {name: numbers[name] for name in OF_RANKINGS}
            ranked.append(pd.DataFrame({**columns, "dropped": pd.Series(dropped, dtype=object)}))
    n_measures = len(scores.measures)
    table = counts.iloc[np.tile(np.arange(len(counts)), n_measures)].reset_index(drop=True)
    table.insert(1, "measure", np.repeat(scores.measures, len(counts)).tolist())
    return pd.concat([table, pd.concat(ranked, ignore_index=True)], axis=1)


def _by_run(runs: pd.DataFrame, units: Units, scores: Scores, own_scores: Scores) -> pd.DataFrame:
    """Return one row per measure and run: under the full judgments, and without its own unit's uniques."""
    full, own = scores.mean_values, own_scores.mean_values
    compared = np.round(full, DECIMALS)
    rank, reduced_rank = pairs.ranks(compared), pairs.rank_alone(compared, np.round(own, DECIMALS), units.of_run)
    n_measures, n_runs = full.shape
    return (
        runs.iloc[np.tile(np.arange(n_runs), n_measures)]
        .assign(
            measure=np.repeat(scores.measures, n_runs).tolist(),
            score=full.ravel(),
            reduced_score=own.ravel(),
            change=(own - full).ravel(),
            change_pct=pairs.per_cent_change(full, own).ravel(),
            rank=rank.ravel(),
            reduced_rank=reduced_rank.ravel(),
            drop=(reduced_rank - rank).ravel(),
        )
        .reset_index(drop=True)
    )


def _summary(
    units: Units,
    by_unit: pd.DataFrame,
    by_run: pd.DataFrame,
    measures: Sequence[str],
    *,
    full: NDArray[np.float64],
    own: NDArray[np.float64],
    reduced: NDArray[np.float64],
) -> pd.DataFrame:
    """Return one row per measure: what leaving units out does at most, alone and over the whole field."""
    rows = []
    for m, measure in enumerate(measures):
        found = pairs.coefficients(full[m], own[m][None], USUAL_COEFFICIENTS)
        # tau is undefined where all runs tie, so ranks say whether anything moved
        every = _rounded(reduced[m])
        moved = any(pairs.rank_drops(full[m], after[(after != full[m]).any(axis=1)]).any() for after in every)
        of_units, of_runs = (frame[frame["measure"] == measure] for frame in (by_unit, by_run))
        tau, drop, change = of_units["tau_b"].to_numpy(), of_units["max_drop"].to_numpy(), of_runs["change_pct"]
        # an undefined tau comes first: all runs tie without this unit
        worst = int(np.lexsort((np.where(np.isnan(tau), -2, tau), -drop))[0])
        changed = change.fillna(0.0).to_numpy()
        rows.append(
            {
                "measure": measure,
                **{f"own_{name}": found[name][0] for name in OF_RANKINGS},
                "alone_max_drop": int(of_runs["drop"].max()),
                "mean_change_pct": changed.sum() / change.count() if change.count() else np.nan,
                "largest_loss_pct": 0.0 - np.minimum(changed, 0.0).min(),
                "field_min_tau_b": tau.min(),
                "field_max_drop": int(drop[worst]),
                "field_worst": of_units[units.column].iloc[worst] if moved else None,
            }
        )
    return pd.DataFrame(rows).assign(field_worst=pd.Series([row["field_worst"] for row in rows], dtype=object))


def _with_intervals(
    tables: Mapping[str, pd.DataFrame],
    scores: Scores,
    own_scores: Scores,
    cells: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]],
    units: Units,
    bootstrap: TopicBootstrap,
    *,
    verbose: bool,
) -> dict[str, pd.DataFrame]:
    """Return the tables with the ends of intervals over topics beside their numbers."""
    truths, others = scores.topic_means, own_scores.topic_means
    topic, unit, values = cells

    def without(left_out: int) -> Iterator[tuple[TopicScores, TopicScores]]:
        mine, reduced = unit == left_out, scores.values.copy()
        reduced[:, topic[mine]] = values[:, mine]
        for truth, of_measure in zip(truths.values(), reduced, strict=True):
            yield truth, replace(truth, values=of_measure)

    total = len(units) * len(truths)
    compared = (both for left_out in range(len(units)) for both in without(left_out))
    found = ranking_agreements(compared, total, bootstrap)
    found = pt.tqdm(found, total=total, desc="intervals", unit="ranking", disable=not verbose)
    ends = dict(zip(product(units.names, truths), found, strict=True))
    table, by_run, summary = (tables[name] for name in ("table", "by_run", "summary"))
    of_units = [ends[key] for key in zip(table[units.column], table["measure"], strict=True)]
    of_own = list(ranking_agreements(((truths[m], others[m]) for m in truths), len(truths), bootstrap))
    of_alone = [
        _ends_of_largest_drop(drop, truths[m], others[m], units, bootstrap)
        for m, drop in zip(truths, summary["alone_max_drop"], strict=True)
    ]
    of_runs = [row for m in truths for row in _ends_of_changes(truths[m], others[m], bootstrap)]
    return {
        "table": _beside(table, of_units, {name: name for name in OF_RANKINGS}),
        "by_run": _beside(by_run, of_runs, {"change": "change"}),
        "summary": _beside(
            _beside(summary, of_own, {f"own_{name}": name for name in OF_RANKINGS}),
            of_alone,
            {"alone_max_drop": "alone_max_drop"},
        ),
    }


def drawn_changes(full: TopicScores, own: TopicScores, bootstrap: TopicBootstrap) -> NDArray[np.float64]:
    """Return (draws, runs) changes of the mean; one draw without a value where there is nothing to draw."""
    n_topics, n_runs = full.values.shape
    if n_topics < 2:
        return np.full((1, n_runs), np.nan)
    return np.concatenate([own.means(counts) - full.means(counts) for counts in bootstrap.blocks(n_topics)])


def _ends_of_changes(full: TopicScores, own: TopicScores, bootstrap: TopicBootstrap) -> Iterator[dict[str, float]]:
    """Yield the percentile interval of each run's change."""
    drawn = drawn_changes(full, own, bootstrap)
    for run, change in enumerate((own.means() - full.means())[0].tolist()):
        low, high = bootstrap.percentiles(change, drawn[:, run])
        yield {"change_low": low, "change_high": high}


def _ends_of_largest_drop(
    drop: int, full: TopicScores, own: TopicScores, units: Units, bootstrap: TopicBootstrap
) -> dict[str, float]:
    """Return the ends of the most ranks that a run loses when the runs of its unit alone are scored anew."""
    n_topics, n_runs = full.values.shape
    drawn = [np.full(1, np.nan)]
    for counts in bootstrap.blocks(n_topics) if n_topics > 1 else ():
        before, after = rounded(full.means(counts)), rounded(own.means(counts))
        drops = pairs.rank_alone(before, after, units.of_run) - pairs.ranks(before)
        drawn.append(drops.max(axis=1).astype(np.float64))
    low, high = bootstrap.interval(drop, np.concatenate(drawn), within=(0, max(0, n_runs - 1)), integer=True)
    return {"alone_max_drop_low": low, "alone_max_drop_high": high}


def _beside(table: pd.DataFrame, rows: list[dict[str, float]], columns: dict[str, str]) -> pd.DataFrame:
    """Return the table with the ends of some columns right after them, of column -> name in the rows."""
    found = table.copy()
    for column, name in columns.items():
        at = found.columns.get_loc(column)
        for step, end in enumerate(("low", "high"), 1):
            found.insert(at + step, f"{column}_{end}", [row[f"{name}_{end}"] for row in rows])
    return whole_changes(found)
