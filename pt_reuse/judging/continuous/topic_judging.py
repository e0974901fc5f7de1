"""TopicJudging: one topic on its way through a protocol."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from pt_reuse._check import shown
from pt_reuse._errors import InputError
from pt_reuse.judging.continuous.asking import CAL, Batch, Judged
from pt_reuse.judging.continuous.progress import Progress
from pt_reuse.judging.continuous.protocol import Decision, Protocol, Status
from pt_reuse.judging.continuous.scorer import Scorer, Training
from pt_reuse.pooling.adaptive.lists import random_of_topic
from pt_reuse.qrels.labelling import in_rows


class TopicJudging:
    """One topic on its way through a protocol: what is judged, what is left, which batch is next.

    All that is random follows from the seed and the topic's id. Documents of equal scores are judged in a random order
    of the topic, which stays the same through its rounds.

    Args:
        qid: the topic.
        query: its query, None where there is none.
        scorer: who scores its documents.
        places: document -> its position among the scorer's documents of the topic.
        seed: of what is random.

    Attributes:
        qid: as given.
        progress: how far the topic has come.
        decision: what the protocol decided after the last round.
    """

    def __init__(self, qid: str, query: str | None, scorer: Scorer, places: Mapping[str, int], seed: int):
        self.qid, self.progress = qid, Progress()
        self.decision = Decision(Status.GOES_ON, "")
        self._query, self._scorer, self._places = query, scorer, places
        self._docnos = scorer.documents(qid)
        self._left = np.ones(len(self._docnos), dtype=bool)
        self._random = random_of_topic(seed, qid)
        self._ties = self._random.permutation(len(self._docnos)).astype(np.int32)
        self._examples: list[int] = []
        self._relevant: list[bool] = []
        self._size: int | None = None

    @property
    def left(self) -> int:
        """Return how many of the scorer's documents nobody was asked about."""
        return int(self._left.sum())

    @property
    def goes_on(self) -> bool:
        """Return whether the topic is to have a further round."""
        return self.decision.status is Status.GOES_ON

    def next_size(self, protocol: Protocol) -> int:
        """Return how large the next batch is, before any total budget cuts it."""
        self._size = protocol.next_batch(self._size)
        spent = self.progress.asked
        most = self._size if protocol.topic_budget is None else min(self._size, protocol.topic_budget - spent)
        return min(most, self.left)

    def next_batch(self, protocol: Protocol, size: int, number: int) -> Batch:
        """Return the documents that the scorer puts first among those left.

        Args:
            protocol: says what it learns from.
            size: of the batch.
            number: of the round.
        """
        free = np.flatnonzero(self._left)
        presumed = self._random.choice(free, size=min(protocol.presumed_negatives, len(free)), replace=False)
        training = Training(
            np.concatenate([np.array(self._examples, dtype=np.int64), presumed]),
            np.concatenate([np.array(self._relevant, dtype=bool), np.zeros(len(presumed), dtype=bool)]),
            protocol.query_seed,
        )
        said: Any = self._scorer.fit(self.qid, self._query, training)
        if not isinstance(said, np.ndarray):
            what = f"{type(self._scorer).__name__}.fit must return one number for each document of topic {self.qid}"
            said = in_rows(said, pd.Index(self._docnos), what)
        scores = np.asarray(said, dtype=np.float64)
        if scores.shape != self._docnos.shape or np.isnan(scores).any():
            got = f"got the shape {scores.shape}" if scores.shape != self._docnos.shape else "some are NaN"
            raise InputError(
                f"{type(self._scorer).__name__}.fit must return one number for each of the {len(self._docnos):,} "
                f"documents of topic {shown(self.qid)}; {got}."
            )
        best = free[np.lexsort((self._ties[free], -scores[free]))[:size]]
        reasons = tuple(self._scorer.reason(score) for score in scores[best].tolist())
        return Batch(self.qid, number, CAL, tuple(self._docnos[best].tolist()), reasons)

    def learn(self, judged: Judged, rel: int) -> None:
        """Take the labels of a batch, or of documents of the initial pool; `rel` is the lowest that is relevant."""
        # a label below 0 says that a document was not judged, or is junk
        pairs = zip(judged.docnos, judged.labels, strict=True)
        labelled = [(docno, label >= rel) for docno, label in pairs if label is not None and label >= 0]
        grown = self.progress.after_batch if judged.strategy == CAL else self.progress.after_pool
        self.progress = grown(len(judged.docnos), len(labelled), sum(relevant for _, relevant in labelled))
        self._left[[self._places[docno] for docno in judged.docnos if docno in self._places]] = False
        for docno, relevant in labelled:
            # a pooled document that the scorer does not know is judged, and teaches it nothing
            if docno in self._places:
                self._examples.append(self._places[docno])
                self._relevant.append(relevant)

    def end_round(self, protocol: Protocol, pooled: int = 0) -> Decision:
        """Return what the protocol decides after a round; `pooled` documents of the initial pool are left."""
        self.decision = protocol.decide(self.progress, self.left + pooled)
        return self.decision

    def run_out(self, spent: int) -> None:
        """End the topic, because the total budget is spent."""
        self.decision = Decision(Status.TOTAL_BUDGET, f"{spent:,} documents")
