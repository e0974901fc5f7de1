"""Servers that are not there, proxies, redirects, and files that are too large."""

from __future__ import annotations

import socket

import pytest
from download_parts import (
    GZ,
    SECRET,
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
from run_server import chunked, status, whole

from pt_reuse.collections.download import transfer
from pt_reuse.collections.download.runs import fetch_runs
from pt_reuse.collections.download.transfer import TransferError, parse_address


def test_nobody_listens(folder, monkeypatch):
    tries = count_tries(monkeypatch)
    url = f"http://127.0.0.1:{nobody()}/"
    fetched = fetch_runs({f"r{i}": f"{url}{i}" for i in range(129)}, folder, check=check, n_jobs=4)
    assert set(fetched.failed.values()) == {"no connection to 127.0.0.1: it refuses connections. Is there a network?"}
    assert len(fetched.failed) == 129
    assert len(tries) <= 4


def test_no_such_name(folder, monkeypatch):
    def unknown(host, *args, **kwargs):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    tries = count_tries(monkeypatch)
    fetched = fetch_runs({f"r{i}": f"https://runs.invalid/{i}" for i in range(20)}, folder, check=check, n_jobs=1)
    assert set(fetched.failed.values()) == {
        "no connection to runs.invalid: its name is not known here. Is there a network?"
    }
    assert len(tries) == 1


def test_one_host_of_two_is_away(server, folder):
    server.plans = {"/bm25": whole(GZ)}
    wanted = {"dense": f"http://127.0.0.1:{nobody()}/dense", "bm25": server.url + "/bm25"}
    fetched = fetch_runs(wanted, folder, check=check)
    assert list(fetched.files) == ["bm25"]
    assert list(fetched.failed) == ["dense"]


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


# redirects


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_redirects_are_followed(server, other, folder, code):
    server.plans = {"/bm25": status(code, Location="/two"), "/two": status(code, Location=other.url + "/evil.name")}
    other.plans = {"/evil.name": whole(GZ, Content_Disposition='attachment; filename="../../evil"')}
    assert fetch(server, folder).files["bm25"].name == "input.bm25.gz"


def test_a_circle(server, folder):
    server.plans = {"/bm25": status(302, Location="/two"), "/two": status(302, Location="/bm25")}
    assert "redirects more than 5 times" in fails(server, folder)
    assert len(server.asked) == 6


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
