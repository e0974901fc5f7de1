"""What goes wrong on the command line: status 2, in words of the command line, and nothing of Python."""

from __future__ import annotations

from command_parts import run

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


def test_calls_that_are_not_whole_or_contradict_themselves(capsys):
    for call, said in CALLS.items():
        status, out, err = run(capsys, *call.split())
        assert (status, out) == (2, ""), call
        assert err.startswith("pt-reuse")
        assert said in err
