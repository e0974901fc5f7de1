"""Answers that are kept: found again by all that they depend on, through failures, kills and other processes."""

from __future__ import annotations

import threading
import time

import pandas as pd
import pytest
from session_parts import records_in

import pt_reuse as ptr

ASKED = pd.DataFrame({"qid": "1", "docno": [f"d{n}" for n in range(12)], "query": "q"})
ASKED["text"] = "text of " + ASKED["docno"]


class Model:
    """Gives each document the remainder of its number, and remembers which it was asked for."""

    def __init__(self, fails=(), error=TimeoutError):
        self.asked, self.fails, self.error = [], list(fails), error

    def __call__(self, query, text):
        texts = text if isinstance(text, list) else [text]
        self.asked += texts
        for one in texts:
            if one in self.fails:
                self.fails.remove(one)
                raise self.error(f"no answer for {one}")
        labels = [int(one.split("d")[-1]) % 3 for one in texts]
        return labels if isinstance(text, list) else labels[0]


EXPECTED = [n % 3 for n in range(12)]


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


def judge(model, cache, **options):
    return ptr.judging.Callable(model, **{"name": "model", "version": "1", "cache": cache, **options})


def test_what_was_answered_is_not_asked_again(cache):
    first, second = Model(), Model()
    one, two = judge(first, cache, batch_size=5), judge(second, cache)
    assert one(ASKED[:7])["label"].tolist() == EXPECTED[:7]
    assert two(ASKED)["label"].tolist() == EXPECTED
    assert (len(first.asked), second.asked) == (7, ASKED["text"][7:].tolist())
    assert (one.cost.documents, one.cost.from_cache, two.cost.documents, two.cost.from_cache) == (7, 0, 5, 7)
    # and what the other one asked for meanwhile
    assert one(ASKED)["label"].tolist() == EXPECTED
    assert len(first.asked) == 7


@pytest.mark.parametrize(
    ("options", "columns", "again"),
    [
        ({}, {}, 0),
        ({"labels": (0, 1, 2), "rel": 2, "batch_size": 4}, {}, 0),
        ({"name": "other"}, {}, 12),
        ({"version": "2"}, {}, 12),
        ({"reads": ("qid", "text")}, {}, 12),
        ({}, {"text": "text of d1"}, 11),
        ({}, {"query": "p"}, 12),
        ({}, {"qid": "2"}, 12),
        ({}, {"rank": 3}, 0),
        ({"answers": "score", "thresholds": 1}, {}, 12),
    ],
)
def test_another_question_is_another_key(cache, options, columns, again):
    judge(Model(), cache)(ASKED)
    model = Model()
    judge(model, cache, **options)(ASKED.assign(**columns))
    assert len(model.asked) == again


def test_kept_scores_have_other_labels_by_other_thresholds(cache):
    model = Model()
    judge(model, cache, answers="score", thresholds=2)(ASKED)
    found = judge(Model(fails=ASKED["text"]), cache, answers="score", thresholds=(1, 2), labels=(0, 1, 4))(ASKED)
    assert found["label"].tolist() == [[0, 1, 4][n % 3] for n in range(12)]


def test_a_kept_label_that_there_is_no_more_is_told(cache, messages):
    judge(Model(), cache)(ASKED)
    messages.refused(lambda: judge(Model(), cache, labels=(0, 1))(ASKED))


@pytest.mark.parametrize("size", [None, 4])
def test_what_was_answered_before_a_failure_is_kept(cache, size, messages):
    failing = Model(fails=["text of d9"])
    first = judge(failing, cache, batch_size=size)
    document = "d9" if size is None else "d8"
    error = messages.refused(lambda: first(ASKED), place=f"judge model, topic '1', document '{document}'")
    assert isinstance(error.__cause__, TimeoutError)
    kept = 9 if size is None else 8
    assert first.cost.documents == kept
    assert first.cost.failed == 1
    assert len(records_in(cache / "labels.jsonl")) == kept
    model = Model()
    assert judge(model, cache, batch_size=size)(ASKED)["label"].tolist() == EXPECTED
    assert model.asked == ASKED["text"][kept:].tolist()


# several at once


def test_calls_that_have_begun_when_one_fails_are_kept(cache):
    both = threading.Barrier(2, timeout=30)
    calls = []

    def slow(query, text):
        calls.append(text)
        if len(calls) <= 2:
            both.wait()
        if text == "text of d0":
            raise TimeoutError("too slow")
        time.sleep(0.05)
        return 1

    with pytest.raises(ptr.InputError, match="document 'd0'"):
        judge(slow, cache, threads=2)(ASKED)
    kept = {record["docno"] for record in records_in(cache / "labels.jsonl")}
    assert {f"d{n}" for n in range(12)} & {text.split()[-1] for text in calls} - {"d0"} == kept
    assert "d1" in kept
    assert len(calls) < 12


def test_the_first_of_two_answers_stands(cache):
    """Two judges ask for the same document at the same time; both go on with the answer that was kept first."""
    other = judge(lambda query, text: 2, cache)

    def slow(query, text):
        other(ASKED[:1])
        return 0

    assert judge(slow, cache)(ASKED[:1])["label"].tolist() == [2]
    assert len(records_in(cache / "labels.jsonl")) == 1


# what may be wrong with the folder
