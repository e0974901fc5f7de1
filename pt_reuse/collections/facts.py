"""What is known of a collection, in words: counts, where its parts come from, which runs are here."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pandas as pd

from pt_reuse._check import count, examples
from pt_reuse._errors import Advice, Call, in_python
from pt_reuse.collections.collection import Collection
from pt_reuse.collections.run_files import download_folder, find_run_files, folders_of, own_run_files


def facts_of(collection: Collection, advice: Callable[[Advice], str] = in_python) -> Iterator[tuple[str, str]]:
    """Yield what is known of a collection, as pairs of what and text, with advice put into words by a function."""
    yield "documents", _source(collection.documents)
    if collection.sources is not None:
        known = dict.fromkeys(collection.sources.prefixes.values())
        rules = [examples(known, 8)] if known else []
        rules += [f"the first group of {collection.sources.pattern}"] if collection.sources.pattern else []
        yield "sources", f"a docno tells its source: {', else '.join(rules)}"
    yield "topics", _counted(collection.n_topics, collection.topics)
    relevant = "" if collection.n_relevant is None else f" ({collection.n_relevant:,} relevant)"
    yield "judged", _counted(collection.n_judged, collection.qrels, relevant)
    submitted = collection.submitted
    if submitted is None:
        yield "runs", _counted(len(own_run_files(collection)), collection.runs)
    else:
        types = ", ".join(f"{n:,} {kind}" for kind, n in submitted["type"].value_counts().items())
        yield "runs", f"{count(len(submitted), 'run')} of {count(submitted['team'].nunique(), 'team')}: {types}"
        yield "pooled", _pooled(collection, submitted, advice)
        if collection.pool_order:
            yield "pool order", f"{collection.pool_order}: pooled in another order than that of scoring"
        yield "published", _published(collection, submitted)
        here = find_run_files(collection, submitted["name"])
        yield "here", f"{len(here):,} of {count(len(submitted), 'run')}"
        folders = [str(folder) for folder in folders_of(collection)]
        yield "looked at", ", ".join(folders) if folders else f"{download_folder(collection)} (does not exist yet)"
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
    return source if isinstance(source, str) else examples(source).replace("'", "")


def _counted(n: int | None, source: str | tuple[str, ...] | None, more: str = "") -> str:
    return _source(source) if n is None else f"{n:,}{more}, from {_source(source)}"
