"""The arguments of Experiment are judged before any system runs."""

from __future__ import annotations

import pandas as pd
import pytest
from experiment_parts import FIELD, OTHERS, QRELS, TOPICS, Retriever

import pt_reuse as ptr

FRAME = FIELD.runs["neu2a"]
#: what is wrong -> the arguments; the first is the one that the error is about
ARGUMENTS = {
    "perquery": {"perquery": "yes"},
    "perquery 2": {"perquery": 2},
    "dataframe": {"dataframe": "no"},
    "verbose": {"verbose": "no"},
    "filter_by_qrels": {"filter_by_qrels": "no"},
    "filter_by_topics": {"filter_by_topics": 1},
    "types": {"types": 5},
    "pooled": {"pooled": 5},
    "correction": {"correction": "bonferoni", "baseline": 0},
    "correction_alpha": {"correction": "holm", "correction_alpha": "x", "baseline": 0},
    "test": {"test": 5, "baseline": 0},
    "a baseline by topic": {"baseline": 0, "perquery": True},
    "a baseline by topic, too": {"baseline": "live", "perquery": "both"},
    "a baseline that is none": {"baseline": 1},
    "a baseline before the first": {"baseline": -1, "reuse": []},
}
FRAMES = {
    "no score": FRAME[["qid", "docno"]],
    "a score that is none": FRAME.assign(score="x"),
    "a document twice": pd.concat([FRAME, FRAME.head(1)]),
    "no frame": 5,
}


@pytest.fixture
def live():
    """Return a system that must not run."""

    class Unreached(Retriever):
        def transform(self, inp):
            if len(inp):
                pytest.fail("the arguments were to be judged before")
            return super().transform(inp)

    return Unreached(FIELD.runs["lex1a"])


@pytest.mark.parametrize("fault", ARGUMENTS)
def test_arguments(fault, live, messages):
    given = ARGUMENTS[fault]
    messages.refused(lambda: ptr.Experiment({"live": live}, TOPICS, QRELS, ["AP"], **given), argument=next(iter(given)))


@pytest.mark.parametrize("fault", FRAMES)
def test_result_frames(fault, live, messages):
    systems = {"live": live, "stored": FRAMES[fault]}
    messages.refused(lambda: ptr.Experiment(systems, TOPICS, QRELS, ["AP"], validate="ignore"))


def test_a_field_that_knows_to_be_pooled_by_ranks(live, messages):
    """Systems that are not pooled need no ranks; of those that are, a stored one is looked at first."""
    frames = {name: OTHERS[name] for name in OTHERS}
    field = ptr.RunSet.from_frames(frames, metadata=OTHERS.run_table, pool_order="rank", pool_depth=8)
    stored = FRAME.drop(columns="rank")
    systems = {"live": Retriever(FIELD.runs["lex1a"].drop(columns="rank")), "stored": stored}
    table = ptr.Experiment(systems, TOPICS, QRELS, ["AP"], field=field)
    pd.testing.assert_frame_equal(
        table, ptr.Experiment(systems, TOPICS, QRELS, ["AP"], field=OTHERS, depth=8), check_like=True
    )
    assert table.attrs["reuse"]["settings"]["pool order"] == "rank"
    systems = {"live": live, "stored": stored}
    messages.refused(lambda: ptr.Experiment(systems, TOPICS, QRELS, ["AP"], field=field, pooled=True))


def test_a_folder_that_nothing_can_be_saved_to(live, messages, monkeypatch, tmp_path):
    def denied(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pt_reuse._files.tempfile.TemporaryFile", denied)
    given = {"save_dir": str(tmp_path)}
    messages.refused(lambda: ptr.Experiment({"live": live}, TOPICS, QRELS, ["AP"], **given), argument="save_dir")
