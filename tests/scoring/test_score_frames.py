"""Scores of a frame, as pt.Experiment returns it and as score matrices hold it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyterrier as pt
import pytest

from pt_reuse.demo.simulated import simulate_field
from pt_reuse.scoring.run_scores import score
from pt_reuse.scoring.scores import Scores

FIELD = simulate_field(seed=7, n_topics=6)
SCORES = score(FIELD.runs, FIELD.qrels, ["AP", "P@10", "nDCG(dcg='exp-log2')@10"])
FRAME = SCORES.per_topic
OF_ONE = (FRAME["name"] == "lex1a") & (FRAME["qid"] == FRAME["qid"].iloc[0])


def test_what_per_topic_gives_is_read_back():
    found = Scores.from_frame(FRAME, metadata=SCORES.run_table)
    assert (found.values == SCORES.values).all()
    assert (found.topics, found.measures, found.names) == (SCORES.topics, SCORES.measures, SCORES.names)
    assert found.run_table.equals(SCORES.run_table)
    assert found.ranks.equals(SCORES.ranks)
    assert found.complete
    assert found.has_topic.all()
    assert found.settings == {"scores": "given by topic", "complete": True}
    assert "The scores were given by topic." in str(found.report())


def test_rows_may_stand_in_any_order():
    shuffled = FRAME.sample(frac=1, random_state=1)
    found = Scores.from_frame(shuffled, teams=dict.fromkeys(SCORES.names, "x"))
    assert set(found.run_table["team"]) == {"x"}
    for measure in SCORES.measures:
        expected = SCORES.of(measure)
        assert found.of(measure).loc[expected.index, expected.columns].equals(expected)


def test_what_an_experiment_returns_is_what_score_says():
    topics = pd.DataFrame({"qid": FIELD.runs.topics, "query": "q"})
    names = ["lex1a", "neu2a", "man3a"]
    found = pt.Experiment(
        {name: pt.Transformer.from_df(FIELD.runs[name]) for name in names},
        topics,
        FIELD.qrels.to_frame()[["qid", "docno", "label"]],
        ["map", "P_10"],
        perquery=True,
    )
    given, own = Scores.from_frame(found), score(FIELD.runs.select(names), FIELD.qrels, ["AP", "P@10"])
    assert given.measures == ["AP", "P@10"]
    for measure in given.measures:
        expected = own.of(measure)
        assert np.allclose(given.of(measure).loc[expected.index, expected.columns], expected, rtol=0, atol=1e-12)


def test_a_topic_that_a_run_lacks():
    lacking = FRAME[~OF_ONE]
    zero, own = (Scores.from_frame(lacking, missing=missing) for missing in ("zero", "leave_out"))
    rest = SCORES.values[:, 1:, SCORES.names.index("lex1a")]
    run = zero.names.index("lex1a")
    assert np.allclose(zero.mean_values[:, run], rest.sum(axis=1) / 6)
    assert np.allclose(own.mean_values[:, run], rest.mean(axis=1))
    assert (zero.complete, own.complete) == (True, False)
    assert (~zero.has_topic).sum() == (~own.has_topic).sum() == 1
    assert zero.settings["topics that runs lack"] == 1


def with_value(value, row=3):
    return FRAME.assign(value=FRAME["value"].where(FRAME.index != row, value))


FAULTY = {
    "no frame": [1],
    "a dict of an experiment": {0: {"1": {"map": 1.0}}},
    "no row": FRAME[:0],
    "a missing column": FRAME.drop(columns="qid"),
    "an empty topic": FRAME.assign(qid=FRAME["qid"].where(FRAME.index != 2, None)),
    "a name of another kind": FRAME.assign(name=1.5),
    "a value that is NaN": with_value(np.nan),
    "a value that is infinite": with_value(np.inf),
    "values that are texts": FRAME.assign(value="x"),
    "values that are true or false": FRAME.assign(value=True),
    "a row twice": pd.concat([FRAME, FRAME[4:6]]),
    "a measure under two names": pd.concat([FRAME, FRAME.assign(measure=FRAME["measure"].replace("AP", "map"))]),
    "a run without a topic": FRAME[~OF_ONE],
    "a run without a topic by one measure": FRAME.drop(index=FRAME[OF_ONE].index[0]),
}


@pytest.mark.parametrize("what", FAULTY)
def test_what_is_wrong_is_named(what, messages):
    messages.refused(Scores.from_frame, frame=FAULTY[what], argument="frame")


def test_a_score_that_is_missing_beside_others_is_an_error_however_topics_are_taken(messages):
    for missing in ("zero", "leave_out"):
        messages.refused(Scores.from_frame, frame=FRAME.drop(index=FRAME[OF_ONE].index[0]), missing=missing)
    messages.refused(Scores.from_frame, frame=FRAME, missing="nothing", argument="missing")
    messages.refused(Scores.from_frame, frame=FRAME, teams={"lex1": "x"}, argument="teams")
