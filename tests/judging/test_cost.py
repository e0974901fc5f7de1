"""What a judge costs: calls, tokens, money; and calls that are made again after errors that pass."""

from __future__ import annotations

import pandas as pd
import pytest

import pt_reuse as ptr
from pt_reuse.judging import Answer, Cost, Price, Retry

ASKED = pd.DataFrame({"qid": "1", "docno": list("abcdef"), "query": "q", "text": list("abcdef")})


def judge(fn, **options):
    return ptr.judging.Callable(fn, name="model", **options)


def one(query, text):
    return Answer(1, input_tokens=10 + ord(text) - ord("a"), output_tokens=2)


def test_tokens_and_money_of_single_calls():
    model = judge(one, price=Price(0.5, 2.0, per=1_000, currency="EUR"))
    assert model.cost == Cost(price=model.cost.price)
    assert model.cost.money == 0
    model(ASKED)
    assert model.cost == Cost(calls=6, documents=6, input_tokens=75, output_tokens=12, told=6, price=model.cost.price)
    assert model.cost.money == pytest.approx((75 * 0.5 + 12 * 2.0) / 1000)
    model(ASKED[:1])
    assert model.cost.money == pytest.approx((85 * 0.5 + 14 * 2.0) / 1000), "without a cache it is paid again"
    assert repr(model.cost) == (
        "Cost: 7 documents, 7 calls, 85 tokens in, 14 out, 0.070500 EUR (0.5 in, 2 out per 1,000 tokens)"
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
    assert model(ASKED)["label"].tolist() == [1] * 6
    expected = Cost(calls=2, documents=6, input_tokens=60, output_tokens=6, told=2, price=Price(1, 10))
    assert model.cost == model.cost_in_cache == expected
    assert model.cost.money == pytest.approx((60 + 60) / 1e6)
    # a later judge pays nothing, and knows what was paid before
    later = judge(lambda query, text: answered(text), **options)
    later(ASKED)
    assert later.cost == Cost(from_cache=6, price=Price(1, 10))
    assert later.cost.money == 0
    assert later.cost_in_cache == expected
    assert judge(one, cache=tmp_path, version="2").cost_in_cache == Cost()
    assert judge(one).cost_in_cache == Cost()


class Flaky:
    """Fails so many times for each document before it answers."""

    def __init__(self, times, error=TimeoutError):
        self.left, self.error = dict.fromkeys("abcdef", times), error

    def __call__(self, query, text):
        if self.left[text]:
            self.left[text] -= 1
            raise self.error("busy")
        return Answer(1, input_tokens=1)


def test_errors_that_pass_are_waited_for():
    waits = []
    retry = Retry((ConnectionError, TimeoutError), times=3, wait=0.5, factor=3, longest=2, sleep=waits.append)
    model = judge(Flaky(3), retry=retry)
    assert model(ASKED[:2])["label"].tolist() == [1, 1]
    assert waits == [0.5, 1.5, 2.0] * 2
    assert model.cost == Cost(calls=8, failed=6, documents=2, input_tokens=2, told=2)
    assert repr(model.cost) == "Cost: 2 documents, 8 calls (6 failed), 2 tokens in, 0 out"
