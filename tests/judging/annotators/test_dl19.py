"""The eight re-annotators of Deep Learning 2019 against each other and against NIST, each number by a second route."""

from __future__ import annotations

import pytest
from ir_measures import AP, RR, nDCG
from real_runs import read_real
from scipy.stats import kendalltau

import pt_reuse as ptr
from pt_reuse.data.judgments import read_qrels

NAMES = [f"annotator-{i}" for i in range(1, 9)]
#: for each annotator: items, kappa with NIST of grades and of relevant (label 2 and above) or not; topics, labels that
#: differ from NIST's, tau_b of nDCG@10, AP(rel=2) and RR(rel=2)
ALONE = """
1115 0.1106 0.2012 13 738 0.8288 0.8529 0.5242
1115 0.1800 0.3390 13 701 0.8992 0.8799 0.4217
1128 0.2595 0.5269 9 601 0.8855 0.8889 0.5957
1128 0.0251 0.1903 9 907 0.8072 0.8258 0.3213
1135 0.0198 0.1603 9 913 0.7940 0.7868 0.6599
1135 0.0014 0.1332 9 950 0.8914 0.7027 0.8490
1124 0.1297 0.2275 15 732 0.9129 0.8529 0.7864
1124 0.2065 0.2749 15 668 0.9219 0.8078 0.7777
"""
NUMBERS = dict(zip(NAMES, ([float(cell) for cell in line.split()] for line in ALONE.split("\n")[1:9]), strict=True))
#: the two who judged a part -> items in common, kappa of grades and of relevant or not
PARTS = {
    (NAMES[0], NAMES[1]): (1111, 0.2280, 0.4018),
    (NAMES[2], NAMES[3]): (1127, 0.0840, 0.2182),
    (NAMES[4], NAMES[5]): (1131, 0.3316, 0.5393),
    (NAMES[6], NAMES[7]): (1122, 0.2353, 0.3919),
}


@pytest.fixture(scope="module")
def folder(data):
    if not (data / "dl19-passages" / "re-annotators").is_dir():
        pytest.skip("the test data has no folder dl19-passages/re-annotators")
    return data / "dl19-passages"


@pytest.fixture(scope="module")
def labels(folder):
    return {name: folder / "re-annotators" / f"{name}.txt" for name in NAMES}


@pytest.fixture(scope="module")
def nist(folder):
    return read_qrels(folder / "qrels.gz", rel=2)


@pytest.fixture(scope="module")
def result(labels, nist):
    return ptr.judging.annotator_agreement(labels, gold=nist, resamples=100)


def overall(result, items, labels):
    table = result.table[(result.table["items"] == items) & (result.table["labels"] == labels)]
    return dict(zip(table["coefficient"], table["value"].round(4), strict=True))


def test_all_together(result):
    assert result.rel == 2, "as NIST's judgments say"
    names = ("agreement", "cohen_kappa", "fleiss_kappa", "alpha_nominal", "alpha_ordinal")
    numbers = {
        ("all", "grades"): (0.4572, 0.2197, 0.2042, 0.2043, 0.4207),
        ("relevant", "grades"): (0.2178, -0.0762, -0.1413, -0.1410, -0.2246),
        ("all", "binary"): (0.7296, 0.3878, 0.3538, 0.3539),
        ("relevant", "binary"): (0.3760, -0.2386, -0.4535, -0.4532),
    }
    for way, expected in numbers.items():
        assert overall(result, *way) == dict(zip(names, expected, strict=False)), way
    assert result.settings["pairs of annotators"] == "6 of 28 have items in common"


def test_each_two_and_each_against_nist(result):
    against = {(name, "gold"): numbers[:3] for name, numbers in NUMBERS.items()}
    for table, numbers in ((result.pairs, PARTS), (result.gold, against)):
        rows = table[table["items"] == "all"].set_index(["first", "second", "labels"])
        for two, (n, *kappas) in numbers.items():
            assert rows.loc[(*two, "grades"), "n_items"] == n
            assert [round(rows.loc[(*two, labels), "kappa"], 4) for labels in ("grades", "binary")] == kappas
    # one passage, which nobody called relevant
    alone = result.pairs[result.pairs["items"] == "all"].set_index(["first", "second", "labels"])
    alone = alone.loc[("annotator-2", "annotator-5", "grades")]
    assert (alone["n_items"], alone["agreement"], alone["why"]) == (1, 1, "all labels are the same")
    assert result.settings["gold labels of items nobody labelled"] == 4749


def test_rankings_under_each_and_under_the_majority_by_either_rule_for_ties(folder, labels, nist):
    runs = read_real(folder / "inputs", order="trec_eval9", pool_order="file")
    measures = [nDCG @ 10, AP(rel=2), RR(rel=2)]
    result = ptr.judging.rankings_by_annotator(runs, labels, nist, measures, majority=["lower", "higher"])
    wide = result.table.pivot_table(index="annotator", columns="measure", values="tau_b").round(4)
    for name, (n_labels, _, _, topics, changed, *taus) in NUMBERS.items():
        row = result.table[result.table["annotator"] == name].iloc[0]
        assert (row["topics"], row["labels"], row["changed"]) == (topics, n_labels, changed)
        assert wide.loc[name, list(map(repr, measures))].tolist() == taus
    for rule, expected in {"lower": [0.913, 0.790], "higher": [0.919, 0.919]}.items():
        # by judgments put together and scored on their own
        held = nist.to_frame()[["qid", "docno", "label"]].set_index(["qid", "docno"])["label"]
        voted = ptr.judging.majority_vote(labels, ties=rule).to_frame().set_index(["qid", "docno"])["label"]
        both = ptr.Qrels(voted.combine_first(held).astype(int).reset_index(), rel=2)
        scores = [ptr.score(runs, judged, measures[:2]).mean_values.round(12) for judged in (nist, both)]
        taus = [kendalltau(x, y).statistic for x, y in zip(*scores, strict=True)]
        mine = wide.loc[f"majority ({rule})", ["nDCG@10", "AP(rel=2)"]].tolist()
        assert mine == pytest.approx(taus, abs=1e-4)
        assert mine == pytest.approx(expected, abs=5e-4)
