"""Runs whose blocks lie elsewhere are the same runs, whatever is made of them."""

import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opened import opened

import pt_reuse as ptr
from pt_reuse._errors import InputError
from pt_reuse.arrays.open_field import OpenField
from pt_reuse.data.array_file import on_disk
from pt_reuse.data.run_set import RunSet

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


@settings(deadline=None, max_examples=25)
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


@settings(deadline=None, max_examples=25)
@given(FIELDS, FIELDS, st.integers(1, 30))
def test_unions(first, second, rows):
    a, b = runs_of(first), runs_of(second, prefix="s")
    expected = a | b
    for left, right in ((opened(a, rows), b), (a, opened(b, rows)), (opened(a, rows), opened(b, rows + 3))):
        united = left | right
        assert isinstance(united.field, OpenField)
        same(united, expected)
        for t in range(expected.field.n_topics):
            np.testing.assert_array_equal(united.field.words_at(t), expected.field.words_at(t))


def test_a_rank_column_that_gives_no_order_is_told_at_once():
    frame = pd.DataFrame(
        {"qid": ["1", "2", "2"], "docno": ["a", "a", "b"], "score": [3.0, 2.0, 1.0], "rank": [1, 5, 5]}
    )
    runs = RunSet.from_frames({"r": frame})
    messages = []
    for some in (runs, opened(runs)):
        with pytest.raises(InputError) as caught:
            some.reorder("rank")
        messages.append(str(caught.value))
    assert messages[0] == messages[1]
    assert "'b'" in messages[0]


def test_a_run_of_which_no_document_is_left_has_no_rows():
    runs = runs_of([{"1": DOCS[:2]}, {"1": DOCS[4:6], "2": DOCS[4:6]}])
    with pytest.warns(ptr.ReuseWarning, match="no document is left"):
        expected, found = (some.restrict(DOCS[:2]).select("r1") for some in (runs, opened(runs)))
    assert found.field.parts == []
    assert expected["r1"].empty
    pd.testing.assert_frame_equal(found["r1"], expected["r1"])
    pd.testing.assert_frame_equal(found.reorder("file").to_frame(), expected.to_frame())


def test_what_is_sent_to_workers_is_small_and_their_files_go():
    runs = ptr.simulate_field(seed=7).runs
    with on_disk(runs.field) as field:
        assert isinstance(field, OpenField)
        part = field.of_topics(range(3, 5))
        assert len(pickle.dumps(part)) < 6_000
        copied = pickle.loads(pickle.dumps(part))
        np.testing.assert_array_equal(copied.part(0).scores, part.part(0).scores)
        files = field.places(range(field.n_topics))
        selected = RunSet(field, runs.run_table, runs.order).select(runs.names[:3])
        with on_disk(selected.field) as again:
            assert again is selected.field
    assert not Path(files[0]).exists()
