"""Bounds of scores, differences and ranks, against every completion of small fields."""

from __future__ import annotations

from itertools import combinations

import completions
import numpy as np
import pandas as pd
import pytest
from completions import field_of, qrels_of
from ir_measures import AP, RBP, RR, P, R, Rprec, Success, nDCG

import pt_reuse as ptr

EXACT = [P @ 3, P(rel=2) @ 3, P(rel=3) @ 3, Success @ 2, RR, RR @ 3, RR(rel=3), R @ 3, R(rel=2) @ 4]
WIDER = [AP, AP(rel=3), AP @ 3, nDCG @ 3, nDCG]
#: small fields have one topic
pytestmark = pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")


def small(seed):
    """Return runs, each a list of documents for topic 1, and judgments of some of these, of which 2 is the highest."""
    runs, labels = completions.small_field(seed, topics=1, tops=(2,))
    return runs, {"1": {"x": 0, **labels["1"]}}


def every_completion(runs, labels, measure, further):
    """Return (completions, systems) scores."""
    seen = {docno for lists in runs.values() for docno in completions.seen(measure, lists["1"])}
    holes = sorted(docno for docno in seen if labels["1"].get(docno, -1) < 0)
    holes += [f"nowhere{i}" for i in range(further)]
    known, completed = completions.completed(labels["1"], holes, 2)
    return np.array([completions.scores_of(measure, lists["1"], known, completed) for lists in runs.values()]).T


@pytest.mark.parametrize("further", [0, 1])
@pytest.mark.parametrize("seed", range(5))
def test_every_completion_of_small_fields(seed, further):
    runs, labels = small(seed)
    found = ptr.profile.bounds(field_of(runs), qrels_of(labels), [*EXACT, *WIDER], further=further)
    for measure in (*EXACT, *WIDER):
        every = every_completion(runs, labels, measure, further)
        table = found.table[found.table["measure"] == repr(measure)].set_index("name")
        for s, name in enumerate(runs):
            assert table.loc[name, ["low", "high"]].tolist() == pytest.approx([every[:, s].min(), every[:, s].max()])
        pairs = found.pairs[found.pairs["measure"] == repr(measure)].set_index(["first", "second"])
        names, better = list(runs), dict.fromkeys(runs, 0)
        for (i, one), (j, other) in combinations(enumerate(names), 2):
            apart = every[:, i] - every[:, j]
            better[other] += (apart > 1e-9).all()
            better[one] += (apart < -1e-9).all()
            for first, second, difference in ((one, other, apart), (other, one, -apart)):
                if (first, second) in pairs.index:
                    row = pairs.loc[(first, second)]
                    low, high = difference.min(), difference.max()
                    if measure in EXACT:
                        assert [row["low"], row["high"]] == pytest.approx([low, high], abs=1e-9), measure
                        assert row["holds"] == (low > 1e-9)
                    assert row["low"] <= low + 1e-9
                    assert row["high"] >= high - 1e-9
                    assert not (row["holds"] and low <= 0)
        for name in runs:
            assert table.loc[name, "rank_low"] <= 1 + better[name]
            assert measure in WIDER or table.loc[name, "rank_low"] == 1 + better[name]
            i = names.index(name)
            may_be = sum((every[:, j] - every[:, i] > 1e-9).any() for j in range(len(names)))
            assert table.loc[name, "rank_high"] >= 1 + may_be
            assert measure in WIDER or table.loc[name, "rank_high"] == 1 + may_be
        # the rank of a run under each completion lies between its ends
        ranks = 1 + (every[:, None, :] > every[:, :, None] + 1e-9).sum(axis=2)
        assert (ranks.min(axis=0) >= table.loc[names, "rank_low"]).all()
        assert (ranks.max(axis=0) <= table.loc[names, "rank_high"]).all()


def test_labels_of_topics_that_are_not_asked_may_be_reached():
    runs, labels = small(3)
    both = qrels_of({**labels, "2": {"x": 4}})
    part = ptr.Qrels(both).select(["1"])
    for measure in (nDCG @ 3, P(rel=4) @ 3):
        found, whole = (ptr.profile.bounds(field_of(runs), qrels, measure) for qrels in (part, both))
        table, double = (one.table.set_index("name").sort_index()[["low", "high"]] for one in (found, whole))
        np.testing.assert_allclose(table, 2 * double, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_rank_biased_precision_has_its_residual_and_shares_documents(seed):
    runs, labels = small(seed)
    measure, p = RBP(rel=1, p=0.7), 0.7
    found = ptr.profile.bounds(field_of(runs), qrels_of(labels), measure)
    weight = {name: {d: 0.3 * p**i for i, d in enumerate(lists["1"])} for name, lists in runs.items()}
    holes = {docno for of in weight.values() for docno in of if labels["1"].get(docno, -1) < 0}
    for row in found.pairs.to_dict("records"):
        one, other = weight[row["first"]], weight[row["second"]]
        gain = sum(max(0, one.get(d, 0) - other.get(d, 0)) for d in holes) + p ** len(one)
        loss = sum(max(0, other.get(d, 0) - one.get(d, 0)) for d in holes) + p ** len(other)
        assert [row["low"], row["high"]] == pytest.approx([row["difference"] - loss, row["difference"] + gain])


def test_rank_biased_precision_of_a_run_that_lacks_a_topic_is_0_there():
    rows = {"A": [("1", "a")], "B": [("1", "a"), ("2", "b")], "C": [("2", "b"), ("2", "new")]}
    frames = {
        n: pd.DataFrame(of, columns=["qid", "docno"]).assign(score=[3.0, 2.0][: len(of)]) for n, of in rows.items()
    }
    qrels = pd.DataFrame({"qid": ["1", "2"], "docno": ["a", "b"], "label": 1})
    for names in ("AB", "ABC"):
        runs = ptr.RunSet.from_frames({name: frames[name] for name in names})
        found = ptr.profile.bounds(runs, qrels, RBP(rel=1, p=0.5))
        assert found.table.set_index("name").loc["A", ["low", "high"]].tolist() == [0.25, 0.5]
        pair = found.pairs.set_index(["first", "second"]).loc[("B", "A")]
        # .25 more for the ranks below A, .25 and .25 for those below B
        assert pair[["low", "high"]].tolist() == [0.0, 0.75]


def test_what_is_counted_and_refused(messages):
    field = ptr.demo.simulate_field(seed=7, depth=5, n_topics=6)
    found = ptr.profile.bounds(field.runs, field.qrels, [P @ 5, AP])
    row, pairs = found.summary.iloc[0], found.pairs[found.pairs["measure"] == "P@5"]
    assert row["both"] == (pairs["holds"] & pairs["significant"]).sum()
    assert (pairs["verdict"] == "holds only").sum() == row["holds"] - row["both"]
    assert row["neither"] == len(pairs) - row["holds"] - row["significant"] + row["both"]
    one = field.runs.select(field.runs.names[:1])
    messages.refused(lambda: ptr.profile.bounds(one, field.qrels, AP), argument="runs")
    messages.refused(lambda: ptr.profile.bounds(field.runs, field.qrels, [AP, Rprec]), argument="measures")
    messages.warned(lambda: ptr.profile.bounds(field.runs, field.qrels.select(field.qrels.topics[:1]), P @ 5))


def test_means_are_over_topics_and_runs_that_lack_one_score_0():
    runs, labels = small(3)
    field = field_of({**runs, "s0": {"1": runs["s0"]["1"], "2": runs["s0"]["1"]}})
    found = ptr.profile.bounds(field, qrels_of({**labels, "2": {"x": 1}}), P @ 3).table.set_index("name")
    single = ptr.profile.bounds(field_of(runs), qrels_of(labels), P @ 3).table.set_index("name")
    for name in ("s1", "s2"):
        assert found.loc[name, ["low", "high"]].tolist() == pytest.approx(
            (single.loc[name, ["low", "high"]] / 2).tolist()
        )
    own = min(3, len(runs["s0"]["1"])) / 3
    assert found.loc["s0", "high"] == pytest.approx((single.loc["s0", "high"] + own) / 2)


def test_the_numbers_of_the_page(trec8):
    runs = trec8.runs.reorder("trec_eval9")
    judged = trec8.qrels.restrict(ptr.depth_pool(runs.select(pooled=True), 10))
    found = ptr.profile.bounds(runs, judged, [P @ 10, nDCG @ 10])
    precision, of_gain = found.summary.to_dict("records")
    assert (precision["holds"], precision["pairs"]) == (5831, 8205)
    assert (of_gain["holds"], of_gain["pairs"]) == (6351, 8253)
    assert round(of_gain["mean_width"], 1) == 30.5
    # with all judgments for truth, no order that holds is wrong, and every score and rank is inside
    truth = ptr.score(runs, trec8.qrels, [P @ 10, nDCG @ 10]).mean.set_index("name")
    for measure in ("P@10", "nDCG@10"):
        mine = found.pairs[(found.pairs["measure"] == measure) & found.pairs["holds"]]
        assert (truth.loc[mine["first"], measure].to_numpy() > truth.loc[mine["second"], measure].to_numpy()).all()
        table = found.table[found.table["measure"] == measure].set_index("name").loc[truth.index]
        rank = truth[measure].round(12).rank(ascending=False, method="min")
        assert (table["rank_low"] <= rank).all()
        assert (rank <= table["rank_high"]).all()
