"""Scores of TREC-8, and ptr.Experiment on Deep Learning 2019 with and without a field, as the documentation shows."""

from __future__ import annotations

from pathlib import Path

import build_experiments as build
import numpy as np
import pytest
import pytrec_eval
from ir_measures import AP

import pt_reuse as ptr

ROOT = Path(__file__).parents[2]


def shown(name):
    return (ROOT / "docs" / "experiments" / f"{name}.txt").read_text(encoding="utf-8")


def test_scores_that_float32_orders_otherwise_are_those_of_the_documentation_and_of_pytrec_eval(trec8):
    text, pair = shown("trec8-orders"), trec8.runs.select(["acsys8alo", "uwmt8a0"])
    for order, score in (("trec_eval9", "0.214337"), ("trec_eval", "0.214162")):
        found = ptr.score(pair.reorder(order), trec8.qrels, [AP]).mean.to_string(index=False)
        assert found in text
        assert f" uwmt8a0 {score}" in found
    wanted = pytrec_eval.RelevanceEvaluator(
        {
            qid: dict(zip(rows["docno"], rows["label"], strict=True))
            for qid, rows in trec8.qrels.to_frame().groupby("qid")
        },
        {"map"},
    ).evaluate(
        {
            qid: dict(zip(rows["docno"], rows["score"], strict=True))
            for qid, rows in trec8.runs["uwmt8a0"].groupby("qid")
        }
    )
    assert f"{np.mean([topic['map'] for topic in wanted.values()]):.6f}" == "0.214337"


def test_deep_learning_is_what_the_documentation_shows(data):
    if not (data / "dl19-passages").is_dir():
        pytest.skip("the test data has no folder dl19-passages")
    found = dict(build.dl19(data))
    assert list(found) == ["dl19-alone", "dl19-field", "dl19-pooled", "dl19-long"]
    for name, text in found.items():
        assert text == shown(name)
