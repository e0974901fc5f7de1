"""Readers and writers of one cache at the same time."""

from __future__ import annotations

import gzip
import random
import subprocess
import sys
import threading
import warnings

import pytest
from cache_parts import SETTINGS, run_bytes, same

from pt_reuse._errors import ReuseWarning
from pt_reuse.formats import cache as field_cache
from pt_reuse.formats.read_field import ReadField
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


def test_arrays_replaced_between_header_and_arrays(source, cache, monkeypatch):
    runs = read_runs(source, cache=cache)
    original = field_cache._load_arrays
    calls = []

    def overtaken(folder, header):
        if not calls:
            # another process keeps the same field anew just now
            read = ReadField(runs.field, runs.names, runs.dropped, None)
            field_cache.store(folder, read, header["sources"], SETTINGS)
        calls.append(header["arrays"])
        return original(folder, header)

    monkeypatch.setattr(field_cache, "_load_arrays", overtaken)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert same(read_runs(source, cache=cache), runs)
    assert len(set(calls)) == 2


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
    assert not [path for path in cache.iterdir() if path.name.startswith(".")]  # no temporary file


def test_processes_that_write_at_once(source, cache):
    code = (
        "import sys, warnings, pt_reuse as ptr\n"
        "warnings.simplefilter('ignore')\n"
        "for i in range(6):\n"
        "    order = ['trec_eval', 'file'][(i + int(sys.argv[3])) % 2]\n"
        "    runs = ptr.read_runs(sys.argv[1], cache=sys.argv[2], order=order)\n"
        "    assert len(runs.field.codes) == 3600 and abs(float(runs.field.scores.sum()) - float(sys.argv[4])) < 1e-6\n"
    )
    total = str(float(read_runs(source).field.scores.sum()))
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(source), str(cache), str(i), total], stderr=subprocess.PIPE, text=True
        )
        for i in range(3)
    ]
    assert [process.communicate()[1] for process in processes] == [""] * 3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReuseWarning)
        assert same(read_runs(source, cache=cache), read_runs(source))
