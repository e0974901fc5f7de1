"""Scores and ranks of all runs without each unit: what studies that leave units out have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import cycle, product
from typing import Annotated, Any

import numpy as np
import pandas as pd
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse.arrays import pairs
from pt_reuse.arrays.bootstrap import USUAL_COEFFICIENTS, TopicBootstrap, TopicScores, ranking_agreements, whole_changes
from pt_reuse.arrays.correlation import DECIMALS, rounded
from pt_reuse.arrays.kernels import UNJUDGED, Changes
from pt_reuse.columns import Table
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.units import COLUMNS, Units, described
from pt_reuse.errors import plural, whole
from pt_reuse.inputs import Inputs
from pt_reuse.plots.run_scores import check_view, plot_reduced_scores
from pt_reuse.plots.sheet import Axes, Place
from pt_reuse.result import Result, cells, records
from pt_reuse.scoring.perturbed import PerturbedScores
from pt_reuse.scoring.rescoring import rescore
from pt_reuse.scoring.scores import Scores

#: what has an interval in a row of a unit, and in the summary under ``own_``
OF_RANKINGS = (*USUAL_COEFFICIENTS, "max_drop")


def draw_scores(
    result: LeaveOneOutResult,
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
    check_view(view, by, tuple(COLUMNS), result.by_run)
    unit = result.units.by
    return plot_reduced_scores(result.by_run, measure=measure, unit=unit, kind=view, by=by, said=said, place=place)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LeaveOneOutResult(Result):
    """What runs score and how they rank without each unit.

    Attributes:
        scores: the runs under the full judgments.
        own_scores: each run under the reduced judgments of its own unit.
        reduced: (measures, units, runs) means of all runs under each unit's reduced judgments.
        units: the left-out units: ``.names`` and, for each run, its unit among them (``.of_run``).
    """

    about = "by {by}: {compared}"
    answer = (
        "summary",
        "{measure}: largest loss {largest_loss_pct:.1f}%{loser}, largest drop {alone_max_drop:rank}{faller}, one {by} "
        "at a time without its own; tau_b {own_tau_b}, all at once",
    )
    key = "own_tau_b alone_max_drop own_max_drop field_min_tau_b field_max_drop mean_change_pct largest_loss_pct"
    columns = """
    reduced_score    | Without own uniques | score | mean score under the reduced judgments of its own unit
    reduced_rank     | Rank without own    | ranks | rank when the runs of its own unit alone are scored anew
    own_             |                     |       | of the ranking in which each run has its score without its own unit
    alone_max_drop   | Largest drop        | ranks | the most ranks that a run loses when its unit alone is scored anew
    mean_change_pct  | Mean change, %      | percent | mean of the runs' changes in per cent
    field_max_drop   | Largest drop, field | ranks | the most ranks that any run loses then
    contributing     | Contributing        | count | how many of its runs contributed
    unique_nonrelevant | Other uniques     | count | its uniques that are not relevant
    """

    table: Annotated[
        pd.DataFrame,
        Table(
            "left-out unit and measure, all runs ranked under its reduced judgments",
            "unit* measure runs unique* unique_relevant* removed tau_b~* gamma~ tau_ap_b~ max_drop~* dropped*",
        ),
    ]
    by_run: Annotated[
        pd.DataFrame,
        Table(
            "run and measure, the run under the reduced judgments of its own unit",
            "name* team type pooled family? contributed measure score* reduced_score* change~* change_pct* rank "
            "reduced_rank drop*",
            descending=("score",),
        ),
    ]
    summary: Annotated[
        pd.DataFrame,
        Table(
            "measure",
            "measure* own_tau_b~* own_gamma~ own_tau_ap_b~ own_max_drop~ alone_max_drop~* mean_change_pct "
            "largest_loss_pct* field_min_tau_b* field_max_drop* field_worst",
        ),
    ]
    unique_counts: Annotated[
        pd.DataFrame,
        Table("unit, in order of appearance", "unit runs contributing unique unique_relevant unique_nonrelevant"),
    ]
    scores: Scores
    own_scores: Scores
    reduced: NDArray[np.float64]
    units: Units

    def words(self) -> dict[str, Any]:
        """Return what captions and answers speak of, with what is left out and what is compared."""
        by = self.units.by
        return {**super().words(), "by": by, "bys": plural(by), "compared": self.scores.sizes()}

    def answers(self) -> list[str]:
        """Return for each measure the largest loss and the largest drop, with their runs, and tau_b."""
        (table, text), lines = self.answer, []
        for row in records(self.frame(table)):
            runs = self.by_run[self.by_run["measure"] == row["measure"]].set_index("name")
            worst = {
                "loser": f" ({runs['change_pct'].idxmin()})" if row["largest_loss_pct"] > 0 else "",
                "faller": f" ({runs['drop'].idxmax()})" if row["alone_max_drop"] > 0 else "",
            }
            lines.append(text.format_map({**self.words(), **cells(row, self.columns), **worst}))
        return lines

    def large_drops(self, more_than: int = 10) -> pd.DataFrame:
        """Return for each measure how many units have a run that drops more than so many ranks when they are left out.

        Returns:
            DataFrame: ``measure units of largest names``: how many such units, of how many, the largest drop of all,
            and the names of these units, the one with the largest drop first.

        Raises:
            InputError: `more_than` is no whole number.

        Source: Voorhees, Craswell and Lin 2022, Too many relevants, SIGIR, section 3.
        """
        least = whole("more_than", more_than, "ranks", least=0)
        rows = []
        for measure, of in self.table.groupby("measure", sort=False):
            falling = of[of["max_drop"] > least].sort_values("max_drop", ascending=False, kind="stable")
            names = ", ".join(map(str, falling[self.units.column]))
            rows.append((measure, len(falling), len(of), int(of["max_drop"].max()), names))
        return pd.DataFrame(rows, columns=["measure", "units", "of", "largest", "names"])


def scores_without(
    inputs: Inputs, gone: Sequence[NDArray[np.int64]], n_sets: int, *, qrels: Qrels | None = None, **options: Any
) -> PerturbedScores:
    """Score all runs under sets of judgments: `gone` has sets, and the rows of the judgments that each of them lacks.

    `options` are ``n_jobs``, ``verbose``, and those of :meth:`PerturbedScores.of`.
    """
    (in_set, row), data = gone, (inputs.runs, inputs.qrels if qrels is None else qrels, inputs.measures)
    how = {name: options.pop(name) for name in ("n_jobs", "verbose") if name in options}
    changes = Changes(n_sets, in_set, row, np.full(len(row), UNJUDGED))
    return PerturbedScores.of(rescore(*data, changes, **how), *data, n_sets, complete=inputs.complete, **options)


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


def leave_one_out(
    run_table: pd.DataFrame,
    contributed: NDArray[np.bool_],
    units: Units,
    scores: Scores,
    scored: PerturbedScores,
    bootstrap: TopicBootstrap | None,
    *,
    judgments: str,
    counts: pd.DataFrame,
    removed: NDArray[np.int64],
    verbose: bool,
) -> dict[str, Any]:
    """Return the attributes of :class:`LeaveOneOutResult`; `judgments` says in words what each run's own ones are.

    `scores` are the full ones; those without units are of `scored`.
    """
    own_scores = replace(scores, values=scored.own[0], settings={**scores.settings, "judgments": judgments})
    reduced = scored.means[:, : len(units)]
    order = ["unique_relevant", "unique", units.column]
    by_unit = counts.assign(removed=removed)[[units.column, "runs", "unique", "unique_relevant", "removed"]]
    by_unit = by_unit.sort_values(order, ascending=[False, False, True], kind="stable")
    by_run = described(run_table).assign(contributed=contributed)
    means = zip(scores.measures, scores.mean_values, own_scores.mean_values, reduced, strict=True)
    parts = [_of_measure(units, by_unit, by_run, name, full=f, own=o, reduced=r) for name, f, o, r in means]
    table, by_run, summary = (pd.concat(tables, ignore_index=True) for tables in zip(*parts, strict=True))
    if bootstrap is not None:
        truths, others = scores.topic_means, own_scores.topic_means
        total = len(units) * len(truths)
        estimates = (without for unit in range(len(units)) for without in scored.without(unit, truths.values()))
        of_units = ranking_agreements(zip(cycle(truths.values()), estimates), total, bootstrap)
        of_units = pt.tqdm(of_units, total=total, desc="intervals", unit="ranking", disable=not verbose)
        of_key = dict(zip(product(units.names, truths), of_units, strict=True))
        of_rows = [of_key[key] for key in zip(table[units.column], table["measure"], strict=True)]
        table = beside(table, of_rows, OF_RANKINGS)
        of_own = ranking_agreements(((truths[m], others[m]) for m in truths), len(truths), bootstrap)
        changes, ends = [], []
        for row, m, drop in zip(of_own, truths, summary["alone_max_drop"], strict=True):
            drawn = drawn_changes(truths[m], others[m], bootstrap)
            for run, change in enumerate((others[m].means() - truths[m].means())[0].tolist()):
                low, high = bootstrap.percentiles(change, drawn[:, run])
                changes.append({"change_low": low, "change_high": high})
            own_row = {f"own_{name}": value for name, value in row.items()}
            ends.append(own_row | _ends_of_largest_drop(drop, truths[m], others[m], units, bootstrap))
        by_run = beside(by_run, changes, ["change"])
        summary = beside(summary, ends, [*(f"own_{name}" for name in OF_RANKINGS), "alone_max_drop"])
    tables = {"table": table, "by_run": by_run, "summary": summary, "unique_counts": counts}
    return {**tables, "scores": scores, "own_scores": own_scores, "reduced": reduced, "units": units}


def _of_measure(
    units: Units,
    by_unit: pd.DataFrame,
    runs: pd.DataFrame,
    measure: str,
    *,
    full: NDArray[np.float64],
    own: NDArray[np.float64],
    reduced: NDArray[np.float64],
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return the rows of one measure of ``table``, ``by_run`` and ``summary``, of (runs,) and (units, runs) means."""
    # scores that are equal to so many decimals are ties
    before, alone, after = (np.round(means, DECIMALS) for means in (full, own, reduced[by_unit.index]))
    numbers = pairs.coefficients(before, after, USUAL_COEFFICIENTS)
    drops, best_first = pairs.rank_drops(before, after), np.argsort(-before, kind="stable")
    worst_runs = best_first[drops[:, best_first].argmax(axis=1)]
    dropped = np.array([*runs["name"], None], dtype=object)[np.where(numbers["max_drop"] > 0, worst_runs, -1)]
    table = by_unit.assign(**{name: numbers[name] for name in OF_RANKINGS})
    table = table.reset_index(drop=True).assign(dropped=pd.Series(dropped, dtype=object))
    table.insert(1, "measure", measure)

    rank, reduced_rank = pairs.ranks(before), pairs.rank_alone(before, alone, units.of_run)
    by_run = runs.assign(
        measure=measure,
        score=full,
        reduced_score=own,
        change=own - full,
        change_pct=pairs.per_cent_change(full, own),
        rank=rank,
        reduced_rank=reduced_rank,
        drop=reduced_rank - rank,
    )

    of_own = pairs.coefficients(before, alone[None], USUAL_COEFFICIENTS)
    tau, max_drop, change = numbers["tau_b"], numbers["max_drop"], by_run["change_pct"]
    # an undefined tau comes first: all runs tie without this unit
    worst = int(np.lexsort((np.where(np.isnan(tau), -2, tau), -max_drop))[0])
    changed = change.fillna(0.0).to_numpy()
    summary = {
        "measure": measure,
        **{f"own_{name}": of_own[name] for name in OF_RANKINGS},
        "alone_max_drop": int(by_run["drop"].max()),
        "mean_change_pct": changed.sum() / change.count() if change.count() else np.nan,
        "largest_loss_pct": 0.0 - np.minimum(changed, 0.0).min(),
        "field_min_tau_b": tau.min(),
        "field_max_drop": int(max_drop[worst]),
        # tau is undefined where all runs tie, so ranks say whether anything moved
        "field_worst": pd.Series([by_unit[units.column].iloc[worst] if drops.any() else None], dtype=object),
    }
    return table, by_run, pd.DataFrame(summary)


def drawn_changes(full: TopicScores, own: TopicScores, bootstrap: TopicBootstrap) -> NDArray[np.float64]:
    """Return (draws, runs) changes of the mean; one draw without a value where there is nothing to draw."""
    n_topics, n_runs = full.values.shape
    if n_topics < 2:
        return np.full((1, n_runs), np.nan)
    return np.concatenate([own.means(counts) - full.means(counts) for counts in bootstrap.blocks(n_topics)])


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


def beside(table: pd.DataFrame, rows: Sequence[dict[str, float]], columns: Sequence[str]) -> pd.DataFrame:
    """Return the table with the ends of some columns right after them, those of each row by their names."""
    wider = table.copy()
    for column in columns:
        at = wider.columns.get_loc(column)
        for step, end in enumerate(("low", "high"), 1):
            wider.insert(at + step, f"{column}_{end}", [row[f"{column}_{end}"] for row in rows])
    return whole_changes(wider)
