"""The summary over the field: where a user finds it, what travels with the result, and what is None."""

from __future__ import annotations

import pandas as pd
import pyterrier as pt
from experiment_parts import FIELD, NAMES, OTHERS, QRELS, TOPICS, frames
from ir_measures import AP, P

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


def test_summary_errors(messages):
    ranked = ptr.Experiment(frames(), TOPICS, QRELS, [AP], reuse="rank")
    assert messages.warned(lambda: ptr.reuse_summary(ranked)).empty
    as_dicts = ptr.Experiment(frames(), TOPICS, QRELS, [AP], dataframe=False)
    both = ptr.Experiment(frames(), TOPICS, QRELS, [AP], perquery="both", dataframe=False)
    for value in (as_dicts, both, pt.Experiment(frames(), TOPICS, QRELS, [AP]), None, 3, ()):
        messages.refused(lambda value=value: ptr.reuse_summary(value), argument="result")
