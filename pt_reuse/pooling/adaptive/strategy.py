"""The strategies by name, one with its options, and the pool that it makes where judgments are known."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd
import pyterrier as pt
from numpy.typing import NDArray

from pt_reuse.arrays import tokens
from pt_reuse.data.judgments import Qrels, as_qrels, checked_rel, relevant_from
from pt_reuse.data.run_set import RunSet, as_runs_before
from pt_reuse.errors import InputError, checked_seed, count, did_you_mean, examples, flag, shown, whole
from pt_reuse.pooling.adaptive import bandits
from pt_reuse.pooling.adaptive.bandits import (
    Chooser,
    Hedge,
    MinimalTestCollection,
    TopicLists,
    lists_of_topic,
    random_of_topic,
)
from pt_reuse.pooling.depth import check_pooling, depth_of, pool_to_depth, rows_in_order, settings_of
from pt_reuse.pooling.fit import MOSTLY
from pt_reuse.pooling.pool import Pool, contributors_of
from pt_reuse.scoring.caveats import Caveat, grade_unstated, noted, tell

#: name -> chooser; those that learn from labels first, then those whose order is fixed
CHOOSERS: dict[str, type[Chooser]] = {
    kind.name: kind
    for kind in (
        bandits.MoveToFront,
        bandits.MaxMean,
        bandits.NonStationaryMaxMean,
        bandits.EpsilonGreedy,
        bandits.UCB1Tuned,
        bandits.Thompson,
        Hedge,
        MinimalTestCollection,
        bandits.RankOrder,
        bandits.ReciprocalRanks,
        bandits.RankBiased,
        bandits.CombSum,
        bandits.CombMnz,
        bandits.Borda,
        bandits.RandomOrder,
    )
}


class Strategy:
    """A rule that chooses the next document to judge, with its options.

    Args:
        kind: its name, such as ``"hedge"``, or a chooser of your own, a subclass of :class:`~pt_reuse.pools.Chooser`.
        **options: keyword arguments of the chooser, such as ``epsilon=0.2``.

    Attributes:
        kind: the chooser.
        options: as given.

    Raises:
        InputError: an unknown name, something that is no chooser, or an unknown or invalid option.

    Example:
        >>> import pt_reuse as ptr
        >>> ptr.pools.Strategy("epsilon-greedy", epsilon=0.2)
        Strategy(epsilon-greedy(epsilon=0.2))
    """

    def __init__(self, kind: str | type[Chooser], **options: Any):
        self.kind = _chooser(kind)
        self.options: Mapping[str, Any] = dict(options)
        known = options_of(self.kind)
        needed = [name for name, default in known.items() if default is inspect.Parameter.empty]
        wrong = [*(name for name in options if name not in known), *(name for name in needed if name not in options)]
        if wrong:
            what = f"needs its option {wrong[0]!r}" if wrong[0] in known else f"has no option {wrong[0]!r}"
            there = f"there is {examples(known, 12)}" if known else "it has none"
            raise InputError(f"strategy {self.kind.name!r} {what}; {there}.", argument=wrong[0])
        # what a chooser takes its own constructor says: ask it before any run is read
        self.start(TopicLists.of("1", {"run": ["d"]}), seed=0)

    @property
    def name(self) -> str:
        """Return the chooser's name and the options that were given: ``epsilon-greedy(epsilon=0.1)``."""
        options = ", ".join(f"{name}={value!r}" for name, value in self.options.items())
        return f"{self.kind.name}({options})" if options else self.kind.name

    def start(self, topic: TopicLists, seed: int) -> Chooser:
        """Return a chooser for the lists of a `topic`; its id and the `seed` decide all that is random.

        The runs are tried in a random order, so that neither name nor place in the field gives a run an advantage.
        """
        random = random_of_topic(seed, topic.qid)
        by_name = np.array(sorted(range(topic.n_runs), key=topic.names.__getitem__), dtype=np.int64)
        return self.kind(topic.in_order(by_name[random.permutation(topic.n_runs)]), random, **self.options)

    def __repr__(self) -> str:
        return f"Strategy({self.name})"


def as_strategy(strategy: str | Strategy | type[Chooser], argument: str = "strategy") -> Strategy:
    """Return a strategy as it is, or the one of a name or chooser, with its defaults."""
    if isinstance(strategy, Strategy):
        return strategy
    return Strategy(_chooser(strategy, argument))


def _chooser(kind: str | type[Chooser], argument: str = "kind") -> type[Chooser]:
    if isinstance(kind, str) and kind in CHOOSERS:
        return CHOOSERS[kind]
    if not (inspect.isclass(kind) and issubclass(kind, Chooser)):
        near = did_you_mean(kind, CHOOSERS) if isinstance(kind, str) else ""
        names = examples(CHOOSERS, len(CHOOSERS))
        why = f" must be the name of a strategy, one of {names}, or a subclass of Chooser, got {shown(kind)}.{near}"
    elif inspect.isabstract(kind):
        lacking = examples(sorted(kind.__abstractmethods__), 12)
        why = f": the chooser {kind.__name__} lacks the methods {lacking}. Define them."
    elif not isinstance(getattr(kind, "name", None), str):
        why = f": the chooser {kind.__name__} has no name. Give its class the attribute name, a text."
    else:
        return kind
    raise InputError(f"{argument}{why}", argument=argument)


def options_of(kind: type[Chooser]) -> dict[str, Any]:
    """Return the options of a chooser and their defaults."""
    parameters = inspect.signature(kind).parameters.values()
    return {one.name: one.default for one in parameters if one.kind is inspect.Parameter.KEYWORD_ONLY}


def judged_in_order(
    strategy: Strategy, topic: TopicLists, relevant: NDArray[np.int8], *, seed: int, budget: int
) -> NDArray[np.int64]:
    """Return (judged,) the documents that get a label, in the order of judging; see :func:`judging`."""
    return np.fromiter(islice(judging(strategy.start(topic, seed), relevant), budget), dtype=np.int64)


def judging(chooser: Chooser, relevant: NDArray[np.int8]) -> Iterator[int]:
    """Yield the documents that get a label, each before the chooser learns it; (documents,) 1, 0, or -1 for none."""
    known: list[bool | None] = [None if label < 0 else bool(label) for label in relevant.tolist()]
    while (document := chooser.next()) is not None:
        label = known[document]
        if label is not None:
            yield document
        chooser.learn(document, label)


@dataclass(frozen=True)
class OracleTopic:
    """The lists of a topic, and of each document its row in the judgments or -1, and 1 relevant, 0 not, -1 unknown."""

    lists: TopicLists
    row: NDArray[np.int64]
    relevant: NDArray[np.int8]

    @cached_property
    def n_judged(self) -> int:
        return int((self.relevant >= 0).sum())

    @property
    def n_relevant(self) -> int:
        return int((self.relevant > 0).sum())


@dataclass(frozen=True)
class OracleTopics:
    """Judgments that are known, and the field, in the order of pooling, of which (runs,) make the pool."""

    ranked: RunSet
    qrels: Qrels
    depth: int
    rel: int
    contributing: NDArray[np.bool_]

    def topic(self, qid: str, without: NDArray[np.bool_] | None = None) -> OracleTopic | None:
        """Return one topic, `without` some (runs,); None where no run has it or no judgments are of it."""
        t, documents = self.ranked.field.topic_row.get(qid), self.qrels.arrays.documents
        if t is None or qid not in documents.place:
            return None
        contributing = self.contributing if without is None else self.contributing & ~without
        lists = lists_of_topic(self.ranked, t, self.depth, contributing)
        here = documents.rows(documents.place[qid])
        row = np.full(len(lists), -1, dtype=np.int64)
        if len(lists) and here.stop > here.start:
            found = tokens.match(tokens.as_words(tokens.encode(lists.docnos)), documents.words[here])
            row = np.where(found >= 0, found + here.start, -1)
        labels = np.append(self.qrels.arrays.labels, np.int16(-1))[row]
        return OracleTopic(lists, row, np.where(labels < 0, -1, labels >= self.rel).astype(np.int8))


def check_some_judged(topics: Sequence[OracleTopic | None]) -> None:
    """Raise unless a document of the pool is judged, on one topic at least."""
    if not any(topic is not None and topic.n_judged for topic in topics):
        raise InputError(
            f"no document of the pool is judged, on none of {count(len(topics), 'topic')}. Are these the qrels of "
            "these runs, and are the contributing runs the ones that were pooled?",
            argument="qrels",
        )


def caveats_of(topics: Sequence[OracleTopic | None], rel: int) -> Iterator[Caveat]:
    """Yield caveats of a pool on which strategies are tried: all of it relevant, most of it without a label."""
    known = [topic for topic in topics if topic is not None]
    judged, relevant = sum(topic.n_judged for topic in known), sum(topic.n_relevant for topic in known)
    pooled = sum(len(topic.lists) for topic in known)
    if judged == relevant:
        yield Caveat(
            "every judged document of the pool is relevant",
            f"every judged document of the pool, {judged:,}, has a label of at least {rel}. A document without a "
            "label costs nothing, so all strategies find alike.",
        )
    if pooled - judged > MOSTLY * pooled:
        share = f"{1 - judged / pooled:.0%}"
        yield Caveat(
            f"{share} of the pool has no label",
            f"{pooled - judged:,} of the {pooled:,} pooled documents ({share}) have no label of at least 0, and cost "
            "nothing here. infer_pool(runs, qrels) says which runs and which depth fit the judgments.",
        )


def adaptive_pool(
    runs: Any,
    qrels: Any,
    strategy: Any,
    n: int,
    *,
    depth: int | None = None,
    contributors: str | Iterable[str] = "pooled",
    order: str | None = None,
    rel: int | None = None,
    seed: int = 0,
    verbose: bool = False,
) -> Pool:
    """Pool the first `n` documents of each topic that a strategy has judged, where known judgments answer it.

    A document without a label of at least 0 gets no answer, costs nothing and is not in the pool. The documents stand
    in the order of judging, with ``round`` (the place in it, from 1) and ``reason`` (why the strategy chose it).
    """
    chosen, size = as_strategy(strategy), whole("n", n, "documents", least=0)
    check_pooling(depth, order)
    checked_rel(rel)
    seed, verbose = checked_seed(seed), flag("verbose", verbose)
    runs, qrels = as_runs_before(runs, qrels)
    qrels = as_qrels(qrels)
    common, lowest = depth_of(runs, depth).value, relevant_from(qrels, rel)
    contributing = contributors_of(runs, contributors)
    ranked = runs.in_pool_order(order)
    oracle = OracleTopics(ranked, qrels, common, lowest, contributing.runs)
    topics = [oracle.topic(qid) for qid in ranked.topics]
    check_some_judged(topics)
    caveats = [*grade_unstated(qrels, rel), *caveats_of(topics, lowest)]
    tell(caveats)
    pool = pool_to_depth(ranked, common, contributing)
    # the lists of a topic number its documents in this order, too
    by_rank, starts = rows_in_order(pool, [pool.entries.best_rank]), pool.documents.starts.tolist()
    rows, round_, reason = [np.zeros(0, dtype=np.int64)], np.zeros(len(pool), dtype=np.int64), [""] * len(pool)
    for t, topic in enumerate(pt.tqdm(topics, desc="judging", unit="topic", disable=not verbose)):
        if topic is None:
            continue
        chooser = chosen.start(topic.lists, seed)
        for place, document in enumerate(islice(judging(chooser, topic.relevant), size), 1):
            row = by_rank[starts[t] + document]
            rows.append(row[None])
            round_[row], reason[row] = place, chooser.reason(document)
    columns = pd.DataFrame({"round": round_, "reason": pd.Series(reason, dtype=object)})
    own = {"n": size, "per": "topic", "depth": common, "relevant": f"label of at least {lowest}", "seed": seed}
    settings = settings_of(chosen.name, ranked, contributing, {**own, **noted(caveats)})
    return pool.take(np.concatenate(rows), columns=columns, strategy=chosen.name, settings=settings)
