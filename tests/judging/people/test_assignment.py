"""Who is asked what: nobody twice, everybody as much as the others, and nothing told by the order of the pool."""

from __future__ import annotations

import hashlib
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from pt_reuse.judging.people.export import assign, wanted_for
from pt_reuse.judging.people.manifest import Pair, drawn

SIZES = st.lists(st.integers(1, 9), min_size=1, max_size=5)
PEOPLE = ["ann", "bob", "cem", "dot", "eve"]


def pair(key, wanted, asked=()):
    return Pair("".join(key), *key, wanted, asked, strategy=None, round=1, reason=None, further={})


def keys(sizes):
    return [(str(t), f"d{i}") for t, size in enumerate(sizes) for i in range(size)]


@settings(deadline=None, max_examples=50)
@given(SIZES, st.integers(1, 5), st.data(), st.integers(0, 9))
def test_each_pair_has_its_people_and_loads_are_equal(sizes, n_people, data, seed):
    people, pairs = PEOPLE[:n_people], keys(sizes)
    overlap = data.draw(st.integers(1, n_people))
    wants = [pair(key, overlap) for key in pairs]
    given_to = assign(wants, people, Counter(), seed, whole_topics=False)
    assert all(len(set(who)) == len(who) == overlap for who in given_to)
    loads = Counter(one for who in given_to for one in who)
    assert sum(loads.values()) == overlap * len(pairs)
    assert max(loads[one] for one in people) - min(loads[one] for one in people) <= 1
    # the order in which pairs come, which may be that of ranks, changes nothing
    order = data.draw(st.permutations(range(len(pairs))))
    again = assign([wants[i] for i in order], people, Counter(), seed, whole_topics=False)
    assert [given_to[i] for i in order] == again


@settings(deadline=None, max_examples=30)
@given(SIZES, st.integers(2, 5), st.data())
def test_nobody_is_asked_again_and_the_least_loaded_first(sizes, n_people, data):
    people = PEOPLE[:n_people]
    asked = [tuple(data.draw(st.sets(st.sampled_from(people)))) for _ in keys(sizes)]
    wants = [pair(key, data.draw(st.integers(1, n_people)), who) for key, who in zip(keys(sizes), asked, strict=True)]
    for want, new in zip(wants, assign(wants, people, Counter(), 1, whole_topics=False), strict=True):
        assert not set(new) & set(want.asked)
        assert len(new) == max(want.wanted - len(want.asked), 0)
    loads = Counter({people[0]: 1000})
    new = assign([pair(key, 1) for key in keys(sizes)], people, loads, 1, whole_topics=False)
    assert people[0] not in {one for who in new for one in who}


@settings(deadline=None, max_examples=30)
@given(SIZES, st.integers(1, 5), st.data())
def test_whole_topics_stay_together(sizes, n_people, data):
    people, overlap = PEOPLE[:n_people], data.draw(st.integers(1, n_people))
    wants = [pair(key, overlap) for key in keys(sizes)]
    new = assign(wants, people, Counter(), 3, whole_topics=True)
    teams = {}
    for want, who in zip(wants, new, strict=True):
        assert len(set(who)) == overlap
        teams.setdefault(want.qid, set()).add(who)
    assert all(len(team) == 1 for team in teams.values())
    # the longest list first to the least loaded: the loads differ by one topic at most
    loads = Counter(one for who in new for one in who)
    assert max(loads[p] for p in people) - min(loads[p] for p in people) <= max(sizes)


@settings(deadline=None, max_examples=30)
@given(SIZES, st.floats(0.01, 0.99), st.integers(0, 9), st.randoms())
def test_a_share_of_the_pairs_is_for_all(sizes, share, seed, random):
    pairs = keys(sizes)
    wanted = wanted_for(share, pairs, 4, seed)
    assert set(wanted) <= {1, 4}
    assert wanted.count(4) == int(round(share * len(pairs), 9) + 0.5)
    for topic, size in enumerate(sizes):
        mine = [n for (qid, _), n in zip(pairs, wanted, strict=True) if qid == str(topic)]
        assert abs(mine.count(4) - share * size) <= 1.0 + 1e-9
    # which of a topic are drawn does not depend on their order
    shuffled = [key for t in range(len(sizes)) for key in random.sample([k for k in pairs if k[0] == str(t)], sizes[t])]
    assert dict(zip(shuffled, wanted_for(share, shuffled, 4, seed), strict=True)) == dict(
        zip(pairs, wanted, strict=True)
    )


def test_a_share_of_half_a_pair_is_one_more():
    assert [wanted_for(0.5, keys([n]), 4, 0).count(4) for n in (1, 3, 5)] == [1, 2, 3]


def test_names_are_not_mixed_up_when_orders_are_drawn():
    assert drawn(0, "ab", "c") != drawn(0, "a", "bc")
    assert drawn(1, "a") != drawn(0, "a")
    # the same in every process and version: what is asked in a further round depends on it
    assert drawn(7, "order", "ann", "1", "d1") == hashlib.sha256(b"1:75:order3:ann1:12:d1").hexdigest()
