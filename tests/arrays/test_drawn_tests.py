"""Tests of all pairs in every resample of the topics, against the same tests of the topics drawn, written out."""

from __future__ import annotations

import numpy as np
import pytest

from pt_reuse._choices import CORRECTIONS
from pt_reuse.arrays import significance
from pt_reuse.arrays.bootstrap import TopicBootstrap
from pt_reuse.arrays.significance import agreement_of_tests, drawn_agreement, pair_tests


def scores(seed, n_topics=12, n_systems=8):
    """Return two scorings with ties, twins, and systems that are apart by the same on every topic."""
    random = np.random.default_rng(seed)
    one = np.round(random.random((n_topics, n_systems)), 1) + np.linspace(0, 0.6, n_systems)
    other = np.round(one + random.normal(0, 0.2, one.shape), 1)
    one[:, 3] = one[:, 4]
    other[:, 0] = other[:, 1] + 0.1
    # the last bits alone
    other[:, 5] = other[:, 6] + 1e-16
    return one, other


@pytest.mark.parametrize("correction", CORRECTIONS)
def test_each_draw_is_the_test_of_its_topics(correction):
    one, other = scores(1)
    bootstrap = TopicBootstrap(60, 5, 0.95)
    found = drawn_agreement(one, other, bootstrap, 0.05, correction)
    for draw, counts in enumerate(bootstrap.counts(len(one))):
        rows = np.repeat(np.arange(len(one)), counts)
        expected = agreement_of_tests(pair_tests(one[rows]), pair_tests(other[rows]), 0.05, correction)
        assert (found.ss_a[draw], found.ss_d[draw], found.sn[draw], found.ns[draw]) == (
            expected.ss_a,
            expected.ss_d,
            expected.sn,
            expected.ns,
        )
        by_second = expected.ss_a + expected.ss_d + expected.ns
        by_first = expected.ss_a + expected.ss_d + expected.sn
        share = expected.ns / by_second if by_second else np.nan
        missed = expected.sn / by_first if by_first else np.nan
        assert found.only_second[draw] == pytest.approx(share, nan_ok=True)
        assert found.only_first[draw] == pytest.approx(missed, nan_ok=True)
        assert found.agree[draw] == pytest.approx(expected.agree, nan_ok=True)
    assert found.ss_a.any()
    assert found.ns.any()


def test_the_memory_that_is_held_at_a_time_changes_nothing(monkeypatch):
    one, other = scores(2)
    bootstrap = TopicBootstrap(30, 1, 0.95)
    whole = drawn_agreement(one, other, bootstrap, 0.05, "holm")
    monkeypatch.setattr(significance, "_AT_ONCE", 100)
    parts = drawn_agreement(one, other, bootstrap, 0.05, "holm")
    assert (whole.ns == parts.ns).all()
    assert (whole.ss_a == parts.ss_a).all()
