"""A download that is stopped: what has arrived stays for the next call, and no half of a run gets a run's name."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time

import pytest
import urllib3
from download_parts import (
    GZ,
    PACKED,
    fetch,
    left,
)
from run_server import paused, whole

from pt_reuse.collections.download import runs as download
from pt_reuse.collections.download import transfer
from pt_reuse.data.run_reading import read_runs


def test_an_interrupt_in_a_check(server, folder):
    server.plans = {f"/{name}": whole(PACKED[name]) for name in PACKED}

    def interrupt(name, path):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(server, folder, *PACKED, n_jobs=1, check=interrupt)
    assert list(folder.iterdir()) == []
    assert len(fetch(server, folder, *PACKED).files) == 3


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


def test_a_fault_in_a_check(server, folder):
    server.plans, fault = {"/bm25": whole(GZ)}, ZeroDivisionError("in the check")

    def faulty(name, path):
        raise fault

    with pytest.raises(ZeroDivisionError) as caught:
        fetch(server, folder, check=faulty)
    assert caught.value is fault
    assert list(folder.iterdir()) == []


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


@pytest.mark.skipif(not hasattr(urllib3.response.HTTPResponse, "shutdown"), reason="urllib3 cannot do it before 2.3")
def test_closing_wakes_who_waits(server, folder):
    gate = threading.Event()
    server.plans = {"/bm25": paused(GZ, gate, 30000)}
    (folder / ".partial").mkdir(parents=True)
    one = transfer.Transfer(timeout=600, tries=3, connections=1)
    ended = []

    def run():
        with pytest.raises(transfer.StoppedError):
            one.fetch(server.url + "/bm25", folder / ".partial" / "bm25", lambda path: "")
        ended.append(True)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    while size(folder, "bm25") < 16384:
        time.sleep(0.01)
    one.close()
    thread.join(30)
    gate.set()
    assert ended == [True]
