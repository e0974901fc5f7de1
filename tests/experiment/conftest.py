"""Keep the tests of this folder fast."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module", autouse=True)
def nothing_old_to_collect() -> Iterator[None]:
    """Keep what lives out of the garbage collector's way: statsmodels calls it at each correction of pt.Experiment."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()
