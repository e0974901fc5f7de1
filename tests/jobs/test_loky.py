from __future__ import annotations

import joblib
import numpy as np
import pytest
from job_checks import AnyProcesses, alone, assert_interrupted, done
from job_studies import STUDIES
from toy_jobs import Draws

from pt_reuse._jobs import run_jobs


# loky's own thread may stumble over a result that comes while its workers are ended
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
class TestLoky(AnyProcesses):
    studies = tuple(STUDIES)

    @pytest.fixture(autouse=True)
    def _configured(self):
        with joblib.parallel_config("loky", n_jobs=2):
            yield


def test_jobs_go_on_when_a_call_inside_of_them_ends():
    def results():
        return run_jobs(map(Draws, range(20)), 20, desc="toys", unit="toy", n_jobs=2, verbose=False)

    with joblib.parallel_config("loky"):
        outer = results()
        found = [next(outer)]
        assert len(list(results())) == 20
        found += outer
    assert np.array_equal(found, alone(map(Draws, range(20))))


def test_no_folder_is_needed(tmp_path):
    with joblib.parallel_config("loky", n_jobs=2, temp_folder=str(tmp_path / "missing")):
        assert len(done(map(Draws, range(3)))) == 3


def test_an_interruption_ends_lokys_workers(tmp_path):
    assert_interrupted("with joblib.parallel_config('loky', n_jobs=2):\n    work()", tmp_path)
