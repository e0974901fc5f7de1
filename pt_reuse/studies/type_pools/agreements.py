"""How far the pool of one type ranks the tested runs as the gold does: split by split, and over all splits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse.engine import pairs
from pt_reuse.runs.units import Units
from pt_reuse.stats.bootstrap import TopicBootstrap
from pt_reuse.stats.correlation import DECIMALS
from pt_reuse.studies.type_pools.estimates import Estimates
from pt_reuse.studies.type_pools.type_splits import TypeSplits

_TAUS = ("tau_b", "gamma", "tau_ap_b")
#: what is told of two rankings
NUMBERS = (*_TAUS, "max_drop")
#: what a row is of
KEYS = ("measure", "pool", "tested")
#: fewer runs have no ranking
_LEAST = 2


@dataclass(frozen=True)
class _Group:
    """Runs that are tested with the pools of one type under one measure.

    Attributes:
        key: the measure, the type that makes the pool, and the name of the group.
        measure: the place of the measure.
        splits: the places of the splits.
        tested: (splits, runs) who is in it.
        random: whether the splits are a random part of all halves.
    """

    key: dict[str, str]
    measure: int
    splits: slice
    tested: NDArray[np.bool_]
    random: bool


def _groups(measures: Sequence[str], kinds: Units, every: Sequence[TypeSplits]) -> Iterator[_Group]:
    for m, measure in enumerate(measures):
        first = 0
        for splits in every:
            stop = first + len(splits.picked)
            for name, tested in splits.tested(kinds):
                key = dict(zip(KEYS, (measure, splits.type, name), strict=True))
                yield _Group(key, m, slice(first, stop), tested, splits.random)
            first = stop


def by_split_table(
    measures: Sequence[str], kinds: Units, every: Sequence[TypeSplits], estimates: Estimates
) -> pd.DataFrame:
    """Return one row per measure, type that makes the pool, tested group and split.

    Args:
        measures: their names.
        kinds: the types of the field.
        every: the splits of each type, one after the other as in the estimates.
        estimates: the scores.
    """
    gold, means = np.round(estimates.gold_means, DECIMALS), np.round(estimates.means, DECIMALS)
    rows = []
    for group in _groups(measures, kinds, every):
        sizes = group.tested.sum(axis=1)
        numbers = {name: np.empty(len(sizes)) for name in NUMBERS}
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


def over_splits(by_split: pd.DataFrame) -> pd.DataFrame:
    """Return the mean of each number over the splits that have one, with its standard deviation, least and most.

    Args:
        by_split: what :func:`by_split_table` returned.
    """
    grouped = by_split.groupby(list(KEYS), sort=False)
    table = grouped.agg(runs=("runs", "mean"), splits=("tau_b", "count"), undefined=("tau_b", _missing)).reset_index()
    for name in NUMBERS:
        column = grouped[name]
        table[name] = column.mean().to_numpy()
        for suffix, values in (("sd", column.std()), ("min", column.min()), ("max", column.max())):
            table[f"{name}_{suffix}"] = values.to_numpy()
    return table


def _missing(column: pd.Series) -> int:
    return int(column.isna().sum())


def with_intervals(
    table: pd.DataFrame,
    measures: Sequence[str],
    kinds: Units,
    every: Sequence[TypeSplits],
    *,
    estimates: Estimates,
    bootstrap: TopicBootstrap,
) -> pd.DataFrame:
    """Return the table with the ends of an interval beside each mean.

    Topics are drawn with replacement, and of random splits as many splits, too.

    Args:
        table: what :func:`over_splits` returned.
        measures: their names.
        kinds: the types of the field.
        every: the splits of each type.
        estimates: the scores, with those of each topic.
        bootstrap: what is drawn.
    """
    values = estimates.values
    if values is None:
        raise ValueError("intervals over topics need the scores of each topic")
    n_topics = estimates.gold.shape[1]
    counts = bootstrap.counts(n_topics).astype(np.float64)
    rows = []
    for group, (_, row) in zip(_groups(measures, kinds, every), table.iterrows(), strict=True):
        drawn = {name: np.empty((len(counts), len(group.tested))) for name in NUMBERS}
        for split, tested in enumerate(group.tested):
            x = counts @ estimates.gold[group.measure][:, tested] / n_topics
            y = counts @ values[group.measure, group.splits][split][:, tested] / n_topics
            for name, found in _numbers(np.round(x, DECIMALS), np.round(y, DECIMALS)).items():
                drawn[name][:, split] = found
        often = _often(bootstrap, len(group.tested), group.random)
        most = max(0, int(group.tested.sum(axis=1).max(initial=0)) - 1)
        bounds = {name: (-1.0, 1.0) for name in _TAUS} | {"max_drop": (0.0, float(most))}
        ends = {
            name: bootstrap.interval(float(row[name]), _mean(drawn[name], often), within=bounds[name])
            for name in NUMBERS
        }
        rows.append(
            {f"{name}_{end}": e for name in NUMBERS for end, e in zip(("low", "high"), ends[name], strict=True)}
        )
    return pd.concat([table, pd.DataFrame(rows)], axis=1)


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
    if truths.shape[1] < _LEAST:
        return {name: np.full(len(truths), np.nan) for name in NUMBERS}
    found = pairs.coefficients(truths, estimates, _TAUS)
    return {name: found[name].astype(np.float64) for name in NUMBERS}
