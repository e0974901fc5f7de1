"""Measures of reusability in pt.Experiment and pt.Evaluate as they are."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import pyterrier as pt
import pytest
from completions import ends
from experiment_parts import FIELD, NAMES, OTHERS, QRELS, TOPICS, Retriever
from ir_measures import AP, RBP, RR, Bpref, P, R, Rprec, nDCG

import pt_reuse as ptr
from pt_reuse.errors import ReuseWarning

#: frames do not tell the highest label of all judgments, which most of these topics have
pytestmark = pytest.mark.filterwarnings("ignore:.* takes . for the highest label:pt_reuse.ReuseWarning")


def same(frame, wanted):
    assert len(frame) == len(wanted)
    frame = frame.set_index("name")[list(wanted)].loc[list(wanted.index)]
    np.testing.assert_allclose(frame.to_numpy(dtype=float), wanted.to_numpy(), atol=1e-12)


def live(frames):
    return [Retriever(frame) for frame in frames.values()]


def test_graded_labels_and_batches_that_lack_the_highest():
    frames = {name: FIELD.runs[name].groupby("qid").head(5) for name in NAMES}
    # only the first topic has a document of label 3
    qrels = QRELS.groupby("qid").head(6).assign(label=lambda q: q["label"].clip(upper=2))
    qrels.loc[qrels.index[:1], "label"] = 3
    measures = [nDCG @ 5, nDCG(dcg="exp-log2") @ 5]
    labels = {qid: dict(zip(rows["docno"], rows["label"], strict=True)) for qid, rows in qrels.groupby("qid")}
    highest = {
        name: [ends(nDCG @ 5, rows["docno"].tolist(), labels[qid], 3)[1] for qid, rows in run.groupby("qid")]
        for name, run in frames.items()
    }
    wanted = pd.Series({name: np.mean(values) for name, values in highest.items()})
    given = (live(frames), TOPICS, qrels)
    whole = pt.Experiment(*given, [ptr.High(m) for m in measures], names=NAMES).set_index("name")
    np.testing.assert_allclose(whole["High(nDCG@5)"].loc[wanted.index], wanted, atol=1e-12)
    with pytest.warns(ReuseWarning, match="max_label="):
        pt.Experiment(*given, [ptr.High(nDCG @ 5)], names=NAMES, batch_size=2)
    told = ptr.High(nDCG @ 5, max_label=3)
    parts = pt.Experiment(*given, [told], names=NAMES, batch_size=2).set_index("name")
    np.testing.assert_allclose(parts[repr(told)].loc[wanted.index], wanted, atol=1e-12)
    # scored by blocks of topics, and by name
    blocks = ptr.score(FIELD.runs.select(NAMES), qrels, ["High(nDCG@5)", "Low(nDCG@5,max_label=3)"]).mean
    np.testing.assert_allclose(blocks.set_index("name")["High(nDCG@5)"].loc[wanted.index], wanted, atol=1e-12)


@pytest.mark.parametrize("measure", [P @ 2, RR @ 2, RBP(rel=1, p=0.8), nDCG])
def test_infinite_scores_are_ranked_and_what_has_no_order_is_refused(measure):
    docnos = ["d1", "d2", "d3"]
    run = pd.DataFrame({"query_id": "1", "doc_id": docnos, "score": [-np.inf, 2.0, np.inf]})
    qrels = pd.DataFrame({"query_id": "1", "doc_id": ["d2", "x"], "relevance": [1, 0]})
    low, high = ends(measure, ["d3", "d2", "d1"], {"d2": 1, "x": 0}, 1)
    kinds = ptr.Low(measure), ptr.High(measure)
    found = [kind.calc_aggregate(qrels, run) for kind in kinds]
    assert found == pytest.approx([low, high], abs=1e-12)
    for kind in (*kinds, ptr.Condensed(RBP(rel=1)), ptr.LOU(measure, field=OTHERS, depth=8)):
        with pytest.raises(ptr.InputError, match="'d1'"):
            kind.calc_aggregate(qrels, run.assign(doc_id=["d1", "d1", "d2"]))
        with pytest.raises(ptr.InputError, match="'d3'"):
            kind.calc_aggregate(qrels, run.assign(score=[2.0, 1.0, np.nan]))


def test_condensed_lists():
    frames, qrels = {name: FIELD.runs[name] for name in NAMES}, QRELS.groupby("qid").head(9)
    judged = qrels[["qid", "docno"]].drop_duplicates()
    kept = [frame.merge(judged).drop(columns="rank") for frame in frames.values()]
    measures = [AP, nDCG @ 10, P @ 10, RR @ 10, RR, RBP(rel=1), R @ 10, Rprec, Bpref]
    condensed = [ptr.Condensed(m) for m in measures]
    names = ["AP(judged_only=True)", "nDCG(judged_only=True)@10", "P(judged_only=True)@10"]
    assert [repr(m) for m in condensed[:3]] == names
    found = pt.Experiment(list(frames.values()), TOPICS, qrels, condensed, names=NAMES)
    wanted = pt.Experiment(kept, TOPICS, qrels, measures, names=NAMES)
    for m, of in zip(measures, condensed, strict=True):
        np.testing.assert_allclose(found[repr(of)], wanted[repr(m)], atol=1e-12)
    assert (found[names[0]] > pt.Experiment(list(frames.values()), TOPICS, qrels, [AP])["AP"]).all()


TEAM_OF = dict(FIELD.runs.run_table[["name", "team"]].itertuples(index=False))


@pytest.mark.filterwarnings("ignore::pt_reuse.errors.ReuseWarning")
def test_uniques_as_in_leave_out_uniques():
    # here each of the three has a relevant document of its own
    whole = ptr.demo.simulate_field(seed=11, n_topics=6, n_docs=80, n_teams=4, length=25, depth=8)
    others, qrels = whole.runs.select([name for name in whole.runs if name not in NAMES]), whole.qrels.to_frame()
    field, measures = others.with_metadata(pooled=True).reorder("trec_eval9"), [AP, nDCG @ 10, P @ 10]
    lou = [ptr.LOU(m, field=field, depth=8) for m in measures]
    assert repr(lou[1]) == f"LOU(nDCG@10,field={len(field)} runs,depth=8)"
    wanted = {}
    for name in NAMES:
        mine = whole.runs.select([name]).with_metadata(teams={name: "mine"}, pooled=[name]).reorder("trec_eval9")
        own = ptr.leave_out_uniques(field | mine, qrels, measures, depth=8).by_run
        own = own[own["name"] == name]
        wanted |= {(name, m): value for m, value in zip(own["measure"], own["reduced_score"], strict=True)}
    systems = {name: whole.runs[name] for name in NAMES}
    found = pt.Experiment(live(systems), TOPICS, qrels, lou, names=NAMES, batch_size=4).set_index("name")
    plain = pt.Experiment(live(systems), TOPICS, qrels, measures, names=NAMES).set_index("name")
    for (name, m), value in wanted.items():
        assert found[repr(lou[list(map(repr, measures)).index(m)])][name] == pytest.approx(value, abs=1e-12)
    lost = plain[list(map(repr, measures))].to_numpy() - found.to_numpy()
    assert (lost > 1e-3).any(axis=1).all()
    few = pt.Experiment(live(systems), TOPICS[:3], qrels, lou, names=NAMES)
    part = pt.Experiment(live(systems), TOPICS, qrels, lou, names=NAMES, perquery=True)
    part = part[part["qid"].isin(TOPICS["qid"][:3])].pivot_table(index="name", columns="measure", values="value")
    same(few, part)


def test_uniques_of_a_team_that_has_other_runs():
    field = OTHERS.with_metadata(pooled=True).reorder("trec_eval9")
    for name in NAMES:
        team = TEAM_OF[name]
        mine = FIELD.runs.select([name]).with_metadata(teams={name: team}, pooled=[name]).reorder("trec_eval9")
        wanted = ptr.leave_out_uniques(field | mine, QRELS, [R @ 8], depth=8).by_run.set_index("name")["reduced_score"]
        lou = ptr.LOU(R @ 8, field=field, depth=8, team=team, name="R LOU")
        assert pt.Evaluate(FIELD.runs[name], QRELS, [lou])["R LOU"] == pytest.approx(wanted[name], abs=1e-12)


def test_a_system_that_did_not_contribute_is_told(messages):
    def run(*docnos):
        rows = [(str(qid), docno, -float(n)) for qid in range(6) for n, docno in enumerate(docnos)]
        return pd.DataFrame(rows, columns=["qid", "docno", "score"])

    field = ptr.RunSet.from_frames({"theirs": run("d1", "d2", "d3", "d4")}, teams={"theirs": "them"}, pooled=True)
    mine, topics = run("d1", "e1", "e2", "e3"), pd.DataFrame({"qid": [str(n) for n in range(6)], "query": "q"})
    of_pool = pd.DataFrame(
        {"qid": str(qid), "docno": f"d{n}", "label": n % 2} for qid in range(6) for n in (1, 2, 3, 4)
    )
    # how many of the three documents that it alone has are judged, and whether it then contributed
    for judged, times in ((0, 1), (1, 1), (2, 0), (3, 0)):
        own = of_pool.assign(docno=of_pool["docno"].str.replace("d", "e"), label=1)
        own = own[own["docno"].isin([f"e{n + 1}" for n in range(judged)])]
        lou = ptr.LOU(P @ 4, field=field, depth=4, name=f"LOU {judged}")
        for batch in (None, 1):
            qrels = pd.concat([of_pool, own]).astype({"qid": object, "docno": object})
            systems = live({"mine": mine.assign(name="mine")})
            call = partial(pt.Experiment, systems, topics, qrels, [P @ 4, lou], batch_size=batch)
            # once, in however many batches
            found = messages.warned(call, times=times if batch is None else 0, unpooled=True)
            assert found["P@4"][0] == pytest.approx((1 + judged) / 4)
            assert found[f"LOU {judged}"][0] == pytest.approx(1 / 4)
    # what it does not have alone is nobody's to lose
    lou, systems = (
        ptr.LOU(P @ 2, field=field, depth=3, name="shared"),
        live({"mine": run("d3", "d1").assign(name="mine")}),
    )
    qrels = of_pool.astype({"qid": object, "docno": object})
    messages.warned(lambda: pt.Experiment(systems, topics, qrels, [lou]), times=0, unpooled=True)


def test_a_field_whose_pool_is_not_what_was_judged(messages):
    lou = ptr.LOU(AP, field=OTHERS, depth=1)
    given = (live({name: FIELD.runs[name] for name in NAMES}), TOPICS, QRELS, [lou])
    messages.warned(lambda: pt.Experiment(*given, names=NAMES, batch_size=2))


def test_measures_of_two_fields_are_not_mixed_up(messages):
    one, other = (FIELD.runs.select(FIELD.runs.names[i : i + 3]) for i in (0, 3))
    first = messages.warned(lambda: ptr.LOU(P @ 5, field=one, depth=8), times=0)
    # of the same runs, read again
    again = ptr.RunSet.from_frames({name: one[name] for name in one}, metadata=one.run_table)
    messages.warned(lambda: ptr.LOU(P @ 5, field=again, depth=8), times=0)
    messages.warned(lambda: ptr.LOU(P @ 5, field=FIELD.runs, depth=8), times=0)
    messages.warned(lambda: ptr.LOU(P @ 5, field=other, depth=8))
    messages.warned(lambda: ptr.LOU(P @ 5, field=other, depth=8, name="P of others"), times=0)
    assert repr(first) == "LOU(P@5,field=3 runs,depth=8)"


def test_a_system_that_is_in_the_field_is_told(messages):
    def run(*docnos):
        return pd.concat(
            [pd.DataFrame({"qid": qid, "docno": docnos, "score": [2.0, 1.0], "query": "q"}) for qid in "12345"]
        )

    mine, theirs = run("d1", "d2"), run("d2", "d3")
    qrels = run("d1", "d2").drop(columns="score").assign(label=1)
    teams = {"stored": "us", "other": "them"}
    field = ptr.RunSet.from_frames({"stored": mine, "other": theirs}, teams=teams, pooled=True)
    for measure, times, value in (
        (ptr.LOU(P @ 2, field=field, depth=2), 1, 1.0),
        (ptr.LOU(P @ 2, field=field.select(["other"]), depth=2), 0, 0.5),
        (ptr.LOU(P @ 2, field=field, depth=2, team="us"), 0, 0.5),
        (ptr.LOU(P @ 2, field=field, depth=2, team="them", name="of others"), 1, 1.0),
    ):
        found = messages.warned(lambda measure=measure: pt.Evaluate(mine, qrels, [measure]), times=times)
        assert list(found.values()) == [value]


def test_a_name_is_of_one_measure(messages):
    mine = ptr.LOU(P @ 5, field=OTHERS, depth=8, name="mine")
    assert repr(mine) == repr(mine()) == "mine"
    assert repr(mine @ 1) == repr(ptr.LOU(P @ 1, field=OTHERS, depth=8))
    assert repr(mine(rel=2)) == repr(ptr.LOU(P @ 5, field=OTHERS, depth=8, rel=2))
    for name in ("", " ", "a\nb", 3, "P@5", "nDCG", "qid"):
        messages.refused(lambda name=name: ptr.LOU(P @ 5, field=OTHERS, name=name), argument="name")
    messages.refused(lambda: ptr.LOU(P @ 5, field=OTHERS, rel=0), argument="rel")
