"""Faults of run files, qrels files and the paths to them: what the user gave, and the exact message."""

from __future__ import annotations

import bz2
import gzip
import lzma
import pickle
import sys

import pytest
from faults import FRAME, LONG, OTHER, QRELS, RUN, TWO, put

from pt_reuse._errors import InputError
from pt_reuse.data.judgments import read_qrels
from pt_reuse.data.run_reading import read_runs
from pt_reuse.data.run_set import RunSet

PACKED = b"\xef\xbb\xbf" + RUN + b"\r\n2 Q0 d1 3 0.5 bm25\n1\tQ0\td1 3 0.5 bm25\n1 Q0 d1 4 0 bm25"
# fault: (contents, place)
FILES = {
    "empty": (b"", "{d}/f"),
    "byte order mark alone": (b"\xef\xbb\xbf", "{d}/f"),
    "empty when unpacked": (gzip.compress(b""), "{d}/f"),
    "white space": (b" \r\n\t\n", "{d}/f"),
    "byte order mark and white space": (b"\xef\xbb\xbf\n", "{d}/f"),
    "qrels": (QRELS, "{d}/f, line 1"),
    "png": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "{d}/f, line 3"),
    "utf-16": ("1 Q0 d1 1 2.5 bm25\n".encode("utf-16"), "{d}/f, line 1"),
    "one long word": (b"x" * 500 + b"\n", "{d}/f, line 1"),
    "binary": (b"\x89\x01\xff \xfe\x80", "{d}/f, line 1"),
    "five columns, first line": (RUN.replace(b" bm25\n", b"\n", 1), "{d}/f, line 1"),
    "five columns, middle line": (RUN + b"\n2 Q0 d1 1 bm25\n" + RUN.replace(b"1 Q0", b"3 Q0"), "{d}/f, line 4"),
    "a docno of two words": (RUN + b"2 Q0 d 3 1 2.0 bm25\r\n" + RUN.replace(b"1 Q0", b"3 Q0"), "{d}/f"),
    "a README": (b"This archive has runs\nof the ad hoc track.\n", "{d}/f, line 1"),
    "comments alone": (b"# a run\n\n # without lines\n", "{d}/f"),
    "qrels behind a comment": (b"# judgments\n" + QRELS, "{d}/f, line 2"),
    "five and seven columns": (b"1 Q0 d1 1 2.5\n1 Q0 d2 2 1.5 bm25 x\n", "{d}/f, line 1"),
    "four columns, last line": (RUN + QRELS[:9], "{d}/f, line 3"),
    "duplicate document": (RUN + b"1 Q0 d1 3 0.5 bm25\n", None),
    "duplicate document in a packed file": (gzip.compress(PACKED), None),
    "two tags": (RUN + OTHER, "{d}/f"),
    "four tags": (b"".join(b"1 Q0 d%d 1 1 tag%d\n" % (i, i) for i in range(4)), "{d}/f"),
    "a very long docno": (RUN + b"1 Q0 " + b"d" * 2000 + b" 3 1 bm25\n", "{d}/f, line 3"),
    "carriage returns alone": (RUN.replace(b"\n", b"\r"), "{d}/f, line 1"),
    "carriage returns in a later line": (OTHER + RUN.replace(b"\n", b"\r", 1), "{d}/f, line 3"),
    "truncated gzip": (gzip.compress(LONG)[:-20], "{d}/f"),
    "truncated bzip2": (bz2.compress(LONG)[:-5], "{d}/f"),
    "corrupted bzip2": (bz2.compress(LONG)[:50] + b"\0\0" + bz2.compress(LONG)[52:], "{d}/f"),
    "rubbish behind bzip2": (bz2.compress(LONG) + b"rubbish", "{d}/f"),
    "truncated xz": (lzma.compress(LONG)[:-5], "{d}/f"),
    "corrupted xz": (lzma.compress(LONG)[:70] + b"\0\0" + lzma.compress(LONG)[72:], "{d}/f"),
}


@pytest.mark.parametrize("fault", FILES)
def test_run_file(fault, messages, tmp_path):
    data, place = FILES[fault]
    put(tmp_path, {"f": data})
    error = messages.refused(read_runs, source=tmp_path / "f", place=place)
    assert error.function == "read_runs"


@pytest.mark.parametrize(
    "text", ["nan", "NaN", "inf", "-Infinity", "1_0", "0x1", "1e999", "abc", "1,5", ".", "-", "1.2.3", "True"]
)
def test_score(text, messages, tmp_path):
    put(tmp_path, {"f": RUN.replace(b"1.5", text.encode())})
    messages.refused(read_runs, source=tmp_path / "f", place="{d}/f, line 2")


@pytest.mark.parametrize("text", ["two", "nan", "inf"])
def test_rank(text, messages, tmp_path):
    put(tmp_path, {"f": RUN.replace(b"d2 2", b"d2 " + text.encode())})
    messages.refused(read_runs, source=tmp_path / "f", order="rank", place="{d}/f, line 2")
    runs = read_runs(tmp_path / "f")
    assert len(runs["bm25"]) == 2  # the other orders do not look at it
    messages.refused(runs.reorder, order="rank", argument="order", place="run 'bm25'")


def test_tied_ranks(messages, tmp_path):
    put(tmp_path, {"f": b"2 Q0 d0 1 9 bm25\n" + RUN.replace(b"d2 2", b"d2 1.0")})
    messages.refused(read_runs, source=tmp_path / "f", order="rank", place="{d}/f, line 3")
    messages.refused(read_runs(tmp_path / "f").reorder, order="rank", argument="order", place="run 'bm25'")


@pytest.mark.parametrize("name", ["zstandard", "lz4.frame"])
def test_truncated_with_optional_library(name, messages, tmp_path):
    library = pytest.importorskip(name)
    packed = library.compress(LONG)
    put(tmp_path, {"f": packed, "cut": packed[:-5]})
    assert len(read_runs(tmp_path / "f")["bm25"]) == 1000
    messages.refused(read_runs, source=tmp_path / "cut", place="{d}/cut")


@pytest.mark.parametrize(
    ("magic", "library"),
    [(b"\x28\xb5\x2f\xfd", "zstandard"), (b"\x04\x22\x4d\x18", "lz4")],
)
def test_library_is_missing(magic, library, messages, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    put(tmp_path, {"f": magic + b"1234"})
    messages.refused(read_runs, source=tmp_path / "f", place="{d}/f")


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
    "a number": lambda d: read_runs(5),
    "an empty text": lambda d: read_runs(""),
    "bytes": lambda d: read_runs(b"a"),
    "a dict": lambda d: read_runs({"a": 1}),
    "a frame": lambda d: read_runs(FRAME),
    "no files": lambda d: read_runs([]),
    "None in a list": lambda d: read_runs([None]),
    "an empty text in a list": lambda d: read_runs([""]),
    "a long name": lambda d: read_runs("x" * 5000),
    "order": lambda d: read_runs(d / "r", order="trec"),
    "names": lambda d: read_runs(d / "r", names="path"),
    "duplicates": lambda d: read_runs(d / "r", duplicates=None),
    "n_jobs 0": lambda d: read_runs(d / "r", n_jobs=0),
    "n_jobs -1": lambda d: read_runs(d / "r", n_jobs=-1),
    "n_jobs '2'": lambda d: read_runs(d / "r", n_jobs="2"),
    "cache is a file": lambda d: read_runs(d / "r", cache=d / "same"),
    "cache holds the runs": lambda d: read_runs(d / "r", cache=d / "r"),
    "cache above the runs": lambda d: read_runs(d / "r", cache=d),
    "cache 5": lambda d: read_runs(d / "r", cache=5),
    "cache ''": lambda d: read_runs(d / "r", cache=""),
}


# fault: the argument at fault, where it is not the source
ARGUMENTS = {
    "two files with one tag": None,
    "order": "order",
    "names": "names",
    "duplicates": "duplicates",
    **dict.fromkeys(["n_jobs 0", "n_jobs -1", "n_jobs '2'"], "n_jobs"),
    **dict.fromkeys(
        ["cache is a file", "cache holds the runs", "cache above the runs", "cache 5", "cache ''"], "cache"
    ),
}


@pytest.mark.parametrize("fault", SOURCES)
def test_source(fault, messages, tmp_path):
    put(tmp_path, {**TWO, "same": RUN})
    (tmp_path / "empty").mkdir()
    error = messages.refused(lambda: SOURCES[fault](tmp_path))
    assert (error.function, error.argument) == ("read_runs", ARGUMENTS.get(fault, "source"))


def test_nul_in_a_path():
    # no snapshot: Python words this in several ways
    for source in ("a\0b", ["a\0b"]):
        error = caught(read_runs, source)
        assert (error.function, error.argument) == ("read_runs", "source")


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
    "six words": (b"These are the judgments of 1999\n", "{d}/q, line 1"),
    "comments alone": (b"#\n", "{d}/q"),
    "three columns": (b"1 0 d1\n", "{d}/q, line 1"),
    "five columns": (QRELS + b"1 0 d 3 1\n", "{d}/q, line 3"),
    "a label between": (b"1 0 d1 0.5", "{d}/q, line 1"),
    "a label too large": (b"1 0 d1 32768", "{d}/q, line 1"),
    "a label too small": (QRELS + b"1 0 d3 -32769", "{d}/q, line 3"),
    "a word": (b"1 0 d1 yes", "{d}/q, line 1"),
    "nan": (b"1 0 d1 nan", "{d}/q, line 1"),
    "two labels": (QRELS + b"\n2 0 d1 0\n1 0 d1 0\n1 0 d2 1\n", "{d}/q, lines 1 and 5"),
    "truncated": (gzip.compress(QRELS)[:-3], None),
}


@pytest.mark.parametrize("fault", QRELS_FILES)
def test_qrels_file(fault, messages, tmp_path):
    data, place = QRELS_FILES[fault]
    put(tmp_path, {"q": data})
    error = messages.refused(read_qrels, path=tmp_path / "q", place=place)
    assert error.function == "read_qrels"


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


def test_ten_faults_are_shown_and_all_are_kept(messages, tmp_path):
    put(tmp_path, {f"r/{i:03}": RUN.replace(b"bm25", b"r%03d" % i) + b"1 Q0 d3 3\n" for i in range(25)})
    error = messages.refused(read_runs, source=tmp_path / "r")
    assert [fault.place for fault in error.faults] == [f"{tmp_path}/r/{i:03}, line 3" for i in range(25)]
    assert str(error).count("line 3") == 10


def test_one_bad_file_is_told_as_it_is(messages, tmp_path):
    put(tmp_path, {f"r/{i:03}": RUN.replace(b"bm25", b"r%03d" % i) for i in range(4)})
    put(tmp_path, {"r/002": QRELS})
    error = messages.refused(read_runs, source=tmp_path / "r", place="{d}/r/002, line 1")
    assert error.faults == (error,)


@pytest.mark.parametrize("kind", ["docno", "topic", "tag", "score", "line"])
def test_long_tokens_are_shortened(kind, messages, tmp_path):
    long = b"x" * 900
    lines = {
        "docno": b"1 Q0 %s 1 2 t\n1 Q0 %s 2 1 t\n" % (long, long),
        "topic": b"%s Q0 a 1 nan t\n" % long,
        "tag": b"1 Q0 a 1 2 t\n1 Q0 b 2 1 %s\n" % long,
        "score": b"1 Q0 a 1 %s t\n" % long,
        "line": b"1 Q0 %s\n" % long,
    }
    put(tmp_path, {"f": lines[kind]})
    error = messages.refused(read_runs, source=tmp_path / "f")
    assert "x" * 60 in str(error)
    assert "x" * 81 not in str(error)
