"""The pool of TREC-COVID, which is on record, inferred from its judgments."""

from __future__ import annotations

import gzip

import pandas as pd
import pytest

from pt_reuse.studies.pool_inference.evidence import Evidence
from pt_reuse.studies.pool_inference.inference import infer_pool

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
    assert "With a depth for each topic (5 to 50) a pool fits better: depth='topic'." in strict.explanation
    assert strict.explanation.startswith("partial")
    assert "of the new documents 100.0% are judged at the depth and 96.3% one rank below" in strict.explanation
    lenient = infer_pool(covid.runs, covid.qrels, depth="common", tolerance=0.02, order="trec_eval")
    assert (lenient.depth, figures(lenient)) == (7, (7474, 156, 95, 7))


def test_covid_was_pooled_to_a_depth_for_each_topic(covid):
    found = infer_pool(covid.runs, covid.qrels, depth="topic", tolerance=0.02, order="trec_eval")
    assert figures(found) == (16541, 168, 95, 1)
    table = found.table.set_index("name")
    differs = table[table["pooled"].astype(bool) != table["evidence"].isin(CLOSE)]
    # four recorded runs with many tied scores are not recognised in trec_eval's order
    assert differs[["missing", "first_missing"]].to_dict("index") == {
        "DoRA_MSMARCO_1k": {"missing": 95, "first_missing": 1},
        "DoRA_NO_Judgments_1k": {"missing": 95, "first_missing": 1},
        "DoRA_NO_Judgments_6k": {"missing": 291, "first_missing": 1},
        "UPrrf80-r5": {"missing": 2, "first_missing": 9},
        "rk_ir_bdl_trf_brx_lm": {"missing": 44, "first_missing": 3},
    }
    row = found.summary.iloc[0]
    assert (row["deeper"], row["other"], row["nowhere"]) == (5614, 208, 788)
    assert found.explanation.startswith("most: these runs explain 71.4% of the judgments, and 168 documents")
    strict = infer_pool(covid.runs, covid.qrels, depth="topic", tolerance=0, order="trec_eval")
    assert figures(strict) == (8745, 0, 39, 0)


def test_covid_needs_no_option(covid):
    runs = covid.runs
    found = infer_pool(runs, covid.qrels)
    assert found.best_of_tried() == [
        "the best of 7 tried (3 orders, 2 tolerances): order='file', tolerance=0.01, depth inferred for each topic"
    ]
    assert found.tried["order"].unique().tolist() == ["trec_eval", "file", "trec_eval9"]  # ranks tie: no order
    assert found.headline() == (
        "depth 5 to 50 by topic, 97 to 100 of 126 runs contributed, 18,093 of 23,151 judgments explained"
    )
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
