"""`pt-reuse judge agreement`: how far annotators agree, and what their majority says."""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING

from pt_reuse._check import count
from pt_reuse._errors import Argument, InputError, arguments_as
from pt_reuse.cli.judgments import QRELS_HELP, judgment_source
from pt_reuse.cli.output import Drawing, out_folder, write_result
from pt_reuse.cli.parser import Commands, Parser, add_all, add_command, add_out, listed
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
_HEADINGS = {"pairs": "Each two annotators:", "others": "Each annotator and the majority of the others:"}
_OF_TWO = {
    "first": "annotator",
    "second": "and",
    "n_items": "items",
    "agreement": "agreement",
    "kappa": "kappa",
    "kappa_low": "from",
    "kappa_high": "to",
    "band": "band",
}


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
        "--scale", metavar="LIST", help="comma-separated: the labels there are; default those that occur"
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
    from pt_reuse.judging.annotators.labels import check_label_files, read_labels
    from pt_reuse.judging.annotators.measuring import annotator_agreement, check_measuring
    from pt_reuse.judging.annotators.voting import majority_vote

    check_measuring(
        rel=options.rel,
        weights=options.weights,
        ties=options.ties,
        over=options.over,
        resamples=options.resamples,
        seed=options.seed,
        confidence=0.95,
    )
    scale = _scale(options.scale)
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
        result = annotator_agreement(
            labels,
            rel=options.rel,
            gold=gold,
            scale=scale,
            weights=options.weights,
            ties=options.ties,
            over=options.over,
            resamples=options.resamples,
            seed=options.seed,
        )
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


def _scale(text: str | None) -> tuple[int, ...] | None:
    if text is None:
        return None
    try:
        return tuple(int(label) for label in listed(text))
    except ValueError as error:
        raise InputError(
            Argument("scale"), f" must be whole numbers with commas between them, got {text!r}.", argument="scale"
        ) from error


def _report(result: AnnotatorAgreement, every: bool) -> None:
    import pandas as pd

    from pt_reuse.judging.annotators.coefficients import SOURCE_OF_BANDS
    from pt_reuse.judging.annotators.measuring import WORDS

    table = result.table
    for items, labels in table[["items", "labels"]].drop_duplicates().itertuples(index=False):
        which = "all documents" if items == "all" else "documents that anyone called relevant"
        how = "labels as they are" if labels == "grades" else f"relevant (label of at least {result.rel}) or not"
        say(f"\nOver {which}, {how}:")
        rows = table[(table["items"] == items) & (table["labels"] == labels)]
        shown = pd.DataFrame(
            {
                "coefficient": [WORDS[name] for name in rows["coefficient"]],
                "value": rows["value"].to_numpy(),
                "from": rows["low"].to_numpy(),
                "to": rows["high"].to_numpy(),
                "band": rows["band"].to_numpy(),
                "items": rows["n_items"].to_numpy(),
            }
        )
        print_table(shown, len(shown), "coefficients", spare=("items",))
    for part in ("pairs", "others", *(["gold"] if len(result.gold) else [])):
        rows = result.of(part)
        rows = rows[(rows["items"] == "all") & (rows["labels"] == "grades")]
        say(f"\n{_HEADINGS.get(part, 'Each annotator and the gold labels:')}")
        shown = rows[list(_OF_TWO)].rename(columns=_OF_TWO)
        print_table(shown, len(shown) if every else SHOWN, "rows; --all shows every one", spare=("band", "from", "to"))
    say(f"\nIntervals: {result.settings['intervals']}. Bands: {SOURCE_OF_BANDS}.")
    say(f"Scale: {result.settings['scale']}. Fleiss' kappa: {result.settings['Fleiss']}.")
    without = [
        f"{row['coefficient']} ({row['items']}, {row['labels']}): {row['why']}"
        for row in table.to_dict("records")
        if row["why"]
    ]
    if without:
        say(f"Without a value: {'; '.join(without)}.")
    unlabelled = result.settings.get("gold labels of items nobody labelled")
    if unlabelled:
        say(f"Of {result.settings['gold labels']:,} gold labels {unlabelled:,} are of documents that nobody labelled.")
