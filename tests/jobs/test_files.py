"""Large arrays of other processes come through files."""

from __future__ import annotations

import errno
import os
import sys

import joblib
import numpy as np
import pytest

from pt_reuse import _job_tasks, _jobs
from pt_reuse._job_tasks import Outcome, Task, run_away, unpacked, value_of
from pt_reuse._jobs import folder_for_jobs, temporary_folder
from pt_reuse.errors import InputError

LARGE = np.random.default_rng(1).random((70, 300)).T  # not in the order of C
VALUE = {"large": LARGE, "more": np.arange(100_003, dtype=np.int32), "small": np.arange(5), "none": np.zeros((0, 3))}


class Returns:
    def __init__(self, value):
        self.value = value

    def run(self):
        return self.value


class Generates:
    def run(self):
        return (n for n in range(3))


def done(value, folder):
    return run_away(Task(Returns(value), "number 1 of 1"), str(folder))


def test_large_arrays_go_through_one_file(tmp_path):
    path = done(VALUE, tmp_path)
    assert [str(path) for path in tmp_path.iterdir()] == [path]
    found = unpacked(path).value
    assert list(tmp_path.iterdir()) == []
    assert found.keys() == VALUE.keys()
    for name, array in VALUE.items():
        assert np.array_equal(found[name], array)
        assert found[name].dtype == array.dtype
        assert found[name].flags.writeable


@pytest.mark.parametrize("value", [{"small": 5}, LARGE, "text", None])
def test_what_is_small_or_no_arrays_by_name_is_sent_as_it_is(value, tmp_path):
    assert np.array_equal(unpacked(done(value, tmp_path)).value, value)
    assert list(tmp_path.iterdir()) == []


def test_on_a_full_disk_arrays_are_sent_as_they_are(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(_job_tasks.os, "fdopen", full)
    assert np.array_equal(unpacked(done(VALUE, tmp_path)).value["large"], LARGE)
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_sent_back_is_told(tmp_path):
    outcome = unpacked(run_away(Task(Generates(), "number 1 of 1"), str(tmp_path)))
    assert isinstance(outcome.error, InputError)
    value = {**VALUE, "defined here": lambda: 7}
    assert unpacked(done(value, tmp_path)).value["defined here"]() == 7


def test_a_folder_that_cannot_be_written_to_is_told(tmp_path):
    missing = pytest.raises(InputError, match="missing")
    with joblib.parallel_config(temp_folder=str(tmp_path / "missing")), missing, folder_for_jobs():
        pass


@pytest.mark.parametrize("kind", [str, lambda path: path])
def test_the_folder_is_the_one_that_joblib_is_told(kind, tmp_path):
    with joblib.parallel_config(temp_folder=kind(tmp_path)), folder_for_jobs() as folder:
        assert [str(path) for path in tmp_path.iterdir()] == [folder]
    assert list(tmp_path.iterdir()) == []
    with joblib.parallel_config(temp_folder="~"):
        assert temporary_folder() == os.path.expanduser("~")


def test_a_file_that_is_not_here_either_is_the_jobs_own_error(tmp_path):
    error = FileNotFoundError(2, "No such file or directory", str(tmp_path / "store"))
    failed = Outcome(error=error, trace="elsewhere", absent=str(tmp_path / "store"), host="other")
    with pytest.raises(FileNotFoundError, match="store"):
        value_of(failed, set())


# what a killed caller leaves: its folders go with the next call


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
