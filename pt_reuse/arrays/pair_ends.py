"""How far one list of a topic may be ahead of another one, exactly, over every labelling of their unjudged documents.

:mod:`pt_reuse.arrays.pair_bounds` does so for all pairs of a field at once, and only nearly for AP and nDCG.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pt_reuse.arrays.kernels import Spec, discounts
from pt_reuse.arrays.pair_bounds import LARGEST, Floats, TopicLists

Ranks = NDArray[np.int32]
#: numbers that are compared for AP before documents of both lists make it a bound that no labelling may reach
_MOST = 1 << 21
#: unjudged documents of a topic whose pairs are looked at for that bound
_MOST_PAIRED = 256
#: no shared documents, and the one labelling of these
_NONE, _NOTHING = np.zeros(0, dtype=np.int32), np.zeros((1, 0))
#: a ratio that is better by less is the same
_SAME = 1e-15


def largest_difference(lists: TopicLists, spec: Spec) -> tuple[float, bool]:
    """Return by how much the first of two lists may be ahead of the second, and whether some labelling reaches it."""
    if not lists.ranks.shape[1] or spec.rel > lists.highest:
        return float(lists.score[0] - lists.score[1]), True
    if spec.kernel in _OWN:
        return _OWN[spec.kernel](lists, spec)
    return float(LARGEST[spec.kernel](lists, spec)[0, 1]), True


def _rank_biased(lists: TopicLists, spec: Spec) -> tuple[float, bool]:
    # what may stand below a list is no document of it
    return float(LARGEST["rbp"](replace(lists, length=np.zeros_like(lists.length)), spec)[0, 1]), True


def _gain(lists: TopicLists, spec: Spec) -> tuple[float, bool]:
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
            return found, True
        found = better


def _average_precision(lists: TopicLists, spec: Spec) -> tuple[float, bool]:
    """Try every labelling of the documents of both lists, beside the best one of the others for each number of them.

    With many of both, a bound: what is gained by the documents of each as if none were shared, or by pairs of them.
    """
    own, other = lists.ranks
    shared = np.flatnonzero((own > 0) & (other > 0))
    alone = np.sort(own[(own > 0) & (other == 0)]), np.sort(other[(other > 0) & (own == 0)])
    n, (first, second) = lists.n_relevant, lists.relevant
    if len(shared) < 20 and (len(alone[0]) + 1) * (len(alone[1]) + 1) << len(shared) <= _MOST:
        labelled = (np.arange(1 << len(shared))[:, None] >> np.arange(len(shared)) & 1).astype(float)
        most = _earliest(first, alone[0], own[shared], labelled)
        least = _latest(second, alone[1], other[shared], labelled)
        return _best(most, least, n + labelled.sum(axis=1), len(own)), True
    most, least = _earliest(first, np.sort(own[own > 0])), _latest(second, np.sort(other[other > 0]))
    bound = _best(most, least, np.array([float(n)]), len(own))
    return min(bound, _paired(lists) if len(own) <= _MOST_PAIRED else 1.0), False


def _best(most: Floats, least: Floats, n: Floats, n_unjudged: int) -> float:
    """Return the largest (most[l, i] - least[l, j]) / (n[l] + i + j); of at most so many documents i + j are."""
    alone, counts = most - least[:, :1], np.arange(most.shape[1])
    if (alone >= 0).any():
        # a relevant document more of the second list alone is of no use
        return float(_ratio(alone, n[:, None] + counts).max())
    together = np.minimum(np.add.outer(counts, np.arange(least.shape[1])), n_unjudged)
    return float(_ratio(most[:, :, None] - least[:, None], n[:, None, None] + together).max())


def _ratio(dividend: Floats, divisor: NDArray[Any]) -> Floats:
    return np.divide(dividend, divisor, out=np.zeros(dividend.shape), where=divisor > 0)


def _gained(relevant: Ranks, ranks: Ranks) -> Floats:
    """Return what each rank adds to the sum of precisions: its own, and 1 / rank to each relevant one below it."""
    above = np.searchsorted(relevant, ranks)
    below = np.append(np.cumsum((1.0 / relevant)[::-1])[::-1], 0.0)[above]
    found: Floats = (above + 1) / ranks + below
    return found


def _sum(relevant: Ranks) -> float:
    return float((np.arange(1, len(relevant) + 1) / relevant).sum())


def _earliest(relevant: Ranks, unjudged: Ranks, shared: Ranks = _NONE, labelled: Floats = _NOTHING) -> Floats:
    """Return (labellings, unjudged + 1) sums of precisions where so many of the first unjudged documents are relevant.

    A labelling says which of the `shared` ones are, too.
    """
    more = _gained(relevant, unjudged) + np.arange(len(unjudged)) / unjudged
    return _sums(relevant, unjudged, more, shared, labelled)


def _latest(relevant: Ranks, unjudged: Ranks, shared: Ranks = _NONE, labelled: Floats = _NOTHING) -> Floats:
    """Return the same where so many of the last ones are."""
    last = unjudged[::-1]
    more = _gained(relevant, last) + np.cumsum(1 / last) - 1 / last
    return _sums(relevant, last, more, shared, labelled)


def _sums(relevant: Ranks, unjudged: Ranks, more: Floats, shared: Ranks, labelled: Floats) -> Floats:
    # of two documents that become relevant the lower one gains by the other, too
    of_two = 1 / np.maximum.outer(shared, shared)
    np.fill_diagonal(of_two, 0)
    start = _sum(relevant) + labelled @ _gained(relevant, shared) + ((labelled @ of_two) * labelled).sum(axis=1) / 2
    each = more + labelled @ (1 / np.maximum.outer(shared, unjudged))
    return np.column_stack([np.zeros(len(each)), each.cumsum(axis=1)]) + start[:, None]


def _paired(lists: TopicLists) -> float:
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
    return float(_ratio(start + np.append(0.0, most), lists.n_relevant + np.arange(n_docs + 1)).max())


#: kernel -> the largest difference, where :mod:`pt_reuse.arrays.pair_bounds` has another one
_OWN: dict[str, Callable[[TopicLists, Spec], tuple[float, bool]]] = {
    "rbp": _rank_biased,
    "ndcg": _gain,
    "ap": _average_precision,
}
