"""`pt-reuse pool`, compared with a pool made by hand and, with --strategy, with the pools of the functions."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from command_parts import lines_of_table, run

import pt_reuse as ptr

DEPTH = 4


@pytest.fixture
def files(files, field):
    """Add every second judgment, some of them below 0."""
    frame = field.qrels.to_frame().iloc[::2]
    frame.loc[frame.index[::5], "label"] = -1
    ptr.Qrels(frame).write(files / "some.txt")
    return files


@pytest.fixture
def by_hand(files, field):
    """Return (qid, docno) -> teams that have it at the top, pooled runs only, and what is judged."""
    teams: dict[tuple[str, str], set[str]] = {}
    for name, team, is_pooled in field.runs.run_table[["name", "team", "pooled"]].itertuples(index=False):
        if is_pooled:
            top = field.runs[name]
            top = top[top["rank"] < DEPTH]
            for pair in zip(top["qid"], top["docno"], strict=True):
                teams.setdefault(pair, set()).add(team)
    judged = set()
    for line in (files / "some.txt").read_text().splitlines():
        qid, _, docno, label = line.split()
        if int(label) >= 0:
            judged.add((qid, docno))
    return teams, judged


def pool(files, *more):
    return ["pool", files / "runs", "--metadata", files / "runs.csv", "--depth", DEPTH, *more]


def test_pool_and_remainder_are_those_made_by_hand(files, by_hand, capsys):
    teams, judged = by_hand
    out = files / "out"
    status, printed, err = run(capsys, *pool(files, "--qrels", files / "some.txt", "--out", out))
    assert (status, err) == (0, "")
    written = pd.read_csv(out / "pool.csv", dtype={"qid": str})
    assert set(zip(written["qid"], written["docno"], strict=True)) == set(teams)
    rest = [line.split() for line in (out / "to_judge.txt").read_text().splitlines()]
    assert {(qid, docno) for qid, _, docno, _ in rest} == set(teams) - judged
    assert {label for *_, label in rest} == {"-1"}
    topics = pd.read_csv(out / "by_topic.csv", dtype={"qid": str}).set_index("qid")
    for qid in topics.index:
        assert topics.loc[qid, "documents"] == sum(q == qid for q, _ in teams)
        assert topics.loc[qid, "to_judge"] == sum(q == qid for q, _ in set(teams) - judged)
    units = pd.read_csv(out / "by_unit.csv").set_index("team")
    for team in units.index:
        mine = {pair for pair, of in teams.items() if team in of}
        alone = {pair for pair, of in teams.items() if of == {team}}
        numbers = [len(mine), len(alone), len(mine - judged), len(alone - judged)]
        assert units.loc[team].tolist() == [2, *numbers]
        line = next(line for line in lines_of_table(printed) if line[0] == team)
        assert line[2:] == [str(n) for n in numbers]
    sizes = topics["documents"]
    assert (
        f"The pool: {len(teams)} documents of 6 contributing runs on 5 topics, {sizes.min()} to {sizes.max()} per "
        f"topic, {sizes.mean():,.1f} on average. Judged are {len(set(teams) & judged)}, to be judged {len(rest)} ("
    ) in printed
    assert json.loads((out / "settings.json").read_text())["depth"] == DEPTH


# ---- --strategy


MADE = {
    "depth": ([], lambda runs: ptr.depth_pool(runs, depth=DEPTH)),
    "take": (["--n", 3], lambda runs: ptr.pools.take_pool(runs, n=3, depth=DEPTH)),
    "rrf": (["--n", 3], lambda runs: ptr.pools.fusion_pool(runs, n=3, depth=DEPTH)),
    "rbp": (
        ["--n", 9, "--per", "all"],
        lambda runs: ptr.pools.fusion_pool(runs, n=9, per="all", method="rbp", depth=DEPTH),
    ),
    "sample": (
        ["--strata", "rank", "--bands", "2,inf", "--share", "1,.5", "--seed", 4],
        lambda runs: ptr.pools.sample_pool(
            ptr.depth_pool(runs, depth=DEPTH), strata="rank", bands=[2, float("inf")], share=[1, 0.5], seed=4
        ),
    ),
}


@pytest.mark.parametrize("strategy", MADE)
def test_a_strategy_makes_the_pool_of_its_function(strategy, files, field, capsys):
    more, make = MADE[strategy]
    expected, out = make(field.runs), files / "out"
    arguments = [*more, "--strategy", strategy, "--qrels", files / "qrels.txt", "--out", out]
    status, printed, err = run(capsys, *pool(files, *arguments))
    assert (status, err) == (0, "")
    written = pd.read_csv(out / "pool.csv", dtype={"qid": str})
    frame = expected.to_frame()
    if strategy in ("depth", "sample"):  # which says nothing of an order
        written, frame = (table.sort_values(["qid", "docno"]) for table in (written, frame))
    assert written[["qid", "docno"]].to_numpy().tolist() == frame[["qid", "docno"]].to_numpy().tolist()
    assert written.columns.tolist() == frame.columns.tolist()
    for column in {"priority", "inclusion"} & set(frame.columns):
        assert written[column].tolist() == pytest.approx(frame[column].tolist())
    topics = pd.read_csv(out / "by_topic.csv", dtype={"qid": str})
    assert topics.to_numpy().tolist() == expected.counts(field.qrels).to_numpy().tolist()
    assert topics.columns.tolist() == ["qid", "documents", "judged", "to_judge"]
    kept = json.loads((out / "settings.json").read_text())
    assert {name: kept[name] for name in expected.settings} == json.loads(json.dumps(expected.settings))
    assert f"The pool: {len(expected)} documents of" in printed


@pytest.mark.parametrize("strategy", ["mtf", "hedge", "random"])
def test_a_strategy_that_asks_judgments_makes_the_pool_of_what_it_has_judged(strategy, files, field, capsys):
    frame = field.qrels.to_frame()
    frame.loc[frame.index % 4 == 0, "label"] = -1
    known = ptr.Qrels(frame[frame.index % 4 != 1], topics=field.qrels.topics)
    known.write(files / "known.txt")
    arguments = ["--strategy", strategy, "--n", 6, "--seed", 2, "--rel", 2, "--qrels", files / "known.txt"]
    status, _, err = run(capsys, *pool(files, *arguments, "--out", files / "out"))
    assert (status, err) == (0, "")
    # in the order of the files, as the command has them: it decides which of equal runs is tried first
    runs = ptr.read_runs(files / "runs", metadata=files / "runs.csv")
    oracle = ptr.judging.Oracle(known, unknown="skip")
    with pytest.warns(ptr.ReuseWarning, match="without a label"):
        judged = ptr.judging.judge_adaptively(runs, strategy, oracle, depth=DEPTH, rel=2, seed=2).to_frame()
    judged = judged.groupby("qid", sort=False).head(6)
    written = pd.read_csv(files / "out" / "pool.csv", dtype={"qid": str})
    columns = ["qid", "docno", "reason"]
    assert written[columns].to_numpy().tolist() == judged[columns].to_numpy().tolist()
    assert written["round"].tolist() == [n for _, part in judged.groupby("qid") for n in range(1, len(part) + 1)]
    assert (written["runs"] > 0).all()
    assert written["rank"].between(1, DEPTH).all()
    contributed = ptr.depth_pool(field.runs, depth=DEPTH).to_frame().set_index(["qid", "docno"])
    expected = contributed.loc[list(zip(written["qid"], written["docno"], strict=True))]
    assert written[["rank", "runs", "teams", "types"]].to_numpy().tolist() == (
        expected[["rank", "runs", "teams", "types"]].to_numpy().tolist()
    )
    settings = json.loads((files / "out" / "settings.json").read_text())
    assert (settings["strategy"], settings["n"], settings["seed"]) == (strategy, 6, 2)
    assert settings["relevant"] == "label of at least 2"
    assert not (files / "out" / "to_judge.txt").exists()
