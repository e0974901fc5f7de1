"""`pt-reuse judge export`: write the documents of a pool as files for people to judge."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pt_reuse._errors import InputError, Option, arguments_as, located
from pt_reuse._files import open_file, read_file
from pt_reuse.cli.common_options import add_contributors, chosen_contributors
from pt_reuse.cli.field import Judgments, add_field, plan_field
from pt_reuse.cli.judgments import judgment_source
from pt_reuse.cli.parser import Commands, Parser, add_command, listed
from pt_reuse.cli.screen import print_table, say, shows_bars
from pt_reuse.cli.shown_texts import TEXTS_HELP, TOPICS_HELP, named_texts, read_topics

if TYPE_CHECKING:
    from pt_reuse.pooling.pool import Pool


def add_to(commands: Commands) -> Parser:
    """Add the command and return its parser."""
    parser = add_command(
        commands,
        "export",
        "write the documents of a pool as files for people to judge",
        "The pool is a file that `pt-reuse pool --out` wrote, or is made of runs. People see topics and texts, "
        "shuffled within a topic, and nothing of ranks and runs. A further export to the same folder adds a round: "
        "it asks nobody the same again.",
    )
    parser.add_argument("--pool", metavar="FILE", help="pool.csv or to_judge.txt of `pt-reuse pool`, instead of runs")
    parser.add_argument("--topics", metavar="FILE", help=f"{TOPICS_HELP}; default those of --collection")
    parser.add_argument("--texts", metavar="FILE", help=f"{TEXTS_HELP}; default those of --collection")
    parser.add_argument("--out", metavar="DIR", required=True, help="the folder of the tasks")
    parser.add_argument("--format", metavar="FORMAT", help="one of csv, jsonl, doccano, label-studio; default csv")
    parser.add_argument(
        "--annotators", metavar="NAMES", help="who judges, between commas; default anybody, in one file"
    )
    parser.add_argument(
        "--overlap", type=_number, default=1, metavar="N", help="annotators for each pair, or a share that all judge"
    )
    parser.add_argument("--whole-topics", action="store_true", help="give topics to the same people as a whole")
    parser.add_argument("--labels", metavar="SCALE", help="such as '0=not relevant,1=relevant', which is the default")
    parser.add_argument("--instructions", metavar="FILE", help="a text that people read beside the labels")
    parser.add_argument(
        "--seed", type=int, default=0, metavar="N", help="of the order and of who judges what; default 0"
    )
    parser.add_argument("--overwrite", action="store_true", help="replace tasks in --out that have no answers")
    parser.add_argument("--depth", type=int, metavar="K", help="pool depth; default that of the collection, else 100")
    add_contributors(parser)
    parser.checks.append(partial(_check, parser))
    add_field(parser, qrels=Judgments.OPTIONAL, unless=lambda options: options.pool is not None)
    parser.set_defaults(run=_run)
    return parser


def _check(parser: Parser, options: argparse.Namespace) -> None:
    if options.pool is not None and options.runs is not None:
        parser.error("--pool and --runs are two pools. Give one of them.")
    if options.pool is None and options.runs is None and options.collection is None:
        parser.error("no pool is named. Give --pool, --runs or --collection.")


def _run(options: argparse.Namespace) -> None:
    from pt_reuse.judging.people.export import ExportPlan
    from pt_reuse.judging.people.manifest import RETURNED

    with arguments_as(folder="out"):
        plan = ExportPlan.of(
            options.out,
            format=options.format,
            annotators=None if options.annotators is None else listed(options.annotators),
            overlap=options.overlap,
            whole_topics=options.whole_topics,
            labels=None if options.labels is None else _scale(options.labels),
            instructions=None if options.instructions is None else _text(options.instructions),
            seed=options.seed,
            overwrite=options.overwrite,
        )
        read_pool = _pool_of(options)
        topics = read_topics(_named(options, "topics"))
        texts = named_texts(_named(options, "texts"))
        made = plan.write(read_pool(), topics, texts, verbose=shows_bars(options))
    say(f"{made.headline()}.")
    if len(made.table):
        shown = made.table.assign(annotator=[who or "anybody" for who in made.table["annotator"]])
        print_table(shown, len(shown), "files")
        say(
            f"\nWhat comes back goes to {made.folder}/{RETURNED}; "
            f"then: pt-reuse judge import {made.folder} --out FILE.csv"
        )


def _named(options: argparse.Namespace, name: str) -> str:
    given = getattr(options, name)
    if given is None and options.collection is None:
        raise InputError(f"no {name} are named. Give ", Option(name, ...), ".", argument=name)
    return options.collection if given is None else given


def _pool_of(options: argparse.Namespace) -> Callable[[], Pool]:
    """Return what makes the pool; what can be checked before is."""
    from pt_reuse.pooling.depth import checked_depth, depth_of, depth_pool

    if options.pool is not None:
        pool = _read_pool(Path(options.pool))
        rest = pool if options.qrels is None else pool.remainder(judgment_source(options.qrels).read())
        return lambda: rest
    plan = plan_field(options)
    if options.depth is not None:
        checked_depth(options.depth)
    contributors = chosen_contributors(options, plan.names)
    judgments = plan.judgments if options.qrels is not None else None

    def make() -> Pool:
        qrels = None if judgments is None else judgments.read()
        runs = plan.read_runs()
        pool = depth_pool(runs, depth=depth_of(runs, options.depth).value, contributors=contributors)
        return pool if qrels is None else pool.remainder(qrels)

    return make


def _read_pool(path: Path) -> Pool:
    """Read a pool as `pt-reuse pool` writes it: a table, or judgments that are still to come."""
    import pandas as pd

    from pt_reuse.data.judgments import read_qrels
    from pt_reuse.pooling.pool import Pool

    settings = {"strategy": "given"}
    with suppress(OSError, ValueError, KeyError, TypeError):
        # how the pool was made, as `pt-reuse pool` writes it beside the pool
        settings["strategy"] = str(json.loads(read_file(path.parent / "settings.json"))["strategy"])
    with located(str(path)):
        if path.suffix.lower() != ".csv":
            return Pool.from_frame(read_qrels(path).to_frame()[["qid", "docno"]], settings=settings)
        try:
            with open_file(path) as file:
                frame = pd.read_csv(
                    file, dtype={"qid": str, "docno": str}, keep_default_na=False, na_values={"rank": [""]}
                )
        except (OSError, ValueError) as error:
            reason = f"cannot be read ({_reason(error)}). Give pool.csv of `pt-reuse pool`."
            raise InputError(reason, argument="pool") from error
        counted = [column for column in ("rank", "runs", "teams", "types") if column in frame]
        return Pool.from_frame(frame.drop(columns=counted), settings=settings)


def _scale(text: str) -> dict[int, str]:
    found: dict[int, str] = {}
    for part in listed(text):
        number, _, word = part.partition("=")
        try:
            found[int(number)] = word.strip()
        except ValueError:
            raise InputError(
                f"--labels must be numbers and their words, such as '0=not relevant,1=relevant', got {part!r}.",
                argument="labels",
            ) from None
    return found


def _text(path: str) -> str:
    try:
        with open_file(path) as file:
            return file.read().decode("utf-8-sig")
    except (OSError, UnicodeError) as error:
        raise InputError(f"cannot be read ({_reason(error)}).", place=path, argument="instructions") from error


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


def _number(text: str) -> float:
    try:
        return float(text) if "." in text else int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"must be a number of annotators, or a share such as .1, got {text!r}"
        ) from None
