"""Runs in Parquet and Arrow files: the same as in run files, and back again bit for bit."""

from __future__ import annotations

import warnings
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from table_parts import KINDS, TEXTS, pa, pq, put, table_of

from pt_reuse._choices import ORDERS
from pt_reuse._errors import ReuseWarning
from pt_reuse.data import table_labels
from pt_reuse.data.run_reading import read_runs
from pt_reuse.data.run_set import RunSet
from pt_reuse.data.tables import TableNotes
from pt_reuse.scoring.run_scores import score

QUICK = settings(deadline=None, max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
SCORES = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, 1.00000001, 1e300, 5e-324, -3.0]),
    st.floats(allow_nan=False, allow_infinity=False),
)
WORDS = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12),
    st.sampled_from(["1", "01", "x" * 70, "é" * 512, "a b", "#", "nan", "None"]),
)


@st.composite
def fields(draw, words=WORDS):
    """Draw {run: [(qid, docno, score, rank)]}, topics mixed among each other, ranks that do not tie."""
    topics, docs = (draw(st.lists(words, min_size=1, max_size=n, unique=True)) for n in (3, 8))
    runs = {}
    for name in draw(st.lists(words, min_size=1, max_size=3, unique=True)):
        pairs = draw(st.lists(st.tuples(st.sampled_from(topics), st.sampled_from(docs)), min_size=1, unique=True))
        ranks = draw(st.permutations(range(draw(st.integers(0, 1)), len(pairs) + 1)))
        runs[name] = [(*pair, draw(SCORES), rank) for pair, rank in zip(pairs, ranks, strict=False)]
    return runs


def as_runs(runs, order):
    frames = {
        name: pd.DataFrame(rows, columns=["qid", "docno", "score", "rank"]).astype({"qid": object, "docno": object})
        for name, rows in runs.items()
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReuseWarning)  # twin topics
        return RunSet.from_frames(frames, order=order)


def quiet(source, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReuseWarning)
        return read_runs(source, **options)


@QUICK
@given(
    found=fields(),
    order=st.sampled_from(list(ORDERS)),
    ending=st.sampled_from(["parquet", "arrow", "feather"]),
    rows=st.integers(1, 9),
)
def test_what_is_written_reads_back_bit_for_bit(found, order, ending, rows, tmp_path_factory, monkeypatch):
    monkeypatch.setattr(table_labels, "_ROWS", rows)
    runs = as_runs(found, order)
    path = runs.write_table(tmp_path_factory.mktemp("t") / f"runs.{ending}")
    # in each order that follows from scores alone it is what the runs are in that order
    for other in ORDERS:
        expected = runs if other in ("rank", "file") else runs.reorder(other)
        again = quiet(path, order=other)
        assert again.names == runs.names
        assert again.order == other
        assert same_rows(again, expected)
        again.reorder("rank")
    frame = pd.read_parquet(path) if ending == "parquet" else pd.read_feather(path)
    expected = runs.to_frame()[["qid", "docno", "score", "rank", "name"]]
    place = {topic: t for t, topic in enumerate(runs.topics)}
    rows_of = expected.iloc[np.argsort([place[qid] for qid in expected["qid"]], kind="stable")]
    assert frame.astype(object).to_numpy().tolist() == rows_of.astype(object).to_numpy().tolist()
    assert frame["score"].to_numpy().tobytes() == rows_of["score"].to_numpy().tobytes()


def same_rows(left, right):
    ours, theirs = left.to_frame(), right.to_frame()
    return ours.equals(theirs) and ours["score"].to_numpy().tobytes() == theirs["score"].to_numpy().tobytes()


@QUICK
@given(
    found=fields(),
    order=st.sampled_from(list(ORDERS)),
    kind=st.sampled_from(KINDS),
    text=st.sampled_from(list(TEXTS)),
    rows=st.integers(1, 7),
    ranks=st.sampled_from([pa.int64(), pa.int32(), pa.uint16(), pa.float64()]),
    chance=st.randoms(use_true_random=False),
)
def test_a_table_of_any_kind_gives_the_runs_of_frames(found, order, kind, text, rows, ranks, chance, tmp_path_factory):
    # rows of all runs mixed among each other; those of a run in their order
    mixed = [name for name, lines in found.items() for _ in lines]
    chance.shuffle(mixed)
    left = {name: iter(lines) for name, lines in found.items()}
    lines = [(*next(left[name]), name, "more") for name in mixed]
    columns = ("qid", "docno", "score", "rank", "name", "other")
    path = tmp_path_factory.mktemp("t") / "runs"
    put(path, table_of(lines, columns, text=text, types={"rank": ranks}), kind=kind, rows=rows)
    expected = as_runs({name: found[name] for name in dict.fromkeys(mixed)}, order)
    read = quiet(path, order=order)
    assert read.names == expected.names
    assert same_rows(read, expected)
    for other in ORDERS:
        assert same_rows(read.reorder(other), expected.reorder(other))


def test_the_names_of_runs(tmp_path):
    rows = [("1", "d1", 2.0), ("1", "d2", 1.0)]
    for file in ("input.bm25.parquet", "plain", "x.y.arrow"):
        put(tmp_path / file, table_of(rows, ("qid", "docno", "score")))
    (tmp_path / "input.old").write_text("1 Q0 d1 1 2 tag\n1 Q0 d2 2 1 tag\n")
    several = [(*row, name) for name in "ba" for row in rows]
    put(tmp_path / "z.parquet", table_of(several, ("qid", "docno", "score", "name")))
    runs = read_runs(tmp_path)
    assert runs.names == ["bm25", "tag", "plain", "x.y", "b", "a"]
    assert read_runs(tmp_path, names="file").names == ["bm25", "old", "plain", "x.y", "b", "a"]
    assert len({runs[name].drop(columns="name").to_csv() for name in runs.names}) == 1
    # a rank column is needed for its order alone
    assert runs.field.ranked.tolist() == [False, True, False, False, False, False]


def test_whole_numbers_are_names_as_they_are_written(tmp_path):
    rows = [(1, 10, 2, 7), (1, -3, 1, 7), (301, 10, 5, 8)]
    types = {"qid": pa.int64(), "docno": pa.int32(), "score": pa.int64(), "name": pa.uint8()}
    for kind in KINDS:
        put(tmp_path / "t", table_of(rows, ("qid", "docno", "score", "name"), types=types), kind=kind, rows=2)
        frame = read_runs(tmp_path / "t").to_frame()
        assert frame[["qid", "docno", "score", "name"]].to_numpy().tolist() == [
            ["1", "10", 2.0, "7"],
            ["1", "-3", 1.0, "7"],
            ["301", "10", 5.0, "8"],
        ]


@pytest.fixture
def runs():
    first = pd.DataFrame({"qid": ["2", "2", "10"], "docno": ["d1", "d2", "d1"], "score": [3.0, 2.0, 1.0]})
    second = pd.DataFrame({"qid": ["1", "2"], "docno": ["d9", "d2"], "score": [3.0, 2.0]})
    table = pd.DataFrame(
        {
            "name": ["b", "a", "c"],
            "team": ["x", None, "y"],
            "type": ["neural", "neural", None],
            "pooled": [True, False, None],
            "family": ["f", None, None],
            "year": [1999, 2000, 2001],
            "share": [0.1, None, 1e300],
        }
    )
    frames = {"b": first, "a": second, "c": first}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReuseWarning)  # a run without a team
        return RunSet.from_frames(frames, metadata=table, pool_order="file", pool_depth=7)


@pytest.mark.parametrize("ending", ["parquet", "arrow", "feather"])
@pytest.mark.parametrize("cache", [False, True])
def test_what_is_on_record_reads_back(ending, cache, runs, tmp_path):
    path = runs.write_table(tmp_path / "new" / f"runs.{ending}")
    assert list(path.parent.iterdir()) == [path]
    for _ in range(2):
        again = read_runs(path, cache=tmp_path / "cache" if cache else None)
        pd.testing.assert_frame_equal(again.run_table, runs.run_table)
        assert same_rows(again, runs)
        assert repr(again) == repr(runs)


def test_what_the_user_gives_wins_over_what_a_table_says(runs, tmp_path):
    path = runs.write_table(tmp_path / "runs.parquet")
    other = tmp_path / "input.d"
    other.write_text("2 Q0 d1 1 2 d\n")
    read = read_runs([other, path], teams={"a": "z", "b": "z", "d": "w", "c": "y"}, pool_order="rank", pool_depth=3)
    assert read.names == ["d", "b", "a", "c"]
    assert read.run_table["team"].tolist() == ["w", "z", "z", "y"]
    assert read.run_table["type"].tolist() == [None, "neural", "neural", None]
    assert read.run_table["pooled"].tolist() == [pd.NA, True, False, pd.NA]
    assert (read.pool_order, read.pool_depth) == ("rank", 3)


def test_an_order_that_nobody_chose_is_told(messages, runs, tmp_path):
    path = runs.reorder("file").write_table(tmp_path / "runs.parquet")
    read = messages.warned(lambda: read_runs(path))
    assert read.order == "trec_eval"
    messages.warned(lambda: read_runs(path, order="rank"), times=0)
    messages.warned(lambda: score(path, pd.DataFrame({"qid": ["2"], "docno": ["d1"], "label": [1]}), "AP"))


def test_two_tables_that_say_two_things_of_the_pool(messages, runs, tmp_path):
    one = runs.select("a").write_table(tmp_path / "a.parquet")
    other = runs.select("b").pooled_as(type(runs.how_pooled)("rank", 9)).write_table(tmp_path / "b.arrow")
    messages.refused(lambda: read_runs([one, other], pool_depth=5), argument="pool_order")
    messages.refused(lambda: read_runs([one, other], pool_order="file"), argument="pool_depth")
    assert read_runs([one, other], pool_depth=5, pool_order="file").pool_depth == 5


SAID = {
    "no JSON": b"{",
    "a list": b"[]",
    "no text": b"\xff",
    "a later version": b'{"version": 2}',
    "no check": b'{"version": 1, "order": "file"}',
    "nested": b"[" * 100_000,
}


@pytest.mark.parametrize("what", SAID)
def test_notes_of_others_are_left_aside(what, messages, tmp_path):
    table = table_of([("1", "d", 1.0, 1, "a")]).replace_schema_metadata({b"pt_reuse": SAID[what]})
    read = messages.warned(lambda: read_runs(put(tmp_path / "t", table)))
    assert read.names == ["a"]
    assert read.run_table["team"].tolist() == [None]


def test_every_bit_of_the_notes_is_checked():
    notes = TableNotes("rank", "file", 7, [{"name": "a", "team": "x", "pooled": True}])
    data = notes.packed()
    for at in range(len(data)):
        for bit in range(8):
            other = data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]
            with suppress(ValueError):
                # white space may be another one
                assert TableNotes.unpacked(other) == notes


def test_row_groups_hold_whole_topics(tmp_path, monkeypatch):
    monkeypatch.setattr(table_labels, "_ROWS", 5)
    rows = {"a": [(str(t), f"d{i}", 1.0 / (i + 1), i) for t in (1, 2, 3, 4) for i in range(t)]}
    path = as_runs(rows, "rank").write_table(tmp_path / "r.parquet")
    file = pq.ParquetFile(path)
    groups = [file.read_row_group(i)["qid"].to_pylist() for i in range(file.num_row_groups)]
    assert groups == [["1", "2", "2"], ["3"] * 3, ["4"] * 4]
    assert file.schema_arrow.remove_metadata() == pa.schema(
        [
            pa.field(name, kind, nullable=False)
            for name, kind in [
                ("qid", pa.string()),
                ("docno", pa.string()),
                ("score", pa.float64()),
                ("rank", pa.int64()),
                ("name", pa.string()),
            ]
        ]
    )
    assert {file.metadata.row_group(0).column(i).compression for i in range(5)} == {"ZSTD"}
    assert read_runs(path, order="rank").names == ["a"]


def test_the_runs_of_trec_8(trec8, tmp_path):
    runs = trec8.runs
    path = runs.write_table(tmp_path / "trec8.parquet")
    again = read_runs(path)
    pd.testing.assert_frame_equal(again.run_table, runs.run_table)
    assert again.field.starts.tobytes() == runs.field.starts.tobytes()
    assert again.field.scores.tobytes() == runs.field.scores.tobytes()
    assert again.field.vocabulary.tobytes() == runs.field.vocabulary.tobytes()
    assert np.array_equal(again.field.all_docs(), runs.field.all_docs())
