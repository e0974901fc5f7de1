"""Coefficients and bootstrap intervals: values equal the libraries', and resamples those drawn one by one."""

from __future__ import annotations

import krippendorff
import numpy as np
import pytest
from annotator_parts import by_item, couples, in_common, labelled, slow_alpha, slow_kappa
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import fleiss_kappa

import pt_reuse as ptr
from pt_reuse.judging.annotators.coefficients import (
    ONE_LABEL,
    Bootstrap,
    CohenKappa,
    KrippendorffAlpha,
    all_items,
    coincidence_tables,
    confusion_tables,
    fleiss_of,
    fleiss_tables,
    values_by,
)

SCALE = (0, 1, 2, 3)


def assert_is(tables, coefficient, by_library, *, one_label):
    (value,), (why,) = values_by([all_items(tables)], coefficient, np.zeros(len(tables), dtype=int), 1)
    if one_label:
        assert np.isnan(value)
        assert why == ONE_LABEL
    else:
        assert (value, why) == (pytest.approx(by_library(), abs=1e-12), "")


LABEL = st.sampled_from(SCALE)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(LABEL, LABEL), min_size=1, max_size=12), st.sampled_from([None, "linear", "quadratic"]))
def test_cohens_kappa(pairs, weights):
    mine, theirs = np.array(pairs).T
    tables = confusion_tables(mine, theirs, SCALE)
    one_label = len({*mine, *theirs}) == 1
    score = lambda: cohen_kappa_score(mine, theirs, labels=SCALE, weights=weights)  # noqa: E731
    assert_is(tables, CohenKappa(weights), score, one_label=one_label)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=1, max_size=10))
def test_alpha(rows):
    counts = np.array(rows)
    counts = counts[counts.sum(axis=1) > 1]
    assume(len(counts))
    for level in ("nominal", "ordinal"):
        alpha = lambda level=level: krippendorff.alpha(value_counts=counts, level_of_measurement=level)  # noqa: E731
        one_label = (counts.sum(axis=0) > 0).sum() == 1
        assert_is(coincidence_tables(counts), KrippendorffAlpha(level), alpha, one_label=one_label)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.lists(LABEL, min_size=3, max_size=3), min_size=1, max_size=10))
def test_fleiss_kappa(items):
    counts = np.array([[item.count(label) for label in SCALE] for item in items])
    one_label = (counts.sum(axis=0) > 0).sum() == 1
    assert_is(fleiss_tables(counts), fleiss_of, lambda: fleiss_kappa(counts), one_label=one_label)


@pytest.mark.parametrize("over", ["topics", "items"])
def test_resamples_are_those_drawn_one_by_one(over):
    frame = labelled(seed=11, n_topics=6, n_docs=4, n_annotators=2)
    wide = frame.set_index(["qid", "docno", "annotator"])["label"].unstack()
    mine, theirs = wide.to_numpy().T
    topic = wide.index.get_level_values("qid").astype(int).to_numpy() - 1
    unit = topic if over == "topics" else np.arange(len(mine))
    random, values = np.random.default_rng(7), []
    units = unit.max() + 1
    for drawn in random.integers(0, units, (200, units)):
        rows = np.concatenate([np.flatnonzero(unit == u) for u in drawn])
        values.append(cohen_kappa_score(mine[rows], theirs[rows], labels=SCALE))
    result = ptr.judging.annotator_agreement(frame, over=over, resamples=200, seed=7, confidence=0.9)
    row = result.pairs.iloc[0]
    assert [row["kappa_low"], row["kappa_high"]] == pytest.approx(np.percentile(values, [5, 95]).tolist(), abs=1e-12)
    assert result.settings["intervals"] == f"90 % percentile bootstrap over {over}, 200 resamples"


@pytest.mark.parametrize("over", ["topics", "items"])
def test_intervals_of_all_together_are_those_drawn_one_by_one(over):
    frame = labelled(seed=17, n_topics=5, n_docs=4, n_annotators=4, gaps=0.4)
    items = by_item(frame)
    # in the order of the items, topic by topic
    items = [(int(qid) - 1, given) for (qid, _), given in items.items() if len(given) > 1]
    unit = np.array([topic for topic, _ in items]) if over == "topics" else np.arange(len(items))
    units, random = unit.max() + 1, np.random.default_rng(3)
    values = {"cohen_kappa": [], "alpha_ordinal": []}
    for drawn in random.integers(0, units, (40, units)):
        taken = dict(enumerate(items[row][1] for u in drawn for row in np.flatnonzero(unit == u)))
        kappas = [slow_kappa(in_common(taken, *two), SCALE) for two in couples(taken)]
        values["cohen_kappa"].append(np.mean([float(kappa) for kappa in kappas if kappa is not None]))
        values["alpha_ordinal"].append(
            float(slow_alpha([list(given.values()) for given in taken.values()], SCALE, "ordinal"))
        )
    table = ptr.judging.annotator_agreement(frame, over=over, resamples=40, seed=3, confidence=0.8).table
    for name, drawn in values.items():
        row = table[(table["items"] == "all") & (table["labels"] == "grades") & (table["coefficient"] == name)].iloc[0]
        assert [row["low"], row["high"]] == pytest.approx(np.percentile(drawn, [10, 90]).tolist(), abs=1e-12)


def test_a_seed_gives_the_same_intervals_in_every_process():
    frame = labelled(seed=13)
    found = ptr.judging.annotator_agreement(frame, seed=5, resamples=60).pairs["kappa_low"].tolist()
    # kept from another process
    assert found[:2] == pytest.approx([0.20879120879120883, 0.07964601769911506], abs=1e-12)
    assert ptr.judging.annotator_agreement(frame, seed=5, resamples=60).pairs["kappa_low"].tolist() == found
    assert ptr.judging.annotator_agreement(frame, seed=6, resamples=60).pairs["kappa_low"].tolist() != found
    assert ptr.judging.annotator_agreement(frame, resamples=0).pairs["kappa_low"].isna().all()


def test_one_topic_has_no_interval_over_topics_and_resamples_without_a_value_are_counted():
    one = labelled(seed=15, n_topics=1)
    assert ptr.judging.annotator_agreement(one).table["low"].isna().all()
    assert ptr.judging.annotator_agreement(one, over="items", resamples=50).table["low"].notna().all()
    # in a resample of one topic twice, all labels are the same
    tables = confusion_tables(np.array([0, 0, 1]), np.array([0, 0, 0]), (0, 1))
    found = Bootstrap("items", 400, 1, 0.95).interval([all_items(tables)], CohenKappa(None), np.arange(3))
    assert 400 * (1 - 2 * (2 / 3) ** 3) < found.defined < 400
    assert found.low <= found.high
