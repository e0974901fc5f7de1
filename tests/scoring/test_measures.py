from __future__ import annotations

import ir_measures
import pandas as pd
import pytest
from hypothesis import given, settings
from ir_measures import AP, BPM, RBP, RR, Bpref, Judged, P, infAP, nDCG
from reference import as_frame, as_qrels, as_runs, fields

from pt_reuse.data.judgments import Qrels
from pt_reuse.demo.simulated import simulate_field
from pt_reuse.experiment.lou_measure import LOU
from pt_reuse.scoring.caveats import BEWARE, of_judged, relevant_only
from pt_reuse.scoring.derived import Condensed, High, Low, Residual
from pt_reuse.scoring.measures import Unjudged, is_measure, native_spec, parse_measures
from pt_reuse.scoring.scores import score

#: judgments made at random, or by hand, are nobody's pool
pytestmark = pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")

UNJUDGED = [Unjudged, Unjudged @ 3, Unjudged(min_label=-2) @ 5, Unjudged(min_label=1), Unjudged(of_cutoff=True) @ 10]
COLUMNS = {"qid": "query_id", "docno": "doc_id", "label": "relevance"}


def by_frames(measures, run, judgments):
    run, qrels = as_frame(run).rename(columns=COLUMNS), as_qrels(judgments).to_frame().rename(columns=COLUMNS)
    return {(m.measure, m.query_id): m.value for m in ir_measures.iter_calc(measures, qrels, run)}


@settings(deadline=None, max_examples=8)
@given(fields())
def test_unjudged_in_ir_measures_equals_the_native_one(field):
    runs, judgments = field
    found = score(as_runs(runs, "trec_eval9"), as_qrels(judgments), UNJUDGED)
    for name, run in runs.items():
        values = {(m, t): found.of(m).loc[t, name] for m in UNJUDGED for t in judgments}
        assert by_frames(UNJUDGED, run, judgments) == values
        assert by_frames([AP, *UNJUDGED], run, judgments).items() >= values.items()


def test_unjudged_by_hand():
    # of the top 3 of 4: a judged, b pooled only, c not at all
    run, judgments = {"1": {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}}, {"1": {"a": 0, "b": -1, "d": 2}}
    expected = {
        Unjudged @ 3: 2 / 3,
        Unjudged(min_label=-1) @ 3: 1 - 2 / 3,
        Unjudged(min_label=1) @ 3: 1,
        Unjudged: 0.5,
        Unjudged @ 8: 0.5,
        Unjudged(of_cutoff=True) @ 8: 2 / 8,
        Judged @ 3: 2 / 3,
    }
    found = by_frames(list(expected), run, judgments)
    assert found == pytest.approx({(measure, "1"): value for measure, value in expected.items()}, abs=1e-15)


def test_topics_that_one_side_lacks():
    run = {"1": {"a": 1.0}, "9": {"a": 1.0}}
    judgments = {"1": {"a": 1}, "2": {"a": 1}}
    found = by_frames([AP, Unjudged @ 5, Unjudged(of_cutoff=True) @ 5], run, judgments)
    assert {topic for _, topic in found} == {"1", "2"}
    assert (found[Unjudged @ 5, "2"], found[Unjudged(of_cutoff=True) @ 5, "2"]) == (1, 0)
    frames = as_qrels(judgments).to_frame().rename(columns=COLUMNS), as_frame(run).rename(columns=COLUMNS)
    means = ir_measures.calc_aggregate([AP, Unjudged @ 5], *frames)
    assert means == {AP: 0.5, Unjudged @ 5: 0.5}
    assert ir_measures.calc_aggregate([Unjudged @ 5], *frames) == {Unjudged @ 5: 0.5}
    empty = frames[1].iloc[:0]
    assert ir_measures.calc_aggregate([Unjudged @ 5], frames[0], empty) == {Unjudged @ 5: 1}


def test_names_of_measures():
    for measures, expected in [
        (AP, ["AP"]),
        ("AP", ["AP"]),
        ("map", ["AP"]),
        ("ndcg_cut_10", ["nDCG@10"]),
        ("ndcg_cut.5,10", ["nDCG@5", "nDCG@10"]),
        (["P(rel=2)@10", P @ 5, "bpref"], ["P(rel=2)@10", "P@5", "Bpref"]),
        (["nDCG(gains={0:0,1:3})@5"], ["nDCG(gains={1:3})@5"]),
        (["map", AP, "AP", "AP(rel=1)"], ["AP"]),
        ("Unjudged(of_cutoff=True,min_label=1)@10", ["Unjudged(of_cutoff=True,min_label=1)@10"]),
        ((m for m in [AP, "RR@10"]), ["AP", "RR@10"]),
    ]:
        assert [repr(measure) for measure in parse_measures(measures)] == expected


def test_errors(messages):
    odd = ["foo", "gm_map", "nDCG@", 5, ["AP", None], [], "P", BPM @ 5, P(foo=1) @ 5, nDCG(dcg="x"), AP @ "x", "P@0"]
    for measures in [*odd, P(rel=0) @ 5, RBP(rel=1, p=1.0), Unjudged(of_cutoff=True)]:
        messages.refused(lambda measures=measures: parse_measures(measures), argument="measures")


def test_what_is_not_native():
    for name in ("RBP", "infAP", "SetP", "ERR@10", "NumRet", "IPrec@0.1"):
        assert native_spec(ir_measures.parse_measure(name)) is None


# judgments of relevant documents only: what they make of measures of judged documents

FIELD = simulate_field(seed=3, n_topics=4)
RELEVANT = FIELD.qrels.keep(FIELD.qrels.arrays.labels > 0)


OF_JUDGED = [Unjudged @ 5, Judged @ 5, Bpref, infAP, AP(judged_only=True), Low(nDCG @ 5), High(P @ 5), Residual(AP)]
OF_JUDGED += [Condensed(RR), LOU(Bpref, field=FIELD.runs), LOU(Condensed(RR @ 5), field=FIELD.runs)]


def test_measures_of_judged_documents():
    for measure in OF_JUDGED:
        assert of_judged([AP, measure, nDCG @ 10]) == [repr(measure)]


def test_other_measures_take_an_unjudged_document_as_not_relevant_anyway():
    assert of_judged([AP, P @ 10, nDCG, RR @ 10, AP(judged_only=False)]) == []
    assert BEWARE not in score(FIELD.runs, RELEVANT, [AP, nDCG @ 10]).settings
    assert BEWARE not in score(FIELD.runs, FIELD.qrels, [AP, Unjudged @ 10]).settings


def test_labels(messages):
    for labels, told in [([1, 2], 1), ([1, 0], 0), ([1, -1], 1), ([0, 0], 0), ([-1, -2], 0), ([1, 0, -1], 0)]:
        rows = [("1", f"d{i}", label) for i, label in enumerate(labels)]
        qrels = Qrels(pd.DataFrame(rows, columns=["qid", "docno", "label"]))
        found = list(relevant_only(qrels))
        assert len(found) == told
        for caveat in found:
            messages.told(caveat.text)


def test_a_name_is_matched_whole(messages):
    odd = ["AP\n", "AP ", "nDCG@10\n", "P@1_0", "P@\u0661\u0660", "P_1_0", "P_5\n", "recall_1e1", "AP;", "AP#x"]
    for name in [*odd, "P@0x0A", "nDCG\\@10"]:
        assert not is_measure(name)
        messages.refused(lambda name=name: parse_measures(name), argument="measures")


def test_unjudged_is_1_minus_precision(messages):
    scores = messages.warned(lambda: score(FIELD.runs, RELEVANT, [P @ 10, Unjudged @ 10, AP]))
    found = scores.mean
    assert (found["Unjudged@10"] + found["P@10"]).tolist() == pytest.approx([1.0] * len(found))
    assert scores.settings[BEWARE] == "judgments of relevant documents only"
