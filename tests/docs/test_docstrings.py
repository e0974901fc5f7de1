"""The examples of docstrings give what they show; pytest's own search for them imports every file in each worker."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

import pt_reuse

ROOT = Path(pt_reuse.__file__).parent
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
FILES = [path for path in sorted(ROOT.rglob("*.py")) if ">>> " in path.read_text(encoding="utf-8")]
MODULES = [".".join(path.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__") for path in FILES]


ROOMS = sorted({name.split(".")[1] for name in MODULES})


@pytest.mark.parametrize("room", ROOMS)
def test_examples_give_what_they_show(room):
    for name in MODULES:
        if name.split(".")[1] == room:
            failed, tried = doctest.testmod(importlib.import_module(name), optionflags=FLAGS)
            assert tried > 0
            assert failed == 0, name
