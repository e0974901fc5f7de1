"""Means over pairs of parts, their standard errors and intervals, and what a result keeps."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import pt_reuse as ptr
from pt_reuse.arrays.bootstrap import TopicBootstrap
from pt_reuse.arrays.significance import agreement_of_tests, pair_tests
from pt_reuse.result import key_numbers
from pt_reuse.studies.subcollections.subcollections import standard_error

pytestmark = pytest.mark.filterwarnings("ignore:.*no pair of systems:pt_reuse.ReuseWarning")
FIELD = ptr.demo.simulate_field(seed=6, n_topics=8, n_docs=120, n_teams=4, length=50, depth=10)


def source(docno):
    return "xyz"[int(docno[-1]) % 3]


def study(measures=("AP", "P@5"), **options):
    return ptr.profile.subcollections(FIELD.runs, FIELD.qrels, list(measures), sources=source, **options)


def bootstrapped(values, draw, resamples=20_000):
    """Return the standard deviation of the mean over draws that are drawn again, with their values."""
    random = np.random.default_rng(1)
    units = [values[draw == one] for one in np.unique(draw)]
    drawn = random.integers(0, len(units), (resamples, len(units)))
    sums, sizes = np.array([unit.sum() for unit in units]), np.array([len(unit) for unit in units])
    return (sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)).std()


def test_standard_errors_are_those_a_bootstrap_comes_to():
    random = np.random.default_rng(2)
    values = random.random(24)
    alone = standard_error(values, np.ones(24, dtype=int))
    assert alone == pytest.approx(values.std() / np.sqrt(24))
    assert alone == pytest.approx(bootstrapped(values, np.arange(24)), rel=0.03)
    draw = np.repeat(np.arange(8), 3)
    shifted = values + draw
    assert standard_error(shifted, draw) == pytest.approx(bootstrapped(shifted, draw), rel=0.03)
    # whole draws differ far more than the values would if they were drawn one by one
    assert standard_error(shifted, draw) > 1.5 * shifted.std() / np.sqrt(24)
    shifted[[0, 1, 5]] = np.nan
    known = ~np.isnan(shifted)
    assert standard_error(shifted, draw) == pytest.approx(bootstrapped(shifted[known], draw[known]), rel=0.1)
    assert np.isnan(standard_error(values[:1], draw[:1]))
    assert np.isnan(standard_error(np.full(3, np.nan), draw[:3]))


@pytest.mark.parametrize(
    "options",
    [{}, {"how": "random", "sizes": [5, 20], "repeats": 2}, {"how": "mixed", "shares": [0, 1], "repeats": 2},
     {"how": "random", "repeats": 2}, {"sizes": [4, 9], "repeats": 2}],
    ids=["source", "sizes", "mixed", "random", "sources in sizes"],
)  # fmt: skip
def test_means_are_over_the_pairs_of_a_setting(options):
    found = study(**options)
    setting = ["source", "share", "size", "other_size", "measure"]
    assert not found.table.duplicated(setting).any()
    assert found.table["part_pairs"].sum() == len(found.by_pair)
    assert not key_numbers(found)[["measure", "figure"]].duplicated().any()
    for row in found.table.to_dict("records"):
        mine = found.by_pair
        for name in setting:
            mine = mine[mine[name].isna() if pd.isna(row[name]) else mine[name] == row[name]]
        assert len(mine) == row["part_pairs"]
        assert row["draws"] == mine["draw"].nunique() == found.settings["draws"]
        for name in ("agree", "active", "passive", "tau_b"):
            assert row[name] == pytest.approx(mine[name].mean(), nan_ok=True)
            expected = standard_error(mine[name].to_numpy(), mine["draw"].to_numpy())
            assert row[f"{name}_se"] == pytest.approx(expected, nan_ok=True)
        if mine["agree"].notna().all():
            assert row["agree"] + row["active"] + row["passive"] == pytest.approx(1)
    assert set(found.table["measure"]) == {"AP", "P@5"}
    assert len(found.parts) == found.means.shape[0] == found.p.shape[0]
    assert found.by_measures()["parts"].tolist() == [len(found.between_measures)] == [len(found.parts)]


def test_intervals_are_those_of_topics_drawn_again():
    resamples = 40
    found = study(("AP",), resamples=resamples, seed=5, confidence=0.9, alpha=0.2)
    bootstrap = TopicBootstrap(resamples, 5, 0.9)
    relevant = FIELD.qrels.to_frame().query("label > 0")["docno"]
    values = []
    for name in "xyz":

        def kept(docno, name=name):
            return docno in set(relevant) or source(docno) == name

        frame = FIELD.qrels.to_frame()
        judged = ptr.Qrels(frame[frame["docno"].map(kept)], topics=FIELD.qrels.topics)
        scores = ptr.score(FIELD.runs.restrict(where=kept), judged, "AP")
        values.append(scores.values[0])
    counts = bootstrap.counts(8)
    means = []
    for row, (i, j) in zip(found.by_pair.to_dict("records"), [(0, 1), (0, 2), (1, 2)], strict=True):
        drawn = [
            agreement_of_tests(*(pair_tests(np.repeat(values[k], times, axis=0)) for k in (i, j)), 0.2).agree
            for times in counts
        ]
        low, high = bootstrap.interval(row["agree"], np.array(drawn), within=(0, 1))
        assert (row["agree_low"], row["agree_high"]) == (pytest.approx(low), pytest.approx(high))
        means.append(drawn)
        assert row["tau_b_low"] <= row["tau_b_high"]
    row = found.table.iloc[0]
    low, high = bootstrap.interval(row["agree"], np.nanmean(means, axis=0), within=(0, 1))
    assert (row["agree_low"], row["agree_high"]) == (pytest.approx(low), pytest.approx(high))
    without = study(("AP",), alpha=0.2)
    assert not [name for name in without.table if name.endswith(("_low", "_high"))]
    assert without.table["agree"].tolist() == found.table["agree"].tolist()
