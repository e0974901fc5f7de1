"""Readers and writers of one cache at the same time."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import warnings
from types import SimpleNamespace

import pytest
from cache_parts import SETTINGS, assert_one_field, place, same, sources_of

from pt_reuse._errors import ReuseWarning
from pt_reuse._files import Alone, alone
from pt_reuse.data import store
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
