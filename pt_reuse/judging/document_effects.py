"""What the judge's label of each document does to the score of each run, and the documents that move each most."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

import ir_measures
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.arrays.kernels import KERNELS, UNJUDGED, Cells, Spec, discounts
from pt_reuse.arrays.rescore import Changes, HitIndex, Hits, Judgments
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.scoring.measures import native_spec
from pt_reuse.scoring.rescoring import rescore

#: a label for each document that people judged, `UNJUDGED` for none
Labels: TypeAlias = NDArray[np.int16]
#: kernels whose score is a sum over documents, divided by something of the topic
_ADDITIVE = ("p", "r", "ndcg", "rbp")
#: so many documents of a run are kept
KEPT = 10
_NOTHING = 1e-12  # a change of a score that is no more is of rounding
#: what an effect is, for settings
OF_SUM = (
    "weight of the document's rank x (gain by the judge - gain by people) / divisor of the topic under the judge; what "
    "the new divisor does to labels that stay is of no document"
)
ALONE = "what the score gains where this label alone is changed; such effects need not add up"
NONE = "not known, since ir_measures computes the measure"


#: the effects of one topic: (documents,) rows of the judgments, and (documents, runs) what each adds to mean scores
Effects: TypeAlias = tuple[NDArray[np.int64], NDArray[np.float64]]


class DocumentEffects:
    """What each document whose label the judge changes adds to the mean score of each run."""

    def __init__(
        self,
        runs: RunSet,
        human: Qrels,
        measure: ir_measures.Measure,
        topics: NDArray[np.int64],
        has_topic: NDArray[np.bool_] | None,
    ):
        self._runs, self._human, self._measure, self._topics = runs, human, measure, topics
        self._spec = native_spec(measure)
        self.adds_up = _is_sum(self._spec)  # whether effects are parts of one sum
        self._share = 1 / np.maximum(len(topics) if has_topic is None else has_topic.sum(axis=0), 1)

    @staticmethod
    def words_of(measure: ir_measures.Measure) -> str:
        """Return what an effect on scores by a measure is, for settings."""
        spec = native_spec(measure)
        return NONE if spec is None else OF_SUM if _is_sum(spec) else ALONE

    def between(self, truth: Labels, estimate: Labels) -> Iterator[Effects]:
        """Yield the effects of each topic with documents whose labels differ; nothing of a measure that is not ours."""
        if self._spec is None:
            return
        found = self._of_sum(self._spec, truth, estimate) if self.adds_up else self._alone(truth, estimate)
        for rows, effects in found:
            # a topic that a run lacks has no documents of it, so that its share may be of any
            yield rows, effects * self._share

    def _of_sum(self, spec: Spec, truth: Labels, estimate: Labels) -> Iterator[Effects]:
        documents = self._human.arrays.documents
        index = HitIndex(self._runs.field, documents)
        every = np.unique(np.concatenate([truth, estimate]))
        kernel, starts = KERNELS[spec.kernel], documents.starts
        divisors = [kernel.of_cell(Cells(Judgments(starts, labels)), spec, every) for labels in (truth, estimate)]
        divisor = np.where(divisors[1] > 0, divisors[1], divisors[0])
        for topic in self._topics.tolist():
            rows = documents.rows(topic)
            gained = _gains(spec, estimate[rows], every) - _gains(spec, truth[rows], every)
            changed = np.flatnonzero(gained)
            if not len(changed) or divisor[topic] == 0:
                continue
            weights = _weights(spec, index.gather(range(topic, topic + 1)), len(gained))
            yield changed + rows.start, weights[changed] * (gained[changed] / divisor[topic])[:, None]

    def _alone(self, truth: Labels, estimate: Labels) -> Iterator[Effects]:
        documents = self._human.arrays.documents
        counts = np.zeros(len(documents.topics), dtype=bool)
        counts[self._topics] = True
        changed = np.flatnonzero((truth != estimate) & counts[documents.topic])
        # each label is a set of judgments of its own
        changes = Changes(len(changed), np.arange(len(changed)), changed, estimate[changed])
        base = Qrels.of_arrays(self._human.arrays.labelled(truth))
        for block in rescore(self._runs, base, [self._measure], changes):
            for at, topic in enumerate(block.topics):
                cells = block.cells_of(topic)
                if cells.stop > cells.start:
                    yield changed[block.set[cells]], block.values[0, cells] - block.base[0, at]


def ranks_of(runs: RunSet, human: Qrels) -> Iterator[NDArray[np.int32]]:
    """Yield for each topic (documents, runs) the rank of each judged document in each run, 0 for none."""
    index = HitIndex(runs.field, human.arrays.documents)
    for topic in index.topics:
        hits = index.gather(range(topic, topic + 1))
        ranks = np.zeros((human.arrays.documents.sizes[topic], len(runs)), dtype=np.int32)
        ranks[hits.row, hits.of] = hits.rank
        yield ranks


def _is_sum(spec: Spec | None) -> bool:
    return spec is not None and spec.kernel in _ADDITIVE and not spec.judged_only


def _gains(spec: Spec, labels: Labels, every: Labels) -> NDArray[np.float64]:
    """Return (rows,) what each label is worth."""
    if spec.kernel != "ndcg":
        return (labels >= spec.rel).astype(np.float64)
    return pd.Series(labels).map(spec.gain_of_label(every)).fillna(0.0).to_numpy(dtype=np.float64)


def _weights(spec: Spec, hits: Hits, n_documents: int) -> NDArray[np.float64]:
    """Return (documents, runs) what the rank of a document weighs in the score of each run, 0 where it has not."""
    weight, found = np.ones(len(hits.rank)), np.zeros((n_documents, hits.n_runs))
    if spec.kernel == "ndcg":
        weight /= discounts(int(hits.rank.max(initial=1)))[hits.rank]
    elif spec.kernel == "rbp":
        weight *= (1 - spec.p) * spec.p ** (hits.rank - 1.0)
    found[hits.row, hits.of] = weight if spec.cutoff is None else np.where(hits.rank <= spec.cutoff, weight, 0.0)
    return found


def moving_documents(
    found: Iterable[Effects], moved: pd.DataFrame, by_name: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the documents that push each run the way it moves, their effects, and (runs,) sums over all documents."""
    places = np.append(by_name, len(by_name))
    relative = moved["relative"].to_numpy(dtype=float)
    way = np.sign(np.where(moved["rise"] != 0, moved["rise"], np.where(np.abs(relative) > _NOTHING, relative, 0.0)))
    rows, pushes = np.full((0, len(way)), -1, dtype=np.int64), np.zeros((0, len(way)))
    totals = np.zeros(len(way))
    for of_topic, effects in found:
        own = effects - effects.mean(axis=1, keepdims=True)
        totals += own.sum(axis=0)
        both = np.concatenate([pushes, own * way])
        numbers = np.concatenate([rows, np.broadcast_to(of_topic[:, None], own.shape)])
        best = np.lexsort((places[numbers], -np.round(both, DECIMALS)), axis=0)[:KEPT]
        rows, pushes = np.take_along_axis(numbers, best, axis=0), np.take_along_axis(both, best, axis=0)
    there = pushes > _NOTHING
    return np.where(there, rows, -1), np.where(there, pushes * way, 0.0), totals


def documents_table(
    rows: NDArray[np.int64],
    effects: NDArray[np.float64],
    human: Qrels,
    labels: tuple[Labels, Labels],
    names: list[str],
    ranks: list[NDArray[np.int32]],
) -> pd.DataFrame:
    """Return a row per run and document, ``name qid docno label judge_label rank effect``, of what moves runs."""
    documents = human.arrays.documents
    place, run = np.nonzero(rows.T >= 0)[::-1]
    row = rows[place, run]
    topic = documents.topic[row]
    at = zip(topic.tolist(), (row - documents.starts[topic]).tolist(), run.tolist(), strict=True)
    rank = pd.Series([ranks[t][d, r] for t, d, r in at], dtype="Int64")
    label, judge_label = (pd.Series(of[row], dtype="Int64").mask(of[row] == UNJUDGED) for of in labels)
    frame = {
        "name": pd.Series(names, dtype=object).take(run).to_list(),
        "qid": pd.Series(documents.topics, dtype=object).take(topic).to_list(),
        "docno": list(map(documents.docno, row.tolist())),
    }
    texts = pd.DataFrame(frame, dtype=object)
    return texts.assign(label=label, judge_label=judge_label, rank=rank.mask(rank == 0), effect=effects[place, run])


def places_by_name(human: Qrels) -> NDArray[np.int64]:
    """Return (rows of the judgments,) the place of each where they are sorted by document and topic."""
    order = human.to_frame()[["docno", "qid"]].reset_index(drop=True).sort_values(["docno", "qid"]).index
    return np.argsort(order.to_numpy())
