"""infer_pool gives the same in jobs, on fields in blocks and on any backend, and takes its files away."""

from __future__ import annotations

import os

import numpy as np
import pytest
from joblib import parallel_config
from opened import opened
from topic_ways import odd_field

from pt_reuse.studies.infer_pool import judged_ranks
from pt_reuse.studies.infer_pool.inference import infer_pool
from pt_reuse.studies.infer_pool.judged_ranks import Passes

RUNS, QRELS = odd_field()
#: way -> rows of a block, None in memory; jobs at a time that joblib is configured for; that the call asks for
WAYS = {"blocks": (40, None, 1), "threads": (None, None, 2), "threads on blocks": (40, 2, None)}


def tables(runs, **options):
    found = infer_pool(runs, QRELS, **options)
    assert len(found.tried) > 1  # several orders, tolerances and ways
    return {**found.tables(), "said": found.explanation, "settings": found.settings}


@pytest.mark.parametrize("way", list(WAYS))
def test_every_way_gives_the_same(way, monkeypatch, tmp_path):
    alone = tables(RUNS, n_jobs=1)
    rows, configured, n_jobs = WAYS[way]
    monkeypatch.setattr(judged_ranks, "_RANKS", 1)
    monkeypatch.setattr(judged_ranks, "_PARTS", 3)
    monkeypatch.setenv("JOBLIB_TEMP_FOLDER", str(tmp_path))
    with parallel_config("threading", n_jobs=configured or 1):
        found = tables(RUNS if rows is None else opened(RUNS, rows), n_jobs=n_jobs)
    assert list(found) == list(alone)
    for name, table in alone.items():
        assert table.equals(found[name]) if hasattr(table, "equals") else table == found[name], name
    assert not [name for name in os.listdir(tmp_path) if name.startswith("pt_reuse-")]


def test_what_is_kept_in_a_file_comes_back(tmp_path):
    arrays = [np.arange(6, dtype=np.int16).reshape(2, 3), np.zeros((4, 0), dtype=np.int32), np.array([5, -1], np.int32)]
    kept = Passes(tmp_path)
    for array, back in zip(arrays, [kept.keep(array) for array in arrays], strict=True):
        np.testing.assert_array_equal(back, array, strict=True)
