"""Holes filled by UMBRELA with GPT-4 on Deep Learning 2021: who loses without uniques gains when filled."""

from __future__ import annotations

import pytest
from ir_measures import nDCG
from real_runs import read_real

from pt_reuse.data.judgments import read_qrels
from pt_reuse.studies.leave_out_uniques import leave_out_uniques

#: most judgments were chosen by a classifier and have no contributor
pytestmark = pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")

#: team -> its unique judged passages, mean change of its runs when they are removed and filled, and the largest fall
#: and rise of any run in ranks when the whole field is scored anew, computed twice by independent programs
DL21 = {
    "Waterloo_Cormack": (890, -0.1206, 0.0597, 12, 17),
    "UAmsterdam": (170, -0.0889, 0.0323, 13, 7),
    "h2oloo": (190, -0.0790, 0.0065, 21, 6),
    "TU_Vienna": (332, -0.0770, 0.0313, 11, 9),
    "WLU": (266, -0.0488, 0.0308, 4, 6),
    "BASELINES": (1322, -0.0438, 0.0097, 11, 6),
    "uogTr": (703, -0.0373, 0.0260, 8, 6),
    "PASH": (39, -0.0121, -0.0005, 1, 1),
}  # fmt: skip


def test_filling_turns_the_bias_round(data):
    folder = data / "dl21-passages"
    if not folder.is_dir():
        pytest.skip("the test data has no folder dl21-passages")
    runs = read_real(folder / "inputs", teams=folder / "runs-pids", pooled=True, order="trec_eval9", pool_order="file")
    judge = folder / "llm-labels" / "umbrela-gpt-4.gz"
    found = leave_out_uniques(runs, read_qrels(folder / "qrels.gz"), nDCG @ 10, depth=10, fill=judge)
    rows = found.filled.set_index("team")
    columns = ["removed", "removed_change", "filled_change", "removed_max_drop", "filled_max_rise"]
    assert {team: tuple(rows.loc[team, columns].astype(float).round(4)) for team in DL21} == DL21
    [summary] = found.filled_summary.to_dict("records")
    assert (summary["judge"], summary["filled_above"], summary["units"]) == ("umbrela-gpt-4", 15, 16)
    assert summary["removed_above"] == summary["unknown"] == 0
    assert (round(summary["judge_alone_tau_b"], 3), summary["judge_alone_max_rise"]) == (0.924, 6)
