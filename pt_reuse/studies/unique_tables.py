"""The tables of leave-out-uniques."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import whole
from pt_reuse._errors import door
from pt_reuse.arrays import pairs
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.data.units import Units
from pt_reuse.scoring.scores import Scores


class LargeDrops:
    """Counts the units whose absence makes a run drop, for results with the attributes that are named here."""

    table: pd.DataFrame
    units: Units

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
            rows.append(
                {
                    "measure": measure,
                    "units": len(falling),
                    "of": len(of),
                    "largest": int(of["max_drop"].max()),
                    "names": ", ".join(map(str, falling[self.units.column])),
                }
            )
        return pd.DataFrame(rows)


TAUS = ("tau_b", "gamma", "tau_ap_b")
#: means rounded at a time, 32 MB
_MEANS_AT_ONCE = 1 << 22


@dataclass(frozen=True)
class Means:
    """Means over topics.

    Attributes:
        full: (measures, runs) under the full judgments.
        own: (measures, runs) each run under the reduced judgments of its own unit.
        reduced: (measures, units, runs) all runs under each unit's reduced judgments.
    """

    full: NDArray[np.float64]
    own: NDArray[np.float64]
    reduced: NDArray[np.float64]

    @cached_property
    def compared_full(self) -> NDArray[np.float64]:
        """Return the full means rounded as they are compared."""
        return np.round(self.full, DECIMALS)

    @cached_property
    def compared_own(self) -> NDArray[np.float64]:
        """Return the runs' own means rounded as they are compared."""
        return np.round(self.own, DECIMALS)

    def compared_reduced(self, measure: int, units: NDArray[np.int64]) -> Iterator[NDArray[np.float64]]:
        """Yield (units, runs): the means without some units rounded as they are compared, some at a time."""
        for some in pairs.blocks(len(units), self.full.shape[1], _MEANS_AT_ONCE):
            yield np.round(self.reduced[measure, units[some]], DECIMALS)


def count_uniques(
    units: Units, contributed: NDArray[np.bool_], owner: NDArray[np.integer], relevant: NDArray[np.bool_]
) -> pd.DataFrame:
    """Return one row per unit: its ``runs``, those ``contributing``, and its unique documents.

    Args:
        units: the units of the field.
        contributed: (runs,) whether the run contributed to the pool.
        owner: (documents,) the unit of each unique document, as a position among the units.
        relevant: (documents,) whether it is relevant.
    """
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


def unit_table(
    units: Units, counts: pd.DataFrame, removed: NDArray[np.int64], scores: Scores, means: Means
) -> pd.DataFrame:
    """Return one row per measure and left-out unit, most uniques first: the whole field re-ranked without it.

    Args:
        units: the units of the field.
        counts: what :func:`count_uniques` returned.
        removed: (units,) documents taken out of the judgments.
        scores: the runs under the full judgments.
        means: of all runs.
    """
    counts = counts[[units.column, "runs", "unique", "unique_relevant"]].assign(removed=removed)
    counts = counts.sort_values(
        ["unique_relevant", "unique", units.column], ascending=[False, False, True], kind="stable"
    )
    order, names = counts.index.to_numpy(), np.array(scores.names, dtype=object)
    columns: dict[str, list[NDArray]] = {name: [] for name in (*TAUS, "max_drop", "dropped")}
    for m, before in enumerate(means.compared_full):
        best_first = np.argsort(-before, kind="stable")
        for after in means.compared_reduced(m, order):
            found: dict[str, NDArray] = dict(pairs.coefficients(before, after, TAUS))
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


def by_run_table(
    field: pd.DataFrame, contributed: NDArray[np.bool_], units: Units, scores: Scores, means: Means
) -> pd.DataFrame:
    """Return one row per measure and run: the run under the full judgments and without its own unit's uniques.

    Args:
        field: the runs' ``name team type pooled``.
        contributed: (runs,) whether the run contributed to the pool.
        units: the units of the field.
        scores: the runs under the full judgments.
        means: of all runs.
    """
    full, own = means.compared_full, means.compared_own
    rank, reduced_rank = pairs.ranks(full), pairs.rank_alone(full, own, units.of_run)
    n_measures, n_runs = means.full.shape
    frame = field.iloc[np.tile(np.arange(n_runs), n_measures)].reset_index(drop=True)
    return frame.assign(
        contributed=np.tile(contributed, n_measures),
        measure=np.repeat(scores.measures, n_runs).tolist(),
        score=means.full.ravel(),
        reduced_score=means.own.ravel(),
        change=(means.own - means.full).ravel(),
        change_pct=pairs.per_cent_change(means.full, means.own).ravel(),
        rank=rank.ravel(),
        reduced_rank=reduced_rank.ravel(),
        drop=(reduced_rank - rank).ravel(),
    )


def summary_table(
    units: Units, by_unit: pd.DataFrame, by_run: pd.DataFrame, measures: list[str], means: Means
) -> pd.DataFrame:
    """Return one row per measure: what leaving units out does at most, alone and over the whole field."""
    full, own, rows = means.compared_full, means.compared_own, []
    shapes = {"tau_b": by_unit, "max_drop": by_unit, "drop": by_run, "change_pct": by_run}
    of = {name: frame[name].to_numpy().reshape(len(measures), -1) for name, frame in shapes.items()}
    left_out = by_unit[units.column].to_numpy(dtype=object)
    for m, measure in enumerate(measures):
        found = pairs.coefficients(full[m], own[m][None], TAUS)
        # tau is undefined where all runs tie, so ranks say whether anything moved
        every = means.compared_reduced(m, np.arange(len(units)))
        moved = any(pairs.rank_drops(full[m], after[(after != full[m]).any(axis=1)]).any() for after in every)
        tau, drop, change = of["tau_b"][m], of["max_drop"][m], of["change_pct"][m]
        # an undefined tau comes first: all runs tie without this unit
        worst = int(np.lexsort((np.where(np.isnan(tau), -2, tau), -drop))[0])
        has_change = ~np.isnan(change)
        changed = np.where(has_change, change, 0.0)
        rows.append(
            {
                "measure": measure,
                **{f"own_{name}": found[name][0] for name in (*TAUS, "max_drop")},
                "alone_max_drop": int(of["drop"][m].max()),
                "mean_change_pct": changed.sum() / has_change.sum() if has_change.any() else np.nan,
                "largest_loss_pct": 0.0 - np.minimum(changed, 0.0).min(),
                "field_min_tau_b": tau.min(),
                "field_max_drop": int(drop[worst]),
                "field_worst": left_out[worst] if moved else None,
            }
        )
    return pd.DataFrame(rows).assign(field_worst=pd.Series([row["field_worst"] for row in rows], dtype=object))


def whole_field_table(units: Units, scores: Scores, reduced: NDArray[np.float64]) -> pd.DataFrame:
    """Return one row per measure, left-out unit and run: all runs re-scored and re-ranked without the unit.

    Args:
        units: the units of the field.
        scores: the runs under the full judgments.
        reduced: (measures, units, runs) means under each unit's reduced judgments.
    """
    shape, full = reduced.shape, scores.mean_values
    unit = np.broadcast_to(np.array(units.names, dtype=object)[None, :, None], shape)
    measure = np.broadcast_to(np.array(scores.measures, dtype=object)[:, None, None], shape)
    rank = np.broadcast_to(pairs.ranks(np.round(full, DECIMALS))[:, None], shape)
    frame = pd.DataFrame(
        {
            "left_out" if units.by == "run" else units.by: unit.ravel(),
            "measure": measure.ravel(),
            "name": np.tile(np.array(scores.names, dtype=object), shape[0] * shape[1]),
            "score": np.broadcast_to(full[:, None], shape).ravel(),
            "reduced_score": reduced.ravel(),
            "rank": rank.ravel(),
            "reduced_rank": pairs.ranks(np.round(reduced, DECIMALS)).ravel(),
        }
    )
    return frame.assign(drop=frame["reduced_rank"] - frame["rank"])
