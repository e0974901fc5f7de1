"""The steps for pools and judgments are transformers as pyterrier wants them, and read like it from pool to label."""

from __future__ import annotations

import unittest

import pyterrier as pt
import pytest
from experiment_parts import FIELD, Retriever

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
