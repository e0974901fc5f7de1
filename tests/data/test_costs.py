"""What must not explode: many tags, one long name, a great many topics."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from pt_reuse.data.run_reading import read_runs
from pt_reuse.data.run_set import RunSet

LONG = "x" * 1000


def test_a_sixth_column_that_differs_on_every_line(messages, tmp_path):
    # score and tag swapped
    path, n = tmp_path / "a", 50_000
    path.write_text("".join(f"1 Q0 d{i} {i} 1.5 {n - i}.5\n" for i in range(n)))
    messages.refused(lambda: read_runs(path), place="{d}/a")
    assert len(read_runs(path, names="file")["a"]) == n


@pytest.mark.filterwarnings("ignore:.*no document is left")
def test_one_long_name_widens_no_other(tmp_path):
    rows = "".join(f"{t} Q0 d{i} {i} {-i} a\n" for t in range(3) for i in range(50))
    (tmp_path / "a").write_text(rows + f"1 Q0 {LONG} 50 9 a\n")
    runs = read_runs(tmp_path / "a", cache=tmp_path / "cache")
    assert runs.field.vocabulary.dtype.itemsize == 16
    for same in (runs, read_runs(tmp_path / "a", cache=tmp_path / "cache")):
        found = same["a"]
        assert found["docno"].tolist().count(LONG) == 1
        assert found[found["qid"] == "1"]["docno"].tolist()[:2] == [LONG, "d0"]
        assert same.restrict([LONG])["a"]["docno"].tolist() == [LONG]
    other = RunSet.from_frames({"b": runs["a"]})
    both = runs | other
    assert both["a"]["docno"].tolist() == both["b"]["docno"].tolist() == runs["a"]["docno"].tolist()
    assert len(both.field.vocabulary) == 51


def test_ties_of_long_names_go_by_their_bytes(tmp_path):
    names = [LONG + "b", LONG + "a", LONG[:-1] + "z", "x", "y", "é" * 40, LONG]
    (tmp_path / "a").write_text("".join(f"1 Q0 {name} 1 1 a\n" for name in names))
    assert read_runs(tmp_path / "a")["a"]["docno"].tolist() == sorted(names, key=str.encode, reverse=True)


@pytest.mark.parametrize("runs", [1, 4])
def test_a_great_many_topics(runs, tmp_path):
    n = 40_000 // runs
    for r in range(runs):
        (tmp_path / f"r{r}").write_text("".join(f"{i} Q0 d{(i * 7 + r) % 500} 1 1.5 r{r}\n" for i in range(n)))
    read = read_runs(tmp_path)
    assert read.topics == [str(i) for i in range(n)]
    assert (read.field.lengths == 1).all()
    assert read[f"r{runs - 1}"]["docno"].tolist() == [f"d{(i * 7 + runs - 1) % 500}" for i in range(n)]
    frames = {name: read[name] for name in read}
    again = RunSet.from_frames(frames)
    assert np.array_equal(again.field.codes, read.field.codes)
    pd.testing.assert_frame_equal(again.to_frame(), read.to_frame())
