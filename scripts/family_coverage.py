"""Simulate how often intervals of the effect of a judge on a family cover the truth.

Each field is simulated: 18 runs of nine teams, with true labels for every document, which people know. A judge *without
bias* errs at random, whoever retrieved a document (ptr.judging.Noisy with a known confusion matrix): the interval of
its effect on any family should contain 0 in 95 of 100 fields. A judge *with a bias* errs in the same way, and then
raises by one the label of some documents that the family has among its first ten: the interval should lie above 0. It
takes about ten minutes of the processor.
"""

import warnings

import numpy as np
import pandas as pd
from store import laid_out

import pt_reuse as ptr

CONFUSION = {0: [0.85, 0.10, 0.05], 1: [0.20, 0.60, 0.20], 2: [0.10, 0.20, 0.70]}
#: the family in words -> which runs are of it
FAMILIES = {
    "6 runs, each type": lambda table: table["team"].isin(["team-1", "team-2", "team-3"]),
    "6 runs, best type": lambda table: table["type"] == "manual",
    "1 run": lambda table: table["name"] == table["name"].iloc[7],
}
#: of the documents that the family has among its first ten, the share that a biased judge raises
BIASES = (0.0, 0.1, 0.3)
NUMBERS = [("rank", "others"), ("rank", "matched"), ("rank", "alone"), ("score", "others"), ("score", "matched")]


def judged(field, family, bias, seed):
    """Return the labels of a judge that errs at random, and raises some documents of a family."""
    labels = field.all_qrels.to_frame()[["qid", "docno"]]
    judge = ptr.judging.Noisy(field.all_qrels, CONFUSION, seed=seed)
    labels["label"] = judge(labels)["label"].astype(int).to_numpy()
    mine = field.results["name"].isin(family) & (field.results["rank"] < 10)
    theirs = labels.merge(field.results.loc[mine, ["qid", "docno"]].drop_duplicates(), how="left", indicator=True)
    raised = (theirs["_merge"] == "both").to_numpy() & (np.random.default_rng(seed).random(len(labels)) < bias)
    return ptr.Qrels(labels.assign(label=np.minimum(labels["label"] + raised, 2)))


def effects(seed, n_topics, family, bias):
    """Return the effect and the ends of its interval, for each of the numbers."""
    warnings.simplefilter("ignore", ptr.ReuseWarning)
    field = ptr.demo.simulate_field(seed=seed, n_topics=n_topics, n_docs=400, length=30)
    mine = FAMILIES[family](field.run_table)
    metadata = pd.DataFrame({"name": field.run_table["name"], "family": np.where(mine, "family", None)})
    labels = judged(field, set(field.run_table["name"][mine]), bias, seed + 1000)
    runs = field.runs.with_metadata(metadata=metadata)
    table = ptr.labels.family_effect(runs, field.all_qrels, labels, "nDCG@10").table.set_index("against")
    return [[table.loc[against, f"{of}_effect{end}"] for end in ("", "_low", "_high")] for of, against in NUMBERS]


def results(given):
    """Simulate, and write the table."""
    seeds, rows = given.size(200, 2), [["family", "effect on", "topics", "bias", "fields", "cover", "above", "mean"]]
    for n, family, bias in [(n, family, bias) for n in (25, 50) for family in FAMILIES for bias in BIASES]:
        every = given.each(effects, [(seed, n, family, bias) for seed in range(seeds)])
        for (of, against), found in zip(NUMBERS, np.array(every).transpose(1, 0, 2), strict=True):
            effect, low, high = found[~np.isnan(found[:, 1])].T
            cells = ["", "", ""]
            if len(effect):
                cover, above = (100 * np.mean(hits) for hits in ((low <= 0) & (high >= 0), low > 0))
                cells = [f"{cover:.1f}", f"{above:.1f}", f"{effect.mean():+.3f}"]
            rows.append([family, f"{of}, {against}", str(n), f"{bias:.1f}", str(len(effect)), *cells])
    head = (
        f"The effect of a judge on a family of 18 simulated runs by nDCG@10, {seeds} fields each, 1,000 resamples.\n"
        "cover: of 100 intervals of 95 %, how many contain 0. above: how many lie above it.\n"
        "mean: of the effect.\n"
        "family: each type is three teams, one of each type; best type is the three teams of the best one.\n"
        "bias: the share of the family's first ten documents that the judge raises by one label.\n"
        "fields: those with an interval; where runs are matched, those with a matched run.\n\n"
    )
    given.write("family-coverage", head + laid_out(rows, left=2))
