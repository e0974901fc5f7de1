"""Judges beside other people on the same documents, and other people with each other."""

from __future__ import annotations

import numpy as np
import pytest
from label_parts import compared, judged, labelled, meeting, row_of
from sklearn import metrics

from pt_reuse._errors import ReuseWarning
from pt_reuse.arrays.bootstrap import TopicBootstrap
from pt_reuse.data.judgments import Qrels
from pt_reuse.judging.annotators.labels import as_annotator_labels
from pt_reuse.studies.compare_labels import agreement_of_labels as label_agreement
from pt_reuse.studies.compare_labels import compared_people

HUMAN = judged(n_topics=8)
JUDGES = {"graded": labelled(HUMAN, gaps=0.05), "binary": labelled(HUMAN.threshold(2), seed=5, right=0.7)}


def part(labels, topics):
    return Qrels(labels.to_frame()[lambda f: f["qid"].isin(topics)])


PEOPLE = {
    "ann": part(labelled(HUMAN, seed=7, right=0.8, gaps=0.3), list("123")),
    "bob": part(labelled(HUMAN, seed=8, right=0.7), list("23456")),
    "cem": part(labelled(HUMAN, seed=9, right=0.7), list("6")),
}
BOOTSTRAP = TopicBootstrap(12, seed=2, confidence=0.95)


def others(people):
    return list(compared_people(HUMAN, as_annotator_labels(people, "people")))


def kappa(pairs, rel=2, judge_rel=2):
    human, judge = np.array(pairs).T
    return metrics.cohen_kappa_score(human >= rel, judge >= judge_rel)


@pytest.fixture(scope="module")
def found():
    people = others(PEOPLE)
    return label_agreement(compared(HUMAN, JUDGES), BOOTSTRAP, people=people)


def triples(judge, people):
    """Return (qid, label of people, of the person, of the judge) of what a judge and some people labelled."""
    mine, rows = meeting(HUMAN, JUDGES[judge]), []
    for person in people:
        theirs = meeting(HUMAN, PEOPLE[person])
        rows += [(qid, label, given, mine[qid, docno][1]) for (qid, docno), (label, given) in theirs.items()
                 if (qid, docno) in mine]  # fmt: skip
    return rows


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
    drawn = np.array([
        both([row for row in rows for _ in range(draw[topics.index(row[0])])])
        for draw in BOOTSTRAP.counts(len(topics))
    ])  # fmt: skip
    for column, values in zip(columns, drawn.T, strict=True):
        ends = [wanted[f"{column}_low"], wanted[f"{column}_high"]]
        how = BOOTSTRAP.expanded(len(topics))
        assert ends == pytest.approx(how.percentiles(values.mean(), values), abs=1e-12)


def test_two_people_with_each_other(found):
    assert set(found.between[["judge", "other"]].itertuples(index=False, name=None)) == {("bob", "ann"), ("cem", "bob")}
    row = row_of(found.between, judge="bob", items="all", labels="binary")
    both = meeting(PEOPLE["ann"], PEOPLE["bob"])
    assert row["kappa"] == pytest.approx(kappa(list(both.values())), abs=1e-12)
    assert (row["n_items"], row["n_topics"]) == (len(both), 2)
    ann, bob = np.array(list(both.values())).T >= 2
    assert row["precision"] == pytest.approx(metrics.precision_score(ann, bob))
    assert not {"missing", "without", "kind", "family"} & set(found.between)
    assert set(found.between["labels"]) == {"grades", "binary"}


def test_people_with_other_bounds_are_together_as_relevant_or_not(messages):
    people = {"ann": PEOPLE["ann"], "dia": part(JUDGES["binary"], list("456"))}
    # labels 0 and 1 beside grades of others may be grades
    messages.warned(lambda: others(people), times=1)
    with pytest.warns(ReuseWarning, match="'dia' are 0 and 1"):
        found = label_agreement(compared(HUMAN, JUDGES), None, people=others(people))
    rows = found.table[found.table["judge"] == "people together"]
    assert set(rows["labels"]) == {"binary"}
    pairs = [(label >= 2, given >= 2) for label, given in meeting(HUMAN, PEOPLE["ann"]).values()]
    pairs += [(label >= 2, given >= 1) for label, given in meeting(HUMAN, people["dia"]).values()]
    assert row_of(rows, items="all")["kappa"] == pytest.approx(kappa(pairs, 1, 1), abs=1e-12)
    beside = found.beside.query("person == 'people together'")
    assert set(beside["labels"]) == {"binary"}
    row = row_of(beside, judge="graded", figure="agreement")
    assert row["person_value"] < 1
    assert row["value"] < 1
    mine = meeting(HUMAN, JUDGES["graded"])
    same = [(mine[key][0] >= 2) == (mine[key][1] >= 2) for each in people.values() for key in meeting(HUMAN, each)
            if key in mine]  # fmt: skip
    assert (row["value"], row["n_items"]) == (pytest.approx(np.mean(same)), len(same))
