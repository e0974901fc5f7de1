"""audit_labels beside other people, and on odd input."""

from __future__ import annotations

import numpy as np
import pytest
from audit_parts import FIELD, HUMAN, RUNS, TOPICS, as_frame, ranks, relabelled, scored, tau

import pt_reuse as ptr
from pt_reuse.arrays.bootstrap import TopicBootstrap
from pt_reuse.scoring.caveats import CaveatWarning

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


@pytest.mark.parametrize(("name", "measure"), [("ann", "P@5"), ("bob", "nDCG@5")])
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


@pytest.mark.filterwarnings("ignore:all runs tie:pt_reuse.ReuseWarning")
def test_a_person_without_a_ranking_is_no_part_of_the_mean():
    both = {"ann": as_frame(PEOPLE["ann"]), "none": some(TOPICS[0], 0)}
    found = audited(both, judge_rel=1)
    for judge, rows in found.beside.groupby("judge"):
        ann = rows[rows["person"] == "ann"].iloc[0]
        mean = found.yardstick[found.yardstick["judge"] == judge].iloc[0]
        assert np.isnan(rows.loc[rows["person"] == "none", "person_tau_b"].iloc[0])
        assert (mean["people"], mean["tau_b"], mean["people_tau_b"]) == (1, ann["tau_b"], ann["person_tau_b"])
        assert (mean["difference_low"], mean["difference_high"]) == (ann["difference_low"], ann["difference_high"])


JUDGE = as_frame(relabelled(1))
#: a run of another topic beside one of these
FAR = {
    RUNS.names[0]: RUNS[RUNS.names[0]],
    "far": RUNS[RUNS.names[1]].loc[lambda frame: frame["qid"] == TOPICS[0]].assign(qid="99"),
}


def audited_oddly(runs=RUNS, human=FIELD.qrels, judge=JUDGE, measures="P@5", **options):
    return ptr.audit_labels(runs, human, judge, measures, **{"resamples": 0, **options})


def must_not_be_asked(pairs):
    raise AssertionError("the arguments were to be judged before")


def test_a_field_that_cannot_be_ranked_is_refused_before_a_judge_is_asked(messages):
    bare = ptr.RunSet.from_frames({name: RUNS[name] for name in RUNS.names})
    for given, argument in (
        ({"runs": RUNS.select(RUNS.names[0])}, "runs"),
        ({"runs": bare, "by": "type"}, "by"),
        ({"human": as_frame({pair: -1 for pair in HUMAN})}, "human"),
        ({"runs": FAR}, "runs"),
    ):
        messages.refused(lambda given=given: audited_oddly(judge=must_not_be_asked, **given), argument=argument)


@pytest.mark.filterwarnings("ignore:(all runs tie|people call no document relevant):pt_reuse.ReuseWarning")
def test_where_nothing_is_relevant_to_people_or_to_the_judge_one_divisor_serves_both():
    nothing = as_frame(dict.fromkeys(HUMAN, 0))
    for human, judge in ((nothing, FIELD.qrels), (FIELD.qrels, nothing)):
        moved = audited_oddly(human=human, judge=judge, measures="nDCG@5", judge_rel=1).movers
        assert moved["by_documents"].to_numpy() == pytest.approx(moved["relative"].to_numpy(), abs=1e-12)
        assert moved["relative"].abs().max() > 0.01


def test_one_topic_has_no_intervals():
    with pytest.warns(CaveatWarning, match="there are 1 topic only|there is 1 topic only"):
        found = audited_oddly(human=FIELD.qrels.select(TOPICS[:1]), measures="nDCG@5", resamples=20)
    ends = [name for name in found.table if name.endswith(("_low", "_high"))]
    assert len(ends) == 12
    assert found.table[ends].isna().all(axis=None)
    assert found.movers[["rise_low", "rise_high"]].isna().all(axis=None)


def test_best_of_all_runs_is_no_part_of_its_own_and_ties_belong_to_it():
    assert audited_oddly(best=len(RUNS)).table["part"].tolist() == ["all"]
    three = {f"{name} {copy}": RUNS[name] for name in RUNS.names[:3] for copy in "ab"}
    found = audited_oddly(three, best=1).table
    assert found.loc[found["by"] == "best", "runs"].tolist() == [2]
