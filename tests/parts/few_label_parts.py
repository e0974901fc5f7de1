"""A small field of which people labelled little and a judge all."""

from __future__ import annotations

import functools

import pt_reuse as ptr

#: topics that people labelled
PEOPLE = 24


@functools.cache
def field():
    return ptr.demo.simulate_field(seed=7, n_topics=60, n_teams=5, depth=8)


@functools.cache
def people():
    """Return the labels of people: all documents of some topics."""
    every = field().all_qrels
    return every.select(every.topics[:PEOPLE])


@functools.cache
def judge(rate=0.15, seed=1):
    return ptr.judging.Noisy(field().all_qrels.with_rel(1), ptr.judging.flips(rate, range(4)), seed=seed)


@functools.cache
def sample(share=0.3, seed=3):
    """Return the labels of people: some documents of each topic."""
    return ptr.pools.sample_pool(ptr.depth_pool(field().runs, depth=8), share=share, seed=seed).judge(field().all_qrels)


@functools.cache
def by_topics():
    return ptr.labels.prediction_powered(
        field().runs, people(), {"one": judge(), "two": judge(0.3, 2)}, ["nDCG@10", "P@5"], families={"one": "gpt"}
    )


@functools.cache
def by_documents():
    return ptr.labels.prediction_powered(field().runs, sample(), judge(), ["P@5", "RBP(rel=2)"], level="documents")
