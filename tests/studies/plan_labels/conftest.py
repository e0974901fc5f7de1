"""Labels of a judge and of people of the same documents, and runs that found them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

#: label -> documents, and how many of these people find relevant
GROUPS = {0: (500, 25), 1: (300, 120), 2: (200, 180)}


def documents():
    """Return ``qid docno label people`` of documents that are spread over topics."""
    random, parts = np.random.default_rng(3), []
    for label, (n, relevant) in GROUPS.items():
        parts.append(pd.DataFrame({"label": label, "people": (np.arange(n) < relevant).astype(int)}))
    every = pd.concat(parts, ignore_index=True).sample(frac=1, random_state=1).reset_index(drop=True)
    every["qid"] = random.integers(1, 6, len(every)).astype(str)
    every["docno"] = [f"d{n:04}" for n in range(len(every))]
    return every


@pytest.fixture(scope="session")
def labels():
    """Return the judge's labels."""
    return documents()[["qid", "docno", "label"]]


@pytest.fixture(scope="session")
def people():
    """Return the labels of people for the same documents."""
    return documents()[["qid", "docno", "people"]].rename(columns={"people": "label"})


@pytest.fixture(scope="session")
def runs():
    """Return two runs that find these documents, and share some."""
    every, found = documents(), {}
    for name, seed in (("good", 1), ("other", 2)):
        random = np.random.default_rng(seed)
        score = every["people"] * (2.0 if name == "good" else 0.3) + random.random(len(every))
        ranked = every[["qid", "docno"]].assign(score=score).sort_values(["qid", "score"], ascending=[True, False])
        found[name] = ranked.groupby("qid").head(60)
    return found
