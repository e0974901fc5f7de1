"""Estimates by few labels of people and many of a judge: by topics, by documents, and the measures that allow it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count, examples, told
from pt_reuse._errors import Call, InputError, Option, arguments_as, located, warn
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.arrays.pairs import ranks
from pt_reuse.arrays.prediction_powered import (
    JACKKNIFE,
    LEAST_FOR_JACKKNIFE,
    PLAIN,
    CorrectedTotals,
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
from pt_reuse.data.frame_columns import in_our_columns
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.judging.judges import NamedJudge
from pt_reuse.judging.label_pairs import Scale, lowest_of, on_scale, scale_words
from pt_reuse.pooling.pool import Pool, documents_of
from pt_reuse.scoring.caveats import Caveat, told_elsewhere
from pt_reuse.scoring.run_scores import score
from pt_reuse.scoring.scores import Scores
from pt_reuse.scoring.topic_sets import check_every_topic, check_topics, topics_of_runs

Floats = NDArray[np.float64]
Ints = NDArray[np.integer]
#: measures that are sums over documents, as a user writes them
LINEAR = "P@k, RBP(rel=...), SDCG(max_rel=...)@k, SetP, NumRet(rel=...) and NumRel"
#: gives (hits,) weights of (hits,) ranks, from 1, in lists of (hits,) lengths
Weights = Callable[[Ints, Ints], Floats]


@dataclass(frozen=True)
class LinearMeasure:
    """A measure that is linear in gains.

    Attributes:
        name: as ir_measures writes it.
        weights: of ranks; None where every document of the pool weighs 1 for every run, found or not.
        gain: (documents,) gains of (documents,) labels of 0 or more.
    """

    name: str
    weights: Weights | None
    gain: Callable[[Ints], Floats]


def linear_of(measure: ir_measures.Measure) -> LinearMeasure:
    """Return a measure as a sum over documents.

    Raises:
        InputError: a measure that is none, such as nDCG and AP, or one that lacks a parameter.
    """
    params = measure.params
    if measure.NAME not in _WEIGHTS or params.get("judged_only") or params.get("relative"):
        raise _not_linear(measure)
    needed = {"P": ["cutoff"], "RBP": ["rel"], "SDCG": ["cutoff", "max_rel"], "NumRet": ["rel"]}
    missing = [name for name in needed.get(measure.NAME, []) if params.get(name) is None]
    if missing or params.get("dcg", "log2") != "log2":
        raise InputError(
            f"measure {measure!r} is not defined without {' and '.join(missing) or 'dcg=log2'}. Write it as one of "
            f"{LINEAR}.",
            argument="measures",
        )
    make = _WEIGHTS[measure.NAME]
    if measure.NAME == "SDCG":
        low, high = params.get("min_rel", 0), params["max_rel"]
        return LinearMeasure(
            repr(measure), make(measure), lambda labels: (np.clip(labels, low, high) - low) / (high - low)
        )
    rel = params.get("rel", 1)
    return LinearMeasure(
        repr(measure),
        None if measure.NAME == "NumRel" else make(measure),
        lambda labels: (labels >= rel).astype(np.float64),
    )


def _not_linear(measure: ir_measures.Measure) -> InputError:
    why = {
        "nDCG": "it divides by an ideal list, which hangs on documents that nobody labelled",
        "AP": "it divides by the number of relevant documents, and multiplies labels with each other",
        "R": "it divides by the number of relevant documents, which hangs on documents that nobody labelled",
    }.get(measure.NAME, "what a document adds to it hangs on the labels of other documents")
    return InputError(
        f"{measure!r} is no sum over documents: {why}. So labels of a sample do not correct those of a judge without "
        f"bias. Take one of {LINEAR}; or xinfAP and xinfNDCG, which ",
        Call("score", "runs, human, [xinfAP, xinfNDCG]"),
        " estimates from the sample alone.",
        argument="measures",
    )


def _up_to(measure: ir_measures.Measure, weights: Weights) -> Weights:
    cutoff = measure.params.get("cutoff")
    if cutoff is None:
        return weights
    return lambda rank, length: np.where(rank <= cutoff, weights(rank, length), 0.0)


def _precision(measure: ir_measures.Measure) -> Weights:
    cutoff = measure.params["cutoff"]
    return _up_to(measure, lambda rank, length: np.full(len(rank), 1 / cutoff))


def _rank_biased(measure: ir_measures.Measure) -> Weights:
    p = measure.params.get("p", 0.8)
    return _up_to(measure, lambda rank, length: (1 - p) * p ** (rank - 1.0))


def _discounted(measure: ir_measures.Measure) -> Weights:
    most = (1 / np.log2(np.arange(1, measure.params["cutoff"] + 1) + 1)).sum()
    return _up_to(measure, lambda rank, length: 1 / np.log2(rank + 1.0) / most)


def _each(measure: ir_measures.Measure) -> Weights:
    return lambda rank, length: np.ones(len(rank))


def _share(measure: ir_measures.Measure) -> Weights:
    return lambda rank, length: 1 / length


_WEIGHTS: dict[str, Callable[[ir_measures.Measure], Weights]] = {
    "P": _precision,
    "RBP": _rank_biased,
    "SDCG": _discounted,
    "SetP": _share,
    "NumRet": _each,
    "NumRel": _each,
}


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


_PAIR = ["qid", "docno"]


@dataclass(frozen=True)
class JudgeLabels:
    """The labels of a judge, on the scale of people.

    Attributes:
        labels: of the documents that it labelled; their topics alone.
        judge_rel: the lowest label that is relevant, on the judge's own scale.
        asked: how many documents it was asked for.
        grades: its label -> the label of people for which it is taken; None where it is taken as it is.
    """

    labels: Qrels
    judge_rel: int
    asked: int
    grades: Mapping[int, int] | None = None

    def scale_words(self) -> str:
        """Return what counts as relevant for the judge, for settings."""
        return scale_words(self.judge_rel, self.grades)

    @property
    def missing(self) -> int:
        """Return how many documents it gave no label."""
        return self.asked - len(self.labels)


def checked_pool(pool: Any) -> pd.DataFrame | None:
    """Return what a user gives as the documents to label as a frame: ``qid docno``, and what a judge reads of each.

    Raises:
        InputError: neither a Pool nor a frame, a missing column, a document twice.
    """
    if pool is None:
        return None
    if isinstance(pool, Pool):
        every = [pool] if pool.unsampled is None else [pool, pool.unsampled]
        return pd.concat([part.to_frame()[_PAIR] for part in every], ignore_index=True)
    if not isinstance(pool, pd.DataFrame):
        raise InputError(
            f"pool must be a Pool, or a frame with qid and docno, got {told(pool)}.",
            argument="pool",
        )
    frame = in_our_columns(pool)
    with arguments_as(frame="pool"):
        documents_of(frame[[column for column in _PAIR if column in frame]], None)
    return frame.assign(qid=frame["qid"].astype(str), docno=frame["docno"].astype(str)).reset_index(drop=True)


def documents_to_label(judge: NamedJudge, pool: pd.DataFrame | None) -> pd.DataFrame:
    """Return the documents that a judge is to label: those of the pool, or those whose labels exist already.

    Raises:
        InputError: neither a pool nor labels that exist already.
    """
    if pool is not None:
        return pool
    known = judge.judge.known_pairs()
    if known is None:
        raise InputError(
            "the judge has to be asked, and nobody says for which documents. Give ",
            Option("pool", ...),
            ", a Pool or a frame with qid, docno and what the judge reads.",
            argument="pool",
        )
    return known


def labels_for(judge: NamedJudge, pairs: pd.DataFrame, people: Scale) -> JudgeLabels:
    """Ask a judge for labels.

    Args:
        judge: who is asked.
        pairs: the documents, ``qid docno`` and what the judge reads.
        people: the scale of people.

    Raises:
        InputError: no label for any document, what it answers is no label, or its labels go beyond those of people and
            nobody says which are relevant.
    """
    labels = judge.labels(pairs)
    # a negative label says that there is none, as in judgments
    known = (labels >= 0).fillna(False).to_numpy(dtype=bool)
    if not known.any():
        with located(judge.name):
            of = f" for any of {count(len(pairs), 'document')} that it was asked for" if len(pairs) else ""
            raise InputError(f"the judge has no label of at least 0{of}.", argument="judge")
    found = pairs.loc[known, _PAIR].assign(label=labels[known].astype(np.int64))
    lowest = lowest_of(judge, found["label"], people)
    return JudgeLabels(on_scale(Qrels(found, rel=lowest), lowest, people.rel), lowest, len(pairs), judge.grades)


#: with fewer topics intervals are known to cover less than they say
ENOUGH_TOPICS = 20
#: labels a topic on one side over those on the other from which on the two are not of one kind
UNLIKE = 1.5


@dataclass(frozen=True)
class SplitTopics:
    """The topics of one judge.

    Attributes:
        labelled: those that people labelled, too.
        unlabelled: those that the judge alone labelled.
        of_judge: what the judge said.
    """

    labelled: list[str]
    unlabelled: list[str]
    of_judge: JudgeLabels

    def words(self) -> str:
        """Return what there is, for settings."""
        rel = self.of_judge.scale_words()
        missing = f", {self.of_judge.missing:,} documents without a label" if self.of_judge.missing else ""
        return (
            f"{rel}, n={len(self.labelled):,} topics with labels of people, N={len(self.unlabelled):,} with the "
            f"judge's alone{missing}"
        )

    def caveats(self) -> Iterator[Caveat]:
        """Yield what keeps the intervals from meaning what they seem to mean."""
        n, more = len(self.labelled), len(self.unlabelled)
        if n < ENOUGH_TOPICS:
            yield Caveat(
                f"{n:,} topics with labels of people only",
                (
                    f"people labelled {n:,} topics. With fewer than {ENOUGH_TOPICS} the intervals are known to cover "
                    "less than they say: of 95 % intervals as few as 92 in 100 with 10 topics, and 89 with ",
                    Option("variance", PLAIN),
                    ". Have people label more.",
                ),
            )
        if more < n:
            yield Caveat(
                f"fewer topics with the judge's labels alone ({more:,}) than with those of people ({n:,})",
                (
                    f"the judge labelled {count(more, 'topic')} that people did not, fewer than the {n:,} that both "
                    f"labelled. Even a perfect judge makes them worth {n + more:,}; have it label more.",
                ),
            )
        sizes = dict(
            zip(self.of_judge.labels.topics, self.of_judge.labels.arrays.documents.sizes.tolist(), strict=True)
        )
        both, alone = (float(np.mean([sizes[t] for t in some])) for some in (self.labelled, self.unlabelled))
        if max(both, alone) > UNLIKE * min(both, alone):
            yield Caveat(
                f"the judge labelled {both:,.1f} documents a topic where people did, and {alone:,.1f} elsewhere",
                (
                    f"the judge labelled {both:,.1f} documents a topic on the topics that people labelled, and "
                    f"{alone:,.1f} on the others. The estimate takes the two for one kind of labels: give the judge "
                    "the documents of one pool on all topics, by ",
                    Option("pool", ...),
                    ".",
                ),
            )


def split_topics(runs: RunSet, human: Qrels, judge: NamedJudge, pool: pd.DataFrame | None, asked: Asked) -> SplitTopics:
    """Ask a judge, and say which topics people labelled and which it alone did.

    Raises:
        InputError: fewer than two topics of either kind, fewer than three of people where lambda is estimated anew
            without each.

    Warns:
        ReuseWarning: topics that do not count, of people without labels of the judge, of the judge without any run.
    """
    said = labels_for(judge, documents_to_label(judge, pool), Scale.of(human))
    theirs, mine = set(said.labels.topics), set(human.topics)
    labelled = [topic for topic in human.topics if topic in theirs]
    lost = [topic for topic in human.topics if topic not in theirs]
    others = [topic for topic in said.labels.topics if topic not in mine]
    there = set(runs.topics)
    alone = [topic for topic in others if topic in there]
    with located(judge.name):
        _check_topics(human, labelled, others, alone)
        if asked.weight is None and asked.variance == JACKKNIFE and len(labelled) < LEAST_FOR_JACKKNIFE:
            raise InputError(
                f"people and the judge labelled {count(len(labelled), 'topic')}. To estimate lambda anew without each "
                f"takes {LEAST_FOR_JACKKNIFE}, a trusted interval {ENOUGH_TOPICS}. Have people label more, or give ",
                Option("lam", 1),
                ".",
                argument="human",
            )
        if lost:
            warn(
                f"the judge labelled nothing in {count(len(lost), 'topic')} that people judged: {examples(lost)}. "
                f"The estimates are of the other {len(labelled):,}."
            )
        if len(alone) < len(others):
            gone = [topic for topic in others if topic not in there]
            warn(
                f"no run has documents for {count(len(gone), 'topic')} of the judge: {examples(gone)}. They are left "
                "out."
            )
    return SplitTopics(labelled, alone, said)


def _check_topics(human: Qrels, labelled: list[str], others: list[str], alone: list[str]) -> None:
    if not labelled:
        raise InputError(
            f"the judge labelled no topic that people judged: {examples(human.topics)}; {examples(others)}. Are "
            "these labels of the same collection, with ids written alike?",
            argument="judge",
        )
    if len(labelled) < 2:
        raise InputError(
            f"people and the judge labelled one topic only, {labelled[0]!r}. A variance takes 2, a trusted interval "
            f"{ENOUGH_TOPICS}.",
            argument="human",
        )
    if len(alone) < 2:
        of_runs = (
            f", and no run has documents for {len(others) - len(alone):,} of them" if len(alone) < len(others) else ""
        )
        raise InputError(
            f"the judge labelled {count(len(others), 'topic')} beyond those that people did{of_runs}. There is "
            "nothing to gain from fewer than 2. Give labels of the judge for topics that people did not judge, by ",
            Option("pool", ...),
            " where it has to be asked. Where people judged some documents of each topic, give ",
            Option("level", "documents"),
            ".",
            argument="judge",
        )


def score_as_asked(runs: RunSet, qrels: Qrels, asked: Asked) -> Scores:
    """Score the field by some labels."""
    return score(
        runs,
        qrels,
        asked.measures,
        complete=asked.complete,
        without_topics=asked.without_topics,
        verbose=asked.verbose,
    )


def topic_estimates(runs: RunSet, human: Scores, split: SplitTopics, asked: Asked) -> Iterator[Estimates]:
    """Yield the estimates of each measure."""
    labels, n = split.of_judge.labels, len(split.labelled)
    # measures that count lower grades are named once, for people's labels
    by_judge = labels.select([*split.labelled, *split.unlabelled]).with_rel(None)
    if asked.without_topics == "error":
        # a run that has the topics of people alone would score 0 on all others
        check_topics(runs, labels.select(split.unlabelled))
    if not asked.complete:
        check_every_topic(runs.names, topics_of_runs(runs, by_judge), "complete", what="The estimate")
    with told_elsewhere():
        found = score_as_asked(runs, by_judge, asked)
    rows = [human.topics.index(topic) for topic in split.labelled]
    place = {topic: t for t, topic in enumerate(found.topics)}
    order = [place[topic] for topic in (*split.labelled, *split.unlabelled)]
    for name, mine, theirs in zip(human.measures, human.values, found.values, strict=True):
        values = TopicValues(mine[rows], theirs[order[:n]], theirs[order[n:]])
        yield Estimates(
            measure=name,
            means=columns_of(powered_means(values, asked.weight, asked.variance), asked.confidence),
            pairs=columns_of(powered_differences(values, asked.weight, asked.variance), asked.confidence),
        )


#: what a sample says of each document
STRATUM, INCLUSION = "stratum", "inclusion"


@dataclass(frozen=True)
class Sample:
    """The pool of all topics, and which of its documents people labelled.

    Attributes:
        documents: the pool; its labels are people's, -1 where they gave none.
        inclusion: (documents,) the probability that people would label it, NaN where nobody says and none is needed.
        stratum: (documents,) its stratum, None where documents were drawn one by one.
    """

    documents: Qrels
    inclusion: NDArray[np.float64]
    stratum: NDArray[np.int64] | None

    @property
    def sampled(self) -> NDArray[np.bool_]:
        """Return (documents,): whether people labelled it."""
        return np.asarray(self.documents.arrays.labels >= 0)

    @property
    def n(self) -> int:
        """Return how many documents people labelled."""
        return int(self.sampled.sum())

    def words(self) -> str:
        """Return how it was drawn, for settings."""
        how = "each document with its own probability" if self.stratum is None else "by strata, without replacement"
        return f"{self.n:,} of {len(self.documents):,} documents, {how}"


def sample_of(human: Qrels, more: pd.DataFrame | None) -> Sample:
    """Return the sample that people labelled.

    Args:
        human: their labels, with ``stratum`` and label -1 for what was not sampled, or with ``inclusion``.
        more: ``qid docno`` of further documents of the pool; read where there are no strata.

    Raises:
        InputError: labels that do not say how the documents were drawn, or whose strata lack the documents that were
            not.
    """
    frame = human.to_frame()
    if STRATUM in frame:
        return _stratified(human, frame)
    if INCLUSION not in frame:
        raise InputError(
            "the labels of people do not say with which probability each document was drawn: they have the columns "
            f"{examples(frame.columns, 12)}. Give what ",
            Call("sample_pool", "...).judge(judge"),
            " returns, or a frame with the column 'inclusion'. Where people judged some topics in full, give ",
            Option("level", "topics"),
            ".",
            argument="human",
        )
    if more is not None:
        rest = more.loc[more["qid"].isin(set(human.topics)), ["qid", "docno"]].drop_duplicates()
        known = pd.MultiIndex.from_frame(frame[["qid", "docno"]])
        rest = rest[~pd.MultiIndex.from_frame(rest).isin(known)]
        frame = pd.concat([frame, rest.assign(label=-1)], ignore_index=True)
    documents = Qrels(frame[["qid", "docno", "label", INCLUSION]], topics=human.topics, rel=human.stated_rel)
    inclusion = pd.to_numeric(documents.to_frame()[INCLUSION], errors="coerce").to_numpy(dtype=np.float64)
    odd = np.flatnonzero((documents.arrays.labels >= 0) & ~((inclusion > 0) & (inclusion <= 1)))
    if len(odd):
        row = documents.to_frame().iloc[int(odd[0])]
        raise InputError(
            f"{count(len(odd), 'labelled document')} without an inclusion probability above 0 and at most 1, such as "
            f"topic {row['qid']!r}, document {row['docno']!r}, which has {row[INCLUSION]}.",
            argument="human",
        )
    return Sample(documents, inclusion, None)


def _stratified(human: Qrels, frame: pd.DataFrame) -> Sample:
    lacking = int(frame[STRATUM].isna().sum())
    if lacking:
        raise InputError(
            f"{count(lacking, 'judgment')} of {len(frame):,} without a stratum. Give what ",
            Call("sample_pool", "...).judge(judge"),
            " returns.",
            argument="human",
        )
    stratum = frame.groupby(["qid", STRATUM], sort=False).ngroup().to_numpy()
    sampled = (frame["label"] >= 0).to_numpy()
    size, n = np.bincount(stratum), np.bincount(stratum[sampled], minlength=int(stratum.max(initial=-1)) + 1)
    share = n / size
    given = frame[INCLUSION].to_numpy(dtype=np.float64) if INCLUSION in frame else share[stratum]
    odd = np.flatnonzero(share[stratum] > given + 1e-6)
    if len(odd):
        row = frame.iloc[int(odd[0])]
        raise InputError(
            f"topic {row['qid']!r}, stratum {row[STRATUM]!r}: {int(n[stratum[odd[0]]]):,} of "
            f"{int(size[stratum[odd[0]]]):,} documents are labelled, more than the inclusion probability "
            f"{given[odd[0]]:.4g} says. Rows of documents that were pooled and not sampled, label -1, are missing.",
            argument="human",
        )
    empty = np.flatnonzero(n == 0)
    if len(empty):
        row = frame.iloc[int(np.flatnonzero(stratum == empty[0])[0])]
        raise InputError(
            f"people labelled no document of {len(empty):,} of {len(size):,} strata, such as topic {row['qid']!r}, "
            f"stratum {row[STRATUM]!r}. Have them label at least one of each, better two.",
            argument="human",
        )
    return Sample(human, share[stratum], stratum.astype(np.int64))


def pool_labels(judge: NamedJudge, sample: Sample, texts: pd.DataFrame | None) -> JudgeLabels:
    """Ask a judge for the labels of the whole pool.

    Args:
        judge: who is asked.
        sample: the pool.
        texts: ``qid docno`` and what the judge reads, None for nothing.

    Warns:
        ReuseWarning: documents without a label of the judge, which count as not relevant for it.
    """
    pairs = sample.documents.to_frame()[["qid", "docno"]]
    shown = pairs if texts is None else pairs.merge(texts, how="left", on=["qid", "docno"])
    found = labels_for(judge, shown, Scale.of(sample.documents))
    if found.missing:
        with located(judge.name):
            warn(
                f"the judge gave {found.missing:,} of {count(found.asked, 'document')} of the pool no label. They "
                "count as gain 0 for it, which labels of people correct like any other of its errors."
            )
    return found


def document_estimates(
    runs: RunSet, sample: Sample, labels: Qrels, measures: Sequence[LinearMeasure], asked: Asked
) -> Iterator[Estimates]:
    """Yield the estimates of each measure."""
    pool, human = sample.documents.arrays, sample.documents.arrays.labels
    rows = labels.arrays.documents.find(pool.documents)
    judge = np.where(rows >= 0, np.append(labels.arrays.labels, np.int16(-1))[rows], np.int16(-1))
    index = HitIndex(runs.field, pool.documents)
    for measure in measures:
        mine, theirs = (np.where(some >= 0, measure.gain(np.maximum(some, 0)), 0.0) for some in (human, judge))
        topics = []
        for t in range(len(pool.documents.topics)):
            of_topic = pool.documents.rows(t)
            documents = SampledDocuments(
                sampled=sample.sampled[of_topic],
                inclusion=sample.inclusion[of_topic],
                stratum=None if sample.stratum is None else sample.stratum[of_topic],
                human=mine[of_topic],
                judge=theirs[of_topic],
            )
            topics.append(totals_of(documents, _weights(index, t, measure)))
        n, size = sample.n, len(sample.documents)
        yield Estimates(
            measure=measure.name,
            means=_columns(corrected_totals(topics, False, asked.weight), n, size - n, asked.confidence),
            pairs=_columns(corrected_totals(topics, True, asked.weight), n, size - n, asked.confidence),
        )


def _weights(index: HitIndex, t: int, measure: LinearMeasure) -> NDArray[np.float64]:
    """Return (documents of the topic, runs): the weight of each document for each run."""
    n_documents, n_runs = int(index.documents.sizes[t]), index.field.n_runs
    if measure.weights is None:
        return np.ones((n_documents, n_runs))
    found, hits = np.zeros((n_documents, n_runs)), index.gather(range(t, t + 1))
    found[hits.row, hits.of] = measure.weights(hits.rank, hits.lengths[hits.of])
    return found


def _columns(found: CorrectedTotals, n: int, more: int, confidence: float) -> pd.DataFrame:
    """Return means over topics, or their differences, with two intervals: over topics, and over samples."""
    from scipy.special import ndtri

    n_topics, n_columns = found.estimate.shape
    estimate, se = _mean(found.estimate)
    human, human_se = _mean(found.human)
    low, high = t_interval(estimate, se, n_topics, confidence)
    human_low, human_high = t_interval(human, human_se, n_topics, confidence)
    of_sample = np.sqrt(found.variance) / n_topics
    reach = ndtri((1 + confidence) / 2) * of_sample
    return pd.DataFrame(
        {
            "human": human,
            "human_low": human_low,
            "human_high": human_high,
            "by_judge": found.judge.mean(axis=0),
            "estimate": estimate,
            "estimate_low": low,
            "estimate_high": high,
            "se": se,
            "lambda": found.weight,
            "n": n,
            "N": more,
            "n_eff": effective_of_pool(n, n + more, found.human_variance, found.variance),
            "se_sampling": of_sample,
            "sampling_low": estimate - reach,
            "sampling_high": estimate + reach,
            "p": t_p_value(estimate, se, n_topics),
            "human_p": t_p_value(human, human_se, n_topics),
        },
        index=range(n_columns),
    )


def _mean(by_topic: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean over topics of (topics, columns), and its standard error, NaN of one topic."""
    n = len(by_topic)
    if n < 2:
        return by_topic.mean(axis=0), np.full(by_topic.shape[1], np.nan)
    return by_topic.mean(axis=0), by_topic.std(axis=0, ddof=1) / np.sqrt(n)
