from __future__ import annotations

import random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import AP, Bpref, P, R, Rprec, nDCG
from reference import NATIVE, as_qrels, as_runs, changed, fields, score_field

from pt_reuse.engine import rescore
from pt_reuse.engine.cells import UNJUDGED
from pt_reuse.engine.kernels import KERNELS
from pt_reuse.engine.rescore import NO_CHANGES, Changes
from pt_reuse.qrels.judgments import Qrels
from pt_reuse.scoring.measures import native_spec
from pt_reuse.scoring.scores import hit_index, score

SPECS = [native_spec(measure) for measure in NATIVE]


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


@settings(deadline=None, max_examples=120)
@given(fields(), st.integers(0, 2**32), st.integers(0, 5), st.sampled_from([0.05, 0.4, 1.0]))
def test_many_judgment_sets_equal_each_set_by_itself_bit_for_bit(field, seed, n_sets, share):
    (runs, judgments), chance = field, random.Random(seed)
    sets = draw_sets(chance, judgments, n_sets, share)
    qrels, changes = as_changes(sets, judgments, chance)
    run_set = as_runs(runs)
    base, found = rescore.score_field(hit_index(run_set, qrels), qrels.arrays.labels, SPECS, changes)
    order = [qrels.topics.index(topic) for topic in judgments]
    assert np.array_equal(base, score(run_set, qrels, NATIVE).values)
    for s, one in enumerate(sets):
        alone = changed(judgments, one)
        assert np.array_equal(found[:, :, s], score(run_set, as_qrels(alone), NATIVE).values)
        expected = score_field(NATIVE, runs, alone, "trec_eval")
        for m, measure in enumerate(NATIVE):
            assert found[m, order, s].tolist() == expected[measure], (s, measure)


@settings(deadline=None, max_examples=30)
@given(fields(), st.integers(0, 2**32))
def test_a_measure_alone_equals_the_measure_among_others(field, seed):
    (runs, judgments), chance = field, random.Random(seed)
    qrels, changes = as_changes(draw_sets(chance, judgments, 3, 0.3), judgments, chance)
    index, labels = hit_index(as_runs(runs), qrels), qrels.arrays.labels
    base, found = rescore.score_field(index, labels, SPECS, changes)
    for m, spec in enumerate(SPECS):
        alone = rescore.score_field(index, labels, [spec], changes)
        assert np.array_equal(alone[0][0], base[m])
        assert np.array_equal(alone[1][0], found[m])


def test_the_measures_tested_cover_every_kernel():
    assert {spec.kernel for spec in SPECS} == set(KERNELS)


@settings(deadline=None, max_examples=30)
@given(fields(), st.integers(0, 2**32), st.integers(1, 6))
def test_parts_of_the_sets(field, seed, step):
    (runs, judgments), chance = field, random.Random(seed)
    qrels, changes = as_changes(draw_sets(chance, judgments, 6, 0.3), judgments, chance)
    index, labels = hit_index(as_runs(runs), qrels), qrels.arrays.labels
    whole = rescore.score_field(index, labels, SPECS, changes)[1]
    parts = [rescore.score_field(index, labels, SPECS, changes.part(i, i + step))[1] for i in range(0, 6, step)]
    assert np.array_equal(np.concatenate(parts, axis=2), whole)


def test_by_hand():
    # a and b relevant: AP (1/1 + 2/3) / 2; without a: 1/3; with c, too: (1 + 1 + 1) / 3
    qrels = as_qrels({"1": {"a": 1, "b": 1, "c": 0}})
    runs = as_runs({"A": {"1": {"a": 3.0, "c": 2.0, "b": 1.0}}})
    changes = Changes(3, np.array([0, 1]), np.array([0, 2]), np.array([UNJUDGED, 1]))
    base, found = rescore.score_field(hit_index(runs, qrels), qrels.arrays.labels, [native_spec(AP)], changes)
    assert base.tolist() == [[[(1 + 2 / 3) / 2]]]
    assert found.tolist() == [[[[1 / 3], [1.0], [(1 + 2 / 3) / 2]]]]


def test_no_runs_retrieve_anything_judged():
    qrels = as_qrels({"1": {"a": 1}, "2": {"b": 2}})
    runs = as_runs({"A": {"1": {"x": 1.0}}, "B": {"3": {"x": 1.0}}})
    changes = Changes(2, np.array([1]), np.array([0]), np.array([3]))
    base, found = rescore.score_field(hit_index(runs, qrels), qrels.arrays.labels, SPECS, changes)
    for values, spec in zip(found, SPECS, strict=True):
        if spec.kernel != "unjudged":
            assert not values.any()
        elif spec.of_cutoff:
            assert values.tolist() == [[[1 / spec.cutoff, 0]] * 2, [[0, 0]] * 2]
        else:
            assert (values == 1).all()
    none = rescore.score_field(hit_index(runs, qrels), qrels.arrays.labels, SPECS, NO_CHANGES)
    assert none[1].shape == (len(SPECS), 2, 0, 2)
    assert np.array_equal(none[0], base)


def test_many_sets_on_trec8(trec8):
    runs, qrels = trec8.runs, trec8.qrels
    labels, chance = qrels.arrays.labels, np.random.default_rng(0)
    rows = np.flatnonzero(labels > 0)
    sets = [np.sort(chance.choice(rows, 100, replace=False)) for _ in range(20)]
    changes = Changes(20, np.repeat(np.arange(20), 100), np.concatenate(sets), np.full(2000, UNJUDGED))
    measures = [AP, P @ 10, nDCG @ 10, Rprec, Bpref, R @ 1000]
    specs = [native_spec(measure) for measure in measures]
    base, found = rescore.score_field(hit_index(runs, qrels), labels, specs, changes)
    frame = qrels.to_frame()
    for s in range(0, 20, 10):
        reduced = Qrels(frame.drop(index=sets[s]), topics=qrels.topics)
        assert np.array_equal(found[:, :, s], score(runs, reduced, measures).values)
    assert base.shape == (6, 50, 129)
