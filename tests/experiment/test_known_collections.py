"""ptr.Experiment on TREC-8 and Deep Learning 2019, with and without a field, as the documentation shows it."""

from __future__ import annotations

from pathlib import Path

import build_experiments as build
import numpy as np
import pytest
import pytrec_eval

ROOT = Path(__file__).parents[2]


def shown(name):
    return (ROOT / "docs" / "experiments" / f"{name}.txt").read_text(encoding="utf-8")


def test_trec8_is_what_the_documentation_shows(trec8):
    found = dict(build.trec8_of(trec8.runs, trec8.qrels))
    assert list(found) == ["trec8-alone", "trec8-lou", "trec8-field", "trec8-pooled", "trec8-report", "trec8-orders"]
    for name, text in found.items():
        assert text == shown(name)
    # among two systems, and among the 129 runs of the field
    assert "AP LOU % (no field)    -25.632   -6.632" in found["trec8-lou"]
    assert "78,504 of 86,830 judged documents (90%)" in " ".join(found["trec8-lou"].split())
    assert "AP LOU %        +0.005   -0.117" in found["trec8-pooled"]
    assert "Warning" not in found["trec8-field"] + found["trec8-pooled"]
    # 42 topics of a run that float32 orders otherwise, by a program that is none of ours
    assert "'uwmt8a0' on 42 topics." in " ".join(found["trec8-orders"].split())
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
    assert f"{np.mean([topic['map'] for topic in wanted.values()]):.4f}" == "0.2143"
    assert " uwmt8a0 0.214337\n" in found["trec8-orders"]
    assert " uwmt8a0 0.214162\n" in found["trec8-orders"]


def test_deep_learning_is_what_the_documentation_shows(data):
    if not (data / "dl19-passages").is_dir():
        pytest.skip("the test data has no folder dl19-passages")
    found = dict(build.dl19(data))
    assert list(found) == ["dl19-alone", "dl19-field", "dl19-pooled", "dl19-long"]
    for name, text in found.items():
        assert text == shown(name)
