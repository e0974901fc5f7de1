"""The card of answers: what stands on it is what the studies of items say; a command writes it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import pt_reuse as ptr
from pt_reuse.cli.entry import main

pytestmark = pytest.mark.usefixtures("no_bundle")
RUNS = [f"run{r}" for r in range(9)]
TEAMS = {run: f"team {r // 2}" for r, run in enumerate(RUNS)}


def bank(seed, n_topics=6):
    random = np.random.default_rng(1)
    easy = random.random((8 * n_topics, 1))
    has = np.random.default_rng(seed).random((8 * n_topics, len(RUNS))) < easy * np.linspace(0.2, 0.9, len(RUNS))
    items = pd.DataFrame({"qid": [f"q{i // 8}" for i in range(len(has))], "item": [f"<b>{i}" for i in range(len(has))]})
    return pd.concat([items, pd.DataFrame(has.astype(float), columns=RUNS)], axis=1)


@pytest.fixture(scope="module")
def answers():
    people, model = (ptr.read_answers(bank(seed), teams=TEAMS, judge=judge) for seed, judge in ((1, "ann"), (2, "m")))
    return people | model


def test_numbers_are_those_of_the_studies(answers):
    card = ptr.report(answers, name="A & B", resamples=10)
    rows, people = card.questions.set_index("part"), answers.select(judges="ann")
    lou = ptr.items.leave_out_items(people, resamples=10).summary.iloc[0]
    assert f"tau_b {lou['own_tau_b']:.3f} " in rows.loc["teams", "number"]
    assert f"up to {lou['largest_loss_pct']:.1f}%" in rows.loc["teams", "number"]
    assert (card.row["tau_b"][0], card.row["drop"][0]) == (lou["own_tau_b"], lou["alone_max_drop"])
    growth = ptr.items.bank_growth(people).summary.iloc[0]
    assert f"{growth['found']:.0f} items found, at least {growth['chao2']:.1f} there" in rows.loc["growth", "number"]
    first, second = (ptr.items.score_answers(answers, judge=judge) for judge in ("ann", "m"))
    alike = ptr.labels.compare_leaderboards(first, {"m": second}, resamples=0).table
    assert f"tau_b {alike[alike['part'] == 'all']['tau_b'].item():.3f}, m" == rows.loc["judges", "number"]
    assert not card.missing
    assert "<b>" not in card.html.replace("<b>all</b>", "") or "&lt;b&gt;" in card.html
    assert card.verdict[0] in card.paragraph()
    assert "Matches are those of ann" in card.html


def test_few_topics_and_one_judge_say_so():
    card = ptr.report(ptr.read_answers(bank(1, 3), teams=TEAMS), resamples=0)
    assert set(card.questions["answer"]) == {"cannot be said"}
    assert "one judge" in card.missing["judges"].lower()
    assert card.verdict == ["Fewer than 5 topics: nothing can be said of other ones."]


def test_one_item_of_one_team_leaves_no_interval():
    rows = [(str(t), item, run, 1) for t in range(6) for item in "ab" for run in "ABC"]
    rows += [("0", "c", run, int(run == "A")) for run in "ABC"]
    frame = pd.DataFrame(rows, columns=["qid", "item", "run", "match"])
    answers = ptr.read_answers(frame, teams={"A": "x", "B": "y", "C": "z"})
    card = ptr.report(answers, resamples=0)
    row = card.questions.set_index("part").loc["growth"]
    assert (row["interval"], "at least 13.0 there" in row["number"]) == ("none", True)
    assert "nan" not in card.html
    ptr.items.bank_growth(answers).plot()


def test_a_command_writes_it(tmp_path, capsys):
    bank(1).to_csv(tmp_path / "items.csv", index=False)
    (tmp_path / "runs.csv").write_text("name,team\n" + "".join(f"{run},{team}\n" for run, team in TEAMS.items()))
    words = (
        f"report --answers {tmp_path}/items.csv --metadata {tmp_path}/runs.csv --resamples 0 --out {tmp_path}/c.html"
    )
    assert main(words.split()) == 0
    card = ptr.report(ptr.read_answers(bank(1), teams=TEAMS), name="items.csv", resamples=0)
    assert (tmp_path / "c.html").read_text() == card.html
    assert main([*words.split(), "--depth", "10", "--overwrite"]) == 2
