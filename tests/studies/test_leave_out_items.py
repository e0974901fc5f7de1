"""Banks of items without a team: by plain loops, and the figures of DRAGUN 2025."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau

import pt_reuse as ptr


def slow(answers, bank, measure="all_score"):
    """Return by run its score, by team and run those without the team's items, in loops over matches."""
    matches = {
        (q, i, r): m for q, i, r, m in answers.to_frame()[["qid", "item", "name", "match"]].itertuples(index=False)
    }
    team = dict(zip(answers.run_table["name"], answers.run_table["team"], strict=True))
    items = list(answers.items[["qid", "item"]].itertuples(index=False, name=None))
    finders = {item: {team[run] for run in team if matches.get((*item, run), 0) > 0} for item in items}
    bank = [item for item in items if bank == "all" or finders[item]]
    credit = (lambda value: float(value >= 1)) if measure.startswith("strict") else float

    def scores(without=None):
        kept = [item for item in bank if finders[item] != {without}]
        found = {}
        for run in team:
            of_topics = []
            for topic in answers.topics:
                mine = [credit(matches.get((*item, run), 0)) for item in kept if item[0] == topic]
                of_topics.append(sum(mine) / len(mine) if mine else 0)
            found[run] = round(sum(of_topics) / len(of_topics), 12)
        return found

    return team, scores(), {name: scores(name) for name in dict.fromkeys(team.values())}


def ranks(scores):
    return {run: 1 + sum(other > mine for other in scores.values()) for run, mine in scores.items()}


def compare(answers, bank, measure="all_score"):
    found = ptr.items.leave_out_items(answers, measure, bank=bank)
    team, full, reduced = slow(answers, bank, measure)
    own = {run: reduced[team[run]][run] for run in team}
    by_run = found.by_run.set_index("name")
    for run in team:
        assert by_run.loc[run, "score"] == pytest.approx(full[run], abs=1e-12)
        assert by_run.loc[run, "reduced_score"] == pytest.approx(own[run], abs=1e-12)
    row, before = found.summary.iloc[0], ranks(full)
    tau = kendalltau(list(full.values()), list(own.values()))[0]
    assert row["own_tau_b"] == pytest.approx(tau, abs=1e-12, nan_ok=True)
    assert row["own_max_drop"] == max(ranks(own)[run] - before[run] for run in team)
    alone = {run: {**full, **{r: own[r] for r in team if team[r] == team[run]}} for run in team}
    assert row["alone_max_drop"] == max(ranks(alone[run])[run] - before[run] for run in team)
    for name, scores in reduced.items():
        of_team = found.table[found.table["team"] == name].iloc[0]
        assert of_team["max_drop"] == max(ranks(scores)[run] - before[run] for run in team)
        tau = kendalltau(list(full.values()), list(scores.values()))[0]
        assert of_team["tau_b"] == pytest.approx(tau, abs=1e-12, nan_ok=True)
    return found


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("bank", ["all", "found"])
@pytest.mark.filterwarnings("ignore::pt_reuse.ReuseWarning")
def test_random_banks_are_those_of_loops(seed, bank):
    random = np.random.default_rng(seed)
    rows = [
        (f"q{t}", f"i{i}", f"r{r}", random.choice([0, 0, 0.5, 1]))
        for t in range(4)
        for i in range(int(random.integers(1, 6)))
        for r in range(7)
        if random.random() < 0.9
    ]
    teams = {f"r{r}": f"t{r // 2}" for r in range(7)}
    answers = ptr.read_answers(pd.DataFrame(rows, columns=["qid", "item", "run", "match"]), teams=teams)
    compare(answers, bank)
    compare(answers, bank, "strict_all_score")


@pytest.mark.parametrize(
    ("bank", "tau", "drop", "field_drop", "loss", "least"),
    [
        ("all", 0.950769230769, 3, 4, 14.065739472462, 0.932307692308),
        ("found", 0.944615384615, 3, 5, 12.471740159278, 0.926153846154),
    ],
)
def test_dragun_2025(data, bank, tau, drop, field_drop, loss, least):
    file = data / "nuggets" / "dragun25" / "report_assessments.csv.gz"
    if not file.is_file():
        pytest.skip("the test data has no DRAGUN")
    teams = pd.read_csv(file.with_name("teams.csv"), dtype=str).set_index("run")["team"].to_dict()
    found = compare(ptr.read_answers(file, teams=teams), bank)
    row = found.summary.iloc[0]
    assert row["own_tau_b"] == pytest.approx(tau, abs=1e-9)
    assert row["own_max_drop"] == drop
    assert row["field_max_drop"] == field_drop
    assert row["largest_loss_pct"] == pytest.approx(loss, abs=1e-9)
    assert row["field_min_tau_b"] == pytest.approx(least, abs=1e-9)
    alone = found.unique_counts.set_index("team")["unique"].to_dict()
    assert alone == {"cru": 6, "cursor": 13, "garag": 18, "garamp": 0, "sciai": 14, "sk": 6, "team01": 3, "team02": 17,
                     "ur_iw": 4}  # fmt: skip


def test_growth_of_dragun(data):
    file = data / "nuggets" / "dragun25" / "report_assessments.csv.gz"
    if not file.is_file():
        pytest.skip("the test data has no DRAGUN")
    teams = pd.read_csv(file.with_name("teams.csv"), dtype=str).set_index("run")["team"].to_dict()
    found = ptr.items.bank_growth(ptr.read_answers(file, teams=teams))
    wanted = [125.0, 191.8, 232.5, 260.3, 280.7, 296.6, 309.4, 320.0, 329.0]
    assert found.table["expected"].round(1).tolist() == wanted
    assert found.summary["chao2"].tolist() == [377.0]
    assert found.topics["found"].sum() == 329


def test_what_cannot_be_said():
    one = pd.DataFrame({"qid": ["1", "2"], "item": ["a", "b"], "A": [0, 0], "B": [0, 0]})
    answers = ptr.read_answers(one, teams={"A": "x", "B": "x"})
    with pytest.raises(ptr.InputError, match="no run found an item"):
        ptr.items.leave_out_items(answers)
    with pytest.raises(ptr.InputError, match="it takes two teams"):
        ptr.items.bank_growth(answers)
    with pytest.raises(ptr.InputError, match="measures must be of all_score"):
        ptr.items.leave_out_items(answers, "nDCG@10")
