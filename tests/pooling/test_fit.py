"""How far a pool and the judgments are the same documents, and when that is told."""

from __future__ import annotations

import dataclasses

import pandas as pd
import pytest

from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.pooling.depth import depth_pool
from pt_reuse.pooling.fit import PoolFit

FIT = PoolFit(depth=10, judged=1000, strangers=0, pooled=2000, unjudged=0, contributors=8, assumed=0)


def field_of(lists, pooled):
    """Return a field of ``{run: {topic: [docno, ...]}}``."""
    frames = {
        name: pd.DataFrame(
            [(qid, docno, -float(i)) for qid, docnos in found.items() for i, docno in enumerate(docnos)],
            columns=["qid", "docno", "score"],
        )
        for name, found in lists.items()
    }
    return RunSet.from_frames(frames, teams={name: name for name in lists}, pooled=pooled)


def judgments(*rows):
    return Qrels(pd.DataFrame(rows, columns=["qid", "docno", "label"]))


LISTS = {"A": {"1": ["a", "b", "c"], "2": ["x", "y"]}, "B": {"1": ["b", "d"], "2": ["z"]}}


@pytest.mark.parametrize(
    ("depth", "pooled", "expected"),
    [
        # topic 1: A a b, B b d; topic 2 has no judgment >= 0, so x y z are nobody's fault; a is set aside
        (2, True, (4, 2, 3, 1, 2, 0, 1)),
        # a, b: b and e are judged, e by nobody
        (1, True, (4, 3, 2, 1, 2, 0, 1)),
        (3, ["A"], (4, 2, 3, 1, 1, 0, 0)),
        (2, None, (4, 2, 3, 1, 2, 2, 1)),
    ],
)
def test_by_hand(depth, pooled, expected):
    qrels = judgments(("1", "b", 1), ("1", "d", 0), ("1", "c", 0), ("1", "e", 1), ("1", "a", -1), ("2", "x", -1))
    runs = field_of(LISTS, pooled)
    if pooled == ["A"]:
        qrels = judgments(("1", "b", 1), ("1", "c", 0), ("1", "d", 0), ("1", "e", 1))
    pool = depth_pool(runs, depth=depth)
    rows = qrels.arrays.documents.find(pool.documents)
    judged = (rows >= 0) & (qrels.arrays.labels[rows] >= 0)
    fit = PoolFit.of(pool, qrels, judged, depth=depth)
    assert dataclasses.astuple(fit)[1:] == expected


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({}, 0),
        ({"strangers": 500}, 0),  # half and no more
        ({"strangers": 501}, 1),
        ({"unjudged": 1000}, 0),
        ({"unjudged": 1001}, 1),
        ({"unjudged": 100, "assumed": 8}, 0),
        ({"unjudged": 101, "assumed": 8}, 1),
        ({"unjudged": 101, "assumed": 2}, 1),
        ({"unjudged": 1500, "assumed": 8}, 1),
        ({"strangers": 900, "unjudged": 1900, "assumed": 8}, 2),
        ({"judged": 0, "pooled": 0, "assumed": 8}, 0),
    ],
    ids=str,
)
def test_what_is_told_from_which_share_on(changes, told):
    assert len(list(dataclasses.replace(FIT, **changes).caveats())) == told
