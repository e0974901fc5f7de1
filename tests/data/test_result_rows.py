"""Result frames as arrays: every bit of numbers and every character of texts comes back."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pt_reuse.data.kept_results import coded_rows, rows_of

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
