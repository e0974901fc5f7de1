"""A small field, systems that count their calls, and what it means to return what pt.Experiment returns."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pyterrier as pt

import pt_reuse as ptr
from pt_reuse.errors import ReuseWarning
from pt_reuse.experiment.experiment_result import ExperimentResult

FIELD = ptr.demo.simulate_field(seed=5, n_topics=6, n_docs=80, n_teams=4, length=25, depth=8)
NAMES = ["lex1a", "neu2a", "man3a"]
TOPICS = pd.DataFrame({"qid": FIELD.runs.topics, "query": [f"about {qid}" for qid in FIELD.runs.topics]})
#: of Python's texts, which ir_measures goes through faster than through pandas' own
QRELS = FIELD.qrels.to_frame().astype({"qid": object, "docno": object})
OTHERS = FIELD.runs.select([name for name in FIELD.runs if name not in NAMES])
SUFFIXES = ("LOU", "LOU %", "rank", "LOU rank", "drop", "unjudged")
#: what is known of systems that were not pooled
LIVE = ("rank", "unjudged", "low", "high")
#: the columns for which the systems themselves were the pool
NO_FIELD = ("LOU (no field)", "LOU % (no field)", "LOU rank (no field)", "drop (no field)")
#: all kinds of columns, asked for by name
ALL = ("lou", "rank", "unjudged")


class Retriever(pt.Transformer):
    """Returns a run, and counts how often it was asked, and for which topics."""

    def __init__(self, frame):
        self.frame, self.calls, self.asked = frame, 0, []

    def transform(self, inp):
        self.calls += 1
        self.asked += inp["qid"].tolist()
        return inp.merge(self.frame.drop(columns="name"), on="qid")

    def transform_outputs(self, input_columns):
        return [*input_columns, "docno", "rank", "score"]


class Shift(pt.Transformer):
    """Reverses the scores of the top n; two of the same n are equal, as a tree plan needs."""

    def __init__(self, n):
        self.n, self.calls = n, 0

    def transform(self, inp):
        self.calls += 1
        score = np.where(inp["rank"] < self.n, 1000 + inp["rank"], inp["score"])
        return pt.model.add_ranks(inp.assign(score=score).drop(columns="rank"))

    def transform_outputs(self, input_columns):
        return [column for column in input_columns if column != "rank"] + ["rank"]


def frames():
    return {name: FIELD.runs[name] for name in NAMES}


def retrievers():
    return {name: Retriever(frame) for name, frame in frames().items()}


def mixed():
    return {
        "lex1a": Retriever(FIELD.runs["lex1a"]),
        "neu2a": FIELD.runs["neu2a"],
        "man3a": Retriever(FIELD.runs["man3a"]),
    }


def recorded(function, *args, **kwargs):
    """Return the result and all warnings but ours."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = function(*args, **kwargs)
    mine = [w for w in caught if issubclass(w.category, ReuseWarning)]
    assert all(w.filename == __file__ for w in mine), "points at the call"
    ours = [str(w.message) for w in mine]
    return result, [str(w.message) for w in caught if w not in mine], ours


def without_added(frame):
    suffixes = (*SUFFIXES, *LIVE, *NO_FIELD)
    added = {f"{column} {suffix}" for column in frame for suffix in suffixes} | {*suffixes, "pooled"}
    return frame[[column for column in frame if column not in added]]


def assert_same(ours, theirs):
    """Assert that `ours` is `theirs` and more columns; a frame knows its runs besides."""
    assert type(ours) is (ExperimentResult if isinstance(theirs, pd.DataFrame) else type(theirs))
    if isinstance(theirs, tuple):
        for mine, other in zip(ours, theirs, strict=True):
            assert_same(mine, other)
    elif isinstance(theirs, pd.DataFrame):
        pd.testing.assert_frame_equal(
            pd.DataFrame(without_added(ours)).drop(columns="mrt", errors="ignore"),
            pd.DataFrame(theirs).drop(columns="mrt", errors="ignore"),
        )
        assert ours.shape[1] > theirs.shape[1]
    else:
        assert_same(ours.data, theirs.data)
        styles = [(style._compute(), style.ctx)[1] for style in (ours, theirs)]
        mine, other = [{cell: css for cell, css in ctx.items() if css} for ctx in styles]
        assert mine == other
        assert mine
        assert all(ours.data.columns[column] in theirs.data for _, column in mine)
        assert ours.to_html()
