"""`pt-reuse merge` takes shards that belong together and the files that they were made of, and nothing else."""

from __future__ import annotations

import shutil

import pytest
from command_parts import run
from shard_parts import SHARDED, shards, write_field

from pt_reuse.data import judgments as reading
from pt_reuse.data.topic_jobs import Shard

SCORE = SHARDED["score"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    folder = tmp_path / "here"
    folder.mkdir()
    write_field(folder)
    monkeypatch.chdir(folder)
    return folder


def refused(capsys, messages, *arguments):
    status, out, err = run(capsys, "merge", *arguments)
    assert (status, out) == (2, "")
    messages.told(err)


def test_missing_shards_are_named(here, capsys, messages):
    shards(capsys, SCORE, 40, numbers=[k for k in range(1, 41) if k not in (3, 9, 10, 11, 12, 31, 40)])
    refused(capsys, messages, "shards")
    shards(capsys, SCORE, 40, numbers=[3, 9, 10, 11, 12, 31])
    refused(capsys, messages, "shards")
    shards(capsys, SCORE, 40, numbers=[40])
    assert run(capsys, "merge", "shards")[0] == 0


@pytest.mark.parametrize("more", ["--own-topics", "--measures P@5", "--order file", "--qrels other.txt"])
def test_the_odd_shard_is_named(more, here, capsys, messages):
    (here / "other.txt").write_text((here / "qrels.txt").read_text().replace(" 1\n", " 0\n", 1))
    shards(capsys, SCORE, 4)
    shards(capsys, f"{SCORE} {more}", 4, folder="odd", numbers=[3])
    shutil.copy(here / "odd" / "shard-3-of-4.ptr", here / "shards")
    refused(capsys, messages, "shards")


def test_a_shard_under_the_name_of_another_is_made_again(here, capsys, messages):
    shards(capsys, SCORE, 3)
    whole = (here / "shards" / "shard-2-of-3.ptr").read_bytes()
    shutil.copy(here / "shards" / "shard-1-of-3.ptr", here / "shards" / "shard-2-of-3.ptr")
    refused(capsys, messages, "shards")
    status, out, err = run(capsys, *SCORE.split(), "--shard", "2/3", "--out", "shards")
    assert status == 0
    assert out.startswith("Written to shards: shard-2-of-3.ptr")
    messages.told(err)
    assert (here / "shards" / "shard-2-of-3.ptr").read_bytes() == whole


def change_judgments(here):
    (here / "qrels.txt").write_text((here / "qrels.txt").read_text().replace(" 1\n", " 0\n", 1))


def change_runs(here):
    path = min((here / "runs").iterdir())
    path.write_text(path.read_text().replace(" Q0 ", "  Q0 ", 1))


def change_table(here):
    path = here / "runs.csv"
    path.write_text(path.read_text().replace("True", "False", 1))


def add_a_run(here):
    (here / "runs" / "new").write_text("1 Q0 d1 1 1.0 new\n")


def remove_a_run(here):
    min((here / "runs").iterdir()).unlink()


def move_judgments(here):
    (here / "qrels.txt").rename(here / "moved.txt")


def move_all(here):
    for name in ("runs", "qrels.txt", "runs.csv"):
        (here / name).rename(here.parent / name)


@pytest.mark.parametrize(
    "change", [change_judgments, change_runs, change_table, add_a_run, remove_a_run, move_judgments, move_all]
)
def test_other_files_than_those_of_the_shards_are_told(change, here, capsys, messages):
    shards(capsys, SCORE, 2)
    change(here)
    refused(capsys, messages, "shards")


def test_files_are_found_from_any_folder(here, tmp_path, capsys, monkeypatch):
    _, expected, _ = run(capsys, *SCORE.split())
    shards(capsys, SCORE, 2)
    monkeypatch.chdir(tmp_path)
    assert run(capsys, "merge", "here/shards") == (0, expected, "")
    # where all was moved, the folder in which the paths lead to the files is as good
    here.rename(tmp_path / "there")
    assert run(capsys, "merge", "there/shards")[0] == 2
    monkeypatch.chdir(tmp_path / "there")
    assert run(capsys, "merge", "shards") == (0, expected, "")


@pytest.mark.parametrize("pattern", ["runs/*", "runs", "./runs/"])
def test_one_store_serves_all_shards(pattern, here, tmp_path, capsys, monkeypatch):
    _, expected, _ = run(capsys, *SCORE.split())
    call = SCORE.replace("runs", pattern, 1) + " --cache kept --memory 64MB"
    shards(capsys, call, 3)
    assert (here / "kept").is_dir()
    monkeypatch.setattr("pt_reuse.data.within_memory._Spooling", None)
    monkeypatch.chdir(tmp_path)
    assert run(capsys, "merge", "here/shards") == (0, expected, "")
    assert not (tmp_path / "kept").exists()


def test_a_collection_of_ones_own_is_merged_from_any_folder(here, tmp_path, capsys, monkeypatch, messages):
    definition = 'name = "mine"\nqrels = "qrels.txt"\n[runs]\nfolder = "runs"\nmetadata = "runs.csv"\n'
    (here / "mine.toml").write_text(definition)
    call = "lou --collection mine.toml --depth 5 --contributors names"
    (here / "names").write_text("lex1a\nlex4a\nlex1b\n")
    status, expected, _ = run(capsys, *call.split())
    assert status == 0
    shards(capsys, call, 2)
    monkeypatch.chdir(tmp_path)
    assert run(capsys, "merge", "here/shards")[:2] == (0, expected)
    # what only the definition names is part of what is compared
    table = (here / "runs.csv").read_text()
    (here / "runs.csv").write_text(table.replace("True", "False", 1))
    status, _, err = run(capsys, "merge", "here/shards")
    assert status == 2
    messages.told(err)
    (here / "runs.csv").write_text(table)
    change_judgments(here)
    status, _, err = run(capsys, "merge", "here/shards")
    assert status == 2
    messages.told(err)


def test_judgments_that_change_while_a_shard_is_made_are_noticed(here, capsys, monkeypatch):
    read = reading.read_qrels

    def changed(*arguments, **options):
        change_judgments(here)
        return read(*arguments, **options)

    with monkeypatch.context() as patched:
        patched.setattr(reading, "read_qrels", changed)
        shards(capsys, SCORE, 1)
    status, _, err = run(capsys, "merge", "shards")
    assert status == 2
    assert "1 of 10 input files (qrels.txt) is not as when the shards were made" in err


def test_a_shard_of_other_topics_is_refused(here, capsys, messages, monkeypatch):
    write = Shard.write
    monkeypatch.setattr(Shard, "write", lambda self, work, topics, parts: write(self, work, topics[1:], parts))
    shards(capsys, SCORE, 1)
    status, _, err = run(capsys, "merge", "shards")
    assert status == 2
    messages.told(err)
