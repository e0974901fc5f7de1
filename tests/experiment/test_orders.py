"""pt.Experiment orders by float32 scores, ptr.score by float64 ones: where that makes a difference, it is said."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from experiment_parts import recorded
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import AP, P, nDCG

import pt_reuse as ptr
from pt_reuse._errors import ReuseWarning
from pt_reuse.data.judgments import as_qrels
from pt_reuse.scoring.bounds import score_bounds

#: one number to float32, two to float64
HIGH, LOW = 1.0 + 1e-12, 1.0
ONE_TOPIC = pd.DataFrame({"qid": ["1"], "query": "q"})


def near_tie(first="a", second="b", qid="1"):
    """Return a run that ranks `first` before `second` by float64, and by docno, descending, by float32."""
    return pd.DataFrame({"qid": qid, "docno": [first, second], "score": [HIGH, LOW], "rank": [0, 1]})


def judged(**labels):
    return pd.DataFrame({"qid": "1", "docno": list(labels), "label": list(labels.values())})


def test_by_hand(messages):
    # float64: a before b, so that P@1 is 1; float32: a tie, b before a, so that P@1 is 0
    systems, qrels = {"near": near_tie(), "clear": near_tie("b", "a")}, judged(a=1, b=0)
    result = messages.warned(lambda: ptr.Experiment(systems, ONE_TOPIC, qrels, [P @ 1, AP]))
    assert result["P@1"].tolist() == [0.0, 0.0]
    kept = result.attrs["reuse"]["settings"]
    assert kept["order"] == "trec_eval9"
    assert kept["other order"] == "by trec_eval the scores of 1 of 2 systems are different"
    # as the warning says
    assert ptr.score(result.runs, qrels, [P @ 1]).mean["P@1"].tolist() == [0.0, 0.0]
    assert ptr.score(result.runs.reorder("trec_eval"), qrels, [P @ 1]).mean["P@1"].tolist() == [1.0, 0.0]
    assert ptr.score(ptr.RunSet.from_frames(systems), qrels, [P @ 1]).mean["P@1"].tolist() == [1.0, 0.0]
    assert any("by trec_eval the scores of 1 of 2 systems" in note for note in result.report().notes)


def test_a_share_that_is_another_is_told(messages):
    """What was never judged counts as what is not relevant, in the score alone."""
    systems, qrels = {"A": near_tie()}, judged(a=0, c=1)
    result = messages.warned(lambda: ptr.Experiment(systems, ONE_TOPIC, qrels, [P @ 1]))
    assert result["P@1 unjudged"].tolist() == [1.0]
    usual = ptr.score(systems, qrels, [ptr.Unjudged @ 1, P @ 1])
    assert usual.mean.iloc[0, 1:].tolist() == [0.0, 0.0]
    assert recorded(ptr.Experiment, systems, ONE_TOPIC, qrels, [P @ 1], reuse="rank")[2] == []


def test_a_bound_that_is_another_is_told():
    """A document without a label and one of label 0 change places: no score and no share sees it."""
    run = pd.concat([near_tie(), pd.DataFrame({"qid": "1", "docno": ["c"], "score": [0.5], "rank": [2]})])
    systems, qrels = {"A": run}, judged(a=0, c=1)
    result, _, warned = recorded(ptr.Experiment, systems, ONE_TOPIC, qrels, [AP])
    assert len(warned) == 1
    assert "AP high of 'A' on topic '1'" in warned[0]
    # b and c relevant, b first here: (1 + 2/3) / 2
    assert result[["AP low", "AP", "AP high"]].to_numpy().ravel() == pytest.approx([1 / 3, 1 / 3, 5 / 6])
    assert recorded(ptr.Experiment, systems, ONE_TOPIC, qrels, [AP], reuse=["unjudged", "rank"])[2] == []


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**6))
def test_it_is_told_where_ptr_score_differs_and_nowhere_else(seed):
    chance = np.random.default_rng(seed)
    docnos = np.array([f"d{i}" for i in range(8)])
    topics = pd.DataFrame({"qid": ["1", "2"], "query": "q"})

    def run():
        parts = []
        for qid in topics["qid"]:
            scores = 1 + chance.integers(0, 4, 8) * chance.choice([1e-12, 1.0], 8)
            parts.append(pd.DataFrame({"qid": qid, "docno": chance.permutation(docnos), "score": scores}))
        return pd.concat(parts, ignore_index=True)

    systems = {name: run() for name in "AB"}
    rows = [
        (qid, docno, int(label))
        for qid in topics["qid"]
        for docno, label in zip(docnos, chance.integers(-1, 3, 8), strict=True)
    ]
    qrels = pd.DataFrame(rows, columns=["qid", "docno", "label"])
    measures = [AP, P @ 2, nDCG @ 3]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = ptr.Experiment(systems, topics, qrels, measures)
    mine = [str(w.message) for w in caught if issubclass(w.category, ReuseWarning) and "float32" in str(w.message)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shown = [*measures, ptr.Unjudged, ptr.Unjudged @ 2, ptr.Unjudged @ 3]
        usual_runs = ptr.RunSet.from_frames(systems)
        usual = ptr.score(usual_runs, qrels, shown)
        here = ptr.score(result.runs, qrels, shown)
        ends = [score_bounds(runs, as_qrels(qrels), measures) for runs in (usual_runs, result.runs)]
    differ = (usual.values != here.values).any(axis=0)
    if not differ.any():
        moved = [np.abs(getattr(ends[0], end) - getattr(ends[1], end)) > 1e-9 for end in ("low", "high")]
        differ = np.concatenate(moved).any(axis=0)
    assert len(mine) == int(differ.any())
    for name, n in zip("AB", differ.sum(axis=0), strict=True):
        assert not mine or (f"{name!r} on {n} topic" in mine[0]) == bool(n)
    for measure in measures:
        assert result[str(measure)].tolist() == pytest.approx(here.mean[str(measure)].tolist())
