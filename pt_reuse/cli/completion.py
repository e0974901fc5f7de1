"""What completes the words of `pt-reuse` in bash, and in zsh by its bashcompinit."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from pt_reuse.cli.parser import Parser

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


class Complete(argparse.Action):
    """Prints what a shell evaluates to complete commands and options, and ends."""

    def __init__(self, option_strings: Any, dest: str, help: str | None = None):
        super().__init__(option_strings, dest, nargs=0, help=help)

    def __call__(self, parser: Any, *_: Any) -> None:
        print(_script(parser), end="")
        parser.exit()


def _script(parser: Parser) -> str:
    words = dict(_words("", parser))
    families = [name for name in words if name and any(other.startswith(f"{name} ") for other in words)]
    return _SCRIPT.format(
        families="|".join(families),
        cases="\n".join(f'        "{name}") words="{" ".join(known)}" ;;' for name, known in words.items()),
        dues="|".join(f'*"|{name}"' for name in families),
    )


def _words(name: str, parser: Parser) -> Iterator[tuple[str, list[str]]]:
    """Yield the commands, each with the words that can follow it: members of a family, and options."""
    members = parser.filled().members()
    yield name, [*members, *parser._option_string_actions]
    for member, inner in members.items():
        yield from _words(f"{name} {member}".strip(), inner)
