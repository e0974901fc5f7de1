"""What the page of old judgments and new runs shows is what its script makes, and what others have found."""

from __future__ import annotations

from pathlib import Path

import pytest

import pt_reuse as ptr

ROOT = Path(__file__).parents[2]
STORED = ROOT / "docs" / "papers" / "stored"


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
