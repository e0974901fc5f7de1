"""How commands are given runs and names of collections, and what a shell completes."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from command_parts import run

from pt_reuse.cli import entry as cli

FILES = ("--qrels", "qrels.txt", "--metadata", "runs.csv", "--depth", "5")
#: command -> its words beside the runs
OF_RUNS = {"runs": ("--metadata", "runs.csv"), "score": FILES[:4], "pool": FILES, "profile coverage": FILES}


pytestmark = pytest.mark.filterwarnings("default::pt_reuse.ReuseWarning")


@pytest.mark.parametrize("command", OF_RUNS)
def test_runs_are_given_as_words_or_by_the_option(command, files, monkeypatch, capsys):
    monkeypatch.chdir(files)
    printed = [
        run(capsys, *command.split(), *before, *OF_RUNS[command], *behind)
        for before, behind in ((["runs"], []), (["--runs", "runs"], []), ([], ["runs"]), ([], ["--runs", "runs"]))
    ]
    assert printed[0][0] == 0
    assert all(one == printed[0] for one in printed)


def test_the_name_of_a_collection_stands_for_it_where_there_is_no_such_file(at_home, tmp_path, monkeypatch, capsys):
    by_option, by_word = (run(capsys, "lou", *words) for words in (("--collection", at_home), (at_home,)))
    assert by_option == by_word
    assert by_word[0] == 0
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    (tmp_path / "runs").rename(tmp_path / at_home)
    status, out, _ = run(capsys, "score", at_home, "--qrels", "qrels.txt")
    assert (status, "8 runs on 5 topics" in out) == (0, True)


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
@pytest.mark.parametrize(
    ("words", "completed"),
    [
        (["lo"], "lou"),
        (["profile", "cov"], "coverage"),
        (["judge", "plan"], "plan-labels"),
        (["lou", "--me"], "--metadata --memory --measures"),
        (["judge", "export", "--pool"], "--pool --pooled --pool-order"),
        (["lou", "runs"], ""),
    ],
)
def test_a_shell_completes_commands_and_options(words, completed, capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(["--completion"])
    script = capsys.readouterr().out
    given = f"COMP_WORDS=(pt-reuse {' '.join(words)}); COMP_CWORD={len(words)}; _pt_reuse; echo ${{COMPREPLY[*]}}"
    finished = subprocess.run(["bash", "-c", f"{script}\n{given}"], capture_output=True, text=True, check=True)
    assert (ended.value.code, finished.stdout.strip()) == (0, completed)
