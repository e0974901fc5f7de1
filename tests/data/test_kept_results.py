"""RunSet.from_pipelines with a cache: what runs again and what does not, and that the field is the same."""

from __future__ import annotations

import errno

import numpy as np
import pandas as pd
import pyterrier as pt
import pytest
from live_parts import TOPICS, Live, same

from pt_reuse.data.run_set import RunSet
from pt_reuse.data.store import write_arrays
from pt_reuse.errors import InputError

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


def test_a_call_that_failed_goes_on(tmp_path):
    error, first, second = run(tmp_path, fails_at="t14", batch_size=2)
    assert isinstance(error, InputError)
    assert isinstance(error.__cause__, RuntimeError)
    assert (first.asked, second.asked) == (ALL[:16], [])
    resumed, first, second = run(tmp_path, batch_size=2)
    assert (first.asked, second.asked) == (ALL[14:], ALL)
    assert first.batches[0] == ["t14", "t15"]
    assert same(resumed, PLAIN)


def test_topics_without_results_are_done(tmp_path):
    nothing = TOPICS[TOPICS["qid"].isin(["t4", "t9"])]
    _, first = run(tmp_path, nothing, (1,))
    assert first.batches == [["t4", "t9"]]
    found, first = run(tmp_path, nothing, (1,), order="rank")
    assert first.batches == []
    assert (found.names, found.topics) == (["first"], [])


def test_another_query_runs_again_and_the_old_one_is_kept(tmp_path):
    run(tmp_path, seeds=(1,))
    other = TOPICS.assign(query=TOPICS["query"].mask(TOPICS["qid"].isin(["t3", "t20"]), "something else"))
    changed, first = run(tmp_path, other, (1,))
    assert first.batches == [ALL[:10], ALL[20:]]
    assert same(changed, RunSet.from_pipelines({"first": Live(1)}, other))
    back, first = run(tmp_path, seeds=(1,))
    assert first.batches == []
    assert same(back, PLAIN.select("first"))
    more, first = run(tmp_path, TOPICS.assign(narrative="long"), (1,))
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
    RunSet.from_pipelines({"x": Scorer()}, rows[rows["qid"] != 2], cache=tmp_path, batch_size=1)
    resumed = RunSet.from_pipelines({"x": Scorer()}, rows, cache=tmp_path, batch_size=1)
    assert resumed["x"].equals(plain["x"])
    assert Scorer.calls == 4


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


# what makes results that were kept useless, or keeps them from being written: told in a sentence, and mended


FIRST = RunSet.from_pipelines({"first": Live(1)}, TOPICS)


@pytest.fixture
def cache(tmp_path):
    first_run(tmp_path / "c")
    return tmp_path / "c"


def first_run(folder, pipeline=None, topics=TOPICS, **more):
    return RunSet.from_pipelines({"first": pipeline or Live(1)}, topics, cache=folder, **more)


def files(cache):
    return sorted(cache.rglob("*.results"))


class Unreached(Live):
    def transform(self, inp):
        pytest.fail("the fault was to be told before")


def test_no_folder(tmp_path, messages):
    (tmp_path / "file").write_bytes(b"")
    for cache in (tmp_path / "file", tmp_path / "file" / "in it", 5, ""):
        messages.refused(lambda cache=cache: first_run(cache, Unreached(1)), argument="cache")


@pytest.mark.filterwarnings("ignore:.*results of run .* cannot be used")
def test_any_byte_of_a_file_may_change(cache):
    data = {path: path.read_bytes() for path in files(cache)}
    for path, whole in data.items():
        places = np.random.default_rng(1).integers(0, len(whole), 3).tolist()
        for at in [0, 60, *places]:
            path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
            assert same(first_run(cache), FIRST)
            # what nobody reads, such as flags of the archive, may stay changed
            path.write_bytes(whole)


def test_a_full_disk(tmp_path, monkeypatch, messages):
    def full(path, arrays, notes):
        if len(list(path.parent.glob("*.results"))) == 1:
            raise OSError(errno.ENOSPC, "No space left on device")
        write_arrays(path, arrays, notes)

    monkeypatch.setattr("pt_reuse.data.pipelines.write_arrays", full)
    messages.refused(lambda: first_run(tmp_path), argument="cache")
    monkeypatch.undo()
    pipeline = Live(1)
    assert same(first_run(tmp_path, pipeline), FIRST)
    assert pipeline.asked == ALL[10:]


#: what a pipeline returns that no field takes
NO_RESULTS = {
    "no frame": lambda frame: None,
    "no score": lambda frame: frame.drop(columns="score"),
    "a score that is no number": lambda frame: frame.assign(score=np.nan),
    "two columns": lambda frame: pd.concat([frame, frame[["docno"]]], axis=1),
    "no docno": lambda frame: frame.assign(docno=None),
    "another topic": lambda frame: frame.assign(qid="t22"),
}


class Changed(pt.Transformer):
    def __init__(self, change):
        self._how = change

    def transform(self, inp):
        return self._how(Live(1).transform(inp))


def test_results_that_no_field_takes_are_not_kept(tmp_path, messages):
    for fault in NO_RESULTS.values():
        messages.refused(lambda fault=fault: first_run(tmp_path, Changed(fault), TOPICS[:5]))
    assert files(tmp_path) == []
