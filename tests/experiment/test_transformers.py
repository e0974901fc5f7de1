"""Every transformer of ours does what pyterrier asks: its own test class, pt.inspect, pt.validate, schematics."""

from __future__ import annotations

import unittest

import pandas as pd
import pyterrier as pt
import pytest
from experiment_parts import FIELD, TOPICS, Retriever

from pt_reuse.demo.walk import LIVE, live_pipelines
from pt_reuse.experiment.systems import Recorder


@pytest.fixture(autouse=True)
def offline(monkeypatch):
    """Let pyterrier look no documentation up on the network, and say nothing of its test class."""

    def reached(*_, **__):
        pytest.fail("no transformer of ours needs the network")

    monkeypatch.setenv("PT_TEST_TRANSFORMER_REPORTS", "0")
    monkeypatch.setattr("pyterrier.documentation.url_for_class", reached)


def passes(make):
    """Run pyterrier's own tests of transformers on what a function makes."""
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(pt.testing.transformer_test_class(make))
    outcome = unittest.TestResult()
    suite.run(outcome)
    assert outcome.testsRun >= 2
    assert not [text for _, text in [*outcome.failures, *outcome.errors]]


@pytest.mark.parametrize("name", ["BM25", "BM25 >> RM3 with a very long name", "ü", ""])
def test_a_recorder_passes(name):
    passes(lambda: Recorder(name))


def test_a_recorder_is_inspected_validated_and_labelled():
    recorder = Recorder("BM25")
    assert pt.inspect.transformer_inputs(recorder) == [["qid", "docno", "score"]]
    for columns in (["qid", "docno", "score"], ["qid", "query", "docno", "rank", "score", "text"]):
        assert pt.inspect.transformer_outputs(recorder, columns) == columns
    assert pt.inspect.subtransformers(recorder) == {}
    drawn = pt.schematic.transformer_schematic(recorder)
    assert (drawn["label"], drawn["help_url"]) == ("BM25", None)
    assert (drawn["input_columns"], drawn["output_columns"]) == (["qid", "docno", "score"],) * 2
    assert len(pt.schematic.transformer_schematic(Recorder("a name of many, many words"))["label"]) == 20
    with pytest.raises(
        pt.validate.InputValidationError, match=r"in transformer BM25 .*missing_columns=\['docno', 'score'\]"
    ):
        recorder(TOPICS)
    empty = pd.DataFrame()
    assert recorder(empty) is empty, "a batch without results, whatever it looks like"


def test_a_pipeline_with_a_recorder_is_drawn_with_the_name_of_the_system():
    class Local(Retriever):
        schematic = {"label": "lexical", "help_url": None}

    pipeline = Local(FIELD.runs["lex1a"]) >> Recorder("BM25")
    passes(lambda: pipeline)
    drawn = pt.schematic.transformer_schematic(pipeline, input_columns=["qid", "query"])
    assert [part["label"] for part in drawn["transformers"]] == ["lexical", "BM25"]
    assert drawn["output_columns"] == ["qid", "query", "docno", "rank", "score"]
    assert "BM25" in pt.schematic.draw(pipeline)


def test_the_pipelines_of_the_embedded_collection_pass(tmp_path, monkeypatch):
    pytest.importorskip("pyterrier_pisa")
    # of pyterrier's own transformers it looks the documentation up in a list that it keeps for a day
    monkeypatch.undo()
    monkeypatch.setenv("PT_TEST_TRANSFORMER_REPORTS", "0")
    monkeypatch.setattr("pyterrier.documentation.url_for_class", lambda _: None)
    pipelines = live_pipelines(tmp_path)
    labels = {}
    for name, pipeline in pipelines.items():
        passes(lambda pipeline=pipeline: pipeline)
        assert ["qid", "query"] in [
            sorted(config) for config in pt.inspect.transformer_inputs(pipeline)
        ] or name == LIVE[2]
        assert {"qid", "docno", "score", "rank"} <= set(pt.inspect.transformer_outputs(pipeline, ["qid", "query"]))
        drawn = pt.schematic.transformer_schematic(pipeline, input_columns=["qid", "query"])
        labels[name] = next(part["label"] for part in drawn.get("transformers", [drawn]))
    assert labels == {LIVE[0]: "words of the query", LIVE[1]: "and description", LIVE[2]: "MiniLM"}
    with pytest.raises(pt.validate.InputValidationError, match="query"):
        pipelines[LIVE[0]](pd.DataFrame({"qid": ["1"]}))
    with pytest.raises(pt.validate.InputValidationError, match="qid"):
        pipelines[LIVE[2]](pd.DataFrame({"query": ["1"]}))
