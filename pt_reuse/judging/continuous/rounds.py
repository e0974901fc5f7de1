"""Rounds: all topics of a protocol, judged round by round within the total budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
import pyterrier as pt

from pt_reuse.judging.continuous.asking import CAL, Asking, Batch, Judged
from pt_reuse.judging.continuous.initial_pool import InitialPool
from pt_reuse.judging.continuous.protocol import Protocol, Status
from pt_reuse.judging.continuous.topic_judging import TopicJudging

#: of the table of rounds
COLUMNS = (
    "qid",
    "round",
    "strategy",
    "asked",
    "judged",
    "relevant",
    "density",
    "batch_judged",
    "batch_relevant",
    "batch_share",
    "decision",
    "why",
)


@dataclass
class Rounds:
    """What came of all rounds so far.

    Attributes:
        protocol: by which topics are judged.
        rel: the lowest label that is relevant.
        judged: every batch with its labels, in the order in which they were judged.
        rows: one per topic and round, for the table of rounds.
    """

    protocol: Protocol
    rel: int
    judged: list[Judged] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=list)
    _spent: int = 0

    def run(
        self,
        topics: Sequence[TopicJudging],
        start: InitialPool | None,
        asking: Asking,
        *,
        verbose: bool,
    ) -> None:
        """Judge all topics to their end.

        Args:
            topics: in the order in which they are judged within a round.
            start: the initial pool, None where there is none.
            asking: has documents judged.
            verbose: show a progress bar of judged documents.
        """
        number = 1
        with pt.tqdm(total=self.protocol.total_budget, desc="judging", unit="document", disable=not verbose) as bar:
            if start is not None:
                for topic in topics:
                    self._pool_round(topic, start, asking)
                    bar.update(self._spent - bar.n)
                number += 1
            while any(topic.goes_on for topic in topics):
                for topic in topics:
                    if topic.goes_on:
                        self._cal_round(topic, asking, number)
                        bar.update(self._spent - bar.n)
                number += 1

    def _room(self, wanted: int) -> int:
        """Return how many of some documents the total budget still allows."""
        budget = self.protocol.total_budget
        return wanted if budget is None else min(wanted, budget - self._spent)

    def _pool_round(self, topic: TopicJudging, start: InitialPool, asking: Asking) -> None:
        pooled = start.documents.get(topic.qid, ())
        most = self.protocol.topic_budget
        wanted = len(pooled) if most is None else min(len(pooled), most)
        size = self._room(wanted)
        chosen = pooled[:size]
        batch = Batch(topic.qid, 1, start.name, tuple(docno for docno, _ in chosen), tuple(why for _, why in chosen))
        self._judge(topic, batch, asking, cut=size < wanted, pooled=len(pooled) - size)

    def _cal_round(self, topic: TopicJudging, asking: Asking, number: int) -> None:
        if not topic.left:
            topic.end_round(self.protocol)
            return
        wanted = topic.next_size(self.protocol)
        size = self._room(wanted)
        if size == 0:
            self._run_out(topic)
            return
        self._judge(topic, topic.next_batch(self.protocol, size, number), asking, cut=size < wanted)

    def _judge(self, topic: TopicJudging, batch: Batch, asking: Asking, *, cut: bool, pooled: int = 0) -> None:
        if batch.docnos:
            judged = asking.judged(batch)
            self.judged.append(judged)
            self._spent += len(batch.docnos)
            topic.learn(judged, self.rel)
        decision, progress = topic.end_round(self.protocol, pooled), topic.progress
        is_batch = batch.strategy == CAL
        self.rows.append(
            {
                "qid": topic.qid,
                "round": batch.round,
                "strategy": batch.strategy,
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
