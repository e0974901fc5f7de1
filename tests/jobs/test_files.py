"""Large arrays of other processes come through files."""

from __future__ import annotations

import errno
import os
import pickle
from weakref import WeakSet

import joblib
import numpy as np
import pytest

from pt_reuse import _job_files
from pt_reuse._errors import Circumstances, InputError
from pt_reuse._job_files import Parcel, folder_for_jobs, folder_for_results, run_packing, temporary_folder
from pt_reuse._job_tasks import Outcome, Place, Task

LARGE = np.random.default_rng(1).random((70, 300)).T  # not in the order of C
VALUE = {"large": LARGE, "more": np.arange(100_003, dtype=np.int32), "small": np.arange(5), "none": np.zeros((0, 3))}


class Returns:
    def __init__(self, value):
        self.value = value

    def run(self):
        return self.value


def packed(value, folder):
    return run_packing(Task(Returns(value), 1, 1, Circumstances.now(), Place.here()), str(folder))


def test_large_arrays_go_through_one_file(tmp_path):
    parcel = packed(VALUE, tmp_path)
    assert isinstance(parcel, Parcel)
    assert len(list(tmp_path.iterdir())) == 1
    sent = pickle.dumps(parcel)
    assert len(sent) < 5_000
    found = pickle.loads(sent).opened()
    assert list(tmp_path.iterdir()) == []
    assert found.value.keys() == VALUE.keys()
    for name, array in VALUE.items():
        assert np.array_equal(found.value[name], array)
        assert found.value[name].dtype == array.dtype
    found.value["large"][0, 0] = 7
    assert found.value["large"][0, 0] == 7


@pytest.mark.parametrize("value", [{"small": np.arange(5)}, LARGE, "text", None])
def test_what_is_small_or_no_arrays_by_name_is_sent_as_it_is(value, tmp_path):
    found = packed(value, tmp_path)
    assert isinstance(found, Outcome)
    assert found.value is value
    assert list(tmp_path.iterdir()) == []


def test_on_a_full_disk_arrays_are_sent_as_they_are(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(_job_files, "_pages", full)
    found = packed(VALUE, tmp_path)
    assert isinstance(found, Outcome)
    assert found.value is VALUE
    assert list(tmp_path.iterdir()) == []


def test_results_that_are_kept_hold_few_files_open(tmp_path, monkeypatch):
    monkeypatch.setattr(_job_files, "_MAPPED", mapped := WeakSet())
    monkeypatch.setattr(_job_files, "_MOST_MAPPED", 3)
    value = {str(i): np.full(9_000, i) for i in range(5)}
    kept = [packed(value, tmp_path).opened().value for _ in range(20)]
    assert len(mapped) == 3
    for found in kept:
        assert all(np.array_equal(found[name], value[name]) for name in value)
        assert all(array.flags.writeable for array in found.values())
    assert list(tmp_path.iterdir()) == []
    del kept, found
    assert len(mapped) == 0


def test_what_pickle_cannot_send_is_left_to_loky(tmp_path):
    value = {**VALUE, "defined here": lambda: 0}
    assert packed(value, tmp_path).value is value
    assert list(tmp_path.iterdir()) == []


def test_without_a_folder_arrays_are_sent_as_they_are(tmp_path):
    with joblib.parallel_config(temp_folder=str(tmp_path / "missing")), folder_for_results() as folder:
        assert folder is None
        with pytest.raises(InputError, match=r"cannot be written to: .*missing \(No such file"):
            folder_for_jobs()
    found = run_packing(Task(Returns(VALUE), 1, 1, Circumstances.now(), Place.here()), None)
    assert found.value is VALUE


@pytest.mark.parametrize("kind", [str, lambda path: path])
def test_the_folder_is_the_one_that_joblib_is_told(kind, tmp_path):
    with joblib.parallel_config(temp_folder=kind(tmp_path)), folder_for_results() as folder:
        assert [str(path) for path in tmp_path.iterdir()] == [folder]
    assert list(tmp_path.iterdir()) == []
    with joblib.parallel_config(temp_folder="~"):
        assert temporary_folder() == os.path.expanduser("~")
