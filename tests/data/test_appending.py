"""Reading more runs within memory: what a store has is not read again, and the field is that of all files."""

from __future__ import annotations

import gzip
import json
import random

import pytest
from store_parts import assert_same_field, in_pieces, outcome

from pt_reuse._choices import ORDERS
from pt_reuse.data import spooling
from pt_reuse.data.store import HEADER

STRICT = {"bad_lines": "error", "duplicates": "error"}
LOOSE = {"bad_lines": "skip", "duplicates": "best", "other_files": "skip"}


def text(name, topics, seed=0, extra=b""):
    chance = random.Random(f"{name}{seed}")
    lines = [
        f"{topic} Q0 d{doc} {i} {chance.randrange(9)} {name}\n"
        for topic in topics
        for i, doc in enumerate(chance.sample(range(50), 10))
    ]
    return "".join(lines).encode() + extra


@pytest.fixture
def source(tmp_path, monkeypatch):
    in_pieces(monkeypatch, chunk=150, rows=25)
    folder = tmp_path / "runs"
    folder.mkdir()
    for name in ("b", "d", "f"):
        (folder / name).write_bytes(text(name, range(1, 7)))
    return folder


@pytest.fixture
def read(source, tmp_path, monkeypatch):
    """Read within memory what reading in memory gives; return the runs, the warnings and how much was parsed."""
    parsed = []
    original = spooling.chunks_of_lines

    def counted(*given):
        for data in original(*given):
            parsed.append(len(data))
            yield data

    monkeypatch.setattr(spooling, "chunks_of_lines", counted)

    def read(**options):
        theirs, error, told = outcome(source, **options)
        parsed.clear()
        ours, our_error, our_told = outcome(source, cache=tmp_path / "cache", memory="64MB", **options)
        n = sum(parsed)
        assert our_error == error
        assert our_told[-len(told) :] == told or not told
        if theirs is not None:
            assert_same_field(ours.field, theirs.field)
            assert ours.names == theirs.names
            assert ours.dropped.equals(theirs.dropped)
            whole, _, _ = outcome(source, cache=tmp_path / "cache", **options)
            assert_same_field(whole.field, theirs.field)
        return ours, our_told[: len(our_told) - len(told)], n

    return read


def layers(tmp_path):
    return json.loads((tmp_path / "cache" / HEADER).read_bytes())["layers"]


@pytest.mark.parametrize("order", ORDERS)
def test_more_runs(order, source, read, tmp_path):
    read(order=order)
    for name in ("a", "e", "z"):
        (source / name).write_bytes(text(name, range(3, 10)))
    (source / "c.gz").write_bytes(gzip.compress(text("c", [20, 2])))
    _, told, n = read(order=order)
    assert told == []
    assert n == sum(len(text(name, range(3, 10))) for name in "aez") + len(text("c", [20, 2]))
    assert [layer["columns"] for layer in layers(tmp_path)] == [[1, 3, 5], [0, 2, 4, 6]]
    assert len(list((tmp_path / "cache").iterdir())) == 4
    _, told, n = read(order=order)
    assert (told, n) == ([], 0)


@pytest.mark.parametrize("order", ORDERS)
def test_a_file_that_has_grown(order, source, read, tmp_path):
    read(order=order, **LOOSE)
    added = text("d", [8, 9], extra=b"bad\n8 Q0 d1 20 99 d longer\n")
    with (source / "d").open("ab") as file:
        file.write(added)
    (source / "a").write_bytes(text("a", [4]))
    _, told, n = read(order=order, **LOOSE)
    assert told == []
    assert n == len(added) + len(text("a", [4]))
    assert [layer["columns"] for layer in layers(tmp_path)] == [[1, 2, 3], [0, 2]]
    with (source / "d").open("ab") as file:
        file.write(text("d", [10]))
    _, told, n = read(order=order, **LOOSE)
    assert n == len(text("d", [10]))
    assert len(layers(tmp_path)) == 3


def append(source, data):
    with (source / "d").open("ab") as file:
        file.write(data)


CHANGES = {
    "an old topic goes on": lambda source: append(source, b"1 Q0 new 99 0 d\n"),
    "another tag": lambda source: append(source, b"77 Q0 new 99 0 other\n"),
    "a comment": lambda source: append(source, b"# nothing\n"),
    "a changed line": lambda source: (source / "d").write_bytes(text("d", range(1, 7), seed=5) + b"77 Q0 a 1 1 d\n"),
    "shorter": lambda source: (source / "d").write_bytes(text("d", range(1, 3))),
    "missing": lambda source: (source / "d").unlink(),
    "packed": lambda source: (source / "d").write_bytes(gzip.compress(text("d", range(1, 9)))),
}


@pytest.mark.parametrize("change", CHANGES)
def test_anything_else_is_read_anew(change, source, read, messages, tmp_path):
    options = {"names": "file"} if change == "another tag" else {}
    read(**options)
    CHANGES[change](source)
    (source / "a").write_bytes(text("a", [4]))
    _, told, n = read(**options)
    if change == "another tag":
        assert told == []
        assert len(layers(tmp_path)) == 2
        return
    for text_ in told:
        messages.told(text_)
    assert len(told) == 1
    if change != "packed":
        assert n >= sum(path.stat().st_size for path in source.iterdir())
    assert len(layers(tmp_path)) == 1


def test_another_tag_at_the_end_of_a_file_is_the_error_that_it_is(source, read):
    read()
    with (source / "d").open("ab") as file:
        file.write(b"77 Q0 new 99 0 other\n")
    assert read()[0] is None


FAULTS = {
    "bad line": b"1 Q0 a 1\n",
    "twin": text("b", [3]),
    "twice": text("new", [3]) + b"5 Q0 a 1 1 new\n5 Q0 a 1 0 new\n",
    "no run": b"\n",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_a_new_file(fault, source, read):
    read()
    (source / "c").write_bytes(FAULTS[fault])
    (source / "e").write_bytes(text("e", [1, 2]))
    assert read()[0] is None
    (source / "c").unlink()
    _, told, n = read()
    assert (told, n) == ([], 0)  # what was spooled before the fault was told serves


@pytest.mark.parametrize("fault", FAULTS)
def test_a_new_file_left_out(fault, source, read):
    read(**LOOSE)
    (source / "c").write_bytes(FAULTS[fault])
    read(**LOOSE)
    (source / "e").write_bytes(text("e", [1, 2]))
    read(**LOOSE)
