"""A small field with labels of people, of judges and of other people, and rankings of it by other libraries."""

from __future__ import annotations

import functools

import numpy as np
import pandas as pd
import pytrec_eval
from scipy.stats import kendalltau, rankdata

import pt_reuse as ptr

FIELD = ptr.demo.simulate_field(seed=7, n_topics=7, n_docs=600, n_teams=5, length=25, depth=10)
RUNS = FIELD.runs
#: measure -> what pytrec_eval calls it, of labels that are relevant from 1 on
THEIRS = {"AP": "map", "nDCG@5": "ndcg_cut_5", "P@5": "P_5", "R@5": "recall_5", "nDCG": "ndcg"}


def labels_of(qrels):
    """Return judgments as a dict of (qid, docno) -> label."""
    return {(row.qid, row.docno): int(row.label) for row in qrels.to_frame().itertuples()}


HUMAN = labels_of(FIELD.qrels)
TOPICS = FIELD.qrels.topics


def relabelled(seed, *, share=0.4, highest=2, gaps=0.0, topics=TOPICS):
    """Return labels that differ from those of people for a share of the documents, and lack some."""
    random = np.random.default_rng(seed)
    found = {}
    for pair, label in HUMAN.items():
        other, errs, lost = int(random.integers(0, highest + 1)), random.random() < share, random.random() < gaps
        if pair[0] in topics and not lost:
            found[pair] = min(other if errs else label, highest)
    return found


def as_frame(labels):
    """Return labels as a frame that the library takes."""
    return pd.DataFrame([(*pair, label) for pair, label in labels.items()], columns=["qid", "docno", "label"])


@functools.cache
def lists():
    """Return run -> topic -> document -> score."""
    return {
        name: {qid: dict(zip(part["docno"], part["score"], strict=True)) for qid, part in RUNS[name].groupby("qid")}
        for name in RUNS.names
    }


def scored(labels, measure, topics):
    """Return (topics, runs) scores by pytrec_eval."""
    nested = {qid: {} for qid in topics}
    for (qid, docno), label in labels.items():
        if qid in nested:
            nested[qid][docno] = label
    evaluator = pytrec_eval.RelevanceEvaluator(nested, {THEIRS[measure].replace("_5", ".5")})
    found = np.zeros((len(topics), len(RUNS)))
    for r, name in enumerate(RUNS.names):
        by_topic = evaluator.evaluate(lists()[name])
        found[:, r] = [by_topic.get(qid, {}).get(THEIRS[measure], 0.0) for qid in topics]
    return found


def ranks(scores):
    """Return ranks, 1 + number of better runs."""
    return rankdata(-np.round(scores, 12), method="min").astype(int)


def tau(x, y):
    """Return tau_b by scipy."""
    return float(kendalltau(np.round(x, 12), np.round(y, 12)).statistic)
