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
    "names": {"names": "x"},
    "duplicates": {"duplicates": "x"},
    "bad_lines": {"bad_lines": "x"},
    "other_files": {"other_files": "best"},
    "n_jobs": {"n_jobs": 0},
    "verbose": {"verbose": "no"},
    "cache 5": {"cache": 5},
    "cache with NUL": {"cache": "a\0"},
    "memory": {"memory": "much"},
    "memory without cache": {"memory": "1GB"},
    "teams 5": {"teams": 5},
    "teams frame": {"teams": pd.DataFrame({"name": ["bm25"]})},
    "teams twice": {"teams": pd.Series(["A", "B"], index=["bm25", "bm25"])},
    "types set": {"types": {"bm25"}},
    "pooled 5": {"pooled": 5},
    "metadata 5": {"metadata": 5},
    "metadata without names": {"metadata": pd.DataFrame({"run": ["bm25"]})},
}
FILES = {
    "no file of teams": ("teams", "nowhere"),
    "blank file of types": ("types", "blank"),
    "no file of pooled": ("pooled", "nowhere"),
    "no file of metadata": ("metadata", "nowhere"),
    "cache is a file": ("cache", "blank"),
    "cache below a file": ("cache", "blank/x"),
    "cache holds the runs": ("cache", "r"),
}
#: what can be judged where runs are named by their files, which are called as the runs are
BY_FILE = {
    "teams of strangers": {"teams": {"x": "A"}},
    "pooled names strangers": {"pooled": ["x"]},
    "pooled is no flag": {"pooled": {"bm25": "maybe", "dense": "no"}},
}


@pytest.mark.parametrize("fault", READING)
def test_before_a_file_is_read(fault, runs, messages):
    messages.refused(lambda: read_runs(runs, **READING[fault]), argument=next(iter(READING[fault])))


@pytest.mark.parametrize("fault", FILES)
def test_files_before_a_run_is_read(fault, runs, messages):
    argument, name = FILES[fault]
    messages.refused(lambda: read_runs(runs, **{argument: runs.parent / name}), argument=argument)


@pytest.mark.parametrize("fault", BY_FILE)
def test_names_of_files_are_known_before(fault, runs, messages):
    call = lambda: read_runs(runs, names="file", **BY_FILE[fault])  # noqa: E731
    messages.refused(call, argument=next(iter(BY_FILE[fault])))


def test_two_files_of_one_name_are_told_before(runs, messages):
    other = runs.parent / "other" / "bm25"
    other.parent.mkdir()
    other.write_bytes((runs / "bm25").read_bytes())
    messages.refused(lambda: read_runs([runs / "bm25", other], names="file"))


PIPELINES = {
    "order": {"order": "x"},
    "pool_order": {"pool_order": "x"},
    "duplicates": {"duplicates": "x"},
    "teams": {"teams": {"x": "A"}},
    "pooled": {"pooled": 5},
    "metadata": {"metadata": 5},
    "batch_size": {"batch_size": 0},
    "verbose": {"verbose": "no"},
}


@pytest.mark.parametrize("fault", PIPELINES)
def test_before_a_pipeline_is_run(fault, messages):
    pipelines = {"a": pt.apply.generic(reached)}
    messages.refused(lambda: RunSet.from_pipelines(pipelines, FRAME, **PIPELINES[fault]), argument=fault)


def test_all_pipelines_are_looked_at_before_the_first_is_run(messages):
    pipelines = {"a": pt.apply.generic(reached), "b": 5}
    messages.refused(lambda: RunSet.from_pipelines(pipelines, FRAME), argument="pipelines")


def test_an_argument_that_does_not_exist_is_told_before_a_pipeline_is_run():
    with pytest.raises(TypeError, match="team"):
        RunSet.from_pipelines({"a": pt.apply.generic(reached)}, FRAME, team={"a": "A"})


def test_from_pipelines_labels_and_orders_as_from_frames_does():
    given = {"teams": {"a": "A"}, "pooled": (name for name in ["a"]), "order": "file", "pool_order": "rank"}
    runs = RunSet.from_pipelines({"a": pt.Transformer.from_df(FRAME)}, FRAME[["qid"]].drop_duplicates(), **given)
    assert runs.run_table.values.tolist() == [["a", "A", None, True]]
    assert (runs.order, runs.pool_order) == ("file", "rank")
