"""Ties under ``order="rank"``: a run file tells the line, a table and a frame the run."""

from __future__ import annotations

import pandas as pd
import pytest

import pt_reuse as ptr

LINES = ["1 Q0 d1 1 9.0 a", "1 Q0 d2 2 8.0 a", "2 Q0 d1 1 9.0 a", "2 Q0 d5 1 8.0 a"]


@pytest.mark.parametrize("within", [False, True])
def test_the_line_of_a_run_file(tmp_path, within):
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs/a.txt").write_text("\n".join(LINES) + "\n")
    memory = {"memory": "64MB", "cache": tmp_path / "cache"} if within else {}
    with pytest.raises(ptr.InputError, match=r"a\.txt, line 4: topic '2', document 'd5'"):
        ptr.read_runs(tmp_path / "runs", order="rank", **memory)


@pytest.mark.parametrize("within", [False, True])
def test_the_run_of_a_table(tmp_path, within):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame([line.split() for line in LINES], columns=["qid", "q0", "docno", "rank", "score", "name"])
    frame = frame.astype({"rank": int, "score": float}).drop(columns="q0")
    frame = pd.concat([frame.assign(rank=[1, 2, 1, 2], name="whole"), frame])
    frame.to_parquet(tmp_path / "runs.parquet")
    memory = {"memory": "64MB", "cache": tmp_path / "cache"} if within else {}
    with pytest.raises(ptr.InputError, match=r"run 'a': topic '2', document 'd5'"):
        ptr.read_runs(tmp_path / "runs.parquet", order="rank", **memory)


def test_the_run_of_a_frame():
    frame = pd.DataFrame({"qid": "1", "docno": ["d1", "d2"], "score": [2.0, 1.0], "rank": [1, 1]})
    with pytest.raises(ptr.InputError, match=r"run 'b': topic '1', document 'd2'"):
        ptr.RunSet.from_frames({"b": frame}, order="rank")
