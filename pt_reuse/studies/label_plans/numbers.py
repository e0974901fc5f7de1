"""Numbers of a plan: each is a sum of the shares of relevant documents of strata, with weights."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._choices import PRECISION
from pt_reuse.arrays.stratified import Interval, stratified_interval, stratified_variance

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
#: what the numbers without runs are called
SHARE, RELEVANT_LABELS = "share relevant", "precision, relevant labels"


@dataclass(frozen=True)
class Number:
    """A number that is to be known: constant + sum of weight x share over the strata.

    Attributes:
        name: what it is called.
        is_target: whether the plan is made for it.
        constant: what documents add that people have judged before.
        weights: (strata,) of the share of relevant documents among those that nobody has judged; 0 where a stratum has
            no part in the number.
        strata: (strata,) which of them the number is of.
        documents: how many documents it is of.
        judge: the number by the judge's own labels, NaN where that says nothing.
    """

    name: str
    is_target: bool
    constant: float
    weights: Floats
    strata: NDArray[np.bool_]
    documents: int
    judge: float


@dataclass(frozen=True)
class Strata:
    """What an interval needs to know of strata.

    Attributes:
        units: (strata,) documents that nobody has judged.
        shares: (strata,) of relevant ones among them, expected or counted.
        cells: (strata,) those of one label, and of one run, share a limit.
    """

    units: Counts
    shares: Floats
    cells: Counts

    @classmethod
    def of(cls, table: pd.DataFrame, shares: Floats) -> Strata:
        """Return the strata of a plan's table.

        Args:
            table: one row per stratum: ``label run documents known``.
            shares: (strata,) of relevant documents among those that nobody has judged.
        """
        cells = table.groupby(["run", "label"], sort=False, dropna=False).ngroup().to_numpy()
        return cls(open_of(table), shares, cells.astype(np.int64))

    def interval(self, number: Number, drawn: Floats, confidence: float, *, counted: bool) -> Interval:
        """Return a number with its interval, where so many documents of each stratum are checked."""
        return stratified_interval(
            number.constant,
            number.weights,
            self.shares,
            drawn=drawn.astype(np.float64),
            units=self.units.astype(np.float64),
            cells=self.cells,
            confidence=confidence,
            counted=counted,
        )

    def error(self, number: Number, drawn: Floats) -> float:
        """Return the standard error of a number, the root of sum W^2 p (1 - p) / n (1 - n/N)."""
        of = {"drawn": drawn.astype(np.float64), "units": self.units.astype(np.float64)}
        return stratified_variance(number.weights, self.shares, **of) ** 0.5

    def merged(self, number: Number) -> tuple[Number, Strata]:
        """Return the number, and strata that do not know the labels: one for each sign of the weights."""
        side = np.where(number.weights < 0, 1, 0)
        some = number.weights != 0
        size, weight = (np.bincount(side[some], of[some], 2).astype(np.float64) for of in (self.units, number.weights))
        sums = np.bincount(side[some], (number.weights * self.shares)[some], 2)
        share = np.divide(sums, weight, out=np.zeros(2), where=weight != 0)
        return replace(number, weights=weight, strata=weight != 0), Strata(size.astype(np.int64), share, np.arange(2))


def open_of(table: pd.DataFrame) -> Counts:
    """Return (strata,) how many documents nobody has judged."""
    return (table["documents"] - table["known"]).to_numpy(dtype=np.int64)


def numbers_of(table: pd.DataFrame, target: str, named: str, judge_rel: int) -> list[Number]:
    """Return the numbers of a plan, the ones that it is made for first.

    Args:
        table: one row per stratum: ``label run documents known relevant_known gain``, where `gain` is what a relevant
            document adds to the number, and `relevant_known` counts those that people judged before.
        target: what the plan is for, one of :data:`TARGETS`.
        named: what the mean or the difference is called.
        judge_rel: the lowest label of the judge that is relevant.
    """
    label = table["label"].to_numpy(dtype=float, na_value=np.nan)
    every = np.ones(len(table), dtype=bool)
    gain = table["gain"].to_numpy(dtype=float)
    by_judge = _by_judge(table, gain, label >= judge_rel)
    found = [_number(table, named, every, gain, target=target != PRECISION, judge=by_judge)]
    if table["run"].notna().any():
        return found
    groups = [(f"precision, label {int(one):d}", label == one) for one in np.unique(label)]
    if (label >= judge_rel).any():
        groups.append((RELEVANT_LABELS, label >= judge_rel))
    for name, rows in groups:
        share = np.where(rows, 1 / max(int(table.loc[rows, "documents"].sum()), 1), 0.0)
        found.append(_number(table, name, rows, share, target=target == PRECISION and name != RELEVANT_LABELS))
    return sorted(found, key=lambda one: not one.is_target)


def _number(
    table: pd.DataFrame, name: str, rows: NDArray[np.bool_], gain: Floats, *, target: bool, judge: float = np.nan
) -> Number:
    known = table["relevant_known"].to_numpy(dtype=float)
    return Number(
        name,
        target,
        float((gain * known)[rows].sum()),
        np.where(rows, gain * open_of(table), 0.0),
        rows,
        int(table.loc[rows, "documents"].sum()),
        judge,
    )


def _by_judge(table: pd.DataFrame, gain: Floats, relevant: NDArray[np.bool_]) -> float:
    return float((gain * table["documents"].to_numpy(dtype=float))[relevant].sum())
