"""Protocols: what is judged first and in which batches; and judging by a strategy that learns from each label."""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyterrier as pt

from pt_reuse.arrays.prediction_powered import share_of
from pt_reuse.data.coding import check_order_or_none
from pt_reuse.data.judgments import Qrels, as_qrels, checked_rel
from pt_reuse.data.run_set import as_runs
from pt_reuse.errors import InputError, checked_seed, count, examples, flag, fraction, number, positive, warn, whole
from pt_reuse.judge import as_judge
from pt_reuse.judging.session import Judged, checked_folder, field_marks, open_session, qrels_of
from pt_reuse.judging.topic_texts import TopicTexts
from pt_reuse.options import described
from pt_reuse.pooling.adaptive.bandits import Chooser, topic_lists
from pt_reuse.pooling.adaptive.strategy import as_strategy
from pt_reuse.pooling.depth import depth_of
from pt_reuse.pooling.pool import contributors_of
from pt_reuse.pooling.scorers import digest


def check_budgets(budget: Any, total: Any) -> int | float | None:
    """Return a user's ``budget=`` of a topic, or say what is wrong with it or with ``total=``."""
    if total is not None:
        whole("total", total, "judgments in all", least=0)
    if isinstance(budget, float | np.floating):
        return fraction("budget", float(budget))
    return None if budget is None else whole("budget", budget, "judgments per topic (or a share as a float)", least=0)


def labels_within(budget: int | float | None, size: int) -> int:
    """Return the labels of a topic whose pool has some size; a share is rounded to the nearest, halves up."""
    if budget is None:
        return size
    return share_of(budget, size) if isinstance(budget, float) else min(budget, size)


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
    budget, folder = check_budgets(budget, total), checked_folder(session)
    texts, seed, verbose = TopicTexts(topics), checked_seed(seed), flag("verbose", verbose)
    lowest = checked_rel(rel)
    rel = lowest if lowest is not None else asked.rel
    if batch_size is not None:
        positive("batch_size", batch_size, "documents per call")
    known_labels: dict[str, dict[str, int]] = {}
    if known is not None:
        frame = as_qrels(known, "known").to_frame()
        for qid, part in frame[frame["label"] >= 0].groupby("qid", sort=False):
            known_labels[str(qid)] = dict(zip(part["docno"], part["label"].tolist(), strict=True))
    known_text = json.dumps(known_labels, sort_keys=True)
    n_known = sum(map(len, known_labels.values()))
    runs = as_runs(runs)
    to_depth = depth_of(runs, depth).value
    ranked = runs.in_pool_order(order)
    lists = list(topic_lists(ranked, to_depth, contributors_of(runs, contributors).runs))
    texts.check([topic.qid for topic in lists])
    belongs = {
        "strategy": chosen.name,
        "seed": seed,
        "depth": to_depth,
        "order": ranked.order,
        "rel": rel or 1,
        "known": f"{count(n_known, 'judgment')}, {digest(known_text)}" if n_known else "none",
        **field_marks(lists),
    }
    turns = [
        TopicTurns(
            chosen.start(topic, seed),
            labels_within(budget, len(topic)),
            strategy=chosen.name,
            rel=rel or 1,
            known=known_labels.get(topic.qid, {}),
        )
        for topic in lists
    ]
    most = sum(topic.most for topic in turns)
    left = most if total is None else min(most, total)
    live, of = turns, {topic.qid: topic for topic in turns}
    with (
        open_session(folder, "session of adaptive judging", belongs, asked, texts, batch_size=batch_size) as kept,
        pt.tqdm(total=left, desc="judging", unit="d", disable=not verbose) as bar,
    ):
        while live and left:
            waiting, labelled = live, set[str]()
            # until each topic has a label of this round, or no document left
            while waiting and left:
                documents = [document for topic in waiting if (document := topic.ask()) is not None]
                waiting = [of[document.qid] for document in documents]
                for answers in kept.judged(documents[:left]):
                    for answer in answers:
                        of[answer.qid].learn(answer)
                    done = {answer.qid for answer in answers if answer.has_label}
                    bar.update(len(done))
                    labelled |= done
                left -= sum(topic.qid in labelled for topic in waiting)
                waiting = [topic for topic in waiting if topic.qid not in labelled]
            live = [topic for topic in live if topic.qid in labelled]
    answers = [answer for topic in turns for answer in topic.answers]
    without = sum(answer.label is None for answer in answers)
    if without:
        warn(f"{count(without, 'document')} of {len(answers):,} without a label, left out; no budget is spent on them.")
    return qrels_of(answers, [topic.qid for topic in lists], rel)


#: how the judging of a topic stands after a round
GOES_ON, FINISHED, ABANDONED, EXHAUSTED = "goes on", "finished", "abandoned", "exhausted"
TOPIC_BUDGET = "topic budget"


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far the judging of a topic has come; of documents that the judge was asked about, each once.

    Batches are those that the scorer chose, without the initial pool.
    """

    asked: int = 0
    judged: int = 0  # those to which the judge gave a label
    relevant: int = 0
    batches: int = 0
    batch_judged: int = 0  # of the last batch
    batch_relevant: int = 0

    @property
    def density(self) -> float:
        """Return the relevant density, the share of the judged documents that is relevant; 0 where none is judged."""
        return self.relevant / max(self.judged, 1)

    @property
    def batch_share(self) -> float:
        """Return the share of the last batch's judged documents that is relevant; 0 where none is judged."""
        return self.batch_relevant / max(self.batch_judged, 1)

    def counted(self) -> dict[str, float]:
        """Return ``asked judged relevant density``, the density NaN where none is judged."""
        density = self.density if self.judged else math.nan
        return {"asked": self.asked, "judged": self.judged, "relevant": self.relevant, "density": density}


def short(share: float) -> str:
    """Write a share with three decimals at most: ``.62``, ``.503``, ``1``."""
    text = f"{share:.3f}".rstrip("0").rstrip(".")
    return text[1:] if text.startswith("0.") else text


@dataclass(frozen=True)
class Condition(ABC):
    """A condition for judging more documents of a topic.

    One of your own is a frozen dataclass with the method :meth:`why`.
    """

    @abstractmethod
    def why(self, progress: Progress) -> str:
        """Return in a few words why a topic with this `progress` continues; an empty text if it does not."""


@dataclass(frozen=True)
class DenseTopic(Condition):
    """A topic continues while more than a share of its judged documents is relevant.

    Example:
        >>> from pt_reuse.judging import DenseTopic, Progress
        >>> [DenseTopic(0.5).why(Progress(asked=10, judged=10, relevant=relevant)) for relevant in (5, 6)]
        ['', 'density .6 > .5']
    """

    above: float = 0.5

    def __post_init__(self) -> None:
        fraction("above", self.above)

    def why(self, progress: Progress) -> str:
        return f"density {short(progress.density)} > {short(self.above)}" if progress.density > self.above else ""


@dataclass(frozen=True)
class FewJudged(Condition):
    """A topic continues until the judge was asked about `below` of its documents.

    Documents to which the judge gives no label count, too.
    """

    below: int = 150

    def __post_init__(self) -> None:
        positive("below", self.below, "documents")

    def why(self, progress: Progress) -> str:
        return f"{count(progress.asked, 'document')} < {self.below:,}" if progress.asked < self.below else ""


@dataclass(frozen=True)
class NoBatchYet(Condition):
    """A topic continues until one batch of the scorer was judged.

    So no topic has only its initial pool.
    """

    def why(self, progress: Progress) -> str:
        return "" if progress.batches else "no batch yet"


@dataclass(frozen=True)
class FruitfulBatch(Condition):
    """A topic continues while a share `above` of its last batch is relevant.

    Of the first `early_batches` batches it is the share `early_above`.
    """

    above: float = 0.2
    early_above: float = 0.1
    early_batches: int = 2

    def __post_init__(self) -> None:
        fraction("above", self.above)
        fraction("early_above", self.early_above)
        whole("early_batches", self.early_batches, "batches", least=0)

    def why(self, progress: Progress) -> str:
        limit = self.early_above if progress.batches <= self.early_batches else self.above
        fruitful = progress.batches > 0 and progress.batch_share > limit
        return f"last batch {short(progress.batch_share)} > {short(limit)}" if fruitful else ""


class Decision(NamedTuple):
    """What a protocol decides of a topic after a round: how it stands, and why."""

    status: str
    why: str


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """How a collection is judged: an initial pool, then batches that a scorer chooses, until a topic ends.

    After each round a topic ends by the first of these that applies: no document is left (*exhausted*); it is
    *abandoned*; none of the conditions holds (*finished*); the topic's budget is spent (*topic budget*).

    The query is one of the relevant examples from which a scorer learns. The budget counts documents that the judge was
    asked about, also those without a label. To simulate with judged documents only, give their texts as the corpus.

    Args:
        pool_depth: depth of the initial pool of ``runs=``, >= 1; None for no initial pool.
        pool_order: the order in which the runs are pooled, as of :func:`depth_pool`; None for that of the field.
        batch: documents of the first batch, >= 1.
        growth: by which share, rounded up, a batch is larger than the one before; 0 for batches of one size.
        presumed_negatives: documents that were not judged, drawn again in each round, from which a scorer learns as if
            they were not relevant; 0 for none.
        goes_on_while: the conditions; a topic continues while one of them holds. Empty: it always continues.
        topic_budget: most documents of a topic that the judge is asked about, including the pool; None for no limit.
        abandon_above: the relevant density above which a topic is abandoned; None: no topic is.
        abandon_from: documents that the judge was asked about before a topic may be abandoned.
        evaluate_up_to: the highest relevant density of a topic of the evaluation set.
        evaluate_from: the lowest number of its relevant documents.
    """

    pool_depth: int | None = None
    pool_order: str | None = None
    batch: int = 20
    growth: float = 0.0
    presumed_negatives: int = 100
    goes_on_while: tuple[Condition, ...] = ()
    topic_budget: int | None = None
    abandon_above: float | None = None
    abandon_from: int = 1
    evaluate_up_to: float = 1.0
    evaluate_from: int = 1

    def __post_init__(self) -> None:
        for name in ("pool_depth", "topic_budget"):
            if getattr(self, name) is not None:
                positive(name, getattr(self, name), "documents")
        for name, least in {"batch": 1, "abandon_from": 1, "presumed_negatives": 0, "evaluate_from": 0}.items():
            whole(name, getattr(self, name), "documents", least=least)
        check_order_or_none("pool_order", self.pool_order)
        fraction("evaluate_up_to", self.evaluate_up_to)
        if self.abandon_above is not None:
            fraction("abandon_above", self.abandon_above)
        number("growth", self.growth)
        given = self.goes_on_while
        object.__setattr__(self, "goes_on_while", tuple(given) if isinstance(given, list | tuple) else (given,))
        if strangers := [condition for condition in self.goes_on_while if not isinstance(condition, Condition)]:
            what = f"conditions, such as FewJudged(150), got {examples(strangers)}"
            raise InputError(f"goes_on_while must list {what}.", argument="goes_on_while")
        if not self.goes_on_while and self.topic_budget is None:
            endless = f"{type(self).__name__} goes on until every document is judged"
            raise InputError(f"{endless}. Give topic_budget=.", argument="topic_budget")

    def next_batch(self, batch: int | None) -> int:
        """Return the size of a batch, given that of the one before (`batch`), None for the first."""
        # a tenth of 70 is 7, not 7.000000000000001
        return self.batch if batch is None else batch + math.ceil(round(batch * self.growth, 9))

    def decide(self, progress: Progress, left: int) -> Decision:
        """Return whether a topic continues after a round: the status and why.

        Its `progress` says how far it has come, `left` how many documents it has that were not judged.
        """
        if left == 0:
            return Decision(EXHAUSTED, "no document left")
        above = self.abandon_above
        if above is not None and progress.density > above and progress.asked >= self.abandon_from:
            return Decision(ABANDONED, f"density {short(progress.density)} > {short(above)}")
        holding = list(filter(None, [condition.why(progress) for condition in self.goes_on_while]))
        if self.goes_on_while and not holding:
            return Decision(FINISHED, "no condition holds")
        if self.topic_budget is not None and progress.asked >= self.topic_budget:
            return Decision(TOPIC_BUDGET, f"{progress.asked:,} of {self.topic_budget:,} documents")
        return Decision(GOES_ON, "; ".join(holding))

    def evaluated(self, status: str, progress: Progress) -> bool:
        """Return whether a topic that ended in a `status`, at a `progress`, enters the evaluation set."""
        in_bounds = progress.density <= self.evaluate_up_to and progress.relevant >= self.evaluate_from
        return status != ABANDONED and progress.judged > 0 and in_bounds

    def options(self) -> dict[str, Any]:
        """Return every option and its value, conditions as texts; for display, and to tell protocols apart."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {**values, "goes_on_while": [repr(condition) for condition in self.goes_on_while]}


@dataclass(frozen=True, kw_only=True)
class AutoTAR(Protocol):
    """Continuous active learning up to a budget: batches of 1, 2, 3 and so on documents, a tenth more each time.

    The query is the first relevant example; 100 random documents in each round are presumed not relevant. Only a budget
    stops a topic. Arguments are those of :class:`Protocol`.

    Example:
        >>> from pt_reuse.judging import AutoTAR
        >>> protocol, sizes = AutoTAR(topic_budget=100), [None]
        >>> for _ in range(14):
        ...     sizes.append(protocol.next_batch(sizes[-1]))
        >>> sizes[1:]
        [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17]

    Source: Cormack and Grossman 2015, Autonomy and reliability of continuous active learning for technology-assisted
    review, arXiv:1504.06868. There the classifier is a support vector machine; here the scorer decides.
    """

    batch: int = 1
    growth: float = 0.1


@dataclass(frozen=True, kw_only=True)
class TrecDL2021(Protocol):
    """The protocol of the TREC Deep Learning track of 2021: a depth-10 pool in file order, then CAL rounds of 20.

    A topic continues while its relevant density is above 1/2, or fewer than 150 of its documents were judged, or no
    batch was judged after the pool, or more than 20% of the last batch (10% early on) was relevant.

    The paper leaves some choices open; here *early on* means the first two batches of a topic; a topic is *abandoned*
    when 150 of its documents were judged and more than 3/4 of those are relevant; a topic's *budget* is 350 documents;
    a density is *small enough* for the evaluation set up to 3/4. The published judgments of the track would not have
    been cut by these limits. Arguments are those of :class:`Protocol`.

    Example:
        >>> from pt_reuse.judging import Progress, TrecDL2021
        >>> TrecDL2021().decide(Progress(asked=140, judged=140, relevant=84), left=500).why
        'density .6 > .5; 140 documents < 150; no batch yet'

    Source: Voorhees, Craswell and Lin 2022, Too many relevants: whither Cranfield test collections?, SIGIR.
    """

    pool_depth: int | None = 10
    pool_order: str | None = "file"
    batch: int = 20
    goes_on_while: tuple[Condition, ...] = (DenseTopic(), FewJudged(), NoBatchYet(), FruitfulBatch())
    topic_budget: int | None = 350
    abandon_above: float | None = 0.75
    abandon_from: int = 150
    evaluate_up_to: float = 0.75
    evaluate_from: int = 3
