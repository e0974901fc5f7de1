"""Strategies, slow and obvious: each choice is worked out anew from the lists and from all labels so far.

A topic is a list of runs in the order in which they are tried, each a list of (document, score), best first. Documents
are names. Labels are {document: True, False, or None for one that the judge skips}.
"""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from pt_reuse.arrays.lists import offsets
from pt_reuse.pooling.adaptive.bandits import TopicLists


def best_rank(runs, doc):
    return min(run.index(doc) for run in runs if doc in run)


def numbered(runs):
    """Return the documents of the runs by best rank, those of one rank by name, descending."""
    docs = sorted({doc for run in runs for doc in run}, reverse=True)
    return sorted(docs, key=lambda doc: best_rank(runs, doc))


def topic_of(runs, qid="1"):
    docs = [[doc for doc, _ in run] for run in runs]
    names = numbered(docs)
    codes = np.array([names.index(doc) for run in docs for doc in run], dtype=np.int64)
    scores = np.array([float(score) for run in runs for _, score in run])
    starts = offsets(np.array([len(run) for run in docs], dtype=np.int64))
    return TopicLists(qid, tuple(f"r{i}" for i in range(len(runs))), tuple(names), starts, codes, scores)


def term(run, i, j):
    """Return what documents i and j, when both are relevant, add to AP times the number of relevant documents."""
    return 1 / max(run.index(i) + 1, run.index(j) + 1) if i in run and j in run else 0.0


def pair_changes(one, other, doc, docs, known):
    """Return what one label changes for two runs: in the certain difference if relevant, in the possible one if not."""

    def c(i, j):
        return term(one, i, j) - term(other, i, j)

    others = [j for j in docs if j != doc]
    if_relevant = c(doc, doc) + sum(c(doc, j) for j in others if known.get(j) is True)
    if_not = c(doc, doc) + sum(c(doc, j) for j in others if known.get(j) is not False)
    return if_relevant, if_not


@st.composite
def topics(draw, most_runs=5, most_docs=8):
    """Return (runs, labels): short and empty lists, copies of others, ties of scores, skipped documents."""
    docs = [f"d{i}" for i in range(draw(st.integers(1, most_docs)))]
    runs = []
    for _ in range(draw(st.integers(1, most_runs))):
        if runs and draw(st.integers(0, 3)) == 0:
            runs.append(draw(st.sampled_from(runs)))
            continue
        listed = draw(st.lists(st.sampled_from(docs), unique=True, max_size=len(docs)))
        scores = sorted(draw(st.lists(st.integers(0, 6), min_size=len(listed), max_size=len(listed))), reverse=True)
        runs.append(list(zip(listed, scores, strict=True)))
    if not any(runs):
        runs[0] = [("d0", 1)]
    found = {doc for run in runs for doc, _ in run}
    return runs, {doc: draw(st.sampled_from([True, True, False, False, None])) for doc in sorted(found)}
