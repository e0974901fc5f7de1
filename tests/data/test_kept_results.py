"""RunSet.from_pipelines with a cache: what runs again and what does not, and that the field is the same."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import live_parts
import pandas as pd
import pyterrier as pt
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from live_parts import TOPICS, Live, same

from pt_reuse._errors import InputError
from pt_reuse.data.run_set import RunSet

ALL = TOPICS["qid"].tolist()
PLAIN = RunSet.from_pipelines({"first": Live(1), "second": Live(2)}, TOPICS)


def run(folder, topics=TOPICS, seeds=(1, 2), fails_at=None, **more):
    """Return the field, or the error, and the pipelines."""
    pipelines = dict(zip(("first", "second"), map(Live, seeds), strict=False))
    pipelines["first"].fails_at = fails_at
    try:
        return RunSet.from_pipelines(pipelines, topics, cache=folder, **more), *pipelines.values()
    except InputError as error:
        return error, *pipelines.values()


def test_the_second_call_runs_nothing(tmp_path):
    once, first, second = run(tmp_path / "c")
    assert first.batches == second.batches == [ALL[:10], ALL[10:20], ALL[20:]]
    again, first, second = run(tmp_path / "c")
    assert first.batches == second.batches == []
    assert same(once, PLAIN)
    assert same(again, PLAIN)


def test_only_what_is_missing_runs(tmp_path):
    run(tmp_path, TOPICS.iloc[3:12], (1,), batch_size=4)
    _, first = run(tmp_path, TOPICS, (1,), batch_size=3)
    assert first.batches == [["t0", "t1", "t2"], ["t12", "t13", "t14"], *([f"t{i}" for i in range(at, min(at + 3, 23))]
                             for at in range(15, 23, 3))]  # fmt: skip
    both, first, second = run(tmp_path)
    assert first.batches == []
    assert second.asked == ALL
    assert same(both, PLAIN)


def test_a_call_that_failed_goes_on(tmp_path):
    error, first, second = run(tmp_path, fails_at="t14", batch_size=2)
    assert isinstance(error, InputError)
    assert isinstance(error.__cause__, RuntimeError)
    assert (first.asked, second.asked) == (ALL[:16], [])
    resumed, first, second = run(tmp_path, batch_size=2)
    assert (first.asked, second.asked) == (ALL[14:], ALL)
    assert first.batches[0] == ["t14", "t15"]
    assert same(resumed, PLAIN)


def test_kill(tmp_path):
    worker = subprocess.Popen([sys.executable, str(Path(live_parts.__file__)), str(tmp_path / "c")])
    try:
        deadline = time.monotonic() + 60
        while len(list(tmp_path.rglob("*.results"))) < 30 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert worker.poll() is None
    finally:
        os.kill(worker.pid, signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
        worker.wait()
    files = list(tmp_path.rglob("*.results"))
    assert 30 <= len(files) < 46
    resumed, first, second = run(tmp_path / "c")
    assert first.asked == []
    assert second.asked == ALL[len(files) - 23 :]
    assert same(resumed, PLAIN)
    assert not list(tmp_path.rglob(".pt_reuse-*"))


def test_topics_without_results_are_done(tmp_path):
    nothing = TOPICS[TOPICS["qid"].isin(["t4", "t9"])]
    _, first = run(tmp_path, nothing, (1,))
    assert first.batches == [["t4", "t9"]]
    found, first = run(tmp_path, nothing, (1,), order="rank")
    assert first.batches == []
    assert (found.names, found.topics) == (["first"], [])


def test_another_query_runs_again_and_the_old_one_is_kept(tmp_path, messages):
    run(tmp_path, seeds=(1,))
    other = TOPICS.assign(query=TOPICS["query"].mask(TOPICS["qid"].isin(["t3", "t20"]), "something else"))
    changed, first = messages.warned(lambda: run(tmp_path, other, (1,)))
    assert first.batches == [["t3", "t20"]]
    assert same(changed, RunSet.from_pipelines({"first": Live(1)}, other))
    back, first = run(tmp_path, seeds=(1,))
    assert first.batches == []
    assert same(back, PLAIN.select("first"))
    more, first = messages.warned(lambda: run(tmp_path, TOPICS.assign(narrative="long"), (1,)))
    assert first.asked == ALL
    assert same(more, PLAIN.select("first"))


def test_topics_of_several_rows(tmp_path):
    class Scorer(pt.Transformer):
        calls = 0

        def transform(self, inp):
            Scorer.calls += 1
            return inp.assign(score=inp["docno"].str.len())

    rows = pd.DataFrame({"qid": [1, 2, 1, 2, 3], "query": list("ababc"), "docno": ["d", "dd", "ddd", "d", "d"]})
    plain = RunSet.from_pipelines({"x": Scorer()}, rows)
    RunSet.from_pipelines({"x": Scorer()}, rows[rows["qid"] != 2], cache=tmp_path)
    resumed = RunSet.from_pipelines({"x": Scorer()}, rows, cache=tmp_path, batch_size=1)
    assert resumed["x"].equals(plain["x"])
    assert Scorer.calls == 3


@settings(deadline=None, max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sets(st.integers(0, 22), min_size=1), st.integers(1, 9)), max_size=4))
def test_calls_of_any_topics_in_any_batches(tmp_path_factory, calls):
    folder, seen = tmp_path_factory.mktemp("c"), set()
    for rows, size in [*calls, (set(range(23)), 5)]:
        found, first, second = run(folder, TOPICS.iloc[sorted(rows)], batch_size=size)
        asked = {f"t{row}" for row in rows}
        assert set(first.asked) == set(second.asked) == asked - seen
        assert len(first.asked) == len(asked - seen)
        seen |= asked
    assert same(found, PLAIN)


def test_names_that_no_folder_can_have(tmp_path):
    names = ["a/b", "..", "é" * 300, "a b", "A B", "x\udcff"]
    pipelines = {name: Live(i) for i, name in enumerate(names)}
    RunSet.from_pipelines(pipelines, TOPICS, cache=tmp_path)
    again = {name: Live(i) for i, name in enumerate(names)}
    runs = RunSet.from_pipelines(again, TOPICS, cache=tmp_path)
    assert [pipeline.batches for pipeline in again.values()] == [[]] * 6
    assert same(runs, RunSet.from_pipelines({name: Live(i) for i, name in enumerate(names)}, TOPICS))


def test_docnos_of_several_types(tmp_path):
    odd = pd.DataFrame(
        {"qid": "1", "docno": pd.Series(["a", 7], dtype=object), "score": pd.Series(["2", 1], dtype=object)}
    )
    for _ in range(2):
        runs = RunSet.from_pipelines({"x": pt.Transformer.from_df(odd)}, TOPICS.assign(qid="1")[:1], cache=tmp_path)
        assert runs["x"][["docno", "score"]].to_numpy().tolist() == [["a", 2.0], ["7", 1.0]]


def test_a_folder_that_is_whole_need_not_be_writable(tmp_path):
    run(tmp_path / "c", seeds=(1,))
    for path in [tmp_path / "c", *(tmp_path / "c").iterdir()]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        found, first = run(tmp_path / "c", seeds=(1,))
    finally:
        for path in [tmp_path / "c", *(tmp_path / "c").iterdir()]:
            path.chmod(0o755 if path.is_dir() else 0o644)
    assert first.batches == []
    assert same(found, PLAIN.select("first"))
