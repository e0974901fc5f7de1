"""The cache of a parsed field: used when it fits, read again when not, never wrong."""

from __future__ import annotations

import gzip
import json
import os
import pickle
import shutil
import tempfile
import threading
import warnings

import pytest
from cache_parts import assert_one_field, run_bytes, same

from pt_reuse.arrays.field import Field
from pt_reuse.data import parsing, store
from pt_reuse.data.run_reading import read_runs
from pt_reuse.data.store import HEADER


def parses(monkeypatch):
    """Count the files that are parsed."""
    parsed = []
    original = parsing.read_bytes
    monkeypatch.setattr(parsing, "read_bytes", lambda path: parsed.append(path) or original(path))
    return parsed


def test_second_read_comes_from_the_cache(source, cache, monkeypatch):
    parsed = parses(monkeypatch)
    first = read_runs(source, cache=cache)
    assert len(parsed) == 3
    again = read_runs(source, cache=str(cache), teams={f"run{i}": "A" for i in range(3)})
    assert len(parsed) == 3
    assert same(first, again)
    assert again.teams == ["A"]
    assert first.to_frame().equals(again.to_frame())
    assert isinstance(again.field, Field)


@pytest.mark.skipif(os.name != "posix", reason="an open file keeps its name there")
def test_runs_do_not_hang_on_the_folder(source, cache):
    read_runs(source, cache=cache)
    runs, threads = read_runs(source, cache=cache), []
    shutil.rmtree(cache)
    for _ in range(4):
        threads.append(threading.Thread(target=lambda: runs.field.scores.sum()))
        threads[-1].start()
    for thread in threads:
        thread.join()
    assert same(runs, read_runs(source))
    assert same(pickle.loads(pickle.dumps(runs)), runs)


# what changed


def changed(source):
    path = source / "1.gz"
    before, data = path.stat(), gzip.compress(run_bytes("run1", seed=77))
    path.write_bytes(data[: before.st_size].ljust(before.st_size, b"\0") if len(data) < before.st_size else data)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))  # neither its time tells


CHANGES = {
    "changed": changed,
    "new": lambda source: (source / "9").write_bytes(run_bytes("run9")),
    "missing": lambda source: (source / "1.gz").unlink(),
    "renamed": lambda source: (source / "1.gz").rename(source / "7.gz"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_other_files(change, source, cache, reread):
    read_runs(source, cache=cache)
    CHANGES[change](source)
    assert len(reread(source, cache)) == 3 + (change == "new") - (change == "missing")


@pytest.mark.parametrize(
    "arguments",
    [{"order": "file"}, {"names": "file"}, {"duplicates": "best"}, {"bad_lines": "skip"}, {"other_files": "skip"}],
)
def test_another_setting(arguments, source, cache, reread):
    read_runs(source, cache=cache)
    reread(source, cache, **arguments)


# what is the user's stays


def test_nothing_of_the_user_is_removed(messages, source, cache):
    cache.mkdir()
    mine = {"notes.txt": b"mine", "arrays-of-mine/codes.npy": b"mine", "arrays-0123456789abcdef/keep.txt": b"mine"}
    for name, data in mine.items():
        (cache / name).parent.mkdir(exist_ok=True)
        (cache / name).write_bytes(data)
    os.utime(cache / "arrays-0123456789abcdef", (0, 0))
    read_runs(source, cache=cache)
    (source / "9").write_bytes(run_bytes("run9"))
    messages.warned(read_runs, source=source, cache=cache)
    assert {name: (cache / name).read_bytes() for name in mine} == mine


def test_a_failed_write_leaves_nothing(source, cache, messages, monkeypatch):
    def full(path, field):
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(store, "write_block", full)
    runs = messages.warned(read_runs, source=source, cache=cache)
    assert same(runs, read_runs(source))
    assert list(cache.iterdir()) == []


def test_a_store_of_before_goes(source, cache, reread):
    read_runs(source, cache=cache)
    old = cache / "arrays-0123456789abcdef"
    old.mkdir()
    for name in ("codes", "vocabulary", "file_at", "dropped"):
        (old / f"{name}.npy").write_bytes(b"of before")
    (cache / HEADER).write_text(json.dumps({"format": 6, "arrays": old.name}))
    reread(source, cache)
    assert_one_field(cache)


def unwritable(*_, **__):
    raise PermissionError(13, "Permission denied")


def test_a_folder_that_lets_nobody_write_is_told_before_anything_is_read(source, cache, messages, monkeypatch):
    cache.mkdir()
    parsed = parses(monkeypatch)
    monkeypatch.setattr(tempfile, "TemporaryFile", unwritable)
    messages.refused(read_runs, source=source, cache=cache, argument="cache")
    messages.refused(read_runs, source=source, cache=cache / "new" / "er", argument="cache")
    assert parsed == []
    assert list(cache.iterdir()) == []


def test_a_cache_that_may_only_be_read_serves(source, cache, messages, monkeypatch):
    first = read_runs(source, cache=cache)
    kept = (cache / HEADER).read_bytes()
    parsed = parses(monkeypatch)
    monkeypatch.setattr(tempfile, "TemporaryFile", unwritable)
    assert same(read_runs(source, cache=cache), first)
    assert parsed == []
    (source / "9").write_bytes(run_bytes("run9"))
    told, warn = [], store.warn

    def noted(*parts, **more):
        told.append(len(parsed))
        warn(*parts, **more)

    monkeypatch.setattr(store, "warn", noted)
    again = messages.warned(read_runs, source=source, cache=cache)
    assert told == [0]  # before the first of the four files was parsed
    assert len(parsed) == 4
    assert same(again, read_runs(source))
    assert (cache / HEADER).read_bytes() == kept


def test_a_file_that_changes_while_it_is_read(source, cache, messages, monkeypatch):
    original = parsing.read_bytes

    def meddled(path):
        data = original(path)
        if path.name == "0.gz":
            path.write_bytes(run_bytes("run0", seed=50))
        return data

    monkeypatch.setattr(parsing, "read_bytes", meddled)
    messages.warned(read_runs, source=source, cache=cache)
    assert not cache.exists()


def test_odd_names_come_back(tmp_path, cache):
    (tmp_path / "a").write_bytes(b"t\xe9 Q0 d\xff 1 2 \xe9quipe\n")
    first = read_runs(tmp_path / "a", cache=cache)
    again = read_runs(tmp_path / "a", cache=cache)
    assert again.names == first.names == ["\udce9quipe"]
    assert again.to_frame().equals(first.to_frame())


def test_a_relative_folder_and_a_link(source, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.symlink(source, tmp_path / "link")
    first = read_runs("runs", cache="cache")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert same(first, read_runs(tmp_path / "link", cache=tmp_path / "cache"))
