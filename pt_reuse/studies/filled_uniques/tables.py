"""The tables of filled holes, per unit, per run and in sum: uniques removed, filled, and the judge alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse.arrays import pairs
from pt_reuse.arrays.bootstrap import TopicBootstrap, TopicScores, ranking_agreement
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.data.units import Units
from pt_reuse.scoring.scores import Scores

#: the three ways to score a unit's runs had nobody judged its uniques, as columns begin
WAYS = ("removed", "filled", "judge_alone")
#: what is counted of the uniques
COUNTS = ("removed", "labelled", "unknown", "judge_relevant", "relevant")
#: what a summary says of a ranking
_OF_RANKING = ("tau_b", "max_drop", "max_rise")


@dataclass(frozen=True)
class FilledTables:
    """What filling does.

    Attributes:
        units: one row per judge, measure and unit.
        runs: one row per judge, measure and run.
        summary: one row per judge and measure.
    """

    units: pd.DataFrame
    runs: pd.DataFrame
    summary: pd.DataFrame


@dataclass(frozen=True)
class Way:
    """Scores in one of the three ways.

    Attributes:
        own: (topics, runs) each run as its own unit is treated.
        field: (units, runs) means of all runs, ranked anew for each unit.
        alone: whether ranks are among runs that are all scored like this, and not with one unit's runs alone.
    """

    own: TopicScores
    field: NDArray[np.float64]
    alone: bool = False


@dataclass(frozen=True)
class FilledScores:
    """Scores of one judge and measure.

    Attributes:
        full: under the judgments as they are.
        ways: name of a way -> its scores.
    """

    full: TopicScores
    ways: Mapping[str, Way]

    def drops(self, name: str, units: Units) -> NDArray[np.int64]:
        """Return (runs,): the ranks that each run loses, negative where it gains, when its unit alone is re-scored."""
        way = self.ways[name]
        full, own = (np.round(scores.means()[0], DECIMALS) for scores in (self.full, way.own))
        rank = pairs.ranks(own) if way.alone else pairs.rank_alone(full, own, units.of_run)
        return rank - pairs.ranks(full)


class FilledRows:
    """Makes the rows of the tables.

    Args:
        units: the units of the field.
        scores: the runs under the full judgments.
        contributed: (runs,) whether the run contributed to the pool.
        bootstrap: over topics; None for no intervals.
    """

    def __init__(self, units: Units, scores: Scores, contributed: NDArray[np.bool_], bootstrap: TopicBootstrap | None):
        self._units, self._scores, self._bootstrap = units, scores, bootstrap
        self._contributed = contributed
        # (runs, units), each column a mean over the unit's runs
        member = units.of_run[:, None] == np.arange(len(units))
        self._of_unit = member / np.maximum(member.sum(axis=0), 1)

    def of_units(self, found: FilledScores, counts: pd.DataFrame) -> pd.DataFrame:
        """Return a row per unit, most uniques first."""
        units = self._units
        columns: dict[str, Any] = {units.column: list(units.names), "runs": units.runs()}
        columns |= {name: counts[name].to_numpy() for name in COUNTS}
        ranks: dict[str, Any] = {}
        for name, way in found.ways.items():
            columns |= self._changes(f"{name}_change", found.full, way.own, self._of_unit)
            field = pairs.coefficients(
                np.round(found.full.means()[0], DECIMALS), np.round(way.field, DECIMALS), ("tau_b",)
            )
            drops = found.drops(name, units)
            mine = [drops[units.of_run == unit] for unit in range(len(units))]
            ranks |= {f"{name}_{number}": field[number] for number in _OF_RANKING}
            ranks[f"{name}_own_drop"] = [int(of.max(initial=0)) for of in mine]
            ranks[f"{name}_own_rise"] = [int(-of.min(initial=0)) for of in mine]
        order = ["removed", units.column]
        return pd.DataFrame(columns | ranks).sort_values(order, ascending=[False, True], ignore_index=True)

    def of_runs(self, found: FilledScores, field: pd.DataFrame) -> pd.DataFrame:
        """Return a row per run.

        Args:
            found: the scores.
            field: the runs' ``name team type pooled``.
        """
        full = found.full.means()[0]
        rank = pairs.ranks(np.round(full, DECIMALS))
        columns: dict[str, Any] = {"score": full}
        columns |= {f"{name}_score": way.own.means()[0] for name, way in found.ways.items()}
        for name, way in found.ways.items():
            columns |= self._changes(f"{name}_change", found.full, way.own, np.eye(len(full)))
        columns["rank"] = rank
        for name in found.ways:
            drop = found.drops(name, self._units)
            columns |= {f"{name}_rank": rank + drop, f"{name}_drop": drop}
        return field.reset_index(drop=True).assign(contributed=self._contributed).assign(**columns)

    def summary(self, found: FilledScores, rows: pd.DataFrame) -> dict[str, Any]:
        """Return the row of a judge and measure."""
        names = set(rows[self._units.column][rows["removed"] > 0])
        concerned = np.array([name in names for name in self._units.names])
        said: dict[str, Any] = {"units": int(concerned.sum())}
        said |= {name: int(rows[name].sum()) for name in COUNTS}
        over = self._of_unit[:, concerned]
        for name, way in found.ways.items():
            mean = over.mean(axis=1, keepdims=True) if concerned.any() else np.zeros((len(over), 1))
            said |= {key: cells[0] for key, cells in self._changes(f"{name}_change", found.full, way.own, mean).items()}
            said |= self._above(f"{name}_above", found.full, way.own, over)
        for name, way in found.ways.items():
            numbers = ranking_agreement(found.full, way.own, self._bootstrap, coefficients=("tau_b",))
            said |= {f"{name}_{number}": _whole(number, value) for number, value in numbers.items()}
        return said

    def _changes(
        self, column: str, full: TopicScores, own: TopicScores, weights: NDArray[np.float64]
    ) -> dict[str, NDArray[np.float64]]:
        """Return signed changes of weighted means over runs, (columns of the weights,), with their ends after them."""
        change = ((own.means() - full.means()) @ weights)[0]
        found = {column: change}
        if self._bootstrap is not None:
            drawn = self._drawn(full, own) @ weights
            ends = [self._bootstrap.percentiles(float(c), drawn[:, i]) for i, c in enumerate(change)]
            low, high = np.array(ends).reshape(-1, 2).T
            found |= {f"{column}_low": low, f"{column}_high": high}
        return found

    def _above(self, column: str, full: TopicScores, own: TopicScores, over: NDArray[np.float64]) -> dict[str, float]:
        """Return how many units have runs with a mean above the true one, with its ends after it."""
        n = int((np.round((own.means() - full.means()) @ over, DECIMALS) > 0).sum())
        if self._bootstrap is None:
            return {column: n}
        change = self._drawn(full, own) @ over
        drawn = np.where(np.isnan(change).any(axis=1), np.nan, (np.round(change, DECIMALS) > 0).sum(axis=1))
        low, high = self._bootstrap.percentiles(float(n), drawn)
        return {column: n, f"{column}_low": low, f"{column}_high": high}

    def _drawn(self, full: TopicScores, own: TopicScores) -> NDArray[np.float64]:
        """Return (draws, runs) changes of the mean; one draw without a value where there is nothing to draw."""
        n_topics, n_runs = full.values.shape
        if self._bootstrap is None or n_topics < 2:
            return np.full((1, n_runs), np.nan)
        blocks = self._bootstrap.blocks(n_topics)
        return np.concatenate([own.means(counts) - full.means(counts) for counts in blocks])


def _whole(name: str, value: float) -> float:
    """Return a number of ranks, or the end of one, as a whole number."""
    return value if name.startswith("tau") or np.isnan(value) else int(value)


def stacked(parts: Mapping[tuple[str, str], pd.DataFrame], column: str) -> pd.DataFrame:
    """Return tables of each judge and measure as one, with ``judge`` first and ``measure`` after a column.

    Args:
        parts: (judge, measure) -> table.
        column: after which the measure stands, ``judge`` for none.
    """
    found = []
    for (judge, measure), table in parts.items():
        named = table.copy()
        named.insert(0, "judge", judge)
        named.insert(int(named.columns.get_indexer([column])[0]) + 1, "measure", measure)
        found.append(named)
    return pd.concat(found, ignore_index=True)
