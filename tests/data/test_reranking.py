"""Runs whose first documents are sorted by labels, against the same sort written out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pt_reuse.data.judgment_changes import rerank_by_labels
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet


def literal(docnos, labels, depth):
    """Return a list whose first documents that have a label stand in the order of their labels."""
    top = docnos[:depth]
    places = [i for i, docno in enumerate(top) if labels.get(docno, -1) >= 0]
    # sorted() is stable
    best_first = sorted((top[i] for i in places), key=lambda docno: -labels[docno])
    found = list(top)
    for place, docno in zip(places, best_first, strict=True):
        found[place] = docno
    return found + docnos[depth:]


def frame(lists):
    rows = [(qid, docno, 9.0 - n) for qid, docnos in lists.items() for n, docno in enumerate(docnos)]
    return pd.DataFrame(rows, columns=["qid", "docno", "score"])


def lists_of(runs, name):
    return {qid: part["docno"].tolist() for qid, part in runs[name].groupby("qid", sort=False)}


docs = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.fixed_dictionaries({"1": docs, "2": docs}), min_size=1, max_size=3),
    st.dictionaries(st.tuples(st.sampled_from("123"), st.sampled_from("abcdefghz")), st.integers(-2, 3), min_size=1),
    st.integers(1, 9),
)
def test_each_list_is_sorted_by_its_labels_and_stays_stable(found, labels, depth):
    given_lists = {f"r{n}": {q: d for q, d in lists.items() if d} for n, lists in enumerate(found)}
    given_lists = {name: lists for name, lists in given_lists.items() if lists}
    if not given_lists:
        return
    runs = RunSet.from_frames({name: frame(lists) for name, lists in given_lists.items()})
    rows = [(qid, docno, label) for (qid, docno), label in labels.items()]
    qrels = Qrels(pd.DataFrame(rows, columns=["qid", "docno", "label"]))
    reranked = rerank_by_labels(runs, qrels, depth)
    assert reranked.names == runs.names
    for name, lists in given_lists.items():
        expected = {
            qid: literal(docnos, {d: label for (q, d), label in labels.items() if q == qid}, depth)
            for qid, docnos in lists.items()
        }
        assert lists_of(reranked, name) == expected


@pytest.mark.parametrize("order", ["trec_eval", "trec_eval9", "rank", "file"])
def test_lists_stand_alike_in_every_order(order):
    given_frame = frame({"1": list("abcd")}).assign(score=[1.0, 2.0, 1.0, 3.0], rank=[3, 1, 2, 0])
    runs = RunSet.from_frames({"r": given_frame}, order=order)
    qrels = Qrels(pd.DataFrame({"qid": "1", "docno": list("abc"), "label": [0, 1, 1]}))
    reranked = rerank_by_labels(runs, qrels, 3)
    before = runs["r"]["docno"].tolist()
    assert reranked["r"]["docno"].tolist() == literal(before, {"a": 0, "b": 1, "c": 1}, 3)
    assert reranked.order == order
    for other in ("trec_eval", "trec_eval9", "rank", "file"):
        assert reranked.reorder(other)["r"]["docno"].tolist() == reranked["r"]["docno"].tolist()
    assert (np.diff(reranked["r"]["score"]) < 0).all()
    # the runs that were given stay as they are
    assert runs["r"]["docno"].tolist() == before
