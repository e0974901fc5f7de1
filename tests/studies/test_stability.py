"""Swap rates: their table, what they say is needed, draws and seeds, and what cannot be asked."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from same import assert_same

import pt_reuse as ptr
from pt_reuse.arrays.bootstrap import checked_bootstrap
from pt_reuse.scoring.scores import Scores
from pt_reuse.studies.stability import Sampling, Stability

FIELD = ptr.demo.simulate_field(seed=7)
SCORES = ptr.score(FIELD.runs, FIELD.qrels, ["AP", "P@10"])
ALL = ptr.score(FIELD.runs, FIELD.all_qrels, ["AP", "P@10"])


def matrix(values, measure="AP", **options):
    """Return Scores of a (topics, runs) array."""
    topics, runs = np.indices(values.shape)
    rows = {"name": "r" + pd.Series(runs.ravel()).astype(str), "qid": topics.ravel(), "measure": measure}
    return Scores.from_frame(pd.DataFrame({**rows, "value": values.ravel()}), **options)


def by_numpy(values, drawn, width=0.01, n_bins=21):
    """Count pairs and swaps by bin, straight from the definition."""
    first, second = (np.round(values[drawn[:, which]].mean(axis=1), 12) for which in (0, 1))
    i, j = np.triu_indices(values.shape[1], 1)
    apart, then = (np.round(means[:, i] - means[:, j], 12) for means in (first, second))
    at = np.minimum(n_bins - 1, np.floor(np.round(np.abs(apart), 9) / width + 1e-9)).astype(int)
    return np.bincount(at.ravel(), minlength=n_bins), np.bincount(at[apart * then < 0], minlength=n_bins)


def test_the_table_is_what_numpy_counts_in_the_same_draws():
    found = ptr.profile.stability({"pool": SCORES, "all": ALL}, sizes=[3, 25, 40], pairs=50, seed=4)
    lines = found.table.groupby(["judgments", "measure", "size"])
    assert len(lines) == 12
    for scores, judgments in ((SCORES, "pool"), (ALL, "all")):
        for m in (0, 1):
            for size in (3, 25, 40):
                rows = lines.get_group((judgments, scores.measures[m], size))
                pairs, swaps = by_numpy(scores.values[m], Sampling(50, True, 4).draws(size, 25))
                assert rows["pairs"].tolist() == pairs.tolist()
                assert rows["swaps"].tolist() == swaps.tolist()
                assert np.array_equal(rows["rate"], swaps / np.where(pairs, pairs, np.nan), equal_nan=True)
                assert rows["bin"].tolist() == list(range(21))
                assert rows["at_least"].tolist() == pytest.approx(np.arange(21) / 100)
                assert rows["below"].tolist() == pytest.approx([*np.arange(1, 21) / 100, np.inf])


@pytest.mark.parametrize(("n", "step"), [(250, 5), (251, 10), (6_980, 140)])
def test_many_topics_are_taken_in_larger_steps(n, step):
    """Sizes times topics is what is drawn: with steps of five it would be their square."""
    found = ptr.profile.stability(matrix(np.random.default_rng(n).random((n, 2))), pairs=1).table["size"]
    sizes = list(dict.fromkeys(found))
    assert sizes == sorted({*range(step, n + 1, step), n})
    assert len(sizes) <= 51
    halves = ptr.profile.stability(matrix(np.random.default_rng(1).random((23, 3))), pairs=1, replace=False).table[
        "size"
    ]
    assert list(dict.fromkeys(halves)) == [5, 10, 11]


def test_seeds_and_jobs(monkeypatch):
    monkeypatch.setattr("pt_reuse.studies.stability._SHARE", 17)
    monkeypatch.setattr("pt_reuse.studies.stability._RESAMPLES", 3)
    options = {"pairs": 60, "sizes": [5, 20], "resamples": 7, "seed": 3}
    one = ptr.profile.stability(SCORES, **options)
    assert_same(one, ptr.profile.stability(SCORES, **options, n_jobs=2))
    monkeypatch.undo()
    assert one.table.equals(ptr.profile.stability(SCORES, **options).table)
    assert not one.table.equals(ptr.profile.stability(SCORES, **{**options, "seed": 4}).table)
    # one size is drawn alike whatever the others are
    alone = ptr.profile.stability(SCORES, **{**options, "sizes": [20]}).table
    assert alone.equals(one.table[one.table["size"] == 20].reset_index(drop=True))


def test_what_is_needed():
    # swap rates by hand: at 10 topics .3 .1 .04 .06, at 20 .2 .05 .01 0, at 40 .1 .02 0 NaN
    rates = {10: [0.3, 0.1, 0.04, 0.06], 20: [0.2, 0.05, 0.01, 0.0], 40: [0.1, 0.02, 0.0, np.nan]}
    rows = [
        {"judgments": "j", "measure": "AP", "size": size, "bin": b, "at_least": b / 100, "below": (b + 1) / 100}
        | {"pairs": 0 if np.isnan(rate) else 1000, "swaps": 0 if np.isnan(rate) else round(1000 * rate), "rate": rate}
        for size, of in rates.items()
        for b, rate in enumerate(of)
    ]
    found = Stability(table=pd.DataFrame(rows), settings={})
    needed = found.differences_needed(0.05)
    assert needed["size"].tolist() == [10, 20, 40]
    assert np.array_equal(needed["difference"], [np.nan, 0.01, 0.01], equal_nan=True)
    assert np.array_equal(needed["share"], [np.nan, 0.75, 2 / 3], equal_nan=True)
    assert needed["rate"].tolist() == pytest.approx([0.125, 0.065, 0.04])
    assert np.array_equal(found.differences_needed(0.15)["difference"], [0.01, 0.01, 0.0])
    topics = found.topics_needed(0.05)
    assert topics["topics"].tolist()[1:] == [20, 10, 20]
    assert topics["extrapolated"].tolist() == [True, False, False, False]
    # .3 .2 .1 at 10 20 40: weighted by the root of swaps, as a line through the logarithms
    x, y, w = np.array([10, 20, 40]), np.log([0.3, 0.2, 0.1]), np.array([300, 200, 100])
    slope = np.cov(x, y, aweights=w)[0, 1] / np.cov(x, aweights=w)
    start = np.exp(np.average(y, weights=w) - slope * np.average(x, weights=w))
    assert topics.loc[0, ["start", "decay"]].tolist() == pytest.approx([start, -slope])
    assert topics.loc[0, "topics"] == np.ceil(np.log(start / 0.05) / -slope) > 40
    assert topics.loc[2:, ["start", "decay"]].isna().all(axis=None)


@pytest.mark.parametrize("given", [{}, {"resamples": 5}], ids=["rates", "intervals"])
def test_one_topic_has_no_other_that_could_turn_a_pair_round(given):
    with pytest.warns(ptr.ReuseWarning, match="1 topic only"):
        found = ptr.profile.stability(matrix(np.array([[0.1, 0.5, 0.9]])), pairs=4, **given)
    assert found.table["pairs"].sum() == 12
    assert found.table[[name for name in found.table if name.startswith("rate")]].isna().all(axis=None)


def test_means_over_the_topics_that_a_run_has():
    values = np.random.default_rng(2).random((8, 4)).round(1)
    frame = matrix(values).per_topic
    lacking = Scores.from_frame(frame.drop(index=[0, 9]), missing="leave_out")
    zero = Scores.from_frame(frame.drop(index=[0, 9]), missing="zero")
    own, as_zero = (ptr.profile.stability(scores, sizes=4, pairs=30) for scores in (lacking, zero))
    _, swaps = by_numpy(zero.values[0], Sampling(30, True, 0).draws(4, 8))
    assert as_zero.table["swaps"].tolist() == swaps.tolist()
    assert own.table["swaps"].tolist() != swaps.tolist()


def test_runs_that_all_tie_have_no_rate(messages):
    tied = matrix(np.repeat(np.random.default_rng(1).random((6, 1)), 3, axis=1))
    found = messages.warned(lambda: ptr.profile.stability(tied, pairs=5), times=1)
    assert found.table["rate"].isna().all()
    assert found.table["pairs"].sum() == 5 * 3 * 2
    assert found.differences_needed()["difference"].isna().all()
    assert found.topics_needed()["topics"].isna().all()
    assert "all runs tie by AP" in found.settings["beware"]


def test_what_cannot_be_asked(messages):
    ask, one = ptr.profile.stability, SCORES
    alone = Scores.from_frame(SCORES.per_topic.query("name == 'lex1a'"))
    ap = Scores.from_frame(SCORES.per_topic.query("measure == 'AP'"))
    values = SCORES.values.copy()
    values[1, 2, 3] = np.nan
    for scores in (SCORES.per_topic, {}, {"x": 3}, {3: one}, alone, {"a": one, "b": ap}, replace(one, values=values)):
        messages.refused(ask, scores=scores, argument="scores")
    messages.refused(ask, scores={"a": one, "b": alone}, place="'b'")
    messages.refused(ask, scores=matrix(np.ones((1, 2))), replace=False, argument="scores")
    for sizes in ([], "5", 0, [5, 2.5], 3.5, True):
        messages.refused(ask, scores=one, sizes=sizes, argument="sizes")
    messages.refused(ask, scores=one, sizes=13, replace=False, argument="sizes")
    found = ask(one, sizes=5, pairs=1)
    messages.refused(found.differences_needed, rate=0, argument="rate")
    messages.refused(found.topics_needed, rate=2, argument="rate")


def test_draws():
    drawn = Sampling(400, True, 1).draws(30, 10)
    assert drawn.shape == (400, 2, 30)
    assert set(np.unique(drawn)) == set(range(10))
    apart = Sampling(400, False, 1).draws(5, 10)
    assert all(sorted(draw.ravel()) == list(range(10)) for draw in apart)
    # each topic about as often as any other in either sample
    for which in (0, 1):
        assert np.abs(np.bincount(apart[:, which].ravel()) / 400 - 0.5).max() < 0.1


def test_intervals():
    found = ptr.profile.stability(SCORES, sizes=[10, 25], pairs=200, resamples=60, confidence=0.9).table.query(
        "pairs > 500"
    )
    assert (found["rate_low"] <= found["rate_high"]).all()
    assert found[["rate_low", "rate_high"]].min(axis=None) >= 0
    # by hand, the first bin of AP at 10 topics
    bootstrap = checked_bootstrap(resamples=60, seed=0, confidence=0.9)
    drawn, rates = Sampling(200, True, 0).draws(10, 25), []
    for counts in bootstrap.counts(25):
        pairs, swaps = by_numpy(SCORES.values[0][np.repeat(np.arange(25), counts)], drawn)
        rates.append(swaps[0] / pairs[0])
    row = found.iloc[0]
    assert (row["rate_low"], row["rate_high"]) == bootstrap.interval(row["rate"], np.array(rates))
    assert "rate_low" not in ptr.profile.stability(SCORES, sizes=10, pairs=1).table


#: size -> bin -> rate of AP of TREC-8, by another program, with 1,000 pairs of samples of another seed
KNOWN = {
    25: {0: 0.440, 1: 0.337, 2: 0.249, 5: 0.084, 10: 0.010},
    50: {0: 0.416, 1: 0.275, 2: 0.168, 5: 0.0285, 10: 0.001},
}


def test_swap_rates_of_trec8(trec8):
    found = ptr.profile.stability(ptr.score(trec8.runs, trec8.qrels, "AP"), sizes=[25, 50], pairs=1000)
    assert (found.table.groupby("size")["pairs"].sum() == 8256 * 1000).all()
    for size, rates in KNOWN.items():
        rows = found.table[found.table["size"] == size].set_index("bin")
        for at, rate in rates.items():
            assert rows.loc[at, "rate"] == pytest.approx(rate, abs=0.006), (size, at)
