"""The conventions under which a group of figures is judged, and what a verification says of each figure."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from figure_parts import figure, replay

from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet, read_runs


def tied_files(folder):
    """Write a run whose scores tie as float32, and tie altogether at the end, in another order than docnos."""
    folder.mkdir()
    rows = [("d1", 100000.002), ("d2", 100000.001), ("d3", 5.0), ("d4", 5.0)]
    text = "".join(f"1 Q0 {docno} {rank} {score} R\n" for rank, (docno, score) in enumerate(rows, 1))
    # the file does not begin with the best score
    (folder / "R").write_text("1 Q0 d9 5 1.0 R\n" + text)
    return folder


def relevant(*docnos):
    judged = [f"d{n}" for n in range(1, 10)]
    return Qrels(pd.DataFrame({"qid": "1", "docno": judged, "label": [int(docno in docnos) for docno in judged]}))


UNIQUES = "uniques; depth=2; contributors=pooled|all"


@pytest.mark.parametrize(
    ("docno", "value", "convention"),
    [
        ("d1", "1.0", "order=trec_eval"),
        ("d2", "1.0", "order=trec_eval9"),
        ("d9", "1.0", "order=file"),
        ("d2", "0.0", "order=trec_eval"),
    ],
)
def test_the_first_convention_that_agrees(tmp_path, docno, value, convention):
    orders = ["trec_eval", "trec_eval9", "file_ties", "file"]
    lines = figure(f"scores; measure=P@1; order={'|'.join(orders)}", {"R": value})
    runs = read_runs(tied_files(tmp_path / "runs"), order="file")
    found = replay(tmp_path, lines, runs=runs, qrels=relevant(docno))
    assert found.table[["equal", "convention"]].values.tolist() == [[True, convention]]
    assert found.summary["convention"].tolist() == [convention]
    assert found.conventions["convention"].tolist() == [f"order={order}" for order in orders]


@pytest.mark.parametrize(
    ("values", "contributors", "equal"),
    [
        ({"x": 2, "y": 2, "z": 0, "total": 4}, "pooled", [True] * 4),
        ({"x": 1, "y": 1, "z": 0, "total": 2}, "all", [True] * 4),
        # each value is that of one convention, but of no single one
        ({"x": 2, "y": 2, "z": 0, "total": 2}, "pooled", [True, True, True, False]),
        ({"x": 2, "y": 1, "z": 0, "total": 2}, "all", [False, True, True, True]),
        # of two as good the closest
        ({"x": 2, "y": 1}, "pooled", [True, False]),
        ({"y": 9, "total": 40}, "pooled", [False, False]),
        ({"y": 0, "total": 0}, "all", [False, False]),
    ],
)
def test_a_group_is_judged_under_one_convention(tmp_path, values, contributors, equal):
    found = replay(tmp_path, figure(UNIQUES, values))
    assert found.table["equal"].tolist() == equal
    assert found.holds == all(equal)
    assert set(found.table["convention"]) == {f"order=trec_eval, contributors={contributors}, depth=2"}
    assert found.summary["convention"][0] == found.table["convention"][0]


def test_an_order_that_cannot_be_had_leaves_what_is_equal(tmp_path):
    """Where the order of the rank column cannot be had, the rest of the group may be equal under it, or not."""
    frames = {
        "R": pd.DataFrame({"qid": "1", "docno": ["d1", "d2"], "score": [2.0, 1.0]}),
        "S": pd.DataFrame({"qid": "1", "docno": ["d2", "d1"], "score": [2.0, 1.0]}),
    }
    lines = figure("scores; measure=P@1; order=trec_eval|rank", {"R": "1.0", "S": "1.0"})
    found = replay(tmp_path, lines, runs=RunSet.from_frames(frames), qrels=relevant("d1"))
    assert found.table["equal"].tolist() == [True, None]
    assert "came without a column 'rank'" in found.table["note"][1]
    assert found.holds


def test_known_differences(tmp_path):
    def scores(b, c):
        values = {"C": "0.9", "A": "0.5", "B": b}
        return replay(tmp_path, figure("scores; measure=AP", values, known={"C": c}, differs="a misprint"))

    found = scores("0.4167", "0.5833")
    assert found.table["note"].tolist() == ["a misprint", "", ""]
    assert found.table["known"].tolist() == [True, False, False]
    assert found.holds
    assert found.headline() == "mine: 2 of 3 figures equal, 1 unequal (1 known to be)"
    assert found.summary[["unequal", "known", "note"]].values.tolist() == [[1, 1, "a misprint"]]
    assert "a misprint" in str(found)
    # another number than the one that is known is no known difference, nor is another figure of the group
    for values, unequal in ((("0.4167", "0.5834"), 1), (("0.4168", "0.5833"), 2)):
        found = scores(*values)
        assert found.summary["unequal"].tolist() == [unequal]
        assert not found.holds


def test_a_known_difference_helps_to_choose_the_convention(tmp_path):
    found = replay(tmp_path, figure(UNIQUES, {"x": 1, "y": 7}, known={"y": 1}, differs="a misprint"))
    assert found.table[["equal", "known"]].values.tolist() == [[True, False], [False, True]]
    assert found.summary["convention"].tolist() == ["order=trec_eval, contributors=all, depth=2"]
    assert found.holds


@pytest.mark.parametrize(
    ("kind", "name", "hint"),
    [
        ("scores; measure=AP", "AA", "nothing is named 'AA'"),
        ("score_statistic; measure=AP", "manul", "Did you mean 'manual'?"),
        ("uniques", "w", "nothing is named 'w', neither in the field nor on record"),
        ("judgments", "topic", "Did you mean 'topics'?"),
        ("saturation; measure=AP", "inf", "nothing is named 'inf'"),
        *(
            ("minimum_rank; depth=10", name, f"nothing is named {name!r}")
            for name in ("1 to 3", "10-1", "0-0", "11-50")
        ),
    ],
)
def test_a_name_of_nothing_does_not_hold(tmp_path, kind, name, hint):
    found = replay(tmp_path, figure(kind, {name: "0.5"}))
    assert found.table["equal"].tolist() == [False]
    assert found.table["computed"].isna().all()
    assert hint in found.table["note"][0]
    assert found.headline() == "mine: 0 of 1 figure equal, 1 unequal (1 of no such name)"
    assert not found.holds


def test_the_record(tmp_path):
    scores = figure("scores; measure=AP", {"C": "0.5833", "D": "0.5", "A": "0.4"}, "MAP")
    found = replay(tmp_path, scores, figure("judgments", {"topics": 2}))
    assert found.table["equal"].tolist() == [True, False, False, True]
    assert found.table["computed"].tolist() == pytest.approx([7 / 12, np.nan, 0.5, 2], nan_ok=True)
    assert found.table["difference"].tolist() == pytest.approx([7 / 12 - 0.5833, np.nan, 0.1, 0], nan_ok=True)
    nameless = "not computed: nothing is named 'D', neither in the field nor on record"
    assert found.table["note"].tolist() == ["", nameless, "", ""]
    assert found.summary[["what", "figures", "equal", "unequal", "not_computed"]].values.tolist() == [
        ["MAP", 3, 1, 2, 0],
        ["it", 1, 1, 0, 0],
    ]
    assert found.summary["largest_difference"].tolist() == pytest.approx([0.1, 0])
    assert found.headline() == "mine: 2 of 4 figures equal, 2 unequal (1 of no such name)"
    for shown in (str(found), found._repr_html_()):
        assert "mine: 2 of 4" in shown
        assert "unequal:" in shown
    names = ["table.csv", "summary.csv", "conventions.csv", "settings.json", "result.json"]
    assert [path.name for path in found.save(tmp_path / "out")] == names
