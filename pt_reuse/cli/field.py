"""The field and the judgments that a command works on: files of the user's, or a collection known by name."""

from __future__ import annotations

import argparse
import glob
import os
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pt_reuse.cli.output import complain, shows_bars
from pt_reuse.cli.parser import INPUT, READING, Parser
from pt_reuse.errors import InputError, did_you_mean
from pt_reuse.options import ORDERS

if TYPE_CHECKING:
    from pt_reuse.collections.collection import Collection
    from pt_reuse.data.judgments import Qrels
    from pt_reuse.data.run_set import Reading, RunSet

METADATA_HELP = "CSV with name and any of team, type, pooled, family and others"
QRELS_HELP = "a TREC qrels file, or a collection known by name, NAME:WHICH where it has several"


@dataclass(frozen=True)
class JudgmentSource:
    """Where judgments come from."""

    file: str | None
    collection: Collection | None
    which: str | None = None

    @property
    def rel(self) -> int | None:
        """Return the lowest label that is relevant, None where nobody says."""
        return None if self.collection is None else self.collection.rel

    @property
    def name(self) -> str:
        """Return a short name: of the file, or of the collection and which of its judgments."""
        if self.file is not None:
            return Path(self.file).name
        name = "" if self.collection is None else self.collection.name
        return name if self.which is None else f"{name}:{self.which}"

    def read(self) -> Qrels:
        """Read the judgments."""
        import pyterrier as pt

        from pt_reuse.collections.dataset import judgments_of
        from pt_reuse.data.judgments import Qrels, read_qrels

        if self.collection is None or self.file is not None:
            return read_qrels(str(self.file), rel=self.rel)
        if self.which is None:
            return judgments_of(self.collection)
        try:
            frame = pt.get_dataset(f"reuse:{self.collection.name}").get_qrels(self.which)
        except InputError as error:
            raise InputError(str(error), place=self.name, argument="qrels") from error
        return Qrels(frame[["qid", "docno", "label"]], rel=self.rel)


def judgment_source(text: str, beside: Collection | None = None) -> JudgmentSource:
    """Return where the judgments are that a user names."""
    from pt_reuse.collections.definition import collection_names, find_collection, read_definition, real_name

    if text.endswith(".toml"):
        return JudgmentSource(None, read_definition(text))
    if not os.path.exists(text):
        name, of_some, which = text.removeprefix("reuse:").partition(":")
        if real_name(name) in collection_names():
            if of_some and not re.fullmatch(r"[\w.-]+", which):
                raise InputError(
                    f"judgments of a collection are NAME or NAME:WHICH, such as demo:second, got {text!r}.",
                    place=text,
                    argument="qrels",
                )
            # of the collection whose runs are read it was said already
            known = beside is not None and beside.name == real_name(name)
            return JudgmentSource(None, find_collection(name if known else told_name(name)), which or None)
        near = did_you_mean(name, collection_names())
        raise InputError(f"no such file, and no collection of this name.{near}", place=text, argument="qrels")
    return JudgmentSource(text, beside)


def judgments_named(
    given: str | None, collection: Collection | None, argument: str = "qrels", what: str = "judgments"
) -> JudgmentSource:
    """Return the judgments that an option names, else those of the collection; raise where there are neither."""
    if given is not None:
        return judgment_source(given, collection)
    if collection is None:
        raise InputError(f"no {what} are named. Give {argument}=.", argument=argument)
    return JudgmentSource(None, collection)


def different_names(sources: Sequence[JudgmentSource]) -> list[str]:
    """Return a name for each of the judgments: of its file or collection, numbered where two have the same."""
    names = [source.name for source in sources]
    return names if len(set(names)) == len(names) else [f"{name} ({n})" for n, name in enumerate(names, 1)]


def told_name(name: str) -> str:
    """Return the name that an alias stands for, and say so; any other name as it is."""
    from pt_reuse.collections.definition import real_name

    real = real_name(name)
    if real != name.removeprefix("reuse:").strip("/"):
        complain(f"pt-reuse: {name} is {real}.")
    return real


class _Gather(argparse.Action):
    """Gathers what is given as words and by an option, which is the same."""

    def __call__(self, parser: Any, namespace: argparse.Namespace, values: Any, option_string: Any = None) -> None:
        if given := values if isinstance(values, list) else [values]:
            setattr(namespace, self.dest, [*(getattr(namespace, self.dest) or ()), *given])


def add_run_files(parser: Parser, what: str) -> None:
    """Add run files, as words and by ``--runs``."""
    parser.add_option("runs", "RUNS", what, group=INPUT, nargs="*", action=_Gather, default=None)
    parser.add_option("--runs", "RUNS", "the same as RUNS, as an option", group=INPUT, action=_Gather)


def add_field(
    parser: Parser,
    *,
    judged: bool | None = True,
    unless: Callable[[argparse.Namespace], bool] = lambda _: False,
) -> None:
    """Add the arguments that say which runs to read, and which judgments: needed, taken (None) or not taken."""
    where = "folder, pattern or files of TREC runs, or of tables (Parquet, Arrow); or a collection, as by --collection"
    add_run_files(parser, where)
    needed = {"runs": "RUNS", **({"qrels": "--qrels"} if judged else {})}
    default = "; default those of --collection" if judged else ""
    qrels = {} if judged is False else {"--qrels": ("FILE", f"the judgments: {QRELS_HELP}{default}")}
    name = "a collection known by name, such as trec-8/adhoc, or the TOML file of one's own"
    named = {
        "--collection": ("NAME", f"instead of run files, or to label them: {name}"),
        "--teams": ("FILE", "two columns: run tag and team"),
        "--types": ("FILE", "two columns: run tag and type"),
        "--pooled": ("FILE", "names of the pooled runs, one a line; default those on record, else all runs"),
        "--metadata": ("FILE", METADATA_HELP),
    }
    parser.add_options(qrels | named, group=INPUT)
    how = {
        "--order": ("ORDER", f"one of {', '.join(ORDERS)}; default trec_eval"),
        "--pool-order": ("ORDER", "order in which the runs were pooled, where it is not that of --order"),
        "--names": ("FROM", "name runs by tag (default) or file"),
        "--duplicates": ("WHAT", "a document twice: error (default) or best"),
        "--missing": ("WHAT", "runs of the collection that cannot be had: warn (default), error or ignore"),
        "--cache": ("DIR", "keep the parsed field there for the next time"),
        "--memory": ("SIZE", "hold so much of the field in memory at once, such as 2GB; needs --cache"),
        "--no-download": ("", "take the collection's runs from this machine only"),
    }
    parser.add_options(how, group=READING)
    parser.set_defaults(order="trec_eval", duplicates="error")
    add_faults_to(parser)
    parser.add_quiet()
    parser.checks += [
        _settle_collection,
        lambda options: None if unless(options) else _check_field(parser, needed, options),
    ]


def _settle_collection(options: argparse.Namespace) -> None:
    """Have one name among the runs that is a collection's, and no file, stand for the collection."""
    if options.collection is not None or options.runs is None or len(options.runs) > 1:
        return
    name = options.runs[0]
    if os.path.exists(name) and not name.endswith(".toml"):
        return
    # not before: this takes long, and an error of usage is told at once
    from pt_reuse.collections.definition import collection_names, real_name

    if name.endswith(".toml") or real_name(name) in collection_names():
        options.collection, options.runs = name, None
        return
    near = did_you_mean(name, collection_names())
    # without judgments beside it, it can be nothing but the name of a collection; a pattern is of files
    alone = getattr(options, "qrels", "") is None and not glob.has_magic(name)
    if near or alone:
        more = near or " `pt-reuse collections` lists the names."
        raise InputError(f"no such file, and no collection of this name.{more}", place=name or "''", argument="runs")


def collection_of(name: str) -> Collection:
    """Return the collection of a name or an alias, saying which it is, or the one that a TOML file defines."""
    from pt_reuse.collections.definition import find_collection, read_definition

    if name.endswith(".toml"):
        return read_definition(name)
    told_name(name)
    return find_collection(name)


def add_faults_to(parser: Parser) -> None:
    """Add the options that say what to do about faulty files."""
    said = {"--bad-lines": "lines that are no run line", "--other-files": "files without a run line"}
    options = {name: ("WHAT", f"{what}: error (default) or skip") for name, what in said.items()}
    parser.add_options(options, group=READING, default="error")


@dataclass(frozen=True)
class FieldPlan:
    """The runs and judgments that the options of a command name, before any of them is read."""

    collection: Collection | None
    names: list[str] | None
    columns: set[str]
    judgments: JudgmentSource | None
    read_runs: Callable[[], RunSet]

    def needed_judgments(self) -> JudgmentSource:
        """Return where the judgments are, for a command that cannot do without."""
        return self.judgments or judgments_named(None, self.collection)


def plan_field(options: argparse.Namespace, *, pooled_matters: bool = True) -> FieldPlan:
    """Check what the options say of runs and judgments, as far as that goes before these are read."""
    from pt_reuse.collections.runs import PoolUnknownWarning, plan_runs
    from pt_reuse.data.metadata import given_metadata, run_paths
    from pt_reuse.data.parsing import named_by_files
    from pt_reuse.data.tables import TableLabels

    reading = replace(_reading(options), cache=options.cache, memory=options.memory)
    qrels: str | None = getattr(options, "qrels", None)
    given = {"teams": options.teams, "pooled": options.pooled, "metadata": options.metadata}
    if options.collection is None:
        paths, labels = run_paths(run_files(options.runs)), given_metadata(types=options.types, **given)
        names = named_by_files(paths, reading.names, reading.other_files)
        columns = labels.columns | TableLabels(paths).columns
        named = None if qrels is None else judgment_source(qrels)
        return FieldPlan(None, names, columns, named, partial(reading.read, paths, labels))
    collection, labels = collection_of(options.collection), given_metadata(**given)
    plan = plan_runs(
        collection,
        {},
        replace(reading, names="tag"),
        types=options.types,
        runs=_folder(options.runs, collection),
        missing=options.missing or "warn",
        download=not options.no_download,
    )

    def get() -> RunSet:
        with warnings.catch_warnings():
            if not pooled_matters or "pooled" in labels.columns:
                warnings.simplefilter("ignore", PoolUnknownWarning)
            return plan.get().labelled(labels)

    columns = plan.columns | labels.columns
    return FieldPlan(collection, plan.names, columns, judgments_named(qrels, collection), get)


def _reading(options: argparse.Namespace) -> Reading:
    """Return how the options say that run files are read."""
    from pt_reuse.data.coding import HowPooled
    from pt_reuse.data.run_set import Reading

    same = ("order", "duplicates", "bad_lines", "other_files")
    return Reading(
        how_pooled=HowPooled(options.pool_order),
        names=options.names or "tag",
        verbose=shows_bars(options),
        **{name: getattr(options, name) for name in same},
    )


def runs_beside(options: argparse.Namespace, given: list[str]) -> RunSet | str:
    """Read run files that are given beside a field, without teams; a collection's name is left as it is."""
    from pt_reuse.data.metadata import given_metadata, run_paths
    from pt_reuse.data.run_files import is_files

    files = run_files(given)
    if isinstance(files, str) and not is_files(files):
        return files
    return _reading(options).read(run_paths(files), given_metadata())


def run_files(runs: list[str]) -> list[str] | str:
    """Return what readers of runs take: one place may be a folder or a pattern, several are files."""
    return runs[0] if len(runs) == 1 else runs


def _folder(runs: list[str] | None, collection: Collection) -> str | None:
    """Return where else than usual the runs of a collection are."""
    if runs is None:
        return None
    source = run_files(runs)
    if isinstance(source, str) and not (collection.submitted is not None and os.path.isfile(source)):
        return source
    raise InputError(
        f"runs beside {collection.name} must be the folder that holds its run files. To judge other runs by its "
        f"judgments, give qrels={collection.name!r} and no collection.",
        argument="runs",
    )


def _check_field(parser: Parser, needed: dict[str, str], options: argparse.Namespace) -> None:
    """End with a message, before anything is read, when the options name no field or contradict each other."""
    if options.collection is not None:
        if options.names is not None and getattr(options, "new", None) is None:
            parser.error("--names is for run files alone: with --collection, runs bear the names on record.")
        return
    lacking = [shown for name, shown in needed.items() if getattr(options, name) is None]
    if lacking:
        parser.error(f"the following arguments are required: {', '.join(lacking)} (or --collection)")
    idle = [o for o, given in (("--missing", options.missing), ("--no-download", options.no_download)) if given]
    if idle:
        parser.error(f"{idle[0]} is for the runs of a collection. Give it with --collection.")
