"""family_effect: effects and matches against loops, and odd input."""

from __future__ import annotations

import ir_measures
import numpy as np
import pandas as pd
import pytest
from family_parts import noisy, simulated, with_families
from ir_measures import nDCG

import pt_reuse as ptr
from pt_reuse.arrays.bootstrap import drawn_counts
from pt_reuse.scoring.caveats import told_elsewhere
from pt_reuse.studies.family_effect import AGAINST, Contrast, FieldGains, matched


@pytest.fixture(scope="module")
def field():
    return simulated()


@pytest.fixture(scope="module")
def runs(field):
    return with_families(field, lambda run: {"lexical": "bm25", "neural": "gpt"}.get(run.type))


@pytest.fixture(scope="module")
def found(field, runs):
    judges = {"A": noisy(field, 1), "B": noisy(field, 2, favoured=["neu2a", "neu2b"], share=0.5)}
    return ptr.labels.family_effect(
        runs, field.all_qrels, judges, ["nDCG@10", "P@5"], families={"A": "gpt", "B": "llama"}, resamples=60, seed=3
    )


def contrast(n, k, pairs=()):
    return Contrast(np.arange(k), np.arange(k, n), np.array(pairs, dtype=np.int64).reshape(-1, 2))


def place(scores, run, among):
    return 1 + sum(scores[other] > scores[run] for other in among)


def slow(human, judge, who, against):
    """Return rank and score effect of one draw, by the words of the definition."""
    family, others, every = who.family.tolist(), who.others.tolist(), range(len(human))
    gain = {run: place(human, run, every) - place(judge, run, every) for run in every}
    if against == "matched":
        both = who.matches.tolist()
        ranks = np.mean([gain[a] - gain[b] for a, b in both])
        return ranks, np.mean([(judge[a] - human[a]) - (judge[b] - human[b]) for a, b in both])
    if against == "alone":
        gain = {run: place(human, run, others) - place(judge, run, others) for run in every}
    ranks = np.mean([gain[run] for run in family]) - np.mean([gain[run] for run in others])
    slope, intercept = np.polyfit(human[others], judge[others], 1)
    return ranks, np.mean([judge[run] - intercept - slope * human[run] for run in family])


@pytest.mark.parametrize(("against", "steps"), [(AGAINST[0], 4), (AGAINST[1], 1000), (AGAINST[2], 4)])
def test_effects_equal_those_of_loops(against, steps):
    random = np.random.default_rng(steps)
    human, judge = random.integers(0, steps, (2, 20, 9)) / steps
    human += np.arange(9) / 1e6 * (steps == 4)  # a line needs scores that differ
    judge = np.where(random.random((20, 9)) < 0.3, human, judge)
    who = contrast(9, 3, [(0, 5), (2, 5), (1, 8)])
    found = FieldGains(human, judge).over(who, against)
    expected = [slow(h, j, who, against) for h, j in zip(human, judge, strict=True)]
    assert found["rank_effect"] == pytest.approx([ranks for ranks, _ in expected], abs=1e-12)
    assert found["score_effect"] == pytest.approx([score for _, score in expected], abs=1e-7)


@pytest.mark.parametrize(("n", "human"), [(3, [0.1, 0.2, 0.5]), (5, [0.3, 0.2, 0.2, 0.2, 0.2])])
def test_without_a_line_there_is_no_effect_on_scores(n, human):
    found = FieldGains(np.array([human]), np.arange(n)[None] / n).over(contrast(n, 1), "others")
    assert np.isnan(found["score_effect"][0])
    assert not np.isnan(found["rank_effect"][0])


def test_matched_runs():
    scores = np.array([0.50, 0.80, 0.30, 0.52, 0.48, 0.10])
    spread = np.std(scores, ddof=1)
    mine, others = np.array([0, 1, 2]), np.array([3, 4, 5])
    assert matched(scores, mine, others, 0.1).tolist() == [[0, 3]]  # the first of two as near
    assert matched(scores, mine, others, 0.19 / spread).tolist() == [[0, 3], [2, 4]]
    assert matched(scores, mine, others, 0.28 / spread).tolist() == [[0, 3], [1, 3], [2, 4]]
    assert matched(scores, mine, others, 0.0).shape == (0, 2)
    assert matched(np.full(6, 0.5), mine, others, 0.0).tolist() == [[0, 3], [1, 3], [2, 3]]


def test_runs_without_families_are_refused(field, messages):
    messages.refused(lambda: ptr.labels.family_effect(field.runs, field.qrels, field.qrels, "AP"), argument="runs")
    alike = with_families(field, lambda run: "gpt")
    messages.refused(lambda: ptr.labels.family_effect(alike, field.qrels, field.qrels, "AP"), argument="runs")
    only = alike.select(["neu2a"])
    messages.refused(lambda: ptr.labels.family_effect(only, field.qrels, field.qrels, "AP"), argument="runs")


def test_of_equally_near_runs_the_first_by_name_is_matched():
    people = {"1": {"a": 1, "b": 1, "c": 0}}
    judge = {"1": {"a": 1, "b": 0, "c": 0}}
    first = {"mine": "c", "x": "a", "y": "b", "z": "c"}
    found = []
    for names in (list(first), ["y", "z", "x", "mine"]):
        frames = {n: pd.DataFrame({"qid": ["1"], "docno": [first[n]], "score": [1.0]}) for n in names}
        frames["mine"] = frames["mine"].assign(docno="a")
        table = pd.DataFrame({"name": names, "family": ["gpt" if n == "mine" else None for n in names]})
        runs = ptr.RunSet.from_frames(frames, metadata=table)
        with told_elsewhere():
            effect = ptr.labels.family_effect(runs, people, {"J": judge}, "P@1", resamples=0)
        assert effect.matches["match"].tolist() == ["x"], "y is as near, and x comes first by name"
        found.append(effect.table["rank_effect"].tolist())
    assert found[0] == found[1]


def test_scores_and_ranks_are_those_of_ir_measures(field, found):
    rows = found.by_run[(found.by_run["measure"] == "nDCG@10") & (found.by_run["judge"] == "A")].set_index("name")
    names = {"qid": "query_id", "docno": "doc_id", "label": "relevance"}
    for column, qrels in (("score", field.all_qrels), ("judge_score", noisy(field, 1))):
        judged = qrels.to_frame()[["qid", "docno", "label"]].rename(columns=names)
        for name in ("lex1a", "neu2b", "man6a"):
            run = field.runs[name].rename(columns=names)
            expected = ir_measures.calc_aggregate([nDCG @ 10], judged, run)[nDCG @ 10]
            assert rows.loc[name, column] == pytest.approx(expected, abs=1e-9)
    for score, rank in (("score", "rank"), ("judge_score", "judge_rank")):
        assert rows[rank].tolist() == [1 + (rows[score] > mine).sum() for mine in rows[score]]
    assert (rows["rise"] == rows["rank"] - rows["judge_rank"]).all()
    change = rows["judge_score"] - rows["score"]
    assert rows["change"].to_numpy() == pytest.approx((change - change.mean()).to_numpy())


def test_intervals_are_those_of_draws_that_judges_share(field, runs, found):
    scores = [ptr.score(runs, q, "nDCG@10").values[0] for q in (field.all_qrels, noisy(field, 2))]
    labels = noisy(field, 2, favoured=["neu2a", "neu2b"], share=0.5)
    scores[1] = ptr.score(runs, labels, "nDCG@10").values[0]
    counts = np.concatenate(list(drawn_counts(8, resamples=60, seed=3))) / 8
    mine = np.flatnonzero(runs.run_table["family"] == "gpt")
    who = Contrast(mine, np.setdiff1d(np.arange(12), mine), np.zeros((0, 2), dtype=int))
    drawn = FieldGains(counts @ scores[0], counts @ scores[1]).over(who, "others")
    cell = found.cells("nDCG@10").query("judge == 'B' and family == 'gpt'").iloc[0]
    low, high = np.percentile(drawn["rank_effect"], [2.5, 97.5])
    reach = max(cell["rank_effect"] - low, high - cell["rank_effect"])
    ends = cell["rank_effect_low"], cell["rank_effect_high"]
    assert ends == pytest.approx((cell["rank_effect"] - reach, cell["rank_effect"] + reach))
    # t with 7 degrees of freedom, from a printed table
    reach = 2.364624 * np.std(drawn["score_effect"], ddof=1) * np.sqrt(8 / 7)
    ends = cell["score_effect_low"], cell["score_effect_high"]
    assert ends == pytest.approx((cell["score_effect"] - reach, cell["score_effect"] + reach), rel=1e-5)
    alone = ptr.labels.family_effect(runs, field.all_qrels, {"B": labels}, "nDCG@10", resamples=60, seed=3)
    same = found.table.query("measure == 'nDCG@10' and judge == 'B'").reset_index(drop=True)
    left = ["judge_family", "own"]
    pd.testing.assert_frame_equal(alone.table.drop(columns=left), same.drop(columns=left))
