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
    left,
)
from run_server import dripping, dripping_head, paused, status, steady, whole

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


# a server that sends a byte now and then


@pytest.fixture
def hasty(monkeypatch):
    """Count the bytes over a fraction of a second."""
    monkeypatch.setattr(patience, "RATE_WINDOW", 0.15)


@pytest.mark.parametrize("chunks", [False, True])
def test_a_drip_is_given_up_and_gone_on_with(server, folder, hasty, chunks):
    # three bytes in the window of each try, where a thousand a second must come
    first = chunked_drip(GZ, 20000) if chunks else dripping(GZ, 0.04, after=20000)
    server.plans = {"/bm25": [first, dripping(GZ, 0.04, after=10000), whole(GZ)]}
    fetched = fetch(server, folder)
    assert fetched.failed == {}
    assert fetched.files["bm25"].read_bytes() == GZ
    ranges = [headers.get("range") for headers in server.headers("/bm25")]
    assert ranges[0] is None
    assert len(ranges) == 3
    if not chunks:
        begun = [int(text.removeprefix("bytes=").removesuffix("-")) for text in ranges[1:]]
        assert 20000 < begun[0] < 20020
        assert 30000 < begun[1] < 30040


def chunked_drip(body, after):
    def plan(handler):
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        handler.wfile.write(b"%x\r\n%s\r\n%x\r\n" % (after, body[:after], len(body) - after))
        for at in range(after, len(body)):
            handler.wfile.write(body[at : at + 1])
            time.sleep(0.04)

    return plan


def test_a_drip_that_does_not_end(server, folder, hasty):
    server.plans = {"/bm25": dripping(GZ, 0.04, after=1000)}
    reason = fails(server, folder)
    assert "fewer than 1,000 bytes a second came after 3,0" in reason
    assert reason.endswith("(tried 3 times). What arrived is kept: the next call goes on from there.")
    assert len(server.asked) == 3
    assert left(folder) == ["bm25.json", "bm25.part"]
    server.plans = {"/bm25": whole(GZ)}
    assert fetch(server, folder).files["bm25"].read_bytes() == GZ


def test_the_least_rate_is_enough(server, folder, monkeypatch):
    monkeypatch.setattr(patience, "RATE_WINDOW", 0.1)
    monkeypatch.setattr(patience, "LEAST_RATE", 10000)
    server.plans = {"/bm25": steady(GZ[:20000], 10, threading.Event())}
    reason = fails(server, folder, tries=1, check=lambda *_: None)
    assert "cut off or damaged" in reason  # it came, and was half a file
    assert len(server.asked) == 1


def test_a_head_that_does_not_end(server, folder, hasty):
    server.plans = {"/bm25": dripping_head(0.02)}
    assert fails(server, folder, timeout=0.2, tries=2) == "127.0.0.1: nothing came for 0.2 seconds (tried 2 times)."
    assert len(server.asked) == 2


def test_a_busy_server_that_drips(server, folder):
    busy = dripping(b"x" * 10000, 0.05, code=503)
    server.plans = {"/bm25": [busy, busy, whole(GZ)]}
    begun = time.monotonic()
    assert fetch(server, folder).files
    assert time.monotonic() - begun < 5  # to read both answers would take a quarter of an hour
    server.plans = {"/dense": busy}
    assert "answered 503 (tried 3 times)" in fetch(server, folder, "dense").failed["dense"]
