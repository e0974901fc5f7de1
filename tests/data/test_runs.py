"""RunSet: what it gives back, and what every operation keeps."""

from __future__ import annotations

import gzip
import random
import struct
import warnings

import numpy as np
import pandas as pd
import pyterrier as pt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from opened import opened
from pool_parts import as_runs, fields

import pt_reuse as ptr
from pt_reuse.arrays.field import OpenField
from pt_reuse.data.run_set import RunSet, read_runs
from pt_reuse.data.units import subsample_corpus
from pt_reuse.errors import InputError, ReuseWarning
from pt_reuse.options import ORDERS


def frame(lines):
    """Build a result frame of ``qid docno score`` words, ranks from 0 as they stand."""
    table = pd.DataFrame([line.split() for line in lines], columns=["qid", "docno", "score"])
    return table.assign(score=table["score"].astype(float), rank=table.groupby("qid").cumcount())


def rows(table):
    return list(table[["qid", "docno", "rank", "score"]].itertuples(index=False, name=None))


A = frame(["1 d1 3", "1 d2 2", "1 d3 2", "2 d1 1"])
B = frame(["1 d3 5", "10 d4 4", "2 d9 1", "2 d1 7"])
C = frame(["3 d1 0.5"])


@pytest.fixture
def runs():
    return RunSet.from_frames(
        {"a": A, "b": B, "c": C},
        teams={"a": "X", "b": "X", "c": "Y"},
        types={"a": "manual", "b": "automatic", "c": "automatic"},
        pooled=["a", "c"],
    )


# by hand


def test_by_hand(runs):
    assert repr(runs) == "RunSet: 3 runs (2 pooled), 2 teams, 2 types, 4 topics, 9 rows, order='trec_eval'"
    assert runs.names == list(runs) == ["a", "b", "c"]
    assert len(runs) == 3
    assert "a" in runs
    assert "d" not in runs
    assert runs.topics == ["1", "2", "3", "10"]
    assert runs.teams == ["X", "Y"]
    assert runs.types == ["manual", "automatic"]
    assert runs.pooled.tolist() == [True, False, True]
    assert rows(runs["a"]) == [("1", "d1", 0, 3.0), ("1", "d3", 1, 2.0), ("1", "d2", 2, 2.0), ("2", "d1", 0, 1.0)]
    assert rows(runs["b"]) == [("1", "d3", 0, 5.0), ("2", "d1", 0, 7.0), ("2", "d9", 1, 1.0), ("10", "d4", 0, 4.0)]
    assert list(runs["a"].columns) == ["qid", "docno", "rank", "score", "name"]
    whole = runs.to_frame()
    assert whole["name"].tolist() == ["a"] * 4 + ["b"] * 4 + ["c"]
    assert whole["rank"].dtype == np.int64


# choosing runs


def test_select(runs):
    assert runs.select("b").names == ["b"]
    assert runs.select(["c", "a"]).names == ["a", "c"]  # in field order
    assert runs.select(team="X").names == ["a", "b"]
    assert runs.select(team=["X", "Y"], type="automatic").names == ["b", "c"]
    assert runs.select(pooled=True).names == ["a", "c"]
    assert runs.select(pooled=np.False_).names == ["b"]
    assert runs.select().names == runs.names
    only = runs.select("c")
    assert only.topics == ["3"]  # topics that no run has go
    assert rows(only["c"]) == rows(runs["c"])
    assert only.run_table.to_numpy().tolist() == [["c", "Y", "automatic", True]]
    assert runs.names == ["a", "b", "c"]


def test_union_of_tables_that_differ():
    one = RunSet.from_frames(
        {"a": A}, metadata=pd.DataFrame({"name": ["a"], "team": ["X"], "year": [1999], "note": ["n"]})
    )
    two = RunSet.from_frames({"b": B}, types={"b": "manual"}, pooled=False)
    table = (one | two).run_table
    assert list(table.columns) == ["name", "team", "type", "pooled", "year", "note"]
    assert table.to_numpy().tolist() == [["a", "X", None, pd.NA, 1999, "n"], ["b", None, "manual", False, None, None]]
    assert table["pooled"].dtype == "boolean"
    assert (two | one).run_table["team"].tolist() == [None, "X"]


# frames and pipelines


def test_a_run_without_rows():
    runs = RunSet.from_frames({"a": A, "none": A.iloc[:0]})
    assert len(runs["none"]) == 0
    assert list(runs["none"].columns) == ["qid", "docno", "rank", "score", "name"]
    assert runs.sizes()[["topics", "rows", "shortest", "longest"]].iloc[1].tolist() == [0, 0, 0, 0]
    nothing = RunSet.from_frames({"none": A.iloc[:0]})
    assert repr(nothing) == "RunSet: 1 run (pooled: not on record), 0 topics, 0 rows, order='trec_eval'"
    assert len(nothing.to_frame()) == len(nothing["none"]) == 0
    assert "0 rows" in nothing._repr_html_()
    assert (nothing | RunSet.from_frames({"a": A})).names == ["none", "a"]
    assert nothing.reorder("trec_eval9").topics == []
    with pytest.raises(InputError):
        nothing.restrict(["d1"])


class Fixed(pt.Transformer):
    """Gives each query the same results."""

    def __init__(self):
        self.calls = 0

    def transform(self, queries):
        self.calls += 1
        results = pd.DataFrame({"docno": ["d1", "d2"], "score": [1.0, 2.0]})
        return pt.model.add_ranks(queries.merge(results, how="cross"))


def test_from_pipelines(capfd):
    topics = pd.DataFrame({"qid": ["1", "2", "3"], "query": ["x", "y", "z"]})
    fixed = Fixed()
    runs = RunSet.from_pipelines({"a": fixed, "b": fixed % 1}, topics, teams={"a": "A", "b": "B"}, verbose=True)
    assert rows(runs["a"])[:2] == [("1", "d2", 0, 2.0), ("1", "d1", 1, 1.0)]
    assert len(runs["b"]) == 3
    assert runs.teams == ["A", "B"]
    assert "pipelines" in "".join(capfd.readouterr())
    fixed.calls = 0
    batched = RunSet.from_pipelines({"a": fixed}, topics, batch_size=2)
    assert fixed.calls == 2
    assert rows(batched["a"]) == rows(runs["a"])
    assert RunSet.from_pipelines({"a": fixed}, topics, order="file")["a"]["docno"].tolist()[:2] == ["d1", "d2"]


# run files that are written read back as they were


def same_bits(left, right):
    return left.equals(right) and left["score"].to_numpy().tobytes() == right["score"].to_numpy().tobytes()


@pytest.mark.parametrize("compress", [True, False])
def test_write_and_read_back(compress, tmp_path):
    two_runs = RunSet.from_frames({"a": A, "b": B})
    paths = two_runs.write(tmp_path / "new" / "folder", compress=compress)
    ending = ".gz" if compress else ""
    assert [path.name for path in paths] == [f"input.{name}{ending}" for name in two_runs]
    again = read_runs(paths)
    assert again.names == two_runs.names
    assert same_bits(again.to_frame(), two_runs.to_frame())
    data = paths[0].read_bytes()
    text = gzip.decompress(data) if compress else data
    assert text == b"1 Q0 d1 1 3.0 a\n1 Q0 d3 2 2.0 a\n1 Q0 d2 3 2.0 a\n2 Q0 d1 1 1.0 a\n"
    assert sorted(path.name for path in paths[0].parent.iterdir()) == sorted(path.name for path in paths)
    # pyterrier reads it as well
    assert pt.io.read_results(str(paths[0]))["docno"].tolist() == ["d1", "d3", "d2", "d1"]


finite = st.floats(allow_nan=False, allow_infinity=False)
# what bytes.split() leaves whole: any text without ASCII white space
word = st.one_of(
    st.text(st.characters(exclude_characters="\0\t\n\r\v\f ", exclude_categories=["Cs"]), min_size=1, max_size=12),
    st.sampled_from(
        ["NA", "nan", "1e5", "\udcff", "é\udce9", "\u00a0", "\u2028", "\x85", "\x1c", "\ufeff", "\ufeff1", "BZh91AY&SY"]
    ),
    st.sampled_from(["\x1f\udc8b", "#", '"', "\udcfd7zXZ", "(\udcb5/\udcfd"]),
)


#: what begins with # would be a comment
topic = word.filter(lambda name: not name.startswith("#"))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    found=st.dictionaries(st.tuples(topic, word), finite, min_size=1, max_size=12),
    name=word.filter(lambda name: "/" not in name and "\\" not in name and name not in (".", "..")),
    order=st.sampled_from(list(ORDERS)),
    compress=st.booleans(),
)
def test_anything_reads_back(found, name, order, compress, tmp_path_factory):
    table = pd.DataFrame(
        {
            "qid": pd.Series([qid for qid, _ in found], dtype=object),
            "docno": pd.Series([docno for _, docno in found], dtype=object),
            "score": list(found.values()),
            "rank": range(len(found)),
        }
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReuseWarning)  # twin topics
        two_runs = RunSet.from_frames({name: table}, order=order)
        paths = two_runs.write(tmp_path_factory.mktemp("written"), compress=compress)
        again = read_runs(paths, order=order)
    assert again.names == two_runs.names
    assert same_bits(again.to_frame(), two_runs.to_frame())
    kept = {(row.qid, row.docno): struct.pack("d", row.score) for row in again.to_frame().itertuples()}
    assert kept == {key: struct.pack("d", score) for key, score in found.items()}


# runs over a part of the corpus, and random parts: documents of a corpus, teams of a field


FIELD = {"A": {"1": ["FT1", "LA1", "FT2"], "2": ["LA2", "LA1"]}, "B": {"1": ["LA3", "FT1"], "2": ["FT9"]}}


def lists_of(runs):
    return {
        name: {qid: found["docno"].tolist() for qid, found in runs[name].groupby("qid")}
        for name in runs
    }  # fmt: skip


def test_one_source_closes_the_lists_up(messages):
    runs = as_runs(FIELD)
    part = messages.warned(lambda: runs.restrict(prefix="FT"))
    assert lists_of(part) == {"A": {"1": ["FT1", "FT2"]}, "B": {"1": ["FT1"], "2": ["FT9"]}}
    assert part["A"]["rank"].tolist() == [0, 1]
    assert part["A"]["score"].tolist() == [0.0, -2.0]
    messages.warned(lambda: runs.restrict(prefix=["FT1"]))
    every = [runs.restrict(prefix=["FT", "LA"]), runs.restrict(where=lambda docno: True), runs.restrict(runs.docnos())]
    for same in every:
        assert lists_of(same) == FIELD
    by_name = runs.restrict(where=lambda docno: docno.endswith("1") or docno == "FT9")
    assert lists_of(by_name) == {"A": {"1": ["FT1", "LA1"], "2": ["LA1"]}, "B": {"1": ["FT1"], "2": ["FT9"]}}


def test_a_topic_that_is_left_without_documents_is_told(messages):
    part = messages.warned(lambda: as_runs(FIELD).restrict(["FT2", "LA3"]))
    assert part.topics == ["1"]
    messages.refused(lambda: as_runs(FIELD).restrict(prefix="FR"), argument="prefix")
    messages.refused(lambda: as_runs(FIELD).restrict(where=lambda docno: False), argument="where")


@given(fields(), st.integers(1, 8))
def test_docnos_equal_the_brute_force(field, depth):
    runs = as_runs(field)
    for k in (depth, None):
        expected = {doc for lists in field.values() for docs in lists.values() for doc in docs[:k]}
        assert runs.docnos(depth=k) == sorted(expected)


# a part of the corpus


def test_a_third_and_a_ninth_of_a_corpus():
    corpus = [f"d{i}" for i in range(900)]
    third, ninth = (subsample_corpus(corpus, share=1 / n, seed=5) for n in (3, 9))
    assert (len(third), len(ninth)) == (300, 100)
    assert third[:100] == ninth
    assert len(set(third)) == 300
    random.Random(1).shuffle(corpus)
    assert subsample_corpus(iter(corpus), share=1 / 3, seed=5) == third
    assert subsample_corpus(({"docno": d, "text": "x"} for d in corpus), share=1 / 3, seed=5) == third
    assert subsample_corpus(corpus, share=1 / 3, seed=6) != third
    assert sorted(subsample_corpus(corpus, share=1, seed=6)) == sorted(corpus)


# teams


def team_runs():
    field = {f"r{i}": {"1": [f"d{i}", "d"]} for i in range(12)}
    teams = {f"r{i}": f"t{i // 2}" for i in range(12)}
    types = {f"r{i}": "neural" if i % 2 else "lexical" for i in range(12)}
    return as_runs(field, teams=teams, types=types, pooled=True)


def test_all_runs_of_a_team_are_on_one_side():
    runs = team_runs()
    seen = set()
    for seed in range(20):
        some, others = runs.split_teams(seed=seed)
        assert len(some.teams) == len(others.teams) == 3
        assert not set(some.teams) & set(others.teams)
        assert sorted(some.names + others.names) == sorted(runs.names)
        assert len(some) == len(others) == 6
        seen.add(tuple(some.teams))
        again = runs.select(runs.names[::-1]).split_teams(seed=seed)
        assert [part.names for part in again] == [some.names, others.names]
    assert len(seen) > 8


# runs whose blocks lie elsewhere are the same runs, whatever is made of them


DOCS = [f"d{i}" for i in range(12)]
LISTS = st.dictionaries(st.sampled_from(["1", "2", "10", "x"]), st.permutations(DOCS).map(lambda d: d[:5]), min_size=1)
FIELDS = st.lists(LISTS, min_size=1, max_size=4)


def runs_of(lists, *, prefix="r", ties=False):
    frames = {}
    for r, of_run in enumerate(lists):
        rows = [
            (qid, docno, float(-(i // 2) if ties else -i), (i * 7) % 5)
            for qid, docs in of_run.items()
            for i, docno in enumerate(docs)
        ]
        frames[f"{prefix}{r}"] = pd.DataFrame(rows, columns=["qid", "docno", "score", "rank"])
    return RunSet.from_frames(frames)


def same(found, expected):
    assert found.names == expected.names
    assert found.topics == expected.topics
    assert found.order == expected.order
    pd.testing.assert_frame_equal(found.to_frame(), expected.to_frame(), check_exact=True)
    pd.testing.assert_frame_equal(found.sizes(), expected.sizes())
    assert repr(found) == repr(expected)


@settings(deadline=None, max_examples=6)
@given(FIELDS, st.integers(1, 30), st.data())
def test_whatever_is_made_of_open_runs(lists, rows, data):
    runs = runs_of(lists, ties=True)
    open_runs = opened(runs, rows)
    same(open_runs, runs)
    names = data.draw(st.lists(st.sampled_from(runs.names), min_size=1, unique=True))
    same(open_runs.select(names), runs.select(names))
    for order in ("trec_eval9", "rank", "file"):
        same(open_runs.reorder(order), runs.reorder(order))
        same(open_runs.select(names).reorder(order), runs.select(names).reorder(order))
    kept = data.draw(st.lists(st.sampled_from(DOCS), min_size=1, unique=True))
    if set(kept) & set(runs.docnos()):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("pt_reuse.data.units.warn", lambda *parts: None)
            same(open_runs.restrict(kept), runs.restrict(kept))
            same(open_runs.restrict(kept).reorder("file"), runs.restrict(kept).reorder("file"))
    assert open_runs.docnos(depth=2) == runs.docnos(depth=2)


@settings(deadline=None, max_examples=6)
@given(FIELDS, FIELDS, st.integers(1, 30))
def test_unions(first, second, rows):
    a, b = runs_of(first), runs_of(second, prefix="s")
    expected = a | b
    for left, right in ((opened(a, rows), b), (a, opened(b, rows)), (opened(a, rows), opened(b, rows + 3))):
        united = left | right
        assert isinstance(united.field, OpenField)
        same(united, expected)


def test_a_run_of_which_no_document_is_left_has_no_rows():
    runs = runs_of([{"1": DOCS[:2]}, {"1": DOCS[4:6], "2": DOCS[4:6]}])
    with pytest.warns(ptr.ReuseWarning, match="no document is left"):
        expected, found = (some.restrict(DOCS[:2]).select("r1") for some in (runs, opened(runs)))
    assert found.field.parts == []
    assert expected["r1"].empty
    pd.testing.assert_frame_equal(found["r1"], expected["r1"])
    pd.testing.assert_frame_equal(found.reorder("file").to_frame(), expected.to_frame())
