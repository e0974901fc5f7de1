"""Estimates of a measure for all runs and all pairs of runs, as columns that tables take."""

from __future__ import annotations

from dataclasses import dataclass

import ir_measures
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.arrays.pairs import ranks
from pt_reuse.arrays.prediction_powered import JACKKNIFE, PoweredMeans
from pt_reuse.arrays.significance import PairTests


@dataclass(frozen=True)
class Asked:
    """What is asked for.

    Attributes:
        measures: the measures.
        weight: lambda, None where it is estimated.
        confidence: of intervals.
        correction: of the tests of pairs, for their number.
        complete: whether a topic that a run lacks counts 0.
        without_topics: ``"error"`` where a run may not lack all topics of a kind, else ``"zero"``.
        verbose: whether to show progress bars.
        variance: by topics, how it is estimated, one of :data:`VARIANCES`.
    """

    measures: list[ir_measures.Measure]
    weight: float | None
    confidence: float
    correction: str
    complete: bool = True
    without_topics: str = "error"
    verbose: bool = False
    variance: str = JACKKNIFE


@dataclass(frozen=True)
class Estimates:
    """What is estimated of one measure.

    Attributes:
        measure: its name.
        means: one row per run: ``human human_low human_high by_judge estimate estimate_low estimate_high se lambda n
            N n_eff p human_p``, and what the level adds.
        pairs: one row per pair of runs, in the order of ``numpy.triu_indices``: the same of the differences.
    """

    measure: str
    means: pd.DataFrame
    pairs: pd.DataFrame


def columns_of(found: PoweredMeans, confidence: float) -> pd.DataFrame:
    """Return means, or differences, with the ends of their intervals, as columns."""
    low, high = found.interval(confidence)
    human_low, human_high = found.human_interval(confidence)
    return pd.DataFrame(
        {
            "human": found.human,
            "human_low": human_low,
            "human_high": human_high,
            "by_judge": found.by_judge,
            "estimate": found.estimate,
            "estimate_low": low,
            "estimate_high": high,
            "se": found.se,
            "lambda": found.weight,
            "n": found.n,
            "N": found.more,
            "n_eff": found.n_eff,
            "p": found.p,
            "human_p": found.human_p,
        }
    )


def pair_table(pairs: pd.DataFrame, names: list[str], asked: Asked) -> pd.DataFrame:
    """Return the pairs of runs by name, with what their tests say when corrected for the number of pairs."""
    first, second = np.triu_indices(len(names), 1)
    run, alpha = np.array(names, dtype=object), 1 - asked.confidence
    table = pairs.rename(columns=lambda name: name.replace("estimate", "difference"))
    table.insert(0, "first", run[first])
    table.insert(1, "second", run[second])
    for whose, value in (("", "estimate"), ("human_", "human")):
        tests = PairTests(first, second, pairs[value].to_numpy(), pairs[f"{whose}p"].to_numpy())
        corrected = tests.corrected(asked.correction)
        table[f"{whose}p_corrected"] = corrected
        table[f"{whose}significant"] = corrected <= alpha
    table["excludes_0"] = (table["difference_low"] > 0) | (table["difference_high"] < 0)
    return table


def rank_table(means: pd.DataFrame, pairs: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """Return the rank of each run by the estimate, by people's labels alone and by the judge's, with intervals."""
    table = pd.DataFrame({"name": names})
    for column, value, difference, significant in (
        ("rank", "estimate", "difference", "significant"),
        ("human_rank", "human", "human", "human_significant"),
    ):
        table[column] = ranks(np.round(means[value].to_numpy(), DECIMALS))
        table[f"{column}_low"], table[f"{column}_high"] = rank_bounds(
            len(names), pairs[difference].to_numpy(), pairs[significant].to_numpy()
        )
    table["judge_rank"] = ranks(np.round(means["by_judge"].to_numpy(), DECIMALS))
    return table


def rank_bounds(
    n_runs: int, difference: NDArray[np.float64], significant: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the best and the worst rank of each run.

    The best is 1 + the number of runs significantly better, the worst the number of runs less those significantly
    worse.

    Args:
        n_runs: how many there are.
        difference: (pairs,) of each pair, the first minus the second, in the order of ``numpy.triu_indices``.
        significant: (pairs,) whether it is significant.
    """
    first, second = np.triu_indices(n_runs, 1)
    better, worse = np.where(difference > 0, first, second), np.where(difference > 0, second, first)
    beaten = np.bincount(worse[significant], minlength=n_runs)
    beats = np.bincount(better[significant], minlength=n_runs)
    return 1 + beaten, n_runs - beats
