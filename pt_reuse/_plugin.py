"""What is loaded at PyTerrier's own start: public names, our measures and our collections by name, and nothing more."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import resolve_name
from pathlib import Path
from types import ModuleType
from typing import Any

#: measures that ir_measures knows by name -> what defines them
_MEASURES = {
    "Unjudged": "pt_reuse.scoring.measures",
    "xinfAP": "pt_reuse.scoring.inferred",
    "xinfNDCG": "pt_reuse.scoring.inferred",
}


def lazily(name: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a namespace: its stub says where each name is defined."""
    path = Path(file)
    package = name if path.stem == "__init__" else name.rpartition(".")[0]
    homes = {
        each.name: resolve_name("." * line.level + (line.module or each.name), package)
        for line in ast.parse(path.with_suffix(".pyi").read_text(encoding="utf-8")).body
        if isinstance(line, ast.ImportFrom)
        for each in line.names
    }

    def get(wanted: str) -> Any:
        if wanted not in homes:
            raise AttributeError(f"module {name!r} has no attribute {wanted!r}{_elsewhere(wanted)}")
        home = import_module(homes[wanted])
        return home if home.__name__ == f"{package}.{wanted}" else getattr(home, wanted)

    return get, lambda: sorted(homes), sorted(homes)


def _elsewhere(wanted: str) -> str:
    """Return the namespace that has a name, where another one is asked for it."""
    root, line = Path(__file__).parent, re.compile(rf"\bas {re.escape(wanted)}$", re.MULTILINE)
    stubs = () if wanted.startswith("_") else sorted(root.rglob("*.pyi"))
    having = (path for path in stubs if line.search(path.read_text(encoding="utf-8")))
    places = [".".join(path.relative_to(root.parent).with_suffix("").parts) for path in having]
    return f"; {places[0].removesuffix('.__init__')} has it" if places else ""


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


@cache
def plugin() -> ModuleType:
    """Make ``"Unjudged@10"`` known to ir_measures, and return the package, which PyTerrier keeps as ``pt.reuse``."""
    import wrapt

    # ir_datasets takes longer to import than PyTerrier: it learns of our collections when somebody imports it
    wrapt.register_post_import_hook(_add_collections, "ir_datasets")
    # PyTerrier has imported it
    registry = sys.modules["ir_measures"].measures.registry
    for name in _MEASURES:
        registry.setdefault(name, _NamedMeasure(name))
    return sys.modules["pt_reuse"]


def _add_collections(ir_datasets: Any) -> None:
    def load(name: str, groups: tuple[str, ...]) -> Any:
        return import_module("pt_reuse.collections.provider").irds_dataset(name)

    ir_datasets.registry.register_pattern("^reuse/", load)
