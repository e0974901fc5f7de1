"""Leaderboards of judges against that of people: numbers of scipy, of our functions and of AutoJudge's own tool."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from autojudge_parts import autojudge
from scipy import stats

import pt_reuse as ptr

FIELD = ptr.demo.simulate_field(seed=7, n_topics=8)
PEOPLE = ptr.score(FIELD.runs, FIELD.all_qrels, ["AP", "nDCG@10"])
JUDGE = ptr.score(FIELD.runs, FIELD.qrels, ["AP", "P@10"])
#: what `correlation` and `tauap_b` of autojudge-evaluate 1.1.0 give: scores of people, of a judge -> kendall, pearson,
#: spearman, tauap_b
STORED = {
    "no ties": (
        [0.4, 0.3, 0.2, 0.1, 0.05], [0.3, 0.4, 0.2, 0.05, 0.1],
        (0.6, 0.847560975609756, 0.8, 0.375),
    ),
    "ties of both": (
        [0.4, 0.4, 0.3, 0.2, 0.2, 0.1], [0.3, 0.4, 0.4, 0.1, 0.2, 0.1],
        (0.6923076923076923, 0.8386592170224152, 0.8181818181818182, 0.38749999999999996),
    ),
    "reversed": ([3, 2, 1], [1, 2, 3], (-1.0, -1.0, -1.0, -1.0)),
}  # fmt: skip


def board(values, names=None, measure="AP"):
    names = [f"r{i}" for i in range(len(values))] if names is None else names
    rows = [(name, "all", measure, float(value)) for name, value in zip(names, values, strict=True)]
    return ptr.Scores.from_frame(pd.DataFrame(rows, columns=["name", "qid", "measure", "value"]))


def compared(*args, **options):
    return ptr.labels.compare_leaderboards(*args, **{"resamples": 0, **options})


@pytest.mark.parametrize("case", STORED)
def test_correlations_of_autojudge_on_stored_examples(case):
    a, b, expected = STORED[case]
    row = compared(board(a), board(b)).table.iloc[0]
    assert tuple(row[["tau_b", "pearson", "spearman", "tau_ap_b"]]) == pytest.approx(expected, abs=1e-12)


@pytest.mark.filterwarnings("ignore::pt_reuse.ReuseWarning")
def test_ties_of_all_and_in_the_last_bit():
    # where autojudge-evaluate has -.5 for tauap_b, 1 for kendall, and refuses two runs
    a, tied, near = [0.4, 0.3, 0.2, 0.1], [0.5] * 4, [0.30000000000000004, 0.3, 0.2, 0.1]
    row = compared(board(a), board(tied)).table.iloc[0]
    assert row[["tau_b", "gamma", "tau_ap_b", "spearman", "pearson"]].isna().all()
    assert compared(board(near), board(a)).table["tau_b"].iloc[0] == pytest.approx(5 / math.sqrt(5 * 6))
    assert compared(board([1, 2]), board([1, 2])).table["tau_b"].tolist() == [1.0]


def test_ties_at_the_border_of_the_best():
    # the third and the fourth tie: both are among the best three
    a, b = [0.9, 0.8, 0.5, 0.5, 0.1], [0.9, 0.7, 0.95, 0.1, 0.0]
    row = compared(board(a), board(b), best=3).table.iloc[1]
    assert (row["part"], row["runs"]) == ("best 3", 4)
    assert row["tau_b"] == pytest.approx(stats.kendalltau(a[:4], b[:4]).statistic, abs=1e-12)


def of_tasks(values, tasks):
    """Return Scores of (tasks, runs) values, NaN where one is missing."""
    frame = pd.DataFrame(values, index=tasks, columns=[f"r{i}" for i in range(values.shape[1])])
    rows = frame.rename_axis("qid").reset_index().melt("qid", var_name="name").dropna().assign(measure="M")
    return ptr.Scores.from_frame(rows, missing="leave_out")


def jackknife(statistic, x, y, step):
    """Return the ends of a 95 % interval over runs on Fisher's scale, by a loop."""
    n = len(x)
    z = [np.arctanh(min(statistic(np.delete(x, i), np.delete(y, i)), 1 - step)) for i in range(n)]
    reach = stats.t.ppf(0.975, n - 1) * math.sqrt((n - 1) / n * sum((one - np.mean(z)) ** 2 for one in z))
    middle = np.arctanh(min(statistic(x, y), 1 - step))
    return [math.tanh(middle - reach), math.tanh(middle + reach)]


def test_runs_are_drawn_where_tasks_are_not_the_same():
    random = np.random.default_rng(0)
    values = random.normal(0, 1, (3, 14)) + 2 * random.normal(0, 1, 14)
    given = of_tasks(values, ["old", "new", "more"])
    found = ptr.labels.compare_leaderboards(given, {"repaired": ["new"], "all": ["old", "new", "more"]}, tasks=["old"])
    row = found.table[found.table["by"] == "all"].iloc[0]
    assert (row["drawn"], row["over"], row["topics"], row["runs"]) == ("runs", "own", 1, 14)
    step = 6 / (14 * (14**2 - 1))
    for name, statistic in (
        ("tau_b", ptr.rankings.tau_b),
        ("gamma", ptr.rankings.gamma),
        ("tau_ap_b", ptr.rankings.tau_ap_b),
        ("spearman", lambda x, y: stats.spearmanr(x, y)[0]),
        ("pearson", lambda x, y: stats.pearsonr(x, y)[0]),
    ):
        assert row[name] == pytest.approx(statistic(values[0], values[1]), abs=1e-12)
        ends = jackknife(statistic, values[0], values[1], 1e-12 if name == "pearson" else step)
        assert [row[f"{name}_low"], row[f"{name}_high"]] == pytest.approx(ends, abs=1e-9)
    assert np.isnan(row["max_drop_low"])
    whole = found.table[(found.table["judge"] == "all") & (found.table["by"] == "all")].iloc[0]
    assert whole["tau_b"] == pytest.approx(ptr.rankings.tau_b(values[0], values.mean(axis=0)), abs=1e-12)
    # the same task in two leaderboards, and no run of which the order changes
    same = ptr.labels.compare_leaderboards(given, {"same": ["old"]}, tasks=["old"]).table.iloc[0]
    assert (same["tau_b"], np.isnan(same["tau_b_low"])) == (1.0, True)
    none = compared(given, {"new": ["new"]}, tasks=["old"]).table
    assert set(none["drawn"]) == {""}
    assert "tau_b_low" not in none


@pytest.mark.filterwarnings("ignore::pt_reuse.ReuseWarning")
def test_a_run_without_a_score_on_what_counts_is_not_ranked():
    values = np.array([[0.9, 0.2, 0.3, 0.4], [np.nan, 0.1, 0.2, 0.3], [0.5, 0.3, 0.2, 0.4]])
    given = of_tasks(values, ["A", "B", "C"])
    found = compared(given, {"rest": ["B"]}, tasks=["A"])
    assert found.table.iloc[0][["runs", "tau_b"]].tolist() == [3, 1.0]
    assert found.missing.to_numpy().tolist() == [["rest", "r0", "judge"]]
    # of both leaderboards topic B is shared, which the first run lacks
    other = of_tasks(values[1:], ["B", "D"])
    assert sorted(compared(of_tasks(values[:2], ["A", "B"]), other).changes["name"]) == ["r1", "r2", "r3"]


@pytest.mark.filterwarnings("default::pt_reuse.ReuseWarning")
def test_means_over_other_topics_are_told(messages):
    values = np.array([[0.9, 0.2, 0.3, 0.4], [np.nan, 0.1, 0.2, 0.3], [0.5, 0.3, 0.2, 0.4]])
    given = of_tasks(values, ["A", "B", "C"])
    found = messages.warned(lambda: compared(given, {"some": ["A", "C"]}), times=1)
    assert "1 run" in found.settings["beware"]


def test_what_is_refused(messages, tmp_path):
    other = board([1, 2], ["x", "y"])
    for call, argument in (
        (lambda: compared(PEOPLE, {}), "leaderboards"),
        (lambda: compared(PEOPLE, {1: JUDGE}), "leaderboards"),
        (lambda: compared(PEOPLE, {"a": 3}), "leaderboards"),
        (lambda: compared(3, JUDGE), "human"),
        (lambda: compared(PEOPLE, Path(tmp_path / "nowhere")), "leaderboards"),
        (lambda: compared(PEOPLE, {"a": other}, missing="error"), "missing"),
        (lambda: compared(PEOPLE, {"a": other}, missing="leave_out"), "leaderboards"),
        (lambda: compared(board([1, 2]), {"a": board([1])}, missing="leave_out"), "leaderboards"),
        (lambda: compared(PEOPLE, JUDGE, measures="P@5"), "measures"),
        (lambda: compared(PEOPLE, JUDGE, judge_measures=[]), "judge_measures"),
        (lambda: compared(PEOPLE, {"a": ["nowhere"]}), "leaderboards"),
        (lambda: compared(PEOPLE, {"a": []}), "leaderboards"),
        (lambda: compared(PEOPLE, JUDGE, tasks=["nowhere"]), "tasks"),
        (lambda: compared(PEOPLE, {"a": JUDGE}, families={"b": "gpt"}), "families"),
        (lambda: compared(PEOPLE, {"a": JUDGE}, families="gpt"), "families"),
    ):
        messages.refused(call, argument=argument)
    strange = JUDGE.per_topic.assign(qid="x" + JUDGE.per_topic["qid"])
    messages.refused(lambda: compared(PEOPLE, {"a": ptr.Scores.from_frame(strange)}), argument="leaderboards")


def test_runs_of_another_revision_are_others():
    truth, other = board([0.4, 0.3, 0.2, 0.1]), board([0.1, 0.3, 0.2, 0.05])
    one, two = (replace(s, run_table=s.run_table.assign(revision=[*r])) for s, r in ((truth, "abcd"), (other, "xbcd")))
    with pytest.warns(ptr.ReuseWarning) as told:
        found = compared(one, two)
    assert "1 run of another revision than in the reference, left out: 'r0'" in str(told[0].message)
    assert found.table[["runs", "tau_b"]].iloc[0].tolist() == [3, 1]
    # one that does not say it is matched by name
    assert compared(one, other).table["runs"].iloc[0] == 4


def evaluated(theirs, folder, people, judge, methods, **options):
    """Return what their tool says of two leaderboards: (measure of people, of the judge) -> method -> number."""
    paths = [
        scores.write_leaderboard(folder / name, "tot", overwrite=True) for name, scores in (("p", people), ("j", judge))
    ]
    evaluator = theirs.evaluation.LeaderboardEvaluator(
        paths[0], truth_format="tot", eval_format="tot", correlation_methods=methods, **options
    )
    return evaluator.evaluate(paths[1])


@pytest.mark.filterwarnings("ignore::pt_reuse.ReuseWarning")
def test_topics_that_are_shared_or_own(tmp_path):
    half = ptr.Scores.from_frame(JUDGE.per_topic[JUDGE.per_topic["qid"].isin(JUDGE.topics[:5])])
    with autojudge() as theirs:
        own = evaluated(theirs, tmp_path, PEOPLE, half, ["kendall"])
        shared = evaluated(theirs, tmp_path, PEOPLE, half, ["kendall"], topic_ids=set(half.topics))
    for topics, expected in (("own", own), ("shared", shared)):
        found = compared(PEOPLE, half, topics=topics, resamples=20)
        for row in found.of_all().query("judge_measure == 'AP'").to_dict("records"):
            assert row["tau_b"] == pytest.approx(expected[row["measure"], row["judge_measure"]]["kendall"], abs=1e-12)
        assert set(found.table["drawn"]) == {"runs" if topics == "own" else "topics"}
        assert set(found.table["over"]) == {topics}
        assert set(found.table["topics"]) == {5 if topics == "shared" else 8}


def test_intervals_are_those_of_compared_scores():
    judge = ptr.score(FIELD.runs, FIELD.qrels, ["AP", "nDCG@10"])
    expected = PEOPLE.compare(judge, resamples=200, seed=3).table.set_index("measure")
    table = compared(PEOPLE, {"a": judge}, resamples=200, seed=3).of_all()
    for measure, row in table[table["measure"] == table["judge_measure"]].set_index("measure").iterrows():
        for number in ("tau_b", "gamma", "tau_ap_b", "max_drop", "max_rise"):
            for end in ("", "_low", "_high"):
                assert row[number + end] == expected.loc[measure, number + end]
    # correlations of scores: topics drawn one draw at a time
    draws = np.random.default_rng(3).integers(0, 8, (200, 8))
    at = [PEOPLE.measures.index("AP"), judge.measures.index("AP")]
    for number, of in (("pearson", stats.pearsonr), ("spearman", stats.spearmanr)):
        drawn = [
            of(*(s.values[m][rows].mean(axis=0) for s, m in zip((PEOPLE, judge), at, strict=True)))[0] for rows in draws
        ]
        row = table[(table["measure"] == "AP") & (table["judge_measure"] == "AP")].iloc[0]
        low, high = np.percentile(drawn, [2.5, 97.5])
        reach = max(row[number] - low, high - row[number])
        assert row[f"{number}_low"] == pytest.approx(max(-1, row[number] - reach), abs=1e-9)
        assert row[f"{number}_high"] == pytest.approx(min(1, row[number] + reach), abs=1e-9)
