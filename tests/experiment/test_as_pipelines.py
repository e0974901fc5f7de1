"""The steps for pools and judgments are transformers as pyterrier wants them, and read like it from pool to label."""

from __future__ import annotations

import unittest

import pandas as pd
import pyterrier as pt
import pytest
from experiment_parts import FIELD, TOPICS, Retriever

import pt_reuse as ptr
from pt_reuse.judging.judge import Judge

STEPS = {
    "judged": lambda: ptr.OnlyJudged(FIELD.qrels),
    "unjudged": lambda: ptr.OnlyUnjudged(FIELD.qrels),
    "part of corpus": lambda: ptr.OnlyDocuments(["doc00001"]),
}


class Local(Retriever):
    """A retriever of which no documentation is looked up."""

    schematic = {"label": "lexical", "help_url": None}

    def transform_inputs(self):
        return [["qid", "query"]]


class ByName(Judge):
    """Calls documents of an even number relevant, and gives those of 9 no label."""

    def labels_of(self, pairs):
        return [None if docno.endswith("9") else int(docno[-1]) % 2 for docno in pairs["docno"]]


@pytest.fixture(autouse=True)
def offline(monkeypatch):
    """Let pyterrier look no documentation up on the network, and say nothing of its test class."""

    def reached(*_, **__):
        pytest.fail("no transformer of ours needs the network")

    monkeypatch.setenv("PT_TEST_TRANSFORMER_REPORTS", "0")
    monkeypatch.setattr("pyterrier.documentation.url_for_class", reached)


def pool():
    return ptr.PoolDocuments(Local(FIELD.runs["lex1a"]), Local(FIELD.runs["neu2a"]), depth=5)


def oracle():
    return ptr.judging.Oracle(FIELD.qrels)


WHOLE = {"pool": pool, "oracle": oracle, "all": lambda: pool() >> ByName("me")}


@pytest.mark.parametrize("make", [*STEPS.values(), *WHOLE.values()], ids=[*STEPS, *WHOLE])
def test_pyterriers_own_tests_pass(make):
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(pt.testing.transformer_test_class(make))
    outcome = unittest.TestResult()
    suite.run(outcome)
    assert outcome.testsRun >= 2
    assert not [text for _, text in [*outcome.failures, *outcome.errors]]


@pytest.mark.parametrize("name", STEPS)
def test_steps_are_inspected_and_validated(name):
    step = STEPS[name]()
    assert pt.inspect.transformer_inputs(step) == [["qid", "docno"]]
    for columns in (["qid", "docno"], ["qid", "query", "docno", "score", "rank", "text"]):
        assert pt.inspect.transformer_outputs(step, columns) == columns
    assert pt.inspect.subtransformers(step) == {}
    assert pt.schematic.transformer_schematic(step)["label"] == name
    with pytest.raises(pt.validate.InputValidationError, match=r"Only.*missing_columns=\['docno'\]"):
        step(TOPICS)
    with pytest.raises(pt.validate.InputValidationError):
        pt.inspect.transformer_outputs(step, ["qid", "query"])


def test_a_judge_is_inspected_and_validated_behind_a_pool_and_behind_a_union():
    assert pt.inspect.transformer_inputs(oracle()) == [["qid", "docno"]]
    added = ["label", "judge", "time"]
    assert pt.inspect.transformer_outputs(oracle(), ["qid", "docno", "score"]) == ["qid", "docno", "score", *added]
    assert pt.schematic.transformer_schematic(oracle())["label"] == "judge"
    with pytest.raises(pt.validate.InputValidationError, match=r"missing_columns=\['docno'\]"):
        oracle()(TOPICS)
    lexical, neural = pool().pipelines
    ranked = ["qid", "query", "docno", "best_rank", "runs", "score", "rank"]
    for pipeline, columns in (
        (pool() >> oracle(), ranked),
        ((lexical % 5 | neural % 5) >> oracle(), ["qid", "query", "docno"]),
    ):
        assert pt.inspect.transformer_inputs(pipeline) == [["qid", "query"]]
        assert pt.inspect.transformer_outputs(pipeline, ["qid", "query"]) == [*columns, *added]
        assert list(pipeline(TOPICS)) == [*columns, *added]
    systems = {"pool": pool() >> oracle(), "lexical": lexical >> oracle(), "bare": lexical}
    found = pt.Experiment(systems, TOPICS, FIELD.qrels.to_frame(), ["map"], validate="error").set_index("name")["map"]
    assert found["lexical"] == found["bare"]


def test_a_pool_is_inspected_and_drawn_with_its_pipelines():
    made = pool()
    assert pt.inspect.transformer_inputs(made) == [["qid", "query"]]
    columns = ["qid", "query", "docno", "best_rank", "runs", "score", "rank"]
    assert pt.inspect.transformer_outputs(made, ["qid", "query"]) == columns == list(made(TOPICS).columns)
    assert pt.inspect.subtransformers(made) == {"pipelines": list(made.pipelines)}
    drawn = pt.schematic.transformer_schematic(made)
    assert (drawn["label"], drawn["help_url"], len(drawn["inner_pipelines"])) == ("Pool", None, 2)
    assert "lexical" in pt.schematic.draw(made)
    rewriting = pt.apply.generic(lambda inp: inp, required_columns=["qid", "query_vec"])
    both = ptr.PoolDocuments(made.pipelines[0], rewriting >> made.pipelines[1], depth=3)
    assert pt.inspect.transformer_inputs(both) == [["qid", "query", "query_vec"]]


def test_experiments_validate_pipelines_with_them():
    retriever, step = Local(FIELD.runs["lex1a"]), STEPS["judged"]()
    found = pt.Experiment([retriever >> step, pool()], TOPICS, FIELD.qrels.to_frame(), ["map"], validate="error")
    assert len(found) == 2
    with pytest.raises(Exception, match="failed validation"):
        pt.Experiment([step >> retriever], TOPICS, FIELD.qrels.to_frame(), ["map"], names=["x"], validate="error")


def test_from_pipelines_to_judgments():
    judged = (pool() >> ptr.OnlyUnjudged(FIELD.qrels) >> ByName("me"))(TOPICS)
    lexical, neural = pool().pipelines
    joined = ((lexical % 5 | neural % 5) >> ptr.OnlyUnjudged(FIELD.qrels) >> ByName("me"))(TOPICS)
    columns = ["qid", "docno", "label", "judge"]
    by_name = [frame[columns].sort_values(["qid", "docno"]).reset_index(drop=True) for frame in (judged, joined)]
    pd.testing.assert_frame_equal(*by_name)
    known = FIELD.qrels.to_frame().query("label >= 0")
    assert not set(zip(judged["qid"], judged["docno"], strict=True)) & set(
        zip(known["qid"], known["docno"], strict=True)
    )
    assert judged["label"].isna().equals(judged["docno"].str.endswith("9"))
    new = ptr.Qrels(judged.dropna(subset="label")[columns])
    both = FIELD.qrels | new
    assert len(both) == len(FIELD.qrels) + len(new)
    assert len(ptr.OnlyUnjudged(both)(judged)) == judged["label"].isna().sum()
