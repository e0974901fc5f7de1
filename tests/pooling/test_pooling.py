from __future__ import annotations

import dataclasses

import pandas as pd
import pytest
import reference_lou
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_lou import contributions_of, pairs_of, pooled_runs, records, team_fields

from pt_reuse.data.run_set import RunSet
from pt_reuse.pooling.depth import depth_pool
from pt_reuse.pooling.fit import PoolFit
from pt_reuse.pooling.pool import Rule

ORDERS = st.sampled_from(["trec_eval", "trec_eval9", "file"])
DEPTHS = st.sampled_from([1, 2, 3, 8, 100])
CONTRIBUTORS = st.sampled_from(["pooled", "all", ["run0"]])


@pytest.fixture
def runs():
    return pooled_runs()


# against the brute force


@settings(deadline=None, max_examples=12)
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


# who counts where it is not on record


def test_runs_of_which_nobody_recorded_it_count_and_the_pool_says_so(runs):
    unknown = runs.with_metadata(metadata=pd.DataFrame({"name": runs.names, "pooled": None}))
    assert unknown.pool_is_on_record  # an empty cell says nothing, and so nothing changes
    bare = RunSet.from_frames({name: runs[name] for name in runs})
    pool = depth_pool(bare, depth=2)
    assert contributions_of(pool) == contributions_of(depth_pool(runs, depth=2, contributors="all"))
    assert pool.contributors.assumed == ("A", "B", "C", "D")
    assert pool.settings["pooled"] == "who was pooled is not on record: all count"
    assert str(pool.contributors) == "pooled (4 of 4 runs; who was pooled is not on record: all count)"

    some = bare.with_metadata(pooled={"A": True, "B": False, "C": None, "D": None})
    pool = depth_pool(some, depth=2)
    assert pool.run_table["name"].tolist() == ["A", "C", "D"]
    assert pool.contributors.rule is Rule.POOLED
    assert pool.contributors.assumed == ("C", "D")
    for known in (depth_pool(bare, contributors="all"), depth_pool(bare, contributors=["A"]), depth_pool(runs)):
        assert known.contributors.assumed == ()
        assert "pooled" not in known.settings


# how far a pool and the judgments are the same documents, and when that is told

FIT = PoolFit(depth=10, judged=1000, strangers=0, pooled=2000, unjudged=0, contributors=8, assumed=0)


def test_what_is_told_from_which_share_on():
    for changes, told in (
        ({}, 0),
        ({"strangers": 500}, 0),  # half and no more
        ({"strangers": 501}, 1),
        ({"unjudged": 1000}, 0),
        ({"unjudged": 1001}, 1),
        ({"unjudged": 100, "assumed": 8}, 0),
        ({"unjudged": 101, "assumed": 2}, 1),
        ({"strangers": 900, "unjudged": 1900, "assumed": 8}, 2),
        ({"judged": 0, "pooled": 0, "assumed": 8}, 0),
    ):
        assert len(list(dataclasses.replace(FIT, **changes).caveats())) == told, changes


@settings(deadline=None, max_examples=12)
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
