"""Running the command line in process."""

from __future__ import annotations

from pt_reuse.cli.entry import main
from pt_reuse.cli.parser import COMMANDS as COMMANDS_OF_STUDIES

#: every command of `pt-reuse`
COMMANDS = (
    "unjudged",
    "profile coverage",
    "score",
    "audit",
    "profile discriminative-power",
    "pool",
    "profile density",
    "profile saturation",
    "profile minimum-ranks",
    "judge compare-strategies",
    "profile stability",
    "judge agreement",
    "judge export",
    "judge import",
    "judge pilot",
    "judge plan-labels",
    "judge times",
    "runs",
    "infer-pool",
    "collections",
    "fetch",
    "verify",
    "report",
    "atlas",
    "demo",
    *(each["command"]["name"] for each in COMMANDS_OF_STUDIES),
)


def run(capsys, *arguments):
    """Return status, output and errors of the command line."""
    try:
        words = [str(argument) for argument in arguments]
        status = main([*" ".join(words[:1]).split(), *words[1:]])
    except SystemExit as exit_:
        status = exit_.code
    printed = capsys.readouterr()
    assert "Traceback" not in printed.err
    # what is refused is refused for its options, and not since there is no such command
    assert words == ["lous"] or "argument COMMAND: invalid choice" not in printed.err
    return status, printed.out, printed.err


def lines_of_table(out):
    """Return the words of every line that a command printed."""
    return [line.split() for line in out.splitlines() if line.strip()]
