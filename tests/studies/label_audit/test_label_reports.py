"""What is printed, said and saved of labels beside each other."""

from __future__ import annotations

import pytest
from label_parts import judged, labelled, row_of

import pt_reuse as ptr
from pt_reuse.data.judgments import Qrels

HUMAN = judged(n_topics=10)
FRAME = HUMAN.to_frame()


@pytest.fixture(scope="module")
def found():
    judges = {
        "fair": labelled(HUMAN, right=0.6, gaps=0.05),
        "lenient": Qrels(FRAME.assign(label=(FRAME["label"] >= 1).astype(int))),
        "strict": Qrels(FRAME.assign(label=(FRAME["label"] >= 3).astype(int))),
    }
    people = {"ann": labelled(HUMAN, seed=4, right=0.5), "bob": labelled(HUMAN, seed=5, right=0.5)}
    return ptr.labels.compare_labels(HUMAN, judges, people=people, resamples=200)


def test_the_report_of_judges(found):
    frame = found.report().to_frame()
    assert list(frame) == ["Judge", "Relevant", "Kappa", "Interval of kappa", "Precision", "Recall"]
    assert set(frame["Judge"][:3]) == {"fair", "lenient", "strict"}
    assert set(frame["Judge"][3:]) == {"ann", "bob", "people together"}
    assert frame["Kappa"][:3].is_monotonic_decreasing
    assert frame["Kappa"][3:].is_monotonic_decreasing
    assert frame.set_index("Judge")["Relevant"]["strict"] == (FRAME["label"] >= 3).mean()
    grades = found.report(labels="grades").to_frame()
    assert set(grades["Judge"]) == {"fair", "ann", "bob", "people together"}
    relevant = found.report(items="relevant", judge="fair").to_frame()
    assert relevant["Kappa"].tolist() == [row_of(found.table, judge="fair", items="relevant", labels="binary")["kappa"]]


def test_the_report_of_grades_persons_and_topics(found):
    grades = found.report("grade").to_frame()
    assert grades["Judge and label"].tolist() == [
        *(f"fair: {n}" for n in range(4)), "lenient: 0", "lenient: 1", "strict: 0", "strict: 1"
    ]  # fmt: skip
    assert grades["Relevant"].iloc[-1] == 1
    persons = found.report("person", figure="precision", judge="strict").to_frame()
    assert persons["Judge, person"].tolist() == ["strict, ann", "strict, bob", "strict, people together"]
    assert persons["Judge"].tolist() == [1, 1, 1]
    topics = found.report("topic", judge="fair").to_frame()
    assert len(topics) == 10
    assert topics["Kappa"].is_monotonic_increasing
    assert len(found.report("topic").to_frame()) == 30


def test_what_is_not_there_is_refused(found, messages):
    messages.refused(lambda: found.report("run"), argument="by")
    messages.refused(lambda: found.report(judge="fare"), argument="judge")
    messages.refused(lambda: found.report(judge="strict", labels="grades"), argument="judge")
    messages.refused(lambda: found.report("person", figure="tau"), argument="figure")
    bare = ptr.labels.compare_labels(HUMAN, {"b": HUMAN.threshold(2)}, resamples=0)
    messages.refused(lambda: bare.report(labels="grades"), argument="labels")
    messages.refused(lambda: bare.report("person"))
