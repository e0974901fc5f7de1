"""Reading within memory as the tests do it: in tiny pieces, and what makes its result that of reading in memory."""

from __future__ import annotations

import warnings

import numpy as np

from pt_reuse._errors import InputError, ReuseWarning
from pt_reuse.arrays.open_field import OpenField
from pt_reuse.data import packed_files as files
from pt_reuse.data.budget import Budget
from pt_reuse.data.run_reading import read_runs


def in_pieces(monkeypatch, chunk=100, rows=5):
    """Read files in chunks of so many bytes, and make blocks of so many rows."""
    monkeypatch.setattr(files, "_CHUNK", chunk)
    monkeypatch.setattr(files, "STEP", chunk)
    monkeypatch.setattr(Budget, "chunk", chunk)
    monkeypatch.setattr(Budget, "rows", lambda self, width, tables: rows)
    monkeypatch.setattr(Budget, "check_topic", lambda *_: None)


def outcome(source, **options):
    """Return what reading gives: runs, or the parts of the error, and the warnings."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", ReuseWarning)
        try:
            runs, error = read_runs(source, **options), None
        except InputError as raised:
            runs, error = None, (str(raised), [str(fault) for fault in raised.faults], raised.place)
    return runs, error, [str(warning.message) for warning in told]


def rows_of(field, topic):
    """Return all that a field says of one topic."""
    t = field.topic_row[topic]
    block, at = field.of(t)
    lists = slice(at * block.n_runs, (at + 1) * block.n_runs)
    starts = block.starts[lists.start : lists.stop + 1]
    rows = np.arange(starts[0], starts[-1])
    return (
        (starts - starts[0]).tolist(),
        block.codes[rows].tolist(),
        block.scores[rows].tobytes(),
        block.file.of(block.starts, rows).tolist(),
        block.rank.of(block.starts, rows).tolist(),
        [bytes(word).rstrip(b"\0") for word in block.words_at(at)],
        (block.ranked | (np.diff(starts) == 0)).tolist(),
    )


def assert_same_field(ours, theirs):
    """Two fields say the same of every topic."""
    assert ours.topics == theirs.topics
    assert ours.ranked.tolist() == theirs.ranked.tolist()
    assert np.array_equal(ours.lengths, theirs.lengths)
    for topic in ours.topics:
        assert rows_of(ours, topic) == rows_of(theirs, topic), topic


def assert_same(source, cache, *, exactly=False, **options):
    """Reading within memory gives what reading in memory gives, or as many faults, or the same; return the runs."""
    theirs, error, told = outcome(source, **options)
    ours, our_error, our_told = outcome(source, cache=cache, memory="64MB", **options)
    if exactly:
        assert our_error == error
    assert (our_error and len(our_error[1])) == (error and len(error[1]))
    assert our_told == told
    if theirs is None:
        return None
    assert isinstance(ours.field, OpenField)
    assert_same_field(ours.field, theirs.field)
    assert ours.run_table.equals(theirs.run_table)
    assert ours.dropped.equals(theirs.dropped)
    again, _, told_again = outcome(source, cache=cache, memory="64MB", **options)
    assert told_again == told
    assert_same_field(again.field, theirs.field)
    assert again.dropped.equals(theirs.dropped)
    return ours
