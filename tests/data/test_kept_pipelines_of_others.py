"""What pipelines gave is kept by name and topics, and not taken for that of another pipeline of the name."""

from __future__ import annotations

import pandas as pd
import pyterrier as pt
import pytest

import pt_reuse as ptr

TOPICS = pd.DataFrame({"qid": ["1", "2"], "query": ["a", "b"]})


class Finds(pt.Transformer):
    def __init__(self, n):
        self.n = n

    def transform(self, inp):
        rows = [(qid, f"d{i}", float(-i)) for qid in inp["qid"] for i in range(self.n)]
        return pd.DataFrame(rows, columns=["qid", "docno", "score"])

    def __repr__(self):
        return f"Finds({self.n})"


def test_another_pipeline_of_the_name_is_told(tmp_path):
    first = ptr.RunSet.from_pipelines({"x": Finds(3)}, TOPICS, cache=tmp_path)
    assert ptr.RunSet.from_pipelines({"x": Finds(3)}, TOPICS, cache=tmp_path).to_frame().equals(first.to_frame())
    for pipeline in (Finds(2), Finds(3) % 1):
        with pytest.raises(ptr.InputError, match=r"results of another pipeline as 'x': 'Finds\(3\)'") as caught:
            ptr.RunSet.from_pipelines({"x": pipeline}, TOPICS, cache=tmp_path)
        assert caught.value.argument == "cache"
    assert len(ptr.RunSet.from_pipelines({"y": Finds(2)}, TOPICS, cache=tmp_path).to_frame()) == 4


def test_addresses_of_objects_do_not_matter(tmp_path):
    def apply(calls):
        return pt.apply.generic(lambda inp: calls.append(1) or Finds(2).transform(inp))

    first, again = [], []
    ptr.RunSet.from_pipelines({"x": apply(first)}, TOPICS, cache=tmp_path)
    ptr.RunSet.from_pipelines({"x": apply(again)}, TOPICS, cache=tmp_path)
    assert (len(first), len(again)) == (1, 0)
