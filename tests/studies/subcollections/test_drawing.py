"""How parts are drawn: what each has, which are compared, and that seeds decide it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pt_reuse.studies.subcollections.sources import Setting, Sources, checked_drawing


def drawing(how="source", sizes=None, shares=None, repeats=2, seed=3):
    return checked_drawing(how=how, sizes=sizes, shares=shares, repeats=repeats, seed=seed)


def of(*counts, without=0):
    """Return sources of so many documents each, spread over the corpus, and some of none."""
    code = np.repeat(np.arange(len(counts)), counts)
    code = np.concatenate([code, np.full(without, -1)])
    code = np.random.default_rng(1).permutation(code)
    return Sources(tuple("ABCDEF"[: len(counts)]), code)


def documents(part):
    return set(part.documents.tolist())


def same(one, other):
    assert one.pairs == other.pairs
    for a, b in zip(one.parts, other.parts, strict=True):
        assert (a.name, a.draw, a.source, a.share) == (b.name, b.draw, b.source, b.share)
        assert a.documents.tolist() == b.documents.tolist()


def test_a_part_for_each_source_and_each_two_compared():
    sources = of(5, 8, 3, without=4)
    split = drawing().split(sources)
    assert [(part.name, part.source, part.draw) for part in split.parts] == [
        ("A", "A", 1),
        ("B", "B", 1),
        ("C", "C", 1),
    ]
    for s, part in enumerate(split.parts):
        assert documents(part) == set(np.flatnonzero(sources.code == s).tolist())
    assert [(pair.first, pair.second) for pair in split.pairs] == [(0, 1), (0, 2), (1, 2)]
    assert {pair.setting for pair in split.pairs} == {Setting()}


def test_by_chance_parts_are_as_large_as_the_sources_and_apart():
    sources = of(5, 8, 3, without=4)
    split = drawing("random", repeats=3).split(sources)
    assert len(split.parts) == 9
    assert len(split.pairs) == 9
    known = set(np.flatnonzero(sources.code >= 0).tolist())
    for draw in (1, 2, 3):
        mine = [part for part in split.parts if part.draw == draw]
        assert [len(part.documents) for part in mine] == [5, 8, 3]
        assert set().union(*map(documents, mine)) == known
    assert documents(split.parts[0]) != documents(split.parts[3])
    assert all(split.parts[pair.first].draw == split.parts[pair.second].draw for pair in split.pairs)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 12), min_size=1, max_size=3, unique=True), st.integers(0, 99))
def test_two_parts_of_all_sizes_are_apart_and_small_ones_within_large_ones(sizes, seed):
    split = drawing("random", sizes=sizes, seed=seed, repeats=2).split(of(25))
    ordered = sorted(sizes)
    assert len(split.parts) == 2 * 2 * len(sizes)
    assert len(split.pairs) == 2 * len(sizes) ** 2
    for pair in split.pairs:
        one, other = split.parts[pair.first], split.parts[pair.second]
        assert one.draw == other.draw
        assert not documents(one) & documents(other)
        found = sorted([len(one.documents), len(other.documents)])
        assert [pair.setting.size, pair.setting.other_size] == found
    for side in ("front", "back"):
        mine = [part for part in split.parts if part.draw == 1 and part.name.endswith(side)]
        assert [len(part.documents) for part in mine] == ordered
        for small, large in pairwise(mine):
            assert documents(small) < documents(large)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from([0, 0.1, 0.25, 0.5, 1.0]), min_size=1, max_size=4), st.integers(0, 99))
def test_mixed_parts_have_their_share_and_nothing_of_the_other(shares, seed):
    sources = of(12, 20, 9)
    split = drawing("mixed", shares=shares, seed=seed, repeats=2).split(sources)
    assert len(split.pairs) == 2 * 3 * len(set(shares))
    for pair in split.pairs:
        pure, mixed = split.parts[pair.first], split.parts[pair.second]
        s = sources.names.index(pair.setting.source)
        assert pure.draw == mixed.draw
        assert (pure.source, pure.share, mixed.source, mixed.share) == (
            pair.setting.source, 1.0, pair.setting.source, pair.setting.share,
        )  # fmt: skip
        # nine documents of the smallest source make two parts of four
        assert len(pure.documents) == len(mixed.documents) == pair.setting.size == pair.setting.other_size == 4
        assert not documents(pure) & documents(mixed)
        assert (sources.code[pure.documents] == s).all()
        assert (sources.code[mixed.documents] == s).sum() == np.floor(pair.setting.share * 4 + 0.5)


def test_sources_in_several_sizes_are_compared_with_other_sources_alone():
    split = drawing(sizes=[2, 4], repeats=2).split(of(5, 8))
    assert [part.name for part in split.parts if part.draw == 1] == ["A 2", "A 4", "B 2", "B 4"]
    assert len(split.pairs) == 2 * 4
    assert {(pair.setting.size, pair.setting.other_size) for pair in split.pairs} == {(2, 2), (2, 4), (4, 4)}
    assert all(split.parts[pair.first].source != split.parts[pair.second].source for pair in split.pairs)


def test_fractions_are_shares_of_all_documents():
    split = drawing("random", sizes=[0.1, 0.48], repeats=1).split(of(25))
    # halves are rounded up
    assert [len(part.documents) for part in split.parts] == [3, 12, 3, 12]


@pytest.mark.parametrize("how", ["random", "mixed"])
def test_the_seed_decides_all_of_it_and_more_draws_change_none(how):
    same(drawing(how).split(of(9, 12)), drawing(how).split(of(9, 12)))
    few, more = drawing(how, repeats=1).split(of(9, 12)), drawing(how, repeats=3).split(of(9, 12))
    assert [documents(part) for part in more.parts[: len(few.parts)]] == [documents(part) for part in few.parts]
    other = drawing(how, seed=4).split(of(9, 12))
    assert [documents(part) for part in other.parts] != [
        documents(part) for part in drawing(how).split(of(9, 12)).parts
    ]


WRONG = {
    "sizes 0": {"sizes": 0},
    "sizes above 1": {"sizes": [0.5, 1.5]},
    "shares above 1": {"how": "mixed", "shares": [0, 2]},
    "shares of what is not mixed": {"shares": 0.5},
}
TOO_MUCH = {
    "one source": ({}, (9,)),
    "sizes of sources": ({"sizes": 6}, (5, 8)),
    "sizes at random": ({"how": "random", "sizes": 0.6}, (20,)),
    "sizes of mixed parts": ({"how": "mixed", "sizes": 3}, (5, 8)),
    "a source of one document": ({"how": "mixed"}, (1, 8)),
    "a fraction that is no document": ({"how": "random", "sizes": 0.01}, (20,)),
}


@pytest.mark.parametrize("fault", WRONG)
def test_what_cannot_be_meant(fault, messages):
    messages.refused(drawing, argument=fault.split()[0], **WRONG[fault])


@pytest.mark.parametrize("fault", TOO_MUCH)
def test_more_than_there_is(fault, messages):
    given, counts = TOO_MUCH[fault]
    messages.refused(lambda: drawing(**given).split(of(*counts)))
