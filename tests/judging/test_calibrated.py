"""Calibrated judges: against scikit-learn, with what they were fitted on kept apart from what audits them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import pt_reuse as ptr
from pt_reuse.judging.judges import as_judges
from pt_reuse.judging.label_pairs import compared_labels

CHANCE = np.random.default_rng(2)
PEOPLE = pd.DataFrame({"qid": [str(1 + n % 4) for n in range(200)], "docno": [f"d{n:03}" for n in range(200)]})
SCORES = pd.Series(CHANCE.normal(size=200), index=PEOPLE["docno"])
PEOPLE["label"] = np.clip(np.round(SCORES.to_numpy() + 0.6 * CHANCE.normal(size=200)), 0, 2).astype(int)
QRELS = ptr.Qrels(PEOPLE)


def model(frame):
    return frame.assign(label=2, score=SCORES[frame["docno"]].to_numpy())


def fitted(**options):
    return ptr.judging.Calibrated(model, QRELS, **{"column": "score", "share": 0.5, "seed": 1, **options})


def test_labels_are_those_of_a_logistic_regression():
    judge = fitted()
    taught = judge.fitted_on.to_frame()
    assert (len(taught), len(judge.held_out)) == (100, 100)
    said = SCORES[taught["docno"]].to_numpy()
    middle, spread = said.mean(), said.std()
    chance = []
    for grade in (1, 2):
        one = LogisticRegression(tol=1e-8, solver="newton-cholesky")
        one.fit(((said - middle) / spread)[:, None], taught["label"] >= grade)
        chance.append(one.predict_proba(((SCORES[PEOPLE["docno"]].to_numpy() - middle) / spread)[:, None])[:, 1])
    found = judge(PEOPLE[["qid", "docno"]])
    assert found["probability"].tolist() == pytest.approx(chance[0].tolist(), abs=1e-6)
    expected = (np.minimum.accumulate(np.array(chance)) >= 0.5).sum(axis=0)
    assert found["label"].tolist() == expected.tolist()
    assert set(expected) == {0, 1, 2}
    assert (found["judge"] == "model, calibrated").all()
    assert judge.rel == 1


def test_which_labels_it_is_fitted_on():
    parts = fitted(share=["1", "2"])
    assert set(parts.fitted_on.to_frame()["qid"]) == {"1", "2"}
    assert parts.held_out.topics == ["3", "4"]
    every = fitted(share=1.0)
    assert (len(every.fitted_on), len(every.held_out)) == (200, 0)
    again = fitted().fitted_on.to_frame()
    assert again.equals(fitted().fitted_on.to_frame())
    both = pd.concat([again, fitted().held_out.to_frame()]).sort_values("docno")
    assert both["docno"].tolist() == PEOPLE["docno"].tolist()


def test_labels_that_it_was_fitted_on_are_told_where_it_is_compared(messages):
    judge = fitted()
    (named,) = as_judges(judge)
    found = messages.warned(lambda: compared_labels(QRELS, named))
    assert len(found.pairs) == 200
    assert len(compared_labels(judge.held_out, named).pairs) == 100
    assert found.judge_rel == 1


def test_a_document_of_which_the_judge_says_nothing_has_no_label():
    said = model(PEOPLE)[["qid", "docno", "score"]].assign(label=1)
    judge = ptr.judging.Calibrated(lambda frame: said.iloc[:150], QRELS, column="score")
    found = judge(PEOPLE)
    assert found["label"].isna().sum() == found["probability"].isna().sum() == 50
    labels = ptr.judging.Calibrated(said.drop(columns="score").assign(label=PEOPLE["label"]), QRELS)
    assert labels(PEOPLE)["label"].tolist() == PEOPLE["label"].tolist()


def test_what_cannot_be_fitted_is_refused(messages):
    judge = ptr.judging.Calibrated
    messages.refused(lambda: judge(model, PEOPLE.assign(label=0)), argument="on")
    messages.refused(lambda: judge(model, PEOPLE.assign(label=1)), argument="on")
    messages.refused(lambda: fitted(share=0), argument="share")
    messages.refused(lambda: fitted(share=["9"]), argument="share")
    messages.refused(lambda: fitted(column=3), argument="column")
    messages.refused(lambda: judge(model(PEOPLE).iloc[:0], QRELS), argument="on")
