"""The catalogue: TREC's test collections and the runs submitted to them, as shipped with the package."""

from __future__ import annotations

import csv
import json
import re
from functools import lru_cache
from importlib.resources import files
from typing import Any

import pandas as pd

from pt_reuse.collections.collection import Collection, DocumentSources

#: what the file of runs calls a record of who was pooled; anything else is none
POOLED = {"yes": True, "no": False}


def catalogue_names() -> list[str]:
    """Return the names of all collections of the catalogue, by year and then by name.

    Example:
        >>> catalogue_names()[:3]
        ['trec-1/adhoc', 'trec-2/adhoc', 'trec-3/adhoc']
    """
    return list(_entries())


def catalogued(name: str) -> Collection | None:
    """Return a collection of the catalogue, None where it has none of that name.

    Every call makes a new frame of runs: what a caller does to it reaches nobody else.

    Args:
        name: exactly as :func:`catalogue_names` has it.

    Returns:
        The collection. Its ``submitted`` has ``name team type official_type task pooled published url``: ``type`` is
        automatic, manual, feedback or unknown, ``official_type`` what TREC called it, ``pooled`` true and false where
        it is on record and None where not, ``url`` where the run is published if the collection's template does not
        give it. ``submitted`` is None where the catalogue has no run.

    Example:
        >>> trec8 = catalogued("trec-8/adhoc")
        >>> len(trec8.submitted), trec8.submitted["team"].nunique(), int(trec8.submitted["pooled"].sum())
        (129, 41, 71)
        >>> trec8.qrels
        'irds:disks45/nocr/trec8'
    """
    entry = _entries().get(name)
    if entry is None:
        return None
    source = f"irds:{entry['irds']}" if "irds" in entry else None
    sources = entry.get("sources")
    return Collection(
        name=name,
        title=entry["title"],
        origin="catalogue",
        year=entry["year"],
        documents=source if entry.get("has_documents", True) else None,
        topics=source,
        qrels=source,
        n_topics=entry.get("n_topics"),
        n_judged=entry.get("n_judged"),
        n_relevant=entry.get("n_relevant"),
        topic_ids=_topic_ids(entry["topic_ids"]) if "topic_ids" in entry else None,
        some_topics=_topic_ids(entry["some_topics"]) if "some_topics" in entry else None,
        submitted=_submitted(name, entry),
        url=entry.get("url"),
        access=entry.get("access"),
        folders=tuple(entry["folders"]),
        sources=DocumentSources(prefixes=dict(sources)) if sources else None,
        pool_order=entry.get("pool_order"),
        note=entry.get("note", ""),
    )


def judged_alike(n_topics: int, n_judged: int, n_relevant: int) -> list[str]:
    """Return the names of the collections whose judgments have these counts, all three.

    Args:
        n_topics: judged topics.
        n_judged: judgments, those below 0 among them.
        n_relevant: judgments above 0.

    Example:
        >>> judged_alike(50, 86_830, 4_728)
        ['trec-8/adhoc']
    """
    wanted = (n_topics, n_judged, n_relevant)
    counts = ("n_topics", "n_judged", "n_relevant")
    return [name for name, entry in _entries().items() if tuple(map(entry.get, counts)) == wanted]


def _submitted(name: str, entry: dict[str, Any]) -> pd.DataFrame | None:
    rows = _runs().get(name)
    if rows is None:
        return None
    names, teams, types, official, tasks, pooled = zip(*rows, strict=True)
    on_record = [POOLED.get(word) for word in pooled]
    others = entry.get("url_of_tasks", {})
    urls = [
        others[task].replace("{tag}", tag) if task in others else None for tag, task in zip(names, tasks, strict=True)
    ]
    return pd.DataFrame(
        {
            "name": names,
            "team": teams,
            "type": types,
            "official_type": official,
            "task": tasks,
            # true booleans where all is known, so that ~ and & do what they say
            "pooled": pd.Series(on_record, dtype=object if None in on_record else bool),
            "published": "url" in entry,
            "url": pd.Series(urls, dtype=object),
        }
    )


def _topic_ids(text: str) -> frozenset[str]:
    """Return ids written ``401-450,601`` or, where they are no ranges, with blanks between them."""
    found: set[str] = set()
    for part in re.split(r"[ ,]", text):
        ends = re.fullmatch(r"(\d+)-(\d+)", part)
        found |= {str(number) for number in range(int(ends[1]), int(ends[2]) + 1)} if ends else {part}
    return frozenset(found)


@lru_cache(maxsize=1)
def _entries() -> dict[str, dict[str, Any]]:
    entries = json.loads(_text("collections.json"))["collections"]
    return {entry["name"]: entry for entry in entries}


@lru_cache(maxsize=1)
def _runs() -> dict[str, list[list[str]]]:
    """Return the rows of every collection: name, team, type, official type, task, pooled."""
    lines = [line for line in _text("runs.csv").splitlines() if not line.startswith("# ")]
    found: dict[str, list[list[str]]] = {}
    for name, *row in csv.reader(lines[1:]):
        found.setdefault(name, []).append(row)
    return found


def _text(name: str) -> str:
    path = files("pt_reuse") / "collections" / "data" / "catalogue" / name
    return path.read_text(encoding="utf-8")
