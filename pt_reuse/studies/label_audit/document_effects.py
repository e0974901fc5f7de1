"""What the judge's label of each document does to the score of each run, beside what it does to the field."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import ir_measures
import numpy as np
from numpy.typing import NDArray

from pt_reuse.arrays.cells import Cells, discounts
from pt_reuse.arrays.kernels import KERNELS, Spec
from pt_reuse.arrays.rescore import Changes, HitIndex, Hits
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.scoring.measures import native_spec
from pt_reuse.scoring.rescoring import rescore
from pt_reuse.studies.label_audit.field_scores import Labels

#: kernels whose score is a sum over documents, divided by something of the topic
_ADDITIVE = ("p", "r", "ndcg", "rbp")
#: what an effect is, for settings
OF_SUM = (
    "weight of the document's rank x (gain by the judge - gain by people) / divisor of the topic under the judge; what "
    "the new divisor does to labels that stay is of no document"
)
ALONE = "what the score gains where this label alone is changed; such effects need not add up"
NONE = "not known, since ir_measures computes the measure"


@dataclass(frozen=True)
class TopicEffects:
    """The effects of the documents of one topic whose labels differ.

    Attributes:
        rows: (documents,) rows of the judgments.
        effects: (documents, runs) what each label adds to the mean score of each run.
    """

    rows: NDArray[np.int64]
    effects: NDArray[np.float64]

    def relative(self) -> NDArray[np.float64]:
        """Return (documents, runs) the effects less their means over the runs."""
        return self.effects - self.effects.mean(axis=1, keepdims=True)


class DocumentEffects:
    """What each document whose label the judge changes adds to the mean score of each run.

    A measure that is a sum over the documents of a list, divided by something of the topic (P, R, nDCG, RBP), is taken
    apart exactly: a document adds ``weight of its rank * (gain by the judge - gain by people) / divisor``, with the
    divisor by the judge (the ideal list of nDCG, the relevant documents of R; the one by people where the judge's is
    0). What the new divisor does to documents whose labels stay is of no document: it is the rest. Of any other measure
    computed here the effect is what the score gains when this label alone is changed; such effects need not add up.

    Args:
        runs: the field.
        human: the judgments of people, whose rows the labels are of.
        measure: by which runs are scored.
        topics: those that count, as positions among the topics of `human`.
        has_topic: (topics that count, runs) whether a run has each, where its mean is over its own; None: over all.
    """

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
        n_topics = np.full(len(runs), len(topics)) if has_topic is None else has_topic.sum(axis=0)
        self._share = 1 / np.maximum(n_topics, 1)

    @property
    def adds_up(self) -> bool:
        """Return whether effects are parts of one sum."""
        return self._spec is not None and _is_sum(self._spec)

    @property
    def words(self) -> str:
        """Return what an effect is."""
        if self._spec is None:
            return NONE
        return OF_SUM if self.adds_up else ALONE

    def between(self, truth: Labels, estimate: Labels) -> Iterator[TopicEffects]:
        """Yield the effects of each topic with documents whose labels differ; nothing of a measure that is not ours.

        Args:
            truth: (rows of the judgments,) labels of people.
            estimate: those of the judge.
        """
        if self._spec is None:
            return
        found = self._of_sum(self._spec, truth, estimate) if _is_sum(self._spec) else self._alone(truth, estimate)
        for one in found:
            # a topic that a run lacks has no documents of it, so that its share may be of any
            yield TopicEffects(one.rows, one.effects * self._share)

    def _of_sum(self, spec: Spec, truth: Labels, estimate: Labels) -> Iterator[TopicEffects]:
        documents = self._human.arrays.documents
        index = HitIndex(self._runs.field, documents)
        every = np.unique(np.concatenate([truth, estimate]))
        kernel, none = KERNELS[spec.kernel], np.zeros(0, dtype=np.int64)
        divisors = [
            kernel.of_cell(Cells(documents.starts, labels, none, none, none.astype(np.int16)), spec, every)
            for labels in (truth, estimate)
        ]
        divisor = np.where(divisors[1] > 0, divisors[1], divisors[0])
        for topic in self._topics.tolist():
            rows = documents.rows(topic)
            gained = _gains(spec, estimate[rows], every) - _gains(spec, truth[rows], every)
            changed = np.flatnonzero(gained)
            if not len(changed) or divisor[topic] == 0:
                continue
            weights = _weights(spec, index.gather(range(topic, topic + 1)), len(gained))
            yield TopicEffects(changed + rows.start, weights[changed] * (gained[changed] / divisor[topic])[:, None])

    def _alone(self, truth: Labels, estimate: Labels) -> Iterator[TopicEffects]:
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
                    yield TopicEffects(changed[block.set[cells]], block.values[0, cells] - block.base[0, at])


def ranks_of(runs: RunSet, human: Qrels) -> Iterator[NDArray[np.int32]]:
    """Yield for each topic (documents, runs) the rank of each judged document in each run, 0 for none."""
    index = HitIndex(runs.field, human.arrays.documents)
    for topic in index.topics:
        hits = index.gather(range(topic, topic + 1))
        ranks = np.zeros((human.arrays.documents.sizes[topic], len(runs)), dtype=np.int32)
        ranks[hits.row, hits.of] = hits.rank
        yield ranks


def _is_sum(spec: Spec) -> bool:
    return spec.kernel in _ADDITIVE and not spec.judged_only


def _gains(spec: Spec, labels: Labels, every: Labels) -> NDArray[np.float64]:
    """Return (rows,) what each label is worth."""
    if spec.kernel != "ndcg":
        return (labels >= spec.rel).astype(np.float64)
    gains = np.zeros(len(labels))
    for label, gain in spec.gain_of_label(every).items():
        gains[labels == label] = gain
    return gains


def _weights(spec: Spec, hits: Hits, n_documents: int) -> NDArray[np.float64]:
    """Return (documents, runs) what the rank of a document weighs in the score of each run, 0 where it has not."""
    weight = np.ones(len(hits.rank))
    if spec.kernel == "ndcg":
        weight /= discounts(int(hits.rank.max(initial=1)))[hits.rank]
    elif spec.kernel == "rbp":
        weight *= (1 - spec.p) * spec.p ** (hits.rank - 1.0)
    if spec.cutoff is not None:
        weight = np.where(hits.rank <= spec.cutoff, weight, 0.0)
    found = np.zeros((n_documents, hits.n_runs))
    found[hits.row, hits.of] = weight
    return found
