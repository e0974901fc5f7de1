"""How often each label of people meets each label of a judge, topic by topic: all that agreement is computed from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse.engine.order import natural_order
from pt_reuse.judging.annotators.resampling import CohenKappa, KrippendorffAlpha, equal_share
from pt_reuse.judging.label_pairs import ComparedLabels

#: over which documents, and what of the labels
ITEMS, TAKEN = ("all", "relevant"), ("grades", "binary")
#: what is computed of each way of looking, in the order of the columns
FIGURES = (
    "agreement", "kappa", "alpha_nominal", "alpha_ordinal", "human_relevant", "judge_relevant", "surplus", "precision",
    "recall",
)  # fmt: skip


@dataclass(frozen=True)
class LabelCounts:
    """How often each two labels meet.

    Attributes:
        name: of the judge.
        human: the labels of people, in order.
        judge: the labels of the judge, in order; those of `human` where both are on the same scale.
        topics: the topics, in natural order.
        counts: (topics, human, judge) how many documents have these two labels.
        rel: the lowest label of people that is relevant.
        judge_rel: the lowest label of the judge that is relevant.
    """

    name: str
    human: tuple[int, ...]
    judge: tuple[int, ...]
    topics: tuple[str, ...]
    counts: NDArray[np.float64]
    rel: int
    judge_rel: int

    @classmethod
    def of(cls, name: str, pairs: pd.DataFrame, rel: int, judge_rel: int) -> LabelCounts:
        """Count documents that both labelled.

        Args:
            name: of the judge.
            pairs: ``qid docno human judge``, a row per document.
            rel: the lowest label of people that is relevant.
            judge_rel: the lowest label of the judge that is relevant.
        """
        human, judge = (np.unique(pairs[who].to_numpy()) for who in ("human", "judge"))
        if _same_scale(human, judge, rel, judge_rel):
            human = judge = np.union1d(human, judge)
        topics = pd.unique(pairs["qid"]).tolist()
        topics = [topics[t] for t in natural_order(topics)]
        place = pairs["qid"].map({topic: t for t, topic in enumerate(topics)}).to_numpy(dtype=np.int64)
        shape = (len(topics), len(human), len(judge))
        at = (place, np.searchsorted(human, pairs["human"]), np.searchsorted(judge, pairs["judge"]))
        counts = np.bincount(np.ravel_multi_index(at, shape), minlength=int(np.prod(shape))).reshape(shape)
        return cls(
            name, tuple(human.tolist()), tuple(judge.tolist()), tuple(topics), counts.astype(float), rel, judge_rel
        )

    @classmethod
    def compared(cls, labels: ComparedLabels) -> LabelCounts:
        """Count the documents that people and a judge labelled."""
        return cls.of(labels.name, labels.pairs, labels.rel, labels.judge_rel)

    @property
    def graded(self) -> bool:
        """Return whether grades can be compared: one scale for both, of more than two labels."""
        return self.human == self.judge and len(self.human) > 2

    @property
    def relevant(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return (human,) and (judge,): which labels are relevant."""
        return np.array(self.human) >= self.rel, np.array(self.judge) >= self.judge_rel

    def binary(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (n, 2, 2): how often people and the judge say relevant, of (n, human, judge) sums; 1 is relevant."""
        rows, columns = (np.stack([~side, side]).astype(float) for side in self.relevant)
        found: NDArray[np.float64] = rows @ sums @ columns.T
        return found

    def ways(self, sums: NDArray[np.float64]) -> Iterator[tuple[str, str, NDArray[np.float64]]]:
        """Yield items, labels, and (n, labels, labels) counts, of (n, human, judge) sums.

        Labels are ``"grades"`` where these can be compared, and ``"binary"``; items are all, or the relevant ones:
        those that people or the judge call relevant.
        """
        views = [("grades", sums, np.logical_or.outer(*self.relevant))] if self.graded else []
        views.append(("binary", self.binary(sums), np.array([[False, True], [True, True]])))
        for labels, seen, anyone in views:
            yield "all", labels, seen
            yield "relevant", labels, seen * anyone

    def drawn(self, times: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return (resamples, human, judge): the counts of (resamples, topics) draws."""
        flat = self.counts.reshape(len(self.topics), -1)
        found: NDArray[np.float64] = (times.astype(float) @ flat).reshape(len(times), *self.counts.shape[1:])
        return found


def together(name: str, several: Sequence[ComparedLabels]) -> LabelCounts:
    """Count the documents of several who were compared with people as if one had labelled them.

    A document that two of them labelled counts twice. Where they differ in what is relevant, relevant or not is all
    that is counted.

    Args:
        name: what they are called together.
        several: what each says, one or more.
    """
    bounds = {(one.rel, one.judge_rel) for one in several}
    if len(bounds) == 1:
        (rel, judge_rel) = bounds.pop()
        return LabelCounts.of(name, pd.concat([one.pairs for one in several], ignore_index=True), rel, judge_rel)
    parts = [
        one.pairs.assign(
            human=(one.pairs["human"] >= one.rel).astype(int), judge=(one.pairs["judge"] >= one.judge_rel).astype(int)
        )
        for one in several
    ]
    return LabelCounts.of(name, pd.concat(parts, ignore_index=True), 1, 1)


def figures_of(seen: NDArray[np.float64], relevant: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """Return the :data:`FIGURES` of confusion matrices, (n,) each, NaN where a figure has no value.

    Args:
        seen: (n, labels, labels) how often two labels meet, people in rows.
        relevant: (n, 2, 2) how often relevant or not meets relevant or not, of the same documents.
    """
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


def _same_scale(human: NDArray[np.int64], judge: NDArray[np.int64], rel: int, judge_rel: int) -> bool:
    """Return whether labels mean the same: relevant from the same one on, and the judge gives none beyond people's."""
    return rel == judge_rel and bool(len(judge)) and human.min() <= judge.min() and judge.max() <= human.max()
