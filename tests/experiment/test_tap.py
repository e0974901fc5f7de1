from __future__ import annotations

import numpy as np
import pandas as pd
import pyterrier as pt
import pytest

from pt_reuse.experiment.tap import Kept, Tap


def results(qids=("1", "1", "2")):
    return pd.DataFrame(
        {"qid": list(qids), "query": "q", "docno": [f"d{i}" for i in range(len(qids))], "score": 1.5, "x": 0}
    )


def test_passes_the_very_frame_and_keeps_a_copy():
    tap, frame = Tap("a"), results()
    assert tap.transform(frame) is frame
    frame["score"] = 9.0
    frame.loc[0, "docno"] = "changed"
    assert tap.results().to_dict("list") == {
        "qid": ["1", "1", "2"],
        "docno": ["d0", "d1", "d2"],
        "score": [1.5, 1.5, 1.5],
    }


def test_says_of_which_system_something_is_missing():
    with pytest.raises(pt.validate.InputValidationError, match=r"in transformer a .*missing_columns=\['score'\]"):
        Tap("a")(results().drop(columns="score"))


def test_keeps_what_there_is():
    ranked = Tap("b")
    ranked(results().assign(rank=[0, 1, 0]))
    assert list(ranked.results()) == ["qid", "docno", "score", "rank"]


def test_nothing_seen_gives_no_rows():
    tap = Tap("a")
    assert list(tap.results()) == ["qid", "docno", "score"]
    empty = results([])
    assert tap(empty) is empty
    assert len(tap.results()) == 0


def test_batches_follow_each_other():
    tap = Tap("a")
    tap(results(["1"]))
    tap(results(["2", "3"]))
    assert tap.results()["qid"].tolist() == ["1", "2", "3"]
    assert tap.results().index.tolist() == [0, 1, 2]


@pytest.mark.parametrize("docno", ["d9", None, np.nan])
def test_what_a_later_batch_repeats_stands_once_but_not_what_one_batch_repeats(docno):
    tap = Tap("a")
    frame = pd.concat([results(), results(["1", "1"]).assign(docno=docno)])
    tap(frame)
    once = tap.results()
    assert len(once) == 5
    tap(frame)
    pd.testing.assert_frame_equal(tap.results(), once)
    tap(results(["4"]))
    assert len(tap.results()) == 6


def test_composes_at_the_end_without_joining_other_taps():
    source = pt.Transformer.from_df(results())
    one, two = Tap("a"), Tap("a")
    assert one != two
    pipeline = source >> Tap("x") >> one
    assert (source >> one)._transformers == (source, one)
    assert (source >> one) != (source >> two)
    pipeline(pd.DataFrame({"qid": ["1", "2"]}))
    assert len(one.results()) == 3
    assert repr(one) == "a"


def test_pyterrier_can_inspect_it():
    tap = Tap("a")
    assert pt.inspect.transformer_outputs(tap, ["qid", "docno", "score"]) == ["qid", "docno", "score"]
    source = pt.Transformer.from_df(results())
    for columns in (["qid"], ["qid", "query"]):
        assert pt.inspect.transformer_outputs(source >> tap, columns) == pt.inspect.transformer_outputs(source, columns)
    attributes = [(attribute.name, attribute.value) for attribute in pt.inspect.transformer_attributes(tap)]
    assert attributes == [("label", "a"), ("kept", Kept())]
    assert pt.inspect.transformer_inputs(tap)
    assert pt.schematic.transformer_schematic(tap, input_columns=["qid"])["label"] == "a"
    assert len(tap.results()) == 0, "to be inspected is not to be run"
