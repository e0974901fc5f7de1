"""family_effect: effects and matches against loops, and odd input."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from family_parts import noisy, simulated, with_families

import pt_reuse as ptr
from pt_reuse.scoring.caveats import told_elsewhere
from pt_reuse.studies.family_effect import AGAINST, Contrast, FieldGains, matched


@pytest.fixture(scope="module")
def field():
    return simulated()


@pytest.fixture(scope="module")
def runs(field):
    return with_families(field, lambda run: {"lexical": "bm25", "neural": "gpt"}.get(run.type))


@pytest.fixture(scope="module")
def found(field, runs):
    judges = {"A": noisy(field, 1), "B": noisy(field, 2, favoured=["neu2a", "neu2b"], share=0.5)}
    return ptr.labels.family_effect(
        runs, field.all_qrels, judges, ["nDCG@10", "P@5"], families={"A": "gpt", "B": "llama"}, resamples=60, seed=3
    )


def contrast(n, k, pairs=()):
    return Contrast(np.arange(k), np.arange(k, n), np.array(pairs, dtype=np.int64).reshape(-1, 2))


def place(scores, run, among):
    return 1 + sum(scores[other] > scores[run] for other in among)


def slow(human, judge, who, against):
    """Return rank and score effect of one draw, by the words of the definition."""
    family, others, every = who.family.tolist(), who.others.tolist(), range(len(human))
    gain = {run: place(human, run, every) - place(judge, run, every) for run in every}
    if against == "matched":
        both = who.matches.tolist()
        ranks = np.mean([gain[a] - gain[b] for a, b in both])
        return ranks, np.mean([(judge[a] - human[a]) - (judge[b] - human[b]) for a, b in both])
    if against == "alone":
        gain = {run: place(human, run, others) - place(judge, run, others) for run in every}
    ranks = np.mean([gain[run] for run in family]) - np.mean([gain[run] for run in others])
    slope, intercept = np.polyfit(human[others], judge[others], 1)
    return ranks, np.mean([judge[run] - intercept - slope * human[run] for run in family])


@pytest.mark.parametrize(("against", "steps"), [(AGAINST[0], 4), (AGAINST[1], 1000), (AGAINST[2], 4)])
def test_effects_equal_those_of_loops(against, steps):
    random = np.random.default_rng(steps)
    human, judge = random.integers(0, steps, (2, 20, 9)) / steps
    human += np.arange(9) / 1e6 * (steps == 4)  # a line needs scores that differ
    judge = np.where(random.random((20, 9)) < 0.3, human, judge)
    who = contrast(9, 3, [(0, 5), (2, 5), (1, 8)])
    found = FieldGains(human, judge).over(who, against)
    expected = [slow(h, j, who, against) for h, j in zip(human, judge, strict=True)]
    assert found["rank_effect"] == pytest.approx([ranks for ranks, _ in expected], abs=1e-12)
    assert found["score_effect"] == pytest.approx([score for _, score in expected], abs=1e-7)


@pytest.mark.parametrize(("n", "human"), [(3, [0.1, 0.2, 0.5]), (5, [0.3, 0.2, 0.2, 0.2, 0.2])])
def test_without_a_line_there_is_no_effect_on_scores(n, human):
    found = FieldGains(np.array([human]), np.arange(n)[None] / n).over(contrast(n, 1), "others")
    assert np.isnan(found["score_effect"][0])
    assert not np.isnan(found["rank_effect"][0])


def test_matched_runs():
    scores = np.array([0.50, 0.80, 0.30, 0.52, 0.48, 0.10])
    spread = np.std(scores, ddof=1)
    mine, others = np.array([0, 1, 2]), np.array([3, 4, 5])
    assert matched(scores, mine, others, 0.1).tolist() == [[0, 3]]  # the first of two as near
    assert matched(scores, mine, others, 0.19 / spread).tolist() == [[0, 3], [2, 4]]
    assert matched(scores, mine, others, 0.28 / spread).tolist() == [[0, 3], [1, 3], [2, 4]]
    assert matched(scores, mine, others, 0.0).shape == (0, 2)
    assert matched(np.full(6, 0.5), mine, others, 0.0).tolist() == [[0, 3], [1, 3], [2, 3]]


def test_runs_without_families_are_refused(field, messages):
    messages.refused(lambda: ptr.labels.family_effect(field.runs, field.qrels, field.qrels, "AP"), argument="runs")
    alike = with_families(field, lambda run: "gpt")
    messages.refused(lambda: ptr.labels.family_effect(alike, field.qrels, field.qrels, "AP"), argument="runs")
    only = alike.select(["neu2a"])
    messages.refused(lambda: ptr.labels.family_effect(only, field.qrels, field.qrels, "AP"), argument="runs")


def test_of_equally_near_runs_the_first_by_name_is_matched():
    people = {"1": {"a": 1, "b": 1, "c": 0}}
    judge = {"1": {"a": 1, "b": 0, "c": 0}}
    first = {"mine": "c", "x": "a", "y": "b", "z": "c"}
    found = []
    for names in (list(first), ["y", "z", "x", "mine"]):
        frames = {n: pd.DataFrame({"qid": ["1"], "docno": [first[n]], "score": [1.0]}) for n in names}
        frames["mine"] = frames["mine"].assign(docno="a")
        table = pd.DataFrame({"name": names, "family": ["gpt" if n == "mine" else None for n in names]})
        runs = ptr.RunSet.from_frames(frames, metadata=table)
        with told_elsewhere():
            effect = ptr.labels.family_effect(runs, people, {"J": judge}, "P@1", resamples=0)
        assert effect.matches["match"].tolist() == ["x"], "y is as near, and x comes first by name"
        found.append(effect.table["rank_effect"].tolist())
    assert found[0] == found[1]
