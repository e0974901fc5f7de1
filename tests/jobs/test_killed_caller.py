"""What a killed caller leaves: its folders go with the next call."""

from __future__ import annotations

import os
import sys

import joblib
import pytest

from pt_reuse import _jobs
from pt_reuse._jobs import folder_for_jobs


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
