"""Runs in Parquet and Arrow files: the same as in run files, and back again bit for bit."""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from table_parts import KINDS, TEXTS, pa, put, table_of

from pt_reuse.data import tables
from pt_reuse.data.packed_files import kind_of_table
from pt_reuse.data.run_set import RunSet, read_runs
from pt_reuse.errors import InputError, ReuseWarning
from pt_reuse.options import ORDERS
from pt_reuse.scoring.scores import score

QUICK = settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
SCORES = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, 1.00000001, 1e300, 5e-324, -3.0]), st.floats(allow_nan=False, allow_infinity=False)
)
WORDS = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12),
    st.sampled_from(["1", "01", "x" * 70, "é" * 512, "a b", "#", "nan", "None"]),
)


@st.composite
def fields(draw, words=WORDS):
    """Draw {run: [(qid, docno, score, rank)]}, topics mixed among each other, ranks that do not tie."""
    topics, docs = (draw(st.lists(words, min_size=1, max_size=n, unique=True)) for n in (3, 8))
    runs = {}
    for name in draw(st.lists(words, min_size=1, max_size=3, unique=True)):
        pairs = draw(st.lists(st.tuples(st.sampled_from(topics), st.sampled_from(docs)), min_size=1, unique=True))
        ranks = draw(st.permutations(range(draw(st.integers(0, 1)), len(pairs) + 1)))
        runs[name] = [(*pair, draw(SCORES), rank) for pair, rank in zip(pairs, ranks, strict=False)]
    return runs


def as_runs(runs, order):
    frames = {
        name: pd.DataFrame(rows, columns=["qid", "docno", "score", "rank"]).astype({"qid": object, "docno": object})
        for name, rows in runs.items()
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReuseWarning)  # twin topics
        return RunSet.from_frames(frames, order=order)


def quiet(source, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReuseWarning)
        return read_runs(source, **options)


@QUICK
@given(
    found=fields(),
    order=st.sampled_from(list(ORDERS)),
    ending=st.sampled_from(["parquet", "arrow", "feather"]),
    rows=st.integers(1, 9),
)
def test_what_is_written_reads_back_bit_for_bit(found, order, ending, rows, tmp_path_factory, monkeypatch):
    monkeypatch.setattr(tables, "_ROWS_AT_ONCE", rows)
    runs = as_runs(found, order)
    path = runs.write_table(tmp_path_factory.mktemp("t") / f"runs.{ending}")
    # in each order that follows from scores alone it is what the runs are in that order
    for other in ORDERS:
        expected = runs if other in ("rank", "file") else runs.reorder(other)
        again = quiet(path, order=other)
        assert again.names == runs.names
        assert again.order == other
        assert same_rows(again, expected)
        again.reorder("rank")
    frame = pd.read_parquet(path) if ending == "parquet" else pd.read_feather(path)
    expected = runs.to_frame()[["qid", "docno", "score", "rank", "name"]]
    place = {topic: t for t, topic in enumerate(runs.topics)}
    rows_of = expected.iloc[np.argsort([place[qid] for qid in expected["qid"]], kind="stable")]
    assert frame.astype(object).to_numpy().tolist() == rows_of.astype(object).to_numpy().tolist()
    assert frame["score"].to_numpy().tobytes() == rows_of["score"].to_numpy().tobytes()


def same_rows(left, right):
    ours, theirs = left.to_frame(), right.to_frame()
    return ours.equals(theirs) and ours["score"].to_numpy().tobytes() == theirs["score"].to_numpy().tobytes()


@QUICK
@given(
    found=fields(),
    order=st.sampled_from(list(ORDERS)),
    kind=st.sampled_from(KINDS),
    text=st.sampled_from(list(TEXTS)),
    rows=st.integers(1, 7),
    ranks=st.sampled_from([pa.int64(), pa.int32(), pa.uint16(), pa.float64()]),
    chance=st.randoms(use_true_random=False),
)
def test_a_table_of_any_kind_gives_the_runs_of_frames(found, order, kind, text, rows, ranks, chance, tmp_path_factory):
    # rows of all runs mixed among each other; those of a run in their order
    mixed = [name for name, lines in found.items() for _ in lines]
    chance.shuffle(mixed)
    left = {name: iter(lines) for name, lines in found.items()}
    lines = [(*next(left[name]), name, "more") for name in mixed]
    columns = ("qid", "docno", "score", "rank", "name", "other")
    path = tmp_path_factory.mktemp("t") / "runs"
    put(path, table_of(lines, columns, text=text, types={"rank": ranks}), kind=kind, rows=rows)
    expected = as_runs({name: found[name] for name in dict.fromkeys(mixed)}, order)
    read = quiet(path, order=order)
    assert read.names == expected.names
    assert same_rows(read, expected)
    for other in ORDERS:
        assert same_rows(read.reorder(other), expected.reorder(other))


def test_the_names_of_runs(tmp_path):
    rows = [("1", "d1", 2.0), ("1", "d2", 1.0)]
    for file in ("input.bm25.parquet", "plain", "x.y.arrow"):
        put(tmp_path / file, table_of(rows, ("qid", "docno", "score")))
    (tmp_path / "input.old").write_text("1 Q0 d1 1 2 tag\n1 Q0 d2 2 1 tag\n")
    several = [(*row, name) for name in "ba" for row in rows]
    put(tmp_path / "z.parquet", table_of(several, ("qid", "docno", "score", "name")))
    runs = read_runs(tmp_path)
    assert runs.names == ["bm25", "tag", "plain", "x.y", "b", "a"]
    assert read_runs(tmp_path, names="file").names == ["bm25", "old", "plain", "x.y", "b", "a"]
    assert len({runs[name].drop(columns="name").to_csv() for name in runs.names}) == 1
    # a rank column is needed for its order alone
    assert runs.field.ranked.tolist() == [False, True, False, False, False, False]


def test_whole_numbers_are_names_as_they_are_written(tmp_path):
    rows = [(1, 10, 2, 7), (1, -3, 1, 7), (301, 10, 5, 8)]
    types = {"qid": pa.int64(), "docno": pa.int32(), "score": pa.int64(), "name": pa.uint8()}
    for kind in KINDS:
        put(tmp_path / "t", table_of(rows, ("qid", "docno", "score", "name"), types=types), kind=kind, rows=2)
        frame = read_runs(tmp_path / "t").to_frame()
        assert frame[["qid", "docno", "score", "name"]].to_numpy().tolist() == [
            ["1", "10", 2.0, "7"],
            ["1", "-3", 1.0, "7"],
            ["301", "10", 5.0, "8"],
        ]


@pytest.fixture
def runs():
    first = pd.DataFrame({"qid": ["2", "2", "10"], "docno": ["d1", "d2", "d1"], "score": [3.0, 2.0, 1.0]})
    second = pd.DataFrame({"qid": ["1", "2"], "docno": ["d9", "d2"], "score": [3.0, 2.0]})
    table = pd.DataFrame(
        {
            "name": ["b", "a", "c"],
            "team": ["x", None, "y"],
            "type": ["neural", "neural", None],
            "pooled": [True, False, None],
            "family": ["f", None, None],
            "year": [1999, 2000, 2001],
            "share": [0.1, None, 1e300],
        }
    )
    frames = {"b": first, "a": second, "c": first}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReuseWarning)  # a run without a team
        return RunSet.from_frames(frames, metadata=table, pool_order="file", pool_depth=7)


@pytest.mark.parametrize("ending", ["parquet", "arrow", "feather"])
def test_what_is_on_record_reads_back(ending, runs, tmp_path):
    path = runs.write_table(tmp_path / "new" / f"runs.{ending}")
    assert list(path.parent.iterdir()) == [path]
    for cache in (None, tmp_path / "cache", tmp_path / "cache"):
        again = read_runs(path, cache=cache)
        pd.testing.assert_frame_equal(again.run_table, runs.run_table)
        assert same_rows(again, runs)
        assert repr(again) == repr(runs)


def test_what_the_user_gives_wins_over_what_a_table_says(runs, tmp_path):
    path = runs.write_table(tmp_path / "runs.parquet")
    other = tmp_path / "input.d"
    other.write_text("2 Q0 d1 1 2 d\n")
    read = read_runs([other, path], teams={"a": "z", "b": "z", "d": "w", "c": "y"}, pool_order="rank", pool_depth=3)
    assert read.names == ["d", "b", "a", "c"]
    assert read.run_table["team"].tolist() == ["w", "z", "z", "y"]
    assert read.run_table["type"].tolist() == [None, "neural", "neural", None]
    assert read.run_table["pooled"].tolist() == [pd.NA, True, False, pd.NA]
    assert (read.pool_order, read.pool_depth) == ("rank", 3)


def test_an_order_that_nobody_chose_is_told(messages, runs, tmp_path):
    path = runs.reorder("file").write_table(tmp_path / "runs.parquet")
    read = messages.warned(lambda: read_runs(path))
    assert read.order == "trec_eval"
    messages.warned(lambda: read_runs(path, order="rank"), times=0)
    # a document that every run has: nothing else is to be told
    messages.warned(lambda: score(path, pd.DataFrame({"qid": ["2"], "docno": ["d2"], "label": [1]}), "AP"))


def test_two_tables_that_say_two_things_of_the_pool(messages, runs, tmp_path):
    one = runs.select("a").write_table(tmp_path / "a.parquet")
    other = runs.select("b").pooled_as(type(runs.how_pooled)("rank", 9)).write_table(tmp_path / "b.arrow")
    messages.refused(lambda: read_runs([one, other], pool_depth=5), argument="pool_order")
    messages.refused(lambda: read_runs([one, other], pool_order="file"), argument="pool_depth")
    assert read_runs([one, other], pool_depth=5, pool_order="file").pool_depth == 5


def test_notes_of_others_are_left_aside(messages, tmp_path):
    for said in (b"{", b"[]", b"5", b"\xff", b'{"version": 2}', b'["a", "{}"]', b"[" * 100_000):
        table = table_of([("1", "d", 1.0, 1, "a")]).replace_schema_metadata({b"pt_reuse": said})
        read = messages.warned(lambda table=table: read_runs(put(tmp_path / "t", table)))
        assert read.names == ["a"]
        assert read.run_table["team"].tolist() == [None]


# tables that are no runs, or only in part: what is told, and what is left out


GOOD = ("1", "d1", 2.0, 1, "a")
BAD = {
    "no qid": (None, "d", 1.0, 2, "a"),
    "no docno": ("1", None, 1.0, 2, "a"),
    "no score": ("1", "d", None, 2, "a"),
    "an infinite score": ("1", "d", float("inf"), 2, "a"),
    "a score that is no number": ("1", "d", float("nan"), 2, "a"),
    "an empty docno": ("1", "", 1.0, 2, "a"),
    "a NUL byte": ("1\0", "d", 1.0, 2, "a"),
    "a long docno": ("1", "é" * 513, 1.0, 2, "a"),
}


def test_a_bad_row_is_told_as_that_of_a_frame(messages, tmp_path):
    for kind, text in zip(KINDS, ("string", "dictionary"), strict=True):
        for bad in BAD.values():
            rows = [GOOD, ("2", "d1", 1.0, 1, "b"), ("2", "d2", 1.0, 2, "b"), bad, ("2", "d3", 0.5, 3, "b")]
            path = put(tmp_path / "t", table_of(rows, text=text), kind=kind, rows=2)
            for options in ({}, {"bad_lines": "skip", "other_files": "skip"}):
                error = messages.refused(lambda path=path, options=options: read_runs(path, **options))
                assert error.place.startswith(str(path))


def test_a_bad_rank_matters_for_its_order_alone(messages, tmp_path):
    path = put(tmp_path / "t", table_of([GOOD, ("1", "d2", 9.0, None, "a"), ("1", "d3", 5.0, 0, "a")]))
    assert read_runs(path)["a"]["docno"].tolist() == ["d2", "d3", "d1"]
    messages.refused(lambda: read_runs(path).reorder("rank"))
    messages.refused(lambda: read_runs(path, order="rank"), place="{d}/t")
    path = put(tmp_path / "t", table_of([GOOD, ("2", "d2", 9.0, 1, "a"), ("1", "d3", 5.0, 1, "a")]), rows=2)
    error = messages.refused(lambda: read_runs(path, order="rank"), place="{d}/t, run 'a'")
    assert "document 'd3'" in str(error) or "document 'd1'" in str(error)


NO_RUNS = {
    "no score": pa.table({"qid": ["1"], "docno": ["d"], "points": [1.0]}),
    "two scores": pa.Table.from_arrays(
        [pa.array(["1"])] * 2 + [pa.array([1.0])] * 2, ["qid", "docno", "score", "score"]
    ),
    "no rows": pa.table(
        {"qid": pa.array([], pa.string()), "docno": pa.array([], pa.string()), "score": pa.array([], pa.float64())}
    ),
}
#: columns of types that no frame of results has
ODD = {
    "scores in words": pa.table({"qid": ["1"], "docno": ["d"], "score": ["high"]}),
    "topics of fractions": pa.table({"qid": [1.0], "docno": ["d"], "score": [1.0]}),
    "lists of documents": pa.table({"qid": ["1"], "docno": [["d"]], "score": [1.0]}),
    "bytes": pa.table({"qid": ["1"], "docno": [b"\xff"], "score": [1.0]}),
    "empty dictionaries": pa.table(
        {"qid": pa.array([None], pa.dictionary(pa.int8(), pa.string())), "docno": ["d"], "score": [1.0]}
    ),
}


def test_a_table_without_a_run(messages, tmp_path):
    (tmp_path / "r").write_text("1 Q0 d 1 2 r\n")
    for what in NO_RUNS:
        for kind in ("parquet", "arrow"):
            put(tmp_path / "t", NO_RUNS[what], kind=kind)
            messages.refused(lambda: read_runs(tmp_path))
            read = messages.warned(lambda: read_runs(tmp_path, other_files="skip"))
            assert read.names == ["r"]
            assert read.dropped["file"].tolist() == [str(tmp_path / "t")]
            messages.refused(lambda: read_runs(tmp_path / "t", other_files="skip"))
    for what in ODD:
        put(tmp_path / "t", ODD[what])
        messages.refused(lambda: read_runs(tmp_path, other_files="skip"), place=None)


def test_a_document_twice(messages, tmp_path):
    rows = [
        GOOD,
        ("2", "d1", 1.0, 1, "b"),
        ("1", "d2", 3.0, 2, "a"),
        ("2", "d1", 4.0, 9, "b"),
        ("1", "d2", 1.0, 3, "a"),
    ]
    for kind in KINDS:
        path = put(tmp_path / "t", table_of(rows), kind=kind, rows=2)
        messages.refused(lambda path=path: read_runs(path))
        read = messages.warned(lambda path=path: read_runs(path, duplicates="best"))
        assert read.to_frame()[["name", "qid", "docno", "score"]].to_numpy().tolist() == [
            ["a", "1", "d2", 3.0],
            ["a", "1", "d1", 2.0],
            ["b", "2", "d1", 4.0],
        ]
        left = read.dropped
        assert left[["file", "name", "qid", "docno"]].to_numpy().tolist() == [
            [str(path), "a", "1", "d2"],
            [str(path), "b", "2", "d1"],
        ]
        assert left["line"].isna().all()
        assert read.left_out == "2 rows"


def test_pyarrow_is_missing(messages, tmp_path, monkeypatch):
    put(tmp_path / "t", table_of([GOOD]))
    put(tmp_path / "u", table_of([GOOD]), kind="arrow")
    made = read_runs(tmp_path / "t")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    messages.refused(lambda: read_runs(tmp_path / "t"))
    messages.refused(lambda: read_runs(tmp_path / "u"))
    messages.refused(lambda: made.write_table(tmp_path / "new.parquet"))
    assert not (tmp_path / "new.parquet").exists()


def test_names_that_are_no_utf_8(messages, tmp_path):
    for i, line in enumerate([b"1 Q0 d\xff 1 2 a\n", b"\xff Q0 d 1 2 a\n", b"1 Q0 d 1 2 \xff\n"]):
        (tmp_path / f"r{i}").write_bytes(line)
        made = read_runs(tmp_path / f"r{i}")
        messages.refused(lambda made=made: made.write_table(tmp_path / "new" / "t.parquet"))
    assert not any((tmp_path / "new").glob("*"))


# tables that were cut off or altered: refused in words, or read as they are; the process goes on


ROWS = [(str(t), f"d{i}", 1 / (i + 3), i, name) for t in range(3) for name in "ab" for i in range(12)]


def test_parquet_of_ours_never_gives_other_rows(tmp_path):
    frames = {
        name: pd.DataFrame([row[:4] for row in ROWS if row[4] == name], columns=["qid", "docno", "score", "rank"])
        for name in "ab"
    }
    runs = RunSet.from_frames(frames)
    whole = runs.write_table(tmp_path / "whole.parquet").read_bytes()
    rows_end = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    refused = 0
    for at in range(4, rows_end, 11):
        data = bytearray(whole)
        data[at] ^= 1 << (at % 8)
        (tmp_path / "f.parquet").write_bytes(data)
        try:
            assert read_runs(tmp_path / "f.parquet").to_frame().equals(runs.to_frame()), at
        except InputError:
            refused += 1
    # pages have checksums; what is read all the same is an index that nobody asks
    assert refused > 0.5 * len(range(4, rows_end, 11))


def test_a_small_file_of_very_many_rows_is_taken_for_an_attack(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "ANY_UNPACKED", 10**6)
    one = pa.array(np.zeros(60_000, dtype=np.int64))
    table = pa.table({"qid": one, "docno": one, "score": one})
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_file(str(tmp_path / "arrow"), table.schema, options=options) as writer:
        writer.write_table(table)
    for path in (put(tmp_path / "parquet", table, compression="zstd"), tmp_path / "arrow"):
        with pytest.raises(InputError, match=r"unpacks to more than [\d,]+ bytes, from [\d,]+, which is taken"):
            read_runs(path, duplicates="best")


def test_texts_are_no_tables():
    for start in (b"", b"PAR1", b"PAR1 Q0 d 1 2 r", b"PAR1\t\x15", b"ARROW1 Q0", b"ARROW1", b"FEA1\0\0"):
        assert kind_of_table(start) is None
