"""The runs of a field as systems of an experiment: pt.Experiment scores them as `score` does."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyterrier as pt
import pytest
from experiment_parts import FIELD, TOPICS
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import AP, RR, Judged, P, nDCG
from opened import opened

import pt_reuse as ptr
from pt_reuse.data.judgments import as_qrels

MEASURES = [AP, nDCG @ 5, P @ 3, Judged @ 4, RR @ 5, ptr.Unjudged @ 4]
# ties in float64 and in float32 alone, both zeros, and what lies beyond float32
SCORES = [1.0, 1 + 1e-9, 2.0, 0.5, -3.0, -0.0, 0.0, 1e-46, -1e-46, 1e300, 2e300, -1e300, -2e300]


def scored_by_pt(systems, topics, qrels):
    return pt.Experiment(systems, topics, qrels, MEASURES).set_index("name")[[repr(m) for m in MEASURES]]


@st.composite
def fields(draw):
    """Draw runs with a list for some topics, and judgments of some documents and topics."""
    frames = {}
    for name in ("a", "b"):
        rows = [
            (qid, f"d{d}", draw(st.sampled_from(SCORES)))
            for qid in draw(st.lists(st.sampled_from(["1", "2", "10"]), min_size=1, unique=True))
            for d in draw(st.lists(st.integers(0, 9), min_size=1, max_size=8, unique=True))
        ]
        frames[name] = pd.DataFrame([("0", "d0", 1.0), *rows], columns=["qid", "docno", "score"])
    labels = st.dictionaries(st.sampled_from([f"d{i}" for i in range(10)]), st.integers(0, 2), min_size=1)
    return frames, {qid: draw(labels) for qid in ("0", "1", "2", "10")}


@pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")
@settings(deadline=None, max_examples=12)
@given(fields(), st.sampled_from(["trec_eval", "trec_eval9", "file"]))
def test_an_experiment_has_the_scores_of_the_runs_in_every_order(drawn, order):
    frames, labels = drawn
    runs, qrels = ptr.RunSet.from_frames(frames, order=order), as_qrels(labels)
    found = scored_by_pt(runs.systems(), pd.DataFrame({"qid": ["0", "1", "2", "10"], "query": "x"}), qrels)
    expected = ptr.score(runs, qrels, MEASURES).mean.set_index("name")
    np.testing.assert_allclose(found.to_numpy(), expected[list(found)].to_numpy(), rtol=0, atol=1e-12)
    for name, system in runs.systems().items():
        result = system(pd.DataFrame({"qid": ["0", "1", "2", "10"]}))
        assert set(map(tuple, result[["qid", "docno"]].to_numpy())) == set(
            map(tuple, runs[name][["qid", "docno"]].to_numpy())
        )
        for _, part in result.groupby("qid"):
            assert part["rank"].tolist() == list(range(len(part)))
            with np.errstate(over="ignore"):
                assert (np.diff(part["score"].astype(np.float32)) < 0).all()
            assert (np.diff(part["score"]) < 0).all()


def test_beside_a_live_system_and_from_disk():
    live, topics = pt.Transformer.from_df(FIELD.runs["lex1a"].drop(columns="name")), TOPICS.head(4)
    expected = ptr.score(FIELD.runs, FIELD.qrels.select(topics["qid"]), MEASURES).mean.set_index("name")
    for runs in (FIELD.runs, opened(FIELD.runs, 40)):
        systems = runs.systems()
        assert list(systems) == runs.names == [system.name for system in systems.values()]
        found = scored_by_pt({"live": live, **systems}, topics, FIELD.qrels)
        np.testing.assert_allclose(found.iloc[1:].to_numpy(), expected[list(found)].to_numpy(), rtol=0, atol=1e-12)
    together = ptr.Experiment(runs.systems(), topics, FIELD.qrels, [AP], reuse="rank")
    assert together["AP rank"].tolist() == expected["AP"].rank(ascending=False, method="min").tolist()


def test_a_system_of_another_name_is_told_which_are_near(messages):
    runs = FIELD.runs
    systems = runs.systems()
    error = messages.refused(lambda: systems[runs.names[0].upper() + "x"])
    assert repr(runs.names[0]) in str(error)
    assert systems.get("none") is None
    assert {**systems} == systems
