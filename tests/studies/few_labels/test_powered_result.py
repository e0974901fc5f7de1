"""What prediction-powered scores say, print, draw and save."""

from __future__ import annotations

import few_label_parts as parts
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

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


def test_findings_are_sentences_with_numbers_and_intervals():
    found = parts.by_topics()
    said = found.findings()
    assert len(said) == 16, "four of each judge and measure"
    assert all(text.endswith(".") and any(c.isdigit() for c in text) for text in said)
    row, table = found.summary.iloc[0], of(found.table)
    assert f"known to ±{row['reach']:.4f}" in said[0]
    assert f"the 24 are worth {row['n_eff']:.1f} (median)" in said[0]
    assert said[1].startswith(f"By nDCG@10 with one, {row['significant']} of 45 pairs of runs differ significantly")
    assert said[2].startswith("The highest nDCG@10 with one has ")
    assert said[9].startswith("By nDCG@10 with two, "), "several judges say so, each in its own sentences"
    best = table.loc[table["estimate"].idxmax()]
    assert f"{best['name']}: {best['estimate']:.4f} (95 % interval {best['estimate_low']:.4f} to" in said[2]
    assert "By the labels of one alone 10 runs of 10 would have" in said[3]
    documents = parts.by_documents().findings()
    assert documents[0].startswith("With 401 documents labelled by people and 930 by noisy alone, the P@5 of a run")


@pytest.mark.filterwarnings("ignore:.*labelled nothing in 2 topics:pt_reuse.ReuseWarning")
def test_a_report_of_judges_of_other_topics_says_so():
    every = parts.field().all_qrels
    judges = {"one": every, "two": every.select(every.topics[2:-1])}
    found = ptr.labels.prediction_powered(parts.field().runs, parts.people(), judges, "P@5")
    assert found.summary[["n", "N"]].values.tolist() == [[24, 36], [22, 35]]
    caption = found.report().caption
    assert caption.startswith("Scores by 22 to 24 topics with people's labels and 35 to 36 with the judge's alone: ")


def test_reports():
    found = parts.by_topics()
    frame = found.report().to_frame()
    assert frame["Measure and judge"].tolist() == ["nDCG@10, one", "P@5, one", "nDCG@10, two", "P@5, two"]
    assert frame["Effective topics"].tolist() == found.summary["n_eff"].tolist()
    assert list(found.report().notes[2:]) == [
        f"Lambda: {found.settings['lambda']}.",
        f"Labels of people: relevant from label 1; of judges: {found.settings['judges']}.",
        "Runs: ranked in the order trec_eval.",
    ]
    assert found.settings["ties"] == "means equal to 12 decimals; ranks are 1 + number of better runs"
    runs = found.report("run", measure="P@5", judge="two").to_frame()
    table = of(found.table, "two", "P@5").sort_values("estimate", ascending=False)
    assert runs["Estimate"].tolist() == table["estimate"].tolist()
    assert runs["Rank"].tolist() == sorted(runs["Rank"])
    pairs = found.report("pair").to_frame()
    rows = of(found.pairs)
    assert len(pairs) == rows["significant"].sum()
    assert pairs["Difference"].abs().is_monotonic_decreasing
    assert parts.by_documents().report().to_frame().columns[3] == "Effective documents"
    two = parts.field().runs.select(parts.field().runs.names[:2])
    few = ptr.labels.prediction_powered(two, parts.people(), parts.judge(), "P@5", confidence=1 - 1e-9)
    assert "None of 1 pair of runs differs significantly" in few.report("pair").caption
    with pytest.raises(ptr.InputError, match="one of 'judge', 'run', 'pair'"):
        found.report("topic")
    with pytest.raises(ptr.InputError, match="'one', 'two'"):
        found.plot(judge="three")


def test_what_is_read_back_says_the_same(tmp_path):
    for name, found in (("topics", parts.by_topics()), ("documents", parts.by_documents())):
        found.save(tmp_path / name)
        again = ptr.read_result(tmp_path / name)
        assert again.findings() == found.findings()
        assert again.headline() == found.headline()
        pd.testing.assert_frame_equal(again.pairs, found.pairs)
    assert found.headline().startswith("P@5: 401 documents labelled by people are worth ")


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


def test_a_figure_of_some_of_the_runs_says_how_many_there_are_besides():
    ax = parts.by_topics().plot(top=3, ax=Figure(figsize=(6, 4)).subplots())
    assert len(ax.get_yticklabels()) == 3
    assert "7 more runs not shown" in ax.get_xlabel()
