"""The summary over the field: where a user finds it, what travels with the result, and what is None."""

from __future__ import annotations

import json

import pandas as pd
import pyterrier as pt
import pytest
from experiment_parts import FIELD, NAMES, OTHERS, QRELS, TOPICS, frames
from ir_measures import AP, P, SetP

import pt_reuse as ptr


def test_summary_is_where_a_user_finds_it():
    lou = ptr.leave_out_uniques(FIELD.runs.reorder("trec_eval9"), FIELD.qrels, [AP, P @ 5], by="run", depth=8)
    expected = lou.summary.assign(measure=["map", "P@5"])
    pooled = dict(zip(FIELD.runs.names, FIELD.runs.pooled.tolist(), strict=True))
    arguments = {"field": OTHERS, "by": "run", "depth": 8, "pooled": {name: pooled[name] for name in NAMES}}
    for more in ({}, {"perquery": True}, {"perquery": "both"}, {"highlight": "bold"}, {"baseline": 0, "round": 2}):
        result = ptr.Experiment(frames(), TOPICS, QRELS, ["map", P @ 5], **arguments, **more)
        found = ptr.reuse_summary(result)
        assert {"own_tau_b", "own_gamma", "own_max_drop"} <= set(found)
        numbers = [column for column in found if column != "field_worst"]
        pd.testing.assert_frame_equal(found[numbers], expected[numbers])
    settings = result.attrs["reuse"]["settings"]
    assert (settings["by"], settings["depth"], settings["order"], settings["runs ranked"]) == (
        "run",
        8,
        "trec_eval9",
        8,
    )


def test_attrs_are_plain_and_travel(tmp_path):
    result = ptr.Experiment(frames(), TOPICS, QRELS, [AP, SetP], field=OTHERS, depth=8)
    attrs = result.attrs
    assert json.loads(json.dumps(attrs)) == attrs
    assert result.copy().attrs == attrs
    assert pd.concat([result, result]).attrs == attrs
    assert (result == result.copy()).to_numpy().all()
    assert ptr.reuse_summary(result.round(2).sort_values("AP")).equals(ptr.reuse_summary(result))
    assert len(json.loads(result.to_json(orient="records"))) == 3
    result.to_pickle(tmp_path / "result")
    assert pd.read_pickle(tmp_path / "result").attrs == attrs
    pytest.importorskip("pyarrow")
    result.to_parquet(tmp_path / "result.parquet")
    assert pd.read_parquet(tmp_path / "result.parquet").attrs == attrs


def test_summary_errors(messages):
    ranked = ptr.Experiment(frames(), TOPICS, QRELS, [AP], reuse="rank")
    assert messages.warned(lambda: ptr.reuse_summary(ranked)).empty
    as_dicts = ptr.Experiment(frames(), TOPICS, QRELS, [AP], dataframe=False)
    both = ptr.Experiment(frames(), TOPICS, QRELS, [AP], perquery="both", dataframe=False)
    for value in (as_dicts, both, pt.Experiment(frames(), TOPICS, QRELS, [AP]), None, 3, ()):
        messages.refused(lambda value=value: ptr.reuse_summary(value), argument="result")


def test_a_unit_that_does_not_exist_is_none(tmp_path):
    # P@1 changes no rank, AP does
    found = None
    for name in NAMES:
        lou = ptr.leave_out_uniques(FIELD.runs, FIELD.qrels, ["AP", "P(rel=9)@1"], depth=8)
        found = lou.summary["field_worst"].tolist()
        assert isinstance(found[0], str), name
        assert found[1] is None
    lou.save(tmp_path / "lou")
    assert ptr.read_result(tmp_path / "lou").summary["field_worst"].tolist() == found
    assert all(value is None or isinstance(value, str) for value in lou.summary.copy()["field_worst"])
    for form in ({}, {"perquery": True}, {"perquery": "both"}, {"highlight": "bold"}):
        result = ptr.Experiment(frames(), TOPICS, QRELS, [AP, P(rel=9) @ 1], field=OTHERS, depth=8, **form)
        worst = ptr.reuse_summary(result)["field_worst"].tolist()
        assert isinstance(worst[0], str)
        assert worst[1] is None
    kept = json.loads(json.dumps(result.data.attrs["reuse"]["summary"]))
    assert [row["field_worst"] for row in kept] == worst
