"""`pt-reuse lou --fill`: holes filled by files of labels."""

from __future__ import annotations

import pytest
from command_parts import run

import pt_reuse as ptr

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
        status, _, err = run(capsys, "lou", *words, *options)
        assert status == 2, problem
        assert problem in " ".join(err.split())


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
    given = ("--fill", folder, tmp_path / "lenient.qrels", "--out", tmp_path / "out")
    status, _, err = run(capsys, "lou", *words, *given)
    assert status == 0
    assert "'board' left out: a leaderboard has no labels" in " ".join(err.split())
    found = ptr.read_result(tmp_path / "out").filled_summary
    assert found["judge"].tolist() == ["comma", "lines", "words", "lenient"]
    assert len(set(found["filled_tau_b"])) == 1
