"""Whether runs fit judgments: what is found, at which doors it is told, and that fitting runs are left alone."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import pt_reuse as ptr
from pt_reuse.scoring.caveats import CaveatWarning

FIELD = ptr.demo.simulate_field(seed=5, n_topics=6, n_docs=60, n_teams=10, length=15, depth=6)
NAME = FIELD.runs.names[0]


def changed(change):
    """Return the frames of the field, one of whose runs was changed."""
    frames = {name: FIELD.runs[name].reset_index(drop=True) for name in FIELD.runs.names}
    frames[NAME] = change(frames[NAME])
    return frames


def suffixed(frame):
    return frame.assign(qid=frame["qid"].where(frame["qid"] != FIELD.qrels.topics[0], frame["qid"] + ".1"))


def by_distance(frame):
    return frame.assign(score=frame["rank"].astype(float))


FAULTS = {
    "topics": suffixed,
    "topics gone": lambda frame: frame[frame["qid"].isin(FIELD.qrels.topics[1:])],
    "documents": lambda frame: frame.assign(docno="http://" + frame["docno"]),
    "distances": by_distance,
    # without ranks, by the order of rows
    "distances by rows": lambda frame: by_distance(frame).drop(columns="rank"),
    # ranks that are all the same say nothing
    "distances by rows of one rank": lambda frame: by_distance(frame).assign(rank=1),
    "ties": lambda frame: frame.assign(score=1.0),
    "ties in float32": lambda frame: frame.assign(score=1 + frame["score"].rank() * 1e-12),
    "ties beyond float32": lambda frame: frame.assign(score=1e300 + frame["score"].rank() * 1e298),
}
ORDERS = {"ties in float32": "trec_eval9", "ties beyond float32": "trec_eval9"}


def heard(call):
    """Return what a call returns, and the caveats that it warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = call()
    return found, [w.message for w in caught if isinstance(w.message, CaveatWarning)]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_run_that_does_not_fit_is_told_by_every_door(fault, messages):
    frames, kind = changed(FAULTS[fault]), fault.split()[0]
    runs = ptr.RunSet.from_frames(frames, order=ORDERS.get(fault, "trec_eval"))
    found, told = heard(lambda: ptr.check_runs(runs, FIELD.qrels))
    assert not told
    assert dict(zip(found.table["name"], found.table["misfit"], strict=True)) == {
        name: kind if name == NAME else "" for name in runs.names
    }
    doors = {
        "score": lambda: ptr.score(runs, FIELD.qrels, ["AP", "nDCG@10"]),
        "a study": lambda: ptr.leave_out_uniques(runs, FIELD.qrels, "nDCG@10", by="run", depth=6),
        "a study of two judgments": lambda: ptr.compare_judgments(runs, FIELD.qrels, FIELD.all_qrels, "nDCG@10"),
    }
    for door, call in doors.items():
        result, told = heard(call)
        assert len([message for message in told if NAME in str(message)]) >= 1, door
        for message in told:
            messages.told(message)
        assert result.settings["beware"], door


@pytest.mark.parametrize("order", ["trec_eval", "trec_eval9", "rank", "file"])
def test_runs_that_fit_are_left_alone(order):
    runs = FIELD.runs.reorder(order)
    found, told = heard(lambda: ptr.check_runs(runs, FIELD.qrels, ["AP", "nDCG@10", "RR"]))
    assert not told
    assert (found.table["misfit"] == "").all()
    assert (found.table[["lacking", "unknown", "constant", "rising"]] == 0).all(axis=None)
    scores, told = heard(lambda: ptr.score(runs, FIELD.qrels, ["AP", "nDCG@10", "RR"]))
    assert not told
    assert "beware" not in scores.settings
    assert np.allclose(found.ties["score"], scores.mean_values.T.ravel())
    for end in ("low", "mean", "high"):
        assert np.array_equal(found.ties[end], found.ties["score"])


def test_further_topics_and_orders_by_rank_are_no_fault():
    frames = {name: FIELD.runs[name] for name in FIELD.runs.names}
    some = FIELD.qrels.select(FIELD.qrels.topics[:2])
    found, told = heard(lambda: ptr.score(ptr.RunSet.from_frames(frames), some, "AP"))
    assert not told
    assert (ptr.check_runs(frames, some).table["unknown"] == 4).all()
    for fault in ("distances", "ties"):
        runs = ptr.RunSet.from_frames(changed(FAULTS[fault]), order="rank")
        found, told = heard(lambda runs=runs: ptr.score(runs, FIELD.qrels, "nDCG@10"))
        assert not told
        assert (
            found.mean_values.tolist()
            == ptr.score(FIELD.runs.reorder("rank"), FIELD.qrels, "nDCG@10").mean_values.tolist()
        )
    # a topic that is left out of the mean changes nothing
    _, told = heard(lambda: ptr.score(changed(suffixed), FIELD.qrels, "AP", complete=False))
    assert not told


def test_a_run_without_any_topic_is_a_row():
    run = pd.DataFrame({"qid": "x", "docno": ["a"], "score": [1.0]})
    qrels = pd.DataFrame({"qid": ["1", "2"], "docno": ["a", "b"], "label": [1, 0]})
    (row,) = ptr.check_runs({"A": run}, qrels).table.to_dict("records")
    assert (row["topics"], row["lacking"], row["unknown"], row["misfit"]) == (0, 2, 1, "topics")
