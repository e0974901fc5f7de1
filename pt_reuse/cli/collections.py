"""`pt-reuse collections`, `fetch` and `verify`: what is known by name, its runs, and its published numbers replayed."""

from __future__ import annotations

import argparse
import re
import sys
from difflib import get_close_matches
from typing import TYPE_CHECKING

from pt_reuse._check import count, examples
from pt_reuse._text import is_missing, shorten
from pt_reuse.cli.field import add_faults_to, add_run_files, collection_of, run_files, told_name
from pt_reuse.cli.output import (
    SHOWN,
    complain,
    out_file,
    print_table,
    say,
    say_beside,
    say_end,
    shows_bars,
    width_of,
    write_table,
)
from pt_reuse.cli.parser import Commands, Group, Parser, add_command, add_quiet, add_verbose, in_shell
from pt_reuse.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

#: rows of the list on the screen
_MOST = 40
#: what a narrow terminal loses, first to last; name, runs and here stay
_DROPPED = ("irds", "judged", "teams", "topics", "title", "year", "pooled", "published")
#: a title cut shorter than this says nothing; between columns
_TITLE, _GAP = 24, 2


def add_collections(commands: Commands) -> Parser:
    """Add the command and return its parser."""
    parser = add_command(commands, "collections", "list the test collections known by name, or describe one")
    with parser.group(Group.INPUT):
        parser.add_option("words", "WORDS", "words to search for, or the name of one collection", nargs="*")
        parser.add_switch("--here", "only collections with run files on this machine")
    add_verbose(parser, "every collection")
    with parser.group(Group.OUTPUT):
        parser.add_switch("--csv", "every collection with all columns, as CSV")
    parser.set_defaults(run=_run_collections)
    return parser


def _run_collections(options: argparse.Namespace) -> int:
    from pt_reuse.collections.dataset import list_collections
    from pt_reuse.collections.definition import collection_names, real_name

    search = " ".join(options.words).removeprefix("reuse:")
    one = not (options.csv or options.here or options.verbose)
    if one and (search.endswith(".toml") or real_name(search) in collection_names()):
        _describe(search)
        return 0
    found = list_collections(search, here=options.here)
    if options.csv:
        print(found.to_csv(index=False), end="")
    elif len(found):
        most = len(found) if options.verbose else _MOST
        fitting = _fit(found, width_of(sys.stdout))
        print_table(fitting, most, "collections; --verbose shows every one, WORDS narrow them down")
    if not len(found):
        complain(f"pt-reuse: {_nothing(search, options.here)}")
    return 0 if len(found) else 1


def _describe(name: str) -> None:
    from pt_reuse.collections.dataset import facts_of, list_collections

    collection = collection_of(name)
    year = f" ({collection.year})" if collection.year else ""
    say(f"{collection.name}: {collection.title}{year}")
    for fact, text in facts_of(collection):
        say_beside(f"  {fact:<10} ", text)
    if name.endswith(".toml") or name == collection.name:
        return
    # the words of an alias may be said of other collections, too
    others = len(list_collections(name).query("name != @collection.name"))
    if others:
        also = count(others, "other collection")
        complain(f"pt-reuse: {name!r} finds {also}, too: `pt-reuse collections {name} --verbose` lists all.")


def _nothing(search: str, here: bool) -> str:
    from pt_reuse.collections.dataset import list_collections

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
    return f"{wanted}.{hint} `pt-reuse collections --verbose` shows all {len(known):,}."


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


def add_fetch(commands: Commands) -> Parser:
    """Add the command and return its parser."""
    parser = add_command(commands, "fetch", "download the run files of a collection that are not here yet")
    with parser.group(Group.INPUT):
        parser.add_option("collection", "NAME", "a collection known by name, such as trec-8/adhoc")
        parser.add_switch("--only-pooled", "only runs that are on record as pooled")
        parser.add_option("--type", "T", "only runs of this type, such as automatic")
        parser.add_option("--team", "T", "only runs of this team")
    parser.add_option("--jobs", "N", "downloads at a time; default 8", default=8, type=int)
    add_quiet(parser)
    parser.called = {"pooled": "only_pooled", "n_jobs": "jobs"}
    parser.set_defaults(run=_run_fetch)
    return parser


def _run_fetch(options: argparse.Namespace) -> int:
    from pt_reuse.collections.dataset import ReuseDataset
    from pt_reuse.collections.download.runs import FAULTY_FOLDER
    from pt_reuse.collections.runs import FetchStatus, download_folder, runs_by_reason

    collection = collection_of(options.collection)
    try:
        files = ReuseDataset(collection).fetch(
            pooled=True if options.only_pooled else None,
            type=options.type,
            team=options.team,
            n_jobs=options.jobs,
            verbose=shows_bars(options),
        )
    except KeyboardInterrupt:
        complain(
            f"pt-reuse: interrupted; what has arrived is kept, and `pt-reuse fetch {options.collection}` goes on from "
            f"there."
        )
        return 130
    n = {status: int((files["status"] == status).sum()) for status in FetchStatus}
    failed = files[files["status"].isin([FetchStatus.FAILED, FetchStatus.FAULTY])]
    aside = f", {n[FetchStatus.FAULTY]:,} kept aside" if n[FetchStatus.FAULTY] else ""
    say(
        f"{collection.name}: {count(len(files), 'run')}: {n[FetchStatus.HERE]:,} were here, "
        f"{n[FetchStatus.FETCHED]:,} fetched, {n[FetchStatus.FAILED]:,} failed{aside}."
    )
    if n[FetchStatus.HERE] < len(files):
        say(f"New files go to {download_folder(collection)}")
    reasons = runs_by_reason(collection, dict(zip(failed["name"], failed["reason"], strict=True)))
    groups = list(reasons.items())
    for reason, runs in groups[:SHOWN]:
        say(f"  {count(len(runs), 'run')} ({examples(runs)}): {reason}")
    if len(groups) > SHOWN:
        say(f"  ... and {len(groups) - SHOWN:,} more reasons")
    if aside:
        folder = download_folder(collection)
        say(
            f"Kept aside in {folder / FAULTY_FOLDER}: runs with bad lines. `--bad-lines skip` of the other commands "
            f"reads their good lines. Or mend a file and move it to {folder}. Or delete it, so that it is fetched "
            f"again."
        )
    return 2 if len(failed) else 0


#: groups of figures on the screen
_GROUPS = 40
#: what the screen shows of a figure
_OF_A_FIGURE = ["name", "published", "computed", "equal", "difference"]


def add_verify(commands: Commands) -> Parser:
    """Add the command and return its parser."""
    parser = add_command(commands, "verify", "compute the published numbers of a collection from your files")
    with parser.group(Group.INPUT):
        parser.add_option("collection", "NAME", "a collection known by name, such as trec-8/adhoc")
    add_run_files(parser, "folder of its run files; default where collections keep them")
    with parser.group(Group.INPUT):
        parser.add_option("--qrels", "FILE", "its judgments; default those of the collection")
        parser.add_option("--figures", "FILE", "published figures of your own, as TOML")
    add_faults_to(parser)
    with parser.group(Group.OUTPUT):
        parser.add_option("--out", "FILE", "write every figure there, as CSV")
        parser.add_switch("--overwrite", "replace the file of --out")
    add_verbose(parser, "every figure, and the convention of each group")
    add_quiet(parser)
    parser.set_defaults(run=_run_verify)
    return parser


def _run_verify(options: argparse.Namespace) -> int:
    from pt_reuse.verification.verification import DIFFERING, verify

    out = out_file(options)
    result = verify(
        told_name(options.collection),
        runs=None if options.runs is None else run_files(options.runs),
        qrels=options.qrels,
        figures=options.figures,
        bad_lines=options.bad_lines,
        other_files=options.other_files,
        verbose=shows_bars(options),
    )
    say(f"{result.title}: {result.headline()}")
    for line in result.not_computed():
        say(in_shell(line, options.parser))
    differing = result.table[[verdict.status in DIFFERING for verdict in result.verdicts]]
    if len(differing):
        say("\nUnequal:")
        some = differing if options.verbose else differing.head(SHOWN)
        _print_figures(some)
        if len(some) < len(differing):
            say(f"... and {len(differing) - len(some):,} more; --verbose shows every one")
    say()
    _print_groups(result.summary, options.verbose)
    if options.verbose:
        _print_figures(result.table)
    say_end(result.settings, (), verbose=options.verbose)
    if out is not None:
        write_table(result.table, out)
        say(f"\nWritten: {out}")
    reasons = [verdict.reason for verdict in result.verdicts if verdict.reason is not None]
    if len(reasons) == len(result.verdicts):
        raise InputError(f"no figure could be computed: {reasons[0]}")
    return 0 if result.holds else 1


def _print_groups(summary: pd.DataFrame, verbose: bool) -> None:
    """Print a line per group, and where told to the conventions under which they were judged."""
    import pandas as pd

    shown = pd.DataFrame(
        {
            "what": summary["what"],
            "equal": [f"{n:,} of {of:,}" for n, of in zip(summary["equal"], summary["figures"], strict=True)],
            "largest difference": summary["largest_difference"],
        }
    )
    if summary["not_computed"].any():
        shown.insert(2, "not computed", summary["not_computed"])
    print_table(shown, len(shown) if verbose else _GROUPS, "groups; --verbose shows every one", numbers="{:.2g}")
    if verbose:
        for convention, rows in summary[summary["convention"] != ""].groupby("convention", sort=False):
            say(f"- under {convention}: {'; '.join(rows['what'])}")


def _print_figures(table: pd.DataFrame) -> None:
    """Print the figures of each group, and what is to be said of them."""
    for (what, convention), rows in table.groupby(["what", "convention"], sort=False):
        say(f"\n{what} ({convention}):" if convention else f"\n{what}:")
        print_table(rows[_OF_A_FIGURE], len(rows), "figures", numbers="{:.10g}")
        for note in dict.fromkeys(rows["note"]):
            if note:
                say(f"- {note}")
