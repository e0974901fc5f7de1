"""Connections that break: what has arrived of a file, and going on from there where it is sure to be the same file."""

from __future__ import annotations

import hashlib
import json

import pytest
from download_parts import (
    GZ,
    PACKED,
    TEXT,
    check,
    fails,
    fetch,
    left,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from run_server import RunServer, always, chunked, cut, etag, reset, status, whole

from pt_reuse.collections.download.partial import Partial
from pt_reuse.collections.download.runs import fetch_runs


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


#: a record with an entity tag that is none
ODD_TAG = '{"url": "URL", "etag": [], "modified": null, "length": 5000000}'
DEEP = "[" * 100_000 + "]" * 100_000
RECORDS = ["{", "[]", '{"url": 3}', None, "other", DEEP, f'{{"url": {DEEP}}}', ODD_TAG, ODD_TAG.replace("[]", DEEP)]


@pytest.mark.parametrize("record", RECORDS, ids=range(len(RECORDS)))
def test_a_partial_file_of_something_else(server, folder, record):
    (folder / ".partial").mkdir(parents=True)
    other = Partial(folder / ".partial", "bm25", server.url + "/else")
    other.start({"ETag": etag(GZ), "Content-Length": str(len(GZ))})
    (folder / ".partial" / "bm25.part").write_bytes(b"x" * 1000)
    if record is None:
        (folder / ".partial" / "bm25.json").unlink()
    elif record != "other":
        url = hashlib.sha256(f"{server.url}/bm25".encode()).hexdigest()
        (folder / ".partial" / "bm25.json").write_text(record.replace("URL", url))
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
