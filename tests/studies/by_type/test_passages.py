"""DL 2019 passages, the field of Yilmaz et al. 2020, table 2: all halves of the traditional runs."""

from __future__ import annotations

import pytest
from real_runs import read_real

from pt_reuse.data.judgments import read_qrels
from pt_reuse.studies.by_type import by_type

FIRST = "UNH_bm25, bm25base_ax_p, bm25base_p, bm25base_prf_p, bm25base_rm3_p"
GROUPS = ["traditional", "neural", "all"]


@pytest.fixture(scope="module")
def track(data):
    folder = data / "dl19-passages"
    if not folder.is_dir():
        pytest.skip("the test data has no folder dl19-passages")
    runs = read_real(
        folder / "inputs",
        teams=folder / "runs-pids",
        types=folder / "types",
        pooled=True,
        order="trec_eval9",
        pool_order="file",
        pool_depth=10,
    )
    return runs, read_qrels(folder / "qrels.gz").with_rel(2)


@pytest.fixture(scope="module")
def traditional(track):
    """Return all halves, pooled in the order in which the runs are scored, as in the reference numbers."""
    options = {"unit": "run", "splits": "all", "pools": "traditional", "gold": "judgments"}
    return by_type(*track, ["RR(rel=2)", "nDCG@10"], pool_order="trec_eval9", **options)


def of(frame, measure, column):
    return frame[frame["measure"] == measure].set_index("tested").loc[GROUPS, column]


def test_one_half(traditional):
    row = traditional.splits.set_index("picked").loc[FIRST]
    assert row["judged"] == 815
    split = traditional.by_split[traditional.by_split["split"] == row["split"]]
    assert of(split, "RR(rel=2)", "tau_b").round(4).tolist() == [0.7333, 0.0186, 0.1116]
    assert of(split, "nDCG@10", "tau_b").round(4).tolist() == [0.3333, -0.2308, -0.3266]
    assert of(split, "nDCG@10", "runs").tolist() == [6, 26, 32]


def test_means_over_all_halves(traditional):
    assert len(traditional.splits) == 462
    assert of(traditional.table, "RR(rel=2)", "tau_b").round(3).tolist() == [0.935, 0.087, 0.310]
    assert of(traditional.table, "RR(rel=2)", "tau_b_sd").round(2).tolist() == [0.10, 0.05, 0.09]
    assert of(traditional.table, "nDCG@10", "tau_b").round(3).tolist() == [0.590, -0.028, -0.152]
    assert of(traditional.table, "nDCG@10", "tau_b_sd").round(2).tolist() == [0.32, 0.09, 0.08]
