"""What makes results that were kept useless, or keeps them from being written: told in a sentence, and mended."""

from __future__ import annotations

import errno
import types

import numpy as np
import pandas as pd
import pyterrier as pt
import pytest
from live_parts import TOPICS, Live, same

from pt_reuse._files import alone
from pt_reuse.data import kept_results
from pt_reuse.data.run_set import RunSet

ALL = TOPICS["qid"].tolist()
PLAIN = RunSet.from_pipelines({"first": Live(1)}, TOPICS)


@pytest.fixture(autouse=True)
def names(monkeypatch):
    """Have files whose names do not hang on chance, so that messages can be compared."""
    monkeypatch.setattr("pt_reuse.data.kept_results.secrets", types.SimpleNamespace(token_hex=lambda n: "0" * 2 * n))


@pytest.fixture
def cache(tmp_path):
    run(tmp_path / "c")
    return tmp_path / "c"


def run(folder, pipeline=None, topics=TOPICS, **more):
    return RunSet.from_pipelines({"first": pipeline or Live(1)}, topics, cache=folder, **more)


def files(cache):
    return sorted(cache.rglob("*.results"))


class Unreached(Live):
    def transform(self, inp):
        pytest.fail("the fault was to be told before")


def test_other_things(tmp_path, messages):
    (tmp_path / "file").write_bytes(b"")
    messages.refused(lambda: run(tmp_path / "file", Unreached(1)), argument="cache")
    messages.refused(lambda: run(tmp_path, Unreached(1)), argument="cache")
    messages.refused(lambda: run(tmp_path / "file" / "in it", Unreached(1)))
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_newer_version(cache, messages, monkeypatch):
    monkeypatch.setattr(kept_results, "FORMAT", 2)
    run(cache, Live(1), topics=pd.DataFrame({"qid": ["77"], "query": ["more"]}))
    monkeypatch.undo()
    messages.refused(lambda: run(cache, Unreached(1)), argument="cache")


@pytest.mark.filterwarnings("ignore:.*results of run .* cannot be used")
def test_any_byte_of_a_file_may_change(cache):
    path = files(cache)[1]
    data = path.read_bytes()
    places = np.random.default_rng(1).integers(0, len(data), 20)
    batches = []
    for at in [0, 8, 20, 60, *places.tolist()]:
        path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        pipeline = Live(1)
        assert same(run(cache, pipeline), PLAIN)
        batches += pipeline.batches or [None]
        for again in cache.rglob("000004-*"):
            again.unlink()
    # what stands between arrays, and in columns that no field is made of, is not looked at
    assert batches[:4] == [ALL[10:20]] * 4
    assert batches.count(None) + batches.count(ALL[10:20]) == len(batches)


@pytest.mark.parametrize("fault", ["cut off", "empty", "another"])
def test_damaged_files(cache, fault, messages):
    path = files(cache)[1]
    data = path.read_bytes()
    path.write_bytes({"cut off": data[:-700], "empty": b"", "another": b"x" * 5000}[fault])
    pipeline = Live(1)
    assert same(messages.warned(lambda: run(cache, pipeline)), PLAIN)
    assert pipeline.batches == [ALL[10:20]]
    pipeline = Live(1)
    assert same(run(cache, pipeline), PLAIN)
    assert pipeline.batches == []
    assert path not in files(cache)


def test_another_pipeline_by_the_same_name(cache, messages):
    messages.refused(lambda: run(cache, Unreached(1) >> pt.RankCutoff(5)), argument="cache")
    other = Live(2)
    messages.refused(lambda: run(cache, other), argument="cache")
    assert other.batches == []
    both = RunSet.from_pipelines({"first": Live(1), "other": Live(2)}, TOPICS, cache=cache)
    assert both.names == ["first", "other"]


def test_another_process(cache, tmp_path, messages):
    with alone(cache):
        messages.refused(lambda: run(cache, Unreached(1)), argument="cache")
    pipeline = Live(1)
    run(cache, pipeline)
    assert pipeline.batches == []


def test_a_full_disk(tmp_path, monkeypatch, messages):
    def full(path, arrays, notes):
        if path.name.startswith("000002"):
            raise OSError(errno.ENOSPC, "No space left on device")
        write(path, arrays, notes)

    from pt_reuse.data.array_file import write_arrays as write

    monkeypatch.setattr("pt_reuse.data.kept_results.write_arrays", full)
    messages.refused(lambda: run(tmp_path), argument="cache")
    monkeypatch.undo()
    pipeline = Live(1)
    assert same(run(tmp_path, pipeline), PLAIN)
    assert pipeline.asked == ALL[10:]


def test_a_pipeline_that_fails(tmp_path, messages):
    for at in ("t2", "t21"):
        pipeline = Live(1)
        pipeline.fails_at = at
        error = messages.refused(lambda pipeline=pipeline: run(tmp_path, pipeline), argument="pipelines")
        assert error.__cause__ is pipeline.error


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


@pytest.mark.parametrize("fault", NO_RESULTS)
def test_results_that_no_field_takes_are_not_kept(fault, tmp_path, messages):
    messages.refused(lambda: run(tmp_path, Changed(NO_RESULTS[fault]), TOPICS[:5]))
    assert files(tmp_path) == []


@pytest.mark.parametrize("cell", [object(), {1, 2}, [object()]], ids=["object", "set", "in a list"])
def test_topics_that_cannot_be_compared(tmp_path, cell, messages):
    topics = TOPICS.assign(more=pd.Series([cell] * 23, dtype=object))
    messages.refused(lambda: run(tmp_path, Unreached(1), topics), argument="topics")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a", "b"),
        (1, 1.0),
        (1, "1"),
        (None, ""),
        ([1, 2], [12]),
        (["a", "b"], ["ab"]),
        (np.float32([1, 2]), np.float64([1, 2])),
        ({"a": 1}, {"a": 2}),
        (b"x", "x"),
        (True, 1),
    ],
)
def test_cells_that_differ(tmp_path, one, other):
    topics = [TOPICS[:1].assign(more=pd.Series([cell], dtype=object)) for cell in (one, other)]
    for _ in range(2):
        pipeline = Live(1)
        run(tmp_path, pipeline, topics[0])
    assert pipeline.batches == []
    with pytest.warns(UserWarning, match="runs again"):
        run(tmp_path, pipeline, topics[1])
    assert pipeline.batches == [["t0"]]


def test_no_topics(tmp_path):
    class Empty(Live):
        def transform(self, inp):
            return super().transform(inp) if len(inp) else pd.DataFrame(columns=["qid", "docno", "score"])

    assert run(tmp_path, Empty(1), TOPICS[:0]).topics == []
    assert files(tmp_path) == []
