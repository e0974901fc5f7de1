"""Leave-out-uniques with the holes filled by a judge, against loops over dicts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from ir_measures import AP, RR, Bpref, Judged, P, nDCG
from reference import as_qrels, changed
from reference_lou import (
    correlations,
    depth_pool,
    means,
    ranks,
    records,
    same,
    score_all,
    sole_units,
    team_fields,
)

import pt_reuse as ptr
from pt_reuse.judge import Oracle
from pt_reuse.studies.leave_out_uniques import leave_out_uniques

# the slow version: every set of judgments is built anew, and every run scored under it

WAYS = ("removed", "filled", "judge_alone")


def on_scale(label, judge_rel, rel, highest):
    """Return a label of a judge so that it is relevant for people where it is for the judge, and none above theirs."""
    scaled = label if judge_rel == rel else max(label, rel) if label >= judge_rel else min(label, rel - 1)
    return min(scaled, max(highest, rel))


def filled_tables(
    runs, judgments, said, measures, unit_of, contributors,
    *, depth, remove, complete, order, rel, judge_rel, holes,
):  # fmt: skip
    """Return the rows of `filled`; `said` is {(topic, docno): label} of the judge."""
    names, units = list(runs), list(dict.fromkeys(unit_of[name] for name in runs))
    judged = {(t, d): label for t in judgments for d, label in judgments[t].items() if label >= 0}
    highest = max(judged.values(), default=0)
    sole = sole_units(depth_pool(runs, depth, contributors, order), unit_of)
    gone = {unit: [] for unit in units}
    for pair, unit in sole.items():
        if pair in judged and (remove == "judged" or judged[pair] >= rel):
            gone[unit].append(pair)
    label = {pair: on_scale(said[pair], judge_rel, rel, highest) if pair in said else None for pair in judged}
    others = {}
    if holes == "unjudged":
        tops = depth_pool(runs, depth, names, order)
        others = {
            p: on_scale(said[p], judge_rel, rel, highest)
            for p in tops
            if p[0] in judgments and p not in judged and p in said
        }
    full = score_all(measures, runs, judgments, order)
    alone = score_all(measures, runs, changed_to(judgments, {**label, **others}), order)
    removed = {u: score_all(measures, runs, changed(judgments, dict.fromkeys(gone[u])), order) for u in units}
    filled = {
        u: score_all(measures, runs, changed_to(judgments, {p: label[p] for p in gone[u]} | others), order)
        for u in units
    }
    rows = []
    by_uniques = sorted(units, key=lambda unit: (-len(gone[unit]), unit))
    for measure in measures:
        before = means(full[measure], runs, complete)
        rank = dict(zip(names, ranks(before.values()), strict=True))
        after = {
            "removed": {u: means(removed[u][measure], runs, complete) for u in units},
            "filled": {u: means(filled[u][measure], runs, complete) for u in units},
            "judge_alone": dict.fromkeys(units, means(alone[measure], runs, complete)),
        }
        drop = {way: {} for way in WAYS}
        for way in WAYS:
            for name in names:
                own = after[way][unit_of[name]]
                mine = {n: own[n] if way == "judge_alone" or unit_of[n] == unit_of[name] else before[n] for n in names}
                drop[way][name] = ranks(mine.values())[names.index(name)] - rank[name]
        for unit in by_uniques:
            runs_of = [name for name in names if unit_of[name] == unit]
            known = [pair for pair in gone[unit] if label[pair] is not None]
            row = {
                "unit": unit,
                "measure": repr(measure),
                "runs": len(runs_of),
                "removed": len(gone[unit]),
                "labelled": len(known),
                "unknown": len(gone[unit]) - len(known),
                "judge_relevant": sum(label[pair] >= rel for pair in known),
                "relevant": sum(judged[pair] >= rel for pair in known),
            }
            for way in WAYS:
                own = after[way][unit]
                moved = [new - old for new, old in zip(ranks(own.values()), rank.values(), strict=True)]
                drops = [drop[way][name] for name in runs_of]
                row |= {
                    f"{way}_change": sum(own[n] - before[n] for n in runs_of) / len(runs_of),
                    f"{way}_tau_b": correlations(list(before.values()), list(own.values()))["tau_b"],
                    f"{way}_max_drop": max(0, *moved),
                    f"{way}_max_rise": -min(0, *moved),
                    f"{way}_own_drop": max(0, *drops),
                    f"{way}_own_rise": -min(0, *drops),
                }
            rows.append(row)
    return rows


def changed_to(judgments, labels):
    """Return judgments with labels written over or added, None removing."""
    new = {topic: dict(judged) for topic, judged in judgments.items()}
    for (topic, docno), label in labels.items():
        if label is not None:
            new[topic][docno] = label
        else:
            new[topic].pop(docno, None)
    return new


@st.composite
def judges_of(draw, field, labels=(0, 1, 2, 3), missing=0.2):
    """Draw what a judge says of every document of a field and of its judgments, some of it missing, some negative."""
    chance = draw(st.randoms(use_true_random=False))
    pairs = {(t, d) for t, judged in field.judgments.items() for d in judged}
    pairs |= {(t, d) for run in field.runs.values() for t, docs in run.items() for d in docs}
    said = {pair: chance.choice(labels) for pair in sorted(pairs) if chance.random() >= missing}
    return {pair: label for pair, label in said.items() if label is not None}


def as_judgments(said):
    """Return what a judge says as a frame of judgments."""
    return pd.DataFrame([(q, d, label) for (q, d), label in said.items()], columns=["qid", "docno", "label"])


# the tests


#: judgments made at random are nobody's pool, and relevant from 2 on for some measures alone
pytestmark = [
    pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning"),
    pytest.mark.filterwarnings("ignore:.* count documents of label 1:pt_reuse.ReuseWarning"),
]

MEASURES = [AP, P @ 3, nDCG @ 4, Bpref, nDCG(judged_only=True) @ 3, Judged @ 3, RR(rel=2)]


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
    given, fill = {"judge_rel": judge_rel, "holes": holes}, {"judge": as_judgments(said)}
    runs, qrels = field.as_runs(), as_qrels(field.judgments)
    found = leave_out_uniques(runs, qrels, MEASURES, by=by, fill=fill, **options, **given)
    rows = filled_tables(
        field.runs,
        field.judgments,
        said,
        MEASURES,
        field.units(by),
        field.pooled,
        order="trec_eval",
        **options,
        **given,
    )
    same(records(found.filled, "name" if by == "run" else by), rows)
    plain = leave_out_uniques(runs, qrels, MEASURES, by=by, **options)
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
            assert not found.filled[[f"{way}_{name}" for name in ("change", "max_drop", "own_rise")]].to_numpy().any()
        assert not found.filled_summary[["filled_above", "judge_alone_above"]].to_numpy().any()


def test_judges_are_stacked_and_each_is_asked_once_for_all():
    asked = []

    def generous(frame):
        asked.append(frame)
        return [2] * len(frame)

    field = ptr.demo.simulate_field(seed=7, n_topics=6)
    found = leave_out_uniques(
        field.runs, field.qrels, [AP, nDCG @ 10], depth=field.depth, fill={"a": generous, "b": field.qrels}
    )
    assert len(asked) == 1
    assert asked[0].columns.tolist() == ["qid", "docno"]
    assert len(asked[0]) == (field.qrels.to_frame()["label"] >= 0).sum()
    assert found.filled["judge"].unique().tolist() == found.filled_summary["judge"].unique().tolist() == ["a", "b"]
    one = leave_out_uniques(field.runs, field.qrels, [AP, nDCG @ 10], depth=field.depth, fill={"b": field.qrels})
    for name in ("filled", "filled_summary"):
        both, alone = getattr(found, name), getattr(one, name)
        pd.testing.assert_frame_equal(both[both["judge"] == "b"].reset_index(drop=True), alone)
    assert (found.filled_summary.query("judge == 'a'")["filled_above"] > 0).all()
