"""Faults of run files, qrels files and the paths to them: what the user gave, and the exact message."""

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
    "five columns, middle line": (RUN + b"\n2 Q0 d1 1 bm25\n" + RUN.replace(b"1 Q0", b"3 Q0"), "{d}/f, line 4"),
    "a docno of two words": (RUN + b"2 Q0 d 3 1 2.0 bm25\r\n" + RUN.replace(b"1 Q0", b"3 Q0"), "{d}/f"),
    "qrels behind a comment": (b"# judgments\n" + QRELS, "{d}/f, line 2"),
    "five and seven columns": (b"1 Q0 d1 1 2.5\n1 Q0 d2 2 1.5 bm25 x\n", "{d}/f, line 1"),
    "duplicate document": (RUN + b"1 Q0 d1 3 0.5 bm25\n", None),
    "two tags": (RUN + OTHER, "{d}/f"),
    "a very long docno": (RUN + b"1 Q0 " + b"d" * 2000 + b" 3 1 bm25\n", "{d}/f, line 3"),
    "carriage returns alone": (RUN.replace(b"\n", b"\r"), "{d}/f, line 1"),
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


def test_scores_and_ranks(messages, tmp_path):
    def check(text):
        put(tmp_path, {"f": RUN.replace(b"1.5", text.encode())})
        messages.refused(read_runs, source=tmp_path / "f", place="{d}/f, line 2")

    each(["nan", "NaN", "inf", "-Infinity", "1_0", "0x1", "1e999", "abc", "1,5", ".", "-", "1.2.3", "True"], check)

    def check_rank(text):
        put(tmp_path, {"f": RUN.replace(b"d2 2", b"d2 " + text.encode())})
        messages.refused(read_runs, source=tmp_path / "f", order="rank", place="{d}/f, line 2")
        runs = read_runs(tmp_path / "f")
        assert len(runs["bm25"]) == 2  # the other orders do not look at it
        messages.refused(runs.reorder, order="rank", argument="order", place="run 'bm25'")

    each(["two", "nan", "inf"], check_rank)


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


# fault: the argument at fault, where it is not the source
ARGUMENTS = {
    "two files with one tag": None,
    "order": "order",
    "n_jobs 0": "n_jobs",
    **dict.fromkeys(["cache is a file", "cache holds the runs", "cache above the runs"], "cache"),
}


def test_sources(messages, tmp_path):
    put(tmp_path, {**TWO, "same": RUN})
    (tmp_path / "empty").mkdir()

    def check(fault):
        error = messages.refused(lambda: SOURCES[fault](tmp_path))
        assert error.argument == ARGUMENTS.get(fault, "source")

    each(SOURCES, check)


def caught(call, *args, **given):
    with pytest.raises(InputError) as error:
        call(*args, **given)
    return error.value


def test_a_folder_without_files_is_told_as_one(tmp_path):
    put(tmp_path, {".hidden": RUN, "deep/run": RUN})
    assert f"{tmp_path} is a folder without files" in str(caught(read_runs, tmp_path))
    assert "no file matches it" in str(caught(read_runs, tmp_path / "*.gz"))


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


# faults of frames in memory and of calls on runs and judgments, with the exact message


def frames(**changes):
    return lambda d: RunSet.from_frames({"a": FRAME.assign(**changes)})


IN_MEMORY = {
    "missing qrels": lambda d: read_qrels(d / "no"),
    "qrels are a folder": lambda d: read_qrels(d),
    "frames list": lambda d: RunSet.from_frames([FRAME]),
    "one frame": lambda d: RunSet.from_frames(FRAME),
    "a frame is None": lambda d: RunSet.from_frames({"a": None}),
    "an empty run name": lambda d: RunSet.from_frames({"": FRAME}),
    "half a character in a run name": lambda d: RunSet.from_frames({"\ud800": FRAME}),
    "no score": lambda d: RunSet.from_frames({"a": FRAME[["qid", "docno"]]}),
    "no rank": lambda d: RunSet.from_frames({"a": FRAME[["qid", "docno", "score"]]}, order="rank"),
    "qid is missing": frames(qid=["1", None]),
    "docno is missing": frames(docno=[np.nan, "d"]),
    "qid 1.0": frames(qid=[1.0, 2.0]),
    "NUL in a docno": frames(docno=["a", "b\0"]),
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


# fault of a RunSet: the argument or the place that the error names
CALL_ARGUMENTS = {
    **dict.fromkeys(["frames list", "one frame", "an empty run name"], "frames"),
    "topics without qid": "topics",
    **dict.fromkeys(["unite with itself", "unite two orders", "unite two orders of pools"], "other"),
    "restrict to strangers": "docnos",
    **{fault: "order" for fault in ("reorder by rank without ranks", "reorder by tied ranks")},
    **dict.fromkeys(["reorder by missing ranks", "the pool's order by rank"], "order"),
    "units without types": "by",
    **dict.fromkeys(["write where a file is", "write into a file"], "folder"),
}
PLACES = {
    **dict.fromkeys(["a frame is None", "no score", "no rank"], "run 'a'"),
    **{fault: "run 'a'" for fault in IN_MEMORY if fault.startswith("score ")},
    **dict.fromkeys(["tied ranks", "a rank is missing"], "run 'a'"),
    "qid is missing": "run 'a', row 1",
    "qid 1.0": "run 'a', row 0",
    "docno is missing": "run 'a', topic '1', row 0",
    "NUL in a docno": "run 'a', topic '1', row 1",
    **dict.fromkeys(["reorder by tied ranks", "reorder by missing ranks", "the pool's order by rank"], "run 'b'"),
}


def test_in_memory(messages, tmp_path):
    def check(fault):
        call = IN_MEMORY[fault]
        messages.refused(lambda: call(tmp_path), argument=CALL_ARGUMENTS.get(fault), place=PLACES.get(fault))

    each(IN_MEMORY, check)


RUNS = RunSet.from_frames({"a": FRAME, "b": FRAME.assign(docno=["a", "c"])}, teams={"a": "A", "b": "B"})
JUDGED = Qrels(LABELS)
CALLS = {
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
        messages.refused(lambda: call(tmp_path), argument=CALL_ARGUMENTS.get(fault), place=PLACES.get(fault))
        # nothing was written, no temporary file is left
        assert [path.name for path in tmp_path.iterdir()] == ["input.a"]
        assert (tmp_path / "input.a").read_bytes() == b"mine"

    each(CALLS, check)


# faults of teams, types and pooled flags, and all warnings of the reading side, by argument and place


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
