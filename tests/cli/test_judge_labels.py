"""`pt-reuse judge pilot`: what it prints and writes."""

from __future__ import annotations

import pandas as pd
import pytest
from annotator_parts import labelled
from command_parts import run

import pt_reuse as ptr

FRAME = labelled(seed=31, n_docs=6)


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
