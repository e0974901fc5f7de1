"""What every backend must do with jobs; the test module of each inherits it, under its own configuration of joblib."""

from __future__ import annotations

import os
import warnings

import numpy as np
import pyterrier as pt
import pytest
from job_studies import STUDIES, study_alone
from same import assert_same
from toy_jobs import Draws, Dying, Warned, Where, Wrong, assert_small

from pt_reuse._jobs import run_jobs
from pt_reuse.errors import InputError, ReuseWarning


def done(jobs, **options):
    """Return what comes of jobs, as the configuration says."""
    jobs = list(jobs)
    options = {"n_jobs": None, "verbose": False, **options}
    return list(run_jobs(iter(jobs), len(jobs), desc="toys", unit="toy", **options))


def alone(jobs):
    """Return what comes of jobs in this process."""
    return [job.run() for job in jobs]


class AnyBackend:
    """Tests of a backend with two workers."""

    processes = True
    studies = ("stability",)

    def test_results_come_in_order_and_are_those_of_one_process(self):
        jobs = [Draws(number, 0.02 * (number % 3 == 0)) for number in range(40)]
        assert np.array_equal(done(jobs), alone(jobs))
        assert_small(jobs[0], 200)
        assert done([]) == []

    def test_jobs_run_where_they_should(self):
        found = set(done(map(Where, range(8))))
        assert (os.getpid() not in found) is self.processes
        # on a busy machine one worker may do them all
        assert len(found) <= (2 if self.processes else 1)

    def test_the_bar_counts_every_job_once(self, monkeypatch):
        counted = []

        class Bar(pt.tqdm):
            def __init__(self, **given):
                super().__init__(**given)
                counted.append((given, self))

        monkeypatch.setattr(pt, "tqdm", Bar)
        assert len(done(map(Draws, range(20)), verbose=True)) == 20
        ((given, bar),) = counted
        assert (given["total"], given["desc"], given["unit"], given["disable"], bar.n) == (20, "toys", "toy", False, 20)

    @pytest.mark.parametrize("kind", ["input", "odd"])
    def test_an_error_says_what_it_says_in_one_process(self, kind):
        self.check_error(kind)

    def check_error(self, kind):
        with pytest.raises(Exception) as expected:
            done([Wrong(number, kind) for number in range(6)], n_jobs=1)
        with pytest.raises(Exception) as caught:
            done(Wrong(number, kind) for number in range(6))
        error = caught.value
        if kind == "odd":
            # some libraries can send it and some cannot
            assert str(error).endswith("alpha 2")
        else:
            assert (type(error), str(error)) == (type(expected.value), str(expected.value))
        assert str(error).startswith("topics '101' to '116' of runs/blocks-3: ")
        if kind == "input":
            assert error.argument == "depth"
            assert error.place == "topics '101' to '116' of runs/blocks-3"
        elif self.processes:
            assert "in run\n" in str(error.__cause__)
        # what is done next is not disturbed
        assert done(map(Draws, range(3)))[2].tolist() == Draws(2).run().tolist()

    @pytest.mark.filterwarnings("ignore::pt_reuse.ReuseWarning")
    def test_studies_find_what_they_find_in_one_process(self):
        for name in self.studies:
            assert_same(STUDIES[name](n_jobs=None), study_alone(name))

    def test_a_warning_of_many_jobs_is_given_once(self):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert done(map(Warned, range(6))) == list(range(6))
        ours = [warning for warning in caught if warning.category is ReuseWarning]
        assert [str(warning.message) for warning in ours] == ["odd but usable."]
        assert ours[0].filename == __file__

    def test_a_warning_that_is_to_be_an_error_is_one(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(ReuseWarning):
                done(map(Warned, range(6)))


class AnyProcesses(AnyBackend):
    """Tests of a backend of processes."""

    def test_workers_that_die_are_told(self, tmp_path):
        with pytest.raises(InputError, match=r"workers died.* do fewer jobs at a time") as caught:
            done(Dying(number, tmp_path) for number in range(12))
        assert caught.value.__cause__ is not None
        assert done(map(Draws, range(3)))[2].tolist() == Draws(2).run().tolist()

    def test_a_job_that_cannot_be_sent_is_told(self):
        jobs = [Draws(number, seconds=(_ for _ in ())) for number in range(3)]
        with pytest.raises(InputError, match=r"cannot be sent to another process: .*generator.* Use threads"):
            done(jobs)
