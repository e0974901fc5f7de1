"""Write what studies declare to where it is read without importing them; run it when a declaration changes.

The command line reads `studies.json`; editors, type checkers and the namespaces read the stubs.

python scripts/declare.py
"""

from __future__ import annotations

import importlib
import json
import pkgutil
from importlib.util import resolve_name
from pathlib import Path
from typing import Any

import pt_reuse
from pt_reuse import judging, studies
from pt_reuse.study import Study

ROOT = Path(pt_reuse.__file__).parent


def declared() -> list[dict[str, Any]]:
    """Return what every study declares."""
    found = {}
    for package in (studies, judging):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            for value in vars(importlib.import_module(module.name)).values():
                study = getattr(value, "study", None)
                if isinstance(study, Study):
                    found[study.name] = study.declaration
    return [found[name] for name in sorted(found)]


def stub_of(group: str) -> Path:
    """Return the stub of a namespace."""
    folder = ROOT / group if (ROOT / group).is_dir() else None
    return folder / "__init__.pyi" if folder else ROOT / f"{group}.pyi"


def written() -> dict[Path, str]:
    """Return what every file must hold."""
    every = declared()
    files = {ROOT / "studies.json": json.dumps(every, indent=1) + "\n"}
    for group in sorted({study["entry"]["group"] for study in every}):
        path = stub_of(group)
        package = ".".join(["pt_reuse", *path.relative_to(ROOT).parts[:-1]])
        kept = [line for line in path.read_text(encoding="utf-8").splitlines() if _leads_somewhere(line, package)]
        lines = {line.rpartition(" as ")[2]: line for line in kept}
        for study in every:
            name = study["entry"]["name"]
            lines.pop(name, None)  # it may have been of another group
            if study["entry"]["group"] == group:
                module = study["module"].removeprefix(f"{package}.")
                lines[name] = f"from .{module} import {name} as {name}"
        files[path] = "\n".join(sorted(lines.values(), key=_as_sorted)) + "\n"
    return files


def _leads_somewhere(line: str, package: str) -> bool:
    _, module, _, name, *_ = line.split()
    try:
        return hasattr(importlib.import_module(module, package), name)
    except ModuleNotFoundError as error:
        if not resolve_name(module, package).startswith(f"{error.name}"):
            raise
        return False  # a study that is gone


def _as_sorted(line: str) -> tuple[int, str, str]:
    # as isort has them: parents first, then by module, classes before functions
    _, module, _, name, *_ = line.split()
    dots = len(module) - len(module.lstrip("."))
    return -dots, module.strip("."), (name[0].islower(), name)


if __name__ == "__main__":
    for path, text in written().items():
        path.write_text(text, encoding="utf-8")
        print(path.relative_to(ROOT))
