from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import AP, Bpref, Judged, P, R, Rprec, SetP, infAP, nDCG
from reference import NATIVE, as_qrels, as_runs, changed, fields, score_field

from pt_reuse.arrays.kernels import KERNELS, NO_CHANGES, UNJUDGED, Changes
from pt_reuse.data.judgments import Qrels
from pt_reuse.scoring.measures import native_spec
from pt_reuse.scoring.perturbed import PerturbedScores
from pt_reuse.scoring.rescoring import Rescoring, rescore
from pt_reuse.scoring.scores import mean_over_topics, score, topics_of_runs

#: judgments made at random, or by hand, are nobody's pool
pytestmark = pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")

SPECS = [native_spec(measure) for measure in NATIVE]


def dense(blocks, shape):
    """Return (measures, topics, runs) under the base set and (measures, topics, sets, runs) under the others."""
    n_measures, n_topics, n_sets, n_runs = shape
    base = np.full((n_measures, n_topics, n_runs), np.nan)
    found = np.full((n_measures, n_topics, n_sets, n_runs), np.nan)
    for block in blocks:
        base[:, block.topics] = block.base
        found[:, block.topics] = block.base[:, :, None]
        found[:, block.topic, block.set] = block.values
    assert not np.isnan(base).any()
    return base, found


def rescored(runs, qrels, measures, changes=NO_CHANGES, **options):
    shape = (len(measures), len(qrels.topics), changes.n_sets, len(runs))
    return dense(rescore(runs, qrels, measures, changes, **options), shape)


def draw_sets(chance, judgments, n_sets, share):
    """Return sets as {(topic, docno): new label}: None removes; some sets change nothing."""
    every = [(topic, docno) for topic, judged in judgments.items() for docno in judged]
    sets = []
    for kind in chance.choices(["nothing", "removes", "removes all relevant", "changes", "adds"], k=n_sets):
        if kind == "nothing":
            sets.append({})
        elif kind == "removes all relevant":
            topic = chance.choice(list(judgments))
            sets.append({(topic, docno): None for docno, label in judgments[topic].items() if label > 0})
        else:
            wanted = {"removes": [None], "changes": [None, -2, -1, 0, 1, 2, 5], "adds": [4]}[kind]
            sets.append({pair: chance.choice(wanted) for pair in every if chance.random() < share})
    return sets


def as_changes(sets, judgments, chance):
    """Code the sets over the rows of as_qrels(judgments), in any order."""
    qrels = as_qrels(judgments)
    frame = qrels.to_frame()
    row = {pair: i for i, pair in enumerate(zip(frame["qid"], frame["docno"], strict=True))}
    found = [(s, row[pair], label) for s, one in enumerate(sets) for pair, label in one.items()]
    found = [(s, i, UNJUDGED if label is None else label) for s, i, label in found]
    chance.shuffle(found)
    columns = np.array(found, dtype=np.int64).reshape(-1, 3).T
    return qrels, Changes(len(sets), columns[0], columns[1], columns[2].astype(np.int16))


@settings(deadline=None, max_examples=12)
@given(fields(), st.integers(0, 2**32), st.integers(0, 5), st.sampled_from([0.05, 0.4, 1.0]))
def test_many_judgment_sets_equal_each_set_by_itself_bit_for_bit(field, seed, n_sets, share):
    (runs, judgments), chance = field, random.Random(seed)
    sets = draw_sets(chance, judgments, n_sets, share)
    qrels, changes = as_changes(sets, judgments, chance)
    run_set = as_runs(runs)
    base, found = rescored(run_set, qrels, NATIVE, changes)
    order = [qrels.topics.index(topic) for topic in judgments]
    assert np.array_equal(base, score(run_set, qrels, NATIVE).values)
    for s, one in enumerate(sets):
        alone = changed(judgments, one)
        assert np.array_equal(found[:, :, s], score(run_set, as_qrels(alone), NATIVE).values)
        expected = score_field(NATIVE, runs, alone, "trec_eval")
        for m, measure in enumerate(NATIVE):
            assert found[m, order, s].tolist() == expected[measure], (s, measure)


def test_the_measures_tested_cover_every_kernel():
    assert {spec.kernel for spec in SPECS} == set(KERNELS)


def cut_into(n_topics, size):
    return [range(first, min(first + size, n_topics)) for first in range(0, n_topics, size)]


@settings(deadline=None, max_examples=12)
@given(fields(), st.integers(0, 2**32), st.integers(1, 6))
def test_blocks_of_any_size_give_the_same_bits(field, seed, size):
    (runs, judgments), chance = field, random.Random(seed)
    qrels, changes = as_changes(draw_sets(chance, judgments, 6, 0.3), judgments, chance)
    run_set, n_topics = as_runs(runs), len(qrels.topics)
    work, shape = Rescoring(run_set.field, run_set.names, qrels, NATIVE, changes), (len(NATIVE), n_topics, 6, len(runs))
    whole = rescored(run_set, qrels, NATIVE, changes)
    parts = dense(map(work.block, cut_into(n_topics, size)), shape)
    assert all(np.array_equal(mine, theirs) for mine, theirs in zip(parts, whole, strict=True))


def test_a_block_holds_the_cells_that_a_set_changes_and_no_others():
    qrels = as_qrels({"1": {"a": 1, "b": 0}, "2": {"a": 1}, "3": {"c": 1}})
    runs = as_runs({"A": {"1": {"a": 2.0, "b": 1.0}, "2": {"a": 1.0}}})
    changes = Changes(5, np.array([4, 1, 1]), np.array([2, 0, 1]), np.array([UNJUDGED, 0, UNJUDGED]))
    (block,) = rescore(runs, qrels, [AP], changes)
    assert (block.topics, block.base.shape, block.values.shape) == (range(3), (1, 3, 1), (1, 2, 1))
    assert (block.topic.tolist(), block.set.tolist()) == ([0, 1], [1, 4])
    assert [block.cells_of(t) for t in range(3)] == [slice(0, 1), slice(1, 2), slice(2, 2)]
    # that b is no longer judged shows in no AP: a set of that alone has no cell, unless another measure sees it
    unseen = Changes(1, np.array([0]), np.array([1]), np.array([UNJUDGED]))
    assert len(next(rescore(runs, qrels, [AP], unseen)).set) == 0
    (block,) = rescore(runs, qrels, [AP, Judged @ 2], unseen)
    assert block.values[:, 0, 0].tolist() == [1.0, 0.5]


@settings(deadline=None, max_examples=12)
@given(fields(labels=(-1, 0, 1, 2)), st.integers(0, 2**32))
def test_measures_of_ir_measures_under_many_sets_equal_each_set_by_itself(field, seed):
    (runs, judgments), chance = field, random.Random(seed)
    sets = [{pair: label for pair, label in one.items() if label != -2} for one in draw_sets(chance, judgments, 3, 0.4)]
    qrels, changes = as_changes(sets, judgments, chance)
    run_set = as_runs(runs)
    base, found = rescored(run_set, qrels, [infAP, AP, SetP], changes)
    assert np.array_equal(base, score(run_set, qrels, [infAP, AP, SetP]).values)
    for s, one in enumerate(sets):
        alone = score(run_set, as_qrels(changed(judgments, one)), [infAP, AP, SetP]).values
        assert np.array_equal(found[:, :, s], alone)


@settings(deadline=None, max_examples=12)
@given(fields(), st.integers(0, 2**32), st.booleans(), st.sampled_from([1, 1 << 24]))
def test_means_of_sets_are_the_sums_that_numpy_takes(field, seed, complete, at_once):
    (runs, judgments), chance = field, random.Random(seed)
    qrels, changes = as_changes(draw_sets(chance, judgments, 3, 0.4), judgments, chance)
    run_set = as_runs(runs)
    has = None if complete else topics_of_runs(run_set, qrels)
    blocks = rescore(run_set, qrels, NATIVE, changes, at_once=at_once)
    means = PerturbedScores.of(blocks, run_set, qrels, NATIVE, 3, complete=complete).means
    found = rescored(run_set, qrels, NATIVE, changes)[1]
    assert np.array_equal(means, mean_over_topics(found.swapaxes(1, 2), has))


def test_many_sets_on_trec8(trec8):
    runs, qrels = trec8.runs, trec8.qrels
    labels, chance = qrels.arrays.labels, np.random.default_rng(0)
    rows = np.flatnonzero(labels > 0)
    sets = [np.sort(chance.choice(rows, 100, replace=False)) for _ in range(5)]
    changes = Changes(5, np.repeat(np.arange(5), 100), np.concatenate(sets), np.full(500, UNJUDGED))
    measures = [AP, P @ 10, nDCG @ 10, Rprec, Bpref, R @ 1000]
    base, found = rescored(runs, qrels, measures, changes)
    frame = qrels.to_frame()
    reduced = Qrels(frame.drop(index=sets[3]), topics=qrels.topics)
    assert np.array_equal(found[:, :, 3], score(runs, reduced, measures).values)
    assert base.shape == (6, 50, 129)
