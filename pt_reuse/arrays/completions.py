"""How far two systems may be apart on a topic, whatever the labels of unjudged documents are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pt_reuse.arrays.kernels import Labels, Spec, discounts, ratio

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class CompletionLists:
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
        return np.asarray((has @ has.T).astype(np.int64))

    @property
    def unjudged(self) -> NDArray[np.int64]:
        """Return (systems,): how many unjudged documents each has."""
        return np.asarray((self.ranks > 0).sum(axis=1))


def _of_score(lists: CompletionLists) -> Floats:
    return np.asarray(lists.score[:, None] - lists.score)


def _precision(lists: CompletionLists, spec: Spec) -> Floats:
    return _of_score(lists) + (lists.unjudged[:, None] - lists.shared) / float(spec.cutoff or 1)


def _rank_biased_at_most(lists: CompletionLists, spec: Spec) -> Floats:
    weights = np.where(lists.ranks > 0, (1 - spec.p) * spec.p ** (lists.ranks - 1.0), 0.0)
    # the ranks below a list may hold relevant documents of its own; a system without a list has none
    below = np.where(lists.length > 0, np.power(spec.p, lists.length), 0.0)
    return _of_score(lists) + _ahead(weights) + below[:, None]


def _ahead(weights: Floats) -> Floats:
    """Return (systems, systems): the sum of what each weighs more than the other, of (systems, documents) weights."""
    return np.stack([np.maximum(own - weights, 0).sum(axis=1) for own in weights])


def _success(lists: CompletionLists, spec: Spec) -> Floats:
    sure = lists.n_found > 0
    own = lists.unjudged[:, None] - lists.shared > 0
    some = (lists.unjudged > 0)[:, None]
    # where the other one succeeds for sure, the best is a tie; a shared document helps both
    best = np.where(sure[:, None] | (own & ~sure), 1.0, 0.0)
    return np.where(sure, np.where(sure[:, None] | some, 0.0, -1.0), best)


def _reciprocal_rank(lists: CompletionLists, spec: Spec) -> Floats:
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


def _recall(lists: CompletionLists, spec: Spec) -> Floats:
    shared, unjudged, found = lists.shared, lists.unjudged, lists.n_found
    own = unjudged[:, None] - shared
    elsewhere = lists.n_unknown - (unjudged[:, None] + unjudged - shared)
    ahead = found[:, None] - found + own
    # documents of neither, or of both, bring systems closer to each other
    divisor = lists.n_relevant + own + np.where(ahead < 0, shared + elsewhere, 0)
    return ratio(ahead, divisor)


def _ap_at_most(lists: CompletionLists, spec: Spec) -> Floats:
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


def _gain_at_most(lists: CompletionLists, spec: Spec) -> Floats:
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
LARGEST: dict[str, Callable[[CompletionLists, Spec], Floats]] = {
    "p": _precision,
    "rbp": _rank_biased_at_most,
    "success": _success,
    "rr": _reciprocal_rank,
    "r": _recall,
}
#: kernel -> a number that the difference of each two systems does not exceed
AT_MOST: dict[str, Callable[[CompletionLists, Spec], Floats]] = {"ap": _ap_at_most, "ndcg": _gain_at_most}

Ranks = NDArray[np.int32]
#: numbers that are compared for AP before documents of both lists make it a bound that no labelling may reach
_MOST = 1 << 21
#: unjudged documents of a topic whose pairs are looked at for that bound
_MOST_PAIRED = 256
#: no shared documents, and the one labelling of these
_NONE, _NOTHING = np.zeros(0, dtype=np.int32), np.zeros((1, 0))
#: a ratio that is better by less is the same
_SAME = 1e-15


def largest_difference(lists: CompletionLists, spec: Spec) -> tuple[float, bool]:
    """Return by how much the first of two lists may be ahead of the second, and whether some labelling reaches it."""
    if not lists.ranks.shape[1] or spec.rel > lists.highest:
        return float(lists.score[0] - lists.score[1]), True
    if spec.kernel == "ap":
        return _average_precision(lists)
    if spec.kernel == "ndcg":
        return _gain(lists, spec), True
    if spec.kernel == "rbp":
        # what may stand below a list is no document of it
        lists = replace(lists, length=np.zeros_like(lists.length))
    return float(LARGEST[spec.kernel](lists, spec)[0, 1]), True


def _gain(lists: CompletionLists, spec: Spec) -> float:
    """Maximise a ratio (Dinkelbach 1967) whose parts are sums over the thresholds of labels.

    The documents that lift the first list most have the highest labels, so that a labelling is a number of documents
    for each threshold. A higher threshold has fewer judged documents, so that it wants no more of them while the first
    list is ahead, and no fewer while it is behind: there one number serves for all.
    """
    labels = np.arange(1, lists.highest + 1)
    gains = spec.gain_of_label(np.concatenate([labels, lists.labels]).astype(lists.labels.dtype))
    thresholds = sorted(gains)
    steps = np.diff([gains[label] for label in thresholds], prepend=0.0)[:, None]
    judged = np.array([(lists.labels >= label).sum() for label in thresholds])
    n = lists.ranks.shape[1]
    weight = np.where(lists.ranks > 0, 1 / discounts(int(lists.ranks.max()) + 1)[lists.ranks], 0.0)
    ahead = np.append(0.0, np.cumsum(np.sort(weight[0] - weight[1])[::-1]))
    size = int(judged.max(initial=0)) + n
    ideal = np.append(0.0, np.cumsum(1 / discounts(size)[1:]))[np.minimum(np.arange(size + 1), spec.cutoff or size)]
    divisors = steps * ideal[judged[:, None] + np.arange(n + 1)]
    found, known = float(lists.score[0] - lists.score[1]), divisors[:, 0].sum()
    start = found * known
    at = np.arange(len(thresholds))
    while True:
        worth = steps * ahead - found * divisors
        most = worth.argmax(axis=1) if found >= 0 else np.full(len(at), worth.sum(axis=0).argmax())
        divisor = float(divisors[at, most].sum())
        better = float(start + (steps[:, 0] * ahead[most]).sum()) / divisor if divisor > 0 else 0.0
        if better - found <= _SAME:
            return found
        found = better


def _average_precision(lists: CompletionLists) -> tuple[float, bool]:
    """Try every labelling of the documents of both lists, beside the best one of the others for each number of them.

    With many of both, a bound: what is gained by the documents of each as if none were shared, or by pairs of them.
    """
    own, other = lists.ranks
    shared = np.flatnonzero((own > 0) & (other > 0))
    alone = np.sort(own[(own > 0) & (other == 0)]), np.sort(other[(other > 0) & (own == 0)])
    n, (first, second) = lists.n_relevant, lists.relevant
    if len(shared) < 20 and (len(alone[0]) + 1) * (len(alone[1]) + 1) << len(shared) <= _MOST:
        labelled = (np.arange(1 << len(shared))[:, None] >> np.arange(len(shared)) & 1).astype(float)
        most = _sums(first, alone[0], own[shared], labelled)
        least = _sums(second, alone[1], other[shared], labelled, latest=True)
        return _best(most, least, n + labelled.sum(axis=1), len(own)), True
    most, least = _sums(first, np.sort(own[own > 0])), _sums(second, np.sort(other[other > 0]), latest=True)
    bound = _best(most, least, np.array([float(n)]), len(own))
    return min(bound, _paired(lists) if len(own) <= _MOST_PAIRED else 1.0), False


def _best(most: Floats, least: Floats, n: Floats, n_unjudged: int) -> float:
    """Return the largest (most[l, i] - least[l, j]) / (n[l] + i + j); of at most so many documents i + j are."""
    alone, counts = most - least[:, :1], np.arange(most.shape[1])
    if (alone >= 0).any():
        # a relevant document more of the second list alone is of no use
        return float(ratio(alone, n[:, None] + counts).max())
    together = np.minimum(np.add.outer(counts, np.arange(least.shape[1])), n_unjudged)
    return float(ratio(most[:, :, None] - least[:, None], n[:, None, None] + together).max())


def _gained(relevant: Ranks, ranks: Ranks) -> Floats:
    """Return what each rank adds to the sum of precisions: its own, and 1 / rank to each relevant one below it."""
    above = np.searchsorted(relevant, ranks)
    below = np.append(np.cumsum((1.0 / relevant)[::-1])[::-1], 0.0)[above]
    return np.asarray((above + 1) / ranks + below)


def _sum(relevant: Ranks) -> float:
    return float((np.arange(1, len(relevant) + 1) / relevant).sum())


def _sums(
    relevant: Ranks, unjudged: Ranks, shared: Ranks = _NONE, labelled: Floats = _NOTHING, *, latest: bool = False
) -> Floats:
    """Return (labellings, unjudged + 1) sums of precisions where so many of the first unjudged documents are relevant.

    `latest` takes the last ones. A labelling says which of the `shared` ones are, too.
    """
    if latest:
        unjudged = unjudged[::-1]
        more = _gained(relevant, unjudged) + np.cumsum(1 / unjudged) - 1 / unjudged
    else:
        more = _gained(relevant, unjudged) + np.arange(len(unjudged)) / unjudged
    # of two documents that become relevant the lower one gains by the other, too
    of_two = 1 / np.maximum.outer(shared, shared)
    np.fill_diagonal(of_two, 0)
    start = _sum(relevant) + labelled @ _gained(relevant, shared) + ((labelled @ of_two) * labelled).sum(axis=1) / 2
    each = more + labelled @ (1 / np.maximum.outer(shared, unjudged))
    return np.column_stack([np.zeros(len(each)), each.cumsum(axis=1)]) + start[:, None]


def _paired(lists: CompletionLists) -> float:
    """Return a bound that takes what two documents add together for half of what each adds with its best partners."""
    n_docs = lists.ranks.shape[1]
    single, pairs = np.zeros(n_docs), np.zeros((n_docs, n_docs))
    for sign, ranks, relevant in zip((1, -1), lists.ranks, lists.relevant, strict=True):
        has = np.flatnonzero(ranks)
        single[has] += sign * _gained(relevant, ranks[has])
        pairs[np.ix_(has, has)] += sign / np.maximum.outer(ranks[has], ranks[has])
    np.fill_diagonal(pairs, 0)
    partners = np.sort(np.maximum(pairs, 0), axis=1)[:, ::-1].cumsum(axis=1)
    # column m: with m partners
    worth = single[:, None] + np.concatenate([np.zeros((n_docs, 1)), partners[:, :-1]], axis=1) / 2
    most = np.sort(worth, axis=0)[::-1].cumsum(axis=0).diagonal()
    start = _sum(lists.relevant[0]) - _sum(lists.relevant[1])
    return float(ratio(start + np.append(0.0, most), lists.n_relevant + np.arange(n_docs + 1)).max())
