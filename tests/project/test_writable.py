"""Whether files can be written is found out by trying, and the disk stays as it was."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pandas as pd
import pytest

from pt_reuse._files import check_writable
from pt_reuse.result import Result

FILES = ["table.csv", "settings.json"]


def check(folder, *, overwrite=False):
    check_writable(Path(folder), FILES, overwrite=overwrite, argument="folder")


def contents(folder):
    return {path: path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "other").write_text("mine")
    (tmp_path / "odd" / "table.csv").mkdir(parents=True)
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "table.csv").write_text("mine")
    (tmp_path / "file").write_text("mine")
    (tmp_path / "lost").symlink_to(tmp_path / "nowhere")
    return tmp_path


@pytest.mark.parametrize("name", ["", "here", "new", "new/deep/er", "new/../newer"])
def test_what_can_be_written_leaves_nothing(name, folder, monkeypatch):
    before = contents(folder)
    check(folder / name)
    monkeypatch.chdir(folder)
    check(name)
    assert contents(folder) == before


@pytest.mark.parametrize("name", ["file", "file/new", "taken", "odd", "lost", "new/" + "x" * 300 + "/deep"])
def test_what_cannot_be_written_leaves_nothing(name, folder, messages):
    before = contents(folder)
    messages.refused(lambda: check(folder / name), argument="folder")
    result = Result(table=pd.DataFrame({"a": [1]}), settings={})
    messages.refused(lambda: result.save(folder / name), argument="folder")
    assert contents(folder) == before


@pytest.mark.parametrize("error", [PermissionError(13, "Permission denied"), OSError(30, "Read-only file system")])
def test_a_folder_that_lets_nobody_write(error, folder, messages, monkeypatch):
    def refuse(*_, **__):
        raise error

    before = contents(folder)
    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    for name in ("here", "new/deep", "here/new"):
        messages.refused(lambda name=name: check(folder / name), argument="folder")
    assert contents(folder) == before
