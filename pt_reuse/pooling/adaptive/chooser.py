"""What strategies choose from: the lists of a topic; and what each of them is, a Chooser."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from itertools import compress, pairwise
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pt_reuse._check import examples, flag, shown
from pt_reuse.arrays import tokens
from pt_reuse.arrays.fusion import TopicRows
from pt_reuse.arrays.lists import offsets, ranges
from pt_reuse.data.run_set import RunSet
from pt_reuse.errors import InputError
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
    words = ranked.field.words_at(t).take(docs, axis=0)
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
