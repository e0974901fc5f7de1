"""Simulation: in which order strategies would have had the documents of a field judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pt_reuse._jobs import run_jobs
from pt_reuse.pooling.adaptive.oracle import OracleTopic
from pt_reuse.pooling.adaptive.strategy import Strategy, judged_in_order


@dataclass(frozen=True)
class Task:
    """What one job works on; it needs nothing else, so that it can run anywhere.

    Attributes:
        topic: the topic.
        budget: how many labels each strategy gets.
        seed: of all that is random.
        strategies: the strategies.
    """

    topic: OracleTopic
    budget: int
    seed: int
    strategies: Sequence[Strategy]

    def run(self) -> list[NDArray[np.int64]]:
        """Return for each strategy the rows of the judgments in the order in which it asked for them."""
        lists, relevant = self.topic.lists, self.topic.relevant
        return [
            self.topic.row[judged_in_order(strategy, lists, relevant, seed=self.seed, budget=self.budget)]
            for strategy in self.strategies
        ]


def run_tasks(tasks: Sequence[Task], *, n_jobs: int | None, verbose: bool) -> list[list[NDArray[np.int64]]]:
    """Run tasks by joblib, and return what each returns, in order."""
    return list(run_jobs(tasks, len(tasks), desc="judging", unit="topic", n_jobs=n_jobs, verbose=verbose))
