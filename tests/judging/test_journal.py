"""A journal keeps every record that was acknowledged, drops a torn last line, and refuses what is not its own."""

from __future__ import annotations

import errno
import os
import sys

import pytest

from pt_reuse.errors import InputError, ReuseWarning
from pt_reuse.judging import session as module
from pt_reuse.judging.session import Journal

BELONGS = {"topics": {"1": "a", "2": "b"}, "depth": 10, "teams": ("a", "b")}
RECORDS = [{"n": n, "text": f"é{n}\n"} for n in range(5)]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="locks of POSIX")


def journal(path, kind="session", belongs=BELONGS):
    return Journal(path, kind, belongs, argument="session")


def opened(path, *new):
    """Return what a journal holds, and write more."""
    made = journal(path)
    with made.open() as records:
        made.append(new)
    return records


def refused(path, *given, place=None):
    with pytest.raises(InputError) as caught, journal(path, *given).open():
        pass
    assert caught.value.argument == "session"
    assert place is None or caught.value.place.endswith(place)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "folder" / "labels.jsonl"


@pytest.fixture
def kept(path):
    opened(path, *RECORDS)
    return path


def test_what_is_appended_is_on_the_disk_before_the_call_returns(path, monkeypatch):
    done, made = [], journal(path)
    monkeypatch.setattr(os, "fsync", lambda handle: done.append(os.fstat(handle).st_size))
    with made.open():
        done.clear()
        made.append(RECORDS)
        assert done == [path.stat().st_size]


def test_a_file_torn_anywhere_holds_a_prefix(kept, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    whole = kept.read_bytes()
    ends = [at + 1 for at, byte in enumerate(whole) if byte == ord("\n")]
    for size in range(len(whole)):
        kept.write_bytes(whole[:size])
        expected = max(sum(end <= size for end in ends) - 1, 0)
        assert opened(kept, *RECORDS[expected:]) == RECORDS[:expected]
        assert kept.read_bytes() == whole


def test_a_damaged_last_line_is_dropped_with_a_warning(kept):
    kept.write_bytes(kept.read_bytes()[:-3] + b"x}\n")
    with pytest.warns(ReuseWarning, match="line 6"):
        assert opened(kept) == RECORDS[:4]
    assert opened(kept) == RECORDS[:4]


def test_a_damaged_line_in_the_middle_is_refused(kept):
    for damaged in (kept.read_bytes().replace(b'"n": 2', b'"n": '), kept.read_bytes()[:-3] + b"\0\n{"):
        before = kept.read_bytes()
        kept.write_bytes(damaged)
        refused(kept, place="line 4" if b'"n": ,' in damaged else "line 6")
        assert kept.read_bytes() == damaged
        kept.write_bytes(before)


@pytest.mark.parametrize("text", [b"hello", b"hello\n", b'{"a": 1}\n{"b": 2}\n', b"\0" * 50, b"\n"], ids=range(5))
def test_a_file_of_another_kind_is_refused_and_stays(tmp_path, text):
    (tmp_path / "mine").write_bytes(text)
    refused(tmp_path / "mine")
    assert (tmp_path / "mine").read_bytes() == text


def test_what_cannot_be_written_or_is_of_another_version_is_refused(tmp_path, kept, monkeypatch):
    (tmp_path / "file").write_text("x")
    refused(tmp_path)
    refused(tmp_path / "file" / "x")
    monkeypatch.setattr(module, "FORMAT", 99)
    refused(kept)


def test_there_is_one_writer(kept):
    made = journal(kept)
    with made.open():
        refused(kept)
        made.append(RECORDS[:1])
    assert opened(kept) == [*RECORDS, RECORDS[0]]


def test_what_came_since_it_was_open_is_read_alone(kept):
    made = journal(kept)
    lines = kept.read_bytes().splitlines(keepends=True)
    with made.open() as records:
        assert records == RECORDS
    opened(kept, RECORDS[1])
    with made.open() as records:
        assert records == [RECORDS[1]]
    # one that lost lines is read from the beginning
    kept.write_bytes(b"".join(lines[:3]))
    with made.open() as records:
        assert records == RECORDS[:2]


def test_a_full_disk_or_an_odd_record_leaves_what_was_there(kept, monkeypatch):
    before, write, made = kept.read_bytes(), os.write, journal(kept)

    def full(handle, data):
        if len(data) > 40:
            return write(handle, data[:40])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with made.open():
        monkeypatch.setattr(os, "write", full)
        with pytest.raises(InputError) as caught:
            made.append(RECORDS)
        assert caught.value.argument == "session"
        monkeypatch.undo()
        for odd in ({"a": object()}, {"a": float("nan")}):
            with pytest.raises((TypeError, ValueError)):
                made.append([RECORDS[0], odd])
        assert kept.read_bytes() == before
        made.append(RECORDS[:1])
    assert opened(kept) == [*RECORDS, RECORDS[0]]
