"""Figures: what they draw is what the tables say."""

from __future__ import annotations

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest

import pt_reuse as ptr


@pytest.fixture(scope="module")
def lou():
    field = ptr.simulate_field(seed=8)
    return ptr.leave_out_uniques(field.runs, field.qrels, ["AP", "nDCG@10"], depth=field.depth)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def test_scores_are_drawn_once_per_run(lou):
    ax = lou.plot("nDCG@10")
    drawn = np.concatenate([np.asarray(points.get_offsets()) for points in ax.collections])
    table = lou.by_run[lou.by_run["measure"] == "nDCG@10"]
    expected = table[["score", "reduced_score"]].to_numpy()
    assert np.array_equal(drawn[np.lexsort(drawn.T)], expected[np.lexsort(expected.T)])
    assert ax.get_xlabel() == "nDCG@10, all judgments"
    assert ax.get_ylabel() == "nDCG@10, without the uniques of the run's own team"


def test_the_units_that_lose_most_are_named_first(lou):
    labels = [text.get_text() for text in lou.plot("AP").get_legend().get_texts()]
    table = lou.by_run[lou.by_run["measure"] == "AP"]
    loss = (table["score"] - table["reduced_score"]).groupby(table["team"]).max().sort_values(ascending=False)
    assert labels[:6] == [f"{team} (-{value:.3f})" for team, value in loss.head(6).items()]
    assert labels[6] == "3 other teams"


def test_plot_draws_into_given_axes_and_defaults_to_the_first_measure(lou):
    ax = plt.figure().subplots()
    assert lou.plot(ax=ax) is ax
    assert ax.get_xlabel() == "AP, all judgments"


def test_unknown_measure_is_an_error(lou, messages):
    messages.refused(lambda: lou.plot("P@10"), argument="measure")


def test_unique_counts_are_the_bars(lou):
    ax = lou.plot_uniques()
    relevant, other = ([bar.get_width() for bar in bars] for bars in ax.containers)
    counts = lou.unique_counts[lou.unique_counts["contributing"] > 0].sort_values(
        ["unique_relevant", "unique"], ascending=False, kind="stable"
    )
    assert relevant == counts["unique_relevant"].tolist()
    assert other == counts["unique_nonrelevant"].tolist()
    assert [label.get_text() for label in ax.get_yticklabels()] == counts["team"].tolist()


def test_names_with_dollar_signs_are_not_mathematics():
    field = ptr.simulate_field(seed=8)
    runs = field.runs.with_metadata(teams={name: "$x_1$ & <b>" for name in field.runs.names})
    lou = ptr.leave_out_uniques(runs, field.qrels, "AP", depth=field.depth)
    lou.plot().figure.canvas.draw()
    assert lou.plot().get_legend().get_texts()[0].get_text().startswith(r"\$x_1\$ & <b>")


def test_names_with_underscores_and_long_names_are_in_the_legend():
    field = ptr.simulate_field(seed=8)
    names = {team: "_" + team + "x" * 60 for team in field.runs.teams}
    runs = field.runs.with_metadata(
        teams={n: names[t] for n, t in zip(field.runs, field.runs.run_table["team"], strict=True)}
    )
    texts = ptr.leave_out_uniques(runs, field.qrels, "AP", depth=field.depth).plot().get_legend().get_texts()
    assert len(texts) == 7
    assert all(text.get_text().startswith(" _team-") and len(text.get_text()) < 50 for text in texts[:6])


def test_two_sets_of_scores_are_drawn_by_type(messages):
    field = ptr.simulate_field(seed=8)
    truth = ptr.score(field.runs, field.all_qrels, ["AP", "nDCG@10"])
    agreement = truth.compare(ptr.score(field.runs, field.qrels, ["AP", "nDCG@10"]), names=("all", "pool"))
    ax = agreement.plot("nDCG@10")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["lexical", "manual", "neural"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("nDCG@10, all", "nDCG@10, pool")
    drawn = np.concatenate([np.asarray(points.get_offsets()) for points in ax.collections])
    rows = agreement.changes[agreement.changes["measure"] == "nDCG@10"]
    expected = rows[["score", "other_score"]].to_numpy()
    assert np.array_equal(drawn[np.lexsort(drawn.T)], expected[np.lexsort(expected.T)])
    messages.refused(lambda: agreement.plot(by="run"), argument="by")


def test_many_units_are_cut_with_a_note():
    field = ptr.simulate_field(seed=1, n_teams=33, n_topics=3, n_docs=300, length=20, depth=5)
    lou = ptr.leave_out_uniques(field.runs, field.qrels, "AP", depth=5)
    ax = lou.plot_uniques()
    assert len(ax.get_yticklabels()) == 30
    assert ax.get_title() == "What each team found alone (2 more not shown)"
