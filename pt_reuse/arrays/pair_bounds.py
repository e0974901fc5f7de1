"""How far two systems may be apart on a topic, whatever the labels of unjudged documents are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pt_reuse.arrays.kernels import Spec

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class TopicLists:
    """The lists of all systems on one topic, down to the cutoff of a measure.

    Documents that several systems have are one document: what helps one helps the other.
    """

    ranks: NDArray[np.int32]  # (systems, unjudged documents) from 1, 0 where the system does not have it
    score: Floats  # (systems,) the scores as judged
    relevant: NDArray[np.int64]  # (systems,) how many judged relevant documents each has
    first: NDArray[np.int64]  # (systems,) the rank of the first of them, 0 without one
    length: NDArray[np.int64]  # (systems,) documents that the measure sees
    n_relevant: int  # of the topic
    further: int  # documents that no system has and that may be relevant

    @property
    def shared(self) -> NDArray[np.int64]:
        """Return (systems, systems): how many unjudged documents both have."""
        has = (self.ranks > 0).astype(np.float64)
        found: NDArray[np.int64] = (has @ has.T).astype(np.int64)
        return found

    @property
    def unjudged(self) -> NDArray[np.int64]:
        """Return (systems,): how many unjudged documents each has."""
        found: NDArray[np.int64] = (self.ranks > 0).sum(axis=1)
        return found


def _of_score(lists: TopicLists) -> Floats:
    found: Floats = lists.score[:, None] - lists.score
    return found


def _precision(lists: TopicLists, spec: Spec) -> Floats:
    return _of_score(lists) + (lists.unjudged[:, None] - lists.shared) / float(spec.cutoff or 1)


def _rank_biased(lists: TopicLists, spec: Spec) -> Floats:
    weights = np.where(lists.ranks > 0, (1 - spec.p) * spec.p ** (lists.ranks - 1.0), 0.0)
    more = np.stack([np.maximum(own - weights, 0).sum(axis=1) for own in weights])
    # the ranks below a list may hold relevant documents of its own
    return _of_score(lists) + more + np.power(spec.p, lists.length)[:, None]


def _success(lists: TopicLists, spec: Spec) -> Floats:
    sure = lists.relevant > 0
    own = lists.unjudged[:, None] - lists.shared > 0
    some = (lists.unjudged > 0)[:, None]
    # where the other one succeeds for sure, the best is a tie; a shared document helps both
    best = np.where(sure[:, None] | (own & ~sure), 1.0, 0.0)
    return np.where(sure, np.where(sure[:, None] | some, 0.0, -1.0), best)


def _reciprocal_rank(lists: TopicLists, spec: Spec) -> Floats:
    with np.errstate(divide="ignore"):
        certain = np.where(lists.first > 0, 1.0 / lists.first, 0.0)
        reciprocal = np.where(lists.ranks > 0, 1.0 / lists.ranks, 0.0)
    found = certain[:, None] - certain
    for i, own in enumerate(reciprocal):
        # one document above the first relevant one is enough, and may help the other system, too
        for document in np.flatnonzero(own > certain[i]):
            other = np.maximum(certain, reciprocal[:, document])
            np.maximum(found[i], own[document] - other, out=found[i])
    return found


def _recall(lists: TopicLists, spec: Spec) -> Floats:
    shared, unjudged = lists.shared, lists.unjudged
    own = unjudged[:, None] - shared
    elsewhere = lists.ranks.shape[1] + lists.further - (unjudged[:, None] + unjudged - shared)
    ahead = lists.relevant[:, None] - lists.relevant + own
    # documents of neither, or of both, bring systems closer to each other
    divisor = lists.n_relevant + own + np.where(ahead < 0, shared + elsewhere, 0)
    return np.divide(ahead, divisor, out=np.zeros(ahead.shape), where=divisor > 0)


#: kernel -> the largest difference of each two systems, exact
LARGEST: dict[str, Callable[[TopicLists, Spec], Floats]] = {
    "p": _precision,
    "rbp": _rank_biased,
    "success": _success,
    "rr": _reciprocal_rank,
    "r": _recall,
}
