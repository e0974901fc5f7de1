"""How parts are drawn: what each has, and which are compared."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pt_reuse.studies.subcollections.sources import checked_drawing, compared

NOTHING = {"source": None, "share": None, "size": None, "other_size": None}


def drawing(how="source", sizes=None, shares=None, whole=False, repeats=2, seed=3):
    return checked_drawing(how=how, sizes=sizes, shares=shares, whole=whole, repeats=repeats, seed=seed)


def of(*counts):
    """Return sources of so many documents each, spread over a corpus of which four documents have none."""
    code = np.random.default_rng(1).permutation(np.repeat(np.arange(-1, len(counts)), [4, *counts]))
    return {"ABCDEF"[n]: np.flatnonzero(code == n) for n in range(len(counts))}


def drawn(sources, **options):
    """Return the parts, and for each two that are compared both and their setting."""
    how = drawing(**options)
    parts = how.parts(sources)
    both = ((parts[i], parts[j]) for i, j in compared(parts))
    return parts, [(one, other, how.setting(one, other)) for one, other in both]


def documents(part):
    return set(part.documents.tolist())


def test_by_chance_parts_are_as_large_as_the_sources_and_apart():
    sources = of(5, 8, 3)
    parts, pairs = drawn(sources, how="random", repeats=3)
    assert len(parts) == len(pairs) == 9
    for draw in (1, 2, 3):
        mine = [part for part in parts if part.draw == draw]
        assert [len(part.documents) for part in mine] == [5, 8, 3]
        assert set().union(*map(documents, mine)) == set(np.concatenate([*sources.values()]).tolist())
    assert documents(parts[0]) != documents(parts[3])
    assert all(one.draw == other.draw and setting == NOTHING for one, other, setting in pairs)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 12), min_size=1, max_size=3, unique=True), st.integers(0, 99))
def test_two_parts_of_all_sizes_are_apart_and_small_ones_within_large_ones(sizes, seed):
    parts, pairs = drawn(of(25), how="random", sizes=sizes, seed=seed)
    assert len(parts) == 2 * 2 * len(sizes)
    assert len(pairs) == 2 * len(sizes) ** 2
    for one, other, setting in pairs:
        assert one.draw == other.draw
        assert not documents(one) & documents(other)
        n, m = sorted([len(one.documents), len(other.documents)])
        assert setting == {**NOTHING, "size": n, "other_size": m}
    for side in ("front", "back"):
        mine = [part for part in parts if part.draw == 1 and part.name.endswith(side)]
        assert [len(part.documents) for part in mine] == sorted(sizes)
        assert all(documents(small) < documents(large) for small, large in pairwise(mine))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from([0, 0.1, 0.25, 0.5, 1.0]), min_size=1, max_size=4), st.integers(0, 99))
def test_mixed_parts_have_their_shares_and_nothing_of_each_other(shares, seed):
    sources = of(12, 20, 9)
    parts, pairs = drawn(sources, how="mixed", shares=shares, seed=seed)
    assert len(pairs) == 2 * 3 * len(set(shares)) == len(parts) / 2
    for one, other, setting in pairs:
        n = len(one.documents)
        assert (one.draw, one.share, n) == (other.draw, other.share, len(other.documents))
        pair = f"{one.source} and {other.source}"
        assert setting == {"source": pair, "share": one.share, "size": n, "other_size": n}
        assert not documents(one) & documents(other)
        own = np.floor(one.share * n + 0.5)
        for part in (one, other):
            mine = set(sources[part.source].tolist())
            assert len(documents(part)) == n
            assert len(documents(part) & mine) == own
        # as large as the smaller source, where the shares allow it
        small, large = sorted(len(sources[part.source]) for part in (one, other))
        if min(shares) == 1:
            assert n == small
        fits = [
            m
            for m in range(1, 42)
            if all(np.floor(s * m + 0.5) <= small and 2 * m - np.floor(s * m + 0.5) <= 41 - large for s in shares)
        ]
        assert n == max(fits)


def test_the_whole_collection_is_one_more_part():
    parts, pairs = drawn(of(5, 8, 3), whole=True)
    assert [part.name for part in parts] == ["A", "B", "C", "whole"]
    assert documents(parts[-1]) == set().union(*map(documents, parts[:3]))
    assert len(pairs) == 6
    for one, other, setting in pairs:
        assert setting == {**NOTHING, "source": "whole" if "whole" in (one.name, other.name) else None}


def test_fractions_are_shares_of_all_documents():
    parts = drawing("random", sizes=[0.1, 0.48, 1], repeats=1).parts(of(25))
    # halves are rounded up; a whole number is no fraction
    assert [len(part.documents) for part in parts] == [1, 3, 12, 1, 3, 12]


WRONG = {
    "sizes 0": {"sizes": 0},
    "sizes above 1": {"sizes": [0.5, 1.5]},
    "shares above 1": {"how": "mixed", "shares": [0, 2]},
    "shares of what is not mixed": {"shares": 0.5},
    "whole parts at random": {"how": "random", "whole": True},
    "whole parts of some documents": {"sizes": 5, "whole": True},
}
TOO_MUCH = {
    "one source": ({}, (9,)),
    "sizes of sources": ({"sizes": 6}, (5, 8)),
    "sizes at random": ({"how": "random", "sizes": 0.6}, (20,)),
    "sizes of mixed parts": ({"how": "mixed", "sizes": 3}, (5, 8)),
    "a source of one document": ({"how": "mixed"}, (1, 8)),
    "a fraction that is no document": ({"how": "random", "sizes": 0.01}, (20,)),
}


def test_what_cannot_be_meant(messages):
    for fault in WRONG:
        messages.refused(drawing, argument=fault.split()[0], **WRONG[fault])


def test_more_than_there_is(messages):
    for options, counts in TOO_MUCH.values():
        messages.refused(drawing(**options).parts, members=of(*counts))
