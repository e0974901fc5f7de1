"""Fused scores, against those that ranx 0.3.21 gave, and against loops over dicts."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pt_reuse.arrays.lists import Fusion, TopicRows, levelled
from pt_reuse.options import METHODS, NORM_NAMES

CASES = json.loads((Path(__file__).parent / "fused_by_ranx.json").read_text())
LISTS = st.lists(
    st.dictionaries(st.integers(0, 8), st.sampled_from([-3.0, 0.0, 0.25, 1.0, 1.0000001, 7.5]), max_size=7),
    min_size=1,
    max_size=6,
)


def rows_of(runs):
    """Return the documents, and the lists ``[(document, score), ...]``, best first, as rows."""
    docs = sorted({doc for run in runs for doc, _ in run})
    found = [(docs.index(d), r, k, s) for r, run in enumerate(runs) for k, (d, s) in enumerate(run, 1)]
    document, run, rank, score = (np.array([row[i] for row in found]) for i in range(4))
    as_int = [column.astype(np.int64) for column in (document, run, rank)]
    return docs, TopicRows(*as_int, score.astype(float), len(docs))


def fusion_of(name):
    method, _, option = name.partition(" ")
    given = dict([option.split("=")]) if option else {}
    return Fusion.of(method, **{key: value if key == "norm" else float(value) for key, value in given.items()})


def ranked(run):
    return sorted(run.items(), key=lambda item: (-item[1], item[0]))


@pytest.mark.parametrize("case", range(len(CASES)))
def test_scores_are_those_of_ranx(case):
    docs, rows = rows_of(CASES[case]["runs"])
    assert len(CASES[case]["fused"]) >= 13
    for name, expected in CASES[case]["fused"].items():
        assert sorted(expected) == docs
        found = fusion_of(name).scores(rows)
        np.testing.assert_allclose(found, [expected[doc] for doc in docs], rtol=2e-12, atol=2e-12, err_msg=name)


def by_hand(fusion, runs):
    """Return document -> fused score by sums over dicts; `runs` are lists of (document, score)."""
    docs = {doc for run in runs for doc, _ in run}
    total = dict.fromkeys(docs, 0.0)
    for run in filter(None, runs):
        scores = [score for _, score in run]
        low, high = min(scores), max(scores)
        mean = math.fsum(scores) / len(scores)
        deviation = math.sqrt(math.fsum((s - mean) ** 2 for s in scores) / len(scores)) if high > low else 0.0
        for rank, (doc, score) in enumerate(run, 1):
            norm = {
                "min-max": (score - low) / max(high - low, 1e-9),
                "max": score / max(high, 1e-9),
                "sum": (score - low) / max(math.fsum(s - low for s in scores), 1e-9),
                "zmuv": (score - mean) / max(deviation, 1e-9) if high > low else 0.0,
                "rank": 1 - (rank - 1) / len(run),
            }[fusion.norm]
            points = len(docs) - rank + 1
            total[doc] += {
                "rrf": 1 / (fusion.k + rank),
                "rbp": (1 - fusion.p) * fusion.p ** (rank - 1),
                "borda": points,
            }.get(fusion.method, norm)
        for doc in docs - {doc for doc, _ in run}:
            total[doc] += (len(docs) - len(run) + 1) / 2 if fusion.method == "borda" else 0.0
    if fusion.method == "combmnz":
        total = {doc: score * sum(doc in dict(run) for run in runs) for doc, score in total.items()}
    return total


@given(LISTS, st.sampled_from(sorted(METHODS)), st.sampled_from(sorted(NORM_NAMES)), st.sampled_from([0, 1, 60]))
def test_scores_equal_sums_over_dicts(runs, method, norm, k):
    runs = [ranked(run) for run in runs]
    docs, rows = rows_of(runs)
    fusion = Fusion(method, k=k, norm=norm)
    expected = by_hand(fusion, runs)
    np.testing.assert_allclose(fusion.scores(rows), [expected[doc] for doc in docs], rtol=1e-11, atol=1e-9)


@given(LISTS, st.sampled_from(sorted(METHODS)), st.sampled_from(sorted(NORM_NAMES)), st.randoms(use_true_random=False))
def test_the_order_of_the_runs_changes_no_bit(runs, method, norm, chance):
    runs = [ranked(run) for run in runs]
    fusion, (_, rows) = Fusion(method, norm=norm), rows_of(runs)
    shuffled = chance.sample(runs, len(runs))
    assert np.array_equal(fusion.scores(rows), fusion.scores(rows_of(shuffled)[1]))
    # an empty list counts for nothing
    assert np.array_equal(fusion.scores(rows), fusion.scores(rows_of([[], *runs, []])[1]))


def test_scores_that_are_huge_stay_finite():
    _, rows = rows_of([[("a", 1.7e308), ("b", 0.0), ("c", -1.7e308)]])
    for norm in ("min-max", "zmuv", "sum", "max", "rank"):
        found = Fusion("combsum", norm=norm).scores(rows)
        assert np.isfinite(found).all()
        assert found[0] > found[1] > found[2]
    assert Fusion("combsum").scores(rows).tolist() == [1.0, 0.5, 0.0]


def test_sums_that_differ_by_rounding_tie():
    # ranks 3 and 24 give 1/63 + 1/84, ranks 12 and 12 give 2/72: both are 1/36
    document, run, rank = np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1]), np.array([3, 12, 24, 12])
    found = Fusion("rrf").scores(TopicRows(document, run, rank, np.zeros(4), 2))
    assert found[0] == found[1] == pytest.approx(1 / 36, rel=1e-12)
    assert levelled(np.array([0.1 + 0.2])) == levelled(np.array([0.3]))
    assert levelled(np.array([1e-300, -2.5, 0.0])).tolist() == pytest.approx([1e-300, -2.5, 0.0], rel=1e-12)
