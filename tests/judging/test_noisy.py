"""A noisy oracle errs at its rates, and says the same whoever asks, whenever, in whichever order."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pt_reuse as ptr
from pt_reuse.judging.oracle import confusion_rows

SHARES = {0: {0: 0.9, 1: 0.1}, 1: {0: 0.3, 1: 0.5, 2: 0.2}, 2: {2: 1.0}}
MATRIX = [[0.9, 0.1, 0.0], [0.3, 0.5, 0.2], [0.0, 0.0, 1.0]]
QRELS = pd.DataFrame({"qid": "1", "docno": [f"d{n}" for n in range(60)], "label": [0, 1, 2] * 20})


def big(per_label):
    n = 3 * per_label
    return pd.DataFrame({"qid": "7", "docno": [f"d{k}" for k in range(n)], "label": np.repeat([0, 1, 2], per_label)})


def test_each_label_is_that_of_its_own_draw():
    """By brute force: the hash of seed, topic and document, as a share of its range, in the row of the true label."""
    qrels, seed = big(100), 5
    found = ptr.judging.Noisy(qrels, SHARES, seed=seed)(qrels)
    for docno, true, label in zip(qrels["docno"], qrels["label"], found["label"], strict=True):
        number = int.from_bytes(blake2b(f"{seed}\0007\0{docno}".encode(), digest_size=8).digest(), "big")
        draw, upto, expected = (number >> 11) / 2**53, 0.0, None
        for value, share in sorted(SHARES[true].items()):
            upto += share
            if expected is None and draw < upto:
                expected = value
        assert label == expected


@pytest.mark.parametrize(
    "form", [SHARES, MATRIX, np.array(MATRIX), pd.DataFrame(MATRIX), pd.DataFrame(MATRIX).iloc[::-1, [2, 0, 1]],
             {0: [0.9, 0.1], 1: [0.3, 0.5, 0.2], 2: [0, 0, 1]}], ids=range(6),
)  # fmt: skip
def test_every_form_of_a_matrix_is_the_same(form):
    rows = confusion_rows(form, [0, 1, 2])
    for true, row in enumerate(MATRIX):
        labels, bounds = rows[true]
        shares = np.diff([0.0, *bounds, 1.0])
        assert dict(zip(labels, shares, strict=True)) == pytest.approx({n: p for n, p in enumerate(row) if p})


@pytest.mark.parametrize(
    "confusion",
    [
        {0: {0: 0.5, 1: 0.4}, 1: {1: 1}, 2: {2: 1}},
        {0: {0: 1.5, 1: -0.5}, 1: {1: 1}, 2: {2: 1}},
        {0: {0: 1.0}, 1: {1: 1.0}},
        {0: 1.0},
        {0: {"x": 1.0}, 1: {1: 1}, 2: {2: 1}},
        {-1: {0: 1.0}, 0: {0: 1}, 1: {1: 1}, 2: {2: 1}},
        [["a", "b", "c"]] * 3,
        [[float("nan"), 1, 0]] * 3,
        [1.0, 0.0],
        pd.DataFrame(MATRIX, index=[0, 1, 1]),
        {},
        "noise",
    ],
    ids=range(12),
)
def test_what_is_no_matrix_is_refused(confusion, messages):
    messages.refused(lambda: ptr.judging.Noisy(QRELS, confusion, seed=1), argument="confusion")


@given(st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 3)), min_size=1, max_size=40))
def test_an_estimated_confusion_is_the_brute_force(pairs):
    def judged(which):
        return pd.DataFrame(
            {"qid": "1", "docno": [f"d{n}" for n in range(len(pairs))], "label": [pair[which] for pair in pairs]}
        )

    both = [pair for pair in pairs if min(pair) >= 0]
    if not both:
        with pytest.raises(ptr.InputError, match="no document"):
            ptr.judging.estimate_confusion(judged(0), judged(1))
        return
    found = ptr.judging.estimate_confusion(judged(0), judged(1).iloc[::-1])
    assert found.index.tolist() == sorted({true for true, _ in both})
    assert found.columns.tolist() == sorted({label for pair in both for label in pair})
    for true in found.index:
        row = [label for kind, label in both if kind == true]
        assert found.attrs["documents"][true] == len(row)
        for label in found.columns:
            assert found.loc[true, label] == row.count(label) / len(row)


def test_a_confusion_that_was_estimated_comes_back():
    qrels = big(5_000)
    noisy = qrels.assign(label=ptr.judging.Noisy(qrels, SHARES, seed=9)(qrels)["label"])
    found = ptr.judging.estimate_confusion(qrels, noisy)
    assert np.abs(found.to_numpy() - np.array(MATRIX)).max() < 0.02
    again = ptr.judging.Noisy(qrels, found, seed=9)(qrels)["label"]
    assert np.mean(again.to_numpy() == noisy["label"].to_numpy()) > 0.98
