"""Run files as they come: packed, spaced, named and ordered in every way."""

from __future__ import annotations

import bz2
import gzip
import lzma
import random

import numpy as np
import pandas as pd
import pytest
from faults import put
from packing_parts import compressed

from pt_reuse.data.judgments import read_qrels
from pt_reuse.data.run_set import read_runs

RUN = b"401 Q0 d1 1 2.5 bm25\n401 Q0 d2 2 1.5 bm25\n402 Q0 d1 1 3 bm25\n"
OTHER = b"402 Q0 d3 1 0.5 dense\n401 Q0 d2 1 0.25 dense\n"
ROWS = [("401", "d1", 0, 2.5), ("401", "d2", 1, 1.5), ("402", "d1", 0, 3.0)]


def rows(frame):
    return list(frame[["qid", "docno", "rank", "score"]].itertuples(index=False, name=None))


def one(folder, data, **arguments):
    """Read one file of these contents and return the rows of its run."""
    put(folder, {"f": data})
    runs = read_runs(folder / "f", **arguments)
    assert len(runs) == 1
    return rows(runs[runs.names[0]])


def test_by_hand(tmp_path):
    runs = read_runs(put(tmp_path, {"b": OTHER, "a": RUN}))
    assert runs.names == ["bm25", "dense"]  # in the order of the file names
    assert runs.topics == ["401", "402"]
    frame = runs["bm25"]
    assert list(frame.columns) == ["qid", "docno", "rank", "score", "name"]
    assert rows(frame) == ROWS
    assert rows(runs["dense"]) == [("401", "d2", 0, 0.25), ("402", "d3", 0, 0.5)]
    assert set(frame["name"]) == {"bm25"}


PACKED = {
    "plain": lambda data: data,
    "gzip": gzip.compress,
    "gzip in two members": lambda data: gzip.compress(data[:30]) + gzip.compress(data[30:]),
    "bzip2": bz2.compress,
    "bzip2 in two streams": lambda data: bz2.compress(data[:30]) + bz2.compress(data[30:]),
    "xz": lzma.compress,
    "xz in two streams, padded": lambda data: lzma.compress(data[:30]) + bytes(8) + lzma.compress(data[30:]),
    "lz4": lambda data: pytest.importorskip("lz4.frame").compress(data),
    "lz4 in two frames": lambda data: (
        pytest.importorskip("lz4.frame").compress(data[:30]) + pytest.importorskip("lz4.frame").compress(data[30:])
    ),
    "zstandard": lambda data: pytest.importorskip("zstandard").compress(data),
    "zstandard in two frames": lambda data: (
        pytest.importorskip("zstandard").compress(data[:30]) + pytest.importorskip("zstandard").compress(data[30:])
    ),
    "compress": compressed,
}


def test_packed(tmp_path):
    for packing, pack in PACKED.items():
        assert one(tmp_path, pack(RUN)) == ROWS, packing
        # the ending of the name does not matter
        put(tmp_path, {"q.txt": pack(b"401 0 d1 1\n401 0 d2 0\n402 0 d3 -1\n")})
        assert len(read_qrels(tmp_path / "q.txt")) == 3, packing


#: names with bytes that mean something elsewhere, and of every length around that of a word
RAW = [*b'NA 1e5 001 " "quoted" d#1 <a&b> %s \xe9t\xe9 \xc3\xa9 \xff \xc2\xa0 \x85 \x01'.split(b" "), b"\x1c"]
RAW += [b"d" * 1024, b"abcdefg", b"abcdefgh", b"abcdefghi", b"a" * 16, b"b" * 17]


def test_topics_apart_and_in_natural_order(tmp_path):
    data = b"10 Q0 a 1 1 t\n9 Q0 a 1 1 t\nb Q0 a 1 1 t\n10 Q0 b 1 2 t\na Q0 a 1 1 t\n9 Q0 b 1 0 t\n"
    assert one(tmp_path, data) == [
        ("9", "a", 0, 1.0),
        ("9", "b", 1, 0.0),
        ("10", "b", 0, 2.0),
        ("10", "a", 1, 1.0),
        ("a", "a", 0, 1.0),
        ("b", "a", 0, 1.0),
    ]


# ways to name files and runs


def test_folder_pattern_list(tmp_path):
    files = {"x/input.a.gz": gzip.compress(RUN), "x/input.b": OTHER, "x/.hidden": b"no run", "x/deep/c": b"no run"}
    put(tmp_path, files)
    whole = ["bm25", "dense"]
    assert read_runs(tmp_path / "x").names == whole
    assert read_runs(str(tmp_path / "x")).names == whole
    assert read_runs(tmp_path / "x" / "input.*").names == whole
    assert read_runs(str(tmp_path / "**" / "input.*")).names == whole
    assert read_runs(str(tmp_path / "x" / "*.gz")).names == ["bm25"]
    assert read_runs(tmp_path / "x" / "input.b").names == ["dense"]
    assert read_runs([tmp_path / "x" / "input.b", str(tmp_path / "x" / "input.a.gz")]).names == ["dense", "bm25"]
    assert read_runs(path for path in [tmp_path / "x" / "input.b"]).names == ["dense"]
    assert read_runs({tmp_path / "x" / "input.b", tmp_path / "x" / "input.a.gz"}).names == whole  # sorted


def test_names_from_files(tmp_path):
    names = {"input.a.gz": "a", "a.xz": "a", "input.a.b.txt": "a.b.txt", "x.zst": "x", "input.": "input.", ".gz": ".gz"}
    for file, name in names.items():
        put(tmp_path, {file: RUN + OTHER.replace(b"40", b"50")})  # two tags
        assert read_runs([tmp_path / file], names="file").names == [name]


# threads and the bar


def test_threads_change_nothing(tmp_path):
    chance = random.Random(8)
    for i in range(8):
        lines = [
            f"{topic} Q0 d{doc} 0 {chance.choice([1, 2, chance.random()])} run{i}\n"
            for topic in chance.sample(range(20), 15)
            for doc in chance.sample(range(100), chance.randint(1, 60))
        ]
        put(tmp_path, {f"{i:02}": "".join(lines).encode()})
    first = read_runs(tmp_path, n_jobs=1)
    for n_jobs in (None, 2, 16):
        again = read_runs(tmp_path, n_jobs=n_jobs)
        for name in ("vocabulary", "topic_docs", "doc_starts", "starts", "codes", "scores"):
            assert np.array_equal(getattr(first.field, name), getattr(again.field, name))
    pd.testing.assert_frame_equal(first.to_frame(), again.to_frame())


# ranking orders


def test_a_score_beyond_float32(tmp_path):
    data = b"1 Q0 a 1 1e300 t\n1 Q0 b 2 1e299 t\n1 Q0 c 3 1 t\n"
    assert [row[1] for row in one(tmp_path, data)] == ["a", "b", "c"]
    assert [row[1] for row in one(tmp_path, data, order="trec_eval9")] == ["b", "a", "c"]  # both infinite there


def test_topics_that_differ_in_zeros(messages, tmp_path):
    put(tmp_path, {"a": b"001 Q0 d 1 2 t\n1 Q0 d 1 3 t\n"})
    for cache in (None, tmp_path / "c", tmp_path / "c"):  # from the cache too
        runs = messages.warned(read_runs, source=tmp_path / "a", cache=cache)
        assert rows(runs["t"]) == [("001", "d", 0, 2.0), ("1", "d", 0, 3.0)]


# real data
