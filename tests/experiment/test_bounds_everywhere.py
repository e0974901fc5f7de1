"""The lowest and the highest score are one number at every door: against all completions of small fields."""

from __future__ import annotations

import ir_measures
import numpy as np
import pandas as pd
import pyterrier as pt
import pytest
from completions import MEASURES, ends, field_of, frames_of, highest_of, qrels_of, score, small_field
from ir_measures import AP, RBP, RR, P, nDCG

import pt_reuse as ptr

KINDS = {"Low": ptr.Low, "High": ptr.High, "Residual": ptr.Residual}
PARTS = [["1"], ["2"], ["1", "2"]]
pytestmark = pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")


def wanted_of(runs, labels, measures=MEASURES):
    """Return (run, qid, measure) -> the lowest and the highest score."""
    top = highest_of(labels)
    return {
        (name, qid, repr(m)): ends(m, docnos, labels[qid], top)
        for name, lists in runs.items()
        for qid, docnos in lists.items()
        for m in measures
    }


def number(kind, pair):
    return {"Low": pair[0], "High": pair[1], "Residual": pair[1] - pair[0]}[kind]


#: those with other labels, divisors, or a `rel` that no label may reach; all are compared outside the tests
FEW = [P(rel=3) @ 2, RR, AP(rel=2), nDCG @ 3, RBP(rel=2, p=0.6)]


def test_the_formulas_are_those_of_ir_measures():
    random = np.random.default_rng(3)
    for m in [m for m in MEASURES if m.NAME != "RBP" or "cutoff" not in m.params]:
        labels = random.integers(0, 4, (20, 7))
        qrels = {str(i): {f"d{j}": int(label) for j, label in enumerate(row)} for i, row in enumerate(labels)}
        run = {qid: {f"d{j}": -float(j) for j in range(5)} for qid in qrels}
        same = nDCG(gains={1: 1, 2: 3, 3: 7}) @ 3 if m.params.get("dcg") else m
        theirs = {metric.query_id: metric.value for metric in ir_measures.iter_calc([same], qrels, run)}
        np.testing.assert_allclose(score(m, labels[:, :5], labels), [theirs[qid] for qid in qrels], atol=1e-9)


def compare_doors(seed, measures=FEW):
    """Compare every door that knows all judgments with all completions; return how many values."""
    runs, labels = small_field(seed)
    wanted, frame = wanted_of(runs, labels, [*measures, *FEW]), qrels_of(labels)
    field, qrels, n = field_of(runs).reorder("trec_eval9"), ptr.Qrels(frame), 0

    def check(value, name, qid, kind, m):
        nonlocal n
        n += 1
        # pt.Experiment's own nDCG of these gains has five decimals, which no bound passes
        same = 6e-6 if "exp-log2" in m else 1e-9
        assert value == pytest.approx(number(kind, wanted[name, qid, m]), abs=same), (seed, name, qid, kind, m)

    named = [make(m) for m in measures for make in KINDS.values()]
    for topics in PARTS:
        scores = ptr.score(field, qrels.select(topics), named)
        for (kind, m), values in zip(((k, m) for m in measures for k in KINDS), scores.values, strict=True):
            for t, qid in enumerate(scores.topics):
                for r, name in enumerate(scores.names):
                    check(values[t, r], name, qid, kind, repr(m))
        asked = pd.DataFrame({"qid": topics, "query": "q"})
        # ir_measures has no RBP with a cutoff
        theirs = [m for m in measures if m.NAME != "RBP" or "cutoff" not in m.params]
        found = ptr.Experiment(frames_of(runs), asked, frame, theirs, reuse=["bounds"], perquery=True)
        plain = pt.Experiment(list(frames_of(runs).values()), asked, frame, theirs, names=list(runs), perquery=True)
        added = ptr.add_columns(plain, frames_of(runs), frame, reuse=["bounds"])
        for rows in (found, added):
            for row in rows.itertuples(index=False):
                check(row.low, row.name, row.qid, "Low", row.measure)
                check(row.high, row.name, row.qid, "High", row.measure)
        # as measures of the experiment
        made = [make(m) for m in theirs for make in KINDS.values()]
        rows = pt.Experiment(list(frames_of(runs).values()), asked, qrels, made, names=list(runs), perquery=True)
        for row in rows.itertuples(index=False):
            kind, m = row.measure[:-1].split("(", 1)
            check(row.value, row.name, row.qid, kind, m)
        known = [m for m in measures if m.NAME != "Rprec"]
        table = ptr.profile.bounds(field, qrels.select(topics), known).table
        for row in table.itertuples(index=False):
            mine = [wanted[row.name, qid, row.measure] for qid in topics]
            n += 2
            # documents that another run has alone lower these
            assert row.low <= np.mean([low for low, _ in mine]) + 1e-9
            assert row.high == pytest.approx(np.mean([high for _, high in mine]), abs=1e-9), (seed, topics, row)
    return n


@pytest.mark.filterwarnings("ignore::pt_reuse.ReuseWarning")
def test_every_door():
    assert compare_doors(0) > 300


def test_no_label_reaches_rel(messages):
    run = pd.DataFrame({"qid": "1", "docno": ["a", "b", "c"], "score": [3.0, 2.0, 1.0], "query": "q"})
    runs = {"one": run, "other": run.iloc[1:]}
    frame = pd.DataFrame({"qid": "1", "docno": ["a", "z"], "label": [1, 0]})
    topics, measures = pd.DataFrame({"qid": ["1"], "query": ["q"]}), [P(rel=2) @ 3, RBP(rel=2, p=0.5), AP(rel=2)]
    result = ptr.Experiment(runs, topics, frame, measures, reuse=["bounds"])
    bounds = ptr.profile.bounds(runs, frame, measures)
    for m in map(repr, measures):
        assert result[f"{m} high"].tolist() == result[f"{m} low"].tolist() == [0.0, 0.0]
        assert pt.Evaluate(run, frame, [ptr.High(m, max_label=1)]) == {f"High({m},max_label=1)": 0.0}
        assert pt.Evaluate(run, frame, [ptr.High(m, max_label=2)])[f"High({m},max_label=2)"] >= 0.5
        messages.warned(lambda m=m: pt.Evaluate(run, frame, [ptr.High(m)]))
    assert bounds.table[["low", "high"]].to_numpy().max() == 0
    assert bounds.summary[["unjudged", "exact"]].to_numpy().tolist() == [[0, True]] * 3
    # what is said of RBP holds only where it adds something
    said = (bounds.settings["completions"], result.attrs["reuse"]["settings"]["bounds"])
    assert not any("p^n" in words for words in said)
    below = ptr.profile.bounds(runs, frame, [RBP(rel=1, p=0.5), *measures])
    assert "p^n" in below.settings["completions"]
    assert below.table.loc[below.table["measure"] == "RBP(rel=1,p=0.5)", "high"].tolist() == [1.0, 1.0]


def compare_lou(seed):
    """Compare the score, and its bounds, without uniques over parts of the topics with those by hand."""
    runs, labels = small_field(seed, systems=4, documents=5)
    (name, mine), *others = runs.items()
    field, n = field_of(dict(others)), 0
    top = highest_of(labels)
    for m in (P @ 3, nDCG @ 3, AP):
        measures = [ptr.Low(m), m, ptr.High(m)]
        made = [ptr.LOU(of, field=field, depth=3) for of in measures]
        for topics in PARTS:
            asked = pd.DataFrame({"qid": topics, "query": "q"})
            rows = pt.Experiment(
                [frames_of(runs)[name]], asked, ptr.Qrels(qrels_of(labels)), made, names=[name], perquery=True
            )
            for row in rows.itertuples(index=False):
                theirs = {docno for _, lists in others for docno in lists[row.qid][:3]}
                unique = {d for d in mine[row.qid][:3] if d not in theirs and labels[row.qid].get(d, -1) >= 1}
                left = {d: label for d, label in labels[row.qid].items() if d not in unique}
                of = measures[[repr(one) for one in made].index(row.measure)]
                low, high = ends(m, mine[row.qid], left, top)
                judged = {**dict.fromkeys(mine[row.qid], 0), **left}
                plain = ends(m, mine[row.qid], {d: max(label, 0) for d, label in judged.items()}, top)[0]
                expected = {"Low": low, "High": high}.get(of.NAME, plain)
                assert row.value == pytest.approx(expected, abs=1e-9), (seed, topics, row)
                n += 1
    return n


@pytest.mark.filterwarnings("ignore::pt_reuse.ReuseWarning")
def test_leave_out_uniques_over_parts_of_the_topics():
    assert compare_lou(0) == 36
