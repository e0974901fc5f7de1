"""Some documents of people, all of a judge: against sums made one by one, ir_measures and estimate_relevant."""

from __future__ import annotations

import functools

import few_label_parts as parts
import numpy as np
import pytest
import scipy.stats
from ir_measures import RBP, SDCG, NumRel, NumRet, P, SetP

import pt_reuse as ptr

MEASURES = [P @ 5, RBP(p=0.8, rel=1), SDCG(max_rel=2) @ 10, SetP, NumRet(rel=2), NumRel]


def pool():
    return ptr.depth_pool(parts.field().runs, depth=8)


@functools.cache
def ranked(run):
    """Return (topic, document) -> rank."""
    rows = parts.field().runs[run].sort_values(["qid", "rank"])
    places = rows.groupby("qid").cumcount() + 1
    return dict(zip(zip(rows["qid"], rows["docno"], strict=True), places, strict=True))


def weight(measure, run, pair):
    """Return the weight of a document for a run."""
    rank = ranked(run).get(pair)
    if rank is None:
        return 0.0
    return (rank <= 5) / 5 if measure == "P@5" else 0.2 * 0.8 ** (rank - 1)


def literal(lam, measure="P@5", rel=1):
    """Return (topics, runs) sums of weight times gain, corrected, one document after the other; and by people alone."""
    field, sample = parts.field(), parts.sample().to_frame()
    judge = parts.judge()(sample[["qid", "docno"]])["label"].tolist()
    share = sample.assign(s=sample["label"] >= 0).groupby(["qid", "stratum"])["s"].transform("mean").tolist()
    topics, names = list(dict.fromkeys(sample["qid"])), field.runs.names
    found, alone = np.zeros((len(topics), len(names))), np.zeros((len(topics), len(names)))
    pairs = zip(sample["qid"], sample["docno"], sample["label"], judge, share, strict=True)
    for qid, docno, label, by_judge, pi in pairs:
        f, t = float(by_judge >= rel), topics.index(qid)
        for i, run in enumerate(names):
            w = weight(measure, run, (qid, docno))
            found[t, i] += w * lam * f
            if label >= 0:
                found[t, i] += w * (float(label >= rel) - lam * f) / pi
                alone[t, i] += w * float(label >= rel) / pi
    return found, alone


@pytest.mark.parametrize(("measure", "rel"), [("P@5", 1), ("RBP(rel=2)", 2)])
def test_with_lambda_1_each_score_is_the_sum_corrected(measure, rel):
    field = parts.field()
    found = ptr.labels.prediction_powered(field.runs, parts.sample(), parts.judge(), measure, level="documents", lam=1)
    by_topic, alone = literal(1.0, measure, rel)
    assert found.table["estimate"].tolist() == pytest.approx(by_topic.mean(axis=0).tolist(), abs=1e-12)
    assert found.table["human"].tolist() == pytest.approx(alone.mean(axis=0).tolist(), abs=1e-12)
    for i, row in enumerate(found.table.to_dict("records")):
        for of, values in (("estimate", by_topic[:, i]), ("human", alone[:, i])):
            ends = scipy.stats.ttest_1samp(values, 0).confidence_interval(0.95)
            assert [row[f"{of}_low"], row[f"{of}_high"]] == pytest.approx(list(ends), abs=1e-12)
        assert (row["n"], row["N"], row["lambda"]) == (401, 930, 1)
    row = found.pairs.iloc[3]
    i, j = (field.runs.names.index(row[which]) for which in ("first", "second"))
    test = scipy.stats.ttest_rel(by_topic[:, i], by_topic[:, j])
    assert [row["difference"], row["p"]] == pytest.approx(
        [by_topic[:, i].mean() - by_topic[:, j].mean(), test.pvalue], abs=1e-9
    )


def test_the_estimated_lambda_is_reported_and_used():
    found = parts.by_documents()
    table = found.table[found.table["measure"] == "P@5"].reset_index(drop=True)
    assert len(set(table["lambda"])) == 1, "one for all runs"
    assert 0.5 < table["lambda"][0] < 1
    by_topic, _ = literal(table["lambda"][4])
    assert table["estimate"][4] == pytest.approx(by_topic[:, 4].mean(), abs=1e-12)
    fixed = ptr.labels.prediction_powered(
        parts.field().runs, parts.sample(), parts.judge(), "P@5", level="documents", lam=1
    ).table
    assert (table["se_sampling"] ** 2).sum() < (fixed["se_sampling"] ** 2).sum()
    reach = scipy.stats.norm.ppf(0.975) * table["se_sampling"]
    assert (table["sampling_high"] - table["estimate"]).tolist() == pytest.approx(reach.tolist())
    assert ((table["n_eff"] > 401) & (table["n_eff"] < 1331)).all()


def test_a_pool_that_people_labelled_in_full_scores_as_ir_measures_has_it():
    field = parts.field()
    full = ptr.pools.sample_pool(pool(), share=1.0, seed=1).judge(field.all_qrels)
    names = field.runs.names[:1]
    runs = field.runs.select(names)
    found = ptr.labels.prediction_powered(runs, full, parts.judge(), MEASURES, level="documents")
    qrels = full.to_frame().rename(columns={"qid": "query_id", "docno": "doc_id", "label": "relevance"})
    run = runs[names[0]].rename(columns={"qid": "query_id", "docno": "doc_id"})
    for measure in MEASURES:
        row = found.table[found.table["measure"] == repr(measure)].iloc[0]
        expected = measure.calc_aggregate(qrels, run)
        if measure in (NumRet(rel=2), NumRel):  # ir_measures adds counts up
            expected /= 60
        assert row["estimate"] == pytest.approx(expected, abs=1e-12), measure
        assert (row["se_sampling"], row["N"]) == (0, 0)
    by_judge = qrels.assign(relevance=parts.judge()(full.to_frame())["label"].astype(int).to_numpy())
    assert found.table["by_judge"][0] == pytest.approx((P @ 5).calc_aggregate(by_judge, run))


def test_over_samples_estimates_are_right_on_average_and_intervals_cover():
    field = parts.field()
    truth = ptr.score(field.runs, pool().judge(field.all_qrels), "P@5").mean["P@5"].to_numpy()
    estimates, covered = {1.0: [], None: []}, {1.0: [], None: []}
    for seed in range(10):
        sample = parts.sample(0.3, 100 + seed)
        for lam in estimates:
            found = ptr.labels.prediction_powered(
                field.runs, sample, parts.judge(), "P@5", level="documents", lam=lam, correction="none"
            ).table
            estimates[lam].append(found["estimate"])
            covered[lam].append((found["sampling_low"] <= truth) & (truth <= found["sampling_high"]))
    for lam, found in estimates.items():
        away = np.mean(found, axis=0) - truth
        assert np.abs(away).max() < 3 * np.std(found, axis=0).max() / 10**0.5
        assert 0.88 <= np.mean(covered[lam]) <= 1


def test_documents_drawn_one_by_one():
    """The same sample with its probabilities and without its strata."""
    field, sample = parts.field(), parts.sample().to_frame()
    share = sample.assign(s=sample["label"] >= 0).groupby("qid")["s"].transform("mean")
    labelled = sample.assign(inclusion=share)[sample["label"] >= 0].drop(columns="stratum")
    options = {"measures": "P@5", "level": "documents", "lam": 1.0}
    by_strata = ptr.labels.prediction_powered(field.runs, parts.sample(), parts.judge(), **options)
    found = ptr.labels.prediction_powered(field.runs, labelled, parts.judge(), pool=pool(), **options)
    assert found.table["estimate"].tolist() == pytest.approx(by_strata.table["estimate"].tolist())
    assert found.table["N"].tolist() == by_strata.table["N"].tolist()
    assert not np.allclose(found.table["se_sampling"], by_strata.table["se_sampling"])
    assert "each document with its own probability" in found.settings["judges"]
    assert "by strata, without replacement" in by_strata.settings["judges"]
    # without a pool it is what the judge knows
    known = ptr.labels.prediction_powered(field.runs, labelled, pool().judge(parts.judge()), **options)
    assert known.table["estimate"].tolist() == pytest.approx(found.table["estimate"].tolist())


def test_a_document_without_a_label_of_the_judge_is_corrected_like_any_error():
    field, sample = parts.field(), parts.sample()
    labels = pool().judge(parts.judge()).to_frame()[["qid", "docno", "label"]]
    options = {"level": "documents", "lam": 1, "judge_rel": 1}
    with pytest.warns(ptr.ReuseWarning, match=r"gave 131 of 1,331 documents of the pool no label"):
        found = ptr.labels.prediction_powered(field.runs, sample, labels[:1200], "P@5", **options)
    zeros = labels.assign(label=[*labels["label"][:1200], *[0] * 131])
    expected = ptr.labels.prediction_powered(field.runs, sample, zeros, "P@5", **options)
    assert found.table["estimate"].tolist() == expected.table["estimate"].tolist()
