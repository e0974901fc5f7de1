"""Kill processes at random moments while they write a cache or save; as a script, it tells figures as JSON.

A process that has imported the library forks the workers, so that a worker costs no start.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import sys
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from forking import fork

from pt_reuse.data import packed_files as files
from pt_reuse.data import parsing
from pt_reuse.data.run_set import read_runs
from pt_reuse.data.store import NAME
from pt_reuse.errors import ReuseWarning
from pt_reuse.result import Result

ORDERS = ("trec_eval", "file")


def kill_workers(work, kills, processes, seconds, seed=1):
    """Keep so many workers at work, and kill one after another, each after up to so many seconds; return how many."""
    chance, alive = random.Random(seed), []
    try:
        for number in range(kills):
            while len(alive) < processes:
                alive.append(_forked(work, seed * 1000 + number * 10 + len(alive)))
            time.sleep(chance.uniform(0, seconds))
            _kill(alive.pop(chance.randrange(len(alive))))
    finally:
        for worker in alive:
            _kill(worker)
    return kills + len(alive)


def _forked(work, seed):
    worker = fork()
    if worker:
        return worker
    try:
        warnings.simplefilter("ignore", ReuseWarning)
        chance = random.Random(seed)
        while True:
            work(chance)
    except BaseException as error:
        # a worker ends by being killed; anything else is a fault, which the parent sees by the exit code
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        sys.stderr.flush()
    finally:
        os._exit(3)


def _kill(worker):
    ended, code = os.waitpid(worker, os.WNOHANG)
    assert not ended, f"a worker ended by itself: {code}"
    os.kill(worker, signal.SIGKILL)
    os.waitpid(worker, 0)


def kill_cache_writers(source, cache, kills, processes, seconds):
    """Kill workers that replace one cache; return figures, what lies about and whether a quiet call is right."""

    def work(chance):
        # the other of the two fields each time, so that there is always something to write
        for order in chance.sample(ORDERS, 2):
            runs = read_runs(source, cache=cache, order=order, n_jobs=1)
            assert _figures(runs) == expected[order]

    expected = {order: _figures(read_runs(source, order=order)) for order in ORDERS}
    killed = kill_workers(work, kills, processes, seconds)
    lying = sorted(path.name for path in cache.iterdir())
    warnings.simplefilter("ignore", ReuseWarning)
    right = _figures(read_runs(source, cache=cache)) == expected["trec_eval"]
    left = sorted(path.name.split("-")[0] for path in cache.iterdir())
    return {"killed": killed, "lying about": len(lying) - 1, "right": right, "left": left}


def _figures(runs):
    return runs.names, len(runs.field.codes), runs.field.scores.sum().item(), runs.field.codes[:500].tolist()


def kill_memory_writers(source, cache, kills, seconds):
    """Kill a worker that reads within memory again and again; return figures, and whether a quiet call is right."""
    cut = parsing.neighbours
    files._CHUNK, parsing._CHUNK_BYTES = 2000, 2000
    parsing.neighbours = lambda sizes, most: cut(sizes, 900)
    whole = cache.with_name("whole")
    begun = time.perf_counter()
    expected = read_runs(source, cache=whole, memory="64MB").to_frame()
    seconds = seconds or (time.perf_counter() - begun)
    killed = kill_workers(lambda _: _read_anew(source, cache), kills, 1, seconds)
    right = read_runs(source, cache=cache, memory="64MB").to_frame().equals(expected)
    return {"killed": killed, "right": right, "left": sorted(path.name.split("-")[0] for path in cache.iterdir())}


def _read_anew(source, cache):
    with contextlib.suppress(FileNotFoundError):
        (cache / NAME).unlink()
    read_runs(source, cache=cache, memory="64MB")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Numbered(Result):
    """A result all of whose parts say one number."""

    other: pd.DataFrame
    values: np.ndarray
    number: int

    @classmethod
    def of(cls, number):
        # of different sizes, and with a table that not every number has
        table = pd.DataFrame({"number": np.full(300 + number % 7, number)})
        return cls(
            table=table, other=table.head(2), values=np.full(500, number), number=number, settings={"of": number}
        )

    def tables(self):
        return {"table": self.table, "again": self.table} if self.number % 2 else {"table": self.table}

    def numbers(self):
        """Return the numbers that its parts say: one, unless they are of several results."""
        parts = (self.table["number"], self.other["number"], self.values, [self.number, self.settings["of"]])
        return {int(number) for part in parts for number in part}


if __name__ == "__main__":
    what, place, kills, processes, seconds = sys.argv[1:]
    kills, processes, seconds = int(kills), int(processes), float(seconds)
    if what == "cache":
        figures = kill_cache_writers(Path(place) / "runs", Path(place) / "cache", kills, processes, seconds)
    else:
        figures = kill_memory_writers(Path(place) / "runs", Path(place) / "store", kills, seconds)
    sys.stdout.write(json.dumps(figures))
