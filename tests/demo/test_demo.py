"""The embedded collection is what its datasheet says, and shows what it was made to show."""

from __future__ import annotations

from pathlib import Path

import ir_datasets
import pandas as pd
import pyterrier as pt
import pytest

import pt_reuse as ptr
from pt_reuse.collections.definition import read_definition

DATA = Path(ptr.__file__).parent / "collections" / "data" / "demo"


@pytest.fixture(scope="module")
def demo():
    return pt.get_dataset("reuse:demo")


@pytest.fixture(scope="module")
def documents(demo):
    return pd.DataFrame(demo.documents())


@pytest.fixture(scope="module")
def judgments(demo):
    return demo.get_judgments()


@pytest.fixture(scope="module")
def runs(demo):
    return demo.get_runs()


def test_it_is_defined_like_any_collection(demo, documents):
    defined = read_definition(DATA / "collection.toml")
    assert demo.collection.origin == "package"
    counts = {"n_topics": len(demo.topics()), "n_judged": len(demo.get_qrels())}
    assert {**vars(defined), "origin": "package", **counts} == vars(demo.collection)
    # whoever asks what it is, is told which judgments it gives
    assert counts["n_judged"] == 989
    assert "those of a pool; demo:complete has a label for every topic and document" in demo.collection.note
    assert list(map(demo.source_of, documents["docno"])) == documents["source"].tolist()
    assert demo.get_corpus_lang() == demo.get_topics_lang() == "en"
    assert len(list(demo.get_corpus_iter(verbose=False, start=3, count=4))) == 4
    assert demo.text_loader(["title"])(pd.DataFrame({"docno": ["ENC-001"]}))["title"].iloc[0] == documents["title"][0]


def test_the_dense_retriever_gives_the_stored_run(demo, runs):
    dense = demo.get_dense_retriever()
    stored, live = runs["lumen-minilm"], dense(demo.get_topics())
    assert stored[["qid", "docno"]].to_numpy().tolist() == live[["qid", "docno"]].to_numpy().tolist()
    assert stored["score"].to_numpy() == pytest.approx(live["score"].to_numpy(), abs=2e-6)
    one = demo.get_topics().tail(1)
    assert demo.get_dense_retriever("described", num_results=3)(one)["rank"].tolist() == [0, 1, 2]
    assert pt.inspect.transformer_outputs(dense, ["qid", "query"]) == ["qid", "query", "docno", "score", "rank"]
    assert dense(one.assign(mine=7)).columns.tolist() == ["qid", "query", "mine", "docno", "score", "rank"]
    assert set(dense(one)["query"]) == set(one["query"])
    assert repr(dense) == "DenseRetriever('reuse:demo', 'query', num_results=100)"
    assert len(dense(one.iloc[:0])) == 0


def test_the_lexical_runs_are_what_pisa_gives(demo, runs, tmp_path):
    pisa = pytest.importorskip("pyterrier_pisa", reason="pyterrier-pisa is not installed")
    topics = demo.get_topics()
    topics["query"] = topics["query"].str.replace(r"[^\w\s]", " ", regex=True)
    for stemmer, made in (
        ("none", {"bm25": "quarry-bm25"}),
        ("porter2", {"bm25": "quarry-bm25-stem", "dph": "quarry-dph"}),
    ):
        index = pisa.PisaIndex(str(tmp_path / stemmer), text_field="text", stemmer=stemmer)
        index.index(demo.get_corpus_iter(verbose=False))
        for model, name in made.items():
            live = getattr(index, model)(num_results=100)(topics)
            stored = runs[name].merge(live, on=["qid", "docno"], suffixes=("", "_live"))
            # beyond the last place, documents of equal score may change places
            assert len(stored) >= len(runs[name]) - 41
            assert stored["score"].to_numpy() == pytest.approx(stored["score_live"].to_numpy(), abs=1e-4)


def test_ir_datasets_knows_it(demo, documents, judgments):
    loaded = ir_datasets.load("reuse/demo")
    assert loaded.docs_count() == len(list(loaded.docs_iter())) == 480
    first = documents.iloc[0]
    found = loaded.docs_store().get(first["docno"])
    assert (found.title, found.text) == (first["title"], first["text"])
    assert loaded.docs_store().get_many(["NEWS-001", "none"]).keys() == {"NEWS-001"}
    assert [query.default_text() for query in loaded.queries_iter()] == demo.get_topics()["query"].tolist()
    assert sum(qrel.relevance > 0 for qrel in loaded.qrels_iter()) == judgments.counts()["relevant"].sum()
    assert loaded.qrels_defs() == {0: "not relevant", 1: "relevant", 2: "relevant"}
    assert [run.run_id for run in loaded.runs_iter()] == demo.get_runs().names
    through_pyterrier = pt.get_dataset("irds:reuse/demo")
    pd.testing.assert_frame_equal(
        through_pyterrier.get_qrels()[["qid", "docno", "label"]], demo.get_qrels(), check_dtype=False
    )
    assert pt.get_dataset("irds:vaswani") is not None
