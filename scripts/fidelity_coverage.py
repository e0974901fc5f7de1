"""Simulate how often intervals of significance fidelity cover what they should, and write it into docs/experiments.

    python scripts/fidelity_coverage.py [DATA]

DATA is a folder with dl21-passages (default: PT_REUSE_DATA). A *population* is a law that topics are drawn from: the
topics of Deep Learning 2021, each as likely, with the scores of every second run under people and under a model; or
normal scores of simulated systems. A *field* is a sample of 20 or 53 of its topics. Its share of false claims hangs on
the number of topics, so the value to cover is the mean share of all fields of that size, which 2,000 of them give. It
takes about ten minutes of the processor.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from ir_measures import nDCG
from numpy.typing import NDArray

import pt_reuse as ptr
from pt_reuse.arrays.bootstrap import TopicBootstrap
from pt_reuse.arrays.significance import agreement_of_tests, drawn_agreement, pair_tests

TARGET = Path(__file__).resolve().parents[1] / "docs" / "experiments" / "fidelity-coverage.txt"
FIELDS, RESAMPLES, MANY, TOPICS = 300, 400, 2000, (20, 53)
JUDGES = ("umbrela-gpt-4", "exam-gpt-4", "binary-llama-3.2")
SHARES = ("false claims", "missed", "agreement")

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Population:
    """What topics are drawn from: many topics, each as likely.

    Attributes:
        name: in the table.
        human: (topics, runs) scores by people.
        judge: (topics, runs) scores by a judge.
    """

    name: str
    human: Floats
    judge: Floats

    def drawn(self, random: np.random.Generator, n_topics: int) -> tuple[Floats, Floats]:
        """Return the scores of a field."""
        rows = random.integers(0, len(self.human), n_topics)
        return self.human[rows], self.judge[rows]


def populations(data: Path) -> Iterator[Population]:
    """Yield the populations."""
    folder = data / "dl21-passages"
    runs = ptr.read_runs(folder / "inputs", order="trec_eval9")
    runs = runs.select(runs.names[::2])
    people = ptr.score(runs, ptr.read_qrels(folder / "qrels.gz"), nDCG @ 10).values[0]
    for name in JUDGES:
        labels = ptr.read_qrels(folder / "llm-labels" / f"{name}.gz")
        yield Population(name, people, ptr.score(runs, labels, nDCG @ 10).values[0])
    random = np.random.default_rng(5)
    mean, gain = random.normal(0.4, 0.08, 30), random.normal(0, 0.03, 30)
    human = mean + random.normal(0, 0.1, (20_000, 1)) + random.normal(0, 0.15, (20_000, 30))
    yield Population("30 simulated", human, human + gain + random.normal(0, 0.1, human.shape))


def shares(human: Floats, judge: Floats, correction: str) -> Floats:
    """Return the shares of one field."""
    found = agreement_of_tests(pair_tests(human), pair_tests(judge), 0.05, correction)
    by_judge, by_people = found.ss_a + found.ss_d + found.ns, found.ss_a + found.ss_d + found.sn
    return np.array([found.ns / max(1, by_judge), found.sn / max(1, by_people), found.agree])


def covered(population: Population, n_topics: int, correction: str) -> tuple[Floats, Floats]:
    """Return the values to cover, and of both ways (percentile, joined) how many fields cover each and how widely."""
    random = np.random.default_rng(n_topics)
    many = [shares(*population.drawn(random, n_topics), correction) for _ in range(MANY)]
    value = np.nanmean(many, axis=0)
    rows = []
    for field in range(FIELDS):
        human, judge = population.drawn(random, n_topics)
        bootstrap = TopicBootstrap(RESAMPLES, field, 0.95)
        drawn = drawn_agreement(human, judge, bootstrap, 0.05, correction)
        estimates = shares(human, judge, correction)
        row = []
        for i, draws in enumerate((drawn.only_second, drawn.only_first, drawn.agree)):
            ends = [bootstrap.percentiles(estimates[i], draws), bootstrap.interval(estimates[i], draws, within=(0, 1))]
            row.append([(low <= value[i] <= high, high - low) for low, high in ends])
        rows.append(row)
    return value, np.mean(rows, axis=0)


def row(population: str, topics: str, correction: str, cells: Sequence[str]) -> str:
    """Return a line of the table."""
    placed = [population.ljust(16), topics.rjust(6), correction.ljust(10), *(cell.center(18) for cell in cells)]
    return "  ".join(placed).rstrip()


def main(data: Path) -> None:
    """Simulate, and write the table."""
    text = [
        f"{FIELDS} fields of each population, {RESAMPLES} resamples a field, tests at the level .05.",
        "How many of 100 fields have a 95 % interval that contains the mean share of all fields of that size:",
        "the percentile interval / the one that is used, joined with its mirror image; in brackets the width",
        "of that one.",
        "",
        row("population", "topics", "correction", SHARES),
    ]
    every = list(populations(data))
    cases = [(one, n, "none") for one in every for n in TOPICS]
    cases += [(one, n, "holm") for one in every[-2:] for n in TOPICS]
    for population, n_topics, correction in cases:
        _, found = covered(population, n_topics, correction)
        cells = [f"{100 * pct:.0f} / {100 * joined:.0f} ({wide:.3f})" for (pct, _), (joined, wide) in found]
        text.append(row(population.name, str(n_topics), correction, cells))
        print(text[-1], flush=True)
    TARGET.write_text("\n".join([*text, ""]))


if __name__ == "__main__":
    default = os.environ.get("PT_REUSE_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data"
    main(Path(sys.argv[1] if len(sys.argv) > 1 else default))
