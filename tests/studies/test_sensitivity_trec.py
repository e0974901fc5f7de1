"""The conventions that are known to move leave-out-uniques on TREC-8 and on Deep Learning 2021."""

from __future__ import annotations

import pytest
from ir_measures import AP, nDCG
from real_runs import read_real

import pt_reuse as ptr
from pt_reuse.data.judgments import read_qrels

pytestmark = pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")


def at(result, convention, figure, measure):
    rows = result.table[(result.table["convention"] == convention) & (result.table["figure"] == figure)]
    return rows[rows["measure"] == measure].set_index("value")["here"]


def test_who_contributed_and_how_scores_are_ranked_on_trec8(trec8):
    found = ptr.profile.sensitivity(
        ptr.leave_out_uniques,
        trec8.runs,
        trec8.qrels,
        AP,
        grid={"contributors": None, "pool_order": ["trec_eval", "trec_eval9"]},
    )
    tau, drop = (at(found, "contributors", figure, "AP") for figure in ("own_tau_b", "own_max_drop"))
    assert tau.round(5).to_dict() == {"pooled": 0.99806, "all": pytest.approx(0.9983, abs=5e-5)}
    assert drop.to_dict() == {"pooled": 2, "all": 2}
    assert at(found, "contributors", "field_max_drop", "AP").to_dict() == {"pooled": 4, "all": 3}


def test_which_label_is_relevant_and_the_order_of_pooling_on_dl21(data):
    folder = data / "dl21-passages"
    if not folder.is_dir():
        pytest.skip("the test data has no folder dl21-passages")
    runs = read_real(
        folder / "inputs", teams=folder / "runs-pids", pooled=True, order="file", pool_order="file", pool_depth=10
    )
    qrels = read_qrels(folder / "qrels.gz")
    grid = {"rel": [1, 2], "pool_order": ["file", "rank", "trec_eval"], "order": ["trec_eval9", "trec_eval", "file"]}
    found = ptr.profile.sensitivity(ptr.leave_out_uniques, runs, qrels, [nDCG @ 10], grid=grid)
    assert at(found, "rel", "field_max_drop", "nDCG@10").to_dict() == {"1": 21, "2": 14}
    tau = at(found, "order", "own_tau_b", "nDCG@10")
    assert tau.round(4).to_dict() == {"trec_eval9": 0.8769, "trec_eval": 0.8790, "file": 0.8759}
    loss = at(found, "order", "largest_loss_pct", "nDCG@10")
    assert loss.round(2).to_dict() == {"trec_eval9": 44.00, "trec_eval": 44.00, "file": 43.70}
