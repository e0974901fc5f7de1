"""audit_labels against pytrec_eval, scipy and plain Python."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from audit_parts import HUMAN, RUNS, TOPICS, as_frame, ranks, relabelled, scored, tau

import pt_reuse as ptr
from pt_reuse.arrays.bootstrap import TopicBootstrap

GRADED, GAPS = relabelled(1), relabelled(2, gaps=0.25)
JUDGES = {"graded": GRADED, "gaps": GAPS}
TYPES = RUNS.run_table["type"].tolist()
DRAWS = TopicBootstrap(15, 3, 0.9)
BOOTSTRAP = {"resamples": 15, "seed": 3, "confidence": 0.9}


def audited(judges=None, measures=("nDCG@5", "AP"), **options):
    given = {name: as_frame(labels) for name, labels in (judges or JUDGES).items()}
    return ptr.audit_labels(RUNS, as_frame(HUMAN), given, list(measures), **{"resamples": 0, "best": 4, **options})


def tau_ap(truth, estimate):
    """Return the tau_AP of Urbano and Marrero with ties: each run below the first block against those above it."""
    x, y = np.round(truth, 12), np.round(estimate, 12)
    below = [run for run in range(len(y)) if (y > y[run]).any()]
    return float(np.mean([np.sign(x[y > y[run]] - x[run]).mean() for run in below]))


def rows_of(table, judge, measure):
    return table[(table["judge"] == judge) & (table["measure"] == measure)].reset_index(drop=True)


def means(labels, measure, topics=TOPICS):
    return scored(labels, measure, topics).mean(axis=0)


@pytest.fixture(scope="module")
def found():
    return audited(by="type", **BOOTSTRAP)


@pytest.mark.parametrize(("judge", "measure"), [("graded", "AP"), ("gaps", "nDCG@5")])
def test_agreement_of_all_of_the_best_and_of_each_type(found, judge, measure):
    x, y = means(HUMAN, measure), means(JUDGES[judge], measure)
    rows = rows_of(found.table, judge, measure)
    types = list(dict.fromkeys(TYPES))
    assert rows["part"].tolist() == ["all", "best 4", *types]
    assert rows["by"].tolist() == ["all", "best", *["type"] * len(types)]
    parts = [np.arange(len(RUNS)), np.flatnonzero(ranks(x) <= 4)]
    parts += [np.flatnonzero(np.array(TYPES) == kind) for kind in types]
    rises = ranks(x) - ranks(y)
    for row, part in zip(rows.to_dict("records"), parts, strict=True):
        assert row["runs"] == len(part)
        assert row["tau_b"] == pytest.approx(tau(x[part], y[part]), abs=1e-12)
        drops = ranks(y[part]) - ranks(x[part])
        assert (row["max_drop"], row["max_rise"]) == (max(drops.max(), 0), max(-drops.min(), 0))
        assert row["mean_rise"] == pytest.approx(rises[part].mean(), abs=1e-12)
        signs = [np.sign(np.round(s[part], 12)[:, None] - np.round(s[part], 12)) for s in (x, y)]
        product = signs[0] * signs[1]
        assert row["gamma"] == pytest.approx(product.sum() / np.abs(product).sum(), abs=1e-12)
        mean = (tau_ap(x[part], y[part]) + tau_ap(y[part], x[part])) / 2
        assert row["tau_ap_b"] == pytest.approx(mean, abs=1e-12)
    assert set(rows["documents"]) == {len(JUDGES[judge])}


def test_each_run_with_both_scores_and_ranks_and_the_one_that_gains_most_first(found):
    for judge, measure in (("graded", "AP"), ("gaps", "nDCG@5")):
        x, y = means(HUMAN, measure), means(JUDGES[judge], measure)
        moved = rows_of(found.movers, judge, measure)
        at = [RUNS.names.index(name) for name in moved["name"]]
        assert sorted(at) == list(range(len(RUNS)))
        assert moved["score"].to_numpy() == pytest.approx(x[at], abs=1e-9)
        assert moved["judge_score"].to_numpy() == pytest.approx(y[at], abs=1e-9)
        assert moved["change"].to_numpy() == pytest.approx((y - x)[at], abs=1e-9)
        assert moved["relative"].to_numpy() == pytest.approx((y - x - (y - x).mean())[at], abs=1e-9)
        assert moved["rank"].tolist() == ranks(x)[at].tolist()
        assert moved["judge_rank"].tolist() == ranks(y)[at].tolist()
        assert moved["rise"].tolist() == (ranks(x) - ranks(y))[at].tolist()
        assert moved["rise"].is_monotonic_decreasing
        assert moved["team"].tolist() == RUNS.run_table["team"].iloc[at].tolist()


def test_what_a_judge_claims_is_what_significance_fidelity_says(found):
    judges = {name: as_frame(labels) for name, labels in JUDGES.items()}
    tests = ptr.labels.significance_fidelity(RUNS, as_frame(HUMAN), judges, ["nDCG@5", "AP"], **BOOTSTRAP).table
    keys = ["judge", "measure"]
    theirs = tests[list(found.claims)].sort_values(keys, ignore_index=True)
    pd.testing.assert_frame_equal(found.claims.sort_values(keys, ignore_index=True), theirs)
    assert theirs["judge_significant"].max() > 0


@pytest.mark.parametrize(("judge", "measure"), [("graded", "nDCG@5"), ("gaps", "AP")])
def test_intervals_are_of_topics_drawn_for_both_and_for_all_judges(found, judge, measure):
    sides = [scored(labels, measure, TOPICS) for labels in (HUMAN, JUDGES[judge])]
    counts = DRAWS.counts(len(TOPICS))
    drawn = [[np.average(side, axis=0, weights=weights) for side in sides] for weights in counts]
    best = np.flatnonzero(ranks(sides[0].mean(axis=0)) <= 4)
    rows = rows_of(found.table, judge, measure)
    for row, part in ((rows.iloc[0], np.arange(len(RUNS))), (rows.iloc[1], best)):
        taus = np.array([tau(x[part], y[part]) for x, y in drawn])
        low, high = DRAWS.interval(row["tau_b"], taus, within=(-1, 1))
        assert (row["tau_b_low"], row["tau_b_high"]) == pytest.approx((low, high), abs=1e-12)
        rise = np.array([(ranks(x) - ranks(y))[part].mean() for x, y in drawn])
        most = len(RUNS) - 1
        ends = DRAWS.interval(row["mean_rise"], rise, within=(-most, most))
        assert (row["mean_rise_low"], row["mean_rise_high"]) == pytest.approx(ends, abs=1e-12)
    for run in rows_of(found.movers, judge, measure).to_dict("records"):
        r = RUNS.names.index(run["name"])
        of_run = np.array([float(ranks(x)[r] - ranks(y)[r]) for x, y in drawn])
        ends = DRAWS.interval(run["rise"], of_run, within=(-most, most), integer=True)
        assert (run["rise_low"], run["rise_high"]) == ends
