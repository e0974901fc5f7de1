"""A test collection: its record, and the catalogue of those known by name."""

from __future__ import annotations

import csv
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

import pandas as pd

from pt_reuse.data.metadata import entries, record
from pt_reuse.errors import InputError, warn

#: where documents, topics or judgments come from: ``irds:ID`` of ir_datasets as a text, or paths of files in a tuple
Source = str | tuple[str, ...]


@dataclass(frozen=True)
class DocumentSources:
    """How a docno tells which source a document is from: by its longest prefix, else by a pattern's first group."""

    prefixes: Mapping[str, str] = field(default_factory=dict)
    pattern: str | None = None

    def of(self, docno: str) -> str | None:
        """Return the source of a document, None where no rule fits."""
        fitting = [prefix for prefix in self.prefixes if docno.startswith(prefix)]
        if fitting:
            return self.prefixes[max(fitting, key=len)]
        found = re.match(self.pattern, docno) if self.pattern else None
        return found.group(1) if found else None


@dataclass(frozen=True, kw_only=True, eq=False)
class Collection:
    """A test collection: where its parts come from, and which runs were submitted to it."""

    name: str  # what follows ``reuse:``, such as ``trec-8/adhoc``
    title: str  # for people, such as ``TREC-8 ad hoc``
    origin: Literal["catalogue", "package", "own"] = "own"
    year: int | None = None
    aliases: tuple[str, ...] = ()
    documents: Source | None = None
    topics: Source | None = None
    qrels: Source | None = None
    judgments_at: str | None = None  # address of the judgments that ir_datasets does not have
    n_topics: int | None = None
    n_judged: int | None = None  # judgments, those below 0 among them
    n_relevant: int | None = None  # judgments above 0
    topic_ids: frozenset[str] | None = None  # the topics that a run of the collection may have, where they are known
    some_topics: frozenset[str] | None = None  # topics of which every run has some, where `topic_ids` is not known
    #: ``name team type official_type task pooled published``, and ``url`` where it is not the template; ``pooled`` is
    #: None where nobody recorded it; None for a collection whose runs are what its folder holds
    submitted: pd.DataFrame | None = None
    types_from: str | None = None  # where the types are from, where they are not those of the track
    url: str | None = None  # where runs are published, with ``{tag}`` for the name of one
    access: Literal["open", "password"] | None = None
    folders: tuple[str, ...] = ()  # further folders, below the user's, in which its files may be
    runs: Source | None = None  # folder or pattern (a text) or files (a tuple) of an own collection's runs
    rel: int | None = None  # the lowest label that its track counts as relevant, where it is on record
    pool_order: str | None = None  # in which its pool was made; None where it is that of scoring, as far as is known
    pool_depth: int | None = None  # documents per run and topic; None where it is not on record, or differs
    labels: Mapping[str, Any] = field(default_factory=dict)  # ``teams types pooled metadata`` as `read_runs` takes them
    sources: DocumentSources | None = None
    language: str | None = None  # of documents and topics that come from files, an ISO 639-1 code such as ``"en"``
    note: str = ""  # what one must know before using it, in one sentence

    @property
    def pooled_is_on_record(self) -> bool:
        """Return whether somebody recorded which of the submitted runs were pooled."""
        return self.submitted is not None and bool(self.submitted["pooled"].notna().all()) and len(self.submitted) > 0

    @property
    def folder_names(self) -> tuple[str, ...]:
        """Return what folders with its files may be called: its name, paths of NIST's, what people call it."""
        return (self.name, *self.folders, *self.aliases)

    def is_replaced(self, part: str) -> bool:
        """Return whether the user put files in place of the official ``"documents"``, ``"topics"`` or ``"qrels"``."""
        return self.origin == "catalogue" and isinstance(getattr(self, part), tuple)

    @property
    def irds_id(self) -> str | None:
        """Return the ir_datasets id behind topics and judgments, None where files are."""
        for source in (self.qrels, self.topics, self.documents):
            if isinstance(source, str):
                return source.removeprefix("irds:")
        return None

    def same_as(self, other: Collection) -> bool:
        """Return whether another definition says the same of the same collection."""
        return self is other or all(_equal(getattr(self, f.name), getattr(other, f.name)) for f in fields(Collection))

    def url_of(self, name: str) -> str | None:
        """Return the address at which a run is published, None where it is not."""
        if self.submitted is not None and "url" in self.submitted.columns:
            own = self.submitted.loc[self.submitted["name"] == name, "url"].tolist()
            if own and isinstance(own[0], str):
                return own[0]
        return None if self.url is None else self.url.replace("{tag}", quote(name))


def home() -> Path:
    """Return the user's folder: ``PT_REUSE_HOME``, or ``.pt_reuse`` in the home folder."""
    return _folder("PT_REUSE_HOME") or Path.home() / ".pt_reuse"


def places() -> list[Path]:
    """Return the folders in which a collection's files are looked for: :func:`home`, then ``PT_REUSE_DATA``."""
    data = _folder("PT_REUSE_DATA")
    if data is not None and not data.is_dir():
        warn(f"PT_REUSE_DATA is {str(data)!r}, which is no folder: nothing is looked up there.")
    return [home(), *([data] if data is not None else [])]


def _folder(variable: str) -> Path | None:
    value = os.environ.get(variable)
    if not value:
        return None
    try:
        return Path(value).expanduser()
    except RuntimeError as error:
        raise InputError(f"{variable} is {value!r}: {str(error).rstrip('.')}. Give the path of a folder.") from error


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, pd.DataFrame | pd.Series) or isinstance(other, pd.DataFrame | pd.Series):
        return type(one) is type(other) and bool(one.equals(other))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_equal(value, other[key]) for key, value in one.items())
    return bool(one == other)


#: what the file of runs calls a record of who was pooled; anything else is none
POOLED = {"yes": True, "no": False}
#: where types are from that are not those of the track
DERIVED = "not official"


def catalogue_names() -> list[str]:
    """Return the names of all collections of the catalogue, by year and then by name."""
    return list(entries())


#: what people put between the words of a name
_BETWEEN = " -_./"


def plain(name: str) -> str:
    """Return a name without what people type in several ways: capital letters, and all but letters and digits."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", name).casefold()))


def is_spelled_as_name(text: str) -> bool:
    """Return whether a text may be the name of a collection: letters and digits, and what people put between them."""
    return bool(text) and text[0].isalnum() and text[-1].isalnum() and all(c.isalnum() or c in _BETWEEN for c in text)


def catalogue_name(text: str) -> str | None:
    """Return the name of the collection that a text means: name, alias, or an id of ir_datasets that is its alone."""
    if not is_spelled_as_name(text):
        return None
    typed = plain(text)
    return _meant().get(typed) or _meant().get(typed.removeprefix("trec"))


def catalogued(name: str) -> Collection | None:
    """Return a collection of the catalogue with its runs, None where it has none of that name."""
    collection = without_runs(name)
    return collection and replace(collection, submitted=_submitted(name, entries()[name]))


#: what stands in the catalogue as it does in a Collection
_AS_THEY_ARE: tuple[str, ...] = ("name", "title", "year", "judgments_at", "n_topics", "n_judged", "n_relevant")
_AS_THEY_ARE += ("types_from", "url", "access", "rel", "pool_order", "pool_depth", "note")


def without_runs(name: str) -> Collection | None:
    """Return a collection of the catalogue but for its runs, which take most of the time; None where it has none."""
    entry = entries().get(name)
    if entry is None:
        return None
    source = f"irds:{entry['irds']}" if "irds" in entry else None
    words = {"documents": "documents", "topics": "topics", "qrels": "judgments"}
    found: dict[str, Any] = {key: entry[key] for key in _AS_THEY_ARE if key in entry}
    found |= {part: None if word in entry.get("without", ()) else source for part, word in words.items()}
    found |= {key: _topic_ids(entry[key]) for key in ("topic_ids", "some_topics") if key in entry}
    found |= {key: tuple(entry.get(key, ())) for key in ("aliases", "folders")}
    sources = DocumentSources(dict(entry["sources"])) if entry.get("sources") else None
    return Collection(origin="catalogue", sources=sources, **found)


def _submitted(name: str, entry: dict[str, Any]) -> pd.DataFrame | None:
    rows = _runs().get(name)
    if rows is None:
        return None
    frame = pd.DataFrame(rows, columns=["name", "team", "type", "official_type", "task", "pooled"])
    on_record = [POOLED.get(word) for word in frame["pooled"]]
    others = entry.get("url_of_tasks", {})
    urls = [others[t].replace("{tag}", tag) if t in others else None for tag, t in frame[["name", "task"]].to_numpy()]
    # true booleans where all is known, so that ~ and & do what they say
    pooled = pd.Series(on_record, dtype=object if None in on_record else bool)
    frame = frame.assign(pooled=pooled, published="url" in entry, url=pd.Series(urls, dtype=object))
    return frame.assign(type_source=DERIVED) if "types_from" in entry else frame


def _topic_ids(text: str) -> frozenset[str]:
    """Return ids written ``401-450,601`` or, where they are no ranges, with blanks between them."""
    found: set[str] = set()
    for part in re.split(r"[ ,]", text):
        ends = re.fullmatch(r"(\d+)-(\d+)", part)
        found |= {str(number) for number in range(int(ends[1]), int(ends[2]) + 1)} if ends else {part}
    return frozenset(found)


@lru_cache(maxsize=1)
def _meant() -> dict[str, str]:
    """Return name, alias or id of ir_datasets, each as :func:`plain` has it -> the name of the collection."""
    found = {plain(text): name for name, entry in entries().items() for text in (name, *entry.get("aliases", ()))}
    # the id of the topics; of two collections with the same ones it means neither
    with_topics = {name: entry for name, entry in entries().items() if "topics" not in entry.get("without", ())}
    ids = {name: entry["irds"] for name, entry in with_topics.items() if "irds" in entry}
    times = Counter(ids.values())
    for name, irds in ids.items():
        for text in (irds, irds.removesuffix("/judged")) if times[irds] == 1 else ():
            found.setdefault(plain(text), name)
    return found


@lru_cache(maxsize=1)
def _runs() -> dict[str, list[list[str]]]:
    """Return the rows of every collection: name, team, type, official type, task, pooled."""
    lines = [line for line in record("runs.csv").splitlines() if not line.startswith("# ")]
    found: dict[str, list[list[str]]] = {}
    for name, *row in csv.reader(lines[1:]):
        found.setdefault(name, []).append(row)
    return found
