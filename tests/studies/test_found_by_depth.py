"""How many relevant documents pools find by depth, against sets."""

from __future__ import annotations

import pandas as pd
import pytest

import pt_reuse as ptr
from pt_reuse.studies.found_by_depth import found_by_depth


@pytest.fixture(scope="module")
def field():
    return ptr.demo.simulate_field(seed=4, n_topics=4, n_docs=90, n_teams=6, length=15, depth=5)


def tops(field, names, depth):
    frame = field.runs.to_frame()
    rows = frame[frame["name"].isin(names) & (frame["rank"] < depth)]
    return set(zip(rows["qid"], rows["docno"], strict=True))


@pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")
@pytest.mark.parametrize(
    ("by", "contributors", "rel"), [("type", "pooled", None), ("team", "all", 2), ("run", "all", 1)]
)
def test_every_number_equals_that_of_sets(field, by, contributors, rel):
    depths = [1, 3, 5, 9]
    found = found_by_depth(field.runs, field.qrels, by=by, contributors=contributors, rel=rel, depths=depths)
    table = field.runs.run_table
    table = table[table["pooled"].astype(bool)] if contributors == "pooled" else table
    column = "name" if by == "run" else by
    judged = field.qrels.to_frame()
    relevant = judged[judged["label"] >= (rel or 1)]
    judged, relevant = (set(zip(f["qid"], f["docno"], strict=True)) for f in (judged, relevant))
    units = list(dict.fromkeys(table[column]))
    assert found.units == units
    for depth in depths:
        pools = {unit: tops(field, table.loc[table[column] == unit, "name"], depth) for unit in units}
        alone = {u: p - set().union(*(q for v, q in pools.items() if v != u)) for u, p in pools.items()}
        rows = found.table[found.table["depth"] == depth].set_index(column)
        pools["all"], alone["all"] = set().union(*pools.values()), set().union(*alone.values())
        for unit, pool in pools.items():
            own = alone[unit]
            expected = [len(pool), len(pool & judged), len(pool & relevant), len(own & relevant)]
            assert rows.loc[unit, ["documents", "judged", "relevant", "unique"]].tolist() == expected
            assert rows.loc[unit, "judged_share"] == len(pool & judged) / len(pool)


def test_down_to_which_depth_all_is_judged(field):
    assert found_by_depth(field.runs, field.qrels).judged_to == 5
    assert found_by_depth(field.runs, field.qrels, depths=4).judged_to == 4
    assert found_by_depth(field.runs, field.qrels).table["depth"].max() == 15
    table = found_by_depth(field.runs, field.qrels).table
    shares = table[table["type"] == "all"].set_index("depth")["judged_share"]
    assert (shares.loc[:5] == 1).all()
    assert shares.loc[6] < 1
    # a topic that nobody judged says nothing of the depth
    assert found_by_depth(field.runs, field.qrels.select(["1", "2"])).judged_to == 5


def test_topics_that_nobody_judged_count_nowhere(field):
    judged = field.qrels.select(["1", "2"])
    rows = {name: field.runs[name] for name in field.runs.names}
    frames = {name: frame[frame["qid"].isin(judged.topics)] for name, frame in rows.items()}
    alone = ptr.RunSet.from_frames(frames, metadata=field.runs.run_table)
    found = found_by_depth(field.runs, judged, depths=[1, 5, 9])
    pd.testing.assert_frame_equal(found.table, found_by_depth(alone, judged, depths=[1, 5, 9]).table)
    assert (found.table.loc[found.table["depth"] <= 5, "judged_share"] == 1).all()


def test_nothing_is_judged_at_rank_1(field):
    first = field.runs.to_frame().query("rank == 0 and qid == '1'")
    found = found_by_depth(field.runs, field.qrels - first[["qid", "docno"]])
    assert found.judged_to == 0
    assert set(found.deepest()["depth"]) == {15}


def test_nothing_is_relevant(field, messages):
    found = messages.warned(lambda: found_by_depth(field.runs, field.qrels, rel=9))
    assert set(found.table["relevant"]) == {0}


@pytest.mark.filterwarnings("ignore:only one type:pt_reuse.ReuseWarning")
def test_a_field_of_one_type_has_everything_alone(field):
    found = found_by_depth(field.runs.select(type="manual"), field.qrels, depths=[2])
    row = found.table.iloc[0]
    assert row["relevant"] == row["unique"] > 0


@pytest.mark.parametrize(
    ("argument", "options"),
    [
        ("by", {"by": "system"}),
        ("depths", {"depths": [1, 0]}),
        ("depths", {"depths": []}),
        ("depths", {"depths": "deep"}),
        ("pool_order", {"pool_order": "lines"}),
        ("rel", {"rel": "high"}),
    ],
)
def test_odd_arguments(field, messages, argument, options):
    messages.refused(lambda: found_by_depth(field.runs, field.qrels, **options), argument=argument)


def test_labels_that_are_not_there(field, messages):
    frames = {name: field.runs[name] for name in field.runs.names}
    messages.refused(lambda: found_by_depth(frames, field.qrels), argument="by")
    named = field.runs.with_metadata(types={"lex1a": "all"})
    messages.refused(lambda: found_by_depth(named, field.qrels), argument="runs")
    found = found_by_depth(field.runs, field.qrels)
    messages.refused(lambda: found.report(depth=99), argument="depth")
    messages.refused(lambda: found.plot(units=["dense"]), argument="units")
