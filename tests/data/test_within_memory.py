"""Reading within memory: the same runs, errors and warnings as reading in memory gives, whatever the files hold."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import random
import subprocess
import sys
import warnings

import numpy as np
import pytest
from store_parts import assert_same_field, in_pieces
from table_parts import COLUMNS, KINDS, pa, put, table_of

from pt_reuse.arrays.open_field import OpenField
from pt_reuse.data.lines import BOM
from pt_reuse.data.run_reading import read_runs
from pt_reuse.data.within_memory import Budget
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


WORDS = [
    b"1",
    b"001",
    b"NA",
    b"nan",
    b"1e5",
    b'"',
    b"#",
    b"#x",
    b"a#b",
    b"\xc3\xa9",
    b"\xe9",
    b"d" * 20,
    b"Q0",
    b"\xff",
]


SCORES = [b"1", b"1.0", b"0.5", b"-0", b"+2", b".5", b"5.", b"1e-3", b"123456789012345678901234567890", b"0"]


NO_SCORES = [b"nan", b"inf", b"-inf", b"1_0", b"0x1", b"1e999", b"a", b"."]


LINES = [b"# comment", b"#", b" \t# six words of a comment here", b"", b" \t ", b"1 2 3", b"\0", b"# \0", b"x" * 1030]


HEADS = [BOM, b"\n", b" ", BOM + BOM, b"\xff\xfe", b"#", b"# ir_metadata.start\n# tag: t\n"]


SPACES = [b" "] * 6 + [b"\t", b"  ", b" \t", b"\x0b", b"\x0c", b"\r"]


PACKINGS = {"plain": bytes, "gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress}


UNPACKINGS = {"plain": bytes, "gzip": gzip.decompress, "bzip2": bz2.decompress, "xz": lzma.decompress}


def run_text(chance):
    """Return a good run file, odd here and there."""
    tag, end, space = chance.choice(WORDS[:4]), chance.choice([b"\n", b"\n", b"\r\n"]), chance.choice(SPACES)
    topics = [chance.choice(WORDS) for _ in range(chance.randint(1, 3))]
    lines = []
    for i in range(chance.randint(1, 14)):
        docno = b"d%d" % i if chance.random() < 0.9 else chance.choice(WORDS)
        score = b"%.3f" % chance.uniform(-9, 9) if chance.random() < 0.8 else chance.choice(SCORES)
        cells = [chance.choice(topics), b"Q0", docno, b"%d" % (i + 1), score, tag]
        cells += chance.choices(WORDS, k=chance.randint(1, 4)) if chance.random() < 0.1 else []
        lines.append((space if chance.random() < 0.9 else chance.choice(SPACES)).join(cells))
    return end.join(lines) + (end if chance.random() < 0.7 else b"")


def mutated(chance):
    """Return a run file to which up to four things happened."""
    data = run_text(chance)
    for _ in range(chance.choice([0, 1, 1, 1, 2, 3, 4])):
        lines, at, place = data.split(b"\n"), 0, chance.randint(0, len(data))
        at = chance.randrange(len(lines))
        cells = lines[at].split()
        how = chance.choice(
            [
                "line",
                "cell",
                "score",
                "less",
                "more",
                "swap",
                "double",
                "long",
                "flip",
                "delete",
                "insert",
                "cut",
                "head",
            ]
        )
        if how == "line":
            lines.insert(at, chance.choice(LINES))
        elif how == "double":
            lines.insert(chance.randint(0, len(lines)), lines[at])
        elif how == "swap":
            lines[at], lines[0] = lines[0], lines[at]
        elif cells and how in ("cell", "score", "less", "more", "long"):
            column = {"score": 4, "cell": chance.randrange(len(cells)), "long": chance.choice([0, 2])}.get(how, 0)
            if how == "less":
                del cells[chance.randrange(len(cells)) :]
            elif how == "more":
                cells.insert(chance.randint(0, len(cells)), chance.choice(WORDS))
            elif column < len(cells):
                cells[column] = {"score": chance.choice(NO_SCORES), "long": b"n" * chance.choice([65, 1024, 1025])}.get(
                    how, chance.choice(WORDS + SCORES)
                )
            lines[at] = chance.choice(SPACES).join(cells)
        data = b"\n".join(lines)
        if how == "flip" and place < len(data):
            data = data[:place] + bytes([data[place] ^ 1 << chance.randrange(8)]) + data[place + 1 :]
        elif how == "delete":
            data = data[:place] + data[place + chance.randint(1, 8) :]
        elif how == "insert":
            data = data[:place] + chance.randbytes(chance.randint(1, 4)) + data[place:]
        elif how == "cut":
            data = data[:place]
        elif how == "head":
            data = chance.choice(HEADS) + data
    return data


def packed(chance, data):
    """Return (file, text): the text packed in some way, damaged now and then; no text where it cannot be unpacked."""
    kind = chance.choice(["plain", "plain", "gzip", "bzip2", "xz"])
    raw = PACKINGS[kind](data)
    if kind != "plain" and chance.random() < 0.1:
        place = chance.randrange(10, len(raw))
        raw = raw[:place] if chance.random() < 0.5 else raw[:place] + bytes([raw[place] ^ 16]) + raw[place + 1 :]
        try:
            data = UNPACKINGS[kind](raw)
        except Exception:
            return raw, None
    return raw, data


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


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("ranks", RANKS)
def test_scattered_topics(ranks, order, source, cache, monkeypatch):
    in_pieces(monkeypatch, chunk=200)
    for seed in range(4):
        data = scattered(seed, rank=RANKS[ranks], text=seed == 3)
        (source / f"{seed}").write_bytes(gzip.compress(data) if seed == 2 else data)
    runs = assert_same(source, cache, order=order)
    assert runs is None or len(runs.field.parts) > 3


WAYS = {
    "strict": {},
    "best": {"duplicates": "best"},
    "skip": {"bad_lines": "skip"},
    "skip all": {"bad_lines": "skip", "other_files": "skip", "duplicates": "best"},
    "skip all by rank": {"bad_lines": "skip", "other_files": "skip", "duplicates": "best", "order": "rank"},
    "by rank": {"order": "rank"},
    "file, by its names": {"order": "file", "names": "file", "other_files": "skip"},
}


@pytest.mark.parametrize("way", WAYS)
def test_mutated_files(way, tmp_path, monkeypatch):
    chance = random.Random(way)
    read = 0
    for trial in range(25):
        folder = tmp_path / f"{trial}"
        folder.mkdir()
        for seed in range(chance.choice([1, 1, 2, 3])):
            raw, _ = packed(chance, mutated(chance))
            (folder / f"{seed}").write_bytes(raw)
        chunk, rows = chance.choice([1, 30, 200, 10_000]), chance.choice([1, 7, 1000])
        in_pieces(monkeypatch, chunk=chunk, rows=rows)
        exactly = chunk == rows * 10  # one chunk and one block
        read += assert_same(folder, tmp_path / f"cache{trial}", exactly=exactly, **WAYS[way]) is not None
    assert read


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
@pytest.mark.parametrize("way", ["strict", "skip all"])
def test_tables_and_files(way, order, tmp_path, monkeypatch):
    in_pieces(monkeypatch)
    chance, read = random.Random(f"{way}{order}"), 0
    for trial in range(10):
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
        options = {**WAYS[way], "order": order}
        read += assert_same(folder, tmp_path / f"cache{trial}", **options) is not None
    assert read


FAULTS = {
    "a rank twice": [("1", "a", 3.0, 1), ("2", "a", 3.0, 1), ("2", "b", 2.0, 3), ("2", "c", 1.0, 3)],
    "a document twice": [("1", "a", 3.0, 1), ("2", "a", 3.0, 1), ("2", "b", 2.0, 2), ("2", "b", 1.0, 3)],
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("text", [True, False])
def test_the_line_or_row_of_a_fault(text, fault, source, cache, monkeypatch):
    in_pieces(monkeypatch, chunk=30, rows=2)
    for name in "ab":
        rows = [(*row, name) for row in FAULTS[fault]]
        if text:
            lines = [f"{qid} Q0 {docno} {rank} {score} {name}\n" for qid, docno, score, rank, name in rows]
            (source / name).write_text("".join(lines))
        else:
            put_rows(source / name, rows, random.Random(1))
    assert assert_same(source, cache, exactly=True, order="rank") is None


def test_a_file_with_several_runs_of_one_rank_counts_once(source, cache):
    for name in "xy":
        rows = [("1", docno, 1.0, 1, f"{name}{run}") for run in "abc" for docno in ("d1", "d2")]
        put_rows(source / name, rows, random.Random(1))
    assert assert_same(source, cache, exactly=True, order="rank") is None


def test_a_run_without_ranks_beside_one_with(source, cache, monkeypatch):
    in_pieces(monkeypatch)
    rows = [("1", "d1", 1.0, 2, "a"), ("1", "d2", 3.0, 1, "a"), ("2", "d1", 1.0, 1, "a")]
    chance = random.Random(1)
    put_rows(source / "ranked", rows, chance)
    put_rows(source / "bare", [(*row[:4], "b") for row in rows[:2]], chance, ("qid", "docno", "score", "name"))
    (source / "text").write_text("2 Q0 d1 1 1 c\n")
    runs = assert_same(source, cache, order="file")
    assert runs.names == ["b", "a", "c"]
    assert runs.field.ranked.tolist() == [False, True, True]


@pytest.mark.parametrize("cut", [0, 9])
def test_a_table_in_a_packed_file(cut, source, cache):
    path = put_rows(source / "t", [("1", "d1", 1.0, 1, "a")], random.Random(1), kind="parquet")
    packed_bytes = gzip.compress(path.read_bytes())
    (source / "t.gz").write_bytes(packed_bytes[: len(packed_bytes) - cut])
    assert assert_same(source, cache, exactly=True, other_files="skip") is None


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_tables(kind, source, tmp_path):
    chance = random.Random(kind)
    path = put_rows(source / "t", any_rows(random.Random(5), 0), chance, kind=kind)
    data = path.read_bytes()
    for trial in range(15):
        cut = chance.randrange(8, len(data))
        path.write_bytes(data[:cut] + (b"" if chance.random() < 0.5 else bytes([data[cut] ^ 255]) + data[cut + 1 :]))
        assert_same(path, tmp_path / f"cache{trial}", exactly=True, duplicates="best")


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_group_that_is_too_large(kind, source, cache, monkeypatch):
    rows = [(topic, f"d{i}", float(i % 4), i, name) for topic in "12" for i in range(500) for name in "ab"]
    path = put(source / "t", table_of(rows), kind=kind)
    monkeypatch.setattr(Budget, "usable", 60_000)
    what = "row group" if kind == "parquet" else "record batch"
    with pytest.raises(InputError, match=f"{what} 1: 2,000 rows of .*kB are read at once: this takes about .*B, and"):
        read_runs(path, cache=cache, memory="64MB")


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


def large_table(path, topics, runs, docs):
    chance = np.random.default_rng(1)
    numbers = np.concatenate([chance.permutation(20_000)[:docs] for _ in range(topics * runs)])
    columns = {
        "qid": pa.array(np.repeat(np.tile(np.arange(topics), runs), docs)).cast(pa.string()),
        "docno": pa.array([f"clueweb12-{number}" for number in numbers.tolist()]),
        "score": pa.array(-np.tile(np.arange(docs), topics * runs).astype(np.float64)),
        "rank": pa.array(np.tile(np.arange(docs), topics * runs)),
        "name": pa.array(np.repeat(np.arange(runs), topics * docs)).cast(pa.string()),
    }
    put(path / "table", pa.table(columns), rows=100_000)
    put(path.parent / "small", pa.table(columns).slice(0, 10))


def large_texts(path, topics, runs, docs):
    chance = np.random.default_rng(1)
    for r in range(runs):
        with (path / f"{r}").open("wb") as file:
            for t in range(topics):
                names = (chance.permutation(20_000)[:docs] + 10**7 * t).tolist()
                file.writelines(b"%d Q0 clueweb12-%d %d %d run%d\n" % (t, d, i, -i, r) for i, d in enumerate(names))
    (path.parent / "small").write_bytes(b"1 Q0 d 1 1 r\n")


@pytest.mark.skipif(sys.platform != "linux", reason="the system counts memory otherwise")
@pytest.mark.parametrize("put_large", [large_texts, large_table])
def test_memory_is_kept_to(put_large, tmp_path):
    (tmp_path / "large").mkdir()
    put_large(tmp_path / "large", topics=60, runs=15, docs=2000)
    arguments = [str(tmp_path / "small"), str(tmp_path / "large"), str(tmp_path / "cache")]
    command = [sys.executable, "-W", "ignore", "-c", MEASURED, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    peak, rows = json.loads(done.stdout)
    assert rows == 60 * 15 * 2000
    assert peak <= 64 * 10**6
    assert rows * 100 > 2 * 64 * 10**6  # what coding all of it at once takes, at the least
