"""A small corpus to learn on, scorers and judges, and judging by a protocol in plain loops."""

from __future__ import annotations

import zlib

import numpy as np
import pandas as pd

from pt_reuse.pooling.scorers import Scorer

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
