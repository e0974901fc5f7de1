"""The embedded collection is what its datasheet says, and shows what it was made to show."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from itertools import combinations
from pathlib import Path

import ir_datasets
import numpy as np
import pandas as pd
import pyterrier as pt
import pytest
from command_parts import run

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


def test_documents_are_what_the_datasheet_says(demo, documents):
    assert len(documents) == 480
    assert documents["docno"].is_unique
    assert documents["source"].value_counts().to_dict() == {"ENC": 160, "NEWS": 160, "FORUM": 160}
    assert (documents["docno"].str.split("-").str[0] == documents["source"]).all()
    lengths = documents["text"].str.split().str.len()
    assert (lengths.min(), lengths.max()) == (40, 90)
    assert all(text.isprintable() for text in documents["text"])
    assert all(text.isascii() for text in documents["text"])


def test_no_two_documents_are_near_duplicates(documents):
    shingles, shared = [], Counter()
    for text in documents["text"]:
        words = re.findall(r"\w+", text.lower())
        shingles.append(set(zip(words, words[1:], words[2:], strict=False)))
    having = {}
    for number, of_text in enumerate(shingles):
        for shingle in of_text:
            having.setdefault(shingle, []).append(number)
    for numbers in having.values():
        shared.update(combinations(numbers, 2))
    assert len(shared) > 700
    most = max(both / (len(shingles[a]) + len(shingles[b]) - both) for (a, b), both in shared.items())
    assert 0.02 < most < 0.07


def test_topics_have_short_queries_and_narratives(demo):
    topics = demo.get_topics("all")
    assert len(topics) == 41
    assert topics["query"].str.split().str.len().between(2, 6).all()
    assert (topics["narrative"].str.len() > 80).all()
    assert demo.get_topics().columns.tolist() == ["qid", "query"]
    assert demo.get_topics("description")["query"].tolist() == topics["description"].tolist()


def test_it_is_defined_like_any_collection(demo, documents):
    defined = read_definition(DATA / "collection.toml")
    assert demo.collection.origin == "package"
    counts = {"n_topics": len(demo.topics()), "n_judged": len(demo.get_qrels())}
    assert {**vars(defined), "origin": "package", **counts} == vars(demo.collection)
    # whoever asks what it is, is told which judgments it gives
    assert counts["n_judged"] == 989
    assert "those of a pool; demo:complete has a label for every topic and document" in demo.collection.note
    assert demo.sources_of(documents["docno"]).tolist() == documents["source"].tolist()
    assert demo.get_corpus_lang() == demo.get_topics_lang() == "en"
    assert len(list(demo.get_corpus_iter(verbose=False, start=3, count=4))) == 4
    assert demo.text_loader(["title"])(pd.DataFrame({"docno": ["ENC-001"]}))["title"].iloc[0] == documents["title"][0]


def test_runs_come_from_many_teams_and_types(runs):
    assert len(runs) >= 18
    assert len(runs.teams) >= 7
    assert runs.types == ["hybrid", "manual", "lexical", "dense"]
    assert 0 < runs.pooled.sum() < len(runs)
    assert (runs.pool_depth, runs.pool_order) == (10, "trec_eval")
    assert runs.field.lengths.max() == 100
    assert (runs.field.lengths > 0).all()


def test_the_dense_run_is_what_the_embeddings_give(demo, runs):
    docnos, vectors, queries = demo.get_embeddings()
    assert vectors.shape == (480, 384)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-3)
    stored = runs["lumen-minilm"]
    scores = {qid: dict(zip(docnos, (vectors @ query).tolist(), strict=True)) for qid, query in queries.items()}
    again = [scores[qid][docno] for qid, docno in zip(stored["qid"], stored["docno"], strict=True)]
    assert stored["score"].to_numpy() == pytest.approx(again, abs=2e-6)
    best = {qid: max(by_doc.values()) for qid, by_doc in scores.items()}
    assert stored.groupby("qid")["score"].max().to_dict() == pytest.approx(best, abs=2e-6)


def test_the_dense_retriever_gives_the_stored_run(demo, runs):
    dense = demo.get_dense_retriever()
    stored, live = runs["lumen-minilm"], dense(demo.get_topics())
    assert stored[["qid", "docno"]].to_numpy().tolist() == live[["qid", "docno"]].to_numpy().tolist()
    assert stored["score"].to_numpy() == pytest.approx(live["score"].to_numpy(), abs=2e-6)
    one = demo.get_topics().tail(1)
    assert demo.get_dense_retriever("described", num_results=3)(one)["rank"].tolist() == [0, 1, 2]
    assert pt.inspect.transformer_outputs(dense, ["qid", "query"]) == ["qid", "docno", "score", "rank"]
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


@pytest.mark.filterwarnings("ignore:Attempted to get latest version")
def test_the_terrier_run_is_what_terrier_gives(demo, runs, tmp_path):
    home = Path(pt.io.pyterrier_home())
    if not list(home.glob("terrier-assemblies-*.jar")):
        pytest.skip("Terrier's jars are not in PYTERRIER_HOME")
    if shutil.which("java") is None:
        pytest.skip("no Java to run Terrier with")
    index = pt.terrier.TerrierIndex(str(tmp_path / "terrier"))
    index.index(demo.get_corpus_iter(verbose=False))
    live = index.bm25(num_results=100)(demo.get_topics())
    stored = runs["ridge-bm25"].merge(live, on=["qid", "docno"], suffixes=("", "_live"))
    assert len(stored) >= len(runs["ridge-bm25"]) - 41
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


def test_wrong_names_are_told(messages, demo, runs):
    with pytest.raises(KeyError) as caught:
        pt.get_dataset("reuse:nothing")
    messages.told(caught.value)
    messages.refused(lambda: demo.get_topics("q"))
    messages.refused(lambda: demo.get_qrels("fourth"))
    messages.refused(lambda: demo.get_judgments("Complete"))
    messages.refused(lambda: demo.get_embeddings("descibed"))
    messages.refused(lambda: demo.get_dense_retriever(num_results=0), argument="num_results")
    messages.refused(lambda: demo.get_dense_retriever()(pd.DataFrame({"qid": ["1", "Q"], "query": "x"})))
    # nothing is not the default
    messages.refused(lambda: demo.get_qrels(""))
    messages.refused(lambda: demo.get_topics(""))
    pd.testing.assert_frame_equal(demo.get_qrels(None), demo.get_qrels("pool"))
    assert demo.get_runs(type="dense").names == [n for n in runs if n.startswith(("lumen", "mosaic"))]


def test_what_is_handed_out_can_be_changed_without_harm(demo):
    demo.documents()[0]["text"] = "changed"
    demo.topics().append({"qid": "99"})
    demo.get_runs().names.append("changed")
    table = demo.get_runs().run_table
    table.loc[0, "team"] = "changed"
    again = pt.get_dataset("reuse:demo")
    assert again.documents()[0]["text"] != "changed"
    assert len(again.get_topics()) == 41
    assert len(again.get_runs().names) == 22
    assert "changed" not in again.get_runs().teams


def test_texts_can_be_looked_up_through_ir_datasets(demo, documents):
    wanted = pd.DataFrame({"docno": ["NEWS-002", "ENC-001"]})
    found = pt.text.get_text(pt.get_dataset("irds:reuse/demo"), "text")(wanted)
    texts = documents.set_index("docno")["text"]
    assert found["text"].tolist() == [texts["NEWS-002"], texts["ENC-001"]]


def test_package_data_is_small():
    assert sum(path.stat().st_size for path in DATA.rglob("*") if path.is_file()) < 3_000_000


def test_the_obvious_first_command_answers_with_something(capsys):
    status, out, _ = run(capsys, "lou", "--collection", "demo")
    assert status == 0
    assert "Qrels: 41 topics, 989 judgments" in out
    assert "depth=10" in out
    lines = [line.split() for line in out.splitlines()]
    (curator,) = [line for line in lines if line[:1] == ["curator"]]
    assert curator[1:4] == ["2", "92", "27"]
