"""Counts are added up over topics, as ir_measures, trec_eval and pt.Experiment do; subtopics are not read."""

from __future__ import annotations

import ir_measures
import pandas as pd
import pyterrier as pt
import pytest
from ir_measures import (
    AP,
    AP_IA,
    ERR_IA,
    NRBP,
    P_IA,
    NumQ,
    NumRel,
    NumRet,
    P,
    SetP,
    StRecall,
    alpha_DCG,
    alpha_nDCG,
    nERR_IA,
    nNRBP,
)

import pt_reuse as ptr

FIELD = ptr.demo.simulate_field(seed=7, n_topics=6)
RUNS, QRELS = FIELD.runs, FIELD.qrels
COUNTS = [NumQ, NumRel, NumRet, NumRet(rel=1), NumRet(rel=2)]
TOPICS = pd.DataFrame({"qid": QRELS.topics, "query": "q"})
SUBTOPICS = [alpha_nDCG @ 10, alpha_DCG @ 5, ERR_IA @ 10, nERR_IA @ 10, NRBP, nNRBP, StRecall @ 10, AP_IA, P_IA @ 10]
pytestmark = pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")


def frames():
    return {name: RUNS[name] for name in RUNS.names}


def test_as_ir_measures_and_trec_eval():
    measures = [*COUNTS, AP, SetP, ptr.Condensed(NumRet)]
    found = ptr.score(RUNS.reorder("trec_eval9"), QRELS, measures)
    qrels = pt.model.to_ir_measures(QRELS.to_frame())
    for name, frame in frames().items():
        theirs = ir_measures.calc_aggregate(measures, qrels, pt.model.to_ir_measures(frame))
        mine = found.mean.set_index("name").loc[name]
        assert {m: mine[repr(m)] for m in measures} == pytest.approx({m: theirs[m] for m in measures})
    assert found.mean["NumQ"].unique().tolist() == [6]


def test_frames_and_files_of_scores(tmp_path):
    found = ptr.score(RUNS, QRELS, [NumRet(rel=1), "num_ret", "num_q", AP])
    again = ptr.Scores.from_frame(found.per_topic)
    pd.testing.assert_frame_equal(again.mean, found.mean)
    # of measures that nobody here knows nothing is known
    odd = found.per_topic.replace({"NumRet": "items"})
    assert ptr.Scores.from_frame(odd).mean["items"].tolist() == (found.mean["NumRet"] / 6).tolist()
    file = found.write_leaderboard(tmp_path / "board", "tot")
    rows = [line.split() for line in file.read_text().splitlines() if "\tall\t" in line and "NumRet" in line]
    assert [float(row[-1]) for row in rows if row[1] == "NumRet"] == found.mean["NumRet"].tolist()
    read = ptr.read_leaderboard(file)
    pd.testing.assert_frame_equal(read.mean[found.mean.columns], found.mean)


@pytest.mark.parametrize("name", ["num_rel_ret", "NumRet", "NumRet(rel=1)", "num_q"])
def test_experiments_show_what_pt_experiment_shows(name):
    given = (frames(), TOPICS, QRELS.to_frame())
    measure = name if "_" in name else ir_measures.parse_measure(name)
    theirs = pt.Experiment(list(given[0].values()), *given[1:], [measure], names=list(given[0]))
    ours = ptr.Experiment(*given, [measure, AP], reuse=["lou", "rank"], depth=10)
    assert ours[name].tolist() == theirs[name].tolist()
    # what nobody loses stays as it is, on the scale of the column
    kept = ours[ours[f"{name} LOU % (no field)"] == 0]
    assert kept[f"{name} LOU (no field)"].tolist() == pytest.approx(kept[name].tolist())
    if name == "NumRet":
        assert kept.shape == ours.shape
    added = ptr.add_columns(theirs, frames(), QRELS, reuse=["lou", "rank"], depth=10)
    assert added[f"{name} LOU (no field)"].tolist() == pytest.approx(ours[f"{name} LOU (no field)"].tolist())


@pytest.mark.parametrize("measure", SUBTOPICS, ids=repr)
def test_measures_of_subtopics_are_refused_by_name(measure, messages, tmp_path):
    rows = QRELS.to_frame().assign(iteration="2")
    file = QRELS.write(tmp_path / "qrels")
    field = RUNS.select(RUNS.names[:3])
    for of in (measure, ptr.Condensed(measure), ptr.LOU(measure, field=field, depth=5)):
        for qrels in (rows, str(file), QRELS):
            refused = messages.refused(lambda of=of, qrels=qrels: ptr.score(field, qrels, [P @ 5, of]))
            assert measure.NAME in str(refused)
    messages.refused(lambda: ptr.leave_out_uniques(field, QRELS, measure), argument="measures")
    for reuse in ([], ["unjudged"], None):
        messages.refused(
            lambda reuse=reuse: ptr.Experiment(frames(), TOPICS, rows, [AP, measure], reuse=reuse),
            argument="eval_metrics",
        )


@pytest.mark.parametrize("complete", [True, False])
def test_topics_that_a_run_lacks(complete):
    short = {"A": RUNS[RUNS.names[0]], "B": RUNS[RUNS.names[0]].query("qid != '1'")}
    found = ptr.score(short, QRELS, [NumRet, AP], complete=complete)
    by_topic = found.of(NumRet).sum()
    assert found.mean.set_index("name")["NumRet"].to_dict() == by_topic.to_dict()
    assert found.topic_means["NumRet"].means()[0].tolist() == by_topic.tolist()
    assert by_topic["A"] > by_topic["B"]


def test_all_doors_have_one_scale():
    m, deep = NumRet(rel=1), {"depth": 10}
    scores = ptr.score(RUNS, QRELS, m).mean.set_index("name")["NumRet(rel=1)"]
    lou = ptr.leave_out_uniques(RUNS, QRELS, m, **deep)
    by_run = lou.by_run.set_index("name")
    assert by_run["score"].to_dict() == scores.to_dict()
    relevant = lou.unique_counts.set_index("team")["unique_relevant"]
    # a team loses what it alone found, in documents
    lost = by_run["score"] - by_run["reduced_score"]
    assert (lost <= by_run["team"].map(relevant)).all()
    assert (lost == lost.round()).all()
    whole = lou.whole_field()
    lost = whole["score"] - whole["reduced_score"]
    assert (whole["score"] == whole["name"].map(scores)).all()
    assert ((lost >= 0) & (lost == lost.round())).all()
    assert lost.max() > 0
    ranks = ptr.rank_intervals(ptr.score(RUNS, QRELS, m)).table.set_index("name")
    column = next(name for name in ("score", "mean") if name in ranks)
    assert ranks[column].to_dict() == scores.to_dict()
    same = ptr.compare_judgments(RUNS, QRELS, FIELD.all_qrels, m)
    assert same.changes.set_index("name")["score"].to_dict() == scores.to_dict()
