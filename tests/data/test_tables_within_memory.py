"""Tables read within memory: the same runs, errors and warnings as in memory, alone or among run files."""

from __future__ import annotations

import errno
import gzip
import json
import os
import random
import subprocess
import sys
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest
from store_parts import assert_same, assert_same_field, in_pieces, outcome
from table_parts import COLUMNS, KINDS, pa, put, table_of

from pt_reuse._choices import ORDERS
from pt_reuse._errors import InputError
from pt_reuse.data import array_file, spool, spooling, table_labels
from pt_reuse.data.budget import Budget
from pt_reuse.data.run_reading import read_runs
from pt_reuse.data.store import HEADER

TYPES = {"score": pa.float64(), "rank": pa.int64()}


@pytest.fixture(autouse=True)
def pieces(monkeypatch):
    in_pieces(monkeypatch)


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "runs"
    folder.mkdir()
    return folder


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


def put_rows(path, rows, chance, columns=COLUMNS, kind=None):
    chosen = [tuple(row[COLUMNS.index(column)] for column in columns) for row in rows]
    table = table_of(chosen, columns, types={name: kind for name, kind in TYPES.items() if name in columns})
    return put(path, table, kind=kind or chance.choice(KINDS), rows=chance.choice([1, 3, 7, 100]))


def any_rows(chance, file):
    """Return rows of a few runs, mixed among each other; some documents, ranks and scores are odd."""
    odd, rows = chance.random() < 0.3, []
    for i in range(chance.choice([0, 1, 30, 30, 30])):
        doc = f"d{chance.choice([i, i, i, chance.randrange(30)])}{'x' * chance.choice([0, 0, 80])}"
        score = None if odd and chance.random() < 0.1 else float(chance.randrange(6))
        rank = i if chance.random() < 0.98 else chance.randrange(30)
        name = f"r{file if chance.random() < 0.98 else 'z'}{chance.randrange(3)}"
        rows.append((chance.choice(["1", "2", "10", "a\nb"]), doc, score, rank, name))
    return rows


WAYS = {
    "strict": {},
    "by names of files": {"names": "file", "duplicates": "best"},
    "best": {"duplicates": "best", "bad_lines": "skip"},
    "skip all": {"duplicates": "best", "bad_lines": "skip", "other_files": "skip"},
}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("way", WAYS)
def test_tables_and_files(way, order, tmp_path):
    chance, read = random.Random(f"{way}{order}"), 0
    for trial in range(8):
        folder = tmp_path / f"{trial}"
        folder.mkdir()
        for file in range(chance.choice([1, 2, 3])):
            path = folder / f"f{file}"
            if chance.random() < 0.3:
                lines = [f"{chance.randrange(4)} Q0 d{i} {i} {chance.randrange(5)} text{file}\n" for i in range(20)]
                path.write_text("".join(lines))
                continue
            columns = [column for column in COLUMNS if column not in ("rank", "name") or chance.random() < 0.8]
            put_rows(path, any_rows(chance, file), chance, columns)
        read += assert_same(folder, tmp_path / f"cache{trial}", order=order, **WAYS[way]) is not None
    assert read


def test_runs_with_and_without_ranks(source, cache):
    rows = [("1", "d1", 1.0, 2, "a"), ("1", "d2", 3.0, 1, "a"), ("2", "d1", 1.0, 1, "a")]
    chance = random.Random(1)
    put_rows(source / "ranked", rows, chance)
    put_rows(source / "bare", [(*row[:4], "b") for row in rows[:2]], chance, ("qid", "docno", "score", "name"))
    (source / "text").write_text("2 Q0 d1 1 1 c\n")
    runs = assert_same(source, cache, order="file")
    assert runs.names == ["b", "a", "c"]
    assert runs.field.ranked.tolist() == [False, True, True]
    with pytest.raises(ValueError, match="'b' came without a column 'rank'"):
        runs.reorder("rank")
    assert_same_field(read_runs(source, cache=cache, order="file").field, read_runs(source, order="file").field)
    assert read_runs(source, cache=cache, order="file").field.ranked.tolist() == [False, True, True]


def test_what_runs_write(tmp_path, cache, monkeypatch):
    monkeypatch.setattr(table_labels, "_ROWS", 10)
    chance, lines = random.Random(2), []
    for name in ("b", "a", "c"):
        (tmp_path / name).write_text(
            "".join(f"{topic} Q0 d{i} {i} {chance.randrange(9)} {name}\n" for topic in (7, 2, 10) for i in range(6))
        )
        lines.append(tmp_path / name)
    runs = read_runs(lines, pooled=["b", "c"], pool_order="file")
    path = runs.write_table(tmp_path / "runs.parquet")
    again = assert_same(path, cache)
    assert again.names == ["b", "a", "c"]
    assert again.run_table["pooled"].tolist() == [True, False, True]
    assert again.to_frame().equals(runs.to_frame())


def test_a_table_in_a_packed_file(source, cache):
    path = put_rows(source / "t", [("1", "d1", 1.0, 1, "a")], random.Random(1), kind="parquet")
    (source / "t.gz").write_bytes(gzip.compress(path.read_bytes()))
    for other_files in ("error", "skip"):
        assert assert_same(source, cache, other_files=other_files) is None
    (source / "t.gz").write_bytes(gzip.compress(path.read_bytes())[:-9])
    assert assert_same(source, cache) is None


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_tables(kind, source, tmp_path):
    chance = random.Random(kind)
    path = put_rows(source / "t", any_rows(random.Random(5), 0), chance, kind=kind)
    data = path.read_bytes()
    for trial in range(30):
        cut = chance.randrange(8, len(data))
        path.write_bytes(data[:cut] + (b"" if chance.random() < 0.5 else bytes([data[cut] ^ 255]) + data[cut + 1 :]))
        assert_same(path, tmp_path / f"cache{trial}", duplicates="best")


def layers(cache):
    return json.loads((cache / HEADER).read_bytes())["layers"]


def assert_appended(source, cache, **options):
    """Reading more within memory gives what reading all in memory gives; return what is told beyond that."""
    theirs, _, told = outcome(source, **options)
    ours, _, our_told = outcome(source, cache=cache, memory="64MB", **options)
    assert our_told[len(our_told) - len(told) :] == told
    assert ours.names == theirs.names
    assert ours.run_table.equals(theirs.run_table)
    assert ours.dropped.equals(theirs.dropped)
    for runs in (ours, read_runs(source, cache=cache, **options)) if not told else (ours,):
        assert_same_field(runs.field, theirs.field)
    return our_told[: len(our_told) - len(told)]


def rows_of_runs(names, topics, docs=6):
    return [(topic, f"d{i}", float(i % 4), i, name) for topic in topics for i in range(docs) for name in names]


@pytest.mark.parametrize("order", ORDERS)
def test_a_table_is_added_to_a_store(order, source, cache, monkeypatch):
    chance = random.Random(order)
    (source / "m").write_text("1 Q0 d1 1 2 m\n2 Q0 d2 1 2 m\n")
    put_rows(source / "d", rows_of_runs("cae", ["2", "1"]), chance)
    assert assert_appended(source, cache, order=order) == []
    reads, original = [], spooling.spooling_table

    def counted(folder):
        reads.append(folder)
        return original(folder)

    monkeypatch.setattr(spooling, "spooling_table", counted)
    columns = COLUMNS if order == "rank" else ("qid", "docno", "score", "name")
    put_rows(source / "a", rows_of_runs("zb", ["3", "2"]), chance, columns)
    (source / "z").write_text("4 Q0 d1 1 2 last\n")
    assert assert_appended(source, cache, order=order) == []
    assert [layer["columns"] for layer in layers(cache)] == [[2, 3, 4, 5], [0, 1, 6]]
    assert len(reads) == 1
    # a file that has grown makes a layer; tables beside it are not read again
    with (source / "m").open("a") as file:
        file.write("9 Q0 d1 1 2 m\n")
    assert assert_appended(source, cache, order=order) == []
    assert (len(layers(cache)), len(reads)) == (3, 1)


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_that_changes_is_read_anew(kind, source, cache):
    chance = random.Random(kind)
    put_rows(source / "t", rows_of_runs("ab", ["1"]), chance, kind=kind)
    assert_appended(source, cache)
    put_rows(source / "t", rows_of_runs("ab", ["1", "2"]), chance, kind=kind)
    (told,) = assert_appended(source, cache)
    assert "of its run files 1 changed (t)" in told
    assert len(layers(cache)) == 1


def test_what_was_spooled_serves_after_a_fault(source, cache, monkeypatch):
    put_rows(source / "t", rows_of_runs("ab", ["1", "2"]), random.Random(1))
    (source / "x").write_text("bad\n")
    assert assert_same(source, cache) is None
    (source / "x").unlink()
    monkeypatch.setattr(spooling, "spooling_table", None)
    runs = read_runs(source, cache=cache, memory="64MB")
    assert_same_field(runs.field, read_runs(source).field)
    assert {path.name.split("-")[0] for path in cache.iterdir()} == {"arrays", "tables", "pt_reuse"}


@pytest.mark.parametrize("damage", ["rows", "index", "index-000001"])
def test_a_damaged_spool_is_written_anew(damage, source, cache):
    put_rows(source / "t", rows_of_runs("ab", ["1", "2"]), random.Random(1))
    (source / "x").write_text("bad\n")
    assert assert_same(source, cache) is None
    (path,) = cache.glob(f"spools-*/*/{damage}")
    data = bytearray(path.read_bytes())
    data[-70] ^= 1
    path.write_bytes(bytes(data))
    (source / "x").unlink()
    assert assert_same(source, cache) is not None


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_group_that_is_too_large(kind, source, cache, monkeypatch):
    path = put(source / "t", table_of(rows_of_runs("ab", ["1", "2"], docs=500)), kind=kind)
    monkeypatch.setattr(Budget, "usable", 60_000)
    # how many rows an Arrow file has nobody knows before they are read
    what, about = ("row group 1: 2,000 rows of", "") if kind == "parquet" else ("record batch 1:", "at least ")
    with pytest.raises(InputError, match=f"{what} .*kB are read at once: this takes {about}about .*B, and memory is"):
        read_runs(path, cache=cache, memory="64MB")
    with pytest.raises(InputError, match=r"Pass memory='\d.*B', or write the table in smaller parts, as pyarrow"):
        read_runs(path, cache=cache, memory="64MB")


@pytest.mark.parametrize("room", [0, 1_000, 3_000, 7_000, 10_000])
def test_a_full_disk(room, source, cache, monkeypatch):
    put_rows(source / "t", rows_of_runs("abc", ["1", "2", "3"]), random.Random(4))
    left = [room]

    def full(replacing):
        @contextmanager
        def opened(path):
            with replacing(path) as file:

                def write(data):
                    left[0] -= memoryview(data).nbytes
                    if left[0] < 0:
                        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                    return file.write(data)

                yield SimpleNamespace(write=write, tell=file.tell)

        return opened

    with monkeypatch.context() as patched:
        for module in (spool, array_file):
            patched.setattr(module, "replacing", full(module.replacing))
        with pytest.raises(InputError, match=r"the disk of the cache .*cache is full: .* takes about"):
            read_runs(source, cache=cache, memory="64MB")
    assert assert_same(source, cache) is not None
    assert len(list(cache.iterdir())) == 3


def test_runs_of_a_table_are_indexed_in_batches(source, cache, monkeypatch):
    put_rows(source / "t", rows_of_runs("abcdefg", ["1", "2", "3"]), random.Random(3))
    monkeypatch.setattr(spool, "_COST", 10**8)
    assert len(assert_same(source, cache, order="rank").names) == 7


MEASURED = """
import resource, sys, pt_reuse as ptr
small, large, cache, memory = sys.argv[1:]
ptr.read_runs(small, cache=cache + "0", memory=memory, duplicates="best")
base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
runs = ptr.read_runs(large, cache=cache, memory=memory, duplicates="best")
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - base) * 1024, int(runs.field.lengths.sum()))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the system counts memory otherwise")
def test_memory_is_kept_to(tmp_path, source):
    chance, topics, runs, docs = np.random.default_rng(1), 60, 15, 2000
    rows = topics * runs * docs
    numbers = np.concatenate([chance.permutation(20_000)[:docs] for _ in range(topics * runs)])
    table = pa.table(
        {
            "qid": pa.array(np.repeat(np.tile(np.arange(topics), runs), docs)).cast(pa.string()),
            "docno": pa.array([f"clueweb12-{number}" for number in numbers.tolist()]),
            "score": pa.array(-np.tile(np.arange(docs), topics * runs).astype(np.float64)),
            "rank": pa.array(np.tile(np.arange(docs), topics * runs)),
            "name": pa.array(np.repeat(np.arange(runs), topics * docs)).cast(pa.string()),
        }
    )
    put(tmp_path / "large", table, rows=100_000)
    put(source / "small", table.slice(0, 10))
    arguments = [str(source), str(tmp_path / "large"), str(tmp_path / "cache"), "64MB"]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", MEASURED, *arguments], capture_output=True, text=True, check=True
    )
    peak, held = map(int, done.stdout.split())
    assert held == rows
    assert peak <= 64 * 10**6
    assert table.nbytes > 64 * 10**6
