"""A test collection: its record, and the catalogue of those known by name."""

from __future__ import annotations

import csv
import json
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

import pandas as pd

from pt_reuse._errors import InputError, warn

#: where documents, topics or judgments come from: ``irds:ID`` of ir_datasets as a text, or paths of files in a tuple
Source = str | tuple[str, ...]


@dataclass(frozen=True)
class DocumentSources:
    """How a docno tells which source a document is from; the first rule that fits wins.

    Attributes:
        prefixes: beginning of a docno -> name of its source; the longest that fits counts.
        pattern: a regular expression whose first group is the name of the source, tried where no prefix fits.
    """

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
    """A test collection: where its parts come from, and which runs were submitted to it.

    Attributes:
        name: what follows ``reuse:``, such as ``trec-8/adhoc``.
        title: for people, such as ``TREC-8 ad hoc``.
        origin: ``"catalogue"``, ``"package"`` (the demo) or ``"own"``.
        year: of the track.
        aliases: what people call it besides, such as ``dl19``.
        documents: where they come from.
        topics: where they come from.
        qrels: where they come from.
        judgments_at: address at which the judgments are published that ir_datasets does not have.
        n_topics: judged topics.
        n_judged: judgments, those below 0 among them.
        n_relevant: judgments above 0.
        topic_ids: the topics a run of the collection may have; None where this is not known.
        some_topics: topics of which every run has some, where `topic_ids` is not known.
        submitted: one row per submitted run, ``name team type official_type task pooled published``; ``pooled`` is
            None where nobody recorded it; None for a collection whose runs are what its folder holds.
        types_from: where the types of `submitted` are from, where they are not those of the track.
        url: where runs are published, with ``{tag}`` for the name of one; None where they are not. A column ``url`` of
            `submitted` has the addresses that differ.
        access: ``"open"`` or ``"password"``; None without `url`.
        folders: further folders, below the user's, in which its files may be, beside those called by its name or by
            an alias.
        runs: folder or pattern (a text) or files (a tuple) of an own collection's runs.
        rel: the lowest label that its track counts as relevant; None where this is not on record, and 1 is assumed.
        pool_order: order in which its pool was made: ``"file"``, that of the lines of the run files; None where it is
            that of scoring, as far as is known.
        pool_depth: to which depth runs were pooled, documents per run and topic; None where it is not on record, or
            differs from topic to topic.
        labels: ``teams``, ``types``, ``pooled``, ``metadata`` of an own collection, as :func:`read_runs` takes them.
        sources: how a docno tells its source; None where it does not.
        language: of documents and topics that come from files, an ISO 639-1 code such as ``"en"``.
        note: what one must know before using it, in one sentence.
    """

    name: str
    title: str
    origin: Literal["catalogue", "package", "own"] = "own"
    year: int | None = None
    aliases: tuple[str, ...] = ()
    documents: Source | None = None
    topics: Source | None = None
    qrels: Source | None = None
    judgments_at: str | None = None
    n_topics: int | None = None
    n_judged: int | None = None
    n_relevant: int | None = None
    topic_ids: frozenset[str] | None = None
    some_topics: frozenset[str] | None = None
    submitted: pd.DataFrame | None = None
    types_from: str | None = None
    url: str | None = None
    access: Literal["open", "password"] | None = None
    folders: tuple[str, ...] = ()
    runs: Source | None = None
    rel: int | None = None
    pool_order: str | None = None
    pool_depth: int | None = None
    labels: Mapping[str, Any] = field(default_factory=dict)
    sources: DocumentSources | None = None
    language: str | None = None
    note: str = ""

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
