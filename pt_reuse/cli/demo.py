"""`pt-reuse demo`: the main questions, answered on the embedded collection."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial

from pt_reuse.cli.output import (
    Drawing,
    Lasting,
    complain,
    draw,
    out_folder,
    print_table,
    say,
    shows_bars,
    table_file,
    write_files,
)
from pt_reuse.cli.parser import Commands, Parser, add_command, add_out, add_quiet, add_verbose

#: rows of a table that are shown
_ROWS = 10
_PICTURES = ("lexical-pool.png", "leave-out-team.png", "uniques-by-type.png")


def add_demo(commands: Commands) -> Parser:
    """Add the command and return its parser."""
    parser = add_command(
        commands, "demo", "the main questions, answered on the embedded collection with live pipelines"
    )
    add_verbose(parser, "every row, and what the columns are")
    add_out(parser, "the tables (CSV) and the pictures (PNG)")
    add_quiet(parser)
    parser.set_defaults(run=_run)
    return parser


def _run(options: argparse.Namespace) -> None:
    from pt_reuse.demo.held_out import RESAMPLES, SEED
    from pt_reuse.demo.walk import DEPTH, SUBJECTS, answer, narrate

    names = [f"{number}-{subject}.csv" for number, subject in enumerate(SUBJECTS, 1)]
    folder = out_folder(options, [*names, *_PICTURES])
    with _muted_libraries():
        bars = shows_bars(options)
        report = answer(complain if bars else lambda _: None, verbose=bars)
    parts = narrate(report)
    for number, part in enumerate(parts, 1):
        say(f"{number}. {part.answer}")
    tables = {}
    for number, (file, part) in enumerate(zip(names, parts, strict=True), 1):
        say(f"\n{number}. {part.question}")
        print_table(part.shown, len(part.shown) if options.verbose else _ROWS, "rows; --verbose shows every one")
        if options.verbose:
            say(f"\n{part.words}")
        tables[file] = part.table
    of_type = report.by_type.settings
    say(
        "\nThe collection was made to teach and to test: its effect sizes hold for no other.\n"
        f"Settings: {report.held_out.n_topics} topics, relevant={of_type['relevant']}, order={of_type['order']}, "
        f"depth={DEPTH}, intervals=95 % over topics ({RESAMPLES:,} resamples, seed {SEED}). --verbose explains every "
        "column."
    )
    if folder is None:
        return
    pictures = (
        partial(report.partial.plot, "nDCG@10"),
        partial(report.by_team.plot, "nDCG@10"),
        partial(report.by_type.plot, "uniques"),
    )
    drawings: dict[str, Drawing] = dict(zip(_PICTURES, pictures, strict=True))
    files = {name: table_file(table) for name, table in tables.items()} | draw(drawings)
    write_files(files, folder, options, [])


@contextmanager
def _muted_libraries() -> Iterator[None]:
    """Keep what C++ libraries write past Python meanwhile off the screen; Python's own streams go on to it."""
    with ExitStack() as muted:
        for descriptor, name in ((1, "stdout"), (2, "stderr")):
            muted.enter_context(_muted(descriptor, name))
        yield


@contextmanager
def _muted(descriptor: int, name: str) -> Iterator[None]:
    before = getattr(sys, name)
    before.flush()
    screen = os.dup(descriptor)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)
    with open(screen, "w", encoding="utf-8", errors="backslashreplace") as own:
        setattr(sys, name, Lasting(own))
        try:
            yield
        finally:
            setattr(sys, name, before)
            own.flush()
            os.dup2(screen, descriptor)
