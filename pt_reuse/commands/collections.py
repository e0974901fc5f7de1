"""`pt-reuse collections`: which test collections are known, and what is known of one."""

from __future__ import annotations

import argparse
import re
import shutil
import sys
from collections.abc import Iterator
from difflib import get_close_matches

import pandas as pd

from pt_reuse.collections.collection import Collection
from pt_reuse.collections.listing import facts_of, list_collections
from pt_reuse.collections.registry import collection_names, real_name
from pt_reuse.commands.field import collection_of
from pt_reuse.commands.output import print_table
from pt_reuse.commands.parser import Commands, Parser, add_all
from pt_reuse.commands.shell import Shell

#: rows of the list on the screen
_MOST = 40
#: what a narrow terminal loses, first to last; name, runs and here stay
_DROPPED = ("irds", "title", "judged", "year", "pooled", "topics", "teams", "published")
#: a title cut shorter than this says nothing
_TITLE = 14


def add_to(commands: Commands) -> Parser:
    """Add the command and return its parser."""
    parser = commands.add_parser("collections", help="list the test collections known by name, or describe one")
    parser.add_argument("words", nargs="*", metavar="WORDS", help="words to search for, or the name of one collection")
    parser.add_argument("--here", action="store_true", help="only collections with run files on this machine")
    add_all(parser, "collection")
    parser.add_argument("--csv", action="store_true", help="every collection with all columns, as CSV")
    parser.set_defaults(run=_run)
    return parser


def _run(options: argparse.Namespace) -> int:
    search = " ".join(options.words).removeprefix("reuse:")
    one = not (options.csv or options.here)
    if one and (search.endswith(".toml") or search in collection_names()):
        return _describe(search, options.shell)
    found = list_collections(search, here=options.here)
    if one and real_name(search) in collection_names():
        # words may be an alias of one collection and said of others, too
        if len(found) < 2:
            return _describe(search, options.shell)
        print(f"pt-reuse: {search} alone stands for {real_name(search)}.", file=sys.stderr)
    if options.csv:
        print(found.to_csv(index=False), end="")
    elif len(found):
        width = shutil.get_terminal_size((120, 24)).columns
        most = len(found) if options.all else _MOST
        print_table(_fit(found, width), most, "collections; --all shows every one, WORDS narrow them down")
    if not len(found):
        print(f"pt-reuse: {_nothing(search, options.here)}", file=sys.stderr)
    return 0 if len(found) else 1


def _describe(name: str, shell: Shell) -> int:
    print("\n".join(_details(collection_of(name), shell)))
    return 0


def _nothing(search: str, here: bool) -> str:
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
    shown = found.astype(object).where(found.notna(), "-").astype(str)
    dropped = list(_DROPPED)
    while True:
        widths = {name: max(len(name), int(shown[name].str.len().max())) for name in shown}
        spare = width - sum(widths.values()) - len(widths) + 1
        if spare >= 0 or not dropped:
            return _left(shown)
        if "title" in widths and widths["title"] + spare >= _TITLE:
            room = widths["title"] + spare
            shown["title"] = [title if len(title) <= room else title[: room - 1] + "…" for title in shown["title"]]
        else:
            shown = shown.drop(columns=dropped.pop(0))


def _left(shown: pd.DataFrame) -> pd.DataFrame:
    """Return the table with its texts on the left, under their headings."""
    texts = {name: [name, *shown[name]] for name in ("name", "title", "irds") if name in shown}
    widths = {name: max(map(len, words)) for name, words in texts.items()}
    padded = {name: shown[name].str.ljust(width) for name, width in widths.items()}
    return shown.assign(**padded).rename(columns={name: name.ljust(width) for name, width in widths.items()})


def _details(collection: Collection, shell: Shell) -> Iterator[str]:
    year = f" ({collection.year})" if collection.year else ""
    yield f"{collection.name}: {collection.title}{year}"
    for name, text in facts_of(collection, shell.in_shell):
        yield f"  {name:<10} {text}"
