"""`pt-reuse demo`: what it answers, prints and draws."""

from __future__ import annotations

import sys

import pandas as pd
import pytest

from pt_reuse.cli.entry import main
from pt_reuse.demo.walk import SUBJECTS, answer, narrate


@pytest.fixture(scope="module")
def report():
    pytest.importorskip("pyterrier_pisa", reason="pyterrier-pisa is not installed")
    return answer()


@pytest.fixture(scope="module")
def told(report):
    return dict(zip(SUBJECTS, narrate(report), strict=True))


def test_the_topic_without_a_relevant_document_is_left_out_and_this_is_said(report, told):
    assert report.without == ["14"]
    assert report.held_out.n_topics == 40
    assert "14" not in report.by_team.scores.topics
    assert "14" not in report.partial.per_topic["qid"].tolist()
    assert "Topic 14 has none, so every run scores 0 on it: with it each mean would be 2.4% lower" in (
        told["live-pipelines"].words
    )


def test_types_are_compared_among_teams_left_out_whole(report, told):
    table, words = told["lexical-pool"].table, told["lexical-pool"].words
    pd.testing.assert_frame_equal(table, report.held_out.table.drop(columns="runs"))
    assert "share is the second divided by the first" in words
    assert "neither the team left out nor a dense team gave it a document" in words
    rows = table.set_index(["left_out", "queries", "team"])
    ridge, minilm = rows.loc["ridge", "short", "ridge"], rows.loc["ridge", "short", "lumen"]
    assert f"ridge, short: of its top 10 {ridge['unjudged'] / ridge['top']:.0%} are unjudged" in words
    assert f"{minilm['share']:.0%} of those of lumen ({minilm['low']:.0%} to {minilm['high']:.0%})" in words
    assert "10,000 resamples of the topics (percentiles, seed 1)" in words
    lowest = report.held_out.leads.set_index(["left_out", "queries", "team"])["more_low"]
    assert lowest.idxmin() == ("quarry", "short", "mosaic")
    assert lowest.min() > 0.1
    assert "The lowest is that of mosaic and quarry: 10 to 26 points." in words


def test_the_lead_shrinks_as_the_words_say(report, told):
    leads = report.held_out.leads.set_index(["left_out", "team"]).sort_index()
    words = told["leads"].words
    furrow = leads.loc["furrow", "lumen"].squeeze()
    assert f"from {furrow['lead']:.3f} to {furrow['pool_lead']:.3f}, where furrow is left out" in words
    assert (furrow["change_high"] < 0) & (furrow["change"] < -0.1)


def test_runs_are_scored_under_the_pool_of_all_lexical_runs(report, told):
    table, words = told["gains-and-losses"].table, told["gains-and-losses"].words
    assert (
        table["name"].tolist()
        == report.partial.changes.query("measure == 'nDCG@10'").sort_values("rank")["name"].tolist()
    )
    by_name = table.set_index("name")
    assert (by_name.loc[report.runs.select(type="lexical", pooled=True).names, "unjudged"] == 0).all()
    fallers = by_name.index[by_name["pool rank"] > by_name["rank"]]
    assert all(name in words for name in fallers)
    assert "the tables above compare types" in words
    assert (table["pool"] > table["complete"]).all()
    assert "22 of 22 scores rise" in words


def test_a_full_pool_is_fair_to_dense_runs(report):
    changes = report.full.changes[report.full.changes["measure"] == "nDCG@10"]
    assert changes.loc[changes["type"] == "dense", "drop"].abs().max() <= 1
    assert report.full.table["tau_b"].min() > 0.98 > report.partial.table["tau_b"].min()


def test_the_demo_command_prints_and_draws(capfd, tmp_path):
    pytest.importorskip("pyterrier_pisa", reason="pyterrier-pisa is not installed")
    out = tmp_path / "out"

    def command():
        """Return status, output and errors; the command sets streams of its own, which are closed here."""
        before = {name: getattr(sys, name) for name in ("stdout", "stderr")}
        try:
            status = main(["demo", "--out", str(out)])
        finally:
            for name, stream in before.items():
                own = getattr(sys, name)
                own.flush()
                if own is not stream:
                    setattr(sys, name, stream)
                    own.close()
        return status, *capfd.readouterr()

    status, printed, errors = command()
    assert (status, errors) == (0, "")
    assert printed.count("\n\n") > 8
    assert "2. What if only lexical systems had been pooled?" in printed
    # PISA writes past Python
    assert "Create index" not in printed
    assert "[info]" not in printed
    assert {path.suffix for path in out.iterdir()} == {".csv", ".png"}
    assert sorted(path.stem for path in out.glob("*.csv")) == [f"{n}-{name}" for n, name in enumerate(SUBJECTS, 1)]
    status, _, errors = command()
    assert status == 2
    assert "Pass --overwrite to replace them." in " ".join(errors.split())
