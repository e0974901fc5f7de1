"""What is on record of collections that are known by name, and which of them given judgments are of."""

from __future__ import annotations

import json
from functools import lru_cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray


@lru_cache(maxsize=1)
def entries() -> dict[str, dict[str, Any]]:
    """Return what is on record of each collection of the catalogue, by its name."""
    found = json.loads(record("collections.json"))["collections"]
    return {entry["name"]: entry for entry in found}


def record(name: str) -> str:
    """Return the text of a file of the catalogue."""
    path = files("pt_reuse") / "collections" / "data" / "catalogue" / name
    return path.read_text(encoding="utf-8")


def judged_alike(n_topics: int, n_judged: int, n_relevant: int) -> list[str]:
    """Return the names of the collections whose judgments have these counts, all three."""
    wanted = {"n_topics": n_topics, "n_judged": n_judged, "n_relevant": n_relevant}
    return [name for name, entry in entries().items() if wanted.items() <= entry.items()]


def grade_of(n_topics: int, labels: NDArray[np.integer]) -> tuple[str, int] | None:
    """Return the collection whose judgments these are and the lowest label that its track counts as relevant.

    None where they are those of no known collection, and where its grade is 1, which counts without being stated.
    """
    # most judgments are binary, and need no look at the catalogue
    if labels.max(initial=0) < 2:
        return None
    for name in judged_alike(n_topics, len(labels), int((labels > 0).sum())):
        rel = entries()[name].get("rel", 1)
        if rel > 1:
            return name, int(rel)
    return None


def pool_depth_of(n_topics: int, labels: NDArray[np.integer]) -> tuple[str, int] | None:
    """Return the collection whose judgments these are and the depth of its pool, None where neither is known."""
    for name in judged_alike(n_topics, len(labels), int((labels > 0).sum())):
        if depth := entries()[name].get("pool_depth"):
            return name, int(depth)
    return None
