"""Where the run files of a collection are found on this machine."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from collection_parts import offline, write_run

import pt_reuse as ptr
from pt_reuse.collections import registry, run_files
from pt_reuse.collections.run_files import file_names, find_run_files, folders_of


def test_file_names():
    assert file_names("a")[:3] == ["input.a.gz", "input.a", "input.a.bz2"]
    assert "a.zst" in file_names("a")


@pytest.mark.parametrize(
    "where", ["trec-8/adhoc/runs/input.1.gz", "trec-8/adhoc/1", "trec8-adhoc/inputs/input.1", "trec8/adhoc/1.gz"]
)
def test_layouts(home, where):
    write_run(home / where, "1")
    assert offline().get_runs(names="1").names == ["1"]


def test_a_folder_given_is_the_only_one_looked_at(messages, trec8_home, tmp_path):
    write_run(tmp_path / "mine" / "INQ604", "other-tag")
    assert offline().get_runs(runs=tmp_path / "mine", missing="ignore").names == ["INQ604"]
    messages.refused(lambda: offline().get_runs(runs=tmp_path / "nowhere"))
    messages.refused(lambda: offline().get_runs(runs=tmp_path / "mine", names="1"))


def test_a_second_place_is_only_read(home, tmp_path, monkeypatch):
    monkeypatch.setenv("PT_REUSE_DATA", str(tmp_path / "data"))
    write_run(tmp_path / "data" / "trec8-adhoc" / "inputs" / "input.1.gz", "1")
    write_run(home / "trec-8" / "adhoc" / "runs" / "1", "1", topics=("401",))
    collection = registry.find_collection("trec-8/adhoc")
    assert find_run_files(collection, ["1", "INQ604"]) == {"1": home / "trec-8" / "adhoc" / "runs" / "1"}
    assert tmp_path / "data" / "trec8-adhoc" / "inputs" in folders_of(collection)


def test_two_files_of_one_run_are_told(messages, trec8_home):
    write_run(trec8_home / "trec-8" / "adhoc" / "runs" / "1", "1")
    messages.warned(lambda: offline().get_runs(names="1"))


def test_the_same_run_in_two_places(messages, home):
    write_run(home / "trec-8" / "adhoc" / "runs" / "input.1", "1")
    write_run(home / "trec8-adhoc" / "inputs" / "input.1", "1")
    assert offline().get_runs(names="1").names == ["1"]
    write_run(home / "trec8-adhoc" / "inputs" / "input.1", "1", topics=("401",))
    messages.warned(lambda: offline().get_runs(names="1"))


def test_links_in_a_circle_keep_nobody_from_the_others(messages, trec8_home):
    folder = trec8_home / "trec-8" / "adhoc" / "runs"
    (folder / "input.INQ603.gz").symlink_to(folder / "input.INQ603.gz")
    assert offline().get_runs(names="INQ604").names == ["INQ604"]
    messages.refused(lambda: offline().get_runs(names="INQ603"))


def test_a_folder_that_may_not_be_looked_into(messages, trec8_home, monkeypatch):
    closed = trec8_home / "trec-8" / "adhoc" / "runs"

    def scandir(path, really=os.scandir):
        if Path(path) == closed:
            raise PermissionError(13, "Permission denied", str(path))
        return really(path)

    monkeypatch.setattr(run_files.os, "scandir", scandir)
    table = messages.warned(lambda: ptr.list_collections("trec-8 ad hoc"))
    assert table["here"].tolist() == [0]
