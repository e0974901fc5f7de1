"""The field a command works on: run files of the user's, or those of a collection known by name."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from pt_reuse.collections.collection import Collection
from pt_reuse.collections.dataset import judgments_of
from pt_reuse.collections.definition import read_definition
from pt_reuse.collections.getting import plan_runs
from pt_reuse.collections.registry import find_collection, real_name
from pt_reuse.collections.submitted import PoolUnknownWarning
from pt_reuse.commands.parser import Parser
from pt_reuse.engine.order import ORDERS
from pt_reuse.qrels.judgments import Qrels
from pt_reuse.qrels.reading import read_qrels
from pt_reuse.runs.how_pooled import HowPooled
from pt_reuse.runs.metadata import GivenMetadata, given_metadata
from pt_reuse.runs.parsing import file_run_names
from pt_reuse.runs.paths import run_paths
from pt_reuse.runs.reading import Reading
from pt_reuse.runs.run_set import RunSet

NAME_HELP = "a collection known by name, such as trec-8/adhoc, or the TOML file of one's own"


def add_field(parser: Parser, *, positional: str | None = None, qrels: bool = False) -> None:
    """Add the arguments that say which runs to read, and which judgments when `qrels`.

    Args:
        parser: of the command.
        positional: ``"runs"`` or ``"collection"`` when that is given without an option's name.
        qrels: whether the command needs judgments.
    """
    helps = {
        "runs": ("DIR", "folder or pattern of TREC run files"),
        "collection": ("NAME", f"instead of run files, or to label them: {NAME_HELP}"),
        "qrels": ("FILE", "the judgments, a TREC qrels file; default those of the collection"),
    }
    needed = {"runs": "DIR" if positional == "runs" else "--runs", **({"qrels": "--qrels"} if qrels else {})}
    for name in dict.fromkeys([*needed, "collection"]):
        metavar, text = helps[name]
        if name == positional:
            parser.add_argument(name, nargs="?", metavar=metavar, help=text)
        else:
            parser.add_argument(f"--{name}", metavar=metavar, help=text)
    parser.add_argument("--teams", metavar="FILE", help="two columns: run tag and team")
    parser.add_argument("--types", metavar="FILE", help="two columns: run tag and type")
    parser.add_argument(
        "--pooled", metavar="FILE", help="names of the pooled runs, one a line; default those on record, else all runs"
    )
    parser.add_argument("--metadata", metavar="FILE", help="CSV with name and any of team, type, pooled and others")
    parser.add_argument(
        "--order", default="trec_eval", metavar="ORDER", help=f"one of {', '.join(ORDERS)}; default trec_eval"
    )
    parser.add_argument(
        "--pool-order", metavar="ORDER", help="order in which the runs were pooled, where it is not that of --order"
    )
    parser.add_argument("--names", metavar="FROM", help="name runs by tag (default) or file")
    parser.add_argument(
        "--duplicates", default="error", metavar="WHAT", help="a document twice: error (default) or best"
    )
    add_faults_to(parser)
    parser.add_argument(
        "--missing", metavar="WHAT", help="runs of the collection that cannot be had: warn (default), error or ignore"
    )
    parser.add_argument("--no-download", action="store_true", help="take the collection's runs from this machine only")
    parser.add_argument("--cache", metavar="DIR", help="keep the parsed field there for the next time")
    name = "NAME" if positional == "collection" else "--collection"
    parser.set_defaults(check_field=partial(_check_field, parser, needed, name))


def collection_of(name: str) -> Collection:
    """Return the collection of a name or an alias, saying which it is, or the one that a TOML file defines."""
    return read_definition(name) if name.endswith(".toml") else find_collection(told_name(name))


def add_faults_to(parser: Parser) -> None:
    """Add the options that say what to do about faulty files."""
    parser.add_argument(
        "--bad-lines", default="error", metavar="WHAT", help="lines that are no run line: error (default) or skip"
    )
    parser.add_argument(
        "--other-files", default="error", metavar="WHAT", help="files without a run line: error (default) or skip"
    )


def told_name(name: str) -> str:
    """Return the name that an alias stands for, and say so; any other name as it is."""
    real = real_name(name)
    if real != name.removeprefix("reuse:").strip("/"):
        print(f"pt-reuse: {name} is {real}.", file=sys.stderr)
    return real


@dataclass(frozen=True)
class FieldPlan:
    """The runs and judgments that the options of a command name, before any of them is read.

    Attributes:
        names: the runs, where their names are known; None where these stand in the files.
        columns: those of the table of runs in which anything will stand.
        rel: the lowest label that is relevant for the collection, None where there is none or it does not say.
        read_runs: reads the runs.
        read_judgments: reads the judgments; where a command needs both, first these, which takes less time.
    """

    names: list[str] | None
    columns: set[str]
    rel: int | None
    read_runs: Callable[[], RunSet]
    read_judgments: Callable[[], Qrels]


def plan_field(options: argparse.Namespace, *, pooled_matters: bool = True) -> FieldPlan:
    """Check what the options say of runs and judgments, as far as that goes before these are read.

    Args:
        options: of the command.
        pooled_matters: whether to warn of an unknown pool where the user gave none.
    """
    options.check_field(options)
    reading = Reading(
        order=options.order,
        how_pooled=HowPooled(options.pool_order),
        names="tag" if options.names is None else options.names,
        duplicates=options.duplicates,
        bad_lines=options.bad_lines,
        other_files=options.other_files,
        cache=options.cache,
        verbose=sys.stderr.isatty(),
    )
    if options.collection is None:
        paths, labels = run_paths(options.runs), _labels(options, types=options.types)
        # which files are runs is not known before they are read, where others are left out
        known = reading.names == "file" and reading.other_files == "error"
        names = file_run_names(paths) if known else None
        read = partial(reading.read, paths, labels)
        return FieldPlan(names, labels.columns, None, read, partial(_read_qrels, options, None))
    collection, labels = collection_of(options.collection), _labels(options)
    plan = plan_runs(
        collection,
        {},
        reading,
        types=options.types,
        runs=options.runs,
        missing="warn" if options.missing is None else options.missing,
        download=not options.no_download,
    )

    def get() -> RunSet:
        with warnings.catch_warnings():
            if not pooled_matters or "pooled" in labels.columns:
                warnings.simplefilter("ignore", PoolUnknownWarning)
            runs = plan.get()
        return runs.labelled(labels)

    columns = plan.columns | labels.columns
    return FieldPlan(plan.names, columns, collection.rel, get, partial(_read_qrels, options, collection))


def _labels(options: argparse.Namespace, types: str | None = None) -> GivenMetadata:
    return given_metadata(teams=options.teams, types=types, pooled=options.pooled, metadata=options.metadata)


def _read_qrels(options: argparse.Namespace, collection: Collection | None) -> Qrels:
    if options.qrels is not None or collection is None:
        return read_qrels(options.qrels, rel=None if collection is None else collection.rel)
    return judgments_of(collection)


def _check_field(parser: Parser, needed: dict[str, str], collection: str, options: argparse.Namespace) -> None:
    """End with a message, before anything is read, when the options name no field or contradict each other."""
    if options.collection is None:
        lacking = [shown for name, shown in needed.items() if getattr(options, name) is None]
        if lacking:
            parser.error(f"the following arguments are required: {', '.join(lacking)} (or {collection})")
        idle = [o for o, given in (("--missing", options.missing), ("--no-download", options.no_download)) if given]
        if idle:
            parser.error(f"{idle[0]} is for the runs of a collection. Give it with {collection}.")
    elif options.names is not None:
        parser.error(f"--names is for run files alone: with {collection}, runs bear the names on record.")
