"""A pilot of annotators against slow, obvious versions; its intervals against a bootstrap written out."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
import pandas as pd
import pytest
from annotator_parts import by_item, labelled, slow_alpha
from scipy import stats

import pt_reuse as ptr

SCALE = (0, 1, 2, 3)


def items_of(frame, n):
    return {item: given for item, given in by_item(frame).items() if len(given) >= n}


@pytest.fixture(scope="module")
def frame():
    # some documents lack a label, and are no tasks of the pilot
    return labelled(seed=12, n_topics=3, n_docs=8, n_annotators=4, gaps=0.1)


@pytest.fixture(scope="module")
def pilot(frame):
    return ptr.judging.pilot_agreement(frame, rel=2, resamples=300)


def test_values_are_those_of_the_tasks_that_all_labelled(frame, pilot):
    items = items_of(frame, 4)
    assert len(pilot.tasks) == len(items) < len(by_item(frame))
    assert pilot.settings["left out"] == len(by_item(frame)) - len(items)
    rows = pilot.table.set_index(["labels", "coefficient"])
    for level in ("nominal", "ordinal"):
        expected = slow_alpha([list(given.values()) for given in items.values()], SCALE, level)
        assert rows.loc[("grades", f"alpha_{level}"), "value"] == pytest.approx(float(expected))
    binary = slow_alpha([[int(label >= 2) for label in given.values()] for given in items.values()], (0, 1), "nominal")
    assert rows.loc[("binary", "alpha_nominal"), "value"] == pytest.approx(float(binary))


def test_each_annotator_against_the_others(frame, pilot):
    items = list(items_of(frame, 4).values())
    value = float(slow_alpha([list(given.values()) for given in items], SCALE, "ordinal"))
    assert pilot.by_annotator["change"].is_monotonic_decreasing
    for row in pilot.by_annotator.itertuples():
        others = [[label for name, label in given.items() if name != row.annotator] for given in items]
        mine = [given[row.annotator] for given in items]
        assert row.without == pytest.approx(float(slow_alpha(others, SCALE, "ordinal")))
        assert row.change == pytest.approx(row.without - value)
        above = [m - sum(rest) / len(rest) for m, rest in zip(mine, others, strict=True)]
        assert row.difference == pytest.approx(sum(above) / len(above))
        equal = [label == m for m, rest in zip(mine, others, strict=True) for label in rest]
        assert row.agreement == pytest.approx(sum(equal) / len(equal))
        assert row.relevant == pytest.approx(sum(m >= 2 for m in mine) / len(mine))


def test_shares_of_the_disagreement(frame):
    found = ptr.judging.pilot_agreement(frame, resamples=0)
    items = items_of(frame, 4)
    values = [label for given in items.values() for label in given.values()]

    def apart(a, b):
        low, high = sorted((a, b))
        between = sum(low <= value <= high for value in values)
        return (between - Fraction(values.count(a) + values.count(b), 2)) ** 2 if a != b else 0

    of = {item: sum(apart(a, b) for a, b in permutations(given.values(), 2)) for item, given in items.items()}
    total = sum(of.values())
    assert found.tasks["share"].is_monotonic_decreasing
    assert found.tasks["share"].sum() == pytest.approx(1)
    for row in found.tasks.itertuples():
        given = items[(row.qid, row.docno)]
        assert row.share == pytest.approx(float(of[(row.qid, row.docno)] / total))
        assert row.spread == max(given.values()) - min(given.values())
        assert row.votes == ", ".join(f"{name} {given[name]}" for name in sorted(given))
        pairs = list(combinations(given.values(), 2))
        assert row.agreement == pytest.approx(sum(a == b for a, b in pairs) / len(pairs))


def test_the_interval_is_an_expanded_percentile_one(frame, pilot):
    items = [list(given.values()) for given in items_of(frame, 4).values()]
    n = len(items)
    random = np.random.default_rng(0)
    counts = [np.bincount(row, minlength=n) for row in random.integers(0, n, (300, n))]
    drawn = [
        slow_alpha([item for item, times in zip(items, count, strict=True) for _ in range(times)], SCALE, "ordinal")
        for count in counts
    ]
    tail = stats.norm.cdf(-math.sqrt(n / (n - 1)) * stats.t.ppf(0.975, n - 1))
    low, high = np.percentile([float(value) for value in drawn], [100 * tail, 100 * (1 - tail)])
    row = pilot.table.set_index(["labels", "coefficient"]).loc[("grades", "alpha_ordinal")]
    assert [row["low"], row["high"]] == pytest.approx([low, high])
    # wider than the plain one
    assert tail < 0.025


def alike(n, *, apart=0):
    """Return labels of three annotators who are apart on some of n tasks, and agree on the others."""
    tasks = pd.DataFrame({"qid": "1", "docno": [f"d{i}" for i in range(n)]})
    labels = [i % 2 for i in range(n)]
    other = [1 - label if i < apart else label for i, label in enumerate(labels)]
    return {"ann": tasks.assign(label=labels), "bob": tasks.assign(label=labels), "cid": tasks.assign(label=other)}


def test_what_is_decided_where_all_agree():
    found = ptr.judging.pilot_agreement(alike(10))
    # 1 - .05 ** (1 / 10) of the tasks may be disagreed on, by chance half of the labels differ
    low = 1 - (1 - 0.05**0.1) / 0.5
    row = found.table.set_index(["labels", "coefficient"]).loc[("grades", "alpha_ordinal")]
    assert (row["value"], row["high"]) == (1, 1)
    assert row["low"] == pytest.approx(low)
    assert low == pytest.approx(0.4823, abs=1e-4)
    assert found.decision == "go on"
    assert found.table.set_index(["labels", "coefficient"]).loc[("grades", "agreement"), "low"] == pytest.approx(
        0.05**0.1
    )
    assert ptr.judging.pilot_agreement(alike(4)).decision == "undecided"
    assert ptr.judging.pilot_agreement(alike(10), target=0.5).decision == "undecided"


def test_the_lower_end_is_never_above_that_of_tasks_without_disagreement():
    tasks = pd.DataFrame({"qid": "1", "docno": [f"d{i}" for i in range(40)]})
    labels = [i % 4 for i in range(40)]
    # the mildest disagreement, on one task
    given = {"ann": tasks.assign(label=labels), "bob": tasks.assign(label=[*labels[:-1], 2])}
    found = ptr.judging.pilot_agreement(given).table.set_index(["labels", "coefficient"]).loc["grades"]
    shares = [np.mean([*labels, *labels[:-1], 2] == np.array(label)) for label in SCALE]
    low = 1 - (1 - 0.05 ** (1 / 40)) / (1 - sum(share**2 for share in shares))
    assert found.loc["alpha_ordinal", "value"] > 0.99
    assert found.loc["alpha_ordinal", "low"] == pytest.approx(low)


def test_what_is_decided_goes_by_the_interval():
    many = ptr.judging.pilot_agreement(alike(60, apart=8))
    low, value, high = many.table.set_index(["labels", "coefficient"]).loc[
        ("grades", "alpha_ordinal"), ["low", "value", "high"]
    ]
    assert low < value < high
    assert ptr.judging.pilot_agreement(alike(60, apart=8), target=low - 0.01).decision == "go on"
    assert ptr.judging.pilot_agreement(alike(60, apart=8), target=high + 0.01).decision == "do not go on"
    between = ptr.judging.pilot_agreement(alike(60, apart=8), target=(low + value) / 2)
    assert between.decision == "undecided"
    assert between.needed == math.ceil(60 * ((value - low) / (value - (low + value) / 2)) ** 2)
    assert f"about {int(between.needed):,} tasks would decide" in between.headline()
    assert between.by_annotator["annotator"][0] == "cid"
    assert between.by_annotator["without"][0] == 1


def test_nothing_is_decided_without_an_interval_or_a_value():
    found = ptr.judging.pilot_agreement(alike(10), resamples=0)
    assert (found.decision, found.table["low"].isna().all()) == ("undecided", True)
    same = {name: frame.assign(label=1) for name, frame in alike(6).items()}
    found = ptr.judging.pilot_agreement(same)
    assert found.decision == "undecided"
    assert "has no value on these tasks" in found.headline()


def test_faults_are_told(messages):
    parts = alike(6)
    parts["cid"] = parts["cid"].assign(qid="2")
    for argument, labels, target in (
        ("labels", {"ann": alike(3)["ann"]}, 0.4),
        ("labels", alike(1), 0.4),
        ("target", alike(5), 2),
        ("labels", parts, 0.4),
    ):
        call = lambda labels=labels, target=target: ptr.judging.pilot_agreement(labels, target=target)  # noqa: E731
        messages.refused(call, argument=argument)
