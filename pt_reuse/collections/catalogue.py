"""The catalogue: TREC's test collections and the runs submitted to them, as shipped with the package."""

from __future__ import annotations

import csv
import json
import re
import unicodedata
from collections import Counter
from dataclasses import replace
from functools import lru_cache
from importlib.resources import files
from typing import Any

import pandas as pd

from pt_reuse.collections.collection import Collection, DocumentSources

#: what the file of runs calls a record of who was pooled; anything else is none
POOLED = {"yes": True, "no": False}
#: where types are from that are not those of the track
DERIVED = "not official"


def catalogue_names() -> list[str]:
    """Return the names of all collections of the catalogue, by year and then by name.

    Example:
        >>> catalogue_names()[:3]
        ['trec-1/adhoc', 'trec-2/adhoc', 'trec-3/adhoc']
    """
    return list(_entries())


def plain(name: str) -> str:
    """Return a name without what people type in several ways: capital letters, and all but letters and digits.

    Letters of other alphabets stay, since a name with them is another name; those of full width are the plain ones.

    Example:
        >>> plain("TREC-8/ad hoc"), plain("Ж-dl19")
        ('trec8adhoc', 'жdl19')
    """
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", name).casefold()))


def catalogue_name(text: str) -> str | None:
    """Return the name of the collection that a text means, None where the catalogue has none.

    Args:
        text: a name, an alias such as ``"dl19"``, or the id of ir_datasets of one collection alone; however it is
            spelled, also with ``trec`` in front of it.

    Example:
        >>> catalogue_name("DL-19"), catalogue_name("msmarco-passage/trec-dl-2019/judged")
        ('trec-2019/deep/passages', 'trec-2019/deep/passages')
        >>> catalogue_name("disks45/nocr/trec8"), catalogue_name("trec_8 adhoc")
        ('trec-8/adhoc', 'trec-8/adhoc')
    """
    typed = plain(text)
    return _meant().get(typed) or _meant().get(typed.removeprefix("trec"))


def catalogued(name: str) -> Collection | None:
    """Return a collection of the catalogue, None where it has none of that name.

    Every call makes a new frame of runs: what a caller does to it reaches nobody else.

    Returns:
        The collection. Its ``submitted`` has ``name team type official_type task pooled published url``: ``type`` is
        automatic, manual, feedback or unknown, ``official_type`` what TREC called it, ``pooled`` true and false where
        it is on record and None where not, ``url`` where the run is published if the collection's template does not
        give it. Where types are others, ``type_source`` says that they are not the track's, and ``types_from`` of the
        collection whose. ``submitted`` is None where the catalogue has no run.

    Example:
        >>> trec8 = catalogued("trec-8/adhoc")
        >>> len(trec8.submitted), trec8.submitted["team"].nunique(), int(trec8.submitted["pooled"].sum())
        (129, 41, 71)
        >>> trec8.qrels
        'irds:disks45/nocr/trec8'
    """
    collection = without_runs(name)
    return collection and replace(collection, submitted=_submitted(name, _entries()[name]))


def without_runs(name: str) -> Collection | None:
    """Return a collection of the catalogue but for its runs, which take most of the time; None where it has none."""
    entry = _entries().get(name)
    if entry is None:
        return None
    source = f"irds:{entry['irds']}" if "irds" in entry else None
    lacking = entry.get("without", ())
    sources = entry.get("sources")
    return Collection(
        name=name,
        title=entry["title"],
        origin="catalogue",
        year=entry["year"],
        aliases=tuple(entry.get("aliases", ())),
        documents=None if "documents" in lacking else source,
        topics=None if "topics" in lacking else source,
        qrels=None if "judgments" in lacking else source,
        judgments_at=entry.get("judgments_at"),
        n_topics=entry.get("n_topics"),
        n_judged=entry.get("n_judged"),
        n_relevant=entry.get("n_relevant"),
        topic_ids=_topic_ids(entry["topic_ids"]) if "topic_ids" in entry else None,
        some_topics=_topic_ids(entry["some_topics"]) if "some_topics" in entry else None,
        types_from=entry.get("types_from"),
        url=entry.get("url"),
        access=entry.get("access"),
        folders=tuple(entry["folders"]),
        sources=DocumentSources(prefixes=dict(sources)) if sources else None,
        rel=entry.get("rel"),
        pool_order=entry.get("pool_order"),
        pool_depth=entry.get("pool_depth"),
        note=entry.get("note", ""),
    )


def judged_alike(n_topics: int, n_judged: int, n_relevant: int) -> list[str]:
    """Return the names of the collections whose judgments have these counts, all three.

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
    frame = pd.DataFrame(
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
    return frame.assign(type_source=DERIVED) if "types_from" in entry else frame


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
def _meant() -> dict[str, str]:
    """Return name, alias or id of ir_datasets, each as :func:`plain` has it -> the name of the collection."""
    found = {plain(text): name for name, entry in _entries().items() for text in (name, *entry.get("aliases", ()))}
    # the id of the topics; of two collections with the same ones it means neither
    with_topics = {name: entry for name, entry in _entries().items() if "topics" not in entry.get("without", ())}
    ids = {name: entry["irds"] for name, entry in with_topics.items() if "irds" in entry}
    times = Counter(ids.values())
    for name, irds in ids.items():
        for text in (irds, irds.removesuffix("/judged")) if times[irds] == 1 else ():
            found.setdefault(plain(text), name)
    return found


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
