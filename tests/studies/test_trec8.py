"""Golden numbers of TREC-8 ad hoc, by NIST (N) or computed twice by independent programs."""

from __future__ import annotations

import gzip

import numpy as np
import pandas as pd
import pytest
from ir_measures import AP, P, nDCG

from pt_reuse.arrays.correlation import gamma, tau_b
from pt_reuse.data.run_set import RunSet
from pt_reuse.pooling.depth import depth_pool
from pt_reuse.scoring.measures import Unjudged
from pt_reuse.scoring.scores import score
from pt_reuse.studies.leave_out_uniques import leave_out_uniques

MEASURES = [AP, P @ 10, nDCG @ 10]


@pytest.fixture(scope="module")
def pool(trec8):
    return depth_pool(trec8.runs, depth=100)


@pytest.fixture(scope="module")
def lou(trec8):
    return leave_out_uniques(trec8.runs, trec8.qrels, MEASURES)


@pytest.fixture(scope="module")
def lou_of_all(trec8):
    return leave_out_uniques(trec8.runs, trec8.qrels, MEASURES, contributors="all")


def of_measure(frame, measure):
    return frame[frame["measure"] == measure]


def percent(lou, measure, kind, statistic):
    rows = of_measure(lou.by_run, measure)
    return -getattr(rows.loc[rows["type"] == kind, "change_pct"], statistic)()


# pools


def test_the_pool_is_what_nist_judged(pool, trec8):
    """(N): the depth-100 pool of 71 runs; smallest topic 1,046 documents, largest 2,992."""
    assert len(pool.run_table) == 71
    assert len(pool) == 86_830
    assert len(pool.remainder(trec8.qrels)) == 0
    assert len(trec8.qrels - pool) == 0
    sizes = np.diff(pool.documents.starts)
    assert (len(sizes), sizes.min(), sizes.max()) == (50, 1_046, 2_992)
    assert (trec8.qrels.arrays.labels > 0).sum() == 4_728
    judged = pool.judge(trec8.qrels)
    assert len(judged) == 86_830
    assert len(judged - trec8.qrels) == 0


def test_contributing_teams_equal_the_annotated_qrels(trec8):
    """(N): teams that retrieved each judged document in the top 100 of any of the 129 runs."""
    with gzip.open(trec8.folder / "annotated-qrels.gz", "rt") as file:
        rows = [line.split() for line in file]
    teams = {team: n for n, team in enumerate(trec8.runs.teams)}
    place = {(row[0], row[2]): n for n, row in enumerate(rows)}
    assert len(place) == 86_830
    expected, found = np.zeros((2, len(rows) + 1, len(teams)), dtype=bool)
    for n, row in enumerate(rows):
        expected[n, [teams[team] for team in row[5:]]] = True
    pool = depth_pool(trec8.runs, depth=100, contributors="all")
    pairs = zip(pool.documents.qids(), pool.documents.docnos(), strict=True)
    at, team = np.array([place.get(pair, -1) for pair in pairs]), pool.run_table["team"].map(teams).to_numpy()
    found[at[pool.entries.document], team[pool.entries.run]] = True
    assert not (found != expected)[:-1].any()


def test_nists_depth_10_collection(trec8):
    """(N): 13,080 documents and tau .918489790184312; gamma leaves tied pairs out.

    NIST pools by score, ties as in the file, scores condensed lists (trec_eval -J) and compares MAP of four decimals.
    """
    runs = trec8.runs.reorder("file")
    field = runs.field
    order = np.concatenate(
        [
            start + np.argsort(-field.scores[start:stop], kind="stable")
            for start, stop in zip(field.starts[:-1], field.starts[1:], strict=True)
        ]
    )
    pool = depth_pool(RunSet(field.permute(order), runs.run_table, "file"), depth=10, contributors="all")
    assert len(pool) == 13_080
    rows = (line.split() for line in (trec8.folder / "official-scores.map").read_text().splitlines())
    official = pd.Series({row[0]: float(row[-1]) for row in rows if row})
    measure = AP(judged_only=True)
    found = score(trec8.runs, trec8.qrels.restrict(pool), measure).mean.set_index("name")[repr(measure)].round(4)
    assert found[["READWARE2", "orcl99man", "isa25"]].tolist() == [0.5961, 0.5854, 0.0037]  # (N)
    assert tau_b(official, found) == pytest.approx(0.918489790184312, abs=5e-16)
    assert gamma(official, found) == pytest.approx(0.918768186, abs=5e-10)


# uniques


def test_unique_relevant_documents(lou, lou_of_all):
    found = lou.unique_counts.set_index("team")["unique_relevant"]
    assert found.sum() == 1_134
    worst = {"miti": 478, "oracle": 114, "iit": 80, "ge": 53, "cir": 47, "claritech": 41}
    assert found.nlargest(6).to_dict() == worst
    assert lou.table["team"].head(6).tolist() == list(worst)
    found = lou_of_all.unique_counts.set_index("team")["unique_relevant"]
    assert found.sum() == 935
    assert found.nlargest(6).to_dict() == {"miti": 439, "oracle": 95, "iit": 65, "ge": 42, "cir": 38, "claritech": 38}


# leave-out-uniques


def test_whole_field(lou):
    expected = {
        ("AP", "miti"): (0.99055004, 4),
        ("AP", "iit"): (0.99806155, 2),
        ("AP", "oracle"): (0.99806155, 2),
        ("AP", "cir"): (0.99854616, 1),
        ("AP", "city-pliers"): (0.99854616, 1),
        ("AP", "cmu"): (0.99878847, 1),
        ("P@10", "miti"): (0.99902510, 3),
        ("P@10", "dartmouth"): (0.99939069, 3),
        ("P@10", "oracle"): (0.99951255, 2),
    }
    rows = lou.table.set_index(["measure", "team"]).loc[list(expected), ["tau_b", "max_drop"]].round(8)
    assert list(rows.itertuples(index=False, name=None)) == list(expected.values())


def test_own_team(lou):
    summary = lou.summary.set_index("measure")
    assert round(summary.loc["AP", "own_tau_b"], 8) == 0.99806155
    assert round(summary.loc["P@10", "own_tau_b"], 8) == 0.99817207
    assert round(summary.loc["P@10", "own_gamma"], 8) == 0.99853712
    # every run has its own team's score, against only this team's runs re-scored
    assert summary.loc[["AP", "P@10"], "own_max_drop"].tolist() == [2, 3]
    assert summary.loc[["AP", "P@10"], "alone_max_drop"].tolist() == [3, 3]


def test_own_team_losses(lou):
    assert round(percent(lou, "AP", "automatic", "mean"), 5) == 0.20309
    assert round(percent(lou, "AP", "manual", "mean"), 5) == 2.74683
    assert round(percent(lou, "AP", "automatic", "min"), 3) == 3.310
    assert round(percent(lou, "AP", "manual", "min"), 3) == 9.926
    assert round(percent(lou, "P@10", "automatic", "mean"), 5) == 0.25141
    assert round(percent(lou, "P@10", "manual", "mean"), 5) == 2.45196
    assert round(lou.summary["largest_loss_pct"][0], 3) == 9.926


def test_all_runs_as_contributors(lou_of_all):
    row = lou_of_all.summary.set_index("measure").loc["AP"]
    assert round(row["own_tau_b"], 4) == 0.9983
    assert row["own_max_drop"] == 2
    assert round(percent(lou_of_all, "AP", "automatic", "mean"), 3) == 0.136
    assert round(percent(lou_of_all, "AP", "manual", "mean"), 3) == 2.439
    assert lou_of_all.by_run["contributed"].all()


# other views of the same pool


def test_minus_manual_only_relevant_documents(pool, lou, trec8):
    only_manual = pool.uniques(by="type").query("type == 'manual'")
    relevant = trec8.qrels.restrict(only_manual).threshold(1).to_frame().query("label == 1")
    assert len(relevant) == 1_130
    table = lou.scores.compare(score(trec8.runs, trec8.qrels - relevant, MEASURES)).table.set_index("measure")
    # the paper's tau omits tied pairs, which P@10 has: gamma; tau_b is .9960
    assert table["gamma"].round(4).head(2).tolist() == [0.9806, 0.9961]
    assert table["tau_b"].round(4).head(2).tolist() == [0.9806, 0.9960]
    by_type = leave_out_uniques(trec8.runs, trec8.qrels, MEASURES, by="type")
    row = by_type.table.set_index(["measure", "type"]).loc[("AP", "manual")]
    assert row["removed"] == 1_130
    assert row["tau_b"] == table.loc["AP", "tau_b"]


def test_whole_field_worst_teams(lou):
    by_tau = of_measure(lou.table, "AP").sort_values(["tau_b", "team"])
    assert by_tau["team"].head(6).tolist() == ["miti", "iit", "oracle", "cir", "city-pliers", "cmu"]
    summary = lou.summary.set_index("measure")
    assert round(summary.loc["AP", "field_min_tau_b"], 8) == 0.99055004
    assert summary["field_max_drop"].tolist() == [4, 3, 4]
    assert summary["field_worst"].tolist() == ["miti"] * 3


def test_unjudged_documents(trec8, messages):
    of_cutoff = Unjudged(of_cutoff=True) @ 100
    measures = [Unjudged @ 10, of_cutoff, Unjudged @ 100]
    scores = messages.warned(lambda: score(trec8.runs, trec8.qrels, measures))
    assert scores.settings["beware"] == "2 runs whose scores depend on the order of equal scores"
    means = scores.mean_values
    pooled = trec8.runs.pooled
    assert (means[:, pooled] == 0).all()
    assert round(means[0, ~pooled].mean(), 4) == 0.0465
    assert round(means[0, ~pooled].max(), 3) == 0.882
    # some lists are shorter than 100: per 100 as trec_eval 10 divides, and per document returned
    assert means[1:, ~pooled].mean(axis=1).round(4).tolist() == [0.1003, 0.1004]
