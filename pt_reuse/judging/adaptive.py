"""Adaptive judging: a strategy says which document is next, a judge gives its label, and the strategy learns it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd
import pyterrier as pt

from pt_reuse._check import checked_seed, count, flag, fraction, positive, whole
from pt_reuse.arrays.stratified import share_of
from pt_reuse.data.judgments import Qrels, as_qrels, checked_rel
from pt_reuse.data.run_reading import as_runs
from pt_reuse.errors import warn
from pt_reuse.judge import as_judge
from pt_reuse.judging.session import Judged, checked_folder, field_marks, open_session, qrels_of
from pt_reuse.judging.topic_texts import TopicTexts
from pt_reuse.options import described
from pt_reuse.pooling.adaptive.chooser import Chooser, topic_lists
from pt_reuse.pooling.adaptive.strategy import as_strategy
from pt_reuse.pooling.depth import checked_depth, depth_of
from pt_reuse.pooling.pool import contributors_of
from pt_reuse.pooling.scorers import digest


@dataclass(frozen=True)
class Budget:
    """How many labels a judge may give; a document to which it gives none costs nothing."""

    per_topic: int | float | None = None
    total: int | None = None

    @classmethod
    def checked(cls, budget: Any, total: Any) -> Budget:
        """Return a user's ``budget=`` and ``total=``, or say what is wrong with them."""
        if isinstance(budget, float | np.floating):
            budget = fraction("budget", float(budget))
        elif budget is not None:
            budget = whole("budget", budget, "judgments per topic (or a share as a float)", least=0)
        return cls(budget, None if total is None else whole("total", total, "judgments in all", least=0))

    def of_pool(self, size: int) -> int:
        """Return the labels of a topic whose pool has some size; a share is rounded to the nearest, halves up."""
        if self.per_topic is None:
            return size
        if isinstance(self.per_topic, float):
            return share_of(self.per_topic, size)
        return min(self.per_topic, size)

    def most(self, of_topics: Sequence[int]) -> int:
        return sum(of_topics) if self.total is None else min(sum(of_topics), self.total)


class TopicTurns:
    """The judging of one topic: what its strategy asks, and what it is answered."""

    def __init__(self, chooser: Chooser, most: int, *, strategy: str, rel: int, known: Mapping[str, int]):
        self.qid, self.most, self.n_labels = chooser.topic.qid, most, 0
        self.answers: list[Judged] = []
        self._chooser, self._strategy, self._rel, self._known = chooser, strategy, rel, known

    def ask(self) -> Judged | None:
        """Return the document to judge; None when the budget is spent or none is left. Known ones are told at once."""
        while self.n_labels < self.most:
            document = self._chooser.next()
            if document is None:
                return None
            docno = self._chooser.topic.docnos[document]
            if docno not in self._known:
                return Judged(self.qid, docno, self.n_labels + 1, self._strategy, self._chooser.reason(document))
            self._chooser.learn(document, self._known[docno] >= self._rel)
        return None

    def learn(self, answer: Judged) -> None:
        document = self._chooser.next()
        self.answers.append(answer)
        self.n_labels += answer.has_label
        if document is not None:
            is_relevant = answer.label is not None and answer.label >= self._rel
            self._chooser.learn(document, is_relevant if answer.has_label else None)


def turn_by_turn(topics: Sequence[TopicTurns], total: int | None) -> Iterator[list[tuple[TopicTurns, Judged]]]:
    """Yield topics and what they ask; each must have learnt the answer before the next turn."""
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


@described
def judge_adaptively(
    runs: Any,
    strategy: Any,
    judge: Any,
    *,
    budget: int | float | None = None,
    total: int | None = None,
    depth: int | None = None,
    contributors: str | Iterable[str] = "pooled",
    order: str | None = None,
    rel: int | None = None,
    known: Any = None,
    topics: pd.DataFrame | None = None,
    batch_size: int | None = None,
    seed: int = 0,
    session: str | PathLike[str] | None = None,
    verbose: bool = False,
) -> Qrels:
    """Judge documents in the order of a strategy, which learns from each label.

    Topics take turns: each round asks the judge about one document of every topic that has budget and documents left. A
    budget counts labels: a document to which the judge gives none costs nothing and is not asked about again. So the
    judgments of a smaller budget are the first of a larger one.

    Args:
        strategy: the name of a strategy, a Strategy, or a subclass of Chooser.
        judge: who gives labels: a Judge, a pipeline that ends in one, a function of a frame, or judgments in any form.
        budget: labels of each topic: a whole number, or a share of the topic's pool as a float from 0.0 to 1.0, rounded
            to the nearest whole number, halves up. Default: the whole pool.
        total: labels in all; the last round may have only the first topics. Default: no such limit.
        rel: the lowest label that is relevant for a strategy; default that of the judge, else 1.
        known: existing judgments, in any form. When the strategy chooses a document with such a label (0 or more), it
            learns it at once, at no cost. They are not returned: ``known | new`` has both.
        topics: a frame with ``qid`` and what the judge reads of a topic, such as ``query``.
        batch_size: documents per call of the judge. None (default): all of a round, for a model. 1, for a person: each
            answer is saved before the next document is shown.
        session: a folder that saves each answer at once. The same call continues where the last one stopped, and gives
            the result of an uninterrupted call. The budget may differ.

    Returns:
        Qrels: the labels of the judge, of each topic in the order of asking, with the columns ``judge time strategy
        round reason``; ``round`` counts the labels of a topic from 1. Documents to which the judge gives no label are
        left out, with a warning. A label below 0 stays, but it costs nothing, and the strategy ignores it.

    Raises:
        InputError: an argument that cannot be used, a session of another field or with other arguments, or in use.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> a = pd.DataFrame({"qid": "1", "docno": ["d1", "d2"], "score": [2.0, 1.0]})
        >>> b = pd.DataFrame({"qid": "1", "docno": ["d3", "d4"], "score": [2.0, 1.0]})
        >>> runs = ptr.RunSet.from_frames({"A": a, "B": b}, pooled=True)
        >>> qrels = {"1": {"d1": 1, "d2": 1, "d3": 0, "d4": 0}}
        >>> ptr.judging.judge_adaptively(runs, "mtf", qrels, budget=3, seed=1)
        Qrels: 1 topic, 3 judgments, 2 relevant (labels 0: 1, 1: 2)
    """
    chosen, asked = as_strategy(strategy), as_judge(judge)
    limits, folder = Budget.checked(budget, total), checked_folder(session)
    texts, seed, verbose = TopicTexts(topics), checked_seed(seed), flag("verbose", verbose)
    lowest = checked_rel(rel)
    rel = lowest if lowest is not None else asked.rel
    if batch_size is not None:
        positive("batch_size", batch_size, "documents per call")
    if depth is not None:
        checked_depth(depth)
    known_labels: dict[str, dict[str, int]] = {}
    if known is not None:
        frame = as_qrels(known, "known").to_frame()
        for qid, part in frame[frame["label"] >= 0].groupby("qid", sort=False):
            known_labels[str(qid)] = dict(zip(part["docno"], part["label"].tolist(), strict=True))
    told = json.dumps(known_labels, sort_keys=True)
    n_known = sum(map(len, known_labels.values()))
    runs = as_runs(runs)
    to_depth = depth_of(runs, depth).value
    ranked = runs.in_pool_order(order)
    lists = list(topic_lists(ranked, to_depth, contributors_of(runs, contributors).runs))
    texts.check([one.qid for one in lists])
    belongs = {
        "strategy": chosen.name,
        "seed": seed,
        "depth": to_depth,
        "order": ranked.order,
        "rel": rel or 1,
        "known": f"{count(n_known, 'judgment')}, {digest(told)}" if n_known else "none",
        **field_marks(lists),
    }
    turns = [
        TopicTurns(
            chosen.start(one, seed),
            limits.of_pool(len(one)),
            strategy=chosen.name,
            rel=rel or 1,
            known=known_labels.get(one.qid, {}),
        )
        for one in lists
    ]
    most = limits.most([topic.most for topic in turns])
    with (
        open_session(folder, "session of adaptive judging", belongs, asked, texts, batch_size=batch_size) as kept,
        pt.tqdm(total=most, desc="judging", unit="d", disable=not verbose) as bar,
    ):
        for now in turn_by_turn(turns, limits.total):
            of = {topic.qid: topic for topic, _ in now}
            for answers in kept.judged([one for _, one in now]):
                for answer in answers:
                    of[answer.qid].learn(answer)
                bar.update(sum(answer.has_label for answer in answers))
    answers = [answer for topic in turns for answer in topic.answers]
    without = sum(answer.label is None for answer in answers)
    if without:
        warn(f"{count(without, 'document')} of {len(answers):,} without a label, left out; no budget is spent on them.")
    return qrels_of(answers, [one.qid for one in lists], rel)
