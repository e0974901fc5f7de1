"""The command line `pt-reuse`: its commands are in :mod:`pt_reuse.cli`; errors and warnings are told here."""

from __future__ import annotations

import sys

#: what a shell knows as ended by ctrl-C
_INTERRUPTED = 130

# importing takes its time, and nobody but the user's shell imports this file
try:
    import argparse
    import logging
    import warnings
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import contextmanager
    from functools import cache, partial
    from typing import Any

    from pt_reuse._version import __version__
    from pt_reuse.cli import audit, cards, judge, scores
    from pt_reuse.cli.output import complain, flush
    from pt_reuse.cli.parser import Parser, commands, in_shell
    from pt_reuse.cli.study_commands import add_study
    from pt_reuse.errors import InputError, ReuseWarning
    from pt_reuse.study import AIMS
except KeyboardInterrupt:
    print("pt-reuse: interrupted before anything was done.", file=sys.stderr)
    sys.exit(_INTERRUPTED)

#: the commands that are not made of declarations: under which question each is listed, what it does, and what adds its
#: arguments
_WRITTEN: dict[str, tuple[str, str, Callable[[Parser], None]]] = {
    "runs": ("new run", "describe a field of run files, and check whether it fits judgments", scores.add_runs),
    "score": ("new run", "mean scores and ranks of runs", scores.add_score),
    "unjudged": ("new run", "how much of each run is unjudged", scores.add_unjudged),
    "infer-pool": ("fair", "say which runs must have been pooled, and to which depth", scores.add_infer_pool),
    "pool": ("judging", "the documents in a pool of the runs", scores.add_pool),
    "judge export": ("judging", "write the documents of a pool as files for people to judge", judge.add_export),
    "judge import": ("judging", "read the files that people judged, and check them", judge.add_import),
    "judge pilot": ("judging", "whether annotators agree enough on a pilot to go on", judge.add_pilot),
    "judge agreement": ("judging", "how far annotators agree, and what their majority says", judge.add_agreement),
    "leaderboard": ("ranks", "which ranks of a leaderboard are real, as a page", cards.add_leaderboard),
    "audit": ("models", "how labels by models change the ranking of runs", audit.add_audit),
    "judge plan-labels": ("models", "how many labels of a judge people must check, and which", judge.add_plan),
    "report": ("files", "the card of a collection: which questions it can answer", cards.add_report),
    "atlas": ("files", "the cards of several collections, and one table of them", cards.add_atlas),
    "collections": ("files", "list the test collections known by name, or describe one", cards.add_collections),
    "fetch": ("files", "download the run files of a collection that are not here yet", cards.add_fetch),
    "verify": ("files", "compute the published numbers of a collection from your files", cards.add_verify),
    "demo": ("files", "the main questions, answered on the embedded collection", cards.add_demo),
}
_FAMILIES = {
    "profile": "properties of a collection: unjudged and relevant documents, stability of its rankings",
    "items": "answers judged by items: banks of nuggets, rubric answers or claims",
    "judge": "write tasks for assessors, read their labels, plan judging",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line."""
    # an error says why a download failed, once; ir_datasets itself sets the level
    logging.getLogger("ir_datasets").disabled = True
    try:
        options, unknown = parser().parse_known_args(arguments)
        if unknown:
            options.parser.take(options, unknown)
        for check in options.parser.checks:
            check(options)
        with _noted_warnings(options.parser):
            return options.run(options) or 0
    except (InputError, ReuseWarning) as error:
        # a warning where the user wants them to be errors
        complain(f"pt-reuse: {in_shell(error, options.parser)}")
        return 2
    except KeyboardInterrupt:
        complain("pt-reuse: interrupted; files already written are whole.")
        return _INTERRUPTED
    except OSError as error:
        complain(f"pt-reuse: {error.filename or 'output'}: {error.strerror or error}")
        return 2
    finally:
        flush()


@contextmanager
def _noted_warnings(parser: Parser) -> Iterator[None]:
    """Have every warning meanwhile said once as a note, in the words of a command."""
    told = set[str]()

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        note = f"note: {in_shell(message, parser)}" if isinstance(message, ReuseWarning) else ""
        text = f"pt-reuse: {note or f'{category.__name__}: {message}'}"
        if text not in told:
            told.add(text)
            complain(text)

    # what was shown before is shown again; the filters that libraries set meanwhile stay
    with warnings.catch_warnings():
        pass
    before = warnings.showwarning
    warnings.showwarning = show
    try:
        yield
    finally:
        warnings.showwarning = before


@cache
def parser() -> Parser:
    """Return the parser of all commands, each of which gets its arguments when it is used."""
    studies = {name: (w.aim, w.summary, partial(add_study, function)) for name, (function, w) in commands().items()}
    every = _WRITTEN | studies
    top = Parser(prog="pt-reuse", description="Can I trust this test collection for my system?")
    top.add_argument("--version", action="version", version=f"pt-reuse {__version__}")
    top.add_argument(
        "--completion", action=_Complete, nargs=0, help='what a shell completes: eval "$(pt-reuse --completion)"'
    )
    below = {name: (summary, add) for name, (_, summary, add) in every.items() if " " not in name}
    for family, what in _FAMILIES.items():
        inside = {n.removeprefix(f"{family} "): of[1:] for n, of in every.items() if n.startswith(f"{family} ")}
        below[family] = (what, partial(Parser.add_commands, commands=inside))
    top.add_commands(below)
    # by the headings under which commands are looked for
    top.listed = {
        heading: {name: summary for name, (of, summary, _) in every.items() if of == aim}
        for aim, heading in AIMS.items()
    }
    return top


#: what completes the words of `pt-reuse` in bash, and in zsh by its bashcompinit
_SCRIPT = """\
_pt_reuse() {{
    local current="${{COMP_WORDS[COMP_CWORD]}}" given="" words=""
    [ "$COMP_CWORD" -gt 1 ] && given="${{COMP_WORDS[1]}}"
    case "$given" in
        {families}) [ "$COMP_CWORD" -gt 2 ] && given="$given ${{COMP_WORDS[2]}}" ;;
    esac
    case "$given" in
{cases}
    esac
    # options where a word begins as one, commands where one is due; files else
    case "$current|$given" in
        -*|*"|"|{dues}) COMPREPLY=($(compgen -W "$words" -- "$current")) ;;
        *) COMPREPLY=() ;;
    esac
}}
complete -o default -F _pt_reuse pt-reuse
"""


class _Complete(argparse.Action):
    """Prints what a shell evaluates to complete commands and options, and ends."""

    def __call__(self, parser: Any, *_: Any) -> None:
        words = dict(_words("", parser))
        cases = "\n".join(f'        "{name}") words="{" ".join(known)}" ;;' for name, known in words.items())
        dues = "|".join(f'*"|{name}"' for name in _FAMILIES)
        print(_SCRIPT.format(families="|".join(_FAMILIES), cases=cases, dues=dues), end="")
        parser.exit()


def _words(name: str, parser: Parser) -> Iterator[tuple[str, list[str]]]:
    """Yield the commands, each with the words that can follow it: members of a family, and options."""
    members = parser.filled().members()
    yield name, [*members, *parser._option_string_actions]
    for member, inner in members.items():
        yield from _words(f"{name} {member}".strip(), inner)


if __name__ == "__main__":
    sys.exit(main())
