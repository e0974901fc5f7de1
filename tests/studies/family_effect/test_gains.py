"""What a family gains over others: against loops over runs, and what must hold of any scores."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from pt_reuse.studies.family_effect import AGAINST, Contrast, FieldGains, matched


def contrast(n, k, pairs=()):
    return Contrast(np.arange(k), np.arange(k, n), np.array(pairs, dtype=np.int64).reshape(-1, 2))


def place(scores, run, among):
    return 1 + sum(scores[other] > scores[run] for other in among)


def slow(human, judge, who, against):
    """Return rank and score effect of one draw, by the words of the definition."""
    family, others, every = who.family.tolist(), who.others.tolist(), range(len(human))
    gain = {run: place(human, run, every) - place(judge, run, every) for run in every}
    if against == "matched":
        both = who.matches.tolist()
        ranks = np.mean([gain[a] - gain[b] for a, b in both])
        return ranks, np.mean([(judge[a] - human[a]) - (judge[b] - human[b]) for a, b in both])
    if against == "alone":
        gain = {run: place(human, run, others) - place(judge, run, others) for run in every}
    ranks = np.mean([gain[run] for run in family]) - np.mean([gain[run] for run in others])
    slope, intercept = np.polyfit(human[others], judge[others], 1)
    return ranks, np.mean([judge[run] - intercept - slope * human[run] for run in family])


@pytest.mark.parametrize("against", AGAINST)
@pytest.mark.parametrize("steps", [4, 1000])
def test_effects_equal_those_of_loops(against, steps):
    random = np.random.default_rng(steps)
    human, judge = random.integers(0, steps, (2, 20, 9)) / steps
    human += np.arange(9) / 1e6 * (steps == 4)  # a line needs scores that differ
    judge = np.where(random.random((20, 9)) < 0.3, human, judge)
    who = contrast(9, 3, [(0, 5), (2, 5), (1, 8)])
    found = FieldGains(human, judge).over(who, against)
    expected = [slow(h, j, who, against) for h, j in zip(human, judge, strict=True)]
    assert found["rank_effect"] == pytest.approx([ranks for ranks, _ in expected], abs=1e-12)
    assert found["score_effect"] == pytest.approx([score for _, score in expected], abs=1e-7)


def test_changes_are_those_of_the_field_centred():
    human, judge = np.array([[0.1, 0.2, 0.6]]), np.array([[0.4, 0.2, 0.9]])
    found = FieldGains(human, judge).over(contrast(3, 1), "others")
    # changes of .3, 0 and .3 have the mean .2
    assert (found["change"][0], found["others_change"][0]) == (pytest.approx(0.1), pytest.approx(-0.05))
    assert (found["rise"][0], found["others_rise"][0]) == (1, -0.5)


@given(arrays(np.float64, 8, elements=st.integers(0, 10**6).map(float), unique=True), st.integers(1, 7), st.randoms())
def test_without_ties_others_lose_what_a_family_gains(scores, k, random):
    judge = np.array(random.sample(scores.tolist(), 8))
    gains, who = FieldGains(scores[None], judge[None]), contrast(8, k)
    others, alone = gains.over(who, "others"), gains.over(who, "alone")
    assert alone["others_rise"][0] == 0
    assert others["rise"][0] == pytest.approx(alone["rise"][0])
    assert others["rank_effect"][0] == pytest.approx(alone["rank_effect"][0] * 8 / (8 - k))


@given(st.floats(0.1, 3), st.floats(-1, 1), st.floats(-0.5, 0.5))
def test_a_scale_is_no_favour_and_a_favour_is_told_on_it(slope, level, favour):
    human = np.array([[0.9, 0.7, 0.1, 0.2, 0.4, 0.65]])
    judge = level + slope * human
    who = contrast(6, 2, [(0, 5)])
    plain = FieldGains(human, judge)
    for against in AGAINST:
        assert plain.over(who, against)["rank_effect"][0] == 0
    assert plain.over(who, "others")["score_effect"][0] == pytest.approx(0, abs=1e-9)
    judge[0, :2] += favour
    found = FieldGains(human, judge).over(who, "alone")["score_effect"][0]
    assert found == pytest.approx(favour, abs=1e-9)


def test_the_line_is_that_of_scipy():
    random = np.random.default_rng(3)
    human, judge = random.random((2, 1, 12))
    who = contrast(12, 4)
    line = stats.linregress(human[0, 4:], judge[0, 4:])
    above = judge[0, :4] - line.intercept - line.slope * human[0, :4]
    assert FieldGains(human, judge).over(who, "others")["score_effect"][0] == pytest.approx(above.mean())


@pytest.mark.parametrize(("n", "human"), [(3, [0.1, 0.2, 0.5]), (5, [0.3, 0.2, 0.2, 0.2, 0.2])])
def test_without_a_line_there_is_no_effect_on_scores(n, human):
    found = FieldGains(np.array([human]), np.arange(n)[None] / n).over(contrast(n, 1), "others")
    assert np.isnan(found["score_effect"][0])
    assert not np.isnan(found["rank_effect"][0])


def test_matched_runs():
    scores = np.array([0.50, 0.80, 0.30, 0.52, 0.48, 0.10])
    spread = np.std(scores, ddof=1)
    mine, others = np.array([0, 1, 2]), np.array([3, 4, 5])
    assert matched(scores, mine, others, 0.1).tolist() == [[0, 3]]  # the first of two as near
    assert matched(scores, mine, others, 0.19 / spread).tolist() == [[0, 3], [2, 4]]
    assert matched(scores, mine, others, 0.28 / spread).tolist() == [[0, 3], [1, 3], [2, 4]]
    assert matched(scores, mine, others, 0.0).shape == (0, 2)
    assert matched(np.full(6, 0.5), mine, others, 0.0).tolist() == [[0, 3], [1, 3], [2, 3]]
