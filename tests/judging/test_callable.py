"""A function as a judge: what it is given, what it may answer, what that costs, and what of it is kept."""

from __future__ import annotations

import socket
import time
from itertools import pairwise, product

import numpy as np
import pandas as pd
import pyterrier as pt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from session_parts import records_in

import pt_reuse as ptr
from pt_reuse.judging.callable_judge import Answer, Cost, Price, Retry

ASKED = pd.DataFrame({"qid": list("11212"), "docno": list("abaac")}, index=[9, 8, 7, 6, 5])
ASKED = ASKED.assign(query="q" + ASKED["qid"], text="t" + ASKED["docno"])


class Model:
    """Answers from a table by text, and remembers what it was called with."""

    def __init__(self, **answers):
        self.answers, self.seen = answers, []

    def __call__(self, *given):
        self.seen.append(given)
        last = given[-1]
        return [self.answers[text] for text in last] if isinstance(last, list) else self.answers[last]


def judge(fn, **options):
    return ptr.judging.Callable(fn, name="model", **options)


def column(frame, name):
    return [None if value is pd.NA else value for value in frame[name]]


# probabilities and scores

ROWS = {"ta": [0.2, 0.5, 0.3], "tb": [0.5, 0.1, 0.4], "tc": [0.25, 0.5, 0.25]}


def brute_force(row, labels, decide):
    if decide == "most probable":
        return min(label for label, p in zip(labels, row, strict=True) if p == max(row))
    expected = sum(label * p for label, p in zip(labels, row, strict=True))
    return min(labels, key=lambda label: (round(abs(label - expected), 12), label))


def test_probabilities_become_labels():
    forms = {"list": list, "array": np.array, "mapping": None}
    for labels, decide, form in product(
        [(0, 1, 2), (2, 0, 1), (0, 1, 3), (-1, 0, 5)], ["most probable", "expected"], forms
    ):
        as_form = forms[form] or (lambda row, labels=labels: dict(zip(labels, row, strict=True)))
        model = Model(**{text: as_form(row) for text, row in ROWS.items()})
        found = judge(model, answers="probabilities", labels=labels, decide=decide, rel=2)(ASKED)
        rows = [ROWS[text] for text in ASKED["text"]]
        assert column(found, "label") == [brute_force(row, labels, decide) for row in rows], (labels, decide, form)
        assert found["probabilities"].tolist() == [tuple(row) for row in rows]
        relevant = [sum(p for label, p in zip(labels, row, strict=True) if label >= 2) for row in rows]
        assert found["probability"].tolist() == pytest.approx(relevant, abs=1e-15)


def test_scores_become_labels_by_thresholds():
    for thresholds, expected in ((0.5, [1, 0, 1]), ((0.4, 0.6), [1, 0, 2]), ((0.4, 0.5, 0.9), [2, 0, 2])):
        model = Model(ta=0.5, tb=-3.0, tc=np.float64(0.75))
        asked = judge(model, answers="score", thresholds=thresholds, batch_size=8)
        found = asked(ASKED.iloc[[0, 1, 4]])
        assert column(found, "label") == expected
        assert found["judge_score"].tolist() == [0.5, -3.0, 0.75]


@settings(max_examples=12, deadline=None)
@given(
    order=st.permutations(range(20)),
    cuts=st.sets(st.integers(1, 19), max_size=4),
    size=st.none() | st.integers(1, 21),
)
def test_order_and_batches_change_no_label(order, cuts, size):
    asked = pd.DataFrame({"qid": "1", "docno": [f"d{n}" for n in range(20)], "query": "q"})
    asked["text"] = asked["docno"]
    model = Model(**{f"d{n}": n % 4 for n in range(20)})
    one, shuffled = judge(model, batch_size=size), asked.iloc[order]
    found = pd.concat([one(shuffled.iloc[start:stop]) for start, stop in pairwise([0, *sorted(cuts), 20])])
    assert found["label"].tolist() == [n % 4 for n in order]
    assert one.cost.documents == 20


# what cannot be


SCORE = {"answers": "score", "thresholds": 0.5}
BOTH = {"answers": "probabilities", "labels": (0, 1)}


def test_what_does_not_fit_together_is_refused_before_any_call(messages):
    wrong = [
        *({"fn": 5}, {"name": ""}, {"reads": ()}, {"batch_size": 0}, {"answers": "labels"}, {"decide": "best"}),
        *({"answers": "probabilities"}, {"answers": "score"}, {"thresholds": 0.5}, {**SCORE, "thresholds": (0.5, 0.5)}),
        *({**SCORE, "thresholds": "high"}, {**SCORE, "labels": (0, 1, 2)}, {**SCORE, "labels": (1, 0)}),
        *({"labels": (1,)}, {"labels": (0, 0)}, {"labels": (0, 0.5)}, {"rel": 0}, {"cache": "folder"}),
        *({"cache": "folder", "version": " "}, {"cache": 5, "version": "1"}, {"retry": 3}, {"price": 0.5}),
        {"verbose": "no"},
    ]
    for options in wrong:
        arguments = {"fn": lambda query, text: 1, "name": "model", **options}
        error = messages.refused(lambda arguments=arguments: ptr.judging.Callable(**arguments))
        assert error.argument in {list(options)[-1], "labels", "thresholds", "version", None}


def test_an_answer_that_is_none_is_told_with_its_document(messages):
    no_labels = [5, 0.5, "relevant", float("nan"), [1, 0], 2**15, {0: 1.0}]
    no_shares = [{0: 0.5, 3: 0.5}, [0.5, 0.6], [-0.5, 1.5], [1.0], [float("nan"), 1.0], 0.5]
    no_scores = ["high", float("inf"), [0.5, 0.5]]
    for answers, options in ((no_labels, {"labels": (0, 1, 2)}), (no_shares, BOTH), (no_scores, SCORE)):
        for answer in answers:
            model = judge(Model(ta=answer, tb=1, tc=1), **options)
            messages.refused(lambda model=model: model(ASKED), place="judge model, topic '1', document 'a'")


SIX = pd.DataFrame({"qid": "1", "docno": list("abcdef"), "query": "q", "text": list("abcdef")})


def one(query, text):
    return Answer(1, input_tokens=10 + ord(text) - ord("a"), output_tokens=2)


def test_tokens_and_money_of_single_calls():
    model = judge(one, price=Price(0.5, 2.0, per=1_000))
    assert model.cost == Cost(price=model.cost.price)
    assert model.cost.money == 0
    model(SIX)
    assert model.cost == Cost(calls=6, documents=6, input_tokens=75, output_tokens=12, told=6, price=model.cost.price)
    assert model.cost.money == pytest.approx((75 * 0.5 + 12 * 2.0) / 1000)
    model(SIX[:1])
    assert model.cost.money == pytest.approx((85 * 0.5 + 14 * 2.0) / 1000), "without a cache it is paid again"
    assert repr(model.cost) == (
        "Cost: 7 documents, 7 calls, 85 tokens in, 14 out, 0.070500 USD (0.5 in, 2 out per 1,000 tokens)"
    )


@pytest.mark.parametrize(
    "answered",
    [
        lambda texts: Answer([1] * len(texts), input_tokens=len(texts) * 10, output_tokens=len(texts)),
        lambda texts: [Answer(1, input_tokens=10, output_tokens=1) for _ in texts],
    ],
)
def test_tokens_of_batches(answered, tmp_path):
    options = {"batch_size": 4, "price": Price(1, 10), "cache": tmp_path, "version": "1"}
    model = judge(lambda query, text: answered(text), **options)
    assert model(SIX)["label"].tolist() == [1] * 6
    expected = Cost(calls=2, documents=6, input_tokens=60, output_tokens=6, told=2, price=Price(1, 10))
    assert model.cost == model.cost_in_cache == expected
    assert model.cost.money == pytest.approx((60 + 60) / 1e6)
    # a later judge pays nothing, and knows what was paid before
    later = judge(lambda query, text: answered(text), **options)
    later(SIX)
    assert later.cost == Cost(from_cache=6, price=Price(1, 10))
    assert later.cost.money == 0
    assert later.cost_in_cache == expected
    assert judge(one, cache=tmp_path, version="2").cost_in_cache == Cost()
    assert judge(one).cost_in_cache == Cost()


TWELVE = pd.DataFrame({"qid": "1", "docno": [f"d{n}" for n in range(12)], "query": "q"})
TWELVE["text"] = "text of " + TWELVE["docno"]


class Remainders:
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


def cached(model, cache, **options):
    return ptr.judging.Callable(model, **{"name": "model", "version": "1", "cache": cache, **options})


def test_errors_that_pass_are_waited_for(monkeypatch):
    waits, failing = [], Remainders(fails=["text of d0", "text of d1"] * 3)
    monkeypatch.setattr(time, "sleep", waits.append)
    model = judge(failing, retry=Retry((ConnectionError, TimeoutError), times=3, wait=20))
    assert model(TWELVE[:2])["label"].tolist() == EXPECTED[:2]
    assert waits == [20, 40, 60] * 2
    assert model.cost == Cost(calls=8, failed=6, documents=2)
    assert repr(model.cost) == "Cost: 2 documents, 8 calls (6 failed), tokens told of 0 of 2 answered calls"


def test_what_was_answered_is_not_asked_again(cache):
    first, second = Remainders(), Remainders()
    one, two = cached(first, cache, batch_size=5), cached(second, cache)
    assert one(TWELVE[:7])["label"].tolist() == EXPECTED[:7]
    assert two(TWELVE)["label"].tolist() == EXPECTED
    assert (len(first.asked), second.asked) == (7, TWELVE["text"][7:].tolist())
    assert (one.cost.documents, one.cost.from_cache, two.cost.documents, two.cost.from_cache) == (7, 0, 5, 7)
    # and what the other one asked for meanwhile
    assert one(TWELVE)["label"].tolist() == EXPECTED
    assert len(first.asked) == 7


def test_another_question_is_another_key(cache):
    cached(Remainders(), cache)(TWELVE)
    for options, columns, again in (
        ({}, {}, 0),
        ({"labels": (0, 1, 2), "rel": 2, "batch_size": 4}, {}, 0),
        ({}, {"rank": 3}, 0),
        ({"name": "other"}, {}, 12),
        ({"version": "2"}, {}, 12),
        ({"reads": ("qid", "text")}, {}, 12),
        ({}, {"text": "text of d1"}, 11),
        ({}, {"query": "p"}, 12),
        ({}, {"qid": "2"}, 12),
        ({"answers": "score", "thresholds": 1}, {}, 12),
    ):
        model = Remainders()
        cached(model, cache, **options)(TWELVE.assign(**columns))
        assert len(model.asked) == again, (options, columns)


def test_a_kept_label_that_there_is_no_more_is_told(cache, messages):
    cached(Remainders(), cache)(TWELVE)
    messages.refused(lambda: cached(Remainders(), cache, labels=(0, 1))(TWELVE))


@pytest.mark.parametrize("size", [None, 4])
def test_what_was_answered_before_a_failure_is_kept(cache, size, messages):
    failing = Remainders(fails=["text of d9"])
    first = cached(failing, cache, batch_size=size)
    document = "d9" if size is None else "d8"
    error = messages.refused(lambda: first(TWELVE), place=f"judge model, topic '1', document '{document}'")
    assert isinstance(error.__cause__, TimeoutError)
    kept = 9 if size is None else 8
    assert first.cost.documents == kept
    assert first.cost.failed == 1
    assert len(records_in(cache / "labels.jsonl")) == kept
    model = Remainders()
    assert cached(model, cache, batch_size=size)(TWELVE)["label"].tolist() == EXPECTED
    assert model.asked == TWELVE["text"][kept:].tolist()


def test_the_first_of_two_answers_stands(cache):
    """Two judges ask for the same document at the same time; both go on with the answer that was kept first."""
    other = cached(lambda query, text: 2, cache)

    def slow(query, text):
        other(TWELVE[:1])
        return 0

    assert cached(slow, cache)(TWELVE[:1])["label"].tolist() == [2]
    assert len(records_in(cache / "labels.jsonl")) == 1


# pipelines, with the texts that they read


@pytest.fixture(autouse=True)
def nobody_sends(monkeypatch):
    """Fail where anything opens a connection."""
    monkeypatch.setattr(socket.socket, "connect", lambda *arguments: pytest.fail(f"something is sent: {arguments}"))


def test_a_pipeline_is_called_in_batches_and_its_answers_are_kept(cache):
    sizes = []

    def grade(frame):
        sizes.append(len(frame))
        assert list(frame) == ["qid", "docno", "query", "text"]
        # sorted otherwise, and without a row for one
        labelled = frame.assign(label=[int(text.split("d")[-1]) % 3 for text in frame["text"]])
        return labelled[labelled["docno"] != "d7"].sort_values("docno", ascending=False)

    texts = dict(zip(TWELVE["docno"], TWELVE["text"], strict=True))
    for kept, size in ((cache, 5), (cache, 5), (None, None)):
        model = cached(pt.apply.generic(grade), kept, batch_size=size)
        reader = ptr.judging.WithTexts(model, topics=pd.DataFrame({"qid": ["1"], "query": "q"}), texts=texts)
        asked = TWELVE[["qid", "docno"]]
        assert column(reader(asked), "label") == [None if n == 7 else label for n, label in enumerate(EXPECTED)]
    assert sizes == [5, 5, 2, *[1] * 12]
