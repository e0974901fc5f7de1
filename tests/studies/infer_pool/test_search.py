"""What is tried where no option is given, what is told of it, and which answer is the best."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from pool_parts import as_qrels, as_runs, fitter, hand, pool_of

from pt_reuse.data.run_set import RunSet
from pt_reuse.studies.infer_pool.evidence import Certainty
from pt_reuse.studies.infer_pool.inference import infer_pool

COLUMNS = [
    "order", "tolerance", "way", "depth_from", "depth_to", "runs", "explained", "unjudged", "new_below", "bits", "best",
]  # fmt: skip


def simulated(n_topics, *, n_runs=16, n_pooled=8, length=60, n_docs=400, seed=3):
    """Return runs with much in common and noise of their own, the first `n_pooled` of them the pooled ones."""
    random = np.random.default_rng(seed)
    field = {f"r{run:02}": {} for run in range(n_runs)}
    for topic in range(1, n_topics + 1):
        shared = random.normal(size=n_docs)
        for name in field:
            best = np.argsort(-(shared + random.normal(size=n_docs)))[:length]
            field[name][str(topic)] = [f"d{doc}" for doc in best]
    return field, list(field)[:n_pooled]


def dropped(judged, share, seed=5):
    pairs = sorted(judged)
    kept = np.random.default_rng(seed).choice(len(pairs), size=round(len(pairs) * (1 - share)), replace=False)
    return {pairs[at] for at in kept}


def test_an_exact_answer_ends_the_search():
    found = infer_pool(*hand())
    assert found.tried.columns.tolist() == COLUMNS
    assert found.tried[COLUMNS[:8]].to_numpy().tolist() == [["trec_eval", 0, "inferred", 3, 3, 5, 9, 0]]
    assert found.best_of_tried() == []


def test_an_option_is_kept_and_the_rest_is_tried():
    field, pooled = simulated(4)
    judged = dropped(pool_of(field, pooled, ["1", "2", "3", "4"], dict.fromkeys("1234", 10)), 0.03)
    runs, qrels = as_runs(field), as_qrels(judged)

    def tried(**options):
        table = infer_pool(runs, qrels, **options).tried
        return [sorted(table[column].unique()) for column in ("order", "tolerance", "way")]

    ways = ["inferred", "inferred for each topic"]
    # in the lists of this field all orders are the same
    assert tried() == [["trec_eval"], [0, 0.01, 0.02, 0.05, 0.1], ways]
    assert tried(order="file") == [["file"], [0, 0.01, 0.02, 0.05, 0.1], ways]
    assert tried(tolerance=0.03) == [["trec_eval"], [0.03], ways]
    assert tried(depth="common", tolerance=0.0) == [["trec_eval"], [0], ways[:1]]
    assert tried(depth="topic", tolerance=0.0) == [["trec_eval"], [0], ways[1:]]
    assert tried(depth=10) == [["trec_eval"], [0, 0.01, 0.02, 0.05, 0.1], ["given"]]


@pytest.fixture
def tied():
    """Return runs whose scores tie and whose ranks are random, and the order of the rows as they were pooled."""
    field, pooled = simulated(5, n_pooled=9)
    random = np.random.default_rng(1)
    frames = {}
    for name, lists in field.items():
        rows = [(qid, doc, -(rank // 8)) for qid, docs in lists.items() for rank, doc in enumerate(docs)]
        frame = pd.DataFrame(rows, columns=["qid", "docno", "score"])
        frames[name] = frame.assign(rank=np.concatenate([random.permutation(60) for _ in lists]))
    judged = pool_of(field, pooled, list("12345"), dict.fromkeys("12345", 10))
    return frames, judged, pooled


def test_the_order_in_which_a_pool_was_made_is_found(tied):
    frames, judged, pooled = tied
    runs, qrels = RunSet.from_frames(frames), as_qrels(judged)
    found = infer_pool(runs, qrels)
    assert (found.depth, found.order, found.contributors) == (10, "file", pooled)
    assert found.certainty is Certainty.EXACT
    assert found.tried["order"].tolist() == ["trec_eval", "file"]
    assert found.tried["best"].tolist() == [False, True]
    # the order in which the field is said to have been pooled comes first
    said = infer_pool(RunSet.from_frames(frames, pool_order="file"), qrels)
    assert said.tried["order"].tolist() == ["file"]
    # what it tells leads to the pool
    again = RunSet.from_frames(frames, pooled=found.contributors, pool_order=found.order)
    assert infer_pool(again, qrels).confusion["needed"].tolist() == [9, 0]


def test_every_order_is_tried_that_there_is(tied):
    frames, judged, _ = tied
    qrels = as_qrels(judged | {("1", "nowhere near")} | {(topic, "d399") for topic in "12345"})
    assert infer_pool(RunSet.from_frames(frames), qrels, tolerance=0).tried["order"].unique().tolist() == [
        "trec_eval",
        "file",
        "rank",
    ]
    bare = {name: frame.drop(columns="rank") for name, frame in frames.items()}
    assert "rank" not in infer_pool(RunSet.from_frames(bare), qrels).tried["order"].tolist()


def test_dropped_judgments_are_no_reason_to_give_up():
    field, pooled = simulated(12)
    topics = [str(topic) for topic in range(1, 13)]
    judged = dropped(pool_of(field, pooled, topics, dict.fromkeys(topics, 15)), 0.05)
    found = infer_pool(as_runs(field), as_qrels(judged))
    assert (found.depth, found.contributors) == (15, pooled)
    assert (found.certainty, found.summary["explained"].item()) == (Certainty.NEARLY, len(judged))
    assert infer_pool(as_runs(field), as_qrels(judged), tolerance=0).certainty is Certainty.PARTIAL


def half_old(seed=3):
    """Return a field whose odd topics were judged from other runs, and whose even ones are a pool to depth 20."""
    field, pooled = simulated(16, n_runs=24, n_pooled=8, length=80, seed=seed)
    topics = [str(topic) for topic in range(1, 17)]
    old = topics[::2]
    judged = pool_of(field, pooled, topics[1::2], dict.fromkeys(topics, 20))
    judged |= pool_of(field, list(field)[16:], old, dict.fromkeys(topics, 35))
    return {name: lists for name, lists in list(field.items())[:16]}, pooled, judged, old


def test_topics_that_are_not_of_the_pool_get_no_depth():
    field, pooled, judged, old = half_old()
    found = infer_pool(as_runs(field), as_qrels(judged))
    depths = found.by_topic.set_index("qid")["depth"]
    assert found.contributors == pooled
    assert set(depths.drop(old)) == {20}
    assert set(depths[old]) == {0}
    assert found.summary.iloc[0]["new_below"] == 0
    new = infer_pool(as_runs(field), as_qrels({pair for pair in judged if pair[0] not in old}))
    assert (new.depth, new.contributors) == (20, pooled)


def test_single_topics_are_starts():
    """From the runs of the common depth alone, the depths by topic do not get away from it."""
    field, pooled, judged, _ = half_old()
    fits = fitter(as_runs(field), as_qrels(judged))
    common, own = fits.common_depth(), fits.own_depths()
    assert common.runs.sum() < len(pooled)
    assert own.runs.sum() == len(pooled)
    assert own.bits < common.bits


def test_topics_of_one_kind_have_one_depth():
    field, pooled = simulated(12)
    topics = [str(topic) for topic in range(1, 13)]
    true = {topic: 8 if int(topic) % 2 else 25 for topic in topics}
    judged = dropped(pool_of(field, pooled, topics, true), 0.02)
    found = infer_pool(as_runs(field), as_qrels(judged))
    assert found.by_topic.set_index("qid")["depth"].to_dict() == true
    assert found.contributors == pooled
    assert found.tried[found.tried["best"]]["way"].tolist() == ["inferred for each topic"]


def test_a_run_that_lacks_far_more_than_the_others_is_not_of_the_pool():
    field, pooled = simulated(12)
    topics = [str(topic) for topic in range(1, 13)]
    judged = pool_of(field, pooled, topics, dict.fromkeys(topics, 15))
    # not pooled: of its own three documents a topic two are judged for another reason, and one is not
    field["stranger"] = {t: [f"x{t}", f"only{t}", f"too{t}", *field["r00"][t][:12]] for t in topics}
    others = {(topic, f"{word}{topic}") for topic in topics for word in ("only", "too")}
    runs, qrels = as_runs(field), as_qrels(dropped(judged | others, 0.01))
    names, depths = np.array(runs.names), np.full(12, 15)
    assert names[fitter(runs, qrels, 0.1, alike=True).settle(depths).runs].tolist() == pooled
    assert names[fitter(runs, qrels, 0.1).settle(depths).runs].tolist() == [*pooled, "stranger"]
    assert infer_pool(runs, qrels).contributors == pooled
    # a tolerance of the user's own holds for each run by itself
    assert infer_pool(runs, qrels, tolerance=0.1).contributors == [*pooled, "stranger"]


def test_a_spurious_depth_has_no_cliff_and_little_certainty():
    field = {"A": {"1": list("abcdefgh")}, "B": {"1": list("ijklmnop")}, "C": {"1": ["a", "x1", "i", "x2"]}}
    judged = {("1", doc) for doc in "abcdefghijklmnop"}
    found = infer_pool(as_runs(field), as_qrels(judged), depth=6)
    assert (found.certainty, found.summary["new_below"].item()) == (Certainty.PARTIAL, 1)
    assert "there is no cliff" in found.explanation
    assert infer_pool(as_runs(field), as_qrels(judged)).certainty is Certainty.EXACT
