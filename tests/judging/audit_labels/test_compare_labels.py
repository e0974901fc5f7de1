"""compare_labels: forms of labels, and judges beside other people on the same documents."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from label_parts import compared, judged, labelled, meeting, row_of
from sklearn import metrics

import pt_reuse as ptr
from pt_reuse.arrays.bootstrap import TopicBootstrap
from pt_reuse.data.judgments import Qrels
from pt_reuse.errors import ReuseWarning
from pt_reuse.judging.annotators.labels import as_annotator_labels
from pt_reuse.judging.compare_labels import agreement_of_labels as label_agreement
from pt_reuse.judging.compare_labels import compared_people

HUMAN = judged()
GRADED = labelled(HUMAN)
FRAME = GRADED.to_frame()[["qid", "docno", "label"]]


class Asked:
    """A judge that must not be asked."""

    def __call__(self, pairs):
        raise AssertionError("asked")


def test_what_is_relevant_can_be_said():
    bare = HUMAN.to_frame()[["qid", "docno", "label"]]
    found = ptr.labels.compare_labels(bare, {"a": GRADED, "b": GRADED}, rel=3, judge_rel={"a": 3, "b": 1}, resamples=0)
    assert found.bounds.to_numpy().tolist() == [["a", 3, 3], ["b", 3, 1]]
    for name, bound in (("a", 3), ("b", 1)):
        row = row_of(found.table, judge=name, items="all", labels="binary")
        assert row["judge_relevant"] == (FRAME["label"] >= bound).mean()
        assert row["human_relevant"] == (bare["label"] >= 3).mean()
    assert ptr.labels.compare_labels(bare, GRADED, resamples=0).bounds.to_numpy().tolist() == [["judge", 1, 1]]
    others = ptr.labels.compare_labels(HUMAN, GRADED, people={"ann": GRADED.with_rel(3)}, resamples=0)
    assert others.bounds.to_numpy().tolist() == [["judge", 2, 2], ["ann", 2, 3]]


def test_everything_is_checked_before_a_judge_is_asked(messages):
    stranger = pd.DataFrame({"qid": ["x"], "docno": ["d"], "label": [1]})
    for argument, given in (
        ("judge_rel", {"judge_rel": {"modle": 2}}),
        ("families", {"families": "gpt"}),
        ("judge", {"judge": {}}),
        ("human", {"human": pd.DataFrame({"qid": ["1"], "docno": ["d"], "label": [-1]})}),
        ("people", {"people": GRADED}),
        ("people", {"people": {}}),
        ("people", {"people": {"model": GRADED}}),
        ("people", {"people": {"ann": stranger}}),
    ):
        every = {"human": HUMAN, "judge": {"model": Asked()}, **given}
        messages.refused(lambda every=every: ptr.labels.compare_labels(**every), argument=argument)


EIGHT = judged(n_topics=8)
JUDGES = {"graded": labelled(EIGHT, gaps=0.05), "binary": labelled(EIGHT.threshold(2), seed=5, right=0.7)}


def part(labels, topics):
    return Qrels(labels.to_frame()[lambda f: f["qid"].isin(topics)])


PEOPLE = {
    "ann": part(labelled(EIGHT, seed=7, right=0.8, gaps=0.3), list("123")),
    "bob": part(labelled(EIGHT, seed=8, right=0.7), list("23456")),
    "cem": part(labelled(EIGHT, seed=9, right=0.7), list("6")),
}
BOOTSTRAP = TopicBootstrap(12, seed=2, confidence=0.95)


def others(people):
    return list(compared_people(EIGHT, as_annotator_labels(people, "people")))


def kappa(pairs, rel=2, judge_rel=2):
    human, judge = np.array(pairs).T
    return metrics.cohen_kappa_score(human >= rel, judge >= judge_rel)


@pytest.fixture(scope="module")
def found():
    people = others(PEOPLE)
    return label_agreement(compared(EIGHT, JUDGES), BOOTSTRAP, people=people)


def triples(judge, people):
    """Return (qid, label of people, of the person, of the judge) of what a judge and some people labelled."""
    mine = meeting(EIGHT, JUDGES[judge])
    theirs = [each for person in people for each in meeting(EIGHT, PEOPLE[person]).items() if each[0] in mine]
    return [(key[0], label, given, mine[key][1]) for key, (label, given) in theirs]


@pytest.mark.parametrize("person", [*PEOPLE, "people together"])
@pytest.mark.parametrize(("judge", "judge_rel"), [("graded", 2), ("binary", 1)])
def test_both_are_held_against_people_on_the_same_documents(found, judge, judge_rel, person):
    rows = triples(judge, list(PEOPLE) if person == "people together" else [person])
    topics = sorted({row[0] for row in rows})
    wanted = row_of(found.beside, judge=judge, person=person, labels="binary", figure="kappa")
    assert (wanted["n_items"], wanted["n_topics"]) == (len(rows), len(topics))

    def both(some):
        mine = kappa([(row[1], row[3]) for row in some], judge_rel=judge_rel)
        theirs = kappa([(row[1], row[2]) for row in some])
        return mine, theirs, mine - theirs

    columns = ["value", "person_value", "difference"]
    assert wanted[columns].tolist() == pytest.approx(both(rows), abs=1e-12)
    if len(topics) == 1:
        assert wanted[[f"{column}_low" for column in columns]].isna().all()
        return
    draws = [[row for row in rows for _ in range(draw[topics.index(row[0])])] for draw in BOOTSTRAP.counts(len(topics))]
    for column, values in zip(columns, np.array([both(draw) for draw in draws]).T, strict=True):
        ends = [wanted[f"{column}_low"], wanted[f"{column}_high"]]
        assert ends == pytest.approx(BOOTSTRAP.expanded(len(topics)).percentiles(values.mean(), values), abs=1e-12)


def test_people_with_other_bounds_are_together_as_relevant_or_not(messages):
    people = {"ann": PEOPLE["ann"], "dia": part(JUDGES["binary"], list("456"))}
    # labels 0 and 1 beside grades of others may be grades
    messages.warned(lambda: others(people), times=1)
    with pytest.warns(ReuseWarning, match="'dia' are 0 and 1"):
        found = label_agreement(compared(EIGHT, JUDGES), None, people=others(people))
    rows = found.table[found.table["judge"] == "people together"]
    pairs = [(label >= 2, given >= 2) for label, given in meeting(EIGHT, PEOPLE["ann"]).values()]
    pairs += [(label >= 2, given >= 1) for label, given in meeting(EIGHT, people["dia"]).values()]
    assert row_of(rows, items="all")["kappa"] == pytest.approx(kappa(pairs, 1, 1), abs=1e-12)
    beside = found.beside.query("person == 'people together'")
    assert set(beside["labels"]) == {"binary"}
    row = row_of(beside, judge="graded", figure="agreement")
    assert row["person_value"] < 1
    assert row["value"] < 1
    mine = meeting(EIGHT, JUDGES["graded"])
    met = [mine[key] for each in people.values() for key in meeting(EIGHT, each) if key in mine]
    same = [(label >= 2) == (given >= 2) for label, given in met]
    assert (row["value"], row["n_items"]) == (pytest.approx(np.mean(same)), len(same))
