"""Strata of labels: what is estimated, how precisely, and how a sample is spread over the labels of a judge."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count, examples, fraction, shown
from pt_reuse.arrays.stratified import Interval, stratified_interval, stratified_variance
from pt_reuse.errors import InputError, warn
from pt_reuse.options import PRECISION

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
#: what the numbers without runs are called
SHARE, RELEVANT_LABELS = "share relevant", "precision, relevant labels"
#: with this share the variance is the largest that there is
CAREFUL = 0.5
#: what is added to either count of a pilot: the beta law of Jeffreys
JEFFREYS = 0.5
#: labels of a stratum at least, where it has so many documents
LEAST = 2
#: widths of a curve, in parts of the wanted one
STEPS = (0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0)
#: halvings of a width that is looked for
_HALVINGS = 40


@dataclass(frozen=True)
class Number:
    """A number to be known: constant + sum of (strata,) weight x share of relevant ones of the unjudged."""

    name: str
    is_target: bool
    constant: float
    weights: Floats
    strata: NDArray[np.bool_]
    documents: int
    judge: float


@dataclass(frozen=True)
class Strata:
    """(strata,) documents that nobody judged, shares of relevant ones among them, and cells that share a limit."""

    units: Counts
    shares: Floats
    cells: NDArray[np.int64]

    @classmethod
    def of(cls, table: pd.DataFrame, shares: Floats) -> Strata:
        cells = table.groupby(["run", "label"], sort=False, dropna=False).ngroup().to_numpy()
        return cls(open_of(table), shares, cells.astype(np.int64))

    def interval(self, number: Number, drawn: NDArray[Any], confidence: float, *, counted: bool) -> Interval:
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

    def error(self, number: Number, drawn: NDArray[Any]) -> float:
        """Return the standard error of a number, the root of sum W^2 p (1 - p) / n (1 - n/N)."""
        of = {"drawn": drawn.astype(np.float64), "units": self.units.astype(np.float64)}
        return stratified_variance(number.weights, self.shares, **of) ** 0.5

    def merged(self, number: Number) -> tuple[Number, Strata]:
        """Return the number, and strata that do not know the labels: one for each sign of the weights."""
        side = np.where(number.weights < 0, 1, 0)
        some = number.weights != 0
        size, weight, sums = (
            np.bincount(side[some], of[some], 2).astype(np.float64)
            for of in (self.units, number.weights, number.weights * self.shares)
        )
        share = np.divide(sums, weight, out=np.zeros(2), where=weight != 0)
        return replace(number, weights=weight, strata=weight != 0), Strata(size.astype(np.int64), share, np.arange(2))


def open_of(table: pd.DataFrame) -> Counts:
    """Return (strata,) how many documents nobody has judged."""
    return (table["documents"] - table["known"]).to_numpy(dtype=np.int64)


def numbers_of(table: pd.DataFrame, target: str, named: str, judge_rel: int) -> list[Number]:
    """Return the numbers of a plan, the ones that it is made for first."""
    label = table["label"].to_numpy(dtype=float, na_value=np.nan)
    gain, documents, known = (table[name].to_numpy(dtype=float) for name in ("gain", "documents", "relevant_known"))
    relevant = label >= judge_rel

    def number(name: str, rows: NDArray[np.bool_], gain: Floats, *, target: bool, judge: float = np.nan) -> Number:
        weights = np.where(rows, gain * open_of(table), 0.0)
        return Number(name, target, float((gain * known)[rows].sum()), weights, rows, int(documents[rows].sum()), judge)

    every = np.ones(len(table), dtype=bool)
    found = [number(named, every, gain, target=target != PRECISION, judge=float((gain * documents)[relevant].sum()))]
    if table["run"].notna().any():
        return found
    groups = [(f"precision, label {int(one):d}", label == one) for one in np.unique(label[~np.isnan(label)])]
    for name, rows in [*groups, *([(RELEVANT_LABELS, relevant)] if relevant.any() else [])]:
        share = np.where(rows, 1 / max(int(documents[rows].sum()), 1), 0.0)
        found.append(number(name, rows, share, target=target == PRECISION and name != RELEVANT_LABELS))
    return sorted(found, key=lambda one: not one.is_target)


def checked_prior(prior: Any) -> float | dict[int | None, float] | None:
    """Return a user's ``prior=``: a share, or a dict of label -> share."""
    if not isinstance(prior, Mapping):
        return None if prior is None else fraction("prior", prior)
    labels = [label for label in prior if label is not None]
    if not all(isinstance(label, int | np.integer) and not isinstance(label, bool) for label in labels):
        raise InputError(f"prior must be a share, or a dict of label -> share, got {shown(prior)}.", argument="prior")
    return {None if label is None else int(label): fraction("prior", share) for label, share in prior.items()}


def expected_shares(prior: Any, labels: pd.Series, counts: pd.DataFrame) -> Floats:
    """Return (strata,) the share of relevant documents that is expected of strata with these labels."""
    there = [None if label is pd.NA else int(label) for label in labels]
    stated = prior if isinstance(prior, dict) else dict.fromkeys(there, prior)
    if unknown := [label for label in stated if label not in there]:
        known = examples(dict.fromkeys(there))
        what = f"prior names labels that no document has: {examples(unknown)}. The judge gave {known}."
        if len(unknown) == len(stated):
            raise InputError(what, argument="prior")
        warn(what)
    found = {label: CAREFUL if share is None else share for label, share in stated.items()}
    for label, judged, relevant in counts.itertuples(index=False, name=None):
        found[None if label is pd.NA else int(label)] = (relevant + JEFFREYS) / (judged + 2 * JEFFREYS)
    return np.array([found.get(label, CAREFUL) for label in there], dtype=np.float64)


def prior_words(prior: Any, judged: int) -> str:
    """Return what is expected, for settings."""
    parts = [f"{count(judged, 'judgment')} of a pilot, with a beta law of 1/2 and 1/2"] if judged else []
    parts += [f"stated: {prior}"] if prior is not None and prior != {} else []
    return "; ".join(parts) or f"{CAREFUL:g} of every label, which needs the most labels"


@dataclass(frozen=True)
class Allocation:
    """The labels of each stratum for every total: Neyman's allocation in whole labels."""

    least: Counts  # (strata,) labels that each stratum has in any case
    order: Counts  # (labels,) the stratum that gets each further label

    @classmethod
    def neyman(cls, weights: Floats, shares: Floats, units: Counts) -> Allocation:
        """Return Neyman's allocation for (strata,) weights, expected shares and documents; none of weight 0."""
        least = np.where(weights != 0, np.minimum(LEAST, units), 0)
        more = np.where(weights != 0, units - least, 0)
        stratum = np.repeat(np.arange(len(units)), more)
        first = np.cumsum(more) - more
        n = np.arange(len(stratum)) - first[stratum] + least[stratum]
        spread = np.abs(weights) * np.sqrt(shares * (1 - shares))
        gain = spread[stratum] / np.sqrt(n * (n + 1.0))
        # of equal gains the stratum with fewer labels for its documents comes first, then the first
        return cls(least, stratum[np.lexsort((stratum, n / units[stratum], -gain))])

    @property
    def fewest(self) -> int:
        return int(self.least.sum())

    @property
    def most(self) -> int:
        return self.fewest + len(self.order)

    def of(self, total: int) -> Counts:
        """Return (strata,) the labels of each stratum for a total from `fewest` to `most`."""
        return self.least + np.bincount(self.order[: total - self.fewest], minlength=len(self.least))


def smallest(fewest: int, most: int, fits: Callable[[int], bool]) -> int:
    """Return the smallest whole number that fits, where all larger ones do, too; `most` where none below does."""
    return fewest + bisect_left(range(fewest, most), True, key=fits)


@dataclass(frozen=True)
class Sizes:
    """The sizes of samples that one plan may have for the numbers that are to be known."""

    strata: Strata
    numbers: Sequence[Number]
    confidence: float

    @cached_property
    def allocations(self) -> list[Allocation]:
        return [Allocation.neyman(one.weights, self.strata.shares, self.strata.units) for one in self.numbers]

    def _totals(self, width: float) -> list[int]:
        def total_of(number: Number, of: Allocation) -> int:
            return smallest(of.fewest, of.most, lambda total: self._width(number, of.of(total)) <= width)

        return list(map(total_of, self.numbers, self.allocations))

    def _spread(self, totals: Sequence[int]) -> Counts:
        every = [of.of(total) for of, total in zip(self.allocations, totals, strict=True)]
        return np.sum(every, axis=0).astype(np.int64)

    def in_strata(self, width: float) -> Counts:
        """Return (strata,) the labels after which no number has a wider interval."""
        return self._spread(self._totals(width))

    def with_budget(self, budget: int) -> Counts:
        """Return (strata,) labels, so many in all, for which the widest interval is as narrow as they allow."""
        fewest = sum(one.fewest for one in self.allocations)
        if budget < fewest:
            what = f"{len(self.strata.units):,} strata take {fewest:,} labels, two each, got {budget:,}."
            raise InputError(f"{what} Give more, or make fewer strata.", argument="budget")
        budget = min(budget, sum(one.most for one in self.allocations))
        if len(self.numbers) == 1:
            return self.allocations[0].of(budget)
        narrow, wide = 0.0, 1.0
        for _ in range(_HALVINGS):
            middle = (narrow + wide) / 2
            fits = int(self.in_strata(middle).sum()) <= budget
            narrow, wide = (narrow, middle) if fits else (middle, wide)
        totals = self._totals(wide)
        # what is left goes where the interval is widest
        while sum(totals) < budget:
            widths = [
                self._width(one, of.of(total)) if total < of.most else -1.0
                for one, of, total in zip(self.numbers, self.allocations, totals, strict=True)
            ]
            totals[int(np.argmax(widths))] += 1
        return self._spread(totals)

    def widest(self, drawn: Counts) -> float:
        return max(self._width(number, drawn) for number in self.numbers)

    def curve(self, width: float) -> pd.DataFrame:
        """Return what widths about a wanted one cost: ``width labels proportional random``."""
        rows = []
        for wanted in (round(width * step, 10) for step in STEPS):
            if wanted < 2 or wanted <= width:
                proportional = max(self._shared(number, self.strata, wanted) for number in self.numbers)
                random = max(self._shared(*self.strata.merged(number), wanted) for number in self.numbers)
                rows.append((wanted, int(self.in_strata(wanted).sum()), proportional, random))
        return pd.DataFrame(rows, columns=["width", "labels", "proportional", "random"])

    def _width(self, number: Number, drawn: Counts) -> float:
        return self.strata.interval(number, drawn, self.confidence, counted=False).width

    def _shared(self, number: Number, strata: Strata, width: float) -> int:
        """Return the labels where each stratum gets as many as its share of the documents."""
        size = int(self.strata.units.sum())
        if not size:
            return 0

        def fits(total: int) -> bool:
            return strata.interval(number, total * strata.units / size, self.confidence, counted=False).width <= width

        return smallest(1, size, fits)
