"""Readers and writers of one cache at the same time."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
import warnings
from types import SimpleNamespace

import pytest
from cache_parts import SETTINGS, assert_one_field, place, same, tables
from forking import fork
from store_parts import assert_same_field, in_pieces

from pt_reuse._errors import ReuseWarning
from pt_reuse._files import Alone, alone
from pt_reuse.data import spooling, store, within_memory
from pt_reuse.data.parsing import ReadField
from pt_reuse.data.run_reading import read_runs
from pt_reuse.data.store import HEADER


def orphans(cache):
    """Put into a cache what writers leave behind that are killed."""
    for name in ("arrays-00000000000000aa", "arrays-00000000000000bb"):
        (cache / name).mkdir(parents=True)
        (cache / name / "000000-000002.block").write_bytes(b"half an arr")
    (cache / ".pt_reuse-abc").write_bytes(b"half a head")
    return sorted(path.name for path in cache.iterdir() if "abc" in path.name or "000" in path.name)


def test_what_a_killed_writer_left_goes_with_the_next_read(source, cache):
    orphans(cache)
    runs = read_runs(source, cache=cache)  # which writes
    assert_one_field(cache)
    orphans(cache)
    assert same(read_runs(source, cache=cache), runs)  # which only loads
    assert_one_field(cache)


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
    assert sorted(path.name for path in cache.iterdir()) == sorted(
        [left[-1], place(cache).name, tables(cache).name, HEADER]
    )


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
    sources = {name: said[0] for name, said in json.loads((cache / HEADER).read_bytes())["sources"].items()}

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
    assert len({source.folder for source in calls}) == times + 1


def test_threads_that_write_at_once(source, cache):
    expected = {order: read_runs(source, order=order) for order in ("trec_eval", "file")}
    wrong = []

    def work(seed):
        chance = random.Random(seed)
        for _ in range(8):
            order = chance.choice(list(expected))
            try:
                if not same(read_runs(source, cache=cache, order=order, n_jobs=1), expected[order]):
                    wrong.append(order)
            except BaseException as error:
                wrong.append(error)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReuseWarning)
        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []
        for order, runs in expected.items():
            assert same(read_runs(source, cache=cache, order=order), runs)
    assert_one_field(cache)


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


def in_processes(n, source, cache, monkeypatch):
    """Read a new cache in processes that begin at once; return their numbers, and the folder of what they say."""
    said, original = cache.with_name("said"), spooling.chunks_of_lines
    said.mkdir()

    def slowly(path, *given):
        (said / f"{os.getpid()} reads {path.name}").touch()
        for data in original(path, *given):
            time.sleep(0.1)
            yield data

    monkeypatch.setattr(spooling, "chunks_of_lines", slowly)
    monkeypatch.setattr(within_memory, "_NOT_TOLD", 0.1)
    children = []
    for _ in range(n):
        children.append(fork())
        if children[-1]:
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("always")
                warnings.showwarning = lambda *_: (said / f"{os.getpid()} waits").touch()
                found = read_runs(source, cache=cache, memory="64MB")
            total = float(found.field.part(0).scores.sum())
            (said / f"{os.getpid()} has {len(found.names)} {total:.6f}").touch()
        except BaseException as error:
            (said / f"{os.getpid()} fails {type(error).__name__}: {error}"[:200].replace("/", "|")).touch()
        finally:
            os._exit(0)
    return children, said


def told_of(said, what):
    return sorted(name for name in os.listdir(said) if f" {what} " in f"{name} ")


@pytest.mark.parametrize("killed", [False, True], ids=["", "the first one is killed"])
def test_first_readers_at_once_wait_for_one_of_them(killed, source, cache, monkeypatch):
    in_pieces(monkeypatch, chunk=2000, rows=600)
    expected = read_runs(source, cache=cache.with_name("other"), memory="64MB")
    total = f"has 3 {float(expected.field.part(0).scores.sum()):.6f}"
    children, said = in_processes(6, source, cache, monkeypatch)
    if killed:
        while not told_of(said, "reads"):
            time.sleep(0.01)
        writer = int(told_of(said, "reads")[0].split()[0])
        os.kill(writer, signal.SIGKILL)
    for child in children:
        os.waitpid(child, 0)
    assert told_of(said, "fails") == []
    assert len(told_of(said, total)) == (5 if killed else 6)
    assert len(told_of(said, "waits")) >= 4
    # each file was read by one of them, but for what a killed one had not finished
    readers = {name.split()[0] for name in told_of(said, "reads")}
    assert len(readers) == (2 if killed else 1)
    assert_same_field(read_runs(source, cache=cache, memory="64MB").field, expected.field)


def test_who_waits_is_told(source, cache, messages, monkeypatch):
    monkeypatch.setattr(within_memory, "_NOT_TOLD", 0.0)
    cache.mkdir()
    held = alone(cache)
    held.__enter__()
    ends = threading.Timer(0.3, held.__exit__, (None, None, None))
    ends.start()
    runs = messages.warned(read_runs, source=source, cache=cache, memory="64MB")
    ends.join()
    assert_same_field(runs.field, read_runs(source).field)
