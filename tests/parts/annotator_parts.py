"""Labels of annotators, made at random, and slow, obvious versions of what is computed of them."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import permutations

import numpy as np
import pandas as pd


def labelled(seed=1, *, n_topics=4, n_docs=15, n_annotators=3, scale=(0, 1, 2, 3), gaps=0.0):
    """Return a frame `qid docno label annotator` of annotators who mostly agree; a share of the labels is left out."""
    random = np.random.default_rng(seed)
    rows = []
    for topic in range(n_topics):
        for doc in range(n_docs):
            truth = random.integers(0, len(scale))
            for annotator in range(n_annotators):
                seen = truth if random.random() < 0.6 else random.integers(0, len(scale))
                if random.random() >= gaps:
                    rows.append((str(topic + 1), f"d{doc}", scale[seen], f"ann{annotator}"))
    return pd.DataFrame(rows, columns=["qid", "docno", "label", "annotator"])


def by_item(frame):
    """Return (qid, docno) -> annotator -> label, of labels that are none."""
    found = {}
    for row in frame.itertuples(index=False):
        found.setdefault((row.qid, row.docno), {})[row.annotator] = int(row.label)
    return found


def slow_kappa(pairs, scale, weights=None):
    """Return Cohen's kappa of pairs of labels as a fraction, None where it is not defined."""
    steps = {None: lambda i, j: int(i != j), "linear": lambda i, j: abs(i - j), "quadratic": lambda i, j: (i - j) ** 2}
    place, cost = {label: i for i, label in enumerate(scale)}, steps[weights]
    observed = sum(cost(place[a], place[b]) for a, b in pairs)
    mine, theirs = (Counter(labels) for labels in zip(*pairs, strict=True))
    chance = sum(mine[a] * theirs[b] * cost(place[a], place[b]) for a in mine for b in theirs)
    expected = Fraction(chance, len(pairs))
    return None if expected == 0 else 1 - observed / expected


def slow_alpha(items, scale, level):
    """Return Krippendorff's alpha of items, each a list of labels, by its definition over pairs of values."""
    items = [item for item in items if len(item) > 1]
    values = [label for item in items for label in item]
    totals = Counter(values)

    def distance(a, b):
        if level == "nominal":
            return int(a != b)
        between = scale[scale.index(min(a, b)) : scale.index(max(a, b)) + 1]
        return (sum(totals[label] for label in between) - Fraction(totals[a] + totals[b], 2)) ** 2

    observed = sum(Fraction(sum(distance(a, b) for a, b in permutations(item, 2)), len(item) - 1) for item in items)
    # every two values that are not the same one
    expected = sum(totals[a] * totals[b] * distance(a, b) for a in totals for b in totals)
    return None if expected == 0 else 1 - observed * (len(values) - 1) / Fraction(expected)
