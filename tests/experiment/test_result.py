"""What ptr.Experiment returns is a DataFrame in every respect, and knows the runs that were executed."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pyterrier as pt
import pytest
from experiment_parts import ALL, FIELD, NAMES, OTHERS, QRELS, TOPICS, frames, retrievers
from ir_measures import AP, Accuracy, NumRelRet, NumRet, P, nDCG

import pt_reuse as ptr
from pt_reuse.experiment.experiment_result import ExperimentResult

MEASURES = [AP, nDCG @ 10, P @ 5]


def experiment(**arguments):
    given = {"field": OTHERS, "depth": 8, **arguments}
    return ptr.Experiment(retrievers(), TOPICS, QRELS, MEASURES, **given)


#: what pandas makes of a result, which knows the runs still
KEEPING = {
    "copy": lambda r: r.copy(),
    "pickle": lambda r: pickle.loads(pickle.dumps(r)),
    "sort_values": lambda r: r.sort_values("AP", ascending=False),
    "loc": lambda r: r.loc[r["AP"] > 0.3],
    "columns": lambda r: r[["name", "AP"]],
    "assign": lambda r: r.assign(more=1),
    "set_index": lambda r: r.set_index("name"),
    "style": lambda r: r.style.data,
    "merge": lambda r: r.merge(pd.DataFrame({"name": NAMES, "size": [1, 2, 3]}), on="name"),
    "merge into": lambda r: type(r)(pd.DataFrame({"name": NAMES, "size": [1, 2, 3]})).merge(r, on="name"),
}


def test_what_pandas_makes_of_it_is_what_it_makes_of_a_plain_frame_and_knows_the_runs():
    result = experiment()
    plain = pd.DataFrame(result)
    assert type(plain) is pd.DataFrame
    for name, make in KEEPING.items():
        made = make(result)
        assert isinstance(made, ExperimentResult), name
        pd.testing.assert_frame_equal(pd.DataFrame(made), make(plain))
        assert made.attrs == result.attrs, name
        assert made.runs is result.runs or made.runs.to_frame().equals(result.runs.to_frame()), name


@pytest.mark.parametrize(
    "more",
    [{"perquery": "both"}, {"highlight": "bold"}, {"layout": "long", "baseline": 0}],
    ids=str,
)
def test_every_form_knows_the_runs(more):
    result = experiment(**more)
    parts = result if isinstance(result, tuple) else [result]
    for part in parts:
        frame = getattr(part, "data", part)
        assert isinstance(frame, ExperimentResult)
        assert frame.runs.names == NAMES
    if isinstance(result, tuple):
        assert type(result) is type(pt.Experiment(frames(), TOPICS, QRELS, [AP], perquery="both"))
        assert result.averages.runs is result.perquery.runs


# the runs are those that were scored


def test_runs_are_executed_once_and_give_the_numbers_of_the_experiment():
    systems = retrievers()
    teams = {"lex1a": "us", "neu2a": "us", "man3a": "them"}
    result = ptr.Experiment(
        systems, TOPICS, QRELS, MEASURES, teams=teams, types=dict.fromkeys(NAMES, "any"), reuse="rank"
    )
    runs = result.runs
    pool = ptr.depth_pool(runs, depth=10)
    scores = ptr.score(runs, QRELS, MEASURES)
    assert [system.calls for system in systems.values()] == [1, 1, 1]
    assert runs.order == "trec_eval9"
    assert runs.run_table[["name", "team", "type"]].to_numpy().tolist() == [[n, teams[n], "any"] for n in NAMES]
    assert runs.pooled.isna().all(), "nobody said it"
    for measure in MEASURES:
        assert scores.mean[str(measure)].tolist() == pytest.approx(result[str(measure)].tolist(), abs=1e-12)
        assert scores.ranks[str(measure)].tolist() == result[f"{measure} rank"].tolist()
    # the pool by hand
    expected = set()
    for frame in frames().values():
        keyed = frame.assign(key=frame["score"].astype(np.float32)).sort_values(["key", "docno"], ascending=False)
        expected |= set(zip(*keyed.groupby("qid").head(10)[["qid", "docno"]].to_numpy().T, strict=True))
    assert set(zip(*pool.to_frame()[["qid", "docno"]].to_numpy().T, strict=True)) == expected


# the summary over the field: where a user finds it, what travels with the result, and what is None


def test_summary_is_where_a_user_finds_it():
    lou = ptr.leave_out_uniques(FIELD.runs.reorder("trec_eval9"), FIELD.qrels, [AP, P @ 5], by="run", depth=8)
    expected = lou.summary.assign(measure=["map", "P@5"])
    pooled = dict(zip(FIELD.runs.names, FIELD.runs.pooled.tolist(), strict=True))
    arguments = {"field": OTHERS, "by": "run", "depth": 8, "pooled": {name: pooled[name] for name in NAMES}}
    for more in ({"perquery": "both"}, {"highlight": "bold"}):
        result = ptr.Experiment(frames(), TOPICS, QRELS, ["map", P @ 5], **arguments, **more)
        frame = result[0] if isinstance(result, tuple) else getattr(result, "data", result)  # a Styler has its frame
        found = frame.reuse_summary()
        assert {"own_tau_b", "own_gamma", "own_max_drop"} <= set(found)
        numbers = [column for column in found if column != "field_worst"]
        pd.testing.assert_frame_equal(found[numbers], expected[numbers])
    settings = frame.attrs["reuse"]["settings"]
    assert (settings["by"], settings["depth"], settings["order"], settings["runs ranked"]) == (
        "run",
        8,
        "trec_eval9",
        8,
    )


def test_summary_errors(messages):
    ranked = ptr.Experiment(frames(), TOPICS, QRELS, [AP], reuse="rank")
    assert messages.warned(lambda: ranked.reuse_summary()).empty
    ranked.attrs = {}
    messages.refused(ranked.reuse_summary)


# the long layout, and the report: what a paper prints of an experiment

QUIET = pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")
CORRECTED = {"baseline": 0, "correction": "holm"}


def in_field(systems=None, **arguments):
    given = {"field": OTHERS, "depth": 5, "pooled": True, **arguments}
    return ptr.Experiment(systems or retrievers(), TOPICS, QRELS, MEASURES, **given)


@QUIET
@pytest.mark.parametrize("more", [CORRECTED, {"field": None, "round": 2}], ids=str)
def test_long_holds_the_numbers_of_wide(more):
    wide, long = in_field(reuse=ALL, **more), in_field(reuse=ALL, layout="long", **more)
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
    long = in_field(baseline=0, layout="long")
    assert list(long) == columns
    assert [str(long[column].dtype) for column in ("+", "-", "rank", "drop")] == ["Int64", "Int64", "int64", "int64"]
    corrected = in_field(**CORRECTED, layout="long")
    assert list(corrected) == [*columns[:6], "reject", "p-value corrected", *columns[6:]]
    theirs = pt.Experiment(frames(), TOPICS, QRELS, MEASURES, baseline=0)
    ours = in_field(reuse=[], layout="long", baseline=0)
    assert list(ours) == columns[:6]
    assert ours["value"].tolist() == theirs[list(map(str, MEASURES))].to_numpy().ravel().tolist()


@pytest.mark.parametrize(
    ("argument", "more"),
    [
        ("layout", {"layout": "tall"}),
        ("layout", {"layout": None}),
        ("layout", {"layout": "long", "highlight": "bold"}),
        ("dataframe", {"dataframe": False}),
    ],
)
def test_what_has_no_place_for_columns(argument, more, messages):
    systems = retrievers()
    messages.refused(lambda: in_field(systems, **more), argument=argument)
    assert [system.calls for system in systems.values()] == [0, 0, 0]


# the report


def test_report_has_what_a_paper_prints():
    result = in_field(baseline="neu2a")
    table = result.report().to_frame()
    assert list(table) == ["System, measure", "Score", "p", "LOU, change in %", "Rank", "Unjudged share"]
    long = in_field(baseline="neu2a", layout="long").sort_values(
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
    expected = in_field().report().to_frame()
    for form in ({"perquery": True}, {"layout": "long"}):
        table = in_field(**form).report().to_frame()
        pd.testing.assert_frame_equal(
            table.sort_values("System, measure", ignore_index=True),
            expected.sort_values("System, measure", ignore_index=True),
        )
    assert in_field(perquery="both").perquery.report().to_frame()["Score"].tolist()


def test_report_is_of_the_measures_and_systems_at_hand():
    result, long = in_field(), in_field(layout="long")
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
    result = in_field()
    messages.refused(lambda: result.report("nDCG@20"), argument="measures")
    messages.refused(lambda: result.report([]), argument="measures")
    messages.refused(lambda: result.report(5), argument="measures")
    given = {"field": OTHERS, "perquery": True, "reuse": "unjudged"}
    messages.refused(ptr.Experiment(retrievers(), TOPICS, QRELS, [AP, Accuracy], **given).report)
    messages.refused(result.assign(name=result["name"].str.upper()).report)


@pytest.mark.parametrize("perquery", [False, True, "both"])
def test_the_report_of_a_rounded_result_has_numbers_that_are_not_rounded(perquery):
    given = (FIELD.runs.select(NAMES), TOPICS, QRELS, [AP, P @ 5])
    wanted = ptr.Experiment(*given, field=OTHERS, depth=8).report().to_frame()
    found = ptr.Experiment(*given, field=OTHERS, depth=8, round=2, perquery=perquery)
    found = found[0] if perquery == "both" else found
    # a frame by topic has its systems in another order
    first = wanted.columns[0]
    rows = found.report().to_frame().set_index(first).loc[wanted[first]].reset_index()
    pd.testing.assert_frame_equal(rows, wanted)


def test_a_count_that_pt_experiment_averages_is_said_to_be_averaged():
    runs = pd.DataFrame(
        [("1", "a", 2.0, 0), ("1", "b", 1.0, 1), ("2", "a", 1.0, 0), ("3", "c", 1.0, 0)],
        columns=["qid", "docno", "score", "rank"],
    )
    qrels = pd.DataFrame(
        [("1", "a", 1), ("1", "b", 1), ("2", "b", 1), ("3", "d", 0)], columns=["qid", "docno", "label"]
    )
    topics = pd.DataFrame({"qid": ["1", "2", "3"], "query": ["x", "y", "z"]})
    found = ptr.Experiment([runs], topics, qrels, [NumRet, NumRelRet], names=["s"])
    assert found["NumRet"].tolist() == [4.0]
    assert found["NumRet(rel=1)"].tolist() == [2 / 3]
    assert "(NumRet: the sum) (NumRet(rel=1): the mean" in found.report().caption
    assert ptr.score({"s": runs}, qrels, [NumRelRet]).mean_values.tolist() == [[2.0]]
