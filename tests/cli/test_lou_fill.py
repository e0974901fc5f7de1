"""`pt-reuse lou --fill`: holes filled by files of labels."""

from __future__ import annotations

import re

import pytest
from command_parts import run

pytestmark = pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")


@pytest.fixture
def words(files, field):
    """Return the options of a call, beside labels of every document in `lenient.qrels`."""
    field.all_qrels.threshold(1).write(files / "lenient.qrels")
    given = ["--runs", files / "runs", "--qrels", files / "qrels.txt", "--metadata", files / "runs.csv"]
    return [*given, "--depth", "5", "--measures", "nDCG@10"]


def test_what_cannot_be_is_told_first(words, tmp_path, capsys):
    (tmp_path / "more").mkdir()
    same = tmp_path / "more" / "lenient.txt"
    same.write_bytes((tmp_path / "lenient.qrels").read_bytes())
    (tmp_path / "board.eval").write_text("lex1a all nDCG@10 0.5\n")
    wrong = {
        "no such file": ["--fill", tmp_path / "nothing"],
        "--judge-rel is of a judge. Give one by --fill": ["--judge-rel", "2"],
        "--holes must be one of 'uniques', 'unjudged'": ["--holes", "none", "--fill", tmp_path / "lenient.qrels"],
        "a leaderboard has no labels": ["--fill", tmp_path / "board.eval"],
        "two files of one name": ["--fill", tmp_path / "lenient.qrels", same],
        "--judge-rel must be a grade": ["--judge-rel", "0", "--fill", tmp_path / "lenient.qrels"],
    }
    for problem, options in wrong.items():
        status, out, err = run(capsys, "lou", *words, *options)
        assert status == 2, problem
        assert "Settings" not in out
        assert problem in " ".join(err.split())


def test_what_is_filled_is_printed_before_what_is_removed(words, tmp_path, field, capsys):
    status, out, _ = run(capsys, "lou", *words, "--fill", tmp_path / "lenient.qrels")
    assert status == 0
    captions = ["when lenient labels them instead", "without the judged documents that its own team alone"]
    said = " ".join(out.split())
    assert [caption in said for caption in captions] == [True, True]
    assert said.index(captions[0]) < said.index(captions[1])
    assert said.startswith("with the judged uniques, relevant or not, of each run's own team labelled by a judge")
    status, out, _ = run(capsys, "lou", *words)
    assert "labels them instead" not in " ".join(out.split())


@pytest.mark.filterwarnings("default:.*a leaderboard has no labels:pt_reuse.ReuseWarning")
def test_labels_in_any_form_and_a_folder_of_them(words, tmp_path, field, capsys):
    labels = field.all_qrels.threshold(1).to_frame()[["qid", "docno", "label"]]
    folder = tmp_path / "judges"
    folder.mkdir()
    labels.to_csv(folder / "comma.csv", index=False)
    labels.to_json(folder / "lines.jsonl", orient="records", lines=True)
    truths = labels["label"].map({0: "False", 1: "True"})
    (folder / "words.qrels").write_text(
        "".join(f"{q} 0 {d} {w}\n" for q, d, w in zip(labels["qid"], labels["docno"], truths, strict=True))
    )
    (folder / "judges.csv").write_text("name,rel\ncomma,1\n")
    (folder / "board.eval").write_text("lex1a all nDCG@10 0.5\n")
    status, said, err = run(capsys, "lou", *words, "--fill", folder, tmp_path / "lenient.qrels", "--verbose")
    assert status == 0
    assert "'board' left out: a leaderboard has no labels" in " ".join(err.split())
    told = dict(re.findall(r"(\w+) labelled ([\d,]+ of [\d,]+) documents", " ".join(said.split())))
    assert list(told) == ["comma", "lines", "words", "lenient"]
    assert len(set(told.values())) == 1
