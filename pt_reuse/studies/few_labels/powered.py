"""prediction_powered: how good systems are, by few labels of people and many of a model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import ir_measures
import numpy as np
import pandas as pd

from pt_reuse._check import choice, count, fraction, told
from pt_reuse._errors import Argument, InputError, Option, arguments_as, door, located
from pt_reuse._report import Column, Digits, Report, intervals
from pt_reuse._text import ends, with_ends
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.arrays.prediction_powered import ESTIMATED, JACKKNIFE, VARIANCES
from pt_reuse.arrays.significance import checked_correction
from pt_reuse.data.judgments import Qrels, as_qrels, checked_rel
from pt_reuse.data.run_reading import as_runs_before
from pt_reuse.data.run_set import RunSet
from pt_reuse.judging.judges import JudgeRel, NamedJudge, as_judges
from pt_reuse.plots.marks import checked_top
from pt_reuse.result import Result, key_figures_of
from pt_reuse.scoring.caveats import BEWARE, Caveat, few_topics, noted, tell, told_elsewhere, warn_of_lower_grades
from pt_reuse.scoring.measures import MeasureLike, measure_among, parse_measures
from pt_reuse.scoring.run_scores import check_scoring, checked_measures
from pt_reuse.scoring.topic_sets import check_every_topic, check_topics, topics_of_runs
from pt_reuse.studies.few_labels.levels import (
    Asked,
    Estimates,
    checked_pool,
    document_estimates,
    documents_to_label,
    linear_of,
    pair_table,
    pool_labels,
    rank_table,
    sample_of,
    score_as_asked,
    split_topics,
    topic_estimates,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: what the rows of a report may be
ROWS = ("judge", "run", "pair")


def of_summary(summary: pd.DataFrame, settings: Mapping[str, Any], *, level: str) -> Report:
    """Return a report of judges and measures."""
    several = len(set(summary["judge"])) > 1
    names = [f"{m}, {j}" if several else m for j, m in zip(summary["judge"], summary["measure"], strict=True)]
    n, more = _from_to(summary["n"]), _from_to(summary["N"])
    pairs = int(summary["pairs"].iloc[0])
    return Report(
        [
            Column("Measure and judge" if several else "Measure", names),
            Column("Reach, people alone", summary["human_reach"], Digits.SCORE),
            Column("Reach", summary["reach"], Digits.SCORE),
            Column(f"Effective {level}", summary["n_eff"], Digits.TENTHS),
            Column("Pairs, people alone", summary["human_significant"], Digits.COUNT),
            Column("Pairs", summary["significant"], Digits.COUNT),
        ],
        caption=(
            f"Scores by {n} {level} with people's labels and {more} with the judge's alone: half the width of the "
            f"intervals (median over {count(int(summary['runs'].iloc[0]), 'run')}), how many {level} the labels of "
            f"people are worth beside the judge's, and how many of {count(pairs, 'pair')} of runs differ significantly."
        ),
        notes=[
            f"Intervals: {settings['intervals']}.",
            f"Pairs: {settings['pairs']}.",
            *_conventions(settings),
        ],
    )


def of_runs(table: pd.DataFrame, ranks: pd.DataFrame, settings: Mapping[str, Any], *, level: str) -> Report:
    """Return a report of the runs of one judge and measure, the best first."""
    order = table["estimate"].argsort(kind="stable").to_numpy()[::-1]
    rows, places = table.iloc[order], ranks.iloc[order]
    first = table.iloc[0]
    return Report(
        [
            Column("Run", rows["name"]),
            Column("People alone", rows["human"], Digits.SCORE),
            Column("Estimate", rows["estimate"], Digits.SCORE),
            intervals("the estimate", rows["estimate_low"], rows["estimate_high"], Digits.SCORE),
            Column("Rank", places["rank"], Digits.COUNT),
            intervals("the rank", places["rank_low"], places["rank_high"], Digits.COUNT),
        ],
        caption=(
            f"{first['measure']} by {first['n']:,} {level} with people's labels and {first['N']:,} with those of "
            f"{first['judge']} alone, the highest estimate first."
        ),
        notes=[f"Intervals: {settings['intervals']}.", f"Ranks: {settings['pairs']}.", *_conventions(settings)],
    )


def of_pairs(pairs: pd.DataFrame, settings: Mapping[str, Any]) -> Report:
    """Return a report of the pairs of runs of one judge and measure that differ significantly."""
    rows = pairs[pairs["significant"]]
    rows = rows.iloc[rows["difference"].abs().argsort(kind="stable").to_numpy()[::-1]]
    if not len(rows):
        # a report has a row
        rows = pairs.iloc[pairs["p"].argsort(kind="stable").to_numpy()[:1]]
    found = int(pairs["significant"].sum())
    return Report(
        [
            Column("Pair", [f"{a} - {b}" for a, b in zip(rows["first"], rows["second"], strict=True)]),
            Column("People alone", rows["human"], Digits.SCORE),
            Column("Difference", rows["difference"], Digits.SCORE),
            intervals("the difference", rows["difference_low"], rows["difference_high"], Digits.SCORE),
            Column("p, corrected", rows["p_corrected"], Digits.P),
        ],
        caption=(
            f"The {found:,} of {count(len(pairs), 'pair')} of runs that differ significantly, the largest difference "
            "first."
            if found
            else f"None of {count(len(pairs), 'pair')} of runs differs significantly; the one of lowest p."
        ),
        notes=[f"Pairs: {settings['pairs']}; intervals are for each pair alone.", *_conventions(settings)],
    )


def said(
    summary: pd.DataFrame,
    table: pd.DataFrame,
    ranks: pd.DataFrame,
    settings: Mapping[str, Any],
    *,
    level: str,
    confidence: float,
) -> list[str]:
    """Return what was found in sentences."""
    found, several = [], len(set(summary["judge"])) > 1
    for row in summary.to_dict("records"):
        with_judge = f" with {row['judge']}" if several else ""
        key = (table["judge"] == row["judge"]) & (table["measure"] == row["measure"])
        runs, places = table[key], ranks[(ranks["judge"] == row["judge"]) & (ranks["measure"] == row["measure"])]
        measure, judge = row["measure"], row["judge"]
        worth = "" if pd.isna(row["n_eff"]) else f": the {row['n']:,} are worth {row['n_eff']:,.1f} (median)"
        known = (
            "has no interval, which takes two topics"
            if pd.isna(row["reach"])
            else f"is known to ±{row['reach']:.4f}, and by people's labels alone to ±{row['human_reach']:.4f}"
        )
        found.append(
            f"With {row['n']:,} {level} labelled by people and {row['N']:,} by {judge} alone, the {measure} of a run "
            f"{known}{worth}; lambda is {row['lambda']:.2f}."
        )
        if row["pairs"]:
            comma = "," if several else ""
            found.append(
                f"By {measure}{with_judge}{comma} {row['significant']:,} of {count(row['pairs'], 'pair')} of runs "
                f"differ significantly ({settings['pairs']}), {row['human_significant']:,} by people's labels alone; "
                f"the interval of a rank is {row['rank_width']:.1f} ranks wide on average, and "
                f"{row['human_rank_width']:.1f} by people's labels alone."
            )
        best = int(runs["estimate"].to_numpy().argmax())
        run, place = runs.iloc[best].to_dict(), places.iloc[best]
        reach = ends(run, "estimate", ".4f")
        interval = f" ({100 * confidence:.4g} % interval {reach})" if reach else ""
        found.append(
            f"The highest {measure}{with_judge} has {run['name']}: {run['estimate']:.4f}{interval}, rank "
            f"{place['rank_low']} to {place['rank_high']}; by people's labels alone {with_ends(run, 'human', '.4f')}."
        )
        outside = (
            f"{count(row['outside'], 'run')} of {row['runs']:,} would have a score outside of its interval of "
            f"{measure}; "
        )
        found.append(
            f"By the labels of {judge} alone {outside if reach else ''}{run['name']} would have {run['by_judge']:.4f}."
        )
    return [*found, *_beware(settings)]


def _from_to(numbers: pd.Series) -> str:
    """Return the lowest and the highest of whole numbers, or the only one: judges may have labelled other topics."""
    low, high = int(numbers.min()), int(numbers.max())
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _conventions(settings: Mapping[str, Any]) -> list[str]:
    """Return what all numbers hang on, for the notes of a report."""
    return [
        f"Lambda: {settings['lambda']}.",
        f"Labels of people: {settings['human']}; of judges: {settings['judges']}.",
        f"Runs: ranked in the order {settings['order']}.",
        *_beware(settings),
    ]


def _beware(settings: Mapping[str, Any]) -> list[str]:
    return [f"Beware: {settings[BEWARE]}."] if BEWARE in settings else []


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PredictionPowered(Result):
    """What people would say of all runs, estimated by few labels of theirs and many of a model.

    Attributes:
        table: one row per judge, measure and run: ``judge family measure name team type``; ``human``, the mean by
            people's labels alone (by documents, each counted 1 / inclusion), with ``human_low human_high``;
            ``by_judge``, the mean by the judge's labels of all topics, or of the whole pool; ``estimate`` with
            ``estimate_low estimate_high`` and its standard error ``se``; ``lambda``, how far the judge is trusted;
            ``n`` topics (documents) that people labelled and ``N`` that the judge alone did; ``n_eff``, how many people
            would have to label for an interval as narrow without the judge: n times the variance by people's labels
            alone over that of the estimate, NaN where both are 0 or unknown; below n where lambda is uncertain and the
            judge finds the topics of people unlike the others. By documents the variances are those of
            sampling, which go with 1/n - 1/pool, so that n_eff is not beyond the pool; and there are ``se_sampling
            sampling_low sampling_high``: how far other samples of documents of these same topics would lead elsewhere,
            NaN where a stratum has one labelled document of several.
        pairs: one row per judge, measure and pair of runs: ``judge family measure first second``; the same columns of
            the difference, first minus second, which is ``difference`` in place of ``estimate``; whether its interval
            ``excludes_0``, for this pair alone; ``p`` of its t test, ``p_corrected`` for the number of pairs, and
            whether that is ``significant``; the same by people's labels alone, ``human_p human_p_corrected
            human_significant``.
        ranks: one row per judge, measure and run: ``judge family measure name``; ``rank`` by the estimate, from
            ``rank_low``, 1 + the number of runs significantly better, to ``rank_high``, the number of runs less those
            significantly worse; ``human_rank human_rank_low human_rank_high`` by people's labels alone; ``judge_rank``
            by the judge's.
        level: what people labelled a part of, ``"topics"`` or ``"documents"``.
        confidence: of the intervals.
        correction: of the tests of pairs, which is that of the ranks. With ``"bonferroni"`` the intervals of all ranks
            under a measure hold at once, since all differences lie in their intervals at once.
    """

    title: ClassVar[str] = "Prediction-powered scores"

    pairs: pd.DataFrame
    ranks: pd.DataFrame
    level: str
    confidence: float
    correction: str

    @property
    def judges(self) -> list[str]:
        """Return the names of the judges."""
        return list(dict.fromkeys(self.table["judge"]))

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return every table by name."""
        return {"table": self.table, "pairs": self.pairs, "ranks": self.ranks, "summary": self.summary}

    @property
    def summary(self) -> pd.DataFrame:
        """Return one row per judge and measure.

        ``judge measure n N``; ``human_reach`` and ``reach``, the median over runs of half the interval's width without
        and with the judge; ``n_eff`` and ``lambda``, medians over runs; ``outside``, how many runs have a mean by the
        judge's labels that lies outside of the interval; ``runs``; ``pairs``, how many of them are ``significant`` and
        ``human_significant``; ``rank_width`` and ``human_rank_width``, the mean of highest less lowest rank.
        """
        rows = []
        ranks, pairs = (frame.groupby(["judge", "measure"], sort=False) for frame in (self.ranks, self.pairs))
        for (judge, measure), mine in self.table.groupby(["judge", "measure"], sort=False):
            of_ranks = ranks.get_group((judge, measure))
            several = (judge, measure) in pairs.groups
            of_pairs = pairs.get_group((judge, measure)) if several else self.pairs.head(0)
            beyond = (mine["by_judge"] < mine["estimate_low"]) | (mine["by_judge"] > mine["estimate_high"])
            rows.append(
                {
                    "judge": judge,
                    "measure": measure,
                    "n": int(mine["n"].iloc[0]),
                    "N": int(mine["N"].iloc[0]),
                    "human_reach": float((mine["human_high"] - mine["human_low"]).median() / 2),
                    "reach": float((mine["estimate_high"] - mine["estimate_low"]).median() / 2),
                    "n_eff": float(mine["n_eff"].median()),
                    "lambda": float(mine["lambda"].median()),
                    "outside": int(beyond.sum()),
                    "runs": len(mine),
                    "pairs": len(of_pairs),
                    "significant": int(of_pairs["significant"].sum()),
                    "human_significant": int(of_pairs["human_significant"].sum()),
                    "rank_width": float((of_ranks["rank_high"] - of_ranks["rank_low"]).mean()),
                    "human_rank_width": float((of_ranks["human_rank_high"] - of_ranks["human_rank_low"]).mean()),
                }
            )
        return pd.DataFrame(rows)

    def key_figures(self) -> pd.DataFrame:
        """Return how wide intervals are with and without the judge, what it is worth, and what it tells apart."""
        summary, several = self.summary, len(self.judges) > 1
        figures = ["n_eff", "lambda", "reach", "human_reach", "significant", "human_significant"]
        return key_figures_of(summary, figures, rows=[name if several else "" for name in summary["judge"]])

    def headline(self) -> str:
        """Return how many topics, or documents, the labels of people are worth beside those of the judge."""
        parts = []
        for row in self.summary.to_dict("records"):
            by = f" by {row['judge']}" if len(self.judges) > 1 else ""
            worth = "unknown" if pd.isna(row["n_eff"]) else f"{row['n_eff']:,.1f}"
            reach = "" if pd.isna(row["reach"]) else f" (±{row['reach']:.4f}, alone ±{row['human_reach']:.4f})"
            parts.append(f"{row['measure']}{by}: {row['n']:,} {self.level} labelled by people are worth {worth}{reach}")
        return "; ".join(parts)

    def findings(self) -> list[str]:
        """Return what was found, in sentences, each with its number and its interval."""
        return said(self.summary, self.table, self.ranks, self.settings, level=self.level, confidence=self.confidence)

    @door
    def report(self, by: str = "judge", *, measure: MeasureLike | None = None, judge: str | None = None) -> Report:
        """Return what a paper prints.

        Args:
            by: the rows: each ``"judge"`` and measure (default) with half the width of the intervals, the effective
                number, and the pairs told apart; each ``"run"`` with its estimate, interval and rank, the best first;
                or each ``"pair"`` that differs significantly, the largest difference first.
            measure: of runs and pairs; default the first.
            judge: of runs and pairs; default the first.
        """
        choice("by", by, ROWS)
        name, whose = measure_among(self.measures, measure), self._judge(judge)
        if by == "judge":
            return of_summary(self.summary, self.settings, level=self.level)
        table, pairs, ranks = (
            frame[(frame["judge"] == whose) & (frame["measure"] == name)]
            for frame in (self.table, self.pairs, self.ranks)
        )
        if by == "run":
            return of_runs(table, ranks, self.settings, level=self.level)
        return of_pairs(pairs, self.settings)

    @door
    def plot(
        self,
        measure: MeasureLike | None = None,
        *,
        judge: str | None = None,
        top: int | None = None,
        ax: Axes | None = None,
        title: str | None = None,
        legend: bool = True,
        width: float | None = None,
    ) -> Axes:
        """Draw each run's interval with the judge and by people's labels alone, the highest estimate on top.

        Args:
            measure: one of the measures; default the first.
            judge: one of the judges; default the first.
            top: how many runs at most; default 30, 15 in a column.
            ax: axes to draw into; default a new figure. The other three are those of :doc:`every figure <figures>`.
            title: default the figure's own in a new figure, none in `ax`; ``""`` for none.
            legend: whether there is one, outside the axes.
            width: of a new figure in inches, default 7, a page's; 3.3 for a column.

        Returns:
            Axes: two bars with a point per run, and a cross at the mean by the judge's labels.
        """
        from pt_reuse.plots.forests import plot_forest
        from pt_reuse.plots.sheet import Place

        name, whose = measure_among(self.measures, measure), self._judge(judge)
        rows = self.table[(self.table["judge"] == whose) & (self.table["measure"] == name)]
        return plot_forest(
            rows,
            measure=name,
            judge=whose,
            confidence=self.confidence,
            top=checked_top(top),
            place=Place(ax, title, legend, width),
        )

    def _judge(self, judge: str | None) -> str:
        return self.judges[0] if judge is None else choice("judge", judge, self.judges)


#: what people labelled few of
LEVELS = ("topics", "documents")


@dataclass(frozen=True)
class _Found:
    """What is estimated with one judge.

    Attributes:
        judge: its name.
        estimates: of each measure.
        words: what there is of its labels, for settings.
        caveats: what keeps the intervals from meaning what they seem to mean.
    """

    judge: NamedJudge
    estimates: list[Estimates]
    words: str
    caveats: list[Caveat]


@door
def prediction_powered(
    runs: Any,
    human: Any,
    judge: Any,
    measures: MeasureLike | Iterable[MeasureLike],
    *,
    level: str = "topics",
    pool: Any = None,
    lam: float | None = None,
    variance: str | None = None,
    correction: str = "bonferroni",
    confidence: float = 0.95,
    rel: int | None = None,
    judge_rel: JudgeRel = None,
    families: Mapping[str, str] | None = None,
    complete: bool = True,
    without_topics: str = "error",
    verbose: bool = False,
) -> PredictionPowered:
    """Estimate scores, differences and ranks by people's labels, where people labelled little and a model all.

    The estimates are of what people would say of everything, with intervals that hold however wrong the model is: its
    labels only make them narrower, the more so the better they agree with people's. What is estimated is never the
    score by the model's labels.

    **By topics** people judged n topics in full, and the model labelled these and N others. A run's mean is Ybar_n +
    lambda (Fbar_N - Fbar_n): the mean by people's labels, moved by how much the model says the other topics differ. The
    n topics must be a random part of all n + N, and the model must not have been tuned on their labels.

    **By documents** people labelled a random sample of each topic's pool, with known probability, and the model all of
    it. A run's score on a topic is the sum over its documents of weight times gain, by the model's labels, corrected by
    what people say of the sampled ones, each of which stands for 1 / probability. This takes measures that are such
    sums: ``P@k``, ``RBP(rel=...)``, ``SDCG(max_rel=...)@k`` (DCG over its largest possible value), ``SetP``,
    ``NumRet(rel=...)`` and ``NumRel``, the number of relevant documents of the pool. nDCG and AP are refused.

    Args:
        runs: the field: a RunSet, a dict of run name -> results, or run files, see :doc:`runs`. Pipelines come in by
            :meth:`RunSet.from_pipelines`.
        human: labels of people, in any form. By topics: of some topics, in full. By documents: of a sample, as
            :func:`~pt_reuse.pools.sample_pool` and :meth:`Pool.judge` make them, with the column ``stratum`` and label
            -1 for what was pooled and not sampled; or with the column ``inclusion``, the probability with which each
            document was drawn, each by itself.
        judge: labels of a model, in any form, a :class:`judging.Judge`, a function or a pipeline; or a dict of name ->
            one of these. Its own labels count, also of documents that people did not label. A document that it gave no
            label is unjudged for it.
        measures: ir_measures measures, or their names, one or several.
        level: ``"topics"`` (default) or ``"documents"``: what people labelled a part of.
        pool: the documents that the judge is to label: a Pool, or a frame with ``qid``, ``docno`` and what the judge
            reads. Default those whose labels exist already; a judge that has to be asked needs it by topics.
        lam: lambda, how far the model is trusted, from 0 (people's labels alone) to 1; default the best one, estimated:
            by topics of each run and of each pair, by documents of all runs and of all pairs. By documents 1 is
            unbiased also where few documents are labelled.
        variance: by topics, how that of an estimate is estimated where lambda is: ``"jackknife"`` (default), in which
            lambda is estimated anew without each of the n topics; or ``"plain"``, PPI++'s var(Y - lambda F)/n, which
            takes lambda for known, and whose intervals cover one to three in a hundred less. With a given `lam` both
            are the same.
        correction: of the tests of pairs for their number: ``"bonferroni"`` (default), under which the intervals of all
            ranks hold at once; ``"holm"``, ``"benjamini-hochberg"``; or ``"none"``.
        confidence: of the intervals; pairs are tested at the level 1 - confidence.
        rel: the lowest label of people that is relevant; default what the judgments say, else 1. Measures have their
            own.
        judge_rel: the same of the judge's labels, or a dict of its label -> the label of people, as in
            :func:`audit_labels`.
        families: judge -> the family of models that it belongs to.
        complete: the mean is over all topics, a topic that a run lacks counting 0 (default). False: over the topics
            that the run has, which is refused where a run lacks some.
        without_topics: a run with none of the topics that people labelled, or none of the others, is an ``"error"``
            (default), or scores ``"zero"``.
        verbose: show progress bars.

    Returns:
        PredictionPowered: ``.table`` per judge, measure and run, ``.pairs``, ``.ranks``, ``.findings()``, ``.plot()``.

    Raises:
        InputError: fewer than two topics of either kind, or than three of people where lambda is estimated; a sample
            that does not say how it was drawn; by documents a measure that is no sum over documents; a judge that has
            to be asked without a pool.

    Warns:
        CaveatWarning: fewer than 20 topics that people labelled, for which intervals are known to cover less than they
            say; fewer topics of the judge alone than of both; other numbers of the judge's labels on the two kinds of
            topics; a lambda of 0 for half of the runs, for which the judge is of no use; by documents fewer than five
            topics.
        ReuseWarning: topics that do not count, documents without a label of the judge.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.simulate_field(seed=7, n_topics=80)
        >>> people = field.all_qrels.select(field.all_qrels.topics[:25])
        >>> judge = ptr.judging.Noisy(field.all_qrels, ptr.judging.flips(0.1, range(3)), seed=1)
        >>> found = ptr.labels.prediction_powered(field.runs, people, judge, "nDCG@10")
        >>> found.table[["name", "human", "estimate", "estimate_low", "estimate_high", "n_eff"]].round(3).head(2)
            name  human  estimate  estimate_low  estimate_high   n_eff
        0  lex1a  0.560     0.502         0.430          0.573  32.761
        1  lex1b  0.572     0.513         0.433          0.593  24.214

    Source: Angelopoulos, Duchi and Zrnic 2023, PPI++: Efficient Prediction-Powered Inference,
    https://arxiv.org/abs/2311.01453; Oosterhuis, Jagerman, Qin, Wang and Bendersky 2024, Reliable Confidence Intervals
    for Information Retrieval Evaluation Using Generative A.I., KDD. Equal to ppi-python where conventions agree.
    """
    choice("level", level, LEVELS)
    check_scoring(complete=complete, without_topics=without_topics, verbose=verbose)
    asked = Asked(
        _checked_measures(measures, level),
        None if lam is None else _checked_weight(lam),
        fraction("confidence", confidence, ends=False),
        _checked(correction),
        bool(complete),
        without_topics,
        bool(verbose),
        _checked_variance(variance, level),
    )
    lowest, texts = checked_rel(rel), checked_pool(pool)
    judges = as_judges(judge, rel=judge_rel, families=families)
    if level == "topics":
        for each in judges:
            documents_to_label(each, texts)
    with arguments_as(qrels="human"):
        runs, human = as_runs_before(runs, human)
    people = _labelled(as_qrels(human, "human"), lowest, level)
    if level == "documents":
        # by topics scoring says it
        warn_of_lower_grades(asked.measures, people.rel)
    if without_topics == "error":
        check_topics(runs, people)
    if not complete:
        check_every_topic(runs.names, topics_of_runs(runs, people), "complete", what="The estimate")
    if level == "topics":
        found = _by_topics(runs, people, judges, texts, asked)
    else:
        found = _by_documents(runs, people, judges, texts, asked)
    for one in found:
        with located(one.judge.name):
            tell(one.caveats)
    notes = [
        Caveat(f"{one.judge.name}: {caveat.note}" if len(found) > 1 else caveat.note, caveat.parts)
        for one in found
        for caveat in one.caveats
    ]
    settings = {
        **runs.settings,
        "complete": complete,
        "human": f"relevant from label {people.rel}",
        "judges": "; ".join(f"{one.judge.name} ({one.words})" for one in found),
        "lambda": ESTIMATED_OF[level] if asked.weight is None else f"{asked.weight:g}, given",
        "intervals": f"{100 * asked.confidence:.4g} %, {_intervals(level, asked)}",
        "pairs": f"two-sided t tests at {1 - asked.confidence:.4g}, correction {correction}",
        "ties": f"means equal to {DECIMALS} decimals; ranks are 1 + number of better runs",
        **noted(notes),
    }
    return _result(found, runs, asked, settings, level)


#: what lambda is where it is estimated, and what an interval is, for settings
ESTIMATED_OF = {
    "topics": f"estimated: {ESTIMATED}",
    "documents": "estimated: cov / var over the samples that there could be, summed over topics and runs (or pairs)",
}
INTERVALS = {
    "topics": "t with n - 1 degrees, standard error root of var(Y - lambda F)/n + lambda^2 var(F)/N",
    "jackknife": "t with n - 1 degrees, standard error root of J + lambda^2 var(F)/N, J the variance by the jackknife "
    "over the n topics, lambda estimated anew without each",
    "documents": "over topics: t with topics - 1 degrees; of the sampling alone, on these topics: normal",
}


def _checked_measures(measures: Any, level: str) -> list[ir_measures.Measure]:
    if level == "topics":
        return checked_measures(measures)
    parsed = parse_measures(measures)
    for measure in parsed:
        linear_of(measure)
    return parsed


def _checked_weight(lam: Any) -> float:
    if isinstance(lam, bool) or not isinstance(lam, int | float | np.number) or not 0 <= lam <= 1:
        raise InputError(Argument("lam"), f" must be a number from 0 to 1, got {told(lam)}.", argument="lam")
    return float(lam)


def _checked_variance(variance: Any, level: str) -> str:
    if variance is None:
        return JACKKNIFE
    choice("variance", variance, VARIANCES)
    if level == "documents":
        raise InputError(
            "the variance by documents is that of the sample, and there is one way to estimate it. Leave ",
            Argument("variance"),
            " out, or give ",
            Option("level", "topics"),
            ".",
            argument="variance",
        )
    return str(variance)


def _intervals(level: str, asked: Asked) -> str:
    by_jackknife = level == "topics" and asked.weight is None and asked.variance == JACKKNIFE
    return INTERVALS[JACKKNIFE if by_jackknife else level]


def _checked(correction: Any) -> str:
    checked_correction(correction)
    return str(correction)


def _labelled(human: Qrels, rel: int | None, level: str) -> Qrels:
    """Return the labels of people; by topics on the topics alone in which they labelled a document."""
    labels, topic = human.arrays.labels, human.arrays.documents.topic
    there = np.unique(topic[labels >= 0])
    if not len(there):
        raise InputError("people labelled no document.", argument="human")
    kept = human if level == "documents" else human.select([human.topics[t] for t in there.tolist()])
    return kept if rel is None else kept.with_rel(rel)


def _by_topics(
    runs: RunSet, people: Qrels, judges: Sequence[NamedJudge], pool: pd.DataFrame | None, asked: Asked
) -> list[_Found]:
    splits = [split_topics(runs, people, judge, pool, asked) for judge in judges]
    with told_elsewhere():
        mine = score_as_asked(runs, people, asked)
    found = []
    for judge, split in zip(judges, splits, strict=True):
        with located(judge.name):
            estimates = list(topic_estimates(runs, mine, split, asked))
        caveats = [*split.caveats(), *_useless(estimates, asked)]
        found.append(_Found(judge, estimates, split.words(), caveats))
    return found


def _by_documents(
    runs: RunSet,
    people: Qrels,
    judges: Sequence[NamedJudge],
    pool: pd.DataFrame | None,
    asked: Asked,
) -> list[_Found]:
    measures = [linear_of(measure) for measure in asked.measures]
    found = []
    for judge in judges:
        sample = sample_of(people, judge.judge.known_pairs() if pool is None else pool)
        said = pool_labels(judge, sample, pool)
        estimates = list(document_estimates(runs, sample, said.labels, measures, asked))
        topics = count(len(people.topics), "topic")
        words = f"{said.scale_words()}, people labelled {sample.words()}, {topics}"
        caveats = [*few_topics(len(people.topics)), *_useless(estimates, asked)]
        found.append(_Found(judge, estimates, words, caveats))
    return found


def _useless(estimates: Sequence[Estimates], asked: Asked) -> list[Caveat]:
    """Return a caveat for the measures for which the judge is of no use."""
    if asked.weight is not None:
        return []
    # where people labelled everything, there is nothing that a judge could add
    shares = {each.measure: float(((each.means["lambda"] == 0) & (each.means["N"] > 0)).mean()) for each in estimates}
    useless = [f"{measure} ({share:.0%})" for measure, share in shares.items() if share >= 0.5]
    if not useless:
        return []
    return [
        Caveat(
            f"lambda is 0 for {', '.join(useless)} of the runs",
            (
                f"lambda is 0 for {', '.join(useless)} of the runs: the judge's labels do not go with those of people, "
                "and the estimates are by people's labels alone. Another judge, or more labels of people, may help.",
            ),
        )
    ]


def _result(
    found: Sequence[_Found], runs: RunSet, asked: Asked, settings: dict[str, Any], level: str
) -> PredictionPowered:
    names, known = runs.names, runs.run_table[["name", "team", "type"]].reset_index(drop=True)
    tables: list[pd.DataFrame] = []
    pairs: list[pd.DataFrame] = []
    ranked: list[pd.DataFrame] = []
    for one in found:
        for each in one.estimates:
            of_pairs = pair_table(each.pairs, names, asked)
            means = pd.concat([known, each.means.drop(columns=["p", "human_p"])], axis=1)
            key = {"judge": one.judge.name, "family": one.judge.family, "measure": each.measure}
            for frames, frame in (
                (tables, means),
                (pairs, of_pairs),
                (ranked, rank_table(each.means, of_pairs, names)),
            ):
                frames.append(pd.DataFrame(key, index=frame.index).join(frame))
    return PredictionPowered(
        table=pd.concat(tables, ignore_index=True),
        settings=settings,
        pairs=pd.concat(pairs, ignore_index=True),
        ranks=pd.concat(ranked, ignore_index=True),
        level=level,
        confidence=asked.confidence,
        correction=asked.correction,
    )
