"""What scorers make of texts, vectors and labels; what they and judging by a protocol refuse."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest
from cal_parts import CORPUS, LABELS, TOPICS, Hashed
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

import pt_reuse as ptr
from pt_reuse.judging import AutoTAR, Scorer, TfIdf, Training, TrecDL2021, Vectors

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


def test_fields_and_a_vectorizer_of_your_own():
    corpus = [{"docno": doc["docno"], "title": doc["text"][:4], "body": doc["text"]} for doc in CORPUS]
    scorer = TfIdf(iter(corpus), fields=("title", "body"), vectorizer=TfidfVectorizer(min_df=3), keep_text=True)
    texts = [f"{doc['title']} {doc['body']}" for doc in corpus]
    assert (scorer.features != TfidfVectorizer(min_df=3).fit_transform(texts)).nnz == 0
    assert list(scorer.texts.values()) == texts


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


def test_judging_with_dense_vectors_finds_what_is_near():
    random = np.random.default_rng(2)
    centre = random.normal(size=8)
    near = np.arange(200) % 10 == 0
    vectors = random.normal(size=(200, 8)) + np.outer(near, 2 * centre)
    scorer = Vectors([f"d{i}" for i in range(200)], vectors, queries={"1": centre})
    known = {"1": {f"d{i}": int(near[i]) for i in range(200)}}
    found = ptr.judging.judge_continuously(scorer, TOPICS[:1], known, protocol=AutoTAR(topic_budget=30))
    assert found.topics["relevant"].item() >= 17
    again = ptr.judging.judge_continuously(scorer, TOPICS[["qid"]][:1], known, protocol=AutoTAR(topic_budget=30))
    pd.testing.assert_frame_equal(found.rounds, again.rounds)


def test_the_judge_gets_the_topic_and_the_text():
    seen = []

    def judge(frame):
        seen.append(frame)
        return [int("kara" in text) for text in frame["text"]]

    topics = TOPICS.assign(narrative="anything")
    found = ptr.judging.judge_continuously(CORPUS, topics, judge, protocol=TAR)
    texts = {doc["docno"]: doc["text"] for doc in CORPUS}
    for frame in seen:
        assert list(frame) == ["qid", "docno", "query", "narrative", "text"]
        assert len(set(frame["qid"])) == 1
        assert frame["text"].tolist() == [texts[docno] for docno in frame["docno"]]
    assert pd.concat(seen)["docno"].tolist() == found.labels["docno"].tolist()


def test_without_scikit_learn(monkeypatch, messages):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    messages.refused(lambda: TfIdf(CORPUS))
    messages.refused(lambda: Vectors({"a": [1.0]}))
    messages.refused(lambda: ptr.judging.judge_continuously(CORPUS, TOPICS, LABELS, protocol=TAR))


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


def test_a_corpus_without_words():
    with pytest.raises(ptr.InputError, match="TfIdf: no features can be made of the texts of 1 document: ") as caught:
        TfIdf([{"docno": "a", "text": "!"}])
    assert caught.value.argument == "corpus"


@pytest.mark.parametrize(
    ("given", "argument"),
    [
        ({"docnos": ["a", "b"], "vectors": [[1.0, 2.0]]}, "vectors"),
        ({"docnos": ["a"], "vectors": [1.0]}, "vectors"),
        ({"docnos": {"a": [1.0], "b": [1.0, 2.0]}}, "vectors"),
        ({"docnos": {"a": [float("nan")]}}, "vectors"),
        ({"docnos": {"a": [1.0]}, "vectors": [[1.0]]}, "vectors"),
        ({"docnos": ["a", "a"], "vectors": [[1.0], [2.0]]}, None),
        ({"docnos": {"a": [1.0]}, "queries": {"1": [1.0, 2.0]}}, "queries"),
        ({"docnos": {"a": [1.0, 2.0]}, "queries": {"1": [[1.0], [2.0]]}}, "queries"),
        ({"docnos": {"a": [1.0]}, "queries": {"1": [float("nan")]}}, "queries"),
        ({"docnos": {"a": [1.0]}, "queries": [[1.0]]}, "queries"),
        ({"docnos": ["a", "b"]}, "vectors"),
        ({"docnos": [1, 2], "vectors": [[1.0], [2.0]]}, None),
    ],
)
def test_vectors_that_are_none(given, argument, messages):
    messages.refused(lambda: Vectors(**given), argument=argument)


FIELD = ptr.simulate_field(seed=7, n_topics=3, n_docs=40, n_teams=4, length=8, depth=3)
POOL = ptr.depth_pool(FIELD.runs, depth=2)


@pytest.mark.parametrize(
    ("given", "argument"),
    [
        ({"protocol": "AutoTAR"}, "protocol"),
        ({"protocol": TrecDL2021()}, "runs"),
        ({"runs": FIELD.runs}, "runs"),
        ({"protocol": TrecDL2021(), "runs": FIELD.runs, "pool": POOL}, "pool"),
        ({"pool": FIELD.runs}, "pool"),
        ({"protocol": TrecDL2021(pool_order="rank"), "runs": FIELD.results.drop(columns="rank")}, "pool_order"),
        ({"topics": TOPICS[["qid"]]}, "topics"),
        ({"topics": TOPICS.assign(query=["a", None, "b"])}, "topics"),
        ({"topics": TOPICS.assign(query=["a", " ", ""])}, "topics"),
        ({"topics": TOPICS[:0]}, "topics"),
        ({"corpus": Vectors({"a": [1.0]}, queries={"1": [1.0], 10: [1.0]})}, "topics"),
        ({"topics": pd.concat([TOPICS, TOPICS])}, "topics"),
        ({"topics": {"1": "query"}}, "topics"),
        ({"topics": TOPICS[["query"]]}, None),
        ({"judge": 7}, "judge"),
        ({"judge": lambda frame: [1]}, None),
        ({"judge": lambda frame: ["yes"] * len(frame)}, None),
        ({"judge": lambda frame: [99_999] * len(frame)}, None),
        ({"rel": 0}, "rel"),
        ({"seed": -1}, "seed"),
        ({"session": 7}, "session"),
        ({"verbose": "no"}, "verbose"),
    ],
)
def test_arguments_that_are_none(given, argument, messages):
    arguments = {"corpus": CORPUS, "topics": TOPICS, "judge": LABELS, "protocol": TAR, **given}
    messages.refused(lambda: ptr.judging.judge_continuously(**arguments), argument=argument)


@pytest.mark.parametrize("given", [{"runs": FIELD.runs}, {"seed": "x"}, {"judge": 7}, {"topics": TOPICS[["query"]]}])
def test_arguments_are_checked_before_the_corpus_is_read(given):
    class Unread:
        def __iter__(self):
            raise AssertionError("the corpus was read")

    with pytest.raises(ptr.InputError):
        ptr.judging.judge_continuously(Unread(), **{"topics": TOPICS, "judge": LABELS, "protocol": TAR, **given})


@pytest.mark.parametrize("names", [["a", "a"], ["a", 7], "ab", [["a"]]])
def test_a_scorer_that_names_its_documents_otherwise(names, messages):
    class Odd(Hashed):
        def documents(self, qid):
            return names if names == "ab" else np.array(names, dtype=object)

    messages.refused(lambda: ptr.judging.judge_continuously(Odd({"1": 2}), TOPICS[:1], LABELS, protocol=TAR))


def test_a_corpus_that_is_none_is_told_before_runs_are_read(monkeypatch, tmp_path):
    given = {"topics": TOPICS, "judge": LABELS, "protocol": TrecDL2021(), "runs": tmp_path / "nowhere"}
    with pytest.raises(ptr.InputError, match="corpus must yield"):
        ptr.judging.judge_continuously("corpus.jsonl", **given)
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(ptr.InputError, match="scikit-learn"):
        ptr.judging.judge_continuously(CORPUS, **given)


@pytest.mark.parametrize("scores", [[1.0], [[1.0, 2.0]], [1.0, float("nan")]])
def test_a_scorer_that_returns_something_else(scores, messages):
    class Odd(Scorer):
        def documents(self, qid):
            return np.array(["a", "b"], dtype=object)

        def fit(self, qid, query, training):
            return np.array(scores)

    messages.refused(lambda: ptr.judging.judge_continuously(Odd(), TOPICS, LABELS, protocol=TAR))


@pytest.mark.parametrize(
    ("scores", "fits"),
    [
        ([2.0, 1.0], True), (pd.Series([2.0, 1.0]), True), (pd.Series([2.0, 1.0], index=["a", "b"]), True),
        (pd.Series([1.0, 2.0], index=["b", "a"]), False), ({1.0, 2.0}, False), ({"a": 2.0, "b": 1.0}, False),
    ],
)  # fmt: skip
def test_scores_of_a_scorer_have_the_order_of_its_documents(scores, fits):
    class Given(Scorer):
        def documents(self, qid):
            return np.array(["a", "b"], dtype=object)

        def fit(self, qid, query, training):
            return scores

    def judged():
        judge = ptr.judging.Oracle(LABELS, unknown="not relevant")
        return ptr.judging.judge_continuously(Given(), TOPICS, judge, protocol=TAR)

    if fits:
        assert all(part["docno"].tolist() == ["a", "b"] for _, part in judged().labels.groupby("qid"))
    else:
        with pytest.raises(ptr.InputError):
            judged()


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
