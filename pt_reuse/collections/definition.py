"""Collections of one's own: defined by a call or a TOML file, checked before anything is read."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from glob import glob, has_magic
from pathlib import Path
from typing import Any

import pandas as pd

from pt_reuse._check import examples
from pt_reuse._errors import InputError, door
from pt_reuse.collections.collection import Collection, DocumentSources, Source
from pt_reuse.collections.irds import find_irds
from pt_reuse.collections.parts.document_files import EXPECTED, DocumentFiles, document_format
from pt_reuse.collections.parts.topic_files import check_topic_file
from pt_reuse.runs.metadata import RunLabels

#: keys of a definition file, and of the tables in it
KEYS = ("name", "title", "year", "language", "note", "documents", "topics", "qrels", "runs", "sources")
RUN_KEYS = ("folder", "files", "metadata", "teams", "types", "pooled")
SOURCE_KEYS = ("prefixes", "pattern")
_LABELS = ("metadata", "teams", "types", "pooled")
_IRDS = "irds:"
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*(/[a-z0-9][a-z0-9._-]*)*")
_PARTS = {"documents": "docs", "topics": "queries", "qrels": "qrels"}


@door
def define(
    name: str,
    *,
    title: str | None = None,
    year: int | None = None,
    documents: str | Path | Iterable[str | Path] | None = None,
    topics: str | Path | None = None,
    qrels: str | Path | None = None,
    runs: str | Path | Iterable[str | Path] | None = None,
    teams: RunLabels | None = None,
    types: RunLabels | None = None,
    pooled: RunLabels | Iterable[str] | bool | None = None,
    metadata: pd.DataFrame | str | Path | None = None,
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
        runs: a folder, a glob pattern or several run files.
        teams: who submitted each run, as :func:`read_runs` takes it.
        types: what kind of system each run is, as :func:`read_runs` takes it.
        pooled: which runs were pooled, as :func:`read_runs` takes it.
        metadata: a table of the runs, as :func:`read_runs` takes it.
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
    given = {"documents": documents, "topics": topics, "qrels": qrels}
    labels = {"metadata": metadata, "teams": teams, "types": types, "pooled": pooled}
    folder = Path(base).expanduser() if base is not None else Path.cwd()
    texts = {"title": title, "language": language, "note": note}
    return _Definition("define", folder, {}).collection(name, texts, year, given, runs, labels, sources)


@door
def read_definition(path: str | Path) -> Collection:
    """Read the definition of a collection from a TOML file.

    Args:
        path: the file. Its keys are the arguments of :func:`define`; those of the runs stand in a table ``[runs]``, as
            ``folder`` or ``files``, ``metadata``, ``teams``, ``types``, ``pooled``; those of the sources in
            ``[sources]``, as ``prefixes`` and ``pattern``. Paths are relative to its folder.

    Returns:
        Collection: what :func:`define` returns.

    Raises:
        InputError: no TOML, a key or value that does not belong there, a file that is not there.
    """
    if not isinstance(path, str | os.PathLike) or not str(path) or "\0" in str(path):
        raise InputError(f"expected the path of a TOML file, got {path!r}.")
    path = Path(path).expanduser()
    table = _read_toml(path)
    where = f"read_definition: {path}"
    _check_keys(where, "", table, KEYS)
    if "name" not in table:
        raise InputError(f"{where}: no key 'name'. Add what is to follow 'reuse:', such as name = \"mine\".")
    runs = table.get("runs", {})
    if not isinstance(runs, dict):
        runs = {"folder": runs}
    else:
        _check_keys(where, "runs.", runs, RUN_KEYS)
        if "folder" in runs and "files" in runs:
            raise InputError(f"{where}: both 'runs.folder' and 'runs.files'. Keep one of them.")
        if runs and not {"folder", "files"} & set(runs):
            raise InputError(f"{where}: the table [runs] names no run. Add folder = ... or files = [...] to it.")
    sources = table.get("sources")
    if isinstance(sources, dict):
        _check_keys(where, "sources.", sources, SOURCE_KEYS)
    elif sources is not None:
        raise InputError(f"{where}: 'sources' must be a table with the keys {examples(SOURCE_KEYS)}, got {sources!r}.")
    keys = {key: f"runs.{key}" for key in _LABELS} | {"runs": "runs.files" if "files" in runs else "runs.folder"}
    return _Definition(where, path.parent, keys).collection(
        table["name"],
        {key: table.get(key) for key in ("title", "language", "note")},
        table.get("year"),
        {part: table.get(part) for part in _PARTS},
        runs.get("folder", runs.get("files")),
        {key: runs.get(key) for key in _LABELS},
        sources,
    )


class _Definition:
    """The checks of what a definition names.

    Args:
        where: what an error begins with.
        folder: what relative paths are relative to.
        keys: argument -> how the user called it.
    """

    def __init__(self, where: str, folder: Path, keys: Mapping[str, str]):
        self.where = where
        self.folder = folder
        self.keys = keys

    def wrong(self, argument: str, problem: str) -> InputError:
        return InputError(f"{self.where}: {self.keys.get(argument, argument)!r} {problem}")

    def collection(
        self,
        name: Any,
        texts: Mapping[str, Any],
        year: Any,
        parts: Mapping[str, Any],
        runs: Any,
        labels: Mapping[str, Any],
        sources: Any,
    ) -> Collection:
        self._check_name(name)
        for argument, value in parts.items():
            if isinstance(value, str) and value == f"{_IRDS}reuse/{name}":
                raise self.wrong(argument, f"is {value!r}, the collection itself. Name files, or another dataset.")
        for argument, value in texts.items():
            if value is not None and not isinstance(value, str):
                raise self.wrong(argument, f"must be a text, got {value!r}.")
        if year is not None and (isinstance(year, bool) or not isinstance(year, int)):
            raise self.wrong("year", f"must be a whole number, got {year!r}.")
        return Collection(
            name=name,
            title=texts["title"] or name,
            year=year,
            language=texts["language"],
            documents=self._documents(parts["documents"]),
            topics=self._one_file("topics", parts["topics"]),
            qrels=self._one_file("qrels", parts["qrels"]),
            runs=self._runs(runs),
            labels=self._labels(labels, runs),
            sources=self._sources(sources),
            note=texts["note"] or "",
        )

    def _check_name(self, name: Any) -> None:
        if not isinstance(name, str):
            raise self.wrong("name", f"must be a text such as 'mine/2024', got {name!r}.")
        odd = sorted(set(re.sub(r"[a-z0-9._/-]", "", name)))
        if odd:
            why = f"has {examples(odd)}"
        elif name.startswith("/") or name.endswith("/") or "//" in name or not name:
            why = "has a '/' at an end, two in a row, or nothing at all"
        elif not _NAME.fullmatch(name) or ".." in name:
            why = "has '..', or a part that begins with no letter or digit"
        else:
            return
        raise self.wrong("name", f"{name!r} {why}. Use lower-case letters, digits and . _ - in parts divided by '/'.")

    def _documents(self, given: Any) -> Source | None:
        if given is None or self._is_irds("documents", given):
            return given
        paths = self._paths("documents", given, folders=True)
        formats = {document_format(path) for path in paths}
        if len(formats) > 1:
            raise self.wrong("documents", f"names files of several formats: {examples(sorted(formats))}. Use one.")
        try:
            # the first document only, which tells whether these are documents at all
            _ = DocumentFiles(paths).fields
        except InputError as error:
            raise self.wrong("documents", f"cannot be used: {error}") from error
        return tuple(str(path) for path in paths)

    def _one_file(self, argument: str, given: Any) -> Source | None:
        if given is None or self._is_irds(argument, given):
            return given
        paths = self._paths(argument, given, folders=False)
        if len(paths) > 1:
            raise self.wrong(argument, f"names several files: {examples([str(path) for path in paths])}. Give one.")
        if argument == "topics":
            try:
                check_topic_file(paths[0])
            except InputError as error:
                raise self.wrong(argument, f"cannot be used: {error}") from error
        return (str(paths[0]),)

    def _runs(self, given: Any) -> Source | None:
        if given is None:
            return None
        paths = self._paths("runs", given, folders=True)
        if isinstance(given, str | os.PathLike) and (has_magic(str(given)) or self._absolute(str(given)).is_dir()):
            # kept as it was given: run files may be added to it
            return str(self._absolute(str(given)))
        return tuple(str(path) for path in paths)

    def _is_irds(self, argument: str, given: Any) -> bool:
        if not isinstance(given, str) or not given.startswith(_IRDS):
            return False
        # our own names are made known to ir_datasets later
        if not given.startswith(f"{_IRDS}reuse/"):
            find_irds(f"{self.where}: {self.keys.get(argument, argument)!r}", _PARTS[argument], given[len(_IRDS) :])
        return True

    def _paths(self, argument: str, given: Any, *, folders: bool) -> list[Path]:
        several = not isinstance(given, str | os.PathLike)
        if several and (not isinstance(given, Iterable) or isinstance(given, bytes | Mapping | pd.DataFrame)):
            irds = f"'{_IRDS}ID', or " if argument in _PARTS else ""
            raise self.wrong(argument, f"must be {irds}the path of a file or several, got {given!r}.")
        found: list[Path] = []
        for item in given if several else [given]:
            if not isinstance(item, str | os.PathLike) or not str(item) or "\0" in str(item):
                raise self.wrong(argument, f"must hold paths of files, got {item!r}.")
            if str(item).startswith(_IRDS):
                raise self.wrong(argument, f"has {item!r} among files. Give it alone, or files only.")
            found += self._expanded(argument, str(item), folders=folders)
        if not found:
            raise self.wrong(argument, f"names no file. Expected {EXPECTED if argument == 'documents' else 'a path'}.")
        return list(dict.fromkeys(found))

    def _expanded(self, argument: str, item: str, *, folders: bool) -> list[Path]:
        path = self._absolute(item)
        try:
            if path.is_file():
                return [path]
            if path.is_dir():
                if not folders:
                    raise self.wrong(argument, f"is the folder {path}. Give the file.")
                inside = sorted(p for p in path.iterdir() if p.is_file() and not p.name.startswith("."))
                if not inside:
                    raise self.wrong(argument, f"is the folder {path}, which has no files.")
                return inside
            matched = sorted(Path(p) for p in glob(str(path), recursive=True) if Path(p).is_file())
        except OSError as error:
            raise self.wrong(argument, f"{path} cannot be looked up: {error.strerror or error}.") from error
        if not matched:
            what = "no file matches it" if has_magic(item) else "no such file or folder"
            raise self.wrong(argument, f"{path}: {what}.{self._near(path)}")
        return matched

    def _near(self, path: Path) -> str:
        there = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
        near = get_close_matches(path.name, there, n=1)
        return f" Did you mean {near[0]!r}?" if near else ""

    def _absolute(self, item: str) -> Path:
        return Path(os.path.abspath(self.folder / Path(item).expanduser()))

    def _labels(self, given: Mapping[str, Any], runs: Any) -> dict[str, Any]:
        labels: dict[str, Any] = {}
        for argument, value in given.items():
            if value is None:
                continue
            if runs is None:
                raise self.wrong(argument, "is about runs, but no runs are given. Name them, or leave it out.")
            frames = pd.DataFrame if argument == "metadata" else (pd.DataFrame, pd.Series, Mapping)
            if isinstance(value, str | os.PathLike):
                labels[argument] = self._paths(argument, value, folders=False)[0]
            elif isinstance(value, frames) or (argument == "pooled" and isinstance(value, bool)):
                labels[argument] = value
            elif argument == "pooled" and _are_names(value):
                labels[argument] = list(value)
            else:
                what = {
                    "metadata": "the path of a CSV",
                    "pooled": "names of runs, true or false, or the path of a file",
                }
                wanted = what.get(argument, "a table of run and label, or the path of a file")
                raise self.wrong(argument, f"must be {wanted}, got {value!r}.")
        return labels

    def _sources(self, given: Any) -> DocumentSources | None:
        if given is None:
            return None
        if isinstance(given, DocumentSources):
            prefixes, pattern = given.prefixes, given.pattern
        elif isinstance(given, str):
            prefixes, pattern = {}, given
        elif isinstance(given, Mapping):
            by_key = set(given) <= set(SOURCE_KEYS)
            prefixes, pattern = (given.get("prefixes", {}), given.get("pattern")) if by_key else (given, None)
        else:
            raise self.wrong("sources", f"must map beginnings of docnos to sources, or be a pattern, got {given!r}.")
        if not isinstance(prefixes, Mapping) or not all(
            isinstance(text, str) and text for pair in prefixes.items() for text in pair
        ):
            raise self.wrong("sources", f"must map beginnings of docnos to sources, both texts, got {prefixes!r}.")
        if pattern is not None:
            self._check_pattern(pattern)
        if not prefixes and pattern is None:
            raise self.wrong("sources", "has neither prefixes nor a pattern. Leave it out where docnos tell no source.")
        return DocumentSources(dict(prefixes), pattern)

    def _check_pattern(self, pattern: Any) -> None:
        if not isinstance(pattern, str):
            raise self.wrong("sources", f"has a pattern that is no text: {pattern!r}.")
        try:
            groups = re.compile(pattern).groups
        except (re.error, RecursionError, OverflowError) as error:
            raise self.wrong(
                "sources", f"has a pattern that is no regular expression: {pattern!r} ({error})."
            ) from error
        if groups != 1:
            raise self.wrong(
                "sources", f"has the pattern {pattern!r} with {groups} groups. Put brackets around the source, once."
            )


def _are_names(value: Any) -> bool:
    several = isinstance(value, Iterable) and not isinstance(value, bytes)
    return several and all(isinstance(name, str) for name in value)


def _check_keys(where: str, table: str, given: Mapping[str, Any], allowed: tuple[str, ...]) -> None:
    for key in given:
        if key not in allowed:
            near = get_close_matches(key, allowed, n=1)
            hint = f" Did you mean {table + near[0]!r}?" if near else ""
            raise InputError(f"{where}: unknown key {table + key!r}; there is {examples(allowed, len(allowed))}.{hint}")


def _read_toml(path: Path) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        return tomllib.loads(path.read_bytes().decode("utf-8"))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f"{path} is no TOML: {error}. Mend the file.") from error
