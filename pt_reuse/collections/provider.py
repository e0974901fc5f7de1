"""What PyTerrier finds under `reuse:`."""

from __future__ import annotations

from collections.abc import Iterable

import pyterrier as pt

from pt_reuse.collections.dataset import ReuseDataset
from pt_reuse.collections.demo import DemoDataset
from pt_reuse.collections.registry import UnknownCollectionError, collection_names, find_collection


class ReuseDatasets(pt.datasets.DatasetProvider):
    """The datasets of this package, as ``pt.get_dataset("reuse:NAME")``."""

    def get_dataset(self, name: str) -> pt.datasets.Dataset:
        """Return a dataset by name; an unknown name is a KeyError, as PyTerrier asks."""
        try:
            collection = find_collection(name)
        except UnknownCollectionError as error:
            raise KeyError(str(error)) from None
        return DemoDataset() if collection.name == "demo" else ReuseDataset(collection)

    def list_dataset_names(self) -> Iterable[str]:
        """Return the names without the prefix."""
        return collection_names()
