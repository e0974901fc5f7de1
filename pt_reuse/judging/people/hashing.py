"""A random order that each thing draws from its own name: the same whatever else there is, and in every process."""

from __future__ import annotations

import hashlib


def drawn(seed: int, *names: str) -> str:
    """Return a random text for some names; to sort by it is to shuffle.

    Whoever sorts by what is drawn for each thing gets an order that tells nothing of the one in which they came.
    """
    # a length before each name, so that no two lists of names are one text
    parts = [f"{len(name)}:{name}" for name in (str(seed), *names)]
    return hashlib.sha256("".join(parts).encode("utf-8", "surrogateescape")).hexdigest()
