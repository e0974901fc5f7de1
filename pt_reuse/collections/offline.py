"""What to do when ir_datasets cannot get a part of a collection: which file goes where."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pt_reuse.collections.collection import Collection, home

#: part of a collection -> the file of the user's that stands in for it
_FILE = {"queries": "topics.tsv (qid and query, or NIST's own file as topics.txt or topics.xml)", "qrels": "qrels.txt"}
_DEEP = 4


def where_to_put(collection: Collection, dataset: Any, entity: str) -> str:
    """Return a sentence that says where a file must be put so that a part can be read without a network.

    Args:
        collection: the collection.
        dataset: the same in ir_datasets.
        entity: ``"docs"``, ``"queries"`` or ``"qrels"``.
    """
    advice = []
    if entity in _FILE:
        advice.append(f"put it into {home() / collection.name} as {_FILE[entity]}")
    expected = sorted(_cache_files(getattr(dataset, f"{entity}_handler")(), _DEEP))
    if expected:
        places = ", ".join(str(path) for path in expected[:3])
        which = "it" if len(expected) == 1 else "them"
        advice.append(f"put {which}, packed as NIST publishes {which}, where ir_datasets looks: {places}")
    else:
        advice.append("see the page of the dataset at https://ir-datasets.com for where it must be")
    return f"Without a network, {', or '.join(advice)}."


def _cache_files(handler: Any, depth: int) -> set[Path]:
    """Return the files that ir_datasets keeps for a part, found by walking its nested sources of bytes."""
    kept = getattr(handler, "_cache_path", None)
    if isinstance(kept, str | Path):
        return {Path(kept)}
    if depth == 0:
        return set()
    inner = list(vars(handler).values()) if hasattr(handler, "__dict__") else []
    inner = [part for value in inner for part in (value if isinstance(value, list | tuple) else [value])]
    ours = [part for part in inner if type(part).__module__.startswith("ir_datasets.")]
    return {path for part in ours for path in _cache_files(part, depth - 1)}
