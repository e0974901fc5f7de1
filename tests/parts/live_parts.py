"""Pipelines that count for which topics they run, and stop where a test wants them to; run as a script, slowly."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import pyterrier as pt

TOPICS = pd.DataFrame({"qid": [f"t{i}" for i in range(23)], "query": [f"about {i}" for i in range(23)]})


class Live(pt.Transformer):
    """Returns results that hang on the topic, the query and a seed, in an order that is not that of scores or ranks.

    Every fifth topic has none. Scores are of 32 bits, and some are tied. What it was not made with is no part of it:
    the topic that it fails for, with which error, and how long a call takes.
    """

    def __init__(self, seed):
        self.seed = seed
        self.batches, self.fails_at, self.error, self.seconds = [], None, RuntimeError("out of memory.\nTry less"), 0.0

    def transform(self, inp):
        self.batches.append(inp["qid"].tolist())
        if self.fails_at in inp["qid"].tolist():
            raise self.error
        time.sleep(self.seconds)
        parts = [_of_topic(qid, query, self.seed) for qid, query in zip(inp["qid"], inp["query"], strict=True)]
        found = pd.concat(parts, ignore_index=True) if parts else _of_topic("", "", 0)
        # topics stand in one another
        return found.sort_values("docno", kind="stable", ignore_index=True)

    def transform_outputs(self, input_columns):
        return [*input_columns, "docno", "score", "rank", "vector"]

    @property
    def asked(self):
        return [qid for batch in self.batches for qid in batch]


def _of_topic(qid, query, seed):
    number = int(qid[1:] or 0)
    n = 0 if number % 5 == 4 else 12
    chance = np.random.default_rng([seed, number, len(query)])
    scores = np.float32(chance.integers(0, 40, n) / 7)
    return pd.DataFrame(
        {
            "qid": pd.Series([qid] * n, dtype=object),
            "query": pd.Series([query] * n, dtype=object),
            "docno": pd.Series([f"é{doc}" for doc in chance.choice(60, n, replace=False)], dtype=object),
            "score": scores,
            "rank": chance.permutation(n),
            "vector": [np.ones(2)] * n,
        }
    )


def same(ours, theirs):
    """Return whether two fields are the same, bit for bit, in each order."""
    if ours.names != theirs.names or ours.topics != theirs.topics:
        return False
    orders = ("trec_eval", "trec_eval9", "rank", "file")
    return all(ours.reorder(order)[name].equals(theirs.reorder(order)[name]) for order in orders for name in ours.names)
