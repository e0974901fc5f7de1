"""A function as a judge: what it is given, what it may answer, and what of it is kept."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pt_reuse as ptr

ASKED = pd.DataFrame(
    {
        "qid": ["1", "1", "2", "1", "2"],
        "docno": ["a", "b", "a", "a", "c"],
        "query": ["q1", "q1", "q2", "q1", "q2"],
        "text": ["ta", "tb", "ta", "ta", "tc"],
    },
    index=[9, 8, 7, 6, 5],
)


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


@pytest.mark.parametrize("size", [1, 2, 3, 4, 100])
def test_batches(size):
    model = Model(ta=2, tb=0, tc=1)
    found = judge(model, batch_size=size)(ASKED)
    assert column(found, "label") == [2, 0, 2, 2, 1]
    pairs = [("q1", "ta"), ("q1", "tb"), ("q2", "ta"), ("q2", "tc")]
    assert [list(zip(*given, strict=True)) for given in model.seen] == [
        pairs[at : at + size] for at in range(0, 4, size)
    ]


# probabilities and scores

ROWS = {"ta": [0.2, 0.5, 0.3], "tb": [0.5, 0.1, 0.4], "tc": [0.25, 0.5, 0.25]}


def brute_force(row, labels, decide):
    if decide == "most probable":
        return min(label for label, p in zip(labels, row, strict=True) if p == max(row))
    expected = sum(label * p for label, p in zip(labels, row, strict=True))
    return min(labels, key=lambda label: (round(abs(label - expected), 12), label))


@pytest.mark.parametrize("labels", [(0, 1, 2), (2, 0, 1), (0, 1, 3), (-1, 0, 5)])
@pytest.mark.parametrize("decide", ["most probable", "expected"])
@pytest.mark.parametrize("form", ["list", "array", "mapping"])
def test_probabilities_become_labels(labels, decide, form):
    forms = {"list": list, "array": np.array, "mapping": lambda row: dict(zip(labels, row, strict=True))}
    model = Model(**{text: forms[form](row) for text, row in ROWS.items()})
    found = judge(model, answers="probabilities", labels=labels, decide=decide, rel=2)(ASKED)
    rows = [ROWS[text] for text in ASKED["text"]]
    assert column(found, "label") == [brute_force(row, labels, decide) for row in rows]
    assert found["probabilities"].tolist() == [tuple(row) for row in rows]
    relevant = [sum(p for label, p in zip(labels, row, strict=True) if label >= 2) for row in rows]
    assert found["probability"].tolist() == pytest.approx(relevant, abs=1e-15)


@pytest.mark.parametrize(
    ("thresholds", "labels", "expected"),
    [(0.5, None, [1, 0, 1]), ((0.4, 0.6), None, [1, 0, 2]), ((0.4, 0.5, 0.9), (0, 1, 2, 4), [2, 0, 2])],
)
def test_scores_become_labels_by_thresholds(thresholds, labels, expected):
    model = Model(ta=0.5, tb=-3.0, tc=np.float64(0.75))
    found = judge(model, answers="score", thresholds=thresholds, labels=labels, batch_size=8)(ASKED.iloc[[0, 1, 4]])
    assert column(found, "label") == expected
    assert found["judge_score"].tolist() == [0.5, -3.0, 0.75]


@settings(max_examples=30, deadline=None)
@given(
    order=st.permutations(range(20)),
    cuts=st.sets(st.integers(1, 19), max_size=4),
    size=st.none() | st.integers(1, 21),
    threads=st.integers(1, 3),
)
def test_order_batches_and_threads_change_no_label(order, cuts, size, threads):
    asked = pd.DataFrame({"qid": "1", "docno": [f"d{n}" for n in range(20)], "query": "q"})
    asked["text"] = asked["docno"]
    model = Model(**{f"d{n}": n % 4 for n in range(20)})
    one, shuffled = judge(model, batch_size=size, threads=threads), asked.iloc[order]
    found = pd.concat([one(shuffled.iloc[start:stop]) for start, stop in pairwise([0, *sorted(cuts), 20])])
    assert found["label"].tolist() == [n % 4 for n in order]
    assert one.cost.documents == 20


# what cannot be


@pytest.mark.parametrize(
    "options",
    [
        {"fn": 5},
        {"name": ""},
        {"reads": ()},
        {"reads": 5},
        {"batch_size": 0},
        {"answers": "labels"},
        {"decide": "best"},
        {"answers": "probabilities"},
        {"answers": "score"},
        {"thresholds": 0.5},
        {"answers": "score", "thresholds": (0.5, 0.5)},
        {"answers": "score", "thresholds": "high"},
        {"answers": "score", "thresholds": 0.5, "labels": (0, 1, 2)},
        {"answers": "score", "thresholds": 0.5, "labels": (1, 0)},
        {"labels": (1,)},
        {"labels": (0, 0)},
        {"labels": (0, 0.5)},
        {"rel": 0},
        {"cache": "folder"},
        {"cache": "folder", "version": " "},
        {"cache": 5, "version": "1"},
        {"retry": 3},
        {"price": 0.5},
        {"threads": 0},
        {"verbose": "no"},
    ],
    ids=range(25),
)
def test_what_does_not_fit_together_is_refused_before_any_call(options, messages):
    argument = "thresholds" if options == {"answers": "score"} else list(options)[-1]
    arguments = {"fn": lambda query, text: 1, "name": "model", **options}
    error = messages.refused(lambda: ptr.judging.Callable(**arguments))
    assert error.argument in {argument, "labels", "thresholds", "version", None}


@pytest.mark.parametrize(
    ("answer", "options"),
    [
        (5, {"labels": (0, 1, 2)}),
        (0.5, {}),
        ("relevant", {}),
        (float("nan"), {}),
        ([1, 0], {}),
        (2**15, {}),
        ({0: 1.0}, {}),
        ({0: 0.5, 3: 0.5}, {"answers": "probabilities", "labels": (0, 1)}),
        ([0.5, 0.6], {"answers": "probabilities", "labels": (0, 1)}),
        ([-0.5, 1.5], {"answers": "probabilities", "labels": (0, 1)}),
        ([1.0], {"answers": "probabilities", "labels": (0, 1)}),
        ([float("nan"), 1.0], {"answers": "probabilities", "labels": (0, 1)}),
        (0.5, {"answers": "probabilities", "labels": (0, 1)}),
        ("high", {"answers": "score", "thresholds": 0.5}),
        (float("inf"), {"answers": "score", "thresholds": 0.5}),
        ([0.5, 0.5], {"answers": "score", "thresholds": 0.5}),
    ],
    ids=range(16),
)
def test_an_answer_that_is_none_is_told_with_its_document(answer, options, messages):
    model = judge(Model(ta=answer, tb=1, tc=1), **options)
    messages.refused(lambda: model(ASKED), place="judge model, topic '1', document 'a'")
