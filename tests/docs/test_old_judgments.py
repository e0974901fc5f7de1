"""What the page of old judgments and new runs shows is what its script makes, and what others have found."""

from __future__ import annotations

import runpy
from pathlib import Path

import pandas as pd
import pytest

import pt_reuse as ptr

ROOT = Path(__file__).parents[2]
STORED = ROOT / "docs" / "papers" / "stored"
SCRIPT = runpy.run_path(str(ROOT / "scripts" / "papers" / "old_judgments.py"))


def test_trec8_without_manual_runs_is_as_in_the_reference():
    found = ptr.read_result(STORED / "old-judgments-manual")
    table = found.table.set_index("measure")
    assert (len(found.changes), found.changes["name"].nunique()) == (258, 129)
    assert round(table.loc["AP", "tau_b"], 4) == 0.9806
    assert (round(table.loc["P@10", "gamma"], 4), round(table.loc["P@10", "tau_b"], 4)) == (0.9961, 0.9960)
    new = found.by_topic[found.by_topic["new_by"] == "official"]
    assert new["new_relevant"].sum() == 1130
    assert (new["judged"].sum() + new["new"].sum(), new["relevant"].sum() + 1130) == (86830, 4728)


@pytest.mark.parametrize(("model", "tau"), [("umbrela-gpt-4", 0.823), ("binary-llama-3.2", 0.749)])
def test_later_runs_are_as_in_the_reference(model, tau):
    found = ptr.read_result(STORED / f"old-judgments-{model}")
    assert round(found.table.loc[0, "tau_b"], 3) == tau
    later = found.selected[found.selected["why"].str.contains("selected")]
    assert (len(later), round(later["unjudged_rate"].mean(), 3)) == (24, 0.051)


def test_new_judgments_of_ones_own():
    """The paper's own step, on a field in which a team was not pooled and its documents are judged afterwards."""
    field = ptr.demo.simulate_field(seed=7, n_topics=6, n_docs=80, n_teams=5, length=15, depth=5)
    official, newer = field.runs.select(pooled=True), field.runs.select(pooled=False)
    judged = ptr.depth_pool(newer, depth=5, contributors="all").remainder(field.qrels).judge(field.all_qrels)
    judged = ptr.Qrels(judged.to_frame()[["qid", "docno", "label"]])
    found = SCRIPT["expanded"](official, field.qrels, judged, newer)
    assert set(found.selected.loc[found.selected["why"].str.contains("selected"), "name"]) == set(newer.names)
    assert found.by_topic.loc[found.by_topic["new_by"] == "with new", "new"].sum() == len(judged)
    by_hand = ptr.Qrels(pd.concat([field.qrels.to_frame(), judged.to_frame()])[["qid", "docno", "label"]])
    both = [ptr.score(official | newer, qrels, "AP") for qrels in (field.qrels, by_hand)]
    assert found.table.loc[0, "tau_b"] == both[0].compare(both[1]).table.loc[0, "tau_b"]
    assert found.by_run.loc[found.by_run["unjudged"] > 0, "name"].isin(newer.names).any()
