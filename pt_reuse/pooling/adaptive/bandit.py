"""Bandit: a chooser that takes the runs for the arms of a bandit and judges the chosen run's next document."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from pt_reuse._check import shown
from pt_reuse.pooling.adaptive.chooser import Chooser
from pt_reuse.pooling.adaptive.lists import TopicLists


class Bandit(Chooser):
    """Picks a run and has the best of its documents judged that is not judged yet.

    A document that is judged already costs nothing: the run's next one is taken. A run all of whose documents are
    judged is out. A label counts for every run that has the document, not for the picked run alone: a run is what its
    list says, whoever was asked first. A subclass says which run to pick, and what a label does to a run.

    Args:
        topic: the lists of the runs; of runs that are equally good the first is picked.
        random: of this topic and seed.

    Attributes:
        run: the run that was picked last, -1 before the first.
        documents_of: (runs,) how many documents of each run are left.
    """

    def __init__(self, topic: TopicLists, random: np.random.Generator):
        super().__init__(topic, random)
        self.run = -1
        self.documents_of: list[int] = topic.lengths.tolist()
        self._lists = [topic.list_of(run).tolist() for run in range(topic.n_runs)]
        self._place = [0] * topic.n_runs
        self._runs_of = topic.runs_of

    @abstractmethod
    def pick(self) -> int:
        """Return a run that has documents left; at least one has."""

    @abstractmethod
    def credit(self, run: int, relevant: bool) -> None:
        """Learn that a document of a run, which has more documents left, is relevant or not."""

    @abstractmethod
    def retire(self, run: int) -> None:
        """Learn that a run has no documents left, and is not to be picked again."""

    def choose(self) -> int:
        """Return the best of the picked run's documents that are left."""
        self.run = run = self.pick()
        documents, place, left = self._lists[run], self._place[run], self.left
        while not left[documents[place]]:
            place += 1
        self._place[run] = place
        return documents[place]

    def leave(self, document: int) -> None:
        """Count the document off the runs that have it."""
        left = self.documents_of
        for run in self._runs_of[document]:
            left[run] -= 1
            if not left[run]:
                self.retire(run)

    def observe(self, document: int, relevant: bool) -> None:
        """Credit every run that has the document."""
        left, credit = self.documents_of, self.credit
        for run in self._runs_of[document]:
            if left[run]:
                credit(run, relevant)

    def reason(self, document: int) -> str:
        """Return the run that was picked, what spoke for it, and the document's rank in it."""
        return f"run {shown(self.topic.names[self.run])}, {self.said_of(self.run)}, rank {self._place[self.run] + 1}"

    @abstractmethod
    def said_of(self, run: int) -> str:
        """Return in words why a run was picked."""
