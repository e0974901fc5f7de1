"""Models that people calibrate: judges against scikit-learn, and judging with one against a slow version."""

from __future__ import annotations

import builtins
import math
import os

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from session_parts import Watched, same
from sklearn.linear_model import LogisticRegression

import pt_reuse as ptr
from pt_reuse.judge import as_judges
from pt_reuse.judging.calibrated import judge_with_model
from pt_reuse.studies.judged_fields import compared_labels

# the slow version: logistic regression by a general minimiser, choices by loops over lists


def slow_probability(numbers, relevant, about):
    """Return the probabilities that logistic regression with the penalty w w / 2 gives for some numbers."""

    def loss(parameters):
        weight, intercept = parameters
        logits = [weight * x + intercept for x in numbers]
        return weight**2 / 2 + sum(
            math.log1p(math.exp(-abs(z))) + max(z, 0) - (z if y else 0) for z, y in zip(logits, relevant, strict=True)
        )

    weight, intercept = minimize(loss, np.zeros(2), method="BFGS", options={"gtol": 1e-8}).x
    return [1 / (1 + math.exp(-(weight * x + intercept))) for x in about]


def slow_grades(numbers, labels, about):
    """Return for each number the highest grade that it reaches with at least .5, and so all grades below."""
    lowest, *grades = sorted(set(labels))
    found = []
    reached = {g: slow_probability(numbers, [label >= g for label in labels], about) for g in grades}
    for row in range(len(about)):
        grade = lowest
        for g in grades:
            if reached[g][row] < 0.5:
                break
            grade = g
        found.append(grade)
    return found


def check_choices(judged, scores, truth, *, rel, batch_size):
    """Check that each batch after the random ones is of the documents nearest to .5 by a slow calibration."""
    frame = judged.to_frame()
    people = frame[frame["judge"] == "people"]
    values = np.array([scores[qid, docno] for qid, docno in zip(frame["qid"], frame["docno"], strict=True)])
    scaled = dict(zip(scores, (np.array(list(scores.values())) - values.mean()) / values.std(), strict=True))
    known = []
    for _, batch in people.groupby("round"):
        pairs = list(zip(batch["qid"], batch["docno"], strict=True))
        labels = [truth[pair] >= rel for pair in known]
        if any(labels) and not all(labels):
            open_pairs = [pair for pair in scores if pair not in known]
            found = slow_probability([scaled[p] for p in known], labels, [scaled[p] for p in open_pairs])
            distance = {pair: abs(p - 0.5) for pair, p in zip(open_pairs, found, strict=True)}
            farthest = max(distance[pair] for pair in pairs)
            nearer = [pair for pair in open_pairs if distance[pair] < farthest - 1e-5 and pair not in pairs]
            assert not nearer
            told = dict(zip(open_pairs, found, strict=True))
            np.testing.assert_allclose(batch["probability"].to_numpy(float), [told[p] for p in pairs], atol=1e-6)
        else:
            assert batch["probability"].isna().all()
        assert len(pairs) <= batch_size
        known += pairs
    return known, scaled


# the tests


CHANCE = np.random.default_rng(2)
PEOPLE = pd.DataFrame({"qid": [str(1 + n % 4) for n in range(200)], "docno": [f"d{n:03}" for n in range(200)]})
SAID = pd.Series(CHANCE.normal(size=200), index=PEOPLE["docno"])
PEOPLE["label"] = np.clip(np.round(SAID.to_numpy() + 0.6 * CHANCE.normal(size=200)), 0, 2).astype(int)
QRELS = ptr.Qrels(PEOPLE)


def model(frame):
    return frame.assign(label=2, score=SAID[frame["docno"]].to_numpy())


def fitted(**options):
    return ptr.judging.Calibrated(model, QRELS, **{"column": "score", "share": 0.5, "seed": 1, **options})


def test_labels_are_those_of_a_logistic_regression():
    judge = fitted()
    taught = judge.fitted_on.to_frame()
    assert (len(taught), len(judge.held_out)) == (100, 100)
    said = SAID[taught["docno"]].to_numpy()
    middle, spread = said.mean(), said.std()
    chance = []
    for grade in (1, 2):
        one = LogisticRegression(tol=1e-8, solver="newton-cholesky")
        one.fit(((said - middle) / spread)[:, None], taught["label"] >= grade)
        chance.append(one.predict_proba(((SAID[PEOPLE["docno"]].to_numpy() - middle) / spread)[:, None])[:, 1])
    found = judge(PEOPLE[["qid", "docno"]])
    assert found["probability"].tolist() == pytest.approx(chance[0].tolist(), abs=1e-6)
    expected = (np.minimum.accumulate(np.array(chance)) >= 0.5).sum(axis=0)
    assert found["label"].tolist() == expected.tolist()
    assert set(expected) == {0, 1, 2}
    assert (found["judge"] == "model, calibrated").all()
    assert judge.rel == 1


def test_which_labels_it_is_fitted_on():
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
    for says, on in ((model, PEOPLE.assign(label=0)), (model, PEOPLE.assign(label=1)), (model(PEOPLE)[:0], QRELS)):
        messages.refused(lambda says=says, on=on: judge(says, on), argument="on")
    for argument, value in (("share", 0), ("share", ["9"]), ("column", 3)):
        messages.refused(lambda given={argument: value}: fitted(**given), argument=argument)


DRAWN = np.random.default_rng(3)
#: a score of each document, and what people say of it: higher scores have higher grades, with errors
SCORES = {(str(t), f"d{n:02}"): float(DRAWN.normal()) for t in range(1, 5) for n in range(40)}
GRADES = {pair: int(np.clip(round(score + DRAWN.normal() * 0.7), 0, 3)) for pair, score in SCORES.items()}
PAIRS = pd.DataFrame(list(SCORES), columns=["qid", "docno"])
POOL = ptr.Pool.from_frame(PAIRS)


def people(frame):
    return [GRADES[pair] for pair in zip(frame["qid"], frame["docno"], strict=True)]


def scores_of(frame):
    return [SCORES[pair] for pair in zip(frame["qid"], frame["docno"], strict=True)]


def lara(**options):
    options = {"pool": POOL, "people": people, "model": scores_of, "seed": 1, **options}
    return judge_with_model(**options)


def pairs_of(frame):
    return list(zip(frame["qid"], frame["docno"], strict=True))


@pytest.mark.parametrize("rel", [1, 2])
def test_choices_and_labels_are_those_of_a_slow_version(rel):
    judged = lara(total=60, batch_size=15, rel=rel)
    known, scaled = check_choices(judged, SCORES, GRADES, rel=rel, batch_size=15)
    assert len(known) == 60
    frame = judged.to_frame()
    rest = frame[frame["judge"] != "people"]
    expected = slow_grades([scaled[p] for p in known], [GRADES[p] for p in known], [scaled[p] for p in pairs_of(rest)])
    assert rest["label"].tolist() == expected
    assert len(set(expected)) > 1
    assert len(frame) == len(SCORES)


def test_documents_that_the_model_does_not_know_are_counted(messages):
    known = {pair: int(score > 0) for pair, score in SCORES.items() if pair[1] != "d05"}
    qrels = ptr.Qrels(PAIRS.assign(label=[known.get(pair) for pair in SCORES]).dropna().astype({"label": int}))
    judged = messages.warned(lara, model=qrels, total=40)
    assert len(judged) == len(SCORES) - 4
    assert "d05" not in set(judged.to_frame()["docno"])
    # people judge them last, and all where the budget allows
    frame = lara(model=qrels, total=len(SCORES), batch_size=30).to_frame()
    assert frame["label"].tolist() == people(frame)
    unknown = frame[frame["docno"] == "d05"]
    assert unknown["reason"].tolist() == ["the model says nothing"] * 4
    assert set(unknown["round"]) == {frame["round"].max()}


def test_a_session_that_was_stopped(tmp_path, messages, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    labels = {}
    for (qid, docno), grade in GRADES.items():
        labels.setdefault(qid, {})[docno] = grade
    options = {"total": 60, "batch_size": 8, "session": tmp_path / "s"}
    asked = []
    for _ in range(20):
        person = Watched(labels, stop_after=17)
        try:
            judged = lara(people=person, **options)
            break
        except KeyboardInterrupt:
            asked += [pair for call in person.calls[:-1] for pair in pairs_of(call)]
    asked += person.asked
    whole = Watched(labels)
    same(judged, lara(people=whole, total=60, batch_size=8))
    assert asked == whole.asked
    same(lara(people=whole, **{**options, "total": 90}), lara(people=whole, total=90, batch_size=8))
    messages.refused(lara, argument="session", **{**options, "batch_size": 9})
    messages.refused(lara, argument="session", **{**options, "pool": ptr.Pool.from_frame(PAIRS[1:])})


def test_what_cannot_be_judged_is_refused(messages, monkeypatch):
    messages.refused(lara, argument="budget")
    for argument, value in {"budget": -1, "pool": PAIRS, "batch_size": 0, "calibrate": "both", "column": 3}.items():
        messages.refused(lara, argument=argument, **{"total": 1, argument: value})
    messages.refused(lara, argument="total", total=-1)
    messages.refused(lara, model=lambda f: f.assign(score=1.0), column="mine", total=1)
    for says in (lambda f: f, lambda f: f.assign(score="high"), lambda f: [-np.inf, *scores_of(f)[1:]]):
        messages.refused(lara, argument="column", model=says, total=1)
    for odd in (1.5, "high", 40000):
        messages.refused(lara, model=lambda f, odd=odd: f.assign(label=[0, odd, *[0] * (len(f) - 2)]), total=1)
    for says in (lambda f: [1.0], lambda f: 3, lambda f: pd.concat([f, f]).assign(score=1.0)):
        messages.refused(lara, argument="model", model=says, total=1)
    real = builtins.__import__

    def without_sklearn(name, *rest):
        if name.startswith("sklearn"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without_sklearn)
    messages.refused(lara, total=1)
