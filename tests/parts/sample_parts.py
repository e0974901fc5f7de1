"""Estimates from samples, slow and obvious: xinfAP and xinfNDCG as loops over one list, and samples to try them on.

A sample is ``{docno: (stratum, label)}`` of one topic, label -1 where a document was pooled and not judged.
"""

from __future__ import annotations

import random

import pandas as pd

from pt_reuse.data.judgments import Qrels


def strata_of(sample):
    return sorted({stratum for stratum, _ in sample.values()})


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
