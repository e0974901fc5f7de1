"""Leaving units out of a way of judging: what would it have judged, had a team not taken part?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse.arrays import pairs
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.data.units import Units
from pt_reuse.pooling.adaptive.oracle import OracleTopic, OracleTopics
from pt_reuse.pooling.adaptive.strategy import Strategy
from pt_reuse.studies.strategy_comparison.budgets import Budgets
from pt_reuse.studies.strategy_comparison.built import ScoredField, prefixes
from pt_reuse.studies.strategy_comparison.simulation import Task, run_tasks


@dataclass(frozen=True)
class LeavingOut:
    """Every unit that contributed is left out once: it runs no more, and what it alone brought is not judged for it.

    On a topic where a unit alone has no relevant document of the pool, the judgments stay those of all units.

    Attributes:
        oracle: the judgments and the pool's runs.
        topics: the topics of the judgments, None for one without documents.
        field: what is scored.
        units: of the field.
        seed: of all that is random.
        n_jobs: as joblib takes it.
        verbose: show a progress bar.
    """

    oracle: OracleTopics
    topics: Sequence[OracleTopic | None]
    field: ScoredField
    units: Units
    seed: int
    n_jobs: int | None
    verbose: bool

    def table(
        self,
        strategies: Sequence[Strategy],
        orders: Sequence[Sequence[NDArray[np.int64]]],
        budgets: Budgets,
        lengths: Sequence[NDArray[np.int64]],
    ) -> pd.DataFrame:
        """Return one row per strategy, budget and measure.

        Args:
            strategies: the strategies.
            orders: for each strategy and topic the rows of the judgments in the order in which they were judged.
            budgets: the budgets.
            lengths: for each budget (topics,) judgments of each topic.
        """
        without = dict(self._reduced(strategies, lengths[-1]))
        names = [repr(measure) for measure in self.field.measures]
        involved = sorted({unit for unit, _ in without})
        rows = []
        for s, strategy in enumerate(strategies):
            for b, value in enumerate(budgets.values):
                kept = [prefixes(orders[s], lengths[b])]
                for unit in involved:
                    mine = [without[unit, t][s] if (unit, t) in without else order for t, order in enumerate(orders[s])]
                    kept.append(prefixes(mine, lengths[b]))
                means = self.field.means(kept)[1].round(DECIMALS)
                for m, measure in enumerate(names):
                    found = self._row(means[m, 0], means[m, 1:], involved)
                    rows.append({"strategy": strategy.name, "budget": value, "measure": measure, **found})
        return pd.DataFrame(rows)

    def _row(self, full: NDArray[np.float64], reduced: NDArray[np.float64], involved: list[int]) -> dict[str, object]:
        own = full.copy()
        for place, unit in enumerate(involved):
            mine = self.units.of_run == unit
            own[mine] = reduced[place, mine]
        alone = pairs.rank_alone(full, own, self.units.of_run) - pairs.ranks(full)
        change = pairs.per_cent_change(full, own)
        row: dict[str, object] = {
            "units": len(involved),
            "own_tau_b": pairs.coefficients(full, own[None], ("tau_b",))["tau_b"][0],
            "alone_max_drop": int(alone.max()),
            "largest_loss_pct": max(0.0, float(-np.nanmin(change))) if not np.isnan(change).all() else 0.0,
        }
        if not involved:
            return {**row, "field_min_tau_b": 1.0, "field_max_drop": 0, "field_worst": None}
        field = pairs.coefficients(full, reduced, ("tau_b",))
        worst = int(np.lexsort((field["tau_b"], -field["max_drop"]))[0])
        drop = int(field["max_drop"][worst])
        return {
            **row,
            "field_min_tau_b": float(field["tau_b"].min()),
            "field_max_drop": drop,
            "field_worst": self.units.names[involved[worst]] if drop else None,
        }

    def _reduced(
        self, strategies: Sequence[Strategy], budget: NDArray[np.int64]
    ) -> Iterator[tuple[tuple[int, int], list[NDArray[np.int64]]]]:
        """Yield for each unit and topic that it changes what each strategy judges without it."""
        cells, tasks = [], []
        for t, topic in enumerate(self.topics):
            if topic is None:
                continue
            for unit in self._owners(topic):
                left = self.oracle.topic(topic.lists.qid, self.units.of_run == unit)
                if left is not None:
                    cells.append((unit, t))
                    tasks.append(Task(left, int(budget[t]), self.seed, strategies))
        return zip(cells, run_tasks(tasks, n_jobs=self.n_jobs, verbose=self.verbose), strict=True)

    def _owners(self, topic: OracleTopic) -> list[int]:
        """Return the units that alone have a relevant document of the topic."""
        place = {name: unit for name, unit in zip(self.field.runs.names, self.units.of_run.tolist(), strict=True)}
        unit_of = np.array([place[name] for name in topic.lists.names], dtype=np.int64)
        owners = set()
        for document in np.flatnonzero(topic.relevant > 0).tolist():
            units = set(unit_of[topic.lists.runs_of[document]].tolist())
            if len(units) == 1:
                owners |= units
        return sorted(owners)
