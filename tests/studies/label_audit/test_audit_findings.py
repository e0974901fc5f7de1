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


def test_the_report_of_judges(found):
    frame = found.report(measure="AP").to_frame()
    rows = found.table[(found.table["measure"] == "AP") & (found.table["by"] == "all")]
    assert frame["Judge"].tolist() == ["one", "two", "ann (person)"]
    assert frame["tau-b"].tolist() == rows["tau_b"].tolist()
    best = found.table[(found.table["measure"] == "AP") & (found.table["by"] == "best")]
    assert frame["Tau of the best"].tolist() == best["tau_b"].tolist()
    assert frame["Largest drop"].tolist() == rows["max_drop"].tolist()


def test_the_reports_of_runs_and_documents(found):
    movers = found.movers[(found.movers["measure"] == "AP") & (found.movers["judge"] == "two")]
    expected = pd.concat([movers[movers["rise"] > 0].head(2), movers[movers["rise"] < 0].tail(2)])
    frame = found.report("run", measure="AP", judge="two", most=2).to_frame()
    assert frame["Run"].tolist() == expected["name"].tolist()
    assert frame["Rise"].tolist() == expected["rise"].tolist()
    frame = found.report("document", measure="AP", judge="two", most=2).to_frame()
    assert frame["Run"].tolist() == [name for name in expected["name"] for _ in range(2)]
    first = row_of(found.documents, judge="two", measure="AP", name=frame["Run"][0])
    assert frame["Document"][0] == first["docno"]
    assert frame["People / judge"][0] == f"{first['label']} / {first['judge_label']}"
