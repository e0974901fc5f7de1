"""Where jobs of work by topics run."""

from __future__ import annotations

import os
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from joblib import parallel_config
from opened import opened_field
from topic_ways import WhoDoesIt, odd_field

from pt_reuse.data import topic_jobs
from pt_reuse.data.topic_jobs import cut_where, grouped, part_topics, run_topics

RUNS, _ = odd_field()
FIELD = RUNS.field
#: more topics than the field has, some of which it lacks
TOPICS = ("0", *FIELD.topics, "98", "99")


def who(field, **options):
    """Return (process, thread, whether the field was in memory) of each job, once its topics are right."""
    parts = list(run_topics(WhoDoesIt(field, TOPICS), field, desc="who", **options))
    found = np.concatenate([part["topic"] for part in parts])
    assert found.tolist() == list(range(len(TOPICS))) == [t for part in parts for t in part_topics(part)]
    assert np.concatenate([part["row"] for part in parts]).tolist() == (10 * found).tolist()
    assert [name.decode() for part in parts for name in part["names"]] == list(TOPICS)
    return [tuple(row) for part in parts for row in part["who"].tolist()]


@pytest.mark.parametrize("field", [FIELD, opened_field(FIELD, 700)])
def test_one_job_at_a_time_is_done_by_the_caller(field):
    assert set(who(field)) == {(os.getpid(), threading.get_ident(), field is FIELD)}
    assert set(who(field, n_jobs=1)) == set(who(field))


def test_a_field_in_memory_goes_to_threads():
    found = who(FIELD, n_jobs=2)
    assert {(process, held) for process, _, held in found} == {(os.getpid(), True)}
    assert threading.get_ident() not in {thread for _, thread, _ in found}


@pytest.mark.parametrize("field", [FIELD, opened_field(FIELD, 700)])
def test_other_processes_get_an_open_field(field):
    with parallel_config(backend="loky", n_jobs=2):
        found = who(field)
    assert {held for *_, held in found} == {False}
    assert os.getpid() not in {process for process, *_ in found}
    if field is not FIELD:
        # nothing is gained by threads where blocks are read
        assert os.getpid() not in {process for process, *_ in who(field, n_jobs=2)}


def test_processes_get_whole_blocks_where_there_are_many(monkeypatch):
    blocks = opened_field(FIELD, 1)
    assert len(blocks.parts) > 3
    for many, jobs in ((len(blocks.parts) + 1, "topics"), (2, "blocks")):
        monkeypatch.setattr(topic_jobs, "_MANY_BLOCKS", many)
        groups = grouped(WhoDoesIt(blocks, TOPICS), blocks, [range(t, t + 1) for t in range(len(TOPICS))])
        assert [t for group in groups for t in group] == list(range(len(TOPICS)))
        assert len(groups) == (len(TOPICS) if jobs == "topics" else len(blocks.parts))


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(-1, 3)), max_size=12), st.integers(1, 20))
def test_topics_are_cut_by_size_and_block(topics, at_once):
    sizes, blocks = [size for size, _ in topics], sorted(block for _, block in topics if block >= 0)
    # blocks ascend, with topics that the field lacks in between
    part = [-1 if block < 0 else blocks.pop(0) for _, block in topics]
    cut = cut_where(sizes, part, at_once)
    assert [t for some in cut for t in some] == list(range(len(topics)))
    for some in cut:
        assert len({part[t] for t in some} - {-1}) <= 1
        assert sum(sizes[t] for t in some) <= at_once or len(some) == 1
