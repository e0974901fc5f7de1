"""Runs of a collection with faults, left out on request: lines, and files that are no run."""

from __future__ import annotations

import warnings

import pytest
from collection_parts import offline, write_run
from faults import OTHER, RUN, put

import pt_reuse as ptr
from pt_reuse._errors import InputError, ReuseWarning

SKIP = {"bad_lines": "skip", "other_files": "skip"}


def quietly(get, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReuseWarning)
        return get(**options)


def test_own_runs(tmp_path):
    put(tmp_path, {"runs/a": RUN + b"1 Q0 d3\n", "runs/b": OTHER, "runs/README": b"two runs\n"})
    collection = ptr.register_collection("mine/faulty", runs=tmp_path / "runs", teams={"bm25": "A", "dense": "B"})
    with pytest.raises(InputError) as caught:
        collection.get_runs()
    assert len(caught.value.faults) == 2
    runs = quietly(collection.get_runs, **SKIP)
    assert (runs.names, runs.teams) == (["bm25", "dense"], ["A", "B"])
    assert runs.dropped[["name", "line"]].astype(object).where(
        runs.dropped[["name", "line"]].notna(), 0
    ).to_numpy().tolist() == [[0, 0], ["bm25", 3]]
    assert quietly(collection.get_runs, names="dense", **SKIP).left_out == "1 file"


def test_runs_on_record(home):
    folder = home / "trec-8" / "adhoc" / "runs"
    write_run(folder / "input.1", "1")
    write_run(folder / "input.INQ603", "INQ603")
    with (folder / "input.1").open("ab") as file:
        file.write(b"401 Q0 late 9 NaN 1\n")
    (folder / "input.INQ604").write_bytes(b"<html>log in</html>\n")
    with pytest.raises(InputError) as caught:
        quietly(offline().get_runs)
    assert len(caught.value.faults) == 2
    runs = quietly(offline().get_runs, **SKIP)
    assert runs.names == ["1", "INQ603"]
    assert runs.left_out == "1 line and 1 file"
    assert runs.run_table["team"].notna().all()
    assert sorted(runs.dropped["file"].str.rpartition("/")[2]) == ["input.1", "input.INQ604"]
