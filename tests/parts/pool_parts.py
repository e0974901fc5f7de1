"""Inference of a pool, slow and obvious, and small fields to try it on.

A field is {run: {topic: [documents, best first]}}, judged is a set of (topic, document).
"""

from __future__ import annotations

import pandas as pd
from hypothesis import strategies as st

from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.studies.pool_search import Fitter, JudgedRanks, judged_codes


def as_runs(field, **metadata):
    frames = {}
    for name, lists in field.items():
        rows = [(topic, doc, -rank) for topic, docs in lists.items() for rank, doc in enumerate(docs)]
        frames[name] = pd.DataFrame(rows, columns=["qid", "docno", "score"]).astype(
            {"qid": str, "docno": str, "score": float}
        )
    return RunSet.from_frames(frames, **metadata)


def as_qrels(judged, label=0):
    rows = sorted(judged)
    return Qrels(pd.DataFrame({"qid": [t for t, _ in rows], "docno": [d for _, d in rows], "label": label}))


def fitter(runs, qrels, tolerance=0.0, **options):
    ranks = JudgedRanks(runs.field, judged_codes(runs.field, qrels))
    return Fitter(ranks, tolerance, **options)


def top(lists, topics, depths):
    return [(topic, doc) for topic in topics for doc in lists.get(topic, [])[: depths[topic]]]


def pool_of(field, names, topics, depths):
    return {pair for name in names for pair in top(field[name], topics, depths)}


DOCS = [f"d{i}" for i in range(9)]
TOPICS = ["1", "2", "3"]


@st.composite
def fields(draw, most_runs=6):
    field = {}
    for r in range(draw(st.integers(1, most_runs))):
        if field and draw(st.integers(0, 4)) == 0:
            field[f"r{r}"] = field[draw(st.sampled_from(sorted(field)))]  # a copy
            continue
        field[f"r{r}"] = {
            topic: draw(st.lists(st.sampled_from(DOCS), unique=True, max_size=7))
            for topic in TOPICS[: draw(st.integers(1, 3))]
        }
    if not any(field["r0"].values()):
        field["r0"] = {"1": ["d0"]}
    return field


@st.composite
def pooled_fields(draw):
    """Return a field, its contributors, a depth, and the judged set: all of their pool and, perhaps, noise."""
    field = draw(fields())
    names = draw(st.lists(st.sampled_from(sorted(field)), min_size=1, unique=True))
    depth = draw(st.integers(1, 6))
    judged = pool_of(field, names, TOPICS, dict.fromkeys(TOPICS, depth))
    if draw(st.booleans()):
        judged = judged ^ draw(st.sets(st.tuples(st.sampled_from(TOPICS), st.sampled_from(DOCS)), max_size=4))
    return field, names, depth, judged


def comparable(field, judged):
    """Whether a field and a judged set can be compared at all: some run has a document for a judged topic."""
    return bool({t for t, _ in judged} & {t for lists in field.values() for t, docs in lists.items() if docs})


HAND = {
    "A": {"1": ["a", "b", "c", "x1"], "2": ["p", "q", "r"]},
    "B": {"1": ["b", "d", "a", "x2"], "2": ["q", "s", "p"]},
    "twin1": {"1": ["e", "a", "b", "x3"], "2": ["p", "q", "r"]},
    "twin2": {"1": ["a", "e", "b", "x4"], "2": ["q", "p", "r"]},
    "lucky": {"1": ["b", "a"], "2": ["p"]},
    "not": {"1": ["a", "x6", "b"], "2": ["p"]},
}


def hand(**metadata):
    judged = pool_of(HAND, ["A", "B", "twin1"], ["1", "2"], {"1": 3, "2": 3})
    return as_runs(HAND, **metadata), as_qrels(judged)
