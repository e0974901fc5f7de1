"""plan_labels: how many labels of a judge people must check, and which; and the estimate that comes of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import ir_measures
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import checked_seed, choice, count, flag, fraction, positive, told
from pt_reuse._choices import DIFFERENCE, PRECISION, TARGETS
from pt_reuse._errors import Argument, Call, InputError, Option, arguments_as, door
from pt_reuse._report import Column, Digits, Report, intervals
from pt_reuse._text import with_ends, written
from pt_reuse.data.judgments import Qrels, as_qrels, checked_rel
from pt_reuse.data.run_reading import as_runs
from pt_reuse.data.run_set import RunSet
from pt_reuse.judging.label_pairs import Scale, lowest_relevant
from pt_reuse.pooling.adaptive.chooser import random_of_topic
from pt_reuse.pooling.pool import Pool
from pt_reuse.result import Result, key_figures_of
from pt_reuse.scoring.measures import MeasureLike, parse_measures
from pt_reuse.studies.label_plans.sampling import (
    WANTED,
    Expectation,
    Number,
    Population,
    Sizes,
    Strata,
    check_runs,
    counted_labels,
    first_documents,
    labelled_documents,
    numbers_of,
    with_people,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LabelEstimate(Result):
    """What is known of a judge's labels after people checked some of them, see ``LabelPlan.estimate``.

    Attributes:
        table: one row per number: ``number``; ``target``, whether the plan was made for it; ``documents`` it is of, and
            ``checked`` of these, what people judged before the plan included; ``estimate estimate_low estimate_high``;
            ``judge``, its value by the judge's own labels, missing where that says nothing; ``bias bias_low
            bias_high``, the judge's value less the estimate; ``planned_width``, what was expected of the interval.
        strata: the table of the plan with ``checked`` and ``relevant``, how many documents of each stratum people
            checked and found relevant.
        confidence: of the intervals.
    """

    title: ClassVar[str] = "Estimate by checked labels"

    strata: pd.DataFrame
    confidence: float

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table by name."""
        return {"table": self.table, "strata": self.strata}

    def key_figures(self) -> pd.DataFrame:
        """Return the estimates of what the plan was made for, see :meth:`Result.key_figures`."""
        rows = self.table[self.table["target"]]
        return key_figures_of(rows, ["estimate"], rows=rows["number"].tolist())

    def headline(self) -> str:
        """Return the estimates of what the plan was made for."""
        rows = self.table[self.table["target"]]
        parts = [f"{row['number']} {with_ends(row, 'estimate', '.4f')}" for row in rows.to_dict("records")]
        return f"{'; '.join(parts)}; {count(int(self.strata['checked'].sum()), 'label')} checked"

    def findings(self) -> list[str]:
        """Return what was found, a sentence for each number."""
        level, found = f"{100 * self.confidence:g} %", []
        for row in self.table.to_dict("records"):
            name = f"{row['number'][0].upper()}{row['number'][1:]}"
            text = (
                f"{name} is {with_ends(row, 'estimate', '.4f')} at {level}, {row['checked']:,} of "
                f"{row['documents']:,} checked"
            )
            if not np.isnan(row["judge"]):
                sides = (
                    "too high" if row["bias_low"] > 0 else "too low" if row["bias_high"] < 0 else "no bias to be seen"
                )
                text += (
                    f"; by the judge's own labels {row['judge']:.4f}, off by {with_ends(row, 'bias', '+.4f')}: {sides}"
                )
            found.append(f"{text}.")
        return found

    def report(self) -> Report:
        """Return each number with its interval."""
        table = self.table
        return Report(
            [
                Column("Number", table["number"]),
                Column("Documents", table["documents"], Digits.COUNT),
                Column("Checked", table["checked"], Digits.COUNT),
                Column("Estimate", table["estimate"], Digits.SCORE),
                intervals("the estimate", table["estimate_low"], table["estimate_high"], Digits.SCORE),
                Column("By the judge", table["judge"], Digits.SCORE),
            ],
            caption=f"What {count(int(self.strata['checked'].sum()), 'label')} checked by people say.",
            notes=[*conventions(self.settings), f"{self.settings['varies']}."],
        )

    @door
    def plot(
        self, *, ax: Axes | None = None, title: str | None = None, legend: bool = True, width: float | None = None
    ) -> Axes:
        """Draw each number with its interval, and what the judge's own labels say.

        Args:
            ax: axes to draw into; default a new figure. The other three are those of :doc:`every figure <figures>`.
            title: default the figure's own in a new figure, none in `ax`; ``""`` for none.
            legend: whether there is one.
            width: of a new figure, in inches, default 7, a page's; 3.3 for a column.

        Returns:
            Axes: a row for each number: a point with its interval, and an open diamond where the judge's labels put
            it.
        """
        from pt_reuse.plots.forests import plot_label_estimates
        from pt_reuse.plots.sheet import Place

        return plot_label_estimates(self.table, confidence=self.confidence, place=Place(ax, title, legend, width))


def conventions(settings: Mapping[str, Any]) -> list[str]:
    """Return what the numbers of a plan hang on, for the notes of a report."""
    found = [f"Interval: {settings['interval']}.", f"Relevant: {settings['relevant']}."]
    if "topics" in settings:
        found.append(f"Runs: ranked in the order {settings['order']}; topics: {settings['topics']}.")
    return found


def estimated(
    counted: pd.DataFrame,
    numbers: Sequence[Number],
    *,
    planned: Mapping[str, float],
    confidence: float,
    settings: Mapping[str, Any],
) -> LabelEstimate:
    """Return the numbers of a plan with their intervals."""
    drawn = counted["checked"].to_numpy(dtype=np.float64)
    share = np.divide(counted["relevant"].to_numpy(dtype=float), drawn, out=np.zeros(len(drawn)), where=drawn > 0)
    strata, rows = Strata.of(counted, share), []
    known = counted["known"].to_numpy()
    for number in numbers:
        found = strata.interval(number, drawn, confidence, counted=True)
        rows.append(
            {
                "number": number.name,
                "target": number.is_target,
                "documents": number.documents,
                "checked": int((drawn + known)[number.strata].sum()),
                "estimate": found.estimate,
                "estimate_low": found.low,
                "estimate_high": found.high,
                "judge": number.judge,
                "bias": number.judge - found.estimate,
                "bias_low": number.judge - found.high,
                "bias_high": number.judge - found.low,
                "planned_width": planned[number.name],
            }
        )
    return LabelEstimate(
        table=pd.DataFrame(rows),
        strata=counted,
        confidence=confidence,
        settings={**settings, "checked": f"{int(drawn.sum()):,} of {int(counted['labels'].sum()):,} planned labels"},
    )


#: what the documents of a plan's pool were chosen by, as their labels keep it
STRATEGY = "stratified by label"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LabelPlan(Result):
    """Which labels of a judge people are to check so that a number is known within a width.

    Attributes:
        table: one row per stratum: ``stratum``; ``qid``, None where strata go over topics; ``run`` whose first
            documents they are, None without runs; ``label`` of the judge, <NA> for none; ``documents``; ``known`` and
            ``relevant_known``, those that people judged before and found relevant; ``gain``, what a relevant document
            adds to the number; ``share``, the share of relevant documents that is expected of the others; ``labels``,
            how many of these people are to check; ``probability``, with which each of them is among these.
        summary: one row per number: ``number``; ``target``, whether the plan is made for it; ``documents`` it is of;
            ``judge``, its value by the judge's own labels, missing where that says nothing; ``expected``; ``width`` of
            the interval that is expected, ``se`` its standard error, and ``labels`` that bear on it.
        curve: what other widths take: ``width labels proportional random``, labels in strata as planned, in proportion
            to the strata, and drawn whatever their label.
        sample: the documents to check: ``qid docno label stratum probability``; the label is the judge's.
        rest: the others that nobody has judged, with the same columns.
        known: those that people judged before: ``qid docno label stratum people``.
        target: what the plan is for: ``"mean"``, ``"difference"`` or ``"precision"``.
        number: what the mean or the difference is called.
        confidence: of the intervals.
        rel: the lowest label of people that is relevant.
        judge_rel: the lowest label of the judge that is relevant.
    """

    title: ClassVar[str] = "Plan of labels"

    summary: pd.DataFrame
    curve: pd.DataFrame
    sample: pd.DataFrame
    rest: pd.DataFrame
    known: pd.DataFrame
    target: str
    number: str
    confidence: float
    rel: int
    judge_rel: int

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table by name."""
        return {
            "table": self.table,
            "summary": self.summary,
            "curve": self.curve,
            "sample": self.sample,
            "rest": self.rest,
            "known": self.known,
        }

    @property
    def width(self) -> float:
        """Return the width of the widest interval that is expected of what the plan is for."""
        return float(self.summary.loc[self.summary["target"], "width"].max())

    @property
    def labels(self) -> int:
        """Return how many labels people are to check."""
        return len(self.sample)

    def key_figures(self) -> pd.DataFrame:
        """Return the labels and the widths of what the plan is for, see :meth:`Result.key_figures`."""
        rows = self.summary[self.summary["target"]]
        return key_figures_of(rows, ["labels", "width"], rows=rows["number"].tolist())

    def headline(self) -> str:
        """Return how many labels are to be checked, and what will be known."""
        of = len(self.sample) + len(self.rest)
        what = "the precision of each label" if self.target == PRECISION else self.number
        interval = f"{100 * self.confidence:g} % interval"
        before = f", {len(self.known):,} known before" if len(self.known) else ""
        return (
            f"check {self.labels:,} of {count(of, 'document')}{before}, in {_strata(len(self.table))}: a {interval} "
            f"{self.width:.4f} wide for {what}"
        )

    def findings(self) -> list[str]:
        """Return what the plan says, a sentence each."""
        rows = self.summary[self.summary["target"]]
        what = "difference" if self.target == DIFFERENCE else "share"
        found = [
            f"{row['number'][0].upper()}{row['number'][1:]} takes {count(int(row['labels']), 'label')}: the interval "
            f"is then {row['width']:.4f} wide, if the {what} is {written(row['expected'], '.4f')}."
            for row in rows.to_dict("records")
        ]
        cost = self.curve.iloc[WANTED]
        found.append(
            f"A width of {cost['width']:g} takes {count(int(cost['labels']), 'label')} in these strata, "
            f"{int(cost['proportional']):,} in proportion to them, and {int(cost['random']):,} at random."
        )
        return found

    def report(self) -> Report:
        """Return how many labels of each stratum people are to check."""
        table = self.table
        before = table["known"].sum() > 0
        return Report(
            [
                Column("Stratum", table["stratum"]),
                Column("Documents", table["documents"], Digits.COUNT),
                *([Column("Known", table["known"], Digits.COUNT)] if before else []),
                Column("Expected share", table["share"], Digits.SCORE),
                Column("To check", table["labels"], Digits.COUNT),
                Column("Probability", table["probability"], Digits.SCORE),
            ],
            caption=f"Labels that people are to check: {self.headline()}.",
            notes=[f"Expected shares: {self.settings['expected']}.", *conventions(self.settings)],
        )

    @door
    def to_pool(self) -> Pool:
        """Return the documents to check as a pool, for :func:`~pt_reuse.judging.export_tasks` or :meth:`Pool.judge`.

        Returns:
            Pool: a sample, as :func:`~pt_reuse.pools.sample_pool` returns one: each document has its ``stratum`` and
            its ``inclusion`` probability, and those that are not to be checked are in :attr:`Pool.unsampled`. A stratum
            tells what the judge says; tasks that :func:`~pt_reuse.judging.export_tasks` writes do not show it.
        """
        every = pd.concat([self.sample, self.rest], ignore_index=True)
        asked = np.repeat([True, False], [len(self.sample), len(self.rest)])
        frame = every.drop(columns="label").rename(columns={"probability": "inclusion"}).assign(_asked=asked)
        settings = {"strategy": STRATEGY, **{name: self.settings[name] for name in ("target", "width", "seed")}}
        pool = Pool.from_frame(frame, settings=settings)
        drawn, columns = pool.columns["_asked"].to_numpy(dtype=bool), pool.columns.drop(columns="_asked")
        left = pool.take(np.flatnonzero(~drawn), columns=columns)
        return pool.take(np.flatnonzero(drawn), columns=columns, unsampled=left)

    @door
    def estimate(self, checked: Any) -> LabelEstimate:
        """Estimate every number of the plan from what people say of the documents that they were to check.

        Args:
            checked: what people say: judgments in any form, see :doc:`runs`. A document with a label below 0, or none,
                was not checked. Documents that people had judged before may be among them.

        Returns:
            LabelEstimate: each number with its interval.

        Raises:
            InputError: a label of a document that is not in the plan, another label of one that was known before, or a
                stratum of which nothing was checked.

        Warns:
            ReuseWarning: documents of the plan that were not checked. Those that were count as a random sample of their
                strata: that they are is not to be seen from the labels. Ten labels or more that all equal the judge's.
        """
        counted = counted_labels(self.table, self.sample, self.known, checked, rel=self.rel)
        numbers = numbers_of(self.table, self.target, self.number, self.judge_rel)
        planned = dict(zip(self.summary["number"], self.summary["width"].tolist(), strict=True))
        return estimated(
            counted, numbers, planned=planned, confidence=self.confidence, settings={**self.settings, "rel": self.rel}
        )

    @door
    def plot(
        self, *, ax: Axes | None = None, title: str | None = None, legend: bool = True, width: float | None = None
    ) -> Axes:
        """Draw the width of the interval over the labels that it takes, for three ways to draw documents.

        Args:
            ax: axes to draw into; default a new figure. The other three are those of :doc:`every figure <figures>`.
            title: default the figure's own in a new figure, none in `ax`; ``""`` for none.
            legend: whether there is one.
            width: of a new figure, in inches, default 7, a page's; 3.3 for a column.

        Returns:
            Axes: a line for the plan, one for proportional allocation, one for a simple random sample, and strokes at
            the plan's labels and width.
        """
        from pt_reuse.plots.lines import plot_label_costs
        from pt_reuse.plots.sheet import Place

        return plot_label_costs(
            self.curve, labels=self.labels, planned=self.width, place=Place(ax, title, legend, width)
        )


def _strata(n: int) -> str:
    return "1 stratum" if n == 1 else f"{n:,} strata"


#: how wide the interval of a difference can be at most, and of everything else
_WIDEST = {DIFFERENCE: 2.0}
#: what is measured where nobody says
_USUAL = ir_measures.P @ 10


@door
def plan_labels(
    judge_labels: Any,
    *,
    target: str = "mean",
    width: float | None = None,
    budget: int | None = None,
    confidence: float = 0.95,
    pilot: Any = None,
    prior: Any = None,
    by_topic: bool = False,
    runs: Any = None,
    measure: MeasureLike | None = None,
    rel: int | None = None,
    judge_rel: int | None = None,
    seed: int = 0,
) -> LabelPlan:
    """Plan how many labels of a judge people must check, and which, so that a number is known within a width.

    The documents are divided into strata by the label that the judge gave them. Of each stratum a random sample is
    checked. A stratum that is large, or in which people are expected to be of two minds, gets more labels (Neyman's
    allocation). Afterwards ``LabelPlan.estimate`` gives the number with its interval.

    Args:
        judge_labels: the judge's labels of all documents in question, judgments in any form, see :doc:`runs`. A
            negative label is none. ``pool.judge(judge)`` gives those of a judge, a function or a pipeline.
        target: what is to be known. ``"mean"`` (default): the share of relevant documents, or ``P@k`` of a run where
            `runs` has one. ``"difference"``: of ``P@k`` between the two `runs`, first less second. ``"precision"``: of
            each label of the judge, the share of its documents that people find relevant; each within the width.
        width: of the interval, from its lower to its upper end, above 0: .05 is 2.5 points to either side.
        budget: labels that people can check, in place of `width`: the plan is for the narrowest interval.
        confidence: of the interval.
        pilot: judgments that people made before, in any form. They say what share of each label is relevant. Their
            documents are not asked about again: they count as they are, however they were chosen.
        prior: what is expected of labels of which the pilot says nothing: a share; or the two numbers of a beta law, to
            which the counts of the pilot are added; or a dict of label -> one of these (None is a document without a
            label). Default: .5, which needs the most labels; to the counts of a pilot, 1/2 and 1/2 are added.
        by_topic: make strata within each topic, at least two labels each. Default: strata go over all topics.
        runs: of which ``P@k`` is to be known, in any form: one for a mean, two for a difference. Their first k
            documents are drawn from. What both have is left out of a difference, to which it adds nothing.
        measure: P with its cutoff, of `runs`; default ``P@10``, from `rel` on.
        rel: the lowest label of people that is relevant; default that of the measure, the pilot or the judge's labels,
            whichever says so first, else 1.
        judge_rel: the lowest label of the judge that is relevant; default what its labels say, else 1 where they are 0
            and 1, else `rel`. Labels above the highest of the pilot are refused without it; without a pilot nobody
            knows on which scale people judge, and `rel` counts.
        seed: decides which documents are drawn. A wider interval takes a part of the same documents.

    Returns:
        LabelPlan: ``.table`` (labels of each stratum), ``.sample`` (the documents to check), ``.to_pool()`` for
        :func:`~pt_reuse.judging.export_tasks`, ``.curve`` and ``.plot()`` (what other widths take, and other ways to
        draw), ``.estimate(checked)``.

    Raises:
        InputError: neither or both of `width` and `budget`, a number of runs that does not go with the target, a
            measure that is not ``P@k``, a pilot or a prior that says nothing of these labels.

    Warns:
        ReuseWarning: topics of the runs that the judge did not label, which do not count; labels in `prior` that no
            document has.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> labels = pd.DataFrame({"qid": "1", "docno": [f"d{n}" for n in range(1000)], "label": [1] * 300 + [0] * 700})
        >>> plan = ptr.labels.plan_labels(labels, width=0.1, prior={1: 0.8, 0: 0.1})
        >>> plan
        Plan of labels: check 164 of 1,000 documents, in 2 strata: a 95 % interval 0.0996 wide for share relevant [...]
        >>> plan.table[["stratum", "documents", "share", "labels"]].values.tolist()
        [['0', 700, 0.1, 104], ['1', 300, 0.8, 60]]

    Source: Merlo et al. 2025; Neyman 1934. The variance is sum W^2 p (1 - p) / n (1 - n/N) over the strata. The
    width is that of the interval of Clopper and Pearson at the effective size of a stratum, n / (1 - n/N), and of
    strata joined as by Zou and Donner 2008; where shares are .5 it is 2 x 1.96 standard errors but for 1 / n.
    """
    asked = _Asked.checked(target, width, budget, confidence)
    expected, by_topic, seed = Expectation.checked(prior), flag("by_topic", by_topic), checked_seed(seed)
    measured = _measured(measure, rel, asked.target, runs is not None)
    with arguments_as(rel="judge_rel"):
        stated = checked_rel(judge_rel)
    labels = as_qrels(_labels_alone(judge_labels), "judge_labels")
    said = None if pilot is None else as_qrels(pilot, "pilot")
    lowest = _lowest(rel, measured, said, labels)
    of_judge = stated or labels.stated_rel
    if of_judge is None:
        # without a pilot nobody knows the scale of people
        given = labels.arrays.labels
        people = Scale(lowest, int(given.max(initial=0))) if said is None else Scale.of(said, lowest)
        # the strata are of the judge's own labels, which stand for none of people
        of_judge = lowest_relevant(given, people, grades=False)
    population = with_people(_population(labels, asked.target, runs, measured), said)
    if not len(population.documents):
        raise InputError("the judge labelled nothing: no label is 0 or above.", argument="judge_labels")
    table, stratum = population.strata(by_topic=by_topic, rel=lowest)
    counts = _pilot_counts(labels, population, said, lowest)
    table["share"] = expected.shares(table, counts)
    numbers = numbers_of(table, asked.target, population.name, of_judge)
    strata = Strata.of(table, table["share"].to_numpy())
    sizes = Sizes(strata, [one for one in numbers if one.is_target], asked.confidence)
    drawn = asked.drawn(sizes)
    table["labels"] = drawn
    table["probability"] = np.divide(drawn, strata.units, out=np.zeros(len(drawn)), where=strata.units > 0)
    # rounded up, so that the plan itself is a row of the curve
    wanted = asked.width or max(np.ceil(1e4 * sizes.widest(drawn)) / 1e4, 1e-4)
    parts = _parts(population.documents.assign(stratum=stratum), table, seed)
    return LabelPlan(
        table=table,
        summary=_summary(numbers, strata, drawn, asked.confidence),
        curve=sizes.curve(wanted),
        sample=parts[0],
        rest=parts[1],
        known=parts[2],
        target=asked.target,
        number=population.name,
        confidence=asked.confidence,
        rel=lowest,
        judge_rel=of_judge,
        settings={
            "target": asked.target if asked.target == PRECISION else f"{asked.target} ({population.name})",
            **({"width": f"{asked.width:g}"} if asked.width else {"width": f"{wanted:.4f}", "budget": asked.budget}),
            "confidence": f"{asked.confidence:g}",
            "strata": "label of the judge" + (", run" * (asked.target == DIFFERENCE)) + (", topic" * by_topic),
            "expected": expected.words(int(counts["judged"].sum())),
            "relevant": f"from label {lowest}; for the judge from label {of_judge}",
            **population.settings,
            "interval": "exact (hypergeometric) for each label, joined by MOVER; planned by Clopper and Pearson",
            "varies": "Which documents are drawn; topics, documents and runs are fixed",
            "seed": seed,
        },
    )


@dataclass(frozen=True)
class _Asked:
    """What is to be known, and how well.

    Attributes:
        target: one of :data:`TARGETS`.
        width: of the interval, None where a budget is given.
        budget: labels, None where a width is given.
        confidence: of the interval.
    """

    target: str
    width: float | None
    budget: int | None
    confidence: float

    @classmethod
    def checked(cls, target: Any, width: Any, budget: Any, confidence: Any) -> _Asked:
        """Return what a user asks for, or say what is wrong with it."""
        choice("target", target, TARGETS)
        level = fraction("confidence", confidence, ends=False)
        if (width is None) == (budget is None):
            raise InputError(
                "say how wide the interval may be, ",
                Option("width", 0.05),
                ", or how many labels people can check, ",
                Option("budget", 500),
                ".",
                argument="width",
            )
        if budget is not None:
            return cls(target, None, positive("budget", budget, "labels"), level)
        most = _WIDEST.get(target, 1.0)
        number = isinstance(width, int | float | np.number) and not isinstance(width, bool)
        if not number or not 0 < width < most:
            raise InputError(
                Argument("width"),
                f" must be a number above 0 and below {most:g}, the distance of the ends of the interval, got "
                f"{told(width)}.",
                argument="width",
            )
        return cls(target, float(width), None, level)

    def drawn(self, sizes: Sizes) -> NDArray[np.int64]:
        """Return (strata,) the labels of each stratum."""
        if self.width is not None:
            return sizes.in_strata(self.width)
        budget = self.budget or 0
        if budget < sizes.fewest:
            raise InputError(
                f"{count(budget, 'label')} {'is' if budget == 1 else 'are'} too few for {len(sizes.strata.units):,} "
                f"strata, which take {sizes.fewest:,}, two each. Give more, or make fewer strata.",
                argument="budget",
            )
        return sizes.with_budget(min(budget, sizes.most))


def _labels_alone(given: Any) -> Any:
    if callable(given):
        raise InputError(
            "judge_labels must be labels, got somebody who gives them. Ask for those of the documents in question: ",
            Call("Pool.judge", "judge"),
            " returns them.",
            argument="judge_labels",
        )
    return given


def _measured(measure: Any, rel: Any, target: str, has_runs: bool) -> ir_measures.Measure | None:
    """Return the measure of the runs, None without runs."""
    lowest = checked_rel(rel)
    if target == DIFFERENCE and not has_runs:
        raise InputError("a difference is of two runs. Give them: ", Option("runs", ...), ".", argument="runs")
    if target == PRECISION and has_runs:
        raise InputError(
            "the precision of a judge's labels is of documents, whichever runs found them. Leave runs out; for the "
            "documents of some runs alone give the labels of these: ",
            Call("Qrels.restrict", "pool"),
            ".",
            argument="runs",
        )
    if not has_runs:
        if measure is not None:
            raise InputError("a measure is of runs. Give them, too: ", Option("runs", ...), ".", argument="measure")
        return None
    if measure is None:
        return _USUAL if lowest in (None, 1) else _USUAL(rel=lowest)
    with arguments_as(measures="measure"):
        found = parse_measures(measure)
    (one,) = found if len(found) == 1 else (None,)
    if one is None or one.NAME != "P" or set(one.params) - {"rel", "cutoff"} or "cutoff" not in one.params:
        raise InputError(
            "measure must be P with a cutoff, such as P@10 or P(rel=2)@10, which adds up over documents, got "
            f"{', '.join(map(repr, found))}.",
            argument="measure",
        )
    if lowest is not None and lowest != one.params.get("rel", 1):
        raise InputError(
            f"{one!r} counts documents as relevant from label {one.params.get('rel', 1)}, and rel says {lowest}. Give "
            f"{one(rel=lowest)!r}, or no rel.",
            argument="measure",
        )
    return one


def _lowest(rel: Any, measured: ir_measures.Measure | None, pilot: Qrels | None, labels: Qrels) -> int:
    stated = [
        checked_rel(rel),
        None if measured is None else int(measured.params.get("rel", 1)),
        None if pilot is None else pilot.stated_rel,
        labels.stated_rel,
    ]
    return next((one for one in stated if one is not None), 1)


def _population(labels: Qrels, target: str, runs: Any, measure: ir_measures.Measure | None) -> Population:
    if measure is None:
        return labelled_documents(labels)
    field: RunSet = as_runs(runs, labels)
    check_runs(field, target)
    return first_documents(labels, field, measure)


def _pilot_counts(labels: Qrels, population: Population, pilot: Qrels | None, rel: int) -> pd.DataFrame:
    """Return of each label of the judge how many documents people judged before, and found relevant."""
    if pilot is None:
        return pd.DataFrame({"label": pd.array([], dtype="Int64"), "judged": [], "relevant": []})
    said = pilot.to_frame()[["qid", "docno", "label"]].rename(columns={"label": "people"})
    every = labels.to_frame()[["qid", "docno", "label"]].astype({"label": "Int64"})
    every = every[every["label"] >= 0]
    # a run may have found what the judge did not label
    more = population.documents.loc[population.documents["label"].isna(), ["qid", "docno", "label"]]
    both = pd.concat([every, more]).merge(said[said["people"] >= 0], on=["qid", "docno"])
    if not len(both):
        raise InputError(
            "no document of the pilot has a label of the judge, so it says nothing of them. Are the ids written alike?",
            argument="pilot",
        )
    counted = both.assign(relevant=both["people"] >= rel).groupby("label", dropna=False)["relevant"]
    return counted.agg(["size", "sum"]).reset_index().set_axis(["label", "judged", "relevant"], axis=1)


def _summary(numbers: list[Number], strata: Strata, drawn: NDArray[np.int64], confidence: float) -> pd.DataFrame:
    rows = []
    for number in numbers:
        found = strata.interval(number, drawn.astype(float), confidence, counted=False)
        rows.append(
            {
                "number": number.name,
                "target": number.is_target,
                "documents": number.documents,
                "judge": number.judge,
                "expected": found.estimate,
                "width": found.width,
                "se": strata.error(number, drawn.astype(float)),
                "labels": int(drawn[number.strata].sum()),
            }
        )
    return pd.DataFrame(rows)


def _parts(documents: pd.DataFrame, table: pd.DataFrame, seed: int) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return the documents to check, the others, and those that people judged before."""
    keys = np.empty(len(documents))
    for qid, rows in documents.groupby("qid", sort=False).indices.items():
        # keys are dealt out in the order of the names, so that the order of the labels has no part in the sample
        by_name = rows[np.argsort(documents["docno"].to_numpy(dtype=object)[rows], kind="stable")]
        keys[by_name] = random_of_topic(seed, str(qid)).random(len(rows))
    chances = table.set_index("stratum")["probability"]
    frame = documents.assign(key=keys, probability=documents["stratum"].map(chances).to_numpy(dtype=float))
    known = frame["people"].notna()
    left = frame[~known]
    place = left.groupby("stratum", sort=False)["key"].rank(method="first")
    chosen = place <= left["stratum"].map(table.set_index("stratum")["labels"])
    columns = ["qid", "docno", "label", "stratum", "probability"]
    sample, rest = (left.loc[rows, columns].reset_index(drop=True) for rows in (chosen, ~chosen))
    return sample, rest, frame.loc[known, [*columns[:4], "people"]].reset_index(drop=True)
