"""Plans of a collection, against pools scored by ir_measures, coefficients and intervals by scipy, and the paper."""

from __future__ import annotations

from itertools import combinations

import ir_measures
import numpy as np
import pandas as pd
import pytest
from ir_measures import AP, P
from scipy import stats

import pt_reuse as ptr
from pt_reuse.studies.plan_collection import GIVEN

DEPTHS = [1, 3, 10]
OPTIONS = {"depths": DEPTHS, "max_density": 1.0, "min_relevant": 0, "draws": 5, "repeats": 3}
pytestmark = pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")


@pytest.fixture(scope="module")
def field():
    return ptr.demo.simulate_field(seed=7, n_topics=16, depth=10)


@pytest.fixture(scope="module")
def found(field):
    return ptr.pools.plan_collection(field.runs, field.qrels, [AP, P @ 5], topics=[4, 8, 16, 32], **OPTIONS)


def by_ir_measures(runs, qrels, measure, topics):
    """Return (topics, runs) scores."""
    frame = qrels.to_frame().rename(columns={"qid": "query_id", "docno": "doc_id", "label": "relevance"})
    columns = []
    for name in runs.names:
        run = runs[name].rename(columns={"qid": "query_id", "docno": "doc_id"})[["query_id", "doc_id", "score"]]
        of = {one.query_id: one.value for one in ir_measures.iter_calc([measure], frame, run)}
        columns.append([of.get(topic, 0.0) for topic in topics])
    return np.array(columns).T


def mean_width(scores, size):
    """Return the mean width of scipy's intervals of all pairs, stretched from the topics there are to so many."""
    n = len(scores)
    widths = []
    for i, j in combinations(range(scores.shape[1]), 2):
        ends = stats.ttest_rel(scores[:, i], scores[:, j]).confidence_interval(0.95)
        widths.append(0.0 if np.allclose(scores[:, i], scores[:, j]) else ends.high - ends.low)
    stretched = stats.t.ppf(0.975, size - 1) / size**0.5 / (stats.t.ppf(0.975, n - 1) / n**0.5)
    return np.mean(widths) * stretched


@pytest.mark.parametrize("measure", [AP, P @ 5])
def test_all_topics_by_pools_ir_measures_and_scipy(field, found, measure):
    topics = field.qrels.topics
    truth = by_ir_measures(field.runs, field.qrels, measure, topics).mean(axis=0)
    table = found.at_hand[found.at_hand["measure"] == repr(measure)].set_index("depth")
    for depth in DEPTHS:
        judged = field.qrels.restrict(ptr.depth_pool(field.runs, depth))
        scores = by_ir_measures(field.runs, judged, measure, topics)
        tau = stats.kendalltau(truth.round(12), scores.mean(axis=0).round(12)).statistic
        assert table.loc[depth, "judgments"] == len(judged)
        assert table.loc[depth, "tau_b"] == pytest.approx(tau)
        assert table.loc[depth, "width"] == pytest.approx(mean_width(scores, len(topics)))
        left = ptr.leave_out_uniques(field.runs, judged, measure, depth=depth)
        assert table.loc[depth, "max_drop"] == left.summary.iloc[0]["alone_max_drop"]


def test_the_plan_is_the_cheapest_that_is_enough(field):
    for wanted in ({"tau": 0.8}, {"width": 0.3}, {"tau": 0.7, "drop": 6, "width": 0.5}):
        made = ptr.pools.plan_collection(field.runs, field.qrels, AP, topics=[4, 8], **wanted, **OPTIONS)
        table, plan = made.table, made.plan.iloc[0]
        good = np.ones(len(table), dtype=bool)
        for name, column in (("tau", "tau_b"), ("drop", "max_drop"), ("width", "width")):
            value = wanted.get(name)
            if value is not None:
                good &= (table[column] >= value - 1e-9) if name == "tau" else (table[column] <= value + 1e-9)
        assert (table["enough"] == good).all()
        assert plan["cost"] == table.loc[good, "cost"].min()
        held = made.choices["held"]
        if wanted.get("tau"):
            assert (made.choices.loc[held, "tau_b_reached"] >= wanted["tau"] - 1e-9).all()
    none = ptr.pools.plan_collection(field.runs, field.qrels, AP, topics=[4, 8], width=0.0001, **OPTIONS)
    assert none.plan["topics"].isna().all()
    assert not none.choices["held"].any()


def test_judges_strategies_and_prices(field):
    oracle = ptr.judging.Oracle(field.qrels)
    noisy = ptr.judging.Noisy(field.qrels, ptr.judging.flips(0.3, range(3)), seed=1)
    options = {**OPTIONS, "topics": 8, "strategies": ["rank", "mtf"], "tau": 0.7}
    made = ptr.pools.plan_collection(
        field.runs, field.qrels, AP, judge={"right": oracle, "wrong": noisy}, prices={"wrong": 0.1}, **options
    )
    table = made.table.set_index(["judge", "strategy", "depth"]).sort_index()
    numbers = ["judgments", "tau_b", "max_drop", "width", "tau_b_reached"]
    assert np.allclose(table.loc["right", numbers], table.loc[GIVEN, numbers])
    assert (table.loc["wrong", "cost"] / table.loc["wrong", "judgments"]).tolist() == pytest.approx([0.1] * 6)
    assert table.loc[("wrong", "rank", 10), "tau_b"] < 1
    # every strategy has as many judgments as the pool, and all of them at the end
    assert (table.loc[(GIVEN, "mtf"), "judgments"] == table.loc[(GIVEN, "rank"), "judgments"]).all()
    assert (made.at_hand.query("judge == @GIVEN and depth == 10")["tau_b"] == 1).all()
    budget = {"strategies": "mtf", "budgets": [1.0], "depth": 10}
    whole = ptr.pools.compare_strategies(field.runs, field.qrels, measures=AP, **budget).table.iloc[0]
    assert made.at_hand.query("strategy == 'mtf' and depth == 10")["judgments"].iloc[0] == whole["judged"]


def test_what_is_refused_and_warned(field, messages):
    def call(**options):
        return ptr.pools.plan_collection(field.runs, field.qrels, AP, **{**OPTIONS, **options})

    assert call(topics=8).tau == 0.9
    assert call(topics=8, width=0.5).tau is None
    messages.refused(lambda: call(topics=[]), argument="topics")
    messages.refused(lambda: call(min_relevant=10_000), argument="qrels")
    messages.refused(lambda: call(prices={"nobody": 1}), argument="prices")
    messages.refused(lambda: call(judge={GIVEN: field.qrels}), argument="judge")
    one = field.runs.select(field.runs.names[:1])
    messages.refused(lambda: ptr.pools.plan_collection(one, field.qrels, AP, **OPTIONS), argument="runs")
    messages.warned(lambda: call(topics=[16], tau=0.1))


def test_the_yield_of_the_paper(data):
    path = data / "qrels" / "qrels.dl21-doc.txt.gz"
    if not path.is_file():
        pytest.skip("the test data has no judgments of the documents of Deep Learning 2021")
    qrels = ptr.read_qrels(path, rel=1)
    row = ptr.pools.topic_yield(qrels, 51).iloc[0]
    assert (row["tried"], row["judgments"], row["wasted"]) == (171, pytest.approx(39_174), pytest.approx(29_139))
    assert round(row["share"], 2) == 0.74
    # the same from a table of topics, and from those that density returns
    assert ptr.pools.topic_yield(qrels.counts(), 51).iloc[0].equals(row)
    assert ptr.pools.topic_yield(ptr.profile.density(qrels).table, 51).iloc[0].equals(row)
    assert round(ptr.pools.topic_yield(qrels, 51, rel=2)["judgments"].iloc[0]) == 15_135


def test_yields_of_tables(messages):
    seen = pd.DataFrame({"judged": [10, 10, 10, 0, 30], "relevant": [5, 4, 2, 0, 3]})
    found = ptr.pools.topic_yield(seen, [3, 1])
    # the second and the last are usable: of 60 judgments 40 are theirs
    assert found["topics"].tolist() == [1, 3]
    assert found["tried"].tolist() == [3, 8]
    assert found["judgments"].tolist() == [30, 90]
    assert found["wasted"].tolist() == [10, 30]
    assert found["share"].tolist() == pytest.approx([1 / 3, 1 / 3])
    none = ptr.pools.topic_yield(seen, 1, min_relevant=9).iloc[0]
    assert pd.isna(none["tried"])
    assert pd.isna(none["judgments"])
    messages.refused(lambda: ptr.pools.topic_yield(seen.assign(relevant=11), 1), argument="judged")
    messages.refused(lambda: ptr.pools.topic_yield(seen.assign(relevant=np.nan), 1), argument="judged")
    messages.refused(lambda: ptr.pools.topic_yield(seen, 0), argument="topics")
    with pytest.raises(ptr.InputError):
        ptr.pools.topic_yield(seen[["judged"]], 1)


def test_taus_by_a_bootstrap_of_scipy_over_one_half(field):
    options = {**OPTIONS, "depths": [1, 10], "repeats": 1, "draws": 200}
    made = ptr.pools.plan_collection(field.runs, field.qrels, AP, topics=[5, 20], **options)
    topics = field.qrels.topics
    truth = by_ir_measures(field.runs, field.qrels, AP, topics)
    shuffled = np.random.default_rng([0, 0]).permutation(len(topics))
    other = np.random.default_rng(5)
    for (depth, size), row in made.table.set_index(["depth", "topics"]).iterrows():
        scores = by_ir_measures(field.runs, field.qrels.restrict(ptr.depth_pool(field.runs, depth)), AP, topics)
        for half, name in ((shuffled[:8], "tau_b"), (shuffled[8:], "tau_b_reached")):
            mean = truth[half].mean(axis=0)
            draws = [scores[other.choice(half, size)].mean(axis=0) for _ in range(60)]
            taus = [stats.kendalltau(mean.round(12), drawn.round(12)).statistic for drawn in draws]
            assert row[name] == pytest.approx(np.mean(taus), abs=4 * np.std(taus) * (1 / 60 + 1 / 200) ** 0.5)
        # topics of the first half, ranked against those of the second
        beyond = truth[shuffled[8:]].mean(axis=0)
        draws = [scores[other.choice(shuffled[:8], size)].mean(axis=0) for _ in range(60)]
        taus = [stats.kendalltau(beyond.round(12), drawn.round(12)).statistic for drawn in draws]
        assert row["tau_b_disjoint"] == pytest.approx(np.mean(taus), abs=4 * np.std(taus) * (1 / 60 + 1 / 200) ** 0.5)
        assert row["width"] == pytest.approx(mean_width(scores[shuffled[:8]], size))
        assert row["width_reached"] == pytest.approx(mean_width(scores[shuffled[8:]], size))
