"""The shipped figures of Deep Learning 2019 and 2021, passages, on the runs and judgments themselves."""

from __future__ import annotations

import pytest

from pt_reuse.verification.verification import verify

#: year -> folder of the data, figures, those known to be unequal, runs
YEARS = {2019: ("dl19-passages", 184, 0, 37), 2021: ("dl21-passages", 312, 1, 63)}


@pytest.fixture(scope="module", params=YEARS)
def found(request, data):
    """Return the year and what came out."""
    folder = data / YEARS[request.param][0]
    if not folder.is_dir():
        pytest.skip(f"the test data has no folder {folder.name}")
    name = f"trec-{request.param}/deep/passages"
    return request.param, verify(name, runs=folder / "inputs", qrels=folder / "qrels.gz")


def test_every_figure_is_equal_or_explained(found):
    year, verification = found
    _, figures, known, _ = YEARS[year]
    assert verification.holds
    assert len(verification.table) == figures
    unequal = verification.table[verification.table["equal"].map(lambda equal: equal is not True)]
    assert unequal["known"].tolist() == [True] * known
    if known:
        assert unequal[["name", "published"]].values.tolist() == [["smallest tau_b", 0.937]]
        assert unequal["computed"].tolist() == pytest.approx([0.93641], abs=1e-5)


def test_official_scores_are_those_of_float32_scores_from_label_2(found):
    year, verification = found
    runs = YEARS[year][3]
    ways = verification.conventions
    ways = ways[ways["what"].str.endswith("of the runs")]
    by_order = {order: rows["equal"].tolist() for order, rows in ways.groupby(ways["convention"].str.split(",").str[0])}
    assert by_order["order=trec_eval9"] == [runs] * 4
    # scored by score, not in the order of the lines, in which the pools were made
    assert sum(by_order["order=file"]) < sum(by_order["order=trec_eval"]) <= 4 * runs
    assert (by_order["order=trec_eval"] == [runs] * 4) == (year == 2019)
    used = verification.summary.set_index("what")["convention"]
    assert used["P@10 of the runs"] == "order=trec_eval9, measure=P(rel=2)@10"


def test_every_figure_of_uniques_says_from_which_label_it_counts(found):
    summary = found[1].summary.set_index("what")["convention"]
    uniques = summary[summary.index.str.startswith(("unique", "without"))]
    assert len(uniques) >= 6
    assert uniques.str.contains("rel=[12]$").all()
    assert uniques.str.contains("pool_order=file").all()
    assert uniques.str.contains("depth=10").all()
