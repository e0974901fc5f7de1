"""The cache of a parsed field: used when it fits, read again when not, never wrong."""

from __future__ import annotations

import gzip
import json
import os
import pickle
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from cache_parts import run_bytes, same

from pt_reuse._files import Alone, alone
from pt_reuse.arrays.field import Field
from pt_reuse.data import parsing, store
from pt_reuse.data.array_file import ArrayFile
from pt_reuse.data.parsing import ReadField
from pt_reuse.data.run_reading import read_runs
from pt_reuse.data.store import FORMAT, HEADER, StaleCacheError, load_whole
from pt_reuse.errors import InputError, ReuseWarning

#: how runs are read where nothing is said of it
SETTINGS = {
    "order": "trec_eval", "names": "tag", "duplicates": "error", "bad_lines": "error", "other_files": "error",
}  # fmt: skip


def header_of(cache):
    return json.loads((cache / HEADER).read_bytes())


def sources_of(cache):
    return dict(header_of(cache)["sources"])


def place(cache):
    return cache / header_of(cache)["place"]


def block(cache):
    """Return the one block of a cache."""
    (path,) = place(cache).glob("*.block")
    return path


def tables(cache):
    return place(cache) / "index"


def assert_one_field(cache):
    """A cache holds one field and nothing else."""
    assert {path.name for path in cache.iterdir()} == {place(cache).name, HEADER}
    assert len(list(place(cache).iterdir())) == 1 + len(header_of(cache)["ends"])


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


# a damaged cache of a parsed field: never used, and written anew


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
    sources = sources_of(cache)
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
    sources = sources_of(cache)
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


def test_a_header_that_points_elsewhere(source, cache, reread, tmp_path):
    read_runs(source, cache=cache)
    header = header_of(cache)
    header.pop("check")
    header["place"] = "../elsewhere"
    header["check"] = store._digest(header)
    shutil.copytree(place(cache), tmp_path / "elsewhere")
    before = sorted(path.name for path in (tmp_path / "elsewhere").iterdir())
    (cache / HEADER).write_text(json.dumps(header))
    reread(source, cache)
    assert sorted(path.name for path in (tmp_path / "elsewhere").iterdir()) == before


def test_a_newer_format(source, cache, messages):
    read_runs(source, cache=cache)
    header = header_of(cache)
    (cache / HEADER).write_text(json.dumps({**header, "format": FORMAT + 1}))
    before = (cache / HEADER).read_bytes()
    messages.refused(read_runs, source=source, cache=cache, argument="cache")
    messages.refused(read_runs, source=source, cache=cache, memory="64MB", argument="cache")
    assert (cache / HEADER).read_bytes() == before
    assert place(cache).exists()


@pytest.mark.parametrize("depth", [900, 100_000])
def test_a_deep_header(depth, source, cache):
    # no snapshot: how deep Python goes differs between versions
    read_runs(source, cache=cache)
    header = header_of(cache)
    text = json.dumps({**header, "runs": "DEEP"}).replace('"DEEP"', "[" * depth + "]" * depth)
    (cache / HEADER).write_text(text)
    with pytest.warns(ReuseWarning, match="is not used: its header"):
        assert read_runs(source, cache=cache).names == header["runs"]


# readers and writers of one cache at the same time


def orphans(cache):
    """Put into a cache what writers leave behind that are killed."""
    for name in ("arrays-00000000000000aa", "arrays-00000000000000bb"):
        (cache / name).mkdir(parents=True)
        (cache / name / "000000-000002.block").write_bytes(b"half an arr")
    (cache / ".pt_reuse-abc").write_bytes(b"half a head")
    return sorted(path.name for path in cache.iterdir() if "abc" in path.name or "000" in path.name)


def test_what_a_writer_at_work_has_there_stays(source, cache, messages):
    runs = read_runs(source, cache=cache)
    before = (cache / HEADER).read_bytes()
    left = orphans(cache)
    with alone(cache) as whether:
        assert whether is Alone.YES
        assert same(read_runs(source, cache=cache), runs)
        # a second writer does not wait, and has its runs all the same
        other = messages.warned(read_runs, source=source, cache=cache, order="file")
        assert same(other, read_runs(source, order="file"))
        assert (cache / HEADER).read_bytes() == before
        assert set(left) < {path.name for path in cache.iterdir()}
    read_runs(source, cache=cache)
    assert_one_field(cache)


@pytest.mark.parametrize("how", ["no module", "no locks"])
def test_without_locks_only_what_is_old_goes(source, cache, how, monkeypatch):
    def refuse(*_):
        raise OSError(95, "Operation not supported")

    module = None if how == "no module" else SimpleNamespace(flock=refuse, LOCK_EX=2, LOCK_NB=4, LOCK_UN=8)
    monkeypatch.setitem(sys.modules, "fcntl", module)
    left = orphans(cache)
    for name in ("arrays-00000000000000aa", ".pt_reuse-abc"):
        os.utime(cache / name, (time.time() - 7200,) * 2)
    read_runs(source, cache=cache)
    assert sorted(path.name for path in cache.iterdir()) == sorted([left[-1], place(cache).name, HEADER])


def test_a_lock_ends_with_the_process(tmp_path):
    code = (
        "import sys, time; from pathlib import Path; from pt_reuse._files import alone\n"
        "with alone(Path(sys.argv[1])) as whether:\n"
        "    print(whether.name, flush=True); time.sleep(60)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "YES\n"
    with alone(tmp_path) as whether:
        assert whether is Alone.NO
    process.kill()
    process.communicate()
    with alone(tmp_path) as whether:
        assert whether is Alone.YES
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("times", [1, 5])
def test_a_store_replaced_while_it_is_read(times, source, cache, monkeypatch):
    runs = read_runs(source, cache=cache)
    original, calls = store._in_memory, []
    sources = sources_of(cache)

    def overtaken(field):
        calls.append(field.source)
        if len(calls) <= times:
            # another process keeps the same field anew just now
            with monkeypatch.context() as patched:
                patched.setattr(store, "_in_memory", original)
                read = ReadField(runs.field, runs.names, runs.dropped, (), (), tuple(range(len(runs.names))))
                store.keep_whole(cache, read, sources, SETTINGS)
        return original(field)

    monkeypatch.setattr(store, "_in_memory", overtaken)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert same(read_runs(source, cache=cache), runs)
    assert len({source.files for source in calls}) == times + 1


def test_processes_that_write_at_once(source, cache):
    code = (
        "import sys, warnings, pt_reuse as ptr\n"
        "warnings.simplefilter('ignore')\n"
        "for i in range(6):\n"
        "    order = ['trec_eval', 'file'][(i + int(sys.argv[3])) % 2]\n"
        "    runs = ptr.read_runs(sys.argv[1], cache=sys.argv[2], order=order)\n"
        "    assert len(runs.field.codes) == 1200 and abs(float(runs.field.scores.sum()) - float(sys.argv[4])) < 1e-6\n"
    )
    total = str(float(read_runs(source).field.scores.sum()))
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(source), str(cache), str(i), total], stderr=subprocess.PIPE, text=True
        )
        for i in range(3)
    ]
    assert [process.communicate()[1] for process in processes] == [""] * 3
    assert_one_field(cache)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReuseWarning)
        assert same(read_runs(source, cache=cache), read_runs(source))
