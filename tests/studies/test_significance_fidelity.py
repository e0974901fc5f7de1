"""significance_fidelity: every pair of runs under people and judges, by scipy and statsmodels."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from statsmodels.stats.multitest import multipletests

import pt_reuse as ptr
from pt_reuse.arrays.bootstrap import TopicBootstrap
from pt_reuse.arrays.significance import pair_tests
from pt_reuse.scoring.caveats import told_elsewhere

FIELD = ptr.demo.simulate_field(seed=7, n_topics=12, n_teams=5)
RUNS, PEOPLE = FIELD.runs, FIELD.qrels
JUDGES = {
    "sharp": ptr.judging.Noisy(PEOPLE.with_rel(1), ptr.judging.flips(0.1, range(4)), seed=1),
    "blunt": ptr.judging.Noisy(PEOPLE.with_rel(1), ptr.judging.flips(0.6, range(4)), seed=2),
}
MEASURES = ["nDCG@10", "P@5"]
METHODS = {"none": None, "holm": "holm", "benjamini-hochberg": "fdr_bh", "bonferroni": "bonferroni"}


@pytest.fixture(scope="module")
def found():
    return ptr.labels.significance_fidelity(RUNS, PEOPLE, JUDGES, MEASURES, resamples=40, families={"sharp": "llama"})


def labels_of(judge):
    rows = PEOPLE.to_frame()[["qid", "docno"]]
    return rows.assign(label=judge(rows)["label"].astype(int))


def winners_of(qrels, measure, correction="none"):
    """Return pair -> who wins significantly, 0 for nobody, by scipy and statsmodels."""
    values = ptr.score(RUNS, qrels, [measure]).of(measure)
    pairs = list(itertools.combinations(values, 2))
    p = [scipy.stats.ttest_rel(values[a], values[b]).pvalue for a, b in pairs]
    # scipy has no p-value for two that score alike on every topic
    p = np.where(np.isnan(p), 1.0, p)
    if METHODS[correction]:
        p = multipletests(p, method=METHODS[correction])[1]
    means = values.mean()
    return {(a, b): np.sign(means[a] - means[b]) * (q <= 0.05) for (a, b), q in zip(pairs, p, strict=True)}


def outcome(people, judge):
    if people and judge:
        return "agree" if people == judge else "opposite"
    return "missed" if people else "false claim" if judge else "neither"


@pytest.mark.parametrize("correction", METHODS)
def test_outcomes_are_those_of_scipy_and_statsmodels(correction):
    found = ptr.labels.significance_fidelity(RUNS, PEOPLE, JUDGES, MEASURES, correction=correction, resamples=0)
    for (judge, measure), rows in found.pairs.groupby(["judge", "measure"]):
        by_people, by_judge = (winners_of(q, measure, correction) for q in (PEOPLE, labels_of(JUDGES[judge])))
        expected = [outcome(by_people[pair], by_judge[pair]) for pair in by_people]
        assert list(zip(rows["first"], rows["second"], strict=True)) == list(by_people)
        assert rows["outcome"].tolist() == expected
        counts = pd.Series(expected).value_counts()
        row = found.table.query("judge == @judge and measure == @measure").iloc[0]
        columns = {"agree": "agree", "false claim": "false_claims", "missed": "missed", "neither": "neither"}
        assert {name: row[column] for name, column in columns.items()} == {n: counts.get(n, 0) for n in columns}
        assert row["opposite"] == counts.get("opposite", 0)
        assert row["pairs"] == len(expected)
        claims = sum(1 for winner in by_judge.values() if winner)
        assert row["judge_significant"] == claims
        assert row["human_significant"] == sum(1 for winner in by_people.values() if winner)
        share = counts.get("false claim", 0) / claims if claims else np.nan
        assert row["false_share"] == pytest.approx(share, nan_ok=True)
        found_by_people = sum(1 for winner in by_people.values() if winner)
        share = counts.get("missed", 0) / found_by_people if found_by_people else np.nan
        assert row["missed_share"] == pytest.approx(share, nan_ok=True)
        both = claims + found_by_people
        assert row["agree_share"] == pytest.approx(2 * counts.get("agree", 0) / both if both else np.nan, nan_ok=True)
    assert {"agree", "missed", "neither"} <= set(found.pairs["outcome"])


@pytest.mark.parametrize("test", ["wilcoxon", "randomisation", "tukey"])
def test_other_tests_have_counts_and_no_intervals(test, messages):
    options = {"test": test, "samples": 99}
    found = ptr.labels.significance_fidelity(RUNS, PEOPLE, JUDGES, "nDCG@10", resamples=0, **options)
    tests = pair_tests(ptr.score(RUNS, PEOPLE, "nDCG@10").values[0], test, samples=99)
    assert found.table["human_significant"].tolist() == [tests.significant().sum()] * 2
    assert "false_share_low" not in found.table
    messages.refused(
        lambda: ptr.labels.significance_fidelity(RUNS, PEOPLE, JUDGES, "nDCG@10", **options), argument="resamples"
    )


def test_one_topic_has_no_test():
    with told_elsewhere():
        one = PEOPLE.select(PEOPLE.topics[:1])
        found = ptr.labels.significance_fidelity(RUNS, one, one, "nDCG@10", resamples=10)
    row = found.table.iloc[0]
    assert row["untested"] == row["pairs"] > 0
    assert np.isnan([row["false_share"], row["false_share_low"], row["missed_share_high"]]).all()
    assert set(found.pairs["outcome"]) == {"untested"}
    assert found.answers()[0].endswith("Usable for significance: unclear")


def test_what_cannot_be_tested_is_refused(messages):
    refused = lambda argument, *given, **options: messages.refused(  # noqa: E731
        lambda: ptr.labels.significance_fidelity(*given, **options), argument=argument
    )
    refused("judge", RUNS, PEOPLE, {}, "AP")
    refused("judge", RUNS, PEOPLE, pd.DataFrame({"qid": ["1"], "docno": ["nowhere"], "label": [1]}), "AP")
    probable = PEOPLE.to_frame().assign(label=lambda f: 0.5 + f["label"] / 9)
    refused(None, RUNS, PEOPLE, probable, "AP")
    refused("correction", RUNS, PEOPLE, PEOPLE, "AP", test="tukey", correction="holm", resamples=0)
    refused("families", RUNS, PEOPLE, {"a": PEOPLE}, "AP", families={"b": "llama"})


def test_intervals_are_of_the_tests_of_the_topics_drawn(found):
    bootstrap = TopicBootstrap(40, 0, 0.95)
    row = found.table.query("judge == 'blunt' and measure == 'nDCG@10'").iloc[0]
    people, judge = (ptr.score(RUNS, q, "nDCG@10").values[0] for q in (PEOPLE, labels_of(JUDGES["blunt"])))
    drawn = {"false_share": [], "missed_share": [], "agree_share": []}
    for counts in bootstrap.counts(len(people)):
        rows = np.repeat(np.arange(len(people)), counts)
        a, b = (t.significant() * np.sign(t.difference) for t in (pair_tests(people[rows]), pair_tests(judge[rows])))
        drawn["false_share"].append(((a == 0) & (b != 0)).sum() / (b != 0).sum() if b.any() else np.nan)
        drawn["missed_share"].append(((a != 0) & (b == 0)).sum() / (a != 0).sum() if a.any() else np.nan)
        n = (a != 0).sum() + (b != 0).sum()
        drawn["agree_share"].append(2 * ((a == b) & (a != 0)).sum() / n if n else np.nan)
    for share, shares in drawn.items():
        low, high = np.nanpercentile(shares, [2.5, 97.5])
        reach = max(row[share] - low, high - row[share])
        assert row[f"{share}_low"] == pytest.approx(max(0, row[share] - reach))
        assert row[f"{share}_high"] == pytest.approx(min(1, row[share] + reach))
        known = found.table[found.table[share].notna()]
        assert (known[f"{share}_low"] <= known[share]).all()
        assert (known[share] <= known[f"{share}_high"]).all()
