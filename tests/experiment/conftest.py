"""Keep the tests of this folder fast."""

from __future__ import annotations

import gc

import pytest


@pytest.fixture(scope="module", autouse=True)
def nothing_old_to_collect() -> None:
    """Keep what lives out of the garbage collector's way: statsmodels calls it at each correction of pt.Experiment."""
    gc.collect()
    gc.freeze()
