"""Judges that look labels up: what they know, what they say of the rest, and whatever else a user gives as a judge."""

from __future__ import annotations

import pandas as pd
import pyterrier as pt
import pytest

import pt_reuse as ptr
from pt_reuse.data import frame_columns
from pt_reuse.judging.judges import as_judge

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


@pytest.mark.parametrize(
    ("unknown", "expected"),
    [
        ({"unknown": "not relevant"}, [1, 0, 2, 0, 0, 0]),
        ({"unknown": "skip"}, [1, 0, 2, None, None, None]),
        ({}, [1, 0, 2, None, None, None]),
    ],
    ids=str,
)
def test_an_oracle_says_what_is_known(unknown, expected, noon):
    found = ptr.judging.Oracle(QRELS, **unknown)(ASKED.assign(text="kept"))
    assert labels(found) == expected
    assert found["label"].dtype == "Int64"
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


@pytest.mark.parametrize("given", [5, None, pd.DataFrame({"qid": ["1"], "docno": ["a"]}), []], ids=range(4))
def test_what_is_no_judge_is_refused(given, messages):
    messages.refused(lambda: as_judge(given, "assessor"))
