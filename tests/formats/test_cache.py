"""The cache of a parsed field: used when it fits, read again when not, never wrong."""

from __future__ import annotations

import gzip
import json
import os
import random
import re
import shutil
import tempfile
import warnings

import numpy as np
import pytest
from cache_parts import ARRAYS, SETTINGS, assert_one_field, block, place, run_bytes, same, tables

from pt_reuse._errors import InputError, ReuseWarning
from pt_reuse.engine.field import Field
from pt_reuse.formats import checksum, store, whole_store
from pt_reuse.formats.array_file import ArrayFile
from pt_reuse.formats.store import FORMAT, StaleCacheError
from pt_reuse.formats.store_folder import HEADER
from pt_reuse.formats.whole_store import load_whole
from pt_reuse.runs import kept_runs, parsing
from pt_reuse.runs.reading import read_runs


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "runs"
    folder.mkdir()
    for i in range(3):
        (folder / f"{i}.gz").write_bytes(gzip.compress(run_bytes(f"run{i}", seed=i)))
    return folder


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


def parses(monkeypatch):
    """Count the files that are parsed."""
    parsed = []
    original = parsing.parse_run

    def counted(data, order, **options):
        parsed.append(order)
        return original(data, order, **options)

    monkeypatch.setattr(parsing, "parse_run", counted)
    return parsed


def warned_of_fault(messages, source, cache):
    """Read past a cache that cannot be read; what Python, numpy or the system say of it is no wording of ours."""
    with pytest.warns(ReuseWarning) as caught:
        runs = read_runs(source, cache=cache)
    (said,) = [str(warning.message) for warning in caught if warning.category is ReuseWarning]
    fault = re.search(r"cannot be read \((.+)\); ", said)
    if fault:
        messages.hidden[fault[1]] = "{fault}"
    messages.told(said)
    return runs


@pytest.fixture
def reread(messages):
    """Read past a cache that does not serve, expecting the warning that says why, and see that it serves again."""

    def read(source, cache, **arguments):
        runs = messages.warned(read_runs, source=source, cache=cache, **arguments)
        assert same(runs, read_runs(source, **arguments))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert same(runs, read_runs(source, cache=cache, **arguments))
        return runs

    return read


def test_second_read_comes_from_the_cache(source, cache, monkeypatch):
    parsed = parses(monkeypatch)
    first = read_runs(source, cache=cache)
    assert len(parsed) == 3
    again = read_runs(source, cache=str(cache), teams={f"run{i}": "A" for i in range(3)})
    assert len(parsed) == 3
    assert same(first, again)
    assert again.teams == ["A"]
    assert first.to_frame().equals(again.to_frame())
    assert type(again.field) is Field
    assert again.field.scores.base is None


def test_what_is_in_the_folder(source, cache):
    read_runs(source, cache=cache)
    assert block(cache).name == "000000-000004.block"
    assert_one_field(cache)
    header = json.loads((cache / HEADER).read_bytes())
    assert header["format"] == FORMAT
    assert header["settings"] == SETTINGS
    assert header["layers"][0]["topics"] == ["0", "1", "2", "3"]
    assert list(header["sources"]) == [str(source.resolve() / f"{i}.gz") for i in range(3)]
    assert header["runs"] == ["run0", "run1", "run2"]
    assert sorted(ArrayFile(block(cache))._read[0]["arrays"]) == ARRAYS
    ArrayFile(block(cache)).check()
    ArrayFile(tables(cache)).check()


# what changed


def test_a_changed_file(source, cache, reread):
    read_runs(source, cache=cache)
    path = source / "1.gz"
    before = path.stat()
    changed = gzip.compress(run_bytes("run1", seed=77))
    path.write_bytes(
        changed[: before.st_size].ljust(before.st_size, b"\0") if len(changed) < before.st_size else changed
    )
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))  # neither its time tells
    reread(source, cache)


def test_a_new_file(source, cache, reread):
    read_runs(source, cache=cache)
    (source / "9").write_bytes(run_bytes("run9"))
    assert "run9" in reread(source, cache)


def test_a_missing_file(source, cache, reread):
    read_runs(source, cache=cache)
    (source / "1.gz").unlink()
    assert "run1" not in reread(source, cache)


def test_all_at_once(source, cache, reread):
    read_runs(source, cache=cache)
    (source / "1.gz").rename(source / "7.gz")
    (source / "8").write_bytes(run_bytes("run8"))
    (source / "0.gz").write_bytes(run_bytes("run0", seed=99))
    reread(source, cache)


def test_another_order_of_the_files(source, cache, reread):
    files = sorted(source.iterdir())
    read_runs(files, cache=cache)
    runs = reread(files[::-1], cache)
    assert runs.names == ["run2", "run1", "run0"]


@pytest.mark.parametrize(
    "arguments",
    [{"order": "file"}, {"names": "file"}, {"duplicates": "best"}, {"bad_lines": "skip"}, {"other_files": "skip"}],
)
def test_another_setting(arguments, source, cache, reread):
    read_runs(source, cache=cache)
    reread(source, cache, **arguments)


def test_another_format(source, cache, reread):
    read_runs(source, cache=cache)
    header = json.loads((cache / HEADER).read_bytes())
    (cache / HEADER).write_text(json.dumps({**header, "format": 0}))
    reread(source, cache)


# damage


HOW = ["one bit", "zeros", "swapped words", "cut", "removed", "text"]


def damage(data, how, begin, end):
    """Return what a file would be whose bytes from `begin` to `end` were damaged."""
    data, middle = bytearray(data), begin + (end - begin) * 2 // 3
    if how == "one bit":
        data[middle] ^= 4
    elif how == "zeros":
        data[begin : max(end, begin + 1)] = bytes(len(data[begin : max(end, begin + 1)]))
    elif how == "swapped words":
        data[begin : begin + 16] = data[begin + 8 : begin + 16] + data[begin : begin + 8]
    elif how == "cut":
        del data[middle:]
    elif how == "text":
        data[:] = b"not an array"
    return bytes(data)


def places_of_arrays(path):
    """Return where each array of a file begins and ends, but for those without a byte."""
    header, begin = ArrayFile(path)._read
    places = {
        name: (begin + said["offset"], begin + said["offset"] + said["length"] * np.dtype(said["dtype"]).itemsize)
        for name, said in header["arrays"].items()
    }
    return {name: (a, b) for name, (a, b) in places.items() if b > a}


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("file", [block, tables])
def test_a_damaged_file(how, file, messages, source, cache):
    (source / "3").write_bytes(b"1 Q0 a 0 1.5 run3 more\n1 Q0 b 0 1.5 run3\nbad\n")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReuseWarning)
        runs = read_runs(source, cache=cache, bad_lines="skip")
    path, settings = file(cache), {**SETTINGS, "bad_lines": "skip"}
    sources = {name: said[0] for name, said in json.loads((cache / HEADER).read_bytes())["sources"].items()}
    good, said = path.read_bytes(), set()
    for begin, end in places_of_arrays(path).values():
        data = damage(good, how, begin, end)
        if data == good:  # words that were the same, or zeros
            continue
        path.unlink()
        if how != "removed":
            path.write_bytes(data)
        with pytest.raises(StaleCacheError) as caught:
            load_whole(cache, sources, settings)
        said.add(str(caught.value).replace(path.name, "{file}"))
    for text in sorted(said):
        messages.told(text)
    with pytest.warns(ReuseWarning):
        assert same(read_runs(source, cache=cache, bad_lines="skip"), runs)
    assert load_whole(cache, sources, settings).names == runs.names
    assert not path.exists() or path.read_bytes() == good


def test_every_byte_of_the_header_matters(source, cache):
    runs = read_runs(source, cache=cache)
    path = cache / HEADER
    good = path.read_bytes()
    sources = {name: said[0] for name, said in json.loads(good)["sources"].items()}
    chance = random.Random(5)
    folder = cache.parent / "copy"
    for _ in range(150):
        data = bytearray(good)
        how = chance.choice(["flip", "cut", "delete", "insert"])
        at = chance.randrange(len(data))
        if how == "flip":
            data[at] ^= 1 << chance.randrange(8)
        elif how == "cut":
            del data[at:]
        elif how == "delete":
            del data[at]
        else:
            data[at:at] = bytes([chance.randrange(256)])
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(cache, folder)
        (folder / HEADER).write_bytes(data)
        try:
            kept = load_whole(folder, sources, SETTINGS)
        except (StaleCacheError, InputError):
            continue
        # white space between the values may change, nothing else
        assert kept.names == runs.names
        assert np.array_equal(kept.field.codes, runs.field.codes)
        assert json.loads(data) == json.loads(good)


@pytest.mark.parametrize("text", ["", "[]", "null", "{", "{}", json.dumps({"format": FORMAT}), "[" * 100_000, "\ud800"])
def test_a_header_that_is_none(text, messages, source, cache):
    read_runs(source, cache=cache)
    (cache / HEADER).write_bytes(text.encode("utf-8", "surrogatepass"))
    runs = warned_of_fault(messages, source, cache)
    assert same(runs, read_runs(source, cache=cache))


@pytest.mark.parametrize("what", ["place", "tables"])
def test_a_header_that_points_elsewhere(what, source, cache, reread, tmp_path):
    read_runs(source, cache=cache)
    header = json.loads((cache / HEADER).read_bytes())
    header.pop("check")
    if what == "tables":
        header["tables"] = "../elsewhere/" + header["tables"]
    else:
        header["layers"][0]["place"] = "../elsewhere"
    header["check"] = store._digest(header)
    shutil.copytree(place(cache), tmp_path / "elsewhere")
    for path in cache.glob("tables-*"):
        shutil.copy(path, tmp_path / "elsewhere")
    before = sorted(path.name for path in (tmp_path / "elsewhere").iterdir())
    (cache / HEADER).write_text(json.dumps(header))
    reread(source, cache)
    assert sorted(path.name for path in (tmp_path / "elsewhere").iterdir()) == before


def test_a_newer_format(source, cache, messages):
    read_runs(source, cache=cache)
    header = json.loads((cache / HEADER).read_bytes())
    (cache / HEADER).write_text(json.dumps({**header, "format": FORMAT + 1}))
    before = (cache / HEADER).read_bytes()
    messages.refused(read_runs, source=source, cache=cache, argument="cache")
    messages.refused(read_runs, source=source, cache=cache, memory="64MB", argument="cache")
    assert (cache / HEADER).read_bytes() == before
    assert place(cache).exists()


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


def test_old_arrays_go(messages, source, cache):
    read_runs(source, cache=cache)
    first = place(cache)
    dead = cache / "arrays-00000000000000aa"
    dead.mkdir()
    (dead / "codes.npy").write_bytes(b"of a writer that died")
    (source / "9").write_bytes(run_bytes("run9"))
    messages.warned(read_runs, source=source, cache=cache)
    assert not first.exists()
    assert_one_field(cache)
    assert place(cache).exists()


def test_a_failed_write_leaves_nothing(source, cache, messages, monkeypatch):
    def full(path, field):
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(whole_store, "write_block", full)
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
    told, warn = [], kept_runs.warn

    def noted(*parts, **more):
        told.append(len(parsed))
        warn(*parts, **more)

    monkeypatch.setattr(kept_runs, "warn", noted)
    again = messages.warned(read_runs, source=source, cache=cache)
    assert told == [0]  # before the first of the four files was parsed
    assert len(parsed) == 4
    assert same(again, read_runs(source))
    assert (cache / HEADER).read_bytes() == kept


def test_a_file_that_changes_while_it_is_read(source, cache, messages, monkeypatch):
    original = parsing.parse_run

    def meddled(data, order, **options):
        (source / "0.gz").write_bytes(run_bytes("run0", seed=50))
        return original(data, order, **options)

    monkeypatch.setattr(parsing, "parse_run", meddled)
    messages.warned(read_runs, source=source, cache=cache)
    assert not cache.exists()


def test_a_file_that_cannot_be_read(source, cache, messages, monkeypatch):
    def refuse(self, path, at, size):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(checksum._Summing, "of", refuse)
    messages.refused(read_runs, source=source, cache=cache)


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


@pytest.mark.parametrize("depth", [300, 900, 990, 5000, 100_000])
def test_a_deep_header(depth, source, cache):
    # no snapshot: how deep Python goes differs between versions
    read_runs(source, cache=cache)
    header = json.loads((cache / HEADER).read_bytes())
    text = json.dumps({**header, "runs": "DEEP"}).replace('"DEEP"', "[" * depth + "]" * depth)
    (cache / HEADER).write_text(text)
    with pytest.warns(ReuseWarning, match="is not used: its header"):
        assert read_runs(source, cache=cache).names == header["runs"]
