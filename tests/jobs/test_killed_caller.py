"""What a killed caller leaves: its workers end by themselves, and its folders go with the next call."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import joblib
import psutil
import pytest

from pt_reuse import _files, _job_files
from pt_reuse._files import Alone
from pt_reuse._job_files import folder_for_jobs

pytestmark = pytest.mark.skipif(os.name != "posix", reason="a process of Windows is told nothing of its parent")
CALL = """
import sys
import joblib
from pt_reuse._jobs import run_jobs
from toy_jobs import Leaves
with joblib.parallel_config("loky", temp_folder=sys.argv[1]):
    list(run_jobs((Leaves(n, sys.argv[2]) for n in range(50)), 50, desc="", unit="", n_jobs=2, verbose=False))
"""


def alive(pid):
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def waited_for(what, seconds=60):
    end = time.monotonic() + seconds
    while not (found := what()) and time.monotonic() < end:
        time.sleep(0.05)
    return found


def test_workers_end_and_folders_are_swept(tmp_path):
    temporary, workers = tmp_path / "temporary", tmp_path / "workers"
    temporary.mkdir()
    workers.mkdir()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    callers = [
        subprocess.Popen([sys.executable, "-c", CALL, str(temporary), str(workers)], env=environment) for _ in range(2)
    ]
    try:
        assert waited_for(lambda: len(os.listdir(workers)) == 4), "no workers began"
        left = os.listdir(temporary)
        assert len(left) == 2
        with joblib.parallel_config(temp_folder=str(temporary)), folder_for_jobs() as mine:
            # of callers that live
            assert set(os.listdir(temporary)) == {*left, Path(mine).name}
    finally:
        for caller, how in zip(callers, (signal.SIGKILL, signal.SIGTERM), strict=True):
            caller.send_signal(how)
            caller.wait()
    assert waited_for(lambda: not any(alive(int(name)) for name in os.listdir(workers))), "workers live on"
    assert sorted(os.listdir(temporary)) == sorted(left)
    with joblib.parallel_config(temp_folder=str(temporary)), folder_for_jobs() as mine:
        assert os.listdir(temporary) == [Path(mine).name]
    assert os.listdir(temporary) == []
    if os.path.isdir("/dev/shm"):
        names = [f"-{caller.pid}-" for caller in callers]
        assert waited_for(lambda: not any(name in file for file in os.listdir("/dev/shm") for name in names))


@pytest.fixture
def temporary(tmp_path):
    with joblib.parallel_config(temp_folder=str(tmp_path)):
        yield tmp_path


def left_behind(folder):
    path = folder / f"{_job_files._PREFIX}abc"
    path.mkdir()
    (path / "block").write_bytes(b"half")
    return path


def test_only_free_folders_of_this_user_go(temporary, monkeypatch):
    (temporary / f"{_job_files._PREFIX}file").write_text("mine")
    (temporary / "pt_reuse-mine").mkdir()
    (temporary / "pt_reuse-jobs-00000000-elsewhere").mkdir()
    (temporary / f"{_job_files._PREFIX}link").symlink_to(temporary / "pt_reuse-mine")
    kept = sorted(os.listdir(temporary))
    left = left_behind(temporary)
    with monkeypatch.context() as patched:
        patched.setattr(os, "getuid", lambda: -1)
        with folder_for_jobs():
            assert left.exists()
    with monkeypatch.context() as patched:
        patched.setitem(sys.modules, "fcntl", None)
        with folder_for_jobs() as first, folder_for_jobs() as second:
            # without locks nobody knows
            assert all(map(os.path.isdir, (left, first, second)))
    with folder_for_jobs() as first:
        assert not left.exists()
        with folder_for_jobs():
            assert os.path.isdir(first)
    assert sorted(os.listdir(temporary)) == kept


@pytest.mark.parametrize("swept", ["before it is locked", "while it is locked"])
def test_a_folder_that_is_swept_too_early_is_made_anew(swept, temporary, monkeypatch):
    original, times = _files.alone, []

    class Overtaken:
        def __init__(self, folder):
            self.folder, self.inner = folder, original(folder)

        def __enter__(self):
            times.append(self.folder)
            if len(times) > 1:
                return self.inner.__enter__()
            if swept == "while it is locked":
                return Alone.NO
            os.rmdir(self.folder)
            raise FileNotFoundError

        def __exit__(self, *raised):
            return self.inner.__exit__(*raised) if len(times) > 1 and self.folder != times[0] else None

    monkeypatch.setattr(_job_files, "alone", Overtaken)
    with folder_for_jobs() as folder:
        assert os.listdir(temporary) == [Path(folder).name]
        assert Path(folder) != times[0]
    assert os.listdir(temporary) == []
