"""The cache of a parsed field: used when it fits, read again when not, never wrong."""

from __future__ import annotations

import errno
import gzip
import os
import pickle
import random
import tempfile
import warnings
import zipfile

import numpy as np
import pytest
from cache_parts import run_bytes, same
from store_parts import assert_same_field, in_pieces

import pt_reuse as ptr
from pt_reuse.arrays.field import Field
from pt_reuse.data import parsing, store
from pt_reuse.data.parsing import memory_bytes
from pt_reuse.data.run_set import read_runs
from pt_reuse.data.store import NAME, ArrayFile, DamagedError, write_arrays
from pt_reuse.errors import InputError, ReuseWarning


def within(source, cache, **options):
    return read_runs(source, cache=cache, memory="64MB", n_jobs=1, **options)


@pytest.fixture
def parsed(monkeypatch):
    """Return the files that are parsed from now on."""
    found, original = [], parsing.chunks_of_lines
    monkeypatch.setattr(parsing, "chunks_of_lines", lambda path, *how: found.append(path) or original(path, *how))
    return found


def test_second_read_comes_from_the_cache(source, cache, parsed):
    first = read_runs(source, cache=cache)
    assert len(parsed) == 3
    again = read_runs(source, cache=str(cache), teams={f"run{i}": "A" for i in range(3)})
    assert len(parsed) == 3
    assert same(first, again)
    assert again.teams == ["A"]
    assert first.to_frame().equals(again.to_frame())
    assert isinstance(again.field, Field)
    assert [path.name for path in cache.iterdir()] == [NAME]


def test_a_field_kept_whole_and_one_kept_in_blocks(source, cache, monkeypatch, parsed):
    whole = read_runs(source, cache=cache)
    # it is one block of 1,200 rows
    assert_same_field(within(source, cache).field, whole.field)
    monkeypatch.setattr(store, "rows_at_once", lambda *_: 400)
    in_pieces(monkeypatch, rows=400)
    with pytest.warns(ReuseWarning, match="blocks of 1,200 rows"):
        blocks = within(source, cache)
    assert len(blocks.field.parts) == 4
    assert_same_field(blocks.field, whole.field)
    assert len(parsed) == 6
    assert same(read_runs(source, cache=cache), whole)
    assert len(parsed) == 6


# what changed


def changed(source):
    path = source / "1.gz"
    before, data = path.stat(), gzip.compress(run_bytes("run1", seed=77))
    path.write_bytes(data[: before.st_size].ljust(before.st_size, b"\0") if len(data) < before.st_size else data)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))  # neither its time tells


CHANGES = {
    "changed": changed,
    "new": lambda source: (source / "9").write_bytes(run_bytes("run9")),
    "renamed": lambda source: (source / "1.gz").rename(source / "7.gz"),
    "missing": lambda source: (source / "7.gz").unlink(),
}


def test_other_files(source, cache, reread):
    for change, make in CHANGES.items():
        before = len(read_runs(source, cache=cache))
        make(source)
        assert len(reread(source, cache)) == before + (change == "new") - (change == "missing")


def test_another_setting(source, cache, reread):
    read_runs(source, cache=cache)
    for setting in ("order=file", "names=file", "duplicates=best", "bad_lines=skip", "other_files=skip"):
        reread(source, cache, **dict([setting.split("=")]))


@pytest.mark.parametrize("memory", [None, "64MB"])
def test_a_file_that_changes_while_it_is_read(memory, source, cache, messages, monkeypatch):
    original = parsing.RunParts.read

    def meddled(self):
        yield from original(self)
        # at once, since others may just read it
        (anew := source.parent / f"{id(self)}.gz").write_bytes(run_bytes("run0", seed=50))
        anew.replace(source / "0.gz")

    monkeypatch.setattr(parsing.RunParts, "read", meddled)
    if memory is None:
        messages.warned(read_runs, source=source, cache=cache)
    else:
        messages.refused(within, source=source, cache=cache)
    assert not (cache / NAME).exists()


# what is the user's stays; what cannot be written is told


@pytest.mark.parametrize("read", [read_runs, within])
def test_a_failed_write_leaves_nothing_of_ours(read, source, cache, messages, monkeypatch):
    cache.mkdir()
    (cache / "notes.txt").write_bytes(b"mine")

    def full(archive, name, array):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(store, "add_array", full)
        if read is read_runs:
            assert same(messages.warned(read, source=source, cache=cache), read_runs(source))
        else:
            messages.refused(read, source=source, cache=cache, argument="cache")
    assert [path.name for path in cache.iterdir()] == ["notes.txt"]
    assert_same_field(read(source, cache=cache).field, read_runs(source).field)
    assert sorted(path.name for path in cache.iterdir()) == ["notes.txt", NAME]


def unwritable(*_, **__):
    raise PermissionError(13, "Permission denied")


def test_a_folder_that_lets_nobody_write_is_told_before_anything_is_read(source, cache, messages, monkeypatch, parsed):
    cache.mkdir()
    monkeypatch.setattr(tempfile, "TemporaryFile", unwritable)
    messages.refused(read_runs, source=source, cache=cache, argument="cache")
    messages.refused(read_runs, source=source, cache=cache / "new" / "er", argument="cache")
    assert parsed == []
    assert list(cache.iterdir()) == []


def test_a_cache_that_may_only_be_read_serves(source, cache, messages, monkeypatch, parsed):
    first = read_runs(source, cache=cache)
    kept = (cache / NAME).read_bytes()
    monkeypatch.setattr(store, "writing", unwritable)
    assert same(read_runs(source, cache=cache), first)
    assert len(parsed) == 3
    (source / "9").write_bytes(run_bytes("run9"))
    assert same(messages.warned(read_runs, times=2, source=source, cache=cache), read_runs(source))
    assert (cache / NAME).read_bytes() == kept


def test_odd_names_come_back(tmp_path, cache):
    (tmp_path / "a").write_bytes(b"t\xe9 Q0 d\xff 1 2 \xe9quipe\nt\xe9 Q0 %s 2 1 \xe9quipe\n" % (b"long" * 50))
    first = read_runs(tmp_path / "a", cache=cache)
    again = read_runs(tmp_path / "a", cache=cache)
    assert again.names == first.names == ["\udce9quipe"]
    assert again.to_frame().equals(first.to_frame())


# a damaged cache: never used


def damaged(chance, data, members):
    """Return a file to which something happened, most often inside of one of its members or its directory."""
    begin, end = chance.choice([*members, (0, len(data))])
    at = chance.randrange(begin, end)
    how = chance.choice(["bit", "bit", "bit", "byte", "zeros", "cut", "gone", "more", "swap"])
    if how == "bit":
        return data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]
    if how == "byte":
        return data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :]
    if how == "zeros":
        return data[:at] + bytes(len(data[at : at + 50])) + data[at + 50 :]
    if how == "swap":
        return data[:at] + data[at + 8 : at + 16] + data[at : at + 8] + data[at + 16 :]
    return data[:at] + {"cut": b"", "gone": data[at + 3 :], "more": b"xyz" + data[at:]}[how]


@pytest.mark.parametrize("memory", [None, "64MB"])
def test_damaged_copies_are_never_wrong(memory, source, cache, monkeypatch):
    (source / "3").write_bytes(b"1 Q0 a 0 1.5 run3 more\n1 Q0 b 0 1.5 run3\nbad\n1 Q0 %s 3 1 run3\n" % (b"x" * 99))
    in_pieces(monkeypatch, chunk=5000, rows=600)
    options = {"cache": cache, "memory": memory, "bad_lines": "skip"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReuseWarning)
        runs = read_runs(source, **options)
        field, table = runs.field, runs.to_frame()
        good = (cache / NAME).read_bytes()
        with zipfile.ZipFile(cache / NAME) as archive:
            members = [(item.header_offset, item.header_offset + item.file_size + 70) for item in archive.infolist()]
            members += [(archive.start_dir, len(good))] * 20
        chance, noticed, told = random.Random(memory), 0, 0
        for _ in range(40):
            data = damaged(chance, good, members)
            (cache / NAME).unlink(missing_ok=True)
            (cache / NAME).write_bytes(data)
            try:
                again = read_runs(source, **options)
                assert again.dropped.equals(runs.dropped)
                assert_same_field(again.field, field)
                assert again.to_frame().equals(table)
                noticed += (cache / NAME).read_bytes() != data
            except InputError as error:
                told += "Delete it and read the runs again" in str(error)
                (cache / NAME).unlink()
    assert noticed > 3
    assert memory is None or told > 3


def test_what_is_no_store(source, cache, messages):
    runs = read_runs(source)
    cache.mkdir()
    for make in (
        lambda path: path.write_bytes(b"{}"),
        lambda path: write_arrays(path, {}, {}),
        lambda path: write_arrays(path, {"lengths": np.zeros(3)}, {"ends": [1, 2], "topics": 5, "ranked": []}),
    ):
        make(cache / NAME)
        assert same(messages.warned(read_runs, source=source, cache=cache), runs)


def test_objects_are_never_unpickled(tmp_path):
    with zipfile.ZipFile(tmp_path / "f", "w") as archive:
        with archive.open("a.npy", "w") as member:
            np.lib.format.write_array(member, np.array([print], dtype=object), allow_pickle=True)
        archive.writestr("notes.json", "{}")
    with pytest.raises(DamagedError, match="OBJECT array"):
        ArrayFile(tmp_path / "f").read("a")


# readers and writers of one cache at the same time


def test_runs_whose_store_was_made_anew(source, cache, monkeypatch):
    in_pieces(monkeypatch, chunk=2000, rows=300)
    runs = within(source, cache)
    sent, expected = pickle.dumps(runs), runs.to_frame()
    (source / "1.gz").write_bytes(run_bytes("run1", seed=9))
    with pytest.warns(ptr.ReuseWarning, match="changed"):
        assert_same_field(within(source, cache).field, read_runs(source).field)
    # who has opened the file reads on, who opens it now is told
    assert runs.to_frame().equals(expected)
    with pytest.raises(InputError, match="made anew after these runs were read"):
        pickle.loads(sent)


# memory=


def test_memory_in_bytes(source, cache, messages):
    sizes = {"64MB": 64 * 10**6, "1.5 GiB": 3 << 29, " 500 mb ": 5 * 10**8, np.int64(10**8): 10**8, "100000000": 10**8}
    sizes |= {"70000000 B": 7 * 10**7, ".5TB": 5 * 10**11, "100000 KiB": 102_400_000}
    assert {given: memory_bytes(given) for given in sizes} == sizes
    for given in ("", "2XB", "GB", "-1GB", "1e9", "9" * 400 + "GB", 1.5, True, [], "63MB", 0, -5):
        messages.refused(lambda given=given: read_runs(source, cache=cache, memory=given), argument="memory")
    messages.refused(lambda: read_runs(source, memory="1GB"), argument="memory")
