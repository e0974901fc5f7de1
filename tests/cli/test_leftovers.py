"""A folder into which a command writes again has no file of the call before that the new one does not write."""

from __future__ import annotations

from command_parts import run


def written(capsys, files, *words):
    """Run a command and return the names of the files in its folder."""
    given = ("--runs", files / "runs", "--qrels", files / "qrels.txt", "--metadata", files / "runs.csv")
    if words[0] in ("pool", "unjudged"):
        words, given = (words[0], files / "runs", *words[1:]), given[2:]
    status, _, err = run(capsys, *words, *given, "--out", files / "out", "--overwrite")
    assert status == 0, err
    return {path.relative_to(files / "out").as_posix() for path in (files / "out").rglob("*") if path.is_file()}


def test_pictures_of_other_measures_go(files, capsys):
    before = written(capsys, files, "lou", "--measures", "AP", "--depth", "5")
    assert "scores-AP.png" in before
    (files / "out" / "notes.txt").write_text("mine")
    after = written(capsys, files, "lou", "--measures", "P@5", "--depth", "5")
    assert "scores-P@5.png" in after
    assert not {name for name in after if "AP" in name}
    assert "notes.txt" in after


def test_tables_of_other_units_go(files, capsys):
    assert "by_team.csv" in written(capsys, files, "unjudged", "--by", "team")
    assert written(capsys, files, "unjudged", "--by", "type") == {
        "by_run.csv", "by_topic.csv", "by_type.csv", "settings.json"
    }  # fmt: skip


def test_labels_that_people_gave_to_what_is_to_be_judged_stay(files, capsys):
    written(capsys, files, "pool", "--depth", "20")
    labelled = (files / "out" / "to_judge.txt").read_text().replace(" -1\n", " 1\n")
    (files / "out" / "to_judge.txt").write_text(labelled)
    words = ("pool", files / "runs", "--out", files / "out", "--overwrite", "--depth")
    # all is judged, or some is not
    for qrels, depth in ((files / "out" / "to_judge.txt", "5"), (files / "qrels.txt", "20")):
        status, out, err = run(capsys, *words, depth, "--qrels", qrels)
        assert (status, out) == (2, "")
        assert "to_judge.txt: it has labels in place of -1" in err
        assert (files / "out" / "to_judge.txt").read_text() == labelled


def test_labels_and_judgments_are_not_written_to_one_file(tmp_path, capsys):
    same = ("--out", tmp_path / "x", "--as-qrels", tmp_path / "." / "x")
    status, out, err = run(capsys, "judge", "import", tmp_path / "nowhere", *same)
    assert (status, out) == (2, "")
    assert "--out and --as-qrels name the same file" in err
    assert not (tmp_path / "x").exists()
