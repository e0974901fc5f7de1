"""The page of a leaderboard: its numbers are those of the study, names stay text, the command writes it."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest

import pt_reuse as ptr
from pt_reuse.cli.entry import main

EVIL = '</script><img src=x onerror="alert(1)">'


def board(n=6, tasks=8, seed=0):
    random = np.random.default_rng(seed)
    values = random.random((n, tasks)) * 0.1 + np.linspace(0.3, 0.8, n)[:, None]
    frame = pd.DataFrame(values, columns=[f"task{t}" for t in range(tasks)])
    frame.insert(0, "model", [f"m{i}" for i in range(n)])
    return frame


def test_the_page_shows_the_ranks_of_the_study():
    made = ptr.leaderboard(board(), name="A & B", convention=["mean", "borda"])
    found = ptr.rank_intervals(board(), convention=["mean", "borda"])
    pd.testing.assert_frame_equal(made.found.table, found.table)
    assert "A &amp; B" in made.html
    for row in found.table[found.table["measure"] == "score"].to_dict("records"):
        low, high = row["rank_low"], row["rank_high"]
        possible = str(low) if low == high else f"{low} to {high}"
        assert f"<span>{row['name']}</span> <small>rank {row['rank']}, possible {possible}</small>" in made.html
    assert made.verdict[0] == "m5 is the best of 6 systems, on other such tasks, too, at 95%."
    assert len(re.findall("<li value", made.html)) == 12


def test_names_stay_text(tmp_path):
    frame = board()
    frame.loc[0, "model"] = EVIL
    page = ptr.leaderboard(frame, name=EVIL).save(tmp_path / "page.html").read_text()
    assert EVIL not in page
    with pytest.raises(ptr.InputError, match="already"):
        ptr.leaderboard(frame).save(tmp_path / "page.html")


def test_the_command(tmp_path, capsys):
    board().to_csv(tmp_path / "models.csv", index=False)
    (tmp_path / "families.csv").write_text("task,family\ntask0,one\ntask1,one\n")
    words = ["leaderboard", str(tmp_path / "models.csv"), "--families", str(tmp_path / "families.csv")]
    assert main([*words, "--out", str(tmp_path / "page.html")]) == 0
    printed = capsys.readouterr().out
    assert "may be the best" in printed or "is the best of 6 systems" in printed
    assert "7 families of tasks drawn together" in (tmp_path / "page.html").read_text()
    for text in ("", "task;family\ntask0;\n", "name,family\nx,y\n", "task,family\ntask0,a\ntask0,b\n"):
        (tmp_path / "families.csv").write_text(text)
        assert main(words) == 2
        assert "families" in capsys.readouterr().err
    assert main(["leaderboard", str(tmp_path / "models.csv"), "--tasks", "task0, task1,task2,task3,task4"]) == 0
    assert main(["leaderboard", str(tmp_path / "none.csv")]) == 2
    assert "none.csv: no such file" in capsys.readouterr().err.replace("\n", " ")


def test_what_is_of_the_other_kind_of_leaderboard_is_refused(messages, tmp_path):
    board().to_csv(tmp_path / "models.csv", index=False)
    messages.refused(lambda: ptr.read_leaderboard(tmp_path / "models.csv", split="test"))
    place = tmp_path / "results" / "model" / "1"
    place.mkdir(parents=True)
    for option in ({"teams": {"model": "x"}}, {"transposed": True}, {"rows": "all"}):
        task = {"task_name": "NQ", "scores": {"test": [{"main_score": 0.5}]}}
        (place / "NQ.json").write_text(json.dumps(task))
        messages.refused(lambda option=option: ptr.read_leaderboard(tmp_path / "results", **option))
