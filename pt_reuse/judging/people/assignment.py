"""Assignment: which annotator is asked which pair, with loads as equal as can be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from pt_reuse._check import count, told
from pt_reuse._errors import Argument, InputError
from pt_reuse.engine.shares import share_of
from pt_reuse.judging.people.hashing import drawn

#: a topic and a document
Key: TypeAlias = "tuple[str, str]"


@dataclass(frozen=True)
class Overlap:
    """How many people judge a pair.

    Attributes:
        each: how many judge every pair.
        by_all: the share of the pairs that all judge instead, 0 for none.
    """

    each: int
    by_all: float = 0.0

    @classmethod
    def of(cls, overlap: Any, n_annotators: int | None) -> Overlap:
        """Return what a user says: a number of annotators, or the share of pairs that all of them judge.

        Args:
            overlap: as given.
            n_annotators: how many annotators there are, None where nobody says who they are.

        Raises:
            InputError: neither, more annotators than there are, or a share where it is not known who all are.
        """
        if isinstance(overlap, float | np.floating) and 0 < overlap < 1:
            if n_annotators is None:
                raise InputError(
                    Argument("overlap"),
                    " cannot be a share where annotators is None, since nobody knows how many all are. Name the "
                    "annotators, or give a number of them.",
                    argument="overlap",
                )
            return cls(1, float(overlap))
        if isinstance(overlap, bool) or not isinstance(overlap, int | np.integer) or overlap < 1:
            raise InputError(
                Argument("overlap"),
                " must be a whole number of annotators for each pair, at least 1, or the share of pairs that "
                f"all annotators judge, between 0 and 1, got {told(overlap)}.",
                argument="overlap",
            )
        if n_annotators is not None and overlap > n_annotators:
            raise InputError(
                Argument("overlap"),
                f" must be at most the number of annotators: {count(n_annotators, 'annotator')} cannot give a "
                f"pair {overlap} labels of different people.",
                argument="overlap",
            )
        return cls(int(overlap))

    def wanted(self, keys: Sequence[Key], n_annotators: int, seed: int) -> list[int]:
        """Return for each pair how many annotators it is to have; pairs for all are drawn, the same share of topics."""
        if not self.by_all:
            return [self.each] * len(keys)
        of_topic: dict[str, list[int]] = {}
        for i, (qid, _) in enumerate(keys):
            of_topic.setdefault(qid, []).append(i)
        wanted, before = [self.each] * len(keys), 0
        for places in of_topic.values():
            # cumulated, so that the shares of small topics add up to that of all
            after = before + len(places)
            n = share_of(self.by_all, after) - share_of(self.by_all, before)
            for i in sorted(places, key=lambda i: drawn(seed, "for all", *keys[i]))[:n]:
                wanted[i] = n_annotators
            before = after
        return wanted


@dataclass(frozen=True)
class Want:
    """A pair that is to be judged.

    Attributes:
        key: topic and document.
        annotators: how many people are to judge it.
        asked: who was asked already.
    """

    key: Key
    annotators: int
    asked: tuple[str, ...] = ()


def assign(
    wants: Sequence[Want], annotators: Sequence[str], loads: Counter[str], seed: int, *, whole_topics: bool
) -> list[tuple[str, ...]]:
    """Return for each pair who is asked it now, nobody twice.

    The least loaded are asked first, then who has least of the topic; who is equal is drawn. So loads differ by one at
    most where they did before and everybody may be asked anything. It does not matter in which order the pairs come.

    Args:
        wants: the pairs.
        annotators: who there is.
        loads: annotator -> pairs asked already.
        seed: of what is drawn.
        whole_topics: whether a topic goes to the same people as a whole, as far as pairs want as many; topics with most
            pairs are given first, and those go on with a topic who have some of it.
    """
    loads, of_topic = Counter(loads), {want.key[0]: Counter[str]() for want in wants}
    sizes = Counter(want.key[0] for want in wants)
    for want in wants:
        of_topic[want.key[0]].update(want.asked)
    teams: dict[str, list[str]] = {}
    if whole_topics:
        planned = Counter(loads)
        most = {qid: max(w.annotators for w in wants if w.key[0] == qid) for qid in sizes}
        usual = {qid: min(w.annotators for w in wants if w.key[0] == qid) for qid in sizes}
        for qid in sorted(sizes, key=lambda qid: (-sizes[qid] * most[qid], drawn(seed, "topic", qid))):
            known = of_topic[qid]
            teams[qid] = sorted(annotators, key=lambda a: (-known[a], planned[a], drawn(seed, "team", qid, a)))
            planned.update({a: sizes[qid] for a in teams[qid][: usual[qid]]})

    given: list[tuple[str, ...]] = [()] * len(wants)
    for i in sorted(range(len(wants)), key=lambda i: drawn(seed, "turn", *wants[i].key)):
        want, had = wants[i], of_topic[wants[i].key[0]]
        free = [a for a in annotators if a not in want.asked]
        if whole_topics:
            free.sort(key=teams[want.key[0]].index)
        else:
            free.sort(key=lambda a: (loads[a], had[a], drawn(seed, "who", *want.key, a)))
        given[i] = tuple(sorted(free[: max(want.annotators - len(want.asked), 0)]))
        loads.update(given[i])
        had.update(given[i])
    return given
