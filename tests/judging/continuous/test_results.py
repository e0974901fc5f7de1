"""What comes of judging by a protocol: on real collections, in tables, reports and figures, saved and read back."""

from __future__ import annotations

import re

import matplotlib as mpl

mpl.use("Agg")

import numpy as np
import pandas as pd
import pytest
from cal_parts import CORPUS, LABELS, TOPICS, Fused
from matplotlib import pyplot as plt
from real_runs import read_real
from same import assert_same

import pt_reuse as ptr
from pt_reuse.judging import AutoTAR, DenseTopic, FewJudged, FruitfulBatch, NoBatchYet, TfIdf, TrecDL2021

COLUMNS = ["qid", "docno", "label"]


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def dl21(data):
    folder = data / "dl21-passages"
    if not folder.is_dir():
        pytest.skip("the test data has no folder dl21-passages")
    runs = read_real(folder / "inputs", teams=folder / "runs-pids")
    qrels = ptr.read_qrels(folder / "qrels.gz").with_rel(2)
    # there is no text of the passages: the fusion of the runs stands in for the classifier
    judge = ptr.judging.Oracle(qrels, unknown="skip")
    topics = pd.DataFrame({"qid": runs.topics})
    with pytest.warns(ptr.ReuseWarning, match="without a label"):
        return ptr.judging.judge_continuously(Fused(runs), topics, judge, protocol=TrecDL2021(), runs=runs), qrels


def test_the_pool_of_the_deep_learning_track_of_2021(dl21):
    found, _ = dl21
    assert found.rel == 2
    pool = found.rounds[found.rounds["round"] == 1]
    assert (pool["strategy"] == "depth-10 pool").all()
    assert (len(pool), pool["asked"].sum(), pool["judged"].sum(), pool["relevant"].sum()) == (53, 7443, 7443, 1946)
    assert ((pool["density"] > 1 / 2).sum(), (pool["density"] > 1 / 3).sum()) == (10, 19)
    assert (pool["decision"] == "goes on").all(), "no topic rests on its pool alone"
    dense = pool["density"] > 1 / 2
    assert (pool["why"].str.contains("density") == dense).all()
    assert (pool["why"].str.contains("documents < 150") == (pool["asked"] < 150)).all()
    counts = found.counts().set_index("judgments_of")
    assert counts.loc["initial pool", ["topics", "judgments", "relevant"]].tolist() == [53, 7443, 1946]
    assert counts.loc["initial pool", "per_topic"] == 7443 / 53


def entries(path):
    """Return number -> the lines below it, of a file of vaswani."""
    parts = re.findall(r"^(\d+)\n(.*?)\s*/\s*$", path.read_text(), re.MULTILINE | re.DOTALL)
    return {number: text.strip() for number, text in parts}


@pytest.fixture(scope="module")
def vaswani(data):
    """Return four topics of vaswani judged by both protocols, from a tf-idf run and the texts of all documents."""
    folder = data / "irds-cache" / "vaswani"
    if not folder.is_dir():
        pytest.skip("the test data has no folder irds-cache")
    docs = entries(folder / "docs.txt")
    assert len(docs) == 11_429
    topics = pd.DataFrame(list(entries(folder / "queries.txt").items())[:4], columns=["qid", "query"])
    known = {qid: dict.fromkeys(found.split(), 1) for qid, found in entries(folder / "qrels.txt").items()}
    qrels = ptr.Qrels(pd.DataFrame([(qid, d, 1) for qid in topics["qid"] for d in known[qid]], columns=COLUMNS))
    scorer = TfIdf({"docno": docno, "text": text} for docno, text in docs.items())
    found = (scorer.vectorizer.transform(topics["query"]) @ scorer.features.T).toarray()
    rows = [
        (qid, scorer.docnos[doc], row[doc])
        for qid, row in zip(topics["qid"], found, strict=True)
        for doc in np.argsort(-row, kind="stable")[:10]
    ]
    runs = {"tf-idf": pd.DataFrame(rows, columns=["qid", "docno", "score"])}
    judge = ptr.judging.Oracle(qrels, unknown="not relevant")
    track = ptr.judging.judge_continuously(scorer, topics, judge, protocol=TrecDL2021(), runs=runs)
    tar = ptr.judging.judge_continuously(scorer, topics, judge, protocol=AutoTAR(topic_budget=160, growth=0.5))
    return {"track": track, "tar": tar}, qrels


SMALL = (DenseTopic(0.6), FewJudged(25), NoBatchYet(), FruitfulBatch(0.4, 0.2, 1))


@pytest.fixture(scope="module")
def found():
    pool = ptr.Pool.from_frame(
        pd.DataFrame({"qid": ["1"] * 4 + ["2"] * 3, "docno": ["d1", "d5", "d9", "d7", "d2", "d3", "d4"]})
    )
    protocol = TrecDL2021(goes_on_while=SMALL, batch=5, presumed_negatives=8, evaluate_up_to=0.93, total_budget=70)
    with pytest.warns(ptr.ReuseWarning, match="without a pooled document"):
        return ptr.judging.judge_continuously(CORPUS, TOPICS, LABELS, protocol=protocol, pool=pool)


def test_tables_add_up(found):
    topics, labels, counts = found.topics, found.labels, found.counts().set_index("judgments_of")
    assert list(labels) == ["qid", "docno", "label", "judge", "time", "strategy", "round", "reason"]
    assert labels["time"].str.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?\+00:00").all()
    assert set(labels["strategy"]) == {"initial pool", "cal"}
    assert (labels["reason"] == "in the pool").equals(labels["strategy"] == "initial pool")
    assert counts["judgments"].tolist()[:3] == [7, 63, 70]
    assert counts["topics"].tolist()[:3] == [2, 3, 3]
    assert counts.loc["evaluation set", "judgments"] + counts.loc["wasted", "judgments"] == 70
    assert counts.loc["evaluation set", "topics"] == topics["evaluated"].sum()
    assert found.wasted == counts.loc["wasted", "judgments"] / 70
    assert 0 < found.wasted < 1
    assert counts["density"].tolist() == (counts["relevant"] / counts["judgments"]).tolist()
    assert found.evaluated.topics == sorted(topics.loc[topics["evaluated"], "qid"])
    assert (len(found.qrels), found.qrels.topics) == (70, ["1", "2", "10"])
    pd.testing.assert_frame_equal(
        found.qrels.counts()[["qid", "judged", "relevant", "density"]],
        topics[["qid", "judged", "relevant", "density"]],
    )


def test_saved_and_read_back(found, tmp_path):
    found.save(tmp_path)
    again = ptr.read_result(tmp_path)
    assert_same(found, again)
    assert_same(found.qrels.to_frame(), again.qrels.to_frame())
    assert again.counts().equals(found.counts())
    assert {path.name for path in tmp_path.iterdir()} >= {"topics.csv", "rounds.csv", "labels.csv", "counts.csv"}


def points(ax, label):
    assert label in [text.get_text() for text in ax.get_legend().get_texts()]
    (drawn,) = [collection for collection in ax.collections if collection.get_label() == label]
    return np.asarray(drawn.get_offsets())


def test_the_figure_shows_each_density(found):
    ax = found.plot()
    rounds = found.rounds[found.rounds["density"].notna()]
    last = rounds.groupby("qid")["density"].last()
    order = found.topics.sort_values(["density", "qid"])["qid"].tolist()
    ends = np.concatenate([points(ax, "at the end"), points(ax, "at the end, not evaluated")])
    ends = ends[np.argsort(ends[:, 0])]
    assert np.allclose(ends, [(n, last[qid]) for n, qid in enumerate(order, 1)])
    entered = found.topics.set_index("qid")["evaluated"]
    assert points(ax, "at the end")[:, 0].tolist() == [n for n, qid in enumerate(order, 1) if entered[qid]]
    first = points(ax, "first round")
    expected = rounds.groupby("qid", sort=False)["density"].first()
    assert sorted(first[:, 1]) == pytest.approx(sorted(expected))
    assert len(points(ax, "further rounds")) == len(rounds) - 2 * 3
    flags = [line.get_ydata()[0] for line in ax.lines]
    assert flags == [1 / 3, 1 / 2]
