from __future__ import annotations

from weakref import ref

import numpy as np
import pandas as pd
import pytest
import reference_lou
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_lou import contributions_of, frame_of, pairs_of, pooled_runs, records, team_fields
from store_parts import in_pieces

import pt_reuse as ptr
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.pooling import depth as depth_pooling
from pt_reuse.pooling.adaptive.oracle import adaptive_pool
from pt_reuse.pooling.contributors import Rule
from pt_reuse.pooling.depth import depth_pool, fusion_pool, take_pool
from pt_reuse.pooling.pool import Pool
from pt_reuse.studies.uniques import leave_out_uniques

# the number that each of them is told
BY_NUMBER = {
    "depth": depth_pool,
    "take": take_pool,
    "fusion": fusion_pool,
    "adaptive": lambda runs, *n, **named: adaptive_pool(runs, dict.fromkeys(runs.topics, JUDGED), "mtf", *n, **named),
}
JUDGED = {docno: 1 for docno in pooled_runs().docnos()}
ORDERS = st.sampled_from(["trec_eval", "trec_eval9", "file"])
DEPTHS = st.sampled_from([1, 2, 3, 8, 100])
CONTRIBUTORS = st.sampled_from(["pooled", "all", ["run0"]])


@pytest.fixture
def runs():
    return pooled_runs()


@pytest.mark.parametrize("make", BY_NUMBER.values(), ids=BY_NUMBER)
@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")  # everything is relevant
def test_the_number_that_makes_a_pool_needs_no_name(make, n, runs, request):
    name = "depth" if "depth" in request.node.callspec.id else "n"
    pd.testing.assert_frame_equal(make(runs, n).to_frame(), make(runs, **{name: n}).to_frame())


# by hand


def a_run():
    return RunSet.from_frames({"a": pd.DataFrame({"qid": "1", "docno": ["d"], "score": [2.0]})}, teams={"a": "A"})


@pytest.mark.parametrize(
    "order",
    ["", "files", [], pd.DataFrame({"a": [1]}), np.arange(2)],
    ids=["empty", "misspelt", "list", "frame", "array"],
)
def test_orders_that_are_none_are_refused_by_the_name_they_were_given_under(order, messages):
    qrels = Qrels(pd.DataFrame({"qid": "1", "docno": ["d"], "label": 1}))
    messages.refused(lambda: depth_pool(a_run(), depth=1, order=order), argument="order")
    messages.refused(lambda: leave_out_uniques(a_run(), qrels, "AP", depth=1, pool_order=order), argument="pool_order")


@pytest.mark.parametrize("depth", [np.arange(3), 10**30, True, 2.0], ids=["array", "huge", "true", "2.0"])
def test_depths_that_are_none_are_refused(depth, messages):
    messages.refused(lambda: depth_pool(a_run(), depth=depth), argument="depth")


def test_contributors_and_teams_that_are_no_names_are_refused(messages):
    pool = depth_pool(a_run(), depth=1)
    messages.refused(lambda: depth_pool(a_run(), depth=1, contributors=[["a"]]), argument="contributors")
    messages.refused(lambda: pool.without(5), argument="team")
    messages.refused(lambda: pool.without(run=2.5), argument="run")


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


# errors


@pytest.mark.parametrize("depth", [0, -1, 2.5, "10", True, float("nan")])
def test_depth_must_be_a_whole_number(runs, depth, messages):
    messages.refused(lambda: depth_pool(runs, depth=depth), argument="depth")


def test_depth_may_be_a_numpy_number(runs):
    assert depth_pool(runs, depth=np.int64(2)).settings["depth"] == 2


@pytest.mark.parametrize("contributors", ["A", "Pooled", ["A", "BB"], ["bm25"], [], None, 3])
def test_unknown_contributors(runs, contributors, messages):
    messages.refused(lambda: depth_pool(runs, contributors=contributors), argument="contributors")


def test_nobody_pooled(runs, messages):
    messages.refused(lambda: depth_pool(runs.with_metadata(pooled=False)), argument="contributors")
    assert len(depth_pool(runs.with_metadata(pooled=False), contributors="all")) == 8


def test_not_a_field(runs, messages):
    messages.refused(lambda: depth_pool({"A": runs["A"]["qid"]}), place="run 'A'")
    messages.refused(lambda: depth_pool(runs["A"]["qid"]), argument="runs")


def test_an_order_that_the_field_does_not_know(runs, messages):
    messages.refused(lambda: depth_pool(runs, order="score"), argument="order")


def test_by_team_without_teams(messages):
    pool = depth_pool(RunSet.from_frames({"A": frame_of(t1="a"), "B": frame_of(t1="b")}), depth=1)
    found = messages.warned(pool.uniques)
    assert found["team"].tolist() == pool.uniques(by="run")["name"].tolist() == ["A", "B"]
    assert pool.to_frame()["teams"].tolist() == [0, 0]
    assert pool.contributions()["team"].isna().all()


def test_an_unknown_unit(runs, messages):
    pool = depth_pool(runs, depth=1)
    messages.refused(lambda: pool.uniques(by="Team"), argument="by")
    # three is a team of the field, but none of its runs contributed
    messages.refused(lambda: pool.without("three"), argument="team")
    messages.refused(lambda: pool.without(run=["A", "D"]), argument="run")


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
    assert pool.run_table["pooled"].tolist() == [True, pd.NA, pd.NA]
    assert pool.contributors.rule is Rule.POOLED
    assert pool.contributors.assumed == ("C", "D")
    assert pool.settings["pooled"] == "not on record for 2 runs, counted all the same"
    assert pool.without(run="C").contributors is pool.contributors

    for known in (depth_pool(bare, contributors="all"), depth_pool(bare, contributors=["A"]), depth_pool(runs)):
        assert known.contributors.assumed == ()
        assert "pooled" not in known.settings
    assert str(depth_pool(runs).contributors) == "pooled (3 of 4 runs)"
    assert str(depth_pool(runs, contributors=["D"]).contributors) == "named (1 of 4 runs)"


# the order of the pool


def test_the_order_of_the_pool_is_its_own():
    near = frame_of(t1="a b").assign(score=[1.00000001, 1.0])
    runs = RunSet.from_frames({"A": near}, pooled=True)
    assert contributions_of(depth_pool(runs, depth=1)) == {("1", "a"): {"A": 1}}
    pool = depth_pool(runs, depth=1, order="trec_eval9")  # a tie as float32
    assert contributions_of(pool) == {("1", "b"): {"A": 1}}
    assert (pool.order, runs.order) == ("trec_eval9", "trec_eval")
    assert repr(pool) == (
        "Pool: 1 document, 1 topic, 1 run (strategy=depth, depth=1, contributors=pooled, order=trec_eval9)"
    )
    assert pool.without().order == pool.remainder(pool.to_qrels()).order == "trec_eval9"


@settings(deadline=None, max_examples=12)
@given(team_fields(), DEPTHS, st.sampled_from(["trec_eval", "trec_eval9"]))
def test_another_order_is_that_of_the_field_in_it(field, depth, order):
    pool = depth_pool(field.as_runs(), depth=depth, order=order)
    assert contributions_of(pool) == reference_lou.depth_pool(field.runs, depth, field.pooled, order)


def test_pools_are_made_by_functions():
    assert "made by :func:`depth_pool`" in (Pool.__doc__ or "")


def test_a_pool_of_runs_on_disk_takes_what_it_needs(tmp_path, monkeypatch):
    runs = ptr.simulate_field(seed=3, n_topics=30, n_docs=400, n_teams=4, length=60, depth=5).runs
    runs.write(tmp_path / "runs")
    in_pieces(monkeypatch, chunk=10_000, rows=1000)
    read = ptr.read_runs(tmp_path / "runs", cache=tmp_path / "cache", memory="64MB")
    n_blocks = len(read.field.parts)
    assert n_blocks > 10
    original, alive, most = depth_pooling.run_topics, [], []

    class Rows(np.ndarray):
        """An array that can be referred to weakly."""

    def watched(*given, **options):
        for piece in original(*given, **options):
            rows = piece["run"].view(Rows)
            alive.append(ref(rows))
            most.append(sum(one() is not None for one in alive))
            yield {**piece, "run": rows}
            del rows

    monkeypatch.setattr(depth_pooling, "run_topics", watched)
    pool = ptr.depth_pool(read, depth=60, contributors="all")
    # pieces are there one at a time, with the one before at most
    assert len(most) == n_blocks
    assert max(most) <= 2
    assert pool.entries.run.dtype == pool.entries.rank.dtype == np.uint8
    assert len(pool.entries) == runs.field.n_rows
    expected = ptr.depth_pool(ptr.read_runs(tmp_path / "runs"), depth=60, contributors="all")
    pd.testing.assert_frame_equal(pool.to_frame(), expected.to_frame())
    pd.testing.assert_frame_equal(
        pool.contributions().sort_values(["qid", "docno", "name"], ignore_index=True),
        expected.contributions().sort_values(["qid", "docno", "name"], ignore_index=True),
    )
    assert pool.contributions()["rank"].dtype == np.int32
