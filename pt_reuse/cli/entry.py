"""The command line `pt-reuse`: its commands are in :mod:`pt_reuse.cli`; errors and warnings are told here."""

from __future__ import annotations

import sys

#: what a shell knows as ended by ctrl-C
_INTERRUPTED = 130

# importing takes a second or two, and nobody but the user's shell imports this file
try:
    from collections.abc import Sequence
    from functools import cache
    from typing import Any

    from pt_reuse._errors import InputError, ReuseWarning
    from pt_reuse._version import __version__
    from pt_reuse.cli import (
        audit,
        collections,
        compare,
        compare_strategies,
        coverage,
        demo,
        density,
        discriminative_power,
        fetch,
        infer_pool,
        judge,
        lou,
        merge,
        minimum_ranks,
        plan_labels,
        pool,
        runs,
        saturation,
        score,
        sensitivity,
        stability,
        subcollections,
        unjudged,
        verify,
    )
    from pt_reuse.cli.parser import Parser
    from pt_reuse.cli.screen import complain, lasting_streams, tell_logs
    from pt_reuse.cli.shell import Shell
    from pt_reuse.cli.study_commands import COMMANDS, StudyCommand
    from pt_reuse.cli.telling import tell_error, tell_warnings
except KeyboardInterrupt:
    print("pt-reuse: interrupted before anything was done.", file=sys.stderr)
    sys.exit(_INTERRUPTED)

_COMMANDS = (
    unjudged,
    lou,
    coverage,
    sensitivity,
    score,
    compare,
    audit,
    discriminative_power,
    pool,
    density,
    saturation,
    minimum_ranks,
    compare_strategies,
    subcollections,
    stability,
    judge,
    plan_labels,
    runs,
    infer_pool,
    merge,
    collections,
    fetch,
    verify,
    demo,
)
#: every command, in the order of the list that help shows
_ALL: tuple[Any, ...] = (*_COMMANDS[:-6], *map(StudyCommand, COMMANDS), *_COMMANDS[-6:])


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line."""
    with lasting_streams():
        try:
            return _run(arguments)
        except KeyboardInterrupt:
            complain("pt-reuse: interrupted; files already written are whole.")
            return _INTERRUPTED


def _run(arguments: Sequence[str] | None) -> int:
    options, unknown = _parser().parse_known_args(arguments)
    shell: Shell = options.shell
    if unknown:
        shell.running.refuse(unknown)
    try:
        shell.running.check(options)
        with tell_logs(), tell_warnings(shell):
            status: int | None = options.run(options)
        # what cannot be written is told here, not by Python at its end
        sys.stdout.flush()
    except (InputError, ReuseWarning) as error:
        # a warning where the user wants them to be errors
        tell_error(shell, error)
        return 2
    except OSError as error:
        complain(f"pt-reuse: {error.filename or 'output'}: {error.strerror or error}")
        return 2
    return status or 0


# once a process: all commands together have hundreds of arguments
@cache
def _parser() -> Parser:
    parser = Parser(prog="pt-reuse", description="Can I trust this test collection for my system?")
    parser.add_argument("--version", action="version", version=f"pt-reuse {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND", parser_class=Parser)
    parsers = [parser for command in _ALL for parser in command.add_to(commands).runnable]
    for one in parsers:
        one.set_defaults(shell=Shell(one, parsers))
    return parser


if __name__ == "__main__":
    sys.exit(main())
