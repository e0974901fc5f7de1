"""Every collection by name: the catalogue's, the package's, and the user's, defined by a call or a TOML file."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from difflib import get_close_matches
from functools import lru_cache
from glob import escape, glob, has_magic
from importlib.resources import files
from pathlib import Path
from typing import Any

import pandas as pd

from pt_reuse._files import open_file, user_path
from pt_reuse.collections.collection import (
    Collection,
    DocumentSources,
    Source,
    catalogue_name,
    catalogue_names,
    catalogued,
    home,
    is_spelled_as_name,
    places,
    plain,
    without_runs,
)
from pt_reuse.collections.own_files import OwnDocuments, document_format, find_irds, topic_format
from pt_reuse.data.coding import HowPooled
from pt_reuse.data.judgments import checked_rel
from pt_reuse.data.metadata import RunLabels
from pt_reuse.errors import InputError, examples, located, shown, warn

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*(/[a-z0-9][a-z0-9._-]*)*")
#: part of a collection -> what ir_datasets calls it
_PARTS = {"documents": "docs", "topics": "queries", "qrels": "qrels"}
#: labels of runs -> what they may be, but the path of a file
_TABLES = (pd.DataFrame, pd.Series, Mapping)
_LABELS: dict[str, tuple[Any, ...]] = {
    "metadata": (pd.DataFrame,),
    "teams": _TABLES,
    "types": _TABLES,
    "pooled": (*_TABLES, bool),
}
#: keys of a definition file, and of its table [runs]
KEYS = ("name", "title", "year", "language", "note", "documents", "topics", "qrels", "rel", "runs", "sources")
_OF_RUNS = (*_LABELS, "pool_order", "pool_depth")
RUN_KEYS = ("folder", "files", *_OF_RUNS)


def define(
    name: str,
    *,
    title: str | None = None,
    year: int | None = None,
    documents: str | Path | Iterable[str | Path] | None = None,
    topics: str | Path | None = None,
    qrels: str | Path | None = None,
    rel: int | None = None,
    runs: str | Path | Iterable[str | Path] | None = None,
    teams: RunLabels | None = None,
    types: RunLabels | None = None,
    pooled: RunLabels | Iterable[str] | bool | None = None,
    metadata: pd.DataFrame | str | Path | None = None,
    pool_order: str | None = None,
    pool_depth: int | None = None,
    sources: DocumentSources | Mapping[str, Any] | str | None = None,
    language: str | None = None,
    note: str = "",
    base: str | Path | None = None,
) -> Collection:
    """Define a collection of one's own, for :func:`register_collection`; what it names must be there.

    `name` is what is to follow ``reuse:``: lower-case letters, digits and ``. _ / -``, such as ``"mine/2024"``.
    `documents`, `topics` and `qrels` are each ``"irds:ID"`` for those of a dataset of ir_datasets, or files. Documents
    are a file, a folder, a glob pattern or several files: JSON lines (``docno``, ``text`` and further fields),
    tab-separated lines (id, tab, text), CSV with such a header, or TREC's ``<DOC>`` text. Topics are lines of id, tab
    and query, CSV or JSON lines (``qid``, ``query`` and further fields), TREC's ``<top>`` or ``<DOC>`` text, or XML.
    `rel` is the lowest label that is relevant, by default 1. `runs` is a folder, a glob pattern or several run files;
    `teams`, `types`, `pooled`, `metadata`, `pool_order` and `pool_depth` are those of :func:`read_runs`.

    `sources` says how a docno tells the document's source: beginning of the docno -> source; or a regular expression
    whose one group is the source, as a text or ``{"pattern": ...}``; or ``{"prefixes": ..., "pattern": ...}``.
    `language` is that of documents and topics from files, a code such as ``"en"``; `note` is what one must know before
    using it; `base` is the folder that relative paths are relative to.

    Raises:
        InputError: a name that cannot be used, a file that is not there, a value of the wrong kind.
    """
    given = dict(locals())
    folder = Path.cwd() if base is None else user_path(base)
    if not isinstance(name, str) or not _NAME.fullmatch(name) or ".." in name:
        raise InputError(
            "name must be lower-case letters, digits and . _ - in parts divided by '/', such as 'mine/2024', got "
            f"{shown(name)}.",
            argument="name",
        )
    for text in ("title", "language", "note"):
        if not isinstance(given[text], str | None):
            raise InputError(f"{text} must be a text, got {shown(given[text])}.", argument=text)
    if year is not None and (type(year) is not int or not 1000 <= year <= 9999):
        raise InputError(f"year must be a whole number of four digits, got {shown(year)}.", argument="year")
    if runs is None and (idle := [argument for argument in _OF_RUNS if given[argument] is not None]):
        raise InputError(f"{idle[0]} is about runs, but no runs are given. Name them too.", argument=idle[0])
    how_pooled = HowPooled(pool_order, pool_depth)
    return Collection(
        name=name,
        title=title or name,
        year=year,
        language=language,
        documents=_part("documents", documents, folder, name),
        topics=_part("topics", topics, folder, name),
        qrels=_part("qrels", qrels, folder, name),
        rel=checked_rel(rel),
        runs=_runs(runs, folder),
        labels={key: _label(key, given[key], folder) for key in _LABELS if given[key] is not None},
        pool_order=how_pooled.order,
        pool_depth=how_pooled.depth,
        sources=_sources(sources),
        note=note or "",
    )


def read_definition(path: str | Path) -> Collection:
    """Read the definition of a collection from a TOML file, as :func:`define` returns it."""
    if not isinstance(path, str | os.PathLike) or not str(path) or "\0" in str(path):
        raise InputError(f"expected the path of a TOML file, got {path!r}.", argument="path")
    path = user_path(path)
    table = read_toml(path)
    with located(str(path)):
        runs = table.pop("runs", {})
        runs = runs if isinstance(runs, dict) else {"folder": runs}
        for given, allowed in ((table, KEYS), (runs, RUN_KEYS)):
            if odd := [key for key in given if key not in allowed]:
                raise InputError(f"unknown key {odd[0]!r}; there is {examples(allowed, len(allowed))}.")
        if runs and len({"folder", "files"} & set(runs)) != 1:
            raise InputError("the table [runs] must have one of folder = ... and files = [...].")
        given = {**table, "runs": runs.pop("folder", None) or runs.pop("files", None), **runs}
        given.setdefault("name", None)
        return define(**given, base=path.parent)


def _part(argument: str, given: Any, folder: Path, name: str) -> Source | None:
    if given is None:
        return None
    if isinstance(given, str) and given.startswith("irds:"):
        if given == f"{_OURS}{name}":
            raise InputError(f"{argument} is the collection itself. Name another, or files.", argument=argument)
        # our own names are made known to ir_datasets later
        if not given.startswith(_OURS):
            find_irds(_PARTS[argument], given.removeprefix("irds:"), repr(argument))
        return given
    paths = _paths(argument, given, folder)
    if argument != "documents" and len(paths) > 1:
        raise InputError(f"{argument} names several files: {examples(paths)}. Give one.", argument=argument)
    formats = {document_format(path) for path in paths}
    if len(formats) > 1:
        raise InputError(f"{argument} names files of several formats: {examples(sorted(formats))}.", argument=argument)
    with located(repr(argument)):
        if argument == "documents":
            # the first document only, which tells whether these are documents at all
            OwnDocuments(paths, "").docs_cls()
        elif argument == "topics":
            topic_format(paths[0])
    return tuple(str(path) for path in paths)


def _runs(given: Any, folder: Path) -> Source | None:
    if given is None:
        return None
    paths = _paths("runs", given, folder)
    if isinstance(given, str | os.PathLike) and (has_magic(str(given)) or _absolute(str(given), folder).is_dir()):
        # kept as it was given: run files may be added to it
        return str(_absolute(str(given), folder))
    return tuple(str(path) for path in paths)


def _paths(argument: str, given: Any, folder: Path) -> list[Path]:
    """Return the files that a path, a pattern, a folder or a list of them stands for."""
    items = [given] if isinstance(given, str | os.PathLike) else given
    if not isinstance(items, Iterable) or isinstance(items, bytes | Mapping | pd.DataFrame):
        items = [given]
    paths: list[Path] = []
    for item in items:
        is_path = isinstance(item, str | os.PathLike) and str(item) and "\0" not in str(item)
        if not is_path or str(item).startswith("irds:"):
            raise InputError(f"{argument} must be files, or 'irds:ID' alone, got {shown(item)}.", argument=argument)
        path = _absolute(str(item), folder)
        try:
            pattern = f"{escape(str(path))}/*" if path.is_dir() else escape(str(path)) if path.is_file() else str(path)
            there = [file for file in map(Path, sorted(glob(pattern, recursive=True))) if file.is_file()]
        except OSError as error:
            raise InputError(f"{argument}: {path} cannot be looked up: {error}.", argument=argument) from error
        if not there or (path.is_dir() and argument not in ("documents", "runs")):
            raise InputError(f"{argument}: {path}: no such file, or a folder without files.", argument=argument)
        paths += there
    if not paths:
        raise InputError(f"{argument} names no file. Give the path of one.", argument=argument)
    return list(dict.fromkeys(paths))


def _absolute(item: str, folder: Path) -> Path:
    return Path(os.path.abspath(folder / user_path(item)))


def _label(argument: str, value: Any, folder: Path) -> Any:
    if isinstance(value, str | os.PathLike):
        return _paths(argument, value, folder)[0]
    if isinstance(value, _LABELS[argument]):
        return value
    if argument == "pooled" and isinstance(value, Iterable) and all(isinstance(name, str) for name in value):
        return list(value)
    wanted = "names of runs, a table, true or false" if argument == "pooled" else "a table"
    raise InputError(f"{argument} must be {wanted}, or the path of a file, got {shown(value)}.", argument=argument)


def _sources(given: Any) -> DocumentSources | None:
    if given is None or isinstance(given, DocumentSources):
        return given
    if isinstance(given, str):
        given = {"pattern": given}
    elif isinstance(given, Mapping) and not set(given) <= {"prefixes", "pattern"}:
        given = {"prefixes": given}
    parts = given if isinstance(given, Mapping) else {"prefixes": None}
    prefixes, pattern = parts.get("prefixes", {}), parts.get("pattern")
    pairs = prefixes.items() if isinstance(prefixes, Mapping) else [("", "")]
    try:
        groups = 1 if pattern is None else re.compile(pattern).groups
    except (re.error, TypeError, RecursionError, OverflowError):
        groups = 0
    if not all(isinstance(text, str) and text for pair in pairs for text in pair) or groups != 1 or not given:
        raise InputError(
            f"sources must map beginnings of docnos to sources, or be a regular expression with one group, got "
            f"{shown(given)}.",
            argument="sources",
        )
    return DocumentSources(dict(prefixes or {}), pattern)


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file; what is wrong with it is told at its place."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        with open_file(path) as file:
            return tomllib.loads(file.read().decode("utf-8-sig"))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}.", place=str(path)) from error
    except (ValueError, RecursionError, MemoryError) as error:
        # a number of thousands of digits is a ValueError of Python's own
        raise InputError(f"no TOML: {error}. Mend the file.", place=str(path)) from error


_OWN: dict[str, Collection] = {}
_TOLD: set[str] = set()
_DEMO = "demo"
_OURS = "irds:reuse/"
#: what a user may put into the folder of a catalogued collection, to be used in place of ir_datasets' files
_QRELS = ("qrels", "qrels.txt", "qrels.gz", "qrels.txt.gz")
_TOPICS = ("topics.tsv", "topics.csv", "topics.jsonl", "topics.xml", "topics.txt", "topics.txt.gz", "topics.xml.gz")


class UnknownCollectionError(InputError, KeyError):
    """No collection has the name that was asked for. A KeyError, too, as PyTerrier's datasets have it."""


def find_collection(name: str) -> Collection:
    """Return a collection by its name or alias, or an id of ir_datasets; its ``name`` is the real one."""
    if not isinstance(name, str):
        raise InputError(f"a collection's name must be a text such as 'trec-8/adhoc', got {name!r}.", argument="name")
    return _find(name, _own())


def _find(given: str, own: Mapping[str, Collection]) -> Collection:
    name = _meant(given, own)
    if name in own:
        return own[name]
    if name == _DEMO:
        return _demo()
    collection = catalogued(name)
    if collection is None:
        typed = shown(f"reuse:{given.strip(' ').removeprefix('reuse:')}")
        # names, aliases or ids of ir_datasets, however they are spelled
        every = {known: without_runs(known) for known in catalogue_names()} | {_DEMO: _demo()} | dict(own)
        called = {
            plain(text): known
            for known, each in every.items()
            if each is not None
            for text in (each.irds_id or known, *each.folder_names, known)
        }
        near = dict.fromkeys(called[text] for text in get_close_matches(plain(name), list(called), n=3))
        hint = f"Did you mean {examples(f'reuse:{known}' for known in near)}? " if near else ""
        shows = "list_collections() shows all, list_collections('deep learning') some of them."
        raise UnknownCollectionError(f"no collection {typed}. {hint}{shows}")
    return _with_local_files(collection, own)


def real_name(name: str) -> str:
    """Return the name of the collection that an alias stands for; any other name as it is, known or not."""
    return _meant(name, _own())


def collection_names() -> list[str]:
    """Return the names of all collections: the demo, the catalogue's by year, the user's own."""
    return list(dict.fromkeys([_DEMO, *catalogue_names(), *_own()]))


def add(collection: Collection, *, overwrite: bool = False) -> None:
    """Make an own collection known under its name, for the life of the process."""
    name, own = collection.name, _own()
    if _is_of_package(name):
        raise InputError(f"{name!r} is a collection of the package. Choose another name, such as 'my/{name}'.")
    if name in own and not overwrite and not own[name].same_as(collection):
        raise InputError(f"{name!r} is the name of another collection already. Pass overwrite=True to replace it.")
    _check_references(collection, {**own, name: collection})
    _OWN[name] = collection


def _own() -> dict[str, Collection]:
    """Return the collections registered, and those whose definitions lie in the user's folder."""
    defined: dict[str, tuple[Collection, Path]] = {}
    for path in sorted((home() / "collections").glob("*.toml")):
        with _left_out(path):
            stat = path.stat()
            collection = _read_once(path, stat.st_mtime_ns, stat.st_size)
            if collection.name in defined or _is_of_package(collection.name):
                raise InputError(f"the name {collection.name!r} is taken. Choose another.", place=str(path))
            defined[collection.name] = collection, path
    own = {**{name: collection for name, (collection, _) in defined.items()}, **_OWN}
    for name, (collection, path) in defined.items():
        # one that refers to what is not there is none
        kept = own.pop(name)
        with _left_out(path), located(str(path)):
            _check_references(collection, {**own, name: collection})
            own[name] = kept
    return own


@contextmanager
def _left_out(path: Path) -> Iterator[None]:
    """Warn of a definition that cannot be used, once for each state of the file, however often names are looked up."""
    try:
        yield
    except (InputError, OSError) as error:
        why = str(error) if isinstance(error, InputError) else f"{path}: it cannot be read ({error.strerror})."
        if why not in _TOLD:
            _TOLD.add(why)
            warn(f"a definition in your folder is left out: {why}")


def _meant(name: str, own: Mapping[str, Collection]) -> str:
    bare = name.strip(" ").removeprefix("reuse:").strip(" ").strip("/")
    if bare == _DEMO or bare in own or not is_spelled_as_name(bare):
        return bare
    meant, spelled = catalogue_name(bare), plain(bare)
    if meant is not None and plain(meant) == spelled:
        return meant
    # one's own collection comes before an alias, however either is spelled
    ours = [known for known in (*own, _DEMO) if plain(known) == spelled]
    return ours[0] if len(ours) == 1 else meant or bare


def _is_of_package(name: str) -> bool:
    return name == _DEMO or without_runs(name) is not None


def _check_references(collection: Collection, own: Mapping[str, Collection]) -> None:
    """Raise where a part is to come from a collection that there is not, or in the end from itself."""
    for part in _PARTS:
        chain, source = [collection.name], getattr(collection, part)
        while isinstance(source, str) and source.startswith(_OURS):
            name = source.removeprefix(_OURS)
            if name in chain:
                raise InputError(f"{part!r} of {chain[0]!r} comes from itself: {' -> '.join((*chain, name))}.")
            chain.append(name)
            source = getattr(_find(name, own), part)


@lru_cache(maxsize=256)
def _read_once(path: Path, changed: int, size: int) -> Collection:
    return read_definition(path)


@lru_cache(maxsize=1)
def _demo() -> Collection:
    folder = Path(str(files("pt_reuse.collections") / "data" / "demo"))
    # the counts, which a definition has no words for; its tests compare them
    return replace(read_definition(folder / "collection.toml"), origin="package", n_topics=41, n_judged=989)


def _with_local_files(collection: Collection, own: Mapping[str, Collection]) -> Collection:
    """Return the collection with the judgments and topics that the user put into its folder, if any."""
    changes: dict[str, Any] = {}
    # what one's own collections are called is theirs
    theirs = [name for name in collection.folder_names if name not in own]
    for folder in [place / name for place in places() for name in theirs]:
        for part, names in (("qrels", _QRELS), ("topics", _TOPICS)):
            there = [folder / name for name in names if os.path.isfile(folder / name)]
            if len(there) > 1:
                warn(f"{folder} has {examples(path.name for path in there)}; the first is used. Keep one of them.")
            if there:
                changes.setdefault(part, (str(there[0]),))
    return replace(collection, **changes) if changes else collection
