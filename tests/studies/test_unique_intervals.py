"""Intervals of leave-out-uniques, against draws of topics one by one from scores under judgments built anew."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

import pt_reuse as ptr
from pt_reuse.arrays.bootstrap import TopicBootstrap

RESAMPLES, SEED = 60, 4
MEASURES = ["AP", "P@10"]


@pytest.fixture(scope="module")
def field():
    return ptr.demo.simulate_field(seed=7, n_topics=12)


@pytest.fixture(scope="module")
def lou(field):
    given = {"depth": field.depth, "resamples": RESAMPLES, "seed": SEED, "confidence": 0.9}
    return ptr.leave_out_uniques(field.runs, field.qrels, MEASURES, **given)


def reduced_scores(field, lou, team, measure):
    """Return (topics, runs) scores under judgments without a team's uniques, built and scored anew."""
    pool = ptr.depth_pool(field.runs, depth=field.depth)
    uniques = pool.uniques(by="team")
    gone = uniques[uniques["team"] == team][["qid", "docno"]]
    kept = field.qrels.to_frame().merge(gone, how="left", indicator=True)
    kept = kept[(kept["_merge"] == "left_only") | (kept["label"] < 1)].drop(columns="_merge")
    return ptr.score(field.runs, kept, [measure]).of(measure).loc[field.qrels.topics, lou.scores.names].to_numpy()


def ends(estimate, drawn, within):
    low, high = np.percentile(drawn, [5, 95])
    reach = max(estimate - low, high - estimate)
    return max(within[0], estimate - reach), min(within[1], estimate + reach)


def drawn_of(full, other, made):
    """Return tau_b and the largest drop of each draw, one by one."""
    taus, drops = [], []
    for counts in made.counts(len(full)):
        x, y = (np.repeat(side, counts, axis=0).mean(axis=0).round(12) for side in (full, other))
        taus.append(scipy.stats.kendalltau(x, y).statistic)
        drops.append((scipy.stats.rankdata(-y, "min") - scipy.stats.rankdata(-x, "min")).max())
    return np.array(taus), np.array(drops)


def test_intervals_of_a_unit_are_made_of_judgments_without_its_uniques(field, lou):
    made = TopicBootstrap(RESAMPLES, SEED, 0.9)
    rows = lou.table[(lou.table["measure"] == "AP") & (lou.table["removed"] > 0)].head(3)
    assert len(rows) == 3
    full = lou.scores.of("AP").to_numpy()
    for row in rows.to_dict("records"):
        other = reduced_scores(field, lou, row["team"], "AP")
        taus, drops = drawn_of(full, other, made)
        expected = ends(row["tau_b"], taus, (-1, 1))
        assert (row["tau_b_low"], row["tau_b_high"]) == pytest.approx(expected, abs=1e-12)
        low, high = ends(row["max_drop"], drops, (0, len(lou.scores.names) - 1))
        assert (row["max_drop_low"], row["max_drop_high"]) == (np.floor(low), np.ceil(high))


def test_the_interval_of_the_drop_of_one_team_alone_is_of_each_draw_ranked_by_hand(lou):
    made, unit = TopicBootstrap(RESAMPLES, SEED, 0.9), lou.units.of_run
    for row in lou.summary.to_dict("records"):
        full, own = (scores.of(row["measure"]).to_numpy() for scores in (lou.scores, lou.own_scores))
        drops = []
        for counts in made.counts(len(full)):
            x, y = (np.repeat(side, counts, axis=0).mean(axis=0).round(12) for side in (full, own))
            seen = [np.where(unit == unit[r], y, x) for r in range(len(unit))]
            drops.append(max((after > y[r]).sum() - (x > x[r]).sum() for r, after in enumerate(seen)))
        low, high = ends(row["alone_max_drop"], drops, (0, len(unit) - 1))
        assert (row["alone_max_drop_low"], row["alone_max_drop_high"]) == (np.floor(low), np.ceil(high))
        assert row["alone_max_drop"] == lou.by_run[lou.by_run["measure"] == row["measure"]]["drop"].max()


def test_means_over_the_topics_of_a_run(field):
    frames = {name: field.runs[name] for name in field.runs}
    first = next(iter(frames))
    frames[first] = frames[first][frames[first]["qid"].isin(field.qrels.topics[:5])]
    table = field.runs.run_table.set_index("name")
    runs = ptr.RunSet.from_frames(frames, teams=table["team"].to_dict())
    found = ptr.leave_out_uniques(
        runs, field.qrels, "AP", depth=field.depth, complete=False, resamples=40, contributors="all"
    )
    row = found.by_run.set_index("name").loc[first]
    full, own = (scores.of("AP")[first].to_numpy()[:5] for scores in (found.scores, found.own_scores))
    counts = TopicBootstrap(40, 0, 0.95).counts(12)[:, :5]
    changes = [draw @ (own - full) / max(1, draw.sum()) for draw in counts]
    assert row["change_low"] == pytest.approx(min(np.percentile(changes, 2.5), row["change"]), abs=1e-12)


def test_few_topics_are_told(field, messages):
    few = field.qrels.select(field.qrels.topics[:3])
    given = {"runs": field.runs, "qrels": few, "measures": "AP", "depth": field.depth}
    found = messages.warned(ptr.leave_out_uniques, times=1, resamples=5, **given)
    assert found.settings["beware"] == "3 topics only"
    one = field.qrels.select(field.qrels.topics[:1])
    alone = messages.warned(ptr.leave_out_uniques, times=1, resamples=5, **given | {"qrels": one})
    assert alone.table[["tau_b_low", "max_drop_high"]].isna().all(axis=None)
    assert alone.by_run["change_low"].isna().all()
