"""Run files that are written read back as they were."""

from __future__ import annotations

import gzip
import struct
import warnings

import pandas as pd
import pyterrier as pt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pt_reuse._choices import ORDERS
from pt_reuse._errors import ReuseWarning
from pt_reuse.data.run_reading import read_runs
from pt_reuse.data.run_set import RunSet


def frame(lines):
    """Build a result frame of ``qid docno score`` words, ranks from 0 as they stand."""
    table = pd.DataFrame([line.split() for line in lines], columns=["qid", "docno", "score"])
    return table.assign(score=table["score"].astype(float), rank=table.groupby("qid").cumcount())


@pytest.fixture
def runs():
    a = frame(["1 d1 3", "1 d2 2", "1 d3 2", "2 d1 1"])
    return RunSet.from_frames({"a": a, "b": frame(["1 d3 5", "10 d4 4", "2 d9 1", "2 d1 7"])})


def same_bits(left, right):
    return left.equals(right) and left["score"].to_numpy().tobytes() == right["score"].to_numpy().tobytes()


@pytest.mark.parametrize("compress", [True, False])
def test_write_and_read_back(compress, runs, tmp_path):
    paths = runs.write(tmp_path / "new" / "folder", compress=compress)
    ending = ".gz" if compress else ""
    assert [path.name for path in paths] == [f"input.{name}{ending}" for name in runs]
    again = read_runs(paths)
    assert again.names == runs.names
    assert same_bits(again.to_frame(), runs.to_frame())
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


@settings(deadline=None, max_examples=35, suppress_health_check=[HealthCheck.function_scoped_fixture])
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
        runs = RunSet.from_frames({name: table}, order=order)
        paths = runs.write(tmp_path_factory.mktemp("written"), compress=compress)
        again = read_runs(paths, order=order)
    assert again.names == runs.names
    assert same_bits(again.to_frame(), runs.to_frame())
    kept = {(row.qid, row.docno): struct.pack("d", row.score) for row in again.to_frame().itertuples()}
    assert kept == {key: struct.pack("d", score) for key, score in found.items()}
