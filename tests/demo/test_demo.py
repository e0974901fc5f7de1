"""The embedded collection is what its datasheet says, and shows what it was made to show."""

from __future__ import annotations

import csv
import gzip
import re
import shutil
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import ir_datasets
import numpy as np
import pandas as pd
import pyterrier as pt
import pytest

import pt_reuse as ptr
from pt_reuse.collections.definition import read_definition

DATA = Path(ptr.__file__).parent / "collections" / "data" / "demo"
STOP = frozenset(
    [
        "a",
        "an",
        "the",
        "of",
        "in",
        "on",
        "at",
        "for",
        "to",
        "and",
        "or",
        "with",
        "by",
        "from",
        "as",
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "it",
        "its",
        "this",
        "that",
        "these",
        "those",
        "what",
        "which",
        "who",
        "how",
        "why",
        "when",
        "where",
        "do",
        "does",
        "did",
        "can",
        "could",
        "should",
        "would",
        "will",
        "may",
        "might",
        "not",
        "no",
        "than",
        "then",
        "so",
        "if",
        "into",
        "about",
        "over",
        "under",
        "my",
        "your",
        "their",
        "his",
        "her",
        "our",
    ]
)


@pytest.fixture(scope="module")
def demo():
    return pt.get_dataset("reuse:demo")


@pytest.fixture(scope="module")
def documents(demo):
    return pd.DataFrame(demo.documents())


@pytest.fixture(scope="module")
def complete(demo):
    return demo.get_judgments()


@pytest.fixture(scope="module")
def runs(demo):
    return demo.get_runs()


def stems(text):
    """Return content words cut to their first five letters, a generous idea of "the same word"."""
    return {word[:5] for word in re.findall(r"[a-z0-9]+", text.lower()) if word not in STOP}


def kappa(x, y):
    """Return Cohen's kappa of two lists of labels."""
    x, y = np.asarray(x), np.asarray(y)
    observed = (x == y).mean()
    expected = sum((x == label).mean() * (y == label).mean() for label in np.union1d(x, y))
    return (observed - expected) / (1 - expected)


def sheet_number(demo, pattern):
    """Return a number that the datasheet gives."""
    found = re.search(pattern, demo.datasheet().replace("\n", " "))
    assert found, f"the datasheet does not say {pattern}"
    return float(found.group(1).replace(",", ""))


def test_documents_are_what_the_datasheet_says(demo, documents):
    assert len(documents) == sheet_number(demo, r"([\d,]+) documents") == 480
    assert documents["docno"].is_unique
    assert documents["source"].value_counts().to_dict() == {"ENC": 160, "NEWS": 160, "FORUM": 160}
    assert (documents["docno"].str.split("-").str[0] == documents["source"]).all()
    lengths = documents["text"].str.split().str.len()
    assert (lengths.min(), lengths.max()) == (40, 90)
    assert all(text.isprintable() for text in documents["text"])
    assert all(text.isascii() for text in documents["text"])


def test_no_two_documents_are_near_duplicates(documents):
    shingles = []
    for text in documents["text"]:
        words = re.findall(r"\w+", text.lower())
        shingles.append(set(zip(words, words[1:], words[2:], strict=False)))
    most = max(len(a & b) / len(a | b) for a, b in combinations(shingles, 2))
    assert most < 0.07


def test_topics_have_short_queries_and_narratives(demo):
    topics = demo.get_topics("all")
    assert len(topics) == sheet_number(demo, r"(\d+) topics") == 41
    assert topics["query"].str.split().str.len().between(2, 6).all()
    assert (topics["narrative"].str.len() > 80).all()
    assert demo.get_topics().columns.tolist() == ["qid", "query"]
    assert demo.get_topics("description")["query"].tolist() == topics["description"].tolist()


def test_judgments_are_complete_and_in_range(demo, documents, complete):
    frame = demo.get_qrels()
    assert len(frame) == 41 * 480
    assert not frame.duplicated(["qid", "docno"]).any()
    assert set(frame["label"]) == {0, 1, 2}
    relevant = complete.counts()["relevant"]
    assert relevant.min() == 0
    assert (relevant == 0).sum() == 1
    assert relevant[relevant > 0].min() == 3
    assert relevant.max() >= 20
    assert int(relevant.sum()) == sheet_number(demo, r"([\d,]+) relevant pairs")
    assert set(frame["docno"]) == set(documents["docno"])


def test_the_judgments_are_a_plain_qrels_file_that_the_script_makes(demo, complete, tmp_path):
    pd.testing.assert_frame_equal(ptr.read_qrels(DATA / "qrels.txt.gz").to_frame(), complete.to_frame())
    script = Path(__file__).parents[2] / "scripts" / "build_demo.py"
    subprocess.run([sys.executable, str(script), "--only-judgments", "--out", str(tmp_path)], check=True)
    for name in ("qrels.txt.gz", "labels.csv.gz"):
        made, shipped = tmp_path / name, DATA / name
        assert gzip.decompress(made.read_bytes()) == gzip.decompress(shipped.read_bytes())
    with gzip.open(DATA / "labels.csv.gz", "rt") as labels:
        assert {row["assessor"] for row in csv.DictReader(labels)} == {"second", "third"}


def test_it_is_defined_like_any_collection(demo, documents):
    defined = read_definition(DATA / "collection.toml")
    assert demo.collection.origin == "package"
    counts = {"n_topics": len(demo.topics()), "n_judged": len(demo.get_qrels())}
    assert {**vars(defined), "origin": "package", **counts} == vars(demo.collection)
    assert demo.sources_of(documents["docno"]).tolist() == documents["source"].tolist()
    assert demo.get_corpus_lang() == demo.get_topics_lang() == "en"
    assert len(list(demo.get_corpus_iter(verbose=False, start=3, count=4))) == 4
    assert demo.text_loader(["title"])(pd.DataFrame({"docno": ["ENC-001"]}))["title"].iloc[0] == documents["title"][0]


def test_relevant_documents_with_and_without_the_words_of_the_query(demo, documents, complete):
    text = dict(zip(documents["docno"], (documents["title"] + " " + documents["text"]).map(stems), strict=True))
    frame = complete.to_frame()
    query = dict(zip(*demo.get_topics()[["qid", "query"]].to_numpy().T, strict=True))
    frame["shared"] = [len(stems(query[q]) & text[d]) for q, d in zip(frame["qid"], frame["docno"], strict=True)]
    relevant = frame[frame["label"] > 0]
    without = (relevant["shared"] == 0).mean()
    sys.stdout.write(f"share of relevant pairs without a content word in common: {without:.3f}\n")
    assert without == pytest.approx(sheet_number(demo, r"([\d.]+) % of the relevant pairs share no") / 100, abs=0.0006)
    by_topic = relevant.groupby("qid")["shared"]
    assert (by_topic.min() == 0).all()
    assert (by_topic.max() > 0).all()
    half = frame["qid"].map(lambda qid: (len(stems(query[qid])) + 1) // 2)
    near_misses = frame[(frame["label"] == 0) & (frame["shared"] >= half)].groupby("qid").size()
    assert (near_misses.reindex(list(query), fill_value=0) >= 2).all()


def test_further_assessors_saw_the_top_20_and_a_sample_and_agree_as_printed(demo, runs):
    labels = {name: demo.get_qrels(name).set_index(["qid", "docno"])["label"] for name in ("first", "second", "third")}
    pool = ptr.depth_pool(runs, depth=20, contributors="all").to_frame()
    pooled = pd.MultiIndex.from_frame(pool[["qid", "docno"]])
    for name in ("second", "third"):
        assert pooled.isin(labels[name].index).all()
        assert len(labels[name]) == sheet_number(demo, r"\(([\d,]+) pairs each")
        # documents of the random sample that later runs ranked high count as both
        assert 41 * 15 < len(labels[name]) - len(pooled) <= 41 * 20
    for one, other in combinations(labels, 2):
        both = pd.concat([labels[one], labels[other]], axis=1, join="inner").to_numpy()
        found = kappa(both[:, 0], both[:, 1])
        assert 0.5 < found < 1
        assert found == pytest.approx(sheet_number(demo, rf"{one} and {other}: (\d\.\d+)"), abs=0.0006)


def test_runs_come_from_many_teams_and_types(runs):
    assert len(runs) >= 18
    assert len(runs.teams) >= 7
    assert runs.types == ["hybrid", "manual", "lexical", "dense"]
    assert 0 < runs.pooled.sum() < len(runs)
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


def test_a_lexical_pool_is_unfair_to_dense_runs_and_a_full_pool_is_not(runs, complete):
    truth = ptr.score(runs, complete, "nDCG@10")

    def means(judged):
        rate = ptr.score(runs, judged, ptr.Unjudged @ 10).mean["Unjudged@10"].to_numpy()
        drop = truth.compare(ptr.score(runs, judged, "nDCG@10")).changes["drop"].to_numpy()
        dense = (runs.run_table["type"] == "dense").to_numpy()
        held_out = (runs.run_table["type"] == "lexical").to_numpy() & ~runs.pooled
        return rate[dense].mean(), rate[held_out].mean(), drop[dense].mean(), drop[held_out].mean()

    dense, held_out, dense_drop, held_out_drop = means(
        complete.restrict(ptr.depth_pool(runs.select(type="lexical", pooled=True), depth=10))
    )
    assert dense > held_out + 0.08
    assert dense_drop >= 0.25
    assert held_out_drop <= 0
    dense, held_out, dense_drop, held_out_drop = means(complete.restrict(ptr.depth_pool(runs, depth=10)))
    assert dense < 0.1
    assert abs(dense_drop) < 0.26


def test_ir_datasets_knows_it_once_registered(demo, documents, complete):
    assert ptr.register_datasets()[0] == "reuse/demo"
    assert ptr.register_datasets()[0] == "reuse/demo"
    loaded = ir_datasets.load("reuse/demo")
    assert loaded.docs_count() == len(list(loaded.docs_iter())) == 480
    first = documents.iloc[0]
    found = loaded.docs_store().get(first["docno"])
    assert (found.title, found.text) == (first["title"], first["text"])
    assert loaded.docs_store().get_many(["NEWS-001", "none"]).keys() == {"NEWS-001"}
    assert [query.default_text() for query in loaded.queries_iter()] == demo.get_topics()["query"].tolist()
    assert sum(qrel.relevance > 0 for qrel in loaded.qrels_iter()) == complete.counts()["relevant"].sum()
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
    ptr.register_datasets()
    wanted = pd.DataFrame({"docno": ["NEWS-002", "ENC-001"]})
    found = pt.text.get_text(pt.get_dataset("irds:reuse/demo"), "text")(wanted)
    texts = documents.set_index("docno")["text"]
    assert found["text"].tolist() == [texts["NEWS-002"], texts["ENC-001"]]


def test_package_data_is_small():
    assert sum(path.stat().st_size for path in DATA.rglob("*") if path.is_file()) < 3_000_000


def test_the_demo_command_prints_and_draws(tmp_path):
    pytest.importorskip("pyterrier_pisa", reason="pyterrier-pisa is not installed")
    out = tmp_path / "out"
    command = [sys.executable, "-m", "pt_reuse.cli", "demo", "--out", str(out)]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout.count("\n\n") > 8
    assert "2. What if only lexical systems had been pooled?" in finished.stdout
    assert "Create index" not in finished.stdout
    assert {path.suffix for path in out.iterdir()} == {".csv", ".png"}
    again = subprocess.run(command, capture_output=True, text=True, check=False)
    assert again.returncode == 2
    assert "Pass --overwrite to replace them." in again.stderr
