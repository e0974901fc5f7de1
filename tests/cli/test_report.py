"""`pt-reuse report` and `atlas`: the pages of the functions, written whole; what cannot be read has no card."""

from __future__ import annotations

import pandas as pd
import pytest
from command_parts import run

import pt_reuse as ptr
from pt_reuse.cards import figures

pytestmark = pytest.mark.usefixtures("no_bundle")


def test_the_card_is_that_of_the_function(files, field, tmp_path, capsys):
    call = ["report", files / "runs", "--qrels", files / "qrels.txt", "--metadata", files / "runs.csv"]
    more = ["--depth", 5, "--measures", "P@3,AP", "--resamples", 9, "--seed", 2]
    status, out, err = run(capsys, *call, *more, "--out", tmp_path / "card.html")
    assert (status, err) == (0, "")
    runs = ptr.read_runs(files / "runs", metadata=files / "runs.csv")
    card = ptr.report(runs, field.qrels, ["P@3", "AP"], depth=5, resamples=9, seed=2)
    assert (tmp_path / "card.html").read_text(encoding="utf-8") == card.html
    assert out.startswith("\n".join([card.name, *card.verdict, card.summary]))
    for question, answer in zip(card.questions["question"], card.questions["words"], strict=True):
        assert any(question in line and answer in line for line in out.splitlines())
    status, _, err = run(capsys, *call, "--out", tmp_path / "card.html")
    assert status == 2
    assert "--overwrite" in err


def test_the_atlas_has_a_card_of_each_collection_at_hand(files, tmp_path, capsys, user_home):
    (user_home / "collections").mkdir(parents=True)
    runs = f'[runs]\nfolder = "{files}/runs"\nmetadata = "{files}/runs.csv"\n'
    (user_home / "collections" / "mine.toml").write_text(f'name = "mine"\nqrels = "{files}/qrels.txt"\n{runs}')
    (user_home / "collections" / "other.toml").write_text(f'name = "other"\n[runs]\nfolder = "{files}/runs"\n')
    more = ("--measures", "P@3", "--resamples", 0)
    status, _, err = run(capsys, "atlas", "mine", "other", *more, "--out", tmp_path / "a")
    assert status == 2
    assert "pt-reuse: no card of other: " in err
    assert {path.name for path in (tmp_path / "a").iterdir()} == {"atlas.csv", "index.html", "mine.html"}
    card = ptr.report("reuse:mine", measures="P@3", resamples=0)
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "a" / "atlas.csv"), card.row, check_dtype=False)
    index = (tmp_path / "a" / "index.html").read_text(encoding="utf-8")
    assert '<a href="mine.html">' in index
    assert "other: " in index
    status, _, err = run(capsys, "atlas", "demo", "--out", tmp_path / "a" / "atlas.csv")
    assert status == 2


def test_without_the_library_nothing_is_begun(tmp_path, capsys, monkeypatch, messages):
    def missing():
        raise ptr.InputError("the figures of a card need Altair; `pip install pt-reuse[report]` brings it.")

    monkeypatch.setattr(figures, "library", missing)
    monkeypatch.setattr("pt_reuse.cards.collection_card.ask_all", lambda *_, **__: pytest.fail("it was begun"))
    for command in (["report", "demo"], ["atlas", "demo"]):
        status, _, err = run(capsys, *command, "--out", tmp_path / "new.html")
        assert status == 2
        assert "pt-reuse[report]" in err
        messages.told(err.splitlines()[-1])
