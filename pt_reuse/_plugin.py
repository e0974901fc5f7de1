"""What PyTerrier loads when it is imported: our measure and our collections by name, and nothing more."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

import wrapt


def plugin() -> ModuleType:
    """Make ``"Unjudged@10"`` known to ir_measures, and return the package, which PyTerrier keeps as ``pt.reuse``."""
    import_module("pt_reuse.scoring.measures")
    return sys.modules["pt_reuse"]


def _add_collections(ir_datasets: Any) -> None:
    def load(name: str, groups: tuple[str, ...]) -> Any:
        return import_module("pt_reuse.collections.provider").irds_dataset(name)

    ir_datasets.registry.register_pattern("^reuse/", load)


# ir_datasets takes longer to import than PyTerrier: it learns of our collections when somebody imports it
wrapt.register_post_import_hook(_add_collections, "ir_datasets")
