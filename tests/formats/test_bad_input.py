"""Faults of run files, qrels files and the paths to them: what the user gave, and the exact message."""

from __future__ import annotations

import bz2
import gzip
import lzma
import sys

import pytest
from faults import (
    AWAY,
    EMPTY,
    FINITE,
    FOUR,
    FRAME,
    GIVE_QRELS,
    GIVE_RUN,
    LEAVE_OUT,
    LONG,
    LOOKS_LIKE_QRELS,
    LOOKS_LIKE_RUN,
    MAP,
    MEND,
    NO_ORDER,
    NUL,
    ORDERS,
    OTHER,
    QRELS,
    RUN,
    SEVERAL,
    SIX,
    TWO,
    TWO_COLUMNS,
    WHITE,
    WHOLE,
    check,
    put,
)

from pt_reuse._errors import InputError
from pt_reuse.qrels.reading import read_qrels
from pt_reuse.runs.reading import read_runs
from pt_reuse.runs.run_set import RunSet

FILES = {
    # name: (contents, order, message)
    "empty": (b"", f"{{d}}/f: {EMPTY}"),
    "byte order mark alone": (b"\xef\xbb\xbf", f"{{d}}/f: {EMPTY}"),
    "empty when unpacked": (gzip.compress(b""), f"{{d}}/f: {EMPTY}"),
    "white space": (b" \r\n\t\n", f"{{d}}/f: {WHITE}"),
    "byte order mark and white space": (b"\xef\xbb\xbf\n", f"{{d}}/f: {WHITE}"),
    "qrels": (QRELS, f"{{d}}/f, line 1: expected {SIX}; found 4 in '1 0 d1 1'. {LOOKS_LIKE_QRELS}"),
    "png": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", f"{{d}}/f, line 3: {NUL}"),
    "utf-16": ("1 Q0 d1 1 2.5 bm25\n".encode("utf-16"), f"{{d}}/f, line 1: {NUL}"),
    "one long word": (b"x" * 500 + b"\n", f"{{d}}/f, line 1: expected {SIX}; found 1 in '{'x' * 77}...'. {AWAY}"),
    "binary": (
        b"\x89\x01\xff \xfe\x80",
        f"{{d}}/f, line 1: expected {SIX}; found 2 in '\\\\x89\\x01\\\\xff \\\\xfe\\\\x80'. {AWAY}",
    ),
    "five columns, first line": (
        RUN.replace(b" bm25\n", b"\n", 1),
        f"{{d}}/f, line 1: expected {SIX}; found 5 in '1 Q0 d1 1 2.5'. {AWAY}",
    ),
    "seven columns, first line": (
        RUN.replace(b" bm25\n", b" bm25 x\n", 1),
        f"{{d}}/f, line 1: expected {SIX}; found 7 in '1 Q0 d1 1 2.5 bm25 x'. {AWAY}",
    ),
    "five columns, middle line": (
        RUN + b"\n2 Q0 d1 1 bm25\n" + RUN.replace(b"1 Q0", b"3 Q0"),
        f"{{d}}/f, line 4: expected {SIX}; found 5 in '2 Q0 d1 1 bm25'. {MEND}",
    ),
    "seven columns, middle line": (
        RUN + b"2 Q0 d 3 1 2.0 bm25\r\n" + RUN,
        f"{{d}}/f, line 3: expected {SIX}; found 7 in '2 Q0 d 3 1 2.0 bm25'. {MEND}",
    ),
    "five and seven columns": (
        b"1 Q0 d1 1 2.5\n1 Q0 d2 2 1.5 bm25 x\n",
        f"{{d}}/f, line 1: expected {SIX}; found 5 in '1 Q0 d1 1 2.5'. {AWAY}",
    ),
    "four columns, last line": (RUN + QRELS[:9], f"{{d}}/f, line 3: expected {SIX}; found 4 in '1 0 d1 1'. {MEND}"),
    "duplicate document": (
        RUN + b"1 Q0 d1 3 0.5 bm25\n",
        "read_runs: run 'bm25' has document 'd1' more than once for topic '1' (lines 1, 3 of {d}/f). "
        "Mend the run, or pass duplicates='best' to keep its better-ranked occurrence.",
    ),
    "duplicate document in a packed file": (
        gzip.compress(b"\xef\xbb\xbf" + RUN + b"\r\n2 Q0 d1 3 0.5 bm25\n1\tQ0\td1 3 0.5 bm25\n1 Q0 d1 4 0 bm25"),
        "read_runs: run 'bm25' has document 'd1' more than once for topic '1' (lines 1, 5, 6 of {d}/f). "
        "Mend the run, or pass duplicates='best' to keep its better-ranked occurrence.",
    ),
    "two tags": (
        RUN + OTHER,
        "{d}/f: 2 run tags in the sixth column: 'bm25' from line 1, 'dense' from line 3; a run file has one. "
        "Split the file by tag, or pass names='file' to name the run by its file.",
    ),
    "four tags": (
        b"".join(b"1 Q0 d%d 1 1 tag%d\n" % (i, i) for i in range(4)),
        "{d}/f: 4 run tags in the sixth column: 'tag0' from line 1, 'tag1' from line 2, 'tag2' from line 3 and 1 more; "
        "a run file has one. Split the file by tag, or pass names='file' to name the run by its file.",
    ),
    "a very long docno": (
        RUN + b"1 Q0 " + b"d" * 2000 + b" 3 1 bm25\n",
        "{d}/f, line 3: a docno of 2,000 bytes; the longest that can be read has 1,024. Is this a run file?",
    ),
    "truncated gzip": (
        gzip.compress(LONG)[:-20],
        "{d}/f is a damaged or truncated gzip file (Compressed file ended before the end-of-stream marker was "
        "reached). " + GIVE_RUN,
    ),
    "truncated bzip2": (
        bz2.compress(LONG)[:-5],
        f"{{d}}/f is a damaged or truncated bzip2 file (it ends before its end mark). {GIVE_RUN}",
    ),
    "corrupted bzip2": (
        bz2.compress(LONG)[:50] + b"\0\0" + bz2.compress(LONG)[52:],
        f"{{d}}/f is a damaged or truncated bzip2 file (Invalid data stream). {GIVE_RUN}",
    ),
    "rubbish behind bzip2": (
        bz2.compress(LONG) + b"rubbish",
        f"{{d}}/f is a damaged or truncated bzip2 file (Invalid data stream). {GIVE_RUN}",
    ),
    "truncated xz": (
        lzma.compress(LONG)[:-5],
        f"{{d}}/f is a damaged or truncated xz file (it ends before its end mark). {GIVE_RUN}",
    ),
    "corrupted xz": (
        lzma.compress(LONG)[:70] + b"\0\0" + lzma.compress(LONG)[72:],
        f"{{d}}/f is a damaged or truncated xz file (Corrupt input data). {GIVE_RUN}",
    ),
}


@pytest.mark.parametrize("fault", FILES)
def test_run_file(fault, tmp_path):
    data, message = FILES[fault]
    put(tmp_path, {"f": data})
    check(tmp_path, lambda folder: read_runs(folder / "f"), message)


@pytest.mark.parametrize(
    "text", ["nan", "NaN", "inf", "-Infinity", "1_0", "0x1", "1e999", "abc", "1,5", ".", "-", "1.2.3", "True"]
)
def test_score(text, tmp_path):
    put(tmp_path, {"f": RUN.replace(b"1.5", text.encode())})
    message = f"{{d}}/f, line 2: the score of topic '1', document 'd2' {FINITE} {text!r}. {LEAVE_OUT}"
    check(tmp_path, lambda folder: read_runs(folder / "f"), message)


@pytest.mark.parametrize("text", ["two", "nan", "inf"])
def test_rank(text, tmp_path):
    put(tmp_path, {"f": RUN.replace(b"d2 2", b"d2 " + text.encode())})
    message = f"{{d}}/f, line 2: the rank of topic '1', document 'd2' {FINITE} {text!r}. {LEAVE_OUT}"
    check(tmp_path, lambda folder: read_runs(folder / "f", order="rank"), message)
    assert len(read_runs(tmp_path / "f")["bm25"]) == 2  # the other orders do not look at it


def test_tied_ranks(tmp_path):
    put(tmp_path, {"f": b"2 Q0 d0 1 9 bm25\n" + RUN.replace(b"d2 2", b"d2 1.0")})
    check(
        tmp_path,
        lambda folder: read_runs(folder / "f", order="rank"),
        f"{{d}}/f, line 3: topic '1' has rank 1.0 twice, {NO_ORDER}",
    )


@pytest.mark.parametrize("name", ["zstandard", "lz4.frame"])
def test_truncated_with_optional_library(name, tmp_path):
    library = pytest.importorskip(name)
    packed = library.compress(LONG)
    put(tmp_path, {"f": packed, "cut": packed[:-5]})
    assert len(read_runs(tmp_path / "f")["bm25"]) == 1000
    kind = name.split(".")[0]
    message = f"{{d}}/cut is a damaged or truncated {kind} file (it ends before its end mark). {GIVE_RUN}"
    check(tmp_path, lambda folder: read_runs(folder / "cut"), message)


@pytest.mark.parametrize(
    ("magic", "kind", "library"),
    [
        (b"\x28\xb5\x2f\xfd", "zstandard", "zstandard"),
        (b"\x04\x22\x4d\x18", "lz4", "lz4"),
        (b"\x1f\x9d\x90", "compress", "unlzw3"),
    ],
)
def test_library_is_missing(magic, kind, library, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    put(tmp_path, {"f": magic + b"1234"})
    message = f"{{d}}/f is packed with {kind}; reading it needs `pip install {library}`. {GIVE_RUN}"
    check(tmp_path, lambda folder: read_runs(folder / "f"), message)


SOURCES = {
    "missing": (
        lambda d: read_runs(d / "no"),
        "read_runs: {d}/no: no such file or folder, and no file matches it as a pattern.",
    ),
    "missing in a list": (lambda d: read_runs([d / "r/a", d / "no"]), "read_runs: {d}/no: no such file."),
    "a folder in a list": (
        lambda d: read_runs([d / "r/a", d / "r"]),
        "read_runs: {d}/r is a folder among files. Give one folder alone, or files only.",
    ),
    "a pattern that matches a folder": (
        lambda d: read_runs(str(d / "*")),
        "read_runs: {d}/empty is a folder among files. Give one folder alone, or files only.",
    ),
    "an empty folder": (
        lambda d: read_runs(d / "empty"),
        "read_runs: the folder {d}/empty has no files. Give the folder that holds the run files.",
    ),
    "a pattern that matches nothing": (
        lambda d: read_runs(d / "r" / "*.gz"),
        "read_runs: {d}/r/*.gz: no such file or folder, and no file matches it as a pattern.",
    ),
    "a file twice": (
        lambda d: read_runs([d / "r/a", str(d / "r/a")]),
        "read_runs: '{d}/r/a' given more than once. Give each run file once.",
    ),
    "two files with one tag": (
        lambda d: read_runs([d / "r/a", d / "same"]),
        "read_runs: {d}/r/a and {d}/same are both named 'bm25'. Pass names='file' to name runs by their "
        "files, or leave "
        "one out.",
    ),
    "None": (lambda d: read_runs(None), f"{SEVERAL} None."),
    "a number": (lambda d: read_runs(5), f"{SEVERAL} 5."),
    "an empty text": (lambda d: read_runs(""), f"{SEVERAL} ''."),
    "bytes": (lambda d: read_runs(b"a"), f"{SEVERAL} b'a'."),
    "a dict": (lambda d: read_runs({"a": 1}), f"{SEVERAL} dict."),
    "a frame": (lambda d: read_runs(FRAME), f"{SEVERAL} DataFrame."),
    "no files": (
        lambda d: read_runs([]),
        "read_runs: no files given. Give a folder, a pattern, or a list of run files.",
    ),
    "None in a list": (lambda d: read_runs([None]), "read_runs: source must hold paths of files, got None."),
    "an empty text in a list": (lambda d: read_runs([""]), "read_runs: source must hold paths of files, got ''."),
    "a long name": (
        lambda d: read_runs("x" * 5000),
        f"read_runs: {'x' * 197}... cannot be looked up: File name too long.",
    ),
    "order": (
        lambda d: read_runs(d / "r", order="trec"),
        f"read_runs: order must be one of {ORDERS}, got 'trec'. Did you mean 'trec_eval'?",
    ),
    "names": (
        lambda d: read_runs(d / "r", names="path"),
        "read_runs: names must be one of 'tag', 'file', got 'path'.",
    ),
    "duplicates": (
        lambda d: read_runs(d / "r", duplicates=None),
        "read_runs: duplicates must be one of 'error', 'best', got None.",
    ),
    "n_jobs 0": (
        lambda d: read_runs(d / "r", n_jobs=0),
        "read_runs: n_jobs must be a whole number of threads, at least 1, got 0.",
    ),
    "n_jobs -1": (
        lambda d: read_runs(d / "r", n_jobs=-1),
        "read_runs: n_jobs must be a whole number of threads, at least 1, got -1.",
    ),
    "n_jobs '2'": (
        lambda d: read_runs(d / "r", n_jobs="2"),
        "read_runs: n_jobs must be a whole number of threads, at least 1, got '2'.",
    ),
    "cache is a file": (
        lambda d: read_runs(d / "r", cache=d / "same"),
        "read_runs: cache {d}/same is a file. Give a folder for the cache; it is made if missing.",
    ),
    "cache holds the runs": (
        lambda d: read_runs(d / "r", cache=d / "r"),
        "read_runs: cache {d}/r holds the run files themselves. Give another folder for the cache.",
    ),
    "cache above the runs": (
        lambda d: read_runs(d / "r", cache=d),
        "read_runs: cache {d} holds the run files themselves. Give another folder for the cache.",
    ),
    "cache 5": (
        lambda d: read_runs(d / "r", cache=5),
        "read_runs: cache must be the path of a folder, got 5.",
    ),
    "cache ''": (
        lambda d: read_runs(d / "r", cache=""),
        "read_runs: cache must be the path of a folder, got ''.",
    ),
}


@pytest.mark.parametrize("fault", SOURCES)
def test_source(fault, tmp_path):
    call, message = SOURCES[fault]
    put(tmp_path, {**TWO, "same": RUN})
    (tmp_path / "empty").mkdir()
    check(tmp_path, call, message)


def test_nul_in_a_path():
    # Python words this in several ways
    for source in ("a\0b", ["a\0b"]):
        with pytest.raises(InputError, match=r"^read_runs: .*(cannot be looked up: embedded null|no such file)"):
            read_runs(source)


def test_no_permission(tmp_path, monkeypatch):
    put(tmp_path, TWO)

    def refuse(self):
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr("pathlib.Path.read_bytes", refuse)
    check(tmp_path, lambda d: read_runs(d / "r/a"), f"{{d}}/r/a cannot be read: Permission denied. {GIVE_RUN}")
    check(tmp_path, lambda d: read_qrels(d / "r/a"), f"{{d}}/r/a cannot be read: Permission denied. {GIVE_QRELS}")
    message = f"teams {{d}}/r/a cannot be read: Permission denied. {TWO_COLUMNS}"
    check(tmp_path, lambda d: RunSet.from_frames({"a": FRAME}, teams=d / "r/a"), message)
    monkeypatch.setattr("pathlib.Path.is_dir", refuse)
    check(tmp_path, lambda d: read_runs(d / "r"), "read_runs: {d}/r cannot be looked up: Permission denied.")
    check(tmp_path, lambda d: read_qrels(d / "r"), "read_qrels: {d}/r cannot be looked up: Permission denied.")


QRELS_FILES = {
    "empty": (b"", f": the file is empty; expected one line per document of {FOUR}."),
    "a run file": (RUN, f", line 1: expected {FOUR}; found 6 in '1 Q0 d1 1 2.5 bm25'. {LOOKS_LIKE_RUN}"),
    "three columns": (b"1 0 d1\n", f", line 1: expected {FOUR}; found 3 in '1 0 d1'. {AWAY}"),
    "five columns": (QRELS + b"1 0 d 3 1\n", f", line 3: expected {FOUR}; found 5 in '1 0 d 3 1'. {MEND}"),
    "a label between": (
        b"1 0 d1 0.5",
        f", line 1: the label of topic '1', document 'd1' {WHOLE} '0.5'. {MAP}",
    ),
    "a label too large": (
        b"1 0 d1 32768",
        f", line 1: the label of topic '1', document 'd1' {WHOLE} '32768'. {MAP}",
    ),
    "a label too small": (
        QRELS + b"1 0 d3 -32769",
        f", line 3: the label of topic '1', document 'd3' {WHOLE} '-32769'. {MAP}",
    ),
    "a word": (b"1 0 d1 yes", f", line 1: the label of topic '1', document 'd1' {WHOLE} 'yes'. {MAP}"),
    "nan": (b"1 0 d1 nan", f", line 1: the label of topic '1', document 'd1' {WHOLE} 'nan'. {MAP}"),
    "two labels": (
        QRELS + b"\n2 0 d1 0\n1 0 d1 0\n1 0 d2 1\n",
        ", lines 1 and 5: topic '1', document 'd1' has label 1 and 0 (2 conflicting labels in all). Keep one label per "
        "document; Qrels.union(conflict=...) merges two sets of judgments by a rule.",
    ),
    "truncated": (
        gzip.compress(QRELS)[:-3],
        " is a damaged or truncated gzip file (Compressed file ended before the end-of-stream marker was reached). "
        + GIVE_QRELS,
    ),
}


@pytest.mark.parametrize("fault", QRELS_FILES)
def test_qrels_file(fault, tmp_path):
    data, message = QRELS_FILES[fault]
    put(tmp_path, {"q": data})
    check(tmp_path, lambda folder: read_qrels(folder / "q"), f"{{d}}/q{message}")


def test_the_first_bad_file_is_told(tmp_path):
    # in the order of the files, whatever thread came first
    put(tmp_path, {f"r/{i:03}": RUN.replace(b"bm25", b"r%03d" % i) for i in range(40)})
    put(tmp_path, {"r/007": QRELS, "r/035": b""})
    for n_jobs in (1, 2, 8):
        with pytest.raises(InputError, match="007, line 1: expected six"):
            read_runs(tmp_path / "r", n_jobs=n_jobs)
