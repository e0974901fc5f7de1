"""Slow, obvious versions: rankings and measures as loops over lists and dicts, and small fields to try them on.

A run is ``{topic: {docno: score}}``, judgments are ``{topic: {docno: label}}``, as pytrec_eval takes them.
"""

from __future__ import annotations

import math
import random
import struct

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from ir_measures import AP, RBP, RR, Bpref, Judged, P, R, Rprec, Success, nDCG

from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.scoring.measures import Unjudged


def ranked(documents, order, ranks=None):
    """Order ``{docno: score}``, given in file order, by one of the four conventions."""
    if order == "file":
        return list(documents)
    if order == "rank":
        return sorted(documents, key=lambda docno: ranks[docno])

    def key(docno):
        score = documents[docno]
        if order == "trec_eval9":
            score = struct.unpack("f", struct.pack("f", score))[0]
        return score, docno.encode()

    return sorted(documents, key=key, reverse=True)


def relevant(judged, rel):
    return sum(label >= rel for label in judged.values())


def average_precision(ranking, judged, rel=1, cutoff=None):
    found, total = 0, 0.0
    for rank, docno in enumerate(ranking[:cutoff], 1):
        if judged.get(docno, -1) >= rel:
            found += 1
            total += found / rank
    return total / relevant(judged, rel) if relevant(judged, rel) else 0.0


def found_by(ranking, judged, rel, cutoff):
    return sum(judged.get(docno, -1) >= rel for docno in ranking[:cutoff])


def precision(ranking, judged, cutoff, rel=1):
    return found_by(ranking, judged, rel, cutoff) / cutoff


def recall(ranking, judged, cutoff, rel=1):
    return found_by(ranking, judged, rel, cutoff) / relevant(judged, rel) if relevant(judged, rel) else 0.0


def success(ranking, judged, cutoff, rel=1):
    return 1.0 if found_by(ranking, judged, rel, cutoff) else 0.0


def reciprocal_rank(ranking, judged, rel=1, cutoff=None):
    for rank, docno in enumerate(ranking[:cutoff], 1):
        if judged.get(docno, -1) >= rel:
            return 1 / rank
    return 0.0


def r_precision(ranking, judged, rel=1):
    r = relevant(judged, rel)
    return found_by(ranking, judged, rel, r) / r if r else 0.0


def binary_preference(ranking, judged, rel=1):
    r, n = relevant(judged, rel), sum(0 <= label < rel for label in judged.values())
    above, total = 0, 0.0
    for docno in ranking:
        label = judged.get(docno, -1)
        if label >= rel:
            total += 1.0 - min(above, r) / min(n, r) if above else 1.0
        elif label >= 0:
            above += 1
    return total / r if r else 0.0


def gain(label, dcg):
    if label <= 0:
        return 0.0
    return 2.0**label - 1 if dcg == "exp-log2" else float(label)


def discounted_gain(labels, dcg):
    total = 0.0
    for rank, label in enumerate(labels, 1):
        if label > 0:
            total += gain(label, dcg) / math.log2(rank + 1)
    return total


def ndcg(ranking, judged, cutoff=None, dcg="log2"):
    ideal = discounted_gain(sorted(judged.values(), reverse=True)[:cutoff], dcg)
    return discounted_gain([judged.get(docno, -1) for docno in ranking[:cutoff]], dcg) / ideal if ideal else 0.0


def rank_biased_precision(ranking, judged, rel, p=0.8, cutoff=None):
    total = 0.0
    for i, docno in enumerate(ranking[:cutoff]):
        if judged.get(docno, -1) >= rel:
            total += (1 - p) * p**i
    return total


def judged_share(ranking, judged, cutoff=None):
    top = ranking[:cutoff]
    return sum(docno in judged for docno in top) / len(top) if top else 0.0


def unjudged_share(ranking, judged, cutoff=None, min_label=0, of_cutoff=False):
    top = ranking[:cutoff]
    n_judged = sum(docno in judged and judged[docno] >= min_label for docno in top)
    if of_cutoff:
        return (len(top) - n_judged) / cutoff
    return 1.0 - n_judged / len(top) if top else 1.0


MEASURES = {
    "AP": average_precision, "P": precision, "R": recall, "Success": success, "RR": reciprocal_rank,
    "Rprec": r_precision, "Bpref": binary_preference, "nDCG": ndcg, "RBP": rank_biased_precision,
    "Judged": judged_share, "Unjudged": unjudged_share,
}  # fmt: skip


def score_list(measure, ranking, judged):
    """Score one ranking of one topic by an ir_measures measure."""
    params = dict(measure.params)
    gains = params.pop("gains", {})
    judged = {docno: gains.get(label, label) for docno, label in judged.items()}
    if params.pop("judged_only", False):
        ranking = [docno for docno in ranking if judged.get(docno, -1) >= 0]
    return MEASURES[measure.NAME](ranking, judged, **params)


def score_field(measures, runs, judgments, order):
    """Return ``{measure: [[score of each run] of each topic of the judgments]}``."""
    rankings = {name: {topic: ranked(run[topic], order) for topic in run} for name, run in runs.items()}
    return {
        measure: [
            [score_list(measure, rankings[name].get(topic, []), judged) for name in runs]
            for topic, judged in judgments.items()
        ]
        for measure in measures
    }


def changed(judgments, changes):
    """Return judgments with ``{(topic, docno): label}`` written over, None removing; all topics stay."""
    copy = {topic: dict(judged) for topic, judged in judgments.items()}
    for (topic, docno), label in changes.items():
        if label is None:
            del copy[topic][docno]
        else:
            copy[topic][docno] = label
    return copy


# every native measure, with all its parameters

GAINS = {-1: 1, 0: 2, 1: 0, 3: -1, 4: 9}
BY_PYTREC_EVAL = [
    AP, AP(rel=2), AP @ 5, AP(rel=3) @ 120, AP(judged_only=True), AP(judged_only=True, rel=2) @ 7,
    P @ 1, P @ 5, P @ 200, P(rel=3) @ 10, P(judged_only=True) @ 5, P(judged_only=True, rel=4) @ 100,
    R @ 5, R @ 100, R(judged_only=True) @ 5,
    nDCG, nDCG @ 3, nDCG @ 100, nDCG(judged_only=True), nDCG(judged_only=True) @ 5,
    nDCG(gains=GAINS), nDCG(gains=GAINS) @ 10, nDCG(gains=GAINS, judged_only=True),
    nDCG(gains=GAINS, judged_only=True) @ 9, R(rel=2) @ 5, R(rel=3, judged_only=True) @ 50,
    RR, RR(rel=2), RR(judged_only=True), Rprec, Rprec(rel=2), Rprec(judged_only=True), Rprec(judged_only=True, rel=3),
    Bpref, Bpref(rel=2), Bpref(rel=4), Success @ 1, Success(rel=2) @ 5, Success(judged_only=True) @ 2,
]  # fmt: skip
OURS = [
    RR @ 3, RR(rel=2) @ 10, RR(judged_only=True) @ 4, RBP(rel=1),
    RBP(rel=2, p=0.5), RBP(rel=1, p=0.95) @ 10, RBP(rel=1, p=0.0), nDCG(dcg="exp-log2"), nDCG(dcg="exp-log2") @ 7,
    nDCG(dcg="exp-log2", gains=GAINS, judged_only=True) @ 7, Judged, Judged @ 5, Unjudged, Unjudged @ 5,
    Unjudged(min_label=-1) @ 20, Unjudged(min_label=1) @ 3, Unjudged(min_label=-9), Unjudged(of_cutoff=True) @ 10,
]  # fmt: skip
NATIVE = [*BY_PYTREC_EVAL, *OURS]

# small fields

SCORES = {
    "untied": lambda chance, i: i + chance.random() / 2,
    "tied": lambda chance, i: float(chance.randint(0, 3)),
    "tied as float32": lambda chance, i: 100000 + chance.randint(0, 40) / 1000,
    "negative": lambda chance, i: -chance.random() * 10.0 ** chance.randint(-30, 30),
}


@st.composite
def fields(draw, kinds=tuple(SCORES), labels=(-2, -1, 0, 1, 2, 3, 4), max_docs=150):
    """Draw (runs, judgments): some lists short or missing, topics that only one side has, topics without relevant."""
    chance = random.Random(draw(st.integers(0, 2**32)))
    kind = draw(st.sampled_from(kinds))
    n_docs = draw(st.sampled_from([n for n in (1, 4, 12, 60, 150) if n <= max_docs]))
    topics = [str(n) for n in range(1, 1 + draw(st.integers(1, 4)))]
    docnos = [chance.choice(["d", "D-", "é", "a-rather-long-docno/"]) + str(n) for n in range(n_docs)]
    judgments = {}
    for topic in [*topics, "only-judged"]:
        held = draw(st.sampled_from([labels, labels[-5:], [n for n in labels if n <= 0], [0, 1]])) or [0]
        pool = chance.sample(docnos, chance.randint(1, n_docs))
        judgments[topic] = {docno: chance.choice(held) for docno in [*pool, "nobody-finds-it"]}
        # pytrec_eval crashes where all labels of a topic are below -1
        judgments[topic]["nobody-finds-it"] = max(-1, judgments[topic]["nobody-finds-it"])
    runs = {}
    for name in [f"run{n}" for n in range(draw(st.integers(1, 4)))]:
        has = {chance.choice(topics), *(topic for topic in [*topics, "only-run"] if chance.random() < 0.8)}
        runs[name] = {}
        for topic in sorted(has):
            found = chance.sample(docnos, chance.choice([1, chance.randint(1, n_docs), n_docs]))
            runs[name][topic] = {docno: SCORES[kind](chance, i) for i, docno in enumerate(found)}
    return runs, judgments


def as_frame(run):
    rows = [(topic, docno, score, i) for topic, found in run.items() for i, (docno, score) in enumerate(found.items())]
    return _framed(rows, ("qid", "docno", "score", "rank"))


def _framed(rows, columns):
    # as objects: pyarrow, where pandas takes it for texts, has none that are no UTF-8
    frame = pd.DataFrame(rows, columns=columns, dtype=object)
    return frame.astype({column: np.float64 if column == "score" else np.int64 for column in columns[2:]})


def as_runs(runs, order="trec_eval"):
    return RunSet.from_frames({name: as_frame(run) for name, run in runs.items()}, order=order)


def as_qrels(judgments):
    rows = [(topic, docno, label) for topic, judged in judgments.items() for docno, label in judged.items()]
    return Qrels(_framed(rows, ("qid", "docno", "label")), topics=judgments)
