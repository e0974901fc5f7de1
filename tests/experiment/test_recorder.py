from __future__ import annotations

import numpy as np
import pandas as pd
import pyterrier as pt
import pytest

from pt_reuse.experiment.systems import Recorder


def results(qids=("1", "1", "2")):
    return pd.DataFrame(
        {"qid": list(qids), "query": "q", "docno": [f"d{i}" for i in range(len(qids))], "score": 1.5, "x": 0}
    )


def test_passes_the_very_frame_and_keeps_a_copy():
    recorder, frame = Recorder("a"), results()
    assert recorder.transform(frame) is frame
    frame["score"] = 9.0
    frame.loc[0, "docno"] = "changed"
    assert recorder.results().to_dict("list") == {
        "qid": ["1", "1", "2"],
        "docno": ["d0", "d1", "d2"],
        "score": [1.5, 1.5, 1.5],
    }


def test_batches_follow_each_other():
    recorder = Recorder("a")
    recorder(results(["1"]))
    recorder(results(["2", "3"]))
    assert recorder.results()["qid"].tolist() == ["1", "2", "3"]
    assert recorder.results().index.tolist() == [0, 1, 2]


@pytest.mark.parametrize("docno", ["d9", None, np.nan])
def test_what_a_later_batch_repeats_stands_once_but_not_what_one_batch_repeats(docno):
    recorder = Recorder("a")
    frame = pd.concat([results(), results(["1", "1"]).assign(docno=docno)])
    recorder(frame)
    once = recorder.results()
    assert len(once) == 5
    recorder(frame)
    pd.testing.assert_frame_equal(recorder.results(), once)
    recorder(results(["4"]))
    assert len(recorder.results()) == 6


def test_composes_at_the_end_without_joining_other_recorders():
    source = pt.Transformer.from_df(results())
    one, two = Recorder("a"), Recorder("a")
    assert one != two
    pipeline = source >> Recorder("x") >> one
    assert (source >> one)._transformers == (source, one)
    assert (source >> one) != (source >> two)
    pipeline(pd.DataFrame({"qid": ["1", "2"]}))
    assert len(one.results()) == 3
    assert repr(one) == "a"
