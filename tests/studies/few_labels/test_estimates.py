"""Ranks with intervals: what they reach over, and how often all of them hold at once."""

from __future__ import annotations

import numpy as np

from pt_reuse.arrays.prediction_powered import TopicValues, powered_differences, powered_means
from pt_reuse.studies.few_labels import columns_of_means, pair_table, rank_bounds, rank_table

#: two of the systems are equally good
TRUTH = np.array([0.6, 0.5, 0.5, 0.35, 0.3, 0.1])


def test_a_rank_reaches_from_those_better_to_those_worse():
    # 0 beats 1 and 2, 1 beats 2: all told apart
    difference = np.array([0.3, 0.4, 0.1])
    low, high = rank_bounds(3, difference, np.array([True, True, True]))
    assert (low.tolist(), high.tolist()) == ([1, 2, 3], [1, 2, 3])
    low, high = rank_bounds(3, difference, np.array([False, True, False]))
    assert (low.tolist(), high.tolist()) == ([1, 1, 2], [2, 3, 3])
    low, high = rank_bounds(3, -difference, np.array([True, False, False]))
    assert (low.tolist(), high.tolist()) == ([2, 1, 1], [3, 2, 3])
    low, high = rank_bounds(1, np.zeros(0), np.zeros(0, dtype=bool))
    assert (low.tolist(), high.tolist()) == ([1], [1])


def test_the_intervals_of_all_ranks_hold_at_once():
    names = list("abcdef")
    best = 1 + (TRUTH[:, None] < TRUTH).sum(axis=1)
    worst = len(TRUTH) - (TRUTH[:, None] > TRUTH).sum(axis=1)
    held, narrower = [], []
    for seed in range(120):
        random = np.random.default_rng(seed)
        human = TRUTH + random.normal(0, 0.15, (120, 6))
        judge = 0.5 * human + random.normal(0, 0.04, human.shape)
        values = TopicValues(human[:20], judge[:20], judge[20:])
        pairs = pair_table(columns_of_means(powered_differences(values), 0.95), names, "bonferroni", 1 - 0.95)
        ranks = rank_table(columns_of_means(powered_means(values), 0.95), pairs, names)
        held.append(((ranks["rank_low"] <= best) & (worst <= ranks["rank_high"])).all())
        width, alone = (ranks[f"{of}rank_high"] - ranks[f"{of}rank_low"] for of in ("", "human_"))
        narrower.append(width.mean() - alone.mean())
    assert np.mean(held) >= 0.95
    assert np.mean(narrower) < -0.5, "the judge makes them narrower"
