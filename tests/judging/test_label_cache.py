"""Answers that are kept: found again by all that they depend on, through failures, kills and other processes."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time

import numpy as np
import pandas as pd
import pytest
from forking import fork
from kills import kill_workers
from session_parts import records_in

import pt_reuse as ptr
from pt_reuse.data import frame_columns

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


def test_an_answer_keeps_its_time(cache, monkeypatch):
    for clock in ("2026-01-01T00:00:00+00:00", "2027-01-01T00:00:00+00:00"):
        monkeypatch.setattr(frame_columns, "now", lambda clock=clock: clock)
        monkeypatch.setattr("pt_reuse.judging.callable_judge.now", lambda clock=clock: clock)
        assert set(judge(Model(), cache)(ASKED)["time"]) == {"2026-01-01T00:00:00+00:00"}


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


def test_another_vector_is_another_key(cache):
    """As a text an array of 2,000 numbers is cut, and has eight digits of each."""
    vector, calls = np.linspace(0, 1, 2000), []

    def near(vectors):
        calls.extend(vectors)
        return [1] * len(vectors)

    model = judge(near, cache, reads="doc_vec", batch_size=12)
    middle, slight = (vector + np.eye(2000)[1000] * by for by in (0.5, 1e-12))
    for cell in (vector, vector.copy(), middle, slight, vector.astype(np.float32)):
        model(ASKED[:1].assign(doc_vec=[cell]))
    assert len(calls) == 4
    assert calls[1] is middle


def test_kept_scores_have_other_labels_by_other_thresholds(cache):
    model = Model()
    judge(model, cache, answers="score", thresholds=2)(ASKED)
    found = judge(Model(fails=ASKED["text"]), cache, answers="score", thresholds=(1, 2), labels=(0, 1, 4))(ASKED)
    assert found["label"].tolist() == [[0, 1, 4][n % 3] for n in range(12)]


def test_kept_probabilities_have_other_labels_by_another_decision(cache):
    def odds(query, text):
        return [0.4, 0.3, 0.3]

    options = {"answers": "probabilities", "labels": (0, 1, 2)}
    assert set(judge(odds, cache, **options)(ASKED)["label"]) == {0}
    again = judge(Model(fails=ASKED["text"]), cache, decide="expected", **options)
    found = again(ASKED)
    assert set(found["label"]) == {1}
    assert set(found["probabilities"]) == {(0.4, 0.3, 0.3)}
    assert again.cost.calls == 0


def test_no_label_is_an_answer(cache):
    judge(lambda query, text: None, cache)(ASKED)
    model = Model()
    assert judge(model, cache)(ASKED)["label"].isna().all()
    assert model.asked == []


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


def test_a_failure_without_a_cache_says_what_is_lost(messages):
    model = ptr.judging.Callable(Model(fails=["text of d9"]), name="model", batch_size=4)
    messages.refused(lambda: model(ASKED), place="judge model, topic '1', document 'd8'")


def test_a_batch_that_is_wrong_is_not_kept(cache):
    with pytest.raises(ptr.InputError):
        judge(lambda query, text: [0, 1, 2, 9], cache, batch_size=4, labels=(0, 1, 2))(ASKED)
    assert records_in(cache / "labels.jsonl") == []


# several at once


def test_threads_give_the_same_labels(cache):
    for folder in (None, cache):
        options = {"cache": folder, "version": "1" if folder else None}
        model = judge(Model(), **options, threads=4, batch_size=2)
        assert model(ASKED)["label"].tolist() == EXPECTED
        assert (model.cost.calls, model.cost.documents) == (6, 12)


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


def test_one_judge_serves_several_threads(cache):
    model, results = judge(Model(), cache), []
    threads = [threading.Thread(target=lambda: results.append(model(ASKED)["label"].tolist())) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert results == [EXPECTED] * 4
    cost = model.cost
    assert cost.documents + cost.from_cache == 48
    assert len(records_in(cache / "labels.jsonl")) == 12


def test_the_first_of_two_answers_stands(cache):
    """Two judges ask for the same document at the same time; both go on with the answer that was kept first."""
    other = judge(lambda query, text: 2, cache)

    def slow(query, text):
        other(ASKED[:1])
        return 0

    assert judge(slow, cache)(ASKED[:1])["label"].tolist() == [2]
    assert len(records_in(cache / "labels.jsonl")) == 1


# what may be wrong with the folder


def test_a_folder_that_cannot_be_one_is_refused_before_any_call(tmp_path, messages):
    (tmp_path / "file").write_text("x")
    messages.refused(lambda: judge(Model(), tmp_path / "file"), argument="cache")
    (tmp_path / "labels.jsonl").write_text("mine\n")
    model = Model()
    messages.refused(lambda: judge(model, tmp_path)(ASKED), argument="cache")
    assert model.asked == []
    assert (tmp_path / "labels.jsonl").read_text() == "mine\n"


def test_the_file_can_be_read_by_others(cache):
    judge(Model(), cache, batch_size=3)(ASKED[:3])
    lines = [json.loads(line)["record"] for line in (cache / "labels.jsonl").read_text().splitlines()]
    assert lines[0]["kind"] == "cache of labels"
    record = {key: value for key, value in lines[2].items() if key not in ("key", "time")}
    assert record == {"judge": "model", "version": "1", "qid": "1", "docno": "d1", "answer": 1, "call": None}


@pytest.mark.skipif(sys.platform == "win32", reason="kill -9")
def test_no_answer_is_lost_when_judges_are_killed(tmp_path, cache):
    """Two judges at a time share a cache; 40 of them are killed. What was acknowledged is asked no more."""
    asked = pd.DataFrame({"qid": "1", "docno": [f"d{n}" for n in range(3000)], "query": "q"})
    asked["text"] = asked["docno"]
    log = os.open(tmp_path / "log", os.O_CREAT | os.O_WRONLY | os.O_APPEND)

    def answer(query, text):
        os.write(log, "".join(f"{each} " for each in text).encode())
        return [int(each[1:]) % 3 for each in text]

    def work(chance):
        size = chance.choice([1, 7, 40])
        begin = chance.randrange(3000)
        part = asked.iloc[begin : begin + 60]
        found = judge(answer, cache, batch_size=size)(part)
        assert found["label"].tolist() == [n % 3 for n in range(begin, min(begin + 60, 3000))]

    kills = kill_workers(work, kills=40, processes=2, seconds=0.02, seed=4)
    kept = [record["docno"] for record in records_in(cache / "labels.jsonl")]
    assert len(kept) == len(set(kept)), "no answer is there twice"
    times = pd.Series((tmp_path / "log").read_bytes().decode().split()).value_counts()
    assert set(kept) <= set(times.index)
    # a document is asked for again where its judge was killed before the answer was kept, or two asked at once
    assert (times - 1).clip(lower=0).sum() <= 2 * 40 * kills
    model = Model()
    rest = judge(lambda query, text: model(query, text), cache, batch_size=50)
    assert rest(asked)["label"].tolist() == [n % 3 for n in range(3000)]
    assert len(model.asked) == 3000 - len(kept)


def _dies_with_the_second_answer(pipe):
    done = []

    def answer(query, text):
        os.write(pipe, b".")
        if done:
            os.kill(os.getpid(), signal.SIGKILL)
        done.append(text)
        return int(text.split("d")[-1]) % 3

    return answer


@pytest.mark.skipif(sys.platform == "win32", reason="kill -9")
def test_a_judge_that_is_killed_after_each_answer_goes_on(cache):
    """Killed after the 1st, 2nd, ... answer: each next judge asks for what is left alone, and pays for it once."""
    calls = []
    for kill in range(12):
        reading, writing = os.pipe()
        child = fork()
        if not child:
            try:
                judge(_dies_with_the_second_answer(writing), cache)(ASKED)
            finally:
                os._exit(0)
        os.close(writing)
        os.waitpid(child, 0)
        calls.append(len(os.read(reading, 100)))
        os.close(reading)
        assert len(records_in(cache / "labels.jsonl")) == kill + 1
    # one that is kept, and one that the kill comes in; the last one has but one left
    assert calls == [2] * 11 + [1]
    model = Model()
    assert judge(model, cache)(ASKED)["label"].tolist() == EXPECTED
    assert model.asked == []
