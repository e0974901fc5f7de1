"""Rows that lie in lists: where lists begin, their order and that of a file, documents by topic, and fusion."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pt_reuse.arrays import tokens
from pt_reuse.arrays.tokens import Portable, Words, descending
from pt_reuse.errors import InputError, choice, examples, number, shown
from pt_reuse.options import METHODS, NORM_NAMES

#: a list whose scores differ by less than this is divided by this, as in ranx
_LEAST = 1e-9
#: scores beyond this are scaled down first, so that their sums and squares are finite
_HUGE = 1e100
_DIGITS = 12


@dataclass(frozen=True)
class TopicRows:
    """The lists of some runs on one topic, a row for each document of each list; a list has a document once."""

    document: NDArray[np.integer]  # (rows,) from 0
    run: NDArray[np.integer]  # (rows,) from 0; a run without rows has no list here
    rank: NDArray[np.integer]  # (rows,) from 1, without gaps within a list
    score: NDArray[np.float64]  # (rows,) finite, the higher the better
    n_documents: int  # how many documents there are


@dataclass(frozen=True)
class Fusion:
    """A way to fuse lists; one that is made has been checked."""

    method: str = "rrf"
    k: float = 60
    p: float = 0.8
    norm: str = "min-max"

    def __post_init__(self) -> None:
        choice("method", self.method, tuple(METHODS))
        choice("norm", self.norm, NORM_NAMES)
        number("k", self.k)
        if number("p", self.p) >= 1:
            raise InputError(f"p must be a number of at least 0 and below 1, got {shown(self.p)}.", argument="p")

    @classmethod
    def of(cls, method: str, *, k: float | None = None, p: float | None = None, norm: str | None = None) -> Fusion:
        """Return a fusion by the options of the user's, None for the default of an option."""
        known = METHODS[choice("method", method, tuple(METHODS))]
        given: dict[str, Any] = {n: value for n, value in (("k", k), ("p", p), ("norm", norm)) if value is not None}
        for name in given:
            if name not in known:
                its = f"its option is {examples(known)}" if known else "it has no options"
                raise InputError(f"{name} is no option of method {method!r}; {its}.", argument=name)
        return cls(method, **given)

    @property
    def options(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in METHODS[self.method]}

    def scores(self, rows: TopicRows) -> NDArray[np.float64]:
        """Return (documents,): the fused score of each document, the higher the better."""
        rank = rows.rank.astype(np.float64)
        if self.method == "rrf":
            return levelled(_summed(rows, 1.0 / (self.k + rank)))
        if self.method == "rbp":
            return levelled(_summed(rows, (1.0 - self.p) * self.p ** (rank - 1.0)))
        if self.method == "borda":
            # points are whole or half, so sums are exact in any order
            n = np.bincount(rows.run)
            left = np.where(n > 0, (rows.n_documents - n + 1) / 2, 0.0)
            points = rows.n_documents - rows.rank + 1.0 - left[rows.run]
            return levelled(left.sum() + np.bincount(rows.document, points, rows.n_documents))
        total = _summed(rows, _normalised(self.norm, rows))
        if self.method == "combmnz":
            total *= np.bincount(rows.document, minlength=rows.n_documents)
        return levelled(total)

    def between_topics(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return fused scores of a topic, (documents,), such that they can be compared with those of other topics."""
        return scores / max(len(scores), 1) if self.method == "borda" else scores


def _normalised(norm: str, rows: TopicRows) -> NDArray[np.float64]:
    """Return (rows,) scores made comparable with those of other lists, each list by itself, as ranx does it."""
    run, n = rows.run, np.bincount(rows.run)
    if norm == "rank":
        return 1.0 - (rows.rank - 1.0) / n[run]
    low, high = np.full(len(n), np.inf), np.full(len(n), -np.inf)
    np.minimum.at(low, run, rows.score)
    np.maximum.at(high, run, rows.score)
    large = np.where(n > 0, np.maximum(np.abs(low), np.abs(high)), 0.0)
    scale = np.where(large > _HUGE, np.ldexp(1.0, -np.frexp(large)[1]), 1.0)
    score, low, high = rows.score * scale[run], low * scale, high * scale
    if norm == "max":
        return score / np.maximum(high, _LEAST)[run]
    above = score - low[run]
    if norm == "zmuv":
        # taken from the lowest, so that equal scores have a deviation of exactly 0
        above -= (np.bincount(run, above) / np.maximum(n, 1))[run]
        above[(low == high)[run]] = 0.0
        unit = np.sqrt(np.bincount(run, above**2) / np.maximum(n, 1))
    else:
        unit = high - low if norm == "min-max" else np.bincount(run, above)
    return above / np.maximum(unit, _LEAST)[run]


def _summed(rows: TopicRows, values: NDArray[np.float64]) -> NDArray[np.float64]:
    by_size = np.argsort(values, kind="stable")
    return np.bincount(rows.document[by_size], values[by_size], rows.n_documents).astype(np.float64, copy=False)


def levelled(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return scores to 12 digits; what differs by the rounding of sums alone becomes equal."""
    fraction, power = np.frexp(scores)
    return np.ldexp(np.round(fraction, _DIGITS), power)


_LONG = 64  # rows of a list from which on a slice is faster than an index


def offsets(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return (lists + 1,): where lists of these lengths begin, and the end of the last."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def ranges(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return all indices of [start, start + length) for each pair, one after the other."""
    ends = np.cumsum(lengths)
    return np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(starts - (ends - lengths), lengths)


def stable_order(keys: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return what sorts non-negative numbers; equal ones keep their order."""
    # numpy sorts 16 bits by radix, several times as fast
    small = keys.astype(np.uint16) if len(keys) and int(keys.max()) < 2**16 else keys
    return np.argsort(small, kind="stable")


def taken(values: NDArray, starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray:
    """Return the values in [start, start + length) for each pair, one after the other."""
    if len(starts) and int(lengths.sum()) >= _LONG * len(starts):
        ends = starts + lengths
        return np.concatenate([values[a:b] for a, b in zip(starts.tolist(), ends.tolist(), strict=True)])
    return values.take(ranges(starts, lengths), axis=0)


def neighbours(rows: NDArray[np.int64], most: int) -> list[range]:
    """Return neighbours of at most so many rows together; what has more rows than that stands alone."""
    parts, first, held = [], 0, 0
    for t, n in enumerate(rows.tolist()):
        if t > first and held + n > most:
            parts.append(range(first, t))
            first, held = t, 0
        held += n
    return [*parts, range(first, len(rows))] if len(rows) else []


#: the orders that follow from the scores
BY_SCORE = ("trec_eval", "trec_eval9")


def by_score(
    group: NDArray[np.int64],
    words_of: Callable[[NDArray[np.int64]], Words],
    scores: NDArray[np.float64],
    order: str,
) -> NDArray[np.int64] | None:
    """Return the row that comes to each place in an order by score, None when all rows stand in it."""
    if len(group) < 2:
        return None
    keys: NDArray[np.floating] = scores
    if order == "trec_eval9":
        with np.errstate(over="ignore"):  # what float32 cannot hold is infinite there, as in trec_eval 9
            keys = scores.astype(np.float32)
    level = keys[1:] >= keys[:-1]
    level &= group[1:] == group[:-1]
    after = np.flatnonzero(level)  # the row behind these is not the lower of the two
    if len(after) == 0:
        return None
    rising = keys[after + 1] > keys[after]
    moving = np.zeros(len(group), dtype=np.bool_)
    moving[after] = True
    moving[after + 1] = True
    unsorted_list = np.zeros(0, dtype=np.bool_)
    if rising.any():
        unsorted_list = np.zeros(int(group[-1]) + 1, dtype=np.bool_)
        unsorted_list[group[after[rising]]] = True
        moving |= unsorted_list[group]
    rows = np.flatnonzero(moving)
    ordered = np.lexsort([*descending(words_of(rows)), -keys[rows], group[rows]])
    permutation = np.arange(len(group))
    permutation[rows] = rows[ordered]
    return permutation


def natural_order(names: list[str]) -> list[int]:
    """Order topic names as people do: whole numbers by value, then all others by their text."""

    def key(i: int) -> tuple[bool, int, str]:
        number = names[i].isascii() and names[i].isdigit() and len(names[i]) < 19
        return (not number, int(names[i]) if number else 0, names[i])

    return sorted(range(len(names)), key=key)


@dataclass(frozen=True)
class TopicDocs(Portable):
    """Documents, topic by topic; a topic may have none."""

    topics: tuple[str, ...]  # topic names, each once
    starts: NDArray[np.int64]  # (topics + 1,) the documents of topic t are the rows ``starts[t]:starts[t + 1]``
    words: Words  # (rows, k) words of the document names

    def __len__(self) -> int:
        return len(self.words)

    def rows(self, t: int) -> slice:
        return slice(int(self.starts[t]), int(self.starts[t + 1]))

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Return (topics,): how many documents each topic has."""
        return np.diff(self.starts)

    def counts(self, which: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return (topics,): how many of the documents marked in (rows,) each topic has."""
        # reduceat would first make numbers of them all
        bounds = self.starts.tolist()
        return np.array([np.count_nonzero(which[a:b]) for a, b in pairwise(bounds)], dtype=np.int64)

    @cached_property
    def topic(self) -> NDArray[np.int64]:
        """Return (rows,): the topic of each row, as a position among the topics."""
        return np.repeat(np.arange(len(self.topics)), self.sizes)

    @cached_property
    def place(self) -> dict[str, int]:
        """Return topic name -> its position among the topics."""
        return {topic: t for t, topic in enumerate(self.topics)}

    def qids(self) -> NDArray[np.object_]:
        """Return (rows,): the topic name of each row."""
        return np.array([*self.topics, None], dtype=object)[self.topic]

    def docnos(self) -> NDArray[np.object_]:
        """Return (rows,): the document name of each row."""
        return np.array([*tokens.decode(tokens.as_tokens(self.words)), None], dtype=object)[:-1]

    def docno(self, row: int) -> str:
        return tokens.decode(tokens.as_tokens(self.words[row : row + 1]))[0]

    def qid(self, row: int) -> str:
        return self.topics[int(np.searchsorted(self.starts, row, side="right")) - 1]

    def _long_names(self) -> list[bytes]:
        return tokens.long_names_in(self.words)

    def take(self, rows: NDArray[np.int64]) -> TopicDocs:
        """Return the documents of some rows, which ascend; all topics stay."""
        return TopicDocs(self.topics, np.searchsorted(rows, self.starts), self.words.take(rows, axis=0))

    def select(self, topics: Iterable[int]) -> tuple[TopicDocs, NDArray[np.int64]]:
        """Return the documents of some topics, in that order, and their rows."""
        chosen = np.fromiter(topics, dtype=np.int64)
        sizes = self.starts[chosen + 1] - self.starts[chosen]
        rows = ranges(self.starts[chosen], sizes)
        names = tuple(self.topics[t] for t in chosen.tolist())
        return TopicDocs(names, offsets(sizes), self.words.take(rows, axis=0)), rows

    def find(self, others: TopicDocs) -> NDArray[np.int64]:
        """Return for each row of other documents by topic the row that the same document has here, or -1."""
        found = np.full(len(others), -1, dtype=np.int64)
        for t, topic in enumerate(others.topics):
            mine = self.place.get(topic)
            if mine is None:
                continue
            here, there = self.rows(mine), others.rows(t)
            rows = tokens.match(others.words[there], self.words[here])
            found[there] = np.where(rows >= 0, rows + here.start, -1)
        return found


def sort_by_topic(
    names: Sequence[str], topic: NDArray[np.int64], words: Words, topics: Iterable[str] = ()
) -> tuple[TopicDocs, NDArray[np.int64] | None]:
    """Put documents topic by topic, topics in natural order; within a topic they keep their order."""
    every = list(dict.fromkeys([*names, *topics]))
    order = natural_order(every)
    place = np.empty(len(every), dtype=np.int64)
    place[order] = np.arange(len(every))
    topic, rows = place[topic], None
    if (topic[1:] < topic[:-1]).any():
        rows = np.argsort(topic, kind="stable")
        topic, words = topic[rows], words.take(rows, axis=0)
    starts = np.searchsorted(topic, np.arange(len(every) + 1))
    return TopicDocs(tuple(every[i] for i in order), starts, words), rows


#: (rows,) the place of each row
Places: TypeAlias = NDArray[np.unsignedinteger]
#: the place of a row that has none, as its rank is no number
NOWHERE = 0


class NoPlaceError(Exception):
    """A row has no place of its own in its list: none at all, or that of another row as well."""

    def __init__(self, row: int, tied: bool):
        super().__init__(row, tied)
        self.row, self.tied = row, tied


def standing(starts: NDArray[np.int64]) -> Places:
    """Return the places of rows in the order in which they stand, in lists that begin at `starts`."""
    lengths = np.diff(starts)
    dtype = np.uint16 if int(lengths.max(initial=0)) < 2**16 else np.uint32
    # differences modulo 2^32 or 2^16 are right, and small numbers fast
    rows = np.arange(1, int(starts[-1]) + 1, dtype=np.uint32).astype(dtype)
    return rows - np.repeat(starts[:-1].astype(dtype), lengths)


def rank_places(starts: NDArray[np.int64], ranks: NDArray[np.float64]) -> Places:
    """Return the places that ranks give in lists that begin at `starts`, none of them empty; NaN is no number."""
    places, lengths = standing(starts), np.diff(starts)
    # nearly always the ranks of a list count its rows, from 0 or from 1
    first = np.repeat(ranks[starts[:-1]] != 0, lengths)
    odd = _lists_with(ranks != places.astype(np.float64) - 1 + first, starts)
    if len(odd):
        rows = ranges(starts[odd], lengths[odd])
        # most others are the numbers of the rows in another order
        own = ranks[rows] - first[rows] + 1
        begins, reached = np.repeat(offsets(lengths[odd])[:-1], lengths[odd]), np.zeros(len(rows), dtype=np.bool_)
        inside = (own >= 1) & (own <= np.repeat(lengths[odd], lengths[odd])) & (own == np.floor(own))
        reached[(begins[inside] + own[inside] - 1).astype(np.int64)] = True
        places[rows] = own if reached.all() else _counted(lengths[odd], ranks[rows])
    return places


def recounted(starts: NDArray[np.int64], places: Places, lists: NDArray[np.int64]) -> Places:
    """Return places of which those of some lists, which have lost rows, are counted again."""
    lengths = np.diff(starts)[lists]
    rows, found = ranges(starts[lists], lengths), places.copy()
    found[rows] = _counted(lengths, np.where(places[rows] == NOWHERE, np.nan, places[rows]))
    return found


def check_places(starts: NDArray[np.int64], places: Places) -> None:
    """Raise NoPlaceError for the first row without a place of its own."""
    nowhere = np.flatnonzero(places == NOWHERE)
    if len(nowhere):
        raise NoPlaceError(int(nowhere[0]), tied=False)
    lists = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    reached = np.zeros(len(places), dtype=np.bool_)
    reached[starts[lists] + places - 1] = True
    if not reached.all():
        key = (lists << 32) | places.astype(np.int64)
        order = np.argsort(key, kind="stable")
        again = np.flatnonzero(key[order][1:] == key[order][:-1])
        raise NoPlaceError(int(order[1 + int(again[0])]), tied=True)


def permutation_to(starts: NDArray[np.int64], places: Places) -> NDArray[np.int64] | None:
    """Return what puts the rows of lists in the order of their places; None where they stand in it."""
    moved = _lists_with(places != standing(starts), starts)
    if not len(moved):
        return None
    lengths, permutation = np.diff(starts)[moved], np.arange(len(places))
    rows = ranges(starts[moved], lengths)
    permutation[rows] = rows[np.lexsort((places[rows], np.repeat(moved, lengths)))]
    return permutation


def _lists_with(marked: NDArray[np.bool_], starts: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.unique(np.searchsorted(starts, np.flatnonzero(marked), side="right") - 1)


def _counted(lengths: NDArray[np.int64], ranks: NDArray[np.float64]) -> NDArray[np.int64]:
    # 1 + the number of lower ranks of the list; NOWHERE for what is no number
    ranks = np.where(np.isfinite(ranks), ranks, np.nan)
    of = np.repeat(np.arange(len(lengths)), lengths)
    order = np.lexsort((ranks, of))
    new = np.ones(len(of), dtype=np.bool_)
    new[1:] = (of[order][1:] != of[order][:-1]) | (ranks[order][1:] != ranks[order][:-1])
    first = np.maximum.accumulate(np.where(new, np.arange(len(of)), 0))
    places = np.empty(len(of), dtype=np.int64)
    places[order] = first - np.repeat(offsets(lengths)[:-1], lengths) + 1
    places[np.isnan(ranks)] = NOWHERE
    return places


@dataclass
class RunRows:
    """One run as read: rows grouped by topic, each group in ranking order."""

    name: str  # of the run
    topics: list[str]  # topic names, each once
    starts: NDArray[np.int64]  # (topics + 1,) into the rows
    docs: Words  # (rows, k) words of the document names
    scores: NDArray[np.float64]  # (rows,) as read
    file: Places  # places in the file
    rank: Places | None  # places by the rank column; None without such a column


@dataclass
class FileRows:
    """One run as it stands in its file or frame."""

    topics: list[str]  # topic names, each once
    topic: NDArray[np.int64]  # (rows,) the topic of each row
    docs: Words  # (rows, k) words of the document names
    scores: NDArray[np.float64]  # (rows,) finite scores

    def __post_init__(self) -> None:
        grouped = not (self.topic[1:] < self.topic[:-1]).any()
        #: (rows,) the rows topic by topic, each topic as it stands in the file; None where they stand so
        self.grouping = None if grouped else np.argsort(self.topic, kind="stable")
        #: (topics + 1,) where the grouped rows of each topic begin
        self.starts = np.searchsorted(self.grouped(self.topic), np.arange(len(self.topics) + 1))

    def grouped(self, column: NDArray) -> NDArray:
        return column if self.grouping is None else column[self.grouping]

    def in_order(self, name: str, order: str, rank: Places | None) -> RunRows:
        """Return the run in a ranking order."""
        scores, file, docs = self.grouped(self.scores), standing(self.starts), self.docs
        if self.grouping is not None:
            docs = docs.take(self.grouping, axis=0)
        permutation = None
        if order in BY_SCORE:
            permutation = by_score(self.grouped(self.topic), lambda rows: docs.take(rows, axis=0), scores, order)
        elif order == "rank" and rank is not None:
            permutation = permutation_to(self.starts, rank)
        if permutation is not None:
            docs, scores, file = docs.take(permutation, axis=0), scores[permutation], file[permutation]
            rank = None if rank is None else rank[permutation]
        return RunRows(name, self.topics, self.starts, docs, scores, file, rank)
