"""`pt-reuse report` and `atlas`: the card of a collection, and the cards of several with one table of them."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from pt_reuse.cli.declared import flags_of
from pt_reuse.cli.field import add_field, judgments_named, plan_field, told_name
from pt_reuse.cli.output import complain, out_file, out_folder, print_table, say, shows_bars, table_file, write_files
from pt_reuse.cli.parser import INPUT, OUTPUT, Parser, add_out, add_quiet, in_shell
from pt_reuse.cli.study_commands import add_flag
from pt_reuse.errors import InputError

if TYPE_CHECKING:
    from pt_reuse.cards.card import Card

_INDEX, _TABLE = "index.html", "atlas.csv"
#: what is asked of every card, as the function has it
_USUAL = {"measures": None, "resamples": 1000, "seed": 0}
_MEASURES = "nDCG@10,AP, and AP(rel=2) where documents are relevant from label 2; the first is the main one"


def _add_usual(parser: Parser) -> None:
    flags = flags_of("leave_out_uniques")
    for name, usual in _USUAL.items():
        add_flag(parser, {**flags[name], "usual": usual, "default": _MEASURES if name == "measures" else ""})


def _alone(options: argparse.Namespace) -> bool:
    return options.runs is None and options.collection is None and options.qrels is not None


def add_report(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.tell("Without runs, `--qrels` alone says what can be said.")
    add_field(parser, unless=_alone)
    _add_usual(parser)
    flags = flags_of("leave_out_uniques")
    add_flag(parser, flags["depth"])
    add_flag(parser, flags["rel"])
    parser.add_option("--out", "FILE", "write the page there, as HTML", group=OUTPUT)
    parser.add_switch("--overwrite", "replace the file of --out", group=OUTPUT)
    parser.set_defaults(run=_run_report)


def _run_report(options: argparse.Namespace) -> None:
    from pt_reuse.cards.card import report
    from pt_reuse.cards.figures import library

    file = out_file(options)
    if file is not None:
        library()
    plan = None if _alone(options) else plan_field(options)
    source = judgments_named(options.qrels, None) if plan is None else plan.needed_judgments()
    qrels = source.read()
    runs = None if plan is None else plan.read_runs()
    known = source.collection if plan is None else plan.collection
    how: dict[str, Any] = {option: getattr(options, option) for option in (*_USUAL, "depth", "rel")}
    card = report(runs, qrels, name=known.name if known else None, verbose=shows_bars(options), **how)
    say("\n".join(filter(None, [f"{card.name}: {card.summary}", card.flag])))
    say()
    print_table(card.questions[["question", "answer", "number"]], "questions", most=len(card.questions))
    if file is not None:
        card.save(file, overwrite=options.overwrite)
        say(f"\nWritten: {file}")


def add_atlas(parser: Parser) -> None:
    """Add the arguments of the command."""
    what = "collections known by name; default all that have run files on this machine"
    parser.add_option("names", "NAMES", what, group=INPUT, nargs="*")
    _add_usual(parser)
    add_out(parser, "the pages and the table (CSV)")
    add_quiet(parser)
    parser.set_defaults(run=_run_atlas)


def _run_atlas(options: argparse.Namespace) -> int:
    from pt_reuse.cards.atlas import atlas_page, atlas_table
    from pt_reuse.cards.card import report
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
    print_table(table, "rows", most=len(table))
    if folder is not None:
        pages = {file: card.html.encode("utf-8", "surrogateescape") for file, card in cards.items()}
        index = atlas_page(cards, missing).encode("utf-8", "surrogateescape")
        write_files({_INDEX: index, _TABLE: table_file(table), **pages}, folder, options, [])
    return 2 if missing else 0
