"""`pt-reuse infer-pool`: which runs must have been pooled, and how deep."""

from __future__ import annotations

import argparse
import shlex
from functools import partial
from typing import TYPE_CHECKING

from pt_reuse._check import examples
from pt_reuse.cli.common_options import add_all, add_jobs, add_out
from pt_reuse.cli.field import Judgments, add_field, plan_field
from pt_reuse.cli.output import Drawing, out_folder, write_result
from pt_reuse.cli.parser import Commands, Parser, add_command
from pt_reuse.cli.screen import SHOWN, print_table, say, say_command, shows_bars
from pt_reuse.cli.study_commands import files_of

if TYPE_CHECKING:
    from pathlib import Path

    from pt_reuse.studies.infer_pool.inference import InferredPool

_PICTURE = "judged-by-rank.png"
_CONTRIBUTORS = "contributors.txt"
_JUDGMENTS = "judgments.txt"
_TRIED = 5  # answers shown
#: what the screen shows of a run
_SHOWN = ["name", "pooled", "evidence", "judged_to", "missing", "first_missing", "alone"]


def add_infer_pool(commands: Commands) -> Parser:
    """Add the command and return its parser."""
    parser = add_command(commands, "infer-pool", "say which runs must have been pooled, and to which depth")
    add_field(parser, positional="collection", qrels=Judgments.NEEDED)
    parser.add_option(
        "--depth",
        "K",
        "pool depth, or 'topic' for one per topic, 'common' for one for all; default what fits best",
        type=_depth,
    )
    parser.add_option("--tolerance", "T", "share of a run that may be unjudged; default what fits best", type=float)
    add_jobs(parser, "topics")
    add_all(parser, "run")
    add_out(parser, "the tables (CSV), the settings (JSON) and the picture")
    parser.set_defaults(run=_run)
    return parser


def _run(options: argparse.Namespace) -> None:
    from pt_reuse.data.qrels_files import qrels_file
    from pt_reuse.studies.infer_pool.inference import InferredPool, infer_pool
    from pt_reuse.study import study_of

    plan = plan_field(options, pooled_matters=False)
    given = {"depth": options.depth, "tolerance": options.tolerance, "n_jobs": options.jobs}
    study_of(infer_pool).checked(given)
    folder = out_folder(options, [*files_of(InferredPool), _PICTURE, _CONTRIBUTORS, _JUDGMENTS])
    qrels, runs = plan.needed_judgments().read(), plan.read_runs()
    say(f"{runs!r}\n{qrels!r}")
    result = infer_pool(runs, qrels, **given, order=options.pool_order, verbose=shows_bars(options))
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
    at, depth = "OUT" if folder is None else str(folder), [f"--depth {result.depth}"] if result.depth else []
    say(f"\nTo go on{' (--out OUT writes what is named)' if folder is None else ''}:")
    if result.apart:
        say(f"{_JUDGMENTS} has the judgments without those of the topics that are set apart.")
    pooled, judged = shlex.quote(f"{at}/{_CONTRIBUTORS}"), shlex.quote(f"{at}/{_JUDGMENTS}")
    qrels = [f"--qrels {judged}"] if result.apart else []
    say_command(["pt-reuse lou", f"--pooled {pooled}", *qrels, *depth, f"--pool-order {result.order}"])


def _report(result: InferredPool, every: bool) -> None:
    from pt_reuse.studies.infer_pool.evidence import UNSURE

    table = result.table
    say("\nRuns by what is on record (pooled, NA: nothing) and what speaks for them:")
    print_table(result.confusion, len(result.confusion), "rows")
    unsure = table[table["evidence"].isin(UNSURE)]
    for (evidence, _), rows in unsure.groupby(["evidence", "group"], dropna=False):
        say(f"{evidence}: {examples(rows['name'], SHOWN)}")
    if len(result.tried) > 1:
        _tell_tried(result, every)
    say("\nPer run, those first that the judgments leave open (missing, alone: unjudged documents to the depth,")
    say("and judged ones that no other run of the pool has):")
    shown = table.loc[[*unsure.index, *table.index.difference(unsure.index, sort=False)], _SHOWN]
    more = "runs; --all shows every one, --out DIR writes all columns"
    print_table(shown.dropna(axis="columns", how="all"), len(table) if every else SHOWN, more, spare=("first_missing",))


def _tell_tried(result: InferredPool, every: bool) -> None:
    tried = result.tried.sort_values(["best", "bits"], ascending=[False, True], kind="stable")
    say("\nTried, the best first (new_below: judged of what is new one rank below the depth):")
    shown = tried.drop(columns="best").round({"new_below": 3, "bits": 0})
    print_table(shown, len(shown) if every else _TRIED, "tried; --all shows every one")


def _depth(text: str) -> int | str:
    try:
        return text if text in ("topic", "common") else int(text)
    except ValueError:
        problem = f"invalid depth {text!r}: give a whole number, 'topic' for one per topic, or 'common' for one for all"
        raise argparse.ArgumentTypeError(problem) from None
