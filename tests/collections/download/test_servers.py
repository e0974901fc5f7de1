"""Addresses, and user names and passwords: where they come from, and who is sent them."""

from __future__ import annotations

import sys
import time

import pytest
import urllib3
from download_parts import (
    GZ,
    PACKED,
    SECRET,
    TOKEN,
    USER,
    check,
    count_tries,
    fails,
    fetch,
    secrets_in,
    sent,
    set_login,
    trust,
)
from hypothesis import given
from hypothesis import strategies as st
from run_server import locked, status, whole

from pt_reuse.collections.download import transfer
from pt_reuse.collections.download.runs import fetch_runs
from pt_reuse.collections.download.transfer import Origin, TransferError, parse_address


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("file:///etc/passwd", "is not one of http or https"),
        ("ftp://127.0.0.1/x", "is not one of http or https"),
        ("bm25", "is not one of http or https"),
        ("http://", "no valid URL"),
        ("http://[::1/x", "no valid URL"),
        ("http://a b/x", "no valid URL"),
        (f"https://{USER}:{SECRET}@trec.nist.gov/x", "has a user name or password in it"),
        (f"https://{USER}@trec.nist.gov/x", "has a user name or password in it"),
        ("", "is not one of http or https"),
    ],
)
def test_addresses_that_are_not_used(folder, monkeypatch, url, said):
    tries = count_tries(monkeypatch)
    fetched = fetch_runs({"bm25": url}, folder, check=check)
    assert said in fetched.failed["bm25"]
    assert not secrets_in(repr(fetched))
    assert not tries


@given(st.text() | st.text("/\\\\:@[]?#%.ahtps1 ", max_size=30).map("http:".__add__))
def test_any_address(url):
    for base in ("", "https://trec.nist.gov/a/b"):
        try:
            address = parse_address(url, base)
        except TransferError:
            continue
        assert address.origin.host
        assert address.origin.scheme == address.url.split(":")[0]
        assert parse_address(address.url).origin == address.origin


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://TREC.NIST.gov/x", Origin("https", "trec.nist.gov", 443)),
        ("https://trec.nist.gov:443/x", Origin("https", "trec.nist.gov", 443)),
        ("https://trec.nist.gov\\@evil.org/", Origin("https", "trec.nist.gov", 443)),
        ("https://evil.org/#@trec.nist.gov/", Origin("https", "evil.org", 443)),
        ("https://evil.org?@trec.nist.gov/", Origin("https", "evil.org", 443)),
        ("https://evil.org\\.trec.nist.gov/", Origin("https", "evil.org", 443)),
        ("http://trec.nist.gov:443/", Origin("http", "trec.nist.gov", 443)),
    ],
)
def test_the_server_that_is_asked(url, origin, monkeypatch):
    assert parse_address(url).origin == origin
    asked = []

    def connect(address, *args, **kwargs):
        asked.append(address)
        raise ConnectionRefusedError

    import requests

    monkeypatch.setattr(urllib3.util.connection, "create_connection", connect)
    with pytest.raises(requests.ConnectionError):
        requests.get(parse_address(url).url)
    assert asked == [(origin.host, origin.port)]


# passwords


def netrc_file(tmp_path, text, name=".netrc"):
    path = tmp_path / "home" / name
    path.write_text(text)
    path.chmod(0o600)
    return path


def test_the_environment_has_it(server, folder, monkeypatch):
    trust(monkeypatch, server)
    set_login(monkeypatch)
    server.plans = {f"/{name}": locked(whole(PACKED[name]), USER, SECRET) for name in PACKED}
    assert len(fetch(server, folder, *PACKED, n_jobs=1).files) == 3
    # sent when it is asked for, from then on straight away
    assert ["authorization" in asked.headers for asked in server.asked] == [False, True, True, True]
    assert set(sent(server)) == {f"Basic {TOKEN}"}


def test_a_wrong_password_is_sent_once(server, folder, monkeypatch):
    trust(monkeypatch, server)
    set_login(monkeypatch)
    closed = locked(whole(GZ), USER, "other")

    def slow_to_refuse(handler):
        if "Authorization" in handler.headers:
            time.sleep(0.3)  # meanwhile the other threads are asked for theirs
        closed(handler)

    server.plans = {f"/r{i}": slow_to_refuse for i in range(30)}
    reason = fails(server, folder, *[f"r{i}" for i in range(30)], n_jobs=8)
    assert "refused the user name and password that were sent" in reason
    assert transfer.USERNAME in reason
    assert len(sent(server)) == 1


def test_only_where_it_belongs(server, folder, monkeypatch, tmp_path):
    set_login(monkeypatch)
    netrc_file(tmp_path, f"machine 127.0.0.1 login {USER} password {SECRET}\n")
    server.plans = {"/bm25": locked(whole(GZ), USER, SECRET)}
    assert "only sent over https" in fails(server, folder)
    assert not sent(server)


@pytest.mark.parametrize("variables", transfer.VARIABLES)
def test_who_the_environment_is_for(monkeypatch, tmp_path, variables):
    for variable, value in zip(variables, (USER, SECRET), strict=True):
        monkeypatch.setenv(variable, value)
    assert transfer.find_login(Origin("https", "trec.nist.gov", 443)).header() == f"Basic {TOKEN}"
    for scheme, host, port in [
        ("http", "trec.nist.gov", 80),
        ("https", "trec.nist.gov", 8443),
        ("https", "ir.nist.gov", 443),
        ("https", "trec.nist.gov.evil.org", 443),
        ("https", "nist.gov", 443),
    ]:
        assert transfer.find_login(Origin(scheme, host, port)) is None


def test_not_after_a_redirect(server, other, folder, monkeypatch, tmp_path):
    trust(monkeypatch, server)
    set_login(monkeypatch)
    server.plans = {"/bm25": locked(status(302, Location=other.url + "/x"), USER, SECRET)}
    other.plans = {"/x": locked(whole(GZ), USER, SECRET)}
    reason = fails(server, folder)
    assert len(sent(server)) == 1
    assert len(other.asked) == 1
    assert not sent(other)
    assert "127.0.0.1 asks for a user name and password" in reason


@pytest.mark.parametrize("how", ["a host of its own", "only another port", "home again"])
def test_netrc_is_for_the_server_of_the_address_itself(server, other, folder, monkeypatch, tmp_path, how):
    trust(monkeypatch, server)
    entries = [f"machine {host} login {USER} password {SECRET}\n" for host in ("127.0.0.1", "localhost")]
    netrc_file(tmp_path, "".join(entries))
    target = f"http://localhost:{other.port}/x" if how == "a host of its own" else other.url + "/x"
    server.plans = {"/bm25": status(302, Location=target), "/y": locked(whole(GZ), USER, SECRET)}
    if how == "home again":
        # a server that redirects back gains nothing, and keeps nobody from the file
        other.plans = {"/x": status(302, Location=server.url + "/y")}
        assert fetch(server, folder).files
        assert sent(server) == [f"Basic {TOKEN}"]
    else:
        other.plans = {"/x": locked(whole(GZ), USER, SECRET)}
        reason = fails(server, folder)
        assert f"redirects to {target}. There, " in reason
        assert "never to one that a redirect chose" in reason
        assert not sent(server)
    assert not sent(other)


def test_what_was_accepted_is_not_sent_after_a_redirect_either(server, other, folder, monkeypatch):
    trust(monkeypatch, server)
    set_login(monkeypatch)
    # the same call asks NIST itself, and another server that redirects to NIST
    server.plans = {"/bm25": locked(whole(GZ), USER, SECRET), "/dense": locked(whole(PACKED["dense"]), USER, SECRET)}
    other.plans = {"/dense": status(302, Location=server.url + "/dense")}
    wanted = {"bm25": server.url + "/bm25", "dense": other.url + "/dense"}
    fetched = fetch_runs(wanted, folder, check=check, n_jobs=1)
    assert list(fetched.files) == ["bm25"]
    assert "never to one that a redirect chose" in fetched.failed["dense"]
    assert len(sent(server)) == 1


@pytest.mark.parametrize("named", [False, True])
def test_netrc(server, folder, monkeypatch, tmp_path, named):
    trust(monkeypatch, server)
    path = netrc_file(tmp_path, f"machine 127.0.0.1 login {USER} password {SECRET}\n", "mine" if named else ".netrc")
    if named:
        path = path.rename(path.with_name("netrc-of-mine"))
        monkeypatch.setenv("NETRC", str(path))
    server.plans = {"/bm25": locked(whole(GZ), USER, SECRET)}
    assert fetch(server, folder).files
    assert sent(server) == [f"Basic {TOKEN}"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"machine 127.0.0.1 lgin {USER} password {SECRET}\n", "cannot be read at line 1"),
        (f"machine 127.0.0.1 login {USER}\n{SECRET}\n", "cannot be read at line"),
        (f"default login {USER} password {SECRET}\n", "asks for a user name and password."),
        (f"machine trec.nist.gov login {USER} password {SECRET}\n", "asks for a user name and password."),
        (f"machine 127.0.0.1 login {USER} password \n", "lacks its login or password"),
        (f"machine 127.0.0.1 login {USER}\n", "lacks its login or password"),
        (f"machine 127.0.0.1 login {USER}:x password {SECRET}\n", "with a colon"),
    ],
)
def test_netrc_files_that_cannot_be_used(server, folder, monkeypatch, tmp_path, text, said):
    trust(monkeypatch, server)
    netrc_file(tmp_path, text)
    server.plans = {"/bm25": locked(whole(GZ), USER, SECRET), "/dense": whole(PACKED["dense"])}
    fetched = fetch(server, folder, "bm25", "dense")
    assert list(fetched.files) == ["dense"]
    assert said in fetched.failed["bm25"] or sys.version_info < (3, 11)
    assert not sent(server)


@pytest.mark.parametrize("shown", [SECRET, TOKEN, USER])
def test_a_server_that_says_it_aloud(server, folder, monkeypatch, shown):
    trust(monkeypatch, server)
    set_login(monkeypatch)
    server.plans = {"/bm25": locked(whole(f"you sent {shown}\n".encode()), USER, SECRET)}
    assert "***" in fails(server, folder)
