"""Conventions: the ways to compute a group of figures, and the one by which it is judged."""

from __future__ import annotations

import pandas as pd
import pytest
from figure_parts import UNIQUES, figure, relevant, replay, tied_files

from pt_reuse.data.run_reading import read_runs
from pt_reuse.data.run_set import RunSet


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
    orders = ", ".join(f'{{ order = "{order}" }}' for order in ("trec_eval", "trec_eval9", "file_ties", "file"))
    lines = f'kind = "scores"\nmeasure = "P@1"\nvalues = {{ R = "{value}" }}\nconventions = [{orders}]'
    runs = read_runs(tied_files(tmp_path / "runs"), order="file")
    found = replay(tmp_path, figure(lines), runs=runs, qrels=relevant(docno))
    assert found.table[["equal", "convention"]].values.tolist() == [[True, convention]]
    assert found.summary["convention"].tolist() == [convention]
    assert found.conventions["convention"].str.removeprefix("order=").tolist() == [
        "trec_eval",
        "trec_eval9",
        "file_ties",
        "file",
    ]


def test_ties_as_in_the_file(tmp_path):
    """By score, d1 d2, then d3 and d4 as they stand, where trec_eval has d4 first."""
    runs = read_runs(tied_files(tmp_path / "runs"), order="file")
    lines = 'kind = "scores"\nmeasure = "RR"\nvalues = {{ R = "{}" }}\norder = "{}"'
    for order, value in (("file_ties", "0.3333"), ("trec_eval", "0.2500"), ("file", "0.2500")):
        found = replay(tmp_path, figure(lines.format(value, order)), runs=runs, qrels=relevant("d3"))
        assert found.holds, order


def test_an_order_that_cannot_be_had_is_no_difference(tmp_path):
    """Another order, that of the rank column, may be the one: so nothing is wrong yet."""
    orders = '{ order = "trec_eval" }, { order = "rank" }'
    lines = f'kind = "scores"\nmeasure = "P@1"\nvalues = {{ R = "1.0" }}\nconventions = [{orders}]'
    runs = RunSet.from_frames({"R": pd.DataFrame({"qid": "1", "docno": ["d1", "d2"], "score": [2.0, 1.0]})})
    found = replay(tmp_path, figure(lines), runs=runs, qrels=relevant("d9"))
    assert found.table["equal"].tolist() == [None]
    assert "came without a column 'rank'" in found.table["note"][0]
    # but trec_eval's order is enough when it agrees
    assert replay(tmp_path, figure(lines), runs=runs, qrels=relevant("d1")).table["equal"].tolist() == [True]


def test_rounding_and_contributors_are_conventions(tmp_path):
    lines = (
        'kind = "scores"\nmeasure = "AP"\nvalues = { C = "0.583", A = "0.500", B = "0.416" }\n'
        'conventions = [{}, { rounding = "truncate" }]'
    )
    found = replay(tmp_path, figure(lines))
    # one convention explains all
    assert found.table["convention"].tolist() == ["order=trec_eval, rounding=truncate"] * 3
    assert found.summary["convention"].tolist() == ["order=trec_eval, rounding=truncate"]
    assert found.conventions["equal"].tolist() == [2, 3]
    lines = 'kind = "uniques"\ndepth = 2\nvalues = {{ x = {} }}\nconventions = [{{}}, {{ contributors = "all" }}]'
    for value, contributors in ((1, "all"), (2, "pooled")):
        found = replay(tmp_path, figure(lines.format(value)))
        assert found.table["convention"].tolist() == [f"order=trec_eval, contributors={contributors}, depth=2"]


@pytest.mark.parametrize(
    ("values", "contributors", "equal"),
    [
        ("x = 2, y = 2, z = 0, total = 4", "pooled", [True] * 4),
        ("x = 1, y = 1, z = 0, total = 2", "all", [True] * 4),
        # each value is that of one convention, but of no single one
        ("x = 2, y = 2, z = 0, total = 2", "pooled", [True, True, True, False]),
        ("x = 2, y = 1, z = 0, total = 2", "all", [False, True, True, True]),
        # of two as good the closest
        ("x = 2, y = 1", "pooled", [True, False]),
        ("y = 9, total = 40", "pooled", [False, False]),
        ("y = 0, total = 0", "all", [False, False]),
    ],
)
def test_a_group_is_judged_under_one_convention(tmp_path, values, contributors, equal):
    found = replay(tmp_path, figure(f"{UNIQUES}values = {{ {values} }}"))
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
    lines = 'kind = "scores"\nmeasure = "P@1"\nvalues = { R = "1.0", S = "1.0" }\n'
    orders = 'conventions = [{ order = "trec_eval" }, { order = "rank" }]'
    found = replay(tmp_path, figure(lines + orders), runs=RunSet.from_frames(frames), qrels=relevant("d1"))
    assert found.table["equal"].tolist() == [True, None]
    assert "came without a column 'rank'" in found.table["note"][1]
    assert found.holds


def test_the_convention_says_all_that_the_numbers_hang_on(tmp_path):
    def label(lines):
        return replay(tmp_path, figure(lines)).summary["convention"].tolist()

    scores = 'kind = "scores"\nvalues = { A = "0.5" }\n'
    assert label(f'{scores}measure = "P@1"') == ["order=trec_eval"]
    assert label(f'{scores}measure = "AP(judged_only=True)"\nrounding = "truncate"\ncomplete = false') == [
        "order=trec_eval, measure=AP(judged_only=True), complete=False, rounding=truncate"
    ]
    assert label(f'{scores}measure = ["RBP(rel=1,p=0.5)", "RBP(rel=2,p=0.5)"]\norder = "trec_eval9"') == [
        "order=trec_eval9, measure=RBP(rel=1,p=0.5) and RBP(rel=2,p=0.5)"
    ]
    shallow = 'kind = "shallow_pool"\nmeasure = "AP"\nvalues = { documents = 1 }\n'
    assert label(
        f'{shallow}decimals_of_scores = 4\ncontributors = "all"\nconventions = [{{ pool_order = "same" }}]'
    ) == ["order=trec_eval, contributors=all, decimals_of_scores=4, pool_order=same"]
    # what is computed is no convention
    left_out = 'kind = "left_out"\nmeasure = "AP"\nby = "type"\nstatistic = "removed"\nvalues = { manual = 1 }\n'
    assert label(f'{left_out}remove = "judged"') == ["order=trec_eval, contributors=pooled, remove=judged"]
