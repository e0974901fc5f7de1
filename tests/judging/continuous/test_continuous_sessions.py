"""A session of a protocol that is stopped and taken up again ends as if it had not been stopped."""

from __future__ import annotations

import os

import pandas as pd
import pytest
from cal_parts import CORPUS, LABELS, TOPICS, Hashed
from session_parts import Watched, records_in

import pt_reuse as ptr
from pt_reuse.judging.protocols import AutoTAR, FewJudged, FruitfulBatch, Protocol
from pt_reuse.judging.session import JOURNAL
from pt_reuse.pooling.scorers import TfIdf


def told_of(found):
    """Return the labels but for the moments at which they were given."""
    return found.labels.drop(columns="time")


def same(one, other):
    """Assert that two runs of a protocol gave the same, but for the moments."""
    pd.testing.assert_frame_equal(told_of(one), told_of(other))
    pd.testing.assert_frame_equal(one.rounds, other.rounds)
    pd.testing.assert_frame_equal(one.topics, other.topics)


pytestmark = pytest.mark.filterwarnings("ignore::pt_reuse.ReuseWarning")
SCORER = Hashed({"1": 12, "2": 9, "10": 1})
KNOWN = {qid: {f"d{i}": [0, 1, None, 2][i % 4] for i in range(14)} for qid in SCORER.of}
RUNS = ptr.RunSet.from_frames(
    {"one": pd.DataFrame({"qid": ["1", "1", "2"], "docno": ["d3", "d13", "d0"], "score": [2.0, 1.0, 1.0]})}
)
PROTOCOL = Protocol(
    pool_depth=9,
    batch=3,
    growth=0.5,
    presumed_negatives=2,
    goes_on_while=(FewJudged(9), FruitfulBatch(0.3)),
    topic_budget=11,
)


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch):
    """A process that is killed loses nothing that it has written; only a machine that fails would."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)


def judge(folder=None, judge=None, *, corpus=SCORER, protocol=PROTOCOL, runs=RUNS, **options):
    return ptr.judging.judge_continuously(
        corpus, TOPICS, judge or Watched(KNOWN), protocol=protocol, runs=runs, session=folder, **options
    )


def pairs_in(folder):
    records = records_in(folder / JOURNAL)
    return [(record["qid"], record["docno"]) for record in records]


def test_with_another_budget_a_session_goes_on(tmp_path):
    """What a budget cut is filled up, as if there had been the larger budget from the start."""
    asked = []
    for budget in (2, 7, 5, 4, 9, 40):
        options = {"protocol": Protocol(pool_depth=9, batch=4, presumed_negatives=2, topic_budget=budget)}
        person = Watched(KNOWN)
        same(judge(tmp_path / "s", person, **options), judge(None, Watched(KNOWN), **options))
        asked += person.asked
        assert len(set(asked)) == len(asked)
        assert sorted(pairs_in(tmp_path / "s")) == sorted(asked)


BEGUN = {"corpus": CORPUS, "protocol": AutoTAR(topic_budget=3), "runs": None}


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """Return the folder of a session, which no refusal may change."""
    folder = tmp_path_factory.mktemp("begun") / "s"
    judge(folder, Watched(LABELS), **BEGUN)
    return folder


def test_a_session_that_was_begun_otherwise(begun, messages):
    messages.hidden |= {ptr.__version__: "{version}", str(begun): "{d}/s"}
    before = (begun / JOURNAL).read_bytes()
    for options in (
        {"seed": 1},
        {"rel": 2},
        {"protocol": AutoTAR(topic_budget=3, batch=2)},
        {"protocol": Protocol(topic_budget=3, batch=1, growth=0.1)},
        {"corpus": [{**doc, "docno": f"x{doc['docno']}"} for doc in CORPUS]},
        {"corpus": CORPUS[::-1]},
        {"corpus": TfIdf([{**doc, "text": doc["docno"]} for doc in CORPUS])},
        {"protocol": AutoTAR(topic_budget=3, pool_depth=9), "runs": RUNS},
    ):
        again = {**BEGUN, **options}
        messages.refused(lambda again=again: judge(begun, Watched(LABELS), **again), argument="session")
        assert (begun / JOURNAL).read_bytes() == before
