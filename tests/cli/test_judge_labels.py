"""`pt-reuse judge pilot` and `judge times`: what they print and write, and what they refuse before they read."""

from __future__ import annotations

import pandas as pd
import pytest
from annotator_parts import labelled
from command_parts import run

import pt_reuse as ptr

FRAME = labelled(seed=31, n_docs=6).assign(seconds=lambda rows: 4.0 + rows.index % 11)


@pytest.fixture
def file(tmp_path):
    FRAME.to_csv(tmp_path / "labels.csv", index=False)
    return tmp_path / "labels.csv"


def test_a_pilot_is_decided(file, tmp_path, capsys):
    words = ("judge", "pilot", file, "--rel", 2, "--resamples", 50, "--target", 0.3, "--least", 3)
    status, _out, err = run(capsys, *words, "--coefficient", "alpha_nominal", "--out", tmp_path / "out")
    assert (status, err) == (0, "")
    expected = ptr.judging.pilot_agreement(FRAME, rel=2, resamples=50, target=0.3, coefficient="alpha_nominal")
    saved = ptr.read_result(tmp_path / "out")
    assert (saved.decision, saved.target) == (expected.decision, 0.3)
    pd.testing.assert_frame_equal(saved.tasks, expected.tasks, check_dtype=False)
    assert (tmp_path / "out" / "pairs.png").is_file()


def test_files_of_each_annotator_give_the_same(file, tmp_path, capsys):
    of_csv = run(capsys, "judge", "pilot", file)
    for name, part in FRAME.groupby("annotator"):
        ptr.Qrels(part[["qid", "docno", "label"]]).write(tmp_path / f"{name}.txt")
    assert run(capsys, "judge", "pilot", *sorted(tmp_path.glob("*.txt"))) == of_csv


def test_times_are_told(file, tmp_path, capsys):
    status, out, err = run(capsys, "judge", "times", file, "--rate", 20, "--longest", 12.5, "--out", tmp_path / "out")
    assert (status, err) == (0, "")
    expected = ptr.judging.label_times(FRAME, rate=20, longest=12.5)
    assert expected.table["left"].iloc[0] > 0
    assert all(line in out for line in expected.answers())
    pd.testing.assert_frame_equal(ptr.read_result(tmp_path / "out").by_label, expected.by_label)
