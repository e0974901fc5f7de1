from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import job_checks
import joblib
import numpy as np
import psutil
import pytest
from job_checks import AnyProcesses, alone, done
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


#: jobs of a minute each; what is begun in the background may not hear the signal
SCRIPT = """
import signal, sys
from pathlib import Path
import joblib
from pt_reuse._jobs import run_jobs
from toy_jobs import Noted
signal.signal(signal.SIGINT, signal.default_int_handler)
if __name__ == "__main__":
    jobs = (Noted(number, Path(sys.argv[1]), 60.0) for number in range(9))
    with joblib.parallel_config("loky", n_jobs=2):
        list(run_jobs(jobs, 9, desc="toys", unit="toy", n_jobs=None, verbose=False))
"""


def test_an_interruption_ends_lokys_workers_and_no_further_job_begins(tmp_path):
    marks, script = tmp_path / "marks", tmp_path / "script.py"
    marks.mkdir()
    script.write_text(SCRIPT)
    paths = os.pathsep.join([str(Path(job_checks.__file__).parent), *filter(None, sys.path)])
    process = subprocess.Popen(
        [sys.executable, str(script), str(marks)],
        env={**os.environ, "PYTHONPATH": paths}, cwd=tmp_path, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        while len(list(marks.iterdir())) < 2:
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.05)
        children = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=30)[1]
    finally:
        process.kill()
    assert "KeyboardInterrupt" in said
    _, left = psutil.wait_procs(children, timeout=20)
    for child in left:
        child.kill()
    assert left == []
    assert len(list(marks.iterdir())) == 2
