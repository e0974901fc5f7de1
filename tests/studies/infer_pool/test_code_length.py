"""The bits by which answers are compared, against whole numbers and against the chances that they stand for."""

from __future__ import annotations

from math import comb, factorial, log2

import numpy as np
import pytest
from pool_parts import as_qrels, as_runs, fitter, hand, pool_of
from scipy.special import betaln

from pt_reuse.studies.infer_pool.fitting import depth_bits, name_bits, which_bits
from pt_reuse.studies.infer_pool.inference import infer_pool


def which(some, many):
    return log2(many + 1) + log2(comb(many, some))


def test_bits_are_those_of_counting():
    runs = np.arange(7) < 3
    # two topics at depth 10, one at 5: which depths, and which topic has which
    depths = log2(4) + 2 * log2(101) + log2(factorial(3) / (factorial(2) * factorial(1)))
    assert name_bits(runs, np.array([10, 5, 10]), 100) == pytest.approx(which(3, 7) + depths)
    assert which_bits(np.array([2, 0, 1]), np.array([5, 0, 40])) == pytest.approx([which(2, 5), 0, which(1, 40)])


def test_a_group_costs_what_its_chance_is_when_any_rate_is_as_likely():
    # the integral of p^k (1 - p)^(n - k) over p
    assert which_bits(11, 40) == pytest.approx(-betaln(12, 30) / np.log(2))


def test_documents_outside_are_grouped_by_topic_and_best_rank():
    field = {"A": {"1": list("abcde")}, "B": {"1": ["f", "g"], "2": ["h"]}}
    qrels = as_qrels({("1", "a"), ("1", "d"), ("1", "g"), ("2", "h")})
    fits = fitter(as_runs(field), qrels)
    # ranks 1, 2, 3 to 4, 5 to 8: documents and judged ones
    assert fits.ranks.grouped.tolist() == [[[2, 1], [2, 1], [2, 1], [1, 0]], [[1, 1], [0, 0], [0, 0], [0, 0]]]
    tops = fits.ranks.tops(np.array([2, 0]))
    pool = np.flatnonzero(tops.times(np.array([True, False])))
    rest = fits.ranks.outside(pool, tops.judged).reshape(2, 4, 2)
    assert rest.tolist() == [[[1, 0], [1, 1], [2, 1], [1, 0]], [[1, 1], [0, 0], [0, 0], [0, 0]]]


def test_documents_of_no_run_are_in_no_group():
    """A field that was selected from a larger one knows the documents of the others."""
    field = {"A": {"1": list("abcd")}, "B": {"1": list("wxyz")}}
    qrels = as_qrels({("1", "a"), ("1", "b"), ("1", "w")})
    alone = as_runs(field).select("A")
    assert fitter(alone, qrels).ranks.grouped.tolist() == [[[1, 1], [1, 1], [2, 0]]]
    found, same = infer_pool(alone, qrels), infer_pool(as_runs({"A": field["A"]}), qrels)
    assert found.tried.equals(same.tried)
    assert (found.depth, found.contributors) == (2, ["A"])


def test_an_exact_answer_pays_for_naming_it_only():
    runs, qrels = hand()
    fits = fitter(runs, qrels)
    fit = fits.common_depth()
    assert fit.is_exact
    groups = fits.ranks.outside(np.flatnonzero(fit.tops.times(fit.runs)), fit.tops.judged)[:, 0]
    free = which(5, 6) + depth_bits(fit.depths, 4) + log2(fit.explained + 1) + np.log2(groups + 1).sum()
    assert fit.bits == pytest.approx(free)


def test_a_deeper_pool_of_the_same_runs_costs_more():
    field = {f"r{i}": {"1": [f"{i}-{rank}" for rank in range(12)]} for i in range(4)}
    judged = pool_of(field, field, ["1"], {"1": 5})
    fits = fitter(as_runs(field), as_qrels(judged), tolerance=0.5)
    bits = {depth: fits.settle(np.array([depth])).bits for depth in (3, 4, 5, 6, 7)}
    assert min(bits, key=bits.get) == 5
