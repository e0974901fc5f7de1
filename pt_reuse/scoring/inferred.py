"""xinfAP and xinfNDCG: AP and nDCG estimated from judgments of a stratified random sample of a pool."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import ir_measures
import numpy as np
import pandas as pd
from ir_measures import Metric
from numpy.typing import NDArray

from pt_reuse.data.judgments import check_all_labelled
from pt_reuse.errors import InputError, count, shown
from pt_reuse.scoring.measures import OwnMeasure

#: what sample_eval.pl adds to the relevant and to the judged documents above a rank, so that no share is 0 / 0
_RELEVANT, _JUDGED = 1e-5, 3e-5
_CUTOFF = ir_measures.ParamInfo(dtype=int, required=False, desc="ranking cutoff threshold")


@dataclass(frozen=True)
class Sample:
    """The sampled pool of a topic: (strata,) pooled and judged documents; (documents,) stratum, label, or below 0."""

    size: NDArray[np.int64]
    judged: NDArray[np.int64]
    stratum: NDArray[np.int64]
    label: NDArray[np.int64]

    @property
    def weight(self) -> NDArray[np.float64]:
        """Return (strata,): how many documents a judged one stands for, N_h / n_h; 0 where none is judged."""
        return self.size / np.maximum(self.judged, 1) * (self.judged > 0)

    def counts(self, chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return (strata,): how many of the chosen documents each has."""
        return np.bincount(self.stratum[chosen], minlength=len(self.size))


@dataclass(frozen=True)
class Ranked:
    """The pooled documents of a run for a topic, best first: (documents,) rank from 1, stratum, label, or below 0."""

    rank: NDArray[np.int64]
    stratum: NDArray[np.int64]
    label: NDArray[np.int64]

    def counts(self, chosen: NDArray[np.bool_] | bool, n_strata: int) -> NDArray[np.int64]:
        """Return (documents + 1, strata): how many of the chosen documents stand above each, and in all."""
        hits = np.zeros((len(self.rank) + 1, n_strata), dtype=np.int64)
        hits[np.arange(1, len(hits)), self.stratum] = chosen
        return np.cumsum(hits, axis=0)


class _Inferred(OwnMeasure, ABC):
    """A measure that is estimated from a stratified sample of a pool."""

    RUN_INPUTS = ("query_id", "doc_id", "score")
    QREL_INPUTS = ("query_id", "doc_id", "relevance", "stratum")

    def runtime_impl(self, qrels: pd.DataFrame, run: pd.DataFrame) -> Iterator[Metric]:
        """Yield one value per topic that both the qrels and the run have; called by ir_measures."""
        cutoff = self.params.get("cutoff")
        if cutoff is not None and cutoff < 1:
            raise InputError(f"measure {self!r}: cutoff must be at least 1, got {cutoff}.")
        check_sampled(self, qrels)
        topic, names = pd.factorize(qrels["query_id"])
        order = np.argsort(topic, kind="stable")
        qrels, topic = qrels.iloc[order], topic[order]
        run = run[run["query_id"].isin(names)]
        of_run, docs = names.get_indexer(pd.Index(run["query_id"])), pd.concat([qrels["doc_id"], run["doc_id"]])
        doc, docnos = pd.factorize(docs)
        best_first = _trec_order(of_run, run["score"].to_numpy(dtype=np.float64), doc[len(qrels) :], docnos)
        row = _find(topic * len(docnos) + doc[: len(qrels)], (of_run * len(docnos) + doc[len(qrels) :])[best_first])
        stratum, label = pd.factorize(qrels["stratum"])[0], qrels["relevance"].to_numpy(dtype=np.int64)
        n_strata = int(stratum.max(initial=-1)) + 1
        starts, starts_of_run = (np.searchsorted(of, np.arange(len(names) + 1)) for of in (topic, of_run[best_first]))
        for t, name in enumerate(names):
            found = row[starts_of_run[t] : starts_of_run[t + 1]][:cutoff]
            if not len(found):
                continue
            mine = slice(int(starts[t]), int(starts[t + 1]))
            pool, labels = stratum[mine], label[mine]
            size, judged = (np.bincount(pool[which], minlength=n_strata) for which in (slice(None), labels >= 0))
            place = np.flatnonzero(found >= 0)
            ranked = Ranked(place + 1, stratum[found[place]], label[found[place]])
            yield Metric(name, self, self._estimated(Sample(size, judged, pool, labels), ranked))

    @abstractmethod
    def _estimated(self, sample: Sample, ranked: Ranked) -> float:
        """Return the value of one topic."""


def _trec_order(
    topic: NDArray[np.int64], score: NDArray[np.float64], doc: NDArray[np.int64], docnos: pd.Index
) -> NDArray[np.int64]:
    """Return the rows of a run topic by topic, best first: by float32 score, equal ones by descending docno."""
    with np.errstate(over="ignore"):
        score = score.astype(np.float32)
    order = np.lexsort((-score, topic))
    topics, scores = topic[order], score[order]
    # no difference: scores beyond float32 are infinite, and equal
    tied = (topics[1:] == topics[:-1]) & (scores[1:] == scores[:-1])
    if not tied.any():
        return order
    place = np.empty(len(docnos), dtype=np.int64)
    place[np.argsort(docnos.to_numpy(dtype=object), kind="stable")] = np.arange(len(docnos))
    return np.lexsort((-place[doc], -score, topic))


def _find(table: NDArray[np.int64], needles: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the row of each needle in a table of distinct numbers, -1 for one that is not in it."""
    order = np.argsort(table)
    at = np.minimum(np.searchsorted(table[order], needles), len(table) - 1)
    return np.where(table[order][at] == needles, order[at], -1)


class _XinfAP(_Inferred):
    """AP estimated from a stratified sample of a pool: the extended inferred AP of Yilmaz, Kanoulas and Aslam.

    Needs judgments of a sampled pool: label -1 for documents that were pooled and not judged, and the column
    ``stratum``, as ``sample_pool(...).judge(...)`` returns them. The precision at a relevant document of rank k is 1/k
    for itself and, for the documents above it, the sum over strata of (pooled documents above) * (relevant + .00001) /
    (judged + .00003) / k, as in NIST's sample_eval.pl. Their mean in each stratum is weighted by the estimated number
    of relevant documents of the stratum. A document that was not pooled is not relevant.

    With everything judged it is AP, but for .00002. With one stratum it is infAP, but trec_eval adds .00002 to the
    judged: if nothing above a relevant document is judged, it counts 1/2 of the documents pooled there as relevant, and
    this measure 1/3. ``xinfAP@1000`` ends lists at rank 1,000, as the script does. Its versions from 2012 on also
    multiply AP by R / 1000 if more than 1,000 documents are estimated to be relevant; this one does not.

    Example:
        >>> import pt_reuse as ptr
        >>> ptr.pools.xinfAP, ptr.pools.xinfAP(rel=2), ptr.pools.xinfAP@1000
        (xinfAP, xinfAP(rel=2), xinfAP@1000)
    """

    NAME = "xinfAP"
    __name__ = "xinfAP"
    PRETTY_NAME = "Extended Inferred Average Precision"
    SHORT_DESC = "AP estimated from judgments of a stratified sample of a pool."
    SUPPORTED_PARAMS = {
        "cutoff": _CUTOFF,
        "rel": ir_measures.ParamInfo(dtype=int, default=1, desc="lowest label that counts as relevant"),
    }

    def _estimated(self, sample: Sample, ranked: Ranked) -> float:
        found, n = ranked.label >= self.params.get("rel", 1), len(sample.size)
        relevant = sample.counts(sample.label >= self.params.get("rel", 1))
        estimated = relevant * sample.weight
        if not estimated.sum():
            return 0.0
        pooled, judged, hits = (ranked.counts(which, n)[:-1] for which in (True, ranked.label >= 0, found))
        above = (pooled * (hits + _RELEVANT) / (judged + _JUDGED)).sum(axis=1)
        precision = (1 + above) / ranked.rank
        of_stratum = np.bincount(ranked.stratum[found], weights=precision[found], minlength=n)
        return float((estimated * of_stratum / np.maximum(relevant, 1)).sum() / estimated.sum())


class _XinfNDCG(_Inferred):
    """nDCG estimated from a stratified sample of a pool, of Yilmaz, Kanoulas and Aslam; ``xinfNDCG@k`` ends at rank k.

    Needs judgments of a sampled pool, as :data:`~pt_reuse.pools.xinfAP` does. The gain of a document is its label, the
    discount 1 / log2(rank + 1). The gain of each stratum in a list is that of its judged documents times pooled /
    judged documents of the stratum in the list; if none is judged, it is 0. The ideal list has the estimated number of
    documents of each grade, rounded, as in NIST's sample_eval.pl since 2011, which ends lists at rank 1,000:
    ``xinfNDCG@1000``. With everything judged it is nDCG.

    Example:
        >>> import pt_reuse as ptr
        >>> ptr.pools.xinfNDCG, ptr.pools.xinfNDCG@20
        (xinfNDCG, xinfNDCG@20)
    """

    NAME = "xinfNDCG"
    __name__ = "xinfNDCG"
    PRETTY_NAME = "Extended Inferred nDCG"
    SHORT_DESC = "nDCG estimated from judgments of a stratified sample of a pool."
    SUPPORTED_PARAMS = {"cutoff": _CUTOFF}

    def _estimated(self, sample: Sample, ranked: Ranked) -> float:
        ideal, place, cutoff = 0.0, 0, self.params.get("cutoff", np.inf)
        for grade in sorted(set(sample.label[sample.label > 0].tolist()), reverse=True):
            # the ideal list has whole documents
            size = int((sample.counts(sample.label == grade) * sample.weight).sum() + 0.5)
            ideal += float((grade / np.log2(np.arange(place + 1, min(place + size, cutoff) + 1) + 1)).sum())
            place += size
        if not ideal:
            return 0.0
        n, gain = len(sample.size), np.maximum(ranked.label, 0) / np.log2(ranked.rank + 1)
        pooled, judged = (ranked.counts(which, n)[-1] for which in (True, ranked.label >= 0))
        of_stratum = np.bincount(ranked.stratum, weights=gain, minlength=n)
        return float((of_stratum * pooled / np.maximum(judged, 1)).sum() / ideal)


xinfAP, xinfNDCG = _XinfAP(), _XinfNDCG()  # noqa: N816 - the names of the measures
# lets ir_measures.parse_measure("xinfAP") and its command line find them
ir_measures.measures.registry.update(xinfAP=xinfAP, xinfNDCG=xinfNDCG)


#: where judgments with strata come from
_HOW = "Score with what sample_pool(...).judge(judge) returns, or with read_qrels(path, strata=True)."


def check_sampled(measure: ir_measures.Measure, qrels: pd.DataFrame) -> None:
    """Raise where a measure is estimated from a sample and judgments are of none."""
    if not isinstance(measure, _Inferred):
        return
    what = f"{measure!r} is estimated from a sample, and "
    if "stratum" not in qrels.columns:
        raise InputError(f"{what}the judgments have no column 'stratum'. {_HOW}", argument="qrels")
    missing = qrels["stratum"].isna().to_numpy()
    if missing.any():
        row = qrels.iloc[int(np.flatnonzero(missing)[0])]
        raise InputError(
            f"{what}{count(int(missing.sum()), 'judgment')} of {len(qrels):,} have no stratum, such as topic "
            f"{shown(row['query_id'])}, document {shown(row['doc_id'])}. {_HOW}",
            argument="qrels",
        )
    if "inclusion" in qrels.columns and len(qrels):
        topic, names = pd.factorize(qrels["query_id"])
        stratum, strata = pd.factorize(qrels["stratum"])
        cell, labelled = topic * len(strata) + stratum, qrels["relevance"].to_numpy() >= 0
        judged, pooled = np.bincount(cell[labelled], minlength=cell.max() + 1), np.bincount(cell)
        inclusion = np.zeros(len(pooled))
        inclusion[cell] = qrels["inclusion"].to_numpy(dtype=np.float64)
        odd = np.flatnonzero(judged > pooled * inclusion + 1e-6)
        if len(odd):
            t, s = divmod(int(odd[0]), len(strata))
            raise InputError(
                f"{measure!r} of topic {shown(names[t])}: {judged[odd[0]]:,} of {pooled[odd[0]]:,} documents of "
                f"stratum {shown(strata[s])} are judged, more than the inclusion probability {inclusion[odd[0]]:.4g} "
                f"says. Rows of documents that were pooled and not sampled, label -1, are missing. {_HOW}",
                argument="qrels",
            )
        check_all_labelled(
            *(qrels[name] for name in ("query_id", "stratum", "relevance", "inclusion")), argument="qrels"
        )
