"""New answers by a bank made without them: left-out teams, bounds by all ways of filling, coverage."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import pt_reuse as ptr

COLUMNS = ["qid", "item", "run", "match"]


def split(answers, team):
    """Return the field without a team and its answers, by a bank without the items that the team alone found."""
    names = answers.run_table.loc[answers.run_table["team"] != team, "name"].tolist()
    field, mine = answers.select(names), answers.select(team=team)
    kept = field.items[field.found().any(axis=1)][["qid", "item"]]
    teams = dict(zip(answers.run_table["name"], answers.run_table["team"], strict=True))
    parts = [one.to_frame().merge(kept).rename(columns={"name": "run"})[COLUMNS] for one in (mine, field)]
    return [ptr.read_answers(part, teams={run: teams[run] for run in part["run"].unique()}) for part in parts]


@pytest.fixture
def dragun(data):
    file = data / "nuggets" / "dragun25" / "report_assessments.csv.gz"
    if not file.is_file():
        pytest.skip("the test data has no DRAGUN")
    teams = pd.read_csv(file.with_name("teams.csv"), dtype=str).set_index("run")["team"].to_dict()
    return ptr.read_answers(file, teams=teams)


def test_left_out_teams_of_dragun_are_covered(dragun):
    lou = ptr.items.leave_out_items(dragun, bank="found")
    truth = lou.scores.mean.set_index("name")["all_score"]
    held, inside, most = [], [], 9
    for team in lou.units.names:
        new, field = split(dragun, team)
        table = ptr.items.check_answers(new, field, own=most, confidence=0.8).table.set_index("name")
        reduced = lou.by_run.set_index("name")["reduced_score"]
        for name, row in table.iterrows():
            assert row["score"] == pytest.approx(reduced[name], abs=1e-12)
            held.append(row["predicted_low"] - 1e-9 <= truth[name] <= row["predicted_high"] + 1e-9)
            inside.append(row["score_low"] - 1e-9 <= truth[name] <= row["score_high"] + 1e-9)
    assert len(held) == 26
    # nominal .8, of 9 teams
    assert np.mean(held) >= 0.75
    assert all(inside)


def test_it_abstains_below_nine_teams(dragun):
    new, field = split(dragun, "cru")
    found = ptr.items.check_answers(new, field)
    assert found.table["abstains"].all()
    assert found.table["why"][0] == "it needs 9 left-out teams, and this field has 8"
    assert found.table[["predicted", "predicted_rank"]].isna().all(axis=None)
    assert "no prediction" in found.answers()[0]


def test_the_calibration_is_that_of_loops(dragun):
    new, field = split(dragun, "garag")
    found = ptr.items.check_answers(new, field, confidence=0.8).calibration.set_index("name")
    by_run = ptr.items.leave_out_items(field).by_run.set_index("name")
    assert found["reduced_score"].to_dict() == pytest.approx(by_run["reduced_score"].to_dict(), abs=1e-12)
    assert (found["gain"] + by_run["change"][found.index]).abs().max() < 1e-12


@pytest.mark.filterwarnings("ignore::pt_reuse.ReuseWarning")
def test_bounds_hold_whatever_items_of_its_own_a_run_has():
    rows = [("1", "a", "A", 1), ("1", "b", "A", 0.5), ("2", "c", "A", 0), ("2", "c", "B", 1), ("1", "a", "B", 1)]
    field = ptr.read_answers(pd.DataFrame(rows, columns=COLUMNS), teams={"A": "x", "B": "y"})
    new = ptr.read_answers(pd.DataFrame([("1", "a", "N", 0.5), ("2", "c", "N", 1)], columns=COLUMNS), teams={"N": "z"})
    row = ptr.items.check_answers(new, field, own=2).table.iloc[0]
    seen = []
    for first in ((), (0.5,), (1,), (0.5, 0.5), (1, 1), (0.5, 1)):
        for second in ((), (0.5,), (1,), (0.5, 0.5), (1, 1), (0.5, 1)):
            seen.append(((0.5 + sum(first)) / (2 + len(first)) + (1 + sum(second)) / (1 + len(second))) / 2)
    assert row["score"] == pytest.approx(0.625)
    assert (row["score_low"], row["score_high"]) == pytest.approx((min(seen), max(seen)))
    assert row["missing"] == 1
    matches = ptr.items.check_answers(new, field).matches
    assert matches[["qid", "item", "change"]].to_numpy().tolist() == [["1", "b", 0.25]]


def test_bad_input(dragun):
    new, field = split(dragun, "cru")
    other = new.to_frame().rename(columns={"name": "run"})[COLUMNS].assign(item="x" + new.to_frame()["item"])
    with pytest.raises(ptr.InputError, match=r"new has .* items that the bank lacks"):
        ptr.items.check_answers(ptr.read_answers(other.drop_duplicates(COLUMNS[:3])), field)
    with pytest.raises(ptr.InputError, match="new has runs of the field"):
        ptr.items.check_answers(field, field)
