"""Which collections somebody may have meant by a name that none has."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches

from pt_reuse.collections.collection import Collection

#: what people call tracks -> a word of their names
_CALLED = {"dl": "deep", "tb": "terabyte", "mq": "million", "cds": "clinical", "psg": "passages", "doc": "docs"}


def nearest(wanted: str, collections: Mapping[str, Collection], most: int = 3) -> list[str]:
    """Return the names of the collections nearest to one that was asked for, the nearest first.

    Looked at are names, the ids of ir_datasets, the folders in which runs are kept, and, for the rest, which words and
    years they have in common: ``dl19`` is near ``trec-2019/deep/docs``.

    Args:
        wanted: what was asked for.
        collections: name -> collection.
        most: how many to return at most.
    """
    plain = _plain(wanted)
    exact = [
        name
        for name, collection in collections.items()
        if plain in {_plain(text) for text in (name, collection.irds_id or "", *collection.folders)}
    ]
    if exact:
        return exact[:most]
    words = _words(wanted)
    shared = {name: _in_common(words, collection) for name, collection in collections.items()}
    # the word trec says nothing: two thirds of the others must be in common
    need = max(1, -(-2 * len([word for word in words if word != "trec"]) // 3))
    best = [name for name in sorted(shared, key=lambda name: -shared[name]) if shared[name] >= need]
    best = [name for name in best if shared[name] == shared[best[0]]]
    close = get_close_matches(wanted, list(collections), n=most, cutoff=0.75)
    return list(dict.fromkeys([*close, *best]))[:most]


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


def _words(text: str) -> list[str]:
    return [_CALLED.get(word, word) for word in re.findall(r"[a-z]+|\d+", text.lower())]


def _in_common(words: list[str], collection: Collection) -> int:
    known = set(_words(f"{collection.name} {collection.title} {collection.irds_id or ''} {collection.year or ''}"))
    years = {str(collection.year % 100), f"{collection.year % 100:02}"} if collection.year else set()
    return sum(word in known or word in years for word in words if word != "trec")
