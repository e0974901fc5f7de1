"""Swaps against loops over pairs, in exact fractions and in floats, where differences lie on the edges of bins, too."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pt_reuse.arrays import bootstrap
from pt_reuse.arrays.bootstrap import Bins, TopicSums, count_swaps


def in_fractions(scores, drawn, width, n_bins):
    """Count by the definition, without any rounding; the scores are multiples of .001."""
    exact = [[Fraction(round(float(value) * 1000), 1000) for value in row] for row in scores]
    pairs, swapped = [0] * n_bins, [0] * n_bins
    for draw in drawn.tolist():
        means = [[sum(exact[t][s] for t in sample) / len(sample) for s in range(len(exact[0]))] for sample in draw]
        for i, j in combinations(range(len(exact[0])), 2):
            first, second = (mean[i] - mean[j] for mean in means)
            at = min(n_bins - 1, int(abs(first) // width))
            pairs[at] += 1
            swapped[at] += first * second < 0
    return [pairs, swapped]


def in_floats(scores, drawn, width, n_bins, has=None):
    """Count by the definition, a pair at a time."""
    has = np.ones(scores.shape, dtype=bool) if has is None else has
    found = [[0] * n_bins, [0] * n_bins]
    for draw in drawn:
        means = []
        for sample in draw:
            rows = zip(scores[sample].T.tolist(), has[sample].T.tolist(), strict=True)
            of = [[s for s, there in zip(*run, strict=True) if there] for run in rows]
            means.append([round(float(np.sum(mine)) / max(len(mine), 1), 12) for mine in of])
        for i, j in combinations(range(scores.shape[1]), 2):
            first, second = (round(mean[i] - mean[j], 12) for mean in means)
            at = min(n_bins - 1, int(round(abs(first), 9) / width + 1e-9))
            found[0][at] += 1
            found[1][at] += first * second < 0
    return found


def drawn(n_draws, size, n_topics, seed=1):
    return np.random.default_rng(seed).integers(0, n_topics, (n_draws, 2, size))


@given(st.data())
def test_counts_are_those_of_exact_fractions(data):
    n_topics, n_runs = data.draw(st.integers(1, 6)), data.draw(st.integers(2, 7))
    step = data.draw(st.sampled_from([1, 10, 100]))  # .1, as P@10 has it, .01 and .001
    values = data.draw(st.lists(st.integers(0, 1000 // step), min_size=n_topics * n_runs, max_size=n_topics * n_runs))
    scores = np.array(values).reshape(n_topics, n_runs) * step / 1000
    draws = drawn(data.draw(st.integers(1, 9)), data.draw(st.sampled_from([1, 3, 5, 7, 15])), n_topics)
    width, n_bins = data.draw(st.sampled_from([(Fraction(1, 100), 21), (Fraction(1, 50), 3), (Fraction(1, 10), 128)]))
    found = count_swaps(TopicSums(scores), draws, Bins.of(float(width), n_bins))
    assert found.tolist() == in_fractions(scores, draws, width, n_bins)


def test_a_difference_on_an_edge_belongs_to_the_bin_above():
    # .3 - .2, .7 - .6 and .07 - .06 are a little less than .1, .1 and .01 in floats
    for high, low in ((0.3, 0.2), (0.7, 0.6), (0.07, 0.06), (0.8, 0.1)):
        found = count_swaps(TopicSums(np.array([[low, high]])), np.zeros((1, 2, 1), dtype=int), Bins.of(0.01, 100))
        assert found[0].argmax() == round((high - low) * 100)


def test_a_difference_is_rounded_to_nine_decimals():
    for difference, expected in ((0.01 - 4e-10, 1), (0.01 - 6e-10, 0), (0.02 - 4e-10, 2), (0.02 - 6e-10, 1)):
        scores = np.array([[0.1, 0.1 + difference, 0.9]])
        found = count_swaps(TopicSums(scores), np.zeros((1, 2, 1), dtype=int), Bins.of(0.01, 5))
        assert found[0].tolist() == np.bincount([expected, 4, 4], minlength=5).tolist(), difference


def test_means_over_the_topics_that_a_run_has():
    random = np.random.default_rng(4)
    scores, has = random.random((8, 11)).round(2), random.random((8, 11)) < 0.6
    scores[~has] = 0.77  # what stands there does not matter
    draws = drawn(40, 3, 8)
    # some run has none of the drawn topics, and scores 0
    assert any((~has[sample]).all(axis=0).any() for draw in draws for sample in draw)
    found = count_swaps(TopicSums(scores, has), draws, Bins.of(0.01, 21))
    assert found.tolist() == in_floats(scores, draws, 0.01, 21, has)


def test_more_runs_than_a_byte_can_number():
    scores = np.random.default_rng(6).integers(0, 11, (5, 300)) / 10
    draws = drawn(3, 5, 5)
    found = count_swaps(TopicSums(scores), draws, Bins.of(0.01, 21))
    assert found.tolist() == in_floats(scores, draws, 0.01, 21)


@pytest.mark.parametrize("at_once", [1, 30, 50, 77])
def test_pairs_that_are_counted_in_several_goes(at_once, monkeypatch):
    scores = np.random.default_rng(7).integers(0, 11, (5, 12)) / 10
    draws = drawn(3, 5, 5)
    monkeypatch.setattr(bootstrap, "_TALLIED", 3 * at_once)
    assert count_swaps(TopicSums(scores), draws, Bins.of(0.01, 21)).tolist() == in_floats(scores, draws, 0.01, 21)


def test_means_are_exact_whatever_the_order_of_topics():
    scores = np.random.default_rng(8).random((30, 20)) ** 5
    draws = drawn(20, 30, 30)[:, 0]
    sums = TopicSums(scores)
    shuffled = np.random.default_rng(9).permuted(draws, axis=1)
    assert (sums.means(draws) == sums.means(shuffled)).all()
    assert np.abs(sums.means(draws) / 1e12 - scores[draws].mean(axis=1)).max() < 1e-12
