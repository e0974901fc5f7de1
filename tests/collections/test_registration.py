"""Collections made known to ir_datasets: what is registered there, and what stays as it is."""

from __future__ import annotations

import pickle
import subprocess
import sys

import ir_datasets
import pandas as pd
import pyterrier as pt
import pytest
from own_files import defined

import pt_reuse as ptr
from pt_reuse.collections.dataset import ReuseDataset
from pt_reuse.collections.definition import define
from pt_reuse.collections.irds import build_irds
from pt_reuse.collections.registration import register_collection, register_datasets, register_one
from pt_reuse.collections.registry import find_collection


def test_registering_again_changes_nothing_without_overwrite(messages, mine):
    assert register_one(defined(mine, "test/again")) == "reuse/test/again"
    loaded = ir_datasets.load("reuse/test/again")
    register_one(defined(mine, "test/again"))
    assert ir_datasets.load("reuse/test/again") is loaded
    changed = defined(mine, "test/again", qrels=None)
    messages.refused(lambda: register_one(changed))
    assert ir_datasets.load("reuse/test/again").has_qrels()
    register_one(changed, overwrite=True)
    assert not ir_datasets.load("reuse/test/again").has_qrels()


def test_a_registered_collection_through_pyterrier(mine):
    register_one(defined(mine, "test/through"))
    found = pt.get_dataset("irds:reuse/test/through")
    assert found.get_topics().to_dict("list") == {"qid": ["1", "2"], "query": ["green tea", "milk"]}
    assert found.get_qrels().columns.tolist() == ["qid", "docno", "label"]
    assert list(found.get_corpus_iter(verbose=False, start=1)) == [
        {"docno": "d2", "title": "Milk", "text": "of almonds"}
    ]
    texts = pt.text.get_text(found, ["title", "text"])(pd.DataFrame({"docno": ["d2", "d1"]}))
    assert texts["title"].tolist() == ["Milk", "Tea"]
    assert [run.run_id for run in ir_datasets.load("reuse/test/through").runs_iter()] == ["bm25", "dense"]


def test_own_collections_are_registered_by_one_call(messages, mine, monkeypatch, tmp_path):
    monkeypatch.setenv("PT_REUSE_HOME", str(tmp_path / "home"))
    parts = {"topics": "topics.tsv", "qrels": "qrels.txt", "runs": "runs", "base": mine}
    made = register_collection("test/call", documents="docs.jsonl", **parts)
    told = f"ReuseDataset('reuse:test/call'): test/call; runs in {mine / 'runs'}"
    assert repr(made) == repr(pt.get_dataset("reuse:test/call")) == told
    assert made.get_runs().names == ["bm25", "dense"]
    assert ir_datasets.load("reuse/test/call").docs_count() == 2
    messages.refused(lambda: register_collection("test/call", **parts))
    assert ir_datasets.load("reuse/test/call").has_docs()
    register_collection("test/call", overwrite=True, **parts)
    assert not ir_datasets.load("reuse/test/call").has_docs()
    messages.refused(lambda: pt.get_dataset("reuse:test/call").get_corpus_iter())
    for name in ("demo", "trec-8/adhoc"):
        messages.refused(register_collection, definition=name, **parts)
        assert find_collection(name).origin != "own"
    messages.refused(lambda: register_collection("nowhere"), argument="definition")
    messages.refused(lambda: register_collection("nowhere.toml"), place="nowhere.toml")
    messages.refused(lambda: register_collection(5), argument="definition")
    with pytest.raises(ptr.InputError) as caught:
        register_collection(mine / "docs.jsonl")
    assert caught.value.place == str(mine / "docs.jsonl")
    # what is wrong is said in the words of Python's reader
    messages.hidden[str(caught.value.__cause__)] = "{fault}"
    messages.told(caught.value)
    messages.refused(lambda: register_collection(mine / "mine.toml", note="x"))


def test_a_collection_may_use_another_of_ours(messages, mine):
    messages.hidden[ir_datasets.__version__] = "{version}"
    messages.refused(lambda: define("test/self", topics="irds:reuse/test/self"))
    register_one(define("test/uses", topics="irds:reuse/trec-8/adhoc", qrels="irds:reuse/demo"))
    loaded = ir_datasets.load("reuse/test/uses")
    assert loaded.queries_handler() is ir_datasets.load("disks45/nocr/trec8").queries_handler()
    assert loaded.qrels_count() == 989
    lost = build_irds(define("test/lost", topics="irds:reuse/nobody"))
    messages.refused(lambda: lost.queries_iter())


def test_one_that_cannot_be_registered_stops_no_other(messages, mine, monkeypatch):
    monkeypatch.setattr("pt_reuse.collections.registration.collection_names", lambda: ["test/gone", "test/other"])

    def find(name):
        if name == "test/gone":
            raise ptr.InputError("two files")
        return defined(mine, name)

    monkeypatch.setattr("pt_reuse.collections.registration.find_collection", find)
    assert messages.warned(register_datasets) == ["reuse/test/other"]


def test_all_collections_are_registered_and_irds_still_works():
    names = register_datasets()
    assert names == register_datasets()
    assert {"reuse/demo", "reuse/trec-8/adhoc", "reuse/trec-covid/round5"} <= set(names) <= set(ir_datasets.registry)
    trec8 = ir_datasets.load("reuse/trec-8/adhoc")
    assert trec8.queries_handler() is ir_datasets.load("disks45/nocr/trec8").queries_handler()
    assert pt.get_dataset("irds:vaswani").irds_ref() is ir_datasets.load("vaswani")


def test_importing_the_package_imports_no_ir_datasets():
    code = "import sys, pt_reuse; assert not {'ir_datasets', 'tomllib', 'tomli'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_what_is_registered_can_go_to_another_process(mine):
    register_one(defined(mine, "test/travels"))
    travelled = pickle.loads(pickle.dumps(ir_datasets.load("reuse/test/travels")))
    assert [document.doc_id for document in travelled.docs_iter()] == ["d1", "d2"]
    dataset = ReuseDataset(defined(mine, "test/travels"))
    assert len(dataset.get_topics()) == 2
    assert len(pickle.loads(pickle.dumps(dataset)).get_topics()) == 2
