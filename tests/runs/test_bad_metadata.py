"""Faults of teams, types and pooled flags, and all warnings of the reading side, with the exact message."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from faults import FRAME, LABELS, QRELS, RUN, TAGS, TWO, TWO_COLUMNS, check, put

from pt_reuse._errors import ReuseWarning
from pt_reuse.qrels.judgments import Qrels
from pt_reuse.qrels.reading import read_qrels
from pt_reuse.runs.reading import read_runs
from pt_reuse.runs.run_set import RunSet

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
        "a NUL byte, so this is not a plain text file (UTF-16?). Give the path of a CSV with a header, or a "
        "DataFrame, as "
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
        "topic ids are strings, so '001', '1' are different topics; 1 such group among the runs. If they are "
        "meant to be "
        "one topic, write its id alike everywhere.",
    ),
    "001 and 1 in frames": (
        lambda d: RunSet.from_frames({"a": FRAME, "b": FRAME.assign(qid="01")}),
        "topic ids are strings, so '01', '1' are different topics; 1 such group among the runs. If they are "
        "meant to be "
        "one topic, write its id alike everywhere.",
    ),
    "001 and 1 in a union": (
        lambda d: RunSet.from_frames({"a": FRAME}) | RunSet.from_frames({"b": FRAME.assign(qid="01")}),
        "topic ids are strings, so '01', '1' are different topics; 1 such group among the runs. If they are "
        "meant to be "
        "one topic, write its id alike everywhere.",
    ),
    "a judgment twice": (
        lambda d: read_qrels(d / "twice"),
        "{d}/twice: 2 judgments given more than once with the same label (topic '1', document 'd1', lines 1 "
        "and 4); each "
        "counts once.",
    ),
    "a judgment twice in a frame": (
        lambda d: Qrels(LABELS.assign(docno="a", label=1)),
        "Qrels: 1 judgment given more than once with the same label (topic '1', document 'a', rows 0 and 1); "
        "each counts "
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
