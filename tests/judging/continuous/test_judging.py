"""Judging by a protocol against plain loops, with whatever scorer, judge and protocol; its tables and figures."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from cal_parts import CORPUS, LABELS, TOPICS, Hashed
from real_runs import read_real

import pt_reuse as ptr
from pt_reuse.judging.protocols import AutoTAR, DenseTopic, FewJudged, FruitfulBatch, NoBatchYet, TrecDL2021
from pt_reuse.pooling.adaptive.bandits import random_of_topic


def slow_topic(corpus, topic, labels, protocol, seed, pool=()):
    """Judge one topic by plain loops; return (document, round, probability), and how it ended."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    qid, query = topic
    names = [doc["docno"] for doc in corpus]
    vectorizer = TfidfVectorizer(sublinear_tf=True)
    matrix = vectorizer.fit_transform([doc["text"] for doc in corpus]).toarray()
    seed_document = vectorizer.transform([query]).toarray()[0]
    random = random_of_topic(seed, qid)
    tie = random.permutation(len(names)).tolist()
    found, number, size, last = [], 0, protocol.batch, None
    if protocol.pool_depth is not None:
        number = 1
        found = [(docno, 1, None) for docno in pool]
    batches = 0
    while True:
        judged = [docno for docno, _, _ in found if docno in labels]
        relevant = [docno for docno in judged if labels[docno] >= 1]
        density = len(relevant) / len(judged) if judged else 0
        asked = {docno for docno, _, _ in found}
        free = [i for i, name in enumerate(names) if name not in asked]
        if number:
            if not free:
                return found, "exhausted"
            if density > (protocol.abandon_above or 2) and len(found) >= protocol.abandon_from:
                return found, "abandoned"
            if protocol.goes_on_while:
                dense, few, _, fruitful = protocol.goes_on_while
                limit = fruitful.early_above if batches <= fruitful.early_batches else fruitful.above
                goes_on = density > dense.above or len(found) < few.below or batches == 0 or last > limit
                if not goes_on:
                    return found, "finished"
            if len(found) >= protocol.topic_budget:
                return found, "topic budget"
        presumed = random.choice(free, size=min(protocol.presumed_negatives, len(free)), replace=False).tolist()
        rows, target = [seed_document], [True]
        for docno in judged:
            rows.append(matrix[names.index(docno)])
            target.append(labels[docno] >= 1)
        for i in presumed:
            rows.append(matrix[i])
            target.append(False)
        model = LogisticRegression(solver="newton-cg", tol=1e-8, max_iter=1000).fit(np.array(rows), target)
        chance = model.predict_proba(matrix)[:, 1]
        best = sorted(free, key=lambda i: (-chance[i], tie[i]))[: min(size, protocol.topic_budget - len(found))]
        number, batches = number + 1, batches + 1
        found += [(names[i], number, chance[i]) for i in best]
        with_label = [names[i] for i in best if names[i] in labels]
        last = sum(labels[docno] >= 1 for docno in with_label) / max(len(with_label), 1)
        size += int(np.ceil(round(size * protocol.growth, 6)))


SMALL = (DenseTopic(0.6), FewJudged(25), NoBatchYet(), FruitfulBatch(0.4, 0.2, 1))
PROTOCOLS = {
    "AutoTAR": AutoTAR(topic_budget=30, presumed_negatives=10),
    "AutoTAR to the end": AutoTAR(topic_budget=100, presumed_negatives=3, growth=0.5),
    "the track": TrecDL2021(goes_on_while=SMALL, batch=5, topic_budget=45, abandon_from=20, presumed_negatives=8),
    "the track, soon abandoned": TrecDL2021(
        goes_on_while=SMALL, batch=4, abandon_above=0.5, abandon_from=8, presumed_negatives=20
    ),
}


def run_of(docnos):
    """Return a field of one run that has these documents, by topic, in their order."""
    rows = [(qid, docno, -float(rank)) for qid, names in docnos.items() for rank, docno in enumerate(names)]
    return ptr.RunSet.from_frames({"one": pd.DataFrame(rows, columns=["qid", "docno", "score"])}, pooled=True)


@pytest.mark.parametrize(("seed", "name"), list(enumerate(PROTOCOLS)))
def test_the_same_documents_in_the_same_order_as_plain_loops(name, seed):
    protocol, first = PROTOCOLS[name], [f"d{i}" for i in (7, 3, 50, 21, 8, 30, 5, 44)]
    pooled = protocol.pool_depth is not None
    found = ptr.judging.judge_continuously(
        CORPUS,
        TOPICS,
        LABELS,
        protocol=protocol,
        runs=run_of(dict.fromkeys(TOPICS["qid"], first)) if pooled else None,
        seed=seed,
    )
    for row in found.topics.itertuples():
        query = TOPICS.set_index("qid")["query"][row.qid]
        slow, status = slow_topic(CORPUS, (row.qid, query), LABELS[row.qid], protocol, seed, first)
        mine = found.labels[found.labels["qid"] == row.qid]
        assert list(zip(mine["docno"], mine["round"], strict=True)) == [(docno, n) for docno, n, _ in slow]
        assert row.status == status
        chosen = mine[mine["strategy"] == "cal"]
        said = [float(reason.removeprefix("probability ")) for reason in chosen["reason"]]
        assert np.allclose(said, [p for _, _, p in slow if p is not None], atol=0.0051)
        assert mine["label"].tolist() == [LABELS[row.qid][docno] for docno in mine["docno"]]
        assert row.relevant == sum(LABELS[row.qid][docno] >= 1 for docno, _, _ in slow)


def test_documents_without_a_label_teach_nothing_and_are_not_asked_again(messages):
    some = {qid: {docno: label for docno, label in of.items() if int(docno[1:]) % 3} for qid, of in LABELS.items()}
    protocol, judge = AutoTAR(topic_budget=25, presumed_negatives=10), ptr.judging.Oracle(some, unknown="skip")
    found = messages.warned(lambda: ptr.judging.judge_continuously(CORPUS, TOPICS, judge, protocol=protocol))
    assert (found.topics["asked"] == 25).all()
    for row in found.topics.itertuples():
        query = TOPICS.set_index("qid")["query"][row.qid]
        slow, _ = slow_topic(CORPUS, (row.qid, query), some[row.qid], protocol, 0)
        expected = [docno for docno, _, _ in slow if docno in some[row.qid]]
        assert found.labels.loc[found.labels["qid"] == row.qid, "docno"].tolist() == expected
        assert row.judged == len(expected) < row.asked


@pytest.fixture(scope="module")
def found():
    runs = run_of({"1": ["d1", "d5", "d9", "d7"], "2": ["d2", "d3", "d4"]})
    protocol = TrecDL2021(goes_on_while=SMALL, batch=5, presumed_negatives=8, evaluate_up_to=0.93, topic_budget=24)
    with pytest.warns(ptr.ReuseWarning, match="without a pooled document"):
        return ptr.judging.judge_continuously(CORPUS, TOPICS, LABELS, protocol=protocol, runs=runs)


def test_tables_add_up(found):
    topics, labels, counts = found.topics, found.labels, found.table.set_index("judgments_of")
    assert list(labels) == ["qid", "docno", "label", "judge", "time", "strategy", "round", "reason"]
    assert labels["time"].str.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?\+00:00").all()
    assert set(labels["strategy"]) == {"depth-10 pool", "cal"}
    assert labels["reason"].str.startswith("best rank").equals(labels["strategy"] == "depth-10 pool")
    assert counts["judgments"].tolist()[:3] == [7, 65, 72]
    assert counts["topics"].tolist()[:3] == [2, 3, 3]
    assert counts.loc["evaluation set", "judgments"] + counts.loc["wasted", "judgments"] == 72
    assert counts.loc["evaluation set", "topics"] == topics["evaluated"].sum()
    assert found.wasted == counts.loc["wasted", "judgments"] / 72
    assert 0 < found.wasted < 1
    assert counts["density"].tolist() == (counts["relevant"] / counts["judgments"]).tolist()
    assert found.evaluated.topics == sorted(topics.loc[topics["evaluated"], "qid"])
    assert (len(found.qrels), found.qrels.topics) == (72, ["1", "2", "10"])
    pd.testing.assert_frame_equal(
        found.qrels.counts()[["qid", "judged", "relevant", "density"]], topics[["qid", "judged", "relevant", "density"]]
    )


def test_the_pool_of_the_deep_learning_track_of_2021(data):
    folder = data / "dl21-passages"
    if not folder.is_dir():
        pytest.skip("the test data has no folder dl21-passages")
    runs = read_real(folder / "inputs", teams=folder / "runs-pids")
    qrels = ptr.read_qrels(folder / "qrels.gz").with_rel(2)
    # there is no text of the passages: what is judged stands in, in any order, and one more
    scorer = Hashed({})
    judged = qrels.to_frame().groupby("qid")["docno"]
    scorer.of = {str(qid): np.array([*docnos, "more"], dtype=object) for qid, docnos in judged}
    judge = ptr.judging.Oracle(qrels, unknown="skip")
    topics = pd.DataFrame({"qid": runs.topics})
    with pytest.warns(ptr.ReuseWarning, match="without a label"):
        found = ptr.judging.judge_continuously(scorer, topics, judge, protocol=TrecDL2021(), runs=runs)
    assert found.rel == 2
    pool = found.rounds[found.rounds["round"] == 1]
    assert (pool["strategy"] == "depth-10 pool").all()
    assert (len(pool), pool["asked"].sum(), pool["judged"].sum(), pool["relevant"].sum()) == (53, 7443, 7443, 1946)
    assert ((pool["density"] > 1 / 2).sum(), (pool["density"] > 1 / 3).sum()) == (10, 19)
    assert (pool["decision"] == "goes on").all(), "no topic rests on its pool alone"
    dense = pool["density"] > 1 / 2
    assert (pool["why"].str.contains("density") == dense).all()
    assert (pool["why"].str.contains("documents < 150") == (pool["asked"] < 150)).all()
    counts = found.table.set_index("judgments_of")
    assert counts.loc["initial pool", ["topics", "judgments", "relevant"]].tolist() == [53, 7443, 1946]
    assert counts.loc["initial pool", "per_topic"] == 7443 / 53
