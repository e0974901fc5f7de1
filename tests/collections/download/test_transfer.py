"""Servers that are not there, proxies, redirects, and files that are too large."""

from __future__ import annotations

import socket
import threading
from email.utils import formatdate

import pytest
from download_parts import (
    GZ,
    PACKED,
    SECRET,
    TEXT,
    USER,
    check,
    count_tries,
    fails,
    fetch,
    left,
    nobody,
    secrets_in,
    trust,
)
from run_server import chunked, cut, paused, reset, status, whole

from pt_reuse.collections.download import transfer
from pt_reuse.collections.download.runs import fetch_runs
from pt_reuse.collections.download.transfer import TransferError, parse_address


def test_a_proxy_is_used(server, folder, monkeypatch):
    monkeypatch.setenv("http_proxy", server.url)
    server.plans = {"http://runs.invalid/bm25": whole(GZ)}
    assert fetch_runs({"bm25": "http://runs.invalid/bm25"}, folder, check=check).files
    monkeypatch.setenv("http_proxy", f"http://{USER}:{SECRET}@127.0.0.1:{nobody()}")
    reason = fetch_runs({"dense": "http://runs.invalid/dense"}, folder, check=check).failed["dense"]
    assert "proxy" in reason
    assert not secrets_in(reason)


@pytest.mark.parametrize("plan", [whole(GZ), chunked(GZ, 40)])
def test_too_large(server, folder, monkeypatch, plan):
    monkeypatch.setattr(transfer, "MOST_BYTES", 20000)
    server.plans = {"/bm25": plan}
    assert "larger than 20,000 bytes" in fails(server, folder)
    assert len(server.asked) == 1
    assert left(folder) == []


def test_what_is_left_of_the_library_s_errors(server, monkeypatch):
    trust(monkeypatch, server)
    one = transfer.Transfer(timeout=1, tries=1, connections=1)
    address = parse_address(f"http://127.0.0.1:{nobody()}/")
    with pytest.raises(TransferError) as caught:
        one._get(address, transfer.Login(USER, SECRET))
    one.close()
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    ("host", "why"), [("127.0.0.1", "it refuses connections"), ("a.invalid", "its name is not known here")]
)
def test_who_is_not_there_is_asked_once(folder, monkeypatch, host, why):
    def unknown(host, *args, **kwargs):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    if host == "a.invalid":
        monkeypatch.setattr(socket, "getaddrinfo", unknown)
    tries = count_tries(monkeypatch)
    url = f"http://{host}:{nobody()}/"
    fetched = fetch_runs({f"r{i}": f"{url}{i}" for i in range(40)}, folder, check=check, n_jobs=1)
    assert set(fetched.failed.values()) == {f"no connection to {host}: {why}. Is there a network?"}
    assert len(fetched.failed) == 40
    assert len(tries) == 1


@pytest.mark.parametrize("code", [301, 308])
def test_redirects_are_followed(server, other, folder, code):
    server.plans = {"/bm25": status(code, Location="/two"), "/two": status(code, Location=other.url + "/evil.name")}
    other.plans = {"/evil.name": whole(GZ, Content_Disposition='attachment; filename="../../evil"')}
    assert fetch(server, folder).files["bm25"].name == "input.bm25.gz"


@pytest.mark.parametrize(
    "target", ["file:///etc/passwd", "ftp://x/y", f"http://{USER}:{SECRET}@127.0.0.1/", "http://[::1"]
)
def test_redirects_that_are_not_followed(server, folder, target):
    server.plans = {"/bm25": status(302, Location=target)}
    assert "redirects to another address, but the address" in fails(server, folder)
    assert len(server.asked) == 1


def test_never_from_https_to_http(folder, monkeypatch):
    import requests

    def redirected(self, method, url, **arguments):
        response = requests.Response()
        response.status_code, response.headers["Location"], response.raw = 302, "http://trec.nist.gov/", None
        response.close = lambda: None
        return response

    monkeypatch.setattr(requests.Session, "request", redirected)
    reason = fetch_runs({"bm25": "https://trec.nist.gov/bm25"}, folder, check=check).failed["bm25"]
    assert reason == "https://trec.nist.gov/bm25 redirects from https to http, which is not followed."


@pytest.mark.parametrize("body", [GZ, TEXT], ids=["packed", "plain"])
@pytest.mark.parametrize("break_off", [cut, reset])
def test_a_dropped_connection(server, folder, body, break_off):
    server.plans = {"/bm25": [break_off(body, 20000), whole(body)]}
    assert fetch(server, folder).files["bm25"].read_bytes() == body
    assert len(server.asked) == 2


def test_half_a_file_without_length(server, folder):
    server.plans = {"/bm25": [cut(GZ, 20000, length=False), whole(GZ)]}
    assert fetch(server, folder).files["bm25"].read_bytes() == GZ
    server.plans = {"/dense": cut(PACKED["dense"], 20000, length=False)}
    assert "cut off or damaged" in fetch(server, folder, "dense").failed["dense"]
    after = TEXT.index(b" Q0", 30000)  # within a line; between two lines nobody can tell
    server.plans = {"/manual": cut(TEXT, after, length=False)}
    assert "cut off on its way" in fetch(server, folder, "manual").failed["manual"]
    assert left(folder) == []


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


def test_silence_in_mid_file(server, folder):
    gate = threading.Event()
    server.plans = {"/bm25": [paused(GZ, gate, 30000), whole(GZ)]}
    fetched = fetch(server, folder, timeout=1.0)
    gate.set()
    assert fetched.files["bm25"].read_bytes() == GZ
    assert len(server.asked) == 2


def test_silence_each_time(server, folder):
    gate = threading.Event()
    server.plans = {f"/r{i}": lambda handler: gate.wait(300) for i in range(20)}
    reason = fails(server, folder, *[f"r{i}" for i in range(20)], timeout=0.1, tries=2, n_jobs=1)
    gate.set()
    assert reason == "127.0.0.1: nothing came for 0.1 seconds (tried 2 times)."
    assert len(server.asked) == 2  # the other files are not asked for
