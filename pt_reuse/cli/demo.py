"""`pt-reuse demo`: the main questions, answered on the embedded collection."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from pt_reuse.cli.output import complain, draw, out_folder, print_table, say, table_file, write_files
from pt_reuse.cli.parser import Parser, add_out


def add_demo(parser: Parser) -> None:
    """Add the arguments of the command."""
    add_out(parser, "the tables (CSV) and the pictures (PNG)")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> None:
    from pt_reuse.demo.held_out import RESAMPLES, SEED
    from pt_reuse.demo.walk import DEPTH, SUBJECTS, answer, narrate

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
        f"depth={DEPTH}, intervals=95 % over topics ({RESAMPLES:,} resamples, seed {SEED})."
    )
    if folder is not None:
        named = enumerate(zip(SUBJECTS, parts, strict=True), 1)
        files = {f"{number}-{name}.csv": table_file(part.table) for number, (name, part) in named}
        files |= draw(report.partial, {"lexical-pool.png": {"measure": "nDCG@10"}})
        files |= draw(report.by_team, {"leave-out-team.png": {"measure": "nDCG@10"}})
        files |= draw(report.by_type, {"uniques-by-type.png": {"kind": "uniques"}})
        write_files(files, folder, options, [])


@contextmanager
def _libraries_muted() -> Iterator[None]:
    """Keep what C++ libraries write past Python meanwhile off the screen."""
    sys.stdout.flush()
    nowhere, screen = os.open(os.devnull, os.O_WRONLY), {stream: os.dup(stream) for stream in (1, 2)}
    for stream in screen:
        os.dup2(nowhere, stream)
    try:
        yield
    finally:
        os.close(nowhere)
        for stream, before in screen.items():
            os.dup2(before, stream)
            os.close(before)
