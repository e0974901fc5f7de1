"""Measures of reusability in pt.Experiment and pt.Evaluate as they are, each of their arguments, on real runs."""

from __future__ import annotations

import itertools
from functools import partial

import ir_measures
import numpy as np
import pandas as pd
import pyterrier as pt
import pytest
from experiment_parts import FIELD, NAMES, OTHERS, QRELS, TOPICS, Retriever
from ir_measures import AP, RBP, RR, Bpref, P, R, Rprec, Success, infAP, nDCG

import pt_reuse as ptr
from pt_reuse.errors import ReuseWarning

#: frames do not tell the highest label of all judgments, which most of these topics have
pytestmark = pytest.mark.filterwarnings("ignore:.* takes . for the highest label:pt_reuse.ReuseWarning")

OF = [AP @ 5, P @ 5, Success @ 5, RR @ 5, R @ 5, nDCG @ 5]
SYSTEMS = ["acsys8alo", "Dm8TFbn", "INQ601"]


def completions(docnos, judged, top, measure):
    """Return the lowest and the highest score of a list over all labels of its unjudged documents, by ir_measures."""
    holes = [docno for docno in docnos if judged.get(docno, -1) < 0]
    every = itertools.product(range(top + 1), repeat=len(holes))
    qrels = {str(i): {"x": 0, **judged, **dict(zip(holes, labels, strict=True))} for i, labels in enumerate(every)}
    run = {docno: -float(i) for i, docno in enumerate(docnos)}
    scores = [metric.value for metric in ir_measures.iter_calc([measure], qrels, dict.fromkeys(qrels, run))]
    return min(scores), max(scores)


def by_hand(frames, qrels, measures, topics, top):
    """Return (system, qid, measure) -> the lowest and the highest score under every completion of the first 5."""
    found = {}
    labels = {qid: dict(zip(rows["docno"], rows["label"], strict=True)) for qid, rows in qrels.groupby("qid")}
    for name, frame in frames.items():
        rows = frame[frame["qid"].isin(topics)].assign(score=frame["score"].astype(np.float32))
        for qid, mine in rows.groupby("qid"):
            for m in measures:
                # the provider of RR@5 breaks ties by ascending docno
                ascending = [False, m.NAME == "RR"]
                docnos = mine.sort_values(["score", "docno"], ascending=ascending)["docno"].head(5).tolist()
                found[name, qid, repr(m)] = completions(docnos, labels[qid], top, m)
    return found


@pytest.fixture(scope="module")
def shallow(trec8):
    """Return three runs of TREC-8, its topics, and the judgments of a depth-3 pool of ten others."""
    runs = trec8.runs.select([name for name in trec8.runs if name not in SYSTEMS][:10])
    pool = ptr.depth_pool(runs, depth=3, contributors="all")
    qrels = trec8.qrels.restrict(pool)
    frames = {name: trec8.runs[name].groupby("qid").head(50) for name in SYSTEMS}
    topics = pd.DataFrame({"qid": qrels.topics, "query": "of TREC-8"})
    return frames, topics, qrels.to_frame()[["qid", "docno", "label"]], runs


@pytest.fixture(scope="module")
def measured(shallow):
    """Return the measures, and (system, qid, measure) -> score, of which the bounds are found by brute force."""
    frames, topics, qrels, _ = shallow
    bounds = by_hand(frames, qrels, OF, topics["qid"].tolist(), 1)
    wanted = {}
    for (name, qid, m), (low, high) in bounds.items():
        wanted |= {(name, qid, f"Low({m})"): low, (name, qid, f"High({m})"): high}
        wanted[name, qid, f"Residual({m})"] = high - low
    return [kind(m) for kind in (ptr.Low, ptr.High, ptr.Residual) for m in OF], wanted


def means(wanted, topics=None):
    rows = pd.Series(wanted).rename_axis(["name", "qid", "measure"])
    rows = rows if topics is None else rows[rows.index.get_level_values("qid").isin(topics)]
    return rows.reset_index(name="value").pivot_table(index="name", columns="measure", values="value")


def same(frame, wanted):
    assert len(frame) == len(wanted)
    frame = frame.set_index("name")[list(wanted)].loc[list(wanted.index)]
    np.testing.assert_allclose(frame.to_numpy(dtype=float), wanted.to_numpy(), atol=1e-12)


def test_as_all_completions_by_topic_and_in_the_mean(shallow, measured):
    frames, topics, qrels, _ = shallow
    measures, wanted = measured
    given = (list(frames.values()), topics, qrels, measures)
    found = pt.Experiment(*given, names=list(frames), perquery=True)
    assert len(found) == len(wanted) == 3 * 50 * 18
    for name, qid, measure, value in found[["name", "qid", "measure", "value"]].itertuples(index=False):
        assert value == pytest.approx(wanted[name, qid, measure], abs=1e-12), (name, qid, measure)
    same(pt.Experiment(*given, names=list(frames)), means(wanted))
    # a mean of half a score lies between these, and the judgments leave room
    spread = means(wanted).xs("Residual(nDCG@5)", axis=1)
    assert (spread > 0.2).all()


def live(frames):
    return [Retriever(frame) for frame in frames.values()]


def test_topics_and_judgments_that_are_left_out(shallow, measured):
    frames, topics, qrels, _ = shallow
    measures, wanted = measured
    some = topics[:20]
    found = pt.Experiment(live(frames), some, qrels, measures, names=list(frames), filter_by_topics=True)
    same(found, means(wanted, set(some["qid"])))
    # topics that are not asked count with the value of an empty list
    every = pt.Experiment(live(frames), some, qrels, measures, names=list(frames), filter_by_topics=False)
    same(every, means(wanted, set(some["qid"])) * 20 / 50)
    few = qrels[qrels["qid"].isin(topics["qid"][30:])]
    less = pt.Experiment(live(frames), topics, few, measures, names=list(frames), filter_by_qrels=True)
    same(less, means(wanted, set(few["qid"])))


def test_graded_labels_and_batches_that_lack_the_highest():
    frames = {name: FIELD.runs[name].groupby("qid").head(5) for name in NAMES}
    # only the first topic has a document of label 3
    qrels = QRELS.groupby("qid").head(6).assign(label=lambda q: q["label"].clip(upper=2))
    qrels.loc[qrels.index[:1], "label"] = 3
    measures = [nDCG @ 5, nDCG(dcg="exp-log2") @ 5]
    hand = by_hand(frames, qrels, [nDCG @ 5], TOPICS["qid"].tolist(), 3)
    wanted = means({key: ends[1] for key, ends in hand.items()})["nDCG@5"]
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


@pytest.mark.parametrize("measure", [P @ 2, RR @ 2, RBP(rel=1), nDCG])
def test_infinite_scores_are_ranked_and_what_has_no_order_is_refused(measure):
    docnos = ["d1", "d2", "d3"]
    run = pd.DataFrame({"query_id": "1", "doc_id": docnos, "score": [-np.inf, 2.0, np.inf]})
    qrels = pd.DataFrame({"query_id": "1", "doc_id": ["d2", "x"], "relevance": [1, 0]})
    low, high = completions(["d3", "d2", "d1"], {"d2": 1}, 1, measure)
    kinds = ptr.Low(measure), ptr.High(measure)
    found = [kind.calc_aggregate(qrels, run) for kind in kinds]
    assert found == pytest.approx([low, high + (0.8**3 if measure.NAME == "RBP" else 0)], abs=1e-12)
    for kind in (*kinds, ptr.Condensed(RBP(rel=1)), ptr.LOU(measure, field=OTHERS, depth=8)):
        with pytest.raises(ptr.InputError, match="'d1'"):
            kind.calc_aggregate(qrels, run.assign(doc_id=["d1", "d1", "d2"]))
        with pytest.raises(ptr.InputError, match="'d3'"):
            kind.calc_aggregate(qrels, run.assign(score=[2.0, 1.0, np.nan]))


def test_condensed_lists(shallow):
    frames, topics, qrels, _ = shallow
    pairs = set(zip(qrels["qid"], qrels["docno"], strict=True))
    kept = {
        name: frame[[pair in pairs for pair in zip(frame["qid"], frame["docno"], strict=True)]]
        for name, frame in frames.items()
    }
    measures = [AP, nDCG @ 10, P @ 10, RR @ 10, RR, RBP(rel=1), R @ 10, Rprec, Bpref]
    condensed = [ptr.Condensed(m) for m in measures]
    names = ["AP(judged_only=True)", "nDCG(judged_only=True)@10", "P(judged_only=True)@10"]
    assert [repr(m) for m in condensed[:3]] == names
    found = pt.Experiment(list(frames.values()), topics, qrels, condensed, names=list(frames))
    wanted = pt.Experiment(list(kept.values()), topics, qrels, measures, names=list(frames))
    for m, of in zip(measures, condensed, strict=True):
        np.testing.assert_allclose(found[repr(of)], wanted[repr(m)], atol=1e-12)
    # ir_measures' own name for a sampled pool, on the same frame
    assert pt.Evaluate(frames[SYSTEMS[0]], qrels, [infAP])["infAP"] > 0


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
