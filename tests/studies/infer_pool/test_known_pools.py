"""Pools that are on record, inferred from their judgments, and topics of other runs set apart."""

from __future__ import annotations

import gzip
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyterrier as pt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pool_parts import TOPICS, as_qrels, as_runs, comparable, fitter, pooled_fields
from real_runs import read_real

from pt_reuse.data.coding import HowPooled
from pt_reuse.data.judgments import Qrels, read_qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.pooling.depth import depth_pool
from pt_reuse.studies.infer_pool import Certainty, infer_pool
from pt_reuse.studies.pool_search import Curves, depth_bits, which_bits


def test_trec8_is_the_record(trec8):
    found = infer_pool(trec8.runs, trec8.qrels)
    assert found.depth == 100
    assert found.contributors == trec8.runs.select(pooled=True).names
    assert len(found.contributors) == 71
    assert found.contributor_range == (70, 72)  # one of the Mer8Adtd would do; Dm8TFidf may have been pooled
    assert found.certainty is Certainty.EXACT
    assert found.confusion.to_dict("records") == [
        {"pooled": True, "needed": 69, "needed_together": 2, "covered": 0, "not_pooled": 0, "no_documents": 0},
        {"pooled": False, "needed": 0, "needed_together": 0, "covered": 1, "not_pooled": 57, "no_documents": 0},
    ]
    table = found.table.set_index("name")
    accident = table.loc["Dm8TFidf"]
    assert (accident["evidence"], accident["contributed"], accident["judged_to"]) == ("covered", False, 100)
    assert (accident["nearest"], round(accident["common"] * accident["entries"])) == ("Dm8TFbn", 4999)
    assert table.index[table["group"] == 1].tolist() == ["Mer8Adtd1", "Mer8Adtd2"]
    assert table.loc["READWARE", "judged_to"] == 173
    row = found.summary.iloc[0]
    assert (row["new_at_depth"], row["new_below"]) == (1, 0)


def test_deep_learning_2019_passages_need_no_option(data):
    folder = data / "dl19-passages"
    if not folder.is_dir():
        pytest.skip("the test data has no folder dl19-passages")
    runs, qrels = read_real(folder / "inputs"), read_qrels(folder / "qrels.gz")
    found = infer_pool(runs, qrels)
    assert (found.depth, found.order, found.settings["tolerance"]) == (10, "file", 0)
    assert len(found.contributors) == 37
    row = found.summary.iloc[0]
    assert (found.contributor_range, row["explained"], row["judged"]) == ((35, 37), 2494, 9260)
    assert (row["unjudged"], row["new_at_depth"], round(row["new_below"], 3)) == (0, 1, 0.294)
    # in the order of the scores, one rank less, and no cliff
    first = found.tried.iloc[0]
    assert (first["order"], first["depth_to"], round(first["new_below"], 3)) == ("trec_eval", 9, 0.996)
    # the order in which the field is said to have been pooled comes first
    assert infer_pool(runs.pooled_as(HowPooled("file")), qrels).tried["order"].iloc[0] == "file"


def test_covid_needs_no_option(covid):
    runs = covid.runs
    found = infer_pool(runs, covid.qrels)
    assert (len(found.tried), found.order, found.settings["tolerance"]) == (7, "file", 0.01)
    assert found.tried["order"].unique().tolist() == ["trec_eval", "file", "trec_eval9"]  # ranks tie: no order
    assert found.contributor_range == (97, 100)
    assert found.confusion.to_dict("records") == [
        {"pooled": True, "needed": 94, "needed_together": 5, "covered": 0, "not_pooled": 0, "no_documents": 0},
        {"pooled": False, "needed": 1, "needed_together": 0, "covered": 0, "not_pooled": 26, "no_documents": 0},
    ]
    assert set(found.contributors) - set(runs.select(pooled=True).names) == {"UPrrf80-r5"}
    table = found.table.set_index("name")
    missing = table["missing"][table["pooled"].astype(bool)]
    assert ((missing > 0).sum(), round(missing.mean(), 1), missing.max()) == (58, 1.1, 7)
    assert table.loc["UPrrf80-r5", ["missing", "alone", "alone_unjudged"]].tolist() == [2, 3, 2]
    groups = table.reset_index().dropna(subset="group").groupby("group")["name"].agg(list).tolist()
    assert groups == [["DoRA_MSMARCO_1k", "DoRA_NO_Judgments_1k"], ["UIowaS_Run1", "UIowaS_Run2", "UIowaS_Run3"]]
    depths = found.by_topic.set_index("qid")["depth"]
    old, new = depths[[str(t) for t in range(1, 36)]], depths[[str(t) for t in range(36, 51)]]
    assert (old.min(), old.max(), new.min(), new.max(), (new == 50).sum()) == (5, 15, 49, 50, 13)
    row = found.summary.iloc[0]
    assert (row["deeper"], row["other"], row["nowhere"], row["unjudged"]) == (4215, 55, 788, 98)
    assert (row["new_at_depth"], row["new_below"]) == pytest.approx((0.9159, 0.1303), abs=5e-5)
    # the second column of NIST's file says in which batch a document was judged
    lines = gzip.decompress((covid.folder / "qrels.covid-round5.txt.gz").read_bytes()).decode().split("\n")
    batch = {(line.split()[0], line.split()[2]): line.split()[1] for line in lines if line}
    left = pd.Series([batch[pair] for pair in zip(found.unexplained["qid"], found.unexplained["docno"], strict=True)])
    assert pd.Series(list(batch.values())).value_counts().to_dict() == {"5": 17197, "4.5": 5954}
    assert left.value_counts().to_dict() == {"4.5": 4328, "5": 730}


@pytest.fixture(scope="module")
def track(trec8):
    """Return the runs and the topics of TREC-8, fewer of them: what is set apart is told by topics."""
    chosen = range(0, 50, 3)
    return Track(trec8.runs._with(trec8.runs.field.take_topics(chosen)), [trec8.runs.topics[t] for t in chosen])


class Track(NamedTuple):
    runs: RunSet
    topics: list[str]


def one_run_each(track, n, seed=1):
    """Return pooled runs of some teams, one of each, and the pooled runs of all other teams."""
    random = np.random.default_rng(seed)
    table = track.runs.select(pooled=True).run_table
    teams = random.choice(sorted(set(table["team"])), n, replace=False)
    mine = [random.choice(table["name"][table["team"] == team]) for team in teams]
    return sorted(mine), table["name"][~table["team"].isin(teams)].tolist()


def mixed(track, mine, others, old, *, depth=125, missing=0):
    """Return judgments: old topics of a pool of other runs to depth 100, the others of some runs to a depth."""
    here = others[:missing]
    new = depth_pool(track.runs, depth=depth, contributors=[*mine, *here]).to_frame()
    before = depth_pool(track.runs, depth=100, contributors=others[missing:]).to_frame()
    frame = pd.concat([new[~new["qid"].isin(old)], before[before["qid"].isin(old)]])
    return Qrels(frame[["qid", "docno"]].assign(label=0))


@pytest.mark.parametrize(("n_old", "missing"), [(13, 0), (8, 15)])
def test_topics_of_other_runs_are_set_apart(track, n_old, missing):
    mine, others = one_run_each(track, 17)
    old = set(np.random.default_rng(7).choice(track.topics, n_old, replace=False))
    qrels = mixed(track, mine, others, old, missing=missing)
    runs = track.runs.select(mine)
    found = infer_pool(runs, qrels, order="trec_eval")
    assert (found.depth, sorted(found.contributors)) == (125, mine)
    assert set(found.apart) == old
    assert set(found.topics) == set(qrels.topics) - old
    # it is the answer of the other topics alone
    alone = infer_pool(runs, qrels.select(found.topics), order="trec_eval")
    assert (alone.depth, alone.contributors, alone.certainty) == (found.depth, found.contributors, found.certainty)
    left = ["topics_apart", "judged_apart"]
    pd.testing.assert_frame_equal(alone.summary.drop(columns=left), found.summary.drop(columns=left))
    pd.testing.assert_frame_equal(alone.by_rank, found.by_rank)
    pd.testing.assert_frame_equal(alone.table, found.table)
    # and both parts are told
    row, topics = found.summary.iloc[0], found.by_topic.set_index("qid")
    judged = qrels.to_frame()["qid"].value_counts()
    assert (row["topics_apart"], row["judged_apart"]) == (n_old, judged[sorted(old)].sum())
    assert row["judged"] == judged[found.topics].sum()
    assert (topics["judged"] == judged[topics.index]).all()
    assert (topics["depth"] == np.where(topics.index.isin(old), 0, 125)).all()
    assert set(topics.index[topics["apart"]]) == old
    of_old = found.unexplained["qid"].isin(old)
    assert of_old.sum() == row["judged_apart"]
    assert (~of_old).sum() == row["judged"] - row["explained"]
    assert (missing > 0) or found.certainty is Certainty.EXACT


def test_no_topic_is_explained(track):
    mine, others = one_run_each(track, 17)
    qrels = mixed(track, mine, others, set(track.topics))
    found = infer_pool(track.runs.select(mine), qrels, order="trec_eval")
    assert found.certainty is Certainty.NONE
    assert (found.depth, found.contributors, found.apart) == (0, [], [])
    assert found.tried["best"].sum() == 1


@settings(deadline=None, max_examples=30)
@given(pooled_fields(), st.lists(st.integers(0, 7), min_size=len(TOPICS), max_size=len(TOPICS)))
def test_ends_are_those_of_the_curves_to_every_depth(made, depths):
    field, _, _, judged = made
    if not comparable(field, judged):
        return
    fits = fitter(as_runs(field), as_qrels(judged))
    given_depths = np.array(depths[: len(fits.ranks.has_topic)]) * fits.ranks.has_topic
    fit = fits.settle(np.minimum(given_depths, fits.ranks.longest))
    of_topics = fit.depths[fits.ranks.has_topic]
    every = Curves(*fits.ranks.counted(fit.runs), 0.0)
    names = float(which_bits(int(fit.runs.sum()), len(fit.runs))) + depth_bits(of_topics, fits.ranks.longest)
    assert fit.ends == every.ends(fit.depths).sum() - names


def test_demo_pool():
    demo = pt.get_dataset("reuse:demo")
    runs, qrels = demo.get_runs(), demo.get_judgments()
    found = infer_pool(runs, qrels)
    assert (found.depth, found.contributor_range, len(found.table)) == (10, (11, 13), 22)
    assert found.summary["explained"].item() == len(qrels) == 989
    recorded = set(runs.select(pooled=True).names)
    assert recorded - set(found.contributors) == {"quarry-bm25-stem"}  # pooled, but 'covered': nothing tells
    assert set(found.contributors) <= recorded
