"""Processes that are killed at random moments while they download: nothing is lost, nothing is left lying about."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import kills
import pytest
from download_parts import PACKED, collection_at
from kills import in_pieces

from pt_reuse.collections.getting import Sources, get_run_files

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the workers are forked")


@pytest.fixture
def served(server, tmp_path):
    (tmp_path / "served").mkdir()
    for name, body in PACKED.items():
        # the check looks for topics and tags, so these are runs
        (tmp_path / "served" / name).write_bytes(body)
        server.plans[f"/{name}"] = in_pieces(body, 5, 0.002)
    return tmp_path


def test_kills_while_runs_are_downloaded(server, served):
    done = subprocess.run(
        [sys.executable, str(Path(kills.__file__)), "downloads", str(served), "20", "3", "0.03", server.url],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stderr == ""
    figures = json.loads(done.stdout)
    assert figures["killed"] == 22
    assert figures["right"]
    assert figures["left"] == []


def test_what_a_killed_call_left_goes_when_all_runs_are_here(server, served, monkeypatch):
    monkeypatch.setenv("PT_REUSE_HOME", str(served / "home"))
    collection, folder = collection_at(server.url, PACKED), served / "home" / "small" / "runs"
    assert len(get_run_files(collection, list(PACKED), Sources()).files) == 3
    (folder / ".partial").mkdir()
    (folder / ".partial" / "bm25").write_bytes(b"half")
    get_run_files(collection, list(PACKED), Sources(download=False))
    assert (folder / ".partial").exists()
    get_run_files(collection, list(PACKED), Sources())
    assert not (folder / ".partial").exists()
