"""Prediction-powered scores over documents: people label a sample of each topic's pool, a judge all of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._check import count, examples
from pt_reuse._errors import Call, InputError, Option, located, warn
from pt_reuse.arrays.prediction_powered import (
    CorrectedTotals,
    SampledDocuments,
    corrected_totals,
    effective_of_pool,
    t_interval,
    t_p_value,
    totals_of,
)
from pt_reuse.arrays.rescore import HitIndex
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.judging.judges import NamedJudge
from pt_reuse.judging.label_pairs import Scale
from pt_reuse.studies.few_labels.asked_documents import JudgeLabels, labels_for
from pt_reuse.studies.few_labels.estimates import Asked, Estimates
from pt_reuse.studies.few_labels.linear_measures import LinearMeasure

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
