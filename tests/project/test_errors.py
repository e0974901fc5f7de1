from __future__ import annotations

import pickle

import pandas as pd
import pyterrier as pt
import pytest

from pt_reuse._errors import Argument, Aside, InputError, Option, ReuseWarning, arguments_as, located, wrong
from pt_reuse.cli.parser import Parser, Shell
from pt_reuse.data.run_set import RunSet
from pt_reuse.pooling.depth import depth_pool

FRAME = pd.DataFrame({"qid": "1", "docno": ["d"], "score": [2.0]})
TOPICS = pd.DataFrame({"qid": ["1"], "query": "q"})


def test_what_a_pipeline_of_the_user_calls_is_named_by_what_it_calls():
    runs = RunSet.from_frames({"a": FRAME})
    pipeline = pt.apply.generic(lambda topics: depth_pool(runs, depth=0))
    with pytest.raises(InputError) as caught:
        RunSet.from_pipelines({"a": pipeline}, TOPICS)
    assert caught.value.function == "depth_pool"


def test_a_warning_of_what_a_pipeline_calls_is_at_its_own_line(messages):
    runs = RunSet.from_frames({"a": FRAME})

    def ranked(topics):
        runs.with_metadata(teams={"a": "A", "b": "B"})
        return FRAME

    with pytest.warns(ReuseWarning) as caught:
        RunSet.from_pipelines({"a": pt.apply.generic(ranked)}, TOPICS)
    for warning in caught:
        messages.told(warning.message)
    assert {(warning.message.function, warning.filename) for warning in caught} == {("RunSet.with_metadata", __file__)}


def test_a_call_of_the_user_is_not_at_the_place_that_its_caller_works_on():
    with located("file x"), pytest.raises(InputError) as caught:
        depth_pool(None)
    assert caught.value.place is None


def test_arguments_are_called_what_the_caller_calls_them():
    parts = ("Use ", Option("order", "rank"), " or ", Option("names", "file"), "; ", Argument("order"), " is wrong.")
    with arguments_as(order="pool_order"):
        inner = InputError(*parts, argument="order")
        with arguments_as("read_runs", source="order"):
            nested = InputError(Argument("source"), ", ", Option("names", "file"), argument="source")
    assert str(inner) == "Use pool_order='rank' or names='file'; pool_order is wrong."
    assert (inner.argument, nested.argument) == ("pool_order", "pool_order")
    # the option of the inner function's inner one is advised as a call of it
    assert str(nested) == "pool_order, read_runs(..., names='file')"
    assert str(InputError(*parts)) == "Use order='rank' or names='file'; order is wrong."
    for error in (inner, nested):
        again = pickle.loads(pickle.dumps(error))
        assert (str(again), again.argument, again.parts) == (str(error), error.argument, error.parts)


def test_a_call_of_the_user_has_the_names_of_its_own_arguments():
    with arguments_as(depth="k"), pytest.raises(InputError) as caught:
        depth_pool({"a": FRAME}, depth=0)
    assert caught.value.argument == "depth"


def test_what_is_said_aside_is_for_python_alone():
    error = InputError("Give ", Option("teams", ...), Aside(" when reading the runs"), ".")
    assert str(error) == "Give teams= when reading the runs."
    shell = Shell(Parser(prog="pt-reuse lou"), [])
    assert error.worded(shell.in_shell) == "Give teams= in Python."


def test_advice_that_several_faults_share_is_a_whole_sentence_below_them():
    def of(what):
        return InputError(f"{what} is missing. Wait for it, or pass ", Option("partial", True), " to go on.")

    lines = str(InputError.listing([of("one"), of("two")], "2 faults:")).split("\n")
    assert lines == [
        "2 faults:",
        "- one is missing.",
        "- two is missing.",
        "Wait for it, or pass partial=True to go on.",
    ]


def test_a_fault_of_one_sentence_stands_whole_in_a_listing():
    of_argument = [wrong("depth", " must be 1 or more, got 0.", place=place) for place in "ab"]
    lines = str(InputError.listing(of_argument, "2 faults:")).split("\n")
    assert lines[1:] == ["- a: depth must be 1 or more, got 0.", "- b: depth must be 1 or more, got 0."]
    asked = [InputError("give ", Option("depth", 3), " to go on.", place=place) for place in "ab"]
    lines = str(InputError.listing(asked, "2 faults:")).split("\n")
    assert lines[1:] == ["- a: give depth=3 to go on.", "- b: give depth=3 to go on."]
