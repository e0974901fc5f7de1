"""`pt-reuse unjudged`, compared with a count in plain Python."""

from __future__ import annotations

import json
from statistics import mean

import pandas as pd
import pytest
from command_parts import lines_of_table, run

import pt_reuse as ptr

CUTOFFS = (3, 10)


@pytest.fixture
def files(tmp_path, field):
    """Return a folder with runs, teams and judgments, some of these negative, some of a topic that no run has."""
    field.runs.write(tmp_path / "runs", compress=False)
    frame = field.qrels.to_frame()
    frame.loc[frame.index[::7], "label"] = -1
    frame.loc[frame.index[3::11], "label"] = -2
    frame.loc[len(frame)] = ["99", "d", 1]
    ptr.Qrels(frame).write(tmp_path / "qrels.txt")
    field.runs.run_table.to_csv(tmp_path / "runs.csv", index=False)
    return tmp_path


def counted(files):
    """Return name -> cutoff -> topic -> (documents, unjudged), as one counts by hand."""
    judged: dict[str, set[str]] = {}
    for line in (files / "qrels.txt").read_text().splitlines():
        qid, _, docno, label = line.split()
        judged.setdefault(qid, set()).update({docno} if int(label) >= 0 else ())
    found = {}
    for path in (files / "runs").iterdir():
        lists: dict[str, list[tuple[float, str]]] = {}
        for line in path.read_text().splitlines():
            qid, _, docno, _, score, tag = line.split()
            lists.setdefault(qid, []).append((float(score), docno))
        tops = {qid: [docno for _, docno in sorted(items, reverse=True)] for qid, items in lists.items()}
        found[tag] = {
            k: {
                qid: (len(tops.get(qid, [])[:k]), sum(d not in known for d in tops.get(qid, [])[:k]))
                for qid, known in judged.items()
            }
            for k in CUTOFFS
        }
    return found


def share(topics):
    return mean(unjudged / n if n else 1.0 for n, unjudged in topics.values())


def test_every_number_is_that_of_a_count_by_hand(files, capsys):
    out = files / "out"
    status, printed, err = run(
        capsys, "unjudged", files / "runs", "--qrels", files / "qrels.txt", "--metadata", files / "runs.csv",
        "--cutoff", "3,10", "--by", "team", "--out", out,
    )  # fmt: skip
    assert (status, err) == (0, "")
    expected = counted(files)
    table = pd.read_csv(out / "by_run.csv").set_index("name")
    assert set(table.index) == set(expected)
    for name, cutoffs in expected.items():
        for k, topics in cutoffs.items():
            assert table.loc[name, f"Unjudged@{k}"] == pytest.approx(share(topics), abs=1e-12)
            assert table.loc[name, f"documents@{k}"] == sum(n for n, _ in topics.values())
            assert table.loc[name, f"unjudged@{k}"] == sum(n for _, n in topics.values())
        assert table.loc[name, "topics"] == 5
    assert table["Unjudged@3"].is_monotonic_decreasing
    by_topic = pd.read_csv(out / "by_topic.csv", dtype={"qid": str}).set_index(["name", "qid", "cutoff"])
    assert len(by_topic) == len(expected) * 6 * 2
    for (name, qid, k), row in by_topic.iterrows():
        n, unjudged = expected[name][k][qid]
        assert (row["documents"], row["unjudged"]) == (n, unjudged)
        assert row["Unjudged"] == (unjudged / n if n else 1.0)
    teams = pd.read_csv(out / "by_team.csv").set_index("team")
    for team, rows in pd.read_csv(files / "runs.csv").groupby("team"):
        assert teams.loc[team, "Unjudged@10"] == pytest.approx(mean(share(expected[n][10]) for n in rows["name"]))
        assert teams.loc[team, "unjudged@10"] == sum(sum(u for _, u in expected[n][10].values()) for n in rows["name"])
    settings = json.loads((out / "settings.json").read_text())
    assert settings["cutoffs"] == [3, 10]
    assert "label below 0" in settings["convention"]
    # the screen shows the same
    worst = table.index[0]
    shown = next(line for line in lines_of_table(printed) if line[0] == worst)
    n, of = table.loc[worst, "unjudged@3"], table.loc[worst, "documents@3"]
    assert shown[3:7] == [f"{table.loc[worst, 'Unjudged@3']:.4f}", str(n), "of", str(of)]
