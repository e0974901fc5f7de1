"""Arguments of scoring, pooling and the studies are judged before judgments are read and anything is computed."""

from __future__ import annotations

import pytest

import pt_reuse as ptr

FIELD = ptr.demo.simulate_field(seed=3, n_topics=3, n_docs=60, n_teams=3, length=10, depth=3)
SCORING = {
    "measure": {"measures": "Foo@3"},
    "no measure": {"measures": []},
    "a measure that nobody computes": {"measures": ["AP", "RBP"]},
    "complete": {"complete": "yes"},
    "without_topics": {"without_topics": "skip"},
    "verbose": {"verbose": "no"},
}
LEAVING_OUT = {
    **SCORING,
    "by": {"by": "Team"},
    "depth": {"depth": 0},
    "remove": {"remove": "all"},
    "pool_order": {"pool_order": "x"},
}


@pytest.fixture
def qrels(tmp_path, monkeypatch):
    """Return the path of judgments that must not be read."""

    def reached(*_, **__):
        pytest.fail("the arguments were to be judged before")

    monkeypatch.setattr("pt_reuse.data.judgments.read_arrays", reached)
    return tmp_path / "qrels.txt"


@pytest.mark.parametrize("fault", SCORING)
def test_score(fault, qrels, messages):
    given = {"measures": "AP", **SCORING[fault]}
    messages.refused(lambda: ptr.score(FIELD.runs, qrels, **given), argument=next(iter(SCORING[fault])))


@pytest.mark.parametrize("fault", LEAVING_OUT)
def test_leave_out_uniques(fault, qrels, messages):
    given = {"measures": "AP", **LEAVING_OUT[fault]}
    call = lambda: ptr.leave_out_uniques(FIELD.runs, qrels, **given)  # noqa: E731
    messages.refused(call, argument=next(iter(LEAVING_OUT[fault])))


@pytest.mark.parametrize("contributors", ["pool", "lex1a", [], ["nobody"], 5])
def test_contributors_of_a_field(contributors, messages):
    call = lambda: ptr.leave_out_uniques(FIELD.runs, FIELD.qrels, "AP", contributors=contributors)  # noqa: E731
    messages.refused(call, argument="contributors")


@pytest.mark.parametrize("argument", ["depth", "contributors", "order"])
def test_depth_pool(argument, monkeypatch, messages):
    monkeypatch.setattr("pt_reuse.arrays.field.Field.top", None)
    monkeypatch.setattr("pt_reuse.arrays.field.Field.in_order", None)
    messages.refused(lambda: ptr.depth_pool(FIELD.runs, **{argument: 0}), argument=argument)


def test_names_that_come_one_by_one_are_read_once():
    given = {"measures": iter(["AP"]), "contributors": (name for name in FIELD.runs.names[:3]), "depth": 3}
    found = ptr.leave_out_uniques(FIELD.runs, FIELD.qrels, **given)
    assert found.settings["contributors"] == "named (3 of 6 runs)"
    assert found.scores.measures == ["AP"]
