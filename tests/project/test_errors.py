from __future__ import annotations

import pickle

import pandas as pd
import pyterrier as pt
import pytest

from pt_reuse.data.run_set import RunSet
from pt_reuse.errors import InputError, ReuseWarning, hearing, located, warn

FRAME = pd.DataFrame({"qid": "1", "docno": ["d"], "score": [2.0]})
TOPICS = pd.DataFrame({"qid": ["1"], "query": "q"})


def test_a_warning_of_what_a_pipeline_calls_is_at_its_own_line(messages):
    runs = RunSet.from_frames({"a": FRAME})

    def ranked(topics):
        runs.with_metadata(teams={"a": "A", "b": "B"})
        return FRAME

    with pytest.warns(ReuseWarning) as caught:
        RunSet.from_pipelines({"a": pt.apply.generic(ranked)}, TOPICS)
    for warning in caught:
        messages.told(warning.message)
    assert {warning.filename for warning in caught} == {__file__}


@pytest.mark.parametrize("kind", [InputError, ReuseWarning])
def test_a_text_begins_with_its_places(kind):
    with located("file"), located("line 2"):
        inner = kind("x is bad.", place="field 3")
    assert str(inner) == "file, line 2, field 3: x is bad."
    assert (inner.place, inner.text) == ("file, line 2, field 3", "x is bad.")
    with located("elsewhere"):
        again = pickle.loads(pickle.dumps(inner))
    assert (type(again), str(again), vars(again)) == (kind, str(inner), vars(inner))


def test_an_error_of_several_files_is_copied_with_their_faults():
    faults = [InputError(f"{n} is bad.", argument="source", place=f"file {n}") for n in range(12)]
    error = pickle.loads(pickle.dumps(InputError.of_several(faults, 20, "files")))
    assert [(fault.argument, str(fault)) for fault in error.faults] == [(f.argument, str(f)) for f in faults]
    assert str(error).split("\n")[:2] == [
        "12 of 20 files are at fault; the first fault of each:",
        "- file 0: 0 is bad.",
    ]
    assert str(error).count("\n- file") == InputError.LISTED
    assert InputError.of_several(faults[:1], 20, "files") is faults[0]


def test_warnings_of_a_job_go_to_its_list_with_the_places_of_its_caller(recwarn):
    heard = []
    with hearing(heard, ("run a",)):
        warn("it is odd.")
    assert [str(message) for message in heard] == ["run a: it is odd."]
    assert not recwarn.list
    warn("it is odd.")
    assert [(str(one.message), one.filename) for one in recwarn.list] == [("it is odd.", __file__)]
