"""Tables of runs that are scored without each unit, the ends of intervals, and the result that has them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse._check import whole
from pt_reuse._errors import arguments_as, door
from pt_reuse._report import Digits
from pt_reuse.arrays import pairs
from pt_reuse.arrays.bootstrap import COEFFICIENTS, TopicBootstrap, TopicScores, ranking_agreements, whole_changes
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.data.units import COLUMNS, Units
from pt_reuse.result import KeyFigures, Result, Shown
from pt_reuse.scoring.scores import Scores

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pt_reuse.plots.run_scores import TwoScores
    from pt_reuse.plots.sheet import Place

#: what has an interval in a row of a unit, and in the summary under ``own_``
OF_RANKINGS = (*COEFFICIENTS, "max_drop")
#: means rounded at a time, 32 MB
_MEANS_AT_ONCE = 1 << 22
#: the unit that is left out, under whichever name it stands
UNIT = (Shown("Team", "team"), Shown("Type", "type"), Shown("Family", "family"), Shown("Run", "name"))
OF_SUMMARY = KeyFigures(
    (
        *("own_tau_b", "own_max_drop", "field_min_tau_b", "field_max_drop"),
        *("alone_max_drop", "mean_change_pct", "largest_loss_pct"),
    ),
    "summary",
)
OF_FIELD = (
    Shown("tau-b", "tau_b", Digits.SCORE),
    Shown("Interval of tau-b", "tau_b", Digits.SCORE, interval=True),
    Shown("Largest drop", "max_drop", Digits.COUNT),
    Shown("Interval of the drop", "max_drop", Digits.COUNT, interval=True),
    Shown("Dropped run", "dropped", unless="tau_b_low"),
)
OF_MEASURE = (
    Shown("Measure", "measure"),
    Shown("tau-b", "own_tau_b", Digits.SCORE),
    Shown("Interval of tau-b", "own_tau_b", Digits.SCORE, interval=True),
    Shown("Largest drop", "own_max_drop", Digits.COUNT),
    Shown("Interval of the drop", "own_max_drop", Digits.COUNT, interval=True),
    Shown("Largest loss, %", "largest_loss_pct", Digits.TENTHS, unless="own_tau_b_low"),
    Shown("Smallest tau-b, field", "field_min_tau_b", Digits.SCORE),
    Shown("Largest drop, field", "field_max_drop", Digits.COUNT, unless="own_tau_b_low"),
)


def draw_scores(
    result: WithoutUnits,
    measure: str,
    place: Place,
    view: str = "change",
    by: str | None = None,
    *,
    said: TwoScores | None = None,
) -> Axes:
    """Draw what becomes of each run's score without its own unit, as ``"change"``, ``"percent"`` of it or ``"scores"``.

    `by` is what gives colour and marker, default the unit that was left out.
    """
    from pt_reuse.plots.run_scores import check_view, plot_reduced_scores

    with arguments_as(kind="view"):
        check_view(view, by, tuple(COLUMNS), result.by_run)
    unit = result.units.by
    return plot_reduced_scores(result.by_run, measure=measure, unit=unit, kind=view, by=by, said=said, place=place)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class WithoutUnits(Result):
    """What runs score and how they rank without each unit; see :func:`leave_out_uniques` and ``leave_out_dynamic``."""

    by_run: pd.DataFrame
    summary: pd.DataFrame
    unique_counts: pd.DataFrame
    scores: Scores
    own_scores: Scores
    reduced: NDArray[np.float64]
    units: Units
    depth: int
    rel: int

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
    scores: Scores,
    own_scores: Scores,
    reduced: NDArray[np.float64],
    *,
    units: Units,
    counts: pd.DataFrame,
    removed: NDArray[np.int64],
    run_table: pd.DataFrame,
    contributed: NDArray[np.bool_],
) -> dict[str, pd.DataFrame]:
    """Return ``table``, ``by_run`` and ``summary`` of the (measures, units, runs) `reduced` means of all runs."""
    # scores that are equal to so many decimals are ties
    full, own = (np.round(each.mean_values, DECIMALS) for each in (scores, own_scores))
    table = _unit_table(units, counts.assign(removed=removed), scores, full, reduced)
    by_run = _by_run(run_table, contributed, units, scores, own_scores)
    summary = _summary(units, table, by_run, scores.measures, full=full, own=own, reduced=reduced)
    return {"table": table, "by_run": by_run, "summary": summary}


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
    columns: dict[str, list[NDArray]] = {name: [] for name in (*OF_RANKINGS, "dropped")}
    for before, means in zip(full, reduced, strict=True):
        best_first = np.argsort(-before, kind="stable")
        for after in _rounded(means[order]):
            found: dict[str, NDArray] = dict(pairs.coefficients(before, after, COEFFICIENTS))
            found["dropped"] = np.full(len(after), None, dtype=object)
            falling = np.flatnonzero(found["max_drop"] > 0)
            drops = pairs.rank_drops(before, after[falling])
            found["dropped"][falling] = names[best_first[drops[:, best_first].argmax(axis=1)]]
            for name, column in columns.items():
                column.append(found[name])
    n_measures = len(scores.measures)
    table = counts.iloc[np.tile(np.arange(len(counts)), n_measures)].reset_index(drop=True)
    table.insert(1, "measure", np.repeat(scores.measures, len(counts)).tolist())
    values: dict[str, NDArray] = {name: np.concatenate(column) for name, column in columns.items()}
    return table.assign(**values | {"dropped": pd.Series(values["dropped"], dtype=object)})


def _by_run(
    run_table: pd.DataFrame, contributed: NDArray[np.bool_], units: Units, scores: Scores, own_scores: Scores
) -> pd.DataFrame:
    """Return one row per measure and run: under the full judgments, and without its own unit's uniques."""
    full, own = scores.mean_values, own_scores.mean_values
    compared = np.round(full, DECIMALS)
    rank, reduced_rank = pairs.ranks(compared), pairs.rank_alone(compared, np.round(own, DECIMALS), units.of_run)
    n_measures, n_runs = full.shape
    frame = run_table.iloc[np.tile(np.arange(n_runs), n_measures)].reset_index(drop=True)
    return frame.assign(
        contributed=np.tile(contributed, n_measures),
        measure=np.repeat(scores.measures, n_runs).tolist(),
        score=full.ravel(),
        reduced_score=own.ravel(),
        change=(own - full).ravel(),
        change_pct=pairs.per_cent_change(full, own).ravel(),
        rank=rank.ravel(),
        reduced_rank=reduced_rank.ravel(),
        drop=(reduced_rank - rank).ravel(),
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
    shapes, rows = {"tau_b": by_unit, "max_drop": by_unit, "drop": by_run, "change_pct": by_run}, []
    of = {name: frame[name].to_numpy().reshape(len(measures), -1) for name, frame in shapes.items()}
    left_out = by_unit[units.column].to_numpy(dtype=object)
    for m, measure in enumerate(measures):
        found = pairs.coefficients(full[m], own[m][None], COEFFICIENTS)
        # tau is undefined where all runs tie, so ranks say whether anything moved
        every = _rounded(reduced[m])
        moved = any(pairs.rank_drops(full[m], after[(after != full[m]).any(axis=1)]).any() for after in every)
        tau, drop, change = of["tau_b"][m], of["max_drop"][m], of["change_pct"][m]
        # an undefined tau comes first: all runs tie without this unit
        worst = int(np.lexsort((np.where(np.isnan(tau), -2, tau), -drop))[0])
        has_change = ~np.isnan(change)
        changed = np.where(has_change, change, 0.0)
        rows.append(
            {
                "measure": measure,
                **{f"own_{name}": found[name][0] for name in OF_RANKINGS},
                "alone_max_drop": int(of["drop"][m].max()),
                "mean_change_pct": changed.sum() / has_change.sum() if has_change.any() else np.nan,
                "largest_loss_pct": 0.0 - np.minimum(changed, 0.0).min(),
                "field_min_tau_b": tau.min(),
                "field_max_drop": int(drop[worst]),
                "field_worst": left_out[worst] if moved else None,
            }
        )
    return pd.DataFrame(rows).assign(field_worst=pd.Series([row["field_worst"] for row in rows], dtype=object))


def with_intervals(
    tables: dict[str, pd.DataFrame],
    scores: Scores,
    own_scores: Scores,
    changed: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]],
    *,
    units: Units,
    bootstrap: TopicBootstrap,
    verbose: bool,
) -> dict[str, pd.DataFrame]:
    """Return the tables of :func:`without_units` with the ends of intervals over topics beside their numbers."""
    truths, others = scores.topic_means, own_scores.topic_means
    topic, unit, values = changed

    def without(left_out: int) -> Iterator[tuple[TopicScores, TopicScores]]:
        cells, reduced = unit == left_out, scores.values.copy()
        reduced[:, topic[cells]] = values[:, cells]
        for truth, of_measure in zip(truths.values(), reduced, strict=True):
            yield truth, TopicScores(of_measure, truth.has_topic)

    compared = (both for left_out in range(len(units)) for both in without(left_out))
    found = ranking_agreements(compared, len(units) * len(truths), bootstrap)
    ends: dict[tuple[str, str], dict[str, float]] = {}
    with pt.tqdm(total=len(units), desc="intervals", unit="unit", disable=not verbose) as bar:
        for key, row in zip(product(units.names, truths), found, strict=True):
            ends[key] = row
            bar.update(int(len(ends) % len(truths) == 0))
    table, by_run, summary = (tables[name] for name in ("table", "by_run", "summary"))
    of_units = [ends[key] for key in zip(table[units.column], table["measure"], strict=True)]
    of_own = list(ranking_agreements(((truths[m], others[m]) for m in truths), len(truths), bootstrap))
    of_runs = [row for m in truths for row in _ends_of_changes(truths[m], others[m], bootstrap)]
    return {
        "table": _beside(table, of_units, {name: name for name in OF_RANKINGS}),
        "by_run": _beside(by_run, of_runs, {"change": "change"}),
        "summary": _beside(summary, of_own, {f"own_{name}": name for name in OF_RANKINGS}),
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


def _beside(table: pd.DataFrame, rows: list[dict[str, float]], columns: dict[str, str]) -> pd.DataFrame:
    """Return the table with the ends of some columns right after them, of column -> name in the rows."""
    found = table.copy()
    for column, name in columns.items():
        at = found.columns.get_loc(column)
        for step, end in enumerate(("low", "high"), 1):
            found.insert(at + step, f"{column}_{end}", [row[f"{name}_{end}"] for row in rows])
    return whole_changes(found)


def whole_field_table(units: Units, scores: Scores, reduced: NDArray[np.float64]) -> pd.DataFrame:
    """Return one row per measure, left-out unit and run: all runs re-scored and re-ranked without the unit."""
    spread = partial(np.broadcast_to, shape=reduced.shape)
    full = scores.mean_values
    rank = pairs.ranks(np.round(full, DECIMALS))
    columns: dict[str, Any] = {
        "left_out" if units.by == "run" else units.by: spread(np.array(units.names, dtype=object)[None, :, None]),
        "measure": spread(np.array(scores.measures, dtype=object)[:, None, None]),
        "name": spread(np.array(scores.names, dtype=object)[None, None]),
        "score": spread(full[:, None]),
        "reduced_score": reduced,
        "rank": spread(rank[:, None]),
        "reduced_rank": pairs.ranks(np.round(reduced, DECIMALS)),
    }
    frame = pd.DataFrame({name: values.ravel() for name, values in columns.items()})
    return frame.assign(drop=frame["reduced_rank"] - frame["rank"])


def joined_cells(
    blocks: Iterable[Any],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return topic, set and scores of the cells of all blocks."""
    kept = list(blocks)
    topic, of = (np.concatenate([getattr(block, name) for block in kept]) for name in ("topic", "set"))
    return topic, of, np.concatenate([block.values for block in kept], axis=1)
