"""Arguments of reading runs are judged before a file is read, or a pipeline run, as far as they can be."""

from __future__ import annotations

import pandas as pd
import pyterrier as pt
import pytest
from faults import FRAME, OTHER, RUN, put

from pt_reuse.data.run_reading import read_runs
from pt_reuse.data.run_set import RunSet


def reached(*_, **__):
    pytest.fail("the arguments were to be judged before")


@pytest.fixture
def runs(tmp_path, monkeypatch):
    put(tmp_path, {"r/bm25": RUN, "r/dense": OTHER, "blank": b"\n"})
    monkeypatch.setattr("pt_reuse.data.run_files.parse_files", reached)
    for long in ("parse_files", "fingerprints", "load_whole"):
        monkeypatch.setattr(f"pt_reuse.data.store.{long}", reached)
    return tmp_path / "r"


#: what is wrong -> the arguments, a path being that of a file beside the runs
READING = {
    "order": {"order": "x"},
    "pool_order": {"pool_order": "x"},
    "n_jobs": {"n_jobs": 0},
    "cache with NUL": {"cache": "a\0"},
    "memory": {"memory": "much"},
    "memory without cache": {"memory": "1GB"},
    "teams 5": {"teams": 5},
    "teams twice": {"teams": pd.Series(["A", "B"], index=["bm25", "bm25"])},
}


@pytest.mark.parametrize("fault", READING)
def test_before_a_file_is_read(fault, runs, messages):
    messages.refused(lambda: read_runs(runs, **READING[fault]), argument=next(iter(READING[fault])))


PIPELINES = {
    "order": {"order": "x"},
    "pool_order": {"pool_order": "x"},
    "teams": {"teams": {"x": "A"}},
    "batch_size": {"batch_size": 0},
}


@pytest.mark.parametrize("fault", PIPELINES)
def test_before_a_pipeline_is_run(fault, messages):
    pipelines = {"a": pt.apply.generic(reached)}
    messages.refused(lambda: RunSet.from_pipelines(pipelines, FRAME, **PIPELINES[fault]), argument=fault)


def test_from_pipelines_labels_and_orders_as_from_frames_does():
    given = {"teams": {"a": "A"}, "pooled": (name for name in ["a"]), "order": "file", "pool_order": "rank"}
    runs = RunSet.from_pipelines({"a": pt.Transformer.from_df(FRAME)}, FRAME[["qid"]].drop_duplicates(), **given)
    assert runs.run_table.values.tolist() == [["a", "A", None, True]]
    assert (runs.order, runs.pool_order) == ("file", "rank")
