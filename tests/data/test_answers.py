"""Answers judged by items: files of each form, scores as the AutoNuggetizer's, faults with their place."""

from __future__ import annotations

import gzip
import json
from hashlib import md5

import numpy as np
import pandas as pd
import pytest

from pt_reuse.data.answers import MEASURES, read_answers
from pt_reuse.errors import InputError, ReuseWarning
from pt_reuse.scoring.leaderboards import score_answers
from pt_reuse.scoring.scores import score

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


def by_topic(answers, measure):
    return score_answers(answers, measure).values[0]


def test_a_long_frame_is_a_matrix():
    answers = read_answers(LONG, teams={"A": "one", "B": "two"})
    assert repr(answers) == "Answers: 2 runs, 2 teams, 2 topics, 3 items (3 found), 1 judge"
    assert answers.matches.tolist() == [[[1, 0], [0.5, 1], [0, 0.5]]]
    assert answers.contradicts.sum() == 1
    assert answers.found(strict=True).tolist() == [[True, False], [False, True], [False, False]]
    scores = by_topic(answers, "all_score")
    assert scores.tolist() == [[0.75, 0.5], [0, 0.5]]
    strict = by_topic(answers, "strict_all_score")
    assert strict.tolist() == [[0.5, 0.5], [0, 0]]


def test_items_that_nobody_matched_stay(tmp_path):
    bank = pd.DataFrame({"qid": ["1", "1"], "item": ["a", "z"], "weight": [1, 0.5]})
    wide = pd.DataFrame({"qid": ["1", "1"], "item": ["a", "z"], "weight": [1, 0.5], "A": [1, None]})
    for answers in (read_answers(LONG[:1], bank=bank), read_answers(wide), read_answers(wide) | read_answers(wide)):
        assert answers.items["item"].tolist() == ["a", "z"]
        assert by_topic(answers, "weighted_score").tolist() == [[1 / 1.5]]
        again = read_answers(answers.write(tmp_path / "written.csv"))
        assert again.items.equals(answers.items)
        assert by_topic(again, "all_score").tolist() == [[0.5]]


def test_a_run_without_any_match_is_told():
    wide = pd.DataFrame({"qid": ["1", "1"], "item": ["a", "z"], "A": [1, None], "B": [None, None]})
    with pytest.warns(ReuseWarning, match="1 run without a match left out: 'B'"):
        assert read_answers(wide).names == ["A"]


def test_what_two_say_of_a_run_or_an_item_must_agree():
    one = read_answers(LONG[:1], teams={"A": "x"})
    with pytest.raises(InputError, match="run 'A': it has the team 'x', 'y' in one and the other"):
        one | read_answers(LONG[2:3], teams={"A": "y"})
    both = one | read_answers(LONG[2:3], types={"A": "t"})
    assert both.run_table[["team", "type"]].to_numpy().tolist() == [["x", "t"]]
    other = pd.DataFrame({"qid": ["1", "1"], "item": ["b", "a"], "weight": [1, 2]})
    with pytest.raises(InputError, match="topic '1', item 'a': the item weighs"):
        one | read_answers(LONG[1:2], bank=other)


def test_a_wide_frame_with_holes_is_the_same():
    wide = pd.DataFrame({"qid": ["1", "1", "2"], "item": list("aba"), "weight": [1, 0.5, 1], "A": [1, 0.5, np.nan]})
    answers = read_answers(wide.assign(B=[0, 1, 0.5]))
    assert np.isnan(answers.matches[0, 2, 0])
    weighted = by_topic(answers, "weighted_score")
    assert weighted == pytest.approx(np.array([[1.25 / 1.5, 0.5 / 1.5], [0, 0.5]]))
    vital = by_topic(answers, "vital_score")
    assert vital.tolist() == [[1, 0], [0, 0.5]]


def test_what_is_written_is_read_again(tmp_path):
    answers = read_answers(LONG.assign(importance=["vital", "okay", "vital"] * 2))
    again = read_answers(answers.write(tmp_path / "answers.csv"))
    pd.testing.assert_frame_equal(again.to_frame(), answers.to_frame())
    assert again.weights("weighted_score").tolist() == [1, 0.5, 1]


def test_what_is_called_nothing_weighs_what_is_said(tmp_path):
    """An empty name of importance is none, so that weights of 1 are vital; a number in its place is a weight."""
    answers = read_answers(LONG.assign(weight=[1, 0.5, 1, 1, 0.5, 1]))
    again = read_answers(answers.to_frame().rename(columns={"name": "run"}))
    for one in (answers, again, read_answers(answers.write(tmp_path / "answers.csv"))):
        assert one.items["importance"].isna().all()
        assert one.weights("vital_score").tolist() == [1, 0, 1]
    assert read_answers(LONG.assign(importance=[3, 1, 2, 3, 1, 2])).weights("weighted_score").tolist() == [3, 1, 2]


def test_a_line_is_what_ends_as_one(tmp_path):
    first, second = nuggets(("x\u2028y", "vital", "support")), nuggets(("x\u2028y", "vital", "none"), run="B")
    texts = [json.dumps(answer, ensure_ascii=False) for answer in (first, second)]
    assert read_answers(lines(tmp_path, *texts)).matches.tolist() == [[[1, 0]]]
    (tmp_path / "a.csv").write_text('qid,item,run,match\n1,"two\nlines",A,1\n1,b,A,yes\n')
    with pytest.raises(InputError, match=r"a[.]csv, line 4, topic '1', run 'A', item 'b'"):
        read_answers(tmp_path / "a.csv")


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
    with pytest.warns(UserWarning, match="2 items left out"):
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
            "run.jsonl, line 2, topic '1', run 'A', item 'x': a second match .* is at .*run.jsonl, line 1",
        ),
        ([{"qid": "1", "nuggets": [{"text": "x", "importance": "vital"}]}], "a match must be"),
        ([{"nuggets": []}], "qid must be a text"),
        (
            [nuggets(("x", "vital", "support")), nuggets(("x", "okay", "support"), run="B")],
            "run.jsonl, line 2, topic '1', run 'B', item 'x': the item weighs 0.5 .okay., and 1 .vital. elsewhere",
        ),
    ],
)
def test_a_fault_has_its_place(tmp_path, answers, said):
    with pytest.raises(InputError, match=said):
        read_answers(lines(tmp_path, *answers))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"match": "yes"}, "^row 1, topic '1', run 'A', item 'a': a match must be"),
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
    with pytest.raises(InputError, match="does not exist"):
        read_answers(tmp_path / "none.jsonl")


BANK = {"query_id": "1", "format_version": "v3",
        "nugget_bank": {"Why?": {"question": "Why?", "question_id": "q7", "importance": "vital"},
                        "How?": {"question": "How?", "query_id": "1"}},
        "claim_bank": {"It is.": {"claim": "It is.", "importance": 3}}}  # fmt: skip


def test_a_bank_of_autojudge_says_which_items_there_are(tmp_path):
    """Matches name a question by its text or its id, which is that of its text (MD5) where none is given."""
    file = lines(tmp_path, BANK, {"metadata": {"topic_id": "2"}, "nugget_bank": [{"question": "Where?"}]})
    rows = [("1", "q7", "A", 1), ("1", md5(b"How?").hexdigest(), "A", 0.5), ("1", "Why?", "B", 0)]
    matches = pd.DataFrame(rows, columns=["qid", "item", "run", "match"])
    with pytest.warns(UserWarning, match="1 topic of the bank without a match"):
        answers = read_answers(matches, bank=file)
    assert answers.items["item"].tolist() == ["Why?", "How?", "It is."]
    assert answers.weights("weighted_score").tolist() == [1, 1, 3]
    assert np.nan_to_num(answers.matches[0], nan=-1).tolist() == [[1, 0], [0.5, -1], [-1, -1]]
    assert by_topic(answers, "weighted_score").tolist() == [[1.5 / 5, 0]]
    one = tmp_path / "bank.json"
    one.write_text(json.dumps(BANK, indent=1))
    assert read_answers(matches, bank=one).items["item"].tolist() == ["Why?", "How?", "It is."]


@pytest.mark.parametrize(
    ("bank", "said"),
    [
        ({**BANK, "nugget_bank": None}, "row 1, topic '1', run 'A', item 'Why[?]': the bank lacks the item"),
        ({"query_id": 0, "nugget_bank": {}}, "bank.jsonl, line 1: topic '0': there is no item"),
        ({"query_id": "1", "nugget_bank": {}}, "bank.jsonl, line 1: topic '1': there is no item"),
        ({"qid": "1", "nuggets": [{"text": "Why?"}] * 2}, "row 1, .* item 'Why[?]': the item weighs 1 .*, and 0 "),
        ([("1", "a"), ("1", "a")], "row 2: topic '1' has item 'a' a second time"),
        (
            {"query_id": "1", "nugget_bank": [{"claim": "Why?"}]},
            "line 1: topic .1.: an item of nugget_bank has a question",
        ),
        ({"answers": []}, "line 1: no object with 'qid' and 'nuggets'"),
    ],
)
def test_a_fault_of_a_bank(bank, said, tmp_path):
    matches = pd.DataFrame([("1", "Why?", "A", 1, "vital")], columns=["qid", "item", "run", "match", "importance"])
    bank = (
        pd.DataFrame(bank, columns=["qid", "item"])
        if isinstance(bank, list)
        else lines(tmp_path, bank, name="bank.jsonl")
    )
    with pytest.raises(InputError, match=said) as raised:
        read_answers(matches, bank=bank)
    assert raised.value.argument == ("path" if "row 1" in said else "bank")


def test_matches_as_judgments_give_the_same_scores():
    """A document is what a run's answer has of an item; partial matches are the mean of two counts of documents."""
    answers = read_answers(LONG.assign(importance=["vital", "okay", "vital"] * 2))
    found = score(answers.to_runs(), answers.to_qrels(), ["SetP(rel=1)", "SetP(rel=2)"])
    assert found.values.mean(axis=0) == pytest.approx(by_topic(answers, "all_score"))
    assert found.values[1] == pytest.approx(by_topic(answers, "strict_all_score"))
    vital = read_answers(answers.to_frame().rename(columns={"name": "run"}).query("importance == 'vital'"))
    found = score(vital.to_runs(), vital.to_qrels(), ["SetP(rel=1)", "SetP(rel=2)"])
    assert found.values.mean(axis=0) == pytest.approx(by_topic(answers, "vital_score"))


def test_answers_keep_their_texts(tmp_path):
    answers = read_answers(LONG.assign(qanswer=["one", "", "two", None, "three", "four"]))
    assert answers.texts == {("1", "A"): "one", ("2", "A"): "two", ("1", "B"): "three", ("2", "B"): "four"}
    assert read_answers(answers.write(tmp_path / "answers.csv")).texts == answers.texts
    assert answers.select("A", topics="1").texts == {("1", "A"): "one"}
    both = answers.select("A") | answers.select("B")
    assert both.texts == answers.texts
    first = nuggets(("x", "vital", "support"), answer_text="It is so.")
    assert read_answers(lines(tmp_path, first)).texts == {("1", "A"): "It is so."}


def test_scores_are_the_autonuggetizers_to_the_last_digit(data):
    folder = data / "nuggets" / "rag24"
    file = folder / "baseline_rag24.test_gpt4o_top20.jsonl.gz"
    if not file.is_file():
        pytest.skip("the test data has no nuggets of RAG 2024")
    with pytest.warns(ReuseWarning, match="'active learning'.* weigh nothing"):
        answers = read_answers(file, unknown="zero")
    metrics = folder / "metrics" / file.name.replace("gpt4o", "gpt_4o")
    wanted = {row["qid"]: row for row in map(json.loads, gzip.decompress(metrics.read_bytes()).splitlines())}
    for measure in MEASURES:
        scores = by_topic(answers, measure)[:, 0]
        assert scores.tolist() == [wanted[topic][measure] for topic in answers.topics]
