"""Faults of teams, types and pooled flags, and all warnings of the reading side, by argument and place."""

from __future__ import annotations

import pandas as pd
import pytest
from faults import FRAME, TWO, put

from pt_reuse.data.run_reading import read_runs
from pt_reuse.data.run_set import RunSet

METADATA = {
    # name: (arguments of read_runs, the argument at fault, the place)
    "two rows for a run": (
        {"metadata": pd.DataFrame({"name": ["bm25", "bm25"], "team": ["A", "B"]})}, "metadata", "",
    ),
    "no column name": ({"metadata": pd.DataFrame({"run": ["bm25"]})}, "metadata", ""),
    "a name is missing": ({"metadata": pd.DataFrame({"name": ["bm25", None]})}, "metadata", "row 1"),
    "two columns team": (
        {"metadata": pd.DataFrame([["bm25", "A", "B"]], columns=["name", "team", "team"])}, "metadata", "",
    ),
    "teams name no run": ({"teams": {"x": "A"}}, "teams", ""),
    "teams 5": ({"teams": 5}, "teams", ""),
    "teams frame without team": ({"teams": pd.DataFrame({"name": ["bm25"], "group": ["A"]})}, "teams", ""),
    "teams series with a run twice": (
        {"teams": pd.Series(["A", "B", "C"], index=["bm25", "dense", "bm25"])}, "teams", "",
    ),
    "pooled names no run": ({"pooled": ["x"]}, "pooled", ""),
    "pooled 5": ({"pooled": 5}, "pooled", ""),
    "pooled is no flag": ({"pooled": {"bm25": "maybe", "dense": "no"}}, "pooled", "run 'bm25'"),
}  # fmt: skip
METADATA_FILES = {
    # name: (argument, file m, the place after the file)
    "metadata is missing": ("metadata", None, ""),
    "a cell too many": ("metadata", b"name,team\nbm25,A\ndense,B,C\n", ", line 3"),
    "an open quote": ("metadata", b'name,team\nbm25,"A\ndense,B', ", line 3"),
    "two teams for a run": ("teams", b"# comment\nbm25 A\n\ndense B\nbm25 C\n", ", line 5"),
    "one column": ("teams", b"bm25 A\ndense\n", ", line 2"),
    "three columns": ("types", b"bm25,A,x\n", ", line 1"),
}  # fmt: skip


@pytest.mark.parametrize("fault", METADATA)
def test_metadata(fault, tmp_path, messages):
    arguments, argument, place = METADATA[fault]
    put(tmp_path, TWO)
    messages.refused(lambda: read_runs(tmp_path / "r", **arguments), argument=argument, place=place)
    # in memory the same
    frames = {"bm25": FRAME, "dense": FRAME}
    messages.refused(lambda: RunSet.from_frames(frames, **arguments), argument=argument, place=place)


@pytest.mark.parametrize("fault", METADATA_FILES)
def test_metadata_file(fault, tmp_path, messages):
    argument, data, place = METADATA_FILES[fault]
    put(tmp_path, TWO if data is None else {**TWO, "m": data})
    call = lambda: read_runs(tmp_path / "r", **{argument: tmp_path / "m"})  # noqa: E731
    messages.refused(call, argument=argument, place=f"{{d}}/m{place}")
