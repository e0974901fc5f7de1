"""The readers on random and damaged bytes, against a reader that splits line by line."""

from __future__ import annotations

import math
import re
import struct
import tempfile
import warnings
from functools import partial

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from store_parts import in_pieces

from pt_reuse.data.judgments import read_qrels
from pt_reuse.data.lines import BOM
from pt_reuse.data.packed_files import packed_with
from pt_reuse.data.run_set import read_runs
from pt_reuse.errors import InputError, ReuseWarning

NUMBER = re.compile(rb"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")


LONGEST = 1024


class RejectedError(Exception):
    pass


class NoRunError(RejectedError):
    pass


def naive_number(text):
    """Return a finite decimal number, None for anything else."""
    value = float(text) if NUMBER.fullmatch(text) else math.inf
    return None if math.isinf(value) else value


def naive_lines(data):
    """Yield (number, cells) of every line that is neither blank nor a comment; with a NUL byte, or with a
    carriage return behind its sixth word, which may be the end of a line, there are no cells.
    """
    for number, line in enumerate(data.removeprefix(BOM).split(b"\n"), 1):
        if b"\0" in line:
            yield number, []
        elif line.split() and not line.split()[0].startswith(b"#"):
            runs_on = b"\r" in b"".join(line.split(None, 5)[5:]).strip()
            yield number, [] if runs_on else line.split()


def naive_run_lines(data, *, skip, by_rank, by_tag):
    """Return ([(line, qid, docno, rank, score, tag)] of the run lines, numbers of the others)."""
    rows, bad = [], []
    for number, cells in naive_lines(data):
        score = naive_number(cells[4]) if len(cells) >= 6 else None
        rank = naive_number(cells[3]) if len(cells) >= 6 else None
        if score is None or (by_rank and rank is None) or max(len(cells[0]), len(cells[2])) > LONGEST:
            bad.append(number)
        else:
            rows.append((number, cells[0], cells[2], rank, score, cells[5]))
    if not rows:
        raise NoRunError
    if (bad and not skip) or (by_tag and len({row[5] for row in rows}) > 1):
        raise RejectedError
    return rows, bad


def naive_run(data, *, skip=False, best=False, order="trec_eval", by_tag=True):
    """Return (tag, {topic: [(docno, score), ...] in ranking order}, the lines that were left out), names in bytes."""
    rows, dropped = naive_run_lines(data, skip=skip, by_rank=order == "rank", by_tag=by_tag)
    topics = {}
    for row in rows:
        topics.setdefault(row[1], []).append(row)
    kept = {}
    for topic, found in topics.items():
        if order.startswith("trec_eval"):
            kind = np.float32 if order == "trec_eval9" else np.float64
            found = sorted(sorted(found, key=lambda row: row[2], reverse=True), key=lambda row: -kind(row[4]))
        elif order == "rank":
            if len({row[3] for row in found}) < len(found):
                raise RejectedError
            found = sorted(found, key=lambda row: row[3])
        seen = {}
        for row in found:
            if row[2] in seen and not best:
                raise RejectedError
            if row[2] in seen:
                dropped.append(row[0])
            seen.setdefault(row[2], row[4])
        kept[topic] = list(seen.items())
    return rows[0][5], kept, sorted(dropped)


def naive_qrels(data):
    """Return {topic: {docno: label}}."""
    topics = {}
    for _, cells in naive_lines(data):
        label = naive_number(cells[3]) if len(cells) == 4 else None
        if label is None or label != int(label) or not -(2**15) <= label < 2**15:
            raise RejectedError
        if max(len(cells[0]), len(cells[2])) > LONGEST:
            raise RejectedError
        if topics.setdefault(cells[0], {}).setdefault(cells[2], int(label)) != int(label):
            raise RejectedError
    if not topics:
        raise RejectedError
    return topics


FUZZ = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def as_bytes(text):
    return text.encode("utf-8", "surrogateescape")


def ours_run(path, *, chunk=None, skip=False, best=False, order="trec_eval"):
    """Return what :func:`naive_run` returns, from our reader: in memory, or within memory in chunks of some bytes."""
    options = {"bad_lines": "skip" if skip else "error", "duplicates": "best" if best else "error", "order": order}
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as cache:
        if chunk is not None:
            in_pieces(patch, chunk=chunk, rows=chunk % 7 + 1)
            options |= {"cache": cache, "memory": "64MB"}
        runs = read_runs(path, n_jobs=1, **options)
        frame = runs.to_frame()
    topics = {}
    for row in frame.itertuples():
        topics.setdefault(as_bytes(row.qid), []).append((as_bytes(row.docno), row.score))
    assert runs.topics == list(dict.fromkeys(frame["qid"]))
    assert set(runs.dropped["file"]) <= {str(path)}
    assert set(runs.dropped["name"]) <= set(runs.names)
    return as_bytes(runs.names[0]), topics, runs.dropped["line"].tolist()


def ours_qrels(path):
    qrels = read_qrels(path)
    topics = {}
    for row in qrels.to_frame().itertuples():
        topics.setdefault(as_bytes(row.qid), {})[as_bytes(row.docno)] = row.label
    return topics


def bits(value):
    """Turn scores into their bytes, so that 0 and -0 differ."""
    if isinstance(value, float):
        return struct.pack("d", value)
    if isinstance(value, dict):
        return {key: bits(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [bits(item) for item in value]
    return value


def compare(data, naive, ours, path):
    path.write_bytes(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReuseWarning)  # twin topics, judgments given twice
        try:
            expected = naive(data)
        except RejectedError:
            with pytest.raises(InputError) as caught:
                ours(path)
            assert str(path) in str(caught.value) or repr(path.name) in str(caught.value)
            return
        assert bits(ours(path)) == bits(expected)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("fuzz") / "input.fuzz"


spaces = st.sampled_from([b" ", b"\t", b"  ", b"\t ", b"\x0b", b"\x0c", b"\r", b" \r\x0b"])
words = st.one_of(
    st.sampled_from(
        [b"1", b"001", b"NA", b"null", b"nan", b"1e5", b'"', b"'d", b"#", b"\xc3\xa9", b"\xe9", b"d" * 20, b"Q0"]
    ),
    st.binary(min_size=1, max_size=20).map(lambda raw: b"".join(raw.replace(b"\0", b"").split()) or b"x"),
)
scores = st.one_of(
    st.sampled_from(b"1 1.0 0.5 -0 +2 .5 5. 1e-3 123456789012345678901234567890 0".split()),
    st.floats(allow_nan=False, allow_infinity=False).map(lambda value: repr(value).encode()),
    st.sampled_from([b"nan", b"inf", b"1_0", b"0x1", b"1e999", b"a"]),
)
labels = st.sampled_from([b"0", b"1", b"2", b"-1", b"-2", b"1.0", b"00", b"+1", b"32767", b"32768", b"0.5", b"x"])


@st.composite
def lines(draw, run):
    """Draw a file that is valid but for odd values now and then."""
    tag, ends = draw(words), draw(st.sampled_from([b"\n", b"\r\n"]))
    text = []
    odd = draw(st.integers(0, 9)) == 0
    plain_scores = (
        scores
        if odd
        else st.one_of(
            # ties as float32 alone, and altogether
            st.sampled_from([b"1", b"1.00000001", b"0", b"-0", b"1e300", b"2e300"]),
            st.floats(-100, 100).map(lambda value: f"{value:.3f}".encode()),
        )
    )
    plain_labels = labels if odd else st.sampled_from([b"0", b"1", b"2", b"-1"])
    topics = draw(st.lists(words, min_size=1, max_size=3))
    space = draw(spaces)
    for i in range(draw(st.integers(1, 12))):
        docno = b"%s-%d" % (draw(words), i) if draw(st.integers(0, 9)) else draw(words)
        cells = [draw(st.sampled_from(topics)), b"Q0", docno]
        cells += [draw(words), draw(plain_scores), tag] if run else [draw(plain_labels)]
        text.append((space if draw(st.booleans()) else draw(spaces)).join(cells))
    return ends.join(text) + (ends if draw(st.booleans()) else b"")


@st.composite
def damaged(draw, run):
    """Draw a valid file and damage it in up to four places."""
    data = bytearray(draw(lines(run)))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(data)))
        how = draw(st.sampled_from(["flip", "delete", "insert", "cut", "blank", "space", "double", "head"]))
        if how == "flip" and at < len(data):
            data[at] ^= 1 << draw(st.integers(0, 7))
        elif how == "delete":
            del data[at : at + draw(st.integers(1, 8))]
        elif how == "insert":
            data[at:at] = draw(st.binary(min_size=1, max_size=4))
        elif how == "cut":
            del data[at:]
        elif how == "blank":
            data[at:at] = draw(st.sampled_from([b"\n", b"\n\n", b"\r\n", b"\n \t\n", b"\r"]))
        elif how == "space":
            data[at:at] = draw(spaces)
        elif how == "double":
            rows = bytes(data).split(b"\n")
            data += b"\n" + rows[at % len(rows)]
        elif how == "head":
            data[:0] = draw(st.sampled_from([BOM, b"\n", b" ", BOM + BOM, b"\xff\xfe", b"BZh9", b"#"]))
    return bytes(data)


@pytest.mark.parametrize(("naive", "ours"), [(naive_run, ours_run), (naive_qrels, ours_qrels)], ids=["run", "qrels"])
@FUZZ
@given(data=st.one_of(st.binary(max_size=200), st.text("1 \t\n\r\x0b\x0c.Qd", max_size=80).map(str.encode)))
def test_random_bytes(naive, ours, data, path):
    assume(packed_with(data) is None)
    compare(data, naive, ours, path)


@FUZZ
@given(data=st.one_of(lines(False), damaged(False)))
def test_qrels_and_damaged_qrels(data, path):
    assume(packed_with(data) is None)
    compare(data, naive_qrels, ours_qrels, path)


WAYS = [
    {},
    {"skip": True},
    {"best": True},
    {"order": "rank"},
    {"order": "trec_eval9"},
    {"order": "file", "skip": True},
    {"skip": True, "best": True, "order": "rank"},
]


@pytest.mark.filterwarnings("ignore:overflow")
@settings(FUZZ, max_examples=50)
@given(
    data=st.one_of(lines(True), damaged(True)),
    way=st.sampled_from(WAYS),
    chunk=st.sampled_from([None, None, 1, 30, 200]),
)
def test_runs_and_damaged_runs(data, way, chunk, path):
    assume(packed_with(data) is None)
    compare(data, partial(naive_run, **way), partial(ours_run, chunk=chunk, **way), path)


def test_line_ends_by_hand(path):
    for data in (b"1 Q0 d 1 2 t", b"1 Q0 d 1 2 t\n", b"\n1 Q0 d 1 2 t", b" 1 Q0 d 1 2 t \r\n\r\n"):
        for more in (b"", b"1 Q0 e 2 1 t", b"1\tQ0\te\t2\t1\tt\n", b"\n\n1 Q0 e 2 1 t\r", b"1 Q0 e 2 1 t u"):
            compare(data + b"\n" + more, naive_run, ours_run, path)
            compare(data + more, naive_run, ours_run, path)
