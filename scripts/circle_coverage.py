"""Simulate how often intervals of the gains of re-ranked runs cover what they should, for docs/experiments.

    python scripts/circle_coverage.py [DATA]

DATA is a folder with dl21-passages (default: PT_REUSE_DATA). The law that topics are drawn from is that of Deep
Learning 2021: each of its topics as likely, with the mean gain of every second run under people and under the model by
whose labels they are re-ranked. It takes about half a minute of the processor.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from ir_measures import nDCG
from numpy.typing import NDArray

import pt_reuse as ptr
from pt_reuse.arrays.bootstrap import TopicBootstrap
from pt_reuse.data.judgment_changes import rerank_by_labels

TARGET = Path(__file__).resolve().parents[1] / "docs" / "experiments" / "circle-coverage.txt"
FIELDS, RESAMPLES, TOPICS, DEPTH = 2000, 400, (10, 20, 53), 10
JUDGES = ("umbrela-gpt-4", "binary-gpt-4o", "exam-gpt-4", "binary-llama-3.2")

Floats = NDArray[np.float64]


def populations(data: Path) -> Iterator[tuple[str, str, Floats]]:
    """Yield the judge, whose gain it is, and (topics,) mean gains of the runs."""
    folder = data / "dl21-passages"
    runs = ptr.read_runs(folder / "inputs", order="trec_eval9")
    runs = runs.select(runs.names[::2])
    people = ptr.read_qrels(folder / "qrels.gz", rel=2)
    for name in JUDGES:
        labels = ptr.read_qrels(folder / "llm-labels" / f"{name}.gz")
        reranked = rerank_by_labels(runs, labels, DEPTH)
        honest, own = (
            (ptr.score(reranked, qrels, nDCG @ 10).values[0] - ptr.score(runs, qrels, nDCG @ 10).values[0]).mean(axis=1)
            for qrels in (people, labels)
        )
        yield name, "people", honest
        yield name, "the judge", own
        yield name, "difference", own - honest


def covered(gains: Floats, n_topics: int) -> tuple[Floats, float]:
    """Return how many of 100 fields cover the mean by percentiles and by the t interval, and how wide the latter is."""
    random, mean = np.random.default_rng(n_topics), gains.mean()
    found = []
    for field in range(FIELDS):
        drawn = gains[random.integers(0, len(gains), n_topics)]
        bootstrap = TopicBootstrap(RESAMPLES, field, 0.95)
        means, estimate = bootstrap.counts(n_topics) @ drawn / n_topics, float(drawn.mean())
        ends = bootstrap.percentiles(estimate, means), bootstrap.t_interval(estimate, means, n_topics)
        found.append([*(low <= mean <= high for low, high in ends), ends[1][1] - ends[1][0]])
    percentile, student, width = np.mean(found, axis=0)
    return 100 * np.array([percentile, student]), float(width)


def row(judge: str, scorer: str, skew: str, cells: list[str]) -> str:
    """Return a line of the table."""
    return "  ".join([judge.ljust(16), scorer.ljust(10), skew.rjust(5), *(cell.center(19) for cell in cells)]).rstrip()


def main(data: Path) -> None:
    """Simulate, and write the table."""
    text = [
        f"Mean gains in nDCG@10 of runs re-ranked by a judge, {FIELDS:,} fields of each law, {RESAMPLES} resamples.",
        "How many of 100 fields have a 95 % interval that contains the mean of the law: the percentile",
        "interval / the one that is used, t from the same draws; in brackets the width of that one.",
        "gain under: people, the judge itself, or the gain under the judge less that under people.",
        "skew: of the law, over topics.",
        "",
        row("re-ranked by", "gain under", "skew", [f"{n} topics" for n in TOPICS]),
    ]
    for judge, scorer, gains in populations(data):
        skew = float(((gains - gains.mean()) ** 3).mean() / gains.std() ** 3)
        cells = []
        for n_topics in TOPICS:
            (percentile, student), width = covered(gains, n_topics)
            cells.append(f"{percentile:.1f} / {student:.1f} ({width:.3f})")
        text.append(row(judge, scorer, f"{skew:+.1f}", cells))
        print(text[-1], flush=True)
    TARGET.write_text("\n".join([*text, ""]))


if __name__ == "__main__":
    default = os.environ.get("PT_REUSE_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data"
    main(Path(sys.argv[1] if len(sys.argv) > 1 else default))
