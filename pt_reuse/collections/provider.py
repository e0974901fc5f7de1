"""What PyTerrier finds under `reuse:`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyterrier as pt

from pt_reuse import _plugin  # noqa: F401 - tells ir_datasets of the same names
from pt_reuse.collections.dataset import ReuseDataset
from pt_reuse.collections.demo import DemoDataset
from pt_reuse.collections.registry import UnknownCollectionError, collection_names, find_collection


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
