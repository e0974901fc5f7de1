"""Connections that break, servers that refuse, are busy or fall silent: how often a file is asked for, and when."""

from __future__ import annotations

import threading
import time
from email.utils import formatdate

import pytest
from download_parts import GZ, PACKED, TEXT, fails, fetch, left
from run_server import chunked, cut, dripping, paused, reset, status, steady, whole

from pt_reuse.collections.download import transfer


@pytest.mark.parametrize("body", [GZ, TEXT], ids=["packed", "plain"])
@pytest.mark.parametrize("break_off", [cut, reset])
def test_a_dropped_connection(server, folder, body, break_off):
    server.plans = {"/bm25": [break_off(body, 20000), whole(body)]}
    assert fetch(server, folder).files["bm25"].read_bytes() == body
    assert len(server.asked) == 2


def test_half_a_file_each_time(server, folder):
    server.plans = {"/bm25": cut(GZ, 20000)}
    reason = fails(server, folder)
    assert reason.endswith(f"20,000 of {len(GZ):,} bytes (tried 3 times).")
    assert len(server.asked) == 3
    assert left(folder) == []


def test_half_a_file_without_length(server, folder):
    server.plans = {"/bm25": [cut(GZ, 20000, length=False), whole(GZ)]}
    assert fetch(server, folder).files["bm25"].read_bytes() == GZ
    server.plans = {"/dense": cut(PACKED["dense"], 20000, length=False)}
    assert "cut off or damaged" in fetch(server, folder, "dense").failed["dense"]
    after = TEXT.index(b" Q0", 30000)  # within a line; between two lines nobody can tell
    server.plans = {"/manual": cut(TEXT, after, length=False)}
    assert "cut off on its way" in fetch(server, folder, "manual").failed["manual"]
    assert left(folder) == []


def test_chunks_without_an_end(server, folder):
    server.plans = {"/bm25": [chunked(TEXT, 5, end=False), chunked(TEXT, 5)]}
    assert fetch(server, folder).files["bm25"].read_bytes() == TEXT


def test_damaged_on_the_way(server, folder):
    damaged = bytearray(GZ)
    damaged[len(GZ) // 2] ^= 255
    server.plans = {"/bm25": [whole(bytes(damaged)), whole(GZ)]}
    assert fetch(server, folder).files["bm25"].read_bytes() == GZ


@pytest.mark.parametrize(
    ("code", "times"), [(404, 1), (410, 1), (400, 1), (501, 1), (204, 1), (206, 1), (500, 3), (503, 3)]
)
def test_how_often_a_refusal_is_tried(server, folder, code, times):
    server.plans = {"/bm25": status(code)}
    assert str(code) in fails(server, folder)
    assert len(server.asked) == times


@pytest.mark.parametrize("code", [429, 500, 503])
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
    monkeypatch.setattr(transfer, "BACKOFF", 1.0)
    server.plans = {"/bm25": [status(500), status(503, Retry_After="9"), status(500), whole(GZ)]}
    assert fetch(server, folder, tries=4).files
    assert waited == [1.0, 9.0, 4.0]


def test_silence(server, folder):
    gate = threading.Event()
    server.plans = {"/bm25": [paused(GZ, gate, 30000), whole(GZ)]}
    fetched = fetch(server, folder, timeout=1.0)
    gate.set()
    assert fetched.files["bm25"].read_bytes() == GZ


def test_silence_each_time(server, folder):
    gate = threading.Event()
    server.plans = {f"/r{i}": lambda handler: gate.wait(300) for i in range(20)}
    reason = fails(server, folder, *[f"r{i}" for i in range(20)], timeout=0.1, tries=2, n_jobs=1)
    gate.set()
    assert reason == "127.0.0.1: nothing came for 0.1 seconds (tried 2 times)."
    assert len(server.asked) == 2  # the other files are not asked for


def test_slow_but_steady(server, folder):
    # 40 times 0.05 seconds, longer than the timeout, which is for one silence
    server.plans = {"/bm25": steady(GZ, 40, threading.Event())}
    assert fetch(server, folder, timeout=1.5, tries=1).files["bm25"].read_bytes() == GZ


def test_a_drip_that_does_not_end(server, folder, monkeypatch):
    # three bytes in the window of each try, where a thousand a second must come
    monkeypatch.setattr(transfer, "RATE_WINDOW", 0.15)
    server.plans = {"/bm25": dripping(GZ, 0.04, after=100)}
    reason = fails(server, folder)
    assert "fewer than 1,000 bytes a second came after 10" in reason
    assert len(server.asked) == 3
    server.plans = {"/bm25": [dripping(GZ, 0.04, after=100), whole(GZ)]}
    assert fetch(server, folder).files["bm25"].read_bytes() == GZ


def test_the_least_rate_is_enough(server, folder, monkeypatch):
    monkeypatch.setattr(transfer, "RATE_WINDOW", 0.1)
    monkeypatch.setattr(transfer, "LEAST_RATE", 10000)
    server.plans = {"/bm25": steady(GZ, 10, threading.Event())}
    assert fetch(server, folder, tries=1).files["bm25"].read_bytes() == GZ


def test_a_busy_server_that_drips(server, folder):
    busy = dripping(b"x" * 10000, 0.05, code=503)
    server.plans = {"/bm25": [busy, busy, whole(GZ)]}
    begun = time.monotonic()
    assert fetch(server, folder).files
    assert time.monotonic() - begun < 5  # to read both answers would take a quarter of an hour
