"""Pools of one type: jobs, what is refused, told and left out of means; their numbers are in test_passages."""

from __future__ import annotations

import numpy as np
import pytest
from same import assert_same

import pt_reuse as ptr
from pt_reuse.studies import by_type as estimates
from pt_reuse.studies.by_type import by_type

# the slow version: judgments restricted by hand, scored by ir_measures, ranked by scipy


# the tests


pytestmark = pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")


@pytest.fixture(scope="module")
def field():
    return ptr.demo.simulate_field(seed=3, n_topics=6, n_docs=120, n_teams=8, length=20, depth=6)


def test_more_jobs_change_no_number(field, monkeypatch):
    """Also where the splits are cut into other parts."""
    options = {"unit": "run", "splits": 4, "depth": 2, "contributors": "all", "resamples": 2}
    alone = by_type(field.runs, field.qrels, ["AP"], n_jobs=1, **options)
    monkeypatch.setattr(estimates, "_AT_ONCE", 5)
    assert len(alone.splits) == 12
    assert_same(by_type(field.runs, field.qrels, ["AP"], n_jobs=2, **options), alone)


def test_scores_are_means_over_the_splits_that_test_a_run(field):
    found = by_type(field.runs, field.qrels, ["AP", "nDCG"], unit="run", splits="all", depth=3, pools="lexical")
    frame = found.scores("lexical", measure="nDCG").set_index("name")
    for run in ("lex1a", "neu2a"):
        r = found.run_table["name"].tolist().index(run)
        values = [found.estimated[1, s, r] for s in range(len(found.splits)) if not found.picked[s, r]]
        assert frame.loc[run, "estimated"] == pytest.approx(np.mean(values), abs=1e-14)
        assert frame.loc[run, "splits"] == len(values) == (10 if run == "lex1a" else 20)
        assert frame.loc[run, "score"] == found.gold[1, r]


# what is refused, and what is told


def test_a_type_with_one_team(field, messages):
    """It makes no pool; asked for by name it is refused; the others go on."""
    one = field.runs.select([name for name in field.runs.names if name[:4] not in ("man3", "neu8", "neu5")])
    found = messages.warned(lambda: by_type(one, field.qrels, "AP", depth=3), times=2)
    assert found.pools == ["lexical"]
    assert found.tested == ["lexical", "neural", "manual", "all"]
    messages.refused(lambda: by_type(one, field.qrels, "AP", depth=3, pools=["manual"]), argument="pools")
    assert by_type(one, field.qrels, "AP", depth=3, pools=["manual"], unit="run").pools == ["manual"]
    messages.refused(lambda: by_type(one.select(type=["manual", "neural"]), field.qrels, "AP"), argument="runs")


def test_a_split_that_leaves_nothing_to_test(field):
    """One run is left of the type in every split: it has no tau, and says so; the other groups go on."""
    two = field.runs.select(["lex1a", "lex4a", "neu2a", "neu2b", "neu5a"])
    found = by_type(two, field.qrels, "AP", depth=3, pools="lexical")
    table = found.table.set_index("tested")
    assert np.isnan(table.loc["lexical", "tau_b"])
    assert table.loc["lexical", ["runs", "splits", "undefined"]].tolist() == [1, 0, 2]
    assert table.loc["neural", ["splits", "undefined"]].tolist() == [2, 0]
    assert not np.isnan(table.loc["all", "tau_b"])


def test_teams_of_several_types(field, messages):
    mixed = field.runs.with_metadata(types={"lex1b": "neural"})
    found = messages.warned(lambda: by_type(mixed, field.qrels, "AP", depth=3, pools="manual"))
    assert found.settings["beware"] == "1 team with runs of several types"


def test_runs_without_a_label(field, messages):
    frames = {name: field.runs[name] for name in field.runs.names}
    table = field.runs.run_table
    bare = ptr.RunSet.from_frames(frames, metadata=table.assign(type=table["type"].where(table["name"] != "lex1a")))
    messages.refused(lambda: by_type(bare, field.qrels, "AP"), argument="runs")
    messages.refused(lambda: by_type(frames, field.qrels, "AP"), argument="runs")
    named = field.runs.with_metadata(types={"lex1a": "all"})
    messages.refused(lambda: by_type(named, field.qrels, "AP"), argument="runs")


def test_too_many_halves(field, messages):
    many = ptr.RunSet.from_frames(
        {f"r{i}": field.runs["lex1a"] for i in range(20)}, types=dict.fromkeys([f"r{i}" for i in range(20)], "copy")
    )
    messages.refused(lambda: by_type(many, field.qrels, "AP", unit="run", splits="all"), argument="splits")
