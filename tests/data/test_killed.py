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


def test_kills_while_a_cache_is_written(tmp_path):
    (tmp_path / "runs").mkdir()
    for i in range(2):
        (tmp_path / "runs" / f"{i}.gz").write_bytes(gzip.compress(run_bytes(f"run{i}", seed=i)))
    done = subprocess.run(
        [sys.executable, str(Path(kills.__file__)), "cache", str(tmp_path), "12", "4", "0.03"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stderr == ""
    figures = json.loads(done.stdout)
    assert figures["killed"] == 15
    assert figures["right"]
    assert figures["left"] == ["pt_reuse"]


def test_kills_while_runs_are_read_within_memory(tmp_path):
    (tmp_path / "runs").mkdir()
    for i in range(4):
        body = run_bytes(f"run{i}", seed=i, topics=10)
        (tmp_path / "runs" / f"{i}").write_bytes(gzip.compress(body) if i % 2 else body)
    done = subprocess.run(
        [sys.executable, str(Path(kills.__file__)), "memory", str(tmp_path), "8", "1", "0"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stderr == ""
    figures = json.loads(done.stdout)
    assert figures["killed"] == 8
    assert figures["right"]
    assert figures["left"] == ["pt_reuse"]
