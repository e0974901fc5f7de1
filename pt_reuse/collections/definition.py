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

from pt_reuse._check import did_you_mean, examples, shown
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
from pt_reuse.collections.irds import find_irds
from pt_reuse.collections.own_files import EXPECTED_DOCUMENTS, OwnDocuments, check_topic_file, document_format
from pt_reuse.data.judgments import checked_rel
from pt_reuse.data.metadata import RunLabels
from pt_reuse.data.ordering import HowPooled
from pt_reuse.errors import InputError, located, warn

#: keys of a definition file, and of the tables in it
KEYS = ("name", "title", "year", "language", "note", "documents", "topics", "qrels", "rel", "runs", "sources")
#: what else is known of how the runs were pooled
_POOLING = ("pool_order", "pool_depth")
SOURCE_KEYS = ("prefixes", "pattern")
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*(/[a-z0-9][a-z0-9._-]*)*")
_PARTS = {"documents": "docs", "topics": "queries", "qrels": "qrels"}
#: what the labels of runs may be, but the path of a file
_TABLES = (pd.DataFrame, pd.Series, Mapping)
_LABELS: dict[str, tuple[Any, ...]] = {
    "metadata": (pd.DataFrame,),
    "teams": _TABLES,
    "types": _TABLES,
    "pooled": (*_TABLES, bool),
}
RUN_KEYS = ("folder", "files", *_LABELS, *_POOLING)


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
    """Define a collection of one's own. What it names must be there; big files are not read.

    Args:
        name: what is to follow ``reuse:``: lower-case letters, digits and ``. _ / -``, such as ``"mine/2024"``.
        title: for people; default the name.
        year: when it was made.
        documents: ``"irds:ID"`` for those of a dataset of ir_datasets, or a file, a folder, a glob pattern or several
            files: JSON lines (``docno``, ``text`` and further fields), tab-separated lines (id, tab, text), CSV with
            such a header, or TREC's ``<DOC>`` text.
        topics: ``"irds:ID"``, or a file: lines of id, tab and query, CSV or JSON lines (``qid``, ``query`` and further
            fields), TREC's ``<top>`` text, or XML.
        qrels: ``"irds:ID"``, or a TREC qrels file.
        rel: the lowest label that is relevant, >= 1; default 1.
        runs: a folder, a glob pattern or several run files.
        teams: who submitted each run, as :func:`read_runs` takes it.
        types: what kind of system each run is, as :func:`read_runs` takes it.
        pooled: which runs were pooled, as :func:`read_runs` takes it.
        metadata: a table of the runs, as :func:`read_runs` takes it.
        pool_order: the order in which the runs were pooled, as :func:`read_runs` takes it.
        pool_depth: to which depth they were pooled, as :func:`read_runs` takes it.
        sources: how a docno tells the document's source: beginning of the docno -> source; or a regular expression
            whose one group is the source, as a text or ``{"pattern": ...}``; or ``{"prefixes": ..., "pattern": ...}``.
        language: of documents and topics that come from files, an ISO 639-1 code such as ``"en"``.
        note: what one must know before using it.
        base: the folder that relative paths are relative to; default the current one.

    Returns:
        Collection: for :func:`register_collection`.

    Raises:
        InputError: a name that cannot be used, a file that is not there, a value of the wrong kind.
    """
    given = dict(locals())
    labels = {key: given.pop(key) for key in _LABELS}
    folder = Path.cwd() if base is None else user_path(base)
    return _Definition(folder, {}).collection(given, labels)


def read_definition(path: str | Path) -> Collection:
    """Read the definition of a collection from a TOML file.

    Returns:
        Collection: what :func:`define` returns.

    Raises:
        InputError: no TOML, a key or value that does not belong there, a file that is not there.
    """
    if not isinstance(path, str | os.PathLike) or not str(path) or "\0" in str(path):
        raise InputError(f"expected the path of a TOML file, got {path!r}.", argument="path")
    path = user_path(path)
    table = read_toml(path)
    with located(str(path)):
        _check_keys("", table, KEYS)
        if "name" not in table:
            raise InputError("no key 'name'. Add what is to follow 'reuse:', such as name = \"mine\".")
        runs = table.get("runs", {})
        runs = runs if isinstance(runs, dict) else {"folder": runs}
        _check_keys("runs.", runs, RUN_KEYS)
        if runs and len({"folder", "files"} & set(runs)) != 1:
            raise InputError("the table [runs] must have one of folder = ... and files = [...].")
        sources = table.get("sources", {})
        if not isinstance(sources, dict):
            raise InputError(f"'sources' must be a table with the keys {examples(SOURCE_KEYS)}, got {sources!r}.")
        _check_keys("sources.", sources, SOURCE_KEYS)
        place = "files" if "files" in runs else "folder"
        keys = {key: f"runs.{key}" for key in (*_LABELS, *_POOLING)} | {"runs": f"runs.{place}"}
        given = {key: table.get(key) for key in KEYS} | {"runs": runs.get(place)}
        given |= {key: runs.get(key) for key in _POOLING}
        return _Definition(path.parent, keys).collection(given, {key: runs.get(key) for key in _LABELS})


class _Definition:
    """Checks what a definition names: relative paths are in a folder, arguments may have other names, in `keys`."""

    def __init__(self, folder: Path, keys: Mapping[str, str]):
        self.folder, self.keys = folder, keys

    def collection(self, given: Mapping[str, Any], labels: Mapping[str, Any]) -> Collection:
        name, year = given["name"], given["year"]
        if not isinstance(name, str) or not _NAME.fullmatch(name) or ".." in name:
            raise self._wrong(
                "name",
                f"must be lower-case letters, digits and . _ - in parts divided by '/', each beginning with a letter "
                f"or digit, without '..', such as 'mine/2024', got {name!r}.",
            )
        for argument in _PARTS:
            if isinstance(given[argument], str) and given[argument] == f"irds:reuse/{name}":
                raise self._wrong(argument, f"is {given[argument]!r}, the collection itself. Name another, or files.")
        for argument in ("title", "language", "note"):
            if not isinstance(given[argument], str | None):
                raise self._wrong(argument, f"must be a text, got {given[argument]!r}.")
        if year is not None and (isinstance(year, bool) or not isinstance(year, int) or not 1000 <= year <= 9999):
            raise self._wrong("year", f"must be a whole number of four digits, got {shown(year)}.")
        of_runs = {argument: given[argument] for argument in _POOLING} | dict(labels)
        idle = [argument for argument, value in of_runs.items() if value is not None and given["runs"] is None]
        if idle:
            raise self._wrong(idle[0], "is about runs, but no runs are given. Name them, or leave it out.")
        how_pooled = HowPooled(given["pool_order"], given["pool_depth"])
        return Collection(
            name=name,
            title=given["title"] or name,
            year=year,
            language=given["language"],
            documents=self._part("documents", given["documents"]),
            topics=self._part("topics", given["topics"]),
            qrels=self._part("qrels", given["qrels"]),
            rel=checked_rel(given["rel"]),
            runs=self._runs(given["runs"]),
            labels={key: self._label(key, value) for key, value in labels.items() if value is not None},
            pool_order=how_pooled.order,
            pool_depth=how_pooled.depth,
            sources=self._sources(given["sources"]),
            note=given["note"] or "",
        )

    def _wrong(self, argument: str, problem: str) -> InputError:
        return InputError(f"{self.keys.get(argument, argument)!r} {problem}", argument=argument)

    def _part(self, argument: str, given: Any) -> Source | None:
        if given is None:
            return None
        if isinstance(given, str) and given.startswith("irds:"):
            # our own names are made known to ir_datasets later
            if not given.startswith("irds:reuse/"):
                find_irds(_PARTS[argument], given.removeprefix("irds:"), repr(self.keys.get(argument, argument)))
            return given
        paths = self._paths(argument, given, folders=argument == "documents")
        if argument != "documents" and len(paths) > 1:
            raise self._wrong(argument, f"names several files: {examples(paths)}. Give one.")
        formats = {document_format(path) for path in paths}
        if len(formats) > 1:
            raise self._wrong(argument, f"names files of several formats: {examples(sorted(formats))}. Use one.")
        with located(repr(argument)):
            if argument == "documents":
                # the first document only, which tells whether these are documents at all
                OwnDocuments(paths, "").docs_cls()
            elif argument == "topics":
                check_topic_file(paths[0])
        return tuple(str(path) for path in paths)

    def _runs(self, given: Any) -> Source | None:
        if given is None:
            return None
        paths = self._paths("runs", given, folders=True)
        if isinstance(given, str | os.PathLike) and (has_magic(str(given)) or self._absolute(str(given)).is_dir()):
            # kept as it was given: run files may be added to it
            return str(self._absolute(str(given)))
        return tuple(str(path) for path in paths)

    def _paths(self, argument: str, given: Any, *, folders: bool) -> list[Path]:
        items = [given] if isinstance(given, str | os.PathLike) else given
        if not isinstance(items, Iterable) or isinstance(items, bytes | Mapping | pd.DataFrame):
            got = "a table" if isinstance(given, pd.DataFrame) else repr(given)
            raise self._wrong(argument, f"must be the path of a file or several, or 'irds:ID' alone, got {got}.")
        found: list[Path] = []
        for item in items:
            is_path = isinstance(item, str | os.PathLike) and str(item) and "\0" not in str(item)
            if not is_path or str(item).startswith("irds:"):
                raise self._wrong(argument, f"must hold paths of files, or be 'irds:ID' alone, got {item!r}.")
            found += self._expanded(argument, str(item), folders)
        if not found:
            raise self._wrong(
                argument, f"names no file. Expected {EXPECTED_DOCUMENTS if argument == 'documents' else 'a path'}."
            )
        return list(dict.fromkeys(found))

    def _expanded(self, argument: str, item: str, folders: bool) -> list[Path]:
        path = self._absolute(item)
        try:
            is_folder = path.is_dir()
            pattern = f"{escape(str(path))}/*" if is_folder else escape(str(path)) if path.is_file() else str(path)
            files = [file for file in map(Path, sorted(glob(pattern, recursive=True))) if file.is_file()]
        except OSError as error:
            raise self._wrong(argument, f"{path} cannot be looked up: {error.strerror or error}.") from error
        if not files or (is_folder and not folders):
            what = "a folder, where a file is needed, or one without files" if is_folder else "no such file or folder"
            raise self._wrong(argument, f"{path}: {what}.")
        return files

    def _absolute(self, item: str) -> Path:
        return Path(os.path.abspath(self.folder / user_path(item)))

    def _label(self, argument: str, value: Any) -> Any:
        if isinstance(value, str | os.PathLike):
            return self._paths(argument, value, folders=False)[0]
        if isinstance(value, _LABELS[argument]):
            return value
        if argument == "pooled" and isinstance(value, Iterable) and all(isinstance(name, str) for name in value):
            return list(value)
        wanted = {"metadata": "a table", "pooled": "names of runs, a table, true or false"}
        raise self._wrong(argument, f"must be {wanted.get(argument, 'a table')}, or the path of a file, got {value!r}.")

    def _sources(self, given: Any) -> DocumentSources | None:
        if given is None or isinstance(given, DocumentSources):
            return given
        if isinstance(given, str):
            given = {"pattern": given}
        elif isinstance(given, Mapping) and not set(given) <= set(SOURCE_KEYS):
            given = {"prefixes": given}
        prefixes, pattern = (given.get(key) for key in SOURCE_KEYS) if isinstance(given, Mapping) else (given, None)
        prefixes = {} if prefixes is None else prefixes
        pairs = prefixes.items() if isinstance(prefixes, Mapping) else [("", "")]
        if not all(isinstance(text, str) and text for pair in pairs for text in pair):
            raise self._wrong("sources", f"must map beginnings of docnos to sources, both texts, got {prefixes!r}.")
        if not prefixes and pattern is None:
            raise self._wrong("sources", "has neither prefixes nor a pattern. Leave it out if docnos tell no source.")
        try:
            groups = 1 if pattern is None else re.compile(pattern).groups
        except (re.error, TypeError, RecursionError, OverflowError) as error:
            raise self._wrong("sources", f"has no regular expression as pattern: {pattern!r} ({error}).") from error
        if groups != 1:
            raise self._wrong("sources", f"has the pattern {pattern!r}. Put brackets around the source, once.")
        return DocumentSources(dict(prefixes), pattern)


def _check_keys(table: str, given: Mapping[str, Any], allowed: tuple[str, ...]) -> None:
    for key in given:
        if key not in allowed:
            near = did_you_mean(table + key, [table + known for known in allowed])
            raise InputError(f"unknown key {table + key!r}; there is {examples(allowed, len(allowed))}.{near}")


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file; what is wrong with it is told at its place."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        with open_file(path) as file:
            data = file.read()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}.", place=str(path)) from error
    except MemoryError as error:
        raise InputError("does not fit in memory. Is it TOML?", place=str(path)) from error
    try:
        table = tomllib.loads(data.decode("utf-8-sig"))
        _check_numbers(table)
    except (ValueError, RecursionError) as error:
        # a number of thousands of digits is a ValueError of Python's own
        raise InputError(f"no TOML: {error}. Mend the file.", place=str(path)) from error
    return table


def _check_numbers(value: Any) -> None:
    """Raise where a whole number has more bits than TOML lets it have, so that it can be shown and kept."""
    if isinstance(value, int) and value.bit_length() > 64:
        raise ValueError("a whole number of more than 64 bits")
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _check_numbers(part)


_OWN: dict[str, Collection] = {}
_TOLD: set[str] = set()
_DEMO = "demo"
_OURS = "irds:reuse/"
#: names to show where nothing is near
_SUCH = ("trec-8/adhoc", "trec-2004/robust", "trec-2019/deep/passages")
#: what a user may put into the folder of a catalogued collection, to be used in place of ir_datasets' files
_QRELS = ("qrels", "qrels.txt", "qrels.gz", "qrels.txt.gz")
_TOPICS = ("topics.tsv", "topics.csv", "topics.jsonl", "topics.xml", "topics.txt", "topics.txt.gz", "topics.xml.gz")


class UnknownCollectionError(InputError, KeyError):
    """No collection has the name that was asked for. A KeyError, too, as PyTerrier's datasets have it."""


def find_collection(name: str) -> Collection:
    """Return a collection by its name or alias, or an id of ir_datasets; its ``name`` is the real one."""
    if not isinstance(name, str):
        raise InputError(f"a collection's name must be a text such as 'trec-8/adhoc', got {name!r}.", argument="name")
    own = _own()
    name = _meant(name, own)
    if name in own:
        return own[name]
    if name == _DEMO:
        return _demo()
    collection = catalogued(name)
    if collection is None:
        raise UnknownCollectionError(f"no collection {shown(f'reuse:{name}')}. {_advice(name, own)}")
    return _with_local_files(collection, own)


def real_name(name: str) -> str:
    """Return the name of the collection that an alias stands for; any other name as it is, known or not."""
    return _meant(name, _own())


def collection_names() -> list[str]:
    """Return the names of all collections: the demo, the catalogue's by year, the user's own."""
    return list(dict.fromkeys([_DEMO, *catalogue_names(), *_own()]))


def add(collection: Collection, *, overwrite: bool = False) -> None:
    """Make an own collection known under its name, for the life of the process."""
    name = collection.name
    if _is_of_package(name):
        raise InputError(f"{name!r} is a collection of the package. Choose another name, such as 'my/{name}'.")
    own = _own()
    if name in own and not overwrite and not own[name].same_as(collection):
        advice = "overwrite=True"
        raise InputError(f"{name!r} is the name of another collection already. Pass {advice} to replace it.")
    _check_references(collection, {**own, name: collection})
    _OWN[name] = collection


def _own() -> dict[str, Collection]:
    """Return the collections registered, and those whose definitions lie in the user's folder."""
    found: dict[str, Collection] = {}
    of: dict[str, Path] = {}
    for path in sorted((home() / "collections").glob("*.toml")):
        with _left_out(path):
            stat = path.stat()
            collection = _read_once(path, stat.st_mtime_ns, stat.st_size)
            name = collection.name
            if name in of or _is_of_package(name):
                taken = f"{of[name]} has the name {name!r}, too" if name in of else f"{name!r} is one of the package's"
                raise InputError(f"{taken}. Choose another name.", place=str(path))
            found[name], of[name] = collection, path
    own = {**found, **_OWN}
    for name, path in of.items():
        with _left_out(path):
            # one that refers to what is not there is none
            collection = own.pop(name)
            with located(str(path)):
                _check_references(found[name], {**own, name: collection})
            own[name] = collection
    return own


@contextmanager
def _left_out(path: Path) -> Iterator[None]:
    """Warn of a definition that cannot be used, once for each state of the file, however often names are looked up."""
    try:
        yield
    except (InputError, OSError) as fault:
        error = fault
        if not isinstance(error, InputError):
            error = InputError(f"it cannot be read ({error.strerror or error}).", place=str(path))
        why = str(error)
        if why not in _TOLD:
            _TOLD.add(why)
            warn(f"a definition in your folder is left out: {error}")


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


def _check_references(collection: Collection, own: Mapping[str, Collection], chain: tuple[str, ...] = ()) -> None:
    """Raise where a part is to come from a collection that there is not, or from one that refers back."""
    chain = (*chain, collection.name)
    for part in ("documents", "topics", "qrels"):
        source = getattr(collection, part)
        if not isinstance(source, str) or not source.startswith(_OURS):
            continue
        name = source.removeprefix(_OURS)
        if name in chain:
            circle = " -> ".join((*chain, name))
            raise InputError(f"{part!r} of {collection.name!r} comes from itself: {circle}. Name files, or another.")
        if name in own:
            _check_references(own[name], own, chain)
        elif not _is_of_package(name):
            said = f"{part!r} of {collection.name!r} is {source!r}: no such collection. "
            others = {other: found for other, found in own.items() if other not in chain}
            raise InputError(f"{said}{_advice(name, others)}")


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


def _advice(name: str, own: Mapping[str, Collection]) -> str:
    every = {known: without_runs(known) for known in catalogue_names()}
    known_by_name = {_DEMO: _demo(), **{known: found for known, found in every.items() if found is not None}, **own}
    # of what has no letter or digit nothing is near
    near = _nearest(name, known_by_name) if plain(name) else []
    hint = f"{'Did you mean' if near else 'Names are such as'} {examples(f'reuse:{known}' for known in near or _SUCH)}"
    some = "list_collections('deep learning')"
    return f"{hint}{'?' if near else '.'} list_collections() shows all, {some} some of them."


#: what people call tracks -> a word of their names; the word trec says nothing
_CALLED = {"dl": "deep", "tb": "terabyte", "mq": "million", "cds": "clinical", "psg": "passages", "doc": "docs"}


def _words(text: str) -> list[str]:
    return [_CALLED.get(word, word) for word in re.findall(r"[a-z]+|\d+", text.lower()) if word != "trec"]


def _nearest(wanted: str, collections: Mapping[str, Collection]) -> list[str]:
    """Return three names at most: by name, id or folder in other spellings; else by letters, and words in common."""
    exact, shared = [], {}
    called: dict[str, str] = {}
    for name, found in collections.items():
        if plain(wanted) in map(plain, (name, found.irds_id or "", *found.folder_names)):
            exact.append(name)
        called |= dict.fromkeys(map(plain, (name, *found.aliases)), name)
        year = found.year or 0
        known = {*_words(f"{name} {found.title} {found.irds_id} {year}"), str(year % 100), f"{year % 100:02}"}
        shared[name] = sum(word in known for word in _words(wanted))
    # two thirds of the words at least
    most = max([*shared.values(), 1, -(-2 * len(_words(wanted)) // 3)])
    close = [called[text] for text in get_close_matches(plain(wanted), list(called), n=3, cutoff=0.75)]
    return (exact or list(dict.fromkeys([*close, *(name for name in shared if shared[name] == most)])))[:3]
