"""Answers judged by items: files of each form, scores as the AutoNuggetizer's, faults with their place."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pandas as pd
import pytest

from pt_reuse.data.answers import MEASURES, read_answers
from pt_reuse.errors import InputError

LONG = pd.DataFrame(
    [("1", "a", "A", "support"), ("1", "b", "A", 0.5), ("2", "a", "A", "none"), ("1", "a", "B", "contradict"),
     ("1", "b", "B", 1), ("2", "a", "B", "partial")],
    columns=["qid", "item", "run", "match"],
)  # fmt: skip


def nuggets(*items, qid="1", run="A", **more):
    keys = ("text", "importance", "assignment")
    return {"qid": qid, "run_id": run, "nuggets": [dict(zip(keys, item, strict=True)) for item in items], **more}


def lines(tmp_path, *answers, name="run.jsonl"):
    file = tmp_path / name
    file.write_text("".join(f"{a if isinstance(a, str) else json.dumps(a)}\n" for a in answers))
    return file


def test_a_long_frame_is_a_matrix():
    answers = read_answers(LONG, teams={"A": "one", "B": "two"})
    assert repr(answers) == "Answers: 2 runs, 2 teams, 2 topics, 3 items (3 found), 1 judge"
    assert answers.matches.tolist() == [[[1, 0], [0.5, 1], [0, 0.5]]]
    assert answers.contradicts.sum() == 1
    assert answers.found(strict=True).tolist() == [[True, False], [False, True], [False, False]]
    scores = answers.by_topic(answers.credit("all_score"), answers.weights("all_score"))
    assert scores.tolist() == [[0.75, 0.5], [0, 0.5]]
    strict = answers.by_topic(answers.credit("strict_all_score"), answers.weights("strict_all_score"))
    assert strict.tolist() == [[0.5, 0.5], [0, 0]]


def test_a_wide_frame_with_holes_is_the_same():
    wide = pd.DataFrame({"qid": ["1", "1", "2"], "item": list("aba"), "weight": [1, 0.5, 1], "A": [1, 0.5, np.nan]})
    answers = read_answers(wide.assign(B=[0, 1, 0.5]))
    assert np.isnan(answers.matches[0, 2, 0])
    weighted = answers.by_topic(answers.credit("weighted_score"), answers.weights("weighted_score"))
    assert weighted == pytest.approx(np.array([[1.25 / 1.5, 0.5 / 1.5], [0, 0.5]]))
    vital = answers.by_topic(answers.credit("vital_score"), answers.weights("vital_score"))
    assert vital.tolist() == [[1, 0], [0, 0.5]]


def test_what_is_written_is_read_again(tmp_path):
    answers = read_answers(LONG.assign(importance=["vital", "okay", "vital"] * 2))
    again = read_answers(answers.write(tmp_path / "answers.csv"))
    pd.testing.assert_frame_equal(again.to_frame(), answers.to_frame())
    assert again.weights("weighted_score").tolist() == [1, 0.5, 1]


def test_parts_are_put_together_again():
    answers = read_answers(LONG)
    both = answers.select(names="A") | answers.select("B")
    pd.testing.assert_frame_equal(both.to_frame(), answers.to_frame())
    other = read_answers(LONG.assign(match=0), judge="model")
    assert (answers | other).select(judges="model").judges == ["model"]
    assert (answers | other).matches.shape == (2, 3, 2)
    assert answers.select(topics="2").topics == ["2"]
    with pytest.raises(InputError, match="judge must be one of 'judge', 'model'"):
        (answers | other).found()
    with pytest.raises(InputError, match="a second match of judge 'judge'"):
        answers | read_answers(LONG.assign(match=1))


def test_lines_of_the_autonuggetizer(tmp_path):
    first = nuggets(("x", "vital", "support"), ("y", "okay", "partial_support"), ("x", "okay", "not_support"))
    second = nuggets(("x", "vital", "not_support"), ("y", "okay", "support"), ("x", "okay", "support"), run="B")
    answers = read_answers(lines(tmp_path, first, second))
    # a text that a bank has twice is two items
    assert answers.items["item"].tolist() == ["x", "y", "x (2)"]
    assert answers.matches[0].tolist() == [[1, 0], [0.5, 1], [0, 1]]
    assert answers.weights("vital_score").tolist() == [1, 0, 0]
    with gzip.open(tmp_path / "packed.jsonl.gz", "wt") as file:
        file.write((tmp_path / "run.jsonl").read_text())
    assert read_answers(tmp_path / "packed.jsonl.gz").matches.tolist() == answers.matches.tolist()


def test_ikats_lists(tmp_path):
    file = tmp_path / "ikat.json"
    first = {"nuggets": {"matched": ["x", "x"], "not-matched": ["y", " "]}, "response": "..."}
    file.write_text(json.dumps({"1": {"A": first, "B": {"nuggets": {"matched": [], "not-matched": ["x"]}}}}))
    with pytest.warns(UserWarning, match="1 empty and 1 a second time in an answer"):
        answers = read_answers(file)
    assert answers.matches[0, 0].tolist() == [1, 0]
    assert answers.found().sum() == 1


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ([nuggets(("x", "vital", "perhaps"))], "run.jsonl, line 1, topic '1', run 'A', item 'x': a match must be"),
        ([nuggets(("x", "vital", "support")), '{"qid": "1", "nug'], "line 2: no JSON"),
        (
            [nuggets(("x", "vital", "support"))] * 2,
            "line 2: a second answer of run 'A' to topic '1'; the first .* line 1",
        ),
        (
            [{"qid": "1", "nuggets": [{"text": "x", "importance": "vital"}]}],
            "A bank without assignments has no answers",
        ),
        ([{"nuggets": []}], "qid must be a text"),
        (
            [nuggets(("x", "vital", "support")), nuggets(("x", "okay", "support"), run="B")],
            "line 2, topic '1', run 'B', item 'x': the item weighs 0.5 .okay., and 1 .vital. elsewhere",
        ),
    ],
)
def test_a_fault_has_its_place(tmp_path, answers, said):
    with pytest.raises(InputError, match=said):
        read_answers(lines(tmp_path, *answers))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"match": "yes"}, "row 1, topic '1', run 'A', item 'a': a match must be"),
        ({"match": 1.5}, "a match must be"),
        ({"match": np.nan}, "a match must be"),
        ({"run": "A"}, "row 4, topic '1', run 'A', item 'a': a second match of judge 'judge'; the first is at row 1"),
        ({"weight": -1}, "weight must be a number, 0 or more"),
        ({"qid": None}, "qid must be a text"),
        ({"weight": range(6)}, "the item weighs"),
    ],
)
def test_a_fault_of_a_frame_has_its_row(change, said):
    with pytest.raises(InputError, match=said):
        read_answers(LONG.assign(**change))
    with pytest.raises(InputError, match="the columns item and match are missing"):
        read_answers(LONG.drop(columns=["match", "item"]))


def test_other_words_may_count_nothing(tmp_path):
    file = lines(tmp_path, nuggets(("x", "vital", "perhaps"), ("y", "vital", "support")))
    assert read_answers(file, unknown="zero").matches[0].tolist() == [[0], [1]]
    with pytest.raises(InputError, match="no such file"):
        read_answers(tmp_path / "none.jsonl")


@pytest.mark.parametrize("system", ["command-r-plus", "gpt4o", "l31_70b_instruct"])
def test_scores_are_the_autonuggetizers_to_the_last_digit(data, system):
    folder = data / "nuggets" / "rag24"
    file = folder / f"baseline_rag24.test_{system}_top20.jsonl.gz"
    if not file.is_file():
        pytest.skip("the test data has no nuggets of RAG 2024")
    answers = read_answers(file, unknown="zero")
    metrics = folder / "metrics" / file.name.replace("gpt4o", "gpt_4o")
    wanted = {row["qid"]: row for row in map(json.loads, gzip.decompress(metrics.read_bytes()).splitlines())}
    for measure in MEASURES:
        scores = answers.by_topic(answers.credit(measure), answers.weights(measure))[:, 0]
        assert scores.tolist() == [wanted[topic][measure] for topic in answers.topics]


def test_dragun_is_what_it_is_said_to_be(data):
    file = data / "nuggets" / "dragun25" / "report_assessments.csv.gz"
    if not file.is_file():
        pytest.skip("the test data has no DRAGUN")
    teams = pd.read_csv(file.with_name("teams.csv"), dtype=str).set_index("run")["team"].to_dict()
    answers = read_answers(file, teams=teams)
    assert repr(answers) == "Answers: 26 runs, 9 teams, 30 topics, 551 items (329 found), 1 judge"
    assert int((~np.isnan(answers.matches)).sum()) == 14_326
    assert int(answers.contradicts.sum()) == 233
