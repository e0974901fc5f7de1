"""Leave-out-uniques on Deep Learning 2019 and 2021: pooled in file order, scored in trec_eval's or in file order."""

from __future__ import annotations

import pytest
from ir_measures import nDCG

from pt_reuse.qrels.reading import read_qrels
from pt_reuse.runs.reading import read_runs
from pt_reuse.studies.uniques import leave_out_uniques

#: judgments made at random, or by hand, are nobody's pool
pytestmark = pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")


@pytest.fixture(scope="module", params=["dl19-passages", "dl21-passages"])
def track(request, data):
    """Return the name, runs and judgments of a track; its types are on record for 2019 only."""
    folder = data / request.param
    if not folder.is_dir():
        pytest.skip(f"the test data has no folder {request.param}")
    types = folder / "types"
    runs = read_runs(
        folder / "inputs",
        teams=folder / "runs-pids",
        types=types if types.exists() else None,
        pooled=True,
        order="trec_eval9",
        pool_order="file",
    )
    return request.param, runs, read_qrels(folder / "qrels.gz")


#: track -> own largest drop, whole field's largest drop and its team, uniques judged and relevant
COUNTS = {
    "dl19-passages": (5, 8, "ICTNET", 1317, 373),
    "dl21-passages": (14, 21, "h2oloo", 4658, 1996),
}
#: order of the scores -> own tau_b and largest loss of a run, in per cent
SCORED = {
    "dl19-passages": {"trec_eval9": (0.8829, 13.77), "trec_eval": (0.8829, 13.77), "file": (0.8829, 13.77)},
    "dl21-passages": {"trec_eval9": (0.8769, 44.00), "trec_eval": (0.8790, 44.00), "file": (0.8759, 43.70)},
}


@pytest.mark.parametrize("order", ["trec_eval9", "trec_eval", "file"])
def test_leave_out_uniques(track, order):
    name, runs, qrels = track
    lou = leave_out_uniques(runs.reorder(order), qrels, [nDCG @ 10], depth=10)
    assert (lou.settings["order"], lou.settings["pool order"]) == (order, "file")
    found = lou.summary.iloc[0]
    unique, relevant = lou.unique_counts[["unique", "unique_relevant"]].sum()
    assert (found["own_max_drop"], found["field_max_drop"], found["field_worst"], unique, relevant) == COUNTS[name]
    assert (round(found["own_tau_b"], 4), round(found["largest_loss_pct"], 2)) == SCORED[name][order]
