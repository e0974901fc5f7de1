"""Leave-out-uniques on Deep Learning 2019 and 2021: pooled in file order, scored in trec_eval's or in file order."""

from __future__ import annotations

import ir_measures
import pandas as pd
import pytest
from ir_measures import P, nDCG
from real_runs import read_real

from pt_reuse.data.judgments import read_qrels
from pt_reuse.studies.leave_out_uniques import leave_out_uniques

#: judgments made at random, or by hand, are nobody's pool
pytestmark = pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")


@pytest.fixture(scope="module", params=["dl19-passages", "dl21-passages"])
def track(request, data):
    """Return the name, runs and judgments of a track; its types are on record for 2019 only."""
    folder = data / request.param
    if not folder.is_dir():
        pytest.skip(f"the test data has no folder {request.param}")
    types = folder / "types"
    runs = read_real(
        folder / "inputs",
        teams=folder / "runs-pids",
        types=types if types.exists() else None,
        pooled=True,
        order="trec_eval9",
        pool_order="file",
    )
    return request.param, runs, read_qrels(folder / "qrels.gz")


#: track -> own largest drop, whole field's largest drop and its team, uniques judged and relevant
COUNTS = {"dl19-passages": (5, 8, "ICTNET", 1317, 373), "dl21-passages": (14, 21, "h2oloo", 4658, 1996)}
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


#: what the track itself counts, label 2 and above: own tau_b and drop, whole field's largest drop and team, drops of
#: more than ten ranks, uniques judged and relevant; in the order of the lines
FROM_2 = {
    "dl19-passages": (0.9099, 5, 7, "TU-Vienna", 0, 1317, 213),
    "dl21-passages": (0.9046, 12, 14, "h2oloo", 2, 4658, 769),
}


def test_uniques_of_labels_2_and_3(track):
    name, runs, qrels = track
    lou = leave_out_uniques(runs.reorder("file"), qrels.with_rel(2), [nDCG @ 10, P(rel=2) @ 10], depth=10)
    row, table = lou.summary.iloc[0], lou.table[lou.table["measure"] == "nDCG@10"]
    unique, relevant = lou.unique_counts[["unique", "unique_relevant"]].sum()
    found = (
        round(row["own_tau_b"], 4),
        row["own_max_drop"],
        row["field_max_drop"],
        row["field_worst"],
        int((table["max_drop"] > 10).sum()),
        unique,
        relevant,
    )
    assert found == FROM_2[name]
    # P counts from 2 itself, so nothing changes for it
    low = leave_out_uniques(runs.reorder("file"), qrels, [P(rel=2) @ 10], depth=10)
    columns = [column for column in lou.summary.columns if column != "measure"]
    assert lou.summary[columns].iloc[1].equals(low.summary[columns].iloc[0])


#: team -> its unique judged passages, mean change of its runs when they are removed and filled, and the largest fall
#: and rise of any run in ranks when the whole field is scored anew, computed twice by independent programs
FILLED = {
    "Waterloo_Cormack": (890, -0.1206, 0.0597, 12, 17),
    "UAmsterdam": (170, -0.0889, 0.0323, 13, 7),
    "h2oloo": (190, -0.0790, 0.0065, 21, 6),
    "TU_Vienna": (332, -0.0770, 0.0313, 11, 9),
    "WLU": (266, -0.0488, 0.0308, 4, 6),
    "BASELINES": (1322, -0.0438, 0.0097, 11, 6),
    "uogTr": (703, -0.0373, 0.0260, 8, 6),
    "PASH": (39, -0.0121, -0.0005, 1, 1),
}  # fmt: skip


def test_holes_filled_by_umbrela_turn_the_bias_round(track, data):
    """Who loses without uniques gains when GPT-4 fills them."""
    name, runs, qrels = track
    if name != "dl21-passages":
        pytest.skip("one collection is enough")
    judge = data / name / "llm-labels" / "umbrela-gpt-4.gz"
    found = leave_out_uniques(runs, qrels, nDCG @ 10, depth=10, fill=judge)
    rows = found.filled.set_index("team")
    columns = ["removed", "removed_change", "filled_change", "removed_max_drop", "filled_max_rise"]
    assert {team: tuple(rows.loc[team, columns].astype(float).round(4)) for team in FILLED} == FILLED
    [summary] = found.filled_summary.to_dict("records")
    assert (summary["judge"], summary["filled_above"], summary["units"]) == ("umbrela-gpt-4", 15, 16)
    assert summary["removed_above"] == summary["unknown"] == 0
    assert (round(summary["judge_alone_tau_b"], 3), summary["judge_alone_max_rise"]) == (0.924, 6)


def test_the_brute_force_of_labels_2_and_3(track):
    """Remove the pooled documents of label 2 and above that one team alone has, by hand, and score with pytrec_eval."""
    name, runs, qrels = track
    labels = {(row.qid, row.docno): row.label for row in qrels.to_frame().itertuples(index=False)}
    team_of = dict(zip(runs.run_table["name"], runs.run_table["team"], strict=True))
    teams = {}
    in_file_order = runs.reorder("file")
    for run in runs.names:
        frame = in_file_order[run]
        for pair in frame.loc[frame["rank"] < 10, ["qid", "docno"]].itertuples(index=False, name=None):
            teams.setdefault(pair, set()).add(team_of[run])
    worst = {"dl19-passages": "TU-Vienna", "dl21-passages": "h2oloo"}[name]
    gone = {pair for pair, who in teams.items() if who == {worst} and labels.get(pair, 0) >= 2}
    lou = leave_out_uniques(runs, qrels, [nDCG @ 10], depth=10, rel=2)
    assert lou.unique_counts.set_index("team").loc[worst, "unique_relevant"] == len(gone)
    alone = [pair for pair, who in teams.items() if len(who) == 1 and labels.get(pair, 0) >= 2]
    assert lou.unique_counts["unique_relevant"].sum() == len(alone) == FROM_2[name][-1]
    judged = pd.DataFrame([(*pair, label) for pair, label in labels.items() if pair not in gone])
    judged.columns = ["query_id", "doc_id", "relevance"]
    mine = lou.by_run[lou.by_run["team"] == worst].set_index("name")["reduced_score"]
    for run, reduced in list(mine.items())[:2]:
        frame = runs[run].rename(columns={"qid": "query_id", "docno": "doc_id"})
        assert ir_measures.calc_aggregate([nDCG @ 10], judged, frame)[nDCG @ 10] == pytest.approx(reduced, abs=1e-9)
