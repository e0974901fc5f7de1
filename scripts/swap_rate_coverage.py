"""Simulate how often intervals of swap rates cover the rate of the population, and write it into docs/experiments.

    python scripts/swap_rate_coverage.py [DATA] [JOBS]

DATA is a folder with trec8-adhoc (default: PT_REUSE_DATA), JOBS the processes (default 2). A *population* is a law that
topics are drawn from: those of TREC-8 ad hoc, each as likely, with the AP of 22 runs; or normal scores of 22 simulated
systems. Its swap rate is that of two samples of topics drawn from it. A *field* is a sample of 25 or 50 topics; from it
come the swap rates by bin and their intervals. An interval of 95 % should contain the rate of the population in 95 of
100 fields. It takes about eight minutes of the processor.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from ir_measures import AP
from joblib import Parallel, delayed
from numpy.typing import NDArray

import pt_reuse as ptr
from pt_reuse.arrays.bootstrap import TopicBootstrap
from pt_reuse.arrays.swaps import Bins, TopicSums, count_swaps
from pt_reuse.studies.stability import Sampling, topics_of

TARGET = Path(__file__).resolve().parents[1] / "docs" / "experiments" / "swap-rate-coverage.txt"
FIELDS, RESAMPLES, CONFIDENCE, RUNS = 60, 100, 0.95, 22
#: pairs of samples: of a field, of a resample as the library has it, of the population, which has so many topics
PAIRS, RESAMPLED, OF_POPULATION, POPULATION = 2000, 500, 20_000, 40_000
#: bins with fewer pairs or swaps in the population are left out
LEAST_PAIRS, LEAST_SWAPS = 2000, 200
WAYS = ("percentile", "basic", "joined")
BINS = Bins.of(0.01, 21)

Floats = NDArray[np.float64]
Sample = Callable[[np.random.Generator, int], Floats]


def populations(data: Path) -> dict[str, Sample]:
    """Return name -> what draws topics."""
    folder = data / "trec8-adhoc"
    runs = ptr.read_runs(folder / "inputs", teams=folder / "runs-pids")
    ap = ptr.score(runs, ptr.read_qrels(folder / "trec8.qrels.gz"), AP).values[0][:, :: -(-len(runs) // RUNS)]
    mean = np.random.default_rng(0).normal(0.3, 0.07, RUNS)

    def simulated(random: np.random.Generator, n: int) -> Floats:
        return mean + random.normal(0, 0.1, (n, 1)) + random.normal(0, 0.12, (n, RUNS))

    return {
        f"TREC-8, AP, {ap.shape[1]} runs": lambda random, n: ap[random.integers(0, len(ap), n)],
        f"{RUNS} simulated systems": simulated,
    }


def rates(counts: NDArray[np.int64]) -> Floats:
    """Return (bins,) swap rates, NaN where there is no pair."""
    return np.divide(counts[1], counts[0], out=np.full(counts.shape[1:], np.nan), where=counts[0] > 0)


def covered(sample: Sample, n_topics: int, size: int, replace: bool) -> tuple[float, dict[str, tuple[float, float]]]:
    """Return by how much rates are too low, and way -> shares of intervals that cover, and that lie too low."""
    every = TopicSums(sample(np.random.default_rng(5), POPULATION))
    drawn = np.random.default_rng(1).integers(0, POPULATION, (OF_POPULATION, 2, size))
    counts = sum(count_swaps(every, drawn[at : at + 500], BINS) for at in range(0, OF_POPULATION, 500))
    right, random = rates(counts), np.random.default_rng(n_topics)
    bins = np.flatnonzero((counts[0] >= LEAST_PAIRS) & (counts[1] >= LEAST_SWAPS))
    found: dict[str, list[tuple[bool, bool]]] = {way: [] for way in WAYS}
    lower = []
    for field in range(FIELDS):
        sums, samples = TopicSums(sample(random, n_topics)), Sampling(PAIRS, replace, field).draws(size, n_topics)
        estimates, bootstrap = rates(count_swaps(sums, samples, BINS)), TopicBootstrap(RESAMPLES, field, CONFIDENCE)
        lists = topics_of(bootstrap.counts(n_topics))
        again = np.stack([rates(count_swaps(sums, topics[samples[:RESAMPLED]], BINS)) for topics in lists])
        for at in bins[~np.isnan(estimates[bins])]:
            estimate = float(estimates[at])
            low, high = bootstrap.percentiles(estimate, again[:, at])
            mirrored = 2 * estimate - high, 2 * estimate - low
            joined = bootstrap.interval(estimate, again[:, at], within=(0, 1))
            for way, (a, b) in zip(WAYS, ((low, high), mirrored, joined), strict=True):
                found[way].append((a <= right[at] <= b, b < right[at]))
            lower.append(right[at] - estimate)
    return float(np.mean(lower)), {way: tuple(np.mean(rows, axis=0)) for way, rows in found.items()}


def main(data: Path, jobs: int) -> None:
    """Simulate, and write the table."""
    known = populations(data)
    cases = [
        (name, n, size, replace)
        for name in known
        for n in (25, 50)
        for size, replace in ((n, True), (n // 2, True), (n // 2, False))
    ]
    found = Parallel(n_jobs=jobs, prefer="threads")(delayed(covered)(known[name], *case) for name, *case in cases)
    lines = [
        f"Swap rates by bins of .01 of {FIELDS} fields each, {PAIRS:,} pairs of samples, {RESAMPLES} resamples of",
        f"{RESAMPLED} pairs of samples. How many of 100 intervals of 95 % contain the swap rate of the population,",
        "in brackets how many lie too low; and by how much the rates of fields are too low.",
        "",
        f"{'population':<23}  {'topics':>6}  {'sample':>6}  {'replace':>7}"
        + "".join(f"  {way:>10}" for way in WAYS)
        + f"  {'too low by':>10}",
    ]
    for (name, n, size, replace), (lower, shares) in zip(cases, found, strict=True):
        cells = "".join(f"  {f'{100 * hit:.0f} ({100 * low:.0f})':>10}" for hit, low in shares.values())
        lines.append(f"{name:<23}  {n:>6}  {size:>6}  {'yes' if replace else 'no':>7}{cells}  {lower:>10.4f}")
    means = [np.mean([shares[way][0] for _, shares in found]) for way in WAYS]
    lines.append(f"{'mean':<48}" + "".join(f"  {f'{100 * mean:.0f}':>10}" for mean in means))
    TARGET.write_text("\n".join([*lines, ""]))
    print(TARGET.read_text())


if __name__ == "__main__":
    given = sys.argv[1:2] or [os.environ.get("PT_REUSE_DATA", "../shared/data")]
    main(Path(given[0]), int(sys.argv[2]) if len(sys.argv) > 2 else 2)
