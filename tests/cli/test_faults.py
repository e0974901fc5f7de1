"""What goes wrong on the command line: status 2, in words of the command line, and nothing of Python."""

from __future__ import annotations

import ir_datasets
from command_parts import run

from pt_reuse.cli.parser import Parser, in_shell

#: how the command line is called -> what is said of the call; the library's own words differ by its version
CALLS = {
    "": "the following arguments are required: COMMAND",
    "lous": "there is no command 'lous'. Did you mean 'lou'?",
    "lo": "there is no command 'lo'. Did you mean 'lou'?",
    "judge exprt": "there is no command 'exprt'. Did you mean 'export'?",
    "lou x --qrels x --dpeth 3": "there is no option --dpeth. Did you mean '--depth'?",
    "audit --jugdes x": "there is no option --jugdes. Did you mean '--judges'?",
    "lou --runs .": "the following arguments are required: --qrels (or --collection)",
    "lou --runs x": "no such file, and no collection of this name. `pt-reuse collections` lists the names.",
    "lou --qrels x": "the following arguments are required: RUNS (or --collection)",
    "runs": "the following arguments are required: RUNS (or --collection)",
    "infer-pool": "the following arguments are required: RUNS, --qrels (or --collection)",
    "runs . --missing error": "--missing is for the runs of a collection. Give it with --collection.",
    "runs . --no-download": "--no-download is for the runs of a collection. Give it with --collection.",
    "infer-pool --runs x --qrels x --no-download": "--no-download is for the runs of a collection.",
    "check-new-run --collection demo --new {}/nothing --names file": "nothing is no file",
    "runs --collection demo --names file": "--names is for run files alone: with --collection, runs bear the names on",
}


def test_a_file_of_families_that_cannot_be_read_is_named(tmp_path, capsys):
    (tmp_path / "scores.csv").write_text("system,a,b\nx,.1,.2\ny,.3,.4\n")
    for data in (b"", b"\xff\xfe\x00"):
        (tmp_path / "families").write_bytes(data)
        status, out, err = run(capsys, "leaderboard", tmp_path / "scores.csv", "--families", tmp_path / "families")
        assert (status, out) == (2, "")
        assert err.startswith(f"pt-reuse: {tmp_path / 'families'}: ")


def test_what_ir_datasets_logs_of_a_failed_download_is_not_shown(capsys):
    run(capsys, "collections", "demo")
    ir_datasets.util._logger.warn("Download failed")
    assert capsys.readouterr().err == ""


def test_a_path_that_is_no_collection_is_shown_as_it_was_typed(tmp_path, capsys):
    status, _, err = run(capsys, "runs", "--collection", tmp_path / "nowhere")
    assert status == 2
    assert f"'reuse:{tmp_path / 'nowhere'}'" in err


def test_calls_that_are_not_whole_or_contradict_themselves(capsys):
    for call, said in CALLS.items():
        status, out, err = run(capsys, *call.split())
        assert (status, out) == (2, ""), call
        assert err.startswith("pt-reuse")
        assert said in err


def test_messages_name_commands():
    said = "infer_pool(runs, qrels) and check_new_run(new, runs, qrels) say; so does runs.with_metadata(pooled=...)"
    shown = in_shell(said, Parser())
    assert shown.startswith("`pt-reuse infer-pool` and `pt-reuse check-new-run` say; so does runs.with_metadata(")
