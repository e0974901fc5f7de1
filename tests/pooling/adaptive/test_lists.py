"""The lists of a topic as strategies see them: numbering, depth, contributors, scores, the order of runs."""

from __future__ import annotations

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_strategies import topic_of, topics

from pt_reuse.data.run_set import RunSet
from pt_reuse.pooling.adaptive.chooser import random_of_topic, topic_lists
from pt_reuse.pooling.depth import depth_pool


def field(runs, qids=("1",)):
    frames = {}
    for r, run in enumerate(runs):
        rows = [(qid, doc, float(score)) for qid in qids for doc, score in run]
        frames[f"r{r}"] = pd.DataFrame(rows, columns=["qid", "docno", "score"]).astype({"qid": str, "docno": str})
    return RunSet.from_frames(frames)


@given(given=topics(), depth=st.integers(1, 9), data=st.data())
@settings(max_examples=25, deadline=None)
def test_the_lists_are_the_tops_of_the_contributing_runs(given, depth, data):
    runs, _ = given
    contributing = np.array([data.draw(st.booleans()) for _ in runs])
    # ties of scores fall by name, descending
    ordered = [sorted(run, key=lambda row: row[0], reverse=True) for run in runs]
    ordered = [sorted(run, key=lambda row: -row[1])[:depth] for run in ordered]
    chosen = [run for run, counts in zip(ordered, contributing.tolist(), strict=True) if counts]
    (found,) = topic_lists(field(runs), depth, contributing)
    expected = topic_of(chosen)
    names = tuple(f"r{r}" for r in np.flatnonzero(contributing).tolist())
    assert found.names == names
    assert found.docnos == expected.docnos
    for name in ("starts", "codes", "scores", "run", "rank"):
        assert getattr(found, name).tolist() == getattr(expected, name).tolist(), name
    by_document = [[r for r, run in enumerate(chosen) if doc in dict(run)] for doc in found.docnos]
    assert found.runs_of == by_document
    if contributing.any() and chosen and any(chosen):
        pool = depth_pool(field(runs), depth=depth, contributors=list(names))
        assert sorted(pool.to_frame()["docno"]) == sorted(found.docnos)


def test_every_topic_has_its_own_random_numbers():
    first, again, other = (random_of_topic(1, qid).random(4).tolist() for qid in ("301", "301", "302"))
    assert first == again != other
    assert random_of_topic(2, "301").random(4).tolist() != first
    # whatever a topic is called
    assert random_of_topic(1, "q\udcff é").random() < 1
