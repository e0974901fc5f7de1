"""How far two systems may be apart on a topic, whatever the labels of unjudged documents are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pt_reuse.arrays.changes import Labels
from pt_reuse.arrays.kernels import Spec, discounts

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class TopicLists:
    """The lists of all systems on one topic, down to the cutoff of a measure.

    Documents that several systems have are one document: what helps one helps the other.
    """

    ranks: NDArray[np.int32]  # (systems, unjudged documents) from 1, 0 where the system does not have it
    score: Floats  # (systems,) the scores as judged
    relevant: list[NDArray[np.int32]]  # (systems,) the ranks of judged relevant documents, ascending
    length: NDArray[np.int64]  # (systems,) documents that the measure sees
    labels: Labels  # of the judgments of the topic, below 0 where there is none
    n_relevant: int  # of the topic
    highest: int  # the highest label that an unjudged document may have
    further: int  # documents that no system has and that may be relevant

    @property
    def n_found(self) -> NDArray[np.int64]:
        """Return (systems,): how many judged relevant documents each has."""
        return np.array([len(ranks) for ranks in self.relevant], dtype=np.int64)

    @property
    def n_unknown(self) -> int:
        """Return how many documents of the topic may be relevant."""
        return self.ranks.shape[1] + self.further

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
    # the ranks below a list may hold relevant documents of its own; a system without a list has none
    below = np.where(lists.length > 0, np.power(spec.p, lists.length), 0.0)
    return _of_score(lists) + _ahead(weights) + below[:, None]


def _ahead(weights: Floats) -> Floats:
    """Return (systems, systems): the sum of what each weighs more than the other, of (systems, documents) weights."""
    return np.stack([np.maximum(own - weights, 0).sum(axis=1) for own in weights])


def _success(lists: TopicLists, spec: Spec) -> Floats:
    sure = lists.n_found > 0
    own = lists.unjudged[:, None] - lists.shared > 0
    some = (lists.unjudged > 0)[:, None]
    # where the other one succeeds for sure, the best is a tie; a shared document helps both
    best = np.where(sure[:, None] | (own & ~sure), 1.0, 0.0)
    return np.where(sure, np.where(sure[:, None] | some, 0.0, -1.0), best)


def _reciprocal_rank(lists: TopicLists, spec: Spec) -> Floats:
    certain = np.array([1.0 / ranks[0] if len(ranks) else 0.0 for ranks in lists.relevant])
    with np.errstate(divide="ignore"):
        reciprocal = np.where(lists.ranks > 0, 1.0 / lists.ranks, 0.0)
    found = certain[:, None] - certain
    for i, own in enumerate(reciprocal):
        # one document above the first relevant one is enough, and may help the other system, too
        for document in np.flatnonzero(own > certain[i]):
            other = np.maximum(certain, reciprocal[:, document])
            np.maximum(found[i], own[document] - other, out=found[i])
    return found


def _recall(lists: TopicLists, spec: Spec) -> Floats:
    shared, unjudged, found = lists.shared, lists.unjudged, lists.n_found
    own = unjudged[:, None] - shared
    elsewhere = lists.n_unknown - (unjudged[:, None] + unjudged - shared)
    ahead = found[:, None] - found + own
    # documents of neither, or of both, bring systems closer to each other
    divisor = lists.n_relevant + own + np.where(ahead < 0, shared + elsewhere, 0)
    return np.divide(ahead, divisor, out=np.zeros(ahead.shape), where=divisor > 0)


def _average_precision(lists: TopicLists, spec: Spec) -> Floats:
    n, every = lists.n_relevant, lists.n_unknown
    sums = lists.score * n
    found = np.empty((len(sums), len(sums)))
    for i, (own, relevant) in enumerate(zip(lists.ranks, lists.relevant, strict=True)):
        holes = np.sort(own[own > 0])
        # made relevant one by one, the earliest first: its own precision, and 1 / rank to each relevant one below it
        above = np.searchsorted(relevant, holes)
        below = np.append(np.cumsum((1.0 / relevant)[::-1])[::-1], 0.0)[above]
        more = np.cumsum((above + np.arange(1, len(holes) + 1)) / holes + below)
        most = sums[i] + np.concatenate([[0.0], more, more[-1:] if len(more) else [0.0]])
        divisor = n + np.append(np.arange(len(holes) + 1), every)
        # the other one has at least what is judged, over the same number of relevant documents
        ahead = np.where(divisor[:, None] > 0, (most[:, None] - sums) / np.maximum(divisor, 1)[:, None], 0.0)
        found[i] = ahead.max(axis=0)
    return found


def _gain(lists: TopicLists, spec: Spec) -> Floats:
    gains = spec.gain_of_label(np.append(lists.labels, lists.highest).astype(lists.labels.dtype))
    highest = gains[lists.highest]
    judged = sorted((gains.get(label, 0.0) for label in lists.labels.tolist() if label > 0), reverse=True)
    least, most = (_ideal([*[highest] * n, *judged], spec.cutoff) for n in (0, lists.n_unknown))
    ranks = lists.ranks
    weights = np.where(ranks > 0, 1.0 / discounts(int(ranks.max(initial=0)) + 1)[ranks], 0.0)
    ahead = _of_score(lists) * least + highest * _ahead(weights)
    # whatever the labels are, both are divided by one ideal
    return np.divide(ahead, np.where(ahead < 0, most, least), out=np.full(ahead.shape, np.inf), where=least > 0)


def _ideal(gains: list[float], cutoff: int | None) -> float:
    gains = gains[:cutoff]
    return float((np.array(gains) / discounts(len(gains))[1:]).sum()) if gains else 0.0


#: kernel -> the largest difference of each two systems, reached by some completion
LARGEST: dict[str, Callable[[TopicLists, Spec], Floats]] = {
    "p": _precision,
    "rbp": _rank_biased,
    "success": _success,
    "rr": _reciprocal_rank,
    "r": _recall,
}
#: kernel -> a number that the difference of each two systems does not exceed
AT_MOST: dict[str, Callable[[TopicLists, Spec], Floats]] = {"ap": _average_precision, "ndcg": _gain}
