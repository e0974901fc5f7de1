"""judge_continuously: continuous active learning by a protocol, round by round."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import Annotated, Any

import numpy as np
import pandas as pd
import pyterrier as pt

from pt_reuse.columns import Table
from pt_reuse.data.frame_columns import in_rows
from pt_reuse.data.judgments import Qrels, checked_rel
from pt_reuse.errors import InputError, checked_seed, count, examples, flag, shown, warn
from pt_reuse.judge import as_judge
from pt_reuse.judging.protocols import GOES_ON, Decision, Progress, Protocol
from pt_reuse.judging.session import Judged, checked_folder, labels_frame, open_session
from pt_reuse.judging.topic_texts import TopicTexts
from pt_reuse.options import described
from pt_reuse.plots.bars import plot_density
from pt_reuse.plots.sheet import Axes, Place
from pt_reuse.pooling.adaptive.bandits import random_of_topic
from pt_reuse.pooling.depth import depth_pool
from pt_reuse.pooling.scorers import Scorer, TfIdf, Training, Vectors, checked_corpus, digest, places_of
from pt_reuse.result import Result

#: how the documents of a round were chosen: by the classifier
CAL = "cal"
_COUNTED = "asked judged relevant density"
_ROUNDS = f"qid round strategy {_COUNTED} batch_judged batch_relevant batch_share decision why"
_TOPICS = f"qid status evaluated rounds {_COUNTED} pool_judged pool_relevant cal_judged cal_relevant"


def _draw(result: ContinuousJudging, _: str | None, place: Place) -> Axes:
    """Draw the relevant density of each topic after each round, with lines at 1/3 and 1/2."""
    return plot_density(result.rounds, result.topics, place=place)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ContinuousJudging(Result):
    """The result of judging a collection by a protocol of continuous active learning.

    *Asked* counts documents put to the judge, *judged* those to which it gave a label of 0 or more; density is relevant
    / judged. *Wasted* are all judgments of topics outside the evaluation set, those of their pools too. In the figure a
    line per topic goes from its lowest to its highest density; a ring is the density after the first round, a large
    point that at the end.

    Attributes:
        rel: the lowest label that counts as relevant.
    """

    title, main = "Continuous judging", "counts"
    valid_for = (
        "the protocol {protocol} with the classifier {scorer}; relevant from label {rel}; the topics ended: {ended}."
    )
    not_covered = "relevant documents without a judgment."
    plots = {"density": _draw}
    columns = """
    judgments_of | Judgments of | | those of the initial pool, of CAL, all, of the evaluation set, or wasted
    topics | Topics | count | topics with at least one of them
    judgments | Judgments | count | how many
    per_topic | Per topic | count | judgments / topics, NaN where there is none
    density | Density | score | share of the judgments that is relevant, NaN where there is none
    round | Round | count | from 1, the initial pool where there is one
    strategy | Strategy | | "cal" for documents that the scorer chose, else the name of the initial pool
    asked | Asked | count | documents put to the judge so far
    batch_judged | Batch judged | count | judged documents of this round, <NA> for the initial pool
    batch_relevant | Batch relevant | count | relevant ones of them
    batch_share | Batch share | score | batch_relevant / batch_judged
    decision | Decision | | "goes on", or how the topic ended
    status | Status | | "finished", "abandoned", "exhausted" or "topic budget"
    evaluated | Evaluated | | whether the topic enters the evaluation set
    rounds | Rounds | count | how many rounds it had
    pool_judged | Judged by the pool | count | judged documents of the initial pool
    pool_relevant | Relevant by the pool | count | relevant ones of them
    cal_judged | Judged by CAL | count | judged documents that the scorer chose
    cal_relevant | Relevant by CAL | count | relevant ones of them
    time | Time | | when the label was given
    reason | Reason | | of the scorer, such as "probability .83", or "best rank 3"
    """

    table: Annotated[
        pd.DataFrame,
        Table(
            "initial pool, CAL, all, evaluation set, wasted",
            "judgments_of topics judgments per_topic relevant density",
            noun="counts",
        ),
    ]
    topics: Annotated[pd.DataFrame, Table("topic", _TOPICS, f"qid status evaluated {_COUNTED[6:]}", noun="topics")]
    rounds: Annotated[
        pd.DataFrame,
        Table("topic and round, in the order in which they were judged", _ROUNDS, "qid round judged relevant decision"),
    ]
    labels: Annotated[
        pd.DataFrame,
        Table(
            "judgment, in the order in which they were made",
            "qid docno label judge time strategy round reason",
            "qid docno label strategy round reason",
            noun="labels",
        ),
    ]
    rel: int

    @cached_property
    def qrels(self) -> Qrels:
        """Return the judgments with their provenance, the columns of `labels`; all topics are in the topic set."""
        return Qrels(self.labels, topics=self.topics["qid"], rel=self.rel if self.rel > 1 else None)

    @property
    def evaluated(self) -> Qrels:
        """Return the judgments of the evaluation set: of the topics that enter it."""
        return self.qrels.select(self.topics.loc[self.topics["evaluated"], "qid"])

    @property
    def wasted(self) -> float:
        """Return the share of the judgments that were spent on topics outside the evaluation set; 0 without any."""
        judged = self.topics["judged"]
        return float(judged[~self.topics["evaluated"]].sum() / max(int(judged.sum()), 1))

    def answers(self) -> list[str]:
        judged, relevant = int(self.topics["judged"].sum()), int(self.topics["relevant"].sum())
        pool = int(self.topics["pool_judged"].sum())
        entered = count(int(self.topics["evaluated"].sum()), "topic")
        parts = f" ({pool:,} by the pool, {judged - pool:,} by CAL)" if pool else ""
        made = f"{count(len(self.topics), 'topic')}, {count(judged, 'judgment')}{parts}, {relevant:,} relevant"
        return [f"{made}; {entered} evaluated, {self.wasted:.1%} of the judgments wasted"]


def _counts(topics: pd.DataFrame) -> pd.DataFrame:
    """Return how many judgments were made, by how they were chosen and by the fate of the topics."""
    of_set = topics["evaluated"].to_numpy(dtype=bool)
    rows = {
        "initial pool": topics[["pool_judged", "pool_relevant"]],
        "CAL": topics[["cal_judged", "cal_relevant"]],
        "all": topics[["judged", "relevant"]],
        "evaluation set": topics.loc[of_set, ["judged", "relevant"]],
        "wasted": topics.loc[~of_set, ["judged", "relevant"]],
    }
    table = pd.DataFrame(
        [(name, int((part.iloc[:, 0] > 0).sum()), *part.sum().tolist()) for name, part in rows.items()],
        columns=["judgments_of", "topics", "judgments", "relevant"],
    )
    table.insert(3, "per_topic", table["judgments"] / table["topics"].where(table["topics"] > 0))
    return table.assign(density=table["relevant"] / table["judgments"].where(table["judgments"] > 0))


class TopicJudging:
    """One topic on its way through a protocol: what is judged, what is left, which batch is next."""

    def __init__(self, qid: str, query: str | None, scorer: Scorer, places: Mapping[str, int], seed: int):
        self.qid, self.progress = qid, Progress()
        self.pooled, self.decision = Progress(), Decision(GOES_ON, "")
        self._query, self._scorer, self._places = query, scorer, places
        self._docnos = scorer.documents(qid)
        self._left = np.ones(len(self._docnos), dtype=bool)
        self._random = random_of_topic(seed, qid)
        self._ties = self._random.permutation(len(self._docnos)).astype(np.int32)
        self._examples: list[tuple[int, bool]] = []
        self._size: int | None = None

    @property
    def left(self) -> int:
        """Return how many of the scorer's documents nobody was asked about."""
        return int(self._left.sum())

    def next_batch(self, protocol: Protocol, number: int, size: int | None = None) -> list[Judged]:
        """Return the documents that the scorer puts first among those left, as many as the protocol says, or `size`."""
        if size is None:
            self._size = size = protocol.next_batch(self._size)
            size = size if protocol.topic_budget is None else min(size, protocol.topic_budget - self.progress.asked)
        free, n = np.flatnonzero(self._left), len(self._docnos)
        presumed = self._random.choice(free, size=min(protocol.presumed_negatives, len(free)), replace=False)
        examples = [*self._examples, *((place, False) for place in presumed.tolist())]
        places, relevant = np.array(examples, dtype=np.int64).reshape(-1, 2).T
        given: Any = self._scorer.fit(self.qid, self._query, Training(places, relevant.astype(bool), with_query=True))
        what = f"{type(self._scorer).__name__}.fit must return one number for each of the {n:,} documents of topic "
        what += shown(self.qid)
        if not isinstance(given, np.ndarray):
            given = in_rows(given, pd.Index(self._docnos), what, n)
        scores = np.asarray(np.ma.filled(np.ma.asanyarray(given).astype(np.float64), np.nan))
        if scores.shape != (n,) or np.isnan(scores).any():
            got = "some are NaN" if scores.shape == (n,) else f"got the shape {scores.shape}"
            raise InputError(f"{what}; {got}.")
        best = free[np.lexsort((self._ties[free], -scores[free]))[:size]]
        return [
            Judged(self.qid, docno, number, CAL, self._scorer.reason(score))
            for docno, score in zip(self._docnos[best].tolist(), scores[best].tolist(), strict=True)
        ]

    def learn(self, judged: Sequence[Judged], rel: int) -> None:
        """Take the labels of a batch, or of documents of the initial pool; `rel` is the lowest that is relevant."""
        # a label below 0 says that a document was not judged, or is junk
        labelled = [(each.docno, int(each.label or 0) >= rel) for each in judged if each.has_label]
        before, n, relevant = self.progress, len(labelled), sum(relevant for _, relevant in labelled)
        self.progress = replace(
            before, asked=before.asked + len(judged), judged=before.judged + n, relevant=before.relevant + relevant
        )
        if judged[0].strategy == CAL:
            self.progress = replace(self.progress, batches=before.batches + 1, batch_judged=n, batch_relevant=relevant)
        else:
            self.pooled = self.progress
        # a pooled document that the scorer does not know is judged, and teaches it nothing
        self._left[[self._places[document.docno] for document in judged if document.docno in self._places]] = False
        self._examples += [(self._places[docno], relevant) for docno, relevant in labelled if docno in self._places]

    def row(self, protocol: Protocol) -> dict[str, Any]:
        """Return how the topic ended, and how many judgments it has, as a row of `topics`."""
        done, pooled = self.progress, self.pooled
        return {
            "qid": self.qid,
            "status": self.decision.status,
            "evaluated": protocol.evaluated(self.decision.status, done),
            "rounds": done.batches + (pooled.asked > 0),
            **done.counted(),
            "pool_judged": pooled.judged,
            "pool_relevant": pooled.relevant,
            "cal_judged": done.judged - pooled.judged,
            "cal_relevant": done.relevant - pooled.relevant,
        }


@described
def judge_continuously(
    corpus: Any,
    topics: pd.DataFrame,
    judge: Any,
    *,
    protocol: Protocol,
    runs: Any = None,
    rel: int | None = None,
    seed: int = 0,
    session: str | PathLike[str] | None = None,
    verbose: bool = False,
) -> ContinuousJudging:
    """Judge the documents that a classifier predicts to be relevant, in rounds; it learns from all labels so far.

    First the initial pool is judged, if the protocol has one. Then each round has one batch for every topic that
    continues: a scorer learns from the topic's labels so far and ranks its documents, and the highest-ranked ones are
    judged next. After each round the protocol decides whether the topic continues.

    Args:
        corpus: the documents: one dict each with ``docno`` and ``text``, such as a dataset's ``get_corpus_iter()``, or
            a frame with these columns; or a :class:`~pt_reuse.judging.Scorer`, such as ``ptr.judging.Vectors``.
        topics: a frame with ``qid`` and ``query``, and what else the judge reads of a topic, in the order of judging.
        judge: a judge, in any form. It gets one frame per topic and round, ``qid docno``, the columns of `topics` and,
            from a corpus of texts, ``text``.
        protocol: ``ptr.judging.TrecDL2021(...)``, ``ptr.judging.AutoTAR(...)`` or a ``ptr.judging.Protocol(...)``.
        runs: the field from which the initial pool is made, to the depth and in the order of the protocol; documents of
            the best rank are judged first.
        rel: the lowest label that is relevant; default that of the judge, else 1.
        session: a folder that saves each batch as soon as the judge has labelled it. The same call continues where the
            last one stopped, and gives the result of an uninterrupted call.

    Returns:
        ContinuousJudging: ``.qrels`` with provenance, ``.table`` (counts), ``.rounds``, ``.topics``, ``.plot()``.

    Raises:
        InputError: an argument that cannot be used; scikit-learn is not installed; a protocol with an initial pool
            without `runs`, or the other way round; a session with other arguments, or one in use.

    Warns:
        ReuseWarning: pooled documents that the corpus lacks, which teach the scorer nothing; pooled documents of other
            topics, which are left out; documents to which the judge gives no label.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> corpus = [{"docno": f"d{n}", "text": text} for n, text in enumerate(
        ...     ["a red apple", "a green apple", "the sky", "an apple tree", "the sea", "trees by the sea"])]
        >>> topics = pd.DataFrame({"qid": ["1"], "query": ["apple"]})
        >>> qrels = {"1": {"d0": 1, "d1": 1, "d2": 0, "d3": 1, "d4": 0, "d5": 0}}
        >>> found = ptr.judging.judge_continuously(
        ...     corpus, topics, qrels, protocol=ptr.judging.AutoTAR(topic_budget=4, presumed_negatives=2))
        >>> found
        Continuous judging: 1 topic, 4 judgments, 3 relevant; 1 topic evaluated, 0.0% of the judgments wasted

    Source: Cormack and Grossman 2015, Autonomy and reliability of continuous active learning for technology-assisted
    review, arXiv:1504.06868; Voorhees, Craswell and Lin 2022, Too many relevants: whither Cranfield test collections?,
    SIGIR.
    """
    if not isinstance(protocol, Protocol):
        what = f"protocol must be a protocol, such as ptr.judging.TrecDL2021(), got {shown(protocol)}."
        raise InputError(what, argument="protocol")
    depth = protocol.pool_depth
    if (depth is None) != (runs is None):
        advice = "no pool. Give it no runs, or a pool_depth=." if depth is None else f"a depth-{depth} pool. Give runs."
        raise InputError(f"{type(protocol).__name__} begins with {advice}", argument="runs")
    asked, folder, topic_texts = as_judge(judge), checked_folder(session), TopicTexts(topics)
    lowest, seed, verbose = checked_rel(rel) or asked.rel or 1, checked_seed(seed), flag("verbose", verbose)
    queries = topic_texts.queries()
    checked_corpus(corpus)
    check_queries(queries, corpus)
    start, pooled = None if depth is None else f"depth-{depth} pool", dict[str, list[Judged]]()
    if start is not None:
        pool = depth_pool(runs, depth=depth, order=protocol.pool_order)
        pooled = {qid: [] for qid in pool.topics}
        best_first = pool.to_frame()[["qid", "docno", "rank"]].sort_values("rank", kind="stable")
        for qid, docno, rank in best_first.itertuples(index=False, name=None):
            pooled[qid].append(Judged(qid, docno, 1, start, f"best rank {rank:,}"))
    scorer = corpus if isinstance(corpus, Scorer) else TfIdf(corpus, keep_text=True)
    places, topic_texts.texts = places_of(scorer, list(queries)), scorer.texts
    if start is not None:
        others = [qid for qid in pooled if qid not in places]
        bare = [qid for qid in places if not pooled.get(qid)]
        if others:
            n = count(sum(len(pooled[qid]) for qid in others), "document")
            warn(f"the pool has {n} of other topics than those given, which are not judged: {examples(others)}.")
        if bare:
            n = f"{count(len(bare), 'topic')} of {len(places):,}"
            warn(f"{n} without a pooled document: {examples(bare)}. They begin with what the scorer chooses.")
        warn_of_strangers({qid: [document.docno for document in pooled.get(qid, ())] for qid in places}, places)
    options = {"protocol": type(protocol).__name__, **protocol.options()}
    parts = (part for qid, documents in pooled.items() for part in (qid, [document.docno for document in documents]))
    belongs = {
        **{name: value for name, value in options.items() if name != "topic_budget"},
        "scorer": scorer.fingerprint(),
        "topics": digest(*(part for qid, query in queries.items() for part in (qid, query or ""))),
        "pool": None if start is None else digest(*parts),
        "seed": seed,
        "rel": lowest,
    }
    judging = [TopicJudging(qid, query, scorer, places[qid], seed) for qid, query in queries.items()]
    judged, rows = list[Judged](), list[tuple[Any, ...]]()
    with (
        open_session(folder, "session of continuous judging", belongs, asked, topic_texts) as kept,
        pt.tqdm(desc="judging", unit="document", disable=not verbose) as bar,
    ):
        for number, topic, strategy, batch, pool_left in _batches(judging, start, pooled, protocol):
            if batch:
                answers = [answer for several in kept.judged(batch) for answer in several]
                judged += answers
                topic.learn(answers, lowest)
                bar.update(len(answers))
            done = topic.progress
            topic.decision = protocol.decide(done, topic.left + pool_left)
            of_batch: tuple[Any, ...] = pd.NA, pd.NA, np.nan
            if strategy == CAL:
                of_batch = done.batch_judged, done.batch_relevant, done.batch_share
            rows.append((topic.qid, number, strategy, *done.counted().values(), *of_batch, *topic.decision))
    without = sum(answer.label is None for answer in judged)
    if without:
        warn(f"{count(without, 'document')} of {len(judged):,} without a label, left out.")
    table = pd.DataFrame([topic.row(protocol) for topic in judging])
    ended = table["status"].value_counts().items()
    return ContinuousJudging(
        table=_counts(table),
        topics=table,
        rounds=pd.DataFrame(rows, columns=_ROUNDS.split()).astype({"batch_judged": "Int64", "batch_relevant": "Int64"}),
        labels=labels_frame(judged),
        rel=lowest,
        settings={
            **{name: value for name, value in options.items() if value is not None},
            "goes_on_while": "; ".join(map(repr, protocol.goes_on_while)) or "always",
            "ended": ", ".join(f"{name} {n:,}" for name, n in ended),
            "scorer": type(scorer).__name__,
            "rel": lowest,
            "seed": seed,
        },
    )


def _batches(
    topics: Sequence[TopicJudging], start: str | None, pooled: Mapping[str, Sequence[Judged]], protocol: Protocol
) -> Iterator[tuple[int, TopicJudging, str, Sequence[Judged], int]]:
    """Yield what is judged next: round, topic, strategy, documents, and how many of its pool the budget leaves out."""
    number = 1
    if start is not None:
        for topic in topics:
            documents = pooled.get(topic.qid, ())
            first = documents[: protocol.topic_budget]
            yield number, topic, start, first, len(documents) - len(first)
        number = 2
    while live := [topic for topic in topics if topic.decision.status == GOES_ON]:
        for topic in live:
            if topic.left:
                yield number, topic, CAL, topic.next_batch(protocol, number), 0
            else:
                topic.decision = protocol.decide(topic.progress, 0)
        number += 1


def check_queries(queries: Mapping[str, str | None], corpus: Any) -> None:
    """Raise where the query of a topic is to be an example and is not there."""
    lacks = corpus.lacks_query if isinstance(corpus, Scorer) else lambda qid, query: query is None
    without = [qid for qid, query in queries.items() if lacks(qid, query)]
    if without:
        kind, remedy = "text", "a column 'query'"
        if isinstance(corpus, Vectors):
            kind, remedy = "vector", "ptr.judging.Vectors the queries of all topics, or none at all"
        lacking = f"{count(len(without), 'topic')} without a {kind} as query, the first example: {examples(without)}. "
        raise InputError(f"{lacking}Give {remedy}.", argument="topics")


def warn_of_strangers(pooled: Mapping[str, Sequence[str]], places: Mapping[str, Mapping[str, int]]) -> None:
    """Warn of pooled documents of a topic that the scorer does not know."""
    strangers = [docno for qid, docnos in pooled.items() for docno in docnos if docno not in places[qid]]
    if strangers:
        some = f"{count(len(strangers), 'pooled document')} of {sum(map(len, pooled.values())):,}"
        such = examples(list(dict.fromkeys(strangers))[:3])
        warn(f"{some} not among the documents of the scorer, such as {such}: they teach it nothing. Has it all?")
