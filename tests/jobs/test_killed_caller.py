"""What a killed caller leaves: its workers end by themselves, and its folders go with the next call."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import joblib
import psutil
import pytest

from pt_reuse import _jobs
from pt_reuse._jobs import folder_for_jobs

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


def test_workers_end_and_folders_are_swept(tmp_path, monkeypatch):
    monkeypatch.setattr(_jobs, "_UNLOCKED", 0)
    temporary, workers = tmp_path / "temporary", tmp_path / "workers"
    temporary.mkdir()
    workers.mkdir()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    caller = subprocess.Popen([sys.executable, "-c", CALL, str(temporary), str(workers)], env=environment)
    try:
        assert waited_for(lambda: len(os.listdir(workers)) == 2), "no workers began"
        left = os.listdir(temporary)
        assert len(left) == 1
        with joblib.parallel_config(temp_folder=str(temporary)), folder_for_jobs() as mine:
            # of a caller that lives
            assert set(os.listdir(temporary)) == {*left, Path(mine).name}
    finally:
        caller.kill()
        caller.wait()
    assert waited_for(lambda: not any(alive(int(name)) for name in os.listdir(workers))), "workers live on"
    assert sorted(os.listdir(temporary)) == sorted(left)
    with joblib.parallel_config(temp_folder=str(temporary)), folder_for_jobs() as mine:
        assert os.listdir(temporary) == [Path(mine).name]
    assert os.listdir(temporary) == []
    if os.path.isdir("/dev/shm"):
        assert waited_for(lambda: not any(f"-{caller.pid}-" in file for file in os.listdir("/dev/shm")))


@pytest.fixture
def temporary(tmp_path):
    with joblib.parallel_config(temp_folder=str(tmp_path)):
        yield tmp_path


def left_behind(folder):
    path = folder / f"{_jobs._PREFIX}abc"
    path.mkdir()
    (path / "block").write_bytes(b"half")
    return path


def test_only_free_folders_go(temporary, monkeypatch):
    (temporary / f"{_jobs._PREFIX}file").write_text("mine")
    (temporary / "pt_reuse-mine").mkdir()
    (temporary / "pt_reuse-jobs-00000000-elsewhere").mkdir()
    (temporary / f"{_jobs._PREFIX}link").symlink_to(temporary / "pt_reuse-mine")
    kept = sorted(os.listdir(temporary))
    left = left_behind(temporary)
    with folder_for_jobs():
        # it may be one that is about to be locked
        assert left.exists()
    monkeypatch.setattr(_jobs, "_UNLOCKED", 0)
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
