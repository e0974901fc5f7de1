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


def test_what_is_unknown_can_be_an_error(messages):
    oracle = ptr.judging.Oracle(QRELS, unknown="error")
    assert labels(oracle(ASKED[:3])) == [1, 0, 2]
    error = messages.refused(lambda: oracle(ASKED), place="judge oracle")
    assert "3 documents" in str(error)
    messages.refused(lambda: ptr.judging.Oracle(QRELS, unknown="nothing"), argument="unknown")
    messages.refused(lambda: ptr.judging.Oracle(QRELS, name=" "), argument="name")
    messages.refused(lambda: ptr.judging.Oracle(5), argument="qrels")


def test_an_oracle_passes_on_who_judged_and_when(noon):
    told = QRELS.assign(judge=["ann", None, "x", "x", "ben"], time=["2020", "2021", None, None, None], reason="why")
    found = ptr.judging.Oracle(told, unknown="not relevant", name="nist")(ASKED)
    assert found["judge"].tolist() == ["ben", "nist", "ann", "nist", "nist", "nist"]
    assert found["time"].tolist() == [NOON, "2021", "2020", NOON, NOON, NOON]
    assert "reason" not in found, "why it was chosen then is not why it is chosen now"


def test_an_oracle_knows_what_is_relevant():
    assert ptr.judging.Oracle(ptr.Qrels(QRELS, rel=2)).rel == 2
    assert ptr.judging.Oracle(QRELS).rel is None


def test_an_oracle_judges_numbers_as_their_text_and_no_documents():
    found = ptr.judging.Oracle(QRELS)(pd.DataFrame({"qid": [1, 2], "docno": ["a", "a"]}))
    assert labels(found) == [2, 1]
    assert list(ptr.judging.Oracle(QRELS)(ASKED[:0])) == ["qid", "docno", "label", "judge", "time"]


def test_a_pool_is_judged_by_an_oracle_as_by_the_judgments_themselves():
    pool = ptr.Pool.from_frame(ASKED)
    with pytest.warns(ptr.ReuseWarning, match="3 documents of 6 without a label"):
        found = pool.judge(ptr.judging.Oracle(ptr.Qrels(QRELS, rel=2)))
    with pytest.warns(ptr.ReuseWarning, match="1 document of 6 without a label"):
        looked_up = pool.judge(ptr.Qrels(QRELS, rel=2))
    judged = looked_up.to_frame().query("label >= 0")
    assert found.to_frame()[["qid", "docno", "label"]].values.tolist() == judged.values.tolist()
    assert found.rel == looked_up.rel == 2


def test_pyterrier_understands_a_judge():
    oracle = ptr.judging.Oracle(QRELS)
    assert pt.inspect.transformer_inputs(oracle) == [["qid", "docno"]]
    outputs = pt.inspect.transformer_outputs(oracle, ["qid", "docno", "score"])
    assert outputs == ["qid", "docno", "score", "label", "judge", "time"]
    with pytest.raises(pt.validate.InputValidationError):
        oracle(ASKED[["qid"]])


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


def test_a_file_of_judgments_becomes_a_judge(tmp_path):
    path = ptr.Qrels(QRELS).write(tmp_path / "qrels")
    assert labels(as_judge(path)(ASKED)) == labels(as_judge(str(path))(ASKED)) == [1, 0, 2, None, None, None]


def test_a_judge_that_reads_is_given_what_it_reads():
    seen = []

    def reads(frame):
        seen.append(list(frame))
        return [0] * len(frame)

    as_judge(reads)(ASKED.assign(query="q", text="t", label=1, time="x"))
    assert seen == [["qid", "docno", "query", "text"]]


@pytest.mark.parametrize("given", [5, None, pd.DataFrame({"qid": ["1"], "docno": ["a"]}), []], ids=range(4))
def test_what_is_no_judge_is_refused(given, messages):
    messages.refused(lambda: as_judge(given, "assessor"))


def test_a_judge_that_breaks_its_word_is_told_by_name(messages):
    class Odd(ptr.judging.Judge):
        def __init__(self, said):
            super().__init__("odd")
            self.said = said

        def labels_of(self, pairs):
            return self.said

    for said in ([1], [1, 2, "three", 4, 5, 6], [0, 0, 0, 0, 0, 2**15], [0.5] * 6, None, "123456"):
        messages.refused(lambda said=said: Odd(said)(ASKED), place="judge odd")
    for said in (pd.DataFrame({"label": [1] * 6}), {"labels": [1] * 6}):
        messages.refused(lambda said=said: Odd(said)(ASKED), place="judge odd")
    for more in ({"probability": [0.5]}, {"judge": "me"}, {"time": None}):
        messages.refused(lambda more=more: Odd({"label": [1] * 6, **more})(ASKED), place="judge odd")
    assert labels(Odd([1, None, float("nan"), pd.NA, True, 2.0])(ASKED)) == [1, None, None, None, 1, 2]
    messages.refused(lambda: ptr.judging.Judge.__init__(Odd([]), "x", rel=0), argument="rel")
