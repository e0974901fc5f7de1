"""Faults of run files, qrels files and the paths to them: what the user gave, and the exact message."""

from __future__ import annotations

import bz2
import gzip
import lzma
import pickle

import pytest
from faults import FRAME, LONG, OTHER, QRELS, RUN, TWO, put

from pt_reuse._errors import InputError
from pt_reuse.data.judgments import read_qrels
from pt_reuse.data.run_reading import read_runs
from pt_reuse.data.run_set import RunSet

# fault: (contents, place)
FILES = {
    "empty": (b"", "{d}/f"),
    "empty when unpacked": (gzip.compress(b""), "{d}/f"),
    "white space": (b" \r\n\t\n", "{d}/f"),
    "qrels": (QRELS, "{d}/f, line 1"),
    "png": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "{d}/f, line 3"),
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
