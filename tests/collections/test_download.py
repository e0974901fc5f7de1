"""Downloads from a server that does all that servers do wrong: nothing but whole, right runs gets a run's name."""

from __future__ import annotations

import base64
import bz2
import gzip
import json
import logging
import lzma
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from email.utils import formatdate
from pathlib import Path

import pytest
import urllib3
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from run_server import RunServer, always, chunked, cut, etag, locked, paused, reset, status, steady, whole

from pt_reuse._errors import InputError
from pt_reuse.collections.collection import Collection
from pt_reuse.collections.download import patience, run_check, servers, transfer
from pt_reuse.collections.download import runs as download
from pt_reuse.collections.download.partial import Partial
from pt_reuse.collections.download.run_check import check_run_file
from pt_reuse.collections.download.runs import fetch_runs
from pt_reuse.collections.download.servers import Origin, TransferError, parse_address
from pt_reuse.runs.reading import read_runs

TOPICS = frozenset({"401", "402", "403"})
USER, SECRET = "alice-of-acme", "s3cret-Pass%word"
TOKEN = base64.b64encode(f"{USER}:{SECRET}".encode()).decode()


def text_of(tag, lines=3000, topics=("401", "402")):
    random.seed(tag)
    rows = [
        f"{qid} Q0 d{random.randrange(10**9):09d}-{i} {i} {lines - i}.5 {tag}\n"
        for qid in topics
        for i in range(lines // len(topics))
    ]
    return "".join(rows).encode()


PLAIN = {name: text_of(name) for name in ("bm25", "dense", "manual")}
#: one line as Unix compress packs it, every byte a code of nine bits
LINE = b"401 Q0 d1 1 2.5 bm25\n"
COMPRESSED = b"\x1f\x9d\x90" + sum(byte << 9 * i for i, byte in enumerate(LINE)).to_bytes(24, "little")
PACKED = {name: gzip.compress(text, mtime=0) for name, text in PLAIN.items()}
GZ, TEXT = PACKED["bm25"], PLAIN["bm25"]
PAGE = b"\n<!DOCTYPE html>\n<html><title>Log in</title></html>\n"


def check(name, path):
    check_run_file(name, path, Collection(name="x", title="trec-8/adhoc", topic_ids=TOPICS))


@pytest.fixture(autouse=True)
def alone(monkeypatch, tmp_path):
    """Keep the user's proxies and passwords out of the tests, and do not wait between tries."""
    for name in list(os.environ):
        if name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    for name in ("NETRC", servers.USERNAME, servers.PASSWORD):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(patience, "BACKOFF", 0.0)


@pytest.fixture
def server():
    with RunServer() as server:
        yield server


@pytest.fixture
def other():
    with RunServer() as server:
        yield server


@pytest.fixture
def logs(caplog):
    caplog.set_level(logging.DEBUG)
    return caplog


@pytest.fixture
def folder(tmp_path, logs):
    """Return the folder for the runs; in the end it must hold whole runs, and no password may be anywhere."""
    folder = tmp_path / "runs"
    yield folder
    assert_sound(folder, tmp_path)
    assert not secrets_in(logs.text)


def assert_sound(folder, around):
    for path in folder.iterdir() if folder.is_dir() else []:
        if path.name == ".partial":
            continue
        data = path.read_bytes()
        name = (
            path.name.removeprefix("input.")
            .removesuffix(".gz")
            .removesuffix(".bz2")
            .removesuffix(".xz")
            .removesuffix(".Z")
        )
        assert path.name.startswith("input.")
        assert run_text(data).split()[5].decode() in (name, "bm25")
        assert run_text(data) in (*PLAIN.values(), LINE)
        assert check(name, path) is None
    assert sorted(path.name for path in around.iterdir()) == sorted({"home", *(["runs"] if folder.is_dir() else [])})
    for path in around.rglob("*"):
        if path.is_file() and "netrc" not in path.name:
            assert not secrets_in(path.read_bytes().decode("latin-1"))


def run_text(data):
    for magic, unpack in ((b"\x1f\x8b", gzip), (b"BZh", bz2), (b"\xfd7z", lzma)):
        if data.startswith(magic):
            return unpack.decompress(data)
    return LINE if data == COMPRESSED else data


def secrets_in(text):
    return [secret for secret in (SECRET, TOKEN, USER) if secret in text]


def fetch(server, folder, *names, path="/{}", check=check, **arguments):
    """Fetch runs of these names from the server, and look whether what is said of them is sound."""
    wanted = {name: server.url + path.format(name) for name in names or ["bm25"]}
    fetched = fetch_runs(wanted, folder, check=check, **{"timeout": 10, **arguments})
    assert set(fetched.files) | set(fetched.failed) == set(wanted)
    assert not set(fetched.files) & set(fetched.failed)
    assert all(path.is_file() and path.parent == folder for path in fetched.files.values())
    assert not secrets_in(repr(fetched))
    assert all(reason.endswith((".", "?")) and "\n" not in reason for reason in fetched.failed.values())
    return fetched


def fails(server, folder, *names, **arguments):
    """Fetch one run that must fail; return the reason."""
    fetched = fetch(server, folder, *names, **arguments)
    assert not fetched.files
    assert not [path for path in folder.iterdir() if path.name != ".partial"]
    (reason,) = set(fetched.failed.values())
    return reason


def left(folder):
    return sorted(path.name for path in (folder / ".partial").iterdir()) if (folder / ".partial").exists() else []


# --- what arrives ---------------------------------------------------------------------------------------------------


def test_several_files(server, folder):
    server.plans = {f"/{name}": whole(PACKED[name]) for name in PACKED}
    fetched = fetch(server, folder, *PACKED, n_jobs=2)
    assert fetched.failed == {}
    assert list(fetched.files) == list(PACKED)
    assert {name: path.name for name, path in fetched.files.items()} == {name: f"input.{name}.gz" for name in PACKED}
    assert all(path.read_bytes() == PACKED[name] for name, path in fetched.files.items())
    assert sorted(path.name for path in folder.iterdir()) == sorted(f"input.{name}.gz" for name in PACKED)
    assert read_runs(folder).names == sorted(PACKED)
    assert all(asked.headers["accept-encoding"] == "identity" for asked in server.asked)


@pytest.mark.parametrize(
    ("body", "suffix"),
    [(TEXT, ""), (GZ, ".gz"), (bz2.compress(TEXT), ".bz2"), (lzma.compress(TEXT), ".xz"), (COMPRESSED, ".Z")],
    ids=["plain", "gzip", "bzip2", "xz", "compress"],
)
def test_the_suffix_is_that_of_the_bytes(server, folder, body, suffix):
    if suffix == ".Z":
        pytest.importorskip("unlzw3", reason="unlzw3 is not installed")
    server.plans = {"/bm25": whole(body)}
    path = fetch(server, folder).files["bm25"]
    assert path.name == "input.bm25" + suffix
    assert path.read_bytes() == body


@pytest.mark.parametrize("encoding", ["x-gzip", "gzip"])
def test_a_packed_file_is_stored_as_it_is(server, folder, encoding):
    server.plans = {"/bm25": whole(GZ, Content_Encoding=encoding)}
    assert fetch(server, folder).files["bm25"].read_bytes() == GZ


def test_without_length(server, folder):
    server.plans = {"/bm25": chunked(GZ, 5)}
    assert fetch(server, folder).files["bm25"].read_bytes() == GZ


def test_what_is_there_is_left(server, folder):
    folder.mkdir()
    (folder / "input.bm25").write_bytes(TEXT)
    before = (folder / "input.bm25").stat()
    server.plans = {"/bm25": whole(GZ), "/dense": whole(PACKED["dense"])}
    fetched = fetch(server, folder, "bm25", "dense")
    assert fetched.files == {"bm25": folder / "input.bm25", "dense": folder / "input.dense.gz"}
    assert (folder / "input.bm25").stat() == before
    assert not server.headers("/bm25")


def test_a_folder_in_the_way(server, folder):
    (folder / "input.bm25.gz").mkdir(parents=True)
    fetched = fetch(server, folder)
    assert "is no file" in fetched.failed["bm25"]
    (folder / "input.bm25.gz").rmdir()


def test_a_file_that_appears_meanwhile_is_left(server, folder):
    def slow_check(name, path):
        (folder / "input.bm25.gz").write_bytes(PACKED["dense"])

    server.plans = {"/bm25": whole(GZ)}
    reason = fetch(server, folder, check=slow_check).failed["bm25"]
    assert "has appeared in the meantime" in reason
    assert (folder / "input.bm25.gz").read_bytes() == PACKED["dense"]
    assert left(folder) == ["bm25.json", "bm25.part"]
    (folder / "input.bm25.gz").unlink()


# --- connections that break -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("body", [GZ, TEXT], ids=["packed", "plain"])
@pytest.mark.parametrize("break_off", [cut, reset])
def test_a_dropped_connection_is_resumed(server, folder, body, break_off):
    server.plans = {"/bm25": [break_off(body, 20000), whole(body)]}
    assert fetch(server, folder).files["bm25"].read_bytes() == body
    first, second = server.headers("/bm25")
    assert "range" not in first
    if break_off is cut:  # a reset may take any bytes with it
        assert second["range"] == "bytes=20000-"
        assert second["if-range"].startswith('"')


def test_resumed_by_the_next_call(server, folder):
    server.plans = {"/bm25": cut(GZ, 20000)}
    reason = fails(server, folder, tries=1)
    assert f"20,000 of {len(GZ):,} bytes" in reason
    assert "goes on from there" in reason
    assert left(folder) == ["bm25.json", "bm25.part"]
    server.plans = {"/bm25": whole(GZ)}
    assert fetch(server, folder).files["bm25"].read_bytes() == GZ
    assert [headers.get("range") for headers in server.headers("/bm25")] == [None, "bytes=20000-"]
    assert left(folder) == []


def test_half_a_file_each_time(server, folder):
    server.plans = {"/bm25": cut(GZ, 20000)}
    assert "(tried 3 times)" in fails(server, folder)
    assert len(server.asked) == 3
    assert (folder / ".partial" / "bm25.part").read_bytes() == GZ[:20000]


def test_half_a_packed_file_without_length(server, folder):
    server.plans = {"/bm25": [cut(GZ, 20000, length=False), whole(GZ)]}
    assert fetch(server, folder).files["bm25"].read_bytes() == GZ
    server.plans = {"/dense": cut(PACKED["dense"], 20000, length=False)}
    assert "cut off or damaged" in fetch(server, folder, "dense").failed["dense"]
    assert left(folder) == []


def test_half_a_text_without_length(server, folder):
    after = TEXT.index(b" Q0", 30000)  # within a line; between two lines nobody can tell
    server.plans = {"/bm25": cut(TEXT, after, length=False)}
    assert "expected six columns" in fails(server, folder)
    assert left(folder) == []


def test_chunks_without_an_end(server, folder):
    server.plans = {"/bm25": [chunked(TEXT, 5, end=False), chunked(TEXT, 5)]}
    assert fetch(server, folder).files["bm25"].read_bytes() == TEXT


def test_damaged_on_the_way(server, folder):
    damaged = bytearray(GZ)
    damaged[len(GZ) // 2] ^= 255
    server.plans = {"/bm25": [whole(bytes(damaged)), whole(GZ)]}
    assert fetch(server, folder).files["bm25"].read_bytes() == GZ


def test_a_server_that_sends_no_parts(server, folder):
    server.plans = {"/bm25": [cut(GZ, 20000), always(GZ)]}
    assert fetch(server, folder).files["bm25"].read_bytes() == GZ
    assert server.headers("/bm25")[1]["range"] == "bytes=20000-"


@pytest.mark.parametrize("again", [whole, lambda body: whole(body, ETag=None, Last_Modified="Thu, 02 Jan 2020")])
def test_another_file_between_two_tries(server, folder, again):
    server.plans = {"/bm25": [cut(PACKED["dense"], 20000), again(GZ)]}
    assert fetch(server, folder).files["bm25"].read_bytes() == GZ


def test_another_file_though_if_range_is_ignored(server, folder):
    def plan(handler):
        del handler.headers["If-Range"]
        whole(GZ)(handler)

    server.plans = {"/bm25": [cut(PACKED["dense"], 20000), plan]}
    assert fetch(server, folder).files["bm25"].read_bytes() == GZ
    assert [headers.get("range") for headers in server.headers("/bm25")] == [None, "bytes=20000-", None]


def test_another_part_than_was_asked_for(server, folder):
    wrong = status(206, GZ[100:], Content_Range=f"bytes 100-{len(GZ) - 1}/{len(GZ)}")
    server.plans = {"/bm25": [cut(GZ, 20000), wrong, whole(GZ)]}
    assert fetch(server, folder).files["bm25"].read_bytes() == GZ
    server.plans = {"/dense": status(206, GZ, Content_Range=f"bytes 0-{len(GZ) - 1}/{len(GZ)}")}
    assert "answered 206" in fetch(server, folder, "dense").failed["dense"]


def test_a_part_that_ends_early(server, folder):
    end = TEXT.index(b"\n", 30000) + 1
    short = status(206, TEXT[20000:end], Content_Range=f"bytes 20000-{end - 1}/{len(TEXT)}", ETag=etag(TEXT))
    server.plans = {"/bm25": [cut(TEXT, 20000), short, whole(TEXT)]}
    assert fetch(server, folder).files["bm25"].read_bytes() == TEXT
    assert [headers.get("range") for headers in server.headers("/bm25")] == [
        None,
        "bytes=20000-",
        f"bytes={end}-",
    ]


@pytest.mark.parametrize("more", [{"ETag": None, "Last_Modified": None}, {"ETag": 'W/"1"', "Last_Modified": None}])
def test_not_resumed_without_a_sure_mark(server, folder, more):
    server.plans = {"/bm25": [cut(GZ, 20000, **more), whole(GZ, **more)]}
    assert fetch(server, folder).files["bm25"].read_bytes() == GZ
    assert not [headers for headers in server.headers("/bm25") if "range" in headers]


def test_resumed_by_date(server, folder):
    server.plans = {"/bm25": [cut(GZ, 20000, ETag='W/"1"'), whole(GZ, ETag='W/"1"')]}
    assert fetch(server, folder).files["bm25"].read_bytes() == GZ
    assert server.headers("/bm25")[1]["if-range"].startswith("Wed, 01 Jan 2020")


def test_nothing_more_to_send(server, folder):
    server.plans = {"/bm25": [cut(GZ, 20000, length=False), whole(GZ)]}
    # the whole file is there, but nobody said how long it is: the server answers 416
    folder.mkdir()
    (folder / ".partial").mkdir()
    part = Partial(folder / ".partial", "bm25", server.url + "/bm25")
    part.start({"ETag": etag(GZ)})
    part.path.write_bytes(GZ)
    server.plans = {"/bm25": whole(GZ)}
    assert fetch(server, folder).files["bm25"].read_bytes() == GZ
    assert [headers.get("range") for headers in server.headers("/bm25")] == [f"bytes={len(GZ)}-"]


def test_more_than_the_server_has(server, folder):
    (folder / ".partial").mkdir(parents=True)
    part = Partial(folder / ".partial", "bm25", server.url + "/bm25")
    part.start({"ETag": etag(GZ)})
    part.path.write_bytes(GZ + b"more")
    server.plans = {"/bm25": whole(GZ)}
    assert fetch(server, folder).files["bm25"].read_bytes() == GZ
    assert [headers.get("range") for headers in server.headers("/bm25")] == [f"bytes={len(GZ) + 4}-", None]


@pytest.mark.parametrize("record", ["{", "[]", '{"url": 3}', None, "other"])
def test_a_partial_file_of_something_else(server, folder, record):
    (folder / ".partial").mkdir(parents=True)
    other = Partial(folder / ".partial", "bm25", server.url + "/else")
    other.start({"ETag": etag(GZ), "Content-Length": str(len(GZ))})
    (folder / ".partial" / "bm25.part").write_bytes(b"x" * 1000)
    if record is None:
        (folder / ".partial" / "bm25.json").unlink()
    elif record != "other":
        (folder / ".partial" / "bm25.json").write_text(record)
    server.plans = {"/bm25": whole(GZ)}
    assert fetch(server, folder).files["bm25"].read_bytes() == GZ
    assert "range" not in server.headers("/bm25")[0]


def test_the_record_holds_no_address(server, folder):
    server.plans = {"/bm25": cut(GZ, 20000)}
    fetched = fetch_runs({"bm25": server.url + "/bm25?key=hidden"}, folder, check=check, tries=1)
    assert "hidden" not in repr(fetched)
    record = (folder / ".partial" / "bm25.json").read_text()
    assert "hidden" not in record
    assert "127.0.0.1" not in record
    assert json.loads(record)["length"] == len(GZ)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(1, len(GZ) - 1), min_size=1, max_size=3, unique=True).map(sorted))
def test_any_breaks(tmp_path_factory, ends):
    def until(end):
        def plan(handler):
            handler.wfile = Short(handler.wfile, end - int(handler.headers.get("Range", "bytes=0-")[6:-1]))
            try:
                whole(GZ)(handler)
            finally:
                handler.close_connection = True

        return plan

    class Short:
        """Lets the head of an answer through, and so many bytes of its body."""

        def __init__(self, file, most):
            self.file, self.most, self.in_body = file, most, False

        def write(self, data):
            self.file.write(data[: self.most] if self.in_body else data)
            self.in_body = self.in_body or data.endswith(b"\r\n\r\n")

        def __getattr__(self, name):
            return getattr(self.file, name)

    folder = tmp_path_factory.mktemp("any")
    with RunServer() as server:
        server.plans = {"/bm25": [*(until(end) for end in ends), whole(GZ)]}
        fetched = fetch_runs({"bm25": server.url + "/bm25"}, folder, check=check, tries=len(ends) + 1)
        assert fetched.failed == {}
        assert fetched.files["bm25"].read_bytes() == GZ
        ranges = [headers.get("range") for headers in server.headers("/bm25")]
    assert ranges == [None, *(f"bytes={end}-" for end in ends)]


# --- what is no run -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "form", [bytes, gzip.compress, bz2.compress, b"\xef\xbb\xbf".__add__], ids=["plain", "gzip", "bzip2", "mark"]
)
def test_a_web_page(server, folder, form):
    server.plans = {"/bm25": whole(form(PAGE))}
    reason = fails(server, folder)
    assert "begins like a web page" in reason
    assert "Is a login needed" in reason
    assert len(server.asked) == 1
    assert left(folder) == []


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "is empty"),
        (gzip.compress(b""), "is empty"),
        (b" \n", "white space"),
        (b"401 0 d1 1\n", "looks like qrels"),
        (b"Not found\n", "expected six columns"),
        (b"PK\x03\x04\0\0\0", "NUL"),
        (b"\x28\xb5\x2f\xfd0000", "packed with zstandard"),
        (text_of("bm25", 10, ["1", "2"]), "no topic of trec-8/adhoc: its topics are '1', '2'"),
        (text_of("bm25", 10, ["401", "999"]), "1 topic of 2 that trec-8/adhoc does not have: '999'"),
        (GZ + b"garbage", "damaged"),
    ],
    ids=range(10),
)
def test_no_run_of_the_collection(server, folder, body, said):
    server.plans = {"/bm25": whole(body)}
    assert said in fails(server, folder)
    assert left(folder) == []


def test_any_topics(tmp_path):
    path = tmp_path / "f"
    path.write_bytes(text_of("bm25", 10, ["7"]))
    assert check_run_file("bm25", path, Collection(name="x", title="mine")) is None
    with pytest.raises(InputError, match=r"the file of run 'bm25' has no topic of mine: its topics are '7'\."):
        check_run_file("bm25", path, Collection(name="x", title="mine", topic_ids=frozenset({"8"})))


def test_a_check_that_refuses(server, folder):
    def refuse(name, path):
        assert path.read_bytes() == PACKED[name]
        if name != "dense":
            raise InputError(f"{name} is not wanted.")

    server.plans = {f"/{name}": whole(PACKED[name]) for name in PACKED}
    fetched = fetch(server, folder, *PACKED, check=refuse)
    assert list(fetched.files) == ["dense"]
    assert fetched.failed["manual"] == "what arrived is not the run and was removed: manual is not wanted."


def test_a_text_that_unpacks_without_end(server, folder, monkeypatch):
    monkeypatch.setattr(run_check, "MOST_UNPACKED", 10**6)
    server.plans = {"/bm25": whole(gzip.compress(b"401 Q0 d 1 1 a\n" * 200_000))}
    assert "unpacks to more than 1,000,000 bytes" in fails(server, folder)
    assert left(folder) == []


@pytest.mark.parametrize("plan", [whole(GZ), chunked(GZ, 40)])
def test_too_large(server, folder, monkeypatch, plan):
    monkeypatch.setattr(transfer, "MOST_BYTES", 20000)
    server.plans = {"/bm25": plan}
    assert "larger than 20,000 bytes" in fails(server, folder)
    assert len(server.asked) == 1
    assert left(folder) == []


# --- servers that refuse, wait, or are not there --------------------------------------------------------------------


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


def nobody():
    """Return a port on which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def count_tries(monkeypatch):
    import requests

    tries, send = [], requests.Session.send

    def counting(self, request, **arguments):
        tries.append(request.url)
        return send(self, request, **arguments)

    monkeypatch.setattr(requests.Session, "send", counting)
    return tries


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


# --- redirects ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_redirects_are_followed(server, other, folder, code):
    server.plans = {"/bm25": status(code, Location="/two"), "/two": status(code, Location=other.url + "/evil.name")}
    other.plans = {"/evil.name": whole(GZ, Content_Disposition='attachment; filename="../../evil"')}
    assert fetch(server, folder).files["bm25"].name == "input.bm25.gz"


def test_a_redirected_file_is_resumed(server, other, folder):
    server.plans = {"/bm25": status(302, Location=other.url + "/x")}
    other.plans = {"/x": [cut(GZ, 20000), whole(GZ)]}
    assert fetch(server, folder).files
    assert other.headers("/x")[1]["range"] == "bytes=20000-"


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


# --- passwords ------------------------------------------------------------------------------------------------------


def trust(monkeypatch, server):
    """Let a server of the tests stand for NIST's."""
    monkeypatch.setattr(servers, "ENVIRONMENT_ORIGINS", {Origin("http", "127.0.0.1", server.port)})
    monkeypatch.setattr(servers, "NETRC_SCHEMES", {"http", "https"})


def set_login(monkeypatch, username=USER, password=SECRET):
    monkeypatch.setenv(servers.USERNAME, username)
    monkeypatch.setenv(servers.PASSWORD, password)


def sent(server):
    return [asked.headers["authorization"] for asked in server.asked if "authorization" in asked.headers]


def netrc_file(tmp_path, text, name=".netrc"):
    path = tmp_path / "home" / name
    path.write_text(text)
    path.chmod(0o600)
    return path


def test_a_password_is_asked_for(server, folder, monkeypatch):
    trust(monkeypatch, server)
    server.plans = {"/bm25": locked(whole(GZ), USER, SECRET)}
    reason = fails(server, folder)
    for word in (servers.USERNAME, servers.PASSWORD, "machine 127.0.0.1 login", ".netrc", "results.html"):
        assert word in reason
    assert len(server.asked) == 1


def test_the_environment_has_it(server, folder, monkeypatch):
    trust(monkeypatch, server)
    set_login(monkeypatch)
    server.plans = {f"/{name}": locked(whole(PACKED[name]), USER, SECRET) for name in PACKED}
    assert len(fetch(server, folder, *PACKED, n_jobs=1).files) == 3
    # sent when it is asked for, from then on straight away
    assert ["authorization" in asked.headers for asked in server.asked] == [False, True, True, True]
    assert set(sent(server)) == {f"Basic {TOKEN}"}


def test_not_sent_to_who_does_not_ask(server, folder, monkeypatch):
    trust(monkeypatch, server)
    set_login(monkeypatch)
    server.plans = {"/bm25": whole(GZ)}
    assert fetch(server, folder).files
    assert not sent(server)


def test_resumed_with_a_password(server, folder, monkeypatch):
    trust(monkeypatch, server)
    set_login(monkeypatch)
    server.plans = {"/bm25": [locked(cut(GZ, 20000), USER, SECRET)] * 2 + [locked(whole(GZ), USER, SECRET)]}
    assert fetch(server, folder).files
    assert server.headers("/bm25")[2]["range"] == "bytes=20000-"


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
    assert servers.USERNAME in reason
    assert len(sent(server)) == 1


def test_what_is_open_arrives_beside_what_is_refused(server, folder, monkeypatch):
    trust(monkeypatch, server)
    set_login(monkeypatch)
    server.plans = {"/bm25": whole(GZ), "/dense": locked(whole(GZ), USER, "other"), "/manual": whole(PACKED["manual"])}
    fetched = fetch(server, folder, "dense", "bm25", "manual", n_jobs=1)
    assert list(fetched.files) == ["bm25", "manual"]
    assert len(sent(server)) == 1


@pytest.mark.parametrize("login", [False, True])
def test_forbidden(server, folder, monkeypatch, login):
    trust(monkeypatch, server)
    set_login(monkeypatch)
    server.plans = {"/bm25": locked(status(403), USER, SECRET) if login else status(403)}
    reason = fails(server, folder)
    assert "(403)" in reason
    assert ("although a user name and password were sent" in reason) == login
    assert "results.html" in reason
    assert len(server.asked) == 1 + login


def test_another_kind_of_login(server, folder, monkeypatch):
    trust(monkeypatch, server)
    set_login(monkeypatch)
    server.plans = {"/bm25": locked(whole(GZ), USER, SECRET, 'Digest realm="x", nonce="1"')}
    assert "not supported" in fails(server, folder)
    assert not sent(server)


def test_only_where_it_belongs(server, folder, monkeypatch, tmp_path):
    set_login(monkeypatch)
    netrc_file(tmp_path, f"machine 127.0.0.1 login {USER} password {SECRET}\n")
    server.plans = {"/bm25": locked(whole(GZ), USER, SECRET)}
    assert "only sent over https" in fails(server, folder)
    assert not sent(server)


def test_who_the_environment_is_for(monkeypatch, tmp_path):
    set_login(monkeypatch)
    assert servers.find_login(Origin("https", "trec.nist.gov", 443)).header() == f"Basic {TOKEN}"
    for scheme, host, port in [
        ("http", "trec.nist.gov", 80),
        ("https", "trec.nist.gov", 8443),
        ("https", "ir.nist.gov", 443),
        ("https", "trec.nist.gov.evil.org", 443),
        ("https", "nist.gov", 443),
    ]:
        assert servers.find_login(Origin(scheme, host, port)) is None


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


def test_a_redirect_that_does_not_ask(server, other, folder, monkeypatch, tmp_path):
    trust(monkeypatch, server)
    set_login(monkeypatch)
    server.plans = {"/bm25": locked(status(302, Location=other.url + "/x"), USER, SECRET)}
    other.plans = {"/x": whole(GZ)}
    assert fetch(server, folder).files
    assert not sent(other)


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


def test_netrc_is_not_used_by_the_library_itself(server, folder, monkeypatch, tmp_path):
    netrc_file(tmp_path, f"machine 127.0.0.1 login {USER} password {SECRET}\n")
    server.plans = {"/bm25": status(302, Location="/x"), "/x": whole(GZ)}
    assert fetch(server, folder).files
    assert not sent(server)


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


def test_netrc_that_is_not_there(server, folder, monkeypatch):
    trust(monkeypatch, server)
    monkeypatch.setenv("NETRC", "/no/such/file")
    server.plans = {"/bm25": locked(whole(GZ), USER, SECRET)}
    assert "NETRC names a file that does not exist" in fails(server, folder)


@pytest.mark.parametrize(("missing", "there"), [("USERNAME", "PASSWORD"), ("PASSWORD", "USERNAME")])
def test_half_of_it(server, folder, monkeypatch, missing, there):
    trust(monkeypatch, server)
    set_login(monkeypatch)
    monkeypatch.setenv(getattr(servers, missing), "")
    server.plans = {"/bm25": locked(whole(GZ), USER, SECRET)}
    reason = fails(server, folder)
    assert f"{getattr(servers, there)} is set but {getattr(servers, missing)} is not" in reason
    assert not sent(server)


@pytest.mark.parametrize("shown", [SECRET, TOKEN, USER])
def test_a_server_that_says_it_aloud(server, folder, monkeypatch, shown):
    trust(monkeypatch, server)
    set_login(monkeypatch)
    server.plans = {"/bm25": locked(whole(f"you sent {shown}\n".encode()), USER, SECRET)}
    assert "***" in fails(server, folder)


def test_a_login_does_not_show():
    login = servers.Login(USER, SECRET)
    assert not secrets_in(f"{login!r} {login} {[login]}")
    assert login.hide(f"a {USER} b {SECRET} c {TOKEN}") == "a *** b *** c ***"


def test_what_is_left_of_the_library_s_errors(server, monkeypatch):
    trust(monkeypatch, server)
    one = transfer.Transfer(timeout=1, tries=1, connections=1)
    address = parse_address(f"http://127.0.0.1:{nobody()}/")
    with pytest.raises(TransferError) as caught:
        one._get(address, {}, servers.Login(USER, SECRET))
    one.close()
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


# --- names ----------------------------------------------------------------------------------------------------------

UNSAFE = ["../../evil", "/evil", "a/b", "a\\b", "..", ".", "", "~root", "a\0b", "a\nb", "a b", "c:x", "é" * 150, "x.gz",
          "x.XZ", "\u202eevil", "\ud800"]  # fmt: skip


@pytest.mark.parametrize("name", UNSAFE)
def test_names_that_are_refused(server, folder, name):
    server.plans = {"/x": whole(GZ)}
    fetched = fetch(server, folder, name, path="/x")
    assert fetched.failed[name].startswith("the name ")
    assert not server.asked
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("name", ["a.b", ".hidden", "-x", "ünïcode", "a.part", "a.json", "CON", "run+1_b", "..."])
def test_names_that_are_not(server, folder, monkeypatch, name):
    server.plans = {"/x": whole(GZ)}
    assert fetch(server, folder, name, path="/x").files == {name: folder / f"input.{name}.gz"}


def test_names_in_upper_and_lower_case(server, folder, monkeypatch):
    server.plans = {"/bm25": whole(GZ), "/BM25": whole(GZ), "/Bm25": whole(GZ)}
    monkeypatch.setattr(download, "_folds_case", lambda folder: True)
    fetched = fetch(server, folder, "bm25", "BM25")
    assert list(fetched.files) == ["bm25"]
    assert "upper from lower case" in fetched.failed["BM25"]
    assert "upper from lower case" in fetch(server, folder, "Bm25").failed["Bm25"]


@pytest.mark.parametrize("path", ["/../../evil", "/%2e%2e/%2e%2e/evil", "/..%5c..%5cevil", "//evil", "/x?name=../evil"])
def test_paths_that_lead_elsewhere(server, folder, path):
    class Any(dict):
        def get(self, path, otherwise):
            return whole(GZ, Content_Disposition='attachment; filename="../../evil"')

    server.plans = Any()
    fetched = fetch_runs({"bm25": server.url + path}, folder, check=check)
    assert fetched.files == {"bm25": folder / "input.bm25.gz"}
    assert [path.name for path in folder.rglob("*")] == ["input.bm25.gz"]


# --- stopping -------------------------------------------------------------------------------------------------------


def test_an_interrupt_in_a_check(server, folder):
    server.plans = {f"/{name}": whole(PACKED[name]) for name in PACKED}

    def interrupt(name, path):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(server, folder, *PACKED, n_jobs=1, check=interrupt)
    assert [path.name for path in folder.iterdir()] == [".partial"]
    assert len(server.asked) <= 2  # a worker may have begun the next one
    before = len(server.headers("/bm25"))
    fetched = fetch(server, folder, *PACKED)
    assert len(fetched.files) == 3
    assert len(server.headers("/bm25")) == before  # it was there already, and only had to be checked


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
    assert [path.name for path in folder.iterdir()] == [".partial"]


def test_a_fault_in_a_check(server, folder):
    server.plans = {"/bm25": whole(GZ)}

    def faulty(name, path):
        raise ZeroDivisionError("in the check")

    with pytest.raises(ZeroDivisionError, match="in the check"):
        fetch(server, folder, check=faulty)
    assert [path.name for path in folder.iterdir()] == [".partial"]


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
def test_ctrl_c(server, folder):
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
    assert [path.name for path in folder.iterdir()] == [".partial"]
    assert left(folder) == ["bm25.json", "bm25.part", "dense.json", "dense.part"]  # the third was not begun
    with pytest.raises(InputError, match="no files"):
        read_runs(folder)
    server.plans = {f"/{name}": whole(PACKED[name]) for name in PACKED}
    assert len(fetch(server, folder, *PACKED).files) == 3
    assert "range" in server.headers("/bm25")[1]


def size(folder, name):
    # what the other process has written, its own buffer apart
    path = folder / ".partial" / f"{name}.part"
    return path.stat().st_size if path.exists() else 0


@pytest.mark.skipif(not hasattr(urllib3.response.HTTPResponse, "shutdown"), reason="urllib3 cannot do it before 2.3")
def test_closing_wakes_who_waits(server, folder):
    gate = threading.Event()
    server.plans = {"/bm25": paused(GZ, gate, 30000)}
    (folder / ".partial").mkdir(parents=True)
    one = transfer.Transfer(timeout=600, tries=3, connections=1)
    part, ended = Partial(folder / ".partial", "bm25", server.url + "/bm25"), []

    def run():
        with pytest.raises(transfer.StoppedError):
            one.fetch(server.url + "/bm25", part, lambda path: "")
        ended.append(True)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    while part.size() < 16384:
        time.sleep(0.01)
    one.close()
    thread.join(30)
    gate.set()
    assert ended == [True]


# --- the call -------------------------------------------------------------------------------------------------------


def test_two_calls_at_once_in_one_folder(server, folder):
    pytest.importorskip("fcntl")
    server.plans = {"/bm25": whole(GZ)}

    def inside(name, path):
        with pytest.raises(InputError, match="another call is downloading into"):
            fetch(server, folder)

    assert fetch(server, folder, check=inside).files


def test_a_folder_that_cannot_be_used():
    with pytest.raises(InputError, match="cannot be used"):
        fetch_runs({}, Path(__file__), check=check)


def test_nothing_is_wanted(folder):
    fetched = fetch_runs({}, str(folder), check=check)
    assert fetched == download.Fetched(files={}, failed={})


def test_a_bar(server, folder, capsys):
    server.plans = {f"/{name}": whole(PACKED[name]) for name in PACKED}
    fetch(server, folder, *PACKED, verbose=True)
    shown = capsys.readouterr().err
    assert "downloading runs" in shown
    assert "3/3" in shown
    folder2 = folder / "quiet"
    fetch(server, folder2, *PACKED)
    assert capsys.readouterr().err == ""
    import shutil

    shutil.rmtree(folder2)


def test_a_full_disk(server, folder, monkeypatch):
    def full(self, headers):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Partial, "start", full)
    server.plans = {"/bm25": whole(GZ)}
    assert fails(server, folder) == "it cannot be stored: No space left on device."
