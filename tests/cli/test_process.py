"""The command line as a process."""

from __future__ import annotations

import re
import subprocess
import sys

from command_parts import COMMANDS

#: what takes longest to import
HEAVY = ("numpy", "pandas", "pyterrier", "ir_measures", "ir_datasets", "scipy", "matplotlib", "joblib", "requests")
USAGE = [
    ["--help"], ["--version"], [], ["lo"], ["--wrong"], ["lou", "--wrong"], ["lou", "."], ["lou"],
    ["lou", "--seed", "x"], ["audit"],
    ["judge"], ["judge", "export", "--out", "x"],
    ["pool", ".", "--strategy", "deep"],
    ["judge", "plan-labels"], ["fetch"], ["profile", "--help"], ["judge", "--help"], ["items", "--help"],
]  # fmt: skip


def test_help_and_errors_of_usage_load_nothing_heavy():
    code = (
        f"import sys\nfrom pt_reuse.cli.entry import main\nfor words in {USAGE!r}:\n"
        "    try:\n        assert main(words) == 2, words\n    except SystemExit as end:\n"
        "        assert end.code in (0, 2), words\n"
        f"    heavy = sorted({set(HEAVY)!r} & set(sys.modules))\n    assert not heavy, (words, heavy)\n"
    )
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    for command in COMMANDS:
        assert re.search(rf"^ +{command.split()[-1]}(\s|$)", finished.stdout, re.MULTILINE)


def test_a_closed_pipe_is_no_error():
    command = [sys.executable, "-m", "pt_reuse.cli.entry", "collections", "trec-8/adhoc"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        err = process.stderr.read()
    assert (process.returncode, err) == (0, b"")
