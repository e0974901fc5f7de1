"""Deep Learning by the names of its collections: pool order, depth and grade are those on record."""

from __future__ import annotations

import shutil

import pyterrier as pt
import pytest
from ir_measures import nDCG

from pt_reuse.pooling.depth import depth_pool
from pt_reuse.studies.leave_out_uniques import leave_out_uniques

#: judgments made at random, or by hand, are nobody's pool
pytestmark = pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")


def test_a_collection_read_by_name(data, monkeypatch, tmp_path):
    monkeypatch.delenv("PT_REUSE_DATA", raising=False)
    monkeypatch.setenv("PT_REUSE_HOME", str(tmp_path))
    for name, folder, runs in (("trec-2019", "dl19-passages", 37), ("trec-2021", "dl21-passages", 63)):
        if not (data / folder).is_dir():
            pytest.skip(f"the test data has no folder {folder}")
        (tmp_path / name / "deep" / "passages").mkdir(parents=True)
        shutil.copy(data / folder / "qrels.gz", tmp_path / name / "deep" / "passages" / "qrels.txt.gz")
        dataset = pt.get_dataset(f"reuse:{name}/deep/passages")
        names = dataset.submitted()["name"].tolist()
        assert len(names) == runs
        field = dataset.get_runs(names=names[:9], runs=data / folder / "inputs")
        assert (field.pool_order, field.pool_depth, field.pooled.tolist()) == ("file", 10, [True] * 9)
        pool = depth_pool(field)
        assert (pool.order, pool.settings["depth"]) == ("file", 10)
        judgments = dataset.get_judgments()
        assert judgments.stated_rel == 2
        assert "relevant from label 2 (labels 0: " in repr(judgments)
        lou = leave_out_uniques(field, judgments, nDCG @ 10)
        assert {key: lou.settings[key] for key in ("depth", "depth from", "relevant", "pool order")} == {
            "depth": 10,
            "depth from": "the field",
            "relevant": "label of at least 2",
            "pool order": "file",
        }
