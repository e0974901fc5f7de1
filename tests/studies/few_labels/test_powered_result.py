"""What prediction-powered scores say, print, draw and save."""

from __future__ import annotations

import few_label_parts as parts
import numpy as np
import pytest

import pt_reuse as ptr


def of(frame, judge="one", measure="nDCG@10"):
    return frame[(frame["judge"] == judge) & (frame["measure"] == measure)].reset_index(drop=True)


def test_the_summary_counts_what_the_tables_hold():
    found = parts.by_topics()
    for row in found.summary.to_dict("records"):
        table, pairs, ranks = (
            of(frame, row["judge"], row["measure"]) for frame in (found.table, found.pairs, found.ranks)
        )
        assert row["reach"] == pytest.approx(np.median(table["estimate_high"] - table["estimate"]))
        assert row["human_reach"] == pytest.approx(np.median(table["human_high"] - table["human"]))
        assert row["n_eff"] == pytest.approx(table["n_eff"].median())
        assert (row["significant"], row["pairs"]) == (pairs["significant"].sum(), 45)
        inside = (table["estimate_low"] <= table["by_judge"]) & (table["by_judge"] <= table["estimate_high"])
        assert row["outside"] == 10 - inside.sum()
        assert row["rank_width"] == pytest.approx((ranks["rank_high"] - ranks["rank_low"]).mean())
    figures = found.key_figures()
    assert figures["figure"][:2].tolist() == ["n_eff, one", "lambda, one"]
    assert figures["value"][0] == found.summary["n_eff"][0]


def test_reports():
    found = parts.by_topics()
    frame = found.report().to_frame()
    assert frame["Measure and judge"].tolist() == ["nDCG@10, one", "P@5, one", "nDCG@10, two", "P@5, two"]
    assert frame["Effective number"].tolist() == found.summary["n_eff"].tolist()
    runs = found.report("run", measure="P@5", judge="two").to_frame()
    table = of(found.table, "two", "P@5").sort_values("estimate", ascending=False)
    assert runs["Estimate"].tolist() == table["estimate"].tolist()
    assert runs["Rank"].tolist() == sorted(runs["Rank"])
    pairs = found.report("pair").to_frame()
    rows = of(found.pairs)
    assert len(pairs) == rows["significant"].sum()
    assert pairs["Difference"].abs().is_monotonic_decreasing
    with pytest.raises(ptr.InputError, match="one of 'judge', 'run', 'pair'"):
        found.report("topic")
    with pytest.raises(ptr.InputError, match="'one', 'two'"):
        found.plot(judge="three")


@pytest.mark.parametrize("width", [3.3, 7])
def test_the_figure_shows_both_intervals_of_each_run_the_highest_estimate_on_top(width):
    found = parts.by_topics()
    ax = found.plot("P@5", judge="two", width=width)
    table = of(found.table, "two", "P@5").sort_values("estimate", ascending=False)
    assert [label.get_text() for label in ax.get_yticklabels()] == table["name"].tolist()
    powered, alone, judge = ax.collections[1], ax.collections[3], ax.collections[4]
    for points, column in ((powered, "estimate"), (alone, "human"), (judge, "by_judge")):
        assert points.get_offsets()[:, 0].tolist() == pytest.approx(table[column].tolist())
    for lines, column in ((ax.collections[0], "estimate"), (ax.collections[2], "human")):
        ends = [segment[:, 0].tolist() for segment in lines.get_segments()]
        assert ends == [pytest.approx(pair) for pair in table[[f"{column}_low", f"{column}_high"]].to_numpy().tolist()]
    # the two do not lie on each other
    heights = [set(points.get_offsets()[:, 1].tolist()) for points in (powered, alone, judge)]
    assert not heights[0] & heights[1]
    assert "95 % intervals" in ax.get_xlabel()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["people and two", "people alone", "two alone"]
