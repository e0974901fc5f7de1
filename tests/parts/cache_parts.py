"""A small folder of runs for the tests of the cache, and what makes two fields the same."""

from __future__ import annotations

import random

import numpy as np

#: the arrays of a field
FIELD = ["codes", "doc_starts", "file", "rank", "scores", "starts", "topic_docs", "vocabulary"]


def run_bytes(name, seed=1, topics=4):
    chance = random.Random(seed)
    lines = [
        f"{topic} Q0 doc-{doc} 0 {chance.random()} {name}\n"
        for topic in range(topics)
        for doc in chance.sample(range(300), 100)
    ]
    return "".join(lines).encode()


def same(ours, theirs):
    return (
        ours.names == theirs.names
        and ours.topics == theirs.topics
        and all(np.array_equal(getattr(ours.field, name), getattr(theirs.field, name)) for name in FIELD)
    )
