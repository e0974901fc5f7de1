"""Answers of judges that are none: masked numbers, answers without end, and errors that may hold a secret."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pyterrier as pt
import pytest
from experiment_parts import FIELD, NAMES, QRELS, TOPICS, Retriever

import pt_reuse as ptr

IDS = ("qid", "docno")
ASKED = pd.DataFrame({"qid": ["1", "1", "2"], "docno": ["a", "b", "c"], "query": "q", "text": list("xyz")})
MASKED = np.ma.array([1, 0, 2], mask=[False, True, False])
ALL_MASKED = np.ma.array([0, 1, 2], mask=True)


class Says(ptr.judging.Judge):
    """Gives what it is told to, as labels or as columns."""

    def __init__(self, answer):
        super().__init__("says")
        self.answer = answer

    def labels_of(self, pairs):
        return self.answer() if callable(self.answer) else self.answer


def each_of(answer):
    """Return a Callable that is asked one by one."""
    said = iter(answer)
    return ptr.judging.Callable(lambda qid, docno: next(said), name="each", reads=IDS)


WAYS = {
    "judge": Says,
    "columns": lambda answer: Says({"label": answer}),
    "function": lambda answer: lambda pairs: answer,
    "batches": lambda answer: ptr.judging.Callable(lambda qid, docno: answer, name="c", reads=IDS, batch_size=9),
    "one by one": each_of,
    "zero dimensions": lambda answer: each_of([answer[at : at + 1].reshape(()) for at in range(3)]),
    "frame": lambda answer: lambda pairs: pairs.assign(label=answer)[["qid", "docno", "label"]],
    "pipeline": lambda answer: pt.apply.generic(lambda pairs: pairs.assign(label=answer)),
}


def test_a_masked_number_is_no_label():
    pool = ptr.Pool.from_frame(ASKED)
    for way, as_judge in WAYS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            some = pool.judge(as_judge(MASKED)).to_frame()
            none = pool.judge(as_judge(ALL_MASKED))
        assert some.set_index("docno")["label"].to_dict() in ({"a": 1, "c": 2}, {"a": 1, "b": -1, "c": 2}), way
        assert not (none.arrays.labels >= 0).any(), way


# what another library says of an error may hold a key or a text: it is behind __cause__, and in no message of ours

SECRET = "https://user:sk-secret@api.example/v1?key=sk-secret"


class ApiError(Exception):
    """Says where it called, key included."""


def fails(*_):
    raise ApiError(f"401 for {SECRET}")


@pytest.mark.parametrize("size", [None, 2])
@pytest.mark.parametrize("cached", [False, True])
def test_an_error_of_a_function_is_told_by_its_kind_and_our_place(size, cached, tmp_path, messages):
    more = {"cache": tmp_path, "version": "1"} if cached else {}
    judge = ptr.judging.Callable(fails, name="model", batch_size=size, **more)
    error = messages.refused(lambda: judge(ASKED))
    assert "ApiError" in str(error)
    assert "secret" not in str(error) + repr(error) + repr(error.args)
    assert isinstance(error.__cause__, ApiError)
    assert SECRET in str(error.__cause__)
    assert "topic '1', document 'a'" in error.place
    assert not cached or "secret" not in "".join(path.read_text() for path in tmp_path.rglob("*.jsonl"))


def test_an_error_of_a_pipeline_is_told_by_its_kind(tmp_path, messages):
    pipeline = pt.apply.generic(fails)
    call = lambda: ptr.RunSet.from_pipelines({"A": pipeline}, TOPICS, cache=tmp_path)  # noqa: E731
    error = messages.refused(call, argument="pipelines")
    assert "ApiError" in str(error)
    assert "secret" not in str(error)
    assert SECRET in str(error.__cause__)


def test_an_error_of_a_judge_that_fills_is_in_no_note():
    systems = {name: Retriever(FIELD.runs[name]) for name in NAMES[:2]}
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = ptr.Experiment(systems, TOPICS, QRELS, ["P@5"], fill=fails, reuse=["filled"])
    texts = [str(one.message) for one in said]
    assert any("ApiError" in text for text in texts)
    assert "secret" not in "".join(texts) + repr(found.attrs)


def test_a_pipeline_that_judges_other_documents_is_refused(messages):
    for size in (None, 2):
        other = pt.apply.generic(lambda asked: asked.assign(docno="z" + asked["docno"], label=1))
        judge = ptr.judging.Callable(other, name="other", batch_size=size)
        messages.refused(lambda judge=judge: judge(ASKED))
