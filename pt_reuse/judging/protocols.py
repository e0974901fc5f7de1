"""Protocol: what is judged first, how large batches are, when a topic goes on, and which topics are evaluated."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from pt_reuse._check import count, examples, flag, fraction, number, positive, whole
from pt_reuse.data.ordering import check_order_or_none
from pt_reuse.errors import InputError

#: how the judging of a topic stands after a round
GOES_ON, FINISHED, ABANDONED, EXHAUSTED = "goes on", "finished", "abandoned", "exhausted"
TOPIC_BUDGET, TOTAL_BUDGET = "topic budget", "total budget"


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

    def holds(self, progress: Progress) -> bool:
        """Return whether the topic with this `progress` continues."""
        return bool(self.why(progress))


@dataclass(frozen=True)
class DenseTopic(Condition):
    """A topic continues while more than a share of its judged documents is relevant.

    Example:
        >>> from pt_reuse.judging import DenseTopic, Progress
        >>> [DenseTopic(0.5).holds(Progress(asked=10, judged=10, relevant=relevant)) for relevant in (5, 6)]
        [False, True]
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
    *abandoned*; none of the conditions holds (*finished*); the topic's budget is spent (*topic budget*). The total
    budget is spent round by round, topic after topic; if it ends within a round, the current topic gets the first part
    of its batch, and this and all later topics end by the *total budget*.

    Budgets count documents that the judge was asked about, also those without a label. To simulate with judged
    documents only, give their texts as the corpus.

    Args:
        pool_depth: depth of the initial pool of ``runs=``, >= 1; None for no initial pool.
        pool_order: the order in which the runs are pooled, as of :func:`depth_pool`; None for that of the field.
        batch: documents of the first batch, >= 1.
        growth: by which share, rounded up, a batch is larger than the one before; 0 for batches of one size.
        query_seed: whether the query is one of the relevant examples from which a scorer learns.
        presumed_negatives: documents that were not judged, drawn again in each round, from which a scorer learns as if
            they were not relevant; 0 for none.
        goes_on_while: the conditions; a topic continues while one of them holds. Empty: it always continues.
        topic_budget: most documents of a topic that the judge is asked about, including the pool; None for no limit.
        total_budget: likewise of all topics together; None for no limit.
        abandon_above: the relevant density above which a topic is abandoned; None: no topic is.
        abandon_from: documents that the judge was asked about before a topic may be abandoned.
        evaluate_up_to: the highest relevant density of a topic of the evaluation set.
        evaluate_from: the lowest number of its relevant documents.
    """

    pool_depth: int | None = None
    pool_order: str | None = None
    batch: int = 20
    growth: float = 0.0
    query_seed: bool = True
    presumed_negatives: int = 100
    goes_on_while: tuple[Condition, ...] = ()
    topic_budget: int | None = None
    total_budget: int | None = None
    abandon_above: float | None = None
    abandon_from: int = 1
    evaluate_up_to: float = 1.0
    evaluate_from: int = 1

    def __post_init__(self) -> None:
        for name in ("pool_depth", "topic_budget", "total_budget"):
            if getattr(self, name) is not None:
                positive(name, getattr(self, name), "documents")
        for name, least in {"batch": 1, "abandon_from": 1, "presumed_negatives": 0, "evaluate_from": 0}.items():
            whole(name, getattr(self, name), "documents", least=least)
        check_order_or_none("pool_order", self.pool_order)
        flag("query_seed", self.query_seed)
        fraction("evaluate_up_to", self.evaluate_up_to)
        if self.abandon_above is not None:
            fraction("abandon_above", self.abandon_above)
        number("growth", self.growth)
        given = self.goes_on_while
        object.__setattr__(self, "goes_on_while", tuple(given) if isinstance(given, list | tuple) else (given,))
        if strangers := [one for one in self.goes_on_while if not isinstance(one, Condition)]:
            what = f"conditions, such as FewJudged(150), got {examples(strangers)}"
            raise InputError(f"goes_on_while must list {what}.", argument="goes_on_while")
        if not self.goes_on_while and self.topic_budget is None and self.total_budget is None:
            endless = f"{self.name} goes on until every document is judged"
            raise InputError(f"{endless}. Give topic_budget= or total_budget=.", argument="topic_budget")

    @property
    def name(self) -> str:
        """Return the name of the protocol."""
        return type(self).__name__

    def next_batch(self, batch: int | None) -> int:
        """Return the size of a batch, given that of the one before (`batch`), None for the first."""
        # a tenth of 70 is 7, not 7.000000000000001
        return self.batch if batch is None else batch + math.ceil(round(batch * self.growth, 9))

    def decide(self, progress: Progress, left: int) -> Decision:
        """Return whether a topic continues after a round: the status and why, without regard to the total budget.

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
