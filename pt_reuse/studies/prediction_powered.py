"""prediction_powered: how good systems are, by few labels of people and many of a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any

import ir_measures
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse import options
from pt_reuse.arrays.correlation import DECIMALS, rounded
from pt_reuse.arrays.pairs import ranks
from pt_reuse.arrays.prediction_powered import (
    ESTIMATED,
    JACKKNIFE,
    LEAST_FOR_JACKKNIFE,
    VARIANCES,
    PoweredMeans,
    SampledDocuments,
    TopicValues,
    corrected_totals,
    effective_of_pool,
    powered_differences,
    powered_means,
    t_interval,
    t_p_value,
    totals_of,
)
from pt_reuse.arrays.rescore import HitIndex
from pt_reuse.arrays.significance import PairTests
from pt_reuse.columns import Table
from pt_reuse.data.frame_columns import as_pairs, in_our_columns
from pt_reuse.data.judgments import Qrels, as_qrels, check_all_labelled
from pt_reuse.data.run_set import RunSet
from pt_reuse.errors import InputError, count, examples, fraction, located, per_cent, shown, warn
from pt_reuse.inputs import Inputs, settings_of
from pt_reuse.judge import NamedJudge, Scale, as_judges, lowest_of, on_scale, scale_words
from pt_reuse.plots.forests import plot_forest
from pt_reuse.plots.sheet import Axes, Place
from pt_reuse.pooling.pool import DRAWN, INCLUSION, STRATUM, Pool, documents_of
from pt_reuse.scoring.caveats import Caveat, beware, few_topics
from pt_reuse.scoring.measures import parse_measures
from pt_reuse.scoring.scores import check_topics, checked_measures, scored
from pt_reuse.studies.judged_fields import OfJudges, drawn_by_judge, under
from pt_reuse.study import study

Floats = NDArray[np.float64]
Ints = NDArray[np.integer]
#: a measure's name, one row per run, and one row per pair of runs in the order of ``numpy.triu_indices``
Estimates = tuple[str, pd.DataFrame, pd.DataFrame]
#: measures that are sums over documents -> the parameters without which they are not defined
_NEEDED = {"P": ["cutoff"], "RBP": ["rel"], "SDCG": ["cutoff", "max_rel"], "SetP": [], "NumRet": ["rel"], "NumRel": []}
#: the same as a user writes them
LINEAR = "P@k, RBP(rel=...), SDCG(max_rel=...)@k, SetP, NumRet(rel=...) and NumRel"
_PAIR = ["qid", "docno"]
#: what returns the labels of a sample
_OF_SAMPLE = "sample_pool(...).judge(judge)"
#: with fewer topics intervals are known to cover less than they say
ENOUGH_TOPICS = 20
#: labels a topic on one side over those on the other from which on the two are not of one kind
UNLIKE = 1.5


class LinearMeasure:
    """A measure that is linear in gains; raises where it is not, such as nDCG and AP, or lacks a parameter."""

    def __init__(self, measure: ir_measures.Measure):
        params = measure.params
        if measure.NAME not in _NEEDED or params.get("judged_only") or params.get("relative"):
            text = f"{measure!r} is no sum over documents. Take one of {LINEAR}, or score() with xinfAP or xinfNDCG."
            raise InputError(text, argument="measures")
        missing = [name for name in _NEEDED[measure.NAME] if params.get(name) is None]
        if missing or params.get("dcg", "log2") != "log2":
            text = f"measure {measure!r} is not defined without {' and '.join(missing) or 'dcg=log2'}."
            raise InputError(f"{text} Write it as one of {LINEAR}.", argument="measures")
        self.name, self._kind, self._params = repr(measure), measure.NAME, params

    def gain(self, labels: Ints) -> Floats:
        """Return (documents,) gains of (documents,) labels of 0 or more."""
        if self._kind == "SDCG":
            low, high = self._params.get("min_rel", 0), self._params["max_rel"]
            return np.asarray((np.clip(labels, low, high) - low) / (high - low))
        return (labels >= self._params.get("rel", 1)).astype(np.float64)

    def weights(self, index: HitIndex, t: int) -> Floats:
        """Return (documents of the topic, runs): the weight of each document for each run."""
        shape = int(index.documents.sizes[t]), index.field.n_runs
        if self._kind == "NumRel":
            # every document of the pool weighs 1 for every run, found or not
            return np.ones(shape)
        weights, hits = np.zeros(shape), index.gather(range(t, t + 1))
        rank, cutoff, p = hits.rank, self._params.get("cutoff"), self._params.get("p", 0.8)
        of_rank = np.ones(len(rank))
        if self._kind == "SetP":
            of_rank = 1 / hits.lengths[hits.of]
        elif self._kind == "P":
            of_rank /= cutoff
        elif self._kind == "RBP":
            of_rank = (1 - p) * p ** (rank - 1.0)
        elif self._kind == "SDCG":
            of_rank = 1 / np.log2(rank + 1.0) / (1 / np.log2(np.arange(1, cutoff + 1) + 1)).sum()
        sees_all = cutoff is None or self._kind == "SetP"
        weights[hits.row, hits.of] = of_rank if sees_all else np.where(rank <= cutoff, of_rank, 0.0)
        return weights


def pair_table(pairs: pd.DataFrame, names: list[str], correction: str, alpha: float) -> pd.DataFrame:
    """Return the pairs of runs by name, with what their tests say when corrected for the number of pairs."""
    first, second = np.triu_indices(len(names), 1)
    table = pairs.rename(columns=lambda name: name.replace("estimate", "difference"))
    for place, (name, run) in enumerate((("first", first), ("second", second))):
        table.insert(place, name, np.array(names, dtype=object)[run])
    for prefix, value in (("", "estimate"), ("human_", "human")):
        tests = PairTests(first, second, pairs[value].to_numpy(), pairs[f"{prefix}p"].to_numpy())
        table[f"{prefix}p_corrected"] = tests.corrected(correction)
        table[f"{prefix}significant"] = tests.significant(alpha, correction)
    return table


def rank_table(means: pd.DataFrame, pairs: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """Return the rank of each run by the estimate, by people's labels alone and by the judge's, with intervals."""
    table, n = pd.DataFrame({"name": names}), len(names)
    pair = np.triu_indices(n, 1)
    for column, value, difference, significant in (
        ("rank", "estimate", "difference", "significant"),
        ("human_rank", "human", "human", "human_significant"),
    ):
        table[column] = ranks(rounded(means[value].to_numpy()))
        # from 1 + the runs that are significantly better to the number of runs less those significantly worse
        first_wins, chosen = pairs[difference].to_numpy() > 0, pairs[significant].to_numpy()
        better, worse = (np.where(first_wins, *of)[chosen] for of in (pair, pair[::-1]))
        table[f"{column}_low"] = 1 + np.bincount(worse, minlength=n)
        table[f"{column}_high"] = n - np.bincount(better, minlength=n)
    return table.assign(judge_rank=ranks(rounded(means["by_judge"].to_numpy())))


@dataclass(frozen=True)
class JudgeLabels:
    """The labels of a judge on the scale of people, what is relevant for it, and how many it was asked for."""

    labels: Qrels
    words: str
    asked: int

    @property
    def missing(self) -> int:
        """Return how many documents it gave no label."""
        return self.asked - len(self.labels)


def checked_pool(pool: Any) -> pd.DataFrame | None:
    """Return what a user gives as the documents to label as a frame: ``qid docno``, and what a judge reads of each."""
    if pool is None:
        return None
    if isinstance(pool, Pool):
        every = [pool] if pool.unsampled is None else [pool, pool.unsampled]
        return pd.concat([part.to_frame()[_PAIR] for part in every], ignore_index=True)
    if not isinstance(pool, pd.DataFrame):
        raise InputError(f"pool must be a Pool, or a frame with qid and docno, got {shown(pool)}.", argument="pool")
    frame = in_our_columns(pool)
    documents_of(frame[[column for column in _PAIR if column in frame]], None)
    qids, docnos = as_pairs(frame)
    return frame.assign(qid=qids, docno=docnos).reset_index(drop=True)


def documents_to_label(judge: NamedJudge, pool: pd.DataFrame | None) -> pd.DataFrame:
    """Return the documents that a judge is to label: those of the pool, or those whose labels exist already."""
    known = judge.judge.known_pairs() if pool is None else pool
    if known is None:
        text = "the judge has to be asked, and it is not said for which documents. Give a Pool, or a frame of them."
        raise InputError(text, argument="pool")
    return known


def labels_for(judge: NamedJudge, pairs: pd.DataFrame, people: Scale) -> JudgeLabels:
    """Ask a judge for labels of documents, ``qid docno`` and what it reads."""
    labels = judge.labels(pairs)
    # a negative label says that there is none, as in judgments
    known = (labels >= 0).fillna(False).to_numpy(dtype=bool)
    if not known.any():
        with located(judge.name):
            text = f"the judge has no label of at least 0 for {count(len(pairs), 'document')} that it was asked for."
            raise InputError(text, argument="judge")
    labelled = pairs.loc[known, _PAIR].assign(label=labels[known].astype(np.int64))
    lowest = lowest_of(judge, labelled["label"], people)
    scaled = on_scale(Qrels(labelled, rel=lowest), lowest, people.rel)
    return JudgeLabels(scaled, scale_words(lowest, judge.grades), len(pairs))


@dataclass(frozen=True)
class SplitTopics:
    """The topics that people and a judge labelled, those that the judge alone did, and what it said."""

    labelled: list[str]
    unlabelled: list[str]
    of_judge: JudgeLabels

    def words(self) -> str:
        """Return what there is, for settings."""
        missing = f", {self.of_judge.missing:,} documents without a label" if self.of_judge.missing else ""
        return (
            f"{self.of_judge.words}, n={len(self.labelled):,} topics with labels of people, "
            f"N={len(self.unlabelled):,} with the judge's alone{missing}"
        )

    def caveats(self) -> Iterator[Caveat]:
        """Yield what keeps the intervals from meaning what they seem to mean."""
        n, more, labels = len(self.labelled), len(self.unlabelled), self.of_judge.labels
        if n < ENOUGH_TOPICS:
            note = f"{n:,} topics with labels of people"
            covered = "of 95% intervals as few as 92 in 100 with 10 topics, and 89 with variance='plain'"
            yield Caveat(note, f"{note}: with fewer than {ENOUGH_TOPICS} intervals cover less, {covered}.")
        if more < n:
            note = f"fewer topics with the judge's labels alone ({more:,}) than with those of people ({n:,})"
            yield Caveat(note, f"{note}. Even a perfect judge makes them worth {n + more:,}; have it label more.")
        sizes = dict(zip(labels.topics, labels.arrays.documents.sizes.tolist(), strict=True))
        both, alone = (float(np.mean([sizes[t] for t in some])) for some in (self.labelled, self.unlabelled))
        if max(both, alone) > UNLIKE * min(both, alone):
            note = f"the judge labelled {both:,.1f} documents a topic where people did, and {alone:,.1f} elsewhere"
            yield Caveat(note, f"{note}. Give the judge one pool on all topics, by pool=.")


def split_topics(
    runs: RunSet, human: Qrels, judge: NamedJudge, pool: pd.DataFrame | None, *, jackknife: bool
) -> SplitTopics:
    """Ask a judge, and say which topics people labelled and which it alone did; warn of those that do not count."""
    of_judge = labels_for(judge, documents_to_label(judge, pool), Scale.of(human))
    by_judge, by_people, of_runs = set(of_judge.labels.topics), set(human.topics), set(runs.topics)
    labelled = [topic for topic in human.topics if topic in by_judge]
    without = [topic for topic in human.topics if topic not in by_judge]
    others = [topic for topic in of_judge.labels.topics if topic not in by_people]
    alone, in_no_run = ([topic for topic in others if (topic in of_runs) is known] for known in (True, False))
    with located(judge.name):
        if not labelled:
            text = f"the judge labelled no topic that people judged: {examples(human.topics)}; {examples(others)}."
            raise InputError(f"{text} Are ids written alike?", argument="judge")
        least = LEAST_FOR_JACKKNIFE if jackknife and len(alone) > 1 else 2
        if len(labelled) < least:
            both = f"people and the judge labelled {count(len(labelled), 'topic')}, and {least} are needed"
            raise InputError(f"{both}{'; see lam=1' if least > 2 else ''}.", argument="human")
        if len(alone) < 2:
            beyond = f"{count(len(alone), 'topic')} of the runs beyond those that people did, and 2 are needed"
            raise InputError(f"the judge labelled {beyond}. See pool= and level='documents'.", argument="judge")
        if without:
            left = f"{count(len(without), 'topic')} that people judged: {examples(without)}"
            warn(f"the judge labelled nothing in {left}. The estimates are of the other {len(labelled):,}.")
        if in_no_run:
            topics = f"{count(len(in_no_run), 'topic')} of the judge: {examples(in_no_run)}"
            warn(f"no run has documents for {topics}; they are left out.")
    return SplitTopics(labelled, alone, of_judge)


def topic_estimates(
    values: TopicValues, measure: str, lam: float | None, variance: str, confidence: float
) -> Estimates:
    """Return the estimates of one measure by topics."""

    def columns(means: PoweredMeans) -> pd.DataFrame:
        of_judge = {"by_judge": means.by_judge, "lambda": means.weight, "n": means.n, "N": means.more}
        sides = (means.human, means.human_se), (means.estimate, means.se)
        return _columns(*sides, {**of_judge, "n_eff": means.n_eff}, means.n, confidence)

    of_runs, of_pairs = (columns(powered(values, lam, variance)) for powered in (powered_means, powered_differences))
    return measure, of_runs, of_pairs


def _columns(
    human: tuple[Floats, Floats],
    estimate: tuple[Floats, Floats],
    of_judge: dict[str, Any],
    n_topics: int,
    confidence: float,
) -> pd.DataFrame:
    """Return the columns of both levels, of values and standard errors over topics, in the order of the tables."""
    (low, high), (human_low, human_high) = (t_interval(*of, n_topics, confidence) for of in (estimate, human))
    columns = {"human": human[0], "human_low": human_low, "human_high": human_high}
    columns |= {"by_judge": of_judge.pop("by_judge"), "estimate": estimate[0], "estimate_low": low}
    columns |= {"estimate_high": high, "se": estimate[1], **of_judge}
    columns |= {"p": t_p_value(*estimate, n_topics), "human_p": t_p_value(*human, n_topics)}
    return pd.DataFrame(columns, index=range(len(low)))


@dataclass(frozen=True)
class Sample:
    """The pool with the labels of people, -1 for none, and (documents,) inclusion probabilities and strata."""

    documents: Qrels
    inclusion: Floats
    stratum: NDArray[np.int64] | None

    @property
    def sampled(self) -> NDArray[np.bool_]:
        """Return (documents,): whether people labelled it."""
        return np.asarray(self.documents.arrays.labels >= 0)

    def words(self) -> str:
        """Return how it was drawn, for settings."""
        how = "each document with its own probability" if self.stratum is None else "by strata, without replacement"
        return f"{int(self.sampled.sum()):,} of {len(self.documents):,} documents, {how}"


def sample_of(human: Qrels, more: pd.DataFrame | None) -> Sample:
    """Return the sample that people labelled; `more` has further documents of the pool where there are no strata."""
    frame = human.to_frame()
    if STRATUM in frame:
        return _stratified(human, frame)
    if INCLUSION not in frame:
        text = "the labels of people do not say with which probability each document was drawn, in a column 'inclusion'"
        raise InputError(f"{text}. Give what {_OF_SAMPLE} returns, or level='topics'.", argument="human")
    n = int((frame["label"] >= 0).sum())
    drawn = pd.to_numeric(frame.get(DRAWN, pd.Series(dtype=float)), errors="coerce")
    if (drawn > n).any():
        text = f"{n:,} of {drawn.max():,.0f} documents of the sample have a label. Judge all that was drawn."
        raise InputError(text, argument="human")
    if more is not None:
        rest = more.loc[more["qid"].isin(set(human.topics)), _PAIR].drop_duplicates()
        rest = rest[~pd.MultiIndex.from_frame(rest).isin(pd.MultiIndex.from_frame(frame[_PAIR]))]
        frame = pd.concat([frame, rest.assign(label=-1)], ignore_index=True)
    documents = Qrels(frame[[*_PAIR, "label", INCLUSION]], topics=human.topics, rel=human.stated_rel)
    frame = documents.to_frame()
    inclusion = pd.to_numeric(frame[INCLUSION], errors="coerce").to_numpy(dtype=np.float64)
    odd = frame[(frame["label"] >= 0).to_numpy() & ~((inclusion > 0) & (inclusion <= 1))]
    if len(odd):
        first = f"topic {odd['qid'].iloc[0]!r}, document {odd['docno'].iloc[0]!r}, {odd[INCLUSION].iloc[0]}"
        text = f"{count(len(odd), 'labelled document')} without an inclusion probability above 0 and at most 1"
        raise InputError(f"{text}, such as {first}.", argument="human")
    return Sample(documents, inclusion, None)


def _stratified(human: Qrels, frame: pd.DataFrame) -> Sample:
    by_stratum = frame.assign(sampled=frame["label"] >= 0).groupby(["qid", STRATUM], sort=False, dropna=False)
    share = by_stratum["sampled"].transform("mean").to_numpy()
    inclusion = frame[INCLUSION].to_numpy(dtype=np.float64) if INCLUSION in frame else share
    for wrong, what in (
        (frame[STRATUM].isna().to_numpy(), "judgments without a stratum"),
        (share > inclusion + 1e-6, "strata with more labels than inclusion says: rows with label -1 are missing"),
        (share == 0, "strata without a label: people must label a document of each"),
    ):
        if wrong.any():
            row = frame[wrong].iloc[0]
            where = f"such as topic {row['qid']!r}, stratum {row[STRATUM]!r}"
            raise InputError(f"{what}, {where}. Give what {_OF_SAMPLE} returns.", argument="human")
    if INCLUSION in frame:
        check_all_labelled(*(frame[name] for name in ("qid", STRATUM, "label", INCLUSION)), argument="human")
    return Sample(human, share, by_stratum.ngroup().to_numpy(dtype=np.int64))


def pool_labels(judge: NamedJudge, sample: Sample, texts: pd.DataFrame | None) -> JudgeLabels:
    """Ask a judge, who reads `texts`, for the labels of the whole pool; those it lacks count as not relevant for it."""
    pairs = sample.documents.to_frame()[_PAIR]
    read = pairs if texts is None else pairs.merge(texts, how="left", on=_PAIR)
    of_judge = labels_for(judge, read, Scale.of(sample.documents))
    if of_judge.missing:
        with located(judge.name):
            some = f"{of_judge.missing:,} of {count(of_judge.asked, 'document')}"
            warn(f"the judge gave {some} of the pool no label. They count as gain 0 for it.")
    return of_judge


def document_estimates(
    runs: RunSet, sample: Sample, labels: Qrels, measures: Sequence[LinearMeasure], lam: float | None, confidence: float
) -> Iterator[Estimates]:
    """Yield the estimates of each measure by documents."""
    from scipy.special import ndtri

    pool, human, sampled = sample.documents.arrays, sample.documents.arrays.labels, sample.sampled
    judge, index = labels.arrays.labels_of(pool.documents), HitIndex(runs.field, pool.documents)
    n, size, n_topics = int(sampled.sum()), len(sample.documents), len(pool.documents.topics)
    for measure in measures:
        by_people, by_judge = (np.where(some >= 0, measure.gain(np.maximum(some, 0)), 0.0) for some in (human, judge))
        topics = []
        for t in range(n_topics):
            at = pool.documents.rows(t)
            stratum = None if sample.stratum is None else sample.stratum[at]
            documents = SampledDocuments(sampled[at], sample.inclusion[at], stratum, by_people[at], by_judge[at])
            topics.append(totals_of(documents, measure.weights(index, t)))
        frames = []
        for pairs in (False, True):
            totals = corrected_totals(topics, pairs, lam)
            estimate, of_sample = _mean(totals.estimate), np.sqrt(totals.variance) / n_topics
            reach = ndtri((1 + confidence) / 2) * of_sample
            of_judge = {"by_judge": totals.judge.mean(axis=0), "lambda": totals.weight, "n": n, "N": size - n}
            of_judge["n_eff"] = effective_of_pool(n, size, totals.human_variance, totals.variance)
            # a second interval, over samples
            ends = {"sampling_low": estimate[0] - reach, "sampling_high": estimate[0] + reach}
            of_judge |= {"se_sampling": of_sample, **ends}
            frames.append(_columns(_mean(totals.human), estimate, of_judge, n_topics, confidence))
        yield measure.name, frames[0], frames[1]


def _mean(by_topic: Floats) -> tuple[Floats, Floats]:
    """Return the mean over topics of (topics, columns), and its standard error, NaN of one topic."""
    n, n_columns = by_topic.shape
    se = by_topic.std(axis=0, ddof=1) / np.sqrt(n) if n > 1 else np.full(n_columns, np.nan)
    return by_topic.mean(axis=0), se


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
_SAMPLED = "se_sampling? sampling_low? sampling_high?"


def _draw(result: PredictionPowered, measure: str, place: Place | None, *, judge: str | None = None) -> Axes:
    return drawn_by_judge(partial(plot_forest, confidence=result.confidence))(result, measure, place, judge=judge)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PredictionPowered(OfJudges):
    """What people would say of all runs, estimated by few labels of theirs and many of a model.

    The effective number is n times the variance by people's labels alone over that of the estimate, NaN where both are
    0 or unknown; by documents the variances are those of sampling.

    Attributes:
        level: what people labelled a part of, ``"topics"`` or ``"documents"``.
        confidence: the confidence level of the intervals.
        correction: of the tests of pairs, which is that of the ranks. With ``"bonferroni"`` the intervals of all ranks
            under a measure hold at once, since all differences lie in their intervals at once.
    """

    title = "Prediction-powered scores"
    answer = (
        "summary",
        "{measure} by {judge}: {n} {level} labelled by people are worth {n_eff}; a score is known to ±{reach}, to "
        "±{human_reach} by people alone; {significant} of {pairs:pair} differ significantly, {human_significant} by "
        "people alone",
    )
    key = "n_eff lambda reach human_reach significant human_significant"
    valid_for = (
        "{level} labelled by people that were drawn at random from all; medians over runs, ± at confidence "
        "{confidence:g}."
    )
    not_covered = "the judge on other topics or for other runs."
    plots = {"intervals": _draw}
    columns = """
    human       | People alone | score  | mean by people's labels alone, by documents each counted 1 / inclusion
    by_judge    | Judge alone  | score  | mean by the judge's labels of all topics, or of the whole pool
    estimate    | Estimate     | score  | the estimate
    difference  | Difference   | score  | the estimate of first minus second
    se          | Standard error | score | of the estimate
    lambda      | Lambda       | score  | how far the judge is trusted
    n           | Labelled     | count  | topics (documents) that people labelled
    N           | By the judge | count  | those that the judge alone labelled
    n_eff       | Effective | tenths | how many people would label for as narrow an interval without the judge
    se_sampling | Standard error, sampling | score | how far other samples of these topics' documents lead elsewhere
    sampling_low  | Low, sampling  | score | lower end by that, NaN where a stratum has one labelled document of several
    sampling_high | High, sampling | score | upper end by that
    first       | First        |        | a run
    second      | Second       |        | another one
    human_      | people alone |        | by people's labels alone
    rank        | Rank         | count  | from 1 + the significantly better runs to the runs less the worse ones
    judge_rank  | Rank, judge  | count  | rank by the judge's labels
    reach       | Reach        | score  | half the width of the interval
    outside     | Outside      | count  | runs whose mean by the judge's labels is outside of the interval
    rank_width  | Rank width   | tenths | mean of highest less lowest rank
    """

    table: Annotated[
        pd.DataFrame,
        Table(
            "judge, measure and run",
            f"judge family measure name* team type human~* by_judge* estimate~* se lambda* n N n_eff* {_SAMPLED}",
            select={"judge": None},
            descending=("estimate",),
        ),
    ]
    pairs: Annotated[
        pd.DataFrame,
        Table(
            "judge, measure and pair of runs",
            f"judge family measure first* second* human~* by_judge difference~* se lambda n N n_eff {_SAMPLED} p "
            "human_p p_corrected* significant human_p_corrected human_significant",
            select={"judge": None},
        ),
    ]
    ranks: Annotated[
        pd.DataFrame,
        Table(
            "judge, measure and run",
            "judge family measure name* rank~* human_rank~* judge_rank*",
            select={"judge": None},
        ),
    ]
    summary: Annotated[
        pd.DataFrame,
        Table(
            "judge and measure, medians over runs",
            "judge measure n N human_reach reach n_eff lambda outside runs pairs significant human_significant "
            "rank_width human_rank_width",
            report="measure judge reach human_reach n_eff significant",
        ),
    ]
    level: str
    confidence: float
    correction: str


def _summary(means: pd.DataFrame, pairs: pd.DataFrame, ranks: pd.DataFrame) -> pd.DataFrame:
    """Return one row per judge and measure: how far runs are known, and how many pairs differ."""
    keys, significant = ["judge", "measure"], ["significant", "human_significant"]
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
    how = dict.fromkeys(columns, "median") | {"n": "first", "N": "first", "outside": "sum", "runs": "sum"}
    found = means[keys].assign(**columns).groupby(keys, sort=False).agg(how).reset_index()
    of_pairs = pairs[[*keys, *significant]].assign(pairs=1).groupby(keys, sort=False).sum()
    widths = {f"{name}_width": ranks[f"{name}_high"] - ranks[f"{name}_low"] for name in ("rank", "human_rank")}
    of_ranks = ranks[keys].assign(**widths).groupby(keys, sort=False).mean()
    counts = of_pairs.reindex(pd.MultiIndex.from_frame(found[keys]), columns=["pairs", *significant], fill_value=0)
    return pd.concat([found, counts.reset_index(drop=True).astype(np.int64)], axis=1).join(of_ranks, on=keys)


@study(
    question="How good are the systems, given few labels of people and many of a model?",
    aim="models",
    group="labels",
    papers="[A23]_",
)
def prediction_powered(
    runs: options.Runs,
    human: options.HumanJudgments,
    judge: options.JudgeLabels,
    measures: Annotated[
        Any, options.Option("ir_measures measures, or their names, one or several.", check=parse_measures)
    ],
    *,
    level: Annotated[
        str,
        options.Option(
            '``"topics"`` (default) or ``"documents"``: what people labelled a part of.',
            choices=("topics", "documents"),
        ),
    ] = "topics",
    pool: Annotated[
        Any,
        options.Option(
            "the documents that the judge is to label: a Pool, or a frame with ``qid``, ``docno`` and what the judge "
            "reads. Default those whose labels exist already; a judge that has to be asked needs it by topics.",
            check=checked_pool,
        ),
    ] = None,
    lam: Annotated[
        float | None,
        options.Option(
            "lambda, how far the model is trusted, from 0 (people's labels alone) to 1; default the best one, "
            "estimated: by topics of each run and of each pair, by documents of all runs and of all pairs. By "
            "documents 1 is unbiased also where few documents are labelled.",
            check=partial(fraction, "lam"),
        ),
    ] = None,
    variance: Annotated[
        str | None,
        options.Option(
            'by topics, how that of an estimate is estimated where lambda is: ``"jackknife"`` (default), in which '
            'lambda is estimated anew without each of the n topics; or ``"plain"``, PPI++\'s var(Y - lambda F)/n, '
            "which takes lambda for known, and whose intervals cover one to three in a hundred less.",
            choices=VARIANCES,
        ),
    ] = None,
    correction: Annotated[
        options.Correction,
        options.Option(
            'of the tests of pairs, for their number: ``"bonferroni"`` (default), under which the intervals of all '
            'ranks hold at once; ``"holm"``, ``"benjamini-hochberg"``; or ``"none"``.',
            choices=options.SHARED["correction"].choices,
        ),
    ] = "bonferroni",
    confidence: options.Confidence = 0.95,
    rel: options.Rel = None,
    judge_rel: options.JudgeGrade = None,
    families: options.Families = None,
    without_topics: options.WithoutTopics = "error",
    verbose: options.Verbose = False,
) -> PredictionPowered:
    """Estimate scores, differences and ranks by people's labels from few labels of people and many of a model.

    The estimates are of the scores if people had labelled everything, and intervals are valid even if the model errs.

    **By topics** people judged n topics in full, a random sample of all n + N, and the model labelled all, without
    having been tuned on these labels. A run's mean is Ybar_n + lambda (Fbar_N - Fbar_n).

    **By documents** people labelled a random sample of each topic's pool, and the model all of it. A run's score on a
    topic is a sum by the model's labels, corrected by people's labels, each weighted by 1 / its probability. This needs
    measures that are such sums: ``P@k``, ``RBP(rel=...)``, ``SDCG(max_rel=...)@k``, ``SetP``, ``NumRet(rel=...)`` and
    ``NumRel``.

    Args:
        human: labels of people, in any form. By topics: complete labels of some topics. By documents: of a sample, as
            :func:`~pt_reuse.pools.sample_pool` and :meth:`Pool.judge` make them, with the column ``stratum`` and label
            -1 for what was pooled and not sampled; or with the column ``inclusion``, the probability with which each
            document was drawn, independently.

    Raises:
        InputError: fewer than two topics of either kind, or than three of people if lambda is estimated; a sample
            without its strata or probabilities; by documents, a measure that is no sum over documents; a judge that has
            to be asked, without a pool.

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

    Source: Angelopoulos, Duchi and Zrnic 2023, PPI++: Efficient Prediction-Powered Inference, arXiv 2311.01453;
    Oosterhuis, Jagerman, Qin, Wang and Bendersky 2024, KDD. Equal to ppi-python where conventions agree.
    """
    judges = as_judges(judge, rel=judge_rel, families=families)
    by_topics = level == "topics"
    if by_topics:
        checked_measures(measures)
        for each in judges:
            documents_to_label(each, pool)
    elif variance is not None:
        raise InputError("variance is of level='topics': by documents it is that of the sample.", argument="variance")
    linear = [] if by_topics else [LinearMeasure(measure) for measure in measures]
    people = as_qrels(human, "human")
    there = np.unique(people.arrays.documents.topic[people.arrays.labels >= 0])
    if not len(there):
        raise InputError("human has no label of 0 or more: people labelled no document.", argument="human")
    # by topics on the topics alone in which people labelled a document
    people = people.select([people.topics[t] for t in there.tolist()]) if by_topics else people
    # what is no sample is refused before anything is told of it
    more = [] if by_topics else [each.judge.known_pairs() if pool is None else pool for each in judges]
    samples = [sample_of(people, pairs) for pairs in more]
    inputs = Inputs.read(runs, people, measures, rel, without_topics=without_topics)
    inputs = replace(inputs, qrels=inputs.qrels.with_rel(inputs.rel))
    jackknife = by_topics and lam is None and variance in (None, JACKKNIFE)
    if by_topics:
        splits = [split_topics(inputs.runs, inputs.qrels, each, pool, jackknife=jackknife) for each in judges]
        if without_topics == "error":
            for each, split in zip(judges, splits, strict=True):
                # a run that has the topics of people alone would score 0 on all others
                with located(each.name):
                    check_topics(inputs.runs, split.of_judge.labels.select(split.unlabelled))
        found = _by_topics(inputs, splits, verbose=verbose)
    parts: dict[str, list[pd.DataFrame]] = {"table": [], "pairs": [], "ranks": []}
    names, in_words = inputs.runs.names, []
    known = inputs.runs.run_table[["name", "team", "type"]].reset_index(drop=True)
    for n, each in enumerate(judges):
        with located(each.name):
            if by_topics:
                words, caveats = splits[n].words(), splits[n].caveats()
                how = lam, variance or JACKKNIFE, confidence
                estimates = [topic_estimates(values, measure, *how) for measure, values in next(found)]
            else:
                sample, labels = samples[n], pool_labels(each, samples[n], pool)
                estimates = list(document_estimates(inputs.runs, sample, labels.labels, linear, lam, confidence))
                topics = inputs.qrels.topics
                words = f"{labels.words}, people labelled {sample.words()}, {count(len(topics), 'topic')}"
                caveats = few_topics(len(topics))
            beware(caveats, _useless(estimates, lam))
        in_words.append(f"{each.name} ({words})")
        for measure, means, of_pairs in estimates:
            pairs = pair_table(of_pairs, names, correction, 1 - confidence)
            key = {"judge": each.name, "family": each.family, "measure": measure}
            table = pd.concat([known, means.drop(columns=["p", "human_p"])], axis=1)
            for frames, frame in zip(parts.values(), (table, pairs, rank_table(means, pairs, names)), strict=True):
                frames.append(under(key, frame))
    tables = {name: pd.concat(frames, ignore_index=True) for name, frames in parts.items()}
    settings = settings_of(
        inputs,
        {"lambda": _LAMBDA[level] if lam is None else f"{lam:g}, given"},
        judges="; ".join(in_words),
        intervals=f"{per_cent(confidence)}, {_INTERVALS[JACKKNIFE if jackknife else level]}",
        pairs=f"two-sided t tests at {1 - confidence:.4g}, correction {correction}",
        ties=f"means equal to {DECIMALS} decimals; ranks are 1 + number of better runs",
    )
    return PredictionPowered(
        **tables,
        summary=_summary(*tables.values()),
        settings=settings,
        level=level,
        confidence=confidence,
        correction=correction,
    )


def _by_topics(
    inputs: Inputs, splits: Sequence[SplitTopics], *, verbose: bool
) -> Iterator[list[tuple[str, TopicValues]]]:
    """Yield of each judge by measure the scores by people, and by the judge on the same topics and on the others."""
    measures = list(inputs.measures)
    by_people = scored(inputs.runs, inputs.qrels, measures, complete=True, verbose=verbose)
    for split in splits:
        labels = split.of_judge.labels.select([*split.labelled, *split.unlabelled]).with_rel(None)
        theirs = scored(inputs.runs, labels, measures, complete=True, verbose=verbose)
        both, alone = ([theirs.topics.index(t) for t in some] for some in (split.labelled, split.unlabelled))
        rows = [by_people.topics.index(topic) for topic in split.labelled]
        of_measures = zip(by_people.measures, by_people.values, theirs.values, strict=True)
        yield [(name, TopicValues(people[rows], judge[both], judge[alone])) for name, people, judge in of_measures]


def _useless(estimates: Sequence[Estimates], lam: float | None) -> Iterator[Caveat]:
    # where people labelled everything, there is nothing that a judge could add
    shares = {name: float(((means["lambda"] == 0) & (means["N"] > 0)).mean()) for name, means, _ in estimates}
    useless = [f"{measure} ({share:.0%})" for measure, share in shares.items() if share >= 0.5]
    if useless and lam is None:
        note = f"lambda is 0 for {', '.join(useless)} of the runs"
        yield Caveat(note, f"{note}: the judge's labels do not go with people's, which alone make the estimates.")
