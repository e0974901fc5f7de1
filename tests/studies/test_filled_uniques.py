"""Leave-out-uniques with the holes filled by a judge, against loops over dicts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyterrier as pt
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from ir_measures import AP, RBP, RR, Bpref, Judged, P, nDCG
from reference import as_qrels
from reference_fill import WAYS, as_judgments, filled_tables, judges_of
from reference_lou import hand_field, records, same, team_fields

import pt_reuse as ptr
from pt_reuse.judging.oracle import Oracle
from pt_reuse.studies.leave_out_uniques import leave_out_uniques

#: judgments made at random are nobody's pool, and relevant from 2 on for some measures alone
pytestmark = [
    pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning"),
    pytest.mark.filterwarnings("ignore:.* count documents of label 1:pt_reuse.ReuseWarning"),
]

MEASURES = [AP, P @ 3, nDCG @ 4, Bpref, nDCG(judged_only=True) @ 3, Judged @ 3, RR(rel=2)]
#: unjudged is not relevant in them
BLIND = [AP, P @ 3, nDCG @ 4, RR, RBP(rel=1)]


@settings(deadline=None, max_examples=7)
@given(
    st.data(),
    team_fields(labels=([0, 1], [0, 1, 2, 3], [-2, -1, 0, 1, 2])),
    st.sampled_from(["team", "run", "type"]),
    st.sampled_from([1, 3, 100]),
    st.sampled_from(["relevant", "judged"]),
    st.booleans(),
    st.sampled_from(["uniques", "unjudged"]),
    st.sampled_from([(1, 1), (2, 2), (2, 1), (1, 2)]),
)
def test_every_table_equals_the_brute_force(data, field, by, depth, remove, complete, holes, rels):
    said = data.draw(judges_of(field))
    judged = {(t, d) for t, labels in field.judgments.items() for d, label in labels.items() if label >= 0}
    assume(judged & set(said))
    rel, judge_rel = rels
    options = {"depth": depth, "remove": remove, "rel": rel, "complete": complete}
    found = leave_out_uniques(
        field.as_runs(),
        as_qrels(field.judgments),
        MEASURES,
        by=by,
        **options,
        fill={"judge": as_judgments(said)},
        judge_rel=judge_rel,
        holes=holes,
    )
    rows, by_run = filled_tables(
        field.runs,
        field.judgments,
        said,
        MEASURES,
        field.units(by),
        field.pooled,
        **options,
        order="trec_eval",
        judge_rel=judge_rel,
        holes=holes,
    )
    same(records(found.filled, "name" if by == "run" else by), rows)
    same(records(found.filled_by_run), by_run)
    plain = leave_out_uniques(
        field.as_runs(),
        as_qrels(field.judgments),
        MEASURES,
        by=by,
        depth=depth,
        remove=remove,
        rel=rel,
        complete=complete,
    )
    for name, table in plain.tables().items():
        pd.testing.assert_frame_equal(table, found.tables()[name])
    np.testing.assert_array_equal(plain.reduced, found.reduced)


@settings(deadline=None, max_examples=3)
@given(team_fields(labels=([0, 1], [0, 1, 2])), st.sampled_from(["team", "run"]))
def test_filled_with_the_truth_is_the_truth(field, by):
    qrels = as_qrels(field.judgments)
    for judge in (qrels, Oracle(qrels)):
        found = leave_out_uniques(field.as_runs(), qrels, MEASURES, by=by, depth=3, fill=judge)
        assert (found.filled["labelled"] == found.filled["removed"]).all()
        assert (found.filled["judge_relevant"] == found.filled["relevant"]).all()
        for way in ("filled", "judge_alone"):
            assert (found.filled_by_run[f"{way}_score"] == found.filled_by_run["score"]).all()
            assert not found.filled[[f"{way}_{name}" for name in ("change", "max_drop", "own_rise")]].to_numpy().any()
        assert not found.filled_summary[["filled_above", "judge_alone_above"]].to_numpy().any()


@settings(deadline=None, max_examples=3)
@given(team_fields())
def test_filled_by_who_finds_nothing_relevant_is_removed(field):
    found = leave_out_uniques(
        field.as_runs(), as_qrels(field.judgments), BLIND, depth=3, fill=lambda frame: [0] * len(frame)
    )
    for what in ("score", "change", "rank", "drop"):
        pd.testing.assert_series_equal(
            found.filled_by_run[f"filled_{what}"], found.filled_by_run[f"removed_{what}"], check_names=False
        )
    assert not found.filled_by_run["judge_alone_score"].any()
    assert not found.filled["judge_relevant"].any()


def by_hand(**options):
    field = hand_field()
    # d1 of topic 1 is x's, d4 is y's; d2 was found not relevant and is x's, as D was not pooled
    said = pd.DataFrame({"qid": "1", "docno": ["d1", "d2", "d3", "d4"], "label": [0, 2, 1, 1]})
    return leave_out_uniques(
        field.as_runs(), as_qrels(field.judgments), P @ 2, depth=3, fill={"said": said, **options.pop("more", {})},
        **options,
    )  # fmt: skip


def test_numbers_by_hand(messages):
    found = messages.warned(by_hand)
    x, y, z = found.filled.set_index("team").loc[["x", "y", "z"]].to_dict("records")
    counts = ["removed", "labelled", "unknown", "judge_relevant", "relevant"]
    assert [[row[name] for name in counts] for row in (x, y, z)] == [[2, 2, 0, 1, 1], [1, 1, 0, 1, 1], [0, 0, 0, 0, 0]]
    # P@2 over two topics: A has d1 d3 (.5), B d3 d1 (.5), C d4 d3 (.5); without d1 a half of each is left
    assert [x[f"{way}_change"] for way in WAYS] == [-0.25, -0.25, -0.25]
    assert [y[f"{way}_change"] for way in WAYS] == [-0.25, 0.0, 0.0]
    # D, d5 d2: d5 is relevant, d2 is not; the judge finds d2 relevant and does not know d5
    assert [z[f"{way}_change"] for way in WAYS] == [0.0, 0.0, 0.0]
    assert found.settings["fill"] == "said: 7 documents asked, relevant from label 1, 3 without a label"
    assert found.remove == "judged"


def test_a_removal_of_relevant_uniques_alone_is_told(messages):
    found = messages.warned(lambda: by_hand(remove="relevant"), times=2)
    assert found.filled["removed"].tolist() == [1, 1, 0]
    assert "only uniques that are relevant are filled" in found.settings["beware"]


def test_judges_are_stacked_and_each_is_asked_once_for_all():
    asked = []

    def generous(frame):
        asked.append(frame)
        return [2] * len(frame)

    field = ptr.simulate_field(seed=7, n_topics=6)
    found = leave_out_uniques(
        field.runs, field.qrels, [AP, nDCG @ 10], depth=field.depth, fill={"a": generous, "b": field.qrels}
    )
    assert len(asked) == 1
    assert asked[0].columns.tolist() == ["qid", "docno"]
    assert len(asked[0]) == (field.qrels.to_frame()["label"] >= 0).sum()
    assert found.filled["judge"].unique().tolist() == found.filled_summary["judge"].unique().tolist() == ["a", "b"]
    one = leave_out_uniques(field.runs, field.qrels, [AP, nDCG @ 10], depth=field.depth, fill={"b": field.qrels})
    for name in ("filled", "filled_by_run", "filled_summary"):
        both, alone = getattr(found, name), getattr(one, name)
        pd.testing.assert_frame_equal(both[both["judge"] == "b"].reset_index(drop=True), alone)
    assert (found.filled_summary.query("judge == 'a'")["filled_above"] > 0).all()


def test_a_pipeline_brings_the_texts_that_a_judge_reads():
    field = ptr.simulate_field(seed=7, n_topics=3)
    seen = []

    def read(text):
        seen.append(text)
        return int(text.endswith("7"))

    judge = ptr.judging.Callable(read, name="reader", reads=("text",))
    texts = pt.apply.generic(lambda frame: frame.assign(text="text of " + frame["docno"]), transform_outputs=None)
    found = leave_out_uniques(field.runs, field.qrels, AP, depth=field.depth, fill={"reader": texts >> judge})
    frame = field.qrels.to_frame()
    assert sorted(seen) == sorted("text of " + frame["docno"])
    said = frame.assign(label=frame["docno"].str.endswith("7").astype(int))
    other = leave_out_uniques(field.runs, field.qrels, AP, depth=field.depth, fill={"reader": said})
    pd.testing.assert_frame_equal(found.filled, other.filled)


def test_the_holes_that_nobody_judged_are_filled_besides():
    field = ptr.simulate_field(seed=7, n_topics=6)
    late = field.runs.with_metadata(pooled={name: name.startswith("lex") for name in field.runs})
    qrels = field.all_qrels.restrict(ptr.depth_pool(late, depth=5))
    options = {"depth": 5, "fill": {"truth": field.all_qrels}}
    plain = leave_out_uniques(late, qrels, P @ 5, **options)
    found = leave_out_uniques(late, qrels, P @ 5, **options, holes="unjudged")
    n_holes = len(ptr.depth_pool(late, depth=5, contributors="all").remainder(qrels))
    assert n_holes > 0
    assert found.settings["holes"] == f"the removed uniques and {n_holes:,} documents that nobody judged"
    assert found.settings["fill"].startswith(f"truth: {len(qrels) + n_holes:,} documents asked")
    # with all of them labelled, every run has its score under complete judgments
    complete = ptr.score(late, field.all_qrels.select(qrels.topics), P @ 5).mean["P@5"]
    for way in ("filled", "judge_alone"):
        np.testing.assert_allclose(found.filled_by_run[f"{way}_score"], complete, atol=1e-12)
    assert plain.filled_by_run["filled_change"].eq(0).all()
    assert found.filled_by_run["filled_change"].gt(0).any()


def test_two_runs_one_topic_and_a_binary_judge():
    field = ptr.simulate_field(seed=7, n_topics=1)
    runs = field.runs.select(["lex1a", "neu2a"])
    binary = field.qrels.threshold(2).to_frame()
    found = leave_out_uniques(runs, field.qrels.with_rel(2), P(rel=2) @ 10, depth=10, fill=binary, resamples=9)
    assert found.filled["filled_change"].tolist() == [0.0, 0.0]
    assert found.filled[["filled_change_low", "filled_change_high"]].isna().all(axis=None)
    assert "there is nothing" not in " ".join(found.findings())
