"""The folder in which files for workers lie."""

from __future__ import annotations

import os

import joblib
import pytest

from pt_reuse._jobs import folder_for_jobs
from pt_reuse.errors import InputError


def test_a_folder_that_cannot_be_written_to_is_told(tmp_path):
    missing = pytest.raises(InputError, match="missing")
    with joblib.parallel_config(temp_folder=str(tmp_path / "missing")), missing, folder_for_jobs():
        pass


@pytest.mark.parametrize("kind", [str, lambda path: path])
def test_the_folder_is_the_one_that_joblib_is_told(kind, tmp_path):
    with joblib.parallel_config(temp_folder=kind(tmp_path)), folder_for_jobs() as first, folder_for_jobs() as second:
        assert first != second
        assert all(os.path.dirname(os.path.dirname(folder)) == str(tmp_path) for folder in (first, second))
        # nobody else may look into it
        assert os.stat(first).st_mode & 0o077 == 0
    assert list(tmp_path.iterdir()) == []
