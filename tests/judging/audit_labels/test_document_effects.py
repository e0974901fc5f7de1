"""What each document does to each run: taken apart in plain Python, and by labels changed one at a time."""

from __future__ import annotations

import math

import numpy as np
import pytest
from audit_parts import FIELD, HUMAN, RUNS, TOPICS, as_frame, lists, relabelled, scored

import pt_reuse as ptr

JUDGE = relabelled(4, share=0.3, gaps=0.1)
SUMS = ("P@5", "R@5", "nDCG@5", "nDCG", "RBP(rel=1)@5")


def audited(measures, judge=JUDGE, **options):
    return ptr.audit_labels(
        RUNS, FIELD.qrels, {"judge": as_frame(judge)}, list(measures), **{"resamples": 0, **options}
    )


@pytest.fixture(scope="module")
def found():
    return audited([*SUMS, "AP"])


def order(run, qid):
    """Return the documents of a list in trec_eval's order: score, then docno, both descending."""
    scores = lists()[run].get(qid, {})
    return sorted(scores, key=lambda docno: (scores[docno], docno), reverse=True)


def weight(measure, rank):
    name, _, cutoff = measure.partition("@")
    if cutoff and rank > int(cutoff):
        return 0.0
    return 1 / math.log2(rank + 1) if name == "nDCG" else 0.2 * 0.8 ** (rank - 1) if name.startswith("RBP") else 1.0


def gain(measure, label):
    return float(max(label, 0)) if measure.startswith("nDCG") else float(label >= 1)


def divisor(measure, labels, qid):
    mine = sorted((gain(measure, label) for pair, label in labels.items() if pair[0] == qid), reverse=True)
    if measure.startswith("nDCG"):
        return sum(g * weight(measure, rank) for rank, g in enumerate(mine, 1))
    return 5.0 if measure == "P@5" else sum(mine) if measure == "R@5" else 1.0


def effects(measure):
    """Return (qid, docno) -> (runs,) effects beyond the mean run, in plain Python."""
    found = {}
    for qid, docno in HUMAN:
        gained = gain(measure, JUDGE.get((qid, docno), -1)) - gain(measure, HUMAN[qid, docno])
        if not gained:
            continue
        by = divisor(measure, JUDGE, qid) or divisor(measure, HUMAN, qid)
        of_run = np.array(
            [
                weight(measure, order(run, qid).index(docno) + 1) * gained / by if docno in order(run, qid) else 0.0
                for run in RUNS.names
            ]
        ) / len(TOPICS)
        found[qid, docno] = of_run - of_run.mean()
    return found


def most_important(expected, run, way):
    pushes = {pair: of[run] * way for pair, of in expected.items() if of[run] * way > 1e-12}
    return sorted(pushes.values(), reverse=True)[:10]


def check_documents(found, measure, expected):
    """Compare the documents of each run with the ten that push most, labels and ranks included."""
    movers = found.movers[found.movers["measure"] == measure].set_index("name")
    for r, run in enumerate(RUNS.names):
        mine = found.documents[(found.documents["measure"] == measure) & (found.documents["name"] == run)]
        rise, relative = movers.loc[run, "rise"], movers.loc[run, "relative"]
        way = np.sign(rise) if rise else np.sign(relative) if abs(relative) > 1e-12 else 0
        assert (mine["effect"] * way).tolist() == pytest.approx(most_important(expected, r, way), abs=1e-12)
        for row in mine.itertuples():
            pair = (row.qid, row.docno)
            assert row.effect == pytest.approx(expected[pair][r], abs=1e-12)
            assert row.label == HUMAN[pair]
            listed = order(run, row.qid)
            if row.docno in listed:
                assert row.rank == listed.index(row.docno) + 1
    return movers


def test_a_sum_over_documents_is_taken_apart_exactly(found):
    for measure in SUMS:
        expected = effects(measure)
        movers = check_documents(found, measure, expected)
        totals = sum(expected.values())
        assert movers.loc[RUNS.names, "by_documents"].to_numpy() == pytest.approx(totals, abs=1e-12)
        # the rest is of new divisors, topic by topic
        rest = np.zeros(len(RUNS))
        if measure in ("R@5", "nDCG@5", "nDCG"):
            human = scored(HUMAN, measure, TOPICS)
            for t, qid in enumerate(TOPICS):
                old, new = divisor(measure, HUMAN, qid), divisor(measure, JUDGE, qid)
                rest += human[t] * (old / new - 1) / len(TOPICS) if new and old else 0.0
            rest -= rest.mean()
        relative = movers.loc[RUNS.names, "relative"].to_numpy()
        assert relative == pytest.approx(totals + rest, abs=1e-9)
        assert np.abs(relative).max() > 0.01


def test_of_another_measure_each_label_is_changed_alone(found):
    base = scored(HUMAN, "AP", TOPICS).mean(axis=0)
    expected = {}
    for pair, label in HUMAN.items():
        if JUDGE.get(pair, -1) != label:
            alone = scored({**HUMAN, pair: JUDGE.get(pair, -1)}, "AP", TOPICS).mean(axis=0) - base
            expected[pair] = alone - alone.mean()
    movers = check_documents(found, "AP", expected)
    assert movers["by_documents"].isna().all()


def test_a_label_that_is_missing_and_a_rank_that_is_not_there_are_na(found):
    missing = found.documents["judge_label"].isna()
    assert missing.any()
    pairs = list(zip(found.documents["qid"], found.documents["docno"], strict=True))
    assert [pair not in JUDGE for pair in pairs] == missing.tolist()
    shown = found.documents.loc[~missing, "judge_label"].tolist()
    assert shown == [JUDGE[pair] for pair in pairs if pair in JUDGE]
    for name, pair, lost in zip(found.documents["name"], pairs, found.documents["rank"].isna(), strict=True):
        assert (pair[1] in order(name, pair[0])) != lost


def test_of_a_measure_of_ir_measures_no_effect_is_known():
    found = audited(["ERR@5"])
    assert len(found.documents) == 0
    assert found.settings["documents, ERR@5"] == "not known, since ir_measures computes the measure"
    assert found.movers["by_documents"].isna().all()
    assert len(found.report("documents").to_frame()) == 0
    assert list(found.documents) == list(audited(["P@5"]).documents)


def test_of_documents_that_do_as_much_the_first_by_name_comes_first():
    """The order of the judgments has no part in which documents are named."""
    found = [
        ptr.audit_labels(RUNS, labels, as_frame(relabelled(5)), "P@5", resamples=0).documents
        for labels in (as_frame(HUMAN), as_frame(HUMAN).iloc[::-1])
    ]
    assert found[0].equals(found[1])
    alike = found[0].assign(effect=found[0]["effect"].round(12)).groupby(["name", "effect"])["docno"]
    assert (alike.size() > 1).any()
    assert alike.apply(lambda docnos: docnos.is_monotonic_increasing).all()
