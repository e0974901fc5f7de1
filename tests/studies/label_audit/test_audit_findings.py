"""An audit in sentences and in reports, each number against the tables."""

from __future__ import annotations

import re

import pandas as pd
import pytest
from audit_parts import FIELD, RUNS, as_frame, relabelled

import pt_reuse as ptr

JUDGES = {"one": as_frame(relabelled(11, gaps=0.1)), "two": as_frame(relabelled(12, share=0.7))}
PEOPLE = {"ann": as_frame(relabelled(13, share=0.2))}


@pytest.fixture(scope="module")
def found():
    return ptr.audit_labels(RUNS, FIELD.qrels, JUDGES, ["nDCG@5", "AP"], people=PEOPLE, by="type", best=4, resamples=30)


def said(found, start):
    texts = [text for text in found.findings() if text.startswith(start)]
    assert len(texts) == 1, start
    return texts[0]


def row_of(table, **wanted):
    for column, value in wanted.items():
        table = table[table[column] == value]
    return table.iloc[0]


def ends(row, name):
    return f"({row[f'{name}_low']:.4f} to {row[f'{name}_high']:.4f})"


def test_every_sentence_has_a_number_and_ends_as_one(found):
    for text in found.findings():
        assert re.search(r"\d", text), text
        assert text.endswith("."), text
        assert "nan" not in text


@pytest.mark.parametrize("judge", JUDGES)
def test_the_ranking(found, judge):
    rows = {by: row_of(found.table, judge=judge, measure="AP", by=by) for by in ("all", "best")}
    text = said(found, f"{judge} ranks 10 runs by AP on 7 topics with")
    assert f"tau_b {rows['all']['tau_b']:.4f} {ends(rows['all'], 'tau_b')} to the ranking by people" in text
    assert f"among the best 4 it is {rows['best']['tau_b']:.4f} {ends(rows['best'], 'tau_b')}." in text


def test_the_labels_come_last(found):
    of_labels = found.labels.findings()
    assert len(of_labels) > 4
    assert found.findings()[-len(of_labels) :] == of_labels


def test_the_run_that_gains_most_and_its_document(found):
    moved = found.movers[(found.movers["judge"] == "two") & (found.movers["measure"] == "AP")].iloc[0]
    text = said(found, f"two: by AP run {moved['name']} gains most")
    assert f"{moved['rise']} rank" in text
    assert f"({moved['rise_low']:+.0f} to {moved['rise_high']:+.0f} ranks gained)".replace("+0 ", "0 ") in text
    assert f"from {moved['rank']} to {moved['judge_rank']}; its score changes by {moved['change']:+.4f}" in text
    document = row_of(found.documents, judge="two", measure="AP", name=moved["name"])
    assert f"is {document['docno']} of topic {document['qid']}" in text
    assert f"people label {document['label']}" in text
    assert text.endswith(f"{document['effect']:+.5f}.")


def test_the_groups(found):
    for row in found.table[(found.table["by"] == "type") & (found.table["judge"] == "one")].to_dict("records"):
        texts = [text for text in found.findings() if f"one: the {row['runs']} runs of type {row['part']}" in text]
        mine = [text for text in texts if f"by {row['measure']} on" in text]
        assert len(mine) == (row["mean_rise"] != 0)
        for text in mine:
            way = "gain" if row["mean_rise"] > 0 else "lose"
            assert f"{way} {abs(row['mean_rise']):.1f} ranks" in text


def test_headline_and_key_figures(found):
    taus = found.table[(found.table["by"] == "all") & (found.table["kind"] == "model")]
    of_ap = taus.loc[taus["measure"] == "AP", "tau_b"]
    person = row_of(found.table, judge="ann", measure="AP", by="all")["tau_b"]
    headline = found.headline()
    assert headline.startswith("2 judges against people, 10 runs, 7 topics: nDCG@5 tau_b")
    assert headline.endswith(f"AP tau_b {of_ap.min():.4f} to {of_ap.max():.4f}; 1 other person {person:.4f}")
    figures = found.key_figures()
    assert figures["figure"].tolist()[:2] == ["tau_b, one", "gamma, one"]
    assert (
        figures.loc[figures["figure"] == "tau_b, two", "value"].tolist()
        == taus.loc[taus["judge"] == "two", "tau_b"].tolist()
    )


def test_the_report_of_judges(found):
    frame = found.report(measure="AP").to_frame()
    rows = found.table[(found.table["measure"] == "AP") & (found.table["by"] == "all")]
    assert frame["Judge"].tolist() == ["one", "two", "ann (person)"]
    assert frame["tau-b"].tolist() == rows["tau_b"].tolist()
    best = found.table[(found.table["measure"] == "AP") & (found.table["by"] == "best")]
    assert frame["Tau at 4"].tolist() == best["tau_b"].tolist()
    assert frame["Largest drop"].tolist() == rows["max_drop"].tolist()


def test_the_interval_of_the_largest_drop_says_how_often_it_holds_the_value():
    field = ptr.simulate_field(seed=7, n_topics=6, n_teams=4)
    people, judge = (ptr.score(field.runs, qrels, "AP") for qrels in (field.qrels, field.all_qrels))
    name = "interval of the largest drop"
    for resamples in (0, 20):
        asked = {"resamples": resamples}
        audit = ptr.audit_labels(field.runs, field.qrels, field.all_qrels, "AP", **asked)
        boards = ptr.labels.compare_leaderboards(people, {"x": judge}, **asked)
        for found in (audit, boards, people.compare(judge, **asked)):
            assert (name in found.settings) == bool(resamples)
            assert (name.capitalize() in str(found.report())) == bool(resamples)
        assert (name.capitalize() in str(audit.report("part"))) == bool(resamples)


def test_the_report_of_parts(found):
    frame = found.report("part", judge="two").to_frame()
    rows = found.table[(found.table["measure"] == "nDCG@5") & (found.table["judge"] == "two")]
    assert frame["Runs"].tolist() == rows["part"].tolist()
    assert frame["Number"].tolist() == rows["runs"].tolist()
    assert [float(text) for text in frame["Mean rise"]] == pytest.approx(rows["mean_rise"].tolist(), abs=0.051)


def test_the_reports_of_runs_and_documents(found):
    movers = found.movers[(found.movers["measure"] == "AP") & (found.movers["judge"] == "two")]
    expected = pd.concat([movers[movers["rise"] > 0].head(2), movers[movers["rise"] < 0].tail(2)])
    frame = found.report("run", measure="AP", judge="two", most=2).to_frame()
    assert frame["Run"].tolist() == expected["name"].tolist()
    assert frame["Rise"].tolist() == [f"{rise:+d}" for rise in expected["rise"]]
    frame = found.report("document", measure="AP", judge="two", most=2).to_frame()
    assert frame["Run"].tolist() == [name for name in expected["name"] for _ in range(2)]
    first = row_of(found.documents, judge="two", measure="AP", name=frame["Run"][0])
    assert frame["Document"][0] == first["docno"]
    assert frame["People / judge"][0] == f"{first['label']} / {first['judge_label']}"


@pytest.mark.parametrize("by", ["judge", "part", "run", "person"])
def test_a_report_with_intervals_says_how_they_are_made(found, by):
    report = found.report(by)
    assert any(name.startswith("Interval of") for name in report.to_frame())
    assert f"Interval: {found.settings['intervals']}." in report.notes


@pytest.mark.parametrize("by", ["judge", "part", "run", "document", "person"])
@pytest.mark.filterwarnings("ignore::pt_reuse.ReuseWarning")
def test_every_report_says_what_is_missing_and_what_to_beware_of(by):
    human = FIELD.qrels.select(FIELD.qrels.topics[:3])
    found = ptr.audit_labels(RUNS, human, JUDGES, "AP", people=PEOPLE, by="type", resamples=0)
    notes = found.report(by).notes
    assert f"Missing: {found.settings['missing']}." in notes
    assert f"Beware: {found.settings['beware']}." in notes
    assert not [note for note in notes if note.startswith("Interval")]


def test_read_back_it_says_the_same(found, tmp_path):
    found.save(tmp_path)
    again = ptr.read_result(tmp_path)
    assert again.findings() == found.findings()
    assert repr(again) == repr(found)
    assert {path.name for path in tmp_path.iterdir()} >= {"rankings.csv", "movers.csv", "documents.csv", "labels.csv"}


def test_a_label_that_is_relevant_on_one_scale_alone_says_so():
    """A document of label 1 for both would else seem to move a run without any difference."""
    people, one = FIELD.qrels.with_rel(2), FIELD.qrels.to_frame().assign(label=lambda f: (f["label"] > 0).astype(int))
    found = ptr.audit_labels(RUNS, people, {"one": one[["qid", "docno", "label"]]}, "P(rel=2)@5", resamples=0)
    texts = [text for text in found.findings() if "The document that does most" in text]
    assert texts
    assert all("(people label 1, not relevant, the judge label 1, relevant): " in text for text in texts)


def test_a_judge_that_has_no_label_in_some_topics_and_all_others_left_nothing():
    some = FIELD.qrels.select(FIELD.qrels.topics[1:])
    with pytest.warns(ptr.ReuseWarning, match="labelled nothing in 1 topic"):
        found = ptr.audit_labels(RUNS, FIELD.qrels, {"some": some}, "P@5", resamples=0)
    assert said(found, "some has") == "some has no label in 1 topic."


def test_reports_of_runs_that_move_are_empty_where_none_does_and_say_so():
    two = RUNS.select(RUNS.names[:2])
    found = ptr.audit_labels(two, FIELD.qrels, {"one": JUDGES["one"]}, "nDCG@5", resamples=0)
    assert (found.movers["rise"] == 0).all()
    assert len(found.documents), "their scores change"
    for by in ("run", "document"):
        report = found.report(by)
        assert len(report.to_frame()) == 0
        assert report.notes[0] == "No run: each has the rank that people give it."
