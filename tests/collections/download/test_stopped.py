"""A download that is stopped: what has arrived stays for the next call, and no half of a run gets a run's name."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import kills
import pytest
from download_parts import (
    PACKED,
    fetch,
    left,
)
from kills import in_pieces
from run_server import paused, whole

from pt_reuse.collections.download import runs as download
from pt_reuse.data.run_reading import read_runs


def test_a_check_that_outlasts_an_interrupt(server, folder, monkeypatch):
    monkeypatch.setattr(download, "_PATIENCE", 0.0)
    server.plans = {f"/{name}": whole(PACKED[name]) for name in PACKED}
    begun, gate, ended = threading.Event(), threading.Event(), threading.Event()
    place = download._place

    def noted(*arguments):
        try:
            return place(*arguments)
        finally:
            ended.set()

    def interrupt(name, path):
        if name == "dense":
            begun.set()
            assert gate.wait(30)
            return
        assert begun.wait(30)
        raise KeyboardInterrupt

    monkeypatch.setattr(download, "_place", noted)
    with pytest.raises(KeyboardInterrupt):
        fetch(server, folder, "bm25", "dense", n_jobs=2, check=interrupt)
    gate.set()
    assert ended.wait(30)
    assert [path.name for path in folder.iterdir() if path.name != ".partial"] == []


SCRIPT = """
import signal
import sys
from pathlib import Path
from pt_reuse.collections.download.runs import fetch_runs
signal.signal(signal.SIGINT, signal.default_int_handler)
url, folder = sys.argv[1:]
wanted = {name: f"{url}/{name}" for name in ("bm25", "dense", "manual")}
fetch_runs(wanted, Path(folder), check=lambda name, path: None, n_jobs=2, timeout=25)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such signal")
def test_ctrl_c(messages, server, folder):
    gate, half = threading.Event(), 30000
    server.plans = {name: paused(PACKED[name[1:]], gate, half) for name in ("/bm25", "/dense", "/manual")}
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, server.url, str(folder)], stderr=subprocess.PIPE, text=True
    )
    try:
        while process.poll() is None and not all(size(folder, name) >= 16384 for name in ("bm25", "dense")):
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        error = process.communicate(timeout=60)[1]
    finally:
        process.kill()
        process.wait()
        gate.set()
    assert "KeyboardInterrupt" in error
    assert left(folder) == []
    messages.refused(lambda: read_runs(folder), argument="source")
    server.plans = {f"/{name}": whole(PACKED[name]) for name in PACKED}
    assert len(fetch(server, folder, *PACKED).files) == 3


def size(folder, name):
    # what the other process has written, its own buffer apart
    path = folder / ".partial" / name
    return path.stat().st_size if path.exists() else 0


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
