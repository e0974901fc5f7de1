"""`pt-reuse lou --fill`: holes filled by files of labels."""

from __future__ import annotations

import re

import pandas as pd
import pytest
from command_parts import run

import pt_reuse as ptr
from pt_reuse.cli import output

pytestmark = pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning")


@pytest.fixture
def files(tmp_path, field):
    field.runs.write(tmp_path / "runs")
    field.qrels.write(tmp_path / "qrels.txt")
    field.runs.run_table.to_csv(tmp_path / "runs.csv", index=False)
    binary = field.all_qrels.threshold(1)
    binary.write(tmp_path / "lenient.qrels")
    given = ["--runs", tmp_path / "runs", "--qrels", tmp_path / "qrels.txt", "--metadata", tmp_path / "runs.csv"]
    return [*given, "--depth", "5", "--measures", "nDCG@10"]


def test_what_is_said_and_written(files, tmp_path, field, capsys, monkeypatch):
    drawings = {}

    def draw(given):
        drawings.update(given)
        return {}

    monkeypatch.setattr(output, "draw", draw)
    labels, out = tmp_path / "lenient.qrels", tmp_path / "out"
    more = ["--fill", labels, "--judge-rel", "1", "--resamples", "20", "--out", out]
    status, said, _ = run(capsys, "lou", *files, *more)
    assert status == 0
    expected = ptr.leave_out_uniques(
        field.runs, field.qrels, "nDCG@10", depth=5, fill={"lenient": labels}, judge_rel=1, resamples=20
    )
    flat = " ".join(said.split())
    for sentence in expected.findings():
        assert sentence in flat
    assert "remove=judged" in flat
    read = ptr.read_result(out)
    for name in ("filled", "filled_by_run", "filled_summary"):
        keys = [column for column in ("judge", "measure", "team", "name") if column in getattr(read, name)]
        mine, theirs = (getattr(of, name).set_index(keys).sort_index() for of in (read, expected))
        pd.testing.assert_frame_equal(mine, theirs)
        assert (out / f"{name}.csv").exists()
    assert set(drawings) == {"scores-nDCG@10.png", "drops-nDCG@10.png", "uniques.png", "fill-nDCG@10.png"}
    ax = drawings["fill-nDCG@10.png"]()
    assert len(ax.get_yticklabels()) == expected.filled["team"].nunique()


def test_what_cannot_be_is_told_first(files, tmp_path, capsys):
    (tmp_path / "more").mkdir()
    same = tmp_path / "more" / "lenient.txt"
    same.write_bytes((tmp_path / "lenient.qrels").read_bytes())
    (tmp_path / "board.eval").write_text("lex1a all nDCG@10 0.5\n")
    wrong = {
        "no such file": ["--fill", tmp_path / "nothing"],
        "--judge-rel is of a judge. Give one by --fill FILE": ["--judge-rel", "2"],
        "--holes must be one of 'uniques', 'unjudged'": ["--holes", "none", "--fill", tmp_path / "lenient.qrels"],
        "a leaderboard has no labels": ["--fill", tmp_path / "board.eval"],
        "two files of one name": ["--fill", tmp_path / "lenient.qrels", same],
        "--judge-rel must be a grade": ["--judge-rel", "0", "--fill", tmp_path / "lenient.qrels"],
    }
    for problem, options in wrong.items():
        status, out, err = run(capsys, "lou", *files, *options)
        assert status == 2, problem
        assert "Settings" not in out
        assert problem in " ".join(err.split())


@pytest.mark.filterwarnings("default:.*a leaderboard has no labels:pt_reuse.ReuseWarning")
def test_labels_in_any_form_and_a_folder_of_them(files, tmp_path, field, capsys):
    labels = field.all_qrels.threshold(1).to_frame()[["qid", "docno", "label"]]
    folder = tmp_path / "judges"
    folder.mkdir()
    labels.to_csv(folder / "comma.csv", index=False)
    labels.to_json(folder / "lines.jsonl", orient="records", lines=True)
    words = labels["label"].map({0: "False", 1: "True"})
    (folder / "words.qrels").write_text(
        "".join(f"{q} 0 {d} {w}\n" for q, d, w in zip(labels["qid"], labels["docno"], words, strict=True))
    )
    (folder / "judges.csv").write_text("name,rel\ncomma,1\n")
    (folder / "board.eval").write_text("lex1a all nDCG@10 0.5\n")
    status, said, err = run(capsys, "lou", *files, "--fill", folder, tmp_path / "lenient.qrels")
    assert status == 0
    assert "'board' left out: a leaderboard has no labels" in " ".join(err.split())
    told = dict(re.findall(r"(\w+) labelled ([\d,]+ of [\d,]+) documents", " ".join(said.split())))
    assert list(told) == ["comma", "lines", "words", "lenient"]
    assert len(set(told.values())) == 1
