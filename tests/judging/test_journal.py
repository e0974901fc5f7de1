"""A journal keeps every record that was acknowledged, drops a torn last line, and refuses what is not its own."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import threading
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pt_reuse._errors import InputError
from pt_reuse.judging import journal as module
from pt_reuse.judging.journal import Heading, open_journal, read_journal

HEADING = Heading("session", 1, {"field": "abc", "depth": 10, "teams": ("a", "b")})
RECORDS = [{"n": n, "text": f"é{n}\n"} for n in range(5)]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="locks and kills of POSIX")


@pytest.fixture(autouse=True)
def _no_version(messages):
    messages.hidden[module.__version__] = "{version}"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "folder" / "labels.jsonl"


@pytest.fixture
def kept(path):
    """Return a file with five records."""
    with open_journal(path, HEADING) as journal:
        journal.append(*RECORDS)
    return path


def test_records_come_back_in_their_order(path):
    with open_journal(path, HEADING) as journal:
        assert journal.records == []
        journal.append(RECORDS[0])
        journal.append(*RECORDS[1:3])
        journal.append()
    with open_journal(path, HEADING) as journal:
        assert journal.records == RECORDS[:3]
        journal.append(*RECORDS[3:])
    found = read_journal(path)
    assert found.records == RECORDS
    assert (found.heading.kind, found.heading.format) == ("session", 1)
    assert found.heading.belongs == {"field": "abc", "depth": 10, "teams": ["a", "b"]}
    lines = [json.loads(line) for line in path.read_text(encoding="ascii").splitlines()]
    assert [line["record"] for line in lines[1:]] == RECORDS
    assert all(set(line) == {"check", "record"} for line in lines)


def test_what_is_appended_is_on_the_disk_before_the_call_returns(path, monkeypatch):
    done = []
    monkeypatch.setattr(os, "fsync", lambda handle: done.append(os.fstat(handle).st_size))
    with open_journal(path, HEADING) as journal:
        first = journal.mark.end
        assert done[0] == first
        done.clear()
        journal.append(*RECORDS)
        assert done == [path.stat().st_size]
        assert read_journal(path).records == RECORDS


@pytest.mark.parametrize("cut", [1, 2, 20, 60])
def test_a_torn_last_line_is_dropped(kept, cut):
    whole = kept.read_bytes()
    kept.write_bytes(whole[:-cut])
    assert read_journal(kept).records == RECORDS[:4]
    assert len(kept.read_bytes()) == len(whole) - cut, "reading leaves the file as it is"
    with open_journal(kept, HEADING) as journal:
        assert journal.records == RECORDS[:4]
        journal.append(RECORDS[4])
    assert kept.read_bytes() == whole


def test_a_file_torn_anywhere_holds_a_prefix(kept):
    whole = kept.read_bytes()
    ends = [at + 1 for at, byte in enumerate(whole) if byte == ord("\n")]
    for size in range(len(whole)):
        kept.write_bytes(whole[:size])
        expected = max(sum(end <= size for end in ends) - 1, 0)
        with open_journal(kept, HEADING) as journal:
            assert journal.records == RECORDS[:expected]
            journal.append(*RECORDS[expected:])
        assert kept.read_bytes() == whole


def test_a_damaged_last_line_is_dropped_with_a_warning(kept, messages):
    kept.write_bytes(kept.read_bytes()[:-3] + b"x}\n")
    assert messages.warned(lambda: read_journal(kept)).records == RECORDS[:4]
    with messages.warned(lambda: open_journal(kept, HEADING)) as journal:
        assert journal.records == RECORDS[:4]
    assert read_journal(kept).records == RECORDS[:4]


@pytest.mark.parametrize("fault", ["changed", "removed", "swapped", "twice"])
def test_a_damaged_line_in_the_middle_is_told(kept, fault, messages):
    lines = kept.read_bytes().split(b"\n")
    kept.write_bytes(
        b"\n".join(
            {
                "changed": [*lines[:3], lines[3].replace(b'"n": 2', b'"n": 7'), *lines[4:]],
                "removed": [*lines[:3], *lines[4:]],
                "swapped": [*lines[:3], lines[4], lines[3], *lines[5:]],
                "twice": [*lines[:3], lines[2], *lines[3:]],
            }[fault]
        )
    )
    before = kept.read_bytes()
    messages.refused(lambda: read_journal(kept), place="{d}/folder/labels.jsonl, line 4")
    with pytest.raises(InputError, match="line 4"):
        open_journal(kept, HEADING)
    assert kept.read_bytes() == before


@pytest.mark.parametrize(
    "other",
    [
        Heading("session", 1, {"field": "abd", "depth": 10, "teams": ["a", "b"]}),
        Heading("session", 1, {"field": "abc", "depth": 10, "seed": 1}),
        Heading("session", 1, {"a": 1, "b": 1, "c": 1}),
        Heading("session", 2, HEADING.belongs),
        Heading("cache of labels", 1, HEADING.belongs),
    ],
)
def test_what_belongs_to_something_else_is_refused(kept, other, messages):
    before = kept.read_bytes()
    messages.refused(lambda: open_journal(kept, other), argument="path")
    messages.refused(lambda: read_journal(kept, other), argument="path")
    assert kept.read_bytes() == before


@pytest.mark.parametrize("text", [b"hello", b"hello\n", b'{"a": 1}\n{"b": 2}\n', b"\0" * 50, b"\n"], ids=range(5))
def test_a_file_of_another_kind_is_refused_and_stays(tmp_path, text, messages):
    (tmp_path / "mine").write_bytes(text)
    messages.refused(lambda: open_journal(tmp_path / "mine", HEADING), argument="path")
    messages.refused(lambda: read_journal(tmp_path / "mine"), argument="path")
    assert (tmp_path / "mine").read_bytes() == text


def test_what_cannot_be_read_or_written_is_told(tmp_path, messages):
    (tmp_path / "file").write_text("x")
    messages.refused(lambda: read_journal(tmp_path / "missing"), argument="path")
    messages.refused(lambda: read_journal(tmp_path), argument="path")
    messages.refused(lambda: open_journal(tmp_path, HEADING), argument="path")
    messages.refused(lambda: open_journal(tmp_path / "file" / "x", HEADING), argument="path")


def test_a_journal_of_other_lines_is_of_another_version(kept, monkeypatch, messages):
    monkeypatch.setattr(module, "LINES", 2)
    messages.refused(lambda: read_journal(kept), argument="path")


def test_there_is_one_writer(kept, messages):
    with open_journal(kept, HEADING) as journal:
        messages.refused(lambda: open_journal(kept, HEADING), argument="path")
        assert read_journal(kept).records == RECORDS
        code = (
            "import sys; from pathlib import Path; from pt_reuse.judging.journal import Heading, open_journal\n"
            "try: open_journal(Path(sys.argv[1]), Heading('session', 1, {}))\n"
            "except ValueError as error: print('somebody else' in str(error))\n"
        )
        said = subprocess.run([sys.executable, "-c", code, str(kept)], capture_output=True, text=True, check=True)
        assert said.stdout == "True\n"
        journal.append(RECORDS[0])
    with open_journal(kept, HEADING) as again:
        assert again.records == [*RECORDS, RECORDS[0]]
    with pytest.raises(ValueError, match="not open"):
        again.append(RECORDS[0])
    again.close()


def test_a_writer_is_waited_for(kept):
    first = open_journal(kept, HEADING)
    release = threading.Timer(0.05, first.close)
    release.start()
    with open_journal(kept, HEADING, patience=30) as second:
        assert second.records == RECORDS
    release.join()


def test_a_process_that_was_forked_neither_writes_nor_ends_the_lock(kept):
    with open_journal(kept, HEADING) as journal:
        child = os.fork()
        if not child:
            try:
                journal.append(RECORDS[0])
            except ValueError:
                journal.close()
                os._exit(7)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        with pytest.raises(InputError, match="somebody else"):
            open_journal(kept, HEADING)
        journal.append(RECORDS[0])
    assert read_journal(kept).records == [*RECORDS, RECORDS[0]]


def test_what_came_since_a_mark_is_read_alone(kept):
    with open_journal(kept, HEADING) as journal:
        mark = journal.mark
    with open_journal(kept, HEADING, since=mark) as journal:
        assert journal.records == []
        journal.append(RECORDS[1], RECORDS[2])
    with open_journal(kept, HEADING, since=mark) as journal:
        assert journal.records == RECORDS[1:3]
        end = journal.mark
    # another file in its place, or one that lost lines, is read from the beginning
    lines = kept.read_bytes().splitlines(keepends=True)
    kept.write_bytes(b"".join(lines[:3]))
    with open_journal(kept, HEADING, since=end) as journal:
        assert journal.records == RECORDS[:2]
    os.rename(kept, kept.with_name("old"))
    kept.write_bytes(b"".join(lines))
    with open_journal(kept, HEADING, since=end) as journal:
        assert journal.records == [*RECORDS, *RECORDS[1:3]]


def test_a_full_disk_leaves_what_was_there(kept, monkeypatch, messages):
    before, write = kept.read_bytes(), os.write

    def full(handle, data):
        if len(data) > 40:
            return write(handle, data[:40])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with open_journal(kept, HEADING) as journal:
        monkeypatch.setattr(os, "write", full)
        messages.refused(lambda: journal.append(*RECORDS), argument="path")
        monkeypatch.undo()
        assert kept.read_bytes() == before
        journal.append(RECORDS[0])
    assert read_journal(kept).records == [*RECORDS, RECORDS[0]]


def test_a_record_that_json_cannot_hold_writes_nothing(kept):
    with open_journal(kept, HEADING) as journal:
        for odd in ({"a": object()}, {"a": float("nan")}):
            with pytest.raises((TypeError, ValueError)):
                journal.append(RECORDS[0], odd)
    assert read_journal(kept).records == RECORDS


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=40, deadline=None)
@given(records=st.lists(st.dictionaries(st.text(), VALUES, max_size=4), max_size=6), cuts=st.sets(st.integers(0, 6)))
def test_whatever_is_written_comes_back(tmp_path_factory, records, cuts):
    path = tmp_path_factory.mktemp("journal") / "x"
    bounds = [0, *sorted(cut for cut in cuts if cut < len(records)), len(records)]
    for start, stop in pairwise(bounds):
        with open_journal(path, HEADING) as journal:
            journal.append(*records[start:stop])
    assert read_journal(path, HEADING).records == records


def _write_until_killed(path, acknowledged):
    with open_journal(path, HEADING, patience=30) as journal:
        number = len(journal.records)
        while True:
            journal.append({"n": number}, {"n": number + 1, "pad": "x" * 5000})
            number += 2
            os.write(acknowledged, b"..")


def test_no_record_is_lost_when_writers_are_killed(path):
    """Each of 60 writers is killed while it writes; what it said was written is there, in order, none twice."""
    said = 0
    for kill in range(60):
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            try:
                _write_until_killed(path, writing)
            finally:
                os._exit(3)
        os.close(writing)
        # after so many acknowledgements, and in the middle of whatever it does then
        while os.read(reading, 2) and said % 7 != kill % 7:
            said += 2
        os.kill(child, signal.SIGKILL)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
        os.close(reading)
        numbers = [record["n"] for record in read_journal(path).records]
        assert numbers == list(range(len(numbers)))
        assert len(numbers) >= said
        said = len(numbers)
    assert said > 120
