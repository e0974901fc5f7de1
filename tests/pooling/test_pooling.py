from __future__ import annotations

import numpy as np
import pytest
import reference_lou
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_lou import contributions_of, frame_of, pairs_of, pooled_runs, records, team_fields

from pt_reuse._errors import InputError
from pt_reuse.pooling.depth import depth_pool
from pt_reuse.pooling.pool import Pool
from pt_reuse.runs.run_set import RunSet

ORDERS = st.sampled_from(["trec_eval", "trec_eval9", "file"])
DEPTHS = st.sampled_from([1, 2, 3, 8, 100])
CONTRIBUTORS = st.sampled_from(["pooled", "all", ["run0"]])


@pytest.fixture
def runs():
    return pooled_runs()


# by hand


def test_by_hand(runs):
    pool = depth_pool(runs, depth=2)
    assert contributions_of(pool) == {
        ("1", "a"): {"A": 1},
        ("1", "b"): {"A": 2, "B": 1, "C": 2},
        ("1", "c"): {"C": 1},
        ("1", "d"): {"B": 2},
        ("2", "x"): {"A": 1},
        ("2", "y"): {"A": 2, "B": 1},
    }
    assert len(pool) == 6
    assert pool.topics == ["1", "2"]
    assert pool.run_table["name"].tolist() == ["A", "B", "C"]
    assert pool.settings == {"strategy": "depth", "depth": 2, "contributors": "pooled", "order": "trec_eval"}
    frame = pool.to_frame().set_index(["qid", "docno"]).sort_index()
    assert records(frame.reset_index()) == [
        {"qid": "1", "docno": "a", "rank": 1, "runs": 1, "teams": 1, "types": 1},
        {"qid": "1", "docno": "b", "rank": 1, "runs": 3, "teams": 2, "types": 2},
        {"qid": "1", "docno": "c", "rank": 1, "runs": 1, "teams": 1, "types": 1},
        {"qid": "1", "docno": "d", "rank": 2, "runs": 1, "teams": 1, "types": 1},
        {"qid": "2", "docno": "x", "rank": 1, "runs": 1, "teams": 1, "types": 1},
        {"qid": "2", "docno": "y", "rank": 1, "runs": 2, "teams": 1, "types": 2},
    ]


@pytest.mark.parametrize(
    ("by", "column", "expected"),
    [
        ("team", "team", {"1a": "one", "1c": "two", "1d": "one", "2x": "one", "2y": "one"}),
        ("run", "name", {"1a": "A", "1c": "C", "1d": "B", "2x": "A"}),
        ("type", "type", {"1a": "automatic", "1c": "automatic", "1d": "manual", "2x": "automatic"}),
    ],
)
def test_uniques_by_hand(runs, by, column, expected):
    found = depth_pool(runs, depth=2).uniques(by=by)
    assert list(found.columns) == ["qid", "docno", "rank", column]
    assert dict(zip(found["qid"] + found["docno"], found[column], strict=True)) == expected


def test_without_by_hand(runs):
    pool = depth_pool(runs, depth=2)
    assert contributions_of(pool.without("one")) == {("1", "b"): {"C": 2}, ("1", "c"): {"C": 1}}
    assert pool.without("one").topics == ["1", "2"]
    assert pool.without("one").run_table["name"].tolist() == ["C"]
    assert contributions_of(pool.without(run=["A", "C"])) == {
        ("1", "b"): {"B": 1},
        ("1", "d"): {"B": 2},
        ("2", "y"): {"B": 1},
    }
    assert contributions_of(pool.without(type="automatic")) == contributions_of(pool.without(run=["A", "C"]))
    assert contributions_of(pool.without(team="two", run="B")) == {
        ("1", "a"): {"A": 1},
        ("1", "b"): {"A": 2},
        ("2", "x"): {"A": 1},
        ("2", "y"): {"A": 2},
    }
    assert len(pool.without(["one", "two"])) == 0
    assert contributions_of(pool.without()) == contributions_of(pool)


def test_what_was_left_out_is_on_record(runs):
    pool = depth_pool(runs, depth=2)
    chained = pool.without(run=iter(["A"])).without(run="B")
    assert chained.settings["without_run"] == "A+B"
    assert contributions_of(chained) == contributions_of(pool.without(run=["A", "B"]))
    assert (
        pool.without(type="manual", team="two").settings.items()
        >= {
            "without_type": "manual",
            "without_team": "two",
        }.items()
    )
    assert "without_team" not in pool.without(team=[]).settings
    assert pool.settings == {"strategy": "depth", "depth": 2, "contributors": "pooled", "order": "trec_eval"}


def test_an_empty_pool_still_answers(runs):
    empty = depth_pool(runs, depth=2).without(["one", "two"])
    assert list(empty.to_frame().columns) == ["qid", "docno", "rank", "runs", "teams", "types"]
    assert list(empty.contributions().columns) == ["qid", "docno", "name", "team", "type", "rank"]
    assert len(empty.uniques()) == len(empty.to_qrels()) == len(empty.remainder(empty.to_qrels())) == 0
    assert empty.to_qrels().topics == ["1", "2"]
    assert repr(empty).startswith("Pool: 0 documents, 2 topics, 0 runs (")


def test_the_pool_says_who_made_it(runs):
    pool = depth_pool(runs, depth=3, contributors="all")
    assert repr(pool) == (
        "Pool: 8 documents, 2 topics, 4 runs (strategy=depth, depth=3, contributors=all, order=trec_eval)"
    )
    named = depth_pool(runs, depth=3, contributors=("D", "C", "C"))
    assert named.settings["contributors"] == "named"
    assert named.run_table[["name", "team", "type", "pooled"]].to_numpy().tolist() == [
        ["C", "two", "automatic", True],
        ["D", "three", "manual", False],
    ]


def test_html_is_escaped():
    frames = {"<b>": frame_of(t1="<script>"), "B": frame_of(t1="b")}
    page = depth_pool(RunSet.from_frames(frames), depth=1).without(run="<b>")._repr_html_()
    assert "&lt;b&gt;" in page
    whole = depth_pool(RunSet.from_frames(frames), depth=1)._repr_html_()
    assert "&lt;script&gt;" in whole
    assert "<script>" not in whole


# against the brute force


@settings(deadline=None, max_examples=60)
@given(team_fields(), DEPTHS, CONTRIBUTORS, ORDERS)
def test_contributions_equal_the_brute_force(field, depth, contributors, order):
    pool = depth_pool(field.as_runs(order), depth=depth, contributors=contributors)
    names = field.contributors(contributors)
    expected = reference_lou.depth_pool(field.runs, depth, names, order)
    assert contributions_of(pool) == expected
    assert sorted(pool.run_table["name"]) == sorted(names)
    by_run = {row["name"]: (row["team"], row["type"]) for row in records(pool.contributions())}
    assert all(found == (field.team[name], field.type[name]) for name, found in by_run.items())
    assert {(row["qid"], row["docno"]): row for row in records(pool.to_frame())} == {
        (topic, docno): {
            "qid": topic,
            "docno": docno,
            "rank": min(found.values()),
            "runs": len(found),
            "teams": len({field.team[name] for name in found}),
            "types": len({field.type[name] for name in found}),
        }
        for (topic, docno), found in expected.items()
    }
    for by, column in (("team", "team"), ("run", "name"), ("type", "type")):
        uniques = pool.uniques(by=by)
        found = {(row["qid"], row["docno"]): row[column] for row in records(uniques)}
        assert found == reference_lou.sole_units(expected, field.units(by))
        assert all(row["rank"] == min(expected[row["qid"], row["docno"]].values()) for row in records(uniques))


@settings(deadline=None, max_examples=60)
@given(team_fields(), DEPTHS, st.sampled_from(["team", "run", "type"]))
def test_without_equals_a_pool_of_the_others(field, depth, by):
    pool, unit_of = depth_pool(field.as_runs(), depth=depth), field.units(by)
    for unit in {unit_of[name] for name in field.pooled}:
        others = [name for name in field.pooled if unit_of[name] != unit]
        left = pool.without(**{by: unit})
        assert contributions_of(left) == reference_lou.depth_pool(field.runs, depth, others, "trec_eval")
        assert pairs_of(left.to_frame()) | pairs_of(pool.uniques(by)[lambda f, u=unit: f.iloc[:, 3] == u]) == set(
            contributions_of(pool)
        )
        if others:
            again = depth_pool(field.as_runs(), depth=depth, contributors=others)
            assert records(left.to_frame().sort_values(["qid", "docno"])) == records(
                again.to_frame().sort_values(["qid", "docno"])
            )


@settings(deadline=None, max_examples=40)
@given(team_fields(), ORDERS)
def test_a_pool_grows_with_its_depth(field, order):
    runs, before = field.as_runs(order), set()
    for depth in range(1, 16):
        pool = contributions_of(depth_pool(runs, depth=depth, contributors="all"))
        assert before <= set(pool)
        before = set(pool)
    # beyond the longest list nothing is left to find
    assert pool == contributions_of(depth_pool(runs, depth=10**6, contributors="all"))
    assert before == {(topic, docno) for run in field.runs.values() for topic in run for docno in run[topic]}


@settings(deadline=None, max_examples=30)
@given(team_fields(), DEPTHS)
def test_a_larger_field_of_contributors_makes_a_larger_pool(field, depth):
    runs = field.as_runs()
    some = contributions_of(depth_pool(runs, depth=depth))
    every = contributions_of(depth_pool(runs, depth=depth, contributors="all"))
    assert set(some) <= set(every)
    assert all(found.items() <= every[pair].items() for pair, found in some.items())
    alone = [contributions_of(depth_pool(runs, depth=depth, contributors=[name])) for name in field.runs]
    assert set().union(*alone) == set(every)


# errors


@pytest.mark.parametrize("depth", [0, -1, 2.5, "10", True, None, float("nan")])
def test_depth_must_be_a_whole_number(runs, depth):
    with pytest.raises(InputError) as caught:
        depth_pool(runs, depth=depth)
    assert str(caught.value) == (
        f"depth_pool: depth must be a whole number of documents per run and topic, at least 1, got {depth!r}."
    )


def test_depth_may_be_a_numpy_number(runs):
    assert depth_pool(runs, depth=np.int64(2)).settings["depth"] == 2


@pytest.mark.parametrize(
    ("contributors", "message"),
    [
        ("A", "depth_pool: contributors is the name of a run; give run names as a list: ['A']."),
        ("Pooled", "depth_pool: contributors must be one of 'pooled', 'all', got 'Pooled'. Did you mean 'pooled'?"),
        (["A", "BB"], "depth_pool: contributors: 'BB' not among the 4 runs. Did you mean 'B'?"),
        (["bm25"], "depth_pool: contributors: 'bm25' not among the 4 runs. There is 'A', 'B', 'C' and 1 more."),
        ([], "depth_pool: contributors names no run."),
        (None, "depth_pool: contributors must be 'pooled', 'all' or run names, got NoneType."),
        (3, "depth_pool: contributors must be 'pooled', 'all' or run names, got int."),
    ],
)
def test_unknown_contributors(runs, contributors, message):
    with pytest.raises(InputError) as caught:
        depth_pool(runs, contributors=contributors)
    assert str(caught.value) == message


def test_nobody_pooled(runs):
    with pytest.raises(InputError) as caught:
        depth_pool(runs.with_metadata(pooled=False))
    assert str(caught.value) == (
        "depth_pool: no run is marked as pooled. Pass contributors='all', or mark runs with pooled=."
    )
    assert len(depth_pool(runs.with_metadata(pooled=False), contributors="all")) == 8


def test_not_a_field(runs):
    with pytest.raises(
        InputError, match=r"^depth_pool: runs must be a RunSet \(.* get_runs\(\) makes one\), got dict\.$"
    ):
        depth_pool({"A": runs["A"]})


def test_by_team_without_teams():
    pool = depth_pool(RunSet.from_frames({"A": frame_of(t1="a"), "B": frame_of(t1="b")}), depth=1)
    with pytest.raises(InputError) as caught:
        pool.uniques()
    assert str(caught.value) == (
        "Pool: by='team' needs the team of every contributing run; 2 runs without: 'A', 'B'. "
        "Give teams= when reading the runs, or use by='run'."
    )
    assert len(pool.uniques(by="run")) == 2
    assert pool.to_frame()["teams"].tolist() == [0, 0]
    assert pool.contributions()["team"].isna().all()


def test_an_unknown_unit(runs):
    pool = depth_pool(runs, depth=1)
    with pytest.raises(
        InputError, match=r"^Pool: by must be one of 'run', 'team', 'type', got 'Team'\. Did you mean 'team'"
    ):
        pool.uniques(by="Team")
    # three is a team of the field, but none of its runs contributed
    with pytest.raises(InputError, match=r"^Pool\.without: team must be one of 'one', 'two', got 'three'"):
        pool.without("three")
    with pytest.raises(InputError, match=r"^Pool\.without: run must be one of 'A', 'B', 'C', got 'D'"):
        pool.without(run=["A", "D"])


def test_pools_are_made_by_functions():
    assert "made by :func:`depth_pool`" in (Pool.__doc__ or "")
