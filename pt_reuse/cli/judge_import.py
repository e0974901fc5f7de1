"""`pt-reuse judge import`: read the files that people judged, check them, and write labels and judgments."""

from __future__ import annotations

import argparse

from pt_reuse._errors import InputError, located
from pt_reuse._files import check_writable, checked_path
from pt_reuse.cli.output import out_file, write_table
from pt_reuse.cli.parser import Commands, Parser, add_command, listed
from pt_reuse.cli.screen import SHOWN, print_table, say


def add_to(commands: Commands) -> Parser:
    """Add the command and return its parser."""
    parser = add_command(
        commands,
        "import",
        "read the files that people judged, and check them",
        "All faults are listed at once: unknown pairs, labels out of the scale, two labels of one annotator, files of "
        "another task, missing labels. Spreadsheets may have saved CSV in any way; what Doccano and Label Studio "
        "export is read as it is.",
    )
    parser.add_argument("folder", metavar="DIR", help="the folder that `pt-reuse judge export` wrote")
    parser.add_argument(
        "files", nargs="*", metavar="FILE", help="what came back; default the sheets in DIR, and all in DIR/returned"
    )
    parser.add_argument("--annotators", metavar="USER=NAME", help="who the users of a tool are, or whose a file is")
    parser.add_argument("--partial", action="store_true", help="take what is there while labels are missing")
    parser.add_argument("--out", metavar="FILE", help="write the labels there (CSV), with who, when and why")
    parser.add_argument(
        "--as-qrels", metavar="FILE", help="write them as a TREC qrels file, where one annotator judged each document"
    )
    parser.add_argument("--overwrite", action="store_true", help="replace files that exist")
    parser.set_defaults(run=_run)
    return parser


def _run(options: argparse.Namespace) -> None:
    import pandas as pd

    from pt_reuse.judging.people.importing import import_labels

    table, judgments = out_file(options), None
    if options.as_qrels is not None:
        with located("--as-qrels"):
            judgments = checked_path(options.as_qrels)
            check_writable(judgments.parent, [judgments.name], overwrite=options.overwrite, argument="as_qrels")
    if table is not None and judgments is not None and table.resolve() == judgments.resolve():
        raise InputError("--out and --as-qrels name the same file. Give two.", argument="as_qrels")
    annotators = None if options.annotators is None else _people(options.annotators)
    labels = import_labels(options.folder, options.files or None, annotators=annotators, partial=options.partial)
    qrels = None if judgments is None else labels.to_qrels()
    say(f"{labels.headline()}.")
    if labels.settings["users"] != "as named":
        say(f"Users of the tool: {labels.settings['users']}.")
    say()
    people = labels.report().to_frame()
    print_table(people, max(SHOWN, len(people)), "annotators")
    if table is not None:
        write_table(labels.table, table)
        say(f"\nWritten to {table}: {len(labels.table):,} labels.")
    if judgments is not None and qrels is not None:
        qrels.write(judgments, overwrite=options.overwrite)
        say(f"Written to {judgments}: {qrels!r}.")
        if (labels.table.get("inclusion", pd.Series(dtype="float64")) < 1).any():
            say(
                "They are of a sample. What was pooled and not sampled is not among them, and estimates such as infAP "
                "are wrong without it: sample.judge(labels.to_qrels()) in Python has it."
            )


def _people(text: str) -> dict[str, str]:
    found = {}
    for part in listed(text):
        user, equals, name = part.partition("=")
        if not equals or not user.strip() or not name.strip():
            raise InputError(
                f"--annotators must be a user or a file and a name, such as 'user3=ann', got {part!r}.",
                argument="annotators",
            )
        found[user.strip()] = name.strip()
    return found
