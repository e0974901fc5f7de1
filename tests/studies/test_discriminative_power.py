"""Discriminative power, against scipy and statsmodels pair by pair."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.stats
from statsmodels.stats.multitest import multipletests

import pt_reuse as ptr

MEASURES = ["AP", "P@10"]


@pytest.fixture(scope="module")
def field():
    return ptr.demo.simulate_field(seed=7, n_topics=12, n_teams=5)


@pytest.fixture(scope="module")
def scores(field):
    return {
        name: ptr.score(field.runs, qrels, MEASURES)
        for name, qrels in (("complete", field.all_qrels), ("pool", field.qrels))
    }


@pytest.fixture(scope="module")
def power(scores):
    return ptr.profile.discriminative_power(scores, correction="benjamini-hochberg")


def literal(scores, measure, method="fdr_bh"):
    """Return pair -> difference, p, corrected p."""
    values = scores.of(measure)
    pairs = list(itertools.combinations(values, 2))
    p = [scipy.stats.ttest_rel(values[a], values[b]).pvalue for a, b in pairs]
    corrected = multipletests(p, method=method)[1]
    return {
        pair: (values[pair[0]].mean() - values[pair[1]].mean(), *ps)
        for pair, *ps in zip(pairs, p, corrected, strict=True)
    }


def rows_of(frame, **where):
    for column, value in where.items():
        frame = frame[frame[column] == value]
    return frame


@pytest.mark.parametrize("judgments", ["complete", "pool"])
@pytest.mark.parametrize("measure", MEASURES)
def test_every_pair_is_that_of_scipy_and_statsmodels(scores, power, judgments, measure):
    expected = literal(scores[judgments], measure)
    found = rows_of(power.pairs, judgments=judgments, measure=measure)
    assert list(zip(found["first"], found["second"], strict=True)) == list(expected)
    for column, number in zip(("difference", "p", "p_corrected"), zip(*expected.values(), strict=True), strict=True):
        assert found[column].tolist() == pytest.approx(number, abs=1e-12)
    assert found["significant"].tolist() == [p <= 0.05 for *_, p in expected.values()]


def test_runs_that_all_score_alike(field):
    names = list(field.runs)[:3]
    runs = ptr.RunSet.from_frames({f"{name}x": field.runs[names[0]] for name in names})
    found = ptr.profile.discriminative_power(ptr.score(runs, field.qrels, "AP"))
    assert found.table["significant"].tolist() == [0]
    assert found.table[["smallest_significant", "always_significant_from"]].isna().all(axis=None)
    assert found.pairs["p"].tolist() == [1, 1, 1]


def test_one_topic_is_no_test(field):
    one = ptr.score(field.runs, field.qrels.select(field.qrels.topics[:1]), "AP")
    with pytest.warns(ptr.ReuseWarning, match="1 topic only"):
        found = ptr.profile.discriminative_power({"a": one, "b": one})
    assert found.table["power"].isna().all()
    assert found.table["significant"].tolist() == [0, 0]
    assert found.table[["largest_not_significant", "always_significant_from"]].isna().all(axis=None)


def test_refused_and_told(field, scores, messages):
    # the rest of what is no scores is told as by stability
    one, other = scores["complete"], ptr.score(field.runs.select(list(field.runs)[1:]), field.qrels, MEASURES)
    for odd in ({1: one}, {"a": one, "b": other}):
        messages.refused(ptr.profile.discriminative_power, argument="scores", scores=odd)
    short = {name: field.runs[name] for name in list(field.runs)[:3]}
    first = next(iter(short))
    short[first] = short[first][short[first]["qid"] != field.qrels.topics[0]]
    lacking = ptr.score(ptr.RunSet.from_frames(short), field.qrels, "AP", complete=False)
    messages.refused(ptr.profile.discriminative_power, argument="scores", scores=lacking)
    few = ptr.score(field.runs, field.qrels.select(field.qrels.topics[:3]), "AP")
    found = messages.warned(ptr.profile.discriminative_power, times=1, scores=few)
    assert found.settings["beware"] == "3 topics only"


def test_power_and_the_differences_that_are_always_significant(scores, power):
    for row in power.table.to_dict("records"):
        expected = literal(scores[row["judgments"]], row["measure"]).values()
        yes = [round(abs(d), 12) for d, _, p in expected if p <= 0.05]
        no = [round(abs(d), 12) for d, _, p in expected if p > 0.05]
        assert (row["topics"], row["pairs"], row["significant"]) == (12, len(expected), len(yes))
        assert 0 < row["power"] == len(yes) / len(expected) < 1
        assert row["smallest_significant"] == pytest.approx(min(yes))
        assert row["largest_not_significant"] == pytest.approx(max(no))
        above = [d for d in yes if d > max(no)]
        assert row["always_significant_from"] == pytest.approx(min(above) if above else np.nan, nan_ok=True)
