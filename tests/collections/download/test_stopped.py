"""A download that is stopped: what has arrived stays for the next call, and no half of a run gets a run's name."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from download_parts import PACKED, fetch, left
from run_server import paused, whole

from pt_reuse.data.run_reading import read_runs

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
