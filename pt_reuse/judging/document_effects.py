"""What the judge's label of each document does to the score of each run, and the documents that move each most."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import ir_measures
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse.arrays.changes import Changes, Judgments
from pt_reuse.arrays.correlation import DECIMALS
from pt_reuse.arrays.kernels import KERNELS, UNJUDGED, Cells, Spec, discounts
from pt_reuse.arrays.rescore import HitIndex, Hits
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.scoring.measures import native_spec
from pt_reuse.scoring.rescoring import rescore

Floats = NDArray[np.float64]
#: a label for each document that people judged, `UNJUDGED` for none
Labels: TypeAlias = NDArray[np.int16]
#: the effects of one topic: (documents,) rows of the judgments, and (documents, runs) what each adds to mean scores
Effects: TypeAlias = tuple[NDArray[np.int64], Floats]
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


def is_sum(measure: ir_measures.Measure) -> bool:
    """Return whether the effects on scores by a measure are parts of one sum."""
    spec = native_spec(measure)
    return spec is not None and spec.kernel in _ADDITIVE and not spec.judged_only


def words_of(measure: ir_measures.Measure) -> str:
    """Return what an effect on scores by a measure is, for settings."""
    return OF_SUM if is_sum(measure) else NONE if native_spec(measure) is None else ALONE


@dataclass(frozen=True)
class DocumentEffects:
    """What each document whose label is another one under a judge adds to the mean score of each run."""

    runs: RunSet
    human: Qrels

    @cached_property
    def _index(self) -> HitIndex:
        return HitIndex(self.runs.field, self.human.arrays.documents)

    @cached_property
    def _ranks(self) -> NDArray[np.int32]:
        """Return (judgments, runs) the rank of each judged document in each run, 0 for none."""
        ranks = np.zeros((len(self.human), len(self.runs)), dtype=np.int32)
        for topic in self._index.topics:
            hits = self._index.gather(range(topic, topic + 1))
            ranks[self.human.arrays.documents.rows(topic)][hits.row, hits.of] = hits.rank
        return ranks

    @cached_property
    def _places(self) -> NDArray[np.int64]:
        """Return (judgments,) the place of each where they are sorted by document and topic."""
        order = self.human.to_frame()[["docno", "qid"]].reset_index(drop=True).sort_values(["docno", "qid"]).index
        return np.argsort(order.to_numpy())

    def between(
        self,
        measure: ir_measures.Measure,
        topics: NDArray[np.int64],
        has_topic: NDArray[np.bool_] | None,
        truth: Labels,
        estimate: Labels,
    ) -> Iterator[Effects]:
        """Yield the effects of each topic with documents whose labels differ; nothing of a measure that is not ours."""
        spec = native_spec(measure)
        if spec is None:
            return
        share = 1 / np.maximum(len(topics) if has_topic is None else has_topic.sum(axis=0), 1)
        found = self._of_sum(spec, topics, truth, estimate)
        for rows, effects in found if is_sum(measure) else self._alone(measure, topics, truth, estimate):
            # a topic that a run lacks has no documents of it, so that its share may be of any
            yield rows, effects * share

    def _of_sum(self, spec: Spec, topics: NDArray[np.int64], truth: Labels, estimate: Labels) -> Iterator[Effects]:
        documents, kernel = self.human.arrays.documents, KERNELS[spec.kernel]
        every = np.unique(np.concatenate([truth, estimate]))
        by_people, by_judge = (
            kernel.of_cell(Cells(Judgments(documents.starts, labels)), spec, every) for labels in (truth, estimate)
        )
        divisor = np.where(by_judge > 0, by_judge, by_people)
        gains = (every >= spec.rel).astype(np.float64)
        if spec.kernel == "ndcg":
            of_label = spec.gain_of_label(every)
            gains = np.array([of_label.get(label, 0.0) for label in every.tolist()])
        gained = gains[np.searchsorted(every, estimate)] - gains[np.searchsorted(every, truth)]
        for topic in topics.tolist():
            rows = documents.rows(topic)
            changed = np.flatnonzero(gained[rows])
            if not len(changed) or divisor[topic] == 0:
                continue
            weights = _weights(spec, self._index.gather(range(topic, topic + 1)), rows.stop - rows.start)
            yield changed + rows.start, weights[changed] * (gained[rows][changed] / divisor[topic])[:, None]

    def _alone(
        self, measure: ir_measures.Measure, topics: NDArray[np.int64], truth: Labels, estimate: Labels
    ) -> Iterator[Effects]:
        changed = np.flatnonzero((truth != estimate) & np.isin(self.human.arrays.documents.topic, topics))
        # each label is a set of judgments of its own
        changes = Changes(len(changed), np.arange(len(changed)), changed, estimate[changed])
        base = Qrels.of_arrays(self.human.arrays.labelled(truth))
        for block in rescore(self.runs, base, [measure], changes):
            for at, topic in enumerate(block.topics):
                cells = block.cells_of(topic)
                if cells.stop > cells.start:
                    yield changed[block.set[cells]], block.values[0, cells] - block.base[0, at]

    def moving(
        self, found: Iterable[Effects], moved: pd.DataFrame, truth: Labels, given: Labels
    ) -> tuple[pd.DataFrame, Floats]:
        """Return ``name qid docno label judge_label rank effect`` of the documents that push each run the way it moves.

        Behind it are (runs,) sums over all documents.
        """
        relative, rise = moved["relative"].to_numpy(dtype=float), moved["rise"].to_numpy()
        way = np.sign(np.where(rise != 0, rise, np.where(np.abs(relative) > _NOTHING, relative, 0.0)))
        rows, pushes = np.full((0, len(way)), -1, dtype=np.int64), np.zeros((0, len(way)))
        totals = np.zeros(len(way))
        for of_topic, effects in found:
            own = effects - effects.mean(axis=1, keepdims=True)
            totals += own.sum(axis=0)
            both = np.concatenate([pushes, own * way])
            numbers = np.concatenate([rows, np.broadcast_to(of_topic[:, None], own.shape)])
            best = np.lexsort((self._places[numbers], -np.round(both, DECIMALS)), axis=0)[:KEPT]
            rows, pushes = np.take_along_axis(numbers, best, axis=0), np.take_along_axis(both, best, axis=0)
        run, place = np.nonzero(pushes.T > _NOTHING)
        row, documents = rows[place, run], self.human.arrays.documents
        label, judge_label = (pd.Series(of[row], dtype="Int64").mask(of[row] == UNJUDGED) for of in (truth, given))
        rank = pd.Series(self._ranks[row, run], dtype="Int64")
        texts = {
            "name": np.array(self.runs.names, dtype=object)[run],
            "qid": np.array(documents.topics, dtype=object)[documents.topic[row]],
            "docno": np.array([documents.docno(one) for one in row.tolist()], dtype=object),
        }
        table = pd.DataFrame(texts, dtype=object).assign(
            label=label, judge_label=judge_label, rank=rank.mask(rank == 0)
        )
        return table.assign(effect=pushes[place, run] * way[run]), totals


def _weights(spec: Spec, hits: Hits, n_documents: int) -> Floats:
    """Return (documents, runs) what the rank of a document weighs in the score of each run, 0 where it has not."""
    weight, found = np.ones(len(hits.rank)), np.zeros((n_documents, hits.n_runs))
    if spec.kernel == "ndcg":
        weight /= discounts(int(hits.rank.max(initial=1)))[hits.rank]
    elif spec.kernel == "rbp":
        weight *= (1 - spec.p) * spec.p ** (hits.rank - 1.0)
    found[hits.row, hits.of] = weight if spec.cutoff is None else np.where(hits.rank <= spec.cutoff, weight, 0.0)
    return found
