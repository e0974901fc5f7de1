"""Simulate how often intervals from planned labels cover the truth, and write it into docs/experiments.

    python scripts/label_plan_coverage.py [DATA]

DATA is a folder with dl21-passages (default: PT_REUSE_DATA). A *population* is a set of documents with a judge's labels
and people's, all of which are known here, and so is every number. A plan is made for it once. Then 4,000 times as many
documents of each stratum are drawn as the plan says, and the interval is made from what people say of these. It takes
a minute or two.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import pt_reuse as ptr
from pt_reuse.studies.label_strata import Strata, numbers_of
from pt_reuse.studies.plan_labels import LabelPlan

TARGET = Path(__file__).resolve().parents[1] / "docs" / "experiments" / "label-plan-coverage.txt"
DRAWS = 4000
#: name -> documents of each label, and how many of these people find relevant
MADE = {
    "good judge": ((7000, 140), (2000, 900), (1000, 930)),
    "poor judge": ((4000, 800), (4000, 1400), (2000, 900)),
    "rare errors": ((9000, 9), (1000, 995)),
    "small": ((60, 3), (25, 9), (15, 14)),
}


@dataclass(frozen=True)
class Case:
    """A plan, and what people would say of every document.

    Attributes:
        name: of the population.
        words: of the plan.
        plan: the plan.
        truth: all labels of people, 0 and 1.
    """

    name: str
    words: str
    plan: LabelPlan
    truth: pd.DataFrame


def made(groups: tuple[tuple[int, int], ...], n_topics: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the judge's labels and people's, of documents that are spread over topics at random."""
    random, parts = np.random.default_rng(1), []
    for label, (documents, relevant) in enumerate(groups):
        parts.append(pd.DataFrame({"label": label, "people": np.arange(documents) < relevant}))
    every = pd.concat(parts, ignore_index=True)
    every["qid"] = random.integers(0, n_topics, len(every)).astype(str)
    every["docno"] = [f"d{n}" for n in range(len(every))]
    return every[["qid", "docno", "label"]], every[["qid", "docno"]].assign(label=every["people"].astype(int))


def cases(data: Path) -> Iterator[Case]:
    """Yield the plans."""
    ways: list[tuple[str, dict[str, Any]]] = [
        ("mean", {"target": "mean", "width": 0.1}),
        ("mean, pilot of 100", {"target": "mean", "width": 0.1, "pilot": 100}),
        ("mean, strata by topic", {"target": "mean", "width": 0.1, "by_topic": True}),
        ("precision", {"target": "precision", "width": 0.2}),
        ("precision, pilot of 100", {"target": "precision", "width": 0.1, "pilot": 100}),
        ("30 labels", {"target": "mean", "budget": 30}),
    ]
    for name, groups in MADE.items():
        labels, truth = made(groups, 20)
        yield from _planned(name, labels, truth, ways if name != "small" else [ways[0], ways[3], ways[5]])
    folder = data / "dl21-passages"
    people = ptr.read_qrels(folder / "qrels.gz", rel=2)
    judge = ptr.read_qrels(folder / "llm-labels" / "umbrela-gpt-4.gz")
    truth = people.threshold().to_frame()[["qid", "docno", "label"]]
    labels = judge.to_frame()[["qid", "docno", "label"]]
    yield from _planned("DL 2021, UMBRELA", labels, truth, ways)
    runs = ptr.read_runs(folder / "inputs")
    for names in (runs.names[:1], [runs.names[0], runs.names[20]]):
        target = "mean" if len(names) == 1 else "difference"
        for width in (0.05, 0.1):
            options = {"target": target, "width": width, "runs": runs.select(names), "measure": "P@10"}
            yield from _planned("DL 2021, UMBRELA", labels, truth, [(f"{target} of P@10", options)])


def _planned(
    name: str, labels: pd.DataFrame, truth: pd.DataFrame, ways: list[tuple[str, dict[str, Any]]]
) -> Iterator[Case]:
    for words, options in ways:
        chosen = dict(options)
        if "pilot" in chosen:
            chosen["pilot"] = truth.sample(chosen["pilot"], random_state=1)
        yield Case(name, words, ptr.labels.plan_labels(labels, judge_rel=labels["label"].max(), **chosen), truth)


def covered(case: Case) -> pd.DataFrame:
    """Return one row per number: its truth, how often it is covered, and the mean width."""
    plan, random = case.plan, np.random.default_rng(2)
    left = pd.concat([plan.sample, plan.rest]).merge(case.truth, on=["qid", "docno"], how="left", suffixes=("", "_p"))
    relevant = left.assign(r=left["label_p"].fillna(0)).groupby("stratum")["r"].sum().reindex(plan.table["stratum"])
    relevant = relevant.fillna(0).to_numpy(dtype=int)
    size = (plan.table["documents"] - plan.table["known"]).to_numpy()
    drawn = plan.table["labels"].to_numpy()
    numbers = numbers_of(plan.table, plan.target, plan.number, plan.judge_rel)
    every = np.divide(relevant, size, out=np.zeros(len(size)), where=size > 0)
    true = [number.constant + number.weights @ every for number in numbers]
    strata = Strata.of(plan.table, every)
    hits, widths = np.zeros(len(numbers)), np.zeros(len(numbers))
    for _ in range(DRAWS):
        found = random.hypergeometric(relevant, size - relevant, drawn)
        share = np.divide(found, drawn, out=np.zeros(len(drawn)), where=drawn > 0)
        counted = Strata(strata.units, share, strata.cells)
        for n, number in enumerate(numbers):
            interval = counted.interval(number, drawn.astype(float), plan.confidence, counted=True)
            hits[n] += interval.low - 1e-9 <= true[n] <= interval.high + 1e-9
            widths[n] += interval.width
    return pd.DataFrame(
        {
            "population": case.name,
            "plan": case.words,
            "number": [number.name.split(" of ")[0].removeprefix("precision, ").split(",")[0] for number in numbers],
            "labels": len(plan.sample),
            "truth": true,
            "planned width": plan.summary["width"],
            "width": widths / DRAWS,
            "covered": hits / DRAWS,
        }
    )


def main(data: Path) -> None:
    """Simulate, and write the table."""
    found = pd.concat([covered(case) for case in cases(data)], ignore_index=True)
    hit = 100 * found["covered"]
    places = dict.fromkeys(("truth", "planned width", "width"), "{:.3f}".format)
    text = [
        f"{DRAWS:,} draws of each plan: how many of 100 intervals of 95 % contain the truth, and their mean width.",
        f"Of {len(found)} numbers the least covered {hit.min():.1f}, the mean is {hit.mean():.1f}.",
        "",
        found.assign(covered=hit).to_string(index=False, formatters={**places, "covered": "{:.1f}".format}),
    ]
    TARGET.write_text("\n".join([*text, ""]))
    print(TARGET.read_text())


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("PT_REUSE_DATA", "../shared/data")))
