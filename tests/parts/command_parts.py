"""Running the command line in process."""

from __future__ import annotations

from pt_reuse.cli.entry import main
from pt_reuse.cli.study_commands import COMMANDS as COMMANDS_OF_STUDIES

#: every command of `pt-reuse`
COMMANDS = (
    "unjudged",
    "lou",
    "coverage",
    "sensitivity",
    "score",
    "compare",
    "audit",
    "discriminative-power",
    "pool",
    "density",
    "saturation",
    "minimum-ranks",
    "compare-strategies",
    "subcollections",
    "stability",
    "judge",
    "plan-labels",
    "runs",
    "infer-pool",
    "merge",
    "collections",
    "fetch",
    "verify",
    "demo",
    *(each["command"]["name"] for each in COMMANDS_OF_STUDIES),
)


def run(capsys, *arguments):
    """Return status, output and errors of the command line."""
    try:
        status = main([str(argument) for argument in arguments])
    except SystemExit as exit_:
        status = exit_.code
    printed = capsys.readouterr()
    assert "Traceback" not in printed.err
    return status, printed.out, printed.err


def lines_of_table(out):
    """Return the words of every line that a command printed."""
    return [line.split() for line in out.splitlines() if line.strip()]


def run_file(path):
    """Return the tag of a run file that is not packed."""
    return path.read_text().split(maxsplit=6)[5]
