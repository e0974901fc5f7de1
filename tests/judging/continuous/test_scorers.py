"""What scorers make of texts, vectors and labels; what they and judging by a protocol refuse."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from cal_parts import CORPUS, LABELS, TOPICS, Hashed
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

import pt_reuse as ptr
from pt_reuse.judging import AutoTAR, TfIdf, Training, TrecDL2021, Vectors

TEXTS = [doc["text"] for doc in CORPUS]
TAR = AutoTAR(topic_budget=6)


def training(documents, relevant, *, with_query=True):
    return Training(np.array(documents, dtype=np.int64), np.array(relevant, dtype=bool), with_query)


def test_features_are_those_of_scikit_learn():
    scorer = TfIdf(CORPUS)
    expected = TfidfVectorizer(sublinear_tf=True).fit_transform(TEXTS)
    assert (scorer.features != expected).nnz == 0
    assert scorer.docnos.tolist() == [doc["docno"] for doc in CORPUS]
    assert scorer.texts is None
    assert TfIdf(CORPUS, keep_text=True).texts == {doc["docno"]: doc["text"] for doc in CORPUS}


@pytest.mark.parametrize("strength", [0.1, 1.0, 100.0])
def test_scores_are_the_logits_of_scikit_learn(strength):
    scorer, rows, relevant = TfIdf(CORPUS, strength=strength), [5, 8, 1, 40, 33], [True, False, True, False, False]
    given = scorer.fit("1", "kara miti", training(rows, relevant))
    vectorizer = TfidfVectorizer(sublinear_tf=True)
    matrix = vectorizer.fit_transform(TEXTS).toarray()
    examples = np.vstack([vectorizer.transform(["kara miti"]).toarray(), matrix[rows]])
    model = LogisticRegression(C=strength, tol=1e-10, max_iter=10_000).fit(examples, [True, *relevant])
    assert np.allclose(given, model.decision_function(matrix), atol=1e-4)
    assert [scorer.reason(score) for score in (0.0, 5.0, -1.5)] == [
        "probability .50",
        "probability .99",
        "probability .18",
    ]
    without = scorer.fit("1", "kara miti", training(rows, relevant, with_query=False))
    assert not np.allclose(given, without)
    assert np.array_equal(without, scorer.fit("1", None, training(rows, relevant)))


def test_where_nothing_is_relevant_chance_decides():
    scorer = TfIdf(CORPUS)
    assert not scorer.fit("1", None, training([3, 4], [False, False])).any()
    assert not scorer.fit("1", None, training([], [])).any()


def test_where_all_is_relevant_the_most_similar_are_first():
    scorer = TfIdf(CORPUS)
    scores = scorer.fit("1", "kara", training([], []))
    likeness = (scorer.features @ scorer.vectorizer.transform(["kara"]).T).toarray().ravel()
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


@pytest.mark.parametrize(
    ("given", "argument"),
    [
        ({"corpus": "corpus.jsonl"}, "corpus"),
        ({"corpus": {"docno": "a", "text": "b"}}, "corpus"),
        ({"corpus": [{"docno": "a"}]}, "corpus"),
        ({"corpus": [{"docno": "a", "text": "some text"}, "b"]}, "corpus"),
        ({"corpus": [{"docno": 7, "text": "some text"}]}, "corpus"),
        ({"corpus": []}, "corpus"),
        ({"corpus": [CORPUS[0], CORPUS[1], CORPUS[0]]}, None),
        ({"corpus": CORPUS, "strength": 0}, "strength"),
        ({"corpus": CORPUS, "keep_text": "yes"}, "keep_text"),
        ({"corpus": CORPUS, "fields": ()}, "fields"),
        ({"corpus": CORPUS, "fields": 5}, "fields"),
        ({"corpus": CORPUS, "vectorizer": "tf-idf"}, "vectorizer"),
    ],
)
def test_a_corpus_that_is_none(given, argument, messages):
    messages.refused(lambda: TfIdf(**given), argument=argument)


FIELD = ptr.simulate_field(seed=7, n_topics=3, n_docs=40, n_teams=4, length=8, depth=3)


def test_pools_that_do_not_fit(messages):
    rows = [("1", "d1"), ("1", "elsewhere"), ("7", "d2"), ("7", "d3")]
    pool = ptr.Pool.from_frame(pd.DataFrame(rows, columns=["qid", "docno"]))
    judge = ptr.judging.Oracle(LABELS, unknown="not relevant")
    found = messages.warned(
        lambda: ptr.judging.judge_continuously(CORPUS, TOPICS, judge, protocol=TAR, pool=pool), times=3
    )
    assert found.topics["qid"].tolist() == TOPICS["qid"].tolist()
    assert found.labels.loc[found.labels["strategy"] == "initial pool", "docno"].tolist() == ["d1", "elsewhere"]
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
