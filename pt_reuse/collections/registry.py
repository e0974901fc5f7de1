"""Every collection by name: the catalogue's, the package's own, and the user's."""

from __future__ import annotations

import warnings
from dataclasses import replace
from difflib import get_close_matches
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

from pt_reuse._check import InputError, ReuseWarning, examples
from pt_reuse.collections.catalogue import catalogue_names, catalogued
from pt_reuse.collections.collection import Collection, home, places
from pt_reuse.collections.definition import read_definition

_OWN: dict[str, Collection] = {}
_DEMO = "demo"
#: what a user may put into the folder of a catalogued collection, to be used in place of ir_datasets' files
_QRELS = ("qrels", "qrels.txt", "qrels.gz", "qrels.txt.gz")
_TOPICS = ("topics.tsv", "topics.csv", "topics.jsonl", "topics.xml", "topics.txt", "topics.txt.gz", "topics.xml.gz")


class UnknownCollectionError(InputError):
    """No collection has the name that was asked for."""


def find_collection(name: str) -> Collection:
    """Return a collection by its name, without the prefix ``reuse:``.

    Args:
        name: such as ``"trec-8/adhoc"`` or ``"demo"``, or the name of an own collection.

    Raises:
        UnknownCollectionError: no collection of that name; the error says which are near.
        InputError: a name that is no text, or files of the user that contradict each other.
    """
    if not isinstance(name, str):
        raise InputError(f"a collection's name must be a text such as 'trec-8/adhoc', got {name!r}.")
    name = name.removeprefix("reuse:").strip("/")
    own = _own()
    if name in own:
        return own[name]
    if name == _DEMO:
        return _demo()
    collection = catalogued(name)
    if collection is None:
        raise UnknownCollectionError(f"no collection 'reuse:{name}'. {_advice(name)}")
    return _with_local_files(collection)


def collection_names() -> list[str]:
    """Return the names of all collections: the demo, the catalogue's by year, the user's own."""
    return list(dict.fromkeys([_DEMO, *catalogue_names(), *_own()]))


def add(collection: Collection, *, overwrite: bool = False) -> None:
    """Make an own collection known under its name, for the life of the process.

    Raises:
        InputError: the name is taken and `overwrite` is False, or belongs to the package.
    """
    if collection.name == _DEMO or catalogued(collection.name) is not None:
        raise InputError(
            f"register_collection: {collection.name!r} is a collection of the package. Choose another name, such as "
            f"'my/{collection.name}'."
        )
    if collection.name in _OWN and not overwrite:
        raise InputError(
            f"register_collection: {collection.name!r} is registered already. Pass overwrite=True to replace it."
        )
    _OWN[collection.name] = collection


def _own() -> dict[str, Collection]:
    """Return the collections registered, and those whose definitions lie in the user's folder."""
    found: dict[str, Collection] = {}
    for path in sorted((home() / "collections").glob("*.toml")):
        try:
            stat = path.stat()
            collection = _read_once(path, stat.st_mtime_ns, stat.st_size)
        except (InputError, OSError) as error:
            warnings.warn(f"the collection defined in {path} is left out: {error}", ReuseWarning, stacklevel=4)
            continue
        if collection.name == _DEMO or catalogued(collection.name) is not None:
            warnings.warn(
                f"the collection defined in {path} is left out: {collection.name!r} is one of the package's. Choose "
                f"another name.",
                ReuseWarning,
                stacklevel=4,
            )
            continue
        found[collection.name] = collection
    return {**found, **_OWN}


@lru_cache(maxsize=256)
def _read_once(path: Path, changed: int, size: int) -> Collection:
    return read_definition(path)


@lru_cache(maxsize=1)
def _demo() -> Collection:
    folder = Path(str(files("pt_reuse.collections") / "data" / "demo"))
    return replace(read_definition(folder / "collection.toml"), origin="package")


def _with_local_files(collection: Collection) -> Collection:
    """Return the collection with the judgments and topics that the user put into its folder, if any."""
    changes: dict[str, str] = {}
    for place in places():
        folder = place / collection.name
        for part, names in (("qrels", _QRELS), ("topics", _TOPICS)):
            there = [folder / name for name in names if (folder / name).is_file()]
            if len(there) > 1:
                raise InputError(
                    f"{collection.name}: {folder} has {examples([path.name for path in there])}. Keep one of them."
                )
            if there:
                changes.setdefault(part, str(there[0]))
    return replace(collection, **changes) if changes else collection  # type: ignore[arg-type]


def _advice(name: str) -> str:
    names = collection_names()
    near = get_close_matches(name, names, n=3, cutoff=0.6)
    if not near:
        words = [word for word in name.lower().replace("-", "/").split("/") if len(word) > 2]
        near = [known for known in names if any(word in known for word in words)][:3]
    hint = f"Did you mean {examples([f'reuse:{known}' for known in near])}? " if near else ""
    return f"{hint}list_collections() shows all {len(names):,}, list_collections('deep learning') some of them."
