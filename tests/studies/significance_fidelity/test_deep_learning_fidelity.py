"""Significant differences on Deep Learning 2019 and 2021 by the labels of five models."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from real_runs import read_real
from statsmodels.stats.multitest import multipletests

import pt_reuse as ptr

#: judge -> significant by it, both with the same winner, missed, only the judge's, opposite
TABLES = {
    # 1,953 pairs, 1,455 significant by people
    "dl21-passages": {
        "umbrela-gpt-4": (1496, 1405, 50, 91, 0),
        "binary-gpt-4o": (1427, 1351, 104, 76, 0),
        "binary-gpt-4": (1362, 1295, 160, 67, 0),
        "exam-gpt-4": (1269, 1196, 259, 73, 0),
        "binary-llama-3.2": (1234, 1084, 369, 148, 2),
    },
    # 666 pairs, 479 significant by people
    "dl19-passages": {
        "umbrela-gpt-4": (470, 439, 40, 31, 0),
        "binary-gpt-4o": (452, 412, 67, 40, 0),
        "binary-gpt-4": (423, 391, 87, 31, 1),
        "exam-gpt-4": (457, 440, 39, 17, 0),
        "binary-llama-3.2": (397, 384, 95, 13, 0),
    },
}
PEOPLE = {"dl21-passages": (1953, 1455), "dl19-passages": (666, 479)}


@pytest.fixture(scope="module", params=list(TABLES))
def track(request, data):
    """Return the name, runs, judgments of people and labels of judges of a track."""
    folder = data / request.param
    if not (folder / "llm-labels").is_dir():
        pytest.skip(f"the test data has no labels of models for {request.param}")
    runs = read_real(folder / "inputs", order="trec_eval9")
    judges = {judge: ptr.read_qrels(folder / "llm-labels" / f"{judge}.gz") for judge in TABLES[request.param]}
    return request.param, runs, ptr.read_qrels(folder / "qrels.gz").with_rel(2), judges


def test_every_judge_finds_so_many_pairs(track):
    """Scores in trec_eval 9's order, documents without a label unjudged, means over all topics."""
    name, runs, people, judges = track
    found = ptr.labels.significance_fidelity(runs, people, judges, "nDCG@10", judge_rel={"exam-gpt-4": 2}, resamples=0)
    columns = ["judge_significant", "agree", "missed", "false_claims", "opposite"]
    table = found.table.set_index("judge")
    assert {judge: tuple(row) for judge, row in zip(table.index, table[columns].to_numpy().tolist(), strict=True)} == (
        TABLES[name]
    )
    assert {tuple(row) for row in table[["pairs", "human_significant"]].to_numpy().tolist()} == {PEOPLE[name]}
    # each p-value of people's and of one judge's labels, by scipy
    rows = found.pairs[found.pairs["judge"] == "binary-llama-3.2"]
    lenient = judges["binary-llama-3.2"]
    for labels, column in ((people, "p"), (lenient.to_frame().assign(label=lambda f: 2 * f["label"]), "judge_p")):
        scores = ptr.score(runs, labels, "nDCG@10").of("nDCG@10")
        first, second = scores[rows["first"]].to_numpy(), scores[rows["second"]].to_numpy()
        p = scipy.stats.ttest_rel(first, second).pvalue
        # scipy has no p-value for two that score alike on every topic
        assert rows[column].to_numpy() == pytest.approx(np.where(np.isnan(p), 1, p), abs=1e-9)


def test_a_correction_changes_the_counts(track):
    name, runs, people, judges = track
    judge = {"umbrela": judges["umbrela-gpt-4"]}
    found = ptr.labels.significance_fidelity(runs, people, judge, "nDCG@10", correction="holm", resamples=0)
    by_people, by_judge = (
        multipletests(found.pairs[column], method="holm")[0] * np.sign(found.pairs[difference].round(12))
        for column, difference in (("p", "difference"), ("judge_p", "judge_difference"))
    )
    row = found.table.iloc[0]
    assert row["human_significant"] == np.count_nonzero(by_people) < PEOPLE[name][1]
    assert row["judge_significant"] == np.count_nonzero(by_judge)
    assert row["agree"] == ((by_people == by_judge) & (by_people != 0)).sum()
    assert row["missed"] == ((by_people != 0) & (by_judge == 0)).sum()
    if name == "dl21-passages":
        assert (row["human_significant"], row["judge_significant"], row["agree"]) == (872, 940, 824)
