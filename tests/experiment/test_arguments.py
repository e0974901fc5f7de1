"""What ptr.Experiment cannot do is said before anything is run, and what is odd about the results after it."""

from __future__ import annotations

import ir_measures
import pandas as pd
import pyterrier as pt
import pytest
from experiment_parts import (
    FIELD,
    OTHERS,
    QRELS,
    TOPICS,
    Retriever,
    assert_same,
    frames,
    recorded,
    retrievers,
)
from ir_measures import AP

import pt_reuse as ptr

TEAMLESS = ptr.RunSet.from_frames({"x": FIELD.runs["lex1b"]})
ERRORS = [
    ({"reuse": "taus"}, "reuse"),
    ({"reuse": 3}, "reuse"),
    ({"drop_unused": True}, "drop_unused"),
    ({"base_line": 0}, "base_line"),
    ({"by": "runs"}, "by"),
    ({"depth": 0}, "depth"),
    ({"pool_order": "files"}, "pool_order"),
    ({"field": FIELD.qrels}, "field"),
    ({"field": FIELD.runs}, "retr_systems"),
    ({"teams": {"lex1a_": "us"}}, "teams"),
    ({"by": "type", "reuse": "lou"}, "by"),
    ({"field": TEAMLESS, "by": "type"}, "by"),
    ({"pooled": False, "reuse": "lou"}, "pooled"),
    ({"field": OTHERS.with_metadata(pooled=False)}, "pooled"),
    ({"field": OTHERS.with_metadata(teams={name: "neu2a" for name in OTHERS})}, "teams"),
]


@pytest.mark.parametrize(("arguments", "about"), ERRORS, ids=[str(list(arguments)) for arguments, _ in ERRORS])
def test_errors_come_before_anything_is_run(arguments, about, messages):
    systems = retrievers()
    messages.refused(lambda: ptr.Experiment(systems, TOPICS, QRELS, [AP], **arguments), argument=about)
    assert [system.calls for system in systems.values()] == [0, 0, 0]


class Needy(ir_measures.Measure):
    NAME = __name__ = "Needy"
    SUPPORTED_PARAMS = {}
    RUN_INPUTS = ("query_id", "doc_id", "score", "team")

    def runtime_impl(self, qrels, run):
        for qid in sorted(set(qrels["query_id"]) & set(run["query_id"])):
            yield ir_measures.Metric(qid, self, 0.5)


def test_errors_of_systems_topics_and_measures(messages):
    a, b = retrievers()["lex1a"], FIELD.runs["lex1b"]
    calls = [
        (([b, b], TOPICS, QRELS, [AP], ["A", "A"]), "retr_systems"),
        (([b, b], TOPICS, QRELS, [AP]), "retr_systems"),
        (({1: b, "1": b}, TOPICS, QRELS, [AP]), "retr_systems"),
        (([b, b], TOPICS, QRELS, [AP], ["A"]), "names"),
        ((b.drop(columns="name"), TOPICS, QRELS, [AP]), "retr_systems"),
        ((a, TOPICS, QRELS, [AP]), "retr_systems"),
        (({}, TOPICS, QRELS, [AP]), "retr_systems"),
        ((iter([]), TOPICS, QRELS, [AP]), "retr_systems"),
        (({"A": "runs/a.txt"}, TOPICS, QRELS, [AP]), "retr_systems"),
        (({"A": a, "B": [("1", "d1", 2.0)]}, TOPICS, QRELS, [AP]), None),
        (({"1": {"d1": 2.0}}, TOPICS, QRELS, [AP]), "retr_systems"),
        (([a], TOPICS, QRELS[:0], [AP]), "topics"),
        (([a], "no-topics", QRELS, [AP]), "topics"),
        (([a], TOPICS, "no-qrels", [AP]), None),
        (([a], None, QRELS, [AP]), "topics"),
        (([a], TOPICS, TOPICS, [AP]), None),
        (([a], TOPICS.assign(qid="x"), QRELS, [AP]), "topics"),
        (([a], TOPICS, QRELS, ["ndgc@10"]), None),
        (([a], TOPICS, QRELS, [AP, 3]), None),
        (([a], TOPICS, QRELS, ["mrt"]), "eval_metrics"),
        (([a], TOPICS, QRELS, None), "measures"),
        (([a], TOPICS, QRELS, [AP, Needy()]), "eval_metrics"),
    ]
    for arguments, about in calls:
        messages.refused(lambda arguments=arguments: ptr.Experiment(*arguments), argument=about)
    assert a.calls == 0
    with_team = {"A": b.assign(team="x")}
    ours = ptr.Experiment(with_team, TOPICS, QRELS, [Needy()], reuse="unjudged")
    assert_same(ours, pt.Experiment(with_team, TOPICS, QRELS, [Needy()]))


def test_document_twice_is_an_error_of_the_system(messages):
    twice = pd.concat([FIELD.runs["lex1a"], FIELD.runs["lex1a"][:1]])
    systems = {"B": FIELD.runs["lex1a"], "A": Retriever(twice)}
    messages.refused(lambda: ptr.Experiment(systems, TOPICS, QRELS, [AP]), argument="retr_systems")


def test_field_and_topics(messages):
    elsewhere = FIELD.runs["lex1b"][:25].assign(qid="99")
    far = ptr.RunSet.from_frames({"far": elsewhere}, teams={"far": "T"})
    messages.refused(lambda: ptr.Experiment(frames(), TOPICS, QRELS, [AP], field=far), place="field")
    partial = OTHERS | far
    ours, _, warned = recorded(ptr.Experiment, frames(), TOPICS[:2], QRELS, [AP], field=partial, depth=8)
    assert len(warned) == 1
    messages.told(warned[0])
    pd.testing.assert_frame_equal(ours, ptr.Experiment(frames(), TOPICS[:2], QRELS, [AP], field=OTHERS, depth=8))
    stranger = {"A": elsewhere, "B": FIELD.runs["lex1b"]}
    ours, _, warned = recorded(ptr.Experiment, stranger, TOPICS, QRELS, [AP])
    assert len(warned) == 1
    messages.told(warned[0])
    assert ours.loc[0, ["AP", "AP rank", "AP unjudged"]].tolist() == [0.0, 2, 1.0]
