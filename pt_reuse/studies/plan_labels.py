"""plan_labels: how many labels of a judge people must check, and which; and the estimate that comes of it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Annotated, Any

import ir_measures
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse import options
from pt_reuse.arrays.prediction_powered import Interval, stratified_interval, stratified_variance
from pt_reuse.columns import Table
from pt_reuse.data.judgments import Qrels, as_qrels, checked_rel
from pt_reuse.data.run_set import as_runs
from pt_reuse.errors import InputError, count, examples, fraction, number, per_cent, shown, warn
from pt_reuse.judge import Scale, lowest_relevant
from pt_reuse.options import DIFFERENCE, PRECISION, TARGETS
from pt_reuse.plots.forests import plot_label_estimates
from pt_reuse.plots.lines import plot_label_costs
from pt_reuse.pooling.adaptive.bandits import random_of_topic
from pt_reuse.pooling.pool import Pool
from pt_reuse.result import Result, cells, records
from pt_reuse.scoring.measures import MeasureLike, parse_measures
from pt_reuse.study import study

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
#: the stratum of documents that the judge did not label
NO_LABEL = "none"
#: what the documents of a plan's pool were chosen by, as their labels keep it
STRATEGY = "stratified by label"
#: what is measured where nobody says
_USUAL = ir_measures.P @ 10
#: so many labels that all equal the judge's are more likely its own than what people said
_SUSPECT = 10
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
_KEYS = ["qid", "docno"]
_COLUMNS = """
number          | Number     |        | the number that is estimated
target          | Target     |        | whether the plan is made for it
documents       | Documents  | count  | documents it is of
judge           | By the judge | score | its value by the judge's own labels, missing if undefined
stratum         | Stratum    |        | the stratum
run             | Run        |        | the run whose first documents they are, None without runs
label           | Label      | number | the label of the judge, <NA> for none
known           | Known      | count  | documents that people judged before
relevant_known  | Relevant, known | count | those of them that are relevant
gain            | Gain       | effect | what a relevant document adds to the number
share           | Expected share | score | the expected share of relevant documents among the others
labels          | To check   | count  | labels that people must check, or that contribute to the number
probability     | Probability | score | the probability of each document of the stratum to be checked
"""


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

    def interval(self, number: Number, drawn: NDArray[Any], confidence: float, *, counted: bool = False) -> Interval:
        """Return a number with its interval, where so many documents of each stratum are checked, or `counted`."""
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

    every, by_judge = np.ones(len(table), dtype=bool), float((gain * documents)[relevant].sum())
    found = [number(named, every, gain, target=target != PRECISION, judge=by_judge)]
    if table["run"].notna().any():
        return found
    groups = {f"precision, label {int(given):d}": label == given for given in np.unique(label[~np.isnan(label)])}
    groups |= {RELEVANT_LABELS: relevant} if relevant.any() else {}
    for name, rows in groups.items():
        share = np.where(rows, 1 / max(int(documents[rows].sum()), 1), 0.0)
        found.append(number(name, rows, share, target=target == PRECISION and name != RELEVANT_LABELS))
    return sorted(found, key=lambda each: not each.is_target)


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


@dataclass(frozen=True)
class Sizes:
    """The sizes of samples that one plan may have for the numbers that are to be known."""

    strata: Strata
    numbers: Sequence[Number]
    confidence: float

    @cached_property
    def allocations(self) -> list[Allocation]:
        return [Allocation.neyman(of.weights, self.strata.shares, self.strata.units) for of in self.numbers]

    def in_strata(self, width: float) -> Counts:
        """Return (strata,) the labels after which no number has a wider interval."""
        labels = np.zeros(len(self.strata.units), dtype=np.int64)
        for of, allocation in zip(self.numbers, self.allocations, strict=True):
            totals = range(allocation.fewest, allocation.most + 1)
            labels += allocation.of(self._smallest(totals, allocation.of, of, self.strata, width))
        return labels

    def curve(self, width: float) -> pd.DataFrame:
        """Return what widths about a wanted one cost: ``width labels proportional random``."""
        rows = []
        for wanted in (round(width * step, 10) for step in STEPS):
            if wanted < 2 or wanted <= width:
                proportional = max(self._shared(number, self.strata, wanted) for number in self.numbers)
                random = max(self._shared(*self.strata.merged(number), wanted) for number in self.numbers)
                rows.append((wanted, int(self.in_strata(wanted).sum()), proportional, random))
        return pd.DataFrame(rows, columns=["width", "labels", "proportional", "random"])

    def _shared(self, number: Number, strata: Strata, width: float) -> int:
        """Return the labels where each stratum gets as many as its share of the documents."""
        size = int(self.strata.units.sum())
        totals = range(1, size + 1)
        return self._smallest(totals, lambda n: n * strata.units / size, number, strata, width) if size else 0

    def _smallest(
        self, totals: range, drawn: Callable[[int], NDArray[Any]], number: Number, strata: Strata, width: float
    ) -> int:
        """Return the smallest total after which an interval is no wider, as after all larger ones; else the largest."""

        def fits(total: int) -> bool:
            return strata.interval(number, drawn(total), self.confidence).width <= width

        return totals[bisect_left(totals[:-1], True, key=fits)]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LabelEstimate(Result):
    """The estimates after people checked some of a judge's labels, see ``LabelPlan.estimate``.

    Attributes:
        strata: the table of the plan with ``checked`` and ``relevant``, how many documents of each stratum people
            checked and found relevant.
        confidence: the confidence level of the intervals.
    """

    title = "Estimate by checked labels"
    about = "{checked}"
    answer = (
        "table",
        "{number}: {estimate}, {checked} of {documents:document} checked; by the judge's own labels {judge}, off by "
        "{bias}",
    )
    valid_for = (
        "these topics, documents and runs: only which documents are drawn varies; confidence {confidence:g}, interval: "
        "{interval}."
    )
    not_covered = "other documents, topics and labels of the judge."
    key = "estimate"
    plots = {"estimate": lambda a, _, place: plot_label_estimates(a.table, confidence=a.confidence, place=place)}
    columns = f"""{_COLUMNS}
    checked       | Checked       | count      | how many of these people checked, before the plan or for it
    estimate      | Estimate      | score      | its value by people's labels
    bias          | Bias          | difference | the judge's value less the estimate
    planned_width | Planned width | score      | the expected width of the interval
    """

    table: Annotated[
        pd.DataFrame,
        Table(
            "number, those that the plan was made for first",
            "number* target documents* checked* estimate~* judge* bias~* planned_width",
            caption="What labels checked by people say: {checked}.",
            noun="numbers",
        ),
    ]
    strata: pd.DataFrame
    confidence: float

    def answers(self) -> list[str]:
        """Return each number with its interval, and how far the judge is off where it has a value."""
        text, rows = self.answer[1] if self.answer else "", records(self.table)
        texts = [text.partition(";")[0] if np.isnan(row["judge"]) else text for row in rows]
        return [text.format_map(cells(row, self.columns)) for text, row in zip(texts, rows, strict=True)]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LabelPlan(Result):
    """The labels of a judge that people must check so that the interval of a number has a given width.

    Attributes:
        sample: the documents to check: ``qid docno label stratum probability``; the label is the judge's.
        rest: the others that nobody has judged, with the same columns.
        known: those that people judged before: ``qid docno label stratum people``.
        target: the kind of number planned for: ``"mean"``, ``"difference"`` or ``"precision"``.
        number: the name of the mean or the difference.
        confidence: the confidence level of the intervals.
        rel: the lowest label of people that is relevant.
        judge_rel: the lowest label of the judge that is relevant.
    """

    title = "Plan of labels"
    valid_for = "shares as expected ({expected}); interval: {interval}."
    not_covered = "what the number is: that takes the labels, and estimate()."
    key = "labels width"
    plots = {"plan": lambda a, _, place: plot_label_costs(a.curve, labels=a.labels, planned=a.width, place=place)}
    columns = f"""{_COLUMNS}
    expected     | Expected      | score | its expected value
    width        | Width         | score | the expected width of the interval
    se           | Standard error | score | its standard error
    proportional | In proportion | count | labels that are drawn in proportion to the strata
    random       | At random     | count | labels that are drawn at random from all documents
    """
    answer = ("summary", "")

    table: Annotated[
        pd.DataFrame,
        Table(
            "stratum",
            "stratum* run label documents* known* relevant_known gain share* labels* probability*",
            caption="Labels of each stratum that people are to check, for intervals of {number} at {confidence}.",
            noun="strata",
        ),
    ]
    summary: Annotated[
        pd.DataFrame,
        Table(
            "number, those that the plan is made for first",
            "number* target documents* judge expected* width* se* labels*",
            caption="What the plan is expected to say of each number.",
            noun="numbers",
        ),
    ]
    curve: Annotated[
        pd.DataFrame,
        Table(
            "width of the interval",
            "width labels proportional random",
            caption="What widths of the interval take: labels in these strata, in proportion to the strata, and drawn "
            "whatever the judge's label.",
            noun="widths",
        ),
    ]
    sample: pd.DataFrame
    rest: pd.DataFrame
    known: pd.DataFrame
    target: str
    number: str
    confidence: float
    rel: int
    judge_rel: int

    @property
    def width(self) -> float:
        """Return the width of the widest interval that is expected of what the plan is for."""
        return float(self.summary.loc[self.summary["target"], "width"].max())

    @property
    def labels(self) -> int:
        """Return how many labels people are to check."""
        return len(self.sample)

    def answers(self) -> list[str]:
        """Return how many labels people must check, and what will then be known."""
        what = "the precision of each label" if self.target == PRECISION else self.number
        before = f", {len(self.known):,} known before" if len(self.known) else ""
        strata = "1 stratum" if len(self.table) == 1 else f"{len(self.table):,} strata"
        return [
            f"check {self.labels:,} of {count(self.labels + len(self.rest), 'document')}{before}, in {strata}: a "
            f"{per_cent(self.confidence)} interval {self.width:.4f} wide for {what}"
        ]

    def to_pool(self) -> Pool:
        """Return the documents to check as a pool, for :func:`~pt_reuse.judging.export_tasks` or :meth:`Pool.judge`.

        It is a sample as :func:`~pt_reuse.pools.sample_pool` returns one. A stratum shows the label of the judge; tasks
        do not show it.
        """
        every = pd.concat([self.sample, self.rest], ignore_index=True)
        asked = np.repeat([True, False], [len(self.sample), len(self.rest)])
        frame = every.drop(columns="label").rename(columns={"probability": "inclusion"}).assign(_asked=asked)
        settings = {"strategy": STRATEGY, **{name: self.settings[name] for name in ("target", "width", "seed")}}
        pool = Pool.from_frame(frame, settings=settings)
        drawn, columns = pool.columns["_asked"].to_numpy(dtype=bool), pool.columns.drop(columns="_asked")
        left = pool.take(np.flatnonzero(~drawn), columns=columns)
        return pool.take(np.flatnonzero(drawn), columns=columns, unsampled=left)

    def estimate(self, checked: Any) -> LabelEstimate:
        """Estimate every number of the plan from people's labels of the documents to check.

        Args:
            checked: labels of people: judgments in any form, see :doc:`runs`. A document with a label below 0, or none,
                was not checked. Documents that people had judged before may be among them.

        Raises:
            InputError: a label of a document that is not in the plan, a different label of a known one, or a stratum
                without a checked document.
        """
        strata = _counted_labels(self, checked)
        drawn = strata["checked"].to_numpy(dtype=np.float64)
        share = strata["relevant"].to_numpy(dtype=float) / np.maximum(drawn, 1)
        counted, planned = drawn + strata["known"].to_numpy(), self.summary.set_index("number")["width"]
        rows = []
        for of in numbers_of(self.table, self.target, self.number, self.judge_rel):
            interval = Strata.of(strata, share).interval(of, drawn, self.confidence, counted=True)
            row = {"number": of.name, "target": of.is_target, "documents": of.documents}
            row |= {"checked": int(counted[of.strata].sum()), "estimate": interval.estimate}
            row |= {"estimate_low": interval.low, "estimate_high": interval.high, "judge": of.judge}
            row |= {"bias": of.judge - interval.estimate, "bias_low": of.judge - interval.high}
            rows.append({**row, "bias_high": of.judge - interval.low, "planned_width": float(planned[of.name])})
        done = f"{int(drawn.sum()):,} of {int(strata['labels'].sum()):,} planned labels"
        settings = {**self.settings, "rel": self.rel, "checked": done}
        return LabelEstimate(table=pd.DataFrame(rows), strata=strata, confidence=self.confidence, settings=settings)


def _counted_labels(plan: LabelPlan, checked: Any) -> pd.DataFrame:
    """Return the strata of a plan with ``checked`` and ``relevant``, how many people checked and found relevant."""
    judgments = as_qrels(checked, "checked")
    if judgments.stated_rel not in (None, plan.rel):
        text = f"documents are relevant from label {judgments.stated_rel} here, and from {plan.rel} in the plan."
        raise InputError(text, argument="checked")
    given = _people(judgments).rename(columns={"people": "now"})
    given = given.merge(plan.known[[*_KEYS, "people"]], on=_KEYS, how="left")
    given = given.merge(plan.sample[[*_KEYS, "stratum", "label"]], on=_KEYS, how="left")
    before, planned = given["people"].notna(), given["stratum"].notna()
    wrong = (before & (given["people"] != given["now"]).fillna(False)) | ~(planned | before)
    if wrong.any():
        odd = examples(" ".join(key) for key in given.loc[wrong, _KEYS].itertuples(index=False))
        what = f"{count(int(wrong.sum()), 'document')} of {len(given):,}, such as {odd}"
        raise InputError(f"{what}, not in plan.sample, or with another label than in the pilot.", argument="checked")
    given = given[planned]
    counts = given.assign(relevant=given["now"] >= plan.rel).groupby("stratum")["relevant"].agg(["size", "sum"])
    counts = counts.reindex(plan.table["stratum"]).fillna(0).astype("int64")
    strata = plan.table.assign(checked=counts["size"].to_numpy(), relevant=counts["sum"].to_numpy())
    empty = strata.loc[(strata["labels"] > 0) & (strata["checked"] == 0), "stratum"]
    if len(empty):
        text = f"nothing was checked of {len(empty):,} strata of the plan: {examples(empty)}. Each takes one document."
        raise InputError(text, argument="checked")
    if len(given) >= _SUSPECT and (given["now"] == given["label"]).all():
        warn(f"all {len(given):,} labels are those of the judge. Are they what people said?")
    if missing := len(plan.sample) - len(given):
        what = f"{count(missing, 'document')} of {len(plan.sample):,} in the plan not checked"
        warn(f"{what}. Those that were count as a random sample of their strata.")
    return strata


def _strata(frame: pd.DataFrame, rel: int) -> tuple[pd.DataFrame, pd.Series]:
    """Return one row per stratum of documents, and the name of the stratum of each document."""
    name = frame["label"].astype("string").fillna(NO_LABEL)
    name = (name if frame["run"].isna().all() else name + ":" + frame["run"].astype("string")).astype(object)
    known = frame["people"].notna()
    relevant = (frame["people"] >= rel).fillna(False) & known
    frame = frame.assign(stratum=name, known=known, relevant_known=relevant, documents=1)
    # of a run the lowest label first, none before all
    ordered = frame.assign(labelled=frame["label"].notna()).sort_values(
        ["gain", "run", "labelled", "label"], ascending=[False, True, True, True], kind="stable"
    )
    grouped = ordered.groupby("stratum", sort=False)
    table = grouped[["run", "label", "gain"]].first()
    table = table.join(grouped[["documents", "known", "relevant_known"]].sum().astype(np.int64)).reset_index()
    runs = table["run"].astype(object).where(table["run"].notna(), None)
    return table.assign(run=runs), name


def _people(judgments: Qrels | None) -> pd.DataFrame:
    if judgments is None:
        return pd.DataFrame({"qid": [], "docno": [], "people": []}, dtype=object)
    given = judgments.to_frame()[[*_KEYS, "label"]].rename(columns={"label": "people"})
    return given[given["people"] >= 0]


def _first_documents(
    labelled: pd.DataFrame, target: str, given: Any, measure: ir_measures.Measure
) -> tuple[pd.DataFrame, str, dict[str, Any]]:
    """Return the first k documents of a run, or those of two that the other has not, and what they add up to."""
    runs, needed = as_runs(given), 2 if target == DIFFERENCE else 1
    if len(runs.names) != needed:
        text = f"a plan for a {target} is of {count(needed, 'run')}, got {len(runs.names):,}. See runs.select()."
        raise InputError(text, argument="runs")
    topics = set(labelled["qid"])
    without = [topic for topic in runs.topics if topic not in topics]
    if len(without) == len(runs.topics):
        text = f"the judge labelled nothing in the topics of the runs, such as {examples(without)}."
        raise InputError(text, argument="runs")
    if without:
        topics_of_runs = f"{count(len(without), 'topic')} of {len(runs.topics):,} of the runs: {examples(without)}"
        warn(f"the judge labelled nothing in {topics_of_runs}. They are left out.")
    k, parts = measure["cutoff"], []
    for name, sign in zip(runs.names, (1.0, -1.0), strict=False):
        top = runs[name].groupby("qid", sort=False).head(k)[_KEYS]
        parts.append(top[top["qid"].isin(topics)].assign(run=name, gain=sign / (k * len(topics))))
    every = pd.concat(parts, ignore_index=True)
    frame = every[~every.duplicated(_KEYS, keep=False)].merge(labelled, on=_KEYS, how="left")
    if not len(frame):
        text = f"the runs have the same first {k} documents in every topic: their difference is 0."
        raise InputError(text, argument="runs")
    name = f"{measure!r} of {runs.names[0]}" if needed == 1 else f"{measure!r}, {' - '.join(runs.names)}"
    return frame, name, {**runs.settings, "topics": f"{len(topics):,} that the judge labelled"}


def _check_together(given: Mapping[str, Any]) -> None:
    width, target, has_runs = given["width"], given["target"], given["runs"] is not None
    most = 2 if target == DIFFERENCE else 1
    if width is None or not 0 < width < most:
        raise InputError(f"width must be above 0 and below {most}, got {shown(width)}.", argument="width")
    if has_runs != (target == DIFFERENCE) and target != "mean":
        what = f"runs must be {'none with precision' if has_runs else 'two with a difference'}."
        raise InputError(what, argument="runs")
    if given["measure"] is not None and not has_runs:
        raise InputError("a measure needs runs: pass runs=.", argument="measure")


def _measured(measure: MeasureLike | None, rel: int | None) -> ir_measures.Measure:
    if measure is None:
        return _USUAL if rel in (None, 1) else _USUAL(rel=rel)
    parsed, *more = parse_measures(measure)
    if more or parsed.NAME != "P" or set(parsed.params) - {"rel", "cutoff"} or "cutoff" not in parsed.params:
        what = f"measure must be P with a cutoff, such as P@10 or P(rel=2)@10, got {measure!r}."
        raise InputError(what, argument="measure")
    if rel not in (None, parsed.params.get("rel", 1)):
        what = f"{parsed!r} has another lowest relevant label than rel, {rel}. Give {parsed(rel=rel)!r}, or no rel."
        raise InputError(what, argument="measure")
    return parsed


@study(
    question="How many labels of a model must people check, and which?",
    aim="models",
    command="judge plan-labels",
    group="labels",
    papers="[M25]_",
    together=_check_together,
)
def plan_labels(
    judge_labels: Annotated[
        Any,
        options.Option(
            "the judge's labels of all documents, in any form, see :doc:`runs`; a negative label is none. "
            "``pool.judge(judge)`` gives those of a judge."
        ),
    ],
    *,
    target: Annotated[
        str,
        options.Option(
            'what is to be known. ``"mean"`` (default): the share of relevant documents, or ``P@k`` of the run of '
            '`runs`. ``"difference"``: of ``P@k`` between two `runs`, first less second. ``"precision"``: of each '
            "label of the judge, the share of its documents that people find relevant.",
            choices=TARGETS,
            flag=options.Flag(help=f"one of {', '.join(TARGETS)}", metavar="WHAT", kind="text"),
        ),
    ] = "mean",
    width: Annotated[
        float | None,
        options.Option(
            "of the interval, from its lower to its upper end, above 0: .05 is 2.5 points to either side.",
            check=partial(number, "width"),
            flag=options.Flag(metavar="W", kind="float"),
        ),
    ] = None,
    confidence: options.Confidence = 0.95,
    pilot: Annotated[
        Any,
        options.Option(
            "judgments that people made before, in any form: they say what share of each label is relevant, and count "
            "as they are."
        ),
    ] = None,
    prior: Annotated[
        Any,
        options.Option(
            "the share of relevant documents that is expected of labels of which the pilot says nothing, or a dict of "
            "label -> share (None is a document without a label). Default: .5, which needs the most labels.",
            check=checked_prior,
        ),
    ] = None,
    runs: Annotated[
        Any,
        options.Option(
            "of which ``P@k`` is to be known, in any form: one for a mean, two for a difference. Their first k "
            "documents are drawn from, without those that both have."
        ),
    ] = None,
    measure: Annotated[
        MeasureLike | None,
        options.Option(
            "P with its cutoff, of `runs`; default ``P@10``, from `rel` on.",
            flag=options.Flag(metavar="M", kind="text", default="P@10"),
        ),
    ] = None,
    rel: options.Rel = None,
    judge_rel: Annotated[
        int | None,
        options.Option(
            "the lowest label of the judge that is relevant; default what its labels say, else 1 where they are 0 and "
            "1, else `rel`. Labels above the highest of the pilot are refused without it.",
            check=lambda value: checked_rel(value, "judge_rel"),
            flag=options.Flag(metavar="LABEL"),
        ),
    ] = None,
    seed: options.Seed = 0,
) -> LabelPlan:
    """Plan how many labels of a judge people must check, and which, for an interval of a given width.

    The documents are divided into strata by the label that the judge gave them, and people check a random sample of
    each, by Neyman's allocation. Afterwards ``LabelPlan.estimate`` gives the number with its interval.

    Args:
        rel: the lowest label of people that is relevant; default that of the measure, the pilot or the judge's labels,
            in this order, else 1.
        seed: decides which documents are drawn. A wider interval takes a subset of the same documents.

    Returns:
        LabelPlan: ``.table`` (labels of each stratum), ``.sample`` (the documents to check), ``.to_pool()``, ``.curve``
        and ``.plot()`` (labels for other widths and designs), ``.estimate(checked)``.

    Raises:
        InputError: a number of runs that does not go with the target, a measure that is not ``P@k``, a pilot or a prior
            without information on these labels.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> labels = pd.DataFrame({"qid": "1", "docno": [f"d{n}" for n in range(1000)], "label": [1] * 300 + [0] * 700})
        >>> plan = ptr.labels.plan_labels(labels, width=0.1, prior={1: 0.8, 0: 0.1})
        >>> plan
        Plan of labels: check 164 of 1,000 documents, in 2 strata: a 95% interval 0.0996 wide for share relevant
        >>> plan.table[["stratum", "documents", "share", "labels"]].values.tolist()
        [['0', 700, 0.1, 104], ['1', 300, 0.8, 60]]

    Source: Merlo et al. 2025; Neyman 1934. The variance is sum W^2 p (1 - p) / n (1 - n/N) over the strata. The
    width is that of the interval of Clopper and Pearson at the effective size of a stratum, n / (1 - n/N), and of
    strata joined as by Zou and Donner 2008.
    """
    measured = None if runs is None else _measured(measure, rel)
    labels = as_qrels(judge_labels, "judge_labels")
    judged = None if pilot is None else as_qrels(pilot, "pilot")
    of_measure = None if measured is None else int(measured.params.get("rel", 1))
    stated = (rel, of_measure, None if judged is None else judged.stated_rel, labels.stated_rel)
    lowest = next((label for label in stated if label is not None), 1)
    of_judge = judge_rel or labels.stated_rel
    if of_judge is None:
        # without a pilot nobody knows the scale of people
        given = labels.arrays.labels
        people = Scale(lowest, int(given.max(initial=0))) if judged is None else Scale.of(judged, lowest)
        # the strata are of the judge's own labels, which stand for none of people
        of_judge = lowest_relevant(given, people, grades=False)
    labelled = labels.to_frame()[[*_KEYS, "label"]]
    labelled = labelled[labelled["label"] >= 0].reset_index(drop=True)
    if not len(labelled):
        raise InputError("the judge labelled nothing: no label is 0 or above.", argument="judge_labels")
    frame, name, of_runs = labelled.assign(run=None, gain=1 / len(labelled)), SHARE, dict[str, Any]()
    if measured is not None:
        frame, name, of_runs = _first_documents(labelled, target, runs, measured)
    frame = frame.merge(_people(judged), on=_KEYS, how="left").astype({"label": "Int64", "people": "Int64"})
    table, stratum = _strata(frame, lowest)
    counts = _pilot_counts(labelled, frame, judged, lowest)
    table["share"] = expected_shares(prior, table["label"], counts)
    numbers = numbers_of(table, target, name, of_judge)
    strata = Strata.of(table, table["share"].to_numpy())
    sizes = Sizes(strata, [number for number in numbers if number.is_target], confidence)
    width = float(width or 0)
    drawn = sizes.in_strata(width)
    table["labels"] = drawn
    table["probability"] = np.divide(drawn, strata.units, out=np.zeros(len(drawn)), where=strata.units > 0)
    sample, rest, known = _parts(frame.assign(stratum=stratum), table, seed)
    rows = []
    for of in numbers:
        interval = strata.interval(of, drawn, confidence)
        row = {"number": of.name, "target": of.is_target, "documents": of.documents, "judge": of.judge}
        row |= {"expected": interval.estimate, "width": interval.width, "se": strata.error(of, drawn)}
        rows.append({**row, "labels": int(drawn[of.strata].sum())})
    return LabelPlan(
        table=table,
        summary=pd.DataFrame(rows),
        curve=sizes.curve(width),
        sample=sample,
        rest=rest,
        known=known,
        target=target,
        number=name,
        confidence=confidence,
        rel=lowest,
        judge_rel=of_judge,
        settings={
            "target": target if target == PRECISION else f"{target} ({name})",
            "width": f"{width:g}",
            "confidence": f"{confidence:g}",
            "strata": "label of the judge" + (", run" * (target == DIFFERENCE)),
            "expected": prior_words(prior, int(counts["judged"].sum())),
            "relevant": f"from label {lowest}; for the judge from label {of_judge}",
            **of_runs,
            "interval": "exact (hypergeometric) for each label, joined by MOVER; planned by Clopper and Pearson",
            "varies": "Which documents are drawn; topics, documents and runs are fixed",
            "seed": seed,
        },
    )


def _pilot_counts(labelled: pd.DataFrame, documents: pd.DataFrame, pilot: Qrels | None, rel: int) -> pd.DataFrame:
    """Return of each label of the judge how many documents people judged before, and found relevant."""
    if pilot is None:
        return pd.DataFrame({"label": pd.array([], dtype="Int64"), "judged": [], "relevant": []})
    # a run may have found what the judge did not label
    more = documents.loc[documents["label"].isna(), [*_KEYS, "label"]]
    both = pd.concat([labelled.astype({"label": "Int64"}), more]).merge(_people(pilot), on=_KEYS)
    if not len(both):
        raise InputError("no document of the pilot has a label of the judge. See the ids of both.", argument="pilot")
    counted = both.assign(relevant=both["people"] >= rel).groupby("label", dropna=False)["relevant"]
    return counted.agg(["size", "sum"]).reset_index().set_axis(["label", "judged", "relevant"], axis=1)


def _parts(documents: pd.DataFrame, table: pd.DataFrame, seed: int) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return the documents to check, the others, and those that people judged before."""
    keys = np.empty(len(documents))
    for qid, rows in documents.groupby("qid", sort=False).indices.items():
        # keys are dealt out in the order of the names, so that the order of the labels has no part in the sample
        by_name = rows[np.argsort(documents["docno"].to_numpy(dtype=object)[rows], kind="stable")]
        keys[by_name] = random_of_topic(seed, str(qid)).random(len(rows))
    of_stratum = table.set_index("stratum")
    chances = documents["stratum"].map(of_stratum["probability"]).to_numpy(dtype=float)
    frame = documents.assign(key=keys, probability=chances)
    known = frame["people"].notna()
    left = frame[~known]
    chosen = left.groupby("stratum", sort=False)["key"].rank(method="first") <= left["stratum"].map(
        of_stratum["labels"]
    )
    columns = [*_KEYS, "label", "stratum", "probability"]
    sample, rest = (left.loc[rows, columns].reset_index(drop=True) for rows in (chosen, ~chosen))
    return sample, rest, frame.loc[known, [*columns[:4], "people"]].reset_index(drop=True)
