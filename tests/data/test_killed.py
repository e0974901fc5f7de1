"""Processes that are killed at random moments while they write: nothing is lost, and nothing is left lying about."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import kills
import pytest
from cache_parts import run_bytes

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the workers are forked")


@pytest.mark.parametrize(
    ("what", "how", "killed"), [("cache", ["12", "4", "0.03"], 12 + 3), ("memory", ["8", "1", "0"], 8)]
)
def test_kills_while_a_field_is_kept(what, how, killed, tmp_path):
    (tmp_path / "runs").mkdir()
    for i in range(4):
        body = run_bytes(f"run{i}", seed=i, topics=10)
        (tmp_path / "runs" / f"{i}").write_bytes(gzip.compress(body) if i % 2 else body)
    done = subprocess.run(
        [sys.executable, str(Path(kills.__file__)), what, str(tmp_path), *how],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stderr == ""
    figures = json.loads(done.stdout)
    assert figures["killed"] == killed
    assert figures["right"]
    assert figures["left"] == ["pt_reuse"]
