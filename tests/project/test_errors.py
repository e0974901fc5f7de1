from __future__ import annotations

import pandas as pd
import pyterrier as pt
import pytest

from pt_reuse._errors import InputError, ReuseWarning, located
from pt_reuse.pooling.depth import depth_pool
from pt_reuse.runs.run_set import RunSet

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
