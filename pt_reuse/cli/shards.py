"""`--shard` of a command: one share of its topics, kept in a file for `pt-reuse merge`."""

from __future__ import annotations

import argparse
import contextlib
import io
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from pt_reuse._check import ShardNumber, count
from pt_reuse._errors import Argument, InputError, Option
from pt_reuse._files import check_writable, checked_path
from pt_reuse.cli.judgments import JudgmentSource
from pt_reuse.cli.parser import Parser
from pt_reuse.cli.screen import complain, say
from pt_reuse.cli.shard_notes import (
    RUNS,
    ShardNotes,
    digest_of_judgments,
    digest_of_runs,
    input_files,
)

if TYPE_CHECKING:
    from pt_reuse.data.judgments import Qrels
    from pt_reuse.data.run_set import RunSet
    from pt_reuse.data.topic_jobs import ShardFile

#: what a command runs
Run: TypeAlias = "Callable[[argparse.Namespace], None]"


def add_shard(parser: Parser, run: Run) -> None:
    """Add ``--shard`` to a command, and set what the command runs."""
    parser.add_argument(
        "--shard",
        metavar="K/N",
        help="only the K-th of N shares of the topics, such as 3/40, into a file in --out; `pt-reuse merge` makes the "
        "result of all of them",
    )
    parser.set_defaults(run=partial(_run, parser, run), reader=None)
    parser.checks.append(partial(_check_shard, parser))


def refuse_with_shard(options: argparse.Namespace, name: str, why: str) -> None:
    """Raise where an option is given beside ``--shard`` that cannot be."""
    if options.shard is not None:
        raise InputError(Argument(name), " cannot be given with ", Argument("shard"), f": {why}", argument=name)


def _check_shard(parser: Parser, options: argparse.Namespace) -> None:
    if options.shard is None:
        return
    ShardNumber.parse(options.shard)
    if options.out is None:
        parser.error("--shard needs --out, the folder in which the files of all shards come together.")
    idle = [f"--{name.replace('_', '-')}" for name in ("all", "per_topic") if getattr(options, name, False)]
    if idle:
        parser.error(f"{idle[0]} is for the result, not for a shard of it. Give it to `pt-reuse merge`.")


def _run(parser: Parser, run: Run, options: argparse.Namespace) -> None:
    if options.shard is None:
        run(options)
        return
    from pt_reuse.data.array_file import DamagedError
    from pt_reuse.data.topic_jobs import ShardDone, ShardFile, executed_by, shards_in

    number = ShardNumber.parse(options.shard)
    folder = checked_path(options.out)
    check_writable(folder, [number.file_name], overwrite=True, argument="out")
    making = _Making(parser, options, ShardFile.of(number, folder))
    inner = argparse.Namespace(**{**vars(options), "out": None, "shard": number, "reader": making})
    try:
        # what a command says before it counts is said by the merge
        with contextlib.redirect_stdout(io.StringIO()), executed_by(making.shard):
            run(inner)
    except ShardDone:
        said = f"Written to {folder}: {number.file_name}, {making.shard.done}."
    except _ThereAlreadyError:
        said = f"{making.file.path} is there already, made alike, and is not computed again."
    else:
        raise InputError("this call has no work that goes by topics. Leave out ", Argument("shard"), ".")
    there = 0
    for file in shards_in(folder):
        # only how it begins: the merge reads it whole, which each of many calls would not
        with contextlib.suppress(DamagedError):
            there += file.shard.of == number.of and bool(file.notes())
    which = f"{there:,} of {count(number.of, 'shard')} {'is' if there == 1 else 'are'} there."
    say(f"{said} {which}" + (f" `pt-reuse merge {options.out}` makes the result." if there == number.of else ""))


class _ThereAlreadyError(Exception):
    """The shard is there, whole, made by the same call."""


class _Making:
    """Looks on while the runs and judgments of a shard are read, and ends the call where the shard is there."""

    def __init__(self, parser: Parser, options: argparse.Namespace, file: ShardFile):
        from pt_reuse.data.topic_jobs import WritingShard

        self.file = file
        self.shard = WritingShard(file, lambda: self._notes.to_json())
        self._overwrite = options.overwrite
        # before they are read: a file that changes meanwhile is then another one for the merge
        self._notes = ShardNotes.begun(parser, options, file.shard.of)
        self._compared = False

    def at_judgments(self, source: JudgmentSource, qrels: Qrels) -> None:
        """Take note of the judgments, where they are not in a file of the user's."""
        if source.file is None:
            self._notes.contents["judgments"] = digest_of_judgments(qrels)

    def at_run_files(self, paths: Sequence[Path]) -> None:
        """Take note of the files, and look whether the shard is there, before the runs are read."""
        folder = self.file.path.parent.resolve()
        if any(path.parent.resolve() == folder for path in paths):
            problem = "holds the run files, and what is written there would be read with them. Give another folder."
            raise InputError(f"{self.file.path.parent} {problem}", argument="out")
        self._notes.files += input_files([(RUNS, str(path)) for path in paths])
        self._compare()

    def at_runs(self, runs: RunSet) -> None:
        """Take note of the runs."""
        if not self._compared:
            # they are those of the package, in no file of the user's
            self._compare()
        self._notes.contents["runs"] = digest_of_runs(runs)

    def _compare(self) -> None:
        from pt_reuse.data.array_file import DamagedError
        from pt_reuse.data.topic_jobs import shards_in

        self._compared = True
        folder = self.file.path.parent
        for file in shards_in(folder) if folder.is_dir() else []:
            try:
                there = ShardNotes.in_file(file)
                unlike = self._notes.unlike(there)
                if unlike is None and file == self.file:
                    file.check()
                    raise _ThereAlreadyError
            except DamagedError as damaged:
                if file == self.file:
                    complain(f"pt-reuse: note: {file.path}: {damaged}; the shard is computed again.")
                continue
            if unlike is not None and not self._overwrite:
                raise InputError(
                    f"made by another call: {unlike}. Give another ",
                    Option("out", ...),
                    ", remove it, or replace every shard with ",
                    Option("overwrite", True),
                    ".",
                    place=str(file.path),
                    argument="out",
                )
