"""`pt-reuse compare`, compared with the library and with scipy."""

from __future__ import annotations

import re

import pandas as pd
import pytest
from command_parts import lines_of_table, run
from scipy.stats import kendalltau

import pt_reuse as ptr
from pt_reuse.collections.provider import DemoDataset


@pytest.fixture
def files(tmp_path, field):
    """Return a folder with runs and two sets of judgments: those of the pool, and of every document retrieved."""
    field.runs.write(tmp_path / "runs")
    field.all_qrels.write(tmp_path / "all.txt")
    field.qrels.write(tmp_path / "pool.txt")
    field.runs.run_table.to_csv(tmp_path / "runs.csv", index=False)
    return tmp_path


@pytest.fixture
def given(files):
    runs = [files / "runs", "--metadata", files / "runs.csv"]
    return ["compare", *runs, "--qrels", files / "all.txt", "--other", files / "pool.txt"]


def test_agreement_and_moves_are_those_of_the_library_and_of_scipy(given, files, field, capsys):
    out = files / "out"
    status, printed, err = run(
        capsys, *given, "--judgment-names", "complete,pool", "--out", out, "--all", "--measures", "AP"
    )
    assert (status, err) == (0, "")
    runs = ptr.read_runs(files / "runs", metadata=files / "runs.csv")
    truth, pool = (ptr.score(runs, qrels, "AP") for qrels in (field.all_qrels, field.qrels))
    expected = ptr.compare_judgments(runs, field.all_qrels, field.qrels, "AP", names=("complete", "pool"))
    saved = ptr.read_result(out)
    pd.testing.assert_frame_equal(saved.table, expected.table)
    pd.testing.assert_frame_equal(saved.changes, expected.changes)
    for name, table in expected.tables().items():
        pd.testing.assert_frame_equal(saved.tables()[name], table)
    assert saved.names == ("complete", "pool")
    lines = lines_of_table(printed)
    for row in expected.table.to_dict("records"):
        measure = row["measure"]
        tau = kendalltau(truth.mean[measure], pool.mean[measure]).statistic
        line = next(line for line in lines if line[0] == measure)
        assert line[1] == f"{tau:.4f}"
        assert line[-2:] == [str(row["max_drop"]), str(row["max_rise"])]
    # the runs that move most come first
    changes = expected.changes[expected.changes["measure"] == "AP"].set_index("name")
    shown = [line for line in lines if line[0] in changes.index and len(line) == 8]
    assert len(shown) == len(changes)
    for line in shown:
        row = changes.loc[line[0]]
        scores = [f"{row[column]:.4f}" for column in ("score", "other_score")]
        assert line[3:] == scores + [str(row[column]) for column in ("rank", "other_rank", "drop")]
    moves = [abs(int(line[-1])) for line in shown]
    assert moves == sorted(moves, reverse=True)
    fallen = changes.sort_values("drop").iloc[-1]
    assert f"falls furthest, by {fallen['drop']} rank" in printed
    pictures = sorted(path.name for path in out.glob("*.png"))
    assert pictures == ["relevant.png", "remainder.png", "runs.png", "scores-AP.png", "topics-AP.png"]
    assert (out / "scores-AP.png").read_bytes().startswith(b"\x89PNG")


def test_names_are_by_default_those_of_the_files(given, capsys):
    _, out, _ = run(capsys, *given)
    assert "Agreement of the rankings by all.txt (taken as right) and by pool.txt:" in out
    assert [line[0] for line in lines_of_table(out) if line[0] in ("AP", "nDCG@10")] == ["AP", "nDCG@10"]


def test_what_agrees_is_said_to(given, files, capsys):
    given[-1] = files / "all.txt"
    _, out, _ = run(capsys, *given)
    assert "by all.txt (1) (taken as right) and by all.txt (2)" in out
    assert "AP: no run changes its rank." in out
    assert "Topics: the same 5; one that a run lacks counts 0." in out
    assert "the runs that move most first" not in out
    assert "the runs that move most first" in run(capsys, *given, "--all")[1]


@pytest.mark.filterwarnings("ignore::pt_reuse.ReuseWarning")
def test_topics_that_differ_are_told_or_left_out(given, files, field, capsys):
    shared = field.qrels.topics[:3]
    field.qrels.select(shared).write(files / "pool.txt", overwrite=True)
    given += ["--measures", "AP", "--all"]
    runs = ptr.read_runs(files / "runs")
    for which, topics, said in (
        ((), shared, "the 3 that both have, without 2 topics of all.txt"),
        (("--topics", "own"), field.all_qrels.topics, "its own for each: 5 and 3, 3 of them in common"),
    ):
        _, out, _ = run(capsys, *given, *which)
        assert f"Topics: {said}; one that" in " ".join(out.split())
        means = ptr.score(runs, field.all_qrels.select(topics), "AP").mean.set_index("name")["AP"]
        moved = [line for line in lines_of_table(out) if line[0] in means.index and len(line) == 8]
        assert {line[0]: line[3] for line in moved} == {name: f"{mean:.4f}" for name, mean in means.items()}


@pytest.mark.filterwarnings("default::pt_reuse.ReuseWarning")
def test_topics_are_told_in_words_of_the_shell(given, files, field, capsys, messages):
    field.qrels.select(field.qrels.topics[:3]).write(files / "pool.txt", overwrite=True)
    status, _, err = run(capsys, *given)
    assert status == 0
    messages.told(err)
    status, _, err = run(capsys, *given, "--topics", "own", "--resamples", 5)
    assert status == 2
    messages.told(err)
    status, _, err = run(capsys, *given, "--topics", "all")
    assert status == 2
    messages.told(err)


def test_what_is_new_and_who_is_shown(given, files, field, capsys):
    swapped = [*given[:-4], "--qrels", files / "pool.txt", "--other", files / "all.txt"]
    more = ["--depth", 5, "--selected", "lex1a,neu2b", "--resamples", 20, "--seed", 3, "--measures", "AP"]
    status, out, err = run(capsys, *swapped, *more, "--other-measures", "RR", "--all")
    assert (status, err) == (0, "")
    runs = ptr.read_runs(files / "runs", metadata=files / "runs.csv")
    expected = ptr.compare_judgments(
        runs, files / "pool.txt", files / "all.txt", "AP", measures_b="RR", names=("pool.txt", "all.txt"),
        selected=["lex1a", "neu2b"], depth=5, resamples=20, seed=3,
    )  # fmt: skip
    lines = [re.split(r" {2,}", line.strip()) for line in out.splitlines()]
    row = expected.table.iloc[0]
    shown = next(line for line in lines if line[0] == "AP and RR")
    assert shown[1:4] == [f"{row[name]:.4f}" for name in ("tau_b", "tau_b_low", "tau_b_high")]
    new = expected.by_topic[expected.by_topic["new_by"] == "all.txt"]
    for words in ("the runs that move most", "the runs ranked on one topic", "some runs and why"):
        assert f"By AP and RR, {words}" in out
    said = f"Judged by all.txt alone: {new['new'].sum():,} documents, {new['new_relevant'].sum():,} of them relevant."
    assert said in " ".join(out.split())
    for run_row in expected.selected.to_dict("records"):
        line = next(line for line in lines if line[:2] == [run_row["why"], run_row["name"]])
        assert line[-3:-1] == [str(run_row["rank"]), str(run_row["other_rank"])]
        assert line[-1] == f"{run_row['unjudged_rate']:.4f}"
    by_run = expected.by_run.query("new_by == 'all.txt' and unjudged > 0").set_index("name")
    found = [line for line in lines if line[0] in by_run.index and len(line) == 7]
    assert {line[0]: line[-2:] for line in found} == {
        name: [str(row["new"]), str(row["new_relevant"])] for name, row in by_run.iterrows()
    }
    topics = expected.per_topic.set_index("qid")
    found = [line for line in lines if line[0] in topics.index and len(line) == 6]
    assert [line[0] for line in found] == topics.sort_values("tau_b", kind="stable").index.tolist()
    assert found[0][3] == topics.loc[found[0][0], "dropped"]


def test_no_topic_in_common(given, files, capsys, messages):
    (files / "pool.txt").write_text("x1 0 d 1\n")
    status, _, err = run(capsys, *given)
    assert status == 2
    messages.told(err)


@pytest.mark.parametrize("names", ["one", "same,same", "a,b,c", ""])
def test_names_that_are_no_two(names, given, capsys, messages):
    status, out, err = run(capsys, *given, f"--judgment-names={names}")
    assert (status, out) == (2, "")
    messages.told(err)


def test_a_collection_and_its_complete_judgments(capsys):
    status, out, _ = run(
        capsys, "compare", "--collection", "demo", "--qrels", "demo:complete", "--other", "demo", "--measures", "AP"
    )
    assert status == 0
    assert "demo:complete: Qrels: 41 topics, 19,680 judgments" in out
    complete, pool = (DemoDataset().get_judgments(which) for which in ("complete", "pool"))
    runs = DemoDataset().get_runs()
    expected = ptr.score(runs, complete, "AP").compare(ptr.score(runs, pool, "AP")).table.iloc[0]
    line = next(line for line in lines_of_table(out) if line[0] == "AP")
    assert line[1] == f"{expected['tau_b']:.4f}"
    status, out, err = run(capsys, "compare", "--collection", "demo", "--other", "demo:nobody")
    assert (status, out) == (2, "")
    assert "demo:nobody: variant must be one of 'pool', 'complete', 'second', 'third'" in err


@pytest.mark.filterwarnings("default::pt_reuse.ReuseWarning")
def test_scores_that_all_tie_are_no_ranking(given, messages, capsys):
    status, out, err = run(capsys, *given, "--measures", "AP(rel=5),AP", "--judgment-names", "all,pool")
    assert status == 0
    messages.told(err)
    lines = out.splitlines()
    assert "AP(rel=5): no ranking to compare." in lines
    assert "nan" not in out
    assert next(line for line in lines_of_table(out) if line[0] == "AP(rel=5)")[1:5] == ["-"] * 4
