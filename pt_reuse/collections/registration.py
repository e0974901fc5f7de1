"""The collections of this package and of the user, made known to ir_datasets."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from pt_reuse._check import flag
from pt_reuse._errors import Call, InputError, Option, door, warn
from pt_reuse.collections.collection import Collection
from pt_reuse.collections.dataset import ReuseDataset
from pt_reuse.collections.definition import define, read_definition
from pt_reuse.collections.registry import adding, collection_names, find_collection

#: id in ir_datasets -> the collection that is registered under it now
_REGISTERED: dict[str, ReuseDataset] = {}


class Registered:
    """What ir_datasets keeps under an id: the dataset that we have under it now, since its registry takes none back."""

    def __init__(self, irds_id: str):
        self._irds_id = irds_id

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        # in another process than the one that registered it, it is looked up anew
        dataset = _REGISTERED.get(self._irds_id) or ReuseDataset(self._irds_id.removeprefix("reuse/"))
        return getattr(dataset.irds_ref(), name)


@door
def register_collection(definition: str | Path | Collection, *, overwrite: bool = False, **parts: Any) -> ReuseDataset:
    """Make a collection of your own known, to PyTerrier as ``reuse:NAME`` and to ir_datasets as ``reuse/NAME``.

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
    flag("overwrite", overwrite)
    if parts:
        if not isinstance(definition, str) or definition.endswith(".toml"):
            raise InputError(
                f"beside parts, expected the collection's name, got {definition!r}.", argument="definition"
            )
        collection = define(definition, **parts)
    elif isinstance(definition, Collection):
        collection = definition
    elif isinstance(definition, str) and not definition.endswith(".toml") and not os.path.exists(definition):
        call = Call("register_collection", "'mine', documents=..., topics=..., qrels=..., runs=...")
        raise InputError(
            f"{definition!r} is no file. Give the path of a TOML file, or a name and the collection's parts: ",
            call,
            ".",
            argument="definition",
        )
    elif isinstance(definition, str | os.PathLike):
        collection = read_definition(definition)
    else:
        raise InputError(
            f"expected the path of a TOML file, or a name and parts, got {type(definition).__name__}.",
            argument="definition",
        )
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

    Raises:
        InputError: `overwrite` is not True or False. A collection that cannot be registered is no error; it is left
            out, with a warning.

    Example:
        >>> import ir_datasets, pt_reuse as ptr
        >>> "reuse/trec-8/adhoc" in ptr.register_datasets()
        True
        >>> ir_datasets.load("reuse/demo").docs_count()
        480
        >>> next(ir_datasets.load("reuse/demo").runs_iter()).run_id
        'bridge-rerank'
    """
    flag("overwrite", overwrite)
    names = collection_names()
    wanted = names if overwrite else [name for name in names if _id(name) not in _REGISTERED]
    for name in wanted:
        try:
            register_one(find_collection(name), overwrite=overwrite)
        except InputError as error:
            warn(f"{_id(name)!r} is left out: ", error)
    return [_id(name) for name in names if _id(name) in _REGISTERED]


def register_one(collection: Collection, *, overwrite: bool = False) -> str:
    """Make a collection known to ir_datasets and return its name there; one that has not changed stays.

    Raises:
        InputError: another is registered under the name, and `overwrite` is False.
    """
    import ir_datasets

    name = _id(collection.name)
    known = _REGISTERED.get(name)
    if known is not None and known.collection.same_as(collection):
        return name
    if known is None and name in ir_datasets.registry:
        raise InputError(f"ir_datasets has a dataset {name!r} of somebody else's. Choose another name.")
    if known is not None and not overwrite:
        advice = Option("overwrite", True)
        raise InputError(f"another dataset {name!r} is registered. Pass ", advice, ", or choose another name.")
    _REGISTERED[name] = ReuseDataset(collection)
    if known is None:
        ir_datasets.registry.register(name, ir_datasets.Dataset(Registered(name)))
    for source in (collection.documents, collection.topics, collection.qrels):
        other = source.removeprefix("irds:") if isinstance(source, str) else ""
        if other.startswith("reuse/") and other not in ir_datasets.registry:
            register_one(find_collection(other.removeprefix("reuse/")))
    return name


def _id(name: str) -> str:
    return f"reuse/{name}"
