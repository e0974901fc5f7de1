"""Few topics of people, many of a judge: against plain formulas of scores made one by one."""

from __future__ import annotations

import itertools

import few_label_parts as parts
import numpy as np
import pytest
import scipy.stats
from real_runs import read_real
from statsmodels.stats.multitest import multipletests

import pt_reuse as ptr
from pt_reuse.arrays.prediction_powered import PLAIN, TopicValues, powered_differences, powered_means
from pt_reuse.studies.few_labels import columns_of_means, pair_table, rank_bounds, rank_table


def of(frame, judge="one", measure="nDCG@10"):
    return frame[(frame["judge"] == judge) & (frame["measure"] == measure)].reset_index(drop=True)


def scores(judge, measure):
    """Return name -> scores by people, by the judge on the same topics, and by the judge on the others."""
    field, people = parts.field(), parts.people()
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
    found, expected = parts.by_topics(), scores(parts.judge(*judge), measure)
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
        assert row["excludes_0"] == (p[-1] < 0.05)
    for column, ps in (("", p), ("human_", human_p)):
        assert pairs[f"{column}p"].tolist() == pytest.approx(ps, abs=1e-9)
        corrected = multipletests(ps, method="bonferroni")[1]
        assert pairs[f"{column}p_corrected"].tolist() == pytest.approx(corrected, abs=1e-9)
        assert pairs[f"{column}significant"].tolist() == (corrected <= 0.05).tolist()
        assert 0 < pairs[f"{column}significant"].sum() < len(pairs)


def test_the_variance_of_a_known_lambda():
    field, people = parts.field(), parts.people()
    found = ptr.labels.prediction_powered(field.runs, people, parts.judge(), "P@5", variance="plain")
    default = ptr.labels.prediction_powered(field.runs, people, parts.judge(), "P@5")
    for row, (y, f, more) in zip(found.table.to_dict("records"), scores(parts.judge(), "P@5").values(), strict=True):
        assert row["se"] == pytest.approx(literal(y, f, more, "plain")[2], abs=1e-12)
    assert found.table["estimate"].tolist() == default.table["estimate"].tolist()
    assert found.table["se"].mean() < default.table["se"].mean()
    assert "root of var(Y - lambda F)/n + lambda^2 var(F)/N" in found.settings["intervals"]
    assert "by the jackknife over the n topics" in default.settings["intervals"]
    given = ptr.labels.prediction_powered(field.runs, people, parts.judge(), "P@5", lam=0.4)
    assert given.settings["intervals"] == found.settings["intervals"], "of a given lambda both are the same"


def test_a_given_lambda():
    field, people, judge = parts.field(), parts.people(), parts.judge()
    alone = ptr.labels.prediction_powered(field.runs, people, judge, "P@5", lam=0)
    assert alone.table["estimate"].tolist() == alone.table["human"].tolist()
    assert alone.table["estimate_low"].tolist() == pytest.approx(alone.table["human_low"].tolist())
    assert alone.pairs["p"].tolist() == pytest.approx(alone.pairs["human_p"].tolist())
    assert alone.table["n_eff"].tolist() == pytest.approx([24] * len(field.runs))
    assert alone.settings["lambda"] == "0, given"
    full = ptr.labels.prediction_powered(field.runs, people, judge, "P@5", lam=1)
    y, f, more = scores(judge, "P@5")[field.runs.names[0]]
    assert full.table["estimate"][0] == pytest.approx(more.mean() + (y - f).mean())
    assert full.table["se"][0] == pytest.approx(np.sqrt(np.var(more, ddof=1) / 36 + np.var(y - f, ddof=1) / 24))
    best = of(parts.by_topics().table, measure="P@5")
    assert best["se"].mean() < min(alone.table["se"].mean(), full.table["se"].mean())


def test_a_judge_is_asked_for_the_documents_of_a_pool():
    field, people = parts.field(), parts.people()
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
    texts = pool.to_frame()[["qid", "docno"]].assign(text="t")
    seen = ptr.labels.prediction_powered(
        field.runs, people, lambda frame: (frame["text"] == "t").astype(int) * model(frame), "nDCG@10", pool=texts
    )
    assert seen.table["estimate"].tolist() == found.table["estimate"].tolist()
    # labels beyond the pool do not count where there is one
    kept = ptr.labels.prediction_powered(
        field.runs, people, {"model": field.all_qrels.threshold(1)}, "nDCG@10", pool=pool
    )
    assert kept.table.equals(given.table)


@pytest.fixture(scope="module")
def dl21(data):
    """Return the runs, people's labels and UMBRELA's of the passages of DL 2021."""
    folder = data / "dl21-passages"
    runs = read_real(folder / "inputs", teams=folder / "runs-pids", order="trec_eval9")
    return runs, ptr.read_qrels(folder / "qrels.gz").with_rel(2), folder / "llm-labels" / "umbrela-gpt-4.gz"


def test_of_400_resampled_topics_20_with_labels_of_people(dl21):
    """Widths are .197 and, for a known lambda, .153 where this was simulated before; coverages .947 and .940."""
    runs, every, umbrela = dl21
    human, judge = (ptr.score(runs, qrels, "nDCG@10").values[0] for qrels in (every, umbrela))
    random, found, truth = np.random.default_rng(0), np.zeros((3, 2)), human.mean(axis=0)
    for _ in range(400):
        drawn = random.integers(0, 53, 400)
        values = TopicValues(human[drawn[:20]], judge[drawn[:20]], judge[drawn[20:]])
        plain, usual = powered_means(values, variance=PLAIN), powered_means(values)
        for i, (low, high) in enumerate((plain.human_interval(0.95), plain.interval(0.95), usual.interval(0.95))):
            found[i] += [(high - low).mean(), ((low <= truth) & (truth <= high)).mean()]
    width, coverage = (found / 400).T
    assert width == pytest.approx([0.198, 0.152, 0.167], abs=0.003)
    assert coverage == pytest.approx([0.947, 0.936, 0.947], abs=0.015)
    assert coverage[2] > 0.93


#: two of the systems are equally good
TRUTH = np.array([0.6, 0.5, 0.5, 0.35, 0.3, 0.1])


def test_a_rank_reaches_from_those_better_to_those_worse():
    # 0 beats 1 and 2, 1 beats 2: all told apart
    difference = np.array([0.3, 0.4, 0.1])
    low, high = rank_bounds(3, difference, np.array([True, True, True]))
    assert (low.tolist(), high.tolist()) == ([1, 2, 3], [1, 2, 3])
    low, high = rank_bounds(3, difference, np.array([False, True, False]))
    assert (low.tolist(), high.tolist()) == ([1, 1, 2], [2, 3, 3])
    low, high = rank_bounds(3, -difference, np.array([True, False, False]))
    assert (low.tolist(), high.tolist()) == ([2, 1, 1], [3, 2, 3])
    low, high = rank_bounds(1, np.zeros(0), np.zeros(0, dtype=bool))
    assert (low.tolist(), high.tolist()) == ([1], [1])


def test_the_intervals_of_all_ranks_hold_at_once():
    names = list("abcdef")
    best = 1 + (TRUTH[:, None] < TRUTH).sum(axis=1)
    worst = len(TRUTH) - (TRUTH[:, None] > TRUTH).sum(axis=1)
    held, narrower = [], []
    for seed in range(120):
        random = np.random.default_rng(seed)
        human = TRUTH + random.normal(0, 0.15, (120, 6))
        judge = 0.5 * human + random.normal(0, 0.04, human.shape)
        values = TopicValues(human[:20], judge[:20], judge[20:])
        pairs = pair_table(columns_of_means(powered_differences(values), 0.95), names, "bonferroni", 1 - 0.95)
        ranks = rank_table(columns_of_means(powered_means(values), 0.95), pairs, names)
        held.append(((ranks["rank_low"] <= best) & (worst <= ranks["rank_high"])).all())
        width, alone = (ranks[f"{of}rank_high"] - ranks[f"{of}rank_low"] for of in ("", "human_"))
        narrower.append(width.mean() - alone.mean())
    assert np.mean(held) >= 0.95
    assert np.mean(narrower) < -0.5, "the judge makes them narrower"


def test_the_summary_counts_what_the_tables_hold():
    found = parts.by_topics()
    for row in found.summary.to_dict("records"):
        table, pairs, ranks = (
            of(frame, row["judge"], row["measure"]) for frame in (found.table, found.pairs, found.ranks)
        )
        assert row["reach"] == pytest.approx(np.median(table["estimate_high"] - table["estimate"]))
        assert row["human_reach"] == pytest.approx(np.median(table["human_high"] - table["human"]))
        assert row["n_eff"] == pytest.approx(table["n_eff"].median())
        assert (row["significant"], row["pairs"]) == (pairs["significant"].sum(), 45)
        inside = (table["estimate_low"] <= table["by_judge"]) & (table["by_judge"] <= table["estimate_high"])
        assert row["outside"] == 10 - inside.sum()
        assert row["rank_width"] == pytest.approx((ranks["rank_high"] - ranks["rank_low"]).mean())
    figures = found.key_figures()
    assert figures["figure"][:2].tolist() == ["n_eff, one", "lambda, one"]
    assert figures["value"][0] == found.summary["n_eff"][0]
