"""Every completion of small fields, scored by formulas of their own: what bounds are held to."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
from ir_measures import AP, RBP, RR, P, R, Rprec, Success, nDCG

import pt_reuse as ptr

#: `rel` of some is above every label of some fields
MEASURES = [
    P @ 3, P(rel=2) @ 3, P(rel=3) @ 2, Success @ 2, Success(rel=2) @ 3, RR, RR(rel=3), R @ 3, R(rel=2) @ 4, AP, AP @ 3,
    AP(rel=2), AP(rel=4), Rprec, Rprec(rel=2), nDCG, nDCG @ 3, nDCG(dcg="exp-log2") @ 3, RBP(rel=1, p=0.7),
    RBP(rel=2, p=0.6), RBP(rel=2, p=0.6) @ 3,
]  # fmt: skip


def small_field(seed, systems=3, topics=2, documents=6, length=4, tops=(1, 2, 3, 4)):
    """Return runs and judgments, ``{run: {qid: [docno]}}`` and ``{qid: {docno: label}}``; the last topic alone is sure
    to have the highest label."""
    random = np.random.default_rng(seed)
    docnos, top = [f"d{i}" for i in range(documents)], int(random.choice(tops))
    runs = {
        f"s{s}": {
            str(t + 1): random.permutation(docnos)[: random.integers(1, length + 1)].tolist() for t in range(topics)
        }
        for s in range(systems)
    }
    labels = {}
    for t in range(topics):
        judged = random.permutation(docnos)[: random.integers(2, documents)]
        mine = random.choice([-2, -1, 0, 0, 1, 2, 3], size=len(judged), p=[0.05, 0.1, 0.3, 0.1, 0.25, 0.1, 0.1])
        labels[str(t + 1)] = {"x": 0, **dict(zip(judged.tolist(), np.minimum(mine, top).tolist(), strict=True))}
    labels[str(topics)]["y"] = top
    return runs, labels


def frames_of(runs):
    """Return the results of each run as a frame."""
    return {
        name: pd.DataFrame(
            [(qid, docno, -float(i)) for qid, docnos in lists.items() for i, docno in enumerate(docnos)],
            columns=["qid", "docno", "score"],
        ).assign(query="q")
        for name, lists in runs.items()
    }


def field_of(runs):
    return ptr.RunSet.from_frames({name: frame.drop(columns="query") for name, frame in frames_of(runs).items()})


def qrels_of(labels):
    rows = [(qid, docno, label) for qid, judged in labels.items() for docno, label in judged.items()]
    return pd.DataFrame(rows, columns=["qid", "docno", "label"])


def highest_of(labels):
    return max(1, *(label for judged in labels.values() for label in judged.values()))


def seen(measure, docnos):
    """Return the documents of a list that a measure sees."""
    return docnos[: measure.params.get("cutoff")]


def score(measure, ranked, every):
    """Return (completions,) scores of (completions, ranks) labels of a list and (completions, documents) of a topic."""
    cutoff, rel, p = (measure.params.get(name, usual) for name, usual in (("cutoff", None), ("rel", 1), ("p", 0.8)))
    ranked = ranked[:, :cutoff]
    ranks, relevant, n_relevant = np.arange(1, ranked.shape[1] + 1), ranked >= rel, (every >= rel).sum(axis=1)
    if measure.NAME == "P":
        return relevant.sum(axis=1) / cutoff
    if measure.NAME == "Success":
        return relevant.any(axis=1).astype(float)
    if measure.NAME == "RR":
        return (relevant / ranks).max(axis=1, initial=0)
    if measure.NAME == "RBP":
        return (relevant * (1 - p) * p ** (ranks - 1.0)).sum(axis=1)
    if measure.NAME == "R":
        return relevant.sum(axis=1) / np.maximum(n_relevant, 1)
    if measure.NAME == "AP":
        return (relevant * relevant.cumsum(axis=1) / ranks).sum(axis=1) / np.maximum(n_relevant, 1)
    if measure.NAME == "Rprec":
        return (relevant & (ranks <= n_relevant[:, None])).sum(axis=1) / np.maximum(n_relevant, 1)
    gains, ideal = (np.maximum(of, 0).astype(float) for of in (ranked, -np.sort(-every, axis=1)[:, :cutoff]))
    if measure.params.get("dcg") == "exp-log2":
        gains, ideal = 2.0**gains - 1, 2.0**ideal - 1
    sums = [(of / np.log2(np.arange(2, of.shape[1] + 2))).sum(axis=1) for of in (gains, ideal)]
    return sums[0] / np.where(sums[1] > 0, sums[1], 1)


def completed(judged, holes, top):
    """Return the documents of a topic, and (completions, documents) their labels; of others unjudged ones are 0."""
    docnos = [*holes, *(docno for docno in judged if docno not in holes)]
    fixed = [max(judged[docno], 0) for docno in docnos[len(holes) :]]
    every = list(product(range(top + 1), repeat=len(holes)))
    free = np.array(every, dtype=int).reshape(len(every), len(holes))
    return docnos, np.hstack([free, np.broadcast_to(np.array(fixed, dtype=int), (len(free), len(fixed)))])


def scores_of(measure, docnos, known, labels):
    """Return (completions,) the scores of a list; what nobody knows is not relevant."""
    place = {docno: i for i, docno in enumerate(known)}
    padded = np.hstack([labels, np.zeros((len(labels), 1), dtype=int)])
    return score(measure, padded[:, [place.get(docno, -1) for docno in docnos]], labels)


def rest(measure, docnos, top):
    """Return what RBP counts for the ranks below those that it sees; 0 for others and where no label reaches."""
    if measure.NAME != "RBP" or measure.params["rel"] > top or not docnos:
        return 0.0
    return measure.params["p"] ** len(seen(measure, docnos))


def ends(measure, docnos, judged, top, others=0):
    """Return the lowest and the highest score of a list over all labels of what the measure sees unjudged, and of so
    many documents that it does not see."""
    holes = [docno for docno in seen(measure, docnos) if judged.get(docno, -1) < 0]
    holes += [f"elsewhere{i}" for i in range(others)]
    found = scores_of(measure, docnos, *completed(judged, holes, top))
    return found.min(), found.max() + rest(measure, docnos, top)


def pair_ends(measure, runs, judged, top, further=0):
    """Return (runs, runs) the largest difference of the first and the second over all completions of a topic."""
    union = {docno for docnos in runs for docno in seen(measure, docnos) if judged.get(docno, -1) < 0}
    holes = [*sorted(union), *(f"nowhere{i}" for i in range(further))]
    known, labels = completed(judged, holes, top)
    found = [scores_of(measure, docnos, known, labels) for docnos in runs]
    below = [rest(measure, docnos, top) for docnos in runs]
    return np.array([[(a - b).max() + more for b in found] for a, more in zip(found, below, strict=True)])
