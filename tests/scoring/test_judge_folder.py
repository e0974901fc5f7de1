"""A folder of judges: labels and leaderboards in the forms of many tools, by the names of their files."""

from __future__ import annotations

import gzip
import json

import pandas as pd
import pytest

import pt_reuse as ptr

FIELD = ptr.demo.simulate_field(seed=7, n_topics=4, n_docs=40, n_teams=3, length=8, depth=3)
LABELS = FIELD.qrels.to_frame()[["qid", "docno", "label"]].sort_values(["qid", "docno"], ignore_index=True)
ROWS = LABELS.to_dict("records")
SCORES = ptr.score(FIELD.runs, FIELD.qrels, ["AP", "nDCG@10"])


def ordered(qrels):
    return qrels.to_frame()[["qid", "docno", "label"]].sort_values(["qid", "docno"], ignore_index=True)


@pytest.fixture
def folder(tmp_path):
    """Return a folder with the same labels in every form, and leaderboards."""
    place = tmp_path / "judges"
    place.mkdir()
    FIELD.qrels.write(place / "plain")
    (place / "llama-3.2.qrels.gz").write_bytes(gzip.compress((place / "plain").read_bytes()))
    LABELS.to_csv(place / "table.csv", index=False)
    LABELS.to_csv(place / "semicolons.csv", index=False, sep=";")
    (place / "umbrela.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    for name, keys in (("measures", ("query_id", "doc_id", "relevance")), ("auto", ("topic_id", "doc_id", "grade"))):
        lines = [json.dumps({"iteration": "0", **dict(zip(keys, row.values(), strict=True))}) for row in ROWS]
        (place / f"{name}.jsonl").write_text("\n".join(lines))
    SCORES.write_leaderboard(place / "umbrela.eval.txt", "tot")
    SCORES.write_leaderboard(place / "board.jsonl", "jsonl")
    SCORES.write_leaderboard(place / "by-run", "trec_eval")
    (place / "judges.csv").write_text("name,family,rel\numbrela,gpt,2\nllama-3.2,llama,\nboard,,\n")
    for name in (".DS_Store", "README.md", "umbrela.measures.yml", "umbrela.nuggets.jsonl"):
        (place / name).write_text("\0 nothing to read")
    return place


def test_every_form_gives_the_same_labels(folder):
    judges = ptr.judging.read_judges(folder)
    assert list(judges.labels) == ["auto", "llama-3.2", "measures", "plain", "semicolons", "table", "umbrela"]
    for name, qrels in judges.labels.items():
        pd.testing.assert_frame_equal(ordered(qrels), LABELS, check_dtype=False, obj=name)
    assert {name: qrels.stated_rel for name, qrels in judges.labels.items() if qrels.stated_rel} == {"umbrela": 2}
    assert list(judges.leaderboards) == ["board", "by-run", "umbrela"]
    for name, scores in judges.leaderboards.items():
        wanted = SCORES.per_topic.sort_values(["name", "qid", "measure"], ignore_index=True)
        assert scores.per_topic.sort_values(["name", "qid", "measure"], ignore_index=True).equals(wanted), name
    assert judges.families == {"umbrela": "gpt", "llama-3.2": "llama"}
    assert judges.skipped == (".DS_Store", "README.md", "umbrela.measures.yml", "umbrela.nuggets.jsonl")
    assert judges.table.query("judge == 'umbrela'")[["holds", "file", "family", "rel", "size"]].to_numpy().tolist() == [
        ["leaderboard", "umbrela.eval.txt", "gpt", 2, len(SCORES.names)],
        ["JSON labels", "umbrela.jsonl", "gpt", 2, len(LABELS)],
    ]
    assert repr(judges) == (
        f"JudgeFolder: 9 judges in {folder}, labels of 7 and leaderboards of 3; left out: '.DS_Store', 'README.md', "
        "'umbrela.measures.yml', 'umbrela.nuggets.jsonl'"
    )


def test_the_file_of_one_judge(folder):
    judges = ptr.judging.read_judges(folder / "plain")
    assert list(judges.labels) == ["plain"]
    assert judges.families == {}


def test_labels_that_are_words(tmp_path):
    # AutoJudge's reader takes True and False, and whole decimals
    (tmp_path / "a.qrels").write_text("1 0 d1 True\n1 0 d2 False\n1 0 d3 1\n")
    (tmp_path / "b").write_text("1 0 d1 1.0\n1 0 d2 0.0\n1 0 d3 1\n")
    for qrels in ptr.judging.read_judges(tmp_path).labels.values():
        assert qrels.to_frame()["label"].tolist() == [1, 0, 1]


FAULTS = {
    "a probability": {"a.qrels": "1 0 d1 .7\n"},
    "a probability in JSON": {"a.jsonl": '{"qid": "1", "docno": "d", "label": 0.7}\n'},
    "two broken files of three": {"a.qrels": "1 0 d1\n", "b.qrels": "1 0 d1 1\n", "c.jsonl": '{"qid": 1}\n'},
    "two files of labels": {"a.qrels": "1 0 d1 1\n", "a.txt": "1 0 d1 1\n"},
    "either": {"a.txt": "1 5 d1 1\n"},
    "no JSON": {"a.jsonl": '{"qid": "1", "docno": "d", "label": 1}\n{\n'},
    "labels of two": {"a.csv": "qid,docno,label,annotator\n1,d,1,x\n1,e,1,y\n"},
    "no columns": {"a.csv": "topic,doc\n1,d\n"},
    "nothing but a table": {"judges.csv": "name\n", ".hidden": ""},
    "a judge without a file": {"judges.csv": "name,family\numbrella,gpt\n", "umbrela.qrels": "1 0 d1 1\n"},
    "a judge twice": {"judges.csv": "name,family\na,gpt\na,gpt\n", "a.qrels": "1 0 d1 1\n"},
    "another column": {"judges.csv": "name,colour\n", "a.qrels": "1 0 d1 1\n"},
    "no rel": {"judges.csv": "name,rel\na,two\n", "a.qrels": "1 0 d1 1\n"},
    "words and more": {"a.qrels": "1 0 d1 True\n1 0 d1\n"},
    "a format that nobody knows": {"judges.csv": "name,format\na,tots\n", "a.eval": "r 1 AP .5\n"},
    "labels in three columns": {"a.txt": "1 d1 1\n1 d2 0\n"},
    "either of two leaderboards, or probabilities": {"a.txt": "r 1 AP .5\nr 2 AP .5\n"},
    "a leaderboard of no format": {"a.eval": "r 1 AP .5\nr 2 AP .5\n"},
    "a topic that is a list": {"a.jsonl": '{"qid": ["1"], "docno": "d", "label": 1}\n'},
    "a broken leaderboard": {"a.eval.txt": "r 1 AP .5\nr all AP\n"},
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_told_with_the_file(fault, tmp_path, messages):
    for name, text in FAULTS[fault].items():
        (tmp_path / name).write_text(text)
    messages.refused(lambda: ptr.judging.read_judges(tmp_path))


def test_the_format_of_a_leaderboard_that_its_lines_do_not_tell(tmp_path):
    (tmp_path / "a.eval").write_text("r 1 AP .5\nr 2 AP .5\n")
    (tmp_path / "judges.csv").write_text("name;format\na;tot\n")
    assert ptr.judging.read_judges(tmp_path).leaderboards["a"].measures == ["1", "2"]
