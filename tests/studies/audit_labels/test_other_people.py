"""Other people beside the judge: each on the documents that this person labelled, and the judge on the very same."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from audit_parts import FIELD, HUMAN, RUNS, TOPICS, as_frame, ranks, relabelled, scored, tau

import pt_reuse as ptr
from pt_reuse.arrays.bootstrap import TopicBootstrap

#: each person labelled documents of four topics, which are few
pytestmark = pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")
JUDGES = {"one": relabelled(5, share=0.3, gaps=0.1), "two": relabelled(6, share=0.6)}
#: ann labelled half of the documents of four topics, bob a third of the others
PEOPLE = {
    "ann": relabelled(7, share=0.2, gaps=0.3, topics=TOPICS[:4]),
    "bob": relabelled(8, share=0.2, gaps=0.3, topics=TOPICS[3:]),
}
DRAWS = TopicBootstrap(6, 2, 0.8)


def audited(people=None, measures=("P@5",), **options):
    judges = {name: as_frame(labels) for name, labels in JUDGES.items()}
    given = {name: as_frame(labels) for name, labels in PEOPLE.items()} if people is None else people
    chosen = {"resamples": 6, "seed": 2, "confidence": 0.8, **options}
    return ptr.audit_labels(RUNS, FIELD.qrels, judges, list(measures), people=given, **chosen)


def topics_of(labels):
    return [qid for qid in TOPICS if any(pair[0] == qid for pair in labels)]


def on(documents, labels):
    return {pair: label for pair, label in labels.items() if pair in documents}


@pytest.fixture(scope="module")
def found():
    return audited(measures=("P@5", "nDCG@5"))


@pytest.mark.parametrize("measure", ["P@5", "nDCG@5"])
@pytest.mark.parametrize("name", PEOPLE)
def test_a_person_is_compared_on_the_documents_that_this_person_labelled(found, name, measure):
    labels, topics = PEOPLE[name], topics_of(PEOPLE[name])
    x, y = (scored(part, measure, topics).mean(axis=0) for part in (on(labels, HUMAN), labels))
    rows = found.table[(found.table["judge"] == name) & (found.table["measure"] == measure)]
    row = rows[rows["by"] == "all"].iloc[0]
    assert (row["kind"], row["topics"], row["documents"]) == ("people", len(topics), len(labels))
    assert row["tau_b"] == pytest.approx(tau(x, y), abs=1e-12)
    moved = found.movers[(found.movers["judge"] == name) & (found.movers["measure"] == measure)].set_index("name")
    assert moved.loc[RUNS.names, "rise"].tolist() == (ranks(x) - ranks(y)).tolist()
    assert moved["by_documents"].isna().all()
    assert name not in set(found.documents["judge"])


@pytest.mark.parametrize("missing", ["unjudged", "drop"])
def test_each_judge_beside_each_person_on_the_same_documents(missing):
    found = audited(missing=missing)
    counts = DRAWS.counts(len(TOPICS))
    for judge, theirs in JUDGES.items():
        values, drawn = [], []
        for name, labels in PEOPLE.items():
            both = on(theirs, labels) if missing == "drop" else labels
            topics = topics_of(both)
            at = [TOPICS.index(qid) for qid in topics]
            truth, person, model = (scored(on(both, part), "P@5", topics) for part in (HUMAN, labels, theirs))
            x, y, z = (side.mean(axis=0) for side in (truth, person, model))
            row = found.beside[(found.beside["judge"] == judge) & (found.beside["person"] == name)].iloc[0]
            assert (row["topics"], row["documents"]) == (len(topics), len(both))
            assert row["tau_b"] == pytest.approx(tau(x, z), abs=1e-12)
            assert row["person_tau_b"] == pytest.approx(tau(x, y), abs=1e-12)
            differences = []
            for weights in counts[:, at]:
                if not weights.any():
                    differences.append(np.nan)
                    continue
                x, y, z = (np.average(side, axis=0, weights=weights) for side in (truth, person, model))
                differences.append(tau(x, z) - tau(x, y))
            ends = DRAWS.interval(row["difference"], np.array(differences), within=(-2, 2))
            assert (row["difference_low"], row["difference_high"]) == pytest.approx(ends, abs=1e-12)
            values.append((row["tau_b"], row["person_tau_b"]))
            drawn.append(differences)
        row = found.yardstick[found.yardstick["judge"] == judge].iloc[0]
        means = np.mean(values, axis=0)
        assert (row["people"], row["tau_b"], row["people_tau_b"]) == pytest.approx((2, *means), abs=1e-12)
        ends = DRAWS.interval(means[0] - means[1], np.mean(drawn, axis=0), within=(-2, 2))
        assert (row["difference_low"], row["difference_high"]) == pytest.approx(ends, abs=1e-12)


def test_a_name_of_both_and_people_of_other_documents_are_refused(messages):
    messages.refused(lambda: audited({"one": as_frame(PEOPLE["ann"])}), argument="people")
    strange = as_frame(PEOPLE["ann"]).assign(docno=lambda frame: "x" + frame["docno"])
    messages.refused(lambda: audited({"cy": strange}), argument="people")


def some(topic, label=None):
    """Return labels of the documents of one topic, of a person who errs, or all the same."""
    errs = relabelled(9, share=0.3, topics=[topic])
    return as_frame(errs if label is None else dict.fromkeys(errs, label))


def test_people_with_one_topic_each_say_nothing_of_other_topics():
    found = audited({"ann": some(TOPICS[0]), "bob": some(TOPICS[1])})
    means = found.yardstick.set_index("judge")
    assert not any("these people than the others are" in said for said in found.findings())
    for judge, rows in found.beside.groupby("judge"):
        # each draw of one topic is that topic, which is no interval of no width
        assert rows[["difference_low", "difference_high"]].isna().all(axis=None)
        row = means.loc[judge]
        assert row["difference"] == pytest.approx(rows["difference"].mean(), abs=1e-12)
        assert np.isnan(row["difference_low"])
        assert np.isnan(row["difference_high"])


@pytest.mark.filterwarnings("ignore:audit_labels. all runs tie:pt_reuse.ReuseWarning")
def test_a_person_without_a_ranking_is_no_part_of_the_mean():
    both = {"ann": as_frame(PEOPLE["ann"]), "none": some(TOPICS[0], 0)}
    found = audited(both, judge_rel=1)
    for judge, rows in found.beside.groupby("judge"):
        ann = rows[rows["person"] == "ann"].iloc[0]
        mean = found.yardstick[found.yardstick["judge"] == judge].iloc[0]
        assert np.isnan(rows.loc[rows["person"] == "none", "person_tau_b"].iloc[0])
        assert (mean["people"], mean["tau_b"], mean["people_tau_b"]) == (1, ann["tau_b"], ann["person_tau_b"])
        assert (mean["difference_low"], mean["difference_high"]) == (ann["difference_low"], ann["difference_high"])


def test_a_negative_label_of_a_person_is_none():
    ann = pd.concat([as_frame(PEOPLE["ann"]), some(TOPICS[6], -2)])
    found = audited({"ann": ann})
    row = found.table[(found.table["judge"] == "ann") & (found.table["by"] == "all")].iloc[0]
    assert (row["topics"], row["documents"]) == (4, len(PEOPLE["ann"]))
