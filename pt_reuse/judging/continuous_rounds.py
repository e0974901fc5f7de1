"""Continuous judging of a topic, round by round, and the tables of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pyterrier as pt

from pt_reuse._check import shown
from pt_reuse._errors import InputError
from pt_reuse.data.labelling import in_rows
from pt_reuse.judging.protocols import Decision, Progress, Protocol, Status
from pt_reuse.judging.scorers import Scorer, Training, digest
from pt_reuse.judging.session import Judged, Session
from pt_reuse.pooling.adaptive.lists import random_of_topic
from pt_reuse.pooling.pool import Pool

#: how the documents of a round were chosen: by the classifier
CAL = "cal"


@dataclass(frozen=True)
class InitialPool:
    """The documents that are judged first, topic by topic."""

    name: str
    documents: Mapping[str, tuple[tuple[str, str], ...]]

    @classmethod
    def of(cls, pool: Pool, name: str) -> InitialPool:
        """Return the documents of a pool, those of the best rank first, those that no run contributed last."""
        frame = pool.to_frame()[["qid", "docno", "rank"]].sort_values("rank", kind="stable", na_position="last")
        found: dict[str, list[tuple[str, str]]] = {}
        for qid, docno, rank in zip(frame["qid"], frame["docno"], frame["rank"].fillna(0), strict=True):
            found.setdefault(qid, []).append((docno, f"best rank {rank:,}" if rank else "in the pool"))
        return cls(name, {qid: tuple(found.get(qid, ())) for qid in pool.topics})

    @property
    def size(self) -> int:
        """Return how many documents there are."""
        return sum(map(len, self.documents.values()))

    def fingerprint(self) -> str:
        """Return what tells this pool from others."""
        parts = (part for qid, documents in self.documents.items() for part in (qid, [docno for docno, _ in documents]))
        return f"{self.size:,} documents, {digest(*parts)}"


class TopicJudging:
    """One topic on its way through a protocol: what is judged, what is left, which batch is next.

    All that is random follows from the seed and the topic's id. Documents of equal scores are judged in a random order
    of the topic, which stays the same through its rounds.
    """

    def __init__(self, qid: str, query: str | None, scorer: Scorer, places: Mapping[str, int], seed: int):
        self.qid, self.progress = qid, Progress()
        self.pooled, self.decision = Progress(), Decision(Status.GOES_ON, "")
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

    def next_batch(self, protocol: Protocol, size: int, number: int) -> list[Judged]:
        """Return the documents that the scorer puts first among those left, to be judged."""
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
        return [
            Judged(self.qid, docno, number, CAL, self._scorer.reason(score))
            for docno, score in zip(self._docnos[best].tolist(), scores[best].tolist(), strict=True)
        ]

    def learn(self, judged: Sequence[Judged], rel: int) -> None:
        """Take the labels of a batch, or of documents of the initial pool; `rel` is the lowest that is relevant."""
        # a label below 0 says that a document was not judged, or is junk
        labelled = [(one.docno, one.label >= rel) for one in judged if one.label is not None and one.label >= 0]
        counted = len(judged), len(labelled), sum(relevant for _, relevant in labelled)
        if judged[0].strategy == CAL:
            self.progress = self.progress.after_batch(*counted)
        else:
            self.progress = self.pooled = self.progress.after_pool(*counted)
        self._left[[self._places[one.docno] for one in judged if one.docno in self._places]] = False
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


#: of the table of rounds
COLUMNS = (
    "qid", "round", "strategy", "asked", "judged", "relevant", "density", "batch_judged", "batch_relevant",
    "batch_share", "decision", "why",
)  # fmt: skip


@dataclass
class Rounds:
    """What came of all rounds so far."""

    protocol: Protocol
    rel: int
    judged: list[Judged] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=list)
    _spent: int = 0

    def run(
        self,
        topics: Sequence[TopicJudging],
        start: InitialPool | None,
        session: Session,
        *,
        verbose: bool,
    ) -> None:
        """Judge all topics to their end."""
        number = 1
        with pt.tqdm(total=self.protocol.total_budget, desc="judging", unit="document", disable=not verbose) as bar:
            if start is not None:
                for topic in topics:
                    self._pool_round(topic, start, session)
                    bar.update(self._spent - bar.n)
                number += 1
            while any(topic.goes_on for topic in topics):
                for topic in topics:
                    if topic.goes_on:
                        self._cal_round(topic, session, number)
                        bar.update(self._spent - bar.n)
                number += 1

    def _room(self, wanted: int) -> int:
        """Return how many of some documents the total budget still allows."""
        budget = self.protocol.total_budget
        return wanted if budget is None else min(wanted, budget - self._spent)

    def _pool_round(self, topic: TopicJudging, start: InitialPool, session: Session) -> None:
        pooled = start.documents.get(topic.qid, ())
        most = self.protocol.topic_budget
        wanted = len(pooled) if most is None else min(len(pooled), most)
        size = self._room(wanted)
        batch = [Judged(topic.qid, docno, 1, start.name, why) for docno, why in pooled[:size]]
        self._judge(topic, batch, 1, start.name, session, cut=size < wanted, pooled=len(pooled) - size)

    def _cal_round(self, topic: TopicJudging, session: Session, number: int) -> None:
        if not topic.left:
            topic.end_round(self.protocol)
            return
        wanted = topic.next_size(self.protocol)
        size = self._room(wanted)
        if size == 0:
            self._run_out(topic)
            return
        batch = topic.next_batch(self.protocol, size, number)
        self._judge(topic, batch, number, CAL, session, cut=size < wanted)

    def _judge(
        self,
        topic: TopicJudging,
        batch: Sequence[Judged],
        number: int,
        strategy: str,
        session: Session,
        *,
        cut: bool,
        pooled: int = 0,
    ) -> None:
        if batch:
            judged = [one for answers in session.judged(batch) for one in answers]
            self.judged += judged
            self._spent += len(judged)
            topic.learn(judged, self.rel)
        decision, progress = topic.end_round(self.protocol, pooled), topic.progress
        is_batch = strategy == CAL
        self.rows.append(
            {
                "qid": topic.qid,
                "round": number,
                "strategy": strategy,
                "asked": progress.asked,
                "judged": progress.judged,
                "relevant": progress.relevant,
                "density": progress.density if progress.judged else float("nan"),
                "batch_judged": progress.batch_judged if is_batch else pd.NA,
                "batch_relevant": progress.batch_relevant if is_batch else pd.NA,
                "batch_share": progress.batch_share if is_batch else float("nan"),
                "decision": decision.status.value,
                "why": decision.why,
            }
        )
        if cut and decision.status is Status.GOES_ON:
            self._run_out(topic)

    def _run_out(self, topic: TopicJudging) -> None:
        topic.run_out(self._spent)
        # the last round is the one after which it stopped
        for row in reversed(self.rows):
            if row["qid"] == topic.qid:
                row.update(decision=topic.decision.status.value, why=topic.decision.why)
                return

    def table(self) -> pd.DataFrame:
        """Return the table of rounds."""
        table = pd.DataFrame(self.rows, columns=list(COLUMNS))
        return table.astype(dict.fromkeys(("batch_judged", "batch_relevant"), "Int64"))


def topics_table(topics: Sequence[TopicJudging], protocol: Protocol) -> pd.DataFrame:
    """Return one row per topic: how it ended, and how many judgments it has."""
    rows = []
    for topic in topics:
        done, pooled = topic.progress, topic.pooled
        rows.append(
            {
                "qid": topic.qid,
                "status": topic.decision.status.value,
                "evaluated": protocol.evaluated(topic.decision.status, done),
                "rounds": done.batches + (pooled.asked > 0),
                "asked": done.asked,
                "judged": done.judged,
                "relevant": done.relevant,
                "density": done.density if done.judged else float("nan"),
                "pool_judged": pooled.judged,
                "pool_relevant": pooled.relevant,
                "cal_judged": done.judged - pooled.judged,
                "cal_relevant": done.relevant - pooled.relevant,
            }
        )
    return pd.DataFrame(rows)
