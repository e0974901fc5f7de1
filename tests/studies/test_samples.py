"""Samples of judge_next: parts of one and those of another plan are refused, at every door."""

from __future__ import annotations

import ir_measures
import numpy as np
import pandas as pd
import pyterrier as pt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import P
from new_run_parts import FIELD, KNOWN, NEW, ONE, OTHERS

import pt_reuse as ptr
from pt_reuse.inputs import Inputs
from pt_reuse.studies import check_new_run as study
from pt_reuse.studies.new_runs.predictor import NewRunPredictor, as_new_runs
from pt_reuse.studies.new_runs.sampling import Sample, draw, frame_of, inclusion, pairs_of, with_plan

WHOLE = FIELD.all_qrels.restrict(ptr.depth_pool(OTHERS | ONE, depth=10))
COLUMNS = ["qid", "docno", "label", "inclusion", "drawn", "plan"]


def plan(measure="P@10", new=ONE, known=KNOWN, n=12, depth=10, **options):
    return ptr.judge_next(OTHERS, known, measure, new=new, depth=depth, goal="score", n=n, **options)


def check(sampled, measure="P@10", new=ONE, known=KNOWN, depth=10):
    return ptr.check_new_run(new, OTHERS, known, measure, depth=depth, sampled=sampled).table.iloc[0]


def refused(sampled, *named, argument="sampled", **options):
    with pytest.raises(ptr.InputError) as error:
        check(sampled, **options)
    assert error.value.argument == argument
    assert all(name in str(error.value) for name in named)


def predictor_of(measure, new=ONE, depth=10):
    inputs = Inputs.read(OTHERS, KNOWN, [ir_measures.parse_measure(measure)])
    later, how = as_new_runs(new, OTHERS, KNOWN, None), {"estimators": ["documents"], "confidence": 0.9}
    return NewRunPredictor(inputs, inputs.pooled(depth), later, **how)


@pytest.fixture(scope="module")
def labels():
    return plan().pool.judge(FIELD.all_qrels).to_frame()[COLUMNS]


@pytest.fixture(scope="module")
def predictor():
    return predictor_of("P@10")


def test_a_plan_says_how_many_were_drawn_and_which(labels):
    found = plan()
    assert (found.documents["drawn"] == len(found.documents)).all()
    assert len(set(found.documents["plan"])) == 1
    assert found.pool.to_frame()[["inclusion", "drawn", "plan"]].notna().all(axis=None)
    assert (labels["drawn"] == len(labels)).all()
    assert plan(seed=1).documents["plan"].iloc[0] != labels["plan"].iloc[0]


def test_a_part_of_a_sample_is_refused(labels, tmp_path):
    labels = labels.assign(label=np.arange(len(labels)) % 3 % 2)
    relevant, half, but_one = labels[labels["label"] > 0], labels.iloc[::2], labels.drop(index=labels.index[3])
    for part in (relevant, half, but_one):
        part.to_csv(tmp_path / "part.csv", index=False)
        for sampled in (part, ptr.Qrels(part), tmp_path / "part.csv"):
            refused(sampled, str(len(part)), str(len(labels)))
    labels.to_csv(tmp_path / "whole.csv", index=False)
    pd.testing.assert_series_equal(check(tmp_path / "whole.csv"), check(labels))
    unlabelled = labels.assign(label=labels["label"].where(labels["docno"] != labels["docno"].iloc[5], -1))
    refused(unlabelled, labels["docno"].iloc[5])
    for column in ("inclusion", "drawn", "plan"):
        refused(labels.drop(columns=column), column)
    refused(labels.iloc[:0])


def test_a_sample_of_another_plan_is_refused(labels):
    other = plan(seed=5).pool.judge(FIELD.all_qrels).to_frame()[COLUMNS]
    rest = other[~other["docno"].isin(labels["docno"])]
    refused(pd.concat([labels.iloc[: -len(rest)], rest]))
    # the rows of one under the name of the other
    refused(other.assign(plan=labels["plan"].iloc[0]))
    refused(labels.assign(inclusion=0.5))
    refused(labels.assign(inclusion="half"))
    refused(labels.assign(drawn=len(labels) - 1))
    refused(labels.assign(plan="a sample of mine"))
    # of another run, of several, to another depth, and after further judgments
    another = NEW.select(names=NEW.names[1:2])
    refused(plan(new=another).pool.judge(FIELD.all_qrels))
    refused(plan(new=NEW, n=5).pool.judge(FIELD.all_qrels))
    refused(plan("RBP(rel=1)", depth=5, n=5).pool.judge(FIELD.all_qrels), measure="RBP(rel=1)")
    more = KNOWN | labels[["qid", "docno", "label"]].head(3)
    refused(plan(known=more).pool.judge(FIELD.all_qrels))
    refused(labels, known=more)
    # a measure that looks deeper than the one by which it was drawn
    shallow = plan("P@5", n=8).pool.judge(FIELD.all_qrels)
    refused(shallow, argument="measures")
    assert check(shallow, "nDCG@5")["estimator"] == "sample"


def test_labels_so_far_are_left_out_of_a_sample(labels):
    given = labels[["qid", "docno", "label"]].head(3)
    drawn = plan(judged=given)
    assert not drawn.documents.merge(given).shape[0]
    assert check(drawn.pool.judge(FIELD.all_qrels), known=KNOWN | given)["estimator"] == "sample"


@pytest.mark.filterwarnings("ignore::pt_reuse.ReuseWarning")
@given(st.integers(0, 10**6), st.sampled_from(["drop", "again", "cell", "name", "add", "shuffle", "label"]))
def test_changed_samples_are_refused_or_the_same(labels, predictor, seed, kind):
    rng, evidence = np.random.default_rng(seed), predictor.evidence
    frame, at = labels.reset_index(drop=True), int(rng.integers(len(labels)))
    if kind == "drop":
        frame = frame.drop(index=rng.choice(len(frame), rng.integers(1, len(frame)), replace=False))
    elif kind == "again":
        frame = pd.concat([frame, frame.iloc[[at]]])
    elif kind == "cell":
        column = str(rng.choice(["inclusion", "drawn", "plan"]))
        if column == "plan":
            cell = frame.loc[at, "plan"]
            where = int(rng.integers(len(cell)))
            changed = cell[:where] + str(rng.choice(list("x.-0"))) + cell[where + 1 :]
        else:
            changed = rng.choice([0.5, 2.0, np.nan, -1.0])
        rows = slice(None) if rng.random() < 0.5 else at
        frame = frame.astype({column: object})
        frame.loc[rows, column] = changed
    elif kind == "name":
        frame.loc[at, "docno"] = str(rng.choice([*KNOWN.to_frame()["docno"].head(5), "nobody has it"]))
    elif kind == "add":
        more = [pair for pair in frame_of(evidence, None) if pair not in set(pairs_of(frame))]
        qid, docno = more[int(rng.integers(len(more)))]
        frame = pd.concat([frame, frame.iloc[[at]].assign(qid=qid, docno=docno)])
    elif kind == "label":
        frame.loc[at, "label"] = rng.choice([-1, 9])
    else:
        frame = frame.sample(frac=1, random_state=seed % 2**31)
    measures = predictor.measures
    whole = Sample.of(ptr.Qrels(labels), evidence, measures)
    try:
        found = Sample.of(ptr.Qrels(frame), evidence, measures)
    except ptr.InputError:
        assert kind != "shuffle"
        return
    for name in ("row", "label", "probability"):
        pairs = [dict(zip(each.row, getattr(each, name), strict=True)) for each in (whole, found)]
        assert pairs[0] == pytest.approx(pairs[1])


@pytest.mark.parametrize("measure", ["nDCG@10"])
def test_whole_samples_cover_and_halves_are_refused(measure):
    predictor = predictor_of(measure)
    evidence, row = predictor.evidence, predictor.rows()[0]
    label = np.append(WHOLE.arrays.labels, 0)[WHOLE.arrays.documents.find(evidence.qrels.arrays.documents)]
    true = ptr.score(ONE, WHOLE, measure).mean_values[0, 0]
    effects, (qids, docnos) = predictor.effects(0, row), evidence.names
    low, high = (float(ends[row.place]) for ends in predictor.bounds(0, row))
    bounds = {"lowest": low, "highest": high, "rank_best": 1, "rank_worst": len(OTHERS) + 1}
    probability, covered, estimates = inclusion(effects.size, 15), [], []
    cutoff = predictor.measures[0].params.get("cutoff")
    for seed in range(50):
        mine = draw(probability, seed)
        rows = effects.row[mine]
        drawn = pd.DataFrame({"qid": qids[rows], "docno": docnos[rows], "inclusion": probability[mine]})
        whole = with_plan(drawn, frame_of(evidence, cutoff), cutoff).assign(label=label[rows])
        if seed < 9:
            with pytest.raises(ptr.InputError):
                Sample.of(ptr.Qrels(whole.sample(frac=0.5, random_state=seed)), evidence, predictor.measures)
        sample = Sample.of(ptr.Qrels(whole), evidence, predictor.measures)
        found = study._sampled(predictor, 0, row, sample, bounds)
        assert low - 1e-12 <= found["low"] <= found["predicted"] <= found["high"] <= high + 1e-12
        covered.append(found["low"] - 1e-12 <= true <= found["high"] + 1e-12)
        estimates.append(found["predicted"])
    assert np.mean(covered) >= 0.85
    assert abs(np.mean(estimates) - true) < np.std(estimates)


def test_an_estimate_outside_the_bounds_is_set_to_their_end(labels):
    n_clipped = 0
    for sampled in (labels.assign(label=0), labels.assign(label=2)):
        row = check(sampled)
        ends = ["score_low", "predicted_low", "predicted", "predicted_high", "score_high"]
        assert (np.diff(row[ends].to_numpy(dtype=float)) >= -1e-12).all()
        ranks = ["rank_low", "predicted_rank_low", "predicted_rank", "predicted_rank_high", "rank_high"]
        assert (np.diff(row[ranks].to_numpy(dtype=float)) >= 0).all()
        if row["clipped"]:
            n_clipped += 1
            assert min(row["predicted"] - row["score_low"], row["score_high"] - row["predicted"]) == 0
    assert n_clipped


@pytest.mark.parametrize("measure", ["P@10", "nDCG@10", "RBP(rel=1)"])
def test_a_run_of_which_all_is_judged_has_an_empty_sample_and_its_score(measure):
    found = plan(measure, known=WHOLE)
    assert not len(found.documents)
    assert {"inclusion", "drawn", "plan"} <= set(found.documents)
    assert found.summary[["labels", "documents", "unjudged"]].to_numpy().tolist() == [[0, 0, 0]]
    assert set(found.table["decided"]) == {"as judged"}
    row = check(found.pool.judge(FIELD.all_qrels), measure, known=WHOLE)
    assert [row["predicted"], row["predicted_low"], row["predicted_high"]] == pytest.approx(
        [row["score"]] * 3, abs=1e-12
    )


def test_a_pool_of_a_sample_is_judged_whole_or_refused(labels):
    pool = ptr.depth_pool(OTHERS, depth=5)
    drawn = ptr.pools.sample_pool(pool, share=0.5, seed=1)
    for sample in (plan().pool, drawn):
        frame = sample.to_frame()[["qid", "docno"]]
        for missing in (None, -1, float("nan")):
            with pytest.raises(ptr.InputError) as error:
                sample.judge(lambda asked, missing=missing: [missing, *[0] * (len(asked) - 1)])
            assert error.value.argument == "judge"
            assert frame["docno"].iloc[0] in str(error.value)
        relevant = frame.assign(label=1).head(3)
        with pytest.raises(ptr.InputError, match=frame["docno"].iloc[4]):
            sample.judge(relevant)
    with pytest.warns(ptr.ReuseWarning, match="without a label"):
        assert len(pool.judge(drawn.to_frame()[["qid", "docno"]].assign(label=0))) == len(drawn)


def test_judgments_of_a_part_of_a_stratified_sample_are_refused_at_every_door():
    pool = ptr.depth_pool(OTHERS, depth=10)
    whole = ptr.pools.sample_pool(pool, share=[1, 0.5], strata="rank", bands=[3, 10], seed=1).judge(FIELD.all_qrels)
    frame = whole.to_frame()
    relevant = frame.assign(label=frame["label"].where((frame["label"] != 0) | (frame["qid"] == "1"), -1))
    topics = pd.DataFrame({"qid": KNOWN.topics, "query": "x"})
    run = pt.Transformer.from_df(OTHERS[OTHERS.names[0]])
    doors = {
        "score": lambda given: ptr.score(OTHERS, given, ptr.pools.xinfAP),
        "calc": lambda given: ir_measures.calc_aggregate(
            [ptr.pools.xinfAP], pt.model.to_ir_measures(given), pt.model.to_ir_measures(OTHERS[OTHERS.names[0]])
        ),
        "Experiment": lambda given: ptr.Experiment([run], topics, given, [ptr.pools.xinfAP]),
        "estimate_relevant": lambda given: ptr.pools.estimate_relevant(given),
        "prediction_powered": lambda given: ptr.labels.prediction_powered(
            OTHERS, given, FIELD.all_qrels, P @ 5, level="documents"
        ),
    }
    for door in doors.values():
        door(frame)
        with pytest.raises(ptr.InputError):
            door(relevant)
    # what a study takes out of a whole sample is no part that somebody lost
    found = ptr.leave_out_uniques(OTHERS.select(pooled=True), whole, ptr.pools.xinfAP, depth=10)
    assert found.by_run["score"].notna().all()
