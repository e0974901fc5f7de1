"""Systems that are indexed and run anew on each part, with a toy of an index in pure Python."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyterrier as pt
import pytest

import pt_reuse as ptr

pytestmark = pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")
WORDS = ["oak", "elm", "ash", "fir", "yew"]
RANDOM = np.random.default_rng(4)
DOCUMENTS = [{"docno": f"{'ABC'[n % 3]}{n}", "text": " ".join(RANDOM.choice(WORDS, size=2 + n % 5))} for n in range(90)]
TOPICS = pd.DataFrame({"qid": [str(q) for q in range(8)],
                       "query": [f"{WORDS[q % 5]} {WORDS[(q * 2 + 1) % 5]}" for q in range(8)]})  # fmt: skip
QRELS = pd.DataFrame(
    [
        (topic.qid, doc["docno"], int(len(set(topic.query.split()) & set(doc["text"].split())) > 1 and n % 4 != 1))
        for topic in TOPICS.itertuples()
        for n, doc in enumerate(DOCUMENTS)
        if (n + int(topic.qid)) % 3
    ],
    columns=["qid", "docno", "label"],
)


def rank_by(score):
    """Return a factory of a pipeline that scores documents by a function of query, text and how many have a word."""

    def factory(documents):
        texts = {doc["docno"]: doc["text"].split() for doc in documents}
        spread = {word: sum(word in text for text in texts.values()) for word in WORDS}

        def transform(topics):
            rows = [
                (topic.qid, docno, float(score(topic.query.split(), text, spread)))
                for topic in topics.itertuples()
                for docno, text in texts.items()
            ]
            found = pd.DataFrame(rows, columns=["qid", "docno", "score"])
            return found[found["score"] > 0]

        return pt.apply.generic(transform, transform_outputs=lambda columns: ["qid", "docno", "score"])

    return factory


SCORES = {
    "overlap": lambda query, text, spread: sum(word in text for word in query),
    "count": lambda query, text, spread: sum(text.count(word) for word in query),
    "rare": lambda query, text, spread: sum(text.count(word) / (1 + spread[word]) for word in query),
    "short": lambda query, text, spread: sum(word in text for word in query) / len(text),
    "first": lambda query, text, spread: text[0] in query,
}
FACTORIES = {name: rank_by(score) for name, score in SCORES.items()}


def study(systems, **options):
    return ptr.profile.subcollections(systems, QRELS, ["AP", "P@5"], **{"alpha": 0.3, **options})


def test_each_part_is_run_by_itself():
    found = study(ptr.profile.Systems(FACTORIES, DOCUMENTS, TOPICS))
    relevant = set(QRELS["docno"][QRELS["label"] > 0])
    for i, source in enumerate("ABC"):
        mine = [doc for doc in DOCUMENTS if doc["docno"][0] == source or doc["docno"] in relevant]
        docnos = {doc["docno"] for doc in mine}
        runs = {name: factory(mine)(TOPICS) for name, factory in FACTORIES.items()}
        scores = ptr.score(runs, QRELS[QRELS["docno"].isin(docnos)], ["AP", "P@5"])
        assert np.array_equal(found.means[i], scores.mean_values)
    # a part changes what is rare in it, which no restriction of runs can
    whole = {name: factory(DOCUMENTS)(TOPICS) for name, factory in FACTORIES.items()}
    restricted = study(whole)
    at = [found.names.index(name) for name in ("overlap", "count", "short", "first")]
    assert np.array_equal(found.means[..., at], restricted.means[..., at])
    rare = found.names.index("rare")
    assert not np.array_equal(found.means[..., rare], restricted.means[..., rare])


def test_an_index_is_made_once_for_a_part():
    indexed = []

    def index(documents):
        indexed.append(sorted(doc["docno"] for doc in documents))
        return [doc for doc in DOCUMENTS if doc["docno"] in set(indexed[-1])]

    found = study(ptr.profile.Systems(FACTORIES, lambda: iter(DOCUMENTS), TOPICS, index=index))
    assert len(indexed) == 3
    expected = study(ptr.profile.Systems(FACTORIES, DOCUMENTS, TOPICS))
    assert np.array_equal(found.means, expected.means)
    assert [len(docnos) for docnos in indexed] == found.parts["documents"].tolist()


def test_a_pipeline_that_ignores_its_part_is_refused(messages):
    everything = FACTORIES["overlap"](DOCUMENTS)
    systems = ptr.profile.Systems({**FACTORIES, "all": lambda documents: everything}, DOCUMENTS, TOPICS)
    messages.refused(lambda: study(systems), argument="factories", place="part 'A', system 'all'")


def test_parts_have_no_document_that_the_corpus_lacks(messages):
    """Two of B and one of A are judged alone: they make no part larger, and no source of their own."""
    strange = pd.DataFrame({"qid": ["0", "1", "1"], "docno": ["B900", "B901", "D1"], "label": [0, 1, 0]})
    systems = ptr.profile.Systems({name: FACTORIES[name] for name in ("overlap", "short")}, DOCUMENTS, TOPICS)
    qrels, given = pd.concat([QRELS, strange]), {"alpha": 0.9, "relevant": "own"}
    found = messages.warned(lambda: ptr.profile.subcollections(systems, qrels, "Bpref", **given), times=2)
    assert found.parts[["part", "documents"]].values.tolist() == [["A", 30], ["B", 30], ["C", 30]]
    without = ptr.profile.subcollections(systems, QRELS, "Bpref", **given)
    assert found.means.tobytes() == without.means.tobytes()
    shared = messages.warned(
        lambda: ptr.profile.subcollections(systems, qrels, "AP", alpha=0.9, how="random", sizes=[5])
    )
    added = QRELS["docno"][QRELS["label"] > 0].nunique()
    assert set(shared.parts["documents"]) == {5 + added}


def wrong(**change):
    given = {"factories": FACTORIES, "documents": DOCUMENTS, "topics": TOPICS, **change}
    return ptr.profile.Systems(given.pop("factories"), given.pop("documents"), given.pop("topics"), **given)


WRONG = {
    "factories": {"factories": {}},
    "a pipeline as factory": {"factories": {"x": 3}},
    "documents": {"documents": iter(DOCUMENTS)},
    "index": {"index": "terrier"},
}


def test_systems_that_are_none(messages):
    for fault in WRONG:
        messages.refused(lambda fault=fault: wrong(**WRONG[fault]), argument=next(iter(WRONG[fault])))


LATER = {
    "a docno twice": {"documents": [*DOCUMENTS, DOCUMENTS[0]]},
    "a document without a docno": {"documents": [{"text": "oak"}]},
    "other topics": {"topics": TOPICS.assign(qid="x" + TOPICS["qid"])},
    "one system": {"factories": {"overlap": FACTORIES["overlap"]}},
    "no pipeline": {"factories": {**FACTORIES, "none": lambda documents: "bm25"}},
}


def test_systems_that_cannot_be_run(messages):
    for fault in LATER:
        messages.refused(lambda fault=fault: study(wrong(**LATER[fault])))
