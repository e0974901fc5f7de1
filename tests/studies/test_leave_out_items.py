"""Banks of items without a team: by plain loops, and the figures of DRAGUN 2025."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau

import pt_reuse as ptr
from pt_reuse.data.answers import MEASURES

WEIGHTS = {"all": {}, "weighted": {"vital": 1, "okay": 0.5, "none": 0}, "vital": {"vital": 1, "okay": 0, "none": 0}}


class Slow:
    """The definitions in loops over dicts: scores by banks with and without the items that a unit alone found."""

    def __init__(self, answers, by="team", *, bank="all", measure="all_score", strict=False):
        frame = answers.to_frame()
        self.matches = {row[:3]: row[3] for row in frame.itertuples(index=False, name=None)}
        column = {"run": "name"}.get(by, by)
        self.unit = dict(zip(answers.names, answers.run_table[column], strict=True))
        self.topics = list(dict.fromkeys(answers.items["qid"]))
        every = list(answers.items[["qid", "item"]].itertuples(index=False, name=None))
        least = 1 if strict else 1e-9
        self.finders = {
            item: {unit for run, unit in self.unit.items() if self.matches.get((*item, run), 0) >= least}
            for item in every
        }
        self.items = [item for item in every if bank == "all" or self.finders[item]]
        self.called = dict(zip(every, answers.items["importance"].fillna("?"), strict=True))
        kind = measure.removeprefix("strict_").removesuffix("_score")
        self.weight = {item: WEIGHTS[kind].get(self.called[item], 1) for item in every}
        self.credit = (lambda value: float(value == 1)) if measure.startswith("strict") else float

    def scores(self, without=None):
        found = {}
        for run in self.unit:
            of_topics = []
            for topic in self.topics:
                kept = [i for i in self.items if i[0] == topic and self.finders[i] != {without}]
                got = sum(self.weight[i] * self.credit(self.matches.get((*i, run), 0)) for i in kept)
                of_topics.append(got / total if (total := sum(self.weight[i] for i in kept)) else 0)
            found[run] = round(sum(of_topics) / len(of_topics), 12)
        return found

    def unique(self, unit, weighs=False):
        weight = WEIGHTS["weighted"]
        return sum(
            found == {unit} and (not weighs or weight.get(self.called[item], 1) > 0)
            for item, found in self.finders.items()
        )


def ranks(scores):
    return {run: 1 + sum(other > mine for other in scores.values()) for run, mine in scores.items()}


def drops(scores, before):
    after = ranks(scores)
    return {run: after[run] - before[run] for run in before}


def tau(one, other):
    return pytest.approx(kendalltau(list(one.values()), list(other.values()))[0], abs=1e-12, nan_ok=True)


def gamma(one, other):
    signs = [(one[a] > one[b]) - (one[a] < one[b]) if (other[a] != other[b]) else 0 for a, b in combinations(one, 2)]
    agree = [s * ((other[a] > other[b]) - (other[a] < other[b])) for s, (a, b) in
             zip(signs, combinations(one, 2), strict=True)]  # fmt: skip
    pairs = sum(value != 0 for value in agree)
    return pytest.approx(sum(agree) / pairs if pairs else np.nan, abs=1e-12, nan_ok=True)


def compare(answers, measures=("all_score",), **how):
    """Compare every number of the study with those of the loops."""
    found = ptr.items.leave_out_items(answers, measures, **how)
    for measure in measures:
        compare_measure(found, answers, measure, **how)
    return found


def compare_measure(found, answers, measure, **how):
    slow = Slow(answers, measure=measure, **how)
    unit, full = slow.unit, slow.scores()
    reduced = {name: slow.scores(name) for name in dict.fromkeys(unit.values())}
    own = {run: reduced[unit[run]][run] for run in unit}
    before, by_run = ranks(full), found.by_run[found.by_run["measure"] == measure].set_index("name")
    alone = {name: drops({**full, **{run: own[run] for run in unit if unit[run] == name}}, before) for name in reduced}
    change = {run: 100 * (own[run] / full[run] - 1) if full[run] else np.nan for run in unit}
    for run, row in by_run.iterrows():
        assert row["score"] == pytest.approx(full[run], abs=1e-11)
        assert row["reduced_score"] == pytest.approx(own[run], abs=1e-11)
        assert row["drop"] == alone[unit[run]][run]
        assert (row["rank"], row["reduced_rank"]) == (before[run], before[run] + row["drop"])
        assert row["change_pct"] == pytest.approx(change[run], abs=1e-8, nan_ok=True)
    row = found.summary.set_index("measure").loc[measure]
    assert row["own_tau_b"] == tau(full, own)
    assert row["own_gamma"] == gamma(full, own)
    assert row["own_max_drop"] == max(drops(own, before).values())
    assert row["alone_max_drop"] == max(alone[unit[run]][run] for run in unit)
    losses = [-value for value in change.values() if not np.isnan(value)]
    assert row["largest_loss_pct"] == pytest.approx(max([0, *losses]), abs=1e-8)
    column, taus = found.units.column, []
    for name, scores in reduced.items():
        of_unit = found.table[(found.table[column] == name) & (found.table["measure"] == measure)].iloc[0]
        assert of_unit["max_drop"] == max(drops(scores, before).values())
        assert of_unit["tau_b"] == tau(full, scores)
        assert (of_unit["unique"], of_unit["unique_relevant"]) == (slow.unique(name), slow.unique(name, weighs=True))
        taus.append(of_unit["tau_b"])
    assert row["field_min_tau_b"] == pytest.approx(np.nanmin(taus), abs=1e-12)
    assert row["field_max_drop"] == max(max(drops(scores, before).values()) for scores in reduced.values())


def compare_growth(answers, by="team", *, strict=False):
    """Compare the growth of a bank with all choices of units, one by one."""
    found, slow = ptr.items.bank_growth(answers, by=by, strict=strict), Slow(answers, by, strict=strict)
    units = list(dict.fromkeys(slow.unit.values()))

    def numbers(items):
        finders = [slow.finders[item] for item in items]
        sizes = [
            [sum(bool(set(chosen) & each) for each in finders) for chosen in combinations(units, k)]
            for k in range(1, len(units) + 1)
        ]
        expected = [np.mean(of) for of in sizes]
        q1, q2 = (sum(len(each) == n for each in finders) for n in (1, 2))
        chao2 = expected[-1] + (len(units) - 1) / len(units) * q1 * (q1 - 1) / (2 * (q2 + 1))
        return expected, expected[-1] - expected[-2], chao2, finders

    expected, slope, chao2, finders = numbers(slow.items)
    assert found.table["expected"].tolist() == pytest.approx(expected, abs=1e-9)
    assert found.table["exactly"].tolist() == [sum(len(f) == k for f in finders) for k in range(1, len(units) + 1)]
    row = found.summary.iloc[0]
    assert (row["next_unit"], row["chao2"]) == pytest.approx((slope, chao2))
    assert not row["chao2_low"] > chao2
    assert not row["chao2_high"] < chao2
    for topic, (qid, row) in zip(slow.topics, found.topics.set_index("qid").iterrows(), strict=True):
        *_, slope, chao2, finders = numbers([item for item in slow.items if item[0] == topic])
        assert (qid, row["next_unit"], row["chao2"]) == (topic, pytest.approx(slope), pytest.approx(chao2))
        assert (row["items"], row["found"]) == (len(finders), sum(map(bool, finders)))
        assert row["unique"] == sum(len(each) == 1 for each in finders)
    return found


@pytest.mark.filterwarnings("ignore::pt_reuse.ReuseWarning")
def test_random_banks_are_those_of_loops():
    random = np.random.default_rng(0)
    called = {}
    rows = [
        (f"q{t}", f"i{i}", f"r{r}", random.choice([0, 0, 0.5, 1]),
         called.setdefault((t, i), random.choice(["vital", "okay", "none"])))
        for t in range(3)
        for i in range(int(random.integers(1, 5)))
        for r in range(7)
        if random.random() < 0.9
    ]  # fmt: skip
    runs = [f"r{r}" for r in range(7)]
    metadata = pd.DataFrame({"name": runs, "team": [f"t{r // 2}" for r in range(7)], "type": [*"aabbbcc"]})
    frame = pd.DataFrame(rows, columns=["qid", "item", "run", "match", "importance"])
    answers = ptr.read_answers(frame, metadata=metadata.assign(family=[*"xyxyzzz"]))
    for (by, bank), strict in product((("team", "all"), ("run", "found"), ("family", "found")), (False, True)):
        compare(answers, MEASURES, by=by, bank=bank, strict=strict)
        compare_growth(answers, by, strict=strict)


@pytest.mark.parametrize(
    ("bank", "tau", "drop", "field_drop", "loss", "least"),
    [
        ("all", 0.950769230769, 3, 4, 14.065739472462, 0.932307692308),
        ("found", 0.944615384615, 3, 5, 12.471740159278, 0.926153846154),
    ],
)
def test_dragun_2025(dragun, bank, tau, drop, field_drop, loss, least):
    found = compare(dragun, bank=bank)
    row = found.summary.iloc[0]
    assert row["own_tau_b"] == pytest.approx(tau, abs=1e-9)
    assert row["own_max_drop"] == drop
    assert row["field_max_drop"] == field_drop
    assert row["largest_loss_pct"] == pytest.approx(loss, abs=1e-9)
    assert row["field_min_tau_b"] == pytest.approx(least, abs=1e-9)
    alone = found.unique_counts.set_index("team")["unique"].to_dict()
    assert alone == {"cru": 6, "cursor": 13, "garag": 18, "garamp": 0, "sciai": 14, "sk": 6, "team01": 3, "team02": 17,
                     "ur_iw": 4}  # fmt: skip


def test_growth_of_dragun(dragun):
    found = compare_growth(dragun)
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
    with pytest.raises(ptr.InputError, match="measures must be one of"):
        ptr.items.leave_out_items(answers, "nDCG@10")
