"""The long layout, and the report: what a paper prints of an experiment."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyterrier as pt
import pytest
from experiment_parts import ALL, NAMES, OTHERS, QRELS, TOPICS, frames, retrievers
from ir_measures import AP, Accuracy, P, nDCG

import pt_reuse as ptr

MEASURES = [AP, nDCG @ 10, P @ 5]
QUIET = pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")
CORRECTED = {"baseline": 0, "correction": "holm"}


def experiment(systems=None, **arguments):
    given = {"field": OTHERS, "depth": 5, "pooled": True, **arguments}
    return ptr.Experiment(systems or retrievers(), TOPICS, QRELS, MEASURES, **given)


@QUIET
@pytest.mark.parametrize("more", [{}, {"baseline": "neu2a"}, CORRECTED, {"field": None}, {"round": 2}], ids=str)
def test_long_holds_the_numbers_of_wide(more):
    wide, long = experiment(reuse=ALL, **more), experiment(reuse=ALL, layout="long", **more)
    assert [tuple(row) for row in long[["name", "measure"]].to_numpy()] == [
        (name, str(measure)) for name in NAMES for measure in MEASURES
    ]
    by_name, there = wide.set_index("name"), set()
    for row in long.to_dict("records"):
        name, measure = row.pop("name"), row.pop("measure")
        expected = {"value": by_name.loc[name, measure]}
        of_measure = [column for column in wide if column.startswith(f"{measure} ")]
        expected |= {column.removeprefix(f"{measure} "): by_name.loc[name, column] for column in of_measure}
        there |= set(expected)
        left_out = {column for column in expected if column.startswith("LOU rank")}
        assert set(row) == set(expected) - left_out
        for column, value in row.items():
            assert pd.isna(value) == pd.isna(expected[column]), column
            assert pd.isna(value) or value == expected[column], column
    assert {"LOU rank", "LOU rank (no field)"} & there
    assert long.attrs == wide.attrs
    assert (long.filter(like="LOU %") != 0).any().any()


def test_long_has_the_columns_that_apply_in_their_order():
    columns = ["name", "measure", "value", "+", "-", "p-value", "LOU", "LOU %", "rank", "drop", "unjudged"]
    long = experiment(baseline=0, layout="long")
    assert list(long) == columns
    assert [str(long[column].dtype) for column in ("+", "-", "rank", "drop")] == ["Int64", "Int64", "int64", "int64"]
    corrected = experiment(**CORRECTED, layout="long")
    assert list(corrected) == [*columns[:6], "reject", "p-value corrected", *columns[6:]]
    assert list(experiment(reuse="rank", layout="long")) == ["name", "measure", "value", "rank"]
    assert list(experiment(reuse=[], layout="long", baseline=0)) == columns[:6]
    theirs = pt.Experiment(frames(), TOPICS, QRELS, MEASURES, baseline=0)
    ours = experiment(reuse=[], layout="long", baseline=0)
    assert ours["value"].tolist() == theirs[list(map(str, MEASURES))].to_numpy().ravel().tolist()


@pytest.mark.parametrize(
    "more",
    [
        {"layout": "tall"},
        {"layout": None},
        {"layout": "long", "dataframe": False},
        {"layout": "long", "highlight": "bold"},
    ],
)
def test_what_has_no_long_layout(more, messages):
    systems = retrievers()
    messages.refused(lambda: experiment(systems, **more), argument="layout")
    assert [system.calls for system in systems.values()] == [0, 0, 0]


# the report


def test_report_has_what_a_paper_prints():
    result = experiment(baseline="neu2a")
    table = result.report().to_frame()
    assert list(table) == ["System, measure", "Score", "p", "LOU, change in %", "Rank", "Unjudged share"]
    long = experiment(baseline="neu2a", layout="long").sort_values(
        "measure", key=lambda m: m.map([*map(str, MEASURES)].index), kind="stable"
    )
    assert table["System, measure"].tolist() == (long["name"] + ", " + long["measure"]).tolist()
    for heading, column in zip(list(table)[1:], ["value", "p-value", "LOU %", "rank", "unjudged"], strict=True):
        np.testing.assert_array_equal(table[heading].to_numpy(dtype=float), long[column].to_numpy(dtype=float))
    text = str(result.report())
    assert max(map(len, text.splitlines())) <= 80
    assert "paired t-test against neu2a" in " ".join(text.split())
    assert "5 runs of the field and 3 systems" in " ".join(text.split())
    assert "pool depth 5" in " ".join(text.split())


def test_report_by_topic_is_of_the_means():
    expected = experiment().report().to_frame()
    for form in ({"perquery": True}, {"layout": "long"}):
        table = experiment(**form).report().to_frame()
        pd.testing.assert_frame_equal(
            table.sort_values("System, measure", ignore_index=True),
            expected.sort_values("System, measure", ignore_index=True),
        )
    assert experiment(perquery="both").perquery.report().to_frame()["Score"].tolist()


def test_report_is_of_the_measures_and_systems_at_hand():
    result, long = experiment(), experiment(layout="long")
    names = ["neu2a", "lex1a"]
    expected = result.set_index("name").loc[names, "AP"].tolist()
    for part in (
        result.set_index("name").loc[names, ["AP", "AP rank"]],
        long[(long["measure"] == "AP") & long["name"].isin(names)].sort_values("name", ascending=False),
    ):
        table = part.report().to_frame()
        assert (table["System"].tolist(), table["AP"].tolist()) == (names, expected)
    assert result[["name"]].report().to_frame().equals(result.report().to_frame())
    by_measure = result[["name", "AP"]].report(nDCG @ 10).to_frame()
    assert by_measure["nDCG@10"].tolist() == result["nDCG@10"].tolist()


def test_what_cannot_be_reported(messages):
    result = experiment()
    messages.refused(lambda: result.report("nDCG@20"), argument="measures")
    messages.refused(lambda: result.report([]), argument="measures")
    messages.refused(lambda: result.report(5), argument="measures")
    given = {"field": OTHERS, "perquery": True, "reuse": "unjudged"}
    messages.refused(ptr.Experiment(retrievers(), TOPICS, QRELS, [AP, Accuracy], **given).report)
    messages.refused(result.assign(name=result["name"].str.upper()).report)
