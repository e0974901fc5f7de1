"""Simulate how often intervals of agreement between judges and people cover that of the population.

    python scripts/label_interval_coverage.py [DATA]

DATA is a folder with dl19-passages and dl21-passages (default: PT_REUSE_DATA). A *population* is all topics of a track,
each as likely, with how often each label of people meets each of a judge; its kappa, and so on, is known. A *field* is
a sample of 10, 20, 40 or 80 of them with replacement; from it comes the estimate, and by drawing its topics again an
interval. An interval of 95 % should contain the figure of the population in 95 of 100 fields. It writes
docs/experiments/label-agreement-coverage.txt and takes about five minutes.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import pt_reuse as ptr
from pt_reuse.arrays.bootstrap import TopicBootstrap
from pt_reuse.judge import as_judges
from pt_reuse.judging.compare_labels import BothLabelled, figures_of, scale_of
from pt_reuse.studies.judged_fields import compared_labels

TARGET = Path(__file__).resolve().parents[1] / "docs" / "experiments" / "label-agreement-coverage.txt"
FIELDS, RESAMPLES, CONFIDENCE, TOPICS = 1000, 500, 0.95, (10, 20, 40, 80)
FIGURES = ("agreement", "kappa", "alpha_nominal", "judge_relevant", "surplus", "precision", "recall")
#: figures of which the column of the table has another name
SHORT = {"alpha_nominal": "alpha", "judge_relevant": "relevant"}
WAY = ("all", "binary")
Floats = NDArray[np.float64]


def populations(data: Path) -> dict[str, BothLabelled]:
    """Return track and judge -> how often each two labels meet, by topic."""
    found = {}
    for track in ("dl19", "dl21"):
        folder = data / f"{track}-passages"
        human = ptr.read_qrels(folder / "qrels.gz", rel=2)
        judges = {path.name.removesuffix(".gz"): path for path in sorted((folder / "llm-labels").glob("*.gz"))}
        for judge in as_judges(judges, rel={"exam-gpt-4": 2}):
            both = compared_labels(human, judge)
            found[f"{track} {judge.name}"] = BothLabelled.of(both, scale_of([both]))
    return found


def figures(population: BothLabelled, sums: Floats) -> Floats:
    """Return (figures, n) of (n, human, judge) sums."""
    found = figures_of(population.ways(sums), WAY)
    return np.stack([found[figure] for figure in FIGURES])


def hits(population: BothLabelled, n: int, random: np.random.Generator) -> Floats:
    """Return (percentile and expanded, figures): in which share of the fields the interval contains the truth."""
    counts = population.counts
    truth = figures(population, counts.sum(axis=0, keepdims=True))[:, 0]
    found = np.zeros((2, len(FIGURES)))
    for _ in range(FIELDS):
        field = counts[random.integers(0, len(counts), n)]
        bootstrap = TopicBootstrap(RESAMPLES, int(random.integers(1 << 31)), CONFIDENCE)
        sums = bootstrap.counts(n).astype(float) @ field.reshape(n, -1)
        drawn = figures(population, sums.reshape(RESAMPLES, *field.shape[1:]))
        estimate = figures(population, field.sum(axis=0, keepdims=True))[:, 0]
        for way, how in enumerate((bootstrap, bootstrap.expanded(n))):
            for at, value in enumerate(truth):
                low, high = how.percentiles(float(estimate[at]), drawn[at])
                found[way, at] += low <= value <= high
    return found / FIELDS


def row(topics: str, interval: str, cells: list[str]) -> str:
    """Return a line of the table."""
    return "  ".join([topics.rjust(6), interval.ljust(10), *(cell.rjust(9) for cell in cells)])


def main(data: Path) -> None:
    """Simulate and write."""
    random = np.random.default_rng(0)
    lines = [
        f"{FIELDS:,} fields of each number of topics, {RESAMPLES} resamples, relevant or not: in how many of 100 an",
        "interval of 95 % contains the figure of the population; the mean of ten populations (five judges on",
        "Deep Learning 2019 and 2021), and in brackets the least. alpha: alpha_nominal. relevant:",
        "judge_relevant, the share that the judge calls relevant.",
        "",
        row("topics", "interval", [SHORT.get(figure, figure) for figure in FIGURES]),
    ]
    cases = populations(data)
    for n in TOPICS:
        found = np.stack([hits(population, n, random) for population in cases.values()])
        for way, name in enumerate(("percentile", "expanded")):
            cells = [f"{100 * part.mean():.1f} ({100 * part.min():.0f})" for part in found[:, way].T]
            lines.append(row(str(n), name, cells))
    TARGET.write_text("\n".join([*lines, ""]))
    print(TARGET.read_text())


if __name__ == "__main__":
    default = os.environ.get("PT_REUSE_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data"
    main(Path(sys.argv[1] if len(sys.argv) > 1 else default))
