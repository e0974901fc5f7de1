"""A noisy oracle errs at its rates, and says the same whoever asks, whenever, in whichever order."""

from __future__ import annotations

import json
import subprocess
import sys
from hashlib import blake2b
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

import pt_reuse as ptr
from pt_reuse.judging.oracle import as_confusion

SHARES = {0: {0: 0.9, 1: 0.1}, 1: {0: 0.3, 1: 0.5, 2: 0.2}, 2: {2: 1.0}}
MATRIX = [[0.9, 0.1, 0.0], [0.3, 0.5, 0.2], [0.0, 0.0, 1.0]]
QRELS = pd.DataFrame({"qid": "1", "docno": [f"d{n}" for n in range(60)], "label": [0, 1, 2] * 20})


def big(per_label):
    n = 3 * per_label
    return pd.DataFrame({"qid": "7", "docno": [f"d{k}" for k in range(n)], "label": np.repeat([0, 1, 2], per_label)})


def test_labels_are_confused_at_the_rates():
    qrels = big(10_000)
    found = ptr.judging.Noisy(qrels, SHARES, seed=1)(qrels[["qid", "docno"]])["label"].to_numpy(dtype=int)
    for true, row in enumerate(MATRIX):
        counts = np.bincount(found[qrels["label"] == true], minlength=3)
        possible = np.array(row) > 0
        assert counts[~possible].sum() == 0
        if possible.sum() == 1:
            continue
        assert chisquare(counts[possible], 10_000 * np.array(row)[possible]).pvalue > 0.001


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


@given(order=st.permutations(range(60)), cuts=st.sets(st.integers(1, 59), max_size=5))
def test_order_and_batches_change_no_label(order, cuts):
    judge = ptr.judging.Noisy(QRELS, SHARES, seed=3)
    expected = dict(zip(QRELS["docno"], judge(QRELS)["label"], strict=True))
    shuffled = QRELS.iloc[order]
    bounds = [0, *sorted(cuts), 60]
    parts = [judge(shuffled.iloc[start:stop]) for start, stop in pairwise(bounds)]
    found = pd.concat(parts)
    assert dict(zip(found["docno"], found["label"], strict=True)) == expected


def test_another_process_says_the_same():
    code = (
        "import json, pandas as pd, pt_reuse as ptr\n"
        "q = pd.DataFrame({'qid': '1', 'docno': [f'd{n}' for n in range(60)], 'label': [0, 1, 2] * 20})\n"
        f"print(json.dumps(ptr.judging.Noisy(q, {SHARES!r}, seed=3)(q)['label'].tolist()))\n"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(said.stdout) == ptr.judging.Noisy(QRELS, SHARES, seed=3)(QRELS)["label"].tolist()
    assert json.loads(said.stdout) != ptr.judging.Noisy(QRELS, SHARES, seed=4)(QRELS)["label"].tolist()


def test_a_document_has_a_draw_of_its_own_in_each_topic():
    qrels = pd.DataFrame({"qid": [str(n) for n in range(400)], "docno": "d", "label": 0})
    found = ptr.judging.Noisy(qrels, ptr.judging.flips(0.5), seed=1)(qrels)["label"]
    assert 150 < found.sum() < 250


def test_what_is_unknown():
    asked = pd.DataFrame({"qid": "1", "docno": [f"x{n}" for n in range(500)]})
    wrong = {0: [0, 1], 1: [0, 1], 2: [0, 1]}
    assert ptr.judging.Noisy(QRELS, wrong, 1)(asked)["label"].isna().all(), "no label by default"
    confused = ptr.judging.Noisy(QRELS, wrong, 1, unknown="not relevant")(asked)
    assert set(confused["label"]) == {1}, "not relevant, and confused as such"
    with pytest.raises(ptr.InputError, match="500 documents without a judgment"):
        ptr.judging.Noisy(QRELS, wrong, 1, unknown="error")(asked)
    junk = QRELS.assign(label=-2)
    assert set(ptr.judging.Noisy(junk, {0: [0, 1]}, 1, unknown="not relevant")(QRELS)["label"]) == {1}


def test_noise_keeps_who_judged_and_what_is_relevant():
    judge = ptr.judging.Noisy(ptr.Qrels(QRELS.assign(judge="ann"), rel=2), SHARES, 1, name="tired")
    assert set(judge(QRELS)["judge"]) == {"tired"}
    assert judge.rel == 2


@pytest.mark.parametrize(
    "form", [SHARES, MATRIX, np.array(MATRIX), pd.DataFrame(MATRIX), pd.DataFrame(MATRIX).iloc[::-1, [2, 0, 1]],
             {0: [0.9, 0.1], 1: [0.3, 0.5, 0.2], 2: [0, 0, 1]}], ids=range(6),
)  # fmt: skip
def test_every_form_of_a_matrix_is_the_same(form):
    confusion = as_confusion(form, [0, 1, 2])
    for true, row in enumerate(MATRIX):
        for draw in (0.0, 0.29, 0.5, 0.85, 0.9, 0.999999999):
            upto = np.cumsum([share for share in row])
            by_label = {label: row[label] for label in confusion.given.tolist()}
            assert by_label == dict(zip(confusion.given.tolist(), confusion.shares[true].tolist(), strict=True))
            if confusion.given.tolist() == [0, 1, 2]:
                assert confusion.label(true, draw) == int(np.searchsorted(upto, draw, side="right"))


def test_rounding_gives_no_label_that_cannot_be():
    confusion = as_confusion([[0.1] * 10 + [0.0]] + [[1.0] + [0.0] * 10] * 10, range(11))
    assert confusion.label(0, 1 - 2**-53) == 9


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


def test_other_arguments_are_checked(messages):
    for seed in (-1, 0.5, True, None):
        messages.refused(lambda seed=seed: ptr.judging.Noisy(QRELS, SHARES, seed=seed), argument="seed")
    for rate in (-0.1, 1.1, "often", True):
        messages.refused(lambda rate=rate: ptr.judging.flips(rate), argument="rate")
    for labels in ([1], [1, 1], "01", 5, [0, "yes"], [0, -1], [0, 1.5], [0, 40000]):
        messages.refused(lambda labels=labels: ptr.judging.flips(0.1, labels), argument="labels")


def test_flips():
    assert ptr.judging.flips(0.25).to_numpy().tolist() == [[0.75, 0.25], [0.25, 0.75]]
    graded = ptr.judging.flips(0.3, labels=[0, 1, 2, 3])
    assert np.allclose(np.diag(graded), 0.7)
    assert np.allclose(graded.to_numpy()[~np.eye(4, dtype=bool)], 0.1)
    exact = ptr.judging.Noisy(QRELS, ptr.judging.flips(0, labels=[0, 1, 2]), seed=1)(QRELS)["label"]
    assert exact.tolist() == QRELS["label"].tolist()


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
