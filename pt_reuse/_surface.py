"""Namespaces whose names are loaded when they are first used, from where the stub beside them says."""

from __future__ import annotations

import ast
import importlib
import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any


def lazily(name: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a namespace."""
    path = Path(file)
    package = name if path.stem == "__init__" else name.rpartition(".")[0]
    lines = ast.parse(path.with_suffix(".pyi").read_text(encoding="utf-8")).body
    homes = {
        each.name: importlib.util.resolve_name(f"{'.' * line.level}{line.module}", package)
        for line in lines
        if isinstance(line, ast.ImportFrom)
        for each in line.names
    }

    def get(wanted: str) -> Any:
        if wanted not in homes:
            raise AttributeError(f"module {name!r} has no attribute {wanted!r}")
        return getattr(importlib.import_module(homes[wanted]), wanted)

    return get, lambda: sorted(homes), sorted(homes)
