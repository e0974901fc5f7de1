from __future__ import annotations

from contextlib import nullcontext

import joblib
import numpy as np
import pytest
from job_checks import AnyDeaths, AnyProcesses, alone, assert_interrupted, done
from job_studies import STUDIES
from toy_jobs import Draws

from pt_reuse._jobs import run_jobs


# loky's own thread may stumble over a result that comes while its workers are ended
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
class TestLoky(AnyProcesses, AnyDeaths):
    studies = tuple(STUDIES)

    @pytest.fixture(autouse=True)
    def _configured(self):
        with joblib.parallel_config("loky", n_jobs=2):
            yield


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize(("whole", "configured"), [(True, joblib.parallel_config), (False, nullcontext)])
def test_jobs_go_on_when_a_call_beside_them_ends(whole, configured):
    def results():
        return run_jobs(map(Draws, range(20)), 20, desc="toys", unit="toy", n_jobs=2, verbose=False)

    with configured("loky"):
        outer, inner = results(), results()
        found = [next(outer)]
        next(inner)
        if whole:
            assert len(list(inner)) == 19
        inner.close()
        found += outer
    assert np.array_equal(found, alone(map(Draws, range(20))))


def test_no_folder_is_needed(tmp_path):
    with joblib.parallel_config("loky", n_jobs=2, temp_folder=str(tmp_path / "missing")):
        assert len(done(map(Draws, range(3)))) == 3


def test_an_interruption_ends_lokys_workers(tmp_path):
    assert_interrupted("with joblib.parallel_config('loky', n_jobs=2):\n    work()", tmp_path)
