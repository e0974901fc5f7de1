"""What PyTerrier finds as `reuse:NAME` and ir_datasets as `reuse/NAME`, and how the user's own come to be among it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyterrier as pt

from pt_reuse import _plugin  # noqa: F401 - tells ir_datasets, also where PyTerrier did not load the package  # noqa: F401 - tells ir_datasets of the same names
from pt_reuse._check import flag
from pt_reuse._errors import Call, InputError, door
from pt_reuse.collections.collection import Collection
from pt_reuse.collections.dataset import ReuseDataset
from pt_reuse.collections.definition import define, read_definition
from pt_reuse.collections.demo import DemoDataset
from pt_reuse.collections.registry import UnknownCollectionError, add, collection_names, find_collection

#: id in ir_datasets -> the dataset that was opened under it
_OPENED: dict[str, ReuseDataset] = {}


class Registered:
    """What ir_datasets keeps under an id: the collection that has the name now, since its registry takes none back."""

    def __init__(self, irds_id: str):
        self._irds_id = irds_id

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        collection = find_collection(self._irds_id.removeprefix("reuse/"))
        opened = _OPENED.get(self._irds_id)
        if opened is None or not opened.collection.same_as(collection):
            opened = _OPENED[self._irds_id] = ReuseDataset(collection)
        return getattr(opened.irds_ref(), name)


def irds_dataset(irds_id: str) -> Any:
    """Return what ``ir_datasets.load("reuse/NAME")`` gives; nothing is opened before it is asked for.

    Raises:
        UnknownCollectionError: no collection of that name or alias.
    """
    import ir_datasets

    find_collection(irds_id.removeprefix("reuse/"))
    return ir_datasets.Dataset(Registered(irds_id))


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
    add(collection, overwrite=overwrite)
    return ReuseDataset(collection)


class NoDataset(pt.datasets.Dataset):
    """What stands for a name that is not known, until PyTerrier configures the dataset that it was given.

    An error raised by the provider would be PyTerrier's own in the end, which names nothing that is near.
    """

    def __init__(self, error: UnknownCollectionError):
        self._error = error

    def _configure(self, **_: Any) -> None:
        raise self._error


class ReuseDatasets(pt.datasets.DatasetProvider):
    """The datasets of this package, as ``pt.get_dataset("reuse:NAME")``."""

    def get_dataset(self, name: str) -> pt.datasets.Dataset:
        """Return a dataset by name or alias; an unknown name is a KeyError of PyTerrier's `get_dataset`."""
        try:
            collection = find_collection(name)
        except UnknownCollectionError as error:
            return NoDataset(error)
        return DemoDataset() if collection.name == "demo" else ReuseDataset(collection)

    def list_dataset_names(self) -> Iterable[str]:
        """Return the names without the prefix."""
        return collection_names()
