"""What comes out for a figure, and what a verification says of it: known differences, names of nothing, no number."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from figure_parts import RANKED, UNIQUES, figure, frame, replay, small_field

from pt_reuse._errors import Option, in_python
from pt_reuse.data.run_set import RunSet
from pt_reuse.verification.group import Status


def test_known_differences(tmp_path):
    lines = 'kind = "scores"\nmeasure = "AP"\nvalues = {{ C = "0.9", A = "0.5", B = "{}" }}\ndiffers = "a misprint"\n'
    lines += 'computed = {{ C = "{}" }}\n'
    found = replay(tmp_path, figure(lines.format("0.4167", "0.5833")))
    assert found.table["note"].tolist() == ["a misprint", "", ""]
    assert found.table["known"].tolist() == [True, False, False]
    assert [verdict.status for verdict in found.verdicts] == [Status.KNOWN, Status.EQUAL, Status.EQUAL]
    assert found.holds
    assert found.headline() == "Mine: 2 of 3 figures equal, 1 unequal (1 known to be)"
    assert found.summary[["unequal", "known", "note"]].values.tolist() == [[1, 1, "a misprint"]]
    assert "a misprint" in str(found)
    # another number than the one that is known is no known difference, nor is another figure of the group
    for values, unequal in ((("0.4167", "0.5834"), 1), (("0.4168", "0.5833"), 2)):
        found = replay(tmp_path, figure(lines.format(*values)))
        assert found.summary["unequal"].tolist() == [unequal]
        assert not found.holds


def test_a_known_difference_helps_to_choose_the_convention(tmp_path):
    known = 'values = { x = 1, y = 7 }\ndiffers = "a misprint"\ncomputed = { y = 1 }'
    found = replay(tmp_path, figure(UNIQUES + known))
    assert found.table[["equal", "known"]].values.tolist() == [[True, False], [False, True]]
    assert found.summary["convention"].tolist() == ["order=trec_eval, contributors=all, depth=2"]
    assert found.holds


@pytest.mark.parametrize(
    ("lines", "hint"),
    [
        ('kind = "scores"\nmeasure = "AP"\nvalues = { AA = "0.5" }', "did you mean 'A'?"),
        ('kind = "score_statistic"\nmeasure = "AP"\nvalues = { manul = "0.5" }', "did you mean 'manual'?"),
        ('kind = "uniques"\nvalues = { w = 1 }', "nothing is named 'w', neither in the field nor on record"),
        ('kind = "left_out"\nmeasure = "AP"\nby = "run"\nvalues = { D = "1.0" }', "nothing is named 'D'"),
        ('kind = "own_losses"\nmeasure = "AP"\nvalues = { feedback = "1.0" }', "nothing is named 'feedback'"),
    ],
)
def test_a_name_of_nothing_does_not_hold(tmp_path, lines, hint):
    found = replay(tmp_path, figure(lines))
    assert found.table["equal"].tolist() == [False]
    assert [verdict.status for verdict in found.verdicts] == [Status.NAMELESS]
    assert found.table["computed"].isna().all()
    assert hint in found.table["note"][0]
    assert found.headline() == "Mine: 0 of 1 figure equal, 1 unequal (1 of no such name)"
    assert not found.holds


def test_labels_that_some_runs_lack(tmp_path):
    labels = pd.DataFrame({"name": ["A", "B", "C"], "type": ["manual", None, None]})
    runs = RunSet.from_frames({name: frame(lists) for name, lists in RANKED.items()}, metadata=labels)
    found = replay(
        tmp_path,
        figure('kind = "field"\nvalues = { runs = 3, teams = 2, "manual runs" = 1 }', "field"),
        figure('kind = "score_statistic"\nmeasure = "AP"\nvalues = { manual = "0.5" }', "best"),
        figure('kind = "score_statistic"\nmeasure = "AP"\nby = "pooled"\nvalues = { unpooled = "0.5" }', "unpooled"),
        figure('kind = "own_losses"\nmeasure = "AP"\nby = "run"\nvalues = { manual = "0.5" }', "losses"),
        runs=runs,
    )
    notes = found.table["note"].str.removeprefix("not computed: ").tolist()
    lacking = "needs the {} of every run: {} without: "
    assert notes == [
        "",
        lacking.format("team", "3 runs") + "'A', 'B', 'C'",
        lacking.format("type", "2 runs") + "'B', 'C'",
        lacking.format("type", "2 runs") + "'B', 'C'",
        "who was pooled is not on record",
        lacking.format("type", "2 runs") + "'B', 'C'",
    ]
    assert found.table["equal"].tolist() == [True] + [None] * 5


def test_what_is_not_defined_is_not_computed(tmp_path):
    runs = RunSet.from_frames({"A": frame(RANKED["A"]), "twin": frame(RANKED["A"])}, teams={"A": "x", "twin": "y"})
    found = replay(tmp_path, figure('kind = "own_uniques"\nmeasure = "AP"\nvalues = { gamma = "1.0" }'), runs=runs)
    assert found.table["note"].tolist() == ["not computed: it is not defined for these runs"]


def test_the_record(tmp_path):
    scores = figure('kind = "scores"\nmeasure = "AP"\nvalues = { C = "0.5833", D = "0.5", A = "0.4" }', "MAP")
    found = replay(tmp_path, scores, figure('kind = "judgments"\nvalues = { topics = 2 }'))
    assert found.table.columns.tolist() == [
        "what",
        "name",
        "published",
        "computed",
        "equal",
        "known",
        "difference",
        "unit",
        "convention",
        "source",
        "note",
    ]
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
    assert repr(found) == (
        "Verification: Mine: 2 of 4 figures equal, 2 unequal (1 of no such name) "
        "[collection=Mine, judgments=9, runs=3 of 3]"
    )
    assert nameless in str(found)
    assert "Mine: 2 of 4" in found._repr_html_()
    files = found.save(tmp_path / "out")
    assert [path.name for path in files] == [
        "summary.csv",
        "table.csv",
        "conventions.csv",
        "settings.json",
        "result.json",
    ]


def test_labels_that_lack_are_told(tmp_path):
    runs = RunSet.from_frames({"A": frame(RANKED["A"]), "B": frame(RANKED["B"])})
    found = replay(
        tmp_path,
        figure('kind = "uniques"\nvalues = { total = 4 }', "uniques"),
        figure('kind = "scores"\nmeasure = "AP"\nvalues = { A = "0.5" }', "MAP"),
        runs=runs,
    )
    assert found.table["equal"].tolist() == [None, True]
    assert "needs the team of every run" in found.table["note"][0]
    assert [verdict.status for verdict in found.verdicts] == [Status.NOT_COMPUTED, Status.EQUAL]
    # what to do is kept as data, for Python and for a shell
    assert {Option("teams", ...), Option("by", "run")} < set(found.verdicts[0].reason.parts)
    assert "Give teams=\nwhen" in str(found)
    assert ["Give teams= when" in line for line in found.not_computed(in_python)] == [True]
    assert "Give ADVICEADVICE, or" in found.not_computed(lambda advice: "ADVICE")[0]


def test_a_notebook_shows_what_is_unequal_in_full_digits(tmp_path):
    found = replay(tmp_path, figure('kind = "judgments"\nvalues = { judgments = 1, topics = 1 }'))
    page = found._repr_html_()
    for row in found.table.itertuples():
        assert row.equal is False
        assert f">{row.name}</td>" in page
        assert f">{row.computed:.10g}</td>" in page
    assert "unequal:" in page


def test_a_pool_that_nobody_recorded_is_no_figure(tmp_path):
    nobody_knows = pd.DataFrame({"name": ["A", "B", "C"], "pooled": pd.array([pd.NA] * 3, dtype="boolean")})
    known = small_field()
    unknown = RunSet(known.field, known.run_table.assign(pooled=nobody_knows["pooled"]), known.order)
    found = replay(
        tmp_path,
        figure('kind = "field"\nvalues = { "pooled runs" = 3, runs = 3 }'),
        figure('kind = "score_statistic"\nmeasure = "AP"\nby = "pooled"\nvalues = { pooled = "0.5" }', "means"),
        runs=unknown,
    )
    assert found.table["equal"].tolist() == [None, True, None]
    note = "not computed: who was pooled is not on record"
    assert found.table["note"].tolist() == [note, "", note]
