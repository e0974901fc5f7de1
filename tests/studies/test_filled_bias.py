"""A judge that errs both ways alike shows no bias when it fills holes, and a planted bias is found."""

from __future__ import annotations

import pytest
from ir_measures import P

import pt_reuse as ptr
from pt_reuse.judging.noisy_judge import Noisy

FIELD = ptr.demo.simulate_field(seed=2, n_topics=40, n_docs=200, n_teams=8, length=20, depth=10)
RUNS = FIELD.runs.select(FIELD.runs.names[::4]).with_metadata(pooled=True)
TRUTH = FIELD.all_qrels.restrict(ptr.depth_pool(RUNS, depth=10)).threshold(1)
SEEDS = 100
#: in some draws of topics all of the few runs tie
pytestmark = pytest.mark.filterwarnings("ignore:.* all runs tie:pt_reuse.ReuseWarning")


@pytest.fixture(scope="module")
def counts():
    """Return how many uniques of runs are relevant, and how many are not."""
    uniques = ptr.leave_out_uniques(RUNS, TRUTH, P @ 10, by="run", depth=10).unique_counts
    return uniques["unique_relevant"].sum(), uniques["unique_nonrelevant"].sum()


def filled(false_alarms, misses, seeds=SEEDS):
    """Fill by judges of one confusion matrix and many seeds; each unique stands in one run's top ten alone."""
    confusion = [[1 - false_alarms, false_alarms], [misses, 1 - misses]]
    judges = {f"s{seed}": Noisy(TRUTH, confusion, seed) for seed in range(seeds)}
    found = ptr.leave_out_uniques(RUNS, TRUTH, P @ 10, by="run", depth=10, fill=judges, resamples=150)
    return found.filled_summary


def test_errors_that_balance_show_no_bias(counts):
    # as many false alarms as misses are to be expected, so that the mean of P@10 over all runs stays
    relevant, other = counts
    found = filled(0.5 * relevant / other, 0.5)
    covered = (found["filled_change_low"] <= 0) & (found["filled_change_high"] >= 0)
    assert covered.sum() >= 95
    assert abs(found["filled_change"].mean()) < 3 * found["filled_change"].std() / SEEDS**0.5
    # zero filling is wrong all the same
    assert (found["removed_change_high"] < 0).all()


@pytest.mark.parametrize(("alarms", "misses", "sign"), [(0.3, 0.0, 1), (0.0, 0.6, -1)])
def test_a_planted_bias_is_found(counts, alarms, misses, sign):
    relevant, other = counts
    found = filled(alarms, misses, seeds=20)
    ends = found["filled_change_low"] if sign > 0 else -found["filled_change_high"]
    assert (ends > 0).all()
    # what is planted: so many labels of uniques too many, each worth a tenth of one run on one topic
    planted = (alarms * other - misses * relevant) / (10 * len(TRUTH.topics) * len(RUNS))
    assert found["filled_change"].mean() == pytest.approx(planted, rel=0.07)
