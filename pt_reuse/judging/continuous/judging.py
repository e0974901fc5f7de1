"""Continuous active learning: judge what a scorer takes for relevant, and learn from the labels, by a protocol."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

import pandas as pd

from pt_reuse._check import checked_seed, count, examples, flag, shown, told
from pt_reuse._errors import Argument, InputError, Option, arguments_as, door, located, warn
from pt_reuse.judging.continuous.asking import Asking, Judged
from pt_reuse.judging.continuous.classifier import TfIdf, Vectors, check_corpus, check_documents
from pt_reuse.judging.continuous.continuous_judging import ContinuousJudging
from pt_reuse.judging.continuous.initial_pool import InitialPool
from pt_reuse.judging.continuous.protocol import Protocol
from pt_reuse.judging.continuous.rounds import Rounds
from pt_reuse.judging.continuous.scorer import Scorer, digest
from pt_reuse.judging.continuous.tables import labels_table, topics_table
from pt_reuse.judging.continuous.topic_judging import TopicJudging
from pt_reuse.judging.given import as_judge
from pt_reuse.judging.journal import Heading, Journal, open_journal
from pt_reuse.judging.session import JOURNAL, checked_folder
from pt_reuse.judging.topic_texts import TopicTexts
from pt_reuse.pooling.depth import depth_pool
from pt_reuse.pooling.pool import Pool
from pt_reuse.qrels.judgments import checked_rel

#: of what the journal of a session holds
_KIND, _FORMAT = "session of continuous judging", 1


@door
def judge_continuously(
    corpus: Any,
    topics: pd.DataFrame,
    judge: Any,
    *,
    protocol: Protocol,
    runs: Any = None,
    pool: Pool | None = None,
    rel: int | None = None,
    seed: int = 0,
    session: str | PathLike[str] | None = None,
    verbose: bool = False,
) -> ContinuousJudging:
    """Judge documents that a classifier takes for relevant, round by round, each in the light of the labels before it.

    First the initial pool is judged, where the protocol has one. Then each round has one batch for every topic that
    goes on: a scorer learns from the topic's labels so far and puts its documents in order, and those are judged next
    that it puts first. After each round the protocol decides whether the topic goes on. No document is judged twice for
    a topic.

    Args:
        corpus: the documents: one dict each with ``docno`` and ``text``, such as a dataset's ``get_corpus_iter()``, or
            a frame with these columns; or a :class:`~pt_reuse.judging.Scorer`: ``ptr.judging.TfIdf`` for options of the
            features and to use them again, ``ptr.judging.Vectors`` for dense vectors, or one of your own.
        topics: a frame with ``qid`` and ``query``, and what else the judge reads of a topic; within a round they are
            judged in this order.
        judge: who gives labels: a Judge, a pipeline that ends in one, a function of a frame, or judgments in any form,
            in which labels are looked up. It gets one frame per topic and round, ``qid docno``, the columns of `topics`
            and, from a corpus of texts, ``text``.
        protocol: ``ptr.judging.TrecDL2021(...)``, ``ptr.judging.AutoTAR(...)`` or a ``ptr.judging.Protocol(...)``.
        runs: the field of which the initial pool is made, to the depth and in the order of the protocol: a RunSet, a
            dict of run name -> results, or run files, see :doc:`runs`.
        pool: the initial pool instead, any Pool. Of a topic documents of the best rank are judged first, then in the
            order of the pool.
        rel: the lowest label that is relevant; default what the judge says of itself, else 1.
        seed: decides all that is random, topic by topic; the same judgments in every process.
        session: a folder that keeps each batch as soon as the judge has labelled it. The same call goes on where the
            last one was stopped, however that ended, and ends as if it had not been.
        verbose: show a progress bar.

    Returns:
        ContinuousJudging: ``.qrels`` with provenance, ``.rounds``, ``.topics``, ``.counts()``, ``.plot()``.

    Raises:
        InputError: an argument that cannot be used; scikit-learn is not installed; a protocol with an initial pool
            without `runs` or `pool`, or the other way round; a judge that returns something else than labels; a session
            that was begun otherwise, or that somebody else has open.

    Warns:
        ReuseWarning: pooled documents that the corpus lacks, which are judged and teach the scorer nothing; pooled
            documents of other topics, which are left out; documents to which the judge gives no label.

    Example:
        >>> import pandas as pd, pt_reuse as ptr
        >>> corpus = [{"docno": f"d{n}", "text": text} for n, text in enumerate(
        ...     ["a red apple", "a green apple", "the sky", "an apple tree", "the sea", "trees by the sea"])]
        >>> topics = pd.DataFrame({"qid": ["1"], "query": ["apple"]})
        >>> qrels = {"1": {"d0": 1, "d1": 1, "d2": 0, "d3": 1, "d4": 0, "d5": 0}}
        >>> found = ptr.judge_continuously(
        ...     corpus, topics, qrels, protocol=ptr.judging.AutoTAR(topic_budget=4, presumed_negatives=2))
        >>> found.rounds[["round", "judged", "relevant", "decision"]].values.tolist()
        [[1, 1, 1, 'goes on'], [2, 3, 3, 'goes on'], [3, 4, 3, 'topic budget']]
        >>> found
        Continuous judging: 1 topic, 4 judgments, 3 relevant; 1 topic evaluated, 0.0% of the judgments wasted [...]

    Source: Cormack and Grossman 2015, Autonomy and reliability of continuous active learning for technology-assisted
    review, arXiv:1504.06868; Voorhees, Craswell and Lin 2022, Too many relevants: whither Cranfield test collections?,
    SIGIR.
    """
    _check_protocol(protocol, runs, pool)
    asked, folder, told_of = as_judge(judge), checked_folder(session), TopicTexts(topics)
    given, seed, verbose = checked_rel(rel), checked_seed(seed), flag("verbose", verbose)
    lowest = given or asked.rel or 1
    queries = queries_of(topics)
    if not isinstance(corpus, Scorer):
        check_corpus(corpus)
    if protocol.query_seed:
        check_queries(queries, corpus)
    start = _initial_pool(protocol, runs, pool)
    scorer = corpus if isinstance(corpus, Scorer) else TfIdf(corpus, keep_text=True)
    places = places_of(scorer, list(queries))
    if start is not None:
        _compare(start, places)
    belongs = {
        "protocol": protocol.name,
        **{name: value for name, value in protocol.options().items() if name not in ("topic_budget", "total_budget")},
        "scorer": scorer.fingerprint(),
        "topics": digest(*(part for qid, query in queries.items() for part in (qid, query or ""))),
        "pool": None if start is None else start.fingerprint(),
        "seed": seed,
        "rel": lowest,
    }
    rounds = Rounds(protocol, lowest)
    with _journal(folder, belongs) as journal:
        judging = [TopicJudging(qid, query, scorer, places[qid], seed) for qid, query in queries.items()]
        rounds.run(judging, start, Asking(asked, told_of, scorer.texts, journal), verbose=verbose)
    _tell_of_unlabelled(rounds.judged)
    settings = {
        "protocol": protocol.name,
        **{name: value for name, value in protocol.options().items() if value is not None},
        "goes_on_while": "; ".join(map(repr, protocol.goes_on_while)) or "always",
        "scorer": type(scorer).__name__,
        "rel": lowest,
        "seed": seed,
    }
    return ContinuousJudging(
        labels=labels_table(rounds.judged),
        rounds=rounds.table(),
        topics=topics_table(judging, rounds),
        rel=lowest,
        settings=settings,
    )


def _check_protocol(protocol: Any, runs: Any, pool: Any) -> None:
    if not isinstance(protocol, Protocol):
        raise InputError(
            Argument("protocol"),
            f" must be a protocol, such as ptr.judging.TrecDL2021(), got {told(protocol)}.",
            argument="protocol",
        )
    if runs is not None and pool is not None:
        raise InputError(
            "give the initial pool as ",
            Argument("pool"),
            ", or the ",
            Argument("runs"),
            " of which to make it, not both.",
            argument="pool",
        )
    if pool is not None and not isinstance(pool, Pool):
        raise InputError(Argument("pool"), f" must be a Pool, got {told(pool)}.", argument="pool")
    if runs is not None and protocol.pool_depth is None:
        raise InputError(
            f"{protocol.name} has no initial pool, so the runs would be of no use. Give it a ",
            Option("pool_depth", ...),
            ", or no runs.",
            argument="runs",
        )
    if runs is None and pool is None and protocol.pool_depth is not None:
        raise InputError(
            f"{protocol.name} begins with a depth-{protocol.pool_depth} pool. Give the ",
            Option("runs", ...),
            " of which to make it, or the ",
            Option("pool", ...),
            " itself.",
            argument="runs",
        )


def queries_of(topics: pd.DataFrame) -> dict[str, str | None]:
    """Return topic -> query, None where there is none; in the order of the topics."""
    qids = [str(qid) for qid in topics["qid"]]
    if not qids:
        raise InputError(Argument("topics"), " has no topic to judge.", argument="topics")
    queries = list(topics["query"]) if "query" in topics else [None] * len(qids)
    return {
        qid: query if isinstance(query, str) and query.strip() else None
        for qid, query in zip(qids, queries, strict=True)
    }


def check_queries(queries: Mapping[str, str | None], corpus: Any) -> None:
    """Raise where the query of a topic is to be an example and is not there.

    Args:
        queries: topic -> query, None where there is none.
        corpus: the documents as a user gives them: their texts, or a scorer.
    """
    lacks = corpus.lacks_query if isinstance(corpus, Scorer) else lambda qid, query: query is None
    without = [qid for qid, query in queries.items() if lacks(qid, query)]
    kind, remedy = ("text", "a column 'query'")
    if isinstance(corpus, Vectors):
        kind, remedy = ("vector", "ptr.judging.Vectors the queries of all topics, or none at all")
    if without:
        raise InputError(
            f"{count(len(without), 'topic')} without a {kind} as query: {examples(without)}. The query is the first "
            f"example of what is relevant. Give {remedy}, or take no query as an example: ",
            Option("query_seed", False),
            ".",
            argument="topics",
        )


def _initial_pool(protocol: Protocol, runs: Any, pool: Pool | None) -> InitialPool | None:
    if pool is not None:
        return InitialPool.of(pool, "initial pool")
    if protocol.pool_depth is None:
        return None
    with arguments_as(order="pool_order", depth="pool_depth"):
        made = depth_pool(runs, depth=protocol.pool_depth, order=protocol.pool_order)
    return InitialPool.of(made, f"depth-{protocol.pool_depth} pool")


def places_of(scorer: Scorer, qids: Sequence[str]) -> dict[str, Mapping[str, int]]:
    """Return topic -> document -> its position among the scorer's documents of the topic."""
    made: dict[int, tuple[Any, Mapping[str, int]]] = {}
    found = {}
    for qid in qids:
        docnos = scorer.documents(qid)
        # most scorers have the same documents for all topics; held, so that its id is its own
        if id(docnos) not in made:
            with located(f"{type(scorer).__name__}.documents, topic {shown(qid)}"):
                check_documents(docnos)
            made[id(docnos)] = (docnos, {docno: place for place, docno in enumerate(docnos.tolist())})
        found[qid] = made[id(docnos)][1]
    return found


def _compare(start: InitialPool, places: Mapping[str, Mapping[str, int]]) -> None:
    """Warn of pooled documents that are not judged, or that teach the scorer nothing, and of topics without any."""
    others = [qid for qid in start.documents if qid not in places]
    if others:
        n = sum(len(start.documents[qid]) for qid in others)
        warn(
            f"the pool has {count(n, 'document')} of {count(len(others), 'topic')} that are not judged, as they are "
            f"not among the topics given: {examples(others)}."
        )
    without = [qid for qid in places if not start.documents.get(qid)]
    if without:
        warn(
            f"{count(len(without), 'topic')} of {len(places):,} without a pooled document: {examples(without)}. They "
            "begin with what the scorer chooses."
        )
    n_pooled = sum(len(start.documents.get(qid, ())) for qid in places)
    strangers = [
        (qid, docno) for qid, known in places.items() for docno, _ in start.documents.get(qid, ()) if docno not in known
    ]
    if strangers:
        warn(
            f"{count(len(strangers), 'pooled document')} of {n_pooled:,} not among the documents of the scorer, such "
            f"as {examples(docno for _, docno in strangers[:3])}. They are judged, and teach it "
            "nothing. Has it the whole corpus?"
        )


@contextmanager
def _journal(folder: Path | None, belongs: Mapping[str, Any]) -> Iterator[Journal | None]:
    if folder is None:
        yield None
        return
    with arguments_as(path="session"):
        journal = open_journal(folder / JOURNAL, Heading(_KIND, _FORMAT, belongs))
    with journal:
        yield journal


def _tell_of_unlabelled(judged: Sequence[Judged]) -> None:
    labels = [label for batch in judged for label in batch.labels]
    without = sum(label is None for label in labels)
    if without:
        warn(f"{count(without, 'document')} of {len(labels):,} without a label, left out.")
