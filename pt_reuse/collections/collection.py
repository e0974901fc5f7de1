"""Collection: what is known of a test collection before any of its files is read."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
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
