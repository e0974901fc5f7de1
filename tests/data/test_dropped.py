"""What is left out of a field when it is read: bad lines, other files, repeated documents; and where this is told."""

from __future__ import annotations

import gzip
import warnings

import pandas as pd
import pytest
from faults import OTHER, QRELS, RUN, put
from ir_measures import AP

from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet, read_runs
from pt_reuse.data.store import NAME
from pt_reuse.errors import InputError, ReuseWarning
from pt_reuse.pooling.depth import depth_pool
from pt_reuse.scoring.scores import score
from pt_reuse.studies.infer_pool import infer_pool
from pt_reuse.studies.leave_out_uniques import leave_out_uniques

COLUMNS = ["file", "line", "reason", "name", "qid", "docno"]
SKIP = {"bad_lines": "skip", "other_files": "skip"}
BAD = (
    b"# a run\n"
    b"1 Q0 d1 1 2.5 bm25\n"
    b"1 Q0 d9 2 bm25\n"
    b"1 Q0 d2 3 nan bm25\n"
    b"\n"
    b"1 Q0 d\0x 4 1 bm25\n"
    b"1 Q0 d3 5 1.5 bm25 and more\n"
    b"1 Q0 " + b"d" * 1025 + b" 6 1 bm25\n" + b"q" * 1025 + b" Q0 d4 1 1 bm25\n"
    b"\xff\n"
    b"2 Q0 d1 x 0.5 bm25"
)
FRAME = pd.DataFrame(
    {"qid": ["1", "1", "1", "2"], "docno": ["a", "b", "a", "b"], "score": [2.0, 1.0, 3.0, 1.0], "rank": [1, 2, 0, 0]}
)


def quietly(*given, **arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReuseWarning)
        return read_runs(*given, **arguments)


def rows(runs, *columns):
    frame = runs.dropped
    assert list(frame.columns) == COLUMNS
    assert frame["line"].dtype == "Int64"
    found = frame[list(columns)].astype(object)
    return [tuple(None if cell is pd.NA else cell for cell in row) for row in found.itertuples(index=False)]


def archive(folder):
    """Put down an archive as they are: runs with bad lines, a picture, judgments, a README, an empty file."""
    put(folder, {"r/a": BAD, "r/b.gz": gzip.compress(OTHER), "r/picture.png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"})
    put(folder, {"r/qrels": QRELS, "r/README": b"The runs of the track.\n\nSix words, as a run line.\n", "r/none": b""})
    return folder / "r"


def test_bad_lines(messages, tmp_path):
    put(tmp_path, {"a": BAD})
    with pytest.raises(InputError):
        read_runs(tmp_path / "a")
    runs = messages.warned(read_runs, times=2, source=tmp_path / "a", bad_lines="skip")
    assert runs["bm25"][["qid", "docno", "score"]].to_numpy().tolist() == [
        ["1", "d1", 2.5],
        ["1", "d3", 1.5],
        ["2", "d1", 0.5],
    ]
    assert rows(runs, "line", "reason") == [
        (3, "5 of 6 columns"),
        (4, "a score that is no finite number"),
        (6, "a NUL byte"),
        (8, "a docno of more than 1,024 bytes"),
        (9, "a qid of more than 1,024 bytes"),
        (10, "1 of 6 columns"),
    ]
    assert set(rows(runs, "file", "name", "qid", "docno")) == {(str(tmp_path / "a"), "bm25", None, None)}
    assert repr(runs).endswith("order='trec_eval', 6 lines left out")


def test_a_rank_is_bad_where_it_orders(tmp_path):
    put(tmp_path, {"a": BAD})
    runs = quietly(tmp_path / "a", bad_lines="skip", order="rank")
    assert rows(runs, "line", "reason")[-1] == (11, "a rank that is no finite number")
    assert runs.topics == ["1"]
    # of two documents with one rank nobody can tell which is wrong
    put(tmp_path, {"b": RUN.replace(b"d2 2", b"d2 1")})
    with pytest.raises(InputError, match="document 'd2'"):
        quietly(tmp_path / "b", bad_lines="skip", order="rank")


def test_other_files(messages, tmp_path):
    folder = archive(tmp_path)
    error = messages.refused(read_runs, source=folder)
    assert len(error.faults) == 5
    error = messages.refused(read_runs, source=folder, other_files="skip", place="{d}/r/a, line 3")
    error = messages.refused(read_runs, source=folder, bad_lines="skip")
    assert sorted(fault.place[len(str(folder)) + 1 :] for fault in error.faults) == [
        *["README, line 1", "none", "picture.png, line 1", "qrels, line 1"]
    ]
    runs = messages.warned(read_runs, times=2, source=folder, **SKIP)
    assert runs.names == ["bm25", "dense"]
    assert repr(runs).endswith("6 lines and 4 files left out")
    whole = [(file[len(str(folder)) + 1 :], line) for file, line in rows(runs, "file", "line")]
    assert sorted(name for name, line in whole if line is None) == ["README", "none", "picture.png", "qrels"]
    reason, name = rows(runs, "reason", "name")[0]
    assert name is None
    assert reason.startswith("no run line: expected six columns: qid Q0 docno rank score tag; found 5 of 6 columns in ")


REPEATED = (
    b"9 Q0 b 1 1 t\n9 Q0 a 2 2 t\n1 Q0 b 1 3 t\n# no line\n9 Q0 b 3 4 t\n1 Q0 c 2\n1 Q0 b 2 5 t\n9 Q0 b 4 0 t\n"
    b"1 Q0 b 3 4 t\n"
)


@pytest.mark.parametrize(("order", "lines"), [("trec_eval", [1, 3, 8, 9]), ("rank", [5, 7, 8, 9])])
def test_repeated_documents(order, lines, messages, tmp_path):
    put(tmp_path, {"a": REPEATED, "b": OTHER})
    files = [tmp_path / "a", tmp_path / "b"]
    with pytest.raises(InputError, match="more than once"):
        quietly(files, bad_lines="skip", order=order)
    runs = messages.warned(read_runs, source=files, bad_lines="skip", duplicates="best", order=order)
    expected = [(line, "9" if line in (1, 5, 8) else "1", "b", "t") for line in lines] + [(6, None, None, "t")]
    assert rows(runs, "line", "qid", "docno", "name") == sorted(expected)
    assert runs.left_out == "5 lines"


def test_frames(messages):
    runs = messages.warned(RunSet.from_frames, frames={"x": FRAME, "y": FRAME[1:]}, duplicates="best")
    assert rows(runs, *COLUMNS) == [(None, None, "a document that stands at a better rank of the list", "x", "1", "a")]
    assert runs.left_out == "1 row"


def united(tmp_path):
    folder = archive(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReuseWarning)
        return read_runs(folder, **SKIP), RunSet.from_frames({"x": FRAME, "y": FRAME[1:]}, duplicates="best")


def test_what_fields_made_of_it_keep(tmp_path):
    files, frames = united(tmp_path)
    assert (files | frames).left_out == "6 lines, 1 row and 4 files"
    assert (files | frames).dropped["name"].value_counts().to_dict() == {"bm25": 6, "x": 1}
    assert files.select("dense").left_out == "4 files"
    parts = files.select("bm25") | files.select("dense")
    assert (parts.left_out, rows(parts, *COLUMNS)) == (files.left_out, rows(files.select("bm25"), *COLUMNS))
    assert files.select("bm25").left_out == "6 lines and 4 files"
    assert frames.select("y").left_out == ""
    for same in (files.reorder("file"), files.restrict(["d1"]), files.with_metadata(teams={"bm25": "A", "dense": "B"})):
        pd.testing.assert_frame_equal(same.dropped, files.dropped)
    mine = files.dropped
    mine.loc[0, "file"] = "mine"
    assert "mine" not in set(files.dropped["file"])


def test_results_say_what_was_left_out(tmp_path):
    files, _ = united(tmp_path)
    runs = files.with_metadata(teams={"bm25": "A", "dense": "B"})
    qrels = Qrels(pd.DataFrame({"qid": ["1", "1"], "docno": ["d1", "d2"], "label": [1, 0]}))
    said = "6 lines and 4 files"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReuseWarning)
        lou = leave_out_uniques(runs, qrels, [AP], depth=10)
        results = [score(runs, qrels, [AP]), depth_pool(runs, depth=10), lou, lou.scores, infer_pool(runs, qrels)]
    assert [result.settings["dropped"] for result in results] == [said] * 5


def test_the_cache_keeps_what_was_left_out(messages, tmp_path):
    folder, cache = archive(tmp_path), tmp_path / "cache"
    put(folder, {"c": REPEATED, "d": b"7 Q0 \xe9 1 2 \xff\n7 Q0 \xe9 1 3 \xff\n7\n"})
    first = messages.warned(read_runs, times=2, source=folder, cache=cache, duplicates="best", **SKIP)
    again = messages.warned(read_runs, times=2, source=folder, cache=cache, duplicates="best", **SKIP)
    assert (cache / NAME).exists()
    assert len(first.dropped) == 6 + 4 + 5 + 2
    assert rows(first, "line", "docno")[-5:-2] == [(1, "\udce9"), (3, None), (None, None)]
    pd.testing.assert_frame_equal(again.dropped, first.dropped)
    assert again.names == first.names == ["bm25", "dense", "t", "\udcff"]
    pd.testing.assert_frame_equal(again.to_frame(), first.to_frame())


def test_a_topic_that_would_be_a_comment_is_not_written(messages, tmp_path):
    frame = pd.DataFrame({"qid": ["#1", "2"], "docno": "d", "score": 1.0, "label": 1})
    messages.refused(RunSet.from_frames({"x": frame}).write, folder=tmp_path)
    messages.refused(Qrels(frame[["qid", "docno", "label"]]).write, path=tmp_path / "q")
    assert not list(tmp_path.iterdir())
