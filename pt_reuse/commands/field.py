"""The field a command works on: run files of the user's, or those of a collection known by name."""

from __future__ import annotations

import argparse
import sys
import warnings
from functools import partial
from typing import Any

from pt_reuse.collections.collection import Collection
from pt_reuse.collections.dataset import ReuseDataset
from pt_reuse.collections.definition import read_definition
from pt_reuse.collections.registry import find_collection
from pt_reuse.collections.submitted import PoolUnknownWarning
from pt_reuse.commands.parser import Parser
from pt_reuse.engine.order import ORDERS
from pt_reuse.qrels.judgments import Qrels
from pt_reuse.qrels.reading import read_qrels
from pt_reuse.runs.reading import read_runs
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
    parser.add_argument(
        "--missing", metavar="WHAT", help="runs of the collection that cannot be had: warn (default), error or ignore"
    )
    parser.add_argument("--no-download", action="store_true", help="take the collection's runs from this machine only")
    parser.add_argument("--cache", metavar="DIR", help="keep the parsed field there for the next time")
    name = "NAME" if positional == "collection" else "--collection"
    parser.set_defaults(check_field=partial(_check_field, parser, needed, name))


def collection_of(name: str) -> Collection:
    """Return the collection of a name, or the one that a TOML file defines."""
    return read_definition(name) if name.endswith(".toml") else find_collection(name)


def read_field(options: argparse.Namespace, *, pooled_matters: bool = True) -> RunSet:
    """Read the runs that the options name; warn of an unknown pool only where it matters and the user gave none."""
    labels = {"teams": options.teams, "types": options.types, "pooled": options.pooled, "metadata": options.metadata}
    reading: dict[str, Any] = {
        "order": options.order,
        "duplicates": options.duplicates,
        "cache": options.cache,
        "verbose": sys.stderr.isatty(),
        **({"pool_order": options.pool_order} if options.pool_order else {}),
    }
    if options.collection is None:
        return read_runs(options.runs, names=options.names or "tag", **labels, **reading)
    dataset = ReuseDataset(collection_of(options.collection))
    types = labels.pop("types")
    with warnings.catch_warnings():
        if not pooled_matters or options.pooled or options.metadata:
            warnings.simplefilter("ignore", PoolUnknownWarning)
        runs = dataset.get_runs(
            runs=options.runs,
            types=types,
            missing=options.missing or "warn",
            download=not options.no_download,
            **reading,
        )
    return runs.with_metadata(**labels) if any(labels.values()) else runs


def read_judgments(options: argparse.Namespace) -> Qrels:
    """Read the judgments that the options name, or those of the collection."""
    if options.qrels is not None:
        return read_qrels(options.qrels)
    return ReuseDataset(collection_of(options.collection)).get_judgments()


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
