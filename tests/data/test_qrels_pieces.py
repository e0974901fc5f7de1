"""Qrels that are read piece by piece are what they are at once, faults and their lines included."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pt_reuse._errors import InputError
from pt_reuse.arrays import tokens
from pt_reuse.data import trec
from pt_reuse.data.trec import parse_qrels

NAMES = st.sampled_from(["1", "2", "10", "d", "a-name-of-more-than-eight-bytes", "é"])
GOOD = st.builds("{} {} {} {}".format, NAMES, st.sampled_from("0Q"), NAMES, st.integers(-1, 3))
ODD = st.sampled_from(["", "   ", "# a comment", "1 0 d", "1 0 d 1.5", "1 0 d \0", "1 0 d many", "1\t0  d 1 "])
TEXTS = st.lists(st.one_of(GOOD, GOOD, GOOD, ODD), max_size=12).map("\n".join)


def told(data, at_once=1 << 20, **options):
    try:
        with mock.patch.object(trec, "_AT_ONCE", at_once):
            rows = parse_qrels(data, **options)
    except InputError as error:
        return str(error)
    docs = tokens.decode(tokens.as_tokens(rows.docs))
    strata = None if rows.strata is None else tokens.decode(tokens.as_tokens(rows.strata))
    lines = [rows.line_of(row) for row in range(len(docs))]
    return rows.topics, rows.topic.tolist(), docs, rows.labels.tolist(), strata, lines


@settings(max_examples=300)
@given(TEXTS, st.integers(1, 60), st.sampled_from(["", "\n", "\r\n", "\n\n"]), st.booleans())
def test_pieces_are_read_as_the_whole(text, at_once, end, marked):
    data = (("\ufeff" if marked else "") + text + end).encode()
    assert told(data, at_once=at_once) == told(data)


@given(st.lists(st.tuples(NAMES, NAMES, NAMES, st.integers(-1, 3)), min_size=1, max_size=9), st.integers(1, 60))
def test_pieces_of_a_sample(rows, at_once):
    data = "".join(f"{qid} 0 {docno} {stratum} {label}\n" for qid, docno, stratum, label in rows).encode()
    assert told(data, strata=True, at_once=at_once) == told(data, strata=True)


@pytest.mark.parametrize("n", [1, 30_000])
def test_a_fault_far_down_is_told_with_its_line(n, monkeypatch):
    monkeypatch.setattr(trec, "_AT_ONCE", 1 << 12)
    data = b"".join(b"%d 0 doc%d 1\n" % (i // 100, i) for i in range(n)) + b"7 0 last\n"
    with pytest.raises(InputError, match=rf"line {n + 1:,}: .* found 3"):
        parse_qrels(data)


def test_names_of_any_width_stand_one_after_the_other():
    parts = [np.array([[1]], dtype="<u8"), np.zeros((0, 1), dtype="<u8"), np.array([[2, 3], [4, 0]], dtype="<u8")]
    assert tokens.stacked(parts).tolist() == [[1, 0], [2, 3], [4, 0]]
    assert tokens.stacked([]).shape == (0, 1)
