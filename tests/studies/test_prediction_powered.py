"""prediction_powered by topics and by documents against what is written out, and on odd input."""

from __future__ import annotations

import functools
import itertools

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from ir_measures import RBP, SDCG, NumRel, NumRet, P, SetP
from statsmodels.stats.multitest import multipletests

import pt_reuse as ptr
from pt_reuse.scoring.caveats import told_elsewhere

# a small field of which people labelled little and a judge all


@functools.cache
def simulated():
    return ptr.demo.simulate_field(seed=7, n_topics=60, n_teams=5, depth=8)


@functools.cache
def of_people():
    """Return the labels of people: all documents of 24 topics."""
    return simulated().all_qrels.select(simulated().all_qrels.topics[:24])


@functools.cache
def noisy(rate=0.15, seed=1):
    return ptr.judging.Noisy(simulated().all_qrels.with_rel(1), ptr.judging.flips(rate, range(4)), seed=seed)


@functools.cache
def drawn():
    """Return the labels of people: some documents of each topic."""
    return ptr.pools.sample_pool(pool(), share=0.3, seed=3).judge(simulated().all_qrels)


@functools.cache
def by_topics():
    judges = {"one": noisy(), "two": noisy(0.3, 2)}
    return ptr.labels.prediction_powered(
        simulated().runs, of_people(), judges, ["nDCG@10", "P@5"], families={"one": "gpt"}
    )


def of(frame, judge="one", measure="nDCG@10"):
    return frame[(frame["judge"] == judge) & (frame["measure"] == measure)].reset_index(drop=True)


def scores(judge, measure):
    """Return name -> scores by people, by the judge on the same topics, and by the judge on the others."""
    field, people = simulated(), of_people()
    pairs = field.all_qrels.to_frame()[["qid", "docno"]]
    labels = pairs.assign(label=judge(pairs)["label"])
    mine, theirs = (ptr.score(field.runs, qrels, measure).of(measure) for qrels in (people, labels))
    both = theirs.index.isin(people.topics)
    return {run: (mine[run].to_numpy(), theirs[run][both].to_numpy(), theirs[run][~both].to_numpy()) for run in mine}


def estimated(y, f, more):
    """Return estimate and lambda."""
    n, m = len(y), len(more)
    spread = np.var([*f, *more], ddof=1)
    lam = np.clip(np.cov(y, f)[0, 1] / ((1 + n / m) * spread), 0, 1) if spread > 1e-20 else 0.0
    return y.mean() + lam * (more.mean() - f.mean()), lam


def literal(y, f, more, variance="jackknife"):
    """Return human mean, estimate, standard error and lambda."""
    n, m = len(y), len(more)
    estimate, lam = estimated(y, f, more)
    without = [estimated(np.delete(y, i), np.delete(f, i), more)[0] for i in range(n)]
    of_topics = {"jackknife": (n - 1) * np.var(without), "plain": np.var(y - lam * f, ddof=1) / n}
    return y.mean(), estimate, np.sqrt(of_topics[variance] + lam**2 * np.var(more, ddof=1) / m), lam


@pytest.mark.parametrize(("name", "judge", "measure"), [("one", (), "nDCG@10"), ("two", (0.3, 2), "P@5")])
def test_every_number_is_that_of_the_plain_formulas(name, judge, measure):
    found, expected = by_topics(), scores(noisy(*judge), measure)
    table, pairs = of(found.table, name, measure), of(found.pairs, name, measure)
    assert table["name"].tolist() == list(expected)
    for row in table.to_dict("records"):
        y, f, more = expected[row["name"]]
        human, estimate, se, lam = literal(y, f, more)
        numbers = [row["human"], row["estimate"], row["se"], row["lambda"], row["by_judge"]]
        assert numbers == pytest.approx([human, estimate, se, lam, np.mean([*f, *more])], abs=1e-12)
        ends = scipy.stats.t.interval(0.95, 23, estimate, se)
        assert [row["estimate_low"], row["estimate_high"]] == pytest.approx(ends, abs=1e-12)
        ends = scipy.stats.ttest_1samp(y, 0).confidence_interval(0.95)
        assert [row["human_low"], row["human_high"]] == pytest.approx(list(ends), abs=1e-12)
        assert (row["n"], row["N"]) == (24, 36)
        assert row["n_eff"] == pytest.approx(np.var(y, ddof=1) / se**2)
    p, human_p = [], []
    for row, (a, b) in zip(pairs.to_dict("records"), itertools.combinations(expected, 2), strict=True):
        assert (row["first"], row["second"]) == (a, b)
        y, f, more = (one - other for one, other in zip(expected[a], expected[b], strict=True))
        human, estimate, se, lam = literal(y, f, more)
        assert [row["human"], row["difference"], row["se"], row["lambda"]] == pytest.approx(
            [human, estimate, se, lam], abs=1e-9
        )
        p.append(2 * scipy.stats.t.sf(abs(estimate) / se, 23))
        human_p.append(scipy.stats.ttest_1samp(y, 0).pvalue)
    for column, ps in (("", p), ("human_", human_p)):
        assert pairs[f"{column}p"].tolist() == pytest.approx(ps, abs=1e-9)
        corrected = multipletests(ps, method="bonferroni")[1]
        assert pairs[f"{column}p_corrected"].tolist() == pytest.approx(corrected, abs=1e-9)
        assert pairs[f"{column}significant"].tolist() == (corrected <= 0.05).tolist()
        assert 0 < pairs[f"{column}significant"].sum() < len(pairs)


def test_a_judge_is_asked_for_the_documents_of_a_pool():
    field, people = simulated(), of_people()
    pool, asked = ptr.depth_pool(field.runs, depth=8), []
    truth = field.all_qrels.to_frame().set_index(["qid", "docno"])["label"]

    def model(frame):
        asked.append(frame)
        return [min(1, truth[pair]) for pair in zip(frame["qid"], frame["docno"], strict=True)]

    found = ptr.labels.prediction_powered(field.runs, people, model, "nDCG@10", pool=pool)
    assert len(asked) == 1, "asked once for all"
    assert len(asked[0]) == len(pool)
    # the same as by labels that exist
    labels = pool.judge(field.all_qrels.threshold(1))
    given = ptr.labels.prediction_powered(field.runs, people, {"model": labels}, "nDCG@10")
    assert found.table.equals(given.table)
    # labels beyond the pool do not count where there is one
    kept = ptr.labels.prediction_powered(
        field.runs, people, {"model": field.all_qrels.threshold(1)}, "nDCG@10", pool=pool
    )
    assert kept.table.equals(given.table)


MEASURES = [P @ 5, RBP(p=0.8, rel=1), SDCG(max_rel=2) @ 10, SetP, NumRet(rel=2), NumRel]


def pool():
    return ptr.depth_pool(simulated().runs, depth=8)


@functools.cache
def ranked(run):
    """Return (topic, document) -> rank."""
    rows = simulated().runs[run].sort_values(["qid", "rank"])
    places = rows.groupby("qid").cumcount() + 1
    return dict(zip(zip(rows["qid"], rows["docno"], strict=True), places, strict=True))


def weight(measure, run, pair):
    """Return the weight of a document for a run."""
    rank = ranked(run).get(pair)
    if rank is None:
        return 0.0
    return (rank <= 5) / 5 if measure == "P@5" else 0.2 * 0.8 ** (rank - 1)


def literal_of_documents(lam, measure="P@5", rel=1):
    """Return (topics, runs) sums of weight times gain, corrected, one document after the other; and by people alone."""
    field, sample = simulated(), drawn().to_frame()
    judge = noisy()(sample[["qid", "docno"]])["label"].tolist()
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
    field = simulated()
    found = ptr.labels.prediction_powered(field.runs, drawn(), noisy(), measure, level="documents", lam=1)
    by_topic, alone = literal_of_documents(1.0, measure, rel)
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


def test_a_pool_that_people_labelled_in_full_scores_as_ir_measures_has_it():
    field = simulated()
    full = ptr.pools.sample_pool(pool(), share=1.0, seed=1).judge(field.all_qrels)
    names = field.runs.names[:1]
    runs = field.runs.select(names)
    found = ptr.labels.prediction_powered(runs, full, noisy(), MEASURES, level="documents")
    qrels = full.to_frame().rename(columns={"qid": "query_id", "docno": "doc_id", "label": "relevance"})
    run = runs[names[0]].rename(columns={"qid": "query_id", "docno": "doc_id"})
    for measure in MEASURES:
        row = found.table[found.table["measure"] == repr(measure)].iloc[0]
        expected = measure.calc_aggregate(qrels, run)
        if measure in (NumRet(rel=2), NumRel):  # ir_measures adds counts up
            expected /= 60
        assert row["estimate"] == pytest.approx(expected, abs=1e-12), measure
        assert (row["se_sampling"], row["N"]) == (0, 0)
    by_judge = qrels.assign(relevance=noisy()(full.to_frame())["label"].astype(int).to_numpy())
    assert found.table["by_judge"][0] == pytest.approx((P @ 5).calc_aggregate(by_judge, run))


def test_documents_drawn_one_by_one():
    """The same sample with its probabilities and without its strata."""
    field, sample = simulated(), drawn().to_frame()
    share = sample.assign(s=sample["label"] >= 0).groupby("qid")["s"].transform("mean")
    labelled = sample.assign(inclusion=share)[sample["label"] >= 0].drop(columns="stratum")
    options = {"measures": "P@5", "level": "documents", "lam": 1.0}
    by_strata = ptr.labels.prediction_powered(field.runs, drawn(), noisy(), **options)
    found = ptr.labels.prediction_powered(field.runs, labelled, noisy(), pool=pool(), **options)
    assert found.table["estimate"].tolist() == pytest.approx(by_strata.table["estimate"].tolist())
    assert found.table["N"].tolist() == by_strata.table["N"].tolist()
    assert not np.allclose(found.table["se_sampling"], by_strata.table["se_sampling"])
    # without a pool it is what the judge knows
    known = ptr.labels.prediction_powered(field.runs, labelled, pool().judge(noisy()), **options)
    assert known.table["estimate"].tolist() == pytest.approx(found.table["estimate"].tolist())


def test_a_document_without_a_label_of_the_judge_is_corrected_like_any_error():
    field, sample = simulated(), drawn()
    labels = pool().judge(noisy()).to_frame()[["qid", "docno", "label"]]
    options = {"level": "documents", "lam": 1, "judge_rel": 1}
    with pytest.warns(ptr.ReuseWarning, match=r"gave 131 of 1,331 documents of the pool no label"):
        found = ptr.labels.prediction_powered(field.runs, sample, labels[:1200], "P@5", **options)
    zeros = labels.assign(label=[*labels["label"][:1200], *[0] * 131])
    expected = ptr.labels.prediction_powered(field.runs, sample, zeros, "P@5", **options)
    assert found.table["estimate"].tolist() == expected.table["estimate"].tolist()


def called(*, runs=None, human=None, judge=None, measures="P@5", **options):
    return ptr.labels.prediction_powered(
        simulated().runs if runs is None else runs,
        of_people() if human is None else human,
        noisy() if judge is None else judge,
        measures,
        **options,
    )


def sampled(**options):
    return called(human=drawn() if "human" not in options else options.pop("human"), level="documents", **options)


def test_measures_that_are_no_sums_are_refused_by_documents(messages):
    for measure in ("nDCG@10", "AP", "R@10", "RR", "P(judged_only=True)@5", "RBP", "NumRet", "SDCG@10"):
        messages.refused(lambda m=measure: sampled(measures=m, runs="nowhere"), argument="measures")


def test_samples_that_do_not_say_how_they_were_drawn(messages):
    frame = drawn().to_frame()
    messages.refused(lambda: sampled(human=of_people().sample(0.5, seed=1)), argument="human")
    messages.refused(lambda: sampled(human=frame[frame["label"] >= 0]), argument="human")
    messages.refused(lambda: sampled(human=frame.assign(stratum=[None, *frame["stratum"][1:]])), argument="human")
    apart = frame.assign(stratum=np.where(frame["label"] >= 0, "a", "b")).drop(columns="inclusion")
    messages.refused(lambda: sampled(human=apart), argument="human")
    nobody = frame.assign(label=frame["label"].mask(frame["qid"] == "2", -1))
    messages.refused(lambda: sampled(human=nobody), argument="human")
    messages.refused(lambda: called(runs={"x": simulated().runs["lex1a"]}, human=7), argument="human")
    own = frame[frame["label"] >= 0].drop(columns="stratum")
    messages.refused(lambda: sampled(human=own.assign(inclusion=0.0)), argument="human")
    messages.refused(lambda: sampled(human=own.assign(inclusion=[np.nan, *own["inclusion"][1:]])), argument="human")


def test_topics_that_do_not_suffice(messages):
    field, people = simulated(), of_people()
    every = field.all_qrels
    messages.refused(lambda: called(judge=people), argument="judge")
    messages.refused(lambda: called(judge=every.select(every.topics[:25])), argument="judge")
    messages.refused(lambda: called(human=people.select(people.topics[:1])), argument="human")
    messages.refused(lambda: called(human=people.select(people.topics[:2])), argument="human")
    with told_elsewhere():
        for options in ({"lam": 1}, {"variance": "plain"}):
            two = called(human=people.select(people.topics[:2]), **options)
            assert np.isfinite(two.table["estimate_low"]).all()
    messages.refused(lambda: called(judge=every.select(every.topics[24:])), argument="judge")
    strange = every.to_frame().assign(qid=lambda f: "x" + f["qid"])
    messages.refused(lambda: called(judge=pd.concat([people.to_frame(), strange])), argument="judge")
    unjudged = people.to_frame().assign(label=-1)
    messages.refused(lambda: called(human=unjudged), argument="human")


def test_runs_that_lack_topics(messages):
    field, people = simulated(), of_people()
    frames = {name: field.runs[name].drop(columns="name") for name in field.runs.names[:2]}
    first = frames[field.runs.names[0]]
    frames[field.runs.names[0]] = first[first["qid"].isin(people.topics)]
    messages.refused(lambda: called(runs=frames), argument="runs")
    zero = called(runs=frames, without_topics="zero").table
    assert zero["estimate"][0] < zero["human"][0]


def test_ranks_are_those_of_scipy_and_their_ends_those_of_the_pairs():
    found = by_topics()
    for row in found.summary.to_dict("records"):
        table, pairs, ranks = (
            of(frame, row["judge"], row["measure"]) for frame in (found.table, found.pairs, found.ranks)
        )
        for column, value in (("rank", "estimate"), ("human_rank", "human"), ("judge_rank", "by_judge")):
            expected = scipy.stats.rankdata(-table[value].round(12), method="min")
            assert ranks[column].tolist() == expected.astype(int).tolist()
        for side, difference in (("", "difference"), ("human_", "human")):
            told = pairs[pairs[f"{side}significant"]]
            first = told[difference] > 0
            worse, better = told["second"].where(first, told["first"]), told["first"].where(first, told["second"])
            for run in ranks.to_dict("records"):
                ends = 1 + (worse == run["name"]).sum(), len(ranks) - (better == run["name"]).sum()
                assert (run[f"{side}rank_low"], run[f"{side}rank_high"]) == ends


def test_the_variance_of_a_known_lambda():
    field, people = simulated(), of_people()
    found = ptr.labels.prediction_powered(field.runs, people, noisy(), "P@5", variance="plain")
    default = ptr.labels.prediction_powered(field.runs, people, noisy(), "P@5")
    for row, (y, f, more) in zip(found.table.to_dict("records"), scores(noisy(), "P@5").values(), strict=True):
        assert row["se"] == pytest.approx(literal(y, f, more, "plain")[2], abs=1e-12)
    assert found.table["estimate"].tolist() == default.table["estimate"].tolist()
    assert found.table["se"].mean() < default.table["se"].mean()
