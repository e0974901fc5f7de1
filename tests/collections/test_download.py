"""Downloads: what comes of servers, of breaks and of passwords; whole, right runs under the runs' names alone."""

from __future__ import annotations

import bz2
import lzma
import os
import threading

import pytest
from download_parts import (
    COMPRESSED,
    GZ,
    PACKED,
    SECRET,
    TEXT,
    TOKEN,
    USER,
    check,
    fails,
    fetch,
    left,
    nobody,
    secrets_in,
    sent,
    set_login,
    trust,
)
from run_server import chunked, cut, locked, paused, reset, status, whole

from pt_reuse.collections import download
from pt_reuse.collections.download import TransferError, fetch_runs, find_login
from pt_reuse.data.run_set import read_runs

# what is left in the folder


def test_several_files(server, folder):
    server.plans = {f"/{name}": whole(PACKED[name]) for name in PACKED}
    fetched = fetch(server, folder, *PACKED, n_jobs=2)
    assert fetched.failed == {}
    assert list(fetched.files) == list(PACKED)
    assert {name: path.name for name, path in fetched.files.items()} == {name: f"input.{name}.gz" for name in PACKED}
    assert all(path.read_bytes() == PACKED[name] for name, path in fetched.files.items())
    assert sorted(path.name for path in folder.iterdir()) == sorted(f"input.{name}.gz" for name in PACKED)
    assert read_runs(folder).names == sorted(PACKED)


def test_the_suffix_is_that_of_the_bytes(server, folder):
    forms = {"": TEXT, ".gz": GZ, ".bz2": bz2.compress(TEXT), ".xz": lzma.compress(TEXT), ".Z": COMPRESSED}
    for suffix, body in forms.items():
        server.plans = {"/bm25": whole(body)}
        path = fetch(server, folder).files["bm25"]
        assert path.name == "input.bm25" + suffix
        assert path.read_bytes() == body
        path.unlink()


def test_what_is_there_is_left(server, folder):
    folder.mkdir()
    (folder / "input.bm25").write_bytes(TEXT)
    before = (folder / "input.bm25").stat()
    server.plans = {"/bm25": whole(GZ), "/dense": whole(PACKED["dense"]), "/manual": whole(PACKED["manual"])}
    fetched = fetch(server, folder, "bm25", "dense")
    assert fetched.files == {"bm25": folder / "input.bm25", "dense": folder / "input.dense.gz"}
    assert (folder / "input.bm25").stat() == before
    assert not server.headers("/bm25")


def test_a_full_disk(server, folder, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(download.Transfer, "_store", full)
    assert fails(server, folder) == "it cannot be stored: No space left on device."


UNSAFE = ["../../evil", "/evil", "a/b", "a\\b", "..", ".", "", "~root", "a\0b", "a\nb", "a b", "c:x", "é" * 150, "x.gz",
          "x.XZ", "\u202eevil", "\ud800"]  # fmt: skip


def test_names_that_are_refused(server, folder):
    server.plans = {"/x": whole(GZ)}
    for name in UNSAFE:
        assert fetch(server, folder, name, path="/x").failed[name].startswith("the name "), name
    assert not server.asked
    assert list(folder.iterdir()) == []


# servers


@pytest.mark.parametrize("plan", [whole(GZ), chunked(GZ, 40)])
def test_too_large(server, folder, monkeypatch, plan):
    monkeypatch.setattr(download, "MOST_BYTES", 20000)
    server.plans = {"/bm25": plan}
    assert "larger than 20,000 bytes" in fails(server, folder)
    assert len(server.asked) == 1


def test_without_a_network_one_plain_sentence_says_so(folder):
    url = f"http://127.0.0.1:{nobody()}/"
    fetched = fetch_runs({f"r{i}": f"{url}{i}" for i in range(40)}, folder, check=check, n_jobs=1)
    (reason,) = set(fetched.failed.values())
    assert reason.startswith("no connection to 127.0.0.1 (")
    assert len(fetched.failed) == 40
    with pytest.raises(TransferError) as caught:
        download.Transfer(timeout=1, tries=1, connections=1).fetch("x", url, folder / "x", check)
    assert caught.value.__cause__ is caught.value.__context__ is None


def test_a_proxy_is_used(server, folder, monkeypatch):
    monkeypatch.setenv("http_proxy", server.url)
    server.plans = {"http://runs.invalid/bm25": whole(GZ)}
    assert fetch_runs({"bm25": "http://runs.invalid/bm25"}, folder, check=check).files
    monkeypatch.setenv("http_proxy", f"http://{USER}:{SECRET}@127.0.0.1:{nobody()}")
    reason = fetch_runs({"dense": "http://runs.invalid/dense"}, folder, check=check).failed["dense"]
    assert "(ProxyError)" in reason
    assert not secrets_in(reason)


@pytest.mark.parametrize("url", ["file:///etc/passwd", "bm25", "http://", ""])
def test_addresses_that_are_not_used(folder, url):
    assert "and the address right?" in fetch_runs({"bm25": url}, folder, check=check).failed["bm25"]


def test_redirects(server, other, folder):
    server.plans = {"/bm25": status(301, Location="/two"), "/two": status(308, Location=other.url + "/evil.name")}
    other.plans = {"/evil.name": whole(GZ, Content_Disposition='attachment; filename="../../evil"')}
    assert fetch(server, folder).files.pop("bm25").name == "input.bm25.gz"
    server.plans = {"/dense": status(302, Location="file:///etc/passwd")}
    assert "and the address right?" in fetch(server, folder, "dense").failed["dense"]


@pytest.mark.parametrize("break_off", [cut, reset])
def test_a_dropped_connection(server, folder, break_off):
    server.plans = {"/bm25": [break_off(GZ, 20000), whole(GZ)]}
    assert fetch(server, folder).files["bm25"].read_bytes() == GZ
    assert len(server.asked) == 2


def test_half_a_file_without_length_and_damage(server, folder):
    server.plans = {"/bm25": [cut(GZ, 20000, length=False), whole(GZ)]}
    assert fetch(server, folder).files["bm25"].read_bytes() == GZ
    server.plans = {"/dense": cut(PACKED["dense"], 20000, length=False)}
    assert "cut off or damaged" in fetch(server, folder, "dense").failed["dense"]
    after = TEXT.index(b" Q0", 30000)  # within a line; between two lines nobody can tell
    server.plans = {"/manual": cut(TEXT, after, length=False)}
    assert "cut off on its way" in fetch(server, folder, "manual").failed["manual"]
    damaged = bytearray(PACKED["manual"])
    damaged[len(damaged) // 2] ^= 255
    server.plans = {"/manual": [whole(bytes(damaged)), whole(PACKED["manual"])]}
    server._times.clear()
    assert fetch(server, folder, "manual").files["manual"].read_bytes() == PACKED["manual"]
    assert left(folder) == []


@pytest.mark.parametrize(("code", "times"), [(404, 1), (400, 1), (501, 1), (204, 1), (206, 1), (500, 3), (503, 3)])
def test_how_often_a_refusal_is_tried(server, folder, code, times):
    server.plans = {"/bm25": status(code)}
    assert str(code) in fails(server, folder)
    assert len(server.asked) == times
    server.plans = {"/dense": [status(code), whole(PACKED["dense"])]}
    assert bool(fetch(server, folder, "dense").files) == (times > 1)


def test_silence(server, folder):
    gate = threading.Event()
    server.plans = {"/bm25": [paused(GZ, gate, 30000), whole(GZ)]}
    fetched = fetch(server, folder, timeout=1.0)
    assert fetched.files["bm25"].read_bytes() == GZ
    server.plans = {f"/r{i}": lambda handler: gate.wait(300) for i in range(20)}
    found = fetch_runs({f"r{i}": f"{server.url}/r{i}" for i in range(2)}, folder, check=check, timeout=0.1, tries=2)
    gate.set()
    assert all(reason.startswith("no connection to 127.0.0.1 (") for reason in found.failed.values())


# user names and passwords


def test_who_is_given_a_password(monkeypatch):
    for pair in download.VARIABLES:
        with monkeypatch.context() as context:
            for variable, value in zip(pair, (USER, SECRET), strict=True):
                context.setenv(variable, value)
            request = find_login("https://trec.nist.gov/x")(type("", (), {"headers": {}})())
            assert request.headers["Authorization"] == f"Basic {TOKEN}"
            for url in ("http://trec.nist.gov/x", "https://trec.nist.gov:8443/x", "https://ir.nist.gov/x",
                        "https://trec.nist.gov.evil.org/x", "https://trec.nist.gov@evil.org/"):  # fmt: skip
                assert find_login(url) is None
            context.delenv(pair[1])
            with pytest.raises(TransferError, match="one alone is set"):
                find_login("https://trec.nist.gov/x")


def test_a_password_is_sent_to_its_server(server, folder, monkeypatch):
    server.plans = {"/bm25": locked(whole(GZ), USER, SECRET)}
    set_login(monkeypatch)
    assert "asks for a user name and password (401)" in fails(server, folder)
    assert not sent(server)
    trust(monkeypatch, server)
    assert fetch(server, folder).files
    assert set(sent(server)) == {f"Basic {TOKEN}"}
    set_login(monkeypatch, password="wrong")
    server.plans = {f"/r{i}": locked(whole(GZ), USER, SECRET) for i in range(9)}
    found = fetch_runs({f"r{i}": f"{server.url}/r{i}" for i in range(9)}, folder, check=check, n_jobs=1)
    assert all("refused the user name and password" in reason for reason in found.failed.values())
    assert len(server.asked) == 3


@pytest.mark.parametrize("named", [False, True])
def test_netrc(server, folder, monkeypatch, tmp_path, named):
    trust(monkeypatch, server)
    path = tmp_path / "home" / (".netrc" if not named else "netrc-of-mine")
    path.write_text(f"machine 127.0.0.1 login {USER} password {SECRET}\n")
    path.chmod(0o600)
    if named:
        monkeypatch.setenv("NETRC", str(path))
    server.plans = {"/bm25": locked(whole(GZ), USER, SECRET)}
    assert fetch(server, folder).files
    assert sent(server) == [f"Basic {TOKEN}"]


@pytest.mark.parametrize("how", ["environment", "netrc"])
def test_no_password_is_sent_where_a_redirect_leads(server, other, folder, monkeypatch, tmp_path, how):
    trust(monkeypatch, server)
    if how == "environment":
        set_login(monkeypatch)
    else:
        path = tmp_path / "home" / ".netrc"
        path.write_text(
            "".join(f"machine {host} login {USER} password {SECRET}\n" for host in ("127.0.0.1", "localhost"))
        )
        path.chmod(0o600)
    for target in (f"http://localhost:{other.port}/x", other.url + "/x", "/y"):
        server.plans = {"/bm25": status(302, Location=target), "/y": locked(whole(GZ), USER, SECRET)}
        other.plans = {"/x": locked(whole(GZ), USER, SECRET)}
        assert "never where a redirect leads" in fails(server, folder)
    assert not sent(other)
    assert not [headers for headers in server.headers("/y") if "authorization" in headers]


pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="temporary files are locked")
