"""A session that is stopped, saved and resumed ends as if it had not been stopped, however it was stopped."""

from __future__ import annotations

import os
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pool_parts import DOCS, TOPICS, as_runs, fields
from session_parts import Greedy, Watched, records_in, same

import pt_reuse as ptr
from pt_reuse.judging import session as sessions
from pt_reuse.judging.protocols import judge_adaptively
from pt_reuse.pooling.adaptive.strategy import CHOOSERS, Strategy

RUNS = ptr.demo.simulate_field(seed=7, n_topics=3, n_docs=60, n_teams=4, length=12, depth=4).runs
LABELS = {
    qid: {docno: [0, 1, None, 2][n % 4] for n, docno in enumerate(sorted(part["docno"].unique()))}
    for qid, part in RUNS.to_frame().groupby("qid")
}
pytestmark = pytest.mark.filterwarnings("ignore::pt_reuse.ReuseWarning")


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch):
    """A process that is killed loses nothing that it has written; only a machine that fails would."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)


def judge(folder=None, judge=None, **options):
    options = {"runs": RUNS, "strategy": Greedy, "depth": 6, "judge": judge or Watched(LABELS), **options}
    return judge_adaptively(**options, session=folder)


def pairs_in(folder):
    records = records_in(folder / sessions.JOURNAL)
    return [(record["qid"], record["docno"]) for record in records]


@pytest.mark.parametrize(
    ("error", "batch_size"), [(KeyboardInterrupt, 1), (ConnectionError, 2), (ConnectionError, None)]
)
def test_a_judge_that_stops_again_and_again(tmp_path, error, batch_size):
    asked = []
    for _ in count():
        person = Watched(LABELS, stop_after=4, error=error)
        try:
            judged = judge(tmp_path / "s", person, batch_size=batch_size)
            break
        except error:
            asked += [pair for call in person.calls[:-1] for pair in zip(call["qid"], call["docno"], strict=True)]
            assert pairs_in(tmp_path / "s") == asked
    asked += person.asked
    # what was answered is never asked again, and nothing is left out
    whole = Watched(LABELS)
    same(judged, judge(None, whole))
    assert asked == whole.asked


@settings(max_examples=6, deadline=None)
@given(
    fields(),
    st.dictionaries(st.sampled_from(TOPICS), st.dictionaries(st.sampled_from(DOCS), st.sampled_from([0, 1, None]))),
    st.lists(st.tuples(st.one_of(st.none(), st.integers(0, 6)), st.one_of(st.none(), st.integers(0, 15))), max_size=4),
    st.integers(0, 3),
)
def test_any_chain_of_budgets(tmp_path_factory, field, labels, budgets, seed):
    runs, folder, asked = as_runs(field), tmp_path_factory.mktemp("chain") / "s", []
    options = {"runs": runs, "contributors": "all", "seed": seed}
    for budget, total in [*budgets, (None, None)]:
        oracle = Watched(labels)
        judged = judge(folder, oracle, budget=budget, total=total, **options)
        same(judged, judge(None, Watched(labels), budget=budget, total=total, **options))
        asked += oracle.asked
        assert len(set(asked)) == len(asked)
        assert pairs_in(folder) == asked


@pytest.mark.parametrize("strategy", CHOOSERS)
def test_every_strategy_goes_on_where_it_stopped(tmp_path, strategy):
    whole = Watched(LABELS)
    expected = judge(None, whole, strategy=strategy, budget=10)
    with pytest.raises(KeyboardInterrupt):
        judge(tmp_path / "s", Watched(LABELS, stop_after=14), strategy=strategy, budget=10, batch_size=1)
    rest = Watched(LABELS)
    same(judge(tmp_path / "s", rest, strategy=strategy, budget=10), expected)
    assert rest.asked == whole.asked[14:]


def test_the_folder_of_something_else(tmp_path, messages):
    judge(tmp_path / "s", budget=2)
    kept = (tmp_path / "s" / sessions.JOURNAL).read_bytes()

    def refused(**options):
        messages.refused(judge, argument="session", folder=tmp_path / "s", **options)

    refused(seed=1)
    refused(strategy=Strategy(Greedy, greed=0.9), rel=2)
    refused(depth=5)
    refused(order="file")
    refused(known={"1": {"a": 1}})
    refused(runs=RUNS.select(team=RUNS.teams[0]), contributors="all")
    refused(runs=RUNS.restrict({docno for docs in LABELS.values() for docno in sorted(docs)[1:]}))
    refused(runs=ptr.demo.simulate_field(seed=7, n_topics=2, n_docs=60, n_teams=4, length=12, depth=4).runs)
    assert (tmp_path / "s" / sessions.JOURNAL).read_bytes() == kept
    judge(tmp_path / "s", budget=3)


def test_the_order_of_the_runs_decides_nothing(tmp_path, messages):
    def in_order(names, shift=0.0):
        frames = {name: RUNS[name] for name in names}
        return ptr.RunSet.from_frames(
            {name: frame.assign(score=frame["score"] + shift) for name, frame in frames.items()}
        )

    pooled = RUNS.select(pooled=True).names
    judge(tmp_path / "s", budget=2, runs=in_order(pooled))
    rest = judge(tmp_path / "s", runs=in_order(pooled[::-1]))
    same(rest, judge(None, runs=in_order(pooled)))
    assert len(pooled) > 2
    # what differs besides is found in any order
    messages.refused(judge, argument="session", folder=tmp_path / "s", runs=in_order(pooled[::-1], shift=0.5))
