"""Judging with a model that people check: against a slow version, and on the labels of language models of DL 2021."""

from __future__ import annotations

import builtins
import os

import numpy as np
import pandas as pd
import pytest
from reference_lara import check_choices, check_topic_batches, slow_grades
from session_parts import Watched, same

import pt_reuse as ptr
from pt_reuse.data.frame_columns import PROVENANCE
from pt_reuse.judging.calibrated import judge_with_model

CHANCE = np.random.default_rng(3)
#: a score of each document, and what people say of it: higher scores have higher grades, with errors
SCORES = {(str(t), f"d{n:02}"): float(CHANCE.normal()) for t in range(1, 5) for n in range(40)}
GRADES = {pair: int(np.clip(round(score + CHANCE.normal() * 0.7), 0, 3)) for pair, score in SCORES.items()}
PAIRS = pd.DataFrame(list(SCORES), columns=["qid", "docno"])
POOL = ptr.Pool.from_frame(PAIRS)


def people(frame):
    return [GRADES[pair] for pair in zip(frame["qid"], frame["docno"], strict=True)]


def model(frame):
    return [SCORES[pair] for pair in zip(frame["qid"], frame["docno"], strict=True)]


def lara(**options):
    options = {"pool": POOL, "people": people, "model": model, "seed": 1, **options}
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


@pytest.mark.parametrize("calibrate", ["all", "topic"])
def test_choices_with_a_budget_for_each_topic_are_those_of_a_slow_version(calibrate):
    judged = lara(budget=14, batch_size=4, rel=2, calibrate=calibrate)
    options = {"rel": 2, "batch_size": 4, "budget": 14, "by_topic": calibrate == "topic"}
    check_topic_batches(judged, SCORES, GRADES, **options)


def test_who_gave_each_label_and_why():
    frame = lara(total=45, batch_size=20).to_frame()
    assert list(frame) == ["qid", "docno", "label", *PROVENANCE, "probability"]
    mine = frame[frame["judge"] == "people"]
    assert mine["round"].value_counts().to_dict() == {1: 20, 2: 20, 3: 5}
    assert mine["label"].tolist() == people(mine)
    assert (mine.loc[mine["round"] == 1, "reason"] == "at random").all()
    later = mine[mine["round"] > 1]
    assert later["reason"].tolist() == [f"nearest to .5 ({p:.3f})" for p in later["probability"]]
    rest = frame.drop(mine.index)
    assert set(rest["judge"]) == {"model, calibrated"}
    assert set(rest["round"]) == {4}
    assert set(rest["reason"]) == {"the rest"}
    assert set(frame["strategy"]) == {"lara"}
    relevant = rest["label"] >= 1
    assert (relevant == (rest["probability"] >= 0.5)).all()


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
    messages.refused(lara, argument="budget", budget=-1)
    messages.refused(lara, argument="total", total=-1)
    messages.refused(lara, argument="pool", pool=PAIRS, total=1)
    messages.refused(lara, argument="batch_size", batch_size=0, total=1)
    messages.refused(lara, argument="calibrate", calibrate="both", total=1)
    messages.refused(lara, argument="column", column=3, total=1)
    messages.refused(lara, argument="column", model=lambda f: f, total=1)
    messages.refused(lara, model=lambda f: f.assign(score=1.0), column="mine", total=1)
    messages.refused(lara, argument="column", model=lambda f: f.assign(score="high"), total=1)
    for endless in (np.inf, -np.inf):
        messages.refused(lara, argument="column", model=lambda f, endless=endless: [endless, *model(f)[1:]], total=1)
    for odd in (1.5, "high", 40000):
        messages.refused(lara, model=lambda f, odd=odd: f.assign(label=[0, odd, *[0] * (len(f) - 2)]), total=1)
    messages.refused(lara, argument="model", model=lambda f: [1.0], total=1)
    messages.refused(lara, argument="model", model=lambda f: 3, total=1)
    messages.refused(lara, argument="model", model=lambda f: pd.concat([f, f]).assign(score=1.0), total=1)
    real = builtins.__import__

    def without_sklearn(name, *rest):
        if name.startswith("sklearn"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without_sklearn)
    messages.refused(lara, total=1)
