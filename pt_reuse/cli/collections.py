"""`pt-reuse collections`, `fetch` and `verify`: what is known by name, its runs, and its published numbers replayed."""

from __future__ import annotations

import argparse

from pt_reuse._check import count, did_you_mean, examples
from pt_reuse._text import prose
from pt_reuse.cli.field import add_faults_to, add_run_files, collection_of, run_files, told_name
from pt_reuse.cli.output import complain, out_file, print_table, put, say, shows_bars, width_of, write_table
from pt_reuse.cli.parser import INPUT, Parser, add_out, add_quiet, in_shell
from pt_reuse.errors import InputError

#: what a narrow terminal loses, first to last; name, runs and here stay
_SPARE = ("irds", "judged", "teams", "topics", "title", "year", "pooled", "published")


def add_collections(parser: Parser) -> None:
    """Add the arguments of the command."""
    what = "words to search for, or the name of one collection"
    parser.add_option("words", "WORDS", what, group=INPUT, nargs="*")
    parser.set_defaults(run=_run_collections)


def _run_collections(options: argparse.Namespace) -> int:
    from pt_reuse.collections.dataset import facts_of, list_collections
    from pt_reuse.collections.definition import collection_names, real_name

    search = " ".join(options.words).removeprefix("reuse:")
    if search.endswith(".toml") or real_name(search) in collection_names():
        one = collection_of(search)
        say(f"{one.name}: {one.title}{f' ({one.year})' if one.year else ''}")
        for fact, text in facts_of(one):
            head = f"  {fact:<10} "
            put(head + prose(text, width=width_of() - len(head)).replace("\n", "\n" + " " * len(head)))
        return 0
    found = list_collections(search)
    if len(found):
        print_table(found, "collections; WORDS narrow them down", most=40, spare=_SPARE)
        return 0
    complain(f"pt-reuse: no collection {search!r}.{did_you_mean(search, collection_names())}")
    return 1


def add_fetch(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.add_option("collection", "NAME", "a collection known by name, such as trec-8/adhoc", group=INPUT)
    parser.add_option("--only-pooled", "", "only runs that are on record as pooled", group=INPUT)
    parser.add_option("--jobs", "N", "downloads at a time; default 8", default=8, type=int)
    add_quiet(parser)
    parser.called = {"pooled": "only_pooled", "n_jobs": "jobs"}
    parser.set_defaults(run=_run_fetch)


def _run_fetch(options: argparse.Namespace) -> int:
    from pt_reuse.collections.dataset import ReuseDataset
    from pt_reuse.collections.runs import download_folder, runs_by_reason

    collection = collection_of(options.collection)
    folder, pooled = download_folder(collection), True if options.only_pooled else None
    files = ReuseDataset(collection).fetch(pooled=pooled, n_jobs=options.jobs, verbose=shows_bars(options))
    n = files["status"].value_counts().reindex(["here", "fetched", "failed"], fill_value=0)
    failed = files[files["status"] == "failed"]
    say(
        f"{collection.name}: {count(len(files), 'run')}: {n['here']:,} were here, {n['fetched']:,} fetched, "
        f"{n['failed']:,} failed."
    )
    if n["here"] < len(files):
        say(f"New files go to {folder}")
    reasons = runs_by_reason(collection, dict(zip(failed["name"], failed["reason"], strict=True)))
    for reason, runs in reasons.items():
        say(f"  {count(len(runs), 'run')} ({examples(runs)}): {reason}")
    return 2 if len(failed) else 0


def add_verify(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.add_option("collection", "NAME", "a collection known by name, such as trec-8/adhoc", group=INPUT)
    add_run_files(parser, "folder of its run files; default where collections keep them")
    parser.add_option("--qrels", "FILE", "its judgments; default those of the collection", group=INPUT)
    parser.add_option("--figures", "FILE", "published figures of your own, as CSV", group=INPUT)
    add_faults_to(parser)
    add_out(parser, "every figure, as CSV,", "FILE")
    add_quiet(parser)
    parser.set_defaults(run=_run_verify)


def _run_verify(options: argparse.Namespace) -> int:
    from pt_reuse.verification.verification import verify

    out, same = out_file(options), ("qrels", "figures", "bad_lines", "other_files")
    result = verify(
        told_name(options.collection),
        runs=None if options.runs is None else run_files(options.runs),
        verbose=shows_bars(options),
        **{name: getattr(options, name) for name in same},
    )
    say(in_shell(str(result), options.parser))
    if out is not None:
        write_table(result.table, out)
        say(f"\nWritten: {out}")
    if result.table["equal"].isna().all():
        raise InputError(f"no figure could be computed: {result.table['note'][0].removeprefix('not computed: ')}")
    return 0 if result.holds else 1
