from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from ir_measures import AP

from pt_reuse.demo.simulated import simulate_field
from pt_reuse.pooling.depth import depth_pool
from pt_reuse.scoring.scores import score

#: AP of the first four runs of `field`, computed in another process
AP_ELSEWHERE = [0.28890690737060754, 0.25809722684722686, 0.40651924462016487, 0.35976727016673693]


@pytest.fixture(scope="module")
def field():
    return simulate_field(n_topics=6, n_docs=300, length=40, depth=5)


def test_the_field_is_what_was_asked_for(field):
    assert len(field.runs) == 18
    assert field.runs.topics == [str(n) for n in range(1, 7)]
    assert field.depth == 5
    assert (field.runs.field.lengths == 40).all()
    assert field.runs.run_table.groupby("team").size().tolist() == [2] * 9
    assert field.runs.run_table.groupby("team")["type"].nunique().eq(1).all()
    assert (
        field.runs.run_table.loc[~field.runs.pooled, ["team", "type"]].to_numpy().tolist() == [["team-8", "neural"]] * 2
    )
    assert repr(field).startswith("SimulatedField (simulated, not real): RunSet: 18 runs (16 pooled), 9 teams, 3 types")


def test_the_judgments_are_the_pool_of_the_pooled_runs(field):
    frame = field.qrels.to_frame()
    assert set(frame["label"]) == {0, 1, 2}
    pool = depth_pool(field.runs, depth=5)
    assert len(pool) == len(field.qrels)
    assert len(pool.remainder(field.qrels)) == 0
    every = depth_pool(field.runs, depth=40, contributors="all")
    assert len(every) == len(field.all_qrels)
    assert len(field.all_qrels - field.qrels) == len(every) - len(pool)
    pd.testing.assert_frame_equal(field.all_qrels.restrict(pool).to_frame(), frame)


def test_the_same_seed_gives_the_same_field_in_every_process(field):
    again, other = (simulate_field(seed=s, n_topics=6, n_docs=300, length=40, depth=5) for s in (8, 9))
    pd.testing.assert_frame_equal(again.runs.to_frame(), field.runs.to_frame())
    pd.testing.assert_frame_equal(again.qrels.to_frame(), field.qrels.to_frame())
    assert not np.array_equal(score(other.runs, other.qrels, AP).values, score(field.runs, field.qrels, AP).values)
    # as another process found them
    assert score(field.runs, field.qrels, AP).mean_values[0, :4] == pytest.approx(AP_ELSEWHERE, abs=1e-12)


@pytest.mark.parametrize("options", [{"n_topics": 0}, {"n_docs": 19}, {"n_teams": 2}, {"length": 0}, {"depth": 0}])
def test_numbers_that_are_too_small(options, messages):
    messages.refused(lambda: simulate_field(**{"n_topics": 1, **options}), argument=next(iter(options)))
