"""New answers by a bank made without them: left-out teams, bounds by all ways of filling, predictions by loops."""

from __future__ import annotations

from itertools import product

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
    assert all("it needs 9 left-out teams, and this field has 8" in line for line in found.answers())
    assert found.table[["predicted", "predicted_rank"]].isna().all(axis=None)


SMALL = [("1", "a", "A", 1), ("1", "b", "A", 0.5), ("2", "c", "A", 0), ("2", "c", "B", 1), ("1", "a", "B", 1)]
NEW = [("1", "a", "N", 0.5), ("2", "c", "N", 1)]


def read(rows, teams, **more):
    return ptr.read_answers(pd.DataFrame(rows, columns=COLUMNS), teams=teams, **more)


@pytest.mark.filterwarnings("ignore::pt_reuse.ReuseWarning")
@pytest.mark.parametrize(("measure", "least"), [("all_score", 0.5), ("strict_all_score", 0)])
def test_bounds_hold_whatever_items_of_its_own_a_run_has(measure, least):
    """Two items of its own a topic; a partial one counts nothing if strict; the missing match is of any kind."""
    field, new = read(SMALL, {"A": "x", "B": "y"}), read(NEW, {"N": "z"})
    row = ptr.items.check_answers(new, field, measure, own=2).table.iloc[0]
    own, first = ((), (least,), (1,), (least,) * 2, (1, 1), (least, 1)), 0.5 if measure == "all_score" else 0
    seen = [
        ((first + missing + sum(one)) / (2 + len(one)) + (1 + sum(two)) / (1 + len(two))) / 2
        for one, two, missing in product(own, own, (0, 0.5, 1))
    ]
    assert row["score"] == pytest.approx((first / 2 + 1) / 2)
    assert (row["score_low"], row["score_high"]) == pytest.approx((min(seen), max(seen)))
    matches = ptr.items.check_answers(new, field).matches
    assert row["missing"] == 1
    assert matches[["qid", "item", "change", "likely"]].to_numpy().tolist() == [["1", "b", 0.25, 1]]


def slow_check(field, new, measure, confidence):
    """Return what is predicted of a new run and its rank, and the ends of the rank, in loops over units."""
    team = dict(zip(field.run_table["name"], field.run_table["team"], strict=True))
    units = list(dict.fromkeys(team.values()))
    items = list(field.items[["qid", "item"]].itertuples(index=False, name=None))
    matches = {row[:3]: row[3] for part in (field, new) for row in part.to_frame().itertuples(index=False, name=None)}
    finders = {item: {team[run] for run in team if matches[(*item, run)] > 0} for item in items}
    own = max(sum(i[0] == t and finders[i] == {u} for i in items) for t in field.topics for u in units)
    weight = dict(zip(items, field.weights(measure), strict=True))
    strict = measure.startswith("strict")

    def counts(value):
        return float(value >= 1) if strict else value

    def score(run, without=None, further=0, end=0.0):
        of_topics = []
        for topic in field.topics:
            kept = [item for item in items if item[0] == topic and finders[item] != {without}]
            got = sum(weight[item] * counts(matches[(*item, run)]) for item in kept) + further * end
            all_of_it = sum(weight[item] for item in kept) + further
            of_topics.append(got / all_of_it if all_of_it else 0)
        return of_topics

    def mean(values):
        return sum(values) / len(values)

    def predict(run, alone, gain, without=None):
        ends = [(0 if strict else 0.5) * alone, 1]
        as_it_is = score(run, without)
        low, high = (
            mean(list(map(pick, as_it_is, score(run, without, own, end))))
            for pick, end in zip((min, max), ends, strict=True)
        )
        return min(max(mean(as_it_is) + gain, low), high)

    def rank(value, others):
        return 1 + sum(round(other, 10) > round(value, 10) for other in others)

    gains = {run: mean(score(run)) - mean(score(run, team[run])) for run in team}
    of_unit = {u: mean([gains[run] for run in team if team[run] == u]) for u in units}
    errors, rank_errors = {}, {}
    for way in ("none", "mean"):
        for run, mine in team.items():
            others = [other for other in team if team[other] != mine]
            gain = mean([of_unit[u] for u in units if u != mine]) if way == "mean" else 0
            alone = list(team.values()).count(mine) == 1
            predicted, true = predict(run, alone, gain, mine), mean(score(run))
            errors[way, run] = abs(predicted - true)
            place = rank(predicted, [mean(score(other, mine)) for other in others])
            rank_errors[way, run] = abs(place - rank(true, [mean(score(other)) for other in others]))
    best = min(("none", "mean"), key=lambda way: mean([mean([errors[way, r] for r in team if team[r] == u])
                                                       for u in units]))  # fmt: skip
    (name,) = new.names
    predicted = predict(name, True, mean(list(of_unit.values())) if best == "mean" else 0)
    place = rank(predicted, [mean(score(run)) for run in team])

    def quantile(of):
        wanted, so_far = confidence * (len(units) + 1), 0.0
        for value, weight_of in sorted((of[best, run], 1 / list(team.values()).count(team[run])) for run in team):
            so_far += weight_of
            if so_far >= wanted - 1e-9:
                return value
        return np.inf

    spread = quantile(rank_errors)
    return predicted, quantile(errors), place, max(1, place - spread), min(len(team) + 1, place + spread)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("measure", ["all_score", "strict_all_score", "weighted_score", "strict_vital_score"])
def test_ranks_are_calibrated_as_they_are_predicted(seed, measure):
    random = np.random.default_rng(seed)
    runs = [f"r{r}" for r in range(11)]
    frame = pd.DataFrame([(f"q{t}", f"i{i}") for t in range(5) for i in range(4)], columns=["qid", "item"])
    frame["importance"] = random.choice(["vital", "okay", "none"], len(frame))
    found = random.choice([0, 0, 0.5, 1], (len(frame), len(runs)))
    wide = pd.concat([frame, pd.DataFrame(found, columns=runs)], axis=1)
    both = ptr.read_answers(wide, teams={run: f"t{r // 2}" for r, run in enumerate(runs)})
    field, new = both.select(runs[:10]), both.select("r10")
    row = ptr.items.check_answers(new, field, measure, confidence=0.7).table.iloc[0]
    predicted, half, *ranks = slow_check(field, new, measure, 0.7)
    assert row["predicted"] == pytest.approx(predicted, abs=1e-12)
    assert row[["predicted_rank", "predicted_rank_low", "predicted_rank_high"]].tolist() == ranks
    assert row["predicted_high"] == pytest.approx(min(predicted + half, row["score_high"]), abs=1e-12)
    assert row["predicted_low"] == pytest.approx(max(predicted - half, row["score_low"]), abs=1e-12)


@pytest.mark.filterwarnings("ignore::pt_reuse.ReuseWarning")
def test_the_judge_of_new_answers_is_one_of_the_field():
    field = read(SMALL, {"A": "x", "B": "y"}, judge="people")
    with pytest.raises(ptr.InputError, match=r"new has matches of 'model', .* by those of 'people'"):
        ptr.items.check_answers(read(NEW, {"N": "z"}, judge="model"), field)
    both = field | read(SMALL, {"A": "x", "B": "y"}, judge="model")
    found = ptr.items.check_answers(read(NEW, {"N": "z"}, judge="model"), both, judge_name="model")
    assert found.settings["judge"] == "model"


def test_bad_input(dragun):
    new, field = split(dragun, "cru")
    other = new.to_frame().rename(columns={"name": "run"})[COLUMNS].assign(item="x" + new.to_frame()["item"])
    with pytest.raises(ptr.InputError, match=r"new has .* items that the bank lacks"):
        ptr.items.check_answers(ptr.read_answers(other.drop_duplicates(COLUMNS[:3])), field)
    with pytest.raises(ptr.InputError, match="new has runs of the field"):
        ptr.items.check_answers(field, field)


@pytest.mark.filterwarnings("ignore::pt_reuse.ReuseWarning")
def test_new_answers_that_say_no_weights_have_those_of_the_bank():
    weights = {"importance": ["vital", "okay", "vital"], "weight": [1, 0.5, 1]}
    bank = pd.DataFrame({"qid": ["1", "1", "2"], "item": ["a", "b", "c"], **weights})
    field = read(SMALL, {"A": "x", "B": "y"}, bank=bank)
    rows = [("1", "b", "N", 1), ("2", "c", "N", 1)]
    found = ptr.items.check_answers(read(rows, {"N": "z"}), field, "weighted_score")
    assert found.table["score"].tolist() == pytest.approx([(0.5 / 1.5 + 1) / 2])
