"""Judges that look labels up, as they are or with errors; whatever else becomes a judge; labels beside people's."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
import pandas as pd
import pyterrier as pt
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pt_reuse as ptr
from pt_reuse.data import frame_columns
from pt_reuse.judge import as_judge, as_judges
from pt_reuse.studies.judged_fields import compared_labels

NOON = "2026-03-01T12:00:00+00:00"
QRELS = pd.DataFrame({"qid": ["1", "1", "1", "1", "2"], "docno": ["a", "b", "c", "d", "a"], "label": [2, 0, -1, -2, 1]})
ASKED = pd.DataFrame(
    {"qid": ["2", "1", "1", "1", "1", "2"], "docno": ["a", "b", "a", "c", "d", "z"]}, index=range(5, 11)
)


@pytest.fixture
def noon(monkeypatch):
    monkeypatch.setattr(frame_columns, "now", lambda: NOON)


def labels(frame):
    return [None if label is pd.NA else label for label in frame["label"]]


def test_an_oracle_says_what_is_known(noon):
    for unknown, expected in (("not relevant", [1, 0, 2, 0, 0, 0]), ("skip", [1, 0, 2, None, None, None])):
        found = ptr.judging.Oracle(QRELS, unknown=unknown)(ASKED.assign(text="kept"))
        assert labels(found) == expected
        assert found["label"].dtype == ("Int64" if None in expected else "int64")
        assert list(found) == ["qid", "docno", "text", "label", "judge", "time"]
        assert found.index.tolist() == ASKED.index.tolist()
        assert found["judge"].tolist() == [None if label is None else "oracle" for label in expected]
        assert found["time"].tolist() == [None if label is None else NOON for label in expected]


def test_an_oracle_passes_on_who_judged_and_when(noon):
    told = QRELS.assign(judge=["ann", None, "x", "x", "ben"], time=["2020", "2021", None, None, None], reason="why")
    found = ptr.judging.Oracle(told, unknown="not relevant", name="nist")(ASKED)
    assert found["judge"].tolist() == ["ben", "nist", "ann", "nist", "nist", "nist"]
    assert found["time"].tolist() == [NOON, "2021", "2020", NOON, NOON, NOON]
    assert "reason" not in found, "why it was chosen then is not why it is chosen now"


def graded(frame):
    return [int(docno == "a") for docno in frame["docno"]]


class Reader(pt.Transformer):
    def transform(self, inp):
        return inp[::-1].assign(label=graded(inp[::-1]), judge="reader", sure=0.5, text="t")


@pytest.mark.parametrize(
    ("given", "name"),
    [
        (graded, "graded"),
        (lambda frame: frame.assign(label=graded(frame)), "function"),
        (Reader(), "reader"),
        (pt.apply.generic(lambda frame: frame) >> Reader(), "reader"),
        (ptr.Qrels(pd.DataFrame({"qid": ["1", "2"], "docno": "a", "label": 1})), "oracle"),
        ({"1": {"a": 1}, "2": {"a": 1}}, "oracle"),
    ],
)
def test_whatever_a_user_gives_becomes_a_judge(given, name, noon):
    judge = as_judge(given)
    assert isinstance(judge, ptr.judging.Judge)
    assert as_judge(judge) is judge
    # labels of before are not seen
    found = judge(ASKED.assign(label=7, judge="before", text="mine"))
    # judgments know two of them
    known = [True, False, True, False, False, False] if name == "oracle" else [True] * 6
    assert labels(found) == [label if has else None for label, has in zip([1, 0, 1, 0, 0, 0], known, strict=True)]
    assert found["judge"].tolist() == [name if has else None for has in known]
    assert found["time"].tolist() == [NOON if has else None for has in known]
    assert set(found["text"]) == {"mine"}


SHARES = {0: {0: 0.9, 1: 0.1}, 1: {0: 0.3, 1: 0.5, 2: 0.2}, 2: {2: 1.0}}
MATRIX = [[0.9, 0.1, 0.0], [0.3, 0.5, 0.2], [0.0, 0.0, 1.0]]
SIXTY = pd.DataFrame({"qid": "1", "docno": [f"d{n}" for n in range(60)], "label": [0, 1, 2] * 20})


def test_each_label_is_that_of_its_own_draw():
    """By brute force: the hash of seed, topic and document, as a share of its range, in the row of the true label."""
    labels, seed = np.repeat([0, 1, 2], 100), 5
    qrels = pd.DataFrame({"qid": "7", "docno": [f"d{k}" for k in range(300)], "label": labels})
    found = ptr.judging.Noisy(qrels, SHARES, seed=seed)(qrels)
    for docno, true, label in zip(qrels["docno"], qrels["label"], found["label"], strict=True):
        number = int.from_bytes(blake2b(f"{seed}\0007\0{docno}".encode(), digest_size=8).digest(), "big")
        draw, upto, expected = (number >> 11) / 2**53, 0.0, None
        for value, share in sorted(SHARES[true].items()):
            upto += share
            if expected is None and draw < upto:
                expected = value
        assert label == expected


def test_a_row_is_a_mapping_or_the_shares_of_0_1_2():
    mixed = {0: [0.9, 0.1], 1: {0: 0.3, 1: 0.5, 2: 0.2}, 2: {2: 1.0}}
    labels, as_mappings = (ptr.judging.Noisy(SIXTY, rows, seed=3)(SIXTY)["label"] for rows in (mixed, SHARES))
    assert labels.tolist() == as_mappings.tolist()


def test_what_is_no_matrix_is_refused(messages):
    for confusion in (
        {0: {0: 0.5, 1: 0.4}, 1: {1: 1}, 2: {2: 1}},
        {0: {0: 1.5, 1: -0.5}, 1: {1: 1}, 2: {2: 1}},
        {0: {0: 1.0}, 1: {1: 1.0}},
        {0: 1.0},
        {0: {"x": 1.0}, 1: {1: 1}, 2: {2: 1}},
        {-1: {0: 1.0}, 0: {0: 1}, 1: {1: 1}, 2: {2: 1}},
        [[float("nan"), 1, 0]] * 3,
        pd.DataFrame(MATRIX, index=[0, 1, 1]),
        {},
        "noise",
    ):
        messages.refused(lambda one=confusion: ptr.judging.Noisy(SIXTY, one, seed=1), argument="confusion")


@given(st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 3)), min_size=1, max_size=40))
def test_an_estimated_confusion_is_the_brute_force(pairs):
    documents = pd.DataFrame({"qid": "1", "docno": [f"d{n}" for n in range(len(pairs))]})
    truth, given = (documents.assign(label=labels) for labels in zip(*pairs, strict=True))
    both = [pair for pair in pairs if min(pair) >= 0]
    if not both:
        with pytest.raises(ptr.InputError, match="no document"):
            ptr.judging.estimate_confusion(truth, given)
        return
    found = ptr.judging.estimate_confusion(truth, given.iloc[::-1])
    assert found.index.tolist() == sorted({true for true, _ in both})
    assert found.columns.tolist() == sorted({label for pair in both for label in pair})
    for true in found.index:
        row = [label for kind, label in both if kind == true]
        assert found.attrs["documents"][true] == len(row)
        for label in found.columns:
            assert found.loc[true, label] == row.count(label) / len(row)


HUMAN = ptr.Qrels(
    pd.DataFrame({"qid": ["1", "1", "1", "2", "2"], "docno": list("abcab"), "label": [3, 1, 0, 2, -1]}), rel=2
)


def judged(*labels, qids="11122"):
    rows = [(q, d, label) for q, d, label in zip(qids, "abcab", labels, strict=True) if label is not None]
    return pd.DataFrame(rows, columns=["qid", "docno", "label"])


def test_labels_of_both_beside_each_other():
    with pytest.warns(ptr.ReuseWarning, match="nothing in 1 topic that people judged: '2'"):
        found = compared_labels(HUMAN, as_judges({"x": judged(1, None, 0, None, 1)})[0])
    assert found.pairs.to_dict("list") == {"qid": ["1", "1"], "docno": ["a", "c"], "human": [3, 0], "judge": [1, 0]}
    assert (len(found.left), found.without, found.human.topics, found.judge_rel) == (1, ("2",), ["1"], 1)
    assert found.words() == "relevant from label 1; 2 documents of both, 1 missing, 1 topic without labels"
    assert len(found.human) == 3
    with pytest.warns(ptr.ReuseWarning):
        dropped = compared_labels(HUMAN, as_judges(judged(1, None, 0, None, 1))[0], missing="drop")
    assert dropped.human.to_frame()["docno"].tolist() == ["a", "c"]
    # a binary 1 counts as much as the lowest label of people that is relevant
    assert found.on_scale.to_frame()["label"].tolist() == [2, 0]
    assert found.on_scale.rel == 2


def test_what_is_no_judge_is_refused(messages):
    for odd in (5, None, pd.DataFrame({"qid": ["1"], "docno": ["a"]}), []):
        messages.refused(lambda odd=odd: as_judge(odd, "assessor"))
    for odd in ({}, {1: judged(1, 0, 0, 1, 1)}):
        messages.refused(lambda odd=odd: as_judges(odd), argument="judge")
    five = {"exam-4": judged(1, 0, 5, 1, 1), "other": judged(1, 0, 0, 1, 1)}
    error = messages.refused(lambda: as_judges(five, rel={"exam": 1}), argument="judge_rel")
    assert str(error).endswith("Did you mean 'exam-4'?")
    assert str(messages.refused(lambda: as_judges(five, rel={"othr": 1}))).endswith("Did you mean 'other'?")
    error = messages.refused(lambda: compared_labels(HUMAN, as_judges(five)[0]), argument="judge_rel")
    assert (error.place, error.text.count("judge_rel={'exam-4': 4}")) == ("exam-4", 1)
    assert compared_labels(HUMAN, as_judges(five, rel={"exam-4": 4})[0]).judge_rel == 4
    messages.refused(lambda: as_judges({"x": judged(1, 0, 0, 1, 1)}, families="gpt"), argument="families")
    messages.refused(lambda: compared_labels(HUMAN, as_judges(judged(*[1] * 5, qids="33344"))[0]), argument="judge")


def test_a_judge_says_for_which_documents_it_has_labels():
    pairs = [("1", "a"), ("1", "b"), ("1", "c"), ("2", "a")]
    for judge in (ptr.judging.Oracle(HUMAN), ptr.judging.Noisy(HUMAN, ptr.judging.flips(0.5, range(4)), seed=1)):
        known = judge.known_pairs()
        assert list(zip(known["qid"], known["docno"], strict=True)) == pairs
    (asked,) = as_judges(lambda frame: [1] * len(frame))
    assert asked.judge.known_pairs() is None
