"""A session of a protocol that is stopped and taken up again ends as if it had not been stopped."""

from __future__ import annotations

import os
import random
from itertools import count

import numpy as np
import pandas as pd
import pytest
from cal_parts import CORPUS, LABELS, TOPICS, Hashed, killed_once, same
from session_parts import Watched, records_in

import pt_reuse as ptr
from pt_reuse.judging import AutoTAR, FewJudged, FruitfulBatch, Protocol, TfIdf
from pt_reuse.judging.session import JOURNAL, Journal

pytestmark = pytest.mark.filterwarnings("ignore::pt_reuse.ReuseWarning")
SCORER = Hashed({"1": 12, "2": 9, "10": 1})
KNOWN = {qid: {f"d{i}": [0, 1, None, 2][i % 4] for i in range(14)} for qid in SCORER.of}
POOL = ptr.Pool.from_frame(pd.DataFrame({"qid": ["1", "1", "2"], "docno": ["d3", "d13", "d0"]}))
PROTOCOL = Protocol(
    batch=3, growth=0.5, presumed_negatives=2, goes_on_while=(FewJudged(9), FruitfulBatch(0.3)), topic_budget=11
)


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch):
    """A process that is killed loses nothing that it has written; only a machine that fails would."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)


def judge(folder=None, judge=None, *, corpus=SCORER, protocol=PROTOCOL, pool=POOL, **options):
    return ptr.judging.judge_continuously(
        corpus, TOPICS, judge or Watched(KNOWN), protocol=protocol, pool=pool, session=folder, **options
    )


def pairs_in(folder):
    records = records_in(folder / JOURNAL)
    return [(record["qid"], record["docno"]) for record in records]


@pytest.mark.parametrize("error", [KeyboardInterrupt, ConnectionError])
def test_a_judge_that_stops_again_and_again(tmp_path, error):
    folder, whole, person = tmp_path / "s", Watched(KNOWN), None
    once = judge(None, whole)
    for stop in count(5):
        person = Watched(KNOWN, stop_after=stop, error=error)
        try:
            again = judge(folder, person)
            break
        except error:
            done = [pair for call in person.calls[:-1] for pair in zip(call["qid"], call["docno"], strict=True)]
            assert pairs_in(folder)[len(pairs_in(folder)) - len(done) :] == done
    same(once, again)
    assert pairs_in(folder) == whole.asked, "nothing is lost, nothing is kept twice"


def test_a_classifier_learns_the_same_from_kept_labels(tmp_path):
    protocol = AutoTAR(topic_budget=12, presumed_negatives=5)
    options = {"corpus": CORPUS, "protocol": protocol, "pool": None}
    with pytest.raises(KeyboardInterrupt):
        judge(tmp_path / "s", Watched(LABELS, stop_after=15), **options)
    kept = pairs_in(tmp_path / "s")
    assert 9 < len(kept) < 16
    person = Watched(LABELS)
    same(judge(tmp_path / "s", person, **options), judge(None, Watched(LABELS), **options))
    assert not set(person.asked) & set(kept)


def test_a_session_that_is_done_asks_nothing(tmp_path):
    first = judge(tmp_path / "s")
    again = judge(tmp_path / "s", Watched({}, stop_after=0))
    pd.testing.assert_frame_equal(first.labels, again.labels)
    same(first, again)


@pytest.mark.parametrize("budgets", [(2, 7, None), (5, 4, 30), (1, 2, 3), (None, 6)])
def test_with_another_budget_a_session_goes_on(tmp_path, budgets):
    """What a budget cut is filled up, as if there had been the larger budget from the start."""
    asked = []
    for total in budgets:
        for topic in (total or 9, 40):
            options = {"protocol": Protocol(batch=4, presumed_negatives=2, topic_budget=topic, total_budget=total)}
            person = Watched(KNOWN)
            same(judge(tmp_path / "s", person, **options), judge(None, Watched(KNOWN), **options))
            asked += person.asked
            assert len(set(asked)) == len(asked)
            assert sorted(pairs_in(tmp_path / "s")) == sorted(asked)


def test_another_judge_may_go_on(tmp_path):
    judge(tmp_path / "s", protocol=Protocol(batch=3, total_budget=9, topic_budget=99))
    found = judge(tmp_path / "s", LABELS, protocol=Protocol(batch=3, total_budget=15, topic_budget=99))
    judges = found.labels["judge"].tolist()
    assert set(judges) == {"watched", "oracle"}
    assert judges == sorted(judges, reverse=True)


def test_kills_within_writes(tmp_path):
    """Kill a writer at every moment of its writes, each time on a session that earlier kills have left behind."""
    whole, kills, chance = judge(None), 0, random.Random(3)
    options = {"protocol": PROTOCOL, "pool": POOL}
    for session in count():
        folder = tmp_path / str(session)
        while killed_once(chance.randrange(12), SCORER, TOPICS, Watched(KNOWN), session=folder, **options):
            kills += 1
        pairs = pairs_in(folder)
        assert len(set(pairs)) == len(pairs) == whole.topics["asked"].sum()
        same(judge(folder, Watched({}, stop_after=0)), whole)
        if kills >= 20:
            break


BEGUN = {"corpus": CORPUS, "protocol": AutoTAR(topic_budget=3), "pool": None}


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """Return the folder of a session, which no refusal may change."""
    folder = tmp_path_factory.mktemp("begun") / "s"
    judge(folder, Watched(LABELS), **BEGUN)
    return folder


def renamed(corpus):
    return [{**doc, "docno": f"x{doc['docno']}"} for doc in corpus]


@pytest.mark.parametrize(
    ("what", "options"),
    [
        ("seed", {"seed": 1}),
        ("rel", {"rel": 2}),
        ("batch", {"protocol": AutoTAR(topic_budget=3, batch=2)}),
        ("protocol", {"protocol": Protocol(topic_budget=3, batch=1, growth=0.1)}),
        ("documents", {"corpus": renamed(CORPUS)}),
        ("features", {"corpus": CORPUS[::-1]}),
        ("strength", {"corpus": TfIdf(CORPUS, strength=2)}),
        ("pool", {"pool": POOL}),
    ],
)
def test_a_session_that_was_begun_otherwise(begun, what, options, messages):
    messages.hidden |= {ptr.__version__: "{version}", str(begun): "{d}/s"}
    before = (begun / JOURNAL).read_bytes()
    messages.refused(lambda: judge(begun, Watched(LABELS), **{**BEGUN, **options}), argument="session")
    assert (begun / JOURNAL).read_bytes() == before


def test_another_library_that_scores_otherwise(tmp_path, messages):
    class Changed(Hashed):
        def fit(self, qid, query, training):
            return -np.asarray(super().fit(qid, query, training))

    Changed.__name__ = "Hashed"
    judge(tmp_path / "s")
    messages.refused(lambda: judge(tmp_path / "s", corpus=Changed({"1": 12, "2": 9, "10": 1})), argument="session")


def test_a_session_of_another_kind(tmp_path, messages):
    with Journal(tmp_path / "s" / JOURNAL, "session of adaptive judging", 1, {}, argument="session").open():
        pass
    messages.refused(lambda: judge(tmp_path / "s"), argument="session")
