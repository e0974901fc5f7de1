"""The collections of this package and of the user, made known to ir_datasets."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from pt_reuse._errors import InputError, door, warn
from pt_reuse.collections.collection import Collection
from pt_reuse.collections.dataset import ReuseDataset
from pt_reuse.collections.definition import define, read_definition
from pt_reuse.collections.registry import adding, collection_names, find_collection

#: id in ir_datasets -> the collection that was registered under it
_REGISTERED: dict[str, Collection] = {}


@door
def register_collection(definition: str | Path | Collection, *, overwrite: bool = False, **parts: Any) -> ReuseDataset:
    """Make a collection of one's own known: to PyTerrier as ``reuse:NAME``, to ir_datasets as ``reuse/NAME``.

    It is known for the life of the process; a TOML file in ``PT_REUSE_HOME/collections`` is known always.

    Args:
        definition: the path of a TOML file that names its parts, as :func:`read_definition` reads it; or its name, and
            the parts as arguments.
        overwrite: replace a collection of one's own that has the name already.
        **parts: what :func:`define` takes: ``documents``, ``topics``, ``qrels``, ``runs``, ``teams`` and so on.

    Returns:
        ReuseDataset: what ``pt.get_dataset("reuse:NAME")`` gives.

    Raises:
        InputError: a part that cannot be used, or a name that is taken.

    Example:
        >>> import pyterrier as pt, pt_reuse as ptr
        >>> mine = ptr.register_collection("example/half", topics="irds:reuse/demo", note="Topics only.")
        >>> len(pt.get_dataset("reuse:example/half").get_topics("query"))
        41
    """
    if parts:
        if not isinstance(definition, str) or definition.endswith(".toml"):
            raise InputError(f"beside parts, expected the collection's name, got {definition!r}.")
        collection = define(definition, **parts)
    elif isinstance(definition, Collection):
        collection = definition
    elif isinstance(definition, str) and not definition.endswith(".toml") and not os.path.exists(definition):
        raise InputError(
            f"{definition!r} is no file. Give the path of a TOML file, or a name and the "
            f"collection's parts: register_collection('mine', documents=..., topics=..., qrels=..., runs=...)."
        )
    else:
        collection = read_definition(definition)
    with adding(collection, overwrite=overwrite):
        register_one(collection, overwrite=overwrite)
    return ReuseDataset(collection)


@door
def register_datasets(*, overwrite: bool = False) -> list[str]:
    """Make all collections known to ir_datasets as ``reuse/NAME``; nothing is opened or downloaded.

    Calling it again adds those that came since.

    Args:
        overwrite: replace those that are registered already, such as an own collection whose definition changed.

    Returns:
        list of str: the names for ``ir_datasets.load``, also behind ``irds:`` in ``pt.get_dataset``.

    Example:
        >>> import ir_datasets, pt_reuse as ptr
        >>> "reuse/trec-8/adhoc" in ptr.register_datasets()
        True
        >>> ir_datasets.load("reuse/demo").docs_count()
        480
        >>> next(ir_datasets.load("reuse/demo").runs_iter()).run_id
        'bridge-rerank'
    """
    names = collection_names()
    wanted = names if overwrite else [name for name in names if _id(name) not in _REGISTERED]
    for name in wanted:
        try:
            register_one(find_collection(name), overwrite=overwrite)
        except InputError as error:
            warn(f"{_id(name)!r} is left out: ", error)
    return [_id(name) for name in names if _id(name) in _REGISTERED]


def register_one(collection: Collection, *, overwrite: bool = False) -> str:
    """Make one collection known to ir_datasets; one that is known already and has not changed stays.

    Args:
        collection: the collection.
        overwrite: replace another that is registered under the name.

    Returns:
        str: its name for ``ir_datasets.load``.

    Raises:
        InputError: another is registered under the name, and `overwrite` is False.
    """
    # ir_datasets takes a third of a second to import, which `import pyterrier` should not pay for us
    import ir_datasets

    name = _id(collection.name)
    if name in ir_datasets.registry:
        if _check_free(collection, overwrite):
            return name
        # its registry offers no way to take a dataset back
        del ir_datasets.registry._registered[name]
    ir_datasets.registry.register(name, ReuseDataset(collection).irds_ref())
    _REGISTERED[name] = collection
    for source in (collection.documents, collection.topics, collection.qrels):
        other = source.removeprefix("irds:") if isinstance(source, str) else ""
        if other.startswith("reuse/") and other not in ir_datasets.registry:
            register_one(find_collection(other.removeprefix("reuse/")))
    return name


def _check_free(collection: Collection, overwrite: bool) -> bool:
    """Return whether the very collection is registered; raise where another is, and may not be replaced."""
    import ir_datasets

    name = _id(collection.name)
    if name in _REGISTERED and _REGISTERED[name].same_as(collection):
        return True
    if name in ir_datasets.registry and not overwrite:
        raise InputError(
            f"ir_datasets has another dataset {name!r} registered. Pass overwrite=True to replace it, or choose "
            f"another name."
        )
    return False


def _id(name: str) -> str:
    return f"reuse/{name}"
