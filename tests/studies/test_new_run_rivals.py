"""check_new_run(against=): every labelling by enumeration, the prediction against the truth, topics, few teams."""

from __future__ import annotations

import warnings

import completions
import ir_measures
import numpy as np
import pandas as pd
import pytest
from new_run_parts import FIELD, KNOWN, NEW, ONE, OTHERS, WHOLE
from real_runs import read_real
from scipy.stats import ttest_rel

import pt_reuse as ptr

MEASURES = [
    "nDCG@3",
    "AP",
    "AP@3",
    "P@2",
    "RR",
    "RBP(rel=1,p=0.7)",
    "RBP(rel=1,p=0.7)@3",
    "R@4",
    "Success@2",
    "nDCG",
    "nDCG(dcg='exp-log2')@4",
]
TOPICS = ("1", "2")


def tiny(rng):
    """Return the lists of a small field and of two new runs, a few documents of which nobody judged, and the labels."""
    lists, labels = {}, {}
    for qid in TOPICS:
        docs = [f"{qid}-{n}" for n in range(8)]
        judged = rng.permutation(docs)[: rng.integers(4, 7)]
        labels[qid] = {d: int(rng.integers(3)) for d in judged} | {f"{qid}-sure": 2}
        for run in "abxy":
            lists[run, qid] = [*rng.permutation(docs)[: rng.integers(2, 6)].tolist()]
            # of the same collection
            lists[run, qid][0:0] = [str(judged[0])] if str(judged[0]) not in lists[run, qid] else []
        if rng.random() < 0.3:
            lists["y", qid] = rng.permutation(lists["x", qid]).tolist()
    return lists, labels


def compared(lists, labels, against):
    """Return what is said of the new runs x and y against others."""
    frames = {
        run: pd.DataFrame(
            [(q, d, -at) for q in TOPICS for at, d in enumerate(lists[run, q])], columns=["qid", "docno", "score"]
        )
        for run in "abxy"
    }
    field = ptr.RunSet.from_frames({run: frames[run] for run in "ab"}, teams={"a": "a", "b": "b"}, pooled=True)
    known = ptr.Qrels(
        pd.DataFrame([(q, d, n) for q in TOPICS for d, n in labels[q].items()], columns=["qid", "docno", "label"])
    )
    return ptr.check_new_run({run: frames[run] for run in "xy"}, field, known, MEASURES, against=against, depth=4)


def enumerated(measure, lists, labels, pair):
    """Return the lowest and the highest difference over all labellings of what the measure sees in either run."""
    measure, ends = ir_measures.parse_measure(measure), []
    for qid in TOPICS:
        ranked = [lists[run, qid] for run in pair]
        free = {d for docnos in ranked for d in completions.seen(measure, docnos)} - labels[qid].keys()
        most = completions.pair_ends(measure, ranked, labels[qid], 2)
        # what may stand below a list is no document of it
        below = [completions.rest(measure, docnos, 2) for docnos in ranked]
        ends.append((below[1] - most[1, 0], most[0, 1] - below[0], len(free)))
    return np.mean([low for low, *_ in ends]), np.mean([high for _, high, _ in ends]), sum(n for *_, n in ends)


def check_every_labelling(seed):
    """Compare every measure and pair of one small field, and return how many there are."""
    lists, labels = tiny(np.random.default_rng(seed))
    table = compared(lists, labels, ["a", "b", "x"]).against
    assert len(table) == len(MEASURES) * 5
    for row in table.itertuples():
        low, high, n = enumerated(row.measure, lists, labels, (row.name, row.rival))
        assert (row.difference_low, row.difference_high) == pytest.approx((low, high), abs=1e-9), row
        assert row.exact
        assert row.unjudged == n
        # both doubts together are no smaller than that from topics alone
        assert row.both_low <= min(row.topics_low, row.difference_low)
        assert row.both_high >= max(row.topics_high, row.difference_high)
        winner = row.name if low > 1e-12 else row.rival if high < -1e-12 else "neither" if low == high else ""
        if abs(low) > 1e-9 < abs(high) or low == high:
            assert row.winner == winner
            assert (row.decided_by == "every labelling") == bool(winner)
    return len(table)


@pytest.mark.filterwarnings("ignore")
def test_every_labelling_by_enumeration():
    assert sum(check_every_labelling(seed) for seed in range(2)) >= 100


def test_decisions_on_a_team_left_out_are_right():
    measures = ["P@10", "nDCG@10"]
    tables = []
    for name in NEW.names:
        # documents of other new runs are none of the two
        one = NEW.select(names=[name])
        tables.append(ptr.check_new_run(one, OTHERS, KNOWN, measures, against=OTHERS.names, depth=10).against)
        whole = FIELD.all_qrels.restrict(ptr.depth_pool(OTHERS | one, depth=10))
        true = ptr.score(OTHERS | one, whole, measures).mean.set_index("name")
        apart = [true.loc[name, row.measure] - true.loc[row.rival, row.measure] for row in tables[-1].itertuples()]
        tables[-1]["true"] = apart
    table = pd.concat(tables)
    assert (
        (table["difference_low"] - 1e-9 <= table["true"]) & (table["true"] <= table["difference_high"] + 1e-9)
    ).all()
    sure, at_90 = (table[table["decided_by"] == by] for by in ("every labelling", "at 90%"))
    assert len(sure) > 20
    assert len(at_90) > 20
    assert (np.sign(sure["true"]) == np.where(sure["winner"] == sure["name"], 1, -1)).all()
    assert (np.sign(at_90["true"]) == np.where(at_90["winner"] == at_90["name"], 1, -1)).mean() >= 0.95
    known = table[table["predicted"].notna()]
    assert known["true"].between(known["predicted_low"] - 1e-9, known["predicted_high"] + 1e-9).mean() >= 0.85
    assert (known["both_low"] <= known["predicted_low"]).all()
    assert (known["both_high"] >= known["predicted_high"]).all()


def test_topics_are_tested_on_what_is_predicted_or_as_judged():
    rival = OTHERS.names[3]
    few = OTHERS.select(team=OTHERS.teams[:6])
    for runs in (OTHERS, few):
        found = ptr.check_new_run(NEW, runs, WHOLE, "P@10", against=rival, depth=10)
        scores = ptr.score(NEW | runs, WHOLE, "P@10")
        by_topic = dict(zip(scores.names, scores.values[0].T, strict=True))
        for row in found.against.itertuples():
            # every document of the new runs is judged, so that nothing is predicted that is not known
            mine, theirs = by_topic[row.name], by_topic[rival]
            assert row.difference == pytest.approx((mine - theirs).mean())
            assert row.difference_low == pytest.approx(row.difference_high)
            assert row.p == pytest.approx(ttest_rel(mine, theirs).pvalue)
            assert row.significant == (row.p <= 0.05)
            half = (row.topics_high - row.topics_low) / 2
            assert half == pytest.approx(1.7958848187 * (mine - theirs).std(ddof=1) / np.sqrt(12))


@pytest.mark.parametrize("n_runs", [1, 6])
@pytest.mark.filterwarnings("ignore:.*pool", "ignore:.*other way round")
def test_without_enough_teams_bounds_alone_decide(n_runs):
    few = OTHERS.select(names=OTHERS.names[:n_runs])
    found = ptr.check_new_run(NEW, few, KNOWN, ["P@10", "AP"], against=few.names[0], depth=10)
    assert found.against["predicted"].isna().all()
    assert set(found.against["decided_by"]) <= {"every labelling", "not decided"}
    assert found.table["abstains"].all()
    assert found.table["why"].str.contains("needs 9 left-out teams").all()
    whole = ptr.check_new_run(NEW, OTHERS, KNOWN, ["P@10", "AP"], against=few.names[0], depth=10).against
    ends = ["difference", "difference_low", "difference_high", "unjudged"]
    pd.testing.assert_frame_equal(found.against[ends], whole[ends])


def test_rivals_are_neighbours_in_rank_unless_they_are_named():
    found = ptr.check_new_run(NEW, OTHERS, KNOWN, "nDCG@10", depth=10)
    means = ptr.score(OTHERS, KNOWN, "nDCG@10").mean.set_index("name")["nDCG@10"]
    for row in found.table.itertuples():
        score = row.score if row.abstains else row.predicted
        near = [means[means >= score].idxmin(), means[means < score].idxmax()]
        assert found.against.query("name == @row.name")["rival"].tolist() == near
    both = ptr.check_new_run(NEW, OTHERS, KNOWN, "nDCG@10", against=NEW.names, depth=10).against
    assert both[["name", "rival"]].values.tolist() == [NEW.names, NEW.names[::-1]]
    first, second = (row for _, row in both.iterrows())
    assert first["difference_low"] == pytest.approx(-second["difference_high"])
    assert {first["winner"], second["winner"]} in ({""}, {NEW.names[0]}, {NEW.names[1]})


def test_a_sample_narrows_the_difference():
    rival = OTHERS.names[3]
    plan = ptr.judge_next(OTHERS, KNOWN, "P@10", new=ONE, depth=10, goal="score", n=10_000)
    sampled = plan.pool.judge(FIELD.all_qrels)
    scores = ptr.score(ONE | OTHERS, KNOWN | sampled.to_frame()[["qid", "docno", "label"]], "P@10")
    by_topic = dict(zip(scores.names, scores.values[0].T, strict=True))
    mine, theirs = by_topic[ONE.names[0]], by_topic[rival]
    # too few teams to predict anything without the sample, or enough
    for runs in (OTHERS, OTHERS.select(team=OTHERS.teams[:6])):
        found = ptr.check_new_run(ONE, runs, KNOWN, "P@10", against=rival, depth=10, sampled=sampled)
        row = found.against.iloc[0]
        known = [row["predicted"], row["predicted_low"], row["predicted_high"]]
        assert known == pytest.approx([(mine - theirs).mean()] * 3)
        assert row["p"] == pytest.approx(ttest_rel(mine, theirs).pvalue)
        topics = found.topics.set_index("qid")["predicted"]
        assert topics[scores.topics].to_numpy() == pytest.approx(mine)


def test_answers_of_one_pair_of_several_and_of_none():
    for against, said in (
        (OTHERS.names[3], "significant over topics"),
        (NEW.names[1], "no prediction"),
        (OTHERS.names[:4], "against 4 rivals"),
        (None, "of 2 new runs predicted"),
    ):
        found = ptr.check_new_run(NEW, OTHERS, KNOWN, "P@10", against=against, depth=10)
        (answer,) = found.answers()
        assert said in answer
        assert max(map(len, str(found).splitlines())) <= 80


def test_columns_of_an_experiment_against_its_baseline():
    rival = OTHERS.select(names=OTHERS.names[:1])
    field = OTHERS.select(names=OTHERS.names[1:])
    topics = pd.DataFrame({"qid": FIELD.qrels.topics, "query": "x"})
    options = {"baseline": rival.names[0], "reuse": ["against"], "depth": 10}
    for runs in (field, None):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ptr.ReuseWarning)
            result = ptr.Experiment(NEW | rival, topics, KNOWN, ["P@10"], field=runs, pooled=False, **options)
            new, others = (NEW | rival, runs) if runs is not None else (NEW, rival)
            table = ptr.check_new_run(new, others, KNOWN, "P@10", against=rival.names[0], depth=10).against
        shown, table = result.set_index("name"), table.set_index("name")
        for name in NEW.names:
            for end, column in (("", "difference"), (" low", "difference_low"), (" high", "difference_high")):
                assert shown.loc[name, f"P@10 against {rival.names[0]}{end}"] == pytest.approx(table.loc[name, column])
            assert shown.loc[name, "P@10 decided by"] == table.loc[name, "decided_by"]
        assert np.isnan(shown.loc[rival.names[0], f"P@10 against {rival.names[0]}"])
    with pytest.raises(ptr.InputError, match="baseline"):
        ptr.Experiment(NEW, topics, KNOWN, ["P@10"], reuse=["against"])


@pytest.fixture(scope="module")
def dl19(data):
    """Return the runs of Deep Learning 2019 and the judgments, relevant from 2."""
    folder = data / "dl19-passages"
    if not folder.is_dir():
        pytest.skip("the test data has no folder dl19-passages")
    return read_real(folder / "inputs", teams=folder / "runs-pids"), ptr.read_qrels(folder / "qrels.gz", rel=2)


@pytest.mark.filterwarnings("ignore::pt_reuse.ReuseWarning")
def test_later_runs_beat_the_baseline_and_their_true_scores_lie_inside(data, dl19):
    if not (data / "dl19-passages" / "later").is_dir():
        pytest.skip("the test data has no folder dl19-passages/later")
    runs, qrels = dl19
    later = ptr.read_runs(data / "dl19-passages" / "later", names="file", pooled=False)
    later = later.select(names=later.names[:8])
    tops = ptr.depth_pool(later, depth=10, contributors="all")
    known = qrels - tops.remainder(qrels.restrict(ptr.depth_pool(runs, depth=10, order="file"))).to_qrels()
    measures = ["nDCG@10", "AP(rel=2)"]
    options = {"against": "bm25base_p", "depth": 10, "pool_order": "file"}
    found = ptr.check_new_run(later, runs, known, measures, **options)
    # as the judgments of the tops of all new runs say, and no others
    true = ptr.score(later | runs, known | tops.judge(qrels), measures).mean.set_index("name")
    for row in found.table.itertuples():
        assert row.score_low - 1e-12 <= true.loc[row.name, row.measure] <= row.score_high + 1e-12
    table, true = found.against[found.against["measure"] == "nDCG@10"], true["nDCG@10"]
    assert (table["winner"] == table["name"]).all()
    assert (table["decided_by"] == "every labelling").sum() >= 6
    assert (true[table["name"]] > true["bm25base_p"]).all()
    assert table["significant"].all()


def test_what_is_judged_keeps_its_rank_at_any_depth(dl19):
    runs, qrels = dl19
    field = runs.select([name for name in runs.names if name != "p_bert"])
    # pooled to depth 10: at depth 100 unjudged documents that the measure does not see would take from others alone
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        checked = ptr.check_new_run(runs.select("p_bert"), field, qrels, "nDCG@10", depth=100)
    row = checked.table.iloc[0]
    assert row["estimator"] == "zero"
    assert row["unjudged"] == 0
    assert row["rank"] == row["predicted_rank"] == row["predicted_rank_low"] == 5
