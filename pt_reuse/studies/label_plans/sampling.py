"""Samples of labels: what is estimated, how precisely, and how a sample is spread over the labels of a judge."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import ir_measures
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count, examples, shown, told
from pt_reuse._choices import PRECISION
from pt_reuse._errors import Attribute, InputError, Option, warn
from pt_reuse.arrays.stratified import Interval, stratified_interval, stratified_variance
from pt_reuse.data.judgments import Qrels, as_qrels
from pt_reuse.data.run_set import RunSet

#: so many labels that all equal the judge's are more likely its own than what people said
_SUSPECT = 10


def counted_labels(
    table: pd.DataFrame, sample: pd.DataFrame, known: pd.DataFrame, checked: Any, *, rel: int
) -> pd.DataFrame:
    """Return the strata of a plan with ``checked`` and ``relevant``, how many people checked and found relevant.

    Raises:
        InputError: a label of a document that is not in the plan, another label of one that was known before, or a
            stratum of which nothing was checked.

    Warns:
        ReuseWarning: documents that were not checked; labels that are all those of the judge.
    """
    judgments = as_qrels(checked, "checked")
    if judgments.stated_rel not in (None, rel):
        raise InputError(
            f"documents are relevant from label {judgments.stated_rel} here, and from label {rel} in the plan. Plan "
            "with the same, or give the labels as they are meant in the plan.",
            argument="checked",
        )
    said = judgments.to_frame()[["qid", "docno", "label"]].rename(columns={"label": "said"})
    said = said[said["said"] >= 0]
    keys = ["qid", "docno"]
    found = said.merge(known[[*keys, "people"]], on=keys, how="left").merge(
        sample[[*keys, "stratum"]], on=keys, how="left"
    )
    before = found["people"].notna()
    other = found[before & (found["people"] != found["said"]).fillna(False)]
    if len(other):
        row = other.iloc[0]
        raise InputError(
            f"topic {shown(row['qid'])}, document {shown(row['docno'])} has label {row['said']}, and had label "
            f"{row['people']} in the pilot ({count(len(other), 'such document')}). Give the same labels, or plan anew.",
            argument="checked",
        )
    odd = found[found["stratum"].isna() & ~before]
    if len(odd):
        pairs = [f"{qid} {docno}" for qid, docno in odd[keys].itertuples(index=False, name=None)]
        raise InputError(
            f"{count(len(odd), 'document')} of {len(said):,} not in the plan, such as {examples(pairs)}. What people "
            "chose themselves is no random sample: give the labels of the documents to check alone, ",
            Attribute("plan.sample"),
            ".",
            argument="checked",
        )
    mine = found[found["stratum"].notna()]
    counts = mine.assign(relevant=mine["said"] >= rel).groupby("stratum")["relevant"].agg(["size", "sum"])
    counts = counts.reindex(table["stratum"]).fillna(0).astype("int64")
    counted = table.assign(checked=counts["size"].to_numpy(), relevant=counts["sum"].to_numpy())
    empty = counted[(counted["labels"] > 0) & (counted["checked"] == 0)]
    if len(empty):
        raise InputError(
            f"nothing was checked of {count(len(empty), 'stratum').replace('stratums', 'strata')} of the plan: "
            f"{examples(empty['stratum'])}. Have people check at least one document of each stratum: ",
            Attribute("plan.sample"),
            ".",
            argument="checked",
        )
    same = mine.merge(sample[[*keys, "label"]], on=keys)
    if len(same) >= _SUSPECT and (same["said"] == same["label"]).all():
        warn(
            f"all {len(same):,} labels are those of the judge. Are they what people said, and not the judge's own "
            "labels of the documents to check?"
        )
    missing = len(sample) - len(mine)
    if missing:
        warn(
            f"{count(missing, 'document')} of {len(sample):,} in the plan not checked. Those that were count as a "
            "random sample of their strata, which they are only if nothing of the documents decided which were checked."
        )
    return counted


#: the stratum of documents that the judge did not label
NO_LABEL = "none"
#: how many runs a mean and a difference have
RUNS = {"mean": 1, "difference": 2}


@dataclass(frozen=True)
class Population:
    """The documents that a plan draws from.

    Attributes:
        documents: one row per document: ``qid docno label`` (the judge's, <NA> for none), ``run`` (None where there are
            none), ``gain`` (what it adds to the number if it is relevant), ``people`` (what people said of it before,
            <NA> for nothing).
        name: what the number is called that the gains add up to.
        settings: the conventions by which runs have these documents, for display.
    """

    documents: pd.DataFrame
    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    def strata(self, *, by_topic: bool, rel: int) -> tuple[pd.DataFrame, pd.Series]:
        """Return one row per stratum, and the name of the stratum of each document."""
        frame = self.documents
        label = frame["label"].astype("string").fillna(NO_LABEL)
        name = label if frame["run"].isna().all() else label + ":" + frame["run"].astype("string")
        name = (frame["qid"].astype("string") + ":" + name if by_topic else name).astype(object)
        known = frame["people"].notna()
        given = frame.assign(
            stratum=name, known=known, relevant_known=(frame["people"] >= rel).fillna(False) & known, documents=1
        )
        if not by_topic:
            given["qid"] = None
        # of a topic and a run the lowest label first, none before all
        at = given["qid"].map({qid: place for place, qid in enumerate(dict.fromkeys(given["qid"]))})
        rows = given.assign(at=at.fillna(0), none=given["label"].notna())
        rows = rows.sort_values(
            ["at", "gain", "run", "none", "label"], ascending=[True, False, True, True, True], kind="stable"
        )
        grouped = rows.groupby("stratum", sort=False)
        table = grouped[["qid", "run", "label", "gain"]].first()
        sums = grouped[["documents", "known", "relevant_known"]].sum().astype(np.int64)
        table = table.join(sums).reset_index()
        for column in ("qid", "run"):
            table[column] = table[column].astype(object).where(table[column].notna(), None)
        return table, given["stratum"]


def labelled_documents(labels: Qrels) -> Population:
    """Return the documents that a judge labelled, each of which adds as much to the share of relevant ones."""
    frame = labels.to_frame()[["qid", "docno", "label"]]
    frame = frame[frame["label"] >= 0].reset_index(drop=True)
    frame = frame.assign(label=frame["label"].astype("Int64"), run=None, gain=1 / max(len(frame), 1))
    return Population(frame, SHARE)


def first_documents(labels: Qrels, runs: RunSet, measure: ir_measures.Measure) -> Population:
    """Return the documents on which ``P@k`` of a run, or of two their difference, depends.

    A document that both runs have among their first k adds nothing to the difference, and is left out.

    Raises:
        InputError: the runs have none of the topics, or the same documents.

    Warns:
        ReuseWarning: topics of the runs that the judge did not label.
    """
    known = labels.to_frame()[["qid", "docno", "label"]]
    known = known[known["label"] >= 0]
    topics = set(known["qid"])
    without = [topic for topic in runs.topics if topic not in topics]
    if len(without) == len(runs.topics):
        raise InputError(
            f"the judge labelled nothing in the topics of the runs, such as {examples(without)}.", argument="runs"
        )
    if without:
        warn(
            f"the judge labelled nothing in {count(len(without), 'topic')} of the runs: {examples(without)}. The plan "
            f"is for the other {len(runs.topics) - len(without):,}."
        )
    k, parts = measure["cutoff"], []
    for name, sign in zip(runs.names, (1.0, -1.0), strict=False):
        top = runs[name].groupby("qid", sort=False).head(k)[["qid", "docno"]]
        parts.append(top[top["qid"].isin(topics)].assign(run=name, gain=sign / (k * len(topics))))
    every = pd.concat(parts, ignore_index=True)
    both = every.duplicated(["qid", "docno"], keep=False)
    frame = every[~both].merge(known, on=["qid", "docno"], how="left")
    if not len(frame):
        raise InputError(
            f"the runs have the same first {k} documents in every topic: their difference is 0, and nothing is to be "
            "checked.",
            argument="runs",
        )
    name = f"{measure!r} of {runs.names[0]}" if len(parts) == 1 else f"{measure!r}, {' - '.join(runs.names)}"
    settings = {**runs.settings, "topics": f"{len(topics):,} that the judge labelled"}
    return Population(frame.assign(label=frame["label"].astype("Int64")), name, settings)


def with_people(population: Population, pilot: Qrels | None) -> Population:
    """Return a population with what people said of its documents before."""
    frame = population.documents
    if pilot is None:
        return replace(population, documents=frame.assign(people=pd.array([pd.NA] * len(frame), dtype="Int64")))
    said = pilot.to_frame()[["qid", "docno", "label"]].rename(columns={"label": "people"})
    beside = frame.merge(said[said["people"] >= 0], on=["qid", "docno"], how="left")
    return replace(population, documents=beside.assign(people=beside["people"].astype("Int64")))


def check_runs(runs: RunSet, target: str) -> None:
    """Raise unless a mean is of one run and a difference of two.

    Raises:
        InputError: another number of runs.
    """
    needed = RUNS[target]
    if len(runs.names) != needed:
        raise InputError(
            f"a plan for a {target} is of {count(needed, 'run')}, got {len(runs.names):,}. Take them with "
            f"runs.select({list(runs.names)[:needed]!r}), or plan for the share of relevant documents without ",
            Option("runs", ...),
            ".",
            argument="runs",
        )


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


#: with this share the variance is the largest that there is
CAREFUL = 0.5
#: the beta law that is added to the counts of a pilot where the user states none (Jeffreys)
JEFFREYS = (0.5, 0.5)
#: a share, or the two numbers of a beta law
Law: TypeAlias = "float | tuple[float, float]"


@dataclass(frozen=True)
class Expectation:
    """What is expected of the documents of each label before people check them.

    Attributes:
        usual: of every label that is not named.
        of_label: label -> what is expected of it; None for documents without a label.
    """

    usual: Law | None
    of_label: Mapping[int | None, Law]

    @classmethod
    def checked(cls, prior: Any) -> Expectation:
        """Return a user's ``prior=``.

        Raises:
            InputError: neither a share, nor two numbers of a beta law, nor a mapping of label -> one of these.
        """
        if isinstance(prior, Mapping):
            return cls(None, {None if label is None else _label(label): _law(one) for label, one in prior.items()})
        return cls(None if prior is None else _law(prior), {})

    def shares(self, table: pd.DataFrame, counts: pd.DataFrame) -> NDArray[np.float64]:
        """Return (strata,) the expected share of relevant documents.

        Args:
            table: one row per stratum, with ``label``.
            counts: one row per label that a pilot has: ``label judged relevant``.

        Raises:
            InputError: no document has any of the labels that are named.

        Warns:
            ReuseWarning: no document has some of them.
        """
        labels = [None if label is pd.NA else int(label) for label in table["label"]]
        self._check_labels(labels)
        seen = {
            None if label is pd.NA else int(label): (int(judged), int(relevant))
            for label, judged, relevant in counts.itertuples(index=False, name=None)
        }
        return np.array([self._share(label, *seen.get(label, (0, 0))) for label in labels], dtype=np.float64)

    def _check_labels(self, labels: list[int | None]) -> None:
        there = list(dict.fromkeys(labels))
        odd = [label for label in self.of_label if label not in there]
        if not odd:
            return
        if len(odd) == len(self.of_label):
            raise InputError(
                f"prior names labels that no document has: {examples(odd)}. The judge gave {examples(there)}.",
                argument="prior",
            )
        warn(f"prior names labels that no document has: {examples(odd)}. The judge gave {examples(there)}.")

    def _share(self, label: int | None, judged: int, relevant: int) -> float:
        law = self.of_label.get(label, self.usual)
        if not isinstance(law, tuple):
            if not judged:
                return CAREFUL if law is None else law
            law = JEFFREYS
        return (relevant + law[0]) / (judged + sum(law))

    def words(self, judged: int) -> str:
        """Return what is expected, for settings."""
        parts = [f"{count(judged, 'judgment')} of a pilot, with a beta law of 1/2 and 1/2"] if judged else []
        if self.usual is not None or self.of_label:
            stated = self.of_label or self.usual
            parts.append(f"stated: {stated}")
        return "; ".join(parts) or f"{CAREFUL:g} of every label, which needs the most labels"


def _label(label: Any) -> int:
    if isinstance(label, bool) or not isinstance(label, int | np.integer):
        raise InputError(f"prior must be a dict of label -> share, got the label {told(label)}.", argument="prior")
    return int(label)


def _law(given: Any) -> Law:
    if isinstance(given, tuple | list) and len(given) == 2 and all(_is_number(one) and one > 0 for one in given):
        return float(given[0]), float(given[1])
    if _is_number(given) and 0 <= given <= 1:
        return float(given)
    raise InputError(
        "prior must be a share from 0 to 1, the two numbers above 0 of a beta law, or a dict of label -> one of these, "
        f"got {told(given)}.",
        argument="prior",
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool) and bool(np.isfinite(value))


#: labels of a stratum at least, where it has so many documents
LEAST = 2


@dataclass(frozen=True)
class Allocation:
    """The labels of each stratum for every total: Neyman's allocation in whole labels.

    One label more goes where it lowers the variance most, sum A^2 p (1 - p) / n, so that each total has the allocation
    of least variance in whole numbers, a larger total holds a smaller one, and no stratum has more than its documents.
    Without the bounds it is n ~ A sqrt(p (1 - p)) but for rounding.

    Attributes:
        least: (strata,) labels that each stratum has in any case.
        order: (labels,) the stratum that gets each further label.
    """

    least: Counts
    order: Counts

    @classmethod
    def neyman(cls, weights: Floats, shares: Floats, units: Counts) -> Allocation:
        """Return Neyman's allocation.

        Args:
            weights: (strata,) the weight of each share in the number; a stratum of weight 0 gets no label.
            shares: (strata,) the expected shares.
            units: (strata,) documents that each stratum has.

        Source: Neyman 1934; exact in whole numbers by Wright 2012.
        """
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
        """Return the smallest total."""
        return int(self.least.sum())

    @property
    def most(self) -> int:
        """Return the largest total: a census."""
        return self.fewest + len(self.order)

    def of(self, total: int) -> Counts:
        """Return (strata,) the labels of each stratum for a total from `fewest` to `most`."""
        return self.least + np.bincount(self.order[: total - self.fewest], minlength=len(self.least))


def smallest(fewest: int, most: int, fits: Callable[[int], bool]) -> int:
    """Return the smallest whole number that fits, where all larger ones do, too; `most` where none below does."""
    return fewest + bisect_left(range(fewest, most), True, key=fits)


#: widths of a curve, in parts of the wanted one
STEPS = (0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0)
#: the row of the wanted width in a curve, which leaves out larger ones of 2 and more
WANTED = STEPS.index(1.0)
#: halvings of a width that is looked for
_HALVINGS = 40


@dataclass(frozen=True)
class Sizes:
    """The sizes of samples that one plan may have.

    Attributes:
        strata: of the documents.
        numbers: those that are to be known; each stratum has a part in one of them at most where there are several.
        confidence: of their intervals.
    """

    strata: Strata
    numbers: Sequence[Number]
    confidence: float

    @cached_property
    def allocations(self) -> list[Allocation]:
        """Return the allocation of each number, which is one for all totals."""
        return [Allocation.neyman(one.weights, self.strata.shares, self.strata.units) for one in self.numbers]

    @property
    def fewest(self) -> int:
        """Return the smallest total in strata."""
        return sum(one.fewest for one in self.allocations)

    @property
    def most(self) -> int:
        """Return the largest total: everything that a number hangs on."""
        return sum(one.most for one in self.allocations)

    def in_strata(self, width: float) -> NDArray[np.int64]:
        """Return (strata,) the labels after which no number has a wider interval."""
        found = np.zeros(len(self.strata.units), dtype=np.int64)
        for number, allocation in zip(self.numbers, self.allocations, strict=True):
            found += allocation.of(self._total(number, allocation, width))
        return found

    def with_budget(self, budget: int) -> NDArray[np.int64]:
        """Return (strata,) the labels where there are so many in all, from `fewest` to `most`.

        The widest interval is as narrow as the budget allows.
        """
        if len(self.numbers) == 1:
            return self.allocations[0].of(budget)
        narrow, wide = 0.0, 1.0
        for _ in range(_HALVINGS):
            middle = (narrow + wide) / 2
            if int(self.in_strata(middle).sum()) <= budget:
                wide = middle
            else:
                narrow = middle
        totals = [self._total(one, of, wide) for one, of in zip(self.numbers, self.allocations, strict=True)]
        # what is left goes where the interval is widest
        while sum(totals) < budget:
            widths = [
                self._width(one, of.of(total)) if total < of.most else -1.0
                for one, of, total in zip(self.numbers, self.allocations, totals, strict=True)
            ]
            totals[int(np.argmax(widths))] += 1
        every = [of.of(total) for of, total in zip(self.allocations, totals, strict=True)]
        return np.sum(every, axis=0).astype(np.int64)

    def widest(self, drawn: NDArray[np.int64]) -> float:
        """Return the width of the widest interval that is expected."""
        return max(self._width(number, drawn) for number in self.numbers)

    def in_proportion(self, width: float) -> int:
        """Return the labels where each stratum gets as many as its share of the documents."""
        return max(self._shared(number, self.strata, width) for number in self.numbers)

    def at_random(self, width: float) -> int:
        """Return the labels where documents are drawn whatever their label is."""
        return max(self._shared(*self.strata.merged(number), width) for number in self.numbers)

    def curve(self, width: float) -> pd.DataFrame:
        """Return what widths about a wanted one cost: ``width labels proportional random``."""
        widths = [round(width * step, 10) for step in STEPS]
        rows = [
            (w, int(self.in_strata(w).sum()), self.in_proportion(w), self.at_random(w))
            for w in widths
            if w < 2 or w <= width
        ]
        return pd.DataFrame(rows, columns=["width", "labels", "proportional", "random"])

    def _width(self, number: Number, drawn: NDArray[np.int64] | NDArray[np.float64]) -> float:
        return self.strata.interval(number, drawn.astype(np.float64), self.confidence, counted=False).width

    def _total(self, number: Number, allocation: Allocation, width: float) -> int:
        return smallest(
            allocation.fewest, allocation.most, lambda total: self._width(number, allocation.of(total)) <= width
        )

    def _shared(self, number: Number, strata: Strata, width: float) -> int:
        size = int(self.strata.units.sum())
        if not size:
            return 0

        def fits(total: int) -> bool:
            drawn = total * strata.units / size
            return strata.interval(number, drawn, self.confidence, counted=False).width <= width

        return smallest(1, size, fits)
