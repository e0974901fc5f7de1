"""Reading within memory where something goes wrong: a full disk, damage, ctrl-C, another writer, too little memory."""

from __future__ import annotations

import errno
import threading

import numpy as np
import pytest
from cache_parts import run_bytes
from store_parts import assert_same_field, in_pieces

import pt_reuse as ptr
from pt_reuse._files import alone
from pt_reuse.arrays.open_field import forget_blocks
from pt_reuse.data import array_file, store, within_memory
from pt_reuse.data.run_reading import read_runs
from pt_reuse.data.within_memory import Budget, memory_bytes
from pt_reuse.errors import InputError


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "runs"
    folder.mkdir()
    for i in range(3):
        (folder / f"{i}").write_bytes(run_bytes(f"run{i}", seed=i, topics=6))
    return folder


@pytest.fixture(autouse=True)
def pieces(monkeypatch):
    in_pieces(monkeypatch, chunk=2000, rows=600)


def within(source, cache, **options):
    return read_runs(source, cache=cache, memory="64MB", n_jobs=1, **options)


def failing(monkeypatch, name, after, error):
    """Have a function of reading within memory raise an error after some calls."""
    *of_class, name = name.split(".")
    owner = getattr(within_memory, *of_class) if of_class else within_memory
    calls, original = [], getattr(owner, name)

    def call(*given, **more):
        calls.append(given)
        if len(calls) > after:
            raise error
        return original(*given, **more)

    monkeypatch.setattr(owner, name, call)


WRITING = [("_Spool._append", 0), ("_Spool._append", 5), ("_BlockFile.append", 5), ("write_block", 1)]


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EIO])
@pytest.mark.parametrize(("name", "after"), WRITING)
def test_a_disk_that_is_full_or_fails(name, after, code, source, cache, monkeypatch):
    with monkeypatch.context() as patched:
        failing(patched, name, after, OSError(code, "Says so"))
        what = "Says so" if code == errno.EIO else "its disk is full; the run files have .* and .* are free"
        with pytest.raises(InputError, match=f"the cache .*cache cannot be written: {what}. Make room and call again"):
            within(source, cache)
    assert list(cache.iterdir()) == []
    assert_same_field(within(source, cache).field, read_runs(source).field)
    assert len(list(cache.iterdir())) == 2


@pytest.mark.parametrize(("name", "after"), [("chunks_of_lines", 1), *WRITING[1:]])
def test_ctrl_c(name, after, source, cache, monkeypatch):
    before = threading.active_count()
    with monkeypatch.context() as patched:
        failing(patched, name, after, KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            within(source, cache)
    assert threading.active_count() == before
    assert list(cache.iterdir()) == []
    assert_same_field(within(source, cache).field, read_runs(source).field)


def test_who_waits_is_told(source, cache, messages, monkeypatch):
    monkeypatch.setattr(store, "_NOT_TOLD", 0.0)
    cache.mkdir()
    held = alone(cache)
    held.__enter__()
    ends = threading.Timer(0.3, held.__exit__, (None, None, None))
    ends.start()
    runs = messages.warned(within, source=source, cache=cache)
    ends.join()
    assert_same_field(runs.field, read_runs(source).field)


def test_a_file_that_changes_while_it_is_read(source, cache, messages, monkeypatch):
    original, before = within_memory.chunks_of_lines, (source / "1").read_bytes()

    def meddled(path, *given):
        for data in original(path, *given):
            path.write_bytes(before + b"99 Q0 a 1 1 run1\n")
            yield data

    with monkeypatch.context() as patched:
        patched.setattr(within_memory, "chunks_of_lines", meddled)
        messages.refused(within, source=source / "1", cache=cache)
    assert_same_field(within(source / "1", cache).field, read_runs(source / "1").field)


@pytest.mark.parametrize("array", ["codes", "scores", None])
def test_a_damaged_block_of_a_study(array, source, cache, messages):
    runs = within(source, cache)
    qrels = runs["run0"].assign(label=1)[["qid", "docno", "label"]]
    forget_blocks()
    path = sorted(next(cache.glob("arrays-*")).iterdir())[1]
    messages.hidden[path.parent.name] = "{place}"
    if array is None:
        path.unlink()
    else:
        header, begin = array_file.ArrayFile(path)._read
        data = bytearray(path.read_bytes())
        data[begin + header["arrays"][array]["offset"] + 3] ^= 1
        path.write_bytes(data)
    messages.refused(lambda: runs.to_frame() if array == "scores" else ptr.score(runs, qrels, measures=["P@10"]))
    if array is None:
        again = messages.warned(within, source=source, cache=cache)
        assert_same_field(again.field, read_runs(source).field)


def test_runs_whose_store_was_made_anew(source, cache, messages):
    runs = within(source, cache)
    (place,) = cache.glob("arrays-*")
    messages.hidden[place.name] = "{place}"
    (source / "1").write_bytes(run_bytes("run1", seed=9, topics=6))
    with pytest.warns(ptr.ReuseWarning, match="changed"):
        assert_same_field(within(source, cache).field, read_runs(source).field)
    forget_blocks()
    messages.refused(runs.to_frame)


# memory=


@pytest.mark.parametrize(
    ("given", "size"),
    [("64MB", 64 * 10**6), ("1.5 GiB", 3 << 29), (" 500 mb ", 5 * 10**8), (10**8, 10**8), (np.int64(10**8), 10**8),
     ("100000000", 10**8), ("70000000 B", 7 * 10**7), (".5TB", 5 * 10**11), ("100000 KiB", 102_400_000)],
)  # fmt: skip
def test_memory_in_bytes(given, size):
    assert memory_bytes(given) == size


@pytest.mark.parametrize("given", ["", "2XB", "GB", "-1GB", "1e9", 1.5, True, [], "63MB", 0, -5])
def test_memory_that_is_none(given, source, cache, messages):
    messages.refused(lambda: read_runs(source, cache=cache, memory=given), argument="memory")


def test_memory_without_a_folder(source, messages):
    messages.refused(lambda: read_runs(source, memory="1GB"), argument="memory")


@pytest.mark.parametrize("memory", [64 * 10**6, 10**11])
@pytest.mark.parametrize("threads", [1, 64])
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
