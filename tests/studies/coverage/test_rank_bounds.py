"""Ranks that a run can have: every labelling of the unjudged documents is tried on tiny lists."""

from __future__ import annotations

from itertools import product

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pt_reuse as ptr

pytestmark = pytest.mark.filterwarnings("ignore::pt_reuse.ReuseWarning")
DOCS = "abcde"
#: a list of some of five documents for each of two topics, of each of three runs
_LIST = st.permutations(DOCS).flatmap(lambda docs: st.integers(0, 4).map(lambda n: docs[:n]))
LISTS = st.lists(st.lists(_LIST, min_size=2, max_size=2), min_size=3, max_size=3)
LABELS = st.lists(st.sampled_from([None, None, -1, 0, 1]), min_size=10, max_size=10)


def ranks_under_every_labelling(lists, labels, p, topics_of):
    """Return (best, worst) of each run: who is better under all labellings, and under some."""
    open_docs = [(t, d) for t in range(2) for d in DOCS if labels[t, d] is None or labels[t, d] < 0]
    # what follows a list is relevant throughout, or not at all, each by itself
    always = [[True] * len(lists) for _ in lists]
    ever = [[False] * len(lists) for _ in lists]
    for given_labels in product([0, 1], repeat=len(open_docs)):
        truth = {**labels, **dict(zip(open_docs, given_labels, strict=True))}
        low = [
            sum(
                sum((1 - p) * p**i for i, d in enumerate(docs) if truth[t, d] == 1)
                for t, docs in enumerate(of_run) if t in topics
            ) / len(topics)
            for of_run, topics in zip(lists, topics_of, strict=True)
        ]  # fmt: skip
        tails = [
            sum(p ** len(of_run[t]) for t in topics) / len(topics)
            for of_run, topics in zip(lists, topics_of, strict=True)
        ]
        for s in range(len(lists)):
            for r in range(len(lists)):
                always[s][r] &= low[r] > low[s] + tails[s] + 1e-11
                ever[s][r] |= low[r] + tails[r] > low[s] + 1e-11
    others = [[r for r in range(len(lists)) if r != s] for s in range(len(lists))]
    return [
        (1 + sum(always[s][r] for r in others[s]), 1 + sum(ever[s][r] for r in others[s])) for s in range(len(lists))
    ]


@settings(max_examples=15, deadline=None)
@given(LISTS, LABELS, st.sampled_from([0.3, 0.8]), st.booleans())
def test_every_labelling_of_tiny_lists(lists, labels, p, complete):
    lists = [[docs if docs or t else ["a"] for t, docs in enumerate(of_run)] for of_run in lists]
    labels = dict(zip(product(range(2), DOCS), labels, strict=True))
    labels = {key: 1 if key[1] == "e" else label for key, label in labels.items()}
    frames = {
        f"run{r}": pd.DataFrame(
            [(str(t), d, -float(i)) for t, docs in enumerate(of_run) for i, d in enumerate(docs)],
            columns=["qid", "docno", "score"],
        )
        for r, of_run in enumerate(lists)
    }
    known = pd.DataFrame(
        [(str(t), d, label) for (t, d), label in labels.items() if label is not None],
        columns=["qid", "docno", "label"],
    )
    found = ptr.profile.coverage(frames, known, "P@1", depths=1, p=p, complete=complete).by_run
    topics_of = [[t for t, docs in enumerate(of_run) if docs or complete] for of_run in lists]
    expected = ranks_under_every_labelling(lists, labels, p, topics_of)
    assert list(zip(found["best_rank"], found["worst_rank"], strict=True)) == expected
    assert ((found["best_rank"] <= found["rank"]) & (found["rank"] <= found["worst_rank"])).all()
