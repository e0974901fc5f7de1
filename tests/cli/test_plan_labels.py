"""`pt-reuse judge plan-labels`: from labels in a file to a plan, and from what people say to numbers."""

from __future__ import annotations

import pandas as pd
import pytest
from command_parts import run

import pt_reuse as ptr


@pytest.fixture
def files(tmp_path):
    """Return a folder with labels of a judge and of people, and two runs."""
    rows = [(str(1 + n % 4), f"d{n:03}", n % 3) for n in range(300)]
    judge = pd.DataFrame(rows, columns=["qid", "docno", "label"])
    ptr.Qrels(judge).write(tmp_path / "judge.txt")
    people = judge.assign(label=[int(label > 0 and n % 5 > 0) for n, label in enumerate(judge["label"])])
    ptr.Qrels(people).write(tmp_path / "people.txt")
    for name, step in (("one", 1), ("two", 7)):
        ranked = judge.assign(score=[(n * step) % 300 for n in range(300)])[["qid", "docno", "score"]]
        ptr.RunSet.from_frames({name: ranked}).write(tmp_path / name)
    return tmp_path


def test_a_plan_goes_out_and_an_estimate_comes_back(capsys, files):
    plan = ["judge plan-labels", "--judge", files / "judge.txt", "--width", ".2", "--prior", "0=.05,1=.8"]
    status, out, err = run(capsys, *plan, "--target", "precision", "--out", files / "plan")
    assert (status, err) == (0, "")
    same = ptr.labels.plan_labels(files / "judge.txt", target="precision", width=0.2, prior={0: 0.05, 1: 0.8})
    assert f"{same.labels} of 300 documents" in out.replace("\n", " ")
    made = pd.read_csv(files / "plan" / "to_check.csv", dtype=str)
    assert made.to_dict("list") == same.sample[["qid", "docno"]].to_dict("list")
    assert (files / "plan" / "plan.png").stat().st_size > 1000
    checked = ptr.read_qrels(files / "people.txt").restrict(made)
    checked.write(files / "checked.txt")
    status, out, err = run(
        capsys,
        "judge plan-labels",
        "--plan",
        files / "plan",
        "--checked",
        files / "checked.txt",
        "--out",
        files / "found",
    )
    assert (status, err) == (0, "")
    expected = same.estimate(checked)
    pd.testing.assert_frame_equal(ptr.read_result(files / "found").table, expected.table)


def test_calls_that_do_not_fit_together(capsys, files):
    assert run(capsys, "judge plan-labels")[0] == 2
    assert run(capsys, "judge plan-labels", "--plan", files)[0] == 2
    status, _, err = run(capsys, "judge plan-labels", "--judge", files / "judge.txt")
    assert status == 2
    assert "--width" in err
    status, _, err = run(capsys, "judge plan-labels", "--judge", files / "judge.txt", "--prior", "high")
    assert (status, "--prior: must be a share" in err) == (2, True)
    (files / "chances.txt").write_text("1 0 d1 0.7\n")
    status, _, err = run(capsys, "judge plan-labels", "--judge", files / "chances.txt", "--width", ".1")
    assert (status, "grade_scores" in err) == (2, True)
    ptr.score(files / "one", files / "people.txt", "P@10").save(files / "scores")
    status, _, err = run(capsys, "judge plan-labels", "--plan", files / "scores", "--checked", files / "people.txt")
    assert (status, "holds no plan, but a Scores" in err) == (2, True)
