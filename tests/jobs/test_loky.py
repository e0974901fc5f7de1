from __future__ import annotations

import joblib
import pytest
from job_checks import AnyDeaths, AnyProcesses, assert_interrupted


# loky's own thread may stumble over a result that comes while its workers are ended
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
class TestLoky(AnyProcesses, AnyDeaths):
    @pytest.fixture(autouse=True)
    def _configured(self):
        with joblib.parallel_config("loky", n_jobs=2):
            yield


def test_an_interruption_ends_lokys_workers(tmp_path):
    assert_interrupted("with joblib.parallel_config('loky', n_jobs=2):\n    work()", tmp_path)
