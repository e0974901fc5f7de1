"""The modules of TREC AutoJudge's tools that need nothing from the net, loaded without their packages' own code.

`import autojudge_evaluate` loads data of NLTK from the net. Its files for leaderboards, labels and correlations need
none of that, so each is loaded by itself, in a package of the same name that is empty.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from types import ModuleType, SimpleNamespace

import pytest

REASON = "needs `pip install 'pt-reuse[peers]'`"
_PACKAGES = ("autojudge_base", "autojudge_evaluate")


def installed() -> bool:
    return all(find_spec(name) is not None for name in _PACKAGES)


@contextmanager
def autojudge() -> Iterator[SimpleNamespace]:
    """Give their modules by short names, and forget them again."""
    if not installed():
        pytest.skip(REASON)
    before = {name for name in sys.modules if name.partition(".")[0] in _PACKAGES}
    assert not before, "another test has imported them"
    for name in _PACKAGES:
        package = ModuleType(name)
        package.__path__ = list(find_spec(name).submodule_search_locations)
        sys.modules[name] = package
    try:
        board = importlib.import_module("autojudge_base.leaderboard.leaderboard")
        sys.modules["autojudge_base"].LeaderboardFormat = board.LeaderboardFormat
        yield SimpleNamespace(
            board=board,
            qrels=importlib.import_module("autojudge_base.qrels.qrels"),
            results=importlib.import_module("autojudge_evaluate.eval_results"),
            evaluation=importlib.import_module("autojudge_evaluate.evaluation"),
            pyircore=importlib.import_module("autojudge_evaluate.pyircore"),
        )
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] in _PACKAGES]:
            del sys.modules[name]
