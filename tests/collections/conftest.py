"""A folder of the user's that holds what the test puts there."""

from __future__ import annotations

import pytest
from collection_parts import TREC8, no_network, write_run

from pt_reuse.collections import fetching


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Return an empty folder of the user's; nothing outside it is looked at."""
    monkeypatch.setenv("PT_REUSE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("PT_REUSE_DATA", raising=False)
    monkeypatch.setattr(fetching, "fetch_runs", no_network)
    return tmp_path / "home"


@pytest.fixture
def trec8_home(home):
    for name in TREC8:
        write_run(home / "trec-8" / "adhoc" / "runs" / f"input.{name}.gz", name)
    return home
