"""Faults of run files, qrels files and the paths to them: with their place."""

from __future__ import annotations

import bz2
import gzip
import lzma
import pickle

import numpy as np
import pandas as pd
import pyterrier as pt
import pytest
from faults import FRAME, LABELS, LONG, OTHER, QRELS, RUN, TWO, put

from pt_reuse.data.judgments import Qrels, read_qrels
from pt_reuse.data.run_set import RunSet, read_runs
from pt_reuse.errors import InputError


def each(cases, check):
    """Check every case, and list those that fail."""
    failed = {}
    for case in cases:
        try:
            check(case)
        except (Exception, pytest.fail.Exception) as error:
            failed[case] = str(error)[:500]
    assert failed == {}


# fault: (contents, place)
FILES = {
    "empty": (b"", "{d}/f"),
    "empty when unpacked": (gzip.compress(b""), "{d}/f"),
    "white space": (b" \r\n\t\n", "{d}/f"),
    "qrels": (QRELS, "{d}/f, line 1"),
    "png": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "{d}/f, line 1"),
    "utf-16": ("1 Q0 d1 1 2.5 bm25\n".encode("utf-16"), "{d}/f, line 1"),
    "duplicate document": (RUN + b"1 Q0 d1 3 0.5 bm25\n", None),
    "two tags": (RUN + OTHER, "{d}/f"),
    "a very long docno": (RUN + b"1 Q0 " + b"d" * 2000 + b" 3 1 bm25\n", "{d}/f, line 3"),
    "carriage returns in a later line": (OTHER + RUN.replace(b"\n", b"\r", 1), "{d}/f, line 3"),
    "truncated gzip": (gzip.compress(LONG)[:-20], "{d}/f"),
    "corrupted bzip2": (bz2.compress(LONG)[:50] + b"\0\0" + bz2.compress(LONG)[52:], "{d}/f"),
    "rubbish behind bzip2": (bz2.compress(LONG) + b"rubbish", "{d}/f"),
    "corrupted xz": (lzma.compress(LONG)[:70] + b"\0\0" + lzma.compress(LONG)[72:], "{d}/f"),
}


def test_run_files(messages, tmp_path):
    def check(fault):
        data, place = FILES[fault]
        put(tmp_path, {"f": data})
        messages.refused(read_runs, source=tmp_path / "f", place=place)

    each(FILES, check)


SOURCES = {
    "missing": lambda d: read_runs(d / "no"),
    "missing in a list": lambda d: read_runs([d / "r/a", d / "no"]),
    "a folder in a list": lambda d: read_runs([d / "r/a", d / "r"]),
    "a pattern that matches a folder": lambda d: read_runs(str(d / "*")),
    "an empty folder": lambda d: read_runs(d / "empty"),
    "a pattern that matches nothing": lambda d: read_runs(d / "r" / "*.gz"),
    "a file twice": lambda d: read_runs([d / "r/a", str(d / "r/a")]),
    "two files with one tag": lambda d: read_runs([d / "r/a", d / "same"]),
    "None": lambda d: read_runs(None),
    "no files": lambda d: read_runs([]),
    "order": lambda d: read_runs(d / "r", order="trec"),
    "n_jobs 0": lambda d: read_runs(d / "r", n_jobs=0),
    "cache is a file": lambda d: read_runs(d / "r", cache=d / "same"),
    "cache holds the runs": lambda d: read_runs(d / "r", cache=d / "r"),
    "cache above the runs": lambda d: read_runs(d / "r", cache=d),
}


def test_sources(messages, tmp_path):
    put(tmp_path, {**TWO, "same": RUN})
    (tmp_path / "empty").mkdir()

    each(SOURCES, lambda fault: messages.refused(lambda: SOURCES[fault](tmp_path)))


def caught(call, *args, **given):
    with pytest.raises(InputError) as error:
        call(*args, **given)
    return error.value


def test_no_permission(messages, tmp_path, monkeypatch):
    put(tmp_path, TWO)

    def refuse(path, flags=None):
        raise PermissionError(13, "Permission denied", str(path))

    with monkeypatch.context() as patch:
        patch.setattr("pt_reuse._files._regular", refuse)
        errors = [caught(read_runs, tmp_path / "r/a"), caught(read_qrels, tmp_path / "r/a")]
        errors.append(caught(RunSet.from_frames, {"a": FRAME}, teams=tmp_path / "r/a"))
    with monkeypatch.context() as patch:
        patch.setattr("pathlib.Path.is_dir", refuse)
        errors += [caught(read_runs, tmp_path / "r"), caught(read_qrels, tmp_path / "r")]
    for error in errors:
        messages.told(error)
    assert errors[0].place == str(tmp_path / "r/a")
    assert errors[3].argument == "source"


QRELS_FILES = {
    "empty": (b"", "{d}/q"),
    "a run file": (RUN, "{d}/q, line 1"),
    "three columns": (b"1 0 d1\n", "{d}/q, line 1"),
    "five columns": (QRELS + b"1 0 d 3 1\n", "{d}/q, line 3"),
    "a label between": (b"1 0 d1 0.5", "{d}/q, line 1"),
    "a label too large": (b"1 0 d1 32768", "{d}/q, line 1"),
    "two labels": (QRELS + b"\n2 0 d1 0\n1 0 d1 0\n1 0 d2 1\n", "{d}/q, lines 1 and 5"),
    "truncated": (gzip.compress(QRELS)[:-3], None),
}


def test_qrels_files(messages, tmp_path):
    def check(fault):
        data, place = QRELS_FILES[fault]
        put(tmp_path, {"q": data})
        messages.refused(read_qrels, path=tmp_path / "q", place=place)

    each(QRELS_FILES, check)


def test_every_bad_file_is_told(messages, tmp_path):
    # in the order of the files, whatever thread came first: each with its own kind of fault
    put(tmp_path, {f"r/{i:03}": RUN.replace(b"bm25", b"r%03d" % i) for i in range(40)})
    put(tmp_path, {"r/007": QRELS, "r/012": RUN, "r/013": RUN, "r/035": b"", "r/020": RUN + RUN, "r/021": RUN + OTHER})
    put(tmp_path, {"r/030": RUN.replace(b"bm25", b"r030") + b"1 Q0 d1 3 0.5 r030\n"})
    error = messages.refused(read_runs, source=tmp_path / "r")
    assert error.place is None
    places = [f"{tmp_path}/r/007, line 1", None, None, f"{tmp_path}/r/021", None, f"{tmp_path}/r/035"]
    assert [fault.place for fault in error.faults] == places
    for n_jobs in (1, 2, 8):
        assert str(caught(read_runs, tmp_path / "r", n_jobs=n_jobs)) == str(error)
    again = pickle.loads(pickle.dumps(error))
    assert ([str(fault) for fault in again.faults], str(again)) == ([str(fault) for fault in error.faults], str(error))


# faults of frames in memory and of calls on runs and judgments


def frames(**changes):
    return lambda d: RunSet.from_frames({"a": FRAME.assign(**changes)})


IN_MEMORY = {
    "missing qrels": lambda d: read_qrels(d / "no"),
    "qrels are a folder": lambda d: read_qrels(d),
    "frames list": lambda d: RunSet.from_frames([FRAME]),
    "one frame": lambda d: RunSet.from_frames(FRAME),
    "an empty run name": lambda d: RunSet.from_frames({"": FRAME}),
    "half a character in a run name": lambda d: RunSet.from_frames({"\ud800": FRAME}),
    "no score": lambda d: RunSet.from_frames({"a": FRAME[["qid", "docno"]]}),
    "no rank": lambda d: RunSet.from_frames({"a": FRAME[["qid", "docno", "score"]]}, order="rank"),
    **{
        f"score {shown}": frames(score=scores)
        for shown, scores in {
            "nan": [1, np.nan],
            "inf": [1, np.inf],
            "'x'": ["1", "x"],
            "'1_0'": ["1", "1_0"],
            "'nan'": ["1", "nan"],
            "None": pd.Series([1, None], dtype=object),
            "<NA>": pd.array([1, None], dtype="Int64"),
            "1j": pd.Series([1, 1j], dtype=object),
            "1" + "0" * 76 + "...": pd.Series([1, 10**400], dtype=object),
            "Timestamp('2021-01-01 00:00:00')": pd.Series([1, pd.Timestamp("2021")], dtype=object),
        }.items()
    },
    "a document twice": frames(docno="a"),
    "tied ranks": lambda d: RunSet.from_frames({"a": FRAME.assign(rank=1)}, order="rank"),
    "a rank is missing": lambda d: RunSet.from_frames({"a": FRAME.assign(rank=[1, np.nan])}, order="rank"),
    "topics without qid": lambda d: RunSet.from_pipelines({"a": pt.Transformer.identity()}, FRAME[["docno"]]),
    "Qrels None": lambda d: Qrels(None),
    "no label": lambda d: Qrels(LABELS[["qid", "docno"]]),
    "a label is missing": lambda d: Qrels(LABELS.assign(label=[1, np.nan])),
    "a label between": lambda d: Qrels(LABELS.assign(label=[1, 0.5])),
    "two labels": lambda d: Qrels(LABELS.assign(docno="a")),
}


RUNS = RunSet.from_frames({"a": FRAME, "b": FRAME.assign(docno=["a", "c"])}, teams={"a": "A", "b": "B"})
JUDGED = Qrels(LABELS)
CALLS = {
    **IN_MEMORY,
    "an unknown run": lambda d: RUNS["c"],
    "select a name": lambda d: RUNS.select("aa"),
    "select a team": lambda d: RUNS.select(team="C"),
    "select leaves none": lambda d: RUNS.select("a", team="B"),
    "unite with itself": lambda d: RUNS | RUNS,
    "unite two orders": lambda d: RUNS.select("a") | RUNS.select("b").reorder("trec_eval9"),
    "restrict to strangers": lambda d: RUNS.restrict(["z"]),
    "reorder by rank without ranks": lambda d: RunSet.from_frames({"b": FRAME.drop(columns="rank")}).reorder("rank"),
    "reorder by tied ranks": lambda d: RunSet.from_frames({"b": FRAME.assign(rank=1)}).reorder("rank"),
    "reorder by missing ranks": lambda d: RunSet.from_frames({"b": FRAME.assign(rank=[None, 1])}).reorder("rank"),
    "the pool's order by rank": lambda d: RunSet.from_frames(
        {"b": FRAME.assign(rank="x")}, pool_order="rank"
    ).in_pool_order(),
    "unite two orders of pools": lambda d: (
        RunSet.from_frames({"x": FRAME}, pool_order="file") | RunSet.from_frames({"y": FRAME}, pool_order="rank")
    ),
    "units without types": lambda d: RUNS.units("type"),
    "write where a file is": lambda d: RUNS.write(d, compress=False),
    "write into a file": lambda d: RUNS.write(d / "input.a"),
    "write a name with a slash": lambda d: RunSet.from_frames({"a/b": FRAME}).write(d),
    "write a docno with a blank": lambda d: RunSet.from_frames({"a": FRAME.assign(docno=["a b", "c"])}).write(d),
    "write an empty run": lambda d: RunSet.from_frames({"b": FRAME, "c": FRAME.iloc[:0]}).write(d),
    "judgments that differ": lambda d: JUDGED | Qrels(LABELS.assign(label=[0, 0])),
    "select a topic": lambda d: JUDGED.select(["9"]),
    "threshold": lambda d: JUDGED.threshold(0),
    "write over judgments": lambda d: JUDGED.write(d / "input.a"),
    "write no judgments": lambda d: Qrels(LABELS.iloc[:0], topics=["1"]).write(d / "new"),
}


def test_calls(messages, tmp_path):
    put(tmp_path, {"input.a": b"mine"})

    def check(fault):
        call = CALLS[fault]
        messages.refused(lambda: call(tmp_path))
        # nothing was written, no temporary file is left
        assert [path.name for path in tmp_path.iterdir()] == ["input.a"]
        assert (tmp_path / "input.a").read_bytes() == b"mine"

    each(CALLS, check)


# faults of files of teams and types


METADATA_FILES = {
    # name: (argument, file m, the place after the file)
    "metadata is missing": ("metadata", None, ""),
    "a cell too many": ("metadata", b"name,team\nbm25,A\ndense,B,C\n", ", line 3"),
    "an open quote": ("metadata", b'name,team\nbm25,"A\ndense,B', ", line 2"),
    "two teams for a run": ("teams", b"# comment\nbm25 A\n\ndense B\nbm25 C\n", ", line 5"),
    "one column": ("teams", b"bm25 A\ndense\n", ", line 2"),
    "three columns": ("types", b"bm25,A,x\n", ", line 1"),
}  # fmt: skip


def test_metadata_files(tmp_path, messages):
    def check(fault):
        argument, data, place = METADATA_FILES[fault]
        put(tmp_path, TWO if data is None else {**TWO, "m": data})
        call = lambda: read_runs(tmp_path / "r", **{argument: tmp_path / "m"})  # noqa: E731
        messages.refused(call, argument=argument, place=f"{{d}}/m{place}")

    each(METADATA_FILES, check)
