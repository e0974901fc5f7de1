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
        demo,
        fetch,
        infer_pool,
        judge_agreement,
        judge_export,
        judge_import,
        merge,
        plan_labels,
        pool,
        runs,
        score,
        unjudged,
        verify,
    )
    from pt_reuse.cli.parser import Parser, add_command, add_commands
    from pt_reuse.cli.screen import complain, lasting_streams, tell_logs
    from pt_reuse.cli.shell import Shell, noted_warnings, show_error
    from pt_reuse.cli.study_commands import COMMANDS, StudyCommand
except KeyboardInterrupt:
    print("pt-reuse: interrupted before anything was done.", file=sys.stderr)
    sys.exit(_INTERRUPTED)

#: the commands that are not made of declarations, below the name of their family where they have one
_WRITTEN = {
    "": (runs, score, unjudged, infer_pool, audit, pool, collections, fetch, verify, merge, demo),
    "profile": (
    ),
    "judge": (judge_export, judge_import, judge_agreement, plan_labels),
}  # fmt: skip
_FAMILIES = {
    "profile": "what a collection is like: unjudged documents, relevant ones, how stable its rankings are",
    "judge": "give documents to people to be judged, read what they said, plan what to judge",
}
#: the groups in which help shows the commands
_GROUPS = {
    "runs and scores": ("runs", "score", "unjudged"),
    "fairness of the pool": ("lou", "by-type", "infer-pool"),
    "judgments": ("compare", "audit", "pool", "judge"),
    "collections": ("profile", "collections", "fetch", "verify"),
    "further": ("merge", "demo"),
}


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
        with tell_logs(), noted_warnings(shell):
            status: int | None = options.run(options)
        # what cannot be written is told here, not by Python at its end
        sys.stdout.flush()
    except (InputError, ReuseWarning) as error:
        # a warning where the user wants them to be errors
        show_error(shell, error)
        return 2
    except OSError as error:
        complain(f"pt-reuse: {error.filename or 'output'}: {error.strerror or error}")
        return 2
    return status or 0


def _members(family: str) -> list[Any]:
    """Return the commands of a family, of which each adds itself."""
    declared = [StudyCommand(each) for each in COMMANDS if each["command"]["name"].rpartition(" ")[0] == family]
    return [*_WRITTEN[family], *declared]


# once a process: all commands together have hundreds of arguments
@cache
def _parser() -> Parser:
    parser = Parser(prog="pt-reuse", description="Can I trust this test collection for my system?")
    parser.add_argument("--version", action="version", version=f"pt-reuse {__version__}")
    commands = add_commands(parser, _GROUPS)
    parsers = [member.add_to(commands) for member in _members("")]
    for name, summary in _FAMILIES.items():
        below = add_commands(add_command(commands, name, summary))
        parsers += [member.add_to(below) for member in _members(name)]
    for one in parsers:
        one.set_defaults(shell=Shell(one, parsers))
    return parser


if __name__ == "__main__":
    sys.exit(main())
