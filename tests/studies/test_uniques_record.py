"""The record that leave_out_uniques returns: what it says, shows and saves, and what it answers to odd arguments."""

from __future__ import annotations

import csv
import math
import warnings
from dataclasses import FrozenInstanceError

import pandas as pd
import pytest
from ir_measures import AP, P
from reference import as_qrels
from reference_lou import hand_field

from pt_reuse._errors import ReuseWarning
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.studies.uniques import LeaveOutUniques, in_words, leave_out_uniques

#: judgments made at random, or by hand, are nobody's pool
pytestmark = pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")


@pytest.fixture(scope="module")
def lou():
    field = hand_field()
    field.team = {**field.team, "C": "<script>alert(1)</script>"}
    return leave_out_uniques(field.as_runs(), as_qrels(field.judgments), [AP, P @ 2], depth=3)


def test_the_record_cannot_be_changed(lou):
    with pytest.raises(FrozenInstanceError):
        lou.table = None


def test_settings_name_every_convention(lou):
    assert lou.settings == {
        "by": "team",
        "depth": 3,
        "depth from": "the call",
        "remove": "relevant",
        "relevant": "label of at least 1",
        "contributors": "pooled (3 of 4 runs)",
        "order": "trec_eval",
        "pool order": "trec_eval",
        "complete": True,
        "ties": "means equal to 12 decimals",
        "judged": 7,
        "judged without contributor": 3,
        "pool": 4,
        "pool without judgment": 0,
    }


def test_the_settings_are_those_asked_for():
    field = hand_field()
    lou = leave_out_uniques(
        field.as_runs("file"),
        as_qrels(field.judgments),
        AP,
        by="type",
        depth=2,
        remove="judged",
        contributors=["A", "D"],
        complete=False,
    )
    asked = {"by": "type", "depth": 2, "remove": "judged", "order": "file", "complete": False}
    assert lou.settings.items() >= asked.items()


def test_repr_and_html_say_what_was_found(lou):
    assert repr(lou).startswith("Leave-out-uniques: AP own tau_b ")
    assert "P@2 own tau_b undefined, largest drop 0, whole field drop 2 (<script>alert(1)</script>)" in repr(lou)
    for name, value in lou.settings.items():
        assert f"{name}={value}" in repr(lou)
    assert " ".join(str(lou).split()).startswith(" ".join(repr(lou).split()) + " ")
    assert "unique_" in str(lou)
    assert max(map(len, str(lou).split("\n"))) <= 100
    page = lou._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert ">pooled (3 of 4 runs)</td>" in page


def test_the_answer_in_words(lou):
    field = hand_field()
    lines = in_words(lou).splitlines()
    assert len(lines) == 3
    assert lines[1].startswith("P@2: judged without its own team, a run loses at most 50.00 % of its score, 2 ranks if")
    assert lines[1].endswith("leaving out team '<script>alert(1)</script>' moves a run down by up to 2 ranks.")
    assert lines[2].startswith("Beware: 3 of 7 judged documents (43%) are within depth 3 of no contributing run.")
    # a field may be whole and the rest of the judgments chosen by a classifier, as on Deep Learning 2021
    assert "If the depth, the contributors, the order or the runs are not those of the real pool, uniques" in lines[2]
    still = leave_out_uniques(field.as_runs(), as_qrels({"1": {"d9": 1, "d3": 1}}), AP)
    assert "leaving out any one team changes no rank." in in_words(still)
    assert "at most 0.00 % of its score, 0 ranks" in in_words(still)
    assert repr(still).startswith("Leave-out-uniques: AP own tau_b 1.0000, largest drop 0, whole field drop 0 [by=")


def test_a_largest_loss_of_nothing_is_0():
    field = hand_field()
    still = leave_out_uniques(field.as_runs(), as_qrels({"1": {"d9": 1, "d3": 1}}), AP)
    assert math.copysign(1, still.summary["largest_loss_pct"][0]) == 1


def test_saved_tables_read_back_equal(lou, tmp_path):
    written = lou.save(tmp_path / "new" / "folder")
    tables = ["summary.csv", "table.csv", "by_run.csv", "unique_counts.csv"]
    scores = ["scores.run_table.csv", "own_scores.run_table.csv"]
    assert [path.name for path in written] == [*tables, *scores, "settings.json", "arrays.npz", "result.json"]
    for name, frame in lou.tables().items():
        with open(tmp_path / "new" / "folder" / f"{name}.csv", newline="") as file:
            header, *rows = csv.reader(file)
        assert header == list(frame.columns)
        for row, expected in zip(rows, frame.itertuples(index=False), strict=True):
            for text, value in zip(row, expected, strict=True):
                if isinstance(value, float) and not math.isnan(value):
                    assert float(text) == value
                else:
                    assert text == ("" if pd.isna(value) else str(value))
    settings_read = pd.read_json(tmp_path / "new" / "folder" / "settings.json", typ="series")
    assert settings_read.to_dict() == lou.settings


def test_tables_are_the_attributes(lou):
    assert isinstance(lou, LeaveOutUniques)
    assert list(lou.tables()) == ["summary", "table", "by_run", "unique_counts"]
    assert lou.tables()["by_run"] is lou.by_run
    frame = lou.to_frame()
    frame["tau_b"] = 0
    assert not (lou.table["tau_b"] == 0).all()
    assert lou.reduced.shape == (2, 3, 4)
    assert [lou.units.names[u] for u in lou.units.of_run] == lou.by_run["team"].tolist()[:4]


# what a tired user gives


@pytest.mark.parametrize("measures", [AP, "AP", "map", [AP], ["AP"], (AP,), {AP}])
def test_one_measure_in_any_form(measures):
    field = hand_field()
    lou = leave_out_uniques(field.as_runs(), as_qrels(field.judgments), measures)
    assert lou.summary["measure"].tolist() == ["AP"]


def test_qrels_in_any_form(tmp_path):
    field = hand_field()
    qrels = as_qrels(field.judgments)
    path = qrels.write(tmp_path / "qrels.txt")
    whole = leave_out_uniques(field.as_runs(), qrels, [AP, P @ 3])
    for given_qrels in (path, str(path), qrels.to_frame()):
        again = leave_out_uniques(field.as_runs(), given_qrels, [AP, P @ 3])
        for name, frame in whole.tables().items():
            pd.testing.assert_frame_equal(frame, again.tables()[name])


@pytest.mark.parametrize(
    "options",
    [
        {"by": "Team"},
        {"by": None},
        {"remove": "unjudged"},
        {"depth": "100"},
        {"depth": 0},
        {"contributors": ["A", "bm25"]},
        {"contributors": "some"},
        {"measures": "nDGC@10"},
        {"measures": []},
        {"qrels": 5},
        {"qrels": "no/such.qrels"},
        {"runs": "runs/"},
        {"qrels": as_qrels({"001": {"d1": 1}})},
        {"complete": 1},
        {"without_topics": "no"},
    ],
    ids=lambda options: ",".join(f"{name}={value!r:.20}" for name, value in options.items()),
)
def test_errors_say_what_to_do(options, messages):
    field = hand_field()
    arguments = {"runs": field.as_runs(), "qrels": as_qrels(field.judgments), "measures": AP, **options}
    error = messages.refused(lambda: leave_out_uniques(**arguments))
    assert error.function == "leave_out_uniques"
    # a topic that no run has is the fault of the runs; what only depth_pool checks may name no argument
    told = "runs" if isinstance(options.get("qrels"), Qrels) else next(iter(options))
    assert error.argument in (told, None)


def test_runs_and_qrels_swapped(messages):
    field = hand_field()
    messages.refused(lambda: leave_out_uniques(as_qrels(field.judgments), field.as_runs(), AP), argument="runs")


def test_runs_without_teams_are_their_own_teams(messages):
    frames = {
        name: pd.DataFrame({"qid": "1", "docno": docs, "score": [2.0, 1.0]})
        for name, docs in {"A": ["d1", "d2"], "B": ["d2", "d3"], "C": ["d3", "d4"]}.items()
    }
    runs, qrels = RunSet.from_frames(frames, pooled=True), as_qrels({"1": {"d1": 1, "d2": 0, "d4": 1}})
    by_team = messages.warned(lambda: leave_out_uniques(runs, qrels, AP))
    by_run = leave_out_uniques(runs, qrels, AP, by="run")
    assert by_team.unique_counts["team"].tolist() == by_run.unique_counts["name"].tolist() == ["A", "B", "C"]
    for name in ("table", "by_run", "summary"):
        left, right = (getattr(one, name).select_dtypes("number") for one in (by_team, by_run))
        pd.testing.assert_frame_equal(left, right, check_names=False)
    # one of a team beside one without: as if its team were named like it
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReuseWarning)
        some = leave_out_uniques(RunSet.from_frames(frames, teams={"A": "T", "B": "T"}, pooled=True), qrels, AP)
    told = leave_out_uniques(RunSet.from_frames(frames, teams={"A": "T", "B": "T", "C": "C"}, pooled=True), qrels, AP)
    pd.testing.assert_frame_equal(some.table, told.table)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReuseWarning)
        clash = RunSet.from_frames(frames, teams={"A": "C"}, pooled=True)
    messages.refused(lambda: leave_out_uniques(clash, qrels, AP), argument="by")


def test_nobody_pooled(messages):
    field = hand_field()
    runs = field.as_runs().with_metadata(pooled=False)
    messages.refused(lambda: leave_out_uniques(runs, as_qrels(field.judgments), AP))
