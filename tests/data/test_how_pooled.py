"""To which depth a collection pooled its runs: what a field knows of it, and who takes it as the default."""

from __future__ import annotations

import pandas as pd
import pytest

import pt_reuse as ptr
from pt_reuse.data.ordering import HowPooled

# hand-made judgments are no pool of these runs
pytestmark = pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")

FRAME = pd.DataFrame({"qid": "1", "docno": list("abc"), "score": [3.0, 2.0, 1.0], "rank": [0, 1, 2]})


def field(name="a", **how):
    return ptr.RunSet.from_frames({name: FRAME}, teams={name: name}, **how)


def test_a_field_keeps_it(tmp_path):
    runs = field(pool_depth=2)
    assert (runs.pool_depth, field().pool_depth) == (2, None)
    assert repr(runs).endswith("order='trec_eval', pool_depth=2")
    assert repr(field(pool_depth=2, pool_order="file")).endswith("pool_order='file', pool_depth=2")
    other = field("b")
    for made in (runs.select("a"), runs.reorder("file"), runs.restrict(["a"]), runs.with_metadata(types={"a": "x"}),
                 runs | other, other | runs, runs | field("b", pool_depth=2)):  # fmt: skip
        assert made.pool_depth == 2
    runs.write(tmp_path / "runs")
    assert ptr.read_runs(tmp_path / "runs", pool_depth=7).pool_depth == 7
    assert ptr.read_runs(tmp_path / "runs").pool_depth is None


def test_two_fields_that_say_two_things(messages):
    messages.refused(lambda: field(pool_depth=2) | field("b", pool_depth=3), argument="other")
    messages.refused(lambda: field(pool_order="file") | field("b", pool_order="rank"), argument="other")
    assert HowPooled("file", None) | HowPooled(None, 3) == HowPooled("file", 3)
