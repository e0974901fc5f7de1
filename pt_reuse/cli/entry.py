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

    from pt_reuse._version import __version__
    from pt_reuse.cli.audit import add_audit
    from pt_reuse.cli.collections import add_collections, add_fetch, add_verify
    from pt_reuse.cli.completion import Complete
    from pt_reuse.cli.demo import add_demo
    from pt_reuse.cli.judge import add_agreement, add_export, add_import, add_pilot, add_plan, add_times
    from pt_reuse.cli.output import complain, held_logs, lasting_streams
    from pt_reuse.cli.parser import COMMANDS, Parser, add_command, add_commands, carry_out
    from pt_reuse.cli.pool import add_infer_pool, add_pool
    from pt_reuse.cli.report import add_atlas, add_report
    from pt_reuse.cli.scores import add_runs, add_score, add_unjudged
    from pt_reuse.cli.study_commands import StudyCommand
except KeyboardInterrupt:
    print("pt-reuse: interrupted before anything was done.", file=sys.stderr)
    sys.exit(_INTERRUPTED)

#: what adds the commands that are not made of declarations, below the name of their family where they have one
_WRITTEN: dict[str, tuple[Any, ...]] = {
    "": (
        add_runs, add_score, add_unjudged, add_infer_pool, add_audit, add_pool, add_collections, add_fetch, add_verify,
        add_report, add_atlas, add_demo,
    ),
    "profile": (),
    "judge": (add_export, add_import, add_pilot, add_agreement, add_times, add_plan),
}  # fmt: skip
_FAMILIES = {
    "profile": "properties of a collection: unjudged and relevant documents, stability of its rankings",
    "judge": "write tasks for assessors, read their labels, plan judging",
}
#: the groups in which help shows the commands
_GROUPS = {
    "runs and scores": ("runs", "score", "unjudged"),
    "fairness of the pool": ("lou", "by-type", "infer-pool"),
    "new runs": ("check-new-run", "judge-next"),
    "judgments": ("compare", "audit", "pool", "judge"),
    "collections": ("report", "atlas", "profile", "collections", "fetch", "verify"),
    "further": ("demo",),
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
    if unknown:
        options.parser.take(options, unknown)
    try:
        with held_logs() as held:
            status = carry_out(options)
        # of what failed the error says why, once
        for said in held if status != 2 else ():
            complain(f"pt-reuse: ir_datasets: {said}")
        # what cannot be written is told here, not by Python at its end
        sys.stdout.flush()
    except OSError as error:
        complain(f"pt-reuse: {error.filename or 'output'}: {error.strerror or error}")
        return 2
    return status


def _add_members(family: str, commands: Any) -> list[Parser]:
    """Add the commands of a family and return their parsers."""
    declared = [StudyCommand(each) for each in COMMANDS if each["command"]["name"].rpartition(" ")[0] == family]
    return [add(commands) for add in (*_WRITTEN[family], *(one.add_to for one in declared))]


# once a process: all commands together have hundreds of arguments
@cache
def _parser() -> Parser:
    parser = Parser(prog="pt-reuse", description="Can I trust this test collection for my system?")
    parser.add_argument("--version", action="version", version=f"pt-reuse {__version__}")
    parser.add_argument(
        "--completion", action=Complete, help='print what a shell completes: eval "$(pt-reuse --completion)"'
    )
    commands = add_commands(parser, _GROUPS)
    parsers = _add_members("", commands)
    for name, summary in _FAMILIES.items():
        parsers += _add_members(name, add_commands(add_command(commands, name, summary)))
    for one in parsers:
        one.set_defaults(parser=one)
    return parser


if __name__ == "__main__":
    sys.exit(main())
