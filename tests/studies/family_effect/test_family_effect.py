"""family_effect: its tables against scores of ir_measures and loops, its intervals against known truth."""

from __future__ import annotations

import ir_measures
import numpy as np
import pandas as pd
import pytest
from family_parts import CONFUSION, noisy, simulated, with_families
from ir_measures import nDCG

import pt_reuse as ptr
from pt_reuse.arrays.bootstrap import drawn_counts
from pt_reuse.studies.family_effect import Contrast, FieldGains


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


def test_the_table_follows_from_the_runs(found):
    for (measure, judge), rows in found.by_run.groupby(["measure", "judge"]):
        table = found.table[(found.table["measure"] == measure) & (found.table["judge"] == judge)]
        for cell in table[table["against"] == "others"].itertuples():
            mine = rows["family"] == cell.family
            gained = rows["rise"][mine].mean(), rows["rise"][~mine].mean()
            assert (cell.rise, cell.others_rise) == pytest.approx(gained)
            assert cell.rank_effect == pytest.approx(gained[0] - gained[1])
            assert cell.change == pytest.approx(rows["change"][mine].mean())
            slope, level = np.polyfit(rows["score"][~mine], rows["judge_score"][~mine], 1)
            above = (rows["judge_score"] - level - slope * rows["score"])[mine].mean()
            assert cell.score_effect == pytest.approx(above)
        for cell in table[table["against"] == "alone"].itertuples():
            mine = (rows["family"] == cell.family).to_numpy()
            sides = [rows[column].to_numpy().round(12) for column in ("score", "judge_score")]
            above = [(side[~mine] > side[:, None]).sum(axis=1) for side in sides]
            gained = above[0] - above[1]
            assert (cell.rise, cell.others_rise) == pytest.approx((gained[mine].mean(), gained[~mine].mean()))
        by_name = rows.set_index("name")
        of = found.matches[(found.matches["measure"] == measure) & (found.matches["judge"] == judge)]
        for cell in table[table["against"] == "matched"].itertuples():
            pairs = of[(of["family"] == cell.family)]
            known = pairs[pairs["match"].notna()]
            assert (cell.runs, cell.unmatched) == (len(known), len(pairs) - len(known))
            assert cell.others == known["match"].nunique()
            gain = by_name.loc[known["name"], "rise"].mean() - by_name.loc[known["match"], "rise"].mean()
            assert cell.rank_effect == pytest.approx(gain, nan_ok=True)
            near = np.abs(known["score"] - known["match_score"])
            assert (near <= 0.2 * np.std(by_name["score"], ddof=1)).all()
            assert set(by_name.loc[known["match"], "family"]) & {cell.family} == set()


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


def test_a_judge_without_bias_shows_none_in_95_of_100_seeds():
    """The interval of every number covers 0, for a family of the best runs, too."""
    covered = []
    for seed in range(20):
        field = simulated(seed=seed, n_topics=20, n_docs=100, n_teams=4, length=12)
        runs = with_families(field, lambda run: {"team-1": "mixed", "team-2": "mixed", "team-3": "best"}.get(run.team))
        judges = {f"{n}": ptr.judging.Noisy(field.all_qrels, CONFUSION, 5 * seed + n) for n in range(5)}
        table = ptr.labels.family_effect(runs, field.all_qrels, judges, "nDCG@10", resamples=100).table
        for number in ("rank_effect", "score_effect"):
            low, high = table[f"{number}_low"], table[f"{number}_high"]
            inside = ((low <= 0) & (high >= 0)).where(low.notna())
            covered.append(table.assign(number=number, inside=inside.astype(float)))
    shares = pd.concat(covered).groupby(["number", "family", "against"])["inside"].mean()
    assert (shares >= 0.95).all()


def test_a_planted_bias_is_found():
    above = []
    for seed in range(5):
        field = simulated(seed=seed, n_topics=30, n_docs=200, n_teams=9, length=15)
        runs = with_families(field, lambda run: "gpt" if run.team in ("team-1", "team-2", "team-3") else None)
        mine = runs.run_table["name"][runs.run_table["family"] == "gpt"]
        labels = noisy(field, seed, favoured=set(mine), share=0.7)
        table = ptr.labels.family_effect(
            runs, field.all_qrels, {"J": labels}, "nDCG@10", families={"J": "gpt"}, resamples=200
        ).table
        above.append((table[["rank_effect_low", "score_effect_low"]] > 0).to_numpy())
    assert np.mean(above) >= 0.95


def test_topics_without_labels_count_for_neither(field, runs):
    labels = noisy(field, 1).select(["1", "2", "3", "5", "7", "8"])
    with pytest.warns(ptr.ReuseWarning, match="labelled nothing in 2 topics"):
        found = ptr.labels.family_effect(runs, field.all_qrels, {"A": noisy(field, 4), "B": labels}, "AP", resamples=30)
    alone = ptr.labels.family_effect(runs, field.all_qrels.select(labels.topics), labels, "AP", resamples=0)
    columns = [column for column in alone.table if column not in ("judge", "judge_family")]
    of_b = found.table[found.table["judge"] == "B"].reset_index(drop=True)
    pd.testing.assert_frame_equal(of_b[columns], alone.table[columns])
    assert found.judges[["topics", "topics_without"]].values.tolist() == [[8, 0], [6, 2]]
