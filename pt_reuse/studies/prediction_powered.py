"""prediction_powered: how good systems are, by few labels of people and many of a model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import ir_measures
import numpy as np
import pandas as pd

from pt_reuse._check import count, fraction
from pt_reuse._report import Digits
from pt_reuse._text import ends, with_ends
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.arrays.prediction_powered import ESTIMATED, JACKKNIFE, VARIANCES, TopicValues
from pt_reuse.data.judgments import Qrels, as_qrels, checked_rel
from pt_reuse.errors import InputError, located
from pt_reuse.judge import JudgeRel, NamedJudge
from pt_reuse.options import Parameter
from pt_reuse.plots.forests import plot_forest
from pt_reuse.result import KeyFigures, Shown, View, clauses
from pt_reuse.scoring.caveats import Caveat, few_topics
from pt_reuse.scoring.measures import MeasureLike, parse_measures
from pt_reuse.scoring.scores import check_every_topic, check_topics, checked_measures, topics_of_runs
from pt_reuse.studies.few_labels import (
    Estimates,
    LinearMeasure,
    checked_pool,
    document_estimates,
    documents_to_label,
    pair_table,
    pool_labels,
    rank_table,
    sample_of,
    split_topics,
    topic_estimates,
)
from pt_reuse.studies.judged_fields import NOTES, AskedJudges, OfJudges, under
from pt_reuse.study import Entry, study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pt_reuse.plots.sheet import Place

#: what people labelled few of
LEVELS = ("topics", "documents")
#: what lambda is where it is estimated, and what an interval is, for settings
_LAMBDA = {
    "topics": f"estimated: {ESTIMATED}",
    "documents": "estimated: cov / var over the samples that there could be, summed over topics and runs (or pairs)",
}
_INTERVALS = {
    "topics": "t with n - 1 degrees, standard error root of var(Y - lambda F)/n + lambda^2 var(F)/N",
    "jackknife": "t with n - 1 degrees, standard error root of J + lambda^2 var(F)/N, J the variance by the jackknife "
    "over the n topics, lambda estimated anew without each",
    "documents": "over topics: t with topics - 1 degrees; of the sampling alone, on these topics: normal",
}


def _draw(result: PredictionPowered, measure: str, place: Place | None, *, judge: str | None = None) -> Axes:
    """Draw each run's interval with a judge and by people's labels alone, the highest estimate on top."""
    who = result.judge(judge)
    rows = result.table[(result.table["judge"] == who) & (result.table["measure"] == measure)]
    return plot_forest(rows, measure=measure, judge=who, confidence=result.confidence, place=place)


_ESTIMATE = (
    Shown("People alone", "human", Digits.SCORE),
    Shown("Estimate", "estimate", Digits.SCORE),
    Shown("Interval of the estimate", "estimate", Digits.SCORE, interval=True),
)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PredictionPowered(OfJudges):
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
        confidence: the confidence level of the intervals.
        correction: of the tests of pairs, which is that of the ranks. With ``"bonferroni"`` the intervals of all ranks
            under a measure hold at once, since all differences lie in their intervals at once.
    """

    title = "Prediction-powered scores"
    condition = (
        "It holds if the {level} that people labelled were drawn at random from all; confidence {confidence:g}, "
        "medians over runs."
    )
    limit = "It does not say that the judge can be trusted on other topics or for other runs."
    views = {
        "judge": View(
            table="named",
            columns=(
                Shown("Measure and judge", "named"),
                Shown("Reach, people alone", "human_reach", Digits.SCORE),
                Shown("Reach", "reach", Digits.SCORE),
                Shown("Effective number", "n_eff", Digits.TENTHS),
                Shown("Pairs, people alone", "human_significant", Digits.COUNT),
                Shown("Pairs", "significant", Digits.COUNT),
            ),
            caption="Scores by some {level} with people's labels and others with a judge's alone: half the width of "
            "the intervals (median over runs), how many {level} the labels of people are worth beside the judge's, "
            "and how many pairs of runs differ significantly.",
            noun="judges",
        ),
        "run": View(
            table="ranked",
            select={"judge": None},
            descending=("estimate",),
            columns=(
                Shown("Run", "name"),
                *_ESTIMATE,
                Shown("Rank", "rank", Digits.COUNT),
                Shown("Interval of the rank", "rank", Digits.COUNT, interval=True),
            ),
            caption="{measure} by people's labels of some {level} and those of {judge} of all, the highest first.",
            noun="runs",
        ),
        "pair": View(
            table="different",
            select={"judge": None},
            columns=(
                Shown("Pair", "pair"),
                Shown("People alone", "human", Digits.SCORE),
                Shown("Difference", "difference", Digits.SCORE),
                Shown("Interval of the difference", "difference", Digits.SCORE, interval=True),
                Shown("p, corrected", "p_corrected", Digits.P),
            ),
            caption="The pairs of runs that differ significantly by {measure}, the largest difference first; where "
            "none does, the one of lowest p. Intervals are for each pair alone.",
            noun="pairs",
        ),
    }
    plots = {"intervals": _draw}
    key = (
        KeyFigures(
            ("n_eff", "lambda", "reach", "human_reach", "significant", "human_significant"), "summary", "{judge}"
        ),
    )
    sentences = {"pairs": "Pairs and ranks: {pairs}.", "lambda": "Lambda: {lambda}.", **NOTES}
    derived = {"summary": "summary"}

    pairs: pd.DataFrame
    ranks: pd.DataFrame
    level: str
    confidence: float
    correction: str

    @property
    def summary(self) -> pd.DataFrame:
        """Return one row per judge and measure.

        ``judge measure n N``; ``human_reach`` and ``reach``, the median over runs of half the interval's width without
        and with the judge; ``n_eff`` and ``lambda``, medians over runs; ``outside``, how many runs have a mean by the
        judge's labels that lies outside of the interval; ``runs``; ``pairs``, how many of them are ``significant`` and
        ``human_significant``; ``rank_width`` and ``human_rank_width``, the mean of highest less lowest rank.
        """
        keys = ["judge", "measure"]
        means, ranks = self.table, self.ranks
        beyond = (means["by_judge"] < means["estimate_low"]) | (means["by_judge"] > means["estimate_high"])
        columns = {
            "n": means["n"],
            "N": means["N"],
            "human_reach": (means["human_high"] - means["human_low"]) / 2,
            "reach": (means["estimate_high"] - means["estimate_low"]) / 2,
            "n_eff": means["n_eff"],
            "lambda": means["lambda"],
            "outside": beyond.astype(np.int64),
            "runs": 1,
        }
        sums = ("outside", "runs")
        how = {name: "sum" if name in sums else "first" if name in "nN" else "median" for name in columns}
        found = means[keys].assign(**columns).groupby(keys, sort=False).agg(how).reset_index()
        significant = ["significant", "human_significant"]
        of_pairs = self.pairs[[*keys, *significant]].assign(pairs=1).groupby(keys, sort=False).sum()
        widths = {f"{name}_width": ranks[f"{name}_high"] - ranks[f"{name}_low"] for name in ("rank", "human_rank")}
        of_ranks = ranks[keys].assign(**widths).groupby(keys, sort=False).mean()
        counts = of_pairs.reindex(pd.MultiIndex.from_frame(found[keys]), columns=["pairs", *significant], fill_value=0)
        return pd.concat([found, counts.reset_index(drop=True).astype(np.int64)], axis=1).join(of_ranks, on=keys)

    def _answers(self) -> list[str]:
        return ["estimate", *super()._answers()]

    def named(self) -> pd.DataFrame:
        """Return the summary with a name of each row."""
        rows = self.summary
        return rows.assign(named=rows["measure"] + ", " + rows["judge"] if len(self.judges) > 1 else rows["measure"])

    def ranked(self) -> pd.DataFrame:
        """Return the runs with their ranks."""
        return self.table.merge(self.ranks.drop(columns="family"), on=["judge", "measure", "name"])

    def different(self) -> pd.DataFrame:
        """Return the pairs that differ significantly, the largest first; where none does, that of lowest p."""
        rows = self.pairs.assign(pair=self.pairs["first"] + " - " + self.pairs["second"])
        rows = rows.sort_values("p", kind="stable")
        lowest = ~rows.duplicated(["judge", "measure"])
        none = ~rows.groupby(["judge", "measure"])["significant"].transform("any")
        rows = rows[rows["significant"] | (none & lowest)]
        return rows.sort_values("difference", key=lambda one: -one.abs(), kind="stable")

    def headline(self) -> str:
        """Return what the labels of people are worth beside those of each judge, and how much is known."""
        said = []
        for row in self.summary.to_dict("records"):
            known = "no interval, which takes two topics"
            if not pd.isna(row["reach"]):
                known = f"half an interval {row['reach']:.4f}, by people alone {row['human_reach']:.4f}"
            worth = "" if pd.isna(row["n_eff"]) else f" are worth {row['n_eff']:,.1f}"
            labelled = count(row["n"], self.level.removesuffix("s"))
            said.append(f"{row['measure']} by {row['judge']}: {labelled} labelled by people{worth}, {known}")
        return clauses(said)

    def _further(self) -> list[str]:
        """Return what the labels are worth, how many pairs they tell apart, and what is known of the best run."""
        best = self.ranked().sort_values("estimate", ascending=False, kind="stable")
        found: list[str] = []
        for row in self.summary.to_dict("records"):
            mine = best[(best["judge"] == row["judge"]) & (best["measure"] == row["measure"])]
            found += self._of_judge(row, mine.iloc[0].to_dict())
        return found

    def _of_judge(self, row: Mapping[Any, Any], run: Mapping[Any, Any]) -> Iterator[str]:
        known = "has no interval, which takes two topics"
        if not pd.isna(row["reach"]):
            known = f"is known to ±{row['reach']:.4f}, and by people's labels alone to ±{row['human_reach']:.4f}"
        worth = "" if pd.isna(row["n_eff"]) else f": the {row['n']:,} are worth {row['n_eff']:,.1f} (median)"
        yield (
            f"With {row['n']:,} {self.level} labelled by people and {row['N']:,} by {row['judge']} alone, the "
            f"{row['measure']} of a run {known}{worth}; lambda is {row['lambda']:.2f}."
        )
        if row["pairs"]:
            yield (
                f"By {row['measure']} with {row['judge']} {row['significant']:,} of {count(row['pairs'], 'pair')} of "
                f"runs differ significantly, {row['human_significant']:,} by people's labels alone; the interval of a "
                f"rank is {row['rank_width']:.1f} ranks wide on average, and {row['human_rank_width']:.1f} without "
                "the judge."
            )
        reach = ends(run, "estimate", ".4f")
        yield (
            f"The highest {row['measure']} with {row['judge']} has {run['name']}: {run['estimate']:.4f}"
            f"{f' ({reach})' if reach else ''}, rank {run['rank_low']:,} to {run['rank_high']:,}; by people's labels "
            f"alone {with_ends(run, 'human', '.4f')}, by those of {row['judge']} alone {run['by_judge']:.4f}. Of "
            f"{row['outside']:,} of {row['runs']:,} runs the latter lies outside of the interval."
        )


class _Asked(AskedJudges):
    """What one call asks for."""

    @cached_property
    def measures(self) -> list[ir_measures.Measure]:
        """Return the measures, which by documents are sums over documents."""
        found = super().measures
        return checked_measures(found) if self["level"] == "topics" else found

    def _read_qrels(self) -> Qrels:
        """Return the labels of people; by topics on the topics alone in which they labelled a document."""
        human, rel = as_qrels(self._read[1], "human"), checked_rel(self["rel"])
        there = np.unique(human.arrays.documents.topic[human.arrays.labels >= 0])
        if not len(there):
            raise InputError("people labelled no document.", argument="human")
        kept = human if self["level"] == "documents" else human.select([human.topics[t] for t in there.tolist()])
        kept = kept if rel is None else kept.with_rel(rel)
        if self["without_topics"] == "error":
            check_topics(self.runs, kept)
        if not self["complete"]:
            check_every_topic(self.runs.names, topics_of_runs(self.runs, kept), "complete", what="The estimate")
        return kept


@dataclass(frozen=True)
class _Found:
    """What is estimated with one judge, what there is of its labels, and what keeps intervals from their meaning."""

    judge: NamedJudge
    estimates: list[Estimates]
    words: str
    caveats: list[Caveat]


@study(
    Parameter(
        name="measures",
        meaning="ir_measures measures, or their names, one or several.",
        check=parse_measures,
    ),
    Parameter(
        name="level",
        meaning='``"topics"`` (default) or ``"documents"``: what people labelled a part of.',
        choices=LEVELS,
    ),
    Parameter(
        name="pool",
        meaning="the documents that the judge is to label: a Pool, or a frame with ``qid``, ``docno`` and what the "
        "judge reads. Default those whose labels exist already; a judge that has to be asked needs it by topics.",
        check=checked_pool,
    ),
    Parameter(
        name="lam",
        meaning="lambda, how far the model is trusted, from 0 (people's labels alone) to 1; default the best one, "
        "estimated: by topics of each run and of each pair, by documents of all runs and of all pairs. By documents 1 "
        "is unbiased also where few documents are labelled.",
        check=partial(fraction, "lam"),
    ),
    Parameter(
        name="variance",
        meaning='by topics, how that of an estimate is estimated where lambda is: ``"jackknife"`` (default), in which '
        'lambda is estimated anew without each of the n topics; or ``"plain"``, PPI++\'s var(Y - lambda F)/n, which '
        "takes lambda for known, and whose intervals cover one to three in a hundred less.",
        choices=VARIANCES,
    ),
    entry=Entry(
        question="How good are the systems, given few labels of people and many of a model?",
        group="labels",
        papers="[A23]_",
    ),
)
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
    """Estimate scores, differences and ranks by people's labels from few labels of people and many of a model.

    The estimates are of the scores if people had labelled everything. The intervals are valid even if the model is
    wrong: its labels only make them narrower, the more the better they agree with people's. The score by the model's
    labels is never estimated.

    **By topics** people judged n topics in full, and the model labelled these and N others. A run's mean is Ybar_n +
    lambda (Fbar_N - Fbar_n): the mean by people's labels, corrected by how much the other topics differ according to
    the model. The n topics must be a random sample of all n + N, and the model must not have been tuned on their
    labels.

    **By documents** people labelled a random sample of each topic's pool, with known probability, and the model all of
    it. A run's score on a topic is the sum over its documents of weight times gain, by the model's labels, corrected by
    people's labels of the sampled ones, each weighted by 1 / probability. This needs measures that are such sums:
    ``P@k``, ``RBP(rel=...)``, ``SDCG(max_rel=...)@k`` (DCG over its largest possible value), ``SetP``,
    ``NumRet(rel=...)`` and ``NumRel``, the number of relevant documents of the pool. nDCG and AP are refused.

    Args:
        human: labels of people, in any form. By topics: complete labels of some topics. By documents: of a sample, as
            :func:`~pt_reuse.pools.sample_pool` and :meth:`Pool.judge` make them, with the column ``stratum`` and label
            -1 for what was pooled and not sampled; or with the column ``inclusion``, the probability with which each
            document was drawn, independently.
        correction: of the tests of pairs, for their number: ``"bonferroni"`` (default), under which the intervals of
            all ranks hold at once; ``"holm"``, ``"benjamini-hochberg"``; or ``"none"``.
        confidence: the confidence level of the intervals; pairs are tested at the level 1 - confidence.
        complete: True (default): the mean is over all topics, and a topic that a run lacks counts 0. False: over the
            topics that the run has, which is refused if a run lacks some.

    Returns:
        PredictionPowered: ``.table`` per judge, measure and run, ``.pairs``, ``.ranks``, ``.findings()``, ``.plot()``.

    Raises:
        InputError: fewer than two topics of either kind, or than three of people if lambda is estimated; a sample
            without its strata or probabilities; by documents, a measure that is no sum over documents; a judge that has
            to be asked, without a pool.

    Warns:
        CaveatWarning: fewer than 20 topics that people labelled, where intervals are known to cover less than their
            confidence; fewer topics of the judge alone than of both; different numbers of the judge's labels on the two
            kinds of topics; a lambda of 0 for half of the runs, for which the judge is useless; by documents, fewer
            than five topics.
        ReuseWarning: topics that do not count, documents without a label of the judge.

    Example:
        >>> import pt_reuse as ptr
        >>> field = ptr.demo.simulate_field(seed=7, n_topics=80)
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
    asked = _Asked(prediction_powered, locals())
    if level == "topics":
        checked_measures(asked["measures"])
        for one in asked.judges:
            documents_to_label(one, asked["pool"])
    else:
        for measure in asked["measures"]:
            LinearMeasure(measure)
        if variance is not None:
            raise InputError(
                "the variance by documents is that of the sample, and there is one way to estimate it. Leave it "
                "out, or give level='topics'.",
                argument="variance",
            )
    found = list(_by_topics(asked) if level == "topics" else _by_documents(asked))
    for each in found:
        with located(each.judge.name):
            asked.tell(each.caveats)
    jackknife = level == "topics" and asked["lam"] is None and variance in (None, JACKKNIFE)
    alpha = 1 - confidence
    settings = asked.settings(
        judges="; ".join(f"{one.judge.name} ({one.words})" for one in found),
        intervals=f"{100 * confidence:.4g} %, {_INTERVALS[JACKKNIFE if jackknife else level]}",
        pairs=f"two-sided t tests at {alpha:.4g}, correction {correction}",
        ties=f"means equal to {DECIMALS} decimals; ranks are 1 + number of better runs",
        **{"lambda": _LAMBDA[level] if asked["lam"] is None else f"{asked['lam']:g}, given"},
    )
    names, known = asked.runs.names, asked.runs.run_table[["name", "team", "type"]].reset_index(drop=True)
    parts: dict[str, list[pd.DataFrame]] = {"table": [], "pairs": [], "ranks": []}
    for each in found:
        for measure, means, of_pairs in each.estimates:
            pairs = pair_table(of_pairs, names, correction, alpha)
            key = {"judge": each.judge.name, "family": each.judge.family, "measure": measure}
            table = pd.concat([known, means.drop(columns=["p", "human_p"])], axis=1)
            for frames, frame in zip(parts.values(), (table, pairs, rank_table(means, pairs, names)), strict=True):
                frames.append(under(key, frame))
    tables = {name: pd.concat(frames, ignore_index=True) for name, frames in parts.items()}
    return PredictionPowered(**tables, settings=settings, level=level, confidence=confidence, correction=correction)


def _by_topics(asked: _Asked) -> Iterator[_Found]:
    runs, human, lam, variance = asked.runs, asked.qrels, asked["lam"], asked["variance"] or JACKKNIFE
    jackknife = lam is None and variance == JACKKNIFE
    splits = [split_topics(runs, human, judge, asked["pool"], jackknife=jackknife) for judge in asked.judges]
    mine = asked.scored(human)
    for judge, split in zip(asked.judges, splits, strict=True):
        labels, n, topics = split.of_judge.labels, len(split.labelled), [*split.labelled, *split.unlabelled]
        with located(judge.name):
            if asked["without_topics"] == "error":
                # a run that has the topics of people alone would score 0 on all others
                check_topics(runs, labels.select(split.unlabelled))
            by_judge = labels.select(topics).with_rel(None)
            if not asked["complete"]:
                check_every_topic(runs.names, topics_of_runs(runs, by_judge), "complete", what="The estimate")
            theirs = asked.scored(by_judge)
            rows, order = ([s.topics.index(t) for t in some] for s, some in ((mine, split.labelled), (theirs, topics)))
            values = [
                TopicValues(one[rows], other[order[:n]], other[order[n:]])
                for one, other in zip(mine.values, theirs.values, strict=True)
            ]
            estimates = [
                topic_estimates(each, name, lam, variance, asked["confidence"])
                for name, each in zip(mine.measures, values, strict=True)
            ]
        yield _Found(judge, estimates, split.words(), [*split.caveats(), *_useless(estimates, lam)])


def _by_documents(asked: _Asked) -> Iterator[_Found]:
    people, lam = asked.qrels, asked["lam"]
    measures = [LinearMeasure(measure) for measure in asked.measures]
    for judge in asked.judges:
        sample = sample_of(people, judge.judge.known_pairs() if asked["pool"] is None else asked["pool"])
        said = pool_labels(judge, sample, asked["pool"])
        estimates = list(document_estimates(asked.runs, sample, said.labels, measures, lam, asked["confidence"]))
        words = f"{said.words}, people labelled {sample.words()}, {count(len(people.topics), 'topic')}"
        yield _Found(judge, estimates, words, [*few_topics(len(people.topics)), *_useless(estimates, lam)])


def _useless(estimates: Sequence[Estimates], lam: float | None) -> Iterator[Caveat]:
    """Yield a caveat for the measures for which the judge is of no use."""
    # where people labelled everything, there is nothing that a judge could add
    shares = {name: float(((means["lambda"] == 0) & (means["N"] > 0)).mean()) for name, means, _ in estimates}
    useless = [f"{measure} ({share:.0%})" for measure, share in shares.items() if share >= 0.5]
    if useless and lam is None:
        note = f"lambda is 0 for {', '.join(useless)} of the runs"
        yield Caveat(
            note,
            f"{note}: the judge's labels do not go with those of people, and the estimates are by people's labels "
            "alone. Another judge, or more labels of people, may help.",
        )
