"""Expanded judgments: old and new ones together, told apart by their rounds; counts by a further column."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pool_parts import as_runs
from sample_parts import sample_qrels, some_samples, strata_of

import pt_reuse as ptr
from pt_reuse.data.judgment_changes import expand_judgments, rerank_by_labels
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.run_set import RunSet
from pt_reuse.pooling.depth import depth_pool

OLD_RUNS = {"A": {"1": ["a", "b", "c"], "2": ["p", "q"]}}
NEW_RUNS = {"N": {"1": ["b", "x", "y", "z"], "2": ["p"], "3": ["u"]}}
RELEVANT = {("1", "a"), ("1", "x"), ("1", "z"), ("2", "q"), ("3", "u")}


def frame(*rows, **columns):
    return pd.DataFrame(rows, columns=["qid", "docno", "label"]).assign(**columns)


def assessor(pairs):
    return [int(pair in RELEVANT) for pair in zip(pairs["qid"], pairs["docno"], strict=True)]


def rounds_of(qrels):
    table = qrels.to_frame()
    return {(qid, docno): (label, n) for qid, docno, label, n in table[["qid", "docno", "label", "round"]].to_numpy()}


def test_a_remainder_is_judged_and_merged():
    old = depth_pool(as_runs(OLD_RUNS), depth=2).judge(assessor)
    pool = depth_pool(as_runs(NEW_RUNS), depth=3)
    assert pool.counts(old).values.tolist() == [["1", 3, 1, 2], ["2", 1, 1, 0], ["3", 1, 0, 1]]
    rest = pool.remainder(old)
    assert rest.counts().values.tolist() == [["1", 2], ["2", 0], ["3", 1]]
    expanded = expand_judgments(old, rest.judge(assessor))
    assert rounds_of(expanded) == {
        ("1", "a"): (1, 1),
        ("1", "b"): (0, 1),
        ("2", "p"): (0, 1),
        ("2", "q"): (1, 1),
        ("1", "x"): (1, 2),
        ("1", "y"): (0, 2),
        ("3", "u"): (1, 2),
    }
    found = expanded.counts(by="round")
    assert found.columns.tolist() == ["qid", "round", "judged", "relevant", "unjudged", "junk", "density"]
    assert found[["qid", "round", "judged", "relevant"]].values.tolist() == [
        ["1", 1, 2, 1],
        ["1", 2, 2, 1],
        ["2", 1, 2, 1],
        ["2", 2, 0, 0],
        ["3", 1, 0, 0],
        ["3", 2, 1, 1],
    ]
    # a third round is counted on, whether it says that it is its own first or says nothing
    for more in (frame(("1", "z", 1)), frame(("1", "z", 1), round=1), frame(("1", "z", 1), round=3)):
        assert rounds_of(expand_judgments(expanded, more))["1", "z"] == (1, 3)
    assert rounds_of(expand_judgments(expanded, frame(("1", "z", 1), round=9)))["1", "z"] == (1, 9)


def test_two_labels_follow_the_rule_and_so_do_their_rounds(messages):
    old, new = Qrels(frame(("1", "a", 1), ("1", "b", 2))), frame(("1", "a", 2), ("1", "b", 0))
    messages.refused(lambda: expand_judgments(old, new), argument="conflict")
    assert rounds_of(expand_judgments(old, new, conflict="first")) == {("1", "a"): (1, 1), ("1", "b"): (2, 1)}
    assert rounds_of(expand_judgments(old, new, conflict="second")) == {("1", "a"): (2, 2), ("1", "b"): (0, 2)}
    assert rounds_of(expand_judgments(old, new, conflict="higher")) == {("1", "a"): (2, 2), ("1", "b"): (2, 1)}
    assert expand_judgments(old.with_rel(2), new, conflict="first").rel == 2


def test_rounds_that_are_none(messages):
    good = frame(("1", "b", 1))
    for bad in (frame(("1", "a", 1), round=[of]) for of in (0, 1.5, "x", -1, float("inf"))):
        messages.refused(lambda bad=bad: expand_judgments(bad, good), argument="old")
        messages.refused(lambda bad=bad: expand_judgments(good, bad), argument="new")


# scores and probabilities become grades at thresholds that are stated


SAID = pd.DataFrame({"qid": ["1", "1", "1", "2"], "docno": list("abcd"), "probability": [0.1, 0.5, 0.9, np.nan]})


def test_a_score_gets_the_highest_label_whose_threshold_it_reaches():
    found = ptr.labels.grade_scores(SAID, [0.5, 0.9])
    assert found.to_frame()[["docno", "label", "judge_score"]].values.tolist() == [
        ["a", 0, 0.1],
        ["b", 1, 0.5],
        ["c", 2, 0.9],
    ]
    assert found.topics == ["1", "2"]
    assert ptr.labels.grade_scores(SAID, 0.6, rel=1).rel == 1
    scored = SAID.rename(columns={"probability": "score"}).assign(label=7)
    assert ptr.labels.grade_scores(scored, 0.6).to_frame()["label"].tolist() == [0, 0, 1]
    assert ptr.labels.grade_scores(scored, [1, 5, 9], column="label").to_frame()["label"].tolist() == [2, 2, 2, 2]


@pytest.mark.parametrize("line", ["{q} 0 {d} {s}\n", "{q} Q0 {d} 1 {s} tag\n"])
def test_a_file_of_numbers(tmp_path, line):
    path = tmp_path / "said.txt"
    path.write_text(
        "".join(line.format(q=q, d=d, s=s) for q, d, s in (("1", "a", 0.1), ("1", "b", 5e-1), ("2", "a", 1)))
    )
    assert ptr.labels.grade_scores(path, 0.5).to_frame()["label"].tolist() == [0, 1, 1]
    assert ptr.labels.grade_scores(str(path), 0.5).topics == ["1", "2"]


def test_what_cannot_be_graded_is_refused(tmp_path, messages):
    for none in ([0.5, 0.5], "high", True, []):
        messages.refused(lambda none=none: ptr.labels.grade_scores(SAID, none), argument="thresholds")
    messages.refused(lambda: ptr.labels.grade_scores(SAID, 0.5, column="rank"), argument="column")
    messages.refused(lambda: ptr.labels.grade_scores(SAID[["qid", "docno"]], 0.5), argument="column")
    messages.refused(lambda: ptr.labels.grade_scores(SAID.assign(probability="x"), 0.5), argument="scores")
    messages.refused(lambda: ptr.labels.grade_scores(7, 0.5), argument="scores")
    messages.refused(lambda: ptr.labels.grade_scores(SAID.assign(probability=float("nan")), 0.5), argument="scores")
    messages.refused(lambda: ptr.labels.grade_scores(pd.concat([SAID, SAID.assign(probability=0.7)]), 0.5))
    path = tmp_path / "said"
    messages.refused(lambda: ptr.labels.grade_scores(path, 0.5), argument="scores")
    for text in ("1 a 0.5\n", "", "1 0 a 0.5\n1 Q0 b 1 0.5 tag\n"):
        path.write_text(text)
        messages.refused(lambda: ptr.labels.grade_scores(path, 0.5), argument="scores")


# judgments of samples: written and read with their strata, and how many relevant documents they stand for


FIELD = ptr.demo.simulate_field(seed=7, n_topics=6, n_docs=200, length=40, depth=20)
POOL = ptr.depth_pool(FIELD.runs, depth=20)
SAMPLE = ptr.pools.sample_pool(POOL, share=[1, 0.3], strata="rank", bands=[3, 20], seed=1).judge(FIELD.qrels)


def test_a_file_with_strata_is_that_of_sample_eval(tmp_path):
    small = ptr.Qrels(
        pd.DataFrame({"qid": "7", "docno": list("abc"), "label": [1, -1, 0], "stratum": ["1-3", "4-9", "4-9"]})
    )
    path = small.write(tmp_path / "qrels", strata=True)
    assert path.read_text() == "7 0 a 1-3 1\n7 0 b 4-9 -1\n7 0 c 4-9 0\n"
    back = ptr.read_qrels(path, strata=True, rel=2)
    assert back.rel == 2
    assert back.to_frame().values.tolist() == [
        ["7", "a", 1, "1-3", 1.0], ["7", "b", -1, "4-9", 0.5], ["7", "c", 0, "4-9", 0.5]
    ]  # fmt: skip


def test_a_sample_written_and_read_is_the_same(tmp_path):
    back = ptr.read_qrels(SAMPLE.write(tmp_path / "qrels", strata=True), strata=True)
    assert list(back.to_frame()) == ["qid", "docno", "label", "stratum", "inclusion"]
    pd.testing.assert_frame_equal(back.to_frame(), SAMPLE.to_frame()[list(back.to_frame())], check_dtype=False)
    measures = [ptr.pools.xinfAP, ptr.pools.xinfNDCG @ 10]
    assert (ptr.score(FIELD.runs, back, measures).values == ptr.score(FIELD.runs, SAMPLE, measures).values).all()
    plain = ptr.read_qrels(SAMPLE.write(tmp_path / "plain"))
    assert list(plain.to_frame().columns) == ["qid", "docno", "label"]
    assert plain.counts().equals(SAMPLE.counts())


def slow_estimate(sample, rel):
    """Return the Horvitz-Thompson total and its standard error, document by document and stratum by stratum."""
    total, variance = 0.0, 0.0
    for stratum in strata_of(sample):
        labels = [label for s, label in sample.values() if s == stratum]
        judged = [label for label in labels if label >= 0]
        if not judged:
            return math.nan, math.nan
        hits = [float(label >= rel) for label in judged]
        total += sum(hit / (len(judged) / len(labels)) for hit in hits)
        if len(judged) == len(labels):
            continue
        if len(judged) == 1:
            variance = math.nan
            continue
        variance += len(labels) ** 2 * (1 - len(judged) / len(labels)) * np.var(hits, ddof=1) / len(judged)
    return total, math.sqrt(variance)


@pytest.mark.parametrize(("seed", "rel"), [(0, 1), (1, 2), (2, 1)])
def test_relevant_documents_equal_the_slow_estimate(seed, rel):
    _, samples = some_samples(seed, shares=[(1.0, 0.5, 0.2), (0.1,), (1.0,)][seed % 3])
    found = ptr.pools.estimate_relevant(sample_qrels(samples).with_rel(rel)).set_index("qid")
    for topic, sample in samples.items():
        wanted = slow_estimate(sample, rel)
        assert found.loc[topic, ["estimate", "se"]].tolist() == pytest.approx(wanted, nan_ok=True)
        assert found.loc[topic, "pooled"] == len(sample)
        assert found.loc[topic, "judged"] == sum(label >= 0 for _, label in sample.values())
        assert found.loc[topic, "relevant"] == sum(label >= rel for _, label in sample.values())
    explicit = ptr.pools.estimate_relevant(sample_qrels(samples), rel=rel)
    pd.testing.assert_frame_equal(explicit.set_index("qid"), found)


# runs whose first documents are sorted by labels, against the same sort written out


def literal(docnos, labels, depth):
    """Return a list whose first documents that have a label stand in the order of their labels."""
    top = docnos[:depth]
    places = [i for i, docno in enumerate(top) if labels.get(docno, -1) >= 0]
    # sorted() is stable
    best_first = sorted((top[i] for i in places), key=lambda docno: -labels[docno])
    found = list(top)
    for place, docno in zip(places, best_first, strict=True):
        found[place] = docno
    return found + docnos[depth:]


def frame_of(lists):
    rows = [(qid, docno, 9.0 - n) for qid, docnos in lists.items() for n, docno in enumerate(docnos)]
    return pd.DataFrame(rows, columns=["qid", "docno", "score"])


def lists_of(runs, name):
    return {qid: part["docno"].tolist() for qid, part in runs[name].groupby("qid", sort=False)}


docs = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8)


@given(
    st.lists(st.fixed_dictionaries({"1": docs, "2": docs}), min_size=1, max_size=3),
    st.dictionaries(st.tuples(st.sampled_from("123"), st.sampled_from("abcdefghz")), st.integers(-2, 3), min_size=1),
    st.integers(1, 9),
)
def test_each_list_is_sorted_by_its_labels_and_stays_stable(found, labels, depth):
    given_lists = {f"r{n}": {q: d for q, d in lists.items() if d} for n, lists in enumerate(found)}
    given_lists = {name: lists for name, lists in given_lists.items() if lists}
    if not given_lists:
        return
    runs = RunSet.from_frames({name: frame_of(lists) for name, lists in given_lists.items()})
    rows = [(qid, docno, label) for (qid, docno), label in labels.items()]
    qrels = Qrels(pd.DataFrame(rows, columns=["qid", "docno", "label"]))
    reranked = rerank_by_labels(runs, qrels, depth)
    assert reranked.names == runs.names
    for name, lists in given_lists.items():
        expected = {
            qid: literal(docnos, {d: label for (q, d), label in labels.items() if q == qid}, depth)
            for qid, docnos in lists.items()
        }
        assert lists_of(reranked, name) == expected


@pytest.mark.parametrize("order", ["trec_eval", "trec_eval9", "rank", "file"])
def test_lists_stand_alike_in_every_order(order):
    given_frame = frame_of({"1": list("abcd")}).assign(score=[1.0, 2.0, 1.0, 3.0], rank=[3, 1, 2, 0])
    runs = RunSet.from_frames({"r": given_frame}, order=order)
    qrels = Qrels(pd.DataFrame({"qid": "1", "docno": list("abc"), "label": [0, 1, 1]}))
    reranked = rerank_by_labels(runs, qrels, 3)
    before = runs["r"]["docno"].tolist()
    assert reranked["r"]["docno"].tolist() == literal(before, {"a": 0, "b": 1, "c": 1}, 3)
    assert reranked.order == order
    for other in ("trec_eval", "trec_eval9", "rank", "file"):
        assert reranked.reorder(other)["r"]["docno"].tolist() == reranked["r"]["docno"].tolist()
    assert (np.diff(reranked["r"]["score"]) < 0).all()
    # the runs that were given stay as they are
    assert runs["r"]["docno"].tolist() == before
