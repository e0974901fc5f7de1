"""A small corpus to learn on, scorers and judges, and judging by a protocol in plain loops."""

from __future__ import annotations

import zlib

import numpy as np
import pandas as pd

from pt_reuse.judging.scorers import Scorer
from pt_reuse.pooling.adaptive.chooser import random_of_topic

WORDS = [f"{a}{b}" for a in ("ka", "lo", "mi", "nu") for b in ("ra", "se", "ti", "vo", "zu")]
TOPICS = pd.DataFrame({"qid": ["1", "2", "10"], "query": ["kara lose", "miti", "nuvo kazu"]})


def made_corpus(n=60, seed=1):
    """Return documents of eight words each; those at the beginning of the list are the more frequent ones."""
    random = np.random.default_rng(seed)
    share = 1 / np.arange(2, len(WORDS) + 2)
    return [{"docno": f"d{i}", "text": " ".join(random.choice(WORDS, size=8, p=share / share.sum()))} for i in range(n)]


def made_labels(corpus, topics=TOPICS):
    """Return topic -> document -> how many words of the query it has, 2 at most."""
    return {
        qid: {doc["docno"]: min(sum(word in doc["text"].split() for word in query.split()), 2) for doc in corpus}
        for qid, query in zip(topics["qid"], topics["query"], strict=True)
    }


CORPUS = made_corpus()
LABELS = made_labels(CORPUS)


class Hashed(Scorer):
    """Scores that hang on everything a scorer is told, and tie often."""

    def __init__(self, sizes):
        self.of = {qid: np.array([f"d{i}" for i in range(n)], dtype=object) for qid, n in sizes.items()}

    def documents(self, qid):
        return self.of[qid]

    def fit(self, qid, query, training):
        told = [training.documents.tolist(), training.relevant.tolist(), training.with_query]
        start = zlib.crc32(repr(told).encode())
        return np.array([float((start * (i + 1)) % 7) for i in range(len(self.of[qid]))])


class Fused(Scorer):
    """The reciprocal ranks of runs, whatever is judged: a stand-in for a classifier where there are no texts."""

    def __init__(self, runs):
        table = runs.to_frame()
        table["score"] = 1 / (61 + table.groupby(["name", "qid"]).cumcount())
        self.scores = {qid: part.groupby("docno")["score"].sum() for qid, part in table.groupby("qid")}
        self.of = {qid: scores.index.to_numpy(dtype=object) for qid, scores in self.scores.items()}

    def documents(self, qid):
        return self.of[qid]

    def fit(self, qid, query, training):
        return self.scores[qid].to_numpy()


def slow_topic(corpus, topic, labels, protocol, seed, pool=()):
    """Judge one topic by plain loops; return (document, round, probability), and how it ended."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    qid, query = topic
    names = [doc["docno"] for doc in corpus]
    vectorizer = TfidfVectorizer(sublinear_tf=True)
    matrix = vectorizer.fit_transform([doc["text"] for doc in corpus]).toarray()
    seed_document = vectorizer.transform([query]).toarray()[0]
    random = random_of_topic(seed, qid)
    tie = random.permutation(len(names)).tolist()
    found, number, size, last = [], 0, protocol.batch, None
    if protocol.pool_depth is not None:
        number = 1
        found = [(docno, 1, None) for docno in pool]
    batches = 0
    while True:
        judged = [docno for docno, _, _ in found if docno in labels]
        relevant = [docno for docno in judged if labels[docno] >= 1]
        density = len(relevant) / len(judged) if judged else 0
        asked = {docno for docno, _, _ in found}
        free = [i for i, name in enumerate(names) if name not in asked]
        if number:
            if not free:
                return found, "exhausted"
            if density > (protocol.abandon_above or 2) and len(found) >= protocol.abandon_from:
                return found, "abandoned"
            if protocol.goes_on_while:
                dense, few, _, fruitful = protocol.goes_on_while
                limit = fruitful.early_above if batches <= fruitful.early_batches else fruitful.above
                goes_on = density > dense.above or len(found) < few.below or batches == 0 or last > limit
                if not goes_on:
                    return found, "finished"
            if len(found) >= protocol.topic_budget:
                return found, "topic budget"
        presumed = random.choice(free, size=min(protocol.presumed_negatives, len(free)), replace=False).tolist()
        rows = [seed_document] if protocol.query_seed else []
        target = [True] if protocol.query_seed else []
        for docno in judged:
            rows.append(matrix[names.index(docno)])
            target.append(labels[docno] >= 1)
        for i in presumed:
            rows.append(matrix[i])
            target.append(False)
        model = LogisticRegression(solver="newton-cg", tol=1e-8, max_iter=1000).fit(np.array(rows), target)
        chance = model.predict_proba(matrix)[:, 1]
        best = sorted(free, key=lambda i: (-chance[i], tie[i]))[: min(size, protocol.topic_budget - len(found))]
        number, batches = number + 1, batches + 1
        found += [(names[i], number, chance[i]) for i in best]
        with_label = [names[i] for i in best if names[i] in labels]
        last = sum(labels[docno] >= 1 for docno in with_label) / max(len(with_label), 1)
        size += int(np.ceil(round(size * protocol.growth, 6)))


def told_of(found):
    """Return the labels but for the moments at which they were given."""
    return found.labels.drop(columns="time")


def same(one, other):
    """Assert that two runs of a protocol gave the same, but for the moments."""
    pd.testing.assert_frame_equal(told_of(one), told_of(other))
    pd.testing.assert_frame_equal(one.rounds, other.rounds)
    pd.testing.assert_frame_equal(one.topics, other.topics)
