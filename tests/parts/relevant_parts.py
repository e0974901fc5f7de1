"""Small fields with judgments of several grades, for studies of relevant documents."""

from __future__ import annotations

import numpy as np
import pandas as pd
from hypothesis import strategies as st

import pt_reuse as ptr
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.pooling.scorers import Scorer

DOCS = [f"d{n}" for n in range(8)]


def as_runs(lists, **labels):
    """Return runs of name -> topic -> documents, the best first."""
    frames = {}
    for name, topics in lists.items():
        rows = [(qid, docno, float(-n)) for qid, docnos in topics.items() for n, docno in enumerate(docnos)]
        frames[name] = pd.DataFrame(rows, columns=["qid", "docno", "score"]).astype({"qid": str, "docno": str})
    return RunSet.from_frames(frames, **labels)


def as_qrels(labels, **options):
    """Return judgments of topic -> document -> label."""
    rows = [(qid, docno, label) for qid, of in labels.items() for docno, label in of.items()]
    frame = pd.DataFrame(rows, columns=["qid", "docno", "label"]).astype({"qid": str, "docno": str, "label": int})
    return Qrels(frame, topics=list(labels), **options)


class Near(Scorer):
    """Scores by how near the number of a document is to those of the relevant examples; ties are frequent.

    It stands here, where another process can import it.
    """

    def __init__(self, docnos):
        self.docnos = np.array(docnos, dtype=object)

    def documents(self, qid):
        return self.docnos

    def fit(self, qid, query, training):
        good = training.documents[training.relevant]
        places = np.arange(len(self.docnos))
        return -np.abs(places[:, None] - good[None]).min(axis=1, initial=99).astype(float) // 3


@st.composite
def fields(draw, *, least=1):
    """Draw (lists of runs, labels of topics): each run has the first topic, some have the second."""
    names = [f"r{n}" for n in range(draw(st.integers(least, 4)))]
    lists = {}
    for name in names:
        lists[name] = {"1": draw(st.lists(st.sampled_from(DOCS), min_size=1, unique=True))}
        if draw(st.booleans()):
            lists[name]["2"] = draw(st.lists(st.sampled_from(DOCS), min_size=1, unique=True))
    grade = st.integers(-1, 3)
    labels = {qid: draw(st.dictionaries(st.sampled_from(DOCS), grade, min_size=1)) for qid in ("1", "2")}
    return lists, labels


def simulated(seed=3, **options):
    """Return a small simulated field."""
    return ptr.demo.simulate_field(
        seed=seed, **{"n_topics": 6, "n_docs": 60, "n_teams": 4, "length": 15, "depth": 4, **options}
    )
