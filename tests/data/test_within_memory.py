"""Reading within memory: the same runs, errors and warnings as reading in memory gives, whatever the files hold."""

from __future__ import annotations

import gzip
import json
import random
import subprocess
import sys
import warnings

import numpy as np
import pytest
from store_parts import assert_same_field, in_pieces
from table_parts import COLUMNS, KINDS, pa, put, table_of

from pt_reuse.arrays.field import OpenField
from pt_reuse.data.run_set import read_runs
from pt_reuse.errors import InputError, ReuseWarning
from pt_reuse.options import ORDERS


def outcome(source, **options):
    """Return what reading gives: runs, or the parts of the error, and the warnings."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", ReuseWarning)
        try:
            runs, error = read_runs(source, **options), None
        except InputError as raised:
            runs, error = None, (str(raised), [str(fault) for fault in raised.faults], raised.place)
    return runs, error, [str(warning.message) for warning in told]


def assert_same(source, cache, *, exactly=False, **options):
    """Reading within memory gives what reading in memory gives, or as many faults, or the same; return the runs."""
    theirs, error, told = outcome(source, **options)
    ours, our_error, our_told = outcome(source, cache=cache, memory="64MB", **options)
    if exactly:
        assert our_error == error
    assert (our_error and len(our_error[1])) == (error and len(error[1]))
    assert our_told == told
    if theirs is None:
        return None
    assert isinstance(ours.field, OpenField)
    assert_same_field(ours.field, theirs.field)
    assert ours.run_table.equals(theirs.run_table)
    assert ours.dropped.equals(theirs.dropped)
    again, _, told_again = outcome(source, cache=cache, memory="64MB", **options)
    assert told_again == told
    assert_same_field(again.field, theirs.field)
    assert again.dropped.equals(theirs.dropped)
    return ours


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "runs"
    folder.mkdir()
    return folder


def scattered(seed, topics=9, rows=80, rank=None, text=False):
    """Return a run file whose topics are scattered over it."""
    chance = random.Random(seed)
    lines = []
    for topic in range(topics):
        for i, doc in enumerate(chance.sample(range(200), rows // topics)):
            place = i if rank is None else rank(chance, i)
            name = f"d{doc}" if not text else f"{'d' * chance.choice([3, 10, 70])}{doc}"
            lines.append(f"{topic} Q0 {name} {place} {chance.randrange(8) / 4} run{seed}\n")
    chance.shuffle(lines)
    return "".join(lines).encode()


RANKS = {
    "counting": None,
    "one for all": lambda chance, i: 1,
    "by chance": lambda chance, i: chance.randrange(9),
    "fractions": lambda chance, i: f"{i / 3:.3f}",
    "not all numbers": lambda chance, i: chance.choice([i, "x", "01", "-1"]),
}


def test_scattered_topics(tmp_path, monkeypatch):
    in_pieces(monkeypatch, chunk=200)
    for ranks, order in sorted({(name, "rank") for name in RANKS} | {("by chance", order) for order in ORDERS}):
        folder = tmp_path / f"{ranks} {order}"
        folder.mkdir()
        for seed in range(4):
            data = scattered(seed, rank=RANKS[ranks], text=seed == 3)
            (folder / f"{seed}").write_bytes(gzip.compress(data) if seed == 2 else data)
        runs = assert_same(folder, tmp_path / f"cache {ranks} {order}", order=order)
        assert runs is None or len(runs.field.parts) > 3


def put_rows(path, rows, chance, columns=COLUMNS, kind=None):
    chosen = [tuple(row[COLUMNS.index(column)] for column in columns) for row in rows]
    types = {name: kind for name, kind in (("score", pa.float64()), ("rank", pa.int64())) if name in columns}
    table = table_of(chosen, columns, types=types)
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


@pytest.mark.parametrize("order", ORDERS)
def test_tables_and_files(order, tmp_path, monkeypatch):
    in_pieces(monkeypatch)
    chance, read = random.Random(order), 0
    for trial in range(4):
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
        way = {"bad_lines": "skip", "other_files": "skip", "duplicates": "best"} if trial % 2 else {}
        read += assert_same(folder, tmp_path / f"cache{trial}", **way, order=order) is not None
    assert read


#: rows of runs with a fault
FAULTS = {
    "a rank twice": [("1", "a", 3.0, 1), ("2", "a", 3.0, 1), ("2", "b", 2.0, 3), ("2", "c", 1.0, 3)],
    "a document twice": [("1", "a", 3.0, 1), ("2", "a", 3.0, 1), ("2", "b", 2.0, 2), ("2", "b", 1.0, 3)],
}


def test_the_line_or_row_of_a_fault(tmp_path, monkeypatch):
    in_pieces(monkeypatch, chunk=30, rows=2)
    for fault, rows in FAULTS.items():
        for kind in ("text", "table"):
            folder = tmp_path / f"{fault} {kind}"
            folder.mkdir()
            for name in "ab":
                if kind == "text":
                    lines = [f"{qid} Q0 {docno} {rank} {score} {name}\n" for qid, docno, score, rank in rows]
                    (folder / name).write_text("".join(lines))
                else:
                    put_rows(folder / name, [(*row, name) for row in rows], random.Random(1))
            assert assert_same(folder, tmp_path / "cache", exactly=True, order="rank") is None


def test_a_topic_that_is_larger_than_a_block_is_one_of_its_own(source, cache, monkeypatch):
    (source / "a").write_bytes(b"".join(b"%d Q0 d%d 0 1 a\n" % (t, i) for t in (1, 2, 3, 4) for i in range(3 * t)))
    in_pieces(monkeypatch, rows=7)
    monkeypatch.setattr("pt_reuse.data.store.rows_at_once", lambda memory: 7)
    runs = assert_same(source, cache)
    rows = runs.field.lengths.sum(axis=1)
    assert [rows[part.start : part.stop].tolist() for part in runs.field.parts] == [[3], [6], [9], [12]]


def test_blocks_are_found_from_any_folder(tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "run.txt").write_bytes(scattered(1))
    monkeypatch.chdir(tmp_path)
    in_pieces(monkeypatch, rows=20)
    expected = read_runs("run.txt").to_frame()
    made, opened = (read_runs("run.txt", cache="cache", memory="64MB") for _ in range(2))
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert made.to_frame().equals(expected)
    assert opened.to_frame().equals(expected)


MEASURED = """
import json, resource, sys, pt_reuse as ptr
small, large, cache = sys.argv[1:]
ptr.read_runs(small, cache=cache + "0", memory="64MB", duplicates="best")
base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
runs = ptr.read_runs(large, cache=cache, memory="64MB", duplicates="best")
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - base
print(json.dumps([peak * 1024, int(runs.field.lengths.sum())]))
"""


def large_texts(path, topics, runs, docs):
    chance = np.random.default_rng(1)
    for r in range(runs):
        with (path / f"{r}").open("wb") as file:
            for t in range(topics):
                names = (chance.permutation(20_000)[:docs] + 10**7 * t).tolist()
                file.writelines(b"%d Q0 clueweb12-%d %d %d run%d\n" % (t, d, i, -i, r) for i, d in enumerate(names))
    (path.parent / "small").write_bytes(b"1 Q0 d 1 1 r\n")


@pytest.mark.skipif(sys.platform != "linux", reason="the system counts memory otherwise")
def test_memory_is_kept_to(tmp_path):
    (tmp_path / "large").mkdir()
    large_texts(tmp_path / "large", topics=50, runs=12, docs=1700)
    arguments = [str(tmp_path / "small"), str(tmp_path / "large"), str(tmp_path / "cache")]
    command = [sys.executable, "-W", "ignore", "-c", MEASURED, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    peak, rows = json.loads(done.stdout)
    assert rows == 50 * 12 * 1700
    assert peak <= 64 * 10**6
    assert rows * 100 > 1.5 * 64 * 10**6  # what coding all of it at once takes, at the least
