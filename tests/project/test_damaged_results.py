"""Saves that are killed, and folders that hold no result, or a damaged one."""

from __future__ import annotations

import io
import json
import os
import sys
import tracemalloc
import zipfile

import numpy as np
import pandas as pd
import pytest
from forking import fork, kill_oneself
from saved_parts import Numbered, whole

from pt_reuse._files import UNDO, machine
from pt_reuse._saving import ARRAYS, CONTENTS, digests_of, files_of, read_result
from pt_reuse.errors import InputError
from pt_reuse.result import Result

# folders that are no result


@pytest.fixture
def folder(tmp_path):
    whole().save(tmp_path / "saved")
    return tmp_path / "saved"


def change(folder, table=None, **changes):
    """Change its contents and its table; the digests are those of the files as they are."""
    contents = json.loads((folder / CONTENTS).read_text()) | changes
    contents["fields"]["table"].update(table or {})
    contents["files"] = digests_of({name: (folder / name).read_bytes() for name in contents["files"]})
    (folder / CONTENTS).write_text(json.dumps(contents))


@pytest.mark.parametrize("name", ["table.csv", "odd name.csv", "derived.csv", "settings.json", ARRAYS])
def test_a_file_that_was_altered_is_named(folder, name):
    data = (folder / name).read_bytes()
    for altered in (data[:-2] + bytes([data[-2] ^ 1]) + data[-1:], data + b"\n", data[:-1], b""):
        (folder / name).write_bytes(altered)
        with pytest.raises(InputError) as error:
            read_result(folder)
        assert error.value.place == f"{folder}, {name}"
    (folder / name).unlink()
    with pytest.raises(InputError) as error:
        read_result(folder)
    assert error.value.place == f"{folder}, {name}"


@pytest.mark.parametrize(
    "name", ["{out}/other", "../other/table", "sub/table", "..", "", "link", "pipe", "a\0", "a\\b"]
)
@pytest.mark.skipif(sys.platform == "win32", reason="links and pipes")
def test_a_table_outside_the_folder(folder, name):
    (folder / "sub").mkdir()
    for place in ("other", "saved/sub"):
        whole().save(folder.parent / place)
    (folder / "link.csv").symlink_to(folder.parent / "other" / "table.csv")
    os.mkfifo(folder / "pipe.csv")
    name = name.format(out=folder.parent)
    contents = json.loads((folder / CONTENTS).read_text())
    contents["fields"]["table"]["table"] = name
    contents["files"][f"{name}.csv"] = contents["files"]["table.csv"]
    (folder / CONTENTS).write_text(json.dumps(contents))
    with pytest.raises(InputError):
        read_result(folder)


BILLION = 10**9


def columns(**changes):
    return {"columns": [{"name": "a", "dtype": "object", "cells": [["text", 2]]} | changes]}


@pytest.mark.parametrize(
    "table",
    [
        columns(cells=[["text", BILLION]]),
        columns(cells=[["text", 10**30], ["text", 2 - 10**30]]),
        columns(cells=[["text", -1], ["text", 3]]),
        columns(cells=[["text", 1]]),
        columns(dtype=f"S{BILLION}"),
        columns(cells=[["text", "2"]]),
        {"rows": BILLION},
        {"rows": -1},
        {"rows": BILLION, "columns": []},
    ],
)
def test_counts_that_claim_too_much(tmp_path, table):
    Result(table=pd.DataFrame({"a": ["x", "y"]}), settings={}).save(tmp_path)
    change(tmp_path, table)
    assert refused_in_little_memory(tmp_path)


@pytest.mark.parametrize("dtype", ["<f8", f"<U{BILLION}"])
def test_an_array_that_claims_a_billion_cells(folder, dtype):
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, {"descr": dtype, "fortran_order": False, "shape": (BILLION,)})
    with zipfile.ZipFile(folder / ARRAYS, "w") as archive:
        archive.writestr("values.npy", head.getvalue() + bytes(80))
    change(folder)
    assert refused_in_little_memory(folder)


def refused_in_little_memory(folder):
    tracemalloc.start()
    try:
        with pytest.raises(InputError):
            read_result(folder)
        return tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


def test_no_folder(tmp_path, messages):
    (tmp_path / "file").write_text("")
    (tmp_path / "empty").mkdir()
    for name in ("missing", "file", "empty"):
        messages.refused(lambda name=name: read_result(tmp_path / name), argument="folder", place=f"{{d}}/{name}")
    for odd in (None, "", "a\0b"):
        messages.refused(lambda odd=odd: read_result(odd), argument="folder")


def without_table(contents):
    return {name: value for name, value in contents["fields"].items() if name != "table"}


@pytest.mark.parametrize(
    "changed",
    [
        lambda contents: {"format": 99},
        lambda contents: {"kind": "Nothing"},
        lambda contents: {"fields": without_table(contents)},
        lambda contents: {"fields": {**contents["fields"], "table_of_old": 1}},
        lambda contents: {"fields": {"new": 2, **without_table(contents)}},
    ],
)
def test_a_record_of_another_version(folder, messages, changed):
    contents = json.loads((folder / CONTENTS).read_text())
    (folder / CONTENTS).write_text(json.dumps({**contents, **changed(contents)}))
    messages.refused(lambda: read_result(folder), place="{d}/saved")


@pytest.mark.parametrize("damage", ["[]", "{", "null", '{"format": 1}', '{"format": "1", "kind": 2, "fields": []}'])
def test_damaged_contents(folder, damage, messages):
    (folder / CONTENTS).write_text(damage)
    messages.refused(lambda: read_result(folder), argument="folder")


def test_arrays_are_never_unpickled(folder):
    np.savez(folder / ARRAYS, values=np.array([{}], dtype=object))
    change(folder)
    with pytest.raises(InputError):
        read_result(folder)


def test_what_cannot_be_written_leaves_the_result_as_it_was(messages, folder, monkeypatch):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}

    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pt_reuse._files.os.replace", full)
    messages.refused(lambda: whole().save(folder, overwrite=True), argument="folder")
    monkeypatch.undo()
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def killed_at_rename(number, save):
    """Save in a process that kills itself at a rename; return whether there was such a one."""
    worker = fork()
    if not worker:
        replace, done = os.replace, []

        def rename(*arguments):
            done.append(arguments)
            if len(done) == number:
                kill_oneself()
            replace(*arguments)

        os.replace = rename
        try:
            save()
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(worker, 0)[1])


@pytest.mark.skipif(sys.platform == "win32", reason="no kills")
@pytest.mark.parametrize("links", [True, False])
@pytest.mark.parametrize("then", [None, Numbered.of(6), Numbered.of(9)])
def test_a_save_that_is_killed_at_any_rename_leaves_the_result_before(tmp_path, then, links, monkeypatch):
    if not links:
        monkeypatch.setattr("os.link", no_links)
    for number in range(1, 99):
        folder = tmp_path / str(number)
        Numbered.of(8 + number % 2).save(folder)
        before = {path.name: path.read_bytes() for path in folder.iterdir()}
        was_killed = killed_at_rename(number, lambda folder=folder: Numbered.of(4).save(folder, overwrite=True))
        if not was_killed:
            break
        if then is not None:
            (folder / "mine.csv").write_bytes(b"of the user")
            then.save(folder, overwrite=True)
            assert read_result(folder).numbers() == {then.number}
            before = {name: b"" for name in files_of(then, {})} | {"mine.csv": b""}
            assert {path.name for path in folder.iterdir()} == set(before)
        else:
            assert read_result(folder).numbers() == {8 + number % 2}
            assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert number > 4


def no_links(*_arguments, **_options):
    raise PermissionError(1, "Operation not permitted")


@pytest.mark.parametrize("cell", [b"x", [1], 1j, "a\ud800"], ids=["bytes", "list", "complex", "surrogate"])
def test_a_cell_that_cannot_be_saved(cell, tmp_path, messages):
    cells = np.empty(1, dtype=object)
    cells[0] = cell
    messages.refused(
        Result(table=pd.DataFrame({"a": pd.Series(cells, dtype=object)}), settings={}).save, folder=tmp_path / "new"
    )
    assert not (tmp_path / "new").exists()


def test_what_a_folder_says_is_to_be_put_back_stays_in_it(tmp_path):
    """Somebody else's folder may hold a temporary one that names files outside of it."""
    folder, mine = tmp_path / "given", tmp_path / "mine"
    Numbered.of(9).save(folder)
    mine.write_bytes(b"of the user")
    stage = folder / f".pt_reuse-{machine()}-{'0' * 16}"
    stage.mkdir()
    (stage / UNDO).write_bytes(os.fsencode(f"../mine\0{mine}\0.."))
    (stage / "was-0").write_bytes(b"of another")
    assert read_result(folder).settings == read_result(folder).settings
    assert mine.read_bytes() == b"of the user"
    assert not stage.exists()
