"""How certain an inferred pool is: exact, nearly exact, most, partial, none."""

from __future__ import annotations

from pool_parts import (
    as_qrels,
    as_runs,
)

from pt_reuse.studies.pool_inference.inference import infer_pool


def test_certainty_looks_at_both_sides():
    lists = {"1": [f"d{i:03}" for i in range(100)]}
    runs = as_runs({"A": lists})

    def certainty(judged, extra=0, **options):
        pairs = {("1", doc) for doc in lists["1"][:judged]} | {("1", f"x{i}") for i in range(extra)}
        return infer_pool(runs, as_qrels(pairs), depth=100, **options)

    assert certainty(100).explanation.startswith("exact")
    assert certainty(99, tolerance=0.5).explanation == (
        "nearly exact: these runs explain all of the judgments, and 1 document in their pool (1.0%) lacks a judgment."
    )
    assert certainty(95, tolerance=0.5).explanation.startswith("nearly exact")
    assert certainty(94, tolerance=0.5).explanation.startswith("most")
    assert certainty(51, tolerance=0.5).explanation.startswith("most")
    assert certainty(100, extra=5).explanation.startswith("nearly exact: these runs explain 95.2% of the judgments;")
    assert certainty(100, extra=6).explanation.startswith("most")
    partial = certainty(100, extra=150)
    assert partial.explanation.startswith("partial: these runs explain 40.0% of the judgments;")
    assert partial.headline() == "depth 100, 1 of 1 run contributed, 100 of 250 judgments explained (partial)"
    none = certainty(1, tolerance=0.5)
    assert none.explanation.startswith("none")
    assert none.headline() == "no pool found to depth 100, 0 of 1 judgment explained"


def test_almost_all_is_not_all():
    lists = {"1": [f"d{i}" for i in range(3000)]}
    judged = {("1", doc) for doc in lists["1"]}
    found = infer_pool(as_runs({"A": lists}), as_qrels(judged | {("1", "x")}))
    assert found.explanation.startswith("nearly exact: these runs explain 99.9% of the judgments; the rest")
    found = infer_pool(as_runs({"A": lists}), as_qrels(judged - {("1", "d7")}), depth=3000, tolerance=0.1)
    assert "and 1 document in their pool (below 0.1%) lacks a judgment." in found.explanation
