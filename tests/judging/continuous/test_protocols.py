"""Conditions, decisions and batches of protocols by hand; what scorers make of texts, vectors and labels."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from cal_parts import CORPUS, LABELS, TOPICS, Hashed
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

import pt_reuse as ptr
from pt_reuse.judging import protocols
from pt_reuse.judging.protocols import (
    AutoTAR,
    DenseTopic,
    FruitfulBatch,
    Progress,
    Protocol,
    TrecDL2021,
)
from pt_reuse.pooling.scorers import TfIdf, Training, Vectors


def at(judged=200, relevant=0, batches=1, batch=(20, 0), asked=None):
    done = {"asked": judged if asked is None else asked, "judged": judged, "relevant": relevant, "batches": batches}
    return Progress(**done, batch_judged=batch[0], batch_relevant=batch[1])


def test_a_topic_is_dense_above_one_half_and_not_at_it():
    assert not DenseTopic().why(at(judged=100, relevant=50))
    assert DenseTopic().why(at(judged=100, relevant=51))
    assert DenseTopic(0.25).why(at(judged=100, relevant=26))
    assert DenseTopic().why(at(judged=200, relevant=101)) == "density .505 > .5"


def test_a_batch_is_fruitful_above_a_fifth_and_at_first_above_a_tenth():
    fruitful = {(1, 2): False, (1, 3): True, (2, 3): True, (3, 3): False, (3, 4): False, (3, 5): True, (0, 20): False}
    for (batches, relevant), goes_on in fruitful.items():
        assert bool(FruitfulBatch().why(at(batches=batches, batch=(20, relevant)))) is goes_on
    assert not FruitfulBatch(early_batches=0).why(at(batches=1, batch=(20, 4)))


def test_what_the_track_of_2021_decides():
    for progress, left, status in (
        (at(), 0, protocols.EXHAUSTED),
        (at(judged=150, relevant=113), 5, protocols.ABANDONED),
        (at(judged=149, relevant=149), 5, protocols.GOES_ON),
        (at(judged=150, relevant=112), 5, protocols.GOES_ON),
        (at(judged=350, relevant=10, batches=9), 5, protocols.FINISHED),
        (at(judged=350, relevant=200, batches=9), 5, protocols.TOPIC_BUDGET),
        (at(judged=349, relevant=200, batches=9), 5, protocols.GOES_ON),
        (at(judged=200, batches=0), 5, protocols.GOES_ON),
    ):
        assert TrecDL2021().decide(progress, left).status == status


def test_which_topics_enter_the_evaluation_set():
    protocol = TrecDL2021()
    assert protocol.evaluated(protocols.FINISHED, at(relevant=3))
    assert not protocol.evaluated(protocols.FINISHED, at(relevant=2))
    assert protocol.evaluated(protocols.TOPIC_BUDGET, at(relevant=150))
    assert not protocol.evaluated(protocols.TOPIC_BUDGET, at(relevant=151))
    assert not protocol.evaluated(protocols.ABANDONED, at(relevant=100))
    assert not Protocol(topic_budget=1, evaluate_from=0).evaluated(protocols.TOPIC_BUDGET, Progress())


def test_batches_of_one_size_and_growing_ones():
    assert TrecDL2021().next_batch(None) == TrecDL2021().next_batch(20) == 20
    # Cormack and Grossman 2015: B grows by ceil(B / 10)
    size, expected = None, 1
    for _ in range(60):
        size = AutoTAR(topic_budget=9).next_batch(size)
        assert size == expected
        expected += -(-expected // 10)
    assert size > 500


def test_options_that_are_none(messages):
    below = dict.fromkeys(("presumed_negatives", "topic_budget", "evaluate_from", "growth", "evaluate_up_to"), -0.1)
    zero = dict.fromkeys(("pool_depth", "abandon_from"), 0)
    odd = {"pool_order": "best", "batch": 2.5, "goes_on_while": ("few",), "abandon_above": 1.5}
    for argument, value in {**below, **zero, **odd}.items():
        messages.refused(lambda given={argument: value}: TrecDL2021(**given), argument=argument)


TEXTS = [doc["text"] for doc in CORPUS]
TAR = AutoTAR(topic_budget=6, pool_depth=10)


def training(documents, relevant, *, with_query=True):
    return Training(np.array(documents, dtype=np.int64), np.array(relevant, dtype=bool), with_query)


def test_features_are_those_of_scikit_learn():
    scorer = TfIdf(CORPUS)
    expected = TfidfVectorizer(sublinear_tf=True).fit_transform(TEXTS)
    assert (scorer.features != expected).nnz == 0
    assert scorer.docnos.tolist() == [doc["docno"] for doc in CORPUS]
    assert scorer.texts is None
    assert TfIdf(CORPUS, keep_text=True).texts == {doc["docno"]: doc["text"] for doc in CORPUS}


def test_where_nothing_is_relevant_chance_decides():
    scorer = TfIdf(CORPUS)
    assert not scorer.fit("1", None, training([3, 4], [False, False])).any()
    assert not scorer.fit("1", None, training([], [])).any()


def test_where_all_is_relevant_the_most_similar_are_first():
    scorer = TfIdf(CORPUS)
    scores = scorer.fit("1", "kara", training([], []))
    likeness = (scorer.features @ scorer.features_of_query("1", "kara").T).toarray().ravel()
    order = np.argsort(-likeness, kind="stable")
    assert (np.diff(scores[order]) <= 1e-12).all()
    assert scores.max() > scores.min()


def test_vectors_from_a_mapping_or_an_array():
    random = np.random.default_rng(1)
    vectors, query = random.normal(size=(20, 6)), random.normal(size=6)
    names = [f"d{i}" for i in range(20)]
    one = Vectors(dict(zip(names, vectors, strict=True)), queries={"1": query})
    two = Vectors(names, vectors.astype(np.float32), queries={"1": query})
    rows, relevant = [1, 2, 3, 4], [True, False, False, True]
    model = LogisticRegression(tol=1e-10, max_iter=10_000)
    for with_query in (True, False):
        extra = [query] if with_query else []
        model.fit([*extra, *vectors[rows]], [*[True] * with_query, *relevant])
        for scorer in (one, two):
            given = scorer.fit("1", None, training(rows, relevant, with_query=with_query))
            assert np.allclose(given, model.decision_function(vectors), atol=1e-4)
    assert np.allclose(
        one.fit("2", "text", training(rows, relevant)), one.fit("2", None, training(rows, relevant, with_query=False))
    )


def test_a_corpus_that_is_none(messages):
    text = {"docno": "a", "text": "some text"}
    for corpus in ("corpus.jsonl", text, [{"docno": "a"}], [text, "b"], [{**text, "docno": 7}], []):
        messages.refused(lambda corpus=corpus: TfIdf(corpus), argument="corpus")
    messages.refused(lambda: TfIdf([CORPUS[0], CORPUS[1], CORPUS[0]]))
    messages.refused(lambda: TfIdf(CORPUS, keep_text="yes"), argument="keep_text")


FIELD = ptr.demo.simulate_field(seed=7, n_topics=3, n_docs=40, n_teams=4, length=8, depth=3)


def test_pools_that_do_not_fit(messages):
    rows = [("1", "d1", 2.0), ("1", "elsewhere", 1.0), ("7", "d2", 2.0), ("7", "d3", 1.0)]
    runs = ptr.RunSet.from_frames({"one": pd.DataFrame(rows, columns=["qid", "docno", "score"])}, pooled=True)
    judge = ptr.judging.Oracle(LABELS, unknown="not relevant")
    found = messages.warned(
        lambda: ptr.judging.judge_continuously(CORPUS, TOPICS, judge, protocol=TAR, runs=runs), times=3
    )
    assert found.topics["qid"].tolist() == TOPICS["qid"].tolist()
    assert found.labels.loc[found.labels["strategy"] == "depth-10 pool", "docno"].tolist() == ["d1", "elsewhere"]
    assert found.labels["docno"].tolist().count("elsewhere") == 1
    assert (found.topics["asked"] == 6).all()


def test_pooled_documents_of_the_best_rank_are_judged_first():
    scorer = Hashed(dict.fromkeys(FIELD.runs.topics, 0))
    topics = pd.DataFrame({"qid": FIELD.runs.topics})
    with pytest.warns(ptr.ReuseWarning, match="not among the documents of the scorer"):
        found = ptr.judging.judge_continuously(
            scorer, topics, FIELD.qrels, protocol=TrecDL2021(pool_depth=2, topic_budget=5), runs=FIELD.runs
        )
    pool = ptr.depth_pool(FIELD.runs, depth=2, order="file").to_frame().sort_values("rank", kind="stable")
    for qid, part in found.labels.groupby("qid"):
        expected = pool[pool["qid"] == qid].head(5)
        assert part["docno"].tolist() == expected["docno"].tolist()
        assert part["reason"].tolist() == [f"best rank {rank}" for rank in expected["rank"]]
        assert set(part["strategy"]) == {"depth-2 pool"}


def test_scores_are_the_logits_of_scikit_learn():
    scorer, rows, relevant = TfIdf(CORPUS), [5, 8, 1, 40, 33], [True, False, True, False, False]
    given = scorer.fit("1", "kara miti", training(rows, relevant))
    vectorizer = TfidfVectorizer(sublinear_tf=True)
    matrix = vectorizer.fit_transform(TEXTS).toarray()
    examples = np.vstack([vectorizer.transform(["kara miti"]).toarray(), matrix[rows]])
    model = LogisticRegression(tol=1e-10, max_iter=10_000).fit(examples, [True, *relevant])
    assert np.allclose(given, model.decision_function(matrix), atol=1e-4)
    assert [scorer.reason(score)[-3:] for score in (0.0, 5.0, -1.5)] == [".50", ".99", ".18"]
    without = scorer.fit("1", "kara miti", training(rows, relevant, with_query=False))
    assert not np.allclose(given, without)
    assert np.array_equal(without, scorer.fit("1", None, training(rows, relevant)))
