"""coverage against what a slow count finds, and on odd input."""

from __future__ import annotations

import gzip
from collections import defaultdict

import numpy as np
import pandas as pd
import pytest
from coverage_parts import (
    DEPTHS,
    POOL_DEPTH,
    TOPICS,
    by_hand,
    condensed_ndcg,
    judged_of,
    labels_of,
    left_out,
    lists_of,
    ragged_field,
    share,
)
from ir_measures import AP, RBP, nDCG
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
    expected = by_hand(RUNS, LABELS, JUDGED)
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


def test_how_deep_runs_are_judged_and_their_residuals(found):
    expected = by_hand(RUNS, LABELS, JUDGED)
    for row in found.by_run.itertuples():
        mine = expected[row.name]
        assert (row.judged_to, row.median_judged_to) == (mine["judged_to"], mine["median_judged_to"])
        assert row.residual == pytest.approx(mine["residual"], abs=1e-12)
        assert pytest.approx(mine["RBP"], abs=1e-12) == row.RBP
        assert row.RBP + row.residual <= 1 + 1e-12
        others = [of["RBP"] for name, of in expected.items() if name != row.name]
        assert row.rank == 1 + sum(other > mine["RBP"] + 1e-13 for other in others)
        assert row.best_rank <= row.rank <= row.worst_rank


def test_condensed_scores_and_ranks(found):
    lists = lists_of(RUNS)
    scores = {
        name: np.mean([condensed_ndcg(of.get(qid, []), LABELS[qid]) for qid in LABELS]) for name, of in lists.items()
    }
    rows = found.condensed[found.condensed["measure"] == "nDCG@10"].set_index("name")
    plain = ptr.score(RUNS, QRELS, [nDCG @ 10]).ranks.set_index("name")["nDCG@10"]
    for name, value in scores.items():
        assert rows.loc[name, "condensed_score"] == pytest.approx(value, abs=1e-12)
        assert rows.loc[name, "condensed_rank"] == 1 + sum(other > value + 1e-12 for other in scores.values())
        assert rows.loc[name, "rank"] == plain[name]
        assert rows.loc[name, "rise"] == rows.loc[name, "rank"] - rows.loc[name, "condensed_rank"]
    assert found.measures == ["nDCG@10", "AP"]
    assert rows["rise"].abs().max() > 0


@pytest.mark.parametrize(("measure", "cutoff"), [(RBP(rel=2, p=0.5), None), (RBP(rel=2, p=0.5) @ 3, 3)])
def test_condensed_rbp(measure, cutoff):
    rows = ptr.profile.coverage(RUNS, QRELS, measure, depths=DEPTHS, depth=POOL_DEPTH).condensed.set_index("name")
    found = rows["condensed_score"]
    for name, of in lists_of(RUNS).items():
        kept = {qid: [doc for doc in of.get(qid, []) if LABELS[qid].get(doc, -1) >= 0] for qid in LABELS}
        by_hand = [
            sum(0.5 * 0.5**i for i, doc in enumerate(docs[:cutoff]) if LABELS[qid][doc] >= 2)
            for qid, docs in kept.items()
        ]
        assert found[name] == pytest.approx(np.mean(by_hand), abs=1e-12)
    assert rows["score"].tolist() == ptr.score(RUNS, QRELS, measure).mean[repr(measure)].tolist()
    assert (found != rows["score"]).any()


def test_groups_and_topics_are_means_of_runs(found):
    for row in found.groups.itertuples():
        mine = found.table[(found.table[row.by] == row.group) & (found.table["depth"] == row.depth)]
        assert row.runs == len(mine)
        for column in ("unjudged", "judged", "unjudged_of_k", "unjudged_without_own"):
            assert getattr(row, column) == pytest.approx(mine[column].mean())
        assert row.unjudged_documents == mine["unjudged_documents"].sum()
        assert row.max_unjudged == mine["unjudged"].max()
    assert set(found.groups["by"]) == {"type", "team"}
    lists = lists_of(RUNS)
    for row in found.by_topic.itertuples():
        known = JUDGED[row.qid]
        of = [share(docs.get(row.qid, []), known, row.depth) for docs in lists.values()]
        assert row.unjudged == pytest.approx(np.mean(of))
        assert row.runs == len(RUNS)
    assert found.by_topic.loc[found.by_topic["qid"] == "7", "unjudged"].eq(1).all()


def test_without_the_own_team_as_nist_says_who_contributed(trec8):
    """NIST's list of contributing teams, over all 129 runs, and the lists of some runs, document by document."""
    found = ptr.profile.coverage(trec8.runs, trec8.qrels, ["AP"], depths=[10], contributors="all")
    teams = defaultdict(set)
    with gzip.open(trec8.folder / "annotated-qrels.gz", "rt") as file:
        for line in file:
            qid, _, docno, _, _, *who = line.split()
            teams[qid, docno] = set(who)
    team_of = dict(zip(trec8.runs.run_table["name"], trec8.runs.run_table["team"], strict=True))
    rows = found.by_run.set_index("name")
    for name in ("READWARE", "8manexT3D1N0", "disco1", "surffal2"):
        frame = trec8.runs[name]
        top = frame[frame["rank"] < 10]
        shares = [
            np.mean([teams.get((qid, docno), set()) <= {team_of[name]} for docno in part["docno"]])
            for qid, part in top.groupby("qid")
        ]
        assert rows.loc[name, "unjudged_without_own"] == pytest.approx(np.mean(shares)), name
