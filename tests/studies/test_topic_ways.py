"""Whatever is done topic by topic gives the same bits in memory and on blocks, in threads and processes."""

from __future__ import annotations

import pickle
from contextlib import contextmanager

import numpy as np
import pytest
from ir_measures import AP, RBP, RR, Bpref, Compat, Judged, P, R, Rprec, SetP, Success, infAP, nDCG
from joblib import parallel_config
from opened import opened
from same import assert_same
from topic_ways import odd_field

from pt_reuse.arrays.kernels import NO_CHANGES
from pt_reuse.data import topic_jobs
from pt_reuse.data.run_set import RunSet
from pt_reuse.data.store import on_disk
from pt_reuse.data.topic_jobs import TopicJob
from pt_reuse.pooling.depth import DepthPooling, depth_pool, pool_to_depth
from pt_reuse.pooling.fit import PoolFit, UniquesWork, find_uniques
from pt_reuse.pooling.pool import contributors_of
from pt_reuse.scoring.measures import Unjudged
from pt_reuse.scoring.rescoring import Rescoring
from pt_reuse.scoring.scores import score
from pt_reuse.studies.coverage import JudgedWork
from pt_reuse.studies.leave_out_uniques import leave_out_uniques

#: way -> rows of a block; and the backend of two jobs, None for one job
WAYS = {
    "blocks of a topic": (1, None),
    "threads on blocks": (1, "threading"),
    "processes on blocks": (700, "loky"),
}


@contextmanager
def going(way: str, runs: RunSet, monkeypatch, n_topics: int = 1):
    """Give the runs as a way has them, while work by topics is done as it says, in jobs of few topics."""
    rows, backend = WAYS[way]
    monkeypatch.setattr(topic_jobs, "AT_ONCE_OF_MANY", n_topics)
    given = opened(runs, rows)
    if backend is None:
        yield given
        return
    with parallel_config(backend=backend, n_jobs=2):
        yield given


#: judgments made at random, or by hand, are nobody's pool
pytestmark = pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")

RUNS, QRELS = odd_field()
EVERY_KIND = [
    AP, P @ 3, P(rel=2) @ 2, nDCG, nDCG @ 4, R @ 5, RR, Rprec, Bpref, RBP(rel=1), AP(judged_only=True), Judged @ 3,
    Unjudged @ 5, Success @ 2, infAP, SetP, Compat(p=0.8),
]  # fmt: skip
FEW = [AP, nDCG @ 5, Bpref, Judged @ 5]
#: what leave-out-uniques can be asked
ASKED = {
    "teams": {},
    "types, own topics": {"by": "type", "complete": False, "depth": 4, "resamples": 20},
    "families, pooled by rows": {"by": "family", "pool_order": "file", "depth": 7, "remove": "judged"},
    "filled holes": {"fill": lambda documents: [len(d) % 3 for d in documents["docno"]], "holes": "unjudged"},
}


def left_out(runs, asked, measures=FEW, **options):
    return leave_out_uniques(runs, QRELS, measures, **{"depth": 10, **ASKED[asked], **options})


@pytest.fixture(scope="module")
def in_memory():
    return {asked: left_out(RUNS, asked) for asked in ASKED}


def same_numbers(one, other):
    assert_same(one.tables(), other.tables())
    for name in ("settings", "fit", "units"):
        assert_same(getattr(one, name), getattr(other, name))
    assert_same(one.reduced, other.reduced)
    for name in ("scores", "own_scores"):
        mine, theirs = getattr(one, name), getattr(other, name)
        assert_same(mine.values, theirs.values)
        assert_same((mine.topics, mine.settings, mine.has_topic), (theirs.topics, theirs.settings, theirs.has_topic))


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("way", WAYS)
def test_leaving_out_uniques(way, asked, in_memory, monkeypatch):
    with going(way, RUNS, monkeypatch) as runs:
        same_numbers(left_out(runs, asked), in_memory[asked])


@pytest.mark.parametrize("way", WAYS)
def test_every_measure(way, monkeypatch):
    scores, lou = score(RUNS, QRELS, EVERY_KIND).values, left_out(RUNS, "teams", EVERY_KIND)
    with going(way, RUNS, monkeypatch) as runs:
        assert score(runs, QRELS, EVERY_KIND).values.tobytes() == scores.tobytes()
        same_numbers(left_out(runs, "teams", EVERY_KIND), lou)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "options",
    [{"depth": 4}, {"depth_by_run": {RUNS.names[0]: 9}, "depth_by_topic": {"3": 2}, "order": "file", "depth": 4}],
)
def test_depth_pools(way, options, monkeypatch):
    one = depth_pool(RUNS, contributors="all", **options)
    with going(way, RUNS, monkeypatch) as runs:
        other = depth_pool(runs, contributors="all", **options)
    assert repr(one) == repr(other)
    assert (one.topics, one.documents.docnos().tolist()) == (other.topics, other.documents.docnos().tolist())
    assert_same(one.documents.starts, other.documents.starts)
    assert_same(one.entries, other.entries)
    assert_same(one.to_frame(), other.to_frame())


# what the uniques of a pool are, by the pool itself


@pytest.mark.parametrize(
    ("order", "by", "contributors", "depth"), [("trec_eval9", "team", "pooled", 10), ("file", "type", "all", 3)]
)
def test_uniques_and_fit_are_those_of_the_pool(order, by, contributors, depth):
    chosen, units = contributors_of(RUNS, contributors), RUNS.units(by)
    pool = pool_to_depth(RUNS.reorder(order), depth, chosen)
    rows = QRELS.arrays.documents.find(pool.documents)
    judged = (rows >= 0) & (np.append(QRELS.arrays.labels, -1)[rows] >= 0)
    sole, contributing = pool.sole(by)
    unique = judged & (sole >= 0)
    for runs in (RUNS, opened(RUNS)):
        found = find_uniques(runs, QRELS, units, chosen, depth=depth, pool_order=order)
        assert found.row.tolist() == rows[unique].tolist()
        assert [units.names[u] for u in found.owner] == [contributing.names[u] for u in sole[unique]]
        assert found.fit == PoolFit.of(pool, QRELS, depth=depth)
    assert unique.any()


# what is sent


def works(field):
    chosen, units = contributors_of(RUNS, "all"), RUNS.units("team")
    return {
        "score": Rescoring(field, RUNS.names, QRELS, [*FEW, infAP], NO_CHANGES),
        "uniques": UniquesWork(field, QRELS, units.of_run, 10, RUNS.order, "file"),
        "unjudged": JudgedWork(field, QRELS, [3, 10], 0.8, np.arange(len(QRELS)) % 5, np.arange(len(RUNS)) % 4),
        "pool": DepthPooling(field, field.topics, np.full(field.n_topics, 5), chosen.runs),
    }


@pytest.mark.parametrize("kind", ["score", "uniques", "unjudged", "pool"])
def test_a_job_takes_along_what_its_topics_need_and_no_more(kind):
    work = works(RUNS.field)[kind]
    with on_disk(RUNS.field) as stored:
        job = TopicJob.sent(work, range(3, 5), stored)
        sent = pickle.dumps(job)
        assert len(sent) < 12_000
        assert job.place == f"topics {work.topics[3]!r} to {work.topics[4]!r}"
        work.prepare()
        here = TopicJob(work, range(3, 5)).run()
        assert_same(pickle.loads(sent).run(), here)
    assert here["topics"].tolist() == [3, 5]
