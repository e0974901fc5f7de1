"""coverage against what a slow count finds, and on odd input."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from coverage_parts import (
    DEPTHS,
    POOL_DEPTH,
    TOPICS,
    by_hand,
    judged_of,
    labels_of,
    left_out,
    lists_of,
    ragged_field,
    share,
)
from ir_measures import AP, nDCG
from matplotlib.figure import Figure

import pt_reuse as ptr

#: judgments drawn at random are nobody's pool
pytestmark = pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")
RUNS, QRELS = ragged_field()
LABELS = labels_of(QRELS)
JUDGED = judged_of(LABELS)


@pytest.fixture(scope="module")
def found():
    return ptr.profile.coverage(RUNS, QRELS, [nDCG @ 10, AP], depths=DEPTHS, depth=POOL_DEPTH)


def test_shares_of_runs_are_those_of_a_count_by_hand(found):
    expected = by_hand(RUNS, JUDGED)
    assert len(found.table) == len(RUNS) * len(DEPTHS)
    for row in found.table.itertuples():
        mine = expected[row.name]
        assert row.unjudged == pytest.approx(mine["unjudged"][row.depth], abs=1e-12)
        assert row.judged == 1 - row.unjudged
        assert row.unjudged_of_k == pytest.approx(mine["of_k"][row.depth], abs=1e-12)
        assert row.documents == mine["documents"][row.depth]
    # some lists are short, some topics are lacking: the two conventions differ
    assert (found.table["unjudged"] != found.table["unjudged_of_k"]).any()
    assert found.by_run["topics"].tolist() == [len(lists) for lists in lists_of(RUNS).values()]
    assert found.by_run["topics"].min() < len(TOPICS)


def test_without_the_own_team(found):
    """Judge again without what a team alone brought, by hand, and count its runs under that."""
    without = left_out(RUNS, JUDGED)
    lists = lists_of(RUNS)
    for row in found.table.itertuples():
        known = without[row.team]
        expected = np.mean([share(lists[row.name].get(qid, []), known[qid], row.depth) for qid in JUDGED])
        assert row.unjudged_without_own == pytest.approx(expected, abs=1e-12)
    for row in found.by_run.itertuples():
        contributors = found.by_run[found.by_run["contributed"]]
        below = (contributors["unjudged_without_own"] < row.unjudged - 1e-12).mean()
        assert row.above_contributors == pytest.approx(below)
    assert (found.table["unjudged_without_own"] > found.table["unjudged"]).any()
    assert (found.left_out, found.at) == ("team", 10)


def test_flags_and_their_reasons():
    """Without the pool's own documents the last run loses; nobody else has anything unjudged."""
    field = ptr.demo.simulate_field(seed=7)
    found = ptr.profile.coverage(field.runs, field.qrels, "nDCG@10", depths=[10], depth=field.depth)
    by_run = found.by_run.set_index("name")
    contributors = by_run[by_run["contributed"]]
    expected = set()
    for name, row in by_run.iterrows():
        if row["unjudged"] == 0:
            continue
        rise = found.condensed.set_index("name").loc[name, "rise"]
        reasons = {
            "rises on condensed lists": rise > 0,
            "residual above every contributor's": row["residual"] > contributors["residual"].max(),
            "less covered than any contributor": row["unjudged"] > contributors["unjudged_without_own"].max(),
        }
        expected |= {(name, reason) for reason, holds in reasons.items() if holds}
    assert set(zip(found.flags["name"], found.flags["reason"], strict=True)) == expected
    assert {name for name, _ in expected} == {"neu8a", "neu8b"}
    assert by_run["flags"].to_dict() == {n: sum(of == n for of, _ in expected) for n in by_run.index}
    assert (found.flags["value"] > found.flags["limit"]).all()


def cover(runs=RUNS, qrels=QRELS, **options):
    return ptr.profile.coverage(runs, qrels, **{"depths": DEPTHS, "depth": POOL_DEPTH, **options})


def test_one_run_and_one_topic():
    run = pd.DataFrame({"qid": "1", "docno": ["a", "b", "c"], "score": [3.0, 2.0, 1.0]})
    found = cover({"mine": run}, {"1": {"a": 1, "c": 0}}, depths=3)
    row = found.by_run.iloc[0]
    assert (row["unjudged"], row["judged_to"], row["rank"], row["worst_rank"]) == (pytest.approx(1 / 3), 1, 1, 1)
    assert row["residual"] == pytest.approx(0.2 * 0.8 + 0.8**3)
    assert pd.isna(row["contributed"])
    assert np.isnan(row["unjudged_without_own"])
    assert found.settings["left out"] == "nobody: who was pooled is not on record for 1 run"
    assert found.summary()[["which", "mean_unjudged", "most"]].values.tolist() == [
        ["runs not on record", 1 / 3, "mine"]
    ]
    assert len(found.groups) == 0
    for kind in ("runs", "depths", "residual", "rise"):
        found.plot(kind, ax=Figure().subplots())
