"""Rank intervals follow from the pairs that differ, and groups are the longest stretches."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from real_runs import read_real
from statsmodels.stats.multitest import multipletests

import pt_reuse as ptr
from pt_reuse.studies.rank_intervals import significant_pairs


def scores_of(values, measure="M"):
    topics, systems = values.shape
    rows = [(f"s{s}", str(t), measure, values[t, s]) for t in range(topics) for s in range(systems)]
    return ptr.Scores.from_frame(pd.DataFrame(rows, columns=["name", "qid", "measure", "value"]))


def fields(seed, topics=12, systems=6, apart=0.1):
    random = np.random.default_rng(seed)
    return random.normal(0, 0.2, (topics, 1)) + random.normal(0, 0.1, (topics, systems)) - apart * np.arange(systems)


@given(st.integers(0, 1000), st.sampled_from([0.0, 0.03, 0.1]), st.integers(2, 8), st.sampled_from([5, 12]))
def test_intervals_and_groups_follow_from_the_pairs(seed, apart, systems, topics):
    found = ptr.rank_intervals(scores_of(fields(seed, topics, systems, apart)))
    pairs = found.pairs
    assert len(pairs) == systems * (systems - 1) / 2
    assert (pairs["differs"] == (pairs["p"] <= 0.05)).all()
    assert (pairs["difference"] >= 0).all()
    names = found.table["name"].tolist()
    assert found.table["score"].is_monotonic_decreasing
    better = set(pairs.loc[pairs["differs"], ["first", "second"]].itertuples(index=False, name=None))
    for row in found.table.to_dict("records"):
        over = sum((other, row["name"]) in better for other in names)
        under = sum((row["name"], other) in better for other in names)
        assert (row["rank_low"], row["rank_high"]) == (1 + over, systems - under)
        assert row["rank_low"] <= row["rank"] <= row["rank_high"]
    # groups: every stretch without a difference that no longer one has
    free = [
        (i, j)
        for i in range(systems)
        for j in range(i + 1, systems + 1)
        if not any(pair in better for pair in combinations(names[i:j], 2))
    ]
    longest = [s for s in free if not any(o != s and o[0] <= s[0] and s[1] <= o[1] for o in free)]
    wanted = [(names[i], names[j - 1], j - i) for i, j in longest]
    assert list(found.groups[["first", "last", "systems"]].itertuples(index=False, name=None)) == wanted


def test_systems_that_are_alike_or_differ_alike_on_every_topic():
    base = fields(3, systems=1)
    values = np.concatenate([base, base, base - 0.5], axis=1)
    table = ptr.rank_intervals(scores_of(values)).table
    assert table[["rank", "rank_low", "rank_high"]].to_numpy().tolist() == [[1, 1, 2], [1, 1, 2], [3, 3, 3]]


def test_p_values_are_those_of_discriminative_power():
    scores = scores_of(fields(4))
    found = ptr.rank_intervals(scores, confidence=0.9).pairs
    power = ptr.profile.discriminative_power(scores, correction="holm", alpha=0.1).pairs
    wanted = {frozenset((row["first"], row["second"])): row for row in power.to_dict("records")}
    for row in found.to_dict("records"):
        other = wanted[frozenset((row["first"], row["second"]))]
        assert row["p"] == pytest.approx(other["p_corrected"], abs=1e-12)
        assert row["differs"] == other["significant"]


def test_equal_means_stand_side_by_side_whatever_the_order():
    base = fields(2, topics=10, systems=1)
    shift = np.tile([0.02, -0.02], 5)[:, None]
    columns = {"a": base, "b": base + 10 * shift, "c": base - 0.03}
    found = []
    for names in ("abc", "bac", "cba"):
        rows = [(n, str(t), "M", float(columns[n][t, 0])) for n in names for t in range(10)]
        scores = ptr.Scores.from_frame(pd.DataFrame(rows, columns=["name", "qid", "measure", "value"]))
        result = ptr.rank_intervals(scores)
        near = result.pairs[result.pairs["adjacent"]]
        groups = result.groups["systems"].tolist()
        found.append((sorted(map(frozenset, zip(near["first"], near["second"], strict=True)), key=sorted), groups))
    assert found[0] == found[1] == found[2]
    # a and c differ, b does not differ from either
    assert found[0] == ([frozenset("ab"), frozenset("ac"), frozenset("bc")], [2, 1])


@given(st.integers(0, 500), st.sampled_from([1.0, 0.8]))
@pytest.mark.filterwarnings("ignore::pt_reuse.ReuseWarning")
def test_ranks_by_conventions_and_the_pairs_they_swap(seed, share):
    """The numbers themselves are tested where they are computed, in arrays."""
    random = np.random.default_rng(seed)
    values = random.integers(0, 4, (6, 5)) / 4
    values[random.random(values.shape) > share] = np.nan
    values[:, 0], values[0] = np.arange(6) / 8, 0.5
    rows = [(f"s{s}", str(t), "M", values[t, s]) for t in range(6) for s in range(5) if not np.isnan(values[t, s])]
    scores = ptr.Scores.from_frame(pd.DataFrame(rows, columns=["name", "qid", "measure", "value"]), missing="leave_out")
    found = ptr.rank_intervals(scores, convention=["borda", "mean_rank", "z_score"], missing="pairwise")
    tables = {measure: table.set_index("name") for measure, table in found.table.groupby("measure")}
    assert set(tables) == {"M, Borda", "M, mean rank", "M, z"}
    # equal sums share the best rank
    votes, borda = (tables["M, Borda"][column].to_dict() for column in ("score", "rank"))
    assert borda == {n: 1 + sum(round(other - own, 9) > 0 for other in votes.values()) for n, own in votes.items()}
    # by loops, each pair on its own tasks; a missing score has no votes
    counted = {measure: [{} for _ in range(6)] for measure in tables}
    counted["M, Borda"] = [dict.fromkeys(scores.names, 0.0) for _ in range(6)]
    for t in range(6):
        there = {f"s{s}": values[t, s] for s in range(5) if not np.isnan(values[t, s])}
        for name, value in there.items():
            place = sum(x > value for x in there.values()) + (1 + sum(x == value for x in there.values())) / 2
            spread = np.std(list(there.values()))
            counted["M, Borda"][t][name] = len(scores.names) - place
            counted["M, mean rank"][t][name] = -place
            counted["M, z"][t][name] = (value - np.mean(list(there.values()))) / spread if spread > 1e-12 else 0.0
    pairs = list(combinations(scores.names, 2))
    sides = {measure: [] for measure in tables}
    for measure, (a, b) in product(tables, pairs):
        apart = [task[a] - task[b] for task in counted[measure] if a in task and b in task]
        sides[measure].append(np.sign(np.round(np.mean(apart), 9)) if apart else 0)
    for measure, swapped in found.summary().set_index("measure")["swapped"].items():
        other_side = sum(x * y < 0 for x, y in zip(sides["M, Borda"], sides[measure], strict=True))
        assert swapped == pytest.approx(other_side / len(pairs))


def test_bad_input(messages):
    scores = scores_of(fields(1))
    for wrong in ({"x": scores}, fields(1), scores_of(fields(1, systems=1)), scores_of(fields(1, topics=1))):
        messages.refused(lambda wrong=wrong: ptr.rank_intervals(wrong), argument="scores")
    messages.warned(lambda: ptr.rank_intervals(scores_of(fields(1, topics=4))))


@pytest.mark.parametrize(
    ("topics", "systems", "apart", "alike", "decimals"),
    # distinct systems; all alike; pairs that are alike, of which rounding makes more
    [(12, 6, 0.02, 1, 16), (5, 30, 0.0, 30, 16), (3, 12, 0.03, 2, 1), (10, 12, 0.03, 2, 2)],
)
def test_all_intervals_hold_at_once(topics, systems, apart, alike, decimals):
    held, place = 0, np.arange(systems) // alike
    for seed in range(100):
        values = fields(seed, topics, systems, 0.0) - apart * alike * place
        differs = significant_pairs(values.round(decimals), 0.1)[1]
        # none is better that is not so in truth
        held += not (differs * np.sign(place - place[:, None]) < 0).any() and not differs[place == place[:, None]].any()
    # of a true 90 %, fewer than 85 of 100 would be seen in 4 of 100 cases
    assert held >= 85


def intervals_by_scipy(values):
    """Return the systems that may be the best and the mean width of intervals, by scipy and statsmodels."""
    pairs = list(combinations(range(values.shape[1]), 2))
    p = [scipy.stats.ttest_rel(values[:, i], values[:, j]).pvalue for i, j in pairs]
    # two runs of the same scores do not differ
    differs = multipletests(np.nan_to_num(p, nan=1.0), alpha=0.05, method="holm")[0]
    better, worse = np.zeros(values.shape[1], int), np.zeros(values.shape[1], int)
    for (i, j), yes in zip(pairs, differs, strict=True):
        first, second = (i, j) if values[:, i].mean() > values[:, j].mean() else (j, i)
        better[second] += yes
        worse[first] += yes
    return int((better == 0).sum()), float((len(better) - worse - better).mean())


def test_the_numbers_of_the_page(data):
    folder = data / "dl19-passages"
    if not folder.is_dir():
        pytest.skip("the test data has no folder dl19-passages")
    scores = ptr.score(read_real(folder / "inputs", order="trec_eval"), ptr.read_qrels(folder / "qrels.gz"), "nDCG@10")
    summary = ptr.rank_intervals(scores).summary().iloc[0]
    assert (summary["systems"], summary["candidates"], round(summary["mean_width"], 1)) == (37, 19, 22.5)
    assert (summary["adjacent_differ"], summary["adjacent"]) == (1, 36)
    of_scipy = intervals_by_scipy(scores.values[0])
    assert (summary["candidates"], summary["mean_width"]) == (of_scipy[0], pytest.approx(of_scipy[1]))
