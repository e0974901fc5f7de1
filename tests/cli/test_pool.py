"""`pt-reuse pool`, compared with a pool made by hand."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from command_parts import lines_of_table, run

import pt_reuse as ptr

DEPTH = 4


@pytest.fixture
def files(tmp_path, field):
    field.runs.write(tmp_path / "runs")
    frame = field.qrels.to_frame().iloc[::2]
    frame.loc[frame.index[::5], "label"] = -1
    ptr.Qrels(frame).write(tmp_path / "some.txt")
    field.runs.run_table.to_csv(tmp_path / "runs.csv", index=False)
    return tmp_path


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


def test_without_judgments_all_is_to_be_judged(files, by_hand, capsys):
    out = files / "out"
    _, printed, _ = run(capsys, *pool(files, "--by", "run", "--out", out))
    assert "judged" not in printed.replace("to_judge.txt", "")
    assert len((out / "to_judge.txt").read_text().splitlines()) == len(by_hand[0])
    units = pd.read_csv(out / "by_unit.csv")
    assert list(units.columns) == ["name", "runs", "documents", "unique"]
    assert set(units["runs"]) == {1}


def test_topics_without_any_judgment_are_told(files, field, by_hand, capsys):
    field.qrels.select(field.qrels.topics[:4]).write(files / "four.txt")
    _, out, _ = run(capsys, *pool(files, "--qrels", files / "four.txt"))
    n = sum(qid == field.qrels.topics[4] for qid, _ in by_hand[0])
    assert f"to be judged {n} (" in out
    assert f"{n} of them on 1 topic without any judgment." in out
