"""Scores by items in pt.Experiment: of pipelines whose answers a matrix has, word for word or by name."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pyterrier as pt
import pytest

import pt_reuse as ptr

TOPICS = pd.DataFrame({"qid": [f"q{t}" for t in range(6)], "query": "?"})


def says(run, *, but=()):
    """Return a pipeline that answers as a run did, but on some topics."""
    return pt.apply.generic(
        lambda asked: asked.assign(qanswer=[f"{run}{'?' if qid in but else ''} says {qid}" for qid in asked["qid"]])
    )


@pytest.fixture
def answers():
    random = np.random.default_rng(3)
    rows = [
        (qid, f"i{i}", run, random.choice([0, 0, 0.5, 1]), random.choice([1, 0.5]), f"{run} says {qid}")
        for qid in TOPICS["qid"]
        for i in range(4)
        for run in "ABCD"
    ]
    frame = pd.DataFrame(rows, columns=["qid", "item", "run", "match", "weight", "qanswer"])
    frame["weight"] = frame.groupby(["qid", "item"])["weight"].transform("first")
    return ptr.read_answers(frame, teams=dict(zip("ABCD", "xxyz", strict=True)))


def run_experiment(answers, systems, **more):
    measures = ptr.items.answer_measures(answers)
    return pt.Experiment(systems, TOPICS, answers.items, measures, validate="error", **more).set_index("name")


@pytest.mark.parametrize("batch_size", [None, 2])
def test_pipelines_score_as_the_runs_whose_answers_they_give(answers, batch_size):
    with warnings.catch_warnings():
        warnings.simplefilter("error", ptr.ReuseWarning)
        found = run_experiment(answers, {"one": says("A"), "two": says("C")}, batch_size=batch_size)
    by_run = ptr.items.leave_out_items(answers).by_run.set_index(["measure", "name"])
    for measure in ("all_score", "weighted_score"):
        for system, run in (("one", "A"), ("two", "C")):
            wanted = by_run.loc[(measure, run)]
            assert found.loc[system, measure] == pytest.approx(wanted["score"], abs=1e-12)
            assert found.loc[system, f"{measure} LOU"] == pytest.approx(wanted["reduced_score"], abs=1e-12)
    assert (found["unmatched"] == 0).all()


def test_answers_that_nobody_matched_are_said_to_be_so(answers):
    full = run_experiment(answers, {"A": says("A")}, perquery=True).set_index(["measure", "qid"])["value"]
    with pytest.warns(ptr.ReuseWarning, match="2 of 6 answers, of a system taken for run 'A', are none"):
        found = run_experiment(answers, {"mine": says("A", but=("q1", "q4"))}, perquery=True)
    found = found.set_index(["measure", "qid"])["value"]
    for measure in ("all_score", "weighted_score LOU"):
        wanted = full[measure].where(~full[measure].index.isin(["q1", "q4"]), 0)
        assert found[measure].to_dict() == pytest.approx(wanted.to_dict())
    assert found["unmatched"].to_dict() == {qid: float(qid in ("q1", "q4")) for qid in TOPICS["qid"]}
    with pytest.warns(ptr.ReuseWarning, match="6 of 6 answers are none of those that were matched"):
        row = run_experiment(answers, {"new": says("N")}).loc["new"]
    assert (row["all_score"], row["unmatched"]) == (0, 1)
    # a topic without an answer counts as one that nobody matched
    short = TOPICS.head(3).assign(qanswer=[f"A says q{t}" for t in range(3)])
    assert run_experiment(answers, {"A": short}).loc["A", "unmatched"] == pytest.approx(0.5)


def test_results_may_name_their_run(answers):
    table = answers.to_frame().rename(columns={"name": "run"})[["qid", "item", "run", "match"]]
    bare = ptr.read_answers(table, teams=dict(zip("ABCD", "xxyz", strict=True)))
    named = TOPICS.assign(qanswer="new words", name="C")
    found = run_experiment(bare, {"mine": named})
    assert found.loc["mine", "all_score"] == pytest.approx(
        run_experiment(answers, {"C": says("C")})["all_score"].item()
    )
    # where an answer is known it must be the one that was matched
    with pytest.warns(ptr.ReuseWarning, match="6 of 6 answers"):
        run_experiment(answers, {"mine": named})
    with pytest.raises(ptr.InputError, match="no text of an answer was read"):
        run_experiment(bare, {"mine": TOPICS.assign(qanswer="new words")})
