"""Simulate how often intervals over runs hold the agreement of two leaderboards, into docs/experiments/drawn-runs.txt.

    python scripts/run_interval_coverage.py [--smallest]

10 to 87 runs have two scores each. *normal* and *heavy* (t of 2 degrees) scores are correlated; *tied* are normal ones
rounded to a quarter of a deviation; of *odd* one run in 20 has a second score of its own. The truth is that of 24,000
runs.
"""

import argparse
from pathlib import Path

import numpy as np

from pt_reuse.studies.compare_leaderboards import agreement_of_means, ends_over_runs

TARGET = Path(__file__).resolve().parents[1] / "docs" / "experiments" / "drawn-runs.txt"
NUMBERS = ("tau_b", "gamma", "tau_ap_b", "spearman", "pearson")


def drawn(random: np.random.Generator, runs: int, correlation: float, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Return two scores of each run."""
    first = random.normal(size=runs)
    second = correlation * first + np.sqrt(1 - correlation**2) * random.normal(size=runs)
    if kind == "heavy":
        scale = np.sqrt(2 / random.chisquare(2, runs))
        return first * scale, second * scale
    if kind == "tied":
        return np.round(4 * first) / 4, np.round(4 * second) / 4
    if kind == "odd":
        second = np.where(random.random(runs) < 0.05, random.normal(size=runs) - 1, second)
    return first, second


def row(runs: int, correlation: float, kind: str, fields: int) -> str:
    """Return the share of intervals that hold the truth, and the share of fields that have one of tau_b."""
    random = np.random.default_rng(0)
    many = [drawn(random, 3000, correlation, kind) for _ in range(8)]
    of_many = agreement_of_means(*(np.array(side) for side in zip(*many, strict=True)))
    held: dict[str, list[bool]] = {name: [] for name in NUMBERS}
    for _ in range(fields):
        ends = ends_over_runs(*drawn(random, runs, correlation, kind), 0.95)
        for name in NUMBERS:
            low, high = ends[f"{name}_low"], ends[f"{name}_high"]
            if not np.isnan(low):
                held[name].append(bool(low <= of_many[name].mean() <= high))
    shares = "  ".join(f"{np.mean(held[name]):{len(name)}.3f}" if held[name] else len(name) * "-" for name in NUMBERS)
    return f"{kind:6}  {of_many['tau_b'].mean():4.2f}  {runs:4}  {shares}  {len(held['tau_b']) / fields:.3f}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--smallest", action="store_true", help="draw 3 fields and write nothing")
    smallest = parser.parse_args().smallest
    fields = 3 if smallest else 400
    kinds, correlations = ("normal", "heavy", "tied", "odd"), (0.5, 0.9, 0.99)
    cases = [(runs, correlation, kind) for kind in kinds for correlation in correlations for runs in (10, 30, 87)]
    lines = [f"scores   tau  runs  {'  '.join(NUMBERS)}  with an interval", *(row(*case, fields) for case in cases)]
    print("\n".join(lines))
    if not smallest:
        TARGET.write_text("\n".join(lines) + "\n", encoding="utf-8")
