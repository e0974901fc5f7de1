"""A small folder of runs for the tests of the cache, and what makes two fields the same."""

from __future__ import annotations

import json
import random

import numpy as np

from pt_reuse.data.store import HEADER

#: how runs are read where nothing is said of it
SETTINGS = {
    "order": "trec_eval", "names": "tag", "duplicates": "error", "bad_lines": "error", "other_files": "error",
}  # fmt: skip
#: the arrays of a field
FIELD = ["codes", "doc_starts", "scores", "starts", "topic_docs", "vocabulary"]


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
        and all(
            np.array_equal(getattr(getattr(ours.field, order), name), getattr(getattr(theirs.field, order), name))
            for order in ("file", "rank")
            for name in ("lists", "starts", "at", "values")
        )
    )


def header_of(cache):
    return json.loads((cache / HEADER).read_bytes())


def sources_of(cache):
    return dict(header_of(cache)["sources"])


def place(cache):
    return cache / header_of(cache)["place"]


def block(cache):
    """Return the one block of a cache."""
    (path,) = place(cache).glob("*.block")
    return path


def tables(cache):
    return place(cache) / "index"


def assert_one_field(cache):
    """A cache holds one field and nothing else."""
    assert {path.name for path in cache.iterdir()} == {place(cache).name, HEADER}
    assert len(list(place(cache).iterdir())) == 1 + len(header_of(cache)["ends"])
