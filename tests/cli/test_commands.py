"""The commands that know collections by name, and `--collection` of the others."""

from __future__ import annotations

import pandas as pd
import pytest
from command_parts import run

import pt_reuse as ptr

# ---- collections


def test_an_exact_name_is_described(capsys, user_home):
    status, out, err = run(capsys, "collections", "reuse:trec-8/adhoc")
    assert (status, err) == (0, "")
    lines = [line.strip() for line in out.splitlines()]
    assert lines[0] == "trec-8/adhoc: TREC-8 ad hoc (1999)"
    assert "topics     50, from irds:disks45/nocr/trec8" in lines
    assert "judged     86,830 (4,728 relevant), from irds:disks45/nocr/trec8" in lines
    assert "runs       129 runs of 41 teams: 116 automatic, 13 manual" in lines
    assert "pooled     71 of 129 runs, on record" in lines
    assert "here       0 of 129 runs" in lines
    assert f"looked at  {user_home}/trec-8/adhoc/runs (does not exist yet)" in lines
    assert "NIST asks for a user name and password" in out
    assert "'FBIS', 'FR94', 'FT', 'LA'" in out


# ---- --collection


def test_runs_of_a_collection_take_labels_of_ones_own(own, field, tmp_path, capsys):
    name = field.runs.names[0]
    (tmp_path / "types").write_text(f"{name} special\n")
    (tmp_path / "pooled").write_text(f"{name}\n")
    (tmp_path / "teams").write_text(f"{name} solo\n")
    labels = ("--types", tmp_path / "types", "--pooled", tmp_path / "pooled", "--teams", tmp_path / "teams")
    status, out, err = run(capsys, "runs", "--collection", own, *labels)
    assert (status, err) == (0, "")
    assert out.startswith("RunSet: 8 runs (1 pooled), 5 teams, 4 types")
    line = next(line for line in out.splitlines() if line.split()[0] == name)
    assert line.split()[1:4] == ["solo", "special", "True"]


# ---- infer-pool


def test_infer_pool_writes_the_judgments_of_the_topics_that_are_not_set_apart(tmp_path, capsys):
    field = ptr.demo.simulate_field(seed=3, n_topics=12, n_docs=3000, n_teams=12, length=100, depth=20)
    old, teams = field.runs.topics[:4], sorted(set(field.runs.run_table["team"]))
    mine, others = field.runs.select(team=teams[:6]), field.runs.select(team=teams[6:])
    new, before = (
        ptr.depth_pool(runs, depth=20, contributors=runs.names).to_qrels().to_frame() for runs in (mine, others)
    )
    judged = pd.concat([new[~new["qid"].isin(old)], before[before["qid"].isin(old)]])
    # not of relevant documents only, of which it would warn
    qrels = ptr.Qrels(judged.assign(label=[i % 2 for i in range(len(judged))]))
    mine.write(tmp_path / "runs")
    qrels.write(tmp_path / "qrels.txt")
    out_folder = tmp_path / "out"
    files = ("--runs", tmp_path / "runs", "--qrels", tmp_path / "qrels.txt")
    status, out, err = run(capsys, "infer-pool", *files, "--out", out_folder)
    assert (status, err) == (0, "")
    assert "4 topics of 12 set apart" in out
    left = f"--pooled {out_folder}/contributors.txt --qrels {out_folder}/judgments.txt"
    go_on = f"{tmp_path}/runs --qrels {out_folder}/judgments.txt --pooled {out_folder}/contributors.txt"
    assert f"\n  pt-reuse lou {go_on} --depth 20 --pool-order trec_eval\n" in out
    assert ptr.read_qrels(out_folder / "judgments.txt").topics == [q for q in qrels.topics if q not in old]
    # the advice as it stands, with the runs
    (tmp_path / "teams").write_text(mine.run_table[["name", "team"]].to_csv(index=False, header=False, sep=" "))
    given = ("--runs", tmp_path / "runs", "--teams", tmp_path / "teams", *left.split(), "--depth", 20)
    status, out, err = run(capsys, "lou", *given, "--pool-order", "trec_eval", "--measures", "AP")
    assert (status, err) == (0, "")


# ---- verify


def test_verify_tells_equal_from_unequal_by_its_status(at_home, field, tmp_path, capsys):
    means = ptr.score(field.runs, field.qrels, ["AP"]).mean.set_index("name")["AP"]
    first, second = field.runs.names[:2]
    figures = tmp_path / "figures.csv"

    def publish(value):
        figures.write_text(
            "collection,what,kind,arguments,name,value,source\n"
            f"mine/sim,MAP,scores,measure=AP,{first},{means[first]:.4f},nowhere\n,,,,{second},{value},\n"
        )

    publish(f"{means[second]:.4f}")
    status, out, _ = run(capsys, "verify", at_home, "--figures", figures)
    assert status == 0
    assert "2 of 2 figures equal" in out
    assert first not in out
    publish("0.9999")
    status, out, _ = run(capsys, "verify", at_home, "--figures", figures, "--out", tmp_path / "new" / "all.csv")
    assert status == 1
    assert "1 of 2 figures equal, 1 unequal" in out
    assert "0.9999" in out
    every = pd.read_csv(tmp_path / "new" / "all.csv")
    assert every["equal"].tolist() == [True, False]
    assert every["computed"].tolist() == pytest.approx(means[[first, second]].tolist(), abs=1e-9)
    status, _, err = run(capsys, "verify", at_home, "--figures", figures, "--out", tmp_path / "new" / "all.csv")
    assert status == 2
    assert "Pass --overwrite" in err


# ---- fetch


def test_fetch_says_what_came_and_what_failed(published, user_home, capsys):
    status, out, err = run(capsys, "fetch", "small", "--jobs", 2)
    lines = out.splitlines()
    assert (status, err) == (2, "")
    assert lines[:2] == [
        "small: 4 runs: 0 were here, 2 fetched, 2 failed.",
        f"New files go to {user_home}/small/runs",
    ]
    assert lines[2:] == [f"  2 runs ('gone', 'lost'): {published.url}: there is no such file (404)."]
    assert (user_home / "small" / "runs" / "input.a").read_text() == "1 Q0 d1 1 2.0 a\n"
    status, out, _ = run(capsys, "fetch", "small", "--only-pooled")
    assert status == 0
    assert "small: 1 run: 1 were here, 0 fetched, 0 failed." in out


@pytest.mark.filterwarnings("default")
def test_missing_runs_are_a_note_or_an_error(published, user_home, capsys, messages):
    messages.hidden[published.url] = "{url}"
    status, out, err = run(capsys, "runs", "--collection", "small", "--no-download")
    assert status == 2
    messages.told(err)
    status, out, err = run(capsys, "runs", "--collection", "small")
    assert status == 0
    assert out.startswith("RunSet: 2 runs (1 pooled), 2 teams")
    messages.told(err)
    assert run(capsys, "runs", "--collection", "small", "--missing", "ignore")[2] == ""
    status, out, err = run(capsys, "runs", "--collection", "small", "--missing", "error")
    assert (status, out) == (2, "")
    messages.told(err)
