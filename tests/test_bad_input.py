"""One row per fault: what the user gave, and the exact message."""

from __future__ import annotations

import bz2
import gzip
import lzma

import numpy as np
import pandas as pd
import pyterrier as pt
import pytest

from pt_reuse._check import InputError, ReuseWarning
from pt_reuse.qrels import Qrels, read_qrels
from pt_reuse.reading import read_runs
from pt_reuse.runs import RunSet

RUN = b"1 Q0 d1 1 2.5 bm25\n1 Q0 d2 2 1.5 bm25\n"
OTHER = RUN.replace(b"bm25", b"dense")
QRELS = b"1 0 d1 1\n1 0 d2 0\n"
TWO = {"r/a": RUN, "r/b": OTHER}
LONG = b"".join(b"%d Q0 d%d %d %d bm25\n" % (topic, i, i, 2000 - i) for topic in range(5) for i in range(200))
FRAME = pd.DataFrame({"qid": ["1", "1"], "docno": ["a", "b"], "score": [2.0, 1.0], "rank": [0, 1]})
LABELS = pd.DataFrame({"qid": ["1", "1"], "docno": ["a", "b"], "label": [1, 0]})

SIX = "six columns: qid Q0 docno rank score tag"
FOUR = "four columns: qid iteration docno label"
EMPTY = f"the file is empty; expected one line per document of {SIX}."
WHITE = f"the file holds nothing but white space; expected one line per document of {SIX}."
NUL = f"a NUL byte, so this is not a plain text file (an image, an archive, or UTF-16?). Expected UTF-8 text of {SIX}."
LOOKS_LIKE_QRELS = "This looks like qrels (four columns): give it to read_qrels."
LOOKS_LIKE_RUN = "This looks like a run file (six columns): give it to read_runs."
MEND = "Mend or remove the line; names must not hold white space."
GIVE_RUN, GIVE_QRELS = f"Give a run file, {SIX}.", f"Give qrels, {FOUR}."
FINITE = "must be a finite decimal number, got"
LEAVE_OUT = "Mend the line, or leave the document out of the run."
WHOLE = "must be a whole number from -32768 to 32767, got"
MAP = "Map the labels to whole grades (0 not relevant, 1, 2, ... relevant) first."
ORDERS = "'trec_eval', 'trec_eval9', 'rank', 'file'"
NO_ORDER = "so order='rank' has no order to follow. Use order='trec_eval' (by score) or order='file'."
TAGS = "Are these the run tags? names='file' takes run names from the file names instead."
SEVERAL = "read_runs: source must be a folder, a pattern, or several files, got"
FRAMES = "RunSet.from_frames: frames must be a dict of run name -> result frame, got"
TWO_COLUMNS = "Give a file with two columns, run tag and team, or a dict."
SPACES = "cannot be written to a TREC file, whose columns are separated by white space. Rename it first."


def put(folder, files):
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def check(folder, call, message):
    """Call with the folder and compare the whole message, the folder's path written {d}."""
    with pytest.raises(InputError) as caught:
        call(folder)
    assert str(caught.value).replace(str(folder), "{d}") == message


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
    "one long word": (b"x" * 500 + b"\n", f"{{d}}/f, line 1: expected {SIX}; found 1 in '{'x' * 77}...'. {MEND}"),
    "binary": (
        b"\x89\x01\xff \xfe\x80",
        f"{{d}}/f, line 1: expected {SIX}; found 2 in '\\\\x89\\x01\\\\xff \\\\xfe\\\\x80'. {MEND}",
    ),
    "five columns, first line": (
        RUN.replace(b" bm25\n", b"\n", 1),
        f"{{d}}/f, line 1: expected {SIX}; found 5 in '1 Q0 d1 1 2.5'. {MEND}",
    ),
    "seven columns, first line": (
        RUN.replace(b" bm25\n", b" bm25 x\n", 1),
        f"{{d}}/f, line 1: expected {SIX}; found 7 in '1 Q0 d1 1 2.5 bm25 x'. {MEND}",
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
        f"{{d}}/f, line 1: expected {SIX}; found 5 in '1 Q0 d1 1 2.5'. {MEND}",
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
        "{d}/f is a damaged or truncated gzip file (Compressed file ended before the end-of-stream marker was reached). "
        + GIVE_RUN,
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


@pytest.mark.parametrize("text", "nan NaN inf -Infinity 1_0 0x1 1e999 abc 1,5 . - 1.2.3 True".split())
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


@pytest.mark.parametrize(("magic", "library"), [(b"\x28\xb5\x2f\xfd", "zstandard"), (b"\x04\x22\x4d\x18", "lz4")])
def test_library_is_missing(magic, library, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, library, None)
    put(tmp_path, {"f": magic + b"1234"})
    message = f"{{d}}/f is packed with {library}; reading it needs `pip install {library}`. {GIVE_RUN}"
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
        "read_runs: {d}/r/a and {d}/same are both named 'bm25'. Pass names='file' to name runs by their files, or leave "
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


METADATA = {
    # name: (arguments of read_runs, file m, message)
    "two rows for a run": (
        {"metadata": pd.DataFrame({"name": ["bm25", "bm25"], "team": ["A", "B"]})},
        "metadata: 'bm25' stands in more than one row. Keep one row per run.",
    ),
    "no column name": (
        {"metadata": pd.DataFrame({"run": ["bm25"]})},
        "metadata: no column 'name' among 'run'. Rename the column that holds the run tags to 'name'; 'team', 'type' "
        "and 'pooled' are used where present.",
    ),
    "a name is missing": (
        {"metadata": pd.DataFrame({"name": ["bm25", None]})},
        "metadata: row 1 has no run name. Fill in its 'name', or drop the row.",
    ),
    "two columns team": (
        {"metadata": pd.DataFrame([["bm25", "A", "B"]], columns=["name", "team", "team"])},
        "metadata: 'team' is more than one column. Rename or drop one.",
    ),
    "metadata 5": ({"metadata": 5}, "metadata: expected a DataFrame or the path of a CSV, got int."),
    "teams name no run": (
        {"teams": {"x": "A"}},
        f"teams: names none of the 2 runs ('bm25', 'dense'); it has 'x'. {TAGS}",
    ),
    "teams are empty": ({"teams": {}}, f"teams: names none of the 2 runs ('bm25', 'dense'); it is empty. {TAGS}"),
    "a run has no team": (
        {"teams": {"bm25": "A"}},
        "teams: no team for 1 run: 'dense'. Add them, or leave those runs out.",
    ),
    "a team is blank": (
        {"teams": {"bm25": "A", "dense": " "}},
        "teams: no team for 1 run: 'dense'. Add them, or leave those runs out.",
    ),
    "a type is missing": (
        {"types": {"bm25": "manual", "dense": None}},
        "types: no type for 1 run: 'dense'. Add them, or leave those runs out.",
    ),
    "teams 5": (
        {"teams": 5},
        "teams: expected a dict, a Series, a DataFrame, or the path of a two-column file, got int.",
    ),
    "teams set": (
        {"teams": {"bm25"}},
        "teams: expected a dict, a Series, a DataFrame, or the path of a two-column file, got set.",
    ),
    "teams frame without team": (
        {"teams": pd.DataFrame({"name": ["bm25"], "group": ["A"]})},
        "teams: a DataFrame must have the columns 'name' and 'team', got 'name', 'group'.",
    ),
    "teams series with a run twice": (
        {"teams": pd.Series(["A", "B", "C"], index=["bm25", "dense", "bm25"])},
        "teams: 'bm25' stands more than once. Keep one team per run.",
    ),
    "pooled names no run": (
        {"pooled": ["x"]},
        "pooled: names none of the 2 runs ('bm25', 'dense'); it has 'x'. Are these the run tags?",
    ),
    "pooled is a mask": (
        {"pooled": np.array([True, False])},
        "pooled: names none of the 2 runs ('bm25', 'dense'); it has 'True', 'False'. Are these the run tags?",
    ),
    "pooled 5": (
        {"pooled": 5},
        "pooled: expected run names, a mapping of run name to true or false, a file, or one bool, got 5.",
    ),
    "pooled is no flag": (
        {"pooled": {"bm25": "maybe", "dense": "no"}},
        "pooled: run 'bm25' has 'maybe'; expected true or false (yes/no, 1/0).",
    ),
    "a run has no flag": (
        {"pooled": {"bm25": True}},
        "pooled: no pooled flag for 1 run: 'dense'. Add them, or leave those runs out.",
    ),
}
METADATA_FILES = {
    "metadata is missing": ("metadata", None, "no such file. Give the path of a CSV with a header, or a DataFrame."),
    "metadata is empty": (
        "metadata",
        b"\n",
        "the file is empty. Give the path of a CSV with a header, or a DataFrame.",
    ),
    "a cell too many": (
        "metadata",
        b"name,team\nbm25,A\ndense,B,C\n",
        ", line 3: 3 cells where the header has 2. Give every line as many cells as the header.",
    ),
    "an open quote": (
        "metadata",
        b'name,team\nbm25,"A\ndense,B',
        ", line 3: cannot be read as CSV (unexpected end of data). Mend the line.",
    ),
    "utf-16": (
        "metadata",
        "name".encode("utf-16"),
        "a NUL byte, so this is not a plain text file (UTF-16?). Give the path of a CSV with a header, or a DataFrame, as "
        "UTF-8.",
    ),
    "teams are missing": ("teams", None, f"no such file. {TWO_COLUMNS}"),
    "two teams for a run": (
        "teams",
        b"# comment\nbm25 A\n\ndense B\nbm25 C\n",
        ", line 5: run 'bm25' has team 'C' here and 'A' in line 2. Keep one line per run.",
    ),
    "one column": (
        "teams",
        b"bm25 A\ndense\n",
        ", line 2: expected two columns, run tag and team, got 'dense'. Separate them by white space or one comma.",
    ),
    "three columns": (
        "types",
        b"bm25,A,x\n",
        ", line 1: expected two columns, run tag and type, got 'bm25,A,x'. Separate them by white space or one comma.",
    ),
    "pooled is missing": (
        "pooled",
        None,
        "no such file. Give a file with one run name a line, a two-column file, a list of names, or a dict.",
    ),
}


@pytest.mark.parametrize("fault", METADATA)
def test_metadata(fault, tmp_path):
    arguments, message = METADATA[fault]
    put(tmp_path, TWO)
    check(tmp_path, lambda d: read_runs(d / "r", **arguments), message)
    # in memory the same
    frames = {"bm25": FRAME, "dense": FRAME}
    check(tmp_path, lambda d: RunSet.from_frames(frames, **arguments), message)


@pytest.mark.parametrize("fault", METADATA_FILES)
def test_metadata_file(fault, tmp_path):
    argument, data, message = METADATA_FILES[fault]
    put(tmp_path, TWO if data is None else {**TWO, "m": data})
    joint = "" if message.startswith(",") else ": "
    check(tmp_path, lambda d: read_runs(d / "r", **{argument: d / "m"}), f"{argument} {{d}}/m{joint}{message}")


WARNINGS = {
    "teams name strangers": (
        lambda d: read_runs(d / "r", teams={"bm25": "A", "dense": "B", "x": "C"}),
        "teams: 1 name not among the runs: 'x'.",
    ),
    "pooled names strangers": (
        lambda d: read_runs(d / "r", pooled=["bm25", "x", "y"]),
        "pooled: 2 names not among the runs: 'x', 'y'.",
    ),
    "metadata names strangers": (
        lambda d: read_runs(d / "r", metadata=pd.DataFrame({"name": ["bm25", "dense", "x"], "team": "A"})),
        "metadata: 1 name not among the runs: 'x'.",
    ),
    "strangers among frames": (
        lambda d: RunSet.from_frames({"a": FRAME}, types={"a": "A", "b": "B"}),
        "types: 1 name not among the runs: 'b'.",
    ),
    "strangers later": (
        lambda d: RunSet.from_frames({"a": FRAME}).with_metadata(teams={"a": "A", "b": "B"}),
        "teams: 1 name not among the runs: 'b'.",
    ),
    "001 and 1": (
        lambda d: read_runs(d / "twins"),
        "topic ids are strings, so '001', '1' are different topics; 1 such group among the runs. If they are meant to be "
        "one topic, write its id alike everywhere.",
    ),
    "001 and 1 in frames": (
        lambda d: RunSet.from_frames({"a": FRAME, "b": FRAME.assign(qid="01")}),
        "topic ids are strings, so '01', '1' are different topics; 1 such group among the runs. If they are meant to be "
        "one topic, write its id alike everywhere.",
    ),
    "001 and 1 in a union": (
        lambda d: RunSet.from_frames({"a": FRAME}) | RunSet.from_frames({"b": FRAME.assign(qid="01")}),
        "topic ids are strings, so '01', '1' are different topics; 1 such group among the runs. If they are meant to be "
        "one topic, write its id alike everywhere.",
    ),
    "a judgment twice": (
        lambda d: read_qrels(d / "twice"),
        "{d}/twice: 2 judgments given more than once with the same label (topic '1', document 'd1', lines 1 and 4); each "
        "counts once.",
    ),
    "a judgment twice in a frame": (
        lambda d: Qrels(LABELS.assign(docno="a", label=1)),
        "Qrels: 1 judgment given more than once with the same label (topic '1', document 'a', rows 0 and 1); each counts "
        "once.",
    ),
    "a topic that a file cannot hold": (
        lambda d: Qrels(LABELS, topics=["1", "2"]).write(d / "new"),
        "Qrels.write: 1 topic without judgments cannot stand in a qrels file and will be missing when it is read: '2'.",
    ),
    "a cache that cannot be written": (
        lambda d: read_runs(d / "r", cache=d / "twice" / "x"),
        "read_runs: the runs were read but cannot be kept in {d}/twice/x ([Errno 20] Not a directory: '{d}/twice/x').",
    ),
}


@pytest.mark.parametrize("case", WARNINGS)
def test_warning(case, tmp_path):
    call, message = WARNINGS[case]
    put(tmp_path, {**TWO, "twins": RUN + RUN.replace(b"1 Q0", b"001 Q0"), "twice": QRELS + b"\n1 0 d1 1\n" * 2})
    with pytest.warns(ReuseWarning) as caught:
        call(tmp_path)
    assert [str(warning.message).replace(str(tmp_path), "{d}") for warning in caught] == [message]
    # it points to the user's own line; a binary operator stands in between in one case
    assert caught[0].filename == __file__ or " | " in case or case.endswith("union")


QRELS_FILES = {
    "empty": (b"", f": the file is empty; expected one line per document of {FOUR}."),
    "a run file": (RUN, f", line 1: expected {FOUR}; found 6 in '1 Q0 d1 1 2.5 bm25'. {LOOKS_LIKE_RUN}"),
    "three columns": (b"1 0 d1\n", f", line 1: expected {FOUR}; found 3 in '1 0 d1'. {MEND}"),
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


def frames(**changes):
    return lambda d: RunSet.from_frames({"a": FRAME.assign(**changes)})


IN_MEMORY = {
    "missing qrels": (lambda d: read_qrels(d / "no"), "read_qrels: {d}/no: no such file."),
    "qrels are a folder": (
        lambda d: read_qrels(d),
        f"read_qrels: {{d}} is a folder. Give the qrels file, {FOUR}.",
    ),
    "qrels None": (lambda d: read_qrels(None), "read_qrels: expected the path of a qrels file, got None."),
    "frames None": (lambda d: RunSet.from_frames(None), f"{FRAMES} NoneType."),
    "frames 5": (lambda d: RunSet.from_frames(5), f"{FRAMES} int."),
    "frames set": (lambda d: RunSet.from_frames({"a"}), f"{FRAMES} set."),
    "frames list": (lambda d: RunSet.from_frames([FRAME]), f"{FRAMES} list."),
    "one frame": (lambda d: RunSet.from_frames(FRAME), f"{FRAMES} DataFrame."),
    "no frames": (lambda d: RunSet.from_frames({}), f"{FRAMES} an empty one."),
    "a frame is None": (lambda d: RunSet.from_frames({"a": None}), "run 'a': expected a DataFrame, got NoneType."),
    "names that are one": (
        lambda d: RunSet.from_frames({1: FRAME, "1": FRAME}),
        "RunSet.from_frames: '1' given more than once. Name each run by a text of its own.",
    ),
    "an empty run name": (
        lambda d: RunSet.from_frames({"": FRAME}),
        "RunSet.from_frames: '' cannot be a run name. Name each run by a text of its own.",
    ),
    "half a character in a run name": (
        lambda d: RunSet.from_frames({"\ud800": FRAME}),
        "RunSet.from_frames: '\\ud800' cannot be a run name; it must be text that UTF-8 can hold.",
    ),
    "no score": (
        lambda d: RunSet.from_frames({"a": FRAME[["qid", "docno"]]}),
        "run 'a': the frame must have the columns 'qid', 'docno', 'score'; 'score' not among 'qid', 'docno'.",
    ),
    "no rank": (
        lambda d: RunSet.from_frames({"a": FRAME[["qid", "docno", "score"]]}, order="rank"),
        "run 'a': the frame must have the columns 'qid', 'docno', 'score', 'rank'; 'rank' not among 'qid', 'docno', "
        "'score'.",
    ),
    "two columns score": (
        lambda d: RunSet.from_frames({"a": pd.concat([FRAME, FRAME[["score"]]], axis=1)}),
        "run 'a': the frame has more than one column 'score'. Drop or rename one.",
    ),
    "qid is missing": (frames(qid=["1", None]), "run 'a', row 1: the qid is missing. Fill it in or drop the row."),
    "docno is missing": (
        frames(docno=[np.nan, "d"]),
        "run 'a', row 0: the docno is missing. Fill it in or drop the row.",
    ),
    "qid 1.0": (
        frames(qid=[1.0, 2.0]),
        "run 'a': the qids must be text, got numbers such as 1.0, which could be written in more than one way. Read the "
        "column as text (dtype=str).",
    ),
    "an empty docno": (frames(docno=["a", ""]), "run 'a': '' cannot be a docno; it must be text without NUL bytes."),
    "NUL in a docno": (
        frames(docno=["a", "b\0"]),
        "run 'a': 'b\\x00' cannot be a docno; it must be text without NUL bytes.",
    ),
    "half a character": (
        frames(docno=pd.Series(["a", "\ud800"], dtype=object)),
        "run 'a': '\\ud800' cannot be a docno; it must be text that UTF-8 can hold.",
    ),
    **{
        f"score {shown}": (
            frames(score=scores),
            f"run 'a': the score of topic '1', document 'b' must be a finite number, got {shown}. Mend the row or drop it.",
        )
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
    "a document twice": (
        frames(docno="a"),
        "RunSet.from_frames: run 'a' has document 'a' more than once for topic '1'. Mend the run, or pass "
        "duplicates='best' to keep its better-ranked occurrence.",
    ),
    "tied ranks": (
        lambda d: RunSet.from_frames({"a": FRAME.assign(rank=1)}, order="rank"),
        f"run 'a': topic '1' has rank 1 twice, {NO_ORDER}",
    ),
    "a rank is missing": (
        lambda d: RunSet.from_frames({"a": FRAME.assign(rank=[1, np.nan])}, order="rank"),
        "run 'a': the rank of topic '1', document 'b' must be a finite number, got nan. Mend the row or drop it.",
    ),
    "order": (
        lambda d: RunSet.from_frames({"a": FRAME}, order="x"),
        f"RunSet.from_frames: order must be one of {ORDERS}, got 'x'.",
    ),
    "pipelines None": (
        lambda d: RunSet.from_pipelines(None, FRAME),
        "RunSet.from_pipelines: pipelines must be a dict of run name -> pipeline, got NoneType.",
    ),
    "a pipeline 5": (
        lambda d: RunSet.from_pipelines({"a": 5}, FRAME),
        "RunSet.from_pipelines: 'a' must be a pipeline, got int.",
    ),
    "topics None": (
        lambda d: RunSet.from_pipelines({"a": pt.Transformer.identity()}, None),
        "RunSet.from_pipelines: topics must be a frame with qid and query, got NoneType.",
    ),
    "topics without qid": (
        lambda d: RunSet.from_pipelines({"a": pt.Transformer.identity()}, FRAME[["docno"]]),
        "RunSet.from_pipelines: topics must have the columns 'qid'; 'qid' not among 'docno'.",
    ),
    "batch_size 0": (
        lambda d: RunSet.from_pipelines({"a": pt.Transformer.identity()}, FRAME, batch_size=0),
        "RunSet.from_pipelines: batch_size must be a whole number of topics, at least 1, got 0.",
    ),
    "Qrels None": (lambda d: Qrels(None), "Qrels: expected a DataFrame, got NoneType. Use read_qrels for a file."),
    "Qrels path": (lambda d: Qrels("x"), "Qrels: expected a DataFrame, got str. Use read_qrels for a file."),
    "no label": (
        lambda d: Qrels(LABELS[["qid", "docno"]]),
        "Qrels: the frame must have the columns 'qid', 'docno', 'label'; 'label' not among 'qid', 'docno'.",
    ),
    "a label is missing": (
        lambda d: Qrels(LABELS.assign(label=[1, np.nan])),
        "Qrels, row 1: the label is missing. Fill it in or drop the row.",
    ),
    "a label between": (
        lambda d: Qrels(LABELS.assign(label=[1, 0.5])),
        f"Qrels: the label of topic '1', document 'b' {WHOLE} 0.5. {MAP}",
    ),
    "a label too large": (
        lambda d: Qrels(LABELS.assign(label=[1, 32768])),
        f"Qrels: the label of topic '1', document 'b' {WHOLE} 32768. {MAP}",
    ),
    "two labels": (
        lambda d: Qrels(LABELS.assign(docno="a")),
        "Qrels, rows 0 and 1: topic '1', document 'a' has label 1 and 0 (1 conflicting label in all). Keep one label per "
        "document; Qrels.union(conflict=...) merges two sets of judgments by a rule.",
    ),
    "topics are a text": (
        lambda d: Qrels(LABELS, topics="401"),
        "Qrels: topics must be several topic ids, got '401'.",
    ),
}


@pytest.mark.parametrize("fault", IN_MEMORY)
def test_in_memory(fault, tmp_path):
    call, message = IN_MEMORY[fault]
    check(tmp_path, call, message)


RUNS = RunSet.from_frames({"a": FRAME, "b": FRAME.assign(docno=["a", "c"])}, teams={"a": "A", "b": "B"})
JUDGED = Qrels(LABELS)
CALLS = {
    "an unknown run": (lambda d: RUNS["c"], "RunSet: no run 'c' among 'a', 'b'."),
    "a run 5": (lambda d: RUNS[5], "RunSet: no run 5 among 'a', 'b'."),
    "select a name": (lambda d: RUNS.select("aa"), "RunSet.select: no run 'aa' among 'a', 'b'. Did you mean 'a'?"),
    "select a team": (lambda d: RUNS.select(team="C"), "RunSet.select: no team 'C' among 'A', 'B'."),
    "select a type": (
        lambda d: RUNS.select(type="x"),
        "RunSet.select: no type 'x'; no run has a type. Give types= when reading the runs.",
    ),
    "select 5": (lambda d: RUNS.select(5), "RunSet.select: names must be a text or several, got 5."),
    "select pooled": (
        lambda d: RUNS.select(pooled="yes"),
        "RunSet.select: pooled must be True or False, got 'yes'.",
    ),
    "select leaves none": (
        lambda d: RUNS.select("a", team="B"),
        "RunSet.select: no run meets all conditions. See `runs.table` for what there is.",
    ),
    "unite with itself": (
        lambda d: RUNS | RUNS,
        "RunSet.union: 'a', 'b' in both fields. Rename or select before uniting.",
    ),
    "unite with 5": (lambda d: RUNS | 5, "RunSet.union: expected a RunSet, got int."),
    "unite two orders": (
        lambda d: RUNS.select("a") | RUNS.select("b").reorder("trec_eval9"),
        "RunSet.union: one field is ordered 'trec_eval', the other 'trec_eval9'. Call .reorder() on one of them.",
    ),
    "restrict to a text": (
        lambda d: RUNS.restrict("a"),
        "RunSet.restrict: docnos must be several document names, got one string.",
    ),
    "restrict to None": (
        lambda d: RUNS.restrict(None),
        "RunSet.restrict: docnos must be several document names, got NoneType.",
    ),
    "restrict to strangers": (
        lambda d: RUNS.restrict(["z"]),
        "RunSet.restrict: no run retrieves any of these documents. Are they docnos of this collection?",
    ),
    "reorder by rank": (
        lambda d: RUNS.reorder("rank"),
        "RunSet.reorder: 'rank' does not follow from the scores. Read the runs again with order='rank'.",
    ),
    "reorder by x": (lambda d: RUNS.reorder("x"), f"RunSet.reorder: order must be one of {ORDERS}, got 'x'."),
    "units without types": (
        lambda d: RUNS.units("type", "study"),
        "study: by='type' needs the type of every run; 2 runs without: 'a', 'b'. Give types= when reading the runs, or use "
        "by='run'.",
    ),
    "write where a file is": (
        lambda d: RUNS.write(d, compress=False),
        "RunSet.write: {d} has 'input.a' already. Pass overwrite=True to replace what is there.",
    ),
    "write into a file": (
        lambda d: RUNS.write(d / "input.a"),
        "RunSet.write: {d}/input.a/input.a.gz cannot be written: Not a directory.",
    ),
    "write to None": (lambda d: RUNS.write(None), "RunSet.write: expected a path to write to, got None."),
    "write a name with a slash": (
        lambda d: RunSet.from_frames({"a/b": FRAME}).write(d),
        "RunSet.write: 'a/b' cannot be a file name. Rename the run first.",
    ),
    "write a name with a blank": (
        lambda d: RunSet.from_frames({"a b": FRAME}).write(d),
        f"RunSet.write: run name: 'a b' {SPACES}",
    ),
    "write a docno with a blank": (
        lambda d: RunSet.from_frames({"a": FRAME.assign(docno=["a b", "c"])}).write(d),
        f"RunSet.write: docno: 'a b' {SPACES}",
    ),
    "write a topic with a tab": (
        lambda d: RunSet.from_frames({"a": FRAME.assign(qid="1\t2")}).write(d),
        f"RunSet.write: topic: '1\\t2' {SPACES}",
    ),
    "write an empty run": (
        lambda d: RunSet.from_frames({"b": FRAME, "c": FRAME.iloc[:0]}).write(d),
        "RunSet.write: 'c' has no documents, and an empty file is no run. Leave it out: runs.select(...).",
    ),
    "judgments that differ": (
        lambda d: JUDGED | Qrels(LABELS.assign(label=[0, 0])),
        "Qrels.union: topic '1', document 'a' has label 1 and 0 (1 such document). Choose conflict='first', 'second', "
        "'higher' or 'lower'.",
    ),
    "conflict": (
        lambda d: JUDGED.union(JUDGED, conflict="x"),
        "Qrels.union: conflict must be one of 'error', 'first', 'second', 'higher', 'lower', got 'x'.",
    ),
    "judgments and 5": (
        lambda d: JUDGED | 5,
        "Qrels.union: qrels must be a Qrels, a DataFrame or a file, got int.",
    ),
    "share": (
        lambda d: JUDGED.sample(2, seed=1),
        "Qrels.sample: share must be a number between 0 and 1, got 2.",
    ),
    "share nan": (
        lambda d: JUDGED.sample(np.nan, seed=1),
        "Qrels.sample: share must be a number between 0 and 1, got nan.",
    ),
    "seed": (
        lambda d: JUDGED.sample(0.5, seed=None),
        "Qrels.sample: seed must be a whole number, 0 or more, got None.",
    ),
    "select a topic": (lambda d: JUDGED.select(["9"]), "Qrels.select: '9' not among the topics '1'."),
    "select topics 5": (lambda d: JUDGED.select(5), "Qrels.select: topics must be topic ids, got 5."),
    "threshold": (
        lambda d: JUDGED.threshold(0),
        "Qrels.threshold: rel must be a grade, a whole number of at least 1, got 0.",
    ),
    "write over judgments": (
        lambda d: JUDGED.write(d / "input.a"),
        "Qrels.write: {d}/input.a exists. Pass overwrite=True to replace it.",
    ),
    "write judgments nowhere": (
        lambda d: JUDGED.write(d / "x" / "y"),
        "Qrels.write: {d}/x/y cannot be written: No such file or directory.",
    ),
    "write no judgments": (
        lambda d: Qrels(LABELS.iloc[:0], topics=["1"]).write(d / "new"),
        "Qrels.write: there are no judgments, and an empty file is no qrels file.",
    ),
    "write a judged docno with a blank": (
        lambda d: Qrels(LABELS.assign(docno=["a b", "c"])).write(d / "new"),
        f"Qrels.write: docno: 'a b' {SPACES}",
    ),
}


@pytest.mark.parametrize("fault", CALLS)
def test_call(fault, tmp_path):
    call, message = CALLS[fault]
    put(tmp_path, {"input.a": b"mine"})
    check(tmp_path, call, message)
    # nothing was written, no temporary file is left
    assert [path.name for path in tmp_path.iterdir()] == ["input.a"]
    assert (tmp_path / "input.a").read_bytes() == b"mine"


def test_a_name_too_long_for_a_file(tmp_path):
    with pytest.raises(InputError, match=r"aaa\.gz cannot be written: File name too long\.$"):
        RunSet.from_frames({"a" * 300: FRAME}).write(tmp_path)


def test_the_first_bad_file_is_told(tmp_path):
    # in the order of the files, whatever thread came first
    put(tmp_path, {f"r/{i:03}": RUN.replace(b"bm25", b"r%03d" % i) for i in range(40)})
    put(tmp_path, {"r/007": QRELS, "r/035": b""})
    for n_jobs in (1, 2, 8):
        with pytest.raises(InputError, match="007, line 1: expected six"):
            read_runs(tmp_path / "r", n_jobs=n_jobs)
