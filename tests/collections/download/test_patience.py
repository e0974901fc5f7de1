"""Servers that refuse, are busy or fall silent: how often they are asked again, and after what wait."""

from __future__ import annotations

import threading
import time
from email.utils import formatdate

import pytest
from download_parts import (
    GZ,
    fails,
    fetch,
)
from run_server import paused, status, steady, whole

from pt_reuse.collections.download import patience, transfer


@pytest.mark.parametrize(("code", "times"), [(404, 1), (410, 1), (400, 1), (501, 1), (204, 1), (500, 3), (503, 3)])
def test_how_often_a_refusal_is_tried(server, folder, code, times):
    server.plans = {"/bm25": status(code)}
    assert str(code) in fails(server, folder)
    assert len(server.asked) == times


@pytest.mark.parametrize("code", [429, 500, 502, 503, 504])
@pytest.mark.parametrize("wait", [None, "0", formatdate(0, usegmt=True), "soon", "²"])
def test_busy_at_first(server, folder, code, wait):
    busy = status(code, **({"Retry_After": wait} if wait else {}))
    server.plans = {"/bm25": [busy, whole(GZ)]}
    assert fetch(server, folder).files["bm25"].read_bytes() == GZ


@pytest.mark.parametrize("wait", ["3600", "9" * 40, "in two hours"])
def test_how_long_a_server_may_ask_to_wait(server, folder, wait):
    wait = formatdate(time.time() + 7200, usegmt=True) if wait == "in two hours" else wait
    server.plans = {"/bm25": status(503, Retry_After=wait)}
    reason = fails(server, folder)
    assert "asks to wait" in reason
    assert reason.endswith(" seconds. Try again later.")
    assert ("3,600" in reason) == (wait == "3600")
    assert len(server.asked) == 1


def test_waits_what_is_asked_and_ever_longer(server, folder, monkeypatch):
    waited = []

    class Stop(threading.Event):
        def wait(self, timeout=None):
            waited.append(timeout)
            return False

    monkeypatch.setattr(transfer, "Event", Stop)
    monkeypatch.setattr(patience, "BACKOFF", 1.0)
    server.plans = {"/bm25": [status(500), status(503, Retry_After="9"), status(500), whole(GZ)]}
    assert fetch(server, folder, tries=4).files
    assert waited == [1.0, 9.0, 4.0]


def test_silence(server, folder):
    gate = threading.Event()
    server.plans = {"/bm25": [paused(GZ, gate, 30000), whole(GZ)]}
    fetched = fetch(server, folder, timeout=1.0)
    gate.set()
    assert fetched.files["bm25"].read_bytes() == GZ
    assert "range" in server.headers("/bm25")[1]


def test_silence_each_time(server, folder):
    gate = threading.Event()
    server.plans = {f"/r{i}": lambda handler: gate.wait(300) for i in range(20)}
    reason = fails(server, folder, *[f"r{i}" for i in range(20)], timeout=0.1, tries=2, n_jobs=1)
    gate.set()
    assert "nothing came for 0.1 seconds" in reason
    assert len(server.asked) == 2  # the other files are not asked for


def test_slow_but_steady(server, folder):
    # 40 times 0.05 seconds, longer than the timeout, which is for one silence
    server.plans = {"/bm25": steady(GZ, 40, threading.Event())}
    assert fetch(server, folder, timeout=1.5, tries=1).files["bm25"].read_bytes() == GZ
