"""`pt-reuse infer-pool`: which runs must have been pooled, and how deep."""

from __future__ import annotations

import argparse
import shlex
from functools import partial
from typing import TYPE_CHECKING

from pt_reuse._check import checked_jobs, examples
from pt_reuse.cli.field import Judgments, add_field, plan_field
from pt_reuse.cli.output import Drawing, out_folder, write_result
from pt_reuse.cli.parser import Commands, Parser, add_all, add_command, add_jobs, add_out
from pt_reuse.cli.screen import SHOWN, print_table, say, say_command, shows_bars

if TYPE_CHECKING:
    from pathlib import Path

    from pt_reuse.studies.pool_inference.inference import InferredPool

_PICTURE = "judged-by-rank.png"
_CONTRIBUTORS = "contributors.txt"
_JUDGMENTS = "judgments.txt"
_TRIED = 5  # answers shown
_FILES = (
    "table.csv", "by_topic.csv", "by_rank.csv", "unexplained.csv", "confusion.csv", "summary.csv", "tried.csv",
    "settings.json", "result.json", _PICTURE, _CONTRIBUTORS, _JUDGMENTS,
)  # fmt: skip
#: what the screen shows of a run -> its heading
_OF_A_RUN = {
    "name": "name",
    "pooled": "pooled",
    "evidence": "evidence",
    "judged_to": "judged to",
    "missing": "unjudged",
    "first_missing": "first at rank",
    "alone": "judged alone",
}


def add_to(commands: Commands) -> Parser:
    """Add the command and return its parser."""
    parser = add_command(commands, "infer-pool", "say which runs must have been pooled, and to which depth")
    add_field(parser, positional="collection", qrels=Judgments.NEEDED)
    parser.add_argument(
        "--depth",
        type=_depth,
        metavar="K",
        help="pool depth, or 'topic' for one per topic, 'common' for one for all; default what fits best",
    )
    parser.add_argument(
        "--tolerance", type=float, metavar="T", help="share of a run that may be unjudged; default what fits best"
    )
    add_jobs(parser, "topics")
    add_all(parser, "run")
    add_out(parser, "the tables (CSV), the settings (JSON) and the picture")
    parser.set_defaults(run=_run)
    return parser


def _run(options: argparse.Namespace) -> None:
    from pt_reuse.data.qrels_files import qrels_file
    from pt_reuse.studies.pool_inference.inference import infer_pool
    from pt_reuse.studies.pool_inference.search import read_depth, read_tolerance

    plan = plan_field(options, pooled_matters=False)
    read_depth(options.depth)
    read_tolerance(options.tolerance)
    jobs = checked_jobs(options.jobs)
    folder = out_folder(options, _FILES)
    qrels, runs = plan.needed_judgments().read(), plan.read_runs()
    say(f"{runs!r}\n{qrels!r}")
    result = infer_pool(
        runs,
        qrels,
        depth=options.depth,
        tolerance=options.tolerance,
        order=options.pool_order,
        n_jobs=jobs,
        verbose=shows_bars(options),
    )
    say(f"\n{result.headline()}")
    for line in (result.explanation, *result.best_of_tried()):
        say(line)
    _report(result, options.all)
    if folder is not None:
        drawings: dict[str, Drawing] = {_PICTURE: result.plot}
        names = "".join(f"{name}\n" for name in result.contributors)
        beside = {_CONTRIBUTORS: partial(names.encode, "utf-8", "surrogateescape")}
        if result.apart:
            beside[_JUDGMENTS] = partial(qrels_file, qrels.select(result.topics).arrays)
        written = write_result(result, folder, options, drawings, beside)
        say(f"\nWritten to {folder}: {', '.join(written)}")
    if result.contributors:
        _tell_how_to_go_on(result, folder)


def _tell_how_to_go_on(result: InferredPool, folder: Path | None) -> None:
    depth = [f"--depth {result.depth}"] if result.depth else []
    at = "OUT" if folder is None else str(folder)
    qrels = [f"--qrels {shlex.quote(f'{at}/{_JUDGMENTS}')}"] if result.apart else []
    files = "files" if result.apart else "file"
    say(f"\nTo go on{f' (--out OUT writes the {files})' if folder is None else ''}:")
    if result.apart:
        say(f"{_JUDGMENTS} has the judgments without those of the topics that are set apart.")
    names = shlex.quote(f"{at}/{_CONTRIBUTORS}")
    say_command(["pt-reuse lou", f"--pooled {names}", *qrels, *depth, f"--pool-order {result.order}"])


def _report(result: InferredPool, every: bool) -> None:
    from pt_reuse.studies.pool_inference.evidence import UNSURE

    table = result.table
    if table["pooled"].isna().all():
        say("\nWho was pooled is not on record. Runs by what speaks for them:")
        print_table(result.confusion.drop(columns="pooled"), 1, "rows")
    else:
        say("\nRuns by what is on record (pooled) and what speaks for them:")
        print_table(result.confusion, 2, "rows")
    unsure = table[table["evidence"].isin([evidence.value for evidence in UNSURE])]
    for (evidence, _), rows in unsure.groupby(["evidence", "group"], dropna=False, sort=False):
        say(f"{evidence}: {examples(rows['name'], SHOWN)}")
    if len(result.tried) > 1:
        _tell_tried(result, every)
    say(
        "\nPer run, those first that the judgments leave open (unjudged, judged alone: documents down to the depth "
        "that are not judged, and judged ones that no other run of the pool has):"
    )
    table = table.loc[[*unsure.index, *table.index.difference(unsure.index, sort=False)]]
    known = {column: heading for column, heading in _OF_A_RUN.items() if table[column].notna().any()}
    shown, more = table[list(known)].rename(columns=known), "runs; --all shows every one, --out DIR writes all columns"
    print_table(shown, len(shown) if every else SHOWN, more, spare=("first at rank",))


def _tell_tried(result: InferredPool, every: bool) -> None:
    tried = result.tried.sort_values(["best", "bits"], ascending=[False, True], kind="stable")
    say("\nTried, the best first (new_below: judged of what is new one rank below the depth):")
    columns = ["order", "tolerance", "way", "depth_from", "depth_to", "runs", "explained", "unjudged", "new_below"]
    shown = tried[columns].assign(
        way=tried["way"].str.removeprefix("inferred").str.strip().replace("", "for all topics"),
        tolerance=tried["tolerance"].map("{:g}".format),
        new_below=tried["new_below"].map("{:.3f}".format),
        bits=tried["bits"].round().astype(int),
    )
    print_table(shown, len(shown) if every else _TRIED, "tried; --all shows every one")


def _depth(text: str) -> int | str:
    try:
        return text if text in ("topic", "common") else int(text)
    except ValueError:
        problem = f"invalid depth {text!r}: give a whole number, 'topic' for one per topic, or 'common' for one for all"
        raise argparse.ArgumentTypeError(problem) from None
