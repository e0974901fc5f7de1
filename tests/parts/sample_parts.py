"""Estimates from samples, slow and obvious: xinfAP and xinfNDCG as loops over one list, and samples to try them on.

A sample is ``{docno: (stratum, label)}`` of one topic, label -1 where a document was pooled and not judged.
"""

from __future__ import annotations

import math
import random

import pandas as pd

from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet


def strata_of(sample):
    return sorted({stratum for stratum, _ in sample.values()})


def count(sample, stratum, of_label):
    return sum(s == stratum and of_label(label) for s, label in sample.values())


def weight(sample, stratum):
    judged = count(sample, stratum, lambda label: label >= 0)
    return count(sample, stratum, lambda label: True) / judged if judged else 0.0


def slow_xinfap(ranking, sample, rel=1, cutoff=None, epsilons=3e-5):
    """Return the mean over the relevant documents, sampled or not, of the expected precision at each."""
    estimated = {s: weight(sample, s) * count(sample, s, lambda label: label >= rel) for s in strata_of(sample)}
    total = sum(estimated.values())
    if not total:
        return 0.0
    mean = 0.0
    for stratum in strata_of(sample):
        precisions = []
        for rank, docno in enumerate(ranking[:cutoff], 1):
            if docno in sample and sample[docno][0] == stratum and sample[docno][1] >= rel:
                expected = 1.0
                for other in strata_of(sample):
                    above = [sample[d][1] for d in ranking[: rank - 1] if d in sample and sample[d][0] == other]
                    judged = [label for label in above if label >= 0]
                    share = (sum(label >= rel for label in judged) + 1e-5) / (len(judged) + epsilons)
                    expected += len(above) * share
                precisions.append(expected / rank)
        n = count(sample, stratum, lambda label: label >= rel)
        if n:
            mean += estimated[stratum] / total * sum(precisions) / n
    return mean


def slow_xinfndcg(ranking, sample, cutoff=None):
    grades = sorted({label for _, label in sample.values() if label > 0}, reverse=True)
    ideal = []
    for grade in grades:
        number = sum(weight(sample, s) * count(sample, s, grade.__eq__) for s in strata_of(sample))
        ideal += [grade] * int(number + 0.5)
    best = sum(gain / math.log2(rank + 1) for rank, gain in enumerate(ideal[:cutoff], 1))
    if not best:
        return 0.0
    found = 0.0
    for stratum in strata_of(sample):
        mine = [(r, sample[d][1]) for r, d in enumerate(ranking[:cutoff], 1) if d in sample and sample[d][0] == stratum]
        judged = [(rank, label) for rank, label in mine if label >= 0]
        gain = sum(label / math.log2(rank + 1) for rank, label in judged)
        found += gain * len(mine) / len(judged) if judged else 0.0
    return found / best


def some_samples(seed, n_topics=5, pooled=40, shares=(1.0, 0.5, 0.2)):
    """Return rankings {topic: documents} and samples {topic: sample} with as many strata as shares."""
    draw = random.Random(seed)
    docs = [f"d{i:02}" for i in range(60)]
    rankings, samples = {}, {}
    for t in range(1, n_topics + 1):
        rankings[str(t)] = draw.sample(docs, draw.randint(20, 50))
        samples[str(t)] = {}
        for docno in draw.sample(docs, pooled):
            stratum = draw.randrange(len(shares))
            judged = draw.random() < shares[stratum]
            samples[str(t)][docno] = (f"s{stratum}", draw.choice([0, 0, 0, 1, 1, 2]) if judged else -1)
    return rankings, samples


def sample_qrels(samples):
    rows = [(t, d, s, label) for t, sample in samples.items() for d, (s, label) in sample.items()]
    return Qrels(pd.DataFrame(rows, columns=["qid", "docno", "stratum", "label"]))


def one_run(rankings, name="A"):
    rows = [(t, d, -float(r)) for t, docs in rankings.items() for r, d in enumerate(docs)]
    return RunSet.from_frames({name: pd.DataFrame(rows, columns=["qid", "docno", "score"])})
