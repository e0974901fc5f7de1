"""The command line `pt-reuse`: its commands are in :mod:`pt_reuse.cli`; errors and warnings are told here."""

from __future__ import annotations

import sys

#: what a shell knows as ended by ctrl-C
_INTERRUPTED = 130

# importing takes its time, and nobody but the user's shell imports this file
try:
    import importlib
    import logging
    from collections.abc import Callable, Sequence
    from functools import cache, partial

    from pt_reuse._version import __version__
    from pt_reuse.cli.completion import Complete
    from pt_reuse.cli.declared import commands
    from pt_reuse.cli.output import complain
    from pt_reuse.cli.parser import Parser, carry_out
except KeyboardInterrupt:
    print("pt-reuse: interrupted before anything was done.", file=sys.stderr)
    sys.exit(_INTERRUPTED)

#: the commands that are not made of declarations: what each does, and what adds its arguments
_WRITTEN = {
    "runs": ("describe a field of run files, and check whether it fits judgments", "scores:add_runs"),
    "score": ("mean scores and ranks of runs", "scores:add_score"),
    "unjudged": ("how much of each run is unjudged", "scores:add_unjudged"),
    "infer-pool": ("say which runs must have been pooled, and to which depth", "pool:add_infer_pool"),
    "audit": ("how labels by models change the ranking of runs", "audit:add_audit"),
    "pool": ("the documents in a pool of the runs", "pool:add_pool"),
    "report": ("the card of a collection: what it is, and which questions it can answer", "report:add_report"),
    "atlas": ("the cards of several collections, and one table of them", "report:add_atlas"),
    "collections": ("list the test collections known by name, or describe one", "collections:add_collections"),
    "fetch": ("download the run files of a collection that are not here yet", "collections:add_fetch"),
    "verify": ("compute the published numbers of a collection from your files", "collections:add_verify"),
    "demo": ("the main questions, answered on the embedded collection with live pipelines", "demo:add_demo"),
    "judge export": ("write the documents of a pool as files for people to judge", "judge:add_export"),
    "judge import": ("read the files that people judged, and check them", "judge:add_import"),
    "judge agreement": ("how far annotators agree, and what their majority says", "judge:add_agreement"),
    "judge pilot": ("whether annotators agree enough on a pilot to go on", "judge:add_pilot"),
    "judge times": ("how long labels took, and what they cost", "judge:add_times"),
    "judge plan-labels": ("how many labels of a judge people must check, and which", "judge:add_plan"),
}
_FAMILIES = {
    "profile": "properties of a collection: unjudged and relevant documents, stability of its rankings",
    "judge": "write tasks for assessors, read their labels, plan judging",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line."""
    # an error says why a download failed, once
    logging.getLogger("ir_datasets").setLevel(logging.CRITICAL)
    try:
        options, unknown = parser().parse_known_args(arguments)
        if unknown:
            options.parser.take(options, unknown)
        return carry_out(options)
    except KeyboardInterrupt:
        complain("pt-reuse: interrupted; files already written are whole.")
        return _INTERRUPTED
    except OSError as error:
        complain(f"pt-reuse: {error.filename or 'output'}: {error.strerror or error}")
        return 2


def _add(place: str, parser: Parser) -> None:
    module, _, function = place.partition(":")
    getattr(importlib.import_module(f"pt_reuse.cli.{module}"), function)(parser)


def _add_study(function: str, parser: Parser) -> None:
    from pt_reuse.cli.study_commands import add_study

    add_study(function, parser)


@cache
def parser() -> Parser:
    """Return the parser of all commands, each of which gets its arguments when it is used."""
    every: dict[str, tuple[str, Callable[[Parser], None]]] = {
        name: (summary, partial(_add, place)) for name, (summary, place) in _WRITTEN.items()
    }
    every |= {name: (words.summary, partial(_add_study, function)) for name, (function, words) in commands().items()}
    top = Parser(prog="pt-reuse", description="Can I trust this test collection for my system?")
    top.add_argument("--version", action="version", version=f"pt-reuse {__version__}")
    top.add_argument("--completion", action=Complete, help='what a shell completes: eval "$(pt-reuse --completion)"')
    below = {name: command for name, command in every.items() if " " not in name}
    for family, summary in _FAMILIES.items():
        members = {n.removeprefix(f"{family} "): one for n, one in every.items() if n.startswith(f"{family} ")}
        below[family] = (summary, partial(Parser.add_commands, commands=members))
    top.add_commands(below)
    return top


if __name__ == "__main__":
    sys.exit(main())
