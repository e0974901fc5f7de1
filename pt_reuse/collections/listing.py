"""What is known of collections: the table of all of them, and the facts of one in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd

from pt_reuse._check import count, examples, flag, told
from pt_reuse._errors import Advice, Call, InputError, door, in_python
from pt_reuse.collections.collection import Collection
from pt_reuse.collections.registry import collection_names, find_collection
from pt_reuse.collections.run_files import download_folder, find_run_files, looked_at, own_run_files


@door
def list_collections(search: str | int = "", *, here: bool = False) -> pd.DataFrame:
    """List the test collections that ``pt.get_dataset("reuse:NAME")`` knows.

    Args:
        search: words that must all stand in a collection's name, aliases, title, year, ir_datasets id or note, such as
            ``"deep learning"`` or ``"robust 2004"``, or a year, such as 2019; default all collections.
        here: list only collections of which at least one run file is on this machine.

    Returns:
        DataFrame: one row per collection, by year: ``name title year``; ``topics`` and ``judged``, judged topics and
        judgments; ``runs`` and ``teams`` submitted; ``pooled``, how many runs are on record as pooled, missing where
        nobody recorded it; ``irds``, the ir_datasets id, maybe of the documents alone; ``published``, how the run files
        can be had: ``"open"``, ``"password"`` or ``"no"``; ``here``, how many of them are on this machine. Of the demo
        and of own collections ``runs`` counts the files that are here; ``get_runs()`` knows teams and who was pooled.

    Raises:
            InputError: `search` is no text and no year, or `here` not True or False.

    Example:
        >>> import pt_reuse as ptr
        >>> found = ptr.list_collections("trec-8 ad hoc")
        >>> found[["name", "topics", "judged", "runs", "teams", "pooled"]].values.tolist()
        [['trec-8/adhoc', 50, 86830, 129, 41, 71]]
        >>> ptr.list_collections(2005)["name"].tolist()[:2]
        ['trec-2005/genomics/adhoc', 'trec-2005/robust']
    """
    a_year = isinstance(search, int | np.integer) and not isinstance(search, bool)
    if not a_year and not isinstance(search, str):
        raise InputError(f"search must be words in one text, or a year, got {told(search)}.", argument="search")
    only_here = flag("here", here)
    words = [] if a_year else str(search).lower().split()
    rows = []
    for name in collection_names():
        collection = find_collection(name)
        said = (name, *collection.aliases, collection.title, collection.year, collection.irds_id, collection.note)
        text = " ".join(map(str, said)).lower()
        if (a_year and collection.year != search) or not all(word in text for word in words):
            continue
        row = _row(collection)
        if row["here"] or not only_here:
            rows.append(row)
    columns = ["name", "title", "year", "topics", "judged", "runs", "teams", "pooled", "irds", "published", "here"]
    frame = pd.DataFrame(rows, columns=columns)
    numbers = ["year", "topics", "judged", "runs", "teams", "pooled", "here"]
    return frame.astype(dict.fromkeys(numbers, "Int64"))


def _row(collection: Collection) -> dict[str, object]:
    row: dict[str, object] = {
        "name": collection.name,
        "title": collection.title,
        "year": collection.year,
        "topics": collection.n_topics,
        "judged": collection.n_judged,
        "irds": collection.irds_id,
        "published": collection.access or "no",
    }
    submitted = collection.submitted
    if submitted is None:
        n_files = len(own_run_files(collection))
        return {**row, "runs": n_files, "here": n_files}
    pooled = int(submitted["pooled"].sum()) if collection.pooled_is_on_record else None
    here = len(find_run_files(collection, submitted["name"]))
    return {**row, "runs": len(submitted), "teams": submitted["team"].nunique(), "pooled": pooled, "here": here}


def summary_of(collection: Collection) -> str:
    """Return what a collection is, in one line: title, year, how many topics, judgments, runs, and who was pooled."""
    year = "" if collection.year is None or str(collection.year) in collection.title else f", {collection.year}"
    counted = ((collection.n_topics, "topic"), (collection.n_judged, "judgment"))
    said = [count(n, noun) for n, noun in counted if n is not None]
    if collection.rel not in (None, 1):
        said.append(f"relevant from label {collection.rel}")
    submitted, runs = collection.submitted, collection.runs
    if submitted is not None:
        said.append(f"{count(len(submitted), 'run')} of {count(submitted['team'].nunique(), 'team')}")
        pooled = int(submitted["pooled"].sum()) if collection.pooled_is_on_record else None
        said.append("who was pooled is not on record" if pooled is None else f"{pooled:,} of them pooled")
    elif runs is not None:
        said.append(f"runs in {runs}" if isinstance(runs, str) else count(len(runs), "run"))
    return f"{collection.title}{year}{'; ' if said else ''}{', '.join(said)}"


def facts_of(collection: Collection, advice: Callable[[Advice], str] = in_python) -> Iterator[tuple[str, str]]:
    """Yield what is known of a collection, as pairs of what and text, with advice put into words by a function."""
    if collection.aliases:
        yield "also", ", ".join(collection.aliases)
    yield "documents", _source(collection.documents)
    if collection.sources is not None:
        known = dict.fromkeys(collection.sources.prefixes.values())
        rules = [examples(known, 8)] if known else []
        rules += [f"the first group of {collection.sources.pattern}"] if collection.sources.pattern else []
        yield "sources", f"a docno tells its source: {', else '.join(rules)}"
    yield "topics", _counted(collection.n_topics, collection.topics)
    graded = collection.rel not in (None, 1)
    labels = "with a label above 0" if graded else "relevant"
    relevant = "" if collection.n_relevant is None else f" ({collection.n_relevant:,} {labels})"
    yield "judged", _counted(collection.n_judged, collection.qrels, relevant)
    if graded:
        yield "relevant", f"from label {collection.rel} on"
    submitted = collection.submitted
    if submitted is None:
        there = _counted(len(own_run_files(collection)), collection.runs)
        yield "runs", "none on record" if collection.runs is None else there
    else:
        types = ", ".join(f"{n:,} {kind}" for kind, n in submitted["type"].value_counts().items())
        yield "runs", f"{count(len(submitted), 'run')} of {count(submitted['team'].nunique(), 'team')}: {types}"
        if collection.types_from:
            yield "types", f"from {collection.types_from}"
        yield "pooled", _pooled(collection, submitted, advice)
        if collection.pool_order:
            yield "pool order", f"{collection.pool_order}: pooled in another order than that of scoring"
        if collection.pool_depth:
            yield "pool depth", f"{collection.pool_depth:,} documents per run and topic"
        yield "published", _published(collection, submitted)
        here = find_run_files(collection, submitted["name"])
        yield "here", f"{len(here):,} of {count(len(submitted), 'run')}"
        folders = [str(folder) for folder in looked_at(collection)]
        yield "looked at", ", ".join(folders) if folders else f"{download_folder(collection)} (does not exist yet)"
    if collection.judgments_at is not None and collection.qrels is None:
        yield "judgments", f"published at {collection.judgments_at}; ir_datasets does not have them"
    if collection.note:
        yield "note", collection.note


def _pooled(collection: Collection, submitted: pd.DataFrame, advice: Callable[[Advice], str]) -> str:
    if not collection.pooled_is_on_record:
        return f"not on record; {advice(Call('infer_pool', 'runs, qrels'))} says which runs must have been"
    return f"{int(submitted['pooled'].astype(bool).sum()):,} of {count(len(submitted), 'run')}, on record"


def _published(collection: Collection, submitted: pd.DataFrame) -> str:
    if collection.url is None:
        return "nowhere that is known"
    password = "; NIST asks for a user name and password" if collection.access == "password" else ""
    return f"{int(submitted['published'].astype(bool).sum()):,} runs at {collection.url}{password}"


def _source(source: str | tuple[str, ...] | None) -> str:
    if source is None:
        return "nowhere"
    if isinstance(source, str):
        return source
    more = f" and {len(source) - 3} more" if len(source) > 3 else ""
    return ", ".join(source[:3]) + more


def _counted(n: int | None, source: str | tuple[str, ...] | None, more: str = "") -> str:
    if n is None or source is None:
        return _source(source) if n is None else f"{n:,}{more}; ir_datasets does not have them"
    return f"{n:,}{more}, from {_source(source)}"
