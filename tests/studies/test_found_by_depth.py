"""How many relevant documents pools find by depth, against sets."""

from __future__ import annotations

import pytest

import pt_reuse as ptr
from pt_reuse.studies.relevant_ranks import found_by_depth


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


def test_odd_arguments(field, messages):
    for depths in ([1, 0], []):
        messages.refused(found_by_depth, runs=field.runs, qrels=field.qrels, depths=depths, argument="depths")
