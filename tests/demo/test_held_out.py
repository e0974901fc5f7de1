"""What a lexical pool misses: the numbers that were published."""

from __future__ import annotations

import pandas as pd
import pyterrier as pt
import pytest

import pt_reuse as ptr
from pt_reuse.demo.walk import compare_held_out

#: (team left out, length of query, team) -> unjudged documents of the top tens, all of the top tens, relevant ones
#: of the unjudged, and their share of the unjudged with its interval, in per cent
PUBLISHED = {
    ("furrow", "described", "furrow"): (259, 800, 64, 24.7, 17.6, 32.5),
    ("furrow", "described", "lumen"): (180, 400, 117, 65.0, 57.4, 72.9),
    ("quarry", "short", "quarry"): (106, 1548, 1, 0.9, 0.0, 3.3),
    ("quarry", "short", "lumen"): (118, 400, 53, 44.9, 32.2, 58.2),
    ("quarry", "short", "mosaic"): (179, 800, 33, 18.4, 11.7, 26.4),
    ("ridge", "short", "ridge"): (81, 1580, 0, 0.0, 0.0, 3.6),  # one-sided: 1 - .05 ** (1 / 81)
    ("ridge", "short", "lumen"): (115, 400, 52, 45.2, 32.5, 58.3),
    ("ridge", "short", "mosaic"): (156, 800, 33, 21.2, 13.3, 30.4),
    ("ridge", "described", "ridge"): (50, 400, 7, 14.0, 5.3, 24.5),
    ("ridge", "described", "lumen"): (117, 400, 60, 51.3, 40.8, 62.1),
}


@pytest.fixture(scope="module")
def demo():
    return pt.get_dataset("reuse:demo")


@pytest.fixture(scope="module")
def runs(demo):
    return demo.get_runs()


@pytest.fixture(scope="module")
def held_out(demo, runs):
    return compare_held_out(runs, demo.get_judgments("complete"))


def test_documents_without_a_label_are_no_zeros(demo, runs, messages):
    messages.refused(lambda: compare_held_out(runs, demo.get_judgments("pool")), argument="complete")


def test_teams_without_an_unjudged_document_have_no_share(demo, runs):
    names = {"one": "ridge-bm25", "other": "ridge-bm25", "dense": "lumen-minilm"}
    twins = ptr.RunSet.from_frames({name: runs[of].drop(columns="name") for name, of in names.items()})
    known = pd.DataFrame({"name": list(names), "team": list(names), "type": ["lexical", "lexical", "dense"]})
    twins = twins.with_metadata(metadata=known.assign(pooled=[True, True, False], queries="short"))
    found = compare_held_out(twins, demo.get_judgments("complete"), resamples=20)
    table = found.table.set_index(["left_out", "team"])
    assert table["unjudged"].tolist() == [0, table.loc[("one", "dense"), "unjudged"]] * 2
    assert table.loc[[("one", "one"), ("other", "other")], ["share", "low", "high"]].isna().all(axis=None)
    assert table.loc[("one", "dense"), ["low", "share", "high"]].is_monotonic_increasing
    assert found.leads[["more", "more_low", "more_high"]].isna().all(axis=None)
    assert found.leads[["change_low", "change", "change_high"]].notna().all(axis=None)


def test_the_numbers_are_those_that_were_published(held_out):
    table = held_out.table.set_index(["left_out", "queries", "team"])
    for key, (unjudged, top, relevant, *percent) in PUBLISHED.items():
        row = table.loc[key]
        assert (row["unjudged"], row["top"], row["relevant"]) == (unjudged, top, relevant)
        assert [round(100 * row[name], 1) for name in ("share", "low", "high")] == percent
    assert len(table) == len(PUBLISHED)
    leads = held_out.leads.set_index(["left_out", "queries", "team"])
    for key, lead, pool_lead, low, high in (
        (("ridge", "short", "lumen"), 0.315, 0.243, 32.5, 58.3),
        (("quarry", "short", "lumen"), 0.314, 0.238, 31.3, 57.1),
        (("quarry", "short", "mosaic"), 0.168, 0.162, 10.2, 25.7),
        (("furrow", "described", "lumen"), 0.266, 0.069, 30.2, 50.6),
    ):
        row = leads.loc[key]
        assert (round(row["lead"], 3), round(row["pool_lead"], 3)) == (lead, pool_lead)
        assert (round(100 * row["more_low"], 1), round(100 * row["more_high"], 1)) == (low, high)
    assert leads["more_low"].idxmin() == ("quarry", "short", "mosaic")
