"""Simulate how often prediction-powered intervals cover the truth, and write it into docs/experiments.

    python scripts/ppi_coverage.py [DATA] [JOBS]

DATA is a folder with dl19-passages and dl21-passages (default: PT_REUSE_DATA), JOBS the processes (default 2). A
*population* is a law that topics are drawn from, with the scores of all runs by people's labels and by a model's: real
topics, each as likely, or normal scores. Its means are known. A *field* is a sample of 400 topics, or of 53, of which
people label n and the model all. An interval of 95 % should contain the mean of the population in 95 of 100 fields.
Pairs of runs that score alike on more than seven topics of ten are left out: a field may have no other topic. For
documents, people label a random share of each topic's pool of depth 10; the intervals are those of the sampling alone,
and should contain the score by all of people's labels. It takes about four minutes of the processor.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from ir_measures import AP, P, nDCG
from joblib import Parallel, delayed
from numpy.typing import NDArray

import pt_reuse as ptr
from pt_reuse.arrays.prediction_powered import PLAIN, TopicValues, powered_means, t_interval
from pt_reuse.scoring.caveats import told_elsewhere

TARGET = Path(__file__).resolve().parents[1] / "docs" / "experiments" / "ppi-coverage.txt"
FIELDS, CONFIDENCE, MOST_PAIRS = 1000, 0.95, 100
#: topics that people labelled, and topics in all
LABELLED = ((10, 400), (20, 400), (30, 400), (50, 400), (20, 53))
SAMPLES, SHARES = 100, (0.1, 0.3)
JUDGES = ("umbrela-gpt-4", "binary-gpt-4o", "binary-llama-3.2")

Floats = NDArray[np.float64]
Sample = Callable[[np.random.Generator, int], tuple[Floats, Floats]]


@dataclass(frozen=True)
class Population:
    """What topics are drawn from.

    Attributes:
        name: in the table.
        sample: (n, columns) scores by people's labels and by the model's, of a generator and n.
        truth: (columns,) the means by people's labels.
    """

    name: str
    sample: Sample
    truth: Floats


def of_topics(name: str, human: Floats, judge: Floats) -> Population:
    """Return the population of which each of the given topics is as likely."""

    def sample(random: np.random.Generator, n: int) -> tuple[Floats, Floats]:
        drawn = random.integers(0, len(human), n)
        return human[drawn], judge[drawn]

    return Population(name, sample, human.mean(axis=0))


def differences(name: str, human: Floats, judge: Floats) -> Population:
    """Return the population of differences of pairs of runs."""
    first, second = np.triu_indices(human.shape[1], 1)
    often = ((human[:, first] != human[:, second]).mean(axis=0) >= 0.3).nonzero()[0]
    chosen = np.sort(np.random.default_rng(0).permutation(often)[:MOST_PAIRS])
    first, second = first[chosen], second[chosen]
    return of_topics(name, human[:, first] - human[:, second], judge[:, first] - judge[:, second])


def of_normal(agreement: float) -> Population:
    """Return normal scores of 60 systems; `agreement` is the correlation of people's with the model's."""
    mean = np.random.default_rng(1).normal(0.4, 0.1, 60)
    noise = 0.2 * np.sqrt(1 / agreement**2 - 1)

    def sample(random: np.random.Generator, n: int) -> tuple[Floats, Floats]:
        human = mean + random.normal(0, 0.2, (n, 60))
        return human, 0.2 + human + random.normal(0, noise, (n, 60))

    return Population(f"normal scores, correlation {agreement:g}", sample, mean)


def fields(data: Path) -> Iterator[tuple[str, ptr.RunSet, ptr.Qrels, dict[str, Path]]]:
    """Yield the fields: name, runs, people's labels, and judges."""
    for name, folder in (("2021", data / "dl21-passages"), ("2019", data / "dl19-passages")):
        runs = ptr.read_runs(folder / "inputs", teams=folder / "runs-pids", order="trec_eval9")
        judges = {judge: folder / "llm-labels" / f"{judge}.gz" for judge in JUDGES}
        yield name, runs, ptr.read_qrels(folder / "qrels.gz").with_rel(2), judges


def populations(data: Path) -> Iterator[Population]:
    """Yield the populations."""
    for name, runs, human, judges in fields(data):
        measures = [nDCG @ 10, P(rel=2) @ 10, AP(rel=2)]
        mine = ptr.score(runs, human, measures)
        for judge in JUDGES if name == "2021" else JUDGES[:1]:
            labels = scaled(human, judges[judge])
            theirs = ptr.score(runs, labels, measures)
            for measure, a, b in zip(mine.measures, mine.values, theirs.values, strict=True):
                if measure == "nDCG@10" or judge == JUDGES[0]:
                    yield of_topics(f"{name}, {measure}, {judge}: means", a, b)
                    yield differences(f"{name}, {measure}, {judge}: pairs", a, b)
    for agreement in (0.9, 0.7, 0.3):
        yield of_normal(agreement)


def scaled(human: ptr.Qrels, path: Path) -> ptr.Qrels:
    """Return the labels of a judge, binary ones such that 1 is as relevant as people's 2."""
    labels = ptr.read_qrels(path)
    frame = labels.to_frame()
    if frame["label"].max() <= 1:
        frame = frame.assign(label=frame["label"] * human.rel)
    return ptr.Qrels(frame, topics=human.topics)


def covered(population: Population, n: int, topics: int, seed: int) -> Floats:
    """Return means over fields and columns: three coverages, three widths, and the effective number of topics.

    These are by people's labels alone, with the model, and with the model and a variance for a lambda that is known.
    """
    random, found = np.random.default_rng(seed), np.zeros(7)
    for _ in range(FIELDS):
        human, judge = population.sample(random, topics)
        values = TopicValues(human[:n], judge[:n], judge[n:])
        means, plain = powered_means(values), powered_means(values, variance=PLAIN)
        sides = ((means.human, means.human_se), (means.estimate, means.se), (plain.estimate, plain.se))
        ends = [t_interval(*side, n, CONFIDENCE) for side in sides]
        hits = [((low <= population.truth) & (population.truth <= high)).mean() for low, high in ends]
        found += [*hits, *((high - low).mean() for low, high in ends), float(np.nanmean(means.n_eff))]
    return found / FIELDS


def covered_documents(data: Path, share: float) -> list[list[str]]:
    """Return rows: how often the intervals of sampling contain the score by all of people's labels."""
    name, runs, human, judges = next(iter(fields(data)))
    pool = ptr.depth_pool(runs, depth=10, contributors="all", order="file")  # all of it is judged
    whole, measures = pool.judge(human), ["P(rel=2)@10", "RBP(rel=2)"]
    truth = ptr.score(runs, whole, measures).mean_values
    labels = {judge: ptr.Qrels(ptr.read_qrels(judges[judge]).to_frame()) for judge in (JUDGES[0], JUDGES[-1])}
    found = {}
    with told_elsewhere():
        for seed in range(SAMPLES):
            sample = ptr.pools.sample_pool(pool, share=share, seed=seed).judge(human)
            for lam in (0.0, 1.0, None):
                said = ptr.labels.prediction_powered(
                    runs, sample, labels, measures, level="documents", lam=lam, correction="none"
                )
                for (judge, measure), rows in said.table.groupby(["judge", "measure"], sort=False):
                    right = truth[measures.index(measure)]
                    hit = (rows["sampling_low"] <= right) & (right <= rows["sampling_high"])
                    width = (rows["sampling_high"] - rows["sampling_low"]).mean()
                    away = (rows["estimate"] - right).mean()
                    found.setdefault((measure, judge, lam), []).append((hit.mean(), width, away, rows["n_eff"].mean()))
    table = []
    for measure in measures:
        for judge in labels:
            cells = [np.mean(found[measure, judge, lam], axis=0) for lam in (0.0, 1.0, None)]
            n = int(sample.counts()["judged"].sum())
            table.append(
                [
                    f"{name}, {measure}, {judge}",
                    f"{n:,}",
                    *(f"{cell[0]:.3f}" for cell in cells),
                    *(f"{cell[1]:.3f}" for cell in cells),
                    f"{cells[2][2]:+.4f}",
                    f"{cells[2][3]:,.0f}",
                ]
            )
    return table


def laid_out(rows: list[list[str]]) -> str:
    """Return rows of cells under each other, the first cell to the left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        )
        for row in rows
    ]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def main(data: Path, jobs: int) -> None:
    """Simulate, and write the tables."""
    known = list(populations(data))
    cases = [(i, *of) for i in range(len(known)) for of in LABELLED]
    found = Parallel(n_jobs=jobs)(delayed(covered)(known[i], *of, seed) for seed, (i, *of) in enumerate(cases))
    rows = [["", "", "", "cover", "", "", "width", "", "", ""]]
    rows.append(["population", "n", "of", "alone", "jack", "plain", "alone", "jack", "plain", "n_eff"])
    for (i, n, topics), (*numbers, worth) in zip(cases, found, strict=True):
        rows.append([known[i].name, str(n), str(topics), *(f"{number:.3f}" for number in numbers), f"{worth:.1f}"])
    documents = Parallel(n_jobs=jobs)(delayed(covered_documents)(data, share) for share in SHARES)
    head = [["", "", "cover", "", "", "width", "", "", "", ""]]
    head.append(["population", "n", "alone", "lam 1", "best", "alone", "lam 1", "best", "away", "n_eff"])
    shares = " and ".join(f"{share:.0%}" for share in SHARES)
    text = [
        f"Topics: {FIELDS:,} fields of 400 topics, or of 53, n of them labelled by people and all by the model.",
        "2021, 2019: Deep Learning, passages. means: scores of runs. pairs: differences of two runs.",
        "cover: in how many fields an interval of 95 % contains the truth, mean over runs or pairs of runs.",
        "width: of that interval. alone: by people's labels alone. jack: prediction-powered, variance by the",
        'jackknife. plain: with variance="plain". n_eff: the effective number of topics.',
        "",
        laid_out(rows),
        f"Documents: {SAMPLES} samples of the pool of depth 10 in the order of the files, {shares} of each topic.",
        "n: labelled documents.",
        "cover and width: of intervals of 95 % for the sampling. alone: by people's labels alone. lam 1: with",
        "lambda 1. best: with the best lambda. away: how far the estimates with the best lambda lie from the",
        "truth on average. n_eff: the effective number of documents.",
        "",
        laid_out([*head, *(row for part in documents for row in part)]),
    ]
    TARGET.write_text("\n".join(text))
    print(TARGET.read_text())


if __name__ == "__main__":
    given = sys.argv[1:2] or [os.environ.get("PT_REUSE_DATA", "../shared/data")]
    main(Path(given[0]), int(sys.argv[2]) if len(sys.argv) > 2 else 2)
