"""Topics judged from other runs are set apart, and the pool of the rest is inferred as if they were alone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pool_parts import TOPICS, as_qrels, as_runs, comparable, fitter, pooled_fields

from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.pooling.depth import depth_pool
from pt_reuse.studies.infer_pool.inference import Certainty, infer_pool
from pt_reuse.studies.infer_pool.search import Curves, name_bits


@pytest.fixture(scope="module")
def track(trec8):
    """Return the runs and the topics of TREC-8, fewer of them: what is set apart is told by topics."""
    chosen = range(0, 50, 2)
    return Track(trec8.runs._with(trec8.runs.field.take_topics(chosen)), [trec8.runs.topics[t] for t in chosen])


class Track(NamedTuple):
    runs: RunSet
    topics: list[str]


def one_run_each(track, n, seed=1):
    """Return pooled runs of some teams, one of each, and the pooled runs of all other teams."""
    random = np.random.default_rng(seed)
    table = track.runs.select(pooled=True).run_table
    teams = random.choice(sorted(set(table["team"])), n, replace=False)
    mine = [random.choice(table["name"][table["team"] == team]) for team in teams]
    return sorted(mine), table["name"][~table["team"].isin(teams)].tolist()


def mixed(track, mine, others, old, *, depth=125, missing=0):
    """Return judgments: old topics of a pool of other runs to depth 100, the others of some runs to a depth."""
    here = others[:missing]
    new = depth_pool(track.runs, depth=depth, contributors=[*mine, *here]).to_frame()
    before = depth_pool(track.runs, depth=100, contributors=others[missing:]).to_frame()
    frame = pd.concat([new[~new["qid"].isin(old)], before[before["qid"].isin(old)]])
    return Qrels(frame[["qid", "docno"]].assign(label=0))


@pytest.mark.parametrize(("n_old", "missing"), [(2, 0), (20, 0), (12, 15)])
def test_topics_of_other_runs_are_set_apart(track, n_old, missing):
    mine, others = one_run_each(track, 17)
    old = set(np.random.default_rng(7).choice(track.topics, n_old, replace=False))
    qrels = mixed(track, mine, others, old, missing=missing)
    runs = track.runs.select(mine)
    found = infer_pool(runs, qrels)
    assert (found.depth, sorted(found.contributors)) == (125, mine)
    assert set(found.apart) == old
    assert set(found.topics) == set(qrels.topics) - old
    # it is the answer of the other topics alone
    alone = infer_pool(runs, qrels.select(found.topics))
    assert (alone.depth, alone.contributors, alone.certainty) == (found.depth, found.contributors, found.certainty)
    left = ["topics_apart", "judged_apart"]
    pd.testing.assert_frame_equal(alone.summary.drop(columns=left), found.summary.drop(columns=left))
    pd.testing.assert_frame_equal(alone.by_rank, found.by_rank)
    pd.testing.assert_frame_equal(alone.table, found.table)
    # and both parts are told
    row, topics = found.summary.iloc[0], found.by_topic.set_index("qid")
    judged = qrels.to_frame()["qid"].value_counts()
    assert (row["topics_apart"], row["judged_apart"]) == (n_old, judged[sorted(old)].sum())
    assert row["judged"] == judged[found.topics].sum()
    assert (topics["judged"] == judged[topics.index]).all()
    assert (topics["depth"] == np.where(topics.index.isin(old), 0, 125)).all()
    assert set(topics.index[topics["apart"]]) == old
    of_old = found.unexplained["qid"].isin(old)
    assert of_old.sum() == row["judged_apart"]
    assert (~of_old).sum() == row["judged"] - row["explained"]
    assert found.settings["set apart"] == n_old
    assert (missing > 0) or found.certainty is Certainty.EXACT


def test_no_topic_is_explained(track):
    mine, others = one_run_each(track, 17)
    qrels = mixed(track, mine, others, set(track.topics))
    found = infer_pool(track.runs.select(mine), qrels, order="trec_eval")
    assert found.certainty is Certainty.NONE
    assert (found.depth, found.contributors, found.apart) == (0, [], [])
    assert found.tried["best"].sum() == 1


def test_a_pool_has_no_topic_apart(track):
    mine, others = one_run_each(track, 17)
    runs, random = track.runs.select([*mine, *others[:5]]), np.random.default_rng(2)
    qrels = mixed(track, mine, others, set())
    whole = infer_pool(runs, qrels.keep(random.random(len(qrels)) < 0.98))
    assert (whole.depth, sorted(whole.contributors), whole.apart) == (125, mine, [])
    assert "set apart" not in whole.settings


def some_of(covid, seed):
    """Return 25 of the runs, by chance."""
    return covid.runs.select(np.random.default_rng(seed).choice(covid.runs.names, 25, replace=False))


def test_topics_that_blur_the_pool_of_the_others_stay_apart(covid):
    runs = some_of(covid, 0)
    found = infer_pool(runs, covid.qrels, order="trec_eval")
    assert (len(found.apart), len(found.contributors)) == (22, 18)
    assert runs.select(found.contributors).pooled.sum() == runs.pooled.sum() == 16
    assert found.certainty is Certainty.PARTIAL
    # a topic without depth is set apart
    assert ((found.by_topic["depth"] == 0) == found.by_topic["apart"]).all()


def test_a_part_is_told_where_setting_topics_apart_shows_no_pool(covid):
    runs = some_of(covid, 5)
    found = infer_pool(runs, covid.qrels, order="trec_eval")
    assert (found.depth, found.apart, found.certainty) == (7, [], Certainty.PARTIAL)
    assert len(found.contributors) == runs.select(found.contributors).pooled.sum() == runs.pooled.sum() == 18
    assert (found.by_topic["depth"] == 7).all()
    assert found.tried["best"].sum() == 1


def test_topics_that_lack_judgments_are_not_told_as_those_of_other_runs(track):
    mine, others = one_run_each(track, 17)
    runs, qrels = track.runs.select(mine), mixed(track, mine, others, set())
    qrels = qrels.keep(np.random.default_rng(1).random(len(qrels)) < 0.9)
    found = infer_pool(runs, qrels, order="trec_eval")
    assert len(found.apart) == 14
    assert found.certainty is Certainty.PARTIAL
    assert "tolerance=0.2 allows it" in found.explanation
    larger = infer_pool(runs, qrels, order="trec_eval", tolerance=0.2)
    assert (larger.depth, sorted(larger.contributors), larger.apart) == (125, mine, [])


@settings(deadline=None, max_examples=30)
@given(pooled_fields(), st.lists(st.integers(0, 7), min_size=len(TOPICS), max_size=len(TOPICS)))
def test_ends_are_those_of_the_curves_to_every_depth(made, depths):
    field, _, _, judged = made
    if not comparable(field, judged):
        return
    fits = fitter(as_runs(field), as_qrels(judged))
    given_depths = np.array(depths[: len(fits.ranks.has_topic)]) * fits.ranks.has_topic
    fit = fits.settle(np.minimum(given_depths, fits.ranks.longest))
    of_topics = fit.depths[fits.ranks.has_topic]
    every = Curves(*fits.ranks.found(fit.runs), 0.0)
    assert fit.ends == every.ends(fit.depths).sum() - name_bits(fit.runs, of_topics, fits.ranks.longest)
