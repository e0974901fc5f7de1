"""Condensed lists, what is left to judge, and parts of the corpus, as steps of a pipeline."""

from __future__ import annotations

import pickle
import unittest
import warnings

import numpy as np
import pandas as pd
import pyterrier as pt
import pytest
from experiment_parts import FIELD, NAMES, QRELS, TOPICS, Retriever
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import AP, RR, P, R, Rprec, Success, nDCG

import pt_reuse as ptr
from pt_reuse.judge import Judge

RUN = pd.DataFrame(
    {
        "qid": ["1", "1", "1", "1", "2", "2"],
        "docno": ["d1", "d2", "d3", "d4", "d2", "d9"],
        "score": [4.0, 3.0, 2.0, 1.0, 7.0, 6.0],
        "rank": [0, 1, 2, 3, 0, 1],
        "text": list("abcdef"),
    }
)
JUDGED = ptr.Qrels(
    pd.DataFrame({"qid": ["1", "1", "1", "2"], "docno": ["d2", "d3", "d4", "x"], "label": [0, -1, 2, 1]})
)


def of_ft(docno):
    """Return whether a document is of one source; a function of a module goes to other processes."""
    return int(docno[1:]) % 2 == 0


@pytest.mark.parametrize(
    ("step", "kept"),
    [
        (ptr.OnlyJudged(JUDGED), [("1", "d2", 3.0, 0), ("1", "d4", 1.0, 1)]),
        (ptr.OnlyJudged(JUDGED, min_label=-1), [("1", "d2", 3.0, 0), ("1", "d3", 2.0, 1), ("1", "d4", 1.0, 2)]),
        (ptr.OnlyUnjudged(JUDGED), [("1", "d1", 4.0, 0), ("1", "d3", 2.0, 1),
                                    ("2", "d2", 7.0, 0), ("2", "d9", 6.0, 1)]),
        (ptr.OnlyUnjudged(JUDGED, min_label=-1), [("1", "d1", 4.0, 0), ("2", "d2", 7.0, 0), ("2", "d9", 6.0, 1)]),
        (ptr.OnlyDocuments(["d9", "d3"]), [("1", "d3", 2.0, 0), ("2", "d9", 6.0, 0)]),
        (ptr.OnlyDocuments(where=of_ft), [("1", "d2", 3.0, 0), ("1", "d4", 1.0, 1), ("2", "d2", 7.0, 0)]),
        (ptr.OnlyDocuments([]), []),
    ],
    ids=["judged", "judged or pooled", "unjudged", "never pooled", "names", "where", "none"],
)  # fmt: skip
def test_by_hand(step, kept):
    found = step(RUN)
    assert list(found[["qid", "docno", "score", "rank"]].itertuples(index=False, name=None)) == kept
    assert list(found.columns) == list(RUN.columns)
    assert found["rank"].dtype == RUN["rank"].dtype
    assert found.index.tolist() == list(range(len(found)))
    assert RUN["rank"].tolist() == [0, 1, 2, 3, 0, 1], "the frame that came in is as it was"
    pd.testing.assert_frame_equal(pickle.loads(pickle.dumps(step))(RUN), found)
    shuffled = RUN.sample(frac=1, random_state=3)
    again = step(shuffled).sort_values(["qid", "rank"]).reset_index(drop=True)
    pd.testing.assert_frame_equal(again, found.sort_values(["qid", "rank"]).reset_index(drop=True))
    bare = step(RUN[["qid", "docno"]])
    assert list(bare.columns) == ["qid", "docno"]
    assert len(bare) == len(found)
    empty = pd.DataFrame()
    assert step(empty) is empty
    assert list(step(RUN.iloc[:0]).columns) == list(RUN.columns)
    assert list(step(pd.DataFrame(columns=["qid", "query", "docno", "rank"])).columns) == [
        "qid", "query", "docno", "rank"
    ]  # fmt: skip


@given(st.data())
def test_judged_and_unjudged_together_are_everything(data):
    docs = [f"d{i}" for i in range(6)]
    run = {t: data.draw(st.lists(st.sampled_from(docs), unique=True)) for t in ("1", "2")}
    labels = data.draw(st.dictionaries(st.tuples(st.sampled_from(["1", "2", "3"]), st.sampled_from(docs)),
                                       st.integers(-2, 2), min_size=1))  # fmt: skip
    rows = [(t, d, float(-r), r) for t, found in run.items() for r, d in enumerate(found)]
    frame = pd.DataFrame(rows, columns=["qid", "docno", "score", "rank"])
    qrels = ptr.Qrels(
        pd.DataFrame([(t, d, label) for (t, d), label in labels.items()], columns=["qid", "docno", "label"])
    )
    judged, rest = ptr.OnlyJudged(qrels)(frame), ptr.OnlyUnjudged(qrels)(frame)
    wanted = {True: [], False: []}
    ranks = {}
    for t, d, score, _ in rows:
        is_judged = labels.get((t, d), -1) >= 0
        place = ranks[t, is_judged] = ranks.get((t, is_judged), -1) + 1
        wanted[is_judged].append((t, d, score, place))
    assert list(judged.itertuples(index=False, name=None)) == wanted[True]
    assert list(rest.itertuples(index=False, name=None)) == wanted[False]


def condensed():
    return {name: Retriever(FIELD.runs[name]) >> ptr.OnlyJudged(FIELD.qrels) for name in NAMES}


def plain():
    return {name: Retriever(FIELD.runs[name]) for name in NAMES}


PLAIN = [P @ 5, P @ 20, P(rel=2) @ 10, AP, AP(rel=2) @ 20, nDCG, nDCG @ 10, RR, R @ 10, Rprec, Success @ 3]


def test_condensed_lists_score_as_judged_only_of_ir_measures():
    wanted = [measure(judged_only=True) for measure in PLAIN]
    here = pt.Experiment(condensed(), TOPICS, QRELS, PLAIN)
    there = pt.Experiment(plain(), TOPICS, QRELS, wanted)
    for mine, theirs in zip(PLAIN, wanted, strict=True):
        np.testing.assert_allclose(here[repr(mine)], there[repr(theirs)], rtol=1e-12)
    assert (here["AP"] > pt.Experiment(plain(), TOPICS, QRELS, [AP])["AP"]).all(), "condensing does something"


def test_steps_that_cannot_be(messages):
    for make in (
        lambda: ptr.OnlyJudged(5),
        lambda: ptr.OnlyJudged(JUDGED, min_label=True),
        lambda: ptr.OnlyDocuments(),
        lambda: ptr.OnlyDocuments(["a"], where=of_ft),
        lambda: ptr.OnlyDocuments("abc"),
        lambda: ptr.OnlyDocuments(where="FT"),
        lambda: ptr.OnlyDocuments(where=lambda docno: None)(RUN),
        *(
            lambda parts=parts, depth=depth: ptr.PoolDocuments(*parts, depth=depth)
            for parts, depth in (((), 10), (("bm25",), 10), ((RUNS["lex1a"],), 10), (tuple(pipelines()), 0))
        ),
    ):
        messages.refused(make)


# PoolDocuments: the same documents as % and | of pyterrier, and as a depth pool; a pipeline step like any other

RUNS = FIELD.runs


def pipelines(names=NAMES):
    return [Retriever(RUNS[name]) for name in names]


def slow_pool(lists, depth):
    """Return {topic: [(document, best rank, runs)]} in the order of the pool, from {run: {topic: documents}}."""
    pool = {}
    for lists_of_run in lists:
        for topic, docs in lists_of_run.items():
            for rank, doc in enumerate(docs[:depth], 1):
                best, runs = pool.setdefault(topic, {}).get(doc, (rank, 0))
                pool[topic][doc] = (min(best, rank), runs + 1)
    ordered = {}
    for topic, found in pool.items():
        by_name = sorted(found, reverse=True)
        ordered[topic] = [(doc, *found[doc]) for doc in sorted(by_name, key=lambda doc: found[doc][0])]
    return ordered


DOCS = st.lists(st.sampled_from([f"d{i}" for i in range(8)]), unique=True, max_size=6)


def frame_of(lists):
    rows = [(t, d, float(-r), r) for t, docs in lists.items() for r, d in enumerate(docs)]
    return pd.DataFrame(rows, columns=["qid", "docno", "score", "rank"]).astype(
        {"qid": object, "docno": object, "score": float, "rank": "int64"}
    )


@given(
    st.lists(st.fixed_dictionaries({"1": DOCS, "2": DOCS}), min_size=1, max_size=4), st.integers(1, 7), st.booleans()
)
def test_order_best_ranks_and_runs_equal_the_slow_version(lists, depth, ranked):
    frames = [frame_of(one) if ranked else frame_of(one).drop(columns="rank") for one in lists]
    topics = pd.DataFrame({"qid": ["1", "2"], "query": ["a", "b"]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of topics without documents
        steps = [pt.apply.generic(lambda _, frame=frame: frame) for frame in frames]
        found = ptr.PoolDocuments(*steps, depth=depth)(topics)
    mine = {
        qid: list(part[["docno", "best_rank", "runs"]].itertuples(index=False, name=None))
        for qid, part in found.groupby("qid")
    }
    assert mine == slow_pool(lists, depth)
    for _, part in found.groupby("qid"):
        assert part["rank"].tolist() == list(range(len(part)))
        assert part["score"].tolist() == list(range(len(part), 0, -1))


PLAIN_RUN = RUN.drop(columns="text")
ASKED = pd.DataFrame({"qid": ["1", "2"], "query": ["a", "b"]})


def pooling(frame, depth=2):
    return ptr.PoolDocuments({"one": pt.apply.generic(lambda _: frame), "two": Retriever(PLAIN_RUN)}, depth=depth)


@pytest.mark.parametrize(
    ("topics", "place"),
    [
        (pd.concat([ASKED, ASKED]), None),
        (pd.concat([ASKED, ASKED.assign(query="c")]), None),
        (ASKED.assign(qid=["1", None]), "topics, row 1"),
        (ASKED.assign(qid=[1.0, 2.0]), "topics, row 0"),
        (ASKED.drop(columns="qid"), None),
        (pd.concat([PLAIN_RUN, PLAIN_RUN.iloc[:1]]), None),
    ],
    ids=["twice", "with two queries", "no qid", "numbers", "no column", "documents twice"],
)
def test_topics_that_would_lose_documents_are_refused(topics, place, messages):
    messages.refused(lambda: pooling(PLAIN_RUN)(topics), place=place)


def test_results_that_would_lose_documents_are_refused(messages):
    for results in (
        pd.concat([PLAIN_RUN, PLAIN_RUN.iloc[:1]]),
        PLAIN_RUN.assign(qid=["1", "1", None, "1", "2", "2"]),
        PLAIN_RUN.assign(qid=["1", "1", "1", "1", "2", "3"]),
        PLAIN_RUN.assign(rank=[0, 1, None, 3, 0, 1]),
        PLAIN_RUN.drop(columns="rank").assign(score=[0, 1, None, 3, 0, 1]),
        PLAIN_RUN.drop(columns=["rank", "score"]),
        PLAIN_RUN.drop(columns="docno"),
        None,
        {"qid": ["1"]},
    ):
        assert "'one'" in str(messages.refused(lambda results=results: pooling(results)(ASKED)))


def test_topics_without_documents_are_told():
    asked = pd.DataFrame({"qid": ["1", "9"], "query": ["a", "z"]})
    with pytest.warns(ptr.ReuseWarning, match="'9'"):
        found = ptr.PoolDocuments(pt.Transformer.from_df(PLAIN_RUN), depth=2)(asked)
    assert found["docno"].tolist() == ["d1", "d2"]


# the steps for pools and judgments are transformers as pyterrier wants them, and read like it from pool to label

STEPS = {
    "judged": lambda: ptr.OnlyJudged(FIELD.qrels),
    "unjudged": lambda: ptr.OnlyUnjudged(FIELD.qrels),
    "part of corpus": lambda: ptr.OnlyDocuments(["doc00001"]),
}


class Local(Retriever):
    """A retriever of which no documentation is looked up."""

    schematic = {"label": "lexical", "help_url": None}

    def transform_inputs(self):
        return [["qid", "query"]]


class ByName(Judge):
    """Calls documents of an even number relevant, and gives those of 9 no label."""

    def labels_of(self, pairs):
        return [None if docno.endswith("9") else int(docno[-1]) % 2 for docno in pairs["docno"]]


@pytest.fixture(autouse=True)
def offline(monkeypatch):
    """Let pyterrier look no documentation up on the network, and say nothing of its test class."""

    def reached(*_, **__):
        pytest.fail("no transformer of ours needs the network")

    monkeypatch.setenv("PT_TEST_TRANSFORMER_REPORTS", "0")
    monkeypatch.setattr("pyterrier.documentation.url_for_class", reached)


def pool():
    return ptr.PoolDocuments(Local(FIELD.runs["lex1a"]), Local(FIELD.runs["neu2a"]), depth=5)


def oracle():
    return ptr.judging.Oracle(FIELD.qrels)


WHOLE = {"pool": pool, "oracle": oracle, "all": lambda: pool() >> ByName("me")}


@pytest.mark.parametrize("make", [*STEPS.values(), *WHOLE.values()], ids=[*STEPS, *WHOLE])
def test_pyterriers_own_tests_pass(make):
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(pt.testing.transformer_test_class(make))
    outcome = unittest.TestResult()
    suite.run(outcome)
    assert outcome.testsRun >= 2
    assert not [text for _, text in [*outcome.failures, *outcome.errors]]


def test_the_query_of_pipelines_that_leave_it_out_is_that_of_the_topics():
    topics = pd.DataFrame({"qid": ["1", "2"], "query": ["one", "two"]})
    rows = [pd.DataFrame({"qid": ["1", "2"], "docno": [name] * 2, "score": 1.0, "rank": 0}) for name in "ab"]
    without, with_query = pt.Transformer.from_df(rows[0]), pt.Transformer.from_df(rows[1].merge(topics))
    for pipelines in ((without, with_query), ([without, with_query],)):
        found = ptr.PoolDocuments(*pipelines, depth=1)(topics)
        assert found[["qid", "docno", "query"]].to_numpy().tolist() == [
            ["1", "b", "one"],
            ["1", "a", "one"],
            ["2", "b", "two"],
            ["2", "a", "two"],
        ]
