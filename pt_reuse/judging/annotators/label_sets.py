"""Judgments with an annotator's labels put in, or cut down to documents that annotators labelled, and the scores."""

from __future__ import annotations

from dataclasses import dataclass

import ir_measures
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse.engine.cells import UNJUDGED
from pt_reuse.engine.rescore import Changes
from pt_reuse.judging.annotators.labels import NO_LABEL, AnnotatorLabels
from pt_reuse.qrels.judgments import Qrels
from pt_reuse.runs.run_set import RunSet
from pt_reuse.scoring.rescoring import rescore


@dataclass(frozen=True)
class LabelSet:
    """A set of judgments.

    Attributes:
        annotator: whose labels stand in it, as a position; None for those of the judgments.
        only: (items,) the items that it is cut down to; None for all judgments.
    """

    annotator: int | None
    only: NDArray[np.bool_] | None = None


class LabelSets:
    """Many sets of judgments, each as what it changes in one base.

    Args:
        labels: labels of annotators.
        qrels: the judgments.

    Attributes:
        base: the judgments, with a further row for each item that they do not have.
        judged: (items,) what the judgments say of each item, -1 where nothing.
    """

    def __init__(self, labels: AnnotatorLabels, qrels: Qrels):
        items = Qrels(pd.DataFrame({"qid": labels.qids, "docno": labels.docnos, "label": NO_LABEL}))
        self.base = qrels.union(items)
        documents = self.base.arrays.documents
        # items stand topic by topic as the documents of judgments do, so that each has the row of its document
        self._rows = documents.find(items.arrays.documents)
        self._added = qrels.arrays.documents.find(documents) < 0
        self._labels = labels
        self.judged = self.base.arrays.labels[self._rows].astype(np.int64)
        self._sets: list[LabelSet] = []

    def add(self, wanted: LabelSet) -> int:
        """Add a set and return its number."""
        self._sets.append(wanted)
        return len(self._sets) - 1

    def scores(self, runs: RunSet, measures: list[ir_measures.Measure], *, verbose: bool) -> NDArray[np.float64]:
        """Return (sets, measures, topics of the base, runs)."""
        values = np.empty((len(self._sets), len(measures), len(self.base.topics), len(runs)))
        for block in rescore(runs, self.base, measures, self._changes(), verbose=verbose):
            values[:, :, block.topics.start : block.topics.stop] = block.base[None]
            values[block.set, :, block.topic] = block.values.transpose(1, 0, 2)
        return values

    def topics(self, items: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the topics of some items, as positions among those of the base."""
        place, names = self.base.arrays.documents.place, self._labels.topics
        return np.array(sorted({place[names[t]] for t in self._labels.topic[items].tolist()}), dtype=np.int64)

    def _changes(self) -> Changes:
        in_set, row, label = [], [], []
        for which, wanted in enumerate(self._sets):
            new = np.where(self._added, UNJUDGED, self.base.arrays.labels)
            if wanted.only is not None:
                kept = np.zeros(len(new), dtype=bool)
                kept[self._rows[wanted.only]] = True
                new[~kept] = UNJUDGED
            if wanted.annotator is not None:
                given = self._labels.given[:, wanted.annotator]
                mine = given if wanted.only is None else given & wanted.only
                new[self._rows[mine]] = self._labels.values[mine, wanted.annotator]
            changed = np.flatnonzero(new != self.base.arrays.labels)
            in_set.append(np.full(len(changed), which, dtype=np.int64))
            row.append(changed)
            label.append(new[changed].astype(np.int16))
        return Changes(len(self._sets), np.concatenate(in_set), np.concatenate(row), np.concatenate(label))
