"""RunSet.from_pipelines with a cache: what runs again and what does not, and that the field is the same."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import live_parts
import numpy as np
import pandas as pd
import pyterrier as pt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from live_parts import TOPICS, Live, same

from pt_reuse._files import alone
from pt_reuse.data import pipelines
from pt_reuse.data.pipelines import coded_rows, difference, has_address, python_version, rows_of, steps_of
from pt_reuse.data.run_set import RunSet
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


# result frames as arrays: every bit of numbers and every character of texts comes back


#: any text but that of lone surrogates, and bytes that were no UTF-8
TEXTS = st.text(max_size=6) | st.binary(max_size=4).map(lambda data: data.decode("utf-8", "surrogateescape"))
DTYPES = ("float64", "float32", "float16", "int64", "int8", "uint16", "bool", ">f8")


def through(frame, **which):
    arrays, notes = coded_rows(frame)
    return rows_of(notes, lambda *names: [arrays[name] for name in names], **which)


def cells(dtype, n):
    size = np.dtype(dtype).itemsize
    if dtype == "bool":
        return st.lists(st.booleans(), min_size=n, max_size=n).map(np.array)
    return st.binary(min_size=n * size, max_size=n * size).map(lambda data: np.frombuffer(data, dtype=dtype))


@st.composite
def frames(draw):
    n = draw(st.integers(0, 6))
    columns = {"docno": pd.Series(draw(st.lists(TEXTS, min_size=n, max_size=n)), dtype=object)}
    columns["text"] = pd.Series(draw(st.lists(TEXTS | st.none(), min_size=n, max_size=n)), dtype=object)
    for dtype in draw(st.lists(st.sampled_from(DTYPES), unique=True)):
        columns[dtype] = pd.Series(draw(cells(dtype, n)), dtype=dtype)
    return pd.DataFrame(columns)


@settings(deadline=None)
@given(frames())
def test_every_bit_comes_back(frame):
    found = through(frame)
    assert list(found) == list(frame)
    assert found.dtypes.equals(frame.dtypes)
    for column in frame:
        if frame[column].dtype == object:
            assert found[column].tolist() == frame[column].tolist()
        else:
            # NaN with whatever bits, and the sign of zero
            assert found[column].to_numpy().tobytes() == frame[column].to_numpy().tobytes()


@settings(deadline=None)
@given(frames(), st.data())
def test_some_rows(frame, data):
    rows = np.array(data.draw(st.lists(st.booleans(), min_size=len(frame), max_size=len(frame))), dtype=bool)
    frame = frame.drop(columns=">f8", errors="ignore")  # pandas takes no rows of it
    assert through(frame, rows=rows).equals(through(frame)[rows].reset_index(drop=True))


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pd.Series([1, 2], dtype=object), pd.Series([1, 2])),
        (pd.Series([1.5, np.nan], dtype="float64"), pd.Series([1.5, np.nan])),
        (pd.Series([1.5, 2.5], dtype=object), pd.Series([1.5, 2.5])),
        (pd.Series([1, 2], dtype="Int64"), pd.Series([1, 2])),
        (pd.Categorical(["x", "y"]), pd.Series(["x", "y"])),
        (pd.Series([True, False], dtype=object), pd.Series([True, False])),
    ],
    ids=["Python's integers", "missing", "Python's floats", "pandas' integers", "categories", "Python's truth"],
)
def test_other_ways_to_hold_numbers_and_texts(column, expected):
    assert through(pd.DataFrame({"x": column}))["x"].equals(expected)


@pytest.mark.parametrize(
    "column",
    [[[1], [2]], [np.ones(2), np.ones(2)], ["a", 1], [1, 2**70], pd.to_datetime(["2020", "2021"]), [{}, "a"]],
    ids=["lists", "vectors", "mixed", "too large", "times", "dicts"],
)
def test_what_is_not_kept(column):
    assert list(through(pd.DataFrame({"qid": ["1", "1"], "x": column, 5: [1, 2]}))) == ["qid"]


def test_two_columns_of_one_name():
    frame = pd.DataFrame([["a", 1], ["b", 2]], columns=["x", "x"])
    assert through(frame).equals(frame)


# what a pipeline is known by: the same in every process, and another where a step, an attribute or a function is


FRAME = pd.DataFrame({"qid": ["1"], "docno": ["d"], "score": [1.0]})
WEIGHT = 2.0
CALLS = 0


class Step(pt.Transformer):
    def __init__(self, value, other=None, *, verbose=False):
        self.value, self._other, self.verbose = value, other, verbose
        self.calls = []

    def transform(self, inp):
        self.calls.append(1)
        return inp


class Hidden(pt.Transformer):
    """Keeps nothing under its name."""

    def __init__(self, value):
        self._kept = value

    def transform(self, inp):
        return inp


class Unwilling(pt.Transformer):
    def transform(self, inp):
        return inp

    def attributes(self):
        raise RuntimeError("no")


def weighted(row):
    """Weigh."""
    return helper(row["score"]) * WEIGHT


def helper(score):
    return score


def counting(row):
    global CALLS
    CALLS += 1
    return CALLS * 0 + row["score"]


def scorer(factor):
    return pt.apply.doc_score(lambda row: row["score"] * factor)


def lines(pipeline):
    return [*steps_of(pipeline), python_version()]


SAME = {
    "the same": lambda: Step(1),
    "numbers of numpy": lambda: Step(np.int64(1)),
    "an object": lambda: Step(object()),
    "what a step does not keep": lambda: Hidden(object()),
    "a step that does not tell": Unwilling,
    "verbose": lambda flags=[True, False]: Step(1, verbose=flags.pop()),
    "a set": lambda: Step({"a", "b", "c"}),
    "a closure": lambda: scorer(2),
    "steps in steps": lambda: Step(Step(1)) >> Step([Step(2), Step(3)]),
    "a frame": lambda: Step(FRAME.copy()),
    "vectors": lambda: Step(np.arange(3.0)),
    "a frame of lists": lambda: Step(FRAME.assign(v=[[1]])),
    "a method": lambda: Step("x".join),
}


@pytest.mark.parametrize("make", SAME.values(), ids=SAME)
def test_the_same_pipeline_made_again(make):
    once, again = make(), make()
    if hasattr(once, "calls"):
        once.transform(FRAME)
    assert difference(lines(once), lines(again)) is None


OTHER = {
    "an attribute": (Step(1), Step(2), ("Step value=1", "Step value=2")),
    "of another type": (Step(1), Step(1.0), ("Step value=1", "Step value=1.0")),
    "a private attribute": (Step(1, "a"), Step(1, "b"), ("Step other='a'", "Step other='b'")),
    "a step": (Step(1), Hidden(1), None),
    "one step more": (Step(1) >> Step(2), Step(1) >> Step(2) >> Step(3), ("nothing more", "Compose > 3 Step value=3")),
    "one step less": (Step(1) >> Step(2) >> Step(3), Step(1) >> Step(2), ("Compose > 3 Step value=3", "nothing more")),
    "an inner step": (Step(Step(1)), Step(Step(2)), ("Step > 1 Step value=1", "Step > 1 Step value=2")),
    "an operator": (Step(1) + Step(2), Step(1) ^ Step(2), ("Sum", "Concatenate")),
    "a function": (pt.apply.doc_score(weighted), pt.apply.doc_score(counting), None),
    "a lambda": (pt.apply.doc_score(lambda r: r["a"]), pt.apply.doc_score(lambda r: r["b"]), None),
    "a number that it uses": (scorer(2), scorer(3), None),
    "a frame": (Step(FRAME), Step(FRAME.assign(score=2.0)), None),
    "vectors": (Step(np.arange(3.0)), Step(np.arange(1, 4.0)), None),
    "what it prints": (pt.RankCutoff(3), pt.RankCutoff(4), ("RankCutoff k=3", "RankCutoff k=4")),
    "far behind in a long line": (
        Step("x" * 500 + "a"), Step("x" * 500 + "b"),
        tuple(f"Step value='{13 * 'x'}...{25 * 'x'}{last}'" for last in "ab"),
    ),
    "beyond what is kept of a line": (Step("x" * 9000 + "a"), Step("x" * 9000 + "b"), None),
}  # fmt: skip


@pytest.mark.parametrize(("one", "other", "told"), OTHER.values(), ids=OTHER)
def test_another_pipeline(one, other, told):
    found = difference(lines(one), lines(other))
    assert found is not None
    assert told is None or found == told


def test_globals_of_functions(monkeypatch):
    before = lines(pt.apply.doc_score(weighted))
    monkeypatch.setattr(sys.modules[__name__], "WEIGHT", 3.0)
    assert "WEIGHT=2.0" in difference(before, lines(pt.apply.doc_score(weighted)))[0]
    monkeypatch.undo()
    monkeypatch.setattr(sys.modules[__name__], "helper", lambda score: -score)
    assert difference(before, lines(pt.apply.doc_score(weighted))) is not None


def test_counters_are_no_part_of_it():
    before = lines(pt.apply.doc_score(counting))
    counting({"score": 1.0})
    assert difference(before, lines(pt.apply.doc_score(counting))) is None


def test_under_another_python_code_is_not_compared():
    one, other = (lines(pt.apply.doc_score(fn)) for fn in (lambda r: r["a"], lambda r: r["b"]))
    assert difference(one, other) is not None
    assert difference([*one[:-1], "Python 3.99"], other) is None
    assert difference([*lines(Step(1))[:-1], "Python 3.99"], lines(Step(2))) == ("Step value=1", "Step value=2")


def test_other_processes_say_the_same():
    code = (
        "import pyterrier as pt; from pt_reuse.data.pipelines import steps_of\n"
        "print(steps_of(pt.apply.doc_score(lambda r: r['x'] in {'a', 'b', 'c'}) >> pt.Transformer.identity()))"
    )
    told = {
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env).stdout
        for env in ({"PYTHONPATH": ":".join(sys.path), "PYTHONHASHSEED": str(seed)} for seed in (1, 2))
    }
    assert len(told) == 1
    assert "0x" not in told.pop()


def test_names_with_addresses():
    assert has_address(str(Step(1)))
    assert has_address("org.terrier.Index@5e91993f")
    assert not has_address("BM25 @10, 0x")


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


def test_other_things(tmp_path, messages):
    (tmp_path / "file").write_bytes(b"")
    messages.refused(lambda: first_run(tmp_path / "file", Unreached(1)), argument="cache")
    messages.refused(lambda: first_run(tmp_path, Unreached(1)), argument="cache")
    messages.refused(lambda: first_run(tmp_path / "file" / "in it", Unreached(1)))
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_newer_version(cache, messages, monkeypatch):
    monkeypatch.setattr(pipelines, "FORMAT", 2)
    first_run(cache, Live(1), topics=pd.DataFrame({"qid": ["77"], "query": ["more"]}))
    monkeypatch.undo()
    messages.refused(lambda: first_run(cache, Unreached(1)), argument="cache")


@pytest.mark.filterwarnings("ignore:.*results of run .* cannot be used")
def test_any_byte_of_a_file_may_change(cache):
    path = files(cache)[1]
    data = path.read_bytes()
    places = np.random.default_rng(1).integers(0, len(data), 20)
    batches = []
    for at in [0, 8, 20, 60, *places.tolist()]:
        path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        pipeline = Live(1)
        assert same(first_run(cache, pipeline), FIRST)
        batches += pipeline.batches or [None]
        for again in cache.rglob("000004-*"):
            again.unlink()
    # what stands between arrays, and in columns that no field is made of, is not looked at
    assert batches.count(ALL[10:20]) > len(batches) / 2
    assert batches.count(None) + batches.count(ALL[10:20]) == len(batches)


@pytest.mark.parametrize("fault", ["cut off", "empty", "another"])
def test_damaged_files(cache, fault, messages):
    path = files(cache)[1]
    data = path.read_bytes()
    path.write_bytes({"cut off": data[:-700], "empty": b"", "another": b"x" * 5000}[fault])
    pipeline = Live(1)
    assert same(messages.warned(lambda: first_run(cache, pipeline)), FIRST)
    assert pipeline.batches == [ALL[10:20]]
    pipeline = Live(1)
    assert same(first_run(cache, pipeline), FIRST)
    assert pipeline.batches == []
    assert path not in files(cache)


def test_another_pipeline_by_the_same_name(cache, messages):
    messages.refused(lambda: first_run(cache, Unreached(1) >> pt.RankCutoff(5)), argument="cache")
    other = Live(2)
    messages.refused(lambda: first_run(cache, other), argument="cache")
    assert other.batches == []
    both = RunSet.from_pipelines({"first": Live(1), "other": Live(2)}, TOPICS, cache=cache)
    assert both.names == ["first", "other"]


def test_another_process(cache, tmp_path, messages):
    with alone(cache):
        messages.refused(lambda: first_run(cache, Unreached(1)), argument="cache")
    pipeline = Live(1)
    first_run(cache, pipeline)
    assert pipeline.batches == []


def test_a_full_disk(tmp_path, monkeypatch, messages):
    def full(path, arrays, notes):
        if path.name.startswith("000002"):
            raise OSError(errno.ENOSPC, "No space left on device")
        write(path, arrays, notes)

    from pt_reuse.data.array_file import write_arrays as write

    monkeypatch.setattr("pt_reuse.data.pipelines.write_arrays", full)
    messages.refused(lambda: first_run(tmp_path), argument="cache")
    monkeypatch.undo()
    pipeline = Live(1)
    assert same(first_run(tmp_path, pipeline), FIRST)
    assert pipeline.asked == ALL[10:]


def test_a_pipeline_that_fails(tmp_path, messages):
    for at in ("t2", "t21"):
        pipeline = Live(1)
        pipeline.fails_at = at
        error = messages.refused(lambda pipeline=pipeline: first_run(tmp_path, pipeline), argument="pipelines")
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
    messages.refused(lambda: first_run(tmp_path, Changed(NO_RESULTS[fault]), TOPICS[:5]))
    assert files(tmp_path) == []


@pytest.mark.parametrize("cell", [object(), {1, 2}, [object()]], ids=["object", "set", "in a list"])
def test_topics_that_cannot_be_compared(tmp_path, cell, messages):
    topics = TOPICS.assign(more=pd.Series([cell] * 23, dtype=object))
    messages.refused(lambda: first_run(tmp_path, Unreached(1), topics), argument="topics")


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
        first_run(tmp_path, pipeline, topics[0])
    assert pipeline.batches == []
    with pytest.warns(UserWarning, match="runs again"):
        first_run(tmp_path, pipeline, topics[1])
    assert pipeline.batches == [["t0"]]


def test_no_topics(tmp_path):
    class Empty(Live):
        def transform(self, inp):
            return super().transform(inp) if len(inp) else pd.DataFrame(columns=["qid", "docno", "score"])

    assert first_run(tmp_path, Empty(1), TOPICS[:0]).topics == []
    assert files(tmp_path) == []
