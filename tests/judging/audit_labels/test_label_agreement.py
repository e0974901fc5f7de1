"""Figures of labels against scikit-learn and krippendorff, and the scales on which judges label."""

from __future__ import annotations

import warnings

import krippendorff
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from label_parts import compared, judged, labelled, meeting, row_of
from scipy import stats
from sklearn import metrics

import pt_reuse as ptr
from pt_reuse.arrays.bootstrap import TopicBootstrap
from pt_reuse.data.judgments import Qrels
from pt_reuse.judge import as_judges
from pt_reuse.judging.compare_labels import FIGURES
from pt_reuse.judging.compare_labels import agreement_of_labels as label_agreement
from pt_reuse.studies.judged_fields import compared_labels

HUMAN = judged()
GRADED = labelled(HUMAN, gaps=0.1)
BINARY = labelled(HUMAN.threshold(2), seed=5, right=0.7)


def of_libraries(pairs, rel, judge_rel, *, graded):
    """Return every figure of some pairs of labels, by scikit-learn and krippendorff."""
    human, judge = np.array(pairs).T
    relevant = (human >= rel).astype(int), (judge >= judge_rel).astype(int)
    mine, theirs = (human, judge) if graded else relevant
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        nan = float("nan")
        same = len({*mine.tolist(), *theirs.tolist()}) == 1
        alphas = [
            nan if same else krippendorff.alpha(reliability_data=[mine, theirs], level_of_measurement=level)
            for level in ("nominal", "ordinal")
        ]
        return {
            "agreement": metrics.accuracy_score(mine, theirs),
            "kappa": nan if same else metrics.cohen_kappa_score(mine, theirs),
            "alpha_nominal": alphas[0],
            "alpha_ordinal": alphas[1] if graded else nan,
            "human_relevant": relevant[0].mean(),
            "judge_relevant": relevant[1].mean(),
            "surplus": relevant[1].mean() - relevant[0].mean(),
            "precision": metrics.precision_score(*relevant, zero_division=nan),
            "recall": metrics.recall_score(*relevant, zero_division=nan),
        }


def expanded(n, confidence):
    """Return the percentiles that make an interval as wide as Student's, by scipy."""
    tail = 100 * stats.norm.cdf(-stats.t.ppf((1 + confidence) / 2, n - 1) * np.sqrt(n / (n - 1)))
    return [tail, 100 - tail]


def kept(pairs, items, rel, judge_rel):
    return [pair for pair in pairs if items == "all" or pair[0] >= rel or pair[1] >= judge_rel]


@settings(max_examples=3, deadline=None)
@given(seed=st.integers(0, 10_000), right=st.floats(0, 1), gaps=st.floats(0, 0.5), binary=st.booleans())
def test_every_figure_is_that_of_scikit_learn_and_krippendorff(seed, right, gaps, binary):
    human = judged(seed, n_topics=2, n_docs=7)
    judge = labelled(human.threshold(2) if binary else human, seed + 1, right=right, gaps=gaps)
    if not meeting(human, judge):
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ptr.ReuseWarning)
        (one,) = compared(human, {"model": judge})
    found = label_agreement([one], None)
    pairs = meeting(human, judge)
    for row in pd.concat([found.table, found.per_topic]).to_dict("records"):
        mine = [pair for (qid, _), pair in pairs.items() if row.get("qid") in (None, qid) or pd.isna(row["qid"])]
        chosen = kept(mine, row["items"], 2, one.judge_rel)
        assert row["n_items"] == len(chosen)
        if not chosen:
            assert row["why"]
            assert all(np.isnan(row[figure]) for figure in FIGURES)
            continue
        slow = of_libraries(chosen, 2, one.judge_rel, graded=row["labels"] == "grades")
        assert {figure: row[figure] for figure in FIGURES} == pytest.approx(slow, abs=1e-12, nan_ok=True)


def test_intervals_are_those_of_drawing_topics_again():
    bootstrap = TopicBootstrap(4, seed=3, confidence=0.9)
    judges = {"graded": GRADED, "binary": BINARY}
    found = label_agreement(compared(HUMAN, judges), bootstrap)
    times = bootstrap.counts(6)
    for name, judge_rel in (("graded", 2), ("binary", 1)):
        pairs = meeting(HUMAN, judges[name])
        rows = found.table[found.table["judge"] == name]
        assert set(rows["labels"]) == ({"grades", "binary"} if name == "graded" else {"binary"})
        for row in rows.to_dict("records"):
            drawn = []
            for draw in times:
                again = [pair for (qid, _), pair in pairs.items() for _ in range(draw[int(qid) - 1])]
                chosen = kept(again, row["items"], 2, judge_rel)
                drawn.append(of_libraries(chosen, 2, judge_rel, graded=row["labels"] == "grades"))
            for figure in FIGURES:
                values = np.array([each[figure] for each in drawn])
                ends = np.percentile(values, expanded(6, 0.9)) if not np.isnan(values).any() else [np.nan, np.nan]
                got = [row[f"{figure}_low"], row[f"{figure}_high"]]
                wanted = [min(ends[0], row[figure]), max(ends[1], row[figure])]
                assert got == pytest.approx(wanted, abs=1e-12, nan_ok=True), (name, figure)


def test_what_is_missing_is_counted_for_each_judge_and_topic():
    frame = GRADED.to_frame()
    part = Qrels(frame[frame["qid"] != "3"])
    with pytest.warns(ptr.ReuseWarning, match="labelled nothing in 1 topic"):
        one, other = compared(HUMAN, {"part": part, "whole": HUMAN})
    found = label_agreement([one, other], None)
    missing = 30 * 5 - len(part)
    assert missing > 0
    assert missing == len(one.left)
    rows = found.table.set_index("judge")[["missing", "without", "n_topics", "n_items"]]
    assert set(map(tuple, rows.loc["part"].query("n_items > 120").to_numpy())) == {(missing, 1, 5, len(part))}
    assert set(rows.loc["whole", "missing"]) == {0}
    per_topic = found.per_topic.query("judge == 'part' and items == 'all' and labels == 'binary'")
    assert per_topic["qid"].tolist() == ["1", "2", "4", "5", "6"]
    assert (per_topic["missing"] + per_topic["n_items"]).tolist() == [30] * 5
    assert per_topic["missing"].sum() == missing


@pytest.mark.parametrize(("n_topics", "there"), [(1, False), (2, True)])
def test_one_topic_has_no_interval(n_topics, there):
    human = judged(n_topics=n_topics)
    found = label_agreement(compared(human, {"model": labelled(human)}), TopicBootstrap(30, seed=0, confidence=0.95))
    ends = [column for column in found.table if column.endswith(("_low", "_high"))]
    assert len(ends) == 2 * len(FIGURES)
    assert found.table["kappa_low"].notna().all() == there
    assert found.by_grade["relevant_low"].notna().any() == there


FIELD = ptr.demo.simulate_field(seed=7, n_topics=8, n_docs=200, n_teams=4, length=30)
RUNS, PEOPLE = FIELD.runs, ptr.Qrels(FIELD.qrels.to_frame(), rel=2)
FRAME = PEOPLE.to_frame()[["qid", "docno", "label"]]
#: people's label -> that of a judge from 0 to 5
WIDE = {0: 1, 1: 3, 2: 4, 3: 5}
JUDGE = FRAME.assign(label=FRAME["label"].map(WIDE))
BACK = {0: 0, 2: 0} | {theirs: mine for mine, theirs in WIDE.items()}


@pytest.mark.filterwarnings("ignore::pt_reuse.ReuseWarning")
def test_labels_beyond_those_of_people_are_refused_until_somebody_says_what_they_mean():
    # a judge of whom nothing is known but its answers is no exception
    known = dict(zip(zip(JUDGE["qid"], JUDGE["docno"], strict=True), JUDGE["label"], strict=True))

    def asked(pairs):
        return [known.get(pair) for pair in zip(pairs["qid"], pairs["docno"], strict=True)]

    def audited(judge, **options):
        return ptr.audit_labels(RUNS, PEOPLE, judge, "P(rel=2)@5", resamples=0, **options).table

    def filled(judge, **options):
        return ptr.leave_out_uniques(RUNS, PEOPLE, "nDCG@5", depth=10, fill=judge, **options).filled

    for call in (audited, filled):
        for judge in (JUDGE, asked):
            with pytest.raises(ptr.InputError) as error:
                call(judge)
            assert error.value.argument == "judge_rel"
        pd.testing.assert_frame_equal(call(JUDGE, judge_rel=BACK), call(FRAME))
    pd.testing.assert_frame_equal(audited(JUDGE, judge_rel=4), audited(FRAME), check_dtype=False)


def test_one_rule_says_what_is_relevant():
    def lowest(labels, **options):
        (judge,) = as_judges(FRAME.assign(label=labels), **options)
        return compared_labels(PEOPLE, judge).judge_rel

    binary = (FRAME["label"] > 0).astype(int)
    assert lowest(binary) == 1
    assert lowest(binary, rel=2) == 2
    assert lowest(FRAME["label"]) == lowest(FRAME["label"].clip(upper=2)) == 2
    assert lowest(JUDGE["label"], rel=4) == 4
    assert lowest(JUDGE["label"], rel={"judge": 4}) == 4
    assert lowest(JUDGE["label"], rel=BACK) == lowest(JUDGE["label"], rel={"judge": BACK}) == 2
    (said,) = as_judges(ptr.Qrels(JUDGE, rel=5))
    assert compared_labels(PEOPLE, said).judge_rel == 5
    # all labels that are known count, not those alone of the documents in question
    few = PEOPLE.restrict(JUDGE[JUDGE["label"] <= 3])
    with pytest.raises(ptr.InputError):
        compared_labels(few, as_judges(JUDGE)[0])


def test_what_says_nothing_of_the_labels_is_refused(messages):
    for wrong in ({}, {4: "2"}, {4.0: 2}, {4: 2.5}, {True: 1}, {4: 99999}, {"other": 4}, {4: 2}):
        messages.refused(
            lambda wrong=wrong: ptr.labels.compare_labels(PEOPLE, JUDGE, judge_rel=wrong), argument="judge_rel"
        )


def test_each_grade_of_people_and_of_the_judge():
    bootstrap = TopicBootstrap(8, seed=1, confidence=0.95)
    found = label_agreement(compared(HUMAN, {"graded": GRADED, "binary": BINARY}), bootstrap).by_grade
    for name, judge, judge_rel in (("graded", GRADED, 2), ("binary", BINARY, 1)):
        pairs, rows = meeting(HUMAN, judge), found[found["judge"] == name]
        assert rows.loc[rows["given_by"] == "judge", "label"].tolist() == ([0, 1, 2, 3] if judge_rel == 2 else [0, 1])
        for row in rows.to_dict("records"):
            own, other = (0, 1) if row["given_by"] == "human" else (1, 0)
            bounds = (2, judge_rel)
            assert row["relevant_label"] == (row["label"] >= bounds[own])

            def shares(some, own=own, other=other, label=row["label"], bound=bounds[other]):
                given = [pair for pair in some if pair[own] == label]
                called = [pair for pair in given if pair[other] >= bound]
                return len(given) / len(some), len(called) / len(given) if given else np.nan

            assert row["n"] == sum(pair[own] == row["label"] for pair in pairs.values())
            assert (row["share"], row["relevant"]) == pytest.approx(shares(list(pairs.values())))
            drawn = [
                shares([pair for (qid, _), pair in pairs.items() for _ in range(draw[int(qid) - 1])])
                for draw in bootstrap.counts(6)
            ]
            for at, figure in enumerate(("share", "relevant")):
                ends = np.percentile([each[at] for each in drawn], expanded(6, 0.95))
                assert [row[f"{figure}_low"], row[f"{figure}_high"]] == pytest.approx(ends.tolist())
    precise = row_of(found, judge="binary", given_by="judge", label=1)
    table = label_agreement(compared(HUMAN, {"binary": BINARY}), None).table
    assert precise["relevant"] == table["precision"].iloc[0]


def test_the_confusion_matrix_is_that_of_scikit_learn():
    found = label_agreement(compared(HUMAN, {"graded": GRADED, "binary": BINARY}), None).confusion
    for name, judge in (("graded", GRADED), ("binary", BINARY)):
        human, given = np.array(list(meeting(HUMAN, judge).values())).T
        rows = found[found["judge"] == name]
        matrix = rows.pivot_table(index="label", columns="judge_label", values="n").to_numpy()
        labels = sorted({*human.tolist(), *given.tolist()})
        columns = [labels.index(label) for label in sorted(set(given.tolist()))]
        assert np.array_equal(matrix, metrics.confusion_matrix(human, given, labels=labels)[:, columns])
        assert rows["share"].sum() == pytest.approx(1)
        assert rows.groupby("label")["of_label"].sum().tolist() == pytest.approx([1] * 4)
        assert rows.groupby("judge_label")["of_judge_label"].sum().tolist() == pytest.approx([1] * matrix.shape[1])
