"""Runs over a part of the corpus, and random parts: documents of a corpus, teams of a field."""

from __future__ import annotations

import random

import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st
from pool_parts import as_runs, fields

from pt_reuse.data.units import subsample_corpus

FIELD = {
    "A": {"1": ["FT1", "LA1", "FT2"], "2": ["LA2", "LA1"]},
    "B": {"1": ["LA3", "FT1"], "2": ["FT9"]},
}


def lists_of(runs):
    return {
        name: {qid: found["docno"].tolist() for qid, found in runs[name].groupby("qid")}
        for name in runs
    }  # fmt: skip


def test_one_source_closes_the_lists_up(messages):
    runs = as_runs(FIELD)
    part = messages.warned(lambda: runs.restrict(prefix="FT"))
    assert lists_of(part) == {"A": {"1": ["FT1", "FT2"]}, "B": {"1": ["FT1"], "2": ["FT9"]}}
    assert part["A"]["rank"].tolist() == [0, 1]
    assert part["A"]["score"].tolist() == [0.0, -2.0]
    messages.warned(lambda: runs.restrict(prefix=["FT1"]))
    every = [runs.restrict(prefix=["FT", "LA"]), runs.restrict(where=lambda docno: True), runs.restrict(runs.docnos())]
    for same in every:
        assert lists_of(same) == FIELD
    by_name = runs.restrict(where=lambda docno: docno.endswith("1") or docno == "FT9")
    assert lists_of(by_name) == {"A": {"1": ["FT1", "LA1"], "2": ["LA1"]}, "B": {"1": ["FT1"], "2": ["FT9"]}}


def test_a_topic_that_is_left_without_documents_is_told(messages):
    part = messages.warned(lambda: as_runs(FIELD).restrict(["FT2", "LA3"]))
    assert part.topics == ["1"]
    messages.refused(lambda: as_runs(FIELD).restrict(prefix="FR"), argument="prefix")
    messages.refused(lambda: as_runs(FIELD).restrict(where=lambda docno: False), argument="where")


def test_the_top_of_the_runs_is_a_small_corpus(messages):
    runs = as_runs(FIELD)
    assert runs.docnos() == ["FT1", "FT2", "FT9", "LA1", "LA2", "LA3"]
    assert runs.docnos(depth=1) == ["FT1", "FT9", "LA2", "LA3"]
    # a document at the top of one topic stays wherever it stands in another
    assert lists_of(runs.restrict(runs.docnos(depth=1))) == {
        "A": {"1": ["FT1"], "2": ["LA2"]},
        "B": {"1": ["LA3", "FT1"], "2": ["FT9"]},
    }
    assert runs.select("A").docnos() == ["FT1", "FT2", "LA1", "LA2"]
    messages.refused(lambda: runs.docnos(depth=0), argument="depth")


@settings(deadline=None, max_examples=20)
@given(fields(), st.integers(1, 8))
def test_docnos_equal_the_brute_force(field, depth):
    runs = as_runs(field)
    for k in (depth, None):
        expected = {doc for lists in field.values() for docs in lists.values() for doc in docs[:k]}
        assert runs.docnos(depth=k) == sorted(expected)


# a part of the corpus


def test_a_third_and_a_ninth_of_a_corpus():
    corpus = [f"d{i}" for i in range(900)]
    third, ninth = (subsample_corpus(corpus, share=1 / n, seed=5) for n in (3, 9))
    assert (len(third), len(ninth)) == (300, 100)
    assert third[:100] == ninth
    assert len(set(third)) == 300
    random.Random(1).shuffle(corpus)
    assert subsample_corpus(iter(corpus), share=1 / 3, seed=5) == third
    assert subsample_corpus(({"docno": d, "text": "x"} for d in corpus), share=1 / 3, seed=5) == third
    assert subsample_corpus(corpus, share=1 / 3, seed=6) != third
    assert sorted(subsample_corpus(corpus, share=1, seed=6)) == sorted(corpus)
    # every document has the same chance
    times = pd.Series([d for seed in range(200) for d in subsample_corpus(corpus[:9], share=1 / 9, seed=seed)])
    assert times.value_counts().between(8, 40).all()


# teams


def team_runs():
    field = {f"r{i}": {"1": [f"d{i}", "d"]} for i in range(12)}
    teams = {f"r{i}": f"t{i // 2}" for i in range(12)}
    types = {f"r{i}": "neural" if i % 2 else "lexical" for i in range(12)}
    return as_runs(field, teams=teams, types=types, pooled=True)


def test_all_runs_of_a_team_are_on_one_side():
    runs = team_runs()
    seen = set()
    for seed in range(20):
        some, others = runs.split_teams(seed=seed)
        assert len(some.teams) == len(others.teams) == 3
        assert not set(some.teams) & set(others.teams)
        assert sorted(some.names + others.names) == sorted(runs.names)
        assert len(some) == len(others) == 6
        seen.add(tuple(some.teams))
        again = runs.select(runs.names[::-1]).split_teams(seed=seed)
        assert [part.names for part in again] == [some.names, others.names]
    assert len(seen) > 8
