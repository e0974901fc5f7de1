"""Simulate how often intervals from planned labels cover the truth.

A *population* is a set of documents with a judge's labels and people's, all of which are known here, and so is every
number. A plan is made for it once. Then 4,000 times as many documents of each stratum are drawn as the plan says, and
the interval is made from what people say of these. It takes a minute or two.
"""

import numpy as np
import pandas as pd
from store import deep, labels

import pt_reuse as ptr
from pt_reuse.studies.label_strata import Strata, numbers_of

#: name -> documents of each label, and how many of these people find relevant
MADE = {
    "good judge": ((7000, 140), (2000, 900), (1000, 930)),
    "poor judge": ((4000, 800), (4000, 1400), (2000, 900)),
    "rare errors": ((9000, 9), (1000, 995)),
    "small": ((60, 3), (25, 9), (15, 14)),
}
#: plans, as the table names them; a pilot is as many documents that people labelled before
PLANS = {
    "mean": {"target": "mean", "width": 0.1},
    "mean, pilot of 100": {"target": "mean", "width": 0.1, "pilot": 100},
    "mean, strata by topic": {"target": "mean", "width": 0.1, "by_topic": True},
    "precision": {"target": "precision", "width": 0.2},
    "precision, pilot of 100": {"target": "precision", "width": 0.1, "pilot": 100},
    "30 labels": {"target": "mean", "budget": 30},
}


def made(groups, n_topics=20):
    """Return the judge's labels and people's, of documents that are spread over topics at random."""
    parts = [pd.DataFrame({"label": at, "people": np.arange(n) < found}) for at, (n, found) in enumerate(groups)]
    every = pd.concat(parts, ignore_index=True)
    every["qid"] = np.random.default_rng(1).integers(0, n_topics, len(every)).astype(str)
    every["docno"] = [f"d{n}" for n in range(len(every))]
    return every[["qid", "docno", "label"]], every[["qid", "docno"]].assign(label=every["people"].astype(int))


def cases(data):
    """Yield populations and plans, both as the table names them, the judge's labels, people's, and options."""
    for name, groups in MADE.items():
        for words in PLANS if name != "small" else ("mean", "precision", "30 labels"):
            yield name, words, *made(groups), PLANS[words]
    runs, people = deep(data, 21, order="trec_eval")
    judge = ptr.read_qrels(labels(data, 21)["umbrela-gpt-4"])
    said, truth = (qrels.to_frame()[["qid", "docno", "label"]] for qrels in (judge, people.threshold()))
    for words, options in PLANS.items():
        yield "DL 2021, UMBRELA", words, said, truth, options
    for names in (runs.names[:1], [runs.names[0], runs.names[20]]):
        target = "mean" if len(names) == 1 else "difference"
        for width in (0.05, 0.1):
            options = {"target": target, "width": width, "runs": runs.select(names), "measure": "P@10"}
            yield "DL 2021, UMBRELA", f"{target} of P@10", said, truth, options


def covered(name, words, judge, truth, options, draws):
    """Return one row per number: its truth, how often it is covered, and the mean width."""
    if "pilot" in options:
        options = {**options, "pilot": truth.sample(options["pilot"], random_state=1)}
    plan = ptr.labels.plan_labels(judge, judge_rel=judge["label"].max(), **options)
    random, table = np.random.default_rng(2), plan.table
    left = pd.concat([plan.sample, plan.rest]).merge(truth, on=["qid", "docno"], how="left", suffixes=("", "_p"))
    relevant = left.assign(r=left["label_p"].fillna(0)).groupby("stratum")["r"].sum().reindex(table["stratum"])
    relevant = relevant.fillna(0).to_numpy(dtype=int)
    size, drawn = (table["documents"] - table["known"]).to_numpy(), table["labels"].to_numpy()
    numbers = numbers_of(table, plan.target, plan.number, plan.judge_rel)
    every = np.divide(relevant, size, out=np.zeros(len(size)), where=size > 0)
    true = [number.constant + number.weights @ every for number in numbers]
    strata, found = Strata.of(table, every), []
    for _ in range(draws):
        hits = random.hypergeometric(relevant, size - relevant, drawn)
        share = np.divide(hits, drawn, out=np.zeros(len(drawn)), where=drawn > 0)
        counted = Strata(strata.units, share, strata.cells)
        ends = [counted.interval(one, drawn.astype(float), plan.confidence, counted=True) for one in numbers]
        found.append([(end.low - 1e-9 <= at <= end.high + 1e-9, end.width) for at, end in zip(true, ends, strict=True)])
    shares = np.mean(found, axis=0)
    shown = [number.name.split(" of ")[0].removeprefix("precision, ").split(",")[0] for number in numbers]
    given = {"population": name, "plan": words, "number": shown, "labels": len(plan.sample), "truth": true}
    given["planned width"] = plan.summary["width"]
    return pd.DataFrame({**given, "width": shares[:, 1], "covered": 100 * shares[:, 0]})


def results(given):
    """Simulate, and write the table."""
    draws = given.size(4000, 20)
    found = pd.concat(given.each(covered, [(*case, draws) for case in cases(given.data)]), ignore_index=True)
    form = dict.fromkeys(("truth", "planned width", "width"), "{:.3f}".format) | {"covered": "{:.1f}".format}
    text = [
        f"{draws:,} draws of each plan: how many of 100 intervals of 95 % contain the truth, and their mean width.",
        f"Of {len(found)} numbers the least covered {found['covered'].min():.1f}, the mean is "
        f"{found['covered'].mean():.1f}.",
        "",
        found.to_string(index=False, formatters=form),
    ]
    given.write("label-plan-coverage", "\n".join(text))
