"""What PyTerrier loads when it is imported: our measures and our collections by name, and nothing more."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

import wrapt

#: measures that ir_measures knows by name -> what defines them
_MEASURES = {
    "Unjudged": "pt_reuse.scoring.measures",
    "xinfAP": "pt_reuse.scoring.inferred",
    "xinfNDCG": "pt_reuse.scoring.inferred",
}


class _NamedMeasure:
    """Stands for a measure among those of ir_measures until it is used: what defines it then takes its place."""

    def __init__(self, name: str):
        self._name = name

    def _measure(self) -> Any:
        return getattr(import_module(_MEASURES[self._name]), self._name)

    def __call__(self, **params: Any) -> Any:
        return self._measure()(**params)

    def __matmul__(self, cutoff: Any) -> Any:
        return self._measure() @ cutoff

    def __getattr__(self, name: str) -> Any:
        return getattr(self._measure(), name)

    def __repr__(self) -> str:
        return self._name


def plugin() -> ModuleType:
    """Make ``"Unjudged@10"`` known to ir_measures, and return the package, which PyTerrier keeps as ``pt.reuse``."""
    # PyTerrier has imported it
    registry = sys.modules["ir_measures"].measures.registry
    for name in _MEASURES:
        registry.setdefault(name, _NamedMeasure(name))
    return sys.modules["pt_reuse"]


def _add_collections(ir_datasets: Any) -> None:
    def load(name: str, groups: tuple[str, ...]) -> Any:
        return import_module("pt_reuse.collections.provider").irds_dataset(name)

    ir_datasets.registry.register_pattern("^reuse/", load)


# ir_datasets takes longer to import than PyTerrier: it learns of our collections when somebody imports it
wrapt.register_post_import_hook(_add_collections, "ir_datasets")
