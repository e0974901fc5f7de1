"""Scores and probabilities become grades at thresholds that are stated."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import pt_reuse as ptr

SAID = pd.DataFrame({"qid": ["1", "1", "1", "2"], "docno": list("abcd"), "probability": [0.1, 0.5, 0.9, np.nan]})


def test_a_score_gets_the_highest_label_whose_threshold_it_reaches():
    found = ptr.labels.grade_scores(SAID, [0.5, 0.9])
    assert found.to_frame()[["docno", "label", "judge_score"]].values.tolist() == [
        ["a", 0, 0.1],
        ["b", 1, 0.5],
        ["c", 2, 0.9],
    ]
    assert found.topics == ["1", "2"]
    assert ptr.labels.grade_scores(SAID, 0.6, rel=1).rel == 1
    scored = SAID.rename(columns={"probability": "score"}).assign(label=7)
    assert ptr.labels.grade_scores(scored, 0.6).to_frame()["label"].tolist() == [0, 0, 1]
    assert ptr.labels.grade_scores(scored, [1, 5, 9], column="label").to_frame()["label"].tolist() == [2, 2, 2, 2]


@pytest.mark.parametrize("line", ["{q} 0 {d} {s}\n", "{q} Q0 {d} 1 {s} tag\n"])
def test_a_file_of_numbers(tmp_path, line):
    path = tmp_path / "said.txt"
    path.write_text(
        "".join(line.format(q=q, d=d, s=s) for q, d, s in (("1", "a", 0.1), ("1", "b", 5e-1), ("2", "a", 1)))
    )
    assert ptr.labels.grade_scores(path, 0.5).to_frame()["label"].tolist() == [0, 1, 1]
    assert ptr.labels.grade_scores(str(path), 0.5).topics == ["1", "2"]


def test_what_cannot_be_graded_is_refused(tmp_path, messages):
    messages.refused(lambda: ptr.labels.grade_scores(SAID, [0.5, 0.5]), argument="thresholds")
    messages.refused(lambda: ptr.labels.grade_scores(SAID, "high"), argument="thresholds")
    messages.refused(lambda: ptr.labels.grade_scores(SAID, True), argument="thresholds")
    messages.refused(lambda: ptr.labels.grade_scores(SAID, []), argument="thresholds")
    messages.refused(lambda: ptr.labels.grade_scores(SAID, 0.5, column="rank"), argument="column")
    messages.refused(lambda: ptr.labels.grade_scores(SAID[["qid", "docno"]], 0.5), argument="column")
    messages.refused(lambda: ptr.labels.grade_scores(SAID.assign(probability="x"), 0.5), argument="scores")
    messages.refused(lambda: ptr.labels.grade_scores(7, 0.5), argument="scores")
    messages.refused(lambda: ptr.labels.grade_scores(SAID.assign(probability=float("nan")), 0.5), argument="scores")
    messages.refused(lambda: ptr.labels.grade_scores(pd.concat([SAID, SAID.assign(probability=0.7)]), 0.5))
    path = tmp_path / "said"
    messages.refused(lambda: ptr.labels.grade_scores(path, 0.5), argument="scores")
    path.write_text("1 a 0.5\n")
    messages.refused(lambda: ptr.labels.grade_scores(path, 0.5), argument="scores")
    path.write_text("")
    messages.refused(lambda: ptr.labels.grade_scores(path, 0.5), argument="scores")
