"""Collections made known to ir_datasets: what is registered there, and what stays as it is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import ir_datasets
import pyterrier as pt
import pytest
from own_files import defined

import pt_reuse as ptr
from pt_reuse.collections.definition import define, find_collection, read_toml
from pt_reuse.collections.own_files import build_irds
from pt_reuse.collections.provider import register_collection


def test_own_collections_are_registered_by_one_call(messages, mine, monkeypatch, tmp_path):
    monkeypatch.setenv("PT_REUSE_HOME", str(tmp_path / "home"))
    parts = {"topics": "topics.tsv", "qrels": "qrels.txt", "runs": "runs", "base": mine}
    made = register_collection("test/call", documents="docs.jsonl", **parts)
    told = f"ReuseDataset('reuse:test/call'): test/call; topics read as tab-separated lines, runs in {mine / 'runs'}"
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
    register_collection(define("test/uses", topics="irds:reuse/trec-8/adhoc", qrels="irds:reuse/demo"))
    loaded = ir_datasets.load("reuse/test/uses")
    assert loaded.queries_handler() is ir_datasets.load("disks45/nocr/trec8").queries_handler()
    assert loaded.qrels_count() == 989
    lost = build_irds(define("test/lost", topics="irds:reuse/nobody"))
    messages.refused(lambda: lost.queries_iter())


def test_ir_datasets_knows_every_collection_by_its_names_and_still_works(messages):
    trec8 = ir_datasets.load("reuse/trec-8/adhoc")
    assert trec8.queries_handler() is ir_datasets.load("disks45/nocr/trec8").queries_handler()
    assert ir_datasets.load("reuse/dl19").dataset_id() == "reuse/trec-2019/deep/passages"
    assert pt.get_dataset("irds:vaswani").irds_ref() is ir_datasets.load("vaswani")
    with pytest.raises(KeyError, match="reuse:trec-8/adhoc"):
        ir_datasets.load("reuse/trec-8/adhok")
    messages.refused(lambda: ir_datasets.load("reuse/trec-8/adhok"))


AS_SOON_AS_PYTERRIER = """
import pyterrier, sys
assert pyterrier.reuse.__name__ == "pt_reuse", "the entry point"
assert not [name for name in sys.modules if name.startswith(("ir_datasets", "pt_reuse.collections"))]
import ir_datasets, ir_measures
assert repr(ir_measures.parse_measure("Unjudged@10")) == "Unjudged@10"
assert ir_datasets.load("reuse/demo").docs_count() == 480
assert len(pyterrier.get_dataset("irds:reuse/demo").get_qrels()) == 989
"""


def test_measure_and_collections_are_known_as_soon_as_pyterrier_is(tmp_path):
    """With the entry points of the project as it is, whatever is installed."""
    root = Path(ptr.__file__).parents[1]
    points = read_toml(root / "pyproject.toml")["project"]["entry-points"]
    folder = tmp_path / "pt_reuse-0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: pt-reuse\nVersion: 0\n")
    lines = [f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in of.items()) for group, of in points.items()]
    (folder / "entry_points.txt").write_text("\n".join(lines))
    paths = os.pathsep.join([str(tmp_path), str(root)])
    subprocess.run([sys.executable, "-c", AS_SOON_AS_PYTERRIER], check=True, env={**os.environ, "PYTHONPATH": paths})


def test_runs_are_read_when_they_are_asked_for(mine):
    calls = []

    def get_runs():
        calls.append(1)
        return ptr.read_runs(mine / "runs", teams={"bm25": "A", "dense": "B"}, pooled=["bm25"])

    dataset = build_irds(defined(mine), get_runs)
    assert not calls
    first, second = dataset.runs_iter()
    assert (first.run_id, first.team, first.type, first.pooled) == ("bm25", "A", None, True)
    assert (second.run_id, second.team, second.type, second.pooled) == ("dense", "B", None, False)
    assert next(first.scoreddocs_iter()) == ir_datasets.formats.GenericScoredDoc("1", "d1", 2.0)
    assert [row.doc_id for row in second.scoreddocs_iter()] == ["d1", "d2", "d1", "d2"]
    assert len(calls) == 1
