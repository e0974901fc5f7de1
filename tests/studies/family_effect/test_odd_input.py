"""family_effect on input that is odd: answered or refused in plain words."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from family_parts import noisy, simulated, with_families

import pt_reuse as ptr
from pt_reuse.scoring.caveats import told_elsewhere


@pytest.fixture(scope="module")
def field():
    return simulated()


@pytest.fixture(scope="module")
def runs(field):
    return with_families(field, lambda run: "gpt" if run.type == "neural" else None)


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


def test_a_family_of_one_run_and_few_topics_are_told(field, messages):
    runs = with_families(field, lambda run: {"neu2a": "gpt", "lex1a": "bm25", "lex1b": "bm25"}.get(run.name))
    few = field.all_qrels.select(["1", "2", "3"])
    found = messages.warned(lambda: ptr.labels.family_effect(runs, few, few, "AP", resamples=9), times=2)
    assert found.settings["beware"] == "3 topics only; 1 family of one run"
    assert found.table.query("family == 'gpt'")["runs"].tolist() == [1, 1, 1]


def test_two_runs(field, messages):
    runs = with_families(field, lambda run: "gpt" if run.name == "neu2a" else None).select(["neu2a", "lex1a"])
    labels = {"J": noisy(field, 3)}
    call = lambda: ptr.labels.family_effect(runs, field.all_qrels, labels, "AP", families={"J": "gpt"}, resamples=50)  # noqa: E731
    found = messages.warned(call, times=2)
    cell = found.cells("AP").iloc[0]
    rows = found.by_run.set_index("name")
    assert cell["rank_effect"] == rows.loc["neu2a", "rise"] - rows.loc["lex1a", "rise"]
    assert np.isnan(cell["score_effect"])
    assert cell["rank_effect_low"] <= cell["rank_effect"] <= cell["rank_effect_high"]
    assert "in the score" not in found.findings()[0]
