"""`pt-reuse profile subcollections`, compared with the function."""

from __future__ import annotations

import re

import pytest
from command_parts import run
from same import assert_same

import pt_reuse as ptr

pytestmark = [
    pytest.mark.filterwarnings("ignore::pt_reuse.scoring.caveats.CaveatWarning"),
    pytest.mark.filterwarnings("ignore:.*to be split without a source:pt_reuse.ReuseWarning"),
]
PATTERN = "^.*([0-3])$"
PICTURES = {f"{kind}-{measure}.png" for kind in ("agree", "active", "passive", "tau_b") for measure in ("AP", "P@5")}


@pytest.fixture
def files(tmp_path, field):
    field.runs.write(tmp_path / "runs")
    field.qrels.write(tmp_path / "qrels.txt")
    return ["--runs", tmp_path / "runs", "--qrels", tmp_path / "qrels.txt", "--measures", "AP,P@5"]


def expected(files, **options):
    given = {"sources": re.compile(PATTERN), **options}
    return ptr.profile.subcollections(ptr.read_runs(files[1]), ptr.read_qrels(files[3]), ["AP", "P@5"], **given)


def test_it_writes_what_the_function_finds(files, tmp_path, capsys):
    more = ["--how", "mixed", "--shares", "0,.5", "--repeats", 2, "--seed", 3, "--alpha", ".2", "--relevant", "all",
            "--resamples", 4, "--confidence", ".9", "--test", "randomisation", "--samples", 9, "--correction", "holm",
            "--jobs", 1, "--sizes", 4, "--rel", 1]  # fmt: skip
    status, out, err = run(
        capsys, "profile subcollections", *files, "--sources", PATTERN, *more, "--out", tmp_path / "o"
    )
    assert status == 0, err
    drawn = {"how": "mixed", "shares": [0, 0.5], "sizes": 4, "repeats": 2, "seed": 3}
    tested = {"alpha": 0.2, "test": "randomisation", "samples": 9, "correction": "holm"}
    found = expected(files, **drawn, **tested, resamples=4, confidence=0.9)
    assert_same(ptr.read_result(tmp_path / "o"), found)
    written = {path.name for path in (tmp_path / "o").iterdir()}
    tables = {"table.csv", "by_pair.csv", "between_measures.csv", "by_part.csv", "parts.csv"}
    assert written == {*tables, "settings.json", "arrays.npz", "result.json", *PICTURES}
    assert f"\n{found.headline()}\n" in out.replace("\n", " ") or found.headline()[:40] in out


def test_each_part_with_its_own_relevant_documents(files, tmp_path, capsys):
    more = ["--relevant", "own", "--sources", "doc000,doc0"]
    assert run(capsys, "profile subcollections", *files, *more, "--out", tmp_path / "o")[0] == 0
    found = ptr.read_result(tmp_path / "o")
    assert_same(found, expected(files, sources=["doc000", "doc0"], relevant="own"))
    assert found.settings["relevant"] == "label of at least 1, each in the part that it falls into"


def test_what_cannot_be_meant_is_told_before_anything_is_read(files, capsys):
    files[3].write_text("these are no judgments")
    for more, what in (
        (["--how", "x"], "--how must be one of"),
        (["--test", "tukey", "--correction", "holm"], "--correction must be none with --test tukey"),
        (["--samples", "0"], "--samples must be a whole number"),
        (["--sources", "^("], "--sources is no regular expression"),
        (["--sources", "^y"], "a regular expression with a group that is the source"),
        (["--shares", ".5"], "Give --how mixed"),
    ):
        status, _, err = run(capsys, "profile subcollections", *files, *more)
        assert status
        assert what in " ".join(err.split()), err


def test_a_prefix_of_no_document_is_named(files, capsys):
    status, _, err = run(capsys, "profile subcollections", *files, "--sources", "doc0,ZZZ")
    assert status
    assert "no document comes from 'ZZZ'" in err
