"""Turns: topics take turns, one document each a round, each by a chooser of its own, until their budgets are spent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pt_reuse._check import shown
from pt_reuse._errors import InputError
from pt_reuse.judging.answers import Answer
from pt_reuse.judging.asking import Asked
from pt_reuse.pooling.adaptive.chooser import Chooser


class TopicTurns:
    """The judging of one topic: what it asks, what it was answered, and what of both a session has kept already.

    Args:
        chooser: of the topic.
        most: how many documents may be asked about.
        rel: the lowest label that is relevant.
        known: document -> label that is there already and costs nothing.
        kept: the answers that a session has, in their order.

    Attributes:
        qid: the topic.
        most: as given.
        answers: so far, in their order.
    """

    def __init__(self, chooser: Chooser, most: int, *, rel: int, known: Mapping[str, int], kept: Sequence[Answer] = ()):
        self.qid = chooser.topic.qid
        self.answers: list[Answer] = []
        self._chooser, self.most, self._rel = chooser, most, rel
        self._known, self._kept = known, kept

    def ask(self) -> Asked | None:
        """Return the document to judge; None when the budget is spent or none is left. Known ones are told at once."""
        while len(self.answers) < self.most:
            document = self._chooser.next()
            if document is None:
                return None
            docno = self._chooser.topic.docnos[document]
            if docno not in self._known:
                return Asked(self.qid, docno, len(self.answers) + 1, self._chooser.reason(document))
            self._chooser.learn(document, self._known[docno] >= self._rel)
        return None

    def kept_answer(self, asked: Asked) -> Answer | None:
        """Return the answer that the session has to what is asked, None where it has none.

        Raises:
            InputError: the session has another document in this place.
        """
        if len(self.answers) >= len(self._kept):
            return None
        answer, docno = self._kept[len(self.answers)], asked.docno
        if answer.docno != docno:
            raise InputError(
                f"topic {shown(self.qid)}: the strategy chooses document {shown(docno)} in round {asked.round}, where "
                f"the session has {shown(answer.docno)}. What a strategy does must follow from its lists, its random "
                f"numbers and the labels alone; was its code changed? Begin another session.",
                argument="session",
            )
        return answer

    def learn(self, answer: Answer) -> None:
        """Take the answer to what was asked."""
        document = self._chooser.next()
        if document is None or self._chooser.topic.docnos[document] != answer.docno:
            raise ValueError(f"topic {self.qid}: document {answer.docno} was not asked for")
        self.answers.append(answer)
        self._chooser.learn(document, None if answer.label is None else answer.label >= self._rel)


def rounds(topics: Sequence[TopicTurns], total: int | None) -> Iterator[list[tuple[TopicTurns, Asked]]]:
    """Yield the topics of each round and what they ask; each must have learnt the answer before the next round.

    Args:
        topics: in the order in which they take turns.
        total: documents in all; the last round may be of the first topics alone. None for no such bound.
    """
    live, left = list(topics), total
    while live and left != 0:
        asked = [(topic, topic.ask()) for topic in live]
        now = [(topic, one) for topic, one in asked if one is not None]
        live = [topic for topic, _ in now]
        now = now if left is None else now[:left]
        left = None if left is None else left - len(now)
        if now:
            yield now
