"""Running the command line in process."""

from __future__ import annotations

from pt_reuse.cli.entry import main, parser
from pt_reuse.cli.parser import commands, declaration


def _every_name(parser, before=""):
    """Yield the names of all commands below a parser, with those of their families."""
    for name, member in parser.members().items():
        yield from [*_every_name(member.filled(), f"{before}{name} ")] or [f"{before}{name}"]


#: every command of `pt-reuse`, and what those of studies declare
COMMANDS = tuple(_every_name(parser()))
COMMANDS_OF_STUDIES = [declaration(function) for function, _ in commands().values()]


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
