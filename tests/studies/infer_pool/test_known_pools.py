"""Pools that are on record: of the demo, TREC-8, Deep Learning and TREC-COVID, inferred from their judgments."""

from __future__ import annotations

import gzip

import pandas as pd
import pyterrier as pt
import pytest
from real_runs import read_real

from pt_reuse.data.judgments import read_qrels
from pt_reuse.studies.infer_pool.inference import Evidence, infer_pool


def test_demo_pool():
    demo = pt.get_dataset("reuse:demo")
    runs, qrels = demo.get_runs(), demo.get_judgments()
    found = infer_pool(runs, qrels)
    assert found.headline() == ("depth 10, 11 to 13 of 22 runs contributed, 989 of 989 judgments explained")
    recorded = set(runs.select(pooled=True).names)
    assert recorded - set(found.contributors) == {"quarry-bm25-stem"}  # pooled, but 'covered': nothing tells
    assert set(found.contributors) <= recorded


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
    row = found.summary.iloc[0]
    assert (row["unjudged"], row["new_below"], round(row["new_at_depth"], 3)) == (99, 0, 0.903)


def test_trec8_is_the_record(trec8):
    for depth in (None, "topic"):
        found = infer_pool(trec8.runs, trec8.qrels, depth=depth)
        assert found.depth == 100
        assert found.contributors == trec8.runs.select(pooled=True).names
        assert len(found.contributors) == 71
        assert found.contributor_range == (70, 72)  # one of the Mer8Adtd would do; Dm8TFidf may have been pooled
        assert found.explanation.startswith("exact")
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
    assert set(found.by_topic["own_depth"]) == {100}


def test_another_order_is_not_that_of_the_trec8_pool(trec8):
    runs = trec8.runs.reorder("file")
    found = infer_pool(runs, trec8.qrels, order="file", tolerance=0, depth="common")
    assert (found.depth, len(found.contributors)) == (98, 64)
    assert (found.certainty.value, round(found.summary["new_below"].item(), 3)) == ("partial", 0.999)
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
    row = found.summary.iloc[0]
    assert (found.contributor_range, row["explained"], row["judged"]) == ((35, 37), 2494, 9260)
    assert (row["unjudged"], row["new_at_depth"], round(row["new_below"], 3)) == (0, 1, 0.294)
    # in the order of the scores, one rank less, and no cliff
    first = found.tried.iloc[0]
    assert (first["order"], first["depth_to"], round(first["new_below"], 3)) == ("trec_eval", 9, 0.996)


def test_deep_learning_2021_passages_need_no_option(data):
    found = infer_pool(*passages(data, "dl21-passages"))
    assert (found.depth, found.order, len(found.contributors)) == (10, "file", 63)
    assert (found.contributor_range, found.summary["explained"].item()) == ((60, 63), 7443)
    groups = found.table.dropna(subset="group").groupby("group")["name"].agg(list).tolist()
    assert groups == [["pash_f1", "pash_f2", "pash_f3"]]
    assert found.table.set_index("name")["evidence"]["p_fusion00"] == "covered"


#: what speaks for a run that is judged as deep as the pool
CLOSE = [evidence.value for evidence in (Evidence.NEEDED, Evidence.TOGETHER, Evidence.COVERED)]


def figures(found):
    row = found.summary.iloc[0]
    recorded = found.table["pooled"].to_numpy(dtype=bool)
    pooled = found.table["evidence"].isin(CLOSE).to_numpy()
    return (
        int(row["explained"]),
        int(row["unjudged"]),
        int((pooled & recorded).sum()),
        int((pooled & ~recorded).sum()),
    )


def test_covid_with_one_depth(covid):
    strict = infer_pool(covid.runs, covid.qrels, depth="common", tolerance=0, order="trec_eval")
    assert (strict.depth, figures(strict)) == (5, (5126, 0, 88, 5))
    recorded = strict.table["pooled"].to_numpy(dtype=bool)
    assert (strict.table["missing"][recorded] > 0).sum() == 11
    assert (strict.certainty.value, round(strict.summary["new_below"].item(), 3)) == ("partial", 0.963)
    lenient = infer_pool(covid.runs, covid.qrels, depth="common", tolerance=0.02, order="trec_eval")
    assert (lenient.depth, figures(lenient)) == (7, (7474, 156, 95, 7))


def test_covid_was_pooled_to_a_depth_for_each_topic(covid):
    found = infer_pool(covid.runs, covid.qrels, depth="topic", tolerance=0.02, order="trec_eval")
    assert figures(found) == (16541, 168, 95, 1)
    table = found.table.set_index("name")
    differs = table[table["pooled"].astype(bool) != table["evidence"].isin(CLOSE)]
    # four recorded runs with many tied scores are not recognised in trec_eval's order
    assert (differs["missing"].tolist(), differs["first_missing"].tolist()) == ([95, 95, 291, 2, 44], [1, 1, 1, 9, 3])
    row = found.summary.iloc[0]
    assert (row["deeper"], row["other"], row["nowhere"]) == (5614, 208, 788)
    assert found.certainty.value == "most"
    strict = infer_pool(covid.runs, covid.qrels, depth="topic", tolerance=0, order="trec_eval")
    assert figures(strict) == (8745, 0, 39, 0)


def test_covid_needs_no_option(covid):
    runs = covid.runs
    found = infer_pool(runs, covid.qrels)
    assert (len(found.tried), found.order, found.settings["tolerance"]) == (7, "file", 0.01)
    assert found.tried["order"].unique().tolist() == ["trec_eval", "file", "trec_eval9"]  # ranks tie: no order
    assert found.contributor_range == (97, 100)
    assert found.confusion.to_dict("records") == [
        {"pooled": True, "needed": 94, "needed together": 5, "covered": 0, "not pooled": 0, "no documents": 0},
        {"pooled": False, "needed": 1, "needed together": 0, "covered": 0, "not pooled": 26, "no documents": 0},
    ]
    assert set(found.contributors) - set(runs.select(pooled=True).names) == {"UPrrf80-r5"}
    table = found.table.set_index("name")
    missing = table["missing"][table["pooled"].astype(bool)]
    assert ((missing > 0).sum(), round(missing.mean(), 1), missing.max()) == (58, 1.1, 7)
    strict = infer_pool(runs, covid.qrels, depth="common", tolerance=0, order="file")
    assert (strict.depth, figures(strict)) == (5, (5987, 0, 98, 5))
    assert table.loc["UPrrf80-r5", ["missing", "alone", "alone_unjudged"]].tolist() == [2, 3, 2]
    groups = table.reset_index().dropna(subset="group").groupby("group")["name"].agg(list).tolist()
    assert groups == [["DoRA_MSMARCO_1k", "DoRA_NO_Judgments_1k"], ["UIowaS_Run1", "UIowaS_Run2", "UIowaS_Run3"]]
    depths = found.by_topic.set_index("qid")["depth"]
    old, new = depths[[str(t) for t in range(1, 36)]], depths[[str(t) for t in range(36, 51)]]
    assert (old.min(), old.max(), new.min(), new.max(), (new == 50).sum()) == (5, 15, 49, 50, 13)
    row = found.summary.iloc[0]
    assert (row["deeper"], row["other"], row["nowhere"], row["unjudged"]) == (4215, 55, 788, 98)
    edges = row[["at_depth", "below", "new_at_depth", "new_below"]].to_numpy(dtype=float)
    assert edges == pytest.approx([0.9815, 0.7952, 0.9159, 0.1303], abs=5e-5)
    # the second column of NIST's file says in which batch a document was judged
    lines = gzip.decompress((covid.folder / "qrels.covid-round5.txt.gz").read_bytes()).decode().split("\n")
    batch = {(line.split()[0], line.split()[2]): line.split()[1] for line in lines if line}
    left = pd.Series([batch[pair] for pair in zip(found.unexplained["qid"], found.unexplained["docno"], strict=True)])
    assert pd.Series(list(batch.values())).value_counts().to_dict() == {"5": 17197, "4.5": 5954}
    assert left.value_counts().to_dict() == {"4.5": 4328, "5": 730}
