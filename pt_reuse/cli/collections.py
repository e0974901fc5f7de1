"""`pt-reuse collections`: which test collections are known, and what is known of one."""

from __future__ import annotations

import argparse
import re
import sys
from difflib import get_close_matches
from typing import TYPE_CHECKING

from pt_reuse._check import count
from pt_reuse._text import is_missing, shorten
from pt_reuse.cli.field import collection_of
from pt_reuse.cli.parser import Commands, Parser, add_all, add_command
from pt_reuse.cli.screen import complain, print_table, say, say_beside, width_of
from pt_reuse.cli.shell import Shell

if TYPE_CHECKING:
    import pandas as pd

#: rows of the list on the screen
_MOST = 40
#: what a narrow terminal loses, first to last; name, runs and here stay
_DROPPED = ("irds", "judged", "teams", "topics", "title", "year", "pooled", "published")
#: a title cut shorter than this says nothing; between columns
_TITLE, _GAP = 24, 2


def add_to(commands: Commands) -> Parser:
    """Add the command and return its parser."""
    parser = add_command(commands, "collections", "list the test collections known by name, or describe one")
    parser.add_argument("words", nargs="*", metavar="WORDS", help="words to search for, or the name of one collection")
    parser.add_argument("--here", action="store_true", help="only collections with run files on this machine")
    add_all(parser, "collection")
    parser.add_argument("--csv", action="store_true", help="every collection with all columns, as CSV")
    parser.set_defaults(run=_run)
    return parser


def _run(options: argparse.Namespace) -> int:
    from pt_reuse.collections.listing import list_collections
    from pt_reuse.collections.registry import collection_names, real_name

    search = " ".join(options.words).removeprefix("reuse:")
    one = not (options.csv or options.here or options.all)
    if one and (search.endswith(".toml") or real_name(search) in collection_names()):
        _describe(search, options.shell)
        return 0
    found = list_collections(search, here=options.here)
    if options.csv:
        print(found.to_csv(index=False), end="")
    elif len(found):
        most = len(found) if options.all else _MOST
        fitting = _fit(found, width_of(sys.stdout))
        print_table(fitting, most, "collections; --all shows every one, WORDS narrow them down")
    if not len(found):
        complain(f"pt-reuse: {_nothing(search, options.here)}")
    return 0 if len(found) else 1


def _describe(name: str, shell: Shell) -> None:
    from pt_reuse.collections.listing import facts_of, list_collections

    collection = collection_of(name)
    year = f" ({collection.year})" if collection.year else ""
    say(f"{collection.name}: {collection.title}{year}")
    for fact, text in facts_of(collection, shell.in_shell):
        say_beside(f"  {fact:<10} ", text)
    if name.endswith(".toml") or name == collection.name:
        return
    # the words of an alias may be said of other collections, too
    others = len(list_collections(name).query("name != @collection.name"))
    if others:
        also = count(others, "other collection")
        complain(f"pt-reuse: {name!r} finds {also}, too: `pt-reuse collections {name} --all` lists all.")


def _nothing(search: str, here: bool) -> str:
    from pt_reuse.collections.listing import list_collections

    wanted = f"no collection with {search!r}" if search else "no collection"
    if here:
        return (
            f"{wanted} has run files on this machine. `pt-reuse collections NAME` says which folders are looked at, "
            f"`pt-reuse fetch NAME` downloads its runs."
        )
    known = list_collections()
    text = " ".join([*known["name"], *known["title"].str.lower()])
    vocabulary = sorted({part for word in re.findall(r"[\w./-]+", text) for part in (word, *word.split("/"))})
    near = {word: get_close_matches(word, vocabulary, n=1) for word in search.lower().split() if word not in text}
    meant = " ".join((near.get(word) or [word])[0] for word in search.lower().split())
    hint = f" Did you mean {meant!r}?" if any(near.values()) else ""
    return f"{wanted}.{hint} `pt-reuse collections --all` shows all {len(known):,}."


def _fit(found: pd.DataFrame, width: int) -> pd.DataFrame:
    """Return the table with as many columns as a line has room for, the title shortened first."""
    shown, dropped = found, list(_DROPPED)
    widths = {str(name): _width(str(name), found[name]) for name in found}
    while dropped:
        spare = width + _GAP - sum(widths[str(name)] + _GAP for name in shown)
        if spare >= 0:
            break
        if "title" in shown and widths["title"] + spare >= _TITLE:
            room = widths["title"] + spare
            return shown.assign(title=[shorten(title, room) for title in shown["title"]])
        shown = shown.drop(columns=dropped.pop(0))
    return shown


def _width(heading: str, column: pd.Series) -> int:
    return max([len(heading), *(1 if is_missing(cell) else len(str(cell)) for cell in column)])
