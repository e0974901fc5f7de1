"""Draws of rankings in jobs give the bits that they give in one process, and small ones do not ask joblib."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from joblib import parallel_config

from pt_reuse.arrays import bootstrap
from pt_reuse.arrays.bootstrap import TopicBootstrap, TopicScores, ranking_agreement, ranking_agreements

random = np.random.default_rng(4)
TRUTH = TopicScores(random.random((7, 9)).round(1))
ESTIMATES = [TopicScores((TRUTH.values + random.random((7, 9)) / 2).round(1)) for _ in range(3)]


@pytest.fixture
def small_jobs(monkeypatch):
    """Have few rankings in a job, and note how many jobs are run at a time, and for whom."""
    ran = []

    def noted(jobs, total, **options):
        found = list(run_jobs(jobs, total, **options))
        ran.append((total, len(found), options["n_jobs"]))
        return iter(found)

    run_jobs = bootstrap.run_jobs
    monkeypatch.setattr(bootstrap, "JOB_CELLS", 90)
    monkeypatch.setattr(bootstrap, "run_jobs", noted)
    return ran


def several(n_jobs=None):
    compared = ((TRUTH, estimate) for estimate in ESTIMATES)
    return list(ranking_agreements(compared, 3, TopicBootstrap(47, 3, 0.9, n_jobs)))


def test_several_are_what_each_is_alone():
    assert several(1) == [ranking_agreement(TRUTH, estimate, TopicBootstrap(47, 3, 0.9)) for estimate in ESTIMATES]
    assert list(ranking_agreements([], 0, TopicBootstrap(47, 3, 0.9))) == []
    plain = list(ranking_agreements([(TRUTH, estimate) for estimate in ESTIMATES], 3, None))
    assert plain == [ranking_agreement(TRUTH, estimate) for estimate in ESTIMATES]


def test_jobs_and_backends_give_the_same_bits(small_jobs):
    alone = several(1)
    assert small_jobs == []
    assert several(2) == alone
    assert small_jobs == [(3, 3, 2)]
    for backend in ("threading", "loky"):
        with parallel_config(backend, n_jobs=2):
            assert several() == alone
    assert small_jobs[1:] == [(3, 3, None)] * 2


def test_blocks_of_draws_are_cut_each_on_its_own(small_jobs, monkeypatch):
    monkeypatch.setattr("pt_reuse.arrays.bootstrap.AT_ONCE", 7 * 12)
    alone = several(1)
    assert several(2) == alone


@pytest.mark.parametrize("n_jobs", [1, None])
def test_joblib_is_not_even_imported_for_few_draws(n_jobs):
    code = (
        "import sys, numpy as np\n"
        "from pt_reuse.arrays.bootstrap import TopicScores, ranking_agreement\n"
        "from pt_reuse.arrays.bootstrap import TopicBootstrap\n"
        "scores = TopicScores(np.random.default_rng(1).random((5, 4)))\n"
        f"ranking_agreement(scores, scores, TopicBootstrap(20, 1, 0.9, {n_jobs}))\n"
        "print('joblib' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
