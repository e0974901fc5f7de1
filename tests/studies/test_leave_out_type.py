"""Types left out: what is lost, and who recovers it, against sets."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from reference_lou import pairs_of

import pt_reuse as ptr
from pt_reuse.studies.by_type import leave_out_type

pytestmark = pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")


@pytest.fixture(scope="module")
def field():
    return ptr.demo.simulate_field(seed=4, n_topics=8, n_docs=300, n_teams=6, length=30, depth=5)


@pytest.mark.parametrize("rel", [None, 2])
def test_what_is_lost_and_recovered_equals_that_of_sets(field, rel):
    measures = ["AP(rel=2)", "nDCG@10"]
    found = leave_out_type(field.runs, field.qrels, measures, depth=5, rel=rel)
    frame, table = field.runs.to_frame(), field.runs.run_table.set_index("name")
    frame["type"], frame["pooled"] = (frame["name"].map(table[column]) for column in ("type", "pooled"))
    judged = field.qrels.to_frame()
    relevant = pairs_of(judged[judged["label"] >= (rel or 1)])
    pool = frame[frame["pooled"].astype(bool) & (frame["rank"] < 5)]
    seen = 0
    for kind in found.table["type"].unique():
        lost = (pairs_of(pool[pool["type"] == kind]) - pairs_of(pool[pool["type"] != kind])) & relevant
        documents = found.documents[found.documents["left_out"] == kind]
        assert pairs_of(documents) == lost
        others = frame[frame["type"] != kind]
        mine = others[[pair in lost for pair in zip(others["qid"], others["docno"], strict=True)]]
        rows = found.table[found.table["type"] == kind]
        assert set(rows["lost"]) == {len(lost)}
        assert set(rows["recovered"]) == {len(pairs_of(mine))}
        recovery = found.recovery[found.recovery["left_out"] == kind].set_index("name")
        assert set(recovery.index) == set(table.index[table["type"] != kind])
        assert recovery["recovered"].is_monotonic_decreasing
        for name in recovery.index:
            ranks = mine.loc[mine["name"] == name, "rank"] + 1
            assert recovery.loc[name, "recovered"] == len(ranks)
            if len(ranks):
                assert recovery.loc[name, "share"] == len(ranks) / len(lost)
                assert recovery.loc[name, "median_rank"] == ranks.median()
                assert recovery.loc[name, "deepest_rank"] == ranks.max()
            else:
                assert np.isnan(recovery.loc[name, "median_rank"])
                assert recovery.loc[name, "deepest_rank"] is pd.NA
        for row in documents.to_dict("records"):
            of = mine[(mine["qid"] == row["qid"]) & (mine["docno"] == row["docno"])]
            assert row["runs"] == len(of)
            if len(of):
                seen += 1
                assert row["best_rank"] == of["rank"].min() + 1
            else:
                assert pd.isna(row["best_rank"])
    assert seen > 3


def test_odd_arguments(field, messages):
    messages.refused(lambda: leave_out_type(field.runs, field.qrels, "AP", types="dense"), argument="types")
    frames = {name: field.runs[name] for name in field.runs.names}
    messages.refused(lambda: leave_out_type(frames, field.qrels, "AP"), argument="runs")
