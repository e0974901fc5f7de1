"""What pt.Experiment saves and reads again, and what is kept of pipelines, give the same tables."""

from __future__ import annotations

import pandas as pd
import pytest
from experiment_parts import FIELD, NAMES, OTHERS, QRELS, TOPICS, Retriever, retrievers
from ir_measures import AP, P

import pt_reuse as ptr

PAIR = [AP, P @ 5]


def compared(systems=None, **arguments):
    given = {"field": OTHERS, "depth": 5, "pooled": True, **arguments}
    return ptr.Experiment(systems or retrievers(), TOPICS, QRELS, PAIR, **given)


def test_save_modes_protect_what_they_protect(tmp_path):
    folder = {"save_dir": str(tmp_path)}
    first = compared(**folder)
    kept = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    other = {name: Retriever(FIELD.runs["lex1b"]) for name in NAMES}
    with pytest.raises(ValueError, match="already exists"):
        compared(other, save_mode="error", **folder)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == kept
    # the saved results are ranked, and no pipeline runs
    pd.testing.assert_frame_equal(compared(other, save_mode="reuse", **folder), first)
    assert [system.calls for system in other.values()] == [0, 0, 0]
    written = compared({"lex1a": other["neu2a"]}, field=None, pooled=None, depth=None, save_mode="overwrite", **folder)
    assert written.runs.names == ["lex1a"]


def test_runs_that_are_kept_do_for_pipelines(tmp_path):
    for _ in range(2):
        systems = retrievers()
        runs = ptr.RunSet.from_pipelines(systems, TOPICS, cache=tmp_path)
        found = ptr.Experiment(runs, TOPICS, QRELS, PAIR, field=OTHERS, depth=5, teams={name: name for name in NAMES})
        expected = ptr.Experiment(retrievers(), TOPICS, QRELS, PAIR, field=OTHERS, depth=5)
        pd.testing.assert_frame_equal(found, expected, check_exact=True)
    assert [system.calls for system in systems.values()] == [0, 0, 0]
