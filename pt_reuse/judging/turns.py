"""Turns: topics take turns, one label each a round, each by a chooser of its own, until their budgets are spent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pt_reuse._check import shown
from pt_reuse._errors import InputError
from pt_reuse.judging.asking import Asked
from pt_reuse.judging.verdicts import Verdict
from pt_reuse.pooling.adaptive.chooser import Chooser


class TopicTurns:
    """The judging of one topic: what it asks, what it was answered, and what of both a session has kept already.

    A label is one of at least 0. A document to which the judge gives none costs nothing, teaches nothing and is not
    asked about again.

    Args:
        chooser: of the topic.
        most: how many labels it may have.
        rel: the lowest label that is relevant.
        known: document -> label that is there already and costs nothing.
        kept: the answers that a session has, in their order.

    Attributes:
        qid: the topic.
        most: as given.
        answers: so far, in their order.
        n_labels: how many of these are labels.
    """

    def __init__(
        self, chooser: Chooser, most: int, *, rel: int, known: Mapping[str, int], kept: Sequence[Verdict] = ()
    ):
        self.qid = chooser.topic.qid
        self.answers: list[Verdict] = []
        self.n_labels = 0
        self._chooser, self.most, self._rel = chooser, most, rel
        self._known, self._kept = known, kept

    def ask(self) -> Asked | None:
        """Return the document to judge; None when the budget is spent or none is left. Known ones are told at once."""
        while self.n_labels < self.most:
            document = self._chooser.next()
            if document is None:
                return None
            docno = self._chooser.topic.docnos[document]
            if docno not in self._known:
                return Asked(self.qid, docno, self.n_labels + 1, self._chooser.reason(document))
            self._chooser.learn(document, self._known[docno] >= self._rel)
        return None

    def kept_answer(self, asked: Asked) -> Verdict | None:
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

    def learn(self, answer: Verdict) -> None:
        """Take the answer to what was asked."""
        document = self._chooser.next()
        if document is None or self._chooser.topic.docnos[document] != answer.docno:
            raise ValueError(f"topic {self.qid}: document {answer.docno} was not asked for")
        self.answers.append(answer)
        self.n_labels += answer.has_label
        label = answer.label
        self._chooser.learn(document, None if label is None or label < 0 else label >= self._rel)


def turn_by_turn(topics: Sequence[TopicTurns], total: int | None) -> Iterator[list[tuple[TopicTurns, Asked]]]:
    """Yield topics and what they ask; each must have learnt the answer before the next turn.

    A round lasts until every topic has one label more, or no document left to ask about. So the labels are the first of
    a fixed order, round by round and in a round topic by topic, however many documents get none.

    Args:
        topics: in the order in which they take turns.
        total: labels in all; the last round may be of the first topics alone. None for no such bound.
    """
    live, left = list(topics), sum(topic.most for topic in topics) if total is None else total
    while live and left:
        waiting, labelled = live, set()
        while waiting and left:
            asked = [(topic, topic.ask()) for topic in waiting]
            now = [(topic, one) for topic, one in asked if one is not None]
            waiting = [topic for topic, _ in now]
            now = now[:left]
            before = {topic.qid: topic.n_labels for topic, _ in now}
            if now:
                yield now
            done = {topic.qid for topic, _ in now if topic.n_labels > before[topic.qid]}
            labelled |= done
            left -= len(done)
            waiting = [topic for topic in waiting if topic.qid not in done]
        live = [topic for topic in live if topic.qid in labelled]
