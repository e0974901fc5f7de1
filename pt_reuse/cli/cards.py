"""`pt-reuse report`, `atlas`, `demo`, `collections`, `fetch` and `verify`: collections by name and their cards."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from pt_reuse._text import prose
from pt_reuse.cli.field import (
    add_faults_to,
    add_field,
    add_run_files,
    collection_of,
    judgments_named,
    plan_field,
    run_files,
    told_name,
)
from pt_reuse.cli.output import (
    complain,
    draw,
    flush,
    out_file,
    out_folder,
    print_table,
    put,
    say,
    shows_bars,
    width_of,
    write_files,
    write_table,
)
from pt_reuse.cli.parser import INPUT, Parser, in_shell, listed
from pt_reuse.cli.study_commands import labelled_answers
from pt_reuse.errors import InputError, count, did_you_mean, examples, located

if TYPE_CHECKING:
    from pt_reuse.cards.card import Card


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
    parser.add_quiet()
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
    parser.add_out("every figure, as CSV,", "FILE")
    parser.add_quiet()
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


#: what is asked of every card, as the function has it
_USUAL = {"measures": None, "resamples": 1000, "seed": 0}
_MEASURES = "nDCG@10,AP, and AP(rel=2) where documents are relevant from label 2; the first is the main one"


def _add_flags(parser: Parser, *more: str) -> None:
    for name, usual in _USUAL.items():
        parser.add_flags("leave_out_uniques", name, usual=usual, default=_MEASURES if name == "measures" else "")
    for name in more:
        parser.add_flags("leave_out_uniques", name)


def _alone(options: argparse.Namespace) -> bool:
    others = (options.qrels, getattr(options, "answers", None))
    return options.runs is None and options.collection is None and others != (None, None)


def add_report(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.tell("Without runs, `--qrels` alone says what can be said.")
    add_field(parser, unless=_alone)
    what = "instead of runs and judgments: file or folder of answers that were judged by items"
    parser.add_option("--answers", "FILE", what, group=INPUT)
    parser.add_unknown()
    _add_flags(parser, "depth", "rel")
    parser.add_out("the page, as HTML,", "FILE")
    parser.set_defaults(run=_run_report)


def _run_report(options: argparse.Namespace) -> None:
    from pt_reuse.cards.collection_card import report
    from pt_reuse.cards.figures import library

    file = out_file(options, page=True)
    if file is not None:
        library()
    how: dict[str, Any] = {option: getattr(options, option) for option in (*_USUAL, "depth", "rel")}
    if options.answers is not None:
        beside = [name for name in ("runs", "qrels", "collection", "pooled") if getattr(options, name) is not None]
        if beside:
            raise InputError(f"answers have no {beside[0]} beside them. Leave one out.", argument="answers")
        answers = labelled_answers({"answers": options.answers}, options)["answers"]
        card = report(answers, name=os.path.basename(options.answers), verbose=shows_bars(options), **how)
    else:
        plan = None if _alone(options) else plan_field(options)
        source = judgments_named(options.qrels, None) if plan is None else plan.needed_judgments()
        qrels, runs = source.read(), None if plan is None else plan.read_runs()
        known = source.collection if plan is None else plan.collection
        card = report(runs, qrels, name=known.name if known else None, verbose=shows_bars(options), **how)
    say("\n".join(filter(None, [str(card), card.summary, card.flag])) + "\n")
    print_table(card.questions[["question", "words", "number"]], "questions", most=None)
    say(f"\nFor a paper: {card.paragraph()}")
    if file is not None:
        card.save(file, overwrite=options.overwrite)
        say(f"\nWritten: {file}")


def add_atlas(parser: Parser) -> None:
    """Add the arguments of the command."""
    what = "collections known by name; default all that have run files on this machine"
    parser.add_option("names", "NAMES", what, group=INPUT, nargs="*")
    _add_flags(parser)
    parser.add_out("the pages and the table (CSV)")
    parser.add_quiet()
    parser.set_defaults(run=_run_atlas)


def _run_atlas(options: argparse.Namespace) -> int:
    from pt_reuse.cards.card import atlas_page, atlas_table
    from pt_reuse.cards.collection_card import report
    from pt_reuse.cards.figures import library
    from pt_reuse.collections.dataset import list_collections

    names = [told_name(name) for name in options.names] or list_collections(here=True)["name"].tolist()
    if not names:
        raise InputError("no collection has run files on this machine. `pt-reuse fetch NAME` downloads them.")
    folder = out_folder(options)
    if folder is not None:
        library()
    cards: dict[str, Card] = {}
    missing: dict[str, str] = {}
    how = {option: getattr(options, option) for option in _USUAL}
    for name in names:
        complain(f"pt-reuse: {name} ...")
        try:
            cards[f"{name.replace('/', '-')}.html"] = report(f"reuse:{name}", verbose=shows_bars(options), **how)
        except InputError as error:
            missing[name] = in_shell(error, options.parser)
            complain(f"pt-reuse: no card of {name}: {missing[name]}")
    if not cards:
        raise InputError("no collection has a card.")
    table = atlas_table(cards)
    print_table(table, "rows", most=None)
    if folder is not None:
        pages = {"index.html": atlas_page(cards, missing), **{file: card.html for file, card in cards.items()}}
        files = {name: page.encode("utf-8", "surrogateescape") for name, page in pages.items()}
        write_files({**files, "atlas.csv": table}, folder, options)
    return 2 if missing else 0


def add_demo(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.add_out("the tables (CSV) and the pictures (PNG)")
    parser.set_defaults(run=_run_demo)


def _run_demo(options: argparse.Namespace) -> None:
    from pt_reuse.demo.walk import DEPTH, RESAMPLES, SEED, SUBJECTS, answer, narrate

    folder = out_folder(options)
    if sys.stderr is not None and sys.stderr.isatty():
        complain("Indexing 480 documents with PISA; running BM25 (with and without descriptions) and MiniLM live ...")
    with _libraries_muted():
        report = answer()
    parts = narrate(report)
    for number, part in enumerate(parts, 1):
        say(f"{number}. {part.answer}")
    for number, part in enumerate(parts, 1):
        say(f"\n{number}. {part.question}")
        print_table(part.shown, "rows; --out DIR writes all", most=10)
    of_type = report.by_type.settings
    say(
        "\nThe collection was made to teach and to test: its effect sizes hold for no other.\n"
        f"For: {report.held_out.n_topics} topics, relevant={of_type['relevant']}, order={of_type['order']}, "
        f"depth={DEPTH}, intervals=95% over topics ({RESAMPLES:,} resamples, seed {SEED})."
    )
    if folder is not None:
        named = enumerate(zip(SUBJECTS, parts, strict=True), 1)
        files: dict[str, Any] = {f"{number}-{name}.csv": part.table for number, (name, part) in named}
        files |= draw(report.partial, {"lexical-pool.png": {"measure": "nDCG@10"}})
        files |= draw(report.by_team, {"leave-out-team.png": {"measure": "nDCG@10"}})
        files |= draw(report.by_type, {"uniques-by-type.png": {"kind": "uniques"}})
        write_files(files, folder, options)


@contextmanager
def _libraries_muted() -> Iterator[None]:
    """Keep what C++ libraries write past Python meanwhile off the screen."""
    flush()
    nowhere, screen = os.open(os.devnull, os.O_WRONLY), dict[int, int]()
    for stream in (1, 2):
        with suppress(OSError):  # one that is closed shows nothing
            screen[stream] = os.dup(stream)
    for stream in screen:
        os.dup2(nowhere, stream)
    try:
        yield
    finally:
        os.close(nowhere)
        for stream, before in screen.items():
            os.dup2(before, stream)
            os.close(before)


def add_leaderboard(parser: Parser) -> None:
    """Add the arguments of the command."""
    what = "a table of systems by tasks (CSV, TSV, Markdown), or MTEB's folder of results, MODEL/REVISION/TASK.json"
    parser.add_option("path", "SCORES", what, group=INPUT)
    parser.add_option("--tasks", "LIST", "the tasks that count; default all", group=INPUT, type=listed)
    parser.add_option("--ignore", "LIST", "columns or tasks to leave out", group=INPUT, type=listed)
    revisions = "of MTEB's results: most (the one with most tasks) or each"
    parser.add_option("--revisions", "WHICH", revisions, default="most")
    parser.add_option("--external", "WHICH", "scores that authors reported: no, yes or only", default="no")
    parser.add_flags("rank_intervals", "convention", usual="mean,borda", default="mean,borda")
    missing = "missing scores: pairwise (on the tasks of both; default), drop_tasks, drop_systems or error"
    parser.add_option("--missing", "WHAT", missing, default="pairwise")
    parser.add_flags("rank_intervals", "confidence", usual=0.95)
    parser.add_option("--families", "FILE", "CSV with task and family: tasks of one family are drawn together")
    parser.add_out("the page, as HTML,", "FILE")
    parser.set_defaults(run=_run_leaderboard)


def _run_leaderboard(options: argparse.Namespace) -> None:
    from pt_reuse.cards.board import leaderboard
    from pt_reuse.data.packed_files import read_csv
    from pt_reuse.scoring.leaderboards import read_leaderboard

    file = out_file(options, page=True)
    chosen: dict[str, Any] = {
        name: getattr(options, name) or None for name in ("tasks", "ignore", "revisions", "external")
    }
    families = None
    if options.families:
        with located(options.families):
            table = read_csv(options.families, "families")
            table.need(("task", "family"), "families")
            table.check_filled("task", "family", argument="families")
            if twice := table.frame.loc[table.frame["task"].duplicated(), "task"].tolist():
                raise InputError(f"several lines are of {examples(twice)}. Keep one.", argument="families")
        families = dict(zip(table.frame["task"], table.frame["family"], strict=True))
    scores = read_leaderboard(options.path, missing="leave_out", **chosen)
    how = {"convention": options.convention, "missing": options.missing, "confidence": options.confidence}
    made = leaderboard(scores, name=os.path.basename(os.path.normpath(options.path)), families=families, **how)
    say("\n".join(made.verdict) + "\n")
    first = made.found.table[made.found.table["measure"] == made.found.measures[0]]
    print_table(first[["name", "score", "rank", "rank_low", "rank_high"]], "systems", most=20)
    if file is not None:
        made.save(file, overwrite=options.overwrite)
        say(f"\nWritten: {file}")
