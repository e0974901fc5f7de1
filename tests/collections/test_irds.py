"""Collections in ir_datasets' form, their runs among them."""

from __future__ import annotations

import ir_datasets
from own_files import defined

import pt_reuse as ptr
from pt_reuse.collections.collection import Collection
from pt_reuse.collections.definition import define
from pt_reuse.collections.irds import SubmittedRun, build_irds


def test_runs_are_read_when_they_are_asked_for(mine):
    calls = []

    def get_runs():
        calls.append(1)
        return ptr.read_runs(mine / "runs", teams={"bm25": "A", "dense": "B"}, pooled=["bm25"])

    dataset = build_irds(defined(mine), get_runs)
    assert dataset.runs_cls() is SubmittedRun
    assert not calls
    first, second = dataset.runs_iter()
    assert first[:4] == ("bm25", "A", None, True)
    assert second[:4] == ("dense", "B", None, False)
    assert dataset.runs_count() == len(first.scoreddocs) // 2 == 2
    assert next(first.scoreddocs_iter()) == ir_datasets.formats.GenericScoredDoc("1", "d1", 2.0)
    assert [row.doc_id for row in second.scoreddocs] == ["d1", "d2", "d1", "d2"]
    assert repr(first.scoreddocs) == "RunDocs('bm25', 4 documents)"
    assert len(calls) == 1


def test_a_part_that_is_not_named_is_absent(mine):
    nothing = build_irds(Collection(name="nothing", title="nothing"), lambda: None)
    assert not any(nothing.has(part) for part in ir_datasets.EntityType)
    assert not hasattr(nothing, "runs_iter")
    only = build_irds(define("only", qrels=mine / "qrels.txt"))
    assert (only.has_docs(), only.has_queries(), only.has_qrels()) == (False, False, True)
    assert only.dataset_id() == "reuse/only"


def test_parts_of_different_datasets_of_ir_datasets(mine):
    mixed = build_irds(
        define("mixed", documents="irds:cranfield", topics="irds:vaswani", qrels=mine / "qrels.txt", note="for a test")
    )
    assert mixed.docs_handler() is ir_datasets.load("cranfield").docs_handler()
    assert mixed.queries_handler() is ir_datasets.load("vaswani").queries_handler()
    assert mixed.docs_count() == 1400
    assert mixed.qrels_count() == 2


def test_an_unknown_id_is_told_when_it_is_used(messages):
    messages.hidden[ir_datasets.__version__] = "{version}"
    dataset = build_irds(Collection(name="x", title="x", documents="irds:cranfeld", topics="irds:cranfield"))
    assert dataset.has_docs()
    messages.refused(lambda: dataset.docs_iter())
    lacking = build_irds(Collection(name="x", title="x", qrels="irds:msmarco-passage"))
    messages.refused(lambda: lacking.qrels_iter())
