"""How often each label of people meets each label of a judge, topic by topic: all that agreement is computed from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse.arrays.lists import natural_order
from pt_reuse.judging.annotators.coefficients import CohenKappa, KrippendorffAlpha, equal_share
from pt_reuse.studies.label_audit.both_labelled import BothLabelled

#: over which documents, and what of the labels
ITEMS, TAKEN = ("all", "relevant"), ("grades", "binary")
#: one of each: how documents and labels are looked at
Way: TypeAlias = tuple[str, str]
#: what is computed of each way of looking, in the order of the columns
FIGURES = (
    "agreement", "kappa", "alpha_nominal", "alpha_ordinal", "human_relevant", "judge_relevant", "surplus", "precision",
    "recall",
)  # fmt: skip


@dataclass(frozen=True)
class LabelCounts:
    """How often each two labels meet.

    Attributes:
        human: the labels of people, in order.
        judge: the labels of the judge, in order; those of `human` where both are on one scale.
        topics: the topics, in natural order.
        counts: (topics, human, judge) how many documents have these two labels.
        rel: the lowest label of people that is relevant.
        judge_rel: the lowest label of the judge that is relevant.
        graded: whether grades can be compared: one scale for both, of more than two labels.
    """

    human: tuple[int, ...]
    judge: tuple[int, ...]
    topics: tuple[str, ...]
    counts: NDArray[np.float64]
    rel: int
    judge_rel: int
    graded: bool

    @classmethod
    def of(cls, labelled: BothLabelled) -> LabelCounts:
        """Count documents that both labelled."""
        pairs = labelled.pairs
        if labelled.scale is None:
            human, judge = (np.unique(pairs[who].to_numpy()) for who in ("human", "judge"))
        else:
            human = judge = np.array(labelled.scale)
        topics = pd.unique(pairs["qid"]).tolist()
        topics = [topics[t] for t in natural_order(topics)]
        place = pairs["qid"].map({topic: t for t, topic in enumerate(topics)}).to_numpy(dtype=np.int64)
        shape = (len(topics), len(human), len(judge))
        at = (place, np.searchsorted(human, pairs["human"]), np.searchsorted(judge, pairs["judge"]))
        counts = np.bincount(np.ravel_multi_index(at, shape), minlength=math.prod(shape)).reshape(shape)
        return cls(
            human=tuple(human.tolist()),
            judge=tuple(judge.tolist()),
            topics=tuple(topics),
            counts=counts.astype(float),
            rel=labelled.rel,
            judge_rel=labelled.judge_rel,
            graded=labelled.scale is not None,
        )

    @property
    def relevant(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return (human,) and (judge,): which labels are relevant."""
        return np.array(self.human) >= self.rel, np.array(self.judge) >= self.judge_rel

    def binary(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (n, 2, 2): how often people and the judge say relevant, of (n, human, judge) sums; 1 is relevant."""
        rows, columns = (np.stack([~side, side]).astype(float) for side in self.relevant)
        found: NDArray[np.float64] = rows @ sums @ columns.T
        return found

    def ways(self, sums: NDArray[np.float64]) -> dict[Way, NDArray[np.float64]]:
        """Return (n, labels, labels) counts by items and labels, of (n, human, judge) sums.

        Labels are ``"grades"`` where these can be compared, and ``"binary"``; items are all, or the relevant ones:
        those that people or the judge call relevant.
        """
        views = [("grades", sums, np.logical_or.outer(*self.relevant))] if self.graded else []
        views.append(("binary", self.binary(sums), np.array([[False, True], [True, True]])))
        found = {}
        for labels, seen, anyone in views:
            found["all", labels] = seen
            found["relevant", labels] = seen * anyone
        return found

    def drawn(self, times: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return (resamples, human, judge): the counts of (resamples, topics) draws."""
        flat = self.counts.reshape(len(self.topics), -1)
        found: NDArray[np.float64] = (times.astype(float) @ flat).reshape(len(times), *self.counts.shape[1:])
        return found


def figures_of(ways: Mapping[Way, NDArray[np.float64]], way: Way) -> dict[str, NDArray[np.float64]]:
    """Return the :data:`FIGURES` of confusion matrices, (n,) each, NaN where a figure has no value."""
    seen, relevant = ways[way], ways[way[0], "binary"]
    total, both = relevant.sum(axis=(1, 2)), relevant[:, 1, 1]
    human, judge = relevant[:, 1].sum(axis=1), relevant[:, :, 1].sum(axis=1)
    # of two labels of one document, each meets the other once
    coincidences = seen + seen.transpose(0, 2, 1)
    found = {
        "agreement": equal_share(seen),
        "kappa": CohenKappa(None)(seen),
        "alpha_nominal": KrippendorffAlpha("nominal")(coincidences),
        # of two labels there is no order to count steps in
        "alpha_ordinal": KrippendorffAlpha("ordinal")(coincidences)
        if seen.shape[1] > 2
        else np.full(len(seen), np.nan),
        "human_relevant": share(human, total),
        "judge_relevant": share(judge, total),
        "surplus": share(judge - human, total),
        "precision": share(both, judge),
        "recall": share(both, human),
    }
    return {figure: found[figure] for figure in FIGURES}


def share(part: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return parts over wholes, NaN where the whole is 0."""
    return np.divide(part, whole, out=np.full(np.shape(whole), np.nan), where=whole != 0)
