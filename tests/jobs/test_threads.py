from __future__ import annotations

import joblib
import pyterrier as pt
import pytest
from job_checks import AnyBackend, alone, done
from job_studies import STUDIES
from joblib._parallel_backends import ThreadingBackend
from toy_jobs import Draws, Where

from pt_reuse._jobs import JobPlace, _configured
from pt_reuse.errors import InputError


class TestThreads(AnyBackend):
    processes = False
    studies = tuple(STUDIES)

    @pytest.fixture(autouse=True)
    def _configured(self):
        with joblib.parallel_config("threading", n_jobs=2):
            yield

    @pytest.mark.parametrize("kind", ["text", "key"])
    def test_errors_of_others_say_what_they_say_in_one_process(self, kind):
        self.check_error(kind)


class Listing(ThreadingBackend):
    """A backend of somebody's own, which can only say when all is done."""

    supports_retrieve_callback = False


class TestAnotherBackend(AnyBackend):
    processes = False

    @pytest.fixture(autouse=True)
    def _configured(self):
        joblib.register_parallel_backend("listing", Listing)
        with joblib.parallel_config("listing", n_jobs=2):
            yield


def test_the_number_of_jobs_is_obeyed_where_threads_are_preferred():
    begun = []

    class Kept(ThreadingBackend):
        def configure(self, n_jobs=1, **given):
            begun.append(n_jobs)
            return super().configure(n_jobs, **given)

    joblib.register_parallel_backend("kept", Kept)
    with joblib.parallel_config("kept", n_jobs=3):
        done(map(Draws, range(3)), prefer="threads")
    assert begun == [3]
    # joblib alone takes 1 here
    with joblib.parallel_config(n_jobs=2):
        assert _configured(None, "threads")[:2] == (JobPlace.THREADS, 2)


def test_one_job_at_a_time_needs_no_other_process():
    with joblib.parallel_config("loky", n_jobs=2):
        assert len(set(done(map(Where, range(3)), n_jobs=1))) == 1
    jobs = [Draws(number) for number in range(3)]
    assert [list(draws) for draws in done(jobs)] == [list(draws) for draws in alone(jobs)]


def test_a_copied_process_with_a_java_machine_is_refused(monkeypatch):
    monkeypatch.setattr(pt.java, "started", lambda: True)
    with joblib.parallel_config("multiprocessing", n_jobs=2), pytest.raises(InputError, match=r"hangs .*'loky'"):
        done(map(Draws, range(3)))
