"""Swap rates of all pairs of 129 systems, against a loop over pairs in Python and a loop over chunks of samples in numpy.

    python benchmarks/stability.py [DATA]

DATA is a folder with trec8-adhoc (default: PT_REUSE_DATA, or ../shared/data beside the checkout). 8,256 pairs of systems,
5,000 pairs of samples, ten topic-set sizes, 21 bins. The peers do a part of the work and are scaled. Every route runs in a
process of its own, so that peak memory is its own; counts are compared, pair for pair, before any time is reported. Times
are of the clock and of the processor: on a busy machine the second are those to look at.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

SIZES, PAIRS, BINS, WIDTH = range(5, 51, 5), 5000, 21, 0.01
#: how many pairs of samples of each size the peers count, and how many systems the loop over pairs has
LOOPED, CHUNKED, CHUNK = 20, 500, 25


def draws(size: int, n_topics: int) -> np.ndarray:
    return np.random.default_rng([0, size]).integers(0, n_topics, (PAIRS, 2, size))


def fill(work: Path, data: Path) -> dict:
    """Score the runs, in a process of its own: a child is said to need what its parent does."""
    import pt_reuse as ptr

    runs = ptr.read_runs(data / "inputs", teams=data / "runs-pids")
    scores = ptr.score(runs, ptr.read_qrels(data / "trec8.qrels.gz"), ["AP", "P@10"])
    np.save(work / "scores.npy", scores.values)
    scores.save(work / "scores")
    return {}


def literal(work: Path) -> dict:
    """Loop over pairs of systems in plain Python; the means are numpy's."""
    found = []
    values = np.load(work / "scores.npy")[0]
    wall, cpu = time.perf_counter(), time.process_time()
    for size in SIZES:
        pairs, swaps = [0] * BINS, [0] * BINS
        for first, second in draws(size, len(values))[:LOOPED]:
            a = np.round(values[first].mean(axis=0), 12).tolist()
            b = np.round(values[second].mean(axis=0), 12).tolist()
            for i in range(len(a)):
                for j in range(i + 1, len(a)):
                    d1, d2 = a[i] - a[j], b[i] - b[j]
                    at = min(BINS - 1, int(round(abs(d1), 9) / WIDTH + 1e-9))
                    pairs[at] += 1
                    if d1 * d2 < 0:
                        swaps[at] += 1
        found.append([pairs, swaps])
    seconds = times(wall, cpu, PAIRS / LOOPED)
    np.save(work / "literal.npy", found)
    return seconds


def chunks(work: Path) -> dict:
    """Loop over chunks of pairs of samples in numpy, all pairs of systems of a chunk at once."""
    found = []
    values = np.load(work / "scores.npy")[0]
    i, j = np.triu_indices(values.shape[1], 1)
    wall, cpu = time.perf_counter(), time.process_time()
    for size in SIZES:
        pairs, swaps = np.zeros(BINS, dtype=int), np.zeros(BINS, dtype=int)
        drawn = draws(size, len(values))[:CHUNKED]
        for start in range(0, CHUNKED, CHUNK):
            part = drawn[start : start + CHUNK]
            a, b = (np.round(values[part[:, which]].mean(axis=1), 12) for which in (0, 1))
            d1, d2 = a[:, i] - a[:, j], b[:, i] - b[:, j]
            at = np.minimum(BINS - 1, (np.round(np.abs(d1), 9) / WIDTH + 1e-9).astype(int))
            pairs += np.bincount(at.ravel(), minlength=BINS)
            swaps += np.bincount(at[d1 * d2 < 0], minlength=BINS)
        found.append([pairs, swaps])
    seconds = times(wall, cpu, PAIRS / CHUNKED)
    np.save(work / "chunks.npy", found)
    return seconds


def ours(work: Path) -> dict:
    return _ours(work, None)


def ours_in_two_jobs(work: Path) -> dict:
    return _ours(work, 2)


def _ours(work: Path, n_jobs: int | None) -> dict:
    """Count everything, by the public function; and the parts that the peers count, to compare."""
    import pt_reuse as ptr
    from pt_reuse.arrays.bootstrap import Bins, TopicSums, count_swaps
    from pt_reuse.scoring.scores import Scores

    scores: Scores = ptr.read_result(work / "scores")
    alone = Scores.from_frame(scores.per_topic[scores.per_topic["measure"] == "AP"])
    ptr.profile.stability(alone, sizes=5, pairs=10, n_jobs=n_jobs)  # imports
    best: dict = {}
    for _ in range(3):
        wall, cpu = time.perf_counter(), time.process_time()
        table = ptr.profile.stability(alone, pairs=PAIRS, n_jobs=n_jobs).table
        now = times(wall, cpu, 1)
        best = min(best or now, now, key=lambda found: found["cpu"])
    peak = peak_mb()
    sums, bins = TopicSums(alone.values[0]), Bins.of(WIDTH, BINS)
    for name, n in (("literal", LOOPED), ("chunks", CHUNKED)):
        counted = [count_swaps(sums, draws(size, len(alone.topics))[:n], bins) for size in SIZES]
        np.save(work / f"ours-{name}.npy", counted)
    counts = table[["pairs", "swaps"]].to_numpy().reshape(len(SIZES), BINS, 2).transpose(0, 2, 1)
    whole = [count_swaps(sums, draws(size, len(alone.topics)), bins) for size in SIZES]
    if not np.array_equal(counts, whole):
        sys.exit("The draws are not those that stability makes.")
    return {**best, "peak": peak, "counted": int(counts[:, 0].sum())}


def times(wall: float, cpu: float, scale: float) -> dict:
    return {"wall": (time.perf_counter() - wall) * scale, "cpu": (time.process_time() - cpu) * scale}


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


ROUTES: dict[str, Callable] = {route.__name__: route for route in (fill, literal, chunks, ours, ours_in_two_jobs)}


def run(route: str, *folders: Path) -> dict:
    print(f"... {route}", file=sys.stderr, flush=True)
    command = [sys.executable, __file__, "--route", route, *map(str, folders)]
    finished = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(finished.stdout.splitlines()[-1])


def main(data: Path) -> None:
    if not (data / "inputs").is_dir():
        sys.exit(f"{data}: no TREC-8 runs there. Give the folder that holds trec8-adhoc, or set PT_REUSE_DATA.")
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        run("fill", work, data)
        found = {route: run(route, work) for route in ROUTES if route != "fill"}
        for peer in ("literal", "chunks"):
            if not np.array_equal(np.load(work / f"{peer}.npy"), np.load(work / f"ours-{peer}.npy")):
                sys.exit(f"The counts are not those of the peer {peer!r}.")
    print(f"{found['ours']['counted']:,} pairs; the counts of the peers' parts are equal to ours.\n")
    print(
        "| route | clock, s | CPU, s | peak MB | literal / it, CPU | chunks / it, CPU | literal / it, clock | chunks / it, clock |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for name, route in found.items():
        ratios = [found[peer][kind] / route[kind] for kind in ("cpu", "wall") for peer in ("literal", "chunks")]
        cells = " | ".join(f"{ratio:,.1f}" for ratio in ratios)
        print(
            f"| {name.replace('_', ' ')} | {route['wall']:.2f} | {route['cpu']:.2f} | {route['peak']:.0f} | {cells} |"
        )


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1] == "--route":
        result = ROUTES[sys.argv[2]](*map(Path, sys.argv[3:]))
        print(json.dumps({"peak": peak_mb(), **result}))
    else:
        default = os.environ.get("PT_REUSE_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data"
        main(Path(sys.argv[1] if len(sys.argv) > 1 else default) / "trec8-adhoc")
