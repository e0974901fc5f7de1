"""Audits of the judges of Deep Learning: their labels, and the rankings of passage runs."""

from __future__ import annotations

import numpy as np
import pytest
from label_parts import meeting, row_of
from real_runs import read_real
from sklearn import metrics

import pt_reuse as ptr
from pt_reuse.data.judgments import read_qrels

#: judge -> share relevant, kappa; people .316; relevant from label 2, or 1 for binary judges
DL21 = {
    "umbrela-gpt-4": (0.453, 0.473),
    "binary-gpt-4o": (0.565, 0.449),
    "binary-gpt-4": (0.605, 0.400),
    "exam-gpt-4": (0.811, 0.189),
    "binary-llama-3.2": (0.688, 0.232),
}
#: pairs that a judge left out
MISSING = {"binary-gpt-4": 7, "binary-gpt-4o": 4}


@pytest.fixture(scope="module")
def track(data):
    folder = data / "dl21-passages"
    if not folder.is_dir():
        pytest.skip("the test data has no folder dl21-passages")
    judges = {path.name.removesuffix(".gz"): path for path in sorted((folder / "llm-labels").iterdir())}
    runs = read_real(folder / "inputs", teams=folder / "runs-pids", order="trec_eval9")
    # the reference takes the label 2 of people for EXAM, too, which grades from 0 to 5
    human = read_qrels(folder / "qrels.gz", rel=2)
    options = {"judge_rel": {"exam-gpt-4": 2}, "resamples": 0}
    return human, judges, ptr.audit_labels(runs, human, judges, "nDCG@10", **options)


def test_kappa_and_shares_of_the_judges(track):
    human, judges, found = track
    for judge, (relevant, kappa) in DL21.items():
        row = row_of(found.labels.table, judge=judge, items="all", labels="binary")
        missing = MISSING.get(judge, 0)
        assert (row["n_topics"], row["n_items"], row["missing"]) == (53, 10_828 - missing, missing)
        assert (round(row["judge_relevant"], 3), round(row["kappa"], 3)) == (relevant, kappa)
        # people call .317 of the documents relevant that the two judges labelled who left some out
        assert round(row["human_relevant"], 3) == (0.317 if missing else 0.316)
        labels = np.array(list(meeting(human, read_qrels(judges[judge])).values()))
        bound = 1 if judge.startswith("binary") else 2
        assert row["kappa"] == pytest.approx(metrics.cohen_kappa_score(labels[:, 0] >= 2, labels[:, 1] >= bound))


#: judge -> tau_b of means and largest change of rank of nDCG@10, over the 63 runs of 2021
OF_2021 = {
    "umbrela-gpt-4": (0.924, 6),
    "binary-gpt-4o": (0.906, 9),
    "binary-gpt-4": (0.896, 9),
    "exam-gpt-4": (0.845, 12),
    "binary-llama-3.2": (0.790, 17),
}


def test_rankings(track):
    found = track[2]
    rows = found.table[found.table["by"] == "all"].set_index("judge")
    assert (rows["runs"].unique().tolist(), rows["topics"].unique().tolist()) == ([63], [53])
    changes = {judge: (round(row["tau_b"], 3), max(row["max_drop"], row["max_rise"])) for judge, row in rows.iterrows()}
    assert changes == OF_2021
    moved = found.movers.groupby("judge")["rise"]
    assert {judge: int(abs(rises).max()) for judge, rises in moved} == {judge: n for judge, (_, n) in OF_2021.items()}
