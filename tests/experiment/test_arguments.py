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


def test_errors_come_before_anything_is_run(messages):
    systems = retrievers()
    for given, about in ERRORS:
        messages.refused(lambda given=given: ptr.Experiment(systems, TOPICS, QRELS, [AP], **given), argument=about)
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


# the arguments of Experiment are judged before any system runs

FRAME = FIELD.runs["neu2a"]
#: what is wrong -> the arguments; the first is the one that the error is about
ARGUMENTS = {
    "perquery": {"perquery": "yes"},
    "perquery 2": {"perquery": 2},
    "dataframe": {"dataframe": "no"},
    "verbose": {"verbose": "no"},
    "filter_by_qrels": {"filter_by_qrels": "no"},
    "filter_by_topics": {"filter_by_topics": 1},
    "types": {"types": 5},
    "pooled": {"pooled": 5},
    "correction": {"correction": "bonferoni", "baseline": 0},
    "correction_alpha": {"correction": "holm", "correction_alpha": "x", "baseline": 0},
    "test": {"test": 5, "baseline": 0},
    "a baseline by topic": {"baseline": 0, "perquery": True},
    "a baseline by topic, too": {"baseline": "live", "perquery": "both"},
    "a baseline that is none": {"baseline": 1},
    "a baseline before the first": {"baseline": -1, "reuse": []},
}
FRAMES = {
    "no score": FRAME[["qid", "docno"]],
    "a score that is none": FRAME.assign(score="x"),
    "a document twice": pd.concat([FRAME, FRAME.head(1)]),
    "no frame": 5,
}


@pytest.fixture
def live():
    """Return a system that must not run."""

    class Unreached(Retriever):
        def transform(self, inp):
            if len(inp):
                pytest.fail("the arguments were to be judged before")
            return super().transform(inp)

    return Unreached(FIELD.runs["lex1a"])


def test_arguments_and_result_frames(live, messages):
    for given in ARGUMENTS.values():
        call = lambda given=given: ptr.Experiment({"live": live}, TOPICS, QRELS, ["AP"], **given)  # noqa: E731
        messages.refused(call, argument=next(iter(given)))
    for frame in FRAMES.values():
        systems = {"live": live, "stored": frame}
        messages.refused(lambda systems=systems: ptr.Experiment(systems, TOPICS, QRELS, ["AP"], validate="ignore"))


def test_a_system_may_be_a_run_file(tmp_path):
    runs = FIELD.runs.select(FIELD.runs.names[:2])
    paths = runs.write(tmp_path / "runs")
    files, frames = (
        ptr.Experiment(systems, TOPICS, FIELD.qrels, [AP])
        for systems in (dict(zip(runs.names, map(str, paths), strict=True)), {name: runs[name] for name in runs})
    )
    assert files["AP"].tolist() == frames["AP"].tolist()
    assert files["name"].tolist() == runs.names
