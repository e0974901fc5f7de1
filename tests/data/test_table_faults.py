"""Tables that are no runs, or only in part: what is told, and what is left out."""

from __future__ import annotations

import sys

import pandas as pd
import pytest
from table_parts import KINDS, pa, put, table_of

from pt_reuse.data.run_reading import read_runs
from pt_reuse.data.run_set import RunSet

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


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", ["string", "dictionary"])
@pytest.mark.parametrize("fault", BAD)
def test_a_bad_row(fault, text, kind, messages, tmp_path):
    rows = [GOOD, ("2", "d1", 1.0, 1, "b"), ("2", "d2", 1.0, 2, "b"), BAD[fault], ("2", "d3", 0.5, 3, "b")]
    path = put(tmp_path / "t", table_of(rows, text=text), kind=kind, rows=2)
    part = "row group" if kind == "parquet" else "record batch"
    messages.refused(lambda: read_runs(path), place=f"{{d}}/t, row 4 ({part} 2)")
    read = messages.warned(lambda: read_runs(path, bad_lines="skip"))
    assert read.to_frame()["docno"].tolist() == ["d1", "d2", "d1", "d3"]
    assert read.dropped[["file", "line", "name"]].to_numpy().tolist() == [[str(path), 4, "a"]]


def test_a_bad_rank_matters_for_its_order_alone(messages, tmp_path):
    path = put(tmp_path / "t", table_of([GOOD, ("1", "d2", 9.0, None, "a"), ("1", "d3", 5.0, 0, "a")]))
    assert read_runs(path)["a"]["docno"].tolist() == ["d2", "d3", "d1"]
    messages.refused(lambda: read_runs(path).reorder("rank"))
    messages.refused(lambda: read_runs(path, order="rank"), place="{d}/t, row 2 (row group 1)")
    read = messages.warned(lambda: read_runs(path, order="rank", bad_lines="skip"))
    assert read["a"]["docno"].tolist() == ["d3", "d1"]


def test_two_documents_of_one_rank(messages, tmp_path):
    path = put(tmp_path / "t", table_of([GOOD, ("2", "d2", 9.0, 1, "a"), ("1", "d3", 5.0, 1, "a")]), rows=2)
    messages.refused(lambda: read_runs(path, order="rank"), place="{d}/t, row 3 (row group 2)")
    messages.refused(lambda: read_runs(path, order="rank", bad_lines="skip"))


@pytest.mark.parametrize("name", [None, "", "a\0b"])
def test_a_row_of_no_run(name, messages, tmp_path):
    path = put(tmp_path / "t", table_of([GOOD, ("1", "d2", 1.0, 2, name)]), rows=1)
    for options in ({}, {"bad_lines": "skip", "other_files": "skip"}):
        messages.refused(lambda options=options: read_runs(path, **options), place="{d}/t, row 2 (row group 2)")


def test_a_run_of_bad_rows_alone(messages, tmp_path):
    path = put(tmp_path / "t", table_of([GOOD, ("1", "d2", None, 2, "b")]))
    messages.refused(lambda: read_runs(path, bad_lines="skip"), place="{d}/t, row 2 (row group 1)")


NO_RUNS = {
    "no score": pa.table({"qid": ["1"], "docno": ["d"], "points": [1.0]}),
    "two scores": pa.Table.from_arrays(
        [pa.array(["1"])] * 2 + [pa.array([1.0])] * 2, ["qid", "docno", "score", "score"]
    ),
    "scores in text": pa.table({"qid": ["1"], "docno": ["d"], "score": ["1.0"]}),
    "decimals": pa.table({"qid": ["1"], "docno": ["d"], "score": pa.array([1]).cast(pa.decimal128(30, 2))}),
    "flags": pa.table({"qid": ["1"], "docno": ["d"], "score": [True]}),
    "topics of fractions": pa.table({"qid": [1.0], "docno": ["d"], "score": [1.0]}),
    "lists of documents": pa.table({"qid": ["1"], "docno": [["d"]], "score": [1.0]}),
    "no rows": pa.table(
        {"qid": pa.array([], pa.string()), "docno": pa.array([], pa.string()), "score": pa.array([], pa.float64())}
    ),
    "bad rows alone": pa.table({"qid": ["1", "2"], "docno": ["d", "e"], "score": [float("nan"), None]}),
    "empty dictionaries": pa.table(
        {"qid": pa.array([None], pa.dictionary(pa.int8(), pa.string())), "docno": ["d"], "score": [1.0]}
    ),
}


@pytest.mark.parametrize("what", NO_RUNS)
@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_a_table_without_a_run(what, kind, messages, tmp_path):
    (tmp_path / "r").write_text("1 Q0 d 1 2 r\n")
    put(tmp_path / "t", NO_RUNS[what], kind=kind)
    messages.refused(lambda: read_runs(tmp_path))
    messages.refused(lambda: read_runs(tmp_path, bad_lines="skip"))
    read = messages.warned(lambda: read_runs(tmp_path, other_files="skip"))
    assert read.names == ["r"]
    assert read.dropped["file"].tolist() == [str(tmp_path / "t")]
    messages.refused(lambda: read_runs(tmp_path / "t", other_files="skip"))


@pytest.mark.parametrize("kind", KINDS)
def test_a_document_twice(kind, messages, tmp_path):
    rows = [
        GOOD,
        ("2", "d1", 1.0, 1, "b"),
        ("1", "d2", 3.0, 2, "a"),
        ("2", "d1", 4.0, 9, "b"),
        ("1", "d2", 1.0, 3, "a"),
    ]
    path = put(tmp_path / "t", table_of(rows), kind=kind, rows=2)
    messages.refused(lambda: read_runs(path))
    read = messages.warned(lambda: read_runs(path, duplicates="best"))
    assert read.to_frame()[["name", "qid", "docno", "score"]].to_numpy().tolist() == [
        ["a", "1", "d2", 3.0],
        ["a", "1", "d1", 2.0],
        ["b", "2", "d1", 4.0],
    ]
    assert read.dropped[["line", "name", "qid", "docno"]].to_numpy().tolist() == [
        [2, "b", "2", "d1"],
        [5, "a", "1", "d2"],
    ]


def test_runs_of_one_name(messages, tmp_path):
    put(tmp_path / "t", table_of([GOOD, (*GOOD[:4], "b"), (*GOOD[:4], "c")]))
    put(tmp_path / "u.arrow", table_of([(*GOOD[:4], "b"), (*GOOD[:4], "c")]), kind="arrow")
    (tmp_path / "input.a").write_text("1 Q0 d 1 2 a\n")
    messages.refused(lambda: read_runs(tmp_path))
    messages.refused(lambda: read_runs([tmp_path / "input.a", tmp_path / "t"], names="file"))


def test_a_text_that_would_be_taken_for_a_table_is_guarded(tmp_path):
    runs = RunSet.from_frames({"a": pd.DataFrame({"qid": ["PAR1\x15"], "docno": ["d"], "score": [1.0]})})
    paths = runs.write(tmp_path, compress=False)
    assert read_runs(paths).to_frame().equals(runs.to_frame())


def test_pyarrow_is_missing(messages, tmp_path, monkeypatch):
    put(tmp_path / "t", table_of([GOOD]))
    put(tmp_path / "u", table_of([GOOD]), kind="arrow")
    runs = read_runs(tmp_path / "t")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    messages.refused(lambda: read_runs(tmp_path / "t"))
    messages.refused(lambda: read_runs(tmp_path / "u"))
    messages.refused(lambda: runs.write_table(tmp_path / "new.parquet"))
    assert not (tmp_path / "new.parquet").exists()


@pytest.fixture
def runs():
    return RunSet.from_frames({"a": pd.DataFrame({"qid": ["1"], "docno": ["d"], "score": [1.0]})})


def test_a_file_that_is_there(runs, messages, tmp_path):
    path = runs.write_table(tmp_path / "r.parquet")
    before = path.read_bytes()
    messages.refused(lambda: runs.write_table(path), argument="path")
    assert runs.write_table(path, overwrite=True).read_bytes() == before
    messages.refused(lambda: runs.write_table(5), argument=None)
    (tmp_path / "folder.arrow").mkdir()
    messages.refused(lambda: runs.write_table(tmp_path / "folder.arrow", overwrite=True), argument="path")


def test_names_that_are_no_utf_8(messages, tmp_path):
    for i, line in enumerate([b"1 Q0 d\xff 1 2 a\n", b"\xff Q0 d 1 2 a\n", b"1 Q0 d 1 2 \xff\n"]):
        (tmp_path / f"r{i}").write_bytes(line)
        runs = read_runs(tmp_path / f"r{i}")
        messages.refused(lambda runs=runs: runs.write_table(tmp_path / "new" / "t.parquet"))
    assert not any((tmp_path / "new").glob("*"))


def test_bytes_that_are_no_utf_8_are_read(tmp_path):
    types = {"qid": pa.binary(), "docno": pa.binary(), "name": pa.binary()}
    path = put(tmp_path / "t", table_of([(b"1", b"d\xff", 1.0, 1, b"a\xe9")], types=types))
    assert read_runs(path).names == ["a\udce9"]
    assert read_runs(path).docnos() == ["d\udcff"]


def test_a_run_without_documents(messages, tmp_path):
    frames = {
        "a": pd.DataFrame({"qid": ["1"], "docno": ["d"], "score": [1.0]}),
        "b": pd.DataFrame({"qid": [], "docno": [], "score": []}),
    }
    runs = RunSet.from_frames(frames)
    messages.refused(lambda: runs.write_table(tmp_path / "t.parquet"))
