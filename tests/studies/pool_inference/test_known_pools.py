"""Pools that are on record: those of the demo, of TREC-8 and of Deep Learning, inferred from their judgments."""

from __future__ import annotations

import numpy as np
import pyterrier as pt
import pytest
from pool_parts import fitter
from real_runs import read_real

from pt_reuse.data.judgments import read_qrels
from pt_reuse.studies.pool_inference.inference import infer_pool


def test_demo_pool():
    demo = pt.get_dataset("reuse:demo")
    runs, qrels = demo.get_runs(), demo.get_judgments()
    found = infer_pool(runs, qrels)
    assert found.headline() == ("depth 10, 11 to 13 of 22 runs contributed, 989 of 989 judgments explained")
    table = found.table.set_index("name")
    recorded = set(runs.select(pooled=True).names)
    assert recorded - set(found.contributors) == {"quarry-bm25-stem"}  # pooled, but 'covered': nothing tells
    assert set(found.contributors) <= recorded
    assert table.index[table["evidence"] == "covered"].tolist() == ["quarry-bm25-stem", "weave-sum"]
    assert list(infer_pool(runs, qrels, depth="topic").contributors) == found.contributors


def test_a_sample_of_a_pool_has_no_depth():
    demo = pt.get_dataset("reuse:demo")
    runs = demo.get_runs()
    sample = demo.get_judgments().sample(0.1, seed=1)
    found = infer_pool(runs, sample)
    assert found.depth == 0
    assert found.contributors == []
    # nine tenths of a pool are still a pool, when a few unjudged documents are tolerated
    most = demo.get_judgments().sample(0.9, seed=1)
    found = infer_pool(runs, most, tolerance=0.15)
    assert (found.depth, len(found.contributors)) == (10, 11)
    assert found.explanation.startswith(
        "most: these runs explain all of the judgments, and 99 documents in their pool (10.0%) lack a judgment. Of the "
        "new documents 90.3% are judged at the depth, 0.0% one rank below: the pool ends there."
    )


def test_trec8_is_the_record(trec8):
    for depth in (None, "topic"):
        found = infer_pool(trec8.runs, trec8.qrels, depth=depth)
        assert found.depth == 100
        assert found.contributors == trec8.runs.select(pooled=True).names
        assert len(found.contributors) == 71
        assert found.headline() == ("depth 100, 70 to 72 of 129 runs contributed, 86,830 of 86,830 judgments explained")
        assert found.contributor_range == (70, 72)  # one of the Mer8Adtd would do; Dm8TFidf may have been pooled
        assert found.explanation == (
            "exact: the pool of these runs is the judged set. Between 70 and 72 runs contributed, 71 are taken to "
            "have: 69 are needed, at least 1 of 2 that are needed together, 1 is covered."
        )
    assert found.confusion.to_dict("records") == [
        {"pooled": True, "needed": 69, "needed together": 2, "covered": 0, "not pooled": 0, "no documents": 0},
        {"pooled": False, "needed": 0, "needed together": 0, "covered": 1, "not pooled": 57, "no documents": 0},
    ]
    table = found.table.set_index("name")
    accident = table.loc["Dm8TFidf"]
    assert (accident["evidence"], accident["contributed"], accident["judged_to"]) == ("covered", False, 100)
    assert (accident["nearest"], round(accident["common"] * accident["entries"])) == ("Dm8TFbn", 4999)
    assert table.index[table["group"] == 1].tolist() == ["Mer8Adtd1", "Mer8Adtd2"]
    assert table.loc["READWARE", "judged_to"] == 173
    row = found.summary.iloc[0]
    assert (row["at_depth"], row["new_at_depth"], row["new_below"]) == (1, 1, 0)
    # of the 72 runs judged as deep; of the 71 on record it is .7658
    assert row["below"] == pytest.approx(0.763719, abs=1e-6)
    assert "covered: 'Dm8TFidf'. needed together: 'Mer8Adtd1', 'Mer8Adtd2'. [" in repr(found)
    recorded = fitter(trec8.runs.select(pooled=True), trec8.qrels).ranks
    at_101 = np.diff(recorded.missing, axis=1)[:, 100].sum() / np.diff(recorded.entries, axis=1)[:, 100].sum()
    assert 1 - at_101 == pytest.approx(0.7658, abs=5e-5)
    assert set(found.by_topic["own_depth"]) == {100}


def test_another_order_is_not_that_of_the_trec8_pool(trec8):
    runs = trec8.runs.reorder("file")
    found = infer_pool(runs, trec8.qrels, order="file", tolerance=0, depth="common")
    assert (found.depth, len(found.contributors)) == (98, 64)
    assert found.explanation.startswith("partial: these runs explain 80.8% of the judgments; the rest")
    assert (
        "There is no cliff: of the new documents 100.0% are judged at the depth and 99.9% one rank below, so the pool "
        "hardly ends there." in found.explanation
    )
    assert infer_pool(trec8.runs, trec8.qrels, order="trec_eval9").explanation.startswith("exact")
    # three topics are enough to see which order it was; what is exact ends the search
    found = infer_pool(runs, trec8.qrels.select(["401", "402", "403"]))
    assert (found.depth, found.order) == (100, "trec_eval")
    assert found.tried["order"].tolist() == ["file", "rank", "trec_eval"]


def passages(data, name):
    folder = data / name
    if not folder.is_dir():
        pytest.skip(f"the test data has no folder {name}")
    return read_real(folder / "inputs"), read_qrels(folder / "qrels.gz")


def test_deep_learning_2019_passages_need_no_option(data):
    found = infer_pool(*passages(data, "dl19-passages"))
    assert (found.depth, found.order, found.settings["tolerance"]) == (10, "file", 0)
    assert len(found.contributors) == 37
    assert found.headline() == (
        "depth 10, 35 to 37 of 37 runs contributed, 2,494 of 9,260 judgments explained (partial)"
    )
    row = found.summary.iloc[0]
    assert (row["unjudged"], row["new_at_depth"], round(row["new_below"], 3)) == (0, 1, 0.294)
    assert "100.0% are judged at the depth, 29.4% one rank below: the pool ends there" in found.explanation
    # in the order of the scores, one rank less, and no cliff
    first = found.tried.iloc[0]
    assert (first["order"], first["depth_to"], round(first["new_below"], 3)) == ("trec_eval", 9, 0.996)


def test_deep_learning_2021_passages_need_no_option(data):
    found = infer_pool(*passages(data, "dl21-passages"))
    assert (found.depth, found.order, len(found.contributors)) == (10, "file", 63)
    assert found.headline() == "depth 10, 60 to 63 of 63 runs contributed, 7,443 of 10,828 judgments explained"
    groups = found.table.dropna(subset="group").groupby("group")["name"].agg(list).tolist()
    assert groups == [["pash_f1", "pash_f2", "pash_f3"]]
    assert found.table.set_index("name")["evidence"]["p_fusion00"] == "covered"
