"""`pt-reuse judge agreement`: how far annotators agree, and what their majority says."""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING

from pt_reuse._check import count
from pt_reuse._errors import arguments_as
from pt_reuse.cli.common_options import whole_numbers
from pt_reuse.cli.judgments import QRELS_HELP, judgment_source
from pt_reuse.cli.output import Drawing, out_folder, write_result
from pt_reuse.cli.parser import Commands, Parser, add_all, add_command, add_out
from pt_reuse.cli.screen import SHOWN, print_table, say

if TYPE_CHECKING:
    from pt_reuse.judging.annotators.measuring import AnnotatorAgreement

_FILES = (
    "agreement.csv", "pairs.csv", "others.csv", "gold.csv", "per_topic.csv", "by_label.csv", "confusion.csv",
    "settings.json", "result.json",
)  # fmt: skip
#: the judgments by majority, as a TREC qrels file
_MAJORITY = "majority.qrels"
_PICTURES = {"pairs": "pairs.png", "others": "others.png", "gold": "gold.png"}


def add_to(commands: Commands) -> Parser:
    """Add the command and return its parser."""
    parser = add_command(
        commands,
        "agreement",
        "how far annotators agree, and what their majority says",
        "Prints agreement, kappa and alpha of all annotators, of each two, of each with the majority of the others, "
        "and of each with gold labels.",
    )
    parser.add_argument(
        "files",
        metavar="FILES",
        nargs="+",
        help="TREC qrels files, each called as its annotator, or CSV files with columns qid, docno, label, annotator",
    )
    parser.add_argument("--gold", metavar="FILE", help=f"labels to hold each annotator against: {QRELS_HELP}")
    parser.add_argument(
        "--rel", type=int, metavar="N", help="lowest label that is relevant; default 1, or that of --gold"
    )
    parser.add_argument(
        "--ties", default="lower", metavar="RULE", help="of a majority: lower (default), higher, median or unresolved"
    )
    parser.add_argument(
        "--scale",
        type=whole_numbers,
        metavar="LIST",
        help="comma-separated: the labels there are; default those that occur",
    )
    parser.add_argument("--weights", metavar="W", help="of Cohen's kappa: linear or quadratic; default none")
    parser.add_argument(
        "--over", default="topics", metavar="UNIT", help="what the bootstrap draws: topics (default) or items"
    )
    parser.add_argument("--resamples", type=int, default=1000, metavar="N", help="of the bootstrap; default 1000")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the bootstrap; default 0")
    add_all(parser, "pair")
    add_out(parser, "the tables (CSV), the majority (qrels), the settings (JSON) and the pictures (PNG)")
    parser.set_defaults(run=_run)
    return parser


def _run(options: argparse.Namespace) -> None:
    from pt_reuse.data.qrels_files import qrels_file
    from pt_reuse.judging.annotators.labels import check_label_files, majority_vote, read_labels
    from pt_reuse.judging.annotators.measuring import annotator_agreement
    from pt_reuse.study import study_of

    given = {name: getattr(options, name) for name in ("rel", "weights", "ties", "over", "resamples", "seed")}
    study_of(annotator_agreement).checked(given)
    files = check_label_files(options.files)
    with arguments_as(qrels="gold"):
        source = None if options.gold is None else judgment_source(options.gold)
        gold = None if source is None else source.read()
    names = [name for part, name in _PICTURES.items() if part != "gold" or gold is not None]
    folder = out_folder(options, [*_FILES, _MAJORITY, *names])
    labels = read_labels(files)
    documents = f"{count(len(labels), 'document')} of {count(len(labels.topics), 'topic')}"
    say(f"{count(len(labels.annotators), 'annotator')}, {documents}")
    with arguments_as(labels="files"):
        result = annotator_agreement(labels, gold=gold, scale=options.scale, **given)
    _report(result, options.all)
    majority = majority_vote(labels, ties=options.ties, rel=result.rel)
    say(f"\nMajority of the annotators: {majority!r}")
    tied = majority.to_frame()["tied"]
    say(f"{count(int(tied.sum()), 'tie')}, decided by --ties {options.ties}.")
    if folder is not None:
        drawings: dict[str, Drawing] = {
            name: partial(result.plot, part)
            for part, name in _PICTURES.items()
            if name in names and result.of(part)["kappa"].notna().any()
        }
        written = write_result(result, folder, options, drawings, {_MAJORITY: partial(qrels_file, majority.arrays)})
        say(f"\nWritten to {folder}: {', '.join(written)}")


def _report(result: AnnotatorAgreement, every: bool) -> None:
    ways = result.table[["items", "labels"]].drop_duplicates().itertuples(index=False)
    reports = [(result.report(items=items, labels=labels), True) for items, labels in ways]
    reports += [(result.report(part), every) for part in ("pairs", "others", *(["gold"] if len(result.gold) else []))]
    for report, whole in reports:
        frame = report.shown()
        say(f"\n{report.caption.rstrip('.')}:")
        most = len(frame) if whole else SHOWN
        print_table(frame, most, "rows; --all shows every one", spare=("Band", "From", "To"))
    say()
    for note in dict.fromkeys(note for report, _ in reports for note in report.notes):
        say(note)
    say(f"Fleiss' kappa: {result.settings['Fleiss']}.")
    unlabelled = result.settings.get("gold labels of items nobody labelled")
    if unlabelled:
        say(f"Of {result.settings['gold labels']:,} gold labels {unlabelled:,} are of documents that nobody labelled.")
