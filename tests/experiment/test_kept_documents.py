"""Condensed lists, what is left to judge, and parts of the corpus, as steps of a pipeline."""

from __future__ import annotations

import pickle
import random

import numpy as np
import pandas as pd
import pyterrier as pt
import pytest
from experiment_parts import FIELD, NAMES, QRELS, TOPICS, Retriever
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import AP, RR, P, R, Rprec, Success, nDCG

import pt_reuse as ptr

RUN = pd.DataFrame(
    {
        "qid": ["1", "1", "1", "1", "2", "2"],
        "docno": ["d1", "d2", "d3", "d4", "d2", "d9"],
        "score": [4.0, 3.0, 2.0, 1.0, 7.0, 6.0],
        "rank": [0, 1, 2, 3, 0, 1],
        "text": list("abcdef"),
    }
)
JUDGED = ptr.Qrels(
    pd.DataFrame({"qid": ["1", "1", "1", "2"], "docno": ["d2", "d3", "d4", "x"], "label": [0, -1, 2, 1]})
)


def of_ft(docno):
    """Return whether a document is of one source; a function of a module goes to other processes."""
    return int(docno[1:]) % 2 == 0


@pytest.mark.parametrize(
    ("step", "kept"),
    [
        (ptr.OnlyJudged(JUDGED), [("1", "d2", 3.0, 0), ("1", "d4", 1.0, 1)]),
        (ptr.OnlyJudged(JUDGED, min_label=-1), [("1", "d2", 3.0, 0), ("1", "d3", 2.0, 1), ("1", "d4", 1.0, 2)]),
        (ptr.OnlyUnjudged(JUDGED), [("1", "d1", 4.0, 0), ("1", "d3", 2.0, 1),
                                    ("2", "d2", 7.0, 0), ("2", "d9", 6.0, 1)]),
        (ptr.OnlyUnjudged(JUDGED, min_label=-1), [("1", "d1", 4.0, 0), ("2", "d2", 7.0, 0), ("2", "d9", 6.0, 1)]),
        (ptr.OnlyDocuments(["d9", "d3"]), [("1", "d3", 2.0, 0), ("2", "d9", 6.0, 0)]),
        (ptr.OnlyDocuments(where=of_ft), [("1", "d2", 3.0, 0), ("1", "d4", 1.0, 1), ("2", "d2", 7.0, 0)]),
        (ptr.OnlyDocuments([]), []),
    ],
    ids=["judged", "judged or pooled", "unjudged", "never pooled", "names", "where", "none"],
)  # fmt: skip
def test_by_hand(step, kept):
    found = step(RUN)
    assert list(found[["qid", "docno", "score", "rank"]].itertuples(index=False, name=None)) == kept
    assert list(found.columns) == list(RUN.columns)
    assert found["rank"].dtype == RUN["rank"].dtype
    assert found.index.tolist() == list(range(len(found)))
    assert RUN["rank"].tolist() == [0, 1, 2, 3, 0, 1], "the frame that came in is as it was"
    pd.testing.assert_frame_equal(pickle.loads(pickle.dumps(step))(RUN), found)
    shuffled = RUN.sample(frac=1, random_state=3)
    again = step(shuffled).sort_values(["qid", "rank"]).reset_index(drop=True)
    pd.testing.assert_frame_equal(again, found.sort_values(["qid", "rank"]).reset_index(drop=True))
    bare = step(RUN[["qid", "docno"]])
    assert list(bare.columns) == ["qid", "docno"]
    assert len(bare) == len(found)
    empty = pd.DataFrame()
    assert step(empty) is empty
    assert list(step(RUN.iloc[:0]).columns) == list(RUN.columns)
    assert list(step(pd.DataFrame(columns=["qid", "query", "docno", "rank"])).columns) == [
        "qid", "query", "docno", "rank"
    ]  # fmt: skip


@settings(deadline=None, max_examples=20)
@given(st.data())
def test_judged_and_unjudged_together_are_everything(data):
    docs = [f"d{i}" for i in range(6)]
    run = {t: data.draw(st.lists(st.sampled_from(docs), unique=True)) for t in ("1", "2")}
    labels = data.draw(st.dictionaries(st.tuples(st.sampled_from(["1", "2", "3"]), st.sampled_from(docs)),
                                       st.integers(-2, 2), min_size=1))  # fmt: skip
    rows = [(t, d, float(-r), r) for t, found in run.items() for r, d in enumerate(found)]
    frame = pd.DataFrame(rows, columns=["qid", "docno", "score", "rank"])
    qrels = ptr.Qrels(
        pd.DataFrame([(t, d, label) for (t, d), label in labels.items()], columns=["qid", "docno", "label"])
    )
    judged, rest = ptr.OnlyJudged(qrels)(frame), ptr.OnlyUnjudged(qrels)(frame)
    wanted = {True: [], False: []}
    ranks = {}
    for t, d, score, _ in rows:
        is_judged = labels.get((t, d), -1) >= 0
        place = ranks[t, is_judged] = ranks.get((t, is_judged), -1) + 1
        wanted[is_judged].append((t, d, score, place))
    assert list(judged.itertuples(index=False, name=None)) == wanted[True]
    assert list(rest.itertuples(index=False, name=None)) == wanted[False]


def condensed():
    return {name: Retriever(FIELD.runs[name]) >> ptr.OnlyJudged(FIELD.qrels) for name in NAMES}


def plain():
    return {name: Retriever(FIELD.runs[name]) for name in NAMES}


PLAIN = [P @ 5, P @ 20, P(rel=2) @ 10, AP, AP(rel=2) @ 20, nDCG, nDCG @ 10, RR, R @ 10, Rprec, Success @ 3]


def test_condensed_lists_score_as_judged_only_of_ir_measures():
    wanted = [measure(judged_only=True) for measure in PLAIN]
    here = pt.Experiment(condensed(), TOPICS, QRELS, PLAIN)
    there = pt.Experiment(plain(), TOPICS, QRELS, wanted)
    for mine, theirs in zip(PLAIN, wanted, strict=True):
        np.testing.assert_allclose(here[repr(mine)], there[repr(theirs)], rtol=1e-12)
    assert (here["AP"] > pt.Experiment(plain(), TOPICS, QRELS, [AP])["AP"]).all(), "condensing does something"


def test_condensed_lists_with_ties_and_labels_below_0():
    draw = random.Random(3)
    rows = [(str(t), f"d{i}", float(draw.randint(0, 3))) for t in range(8) for i in draw.sample(range(30), 15)]
    run = pt.model.add_ranks(pd.DataFrame(rows, columns=["qid", "docno", "score"]))
    judged = [
        (str(t), f"d{i}", draw.choice([-2, -1, 0, 0, 1, 2])) for t in range(8) for i in draw.sample(range(30), 18)
    ]
    qrels = pd.DataFrame(judged, columns=["qid", "docno", "label"])
    topics = pd.DataFrame({"qid": [str(t) for t in range(8)], "query": "q"})
    system = pt.Transformer.from_df(run)
    here = pt.Experiment([system >> ptr.OnlyJudged(qrels)], topics, qrels, [P @ 5, AP, nDCG], names=["x"])
    there = pt.Experiment(
        [system], topics, qrels, [m(judged_only=True) for m in (P @ 5, AP, nDCG)], names=["x"]
    )  # fmt: skip
    assert here.iloc[0, 1:].sort_values().tolist() == pytest.approx(there.iloc[0, 1:].sort_values().tolist())


def test_a_part_of_the_corpus_is_the_runs_restricted_to_it():
    docnos = sorted(set(FIELD.runs["lex1a"]["docno"]))[::3]
    found = (Retriever(FIELD.runs["lex1a"]) >> ptr.OnlyDocuments(docnos))(TOPICS)
    wanted = FIELD.runs["lex1a"][FIELD.runs["lex1a"]["docno"].isin(docnos)]
    assert found["docno"].tolist() == wanted["docno"].tolist()
    assert found["score"].tolist() == wanted["score"].tolist()


@pytest.mark.parametrize(
    "make",
    [
        lambda: ptr.OnlyJudged(5),
        lambda: ptr.OnlyJudged(JUDGED, min_label="no"),
        lambda: ptr.OnlyJudged(JUDGED, min_label=True),
        lambda: ptr.OnlyDocuments(),
        lambda: ptr.OnlyDocuments(["a"], where=of_ft),
        lambda: ptr.OnlyDocuments("abc"),
        lambda: ptr.OnlyDocuments(5),
        lambda: ptr.OnlyDocuments(where="FT"),
        lambda: ptr.OnlyDocuments(where=lambda docno: 1)(RUN),
        lambda: ptr.OnlyDocuments(where=lambda docno: None)(RUN),
    ],
    ids=["no qrels", "text", "flag", "neither", "both", "a text", "a number", "no function", "one", "None"],
)
def test_steps_that_cannot_be(make, messages):
    messages.refused(make)
