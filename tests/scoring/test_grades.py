"""Judgments of a known collection that arrive without the label from which its track counts documents as relevant."""

from __future__ import annotations

import warnings

import pandas as pd
import pyterrier as pt
import pytest
from ir_measures import AP, nDCG

import pt_reuse as ptr
from pt_reuse.collections.collection import catalogue_names, catalogued
from pt_reuse.data.metadata import grade_of
from pt_reuse.scoring.caveats import CaveatWarning

#: as many topics, judgments and labels above 0 as the passages of Deep Learning 2019 have
ROWS = [(str(i % 43), f"d{i}", 2 if i < 4_102 else 0) for i in range(9_260)]
FRAME = pd.DataFrame(ROWS, columns=["qid", "docno", "label"])
#: no two scores are equal, so that the grade alone is to be told
SCORED = FRAME.drop(columns="label").assign(score=-1.0 * FRAME.index)
HALVES = {name: SCORED.iloc[start::2] for start, name in enumerate("AB")}
RUNS = ptr.RunSet.from_frames(HALVES, teams={"A": "x", "B": "y"}, pooled=True)
TOPICS = pd.DataFrame({"qid": [str(n) for n in range(43)], "query": "q"})


def experiment(qrels, **rel):
    frame = HALVES["A"].merge(TOPICS, on="qid")
    return ptr.Experiment({"mine": frame}, TOPICS, qrels, [nDCG @ 10], field=RUNS, depth=300, pooled=True, **rel)


def measure(qrels, **rel):
    lou = ptr.LOU(nDCG @ 10, field=RUNS.select(["B"]), depth=300, **rel)
    qrels = qrels if isinstance(qrels, pd.DataFrame) else qrels.to_frame()
    return pt.Evaluate(HALVES["A"].merge(TOPICS, on="qid"), qrels, [lou])


def of_study(qrels, **rel):
    return ptr.leave_out_uniques(RUNS, qrels, [nDCG @ 10], depth=300, **rel)


#: every door that counts documents as relevant, and takes the grade
DOORS = {
    "a study": of_study,
    "another study": lambda qrels, **rel: ptr.profile.density(qrels, **rel),
    "a card": lambda qrels, **rel: ptr.report(None, qrels, **rel),
    "ptr.Experiment": experiment,
    "pt.Evaluate": measure,
}


def grades_told(call, qrels, **rel):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(qrels, **rel)
    found = [w.message for w in caught if isinstance(w.message, CaveatWarning)]
    return sum("trec-2019/deep/passages" in str(message) for message in found)


@pytest.mark.parametrize("door", DOORS)
def test_every_door_tells_once_and_no_grade_that_is_said(door, tmp_path):
    call = DOORS[door]
    for given in (FRAME, ptr.Qrels(FRAME)):
        assert grades_told(call, given) == 1
        for rel in (1, 2):
            assert grades_told(call, given, rel=rel) == 0
    if door != "pt.Evaluate":
        assert grades_told(call, ptr.Qrels(FRAME, rel=2)) == 0
        assert grades_told(call, ptr.Qrels(FRAME).write(tmp_path / "qrels")) == 1
    # those of part of the topics, binary ones, and those of nobody are no known collection's
    for other in (ptr.Qrels(FRAME[FRAME["qid"] != "0"]), ptr.Qrels(FRAME.assign(label=FRAME["label"].clip(upper=1)))):
        assert grades_told(call, other) == 0


def test_scores_tell_it_of_measures_that_count_from_a_grade():
    qrels = ptr.Qrels(FRAME)
    with pytest.warns(CaveatWarning, match="reuse:trec-2019/deep/passages"):
        scores = ptr.score(RUNS, qrels, [AP])
    assert "beware" in scores.settings
    assert "beware" not in ptr.score(RUNS, qrels, [nDCG @ 10, AP(rel=2), AP(rel=1)]).settings


def test_grades_are_those_of_the_catalogue():
    graded = 0
    for name in catalogue_names():
        known = catalogued(name)
        if None in (known.n_topics, known.n_judged, known.n_relevant):
            continue
        rows = known.n_judged
        labels = pd.Series([2] * known.n_relevant + [0] * (rows - known.n_relevant)).to_numpy()
        found = grade_of(known.n_topics, labels)
        assert found == ((name, known.rel) if (known.rel or 1) > 1 else None), name
        graded += found is not None
    assert graded == 5
