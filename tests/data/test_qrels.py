"""Qrels: what they hold, their algebra, and files."""

from __future__ import annotations

import random
import warnings

import ir_measures
import numpy as np
import pandas as pd
import pyterrier as pt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ir_measures import AP, Judged, nDCG

from pt_reuse.data.judgments import Qrels, read_qrels
from pt_reuse.data.qrels_files import CONFLICTS
from pt_reuse.errors import InputError
from pt_reuse.pooling.pool import Pool


def judged(text, **arguments):
    """Build judgments of ``qid docno label`` words separated by semicolons."""
    rows = [part.split() for part in text.split(";") if part.strip()]
    frame = pd.DataFrame(rows, columns=["qid", "docno", "label"])
    return Qrels(frame.assign(label=frame["label"].astype(int)), **arguments)


def labels(qrels):
    return {(row.qid, row.docno): row.label for row in qrels.to_frame().itertuples()}


# by hand


def test_by_hand():
    qrels = judged("10 b 1; 9 a 0; 10 a -1; x a 2; 9 c 3")
    assert repr(qrels) == "Qrels: 3 topics, 5 judgments, 3 relevant (labels -1: 1, 0: 1, 1: 1, 2: 1, 3: 1)"
    assert qrels.topics == ["9", "10", "x"]
    assert len(qrels) == 5
    frame = qrels.to_frame()
    assert frame.to_numpy().tolist() == [["9", "a", 0], ["9", "c", 3], ["10", "b", 1], ["10", "a", -1], ["x", "a", 2]]
    assert frame["label"].dtype == np.int64


def test_further_columns_come_along():
    frame = pd.DataFrame(
        {"qid": ["2", "1", "1"], "docno": ["a", "b", "c"], "label": [1, 0, 2], "assessor": ["x", "y", "z"]}
    )
    qrels = Qrels(frame)
    assert qrels.to_frame()["assessor"].tolist() == ["y", "z", "x"]
    assert qrels.select(["2"]).to_frame()["assessor"].tolist() == ["x"]
    assert (qrels - judged("1 b 0")).to_frame()["assessor"].tolist() == ["z", "x"]
    both = (qrels | judged("1 d 1")).to_frame()
    assert both["docno"].tolist() == ["b", "c", "d", "a"]
    assert both["assessor"].isna().tolist() == [False, False, True, False]


def test_frames_as_pyterrier_gives_them():
    frame = pd.DataFrame({"qid": ["1", "1"], "docno": ["a", "NA"], "label": [1, 0]})
    expected = {("1", "a"): 1, ("1", "NA"): 0}
    for kind in (np.int8, np.uint16, float, "Int64", str, object):
        assert labels(Qrels(frame.astype({"label": kind}))) == expected
    assert labels(Qrels(frame.astype({"qid": int}))) == expected
    assert labels(Qrels(frame.astype({"qid": "category", "docno": "category"}))) == expected


# writing


word = st.one_of(
    st.text(st.characters(exclude_characters="\0\t\n\r\v\f ", exclude_categories=["Cs"]), min_size=1, max_size=12),
    st.sampled_from(["NA", "nan", "\udcff", "\u00a0", "\u2028", "\x85", "\ufeff", "BZh91AY&SY", "\x1f\udc8b", "#"]),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    found=st.dictionaries(
        st.tuples(word.filter(lambda topic: not topic.startswith("#")), word),
        st.integers(-(2**15), 2**15 - 1),
        min_size=1,
        max_size=12,
    )
)
def test_anything_reads_back(found, tmp_path_factory):
    frame = pd.DataFrame(
        {
            "qid": pd.Series([qid for qid, _ in found], dtype=object),
            "docno": pd.Series([docno for _, docno in found], dtype=object),
            "label": list(found.values()),
        }
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # white space of other alphabets at the end of a name
        qrels = Qrels(frame)
    assert labels(qrels) == found
    again = read_qrels(qrels.write(tmp_path_factory.mktemp("written") / "q"))
    assert labels(again) == found
    assert again.topics == qrels.topics


# properties


def random_judgments(seed, n=60):
    chance = random.Random(seed)
    pairs = {
        (str(chance.randrange(6)), f"d{chance.randrange(20)}"): chance.choice([-2, -1, 0, 1, 2, 3]) for _ in range(n)
    }
    return judged("; ".join(f"{qid} {docno} {label}" for (qid, docno), label in pairs.items()))


@pytest.mark.parametrize("seed", range(4))
def test_properties(seed):
    a, b = random_judgments(seed), random_judgments(seed + 100)
    one, two = labels(a), labels(b)
    assert labels(a - b) == {key: label for key, label in one.items() if key not in two}
    assert labels(a.restrict(b)) == {key: label for key, label in one.items() if key in two}
    # a frame without labels is enough, and may name a document twice
    twice = pd.concat([b.to_frame()[["qid", "docno"]]] * 2)
    assert labels(a.restrict(twice)) == labels(a.restrict(b))
    assert a.restrict(twice).topics == a.topics
    assert labels((a - b) | a.restrict(b)) == one
    assert labels((a | (b - a)) - b) == labels(a - b)
    for conflict in CONFLICTS[1:]:
        rule = {"first": lambda x, y: x, "second": lambda x, y: y, "higher": max, "lower": min}[conflict]
        expected = {**two, **one}
        for key in one.keys() & two.keys():
            x, y = one[key], two[key]
            expected[key] = y if x == -1 else x if y == -1 else rule(x, y)
        assert labels(a.union(b, conflict=conflict)) == expected
    clash = any(one[k] != two[k] and -1 not in (one[k], two[k]) for k in one.keys() & two.keys())
    if clash:
        with pytest.raises(InputError) as caught:
            a | b
        assert caught.value.argument == "conflict"
        # an operator takes no option
        assert "conflict='first'" in str(caught.value)
    shuffled = a.to_frame().sample(frac=1, random_state=seed)
    assert labels(Qrels(shuffled)) == one


# in an experiment, and in ir_measures


def test_an_experiment_and_ir_measures_take_judgments_as_they_are(messages):
    qrels = judged("1 a 1; 1 b 0; 2 a 2; 2 c -1; 3 d 1", topics=["1", "2", "3"])
    frame, measures = qrels.to_frame(), [AP, nDCG @ 2, Judged @ 2, "map"]
    run = pd.DataFrame([("1", "b", 2.0), ("1", "a", 1.0), ("2", "c", 1.0)], columns=["qid", "docno", "score"])
    topics = pd.DataFrame({"qid": ["1", "2"], "query": "x"})
    for options in ({}, {"filter_by_qrels": True}, {"perquery": True}):
        found, expected = (pt.Experiment([run], topics, one, measures, ["A"], **options) for one in (qrels, frame))
        pd.testing.assert_frame_equal(found[sorted(found)], expected[sorted(expected)])
    theirs = pt.model.to_ir_measures(run)
    found, expected = (
        ir_measures.calc_aggregate([AP, nDCG @ 2, Judged @ 2], one, theirs)
        for one in (qrels, pt.model.to_ir_measures(frame))
    )
    assert found == expected
    assert found[AP] == pytest.approx((0.5 + 0 + 0) / 3)
    # what no frame can hold is told
    bare = judged("1 a 1", topics=["1", "2"])
    messages.warned(lambda: list(bare))
    messages.warned(lambda: pt.Experiment([run], topics, bare, [AP]))


# which label is relevant: what judgments say of it, and what becomes of it


ROWS = pd.DataFrame({"qid": ["1", "1", "1", "2", "2"], "docno": list("abcde"), "label": [3, 1, 0, 2, -1]})


@pytest.mark.parametrize(("rel", "relevant"), [(1, [2, 1]), (2, [1, 1]), (3, [1, 0]), (4, [0, 0])])
def test_counted_from(rel, relevant):
    qrels = Qrels(ROWS, rel=rel)
    assert (qrels.rel, qrels.stated_rel) == (rel, rel)
    table = qrels.counts()
    assert table["relevant"].tolist() == Qrels(ROWS).counts(rel=rel)["relevant"].tolist() == relevant
    assert table["judged"].tolist() == [3, 1]
    assert table["density"].tolist() == [relevant[0] / 3, relevant[1]]
    shown = f"{sum(relevant)} relevant" + (f" from label {rel}" if rel > 1 else "")
    assert f"5 judgments, {shown} (labels" in repr(qrels)


def test_every_operation_keeps_it():
    qrels = Qrels(ROWS, rel=2)
    pool = Pool.from_frame(ROWS[["qid", "docno"]])
    for made in (qrels - ROWS[:1], qrels.restrict(pool), qrels.sample(0.5, seed=1), qrels.select(["1"]),
                 qrels | Qrels(ROWS), Qrels(ROWS) | qrels, qrels.union(ROWS), pool.judge(qrels)):  # fmt: skip
        assert made.stated_rel == 2
    assert pool.judge(ROWS).stated_rel is None
    assert qrels.with_rel(3).rel == 3
    assert qrels.with_rel(None).stated_rel is None
    assert qrels.rel == 2


def test_binary_labels_begin_at_it():
    qrels = Qrels(ROWS, rel=2)
    assert qrels.threshold().to_frame()["label"].tolist() == [1, 0, 0, 1, -1]
    assert qrels.threshold(1).to_frame()["label"].tolist() == [1, 1, 0, 1, -1]
    assert Qrels(ROWS).threshold().to_frame()["label"].tolist() == [1, 1, 0, 1, -1]
    # from then on label 1 is relevant
    assert qrels.threshold().rel == 1
    assert qrels.threshold().counts()["relevant"].tolist() == qrels.counts()["relevant"].tolist() == [1, 1]
