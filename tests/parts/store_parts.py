"""Reading within memory as the tests do it: in tiny pieces, and what makes its result that of reading in memory."""

from __future__ import annotations

import numpy as np

from pt_reuse.data import packed_files as files
from pt_reuse.data import parsing


def in_pieces(monkeypatch, chunk=100, rows=5):
    """Read files in chunks of so many bytes, and make blocks of so many rows."""
    cut = parsing.neighbours
    monkeypatch.setattr(files, "_CHUNK", chunk)
    monkeypatch.setattr(files, "STEP", chunk)
    monkeypatch.setattr(parsing, "_CHUNK_BYTES", chunk)
    monkeypatch.setattr(parsing, "neighbours", lambda sizes, most: cut(sizes, rows))


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
        block.file[rows].tolist(),
        block.rank[rows].tolist(),
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
