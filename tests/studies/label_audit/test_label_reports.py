"""What is printed, said and saved of labels beside each other."""

from __future__ import annotations

import pandas as pd
import pytest
from label_parts import judged, labelled, row_of

import pt_reuse as ptr
from pt_reuse._result import read_result
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


def one(found, judge):
    return row_of(found.table, judge=judge, items="all", labels="binary")


def test_sentences_have_their_numbers_and_intervals(found):
    said = [sentence for sentence in found.findings() if "lenient" in sentence]
    row = one(found, "lenient")
    kappa, low, high = row[["kappa", "kappa_low", "kappa_high"]]
    assert said[0] == (
        f"lenient and people have a kappa of {kappa:.3f} ({low:.3f} to {high:.3f}) on 300 documents of 10 topics, "
        f"relevant or not ({row['band']} in the bands of McHugh 2012)."
    )
    shares = 100 * row[["judge_relevant", "human_relevant", "surplus", "surplus_low", "surplus_high"]].astype(float)
    assert said[1] == (
        "lenient calls {:.1f} % of the documents relevant, people {:.1f} %: a difference of {:+.1f} ({:+.1f} to "
        "{:+.1f}) points; it is more lenient than people.".format(*shares)
    )
    assert said[2].startswith(f"Of what lenient calls relevant, people call {100 * row['precision']:.1f} (")
    assert "lenient calls 100.0 % relevant." in said[2]
    assert len(said) == 4


def test_sentences_hold_judges_beside_other_people(found):
    said, verdicts = found.findings(), set()
    for judge in found.judges:
        row = row_of(found.beside, judge=judge, person="people together", figure="kappa", labels="binary")
        low, high = row["difference_low"], row["difference_high"]
        verdict = "more than people reach" if low > 0 else "less than people reach"
        verdict = "which the topics do not tell from none" if low <= 0 <= high else verdict
        assert (
            f"On the documents that other people labelled, too ({row['n_items']} labels), the kappa of {judge} is "
            f"{row['value']:.3f} and that of other people {row['person_value']:.3f}: a difference of "
            f"{row['difference']:+.3f} ({low:+.3f} to {high:+.3f}), {verdict}."
        ) in said
        verdicts.add(verdict)
    assert len(verdicts) > 1
    bob = ptr.labels.compare_labels(HUMAN, {"poor": labelled(HUMAN, right=0.1)}, people={"bob": HUMAN}, resamples=30)
    assert "that of bob 1.000: a difference of -" in bob.findings()[-1]
    assert bob.findings()[-1].endswith("less than people reach.")


def test_sentences_say_who_is_strict_and_what_is_missing(found):
    said = found.findings()
    assert sum("it is stricter than people." in sentence for sentence in said) == 1
    assert any(sentence.startswith("strict calls") and "stricter" in sentence for sentence in said)
    missing = one(found, "fair")["missing"]
    assert f"fair left {missing} judged documents without a label." in said
    assert not [sentence for sentence in said if sentence.startswith(("ann ", "bob "))]
    # the best judge comes first
    order = [sentence.split(" and people have")[0] for sentence in said if "have a kappa" in sentence]
    assert order == sorted(order, key=lambda judge: -one(found, judge)["kappa"])


def test_sentences_without_intervals_have_none():
    found = ptr.labels.compare_labels(HUMAN, {"model": labelled(HUMAN)}, resamples=0)
    assert not [sentence for sentence in found.findings() if " to " in sentence or "lenient" in sentence]
    assert found.settings["intervals"] == "none"


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


@pytest.mark.parametrize(
    ("by", "figure", "with_intervals", "with_kappa"),
    [("judge", "kappa", True, True), ("grade", "kappa", True, False), ("topic", "kappa", False, True),
     ("person", "kappa", True, True), ("person", "precision", True, False)],
)  # fmt: skip
def test_notes_are_of_what_a_report_shows(found, by, figure, with_intervals, with_kappa):
    report = found.report(by, figure=figure)
    assert any(name.startswith("Interval of") for name in report.to_frame()) == with_intervals
    assert (f"Intervals: {found.settings['intervals']}." in report.notes) == with_intervals
    assert ("Kappa: Cohen's, without weights." in report.notes) == with_kappa
    assert any(note.startswith("Bands of kappa: McHugh 2012") for note in report.notes) == with_kappa


def test_what_is_not_there_is_refused(found, messages):
    messages.refused(lambda: found.report("run"), argument="by")
    messages.refused(lambda: found.report(judge="fare"), argument="judge")
    messages.refused(lambda: found.report(judge="strict", labels="grades"), argument="judge")
    messages.refused(lambda: found.report("person", figure="tau"), argument="figure")
    messages.refused(lambda: found.plot(documents="shared", items="relevant"), argument="items")
    bare = ptr.labels.compare_labels(HUMAN, {"b": HUMAN.threshold(2)}, resamples=0)
    messages.refused(lambda: bare.report(labels="grades"), argument="labels")
    messages.refused(lambda: bare.report("person"))
    messages.refused(lambda: bare.plot(documents="shared"))


def test_key_figures_and_headline(found):
    figures = found.key_figures().set_index("figure")["value"]
    assert figures["kappa, fair"] == one(found, "fair")["kappa"]
    assert figures["surplus, lenient"] == one(found, "lenient")["surplus"]
    assert len(figures) == 15
    kappas = {judge: one(found, judge)["kappa"] for judge in ("fair", "lenient", "strict")}
    best = sorted(kappas, key=kappas.get, reverse=True)
    assert f"relevant or not: {', '.join(f'{judge} {kappas[judge]:.3f}' for judge in best)}; other" in found.headline()
    assert found.judges == ["fair", "lenient", "strict"]


def test_it_is_saved_and_read_back(found, tmp_path):
    found.save(tmp_path / "labels")
    again = read_result(tmp_path / "labels")
    assert str(again) == str(found)
    assert again.findings() == found.findings()
    for name, table in found.tables().items():
        pd.testing.assert_frame_equal(again.tables()[name], table)
