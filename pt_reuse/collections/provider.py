"""What PyTerrier and ir_datasets find under `reuse`."""

from __future__ import annotations

from collections.abc import Iterable

import pyterrier as pt

from pt_reuse.collections.demo import DemoDataset


class ReuseDatasets(pt.datasets.DatasetProvider):
    """The datasets of this package, as ``pt.get_dataset("reuse:NAME")``."""

    def get_dataset(self, name: str) -> pt.datasets.Dataset:
        """Return a dataset by name; an unknown name is a KeyError, as PyTerrier asks."""
        if name not in _DATASETS:
            raise KeyError(f"no dataset 'reuse:{name}'; there is {', '.join(f'reuse:{known}' for known in _DATASETS)}")
        return _DATASETS[name]()

    def list_dataset_names(self) -> Iterable[str]:
        """Return the names without the prefix."""
        return list(_DATASETS)


_DATASETS = {"demo": DemoDataset}
