"""Reading within memory where something goes wrong: a full disk, damage, ctrl-C, another writer, too little memory."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
from contextlib import contextmanager

import numpy as np
import pytest
from cache_parts import run_bytes
from store_parts import assert_same_field, in_pieces

import pt_reuse as ptr
from pt_reuse._errors import InputError
from pt_reuse._files import alone
from pt_reuse.arrays.open_field import forget_blocks
from pt_reuse.data import array_file, spool, spooling, within_memory
from pt_reuse.data.budget import Budget, in_units, memory_bytes
from pt_reuse.data.run_reading import read_runs


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "runs"
    folder.mkdir()
    for i in range(3):
        (folder / f"{i}").write_bytes(run_bytes(f"run{i}", seed=i, topics=6))
    return folder


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


@pytest.fixture(autouse=True)
def pieces(monkeypatch):
    in_pieces(monkeypatch, chunk=2000, rows=600)


def within(source, cache, **options):
    return read_runs(source, cache=cache, memory="64MB", n_jobs=1, **options)


def counted(monkeypatch, module, name):
    """Count the calls of a function."""
    calls, original = [], getattr(module, name)

    def counting(*given, **more):
        calls.append(given)
        return original(*given, **more)

    monkeypatch.setattr(module, name, counting)
    return calls


class Full:
    """A file on a disk that is full after so many bytes."""

    left = 0

    def __init__(self, file, code):
        self._file, self._code = file, code

    def write(self, data):
        Full.left -= memoryview(data).nbytes
        if Full.left < 0:
            raise OSError(self._code, os.strerror(self._code))
        return self._file.write(data)

    def __getattr__(self, name):
        return getattr(self._file, name)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
@pytest.mark.parametrize("room", [0, 5_000, 20_000, 47_000, 55_000, 80_000])
def test_a_full_disk(room, code, source, cache, messages, monkeypatch):
    expected = read_runs(source)

    def full(replacing):
        @contextmanager
        def opened(path):
            with replacing(path) as file:
                yield Full(file, code)

        return opened

    with monkeypatch.context() as patched:
        Full.left = room
        for module in (spool, array_file):
            patched.setattr(module, "replacing", full(module.replacing))
        patched.setattr("shutil.disk_usage", lambda path: type("Usage", (), {"free": 1234})())
        with pytest.raises(InputError, match=r"the disk of the cache .*cache is full: .* takes about .*, of which"):
            within(source, cache)
    assert_same_field(within(source, cache).field, expected.field)
    assert len(list(cache.iterdir())) == 3


@pytest.mark.skipif(sys.platform == "win32", reason="no limits there")
def test_files_that_may_not_grow(source, cache):
    code = (
        "import resource, sys, pt_reuse as ptr\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, resource.RLIM_INFINITY))\n"
        "try:\n"
        "    ptr.read_runs(sys.argv[1], cache=sys.argv[2], memory='64MB')\n"
        "except ptr.InputError as error:\n"
        "    print(error)\n"
    )
    # the limit would cut off the bytecode of what is imported under it, too
    command = [sys.executable, "-B", "-c", code, str(source), str(cache)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert f"a file of the cache {cache} would be larger than this process may write" in done.stdout, done.stderr
    assert "are free" not in done.stdout
    assert_same_field(within(source, cache).field, read_runs(source).field)


def test_what_was_spooled_serves_after_a_full_disk(source, cache, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(within_memory, "write_block", full)
        with pytest.raises(InputError, match="is full"):
            within(source, cache)
    calls = counted(monkeypatch, spooling, "chunks_of_lines")
    within(source, cache)
    assert calls == []


def test_what_a_killed_writer_left_among_the_blocks_goes(source, cache, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(within_memory, "write_block", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            within(source, cache)
    (layer,) = cache.glob("arrays-*")
    (layer / ".pt_reuse-0123456789abcdef").write_bytes(b"half a block")
    within(source, cache)
    assert {path.suffix for path in layer.iterdir()} == {".block"}
    (layer / ".pt_reuse-0123456789abcdef").write_bytes(b"half a block")
    within(source, cache)  # which only reads
    assert {path.suffix for path in layer.iterdir()} == {".block"}


def test_blocks_that_a_killed_writer_cut_elsewhere_go(source, cache, monkeypatch):
    original, written = within_memory.write_block, []

    def killed(path, field):
        if len(written) == 2:
            raise KeyboardInterrupt
        written.append(path)
        original(path, field)

    with monkeypatch.context() as patched:
        patched.setattr(within_memory, "write_block", killed)
        patched.setattr(Budget, "rows", lambda *_: 300)
        with pytest.raises(KeyboardInterrupt):
            within(source, cache)
    assert all(path.exists() for path in written)
    runs = within(source, cache)
    places = runs.field.places(range(runs.field.n_topics))
    assert sorted(map(str, written[0].parent.iterdir())) == sorted(places)
    assert str(written[0]) not in places
    assert_same_field(runs.field, read_runs(source).field)


def test_a_disk_that_fails(source, cache, messages, monkeypatch):
    def broken(*_):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(within_memory, "write_block", broken)
    messages.refused(within, source=source, cache=cache, argument="cache")


@pytest.mark.parametrize("calls_before", [0, 1, 2, 4, 5])
def test_ctrl_c(calls_before, source, cache, monkeypatch):
    expected = read_runs(source)
    calls = []

    def interrupted(original):
        def call(*given, **more):
            calls.append(given)
            if len(calls) > calls_before:
                raise KeyboardInterrupt
            return original(*given, **more)

        return call

    with monkeypatch.context() as patched:
        patched.setattr(spooling, "Spool", type("S", (), {"opened": staticmethod(interrupted(spool.Spool.opened))}))
        patched.setattr(within_memory, "write_block", interrupted(within_memory.write_block))
        with pytest.raises(KeyboardInterrupt):
            within(source, cache)
    before = threading.active_count()
    assert_same_field(within(source, cache).field, expected.field)
    assert threading.active_count() == before
    assert len(list(cache.iterdir())) == 3


def test_nobody_waits_where_only_is_read(source, cache):
    runs = within(source, cache)
    with alone(cache):
        assert_same_field(within(source, cache).field, runs.field)


def test_a_file_that_changes_while_it_is_read(source, cache, messages, monkeypatch):
    original, before = spooling.chunks_of_lines, (source / "1").read_bytes()

    def meddled(path, *given):
        for data in original(path, *given):
            path.write_bytes(before + b"99 Q0 a 1 1 run1\n")
            yield data

    with monkeypatch.context() as patched:
        patched.setattr(spooling, "chunks_of_lines", meddled)
        messages.refused(within, source=source / "1", cache=cache)
    assert_same_field(within(source / "1", cache).field, read_runs(source / "1").field)


def damaged(cache, array):
    (layer,) = cache.glob("arrays-*")
    path = sorted(layer.iterdir())[1]
    header, begin = array_file.ArrayFile(path)._read
    data = bytearray(path.read_bytes())
    data[begin + header["arrays"][array]["offset"] + 3] ^= 1
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("array", ["codes", "scores", "missing"])
def test_a_damaged_block_of_a_study(array, source, cache, messages):
    runs = within(source, cache)
    qrels = runs["run0"].assign(label=1)[["qid", "docno", "label"]]
    forget_blocks()
    if array == "missing":
        sorted(next(cache.glob("arrays-*")).iterdir())[1].unlink()
        messages.hidden[next(cache.glob("arrays-*")).name] = "{place}"
        messages.refused(lambda: ptr.score(runs, qrels, measures=["P@10"]))
        return
    path = damaged(cache, array)
    messages.hidden[path.parent.name] = "{place}"
    messages.refused(lambda: runs.to_frame() if array == "scores" else ptr.score(runs, qrels, measures=["P@10"]))


def test_runs_whose_store_was_made_anew(source, cache, messages):
    runs = within(source, cache)
    (layer,) = cache.glob("arrays-*")
    messages.hidden[layer.name] = "{place}"
    (source / "1").write_bytes(run_bytes("run1", seed=9, topics=6))
    with pytest.warns(ptr.ReuseWarning, match="changed"):
        within(source, cache)
    forget_blocks()
    messages.refused(runs.to_frame)


def test_a_missing_block_is_noticed_when_the_store_is_opened(source, cache, messages):
    runs = within(source, cache)
    sorted(next(cache.glob("arrays-*")).iterdir())[1].unlink()
    again = messages.warned(within, source=source, cache=cache)
    assert_same_field(again.field, runs.field)


def test_blocks_that_are_too_large_for_the_memory(source, cache, messages, monkeypatch):
    read_runs(source, cache=cache)
    assert len(within(source, cache).field.parts) == 1
    monkeypatch.setattr(Budget, "holds", lambda self, size: size < 10_000)
    again = messages.warned(within, source=source, cache=cache)
    assert len(again.field.parts) == 3


# memory=


@pytest.mark.parametrize(
    ("given", "size"),
    [
        ("64MB", 64 * 10**6), ("2GB", 2 * 10**9), ("1.5 GiB", 3 << 29), (" 500 mb ", 5 * 10**8), ("1G", 10**9),
        (10**8, 10**8), (np.int64(10**8), 10**8), ("100000000", 10**8), ("70000000 B", 7 * 10**7), (".5TB", 5 * 10**11),
        ("100000 KiB", 102_400_000),
    ],
)  # fmt: skip
def test_memory_in_bytes(given, size):
    assert memory_bytes(given) == size


@pytest.mark.parametrize("given", ["", "2XB", "GB", "-1GB", "1e9", "2 G B", 1.5, True, [], "63MB", 10, 0, -5])
def test_memory_that_is_none(given, source, cache, messages):
    messages.refused(lambda: read_runs(source, cache=cache, memory=given), argument="memory")


def test_memory_without_a_folder(source, messages):
    messages.refused(lambda: read_runs(source, memory="1GB"), argument="memory")


@pytest.mark.parametrize("size", [0, 999, 64_000_000, 1_500_000_000, 2 * 10**12])
def test_sizes_in_words(size, messages):
    messages.told(in_units(size))


@pytest.mark.parametrize("memory", [64 * 10**6, 10**9, 10**11])
@pytest.mark.parametrize("threads", [1, 2, 64])
def test_a_budget_is_shared_out(memory, threads, monkeypatch):
    monkeypatch.undo()
    budget = Budget(memory, threads)
    assert 1 <= budget.parsers <= threads
    assert 1 << 19 <= budget.chunk <= 1 << 22
    assert 16 * budget.chunk * budget.parsers <= memory
    assert budget.rows(2, 0) * 250 <= memory
    assert budget.rows(2, 2 * memory) == 0


def test_a_topic_that_is_too_large(source, cache, messages, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr(Budget, "rows", lambda self, width, tables: 299)
    messages.refused(within, source=source, cache=cache, argument="memory")
    monkeypatch.undo()
    calls = counted(monkeypatch, spooling, "chunks_of_lines")
    within(source, cache)
    assert calls == []


MEASURED = """
import resource, sys, pt_reuse as ptr, warnings
from pathlib import Path
from pt_reuse.data.run_reading import read_runs
small, large, cache, memory = sys.argv[1:]
read_runs(small, cache=cache + "0", memory=memory)
base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
runs = read_runs(large, cache=cache, memory=memory)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - base) * 1024, int(runs.field.lengths.sum()))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the system counts memory otherwise")
def test_memory_is_kept_to(tmp_path, source):
    chance = np.random.default_rng(1)
    topics, runs, docs = 60, 15, 2000
    (tmp_path / "large").mkdir()
    for r in range(runs):
        with (tmp_path / "large" / f"{r}").open("wb") as file:
            for t in range(topics):
                names = (chance.permutation(20_000)[:docs] + 10**7 * t).tolist()
                file.write(
                    b"".join(b"%d Q0 clueweb12-%d %d %d run%d\n" % (t, d, i, -i, r) for i, d in enumerate(names))
                )
    arguments = [str(source), str(tmp_path / "large"), str(tmp_path / "cache"), "64MB"]
    done = subprocess.run([sys.executable, "-c", MEASURED, *arguments], capture_output=True, text=True, check=True)
    peak, rows = map(int, done.stdout.split())
    assert rows == topics * runs * docs
    assert peak <= 64 * 10**6
    size = sum(path.stat().st_size for path in (tmp_path / "large").iterdir())
    assert size > 70 * 10**6
    assert rows * 100 > 2 * 64 * 10**6  # what coding all of it at once takes, at the least
