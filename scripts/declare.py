"""Write what studies declare to where the command line reads it without importing them; run it when one changes.

python scripts/declare.py
"""

from __future__ import annotations

import importlib
import json
import pkgutil
from pathlib import Path

import pt_reuse
from pt_reuse import judging, studies
from pt_reuse.study import Study

OUT = Path(pt_reuse.__file__).with_name("studies.json")


def declared() -> str:
    """Return what every study declares."""
    found = {}
    for package in (studies, judging):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            for value in vars(importlib.import_module(module.name)).values():
                study = getattr(value, "study", None)
                if isinstance(study, Study):
                    found[study.name] = study.declaration
    return json.dumps([found[name] for name in sorted(found)], indent=1) + "\n"


if __name__ == "__main__":
    OUT.write_text(declared(), encoding="utf-8")
    print(OUT.name)
