"""Strategies, and what they choose from: fixed orders, bandits, Hedge and minimal test collections."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Context
from functools import cache, cached_property
from hashlib import blake2b
from itertools import compress, pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pt_reuse.arrays import tokens
from pt_reuse.arrays.lists import Fusion, TopicRows, offsets, ranges
from pt_reuse.data.run_set import RunSet
from pt_reuse.errors import InputError, examples, flag, fraction, shown
from pt_reuse.pooling.depth import topic_rows


@dataclass(frozen=True, eq=False)
class TopicLists:
    """The lists of some runs on one topic; documents are numbered by best rank, those of one rank by name, descending.

    Attributes:
        qid: the topic.
        names: the runs, in the order in which a strategy tries equally good ones.
        docnos: (documents,) their names; the pool of the topic.
        starts: (runs + 1,) into `codes`.
        codes: (rows,) the documents of each run, best first.
        scores: (rows,) as read.

    Example:
        >>> import pt_reuse as ptr
        >>> topic = ptr.pools.TopicLists.of("301", {"A": ["d1", "d2"], "B": ["d3", "d1"]})
        >>> topic.docnos, topic.runs_of
        (('d3', 'd1', 'd2'), [[1], [0, 1], [0]])
    """

    qid: str
    names: tuple[str, ...]
    docnos: tuple[str, ...]
    starts: NDArray[np.int64]
    codes: NDArray[np.int64]
    scores: NDArray[np.float64]

    @classmethod
    def of(cls, qid: str, lists: Mapping[str, Sequence[str]]) -> TopicLists:
        """Return the lists of one topic, to try a strategy on; a document's score in a run is minus its rank.

        Args:
            qid: the topic.
            lists: run -> document names, best first.

        Raises:
            InputError: a run that has a document twice.
        """
        best: dict[str, int] = {}
        for run, docnos in lists.items():
            if len(set(docnos)) < len(docnos):
                twice = [docno for docno, n in Counter(docnos).items() if n > 1]
                raise InputError(
                    f"run {shown(run)} has {examples(twice)} twice. Give each document of a run once, best first.",
                    argument="lists",
                )
            for rank, docno in enumerate(docnos, 1):
                best[docno] = min(rank, best.get(docno, rank))
        names = sorted(sorted(best, reverse=True), key=best.__getitem__)
        number = dict(zip(names, range(len(names)), strict=True))
        lengths = np.array([len(docnos) for docnos in lists.values()], dtype=np.int64)
        codes = np.array([number[docno] for docnos in lists.values() for docno in docnos], dtype=np.int64)
        scores = np.array([-rank for n in lengths.tolist() for rank in range(1, n + 1)], dtype=np.float64)
        return cls(qid, tuple(lists), tuple(names), offsets(lengths), codes, scores)

    def __len__(self) -> int:
        return len(self.docnos)

    @property
    def n_runs(self) -> int:
        """Return the number of runs."""
        return len(self.names)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Return how many documents each run has, (runs,)."""
        return np.diff(self.starts)

    def list_of(self, run: int) -> NDArray[np.int64]:
        """Return the documents of one `run`, by its number, best first."""
        return self.codes[self.starts[run] : self.starts[run + 1]]

    @cached_property
    def run(self) -> NDArray[np.int64]:
        """Return (rows,): the run of each row."""
        return np.repeat(np.arange(self.n_runs), self.lengths)

    @cached_property
    def rank(self) -> NDArray[np.int64]:
        """Return (rows,): the rank of each row in its list, from 1."""
        return np.arange(1, len(self.codes) + 1) - self.starts[:-1][self.run]

    @cached_property
    def by_document(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return (documents + 1,) where those of each document begin, and (rows,) the rows, document by document."""
        return offsets(np.bincount(self.codes, minlength=len(self))), np.argsort(self.codes, kind="stable")

    @cached_property
    def runs_of(self) -> list[list[int]]:
        """Return for each document the runs that have it, in their order."""
        starts, rows = self.by_document
        run = self.run[rows].tolist()
        return [run[start:end] for start, end in pairwise(starts.tolist())]

    @property
    def rows(self) -> TopicRows:
        """Return the lists as fusion takes them."""
        return TopicRows(self.codes, self.run, self.rank, self.scores, len(self))

    def in_order(self, order: NDArray[np.int64]) -> TopicLists:
        """Return the same lists with the runs in another `order`, (runs,) their numbers; documents keep theirs."""
        lengths = self.lengths[order]
        rows = ranges(self.starts[order], lengths)
        names = tuple(self.names[run] for run in order.tolist())
        return TopicLists(self.qid, names, self.docnos, offsets(lengths), self.codes[rows], self.scores[rows])


def topic_lists(ranked: RunSet, depth: int, contributing: NDArray[np.bool_]) -> Iterator[TopicLists]:
    """Yield the lists of every topic of a field that stands in the order of pooling; (runs,) say which count."""
    for t in range(ranked.field.n_topics):
        yield lists_of_topic(ranked, t, depth, contributing)


def lists_of_topic(ranked: RunSet, t: int, depth: int, contributing: NDArray[np.bool_]) -> TopicLists:
    """Return the lists of one topic, a row of the field, see :func:`topic_lists`."""
    docs, rows = topic_rows(ranked.field, t, depth, contributing)
    best = np.full(len(docs), np.iinfo(np.int64).max)
    np.minimum.at(best, rows.document, rows.rank)
    block, here = ranked.field.of(t)
    words = block.words_at(here).take(docs, axis=0)
    order = np.lexsort([*tokens.descending(words), best])
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.arange(len(order))
    docnos = tokens.decode(tokens.as_tokens(words[order]))
    names = tuple(compress(ranked.names, contributing.tolist()))
    sizes = np.bincount((np.cumsum(contributing) - 1)[rows.run], minlength=len(names))
    return TopicLists(ranked.topics[t], names, tuple(docnos), offsets(sizes), number[rows.document], rows.score)


def random_of_topic(seed: int, qid: str) -> np.random.Generator:
    """Return the random numbers of one topic: the same in every process, whichever other topics there are."""
    key = int.from_bytes(blake2b(qid.encode("utf-8", "surrogateescape"), digest_size=8).digest(), "little")
    return np.random.default_rng([seed, key])


#: values that are nearer to each other than this are equal; their rounding errors must not grow with the labels
TOLERANCE = 1e-12


class Chooser(ABC):
    """Judges one topic, document by document: :meth:`next` says which, :meth:`learn` takes its label.

    A strategy is a subclass with a `name` and two methods of its own: `choose` returns one of the documents left,
    `observe` learns from its label. Options are keyword-only arguments of its constructor, which checks them. It may
    depend only on its lists, its random numbers and the labels: given the same labels again, it must reach the same
    state.

    Args:
        topic: the lists of the runs.
        random: the random numbers of this topic and seed.

    Attributes:
        name: what the strategy is called.
        left: (documents,) which documents are not judged yet.
        n_left: how many documents are left.
    """

    name: ClassVar[str]

    def __init__(self, topic: TopicLists, random: np.random.Generator):
        self.topic, self.random = topic, random
        self.left: NDArray[np.bool_] = np.ones(len(topic), dtype=bool)
        self.n_left = len(topic)
        self._asked: int | None = None

    def next(self) -> int | None:
        """Return the document to judge, as a position in ``topic.docnos``; None when none is left.

        If called again before the label is given, it returns the same document.

        Raises:
            InputError: the strategy's `choose` returned no document that is left.
        """
        if self._asked is None and self.n_left:
            document = self.choose()
            if not 0 <= document < len(self.left) or not self.left[document]:
                raise InputError(
                    f"topic {shown(self.topic.qid)}: strategy {self.name!r} chose {shown(document)}. Let its choose() "
                    "return a number for which self.left is True."
                )
            self._asked = int(document)
        return self._asked

    def learn(self, document: int, relevant: bool | None) -> None:
        """Take the label of the document that `next` returned.

        Args:
            document: what `next` returned.
            relevant: whether it is relevant; None if the judge gives it no label, and nothing is learnt.

        Raises:
            InputError: a label for another document, or one that is not True, False or None.
        """
        if document != self._asked or document is None:
            asked = "nothing" if self._asked is None else shown(self.topic.docnos[self._asked])
            raise InputError(
                f"topic {shown(self.topic.qid)}: strategy {self.name!r} asked for {asked}, and was given the label of "
                f"{shown(document)}. Give each label to the document that next() returned.",
                argument="document",
            )
        if not (relevant is None or relevant is True or relevant is False):
            relevant = flag("relevant", relevant)
        self._asked = None
        self.left[document] = False
        self.n_left -= 1
        self.leave(document)
        if relevant is not None:
            self.observe(document, relevant)

    @abstractmethod
    def choose(self) -> int:
        """Return a document that is left; at least one is."""

    @abstractmethod
    def observe(self, document: int, relevant: bool) -> None:
        """Learn whether a `document`, which is left no more, is `relevant`."""

    def leave(self, document: int) -> None:  # noqa: B027
        """Note that a `document` is judged, with or without a label; if it has one, `observe` follows."""

    def reason(self, document: int) -> str:
        """Return why the `document` that `next` returned was chosen, in words; asked before `learn`."""
        return ""


def first_of_best(values: NDArray[np.float64]) -> int:
    """Return the first position whose value is within 1e-12 of the largest."""
    # argmax is faster than max
    return int((values >= values[values.argmax()] - TOLERANCE).argmax())


#: gains are counted in whole multiples of this, so that their sums are exact
_GAIN_UNIT = 2.0**-80
_EXACT = Context(prec=40)


#: the share of the rows that may be of judged documents before these are dropped
_DROPPED = 0.1


class RowChooser(Chooser):
    """Weighs documents by their rows in the lists, in which those of judged documents do not stay long."""

    def __init__(self, topic: TopicLists, random: np.random.Generator):
        super().__init__(topic, random)
        self._starts, rows = topic.by_document
        self._run, self._rank = topic.run[rows], topic.rank[rows]
        #: (rows,) of all documents that are left, and of some that are not
        self.open: dict[str, NDArray[Any]] = {"document": topic.codes[rows], "run": self._run}
        self._judged, self._gone = 0, np.zeros(len(topic))

    def rows_of(self, document: int) -> slice:
        """Return which of all rows are of a document."""
        return slice(self._starts[document], self._starts[document + 1])

    def leave(self, document: int) -> None:
        self._gone[document] = -np.inf
        self._judged += self._starts[document + 1] - self._starts[document]
        if self._judged > _DROPPED * len(self.open["run"]):
            left = self.left[self.open["document"]]
            self.open, self._judged = {name: rows[left] for name, rows in self.open.items()}, 0

    def sums(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (documents,): the sum of the values of the open rows of each, 0 without any."""
        sums: NDArray[np.float64] = np.bincount(self.open["document"], values, len(self.topic)).astype(
            float, copy=False
        )
        return sums

    def first_left(self, weights: NDArray[np.float64]) -> int:
        """Return the first document of the largest weight among those that are left."""
        return first_of_best(weights + self._gone)


class Hedge(RowChooser):
    """Judge the document from which the runs, each by its weight, would gain most if it were relevant."""

    name = "hedge"

    def __init__(self, topic: TopicLists, random: np.random.Generator, *, beta: float = 0.1):
        super().__init__(topic, random)
        self._speed = -math.log(fraction("beta", beta, ends=False))
        gain_at = _gains(len(topic))
        # the mean gain of the ranks that a list leaves free, 0 where there are none
        sums = np.append(np.cumsum(gain_at[::-1])[::-1], 0)
        means = sums // np.maximum(np.arange(len(gain_at), -1, -1), 1).astype(object)
        self._free = means[topic.lengths]
        self._gain = gain_at[self._rank - 1]
        self.open["above"] = (self._gain - self._free[self._run]).astype(np.float64) * _GAIN_UNIT
        self._won = np.zeros(topic.n_runs, dtype=object)
        self._weight: NDArray[np.float64] = np.full(topic.n_runs, 1 / max(topic.n_runs, 1))

    def choose(self) -> int:
        # the gain of the ranks that are left free is the same for every document
        return self.first_left(self.sums(self._weight.take(self.open["run"]) * self.open["above"]))

    def observe(self, document: int, relevant: bool) -> None:
        gains = self._gains(document)
        self._won = self._won + gains if relevant else self._won - gains
        behind = (self._won - self._won.max()).astype(np.float64)
        weight = np.exp(behind * (self._speed * _GAIN_UNIT))
        self._weight = weight / np.add.reduce(weight)

    def reason(self, document: int) -> str:
        gains = self._gains(document).astype(np.float64) * _GAIN_UNIT
        return f"expected gain {float(gains @ self._weight):.3g}"

    def _gains(self, document: int) -> NDArray[np.object_]:
        rows, gains = self.rows_of(document), self._free.copy()
        gains[self._run[rows]] = self._gain[rows]
        return gains


def _gains(n: int) -> NDArray[np.object_]:
    """Return (n,) what a relevant document gains at each rank, ln(n / rank) / 2, in units."""
    logs = np.array([_log(number) for number in range(1, n + 1)], dtype=object)
    return (_log(n) - logs) // 2 if n else logs


@cache
def _log(number: int) -> int:
    """Return the logarithm of a whole number in units, the sum of those of its factors: equal products tie exactly."""
    factor = next((f for f in range(2, math.isqrt(number) + 1) if number % f == 0), number)
    if factor < number:
        return _log(factor) + _log(number // factor)
    # in decimals, which are the same on every machine; even, so that half of it is whole
    return 2 * int(_EXACT.ln(number) * 2**79)


#: inverse ranks are counted in whole multiples of this, so that their sums are exact; of a list of 100,000 documents
#: they sum to less than 16
_RANK_UNIT = 2.0**-58


class MinimalTestCollection(RowChooser):
    """Judge the document whose label, relevant or not, changes the differences of average precision most (MTC)."""

    name = "mtc"

    def __init__(self, topic: TopicLists, random: np.random.Generator):
        super().__init__(topic, random)
        one = round(1 / _RANK_UNIT)
        inverse = one // np.arange(1, int(topic.lengths.max(initial=0)) + 1)
        sums = np.append(0, np.cumsum(inverse))
        # (rows,) what a document adds to its run: 1 / rank by itself, and 1 / the larger rank with each other one
        self._inverse = inverse[self._rank - 1]
        if_not = one + sums[topic.lengths[self._run]] - sums[self._rank]
        self.open |= {"inverse": self._inverse, "if relevant": self._inverse.copy(), "if not": if_not}
        self._weights = {name: self._mean_of_squares(self.open[name]) for name in ("if relevant", "if not")}

    def choose(self) -> int:
        return self.first_left(np.maximum(*self._weights.values()))

    def observe(self, document: int, relevant: bool) -> None:
        rows = self.rows_of(document)
        of_run: NDArray[np.int64] = np.zeros(self.topic.n_runs, dtype=np.int64)
        of_run[self._run[rows]] = self._inverse[rows]
        both = of_run.take(self.open["run"])
        np.minimum(both, self.open["inverse"], out=both)
        name, change = ("if relevant", np.add) if relevant else ("if not", np.subtract)
        change(self.open[name], both, out=self.open[name])
        self._weights[name] = self._mean_of_squares(self.open[name])

    def reason(self, document: int) -> str:
        relevant, other = (float(np.sqrt(max(weights[document], 0.0))) for weights in self._weights.values())
        return f"differences change by {relevant:.3g} if relevant, by {other:.3g} if not"

    def _mean_of_squares(self, whole: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return (documents,) the mean over pairs of runs of the squared difference of (rows,) numbers."""
        n, values = self.topic.n_runs, np.multiply(whole, _RANK_UNIT, dtype=np.float64)
        if n < 2:
            return np.zeros(len(self.topic))
        sums, squares = self.sums(values), self.sums(values * values)
        return (squares * n - sums * sums) / (n * (n - 1) / 2)


class FixedOrder(Chooser):
    """Judges the documents in an order that no label changes; a subclass says which."""

    def __init__(self, topic: TopicLists, random: np.random.Generator):
        super().__init__(topic, random)
        self._order: list[int] = self.order().tolist()

    @abstractmethod
    def order(self) -> NDArray[np.int64]:
        """Return all documents in the order in which they are judged."""

    def choose(self) -> int:
        return self._order[len(self._order) - self.n_left]

    def observe(self, document: int, relevant: bool) -> None:
        """Learn nothing."""

    def reason(self, document: int) -> str:
        return f"place {len(self._order) - self.n_left + 1} of {len(self._order)}"


class RankOrder(FixedOrder):
    """Judge documents by their best rank in any run, those of one rank by name, descending: the order of take-N."""

    name = "rank"

    def order(self) -> NDArray[np.int64]:
        return np.arange(len(self.topic))


class RandomOrder(FixedOrder):
    """Judge documents in a random order, each order being equally likely."""

    name = "random"

    def order(self) -> NDArray[np.int64]:
        return self.random.permutation(len(self.topic))


class FusedOrder(FixedOrder):
    """Judges documents by their fused score; those of equal score (in 12 digits) by best rank, then by name."""

    def __init__(self, topic: TopicLists, random: np.random.Generator, fusion: Fusion):
        self._scores = fusion.scores(topic.rows)
        super().__init__(topic, random)

    def order(self) -> NDArray[np.int64]:
        return np.argsort(-self._scores, kind="stable")

    def reason(self, document: int) -> str:
        return f"fused score {self._scores[document]:.4g}, {super().reason(document)}"


class ReciprocalRanks(FusedOrder):
    """Fuse by the sum of 1 / (k + rank) (Cormack, Clarke and Büttcher 2009)."""

    name = "rrf"

    def __init__(self, topic: TopicLists, random: np.random.Generator, *, k: float = 60):
        super().__init__(topic, random, Fusion("rrf", k=k))


class RankBiased(FusedOrder):
    """Fuse by the sum of (1 - p) p^(rank - 1) (Moffat and Zobel's RBP weights; Bailey et al. 2017)."""

    name = "rbp"

    def __init__(self, topic: TopicLists, random: np.random.Generator, *, p: float = 0.8):
        super().__init__(topic, random, Fusion("rbp", p=p))


class CombSum(FusedOrder):
    """Fuse by the sum of normalised scores (Fox and Shaw 1994)."""

    name = "combsum"

    def __init__(self, topic: TopicLists, random: np.random.Generator, *, norm: str = "min-max"):
        super().__init__(topic, random, Fusion(self.name, norm=norm))


class CombMnz(CombSum):
    """Fuse by the sum of normalised scores times the number of runs that have the document (Fox and Shaw 1994)."""

    name = "combmnz"


class Borda(FusedOrder):
    """Fuse by Borda points (Aslam and Montague 2001)."""

    name = "borda"

    def __init__(self, topic: TopicLists, random: np.random.Generator):
        super().__init__(topic, random, Fusion("borda"))


class Bandit(Chooser):
    """Picks the run of the largest value, the first of several, and its best document left.

    Runs without documents left have the value -inf. Labels count for every run that has the document.
    """

    def __init__(self, topic: TopicLists, random: np.random.Generator, start: float = 0.0):
        super().__init__(topic, random)
        self.run, self.runs_of = -1, topic.runs_of
        self.documents_of: list[int] = topic.lengths.tolist()
        self.value: Any = [start if left else -np.inf for left in self.documents_of]
        self._lists = [topic.list_of(run).tolist() for run in range(topic.n_runs)]
        self._place = [0] * topic.n_runs

    @abstractmethod
    def credit(self, run: int, relevant: bool) -> None:
        """Learn that a document of a run, which has more documents left, is relevant or not."""

    @abstractmethod
    def said(self) -> str:
        """Return in words what the run that was picked is worth."""

    def pick(self) -> int:
        """Return a run that has documents left; at least one has."""
        run: int = self.value.index(max(self.value))
        return run

    def choose(self) -> int:
        self.run = run = self.pick()
        documents, place, left = self._lists[run], self._place[run], self.left
        while not left[documents[place]]:
            place += 1
        self._place[run] = place
        return documents[place]

    def leave(self, document: int) -> None:
        left = self.documents_of
        for run in self.runs_of[document]:
            left[run] -= 1
            if not left[run]:
                self.value[run] = -np.inf

    def observe(self, document: int, relevant: bool) -> None:
        left, credit = self.documents_of, self.credit
        for run in self.runs_of[document]:
            if left[run]:
                credit(run, relevant)

    def reason(self, document: int) -> str:
        return f"run {shown(self.topic.names[self.run])}, {self.said()}, rank {self._place[self.run] + 1}"


class MoveToFront(Bandit):
    """Stay with a run while its documents are relevant, then go to a run of the highest priority."""

    name = "mtf"

    def observe(self, document: int, relevant: bool) -> None:
        # the run that was picked last is still it, unless its priority fell: priorities never rise
        self.credit(self.run, relevant)

    def credit(self, run: int, relevant: bool) -> None:
        self.value[run] -= not relevant

    def said(self) -> str:
        return f"priority {self.value[self.run]:.0f}"


class MaxMean(Bandit):
    """Pick the run with the largest mean (1 + relevant) / (2 + judged) over its judged documents."""

    name = "max-mean"
    #: by how much labels count after the next one
    rate = 1.0

    def __init__(self, topic: TopicLists, random: np.random.Generator):
        super().__init__(topic, random, start=0.5)
        self._relevant, self._judged = [0.0] * topic.n_runs, [0.0] * topic.n_runs

    def credit(self, run: int, relevant: bool) -> None:
        self._relevant[run] = found = self.rate * self._relevant[run] + relevant
        self._judged[run] = judged = self.rate * self._judged[run] + 1.0
        self.value[run] = (1.0 + found) / (2.0 + judged)

    def said(self) -> str:
        return f"mean {self.value[self.run]:.3g}"


class NonStationaryMaxMean(MaxMean):
    """Pick the run with the largest mean, old labels counting less: what a run finds falls with depth."""

    name = "max-mean-ns"

    def __init__(self, topic: TopicLists, random: np.random.Generator, *, rate: float = 0.0):
        super().__init__(topic, random)
        self.rate = fraction("rate", rate)


class EpsilonGreedy(MaxMean):
    """Pick the run with the largest mean as MaxMean does, but with probability epsilon any run that is left."""

    name = "epsilon-greedy"

    def __init__(self, topic: TopicLists, random: np.random.Generator, *, epsilon: float = 0.1):
        super().__init__(topic, random)
        self._epsilon, self._explored = fraction("epsilon", epsilon), False

    def pick(self) -> int:
        self._explored = bool(self.random.random() < self._epsilon)
        if not self._explored:
            return super().pick()
        left = np.flatnonzero(self.documents_of)
        return int(left[self.random.integers(len(left))])

    def said(self) -> str:
        return f"{'drawn from all, ' if self._explored else ''}{super().said()}"


class UCB1Tuned(Bandit):
    """Pick the run with the largest upper confidence bound of its share of relevant documents."""

    name = "ucb1-tuned"

    def __init__(self, topic: TopicLists, random: np.random.Generator):
        # the value is the share, infinite where no document has a label
        super().__init__(topic, random, start=np.inf)
        self.value, self._n_labels = np.array(self.value), 0
        self._relevant, self._judged = [0] * topic.n_runs, [0] * topic.n_runs
        self._variance, self._per_label = np.zeros((2, topic.n_runs))

    def pick(self) -> int:
        return first_of_best(self._bounds())

    def observe(self, document: int, relevant: bool) -> None:
        self._n_labels += 1
        super().observe(document, relevant)

    def credit(self, run: int, relevant: bool) -> None:
        self._relevant[run] += relevant
        self._judged[run] += 1
        self.value[run] = share = self._relevant[run] / self._judged[run]
        self._variance[run], self._per_label[run] = share * (1 - share), 1 / self._judged[run]

    def said(self) -> str:
        return (
            f"bound {self._bounds()[self.run]:.3g}" if self._judged[self.run] else "none of its documents has a label"
        )

    def _bounds(self) -> NDArray[np.float64]:
        ratio = math.log(max(self._n_labels, 1)) * self._per_label
        width = np.minimum(np.sqrt(2 * ratio) + self._variance, 0.25) * ratio
        return np.sqrt(width) + self.value


class Thompson(Bandit):
    """Draw the share of relevant documents of each run from what its labels say of it; pick the largest."""

    name = "thompson"

    def __init__(self, topic: TopicLists, random: np.random.Generator):
        super().__init__(topic, random)
        self._relevant, self._other = np.ones((2, topic.n_runs))
        self._runs, self._drawn = np.flatnonzero(topic.lengths), 0.0

    def pick(self) -> int:
        shares = self.random.beta(self._relevant[self._runs], self._other[self._runs])
        best = shares.argmax()
        self._drawn = shares[best]
        return int(self._runs[best])

    def leave(self, document: int) -> None:
        super().leave(document)
        if not all(self.documents_of[run] for run in self.runs_of[document]):
            self._runs = np.flatnonzero(self.documents_of)

    def credit(self, run: int, relevant: bool) -> None:
        (self._relevant if relevant else self._other)[run] += 1

    def said(self) -> str:
        return f"drew {self._drawn:.3g} from Beta({self._relevant[self.run]:.0f}, {self._other[self.run]:.0f})"
