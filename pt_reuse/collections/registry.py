"""Every collection by name: the catalogue's, the package's own, and the user's."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from difflib import get_close_matches
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from pt_reuse._check import examples, told
from pt_reuse._errors import Call, InputError, Option, Part, in_python, located, warn
from pt_reuse.collections.collection import (
    Collection,
    catalogue_name,
    catalogue_names,
    catalogued,
    home,
    places,
    plain,
    without_runs,
)
from pt_reuse.collections.definition import read_definition

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
        raise UnknownCollectionError(f"no collection {told(f'reuse:{name}')}. ", *_advice(name, own))
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
        advice = Option("overwrite", True)
        raise InputError(f"{name!r} is the name of another collection already. Pass ", advice, " to replace it.")
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
        why = error.worded(in_python, function=False)
        if why not in _TOLD:
            _TOLD.add(why)
            warn("a definition in your folder is left out: ", error)


def _meant(name: str, own: Mapping[str, Collection]) -> str:
    bare = name.strip().removeprefix("reuse:").strip("/")
    if bare == _DEMO or bare in own:
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
            raise InputError(said, *_advice(name, others))


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


def _advice(name: str, own: Mapping[str, Collection]) -> tuple[Part, ...]:
    every = {known: without_runs(known) for known in catalogue_names()}
    known_by_name = {_DEMO: _demo(), **{known: found for known, found in every.items() if found is not None}, **own}
    # of what has no letter or digit nothing is near
    near = _nearest(name, known_by_name) if plain(name) else []
    hint = f"{'Did you mean' if near else 'Names are such as'} {examples(f'reuse:{known}' for known in near or _SUCH)}"
    some = Call("list_collections", "'deep learning'")
    return f"{hint}{'?' if near else '.'} ", Call("list_collections"), " shows all, ", some, " some of them."


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
