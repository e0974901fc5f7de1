"""`pt-reuse lou`: leave-out-uniques on a field of run files."""

from __future__ import annotations

import argparse
import os
import sys
from functools import partial
from pathlib import Path

from pt_reuse._errors import located
from pt_reuse.collections.catalogue import catalogued, judged_alike
from pt_reuse.commands.field import add_field, plan_field
from pt_reuse.commands.output import SHOWN, Drawing, draw, out_folder, print_table
from pt_reuse.commands.parser import Commands, Parser, add_out, listed
from pt_reuse.pooling.contributors import named_contributors
from pt_reuse.pooling.fit import SLACK
from pt_reuse.qrels.judgments import Qrels
from pt_reuse.runs.units import check_unit_is_given
from pt_reuse.scoring.run_scores import checked_measures
from pt_reuse.studies.uniques import LeaveOutUniques, check_removal, in_words, leave_out_uniques

_FILES = (
    "summary.csv", "table.csv", "by_run.csv", "unique_counts.csv", "scores.run_table.csv", "own_scores.run_table.csv",
    "settings.json", "arrays.npz", "result.json",
)  # fmt: skip


def add_to(commands: Commands) -> Parser:
    """Add the command and return its parser."""
    parser = commands.add_parser("lou", help="leave-out-uniques on a field of run files")
    add_field(parser, qrels=True)
    parser.add_argument(
        "--measures",
        metavar="LIST",
        help="comma-separated; default AP,nDCG@10, and AP(rel=2) where documents are relevant from label 2",
    )
    parser.add_argument("--by", default="team", metavar="UNIT", help="what to leave out: team (default), run or type")
    parser.add_argument("--depth", type=int, metavar="K", help="pool depth; default that of the collection, else 100")
    parser.add_argument(
        "--remove", default="relevant", metavar="WHAT", help="unique documents to remove: relevant (default) or judged"
    )
    parser.add_argument(
        "--rel", type=int, metavar="LABEL", help="lowest label that is relevant; default that of the collection, else 1"
    )
    parser.add_argument(
        "--contributors",
        default="pooled",
        metavar="WHICH",
        help="runs that made the pool: pooled (default), all, names between commas, or a file of one name a line",
    )
    add_out(parser, "the tables (CSV), the settings (JSON) and the pictures (PNG)")
    parser.set_defaults(run=_run)
    return parser


def _run(options: argparse.Namespace) -> None:
    plan = plan_field(options)
    check_removal(by=options.by, depth=options.depth, remove=options.remove, rel=options.rel)
    with located("--measures"):
        measures = checked_measures(_measures(options.measures, plan.rel if options.rel is None else options.rel))
    contributors = _contributors(options.contributors, plan.names)
    check_unit_is_given(options.by, plan.columns)
    pictures = [_picture(repr(measure)) for measure in measures]
    folder = out_folder(options, [*_FILES, *pictures, "uniques.png"])
    qrels, runs = plan.read_judgments(), plan.read_runs()
    if options.rel is not None:
        qrels = qrels.with_rel(options.rel)
    print(f"{runs!r}\n{qrels!r}")
    result = leave_out_uniques(
        runs,
        qrels,
        measures,
        by=options.by,
        depth=options.depth,
        remove=options.remove,
        contributors=contributors,
        verbose=sys.stderr.isatty(),
    )
    _report(result)
    if options.collection is None:
        _tell_collections(qrels, unexplained=result.fit.stranger_share > SLACK, rel_given=options.rel is not None)
    if folder is not None:
        written = [path.name for path in result.save(folder, overwrite=options.overwrite)]
        written += draw(_drawings(result), folder)
        print(f"\nWritten to {folder}: {', '.join(written)}")


def _measures(text: str | None, rel: int | None) -> list[str]:
    if text is not None:
        return listed(text)
    return ["AP" if rel in (None, 1) else f"AP(rel={rel})", "nDCG@10"]


def _contributors(text: str, known: list[str] | None) -> str | list[str]:
    if text in ("pooled", "all"):
        return text
    # a long list of names is too long for a path, which pathlib would raise about
    if os.path.isfile(text):
        lines = Path(text).read_text(encoding="utf-8", errors="surrogateescape").splitlines()
        return named_contributors((line.strip() for line in lines if line.strip()), known)
    return named_contributors(listed(text), known)


def _report(result: LeaveOutUniques) -> None:
    print(f"\nSettings: {', '.join(f'{name}={value}' for name, value in result.settings.items())}")
    print("\nPer measure (own: each run without the uniques of its own unit; field: all runs re-ranked):")
    print_table(result.summary, len(result.summary), "measures")
    first = result.scores.measures[0]
    print(f"\nLeaving out one {result.units.by} at a time, the whole field by {first}:")
    print_table(result.table[result.table["measure"] == first], SHOWN, "units")
    print(f"\n{in_words(result)}")


def _tell_collections(qrels: Qrels, *, unexplained: bool, rel_given: bool) -> None:
    labels = qrels.arrays.labels
    for name in judged_alike(len(qrels.topics), len(labels), int((labels > 0).sum())):
        collection = catalogued(name)
        rel = None if rel_given or collection is None or collection.rel in (None, qrels.rel) else collection.rel
        brings = f"--collection {name} brings its runs, teams and who was pooled."
        if rel is not None:
            print(
                f"These are the judgments of {name}, in which documents are relevant from label {rel} on, and not from "
                f"{qrels.rel}: {brings} --rel {rel} alone changes that."
            )
        elif unexplained:
            print(f"These are the judgments of {name}: {brings}")


def _drawings(result: LeaveOutUniques) -> dict[str, Drawing]:
    drawings: dict[str, Drawing] = {_picture(m): partial(result.plot, m) for m in result.scores.measures}
    return {**drawings, "uniques.png": result.plot_uniques}


def _picture(measure: str) -> str:
    return f"scores-{measure}.png".replace("/", "-")
