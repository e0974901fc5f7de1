"""DL 2019 passages, the field of Yilmaz et al. 2020, table 2: all halves of the traditional runs, 40 neural ones."""

from __future__ import annotations

import pytest
from real_runs import read_real

from pt_reuse.data.judgments import read_qrels
from pt_reuse.studies.by_type import by_type
from pt_reuse.studies.found_by_depth import found_by_depth

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
    return by_type(*track, pool_order="trec_eval9", **options)


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


def test_random_neural_halves(track):
    found = by_type(*track, unit="run", splits=40, pools="neural", gold="judgments")
    for measure, expected in (("RR(rel=2)", [0.73, 0.97, 0.94]), ("nDCG@10", [0.76, 0.90, 0.89])):
        assert of(found.table, measure, "tau_b").tolist() == pytest.approx(expected, abs=0.045)
    assert found.settings["pool order"] == "file"
    assert found.settings["pool of all"] == 2494
    assert found.settings["pool of all without judgment"] == 0


def test_what_each_type_finds(track):
    found = found_by_depth(*track, depths=[10, 11])
    assert found.judged_to == 10
    rows = found.table.set_index(["type", "depth"])
    # relevant from label 2: counted by a script of sets
    assert rows.loc[("all", 10), ["documents", "relevant"]].tolist() == [2494, 753]
    assert rows.loc[("neural", 10), ["relevant", "unique"]].tolist() == [703, 377]
    assert rows.loc[("traditional", 10), ["relevant", "unique"]].tolist() == [376, 50]
