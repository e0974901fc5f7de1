"""Expanded judgments: old and new ones together, told apart by their rounds; counts by a further column."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pool_parts import as_runs

from pt_reuse.data.judgment_changes import expand_judgments
from pt_reuse.data.judgments import Qrels
from pt_reuse.pooling.depth import depth_pool

OLD_RUNS = {"A": {"1": ["a", "b", "c"], "2": ["p", "q"]}}
NEW_RUNS = {"N": {"1": ["b", "x", "y", "z"], "2": ["p"], "3": ["u"]}}
RELEVANT = {("1", "a"), ("1", "x"), ("1", "z"), ("2", "q"), ("3", "u")}


def frame(*rows, **columns):
    return pd.DataFrame(rows, columns=["qid", "docno", "label"]).assign(**columns)


def assessor(pairs):
    return [int(pair in RELEVANT) for pair in zip(pairs["qid"], pairs["docno"], strict=True)]


def rounds_of(qrels):
    table = qrels.to_frame()
    return {(qid, docno): (label, n) for qid, docno, label, n in table[["qid", "docno", "label", "round"]].to_numpy()}


def test_a_remainder_is_judged_and_merged():
    old = depth_pool(as_runs(OLD_RUNS), depth=2).judge(assessor)
    pool = depth_pool(as_runs(NEW_RUNS), depth=3)
    assert pool.counts(old).values.tolist() == [["1", 3, 1, 2], ["2", 1, 1, 0], ["3", 1, 0, 1]]
    rest = pool.remainder(old)
    assert rest.counts().values.tolist() == [["1", 2], ["2", 0], ["3", 1]]
    expanded = expand_judgments(old, rest.judge(assessor))
    assert rounds_of(expanded) == {
        ("1", "a"): (1, 1),
        ("1", "b"): (0, 1),
        ("2", "p"): (0, 1),
        ("2", "q"): (1, 1),
        ("1", "x"): (1, 2),
        ("1", "y"): (0, 2),
        ("3", "u"): (1, 2),
    }
    found = expanded.counts(by="round")
    assert found.columns.tolist() == ["qid", "round", "judged", "relevant", "unjudged", "junk", "density"]
    assert found[["qid", "round", "judged", "relevant"]].values.tolist() == [
        ["1", 1, 2, 1],
        ["1", 2, 2, 1],
        ["2", 1, 2, 1],
        ["2", 2, 0, 0],
        ["3", 1, 0, 0],
        ["3", 2, 1, 1],
    ]
    # a third round is counted on, whether it says that it is its own first or says nothing
    for more in (frame(("1", "z", 1)), frame(("1", "z", 1), round=1), frame(("1", "z", 1), round=3)):
        assert rounds_of(expand_judgments(expanded, more))["1", "z"] == (1, 3)
    assert rounds_of(expand_judgments(expanded, frame(("1", "z", 1), round=9)))["1", "z"] == (1, 9)


def test_two_labels_follow_the_rule_and_so_do_their_rounds(messages):
    old, new = Qrels(frame(("1", "a", 1), ("1", "b", 2))), frame(("1", "a", 2), ("1", "b", 0))
    messages.refused(lambda: expand_judgments(old, new), argument="conflict")
    assert rounds_of(expand_judgments(old, new, conflict="first")) == {("1", "a"): (1, 1), ("1", "b"): (2, 1)}
    assert rounds_of(expand_judgments(old, new, conflict="second")) == {("1", "a"): (2, 2), ("1", "b"): (0, 2)}
    assert rounds_of(expand_judgments(old, new, conflict="higher")) == {("1", "a"): (2, 2), ("1", "b"): (2, 1)}
    assert expand_judgments(old.with_rel(2), new, conflict="first").rel == 2


@pytest.mark.parametrize("round_", [0, 1.5, "x", -1, float("inf")])
def test_rounds_that_are_none(round_, messages):
    bad = frame(("1", "a", 1), round=[round_])
    messages.refused(lambda: expand_judgments(bad, frame(("1", "b", 1))), argument="old")
    messages.refused(lambda: expand_judgments(frame(("1", "b", 1)), bad), argument="new")


ROW = st.tuples(st.sampled_from("12"), st.sampled_from("abcd"), st.integers(-1, 2))
ROWS = st.lists(ROW, unique_by=lambda row: row[:2], min_size=1)


@settings(deadline=None, max_examples=25)
@given(ROWS, ROWS)
def test_every_judgment_is_there_once_and_old_ones_stay(old, new):
    new = [row for row in new if (*row[:2],) not in {other[:2] for other in old}]
    expanded = expand_judgments(frame(*old), frame(*new) if new else Qrels(frame(*old)))
    assert rounds_of(expanded) == {(q, d): (label, 1) for q, d, label in old} | {
        (q, d): (label, 2) for q, d, label in new
    }
    by_round, whole = expanded.counts(by="round"), expanded.counts()
    for column in ("judged", "relevant", "unjudged", "junk"):
        assert by_round.groupby("qid")[column].sum().tolist() == whole[column].tolist()
