"""Simulate how often intervals of the effect of a judge on a family cover the truth; write it into docs/experiments.

    python scripts/family_coverage.py [SEEDS] [JOBS]

SEEDS is the number of fields (default 200), JOBS the processes (default 2). Each field is simulated: 18 runs of nine
teams, with true labels for every document, which people know. A judge *without bias* errs at random, whoever retrieved
a document (ptr.judging.Noisy with a known confusion matrix): the interval of its effect on any family should contain 0
in 95 of 100 fields. A judge *with a bias* errs in the same way, and then raises by one the label of some documents that
the family has among its first ten: the interval should lie above 0. It takes about ten minutes of the processor.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

import pt_reuse as ptr
from pt_reuse.demo.simulated import SimulatedField

TARGET = Path(__file__).resolve().parents[1] / "docs" / "experiments" / "family-coverage.txt"
CONFUSION = {0: [0.85, 0.10, 0.05], 1: [0.20, 0.60, 0.20], 2: [0.10, 0.20, 0.70]}
#: the family in words -> which runs are of it: team of the run, its type, its number
FAMILIES = {
    "6 runs, each type": lambda table: table["team"].isin(["team-1", "team-2", "team-3"]),
    "6 runs, best type": lambda table: table["type"] == "manual",
    "1 run": lambda table: table["name"] == table["name"].iloc[7],
}
#: of the documents that the family has among its first ten, the share that a biased judge raises
BIASES = (0.0, 0.1, 0.3)
NUMBERS = [("rank", "others"), ("rank", "matched"), ("rank", "alone"), ("score", "others"), ("score", "matched")]


def judged(field: SimulatedField, family: set[str], bias: float, seed: int) -> ptr.Qrels:
    """Return the labels of a judge that errs at random, and raises some documents of a family."""
    labels = field.all_qrels.to_frame()[["qid", "docno"]]
    judge = ptr.judging.Noisy(field.all_qrels, CONFUSION, seed=seed)
    labels["label"] = judge(labels)["label"].astype(int).to_numpy()
    mine = field.results["name"].isin(family) & (field.results["rank"] < 10)
    theirs = labels.merge(field.results.loc[mine, ["qid", "docno"]].drop_duplicates(), how="left", indicator=True)
    raised = (theirs["_merge"] == "both").to_numpy() & (np.random.default_rng(seed).random(len(labels)) < bias)
    return ptr.Qrels(labels.assign(label=np.minimum(labels["label"] + raised, 2)))


def one(seed: int, n_topics: int, which: str, bias: float) -> list[tuple[float, float, float, float]]:
    """Return the effect, the ends of its interval and the plain difference of scores, for each of the numbers."""
    warnings.simplefilter("ignore", ptr.ReuseWarning)
    field = ptr.demo.simulate_field(seed=seed, n_topics=n_topics, n_docs=400, length=30)
    mine = FAMILIES[which](field.run_table)
    metadata = pd.DataFrame({"name": field.run_table["name"], "family": np.where(mine, "family", None)})
    runs = field.runs.with_metadata(metadata=metadata)
    labels = judged(field, set(field.run_table["name"][mine]), bias, seed + 1000)
    table = ptr.labels.family_effect(runs, field.all_qrels, labels, "nDCG@10").table.set_index("against")
    found = []
    for of, against in NUMBERS:
        row, name = table.loc[against], f"{of}_effect"
        plain = row["change"] - row["others_change"]
        found.append((row[name], row[f"{name}_low"], row[f"{name}_high"], plain))
    return found


def row(cells: list[str]) -> str:
    """Return a line of the table: words to the left, numbers to the right."""
    widths = (-17, 6, 4, -14, 6, 5, 5, 8, 8)
    placed = [cell.ljust(-wide) if wide < 0 else cell.rjust(wide) for cell, wide in zip(cells, widths, strict=True)]
    return "  ".join(placed).rstrip()


def main(seeds: int, jobs: int) -> None:
    """Simulate, and write the table."""
    cases = [(n, which, bias) for n in (25, 50) for which in FAMILIES for bias in BIASES]
    lines = [
        f"The effect of a judge on a family of 18 simulated runs by nDCG@10, {seeds} fields each, 1,000 resamples.",
        "cover: of 100 intervals of 95 %, how many contain 0. above: how many lie above it.",
        "mean: of the effect.",
        "family: each type is three teams, one of each type; best type is the three teams of the best one.",
        "bias: the share of the family's first ten documents that the judge raises by one label.",
        "fields: those with an interval; where runs are matched, those with a matched run.",
        "plain: mean difference of the changes of score, which the scale of the judge moves, too.",
        "",
        row(["family", "topics", "bias", "effect on", "fields", "cover", "above", "mean", "plain"]),
    ]
    for n, which, bias in cases:
        every = Parallel(n_jobs=jobs)(delayed(one)(seed, n, which, bias) for seed in range(seeds))
        for (of, against), rows in zip(NUMBERS, np.array(every).transpose(1, 0, 2), strict=True):
            effect, low, high, plain = rows[~np.isnan(rows[:, 1])].T
            numbers = ["", "", ""]
            if len(effect):
                covers = 100 * np.mean((low <= 0) & (high >= 0))
                numbers = [f"{covers:.1f}", f"{100 * np.mean(low > 0):.1f}", f"{effect.mean():+.3f}"]
            shown = f"{plain.mean():+.3f}" if of == "score" and len(plain) else ""
            lines.append(row([which, str(n), f"{bias:.1f}", f"{of}, {against}", str(len(effect)), *numbers, shown]))
    TARGET.write_text("\n".join([*lines, ""]))
    print(TARGET.read_text())


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200, int(sys.argv[2]) if len(sys.argv) > 2 else 2)
