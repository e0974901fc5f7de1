"""What ptr.Experiment cannot do is said before anything is run, and what is odd about the results after it."""

from __future__ import annotations

import ir_measures
import pandas as pd
import pyterrier as pt
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
FRAME = FIELD.runs["neu2a"]
#: what no experiment takes; the first argument is the one that the error is about
ERRORS = [
    *({"reuse": "taus"}, {"reuse": 3}, {"base_line": 0}, {"by": "runs"}, {"depth": 0}, {"pool_order": "files"}),
    *({"field": FIELD.qrels}, {"teams": {"lex1a_": "us"}}, {"by": "type", "reuse": "lou"}),
    *({"by": "type", "field": TEAMLESS}, {"pooled": False, "reuse": "lou"}, {"types": 5}, {"pooled": 5}),
    {"pooled": None, "field": OTHERS.with_metadata(pooled=False)},
    {"teams": None, "field": OTHERS.with_metadata(teams={name: "neu2a" for name in OTHERS})},
    *({"perquery": "yes"}, {"perquery": 2}, {"dataframe": "no"}, {"verbose": "no"}),
    *({"filter_by_qrels": "no"}, {"filter_by_topics": 1}),
    *({"correction": "bonferoni", "baseline": 0}, {"correction": "holm", "correction_alpha": "x", "baseline": 0}),
    *({"test": 5, "baseline": 0}, {"baseline": 0, "perquery": True}, {"baseline": "lex1a", "perquery": "both"}),
    *({"baseline": 3}, {"baseline": -1, "reuse": []}),
]
FRAMES = (FRAME[["qid", "docno"]], FRAME.assign(score="x"), pd.concat([FRAME, FRAME.head(1)]), 5)


def test_a_field_that_knows_to_be_pooled_by_ranks(messages):
    """Systems need no ranks, unless the order is asked for; then one that is stored is looked at first."""
    frames = {name: OTHERS[name] for name in OTHERS}
    field = ptr.RunSet.from_frames(frames, metadata=OTHERS.run_table, pool_order="rank", pool_depth=8)
    stored = FRAME.drop(columns="rank")
    systems = {"live": Retriever(FIELD.runs["lex1a"].drop(columns="rank")), "stored": stored}
    table = ptr.Experiment(systems, TOPICS, QRELS, ["AP"], field=field)
    pd.testing.assert_frame_equal(
        table, ptr.Experiment(systems, TOPICS, QRELS, ["AP"], field=OTHERS, depth=8), check_like=True
    )
    assert table.attrs["reuse"]["settings"]["pool order"] == "rank"
    live = retrievers()["lex1a"]
    how = {"field": field, "pooled": True, "pool_order": "rank"}
    messages.refused(lambda: ptr.Experiment({"live": live, "stored": stored}, TOPICS, QRELS, ["AP"], **how))
    assert live.calls == 0


def test_errors_come_before_anything_is_run(messages):
    systems = retrievers()
    for given in ERRORS:
        messages.refused(
            lambda given=given: ptr.Experiment(systems, TOPICS, QRELS, [AP], **given), argument=next(iter(given))
        )
    messages.refused(lambda: ptr.Experiment(systems, TOPICS, QRELS, [AP], field=FIELD.runs), argument="retr_systems")
    for frame in FRAMES:
        stored = {**systems, "stored": frame}
        messages.refused(lambda stored=stored: ptr.Experiment(stored, TOPICS, QRELS, ["AP"], validate="ignore"))
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


def test_a_system_may_be_a_run_file(tmp_path):
    runs = FIELD.runs.select(FIELD.runs.names[:2])
    paths = runs.write(tmp_path / "runs")
    files, frames = (
        ptr.Experiment(systems, TOPICS, FIELD.qrels, [AP])
        for systems in (dict(zip(runs.names, map(str, paths), strict=True)), {name: runs[name] for name in runs})
    )
    assert files["AP"].tolist() == frames["AP"].tolist()
    assert files["name"].tolist() == runs.names
