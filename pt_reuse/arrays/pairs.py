"""Counting pairs of systems: true rankings against estimated ones.

`ys` has shape (S, n): S estimates of the same n systems. `x`, the truth, has shape (n,) where all estimates share it,
or (S, n) where each has its own, as where both are drawn together. Larger scores are better and equal scores are ties,
so whoever calls rounds first and keeps NaN out. Counts are exact integers. A coefficient that is undefined is NaN.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pt_reuse.arrays.kernels import Labels, Spec, discounts, ratio


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
        return np.asarray((has @ has.T).astype(np.int64))

    @property
    def unjudged(self) -> NDArray[np.int64]:
        """Return (systems,): how many unjudged documents each has."""
        return np.asarray((self.ranks > 0).sum(axis=1))


def _of_score(lists: TopicLists) -> Floats:
    return np.asarray(lists.score[:, None] - lists.score)


def _precision(lists: TopicLists, spec: Spec) -> Floats:
    return _of_score(lists) + (lists.unjudged[:, None] - lists.shared) / float(spec.cutoff or 1)


def _rank_biased_at_most(lists: TopicLists, spec: Spec) -> Floats:
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
    return ratio(ahead, divisor)


def _ap_at_most(lists: TopicLists, spec: Spec) -> Floats:
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


def _gain_at_most(lists: TopicLists, spec: Spec) -> Floats:
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
    "rbp": _rank_biased_at_most,
    "success": _success,
    "rr": _reciprocal_rank,
    "r": _recall,
}
#: kernel -> a number that the difference of each two systems does not exceed
AT_MOST: dict[str, Callable[[TopicLists, Spec], Floats]] = {"ap": _ap_at_most, "ndcg": _gain_at_most}

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
    if spec.kernel == "ap":
        return _average_precision(lists)
    if spec.kernel == "ndcg":
        return _gain(lists, spec), True
    if spec.kernel == "rbp":
        # what may stand below a list is no document of it
        lists = replace(lists, length=np.zeros_like(lists.length))
    return float(LARGEST[spec.kernel](lists, spec)[0, 1]), True


def _gain(lists: TopicLists, spec: Spec) -> float:
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


def _average_precision(lists: TopicLists) -> tuple[float, bool]:
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
    return float(ratio(start + np.append(0.0, most), lists.n_relevant + np.arange(n_docs + 1)).max())


Ints: TypeAlias = NDArray[np.int64]
Floats = NDArray[np.float64]
ScoreArray: TypeAlias = NDArray[Any]

BLOCK_CELLS = 1 << 18  # systems x estimates worked on at a time: a few MB, which stays in the cache


class PairCounts(NamedTuple):
    """How the pairs of systems fall, each an int64 array of shape (S,)."""

    concordant: Ints
    discordant: Ints
    tied_x_only: Ints
    tied_y_only: Ints
    tied_both: Ints
    pairs: Ints


class Comparison(NamedTuple):
    """What coefficients are made of, (S, n) each but the counts; systems from best to worst in x."""

    x_rank: Ints
    y_rank: Ints
    above_in_both: Ints
    counts: PairCounts


def blocks(n_estimates: int, n_systems: int, cells: int | None = None) -> Iterator[slice]:
    """Cut S estimates into slices of bounded memory, of so many cells or :data:`BLOCK_CELLS`."""
    step = max(1, (BLOCK_CELLS if cells is None else cells) // max(1, n_systems))
    for start in range(0, n_estimates, step):
        yield slice(start, min(start + step, n_estimates))


def ranks(scores: ScoreArray) -> Ints:
    """Rank along the last axis of (..., n): 1 + number of strictly better scores."""
    n = scores.shape[-1]
    order = np.argsort(scores, axis=-1)[..., ::-1]
    descending = np.take_along_axis(scores, order, axis=-1)
    first = np.zeros(scores.shape, dtype=np.int64)  # where the group of ties begins
    first[..., 1:] = np.where(descending[..., 1:] != descending[..., :-1], np.arange(1, n), 0)
    rank = np.empty_like(first)
    np.put_along_axis(rank, order, np.maximum.accumulate(first, axis=-1) + 1, axis=-1)
    return rank


def rank_drops(x: ScoreArray, ys: ScoreArray) -> Ints:
    """Places that each system falls, (S, n): its rank in `ys` minus its rank in `x`; negative where it rises."""
    return ranks(ys) - ranks(x)


def compare(x: ScoreArray, ys: ScoreArray) -> Comparison:
    """Compare one block of estimates with the truth, or each with its own; memory grows with S x n."""
    n_estimates, n = ys.shape
    # two ranks are one number, of as few bits as hold it, which sorts faster than positions do: systems from best to
    # worst in x, of those that tie there the worst in y first
    bits = int(n).bit_length()
    kind = next(kind for kind in (np.uint16, np.uint32, np.uint64) if 2 * bits <= np.iinfo(kind).bits)
    key = ((np.broadcast_to(ranks(x), ys.shape) << bits) | (n - ranks(ys))).astype(kind)
    key.sort(axis=-1)
    both = key.astype(np.int64)
    x_rank, y_rank = both >> bits, n - (both & ((1 << bits) - 1))
    above_in_both = _smaller_before(y_rank)  # none of those it ties with in x, which stand from the worst in y
    # In a ranking without ties the ranks add up to n(n+1)/2; each tied pair takes one away.
    pairs, untied_sum = n * (n - 1) // 2, n * (n + 1) // 2
    tied_x, tied_y = untied_sum - x_rank.sum(axis=1), untied_sum - y_rank.sum(axis=1)
    concordant, tied_both = above_in_both.sum(axis=1), np.zeros(n_estimates, dtype=np.int64)
    same = (x_rank[:, 1:] == x_rank[:, :-1]) & (y_rank[:, 1:] == y_rank[:, :-1])
    if same.any():
        # systems that tie in both are neighbours
        place = np.arange(1, n)
        tied_both = (place - np.maximum.accumulate(np.where(same, 0, place), axis=1)).sum(axis=1)
    counts = PairCounts(
        concordant=concordant,
        discordant=pairs - concordant - tied_x - tied_y + tied_both,
        tied_x_only=tied_x - tied_both,
        tied_y_only=tied_y - tied_both,
        tied_both=tied_both,
        pairs=np.full(n_estimates, pairs, dtype=np.int64),
    )
    return Comparison(x_rank, y_rank, above_in_both, counts)


def _smaller_before(numbers: Ints) -> Ints:
    """Return (S, n): of each number, how many before it in its row are smaller."""
    n_rows, n = numbers.shape
    if n <= _SHORT:
        return _smaller_in_part(numbers).astype(np.int64)
    width = 1 << (n.bit_length() + 1) // 2
    n_parts = -(-n // width)
    size = n_parts * width
    placed = np.full((n_rows, size), numbers.max(initial=0) + 1)
    placed[:, :n] = numbers
    # equal numbers from the last to the first, so that none of them is before another and below
    bits = size.bit_length()
    key = ((placed << bits) | np.arange(size)[::-1]).astype(_smallest(int(placed.max(initial=0) + 1) << bits))
    key.sort(axis=1)
    place = size - 1 - (key & ((1 << bits) - 1)).astype(np.int64)
    part = place // width
    cell = part * n_parts + np.arange(size) // width
    cell += np.arange(n_rows)[:, None] * n_parts**2
    table = np.zeros((n_rows, n_parts + 1, n_parts + 1), dtype=np.int64)
    table[:, 1:, 1:] = np.bincount(cell.ravel(), minlength=n_rows * n_parts**2).reshape(n_rows, n_parts, n_parts)
    before_and_below = table.cumsum(axis=1).cumsum(axis=2)[:, :-1, :-1].ravel()
    place += np.arange(n_rows)[:, None] * size
    result = _smaller_in_part(placed.reshape(-1, width)).astype(np.int64).ravel()
    result[place] += before_and_below.take(cell) + _smaller_in_part(part.reshape(-1, width)).reshape(cell.shape)
    return result.reshape(n_rows, size)[:, :n]


#: numbers in a row up to which each is compared with each
_SHORT = 384


def _smaller_in_part(numbers: Ints) -> NDArray[np.unsignedinteger]:
    n_rows, n = numbers.shape
    columns = np.ascontiguousarray(numbers.T, dtype=_smallest(int(numbers.max(initial=0))))
    found, smaller = np.zeros((n, n_rows), dtype=_smallest(n)), np.empty((n, n_rows), dtype=np.bool_)
    for i in range(n - 1):
        np.greater(columns[i + 1 :], columns[i], out=smaller[i + 1 :])
        found[i + 1 :] += smaller[i + 1 :].view(np.uint8)
    return np.ascontiguousarray(found.T)


def _smallest(most: int) -> type[np.unsignedinteger]:
    return next(kind for kind in (np.uint8, np.uint16, np.uint32, np.uint64) if most <= np.iinfo(kind).max)


def _divide(numerator: NDArray[Any], denominator: NDArray[Any], defined: NDArray[np.bool_]) -> Floats:
    result = np.full(defined.shape, np.nan)
    np.divide(numerator, denominator, out=result, where=defined)
    return result


def _some_untied(counts: PairCounts) -> NDArray[np.bool_]:
    """Whether some pair is untied in both: false exactly when one side ties all its systems, or has fewer than two."""
    return counts.concordant + counts.discordant > 0


def tau_a(comparison: Comparison) -> Floats:
    """(C - D) / pairs, shape (S,)."""
    c = comparison.counts
    return _divide(c.concordant - c.discordant, c.pairs, _some_untied(c))


def tau_b(comparison: Comparison) -> Floats:
    """(C - D) / sqrt(pairs untied in x * pairs untied in y), shape (S,)."""
    c = comparison.counts
    decided = (c.concordant + c.discordant).astype(np.float64)
    norm = np.sqrt((decided + c.tied_y_only) * (decided + c.tied_x_only))
    return _divide(c.concordant - c.discordant, norm, _some_untied(c))


def gamma(comparison: Comparison) -> Floats:
    """(C - D) / (C + D), shape (S,)."""
    c = comparison.counts
    return _divide(c.concordant - c.discordant, c.concordant + c.discordant, _some_untied(c))


def _mean_share_above(above: Ints, rank: Ints) -> Floats:
    """2 m - 1, with m the mean, over systems below the top group, of the share of those above that are so in both."""
    below_top = rank > 1
    shares = np.zeros(above.shape)
    np.divide(above, rank - 1, out=shares, where=below_top)
    n_below = below_top.sum(axis=1)
    return 2 * _divide(shares.sum(axis=1), n_below, n_below > 0) - 1


def tau_ap(comparison: Comparison) -> Floats:
    """AP correlation, shape (S,), walking down y; NaN when either ranking has a tie."""
    c = comparison.counts
    untied = (c.concordant + c.discordant == c.pairs) & _some_untied(c)
    return np.where(untied, _mean_share_above(comparison.above_in_both, comparison.y_rank), np.nan)


def tau_ap_a(comparison: Comparison) -> Floats:
    """AP correlation, shape (S,), in expectation over the orders that ties in y leave open; NaN when x has a tie."""
    n = comparison.x_rank.shape[1]
    c = comparison.counts
    defined = (c.tied_x_only + c.tied_both == 0) & _some_untied(c)
    harmonic = np.concatenate([[0.0, 0.0], np.cumsum(1 / np.arange(1, n + 1))])  # [m + 1] is 1 + 1/2 + ... + 1/m
    p = comparison.y_rank
    size = n + 2 - p - ranks(p)  # systems that share the rank: all but those above and those below
    # A system of the group takes each place p .. p + size - 1 equally often; at a place it has place - 1 above it.
    outside = np.where(p > 1, comparison.above_in_both * (harmonic[p + size - 1] - harmonic[p - 1]), 0.0)
    inside = ((size - 1) - (p - 1) * (harmonic[p + size - 1] - harmonic[p])) / 2
    expected = ((outside + inside) / size).sum(axis=1)
    return np.where(defined, np.clip(2 * expected / max(1, n - 1) - 1, -1, 1), np.nan)


def tau_ap_b(comparison: Comparison) -> Floats:
    """Symmetric AP correlation with ties, shape (S,): the mean of the walk down y and the walk down x."""
    above = comparison.above_in_both
    both_ways = _mean_share_above(above, comparison.y_rank) + _mean_share_above(above, comparison.x_rank)
    return np.where(_some_untied(comparison.counts), both_ways / 2, np.nan)


COEFFICIENTS: dict[str, Callable[[Comparison], Floats]] = {
    "tau_a": tau_a,
    "tau_b": tau_b,
    "gamma": gamma,
    "tau_ap": tau_ap,
    "tau_ap_a": tau_ap_a,
    "tau_ap_b": tau_ap_b,
}


def coefficients(x: ScoreArray, ys: ScoreArray, names: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Coefficients by name, and "max_drop" and "max_rise" in places, in blocks: (S,) each."""
    table: dict[str, NDArray[Any]] = {name: np.full(len(ys), np.nan) for name in names}
    table |= {name: np.zeros(len(ys), dtype=np.int64) for name in ("max_drop", "max_rise")}
    # all estimates that equal the one truth are one
    of_estimate, same = np.arange(len(ys)), np.zeros(len(ys), dtype=np.bool_)
    for block in blocks(*ys.shape) if x.ndim == 1 else ():
        same[block] = (ys[block] == x).all(axis=1)
    of_estimate[same] = same.argmax() if len(ys) else 0
    distinct = np.unique(of_estimate)
    for block in blocks(len(distinct), ys.shape[1]):
        some = distinct[block]
        comparison = compare(x if x.ndim == 1 else x[some], ys[some])
        for name in names:
            table[name][some] = COEFFICIENTS[name](comparison)
        drops = comparison.y_rank - comparison.x_rank
        table["max_drop"][some] = drops.max(axis=1, initial=0)
        table["max_rise"][some] = -drops.min(axis=1, initial=0)
    return {name: column[of_estimate] for name, column in table.items()}


def rank_alone(full: NDArray[np.float64], own: NDArray[np.float64], unit: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return (..., systems): the rank of each system when only the systems of its unit have their `own` scores."""
    n, rows = full.shape[-1], math.prod(full.shape[:-1])
    before, after, rank = full.reshape(rows, n), own.reshape(rows, n), np.empty((rows, n), dtype=np.int64)
    by_unit = np.argsort(unit, kind="stable")
    for mine in np.split(by_unit, np.flatnonzero(np.diff(unit[by_unit])) + 1):
        for some in blocks(len(before), n * len(mine)):
            scores, among = after[some][:, mine], before[some].copy()
            among[:, mine] = scores
            rank[some, mine] = 1 + (among[:, None] > scores[:, :, None]).sum(axis=2)
    return rank.reshape(full.shape)


def per_cent_change(before: NDArray[np.float64], after: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the change in per cent of `before`, NaN where that is 0; a total loss is exactly -100."""
    return 100 * np.divide(after - before, before, out=np.full(before.shape, np.nan), where=before != 0)
