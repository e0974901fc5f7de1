"""`pt-reuse merge`: the result of a command whose topics were done in shards."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pt_reuse._check import count, examples
from pt_reuse._errors import InputError, ReuseWarning
from pt_reuse._files import user_path
from pt_reuse.cli.judgments import JudgmentSource
from pt_reuse.cli.parser import Commands, Parser, add_all, add_command, add_out, add_quiet
from pt_reuse.cli.shard_notes import (
    AGAIN,
    OUTPUT,
    RUNS,
    ShardNotes,
    digest_of_judgments,
    digest_of_runs,
    folder_of,
    moved_options,
    versions,
)
from pt_reuse.cli.shell import Shell, noted_warnings, show_error

if TYPE_CHECKING:
    from pt_reuse.data.judgments import Qrels
    from pt_reuse.data.run_set import RunSet
    from pt_reuse.data.topic_jobs import ShardFile


def add_to(commands: Commands) -> Parser:
    """Add the command and return its parser."""
    parser = add_command(
        commands,
        "merge",
        "the result of a command whose topics were done in shards",
        "The shards are files that a command such as `lou` wrote with --shard. Which command it was, its options and "
        "what it reads stand in them. The result is the one of the command without --shard, to the last bit.",
    )
    parser.add_argument("shards", metavar="DIR", help="the folder with all shards")
    add_all(parser, "run or unit")
    parser.add_argument("--per-topic", action="store_true", help="of `score`: also show a line for every run and topic")
    add_out(parser, "what the command writes")
    add_quiet(parser)
    parser.set_defaults(run=_run)
    return parser


def _run(options: argparse.Namespace) -> int | None:
    if not options.shards:
        raise InputError("expected the folder with all shards, got ''.", argument="shards")
    shards = _Shards.of(user_path(options.shards))
    shards.check()
    notes, shell = shards.notes[0], options.shell
    command = next(parser for parser in shell.commands if parser.prog == f"pt-reuse {notes.command}")
    if options.per_topic and "per_topic" not in command.arguments:
        raise InputError(f"--per-topic is of `pt-reuse score`, and these are shards of `{command.prog}`.")
    folder = folder_of(notes.files, [one.folder for one in shards.notes], "shards")
    moved = moved_options(notes.options, notes.files, folder)
    given = {name: getattr(options, name) for name in OUTPUT if name in command.arguments}
    asked = {**vars(command.parse_args([])), **moved, **given}
    return _merge(Shell(command, shell.commands), argparse.Namespace(**{**asked, "reader": _Checking(notes)}), shards)


def _merge(shell: Shell, options: argparse.Namespace, shards: _Shards) -> int | None:
    from pt_reuse.data.topic_jobs import ReadingShards, executed_by

    # what the command says is worded as if it ran by itself
    try:
        with noted_warnings(shell), executed_by(ReadingShards(shards.files)):
            status: int | None = options.run(options)
    except (InputError, ReuseWarning) as error:
        show_error(shell, error)
        return 2
    return status


@dataclass(frozen=True)
class _Shards:
    """The shards of a folder."""

    folder: Path
    files: list[ShardFile]
    notes: list[ShardNotes]
    damaged: list[tuple[ShardFile, str]]

    @classmethod
    def of(cls, folder: Path) -> _Shards:
        """Return the shards of a folder, each of them read once from beginning to end."""
        from pt_reuse.data.array_file import DamagedError
        from pt_reuse.data.topic_jobs import shards_in

        advice = "Give the folder that was --out of a command with --shard."
        try:
            there = shards_in(folder)
        except OSError as error:
            problem = f"it cannot be looked through: {error.strerror or error}. {advice}"
            raise InputError(problem, place=str(folder), argument="shards") from error
        if not there:
            raise InputError(f"no shard is there. {advice}", place=str(folder), argument="shards")
        files, notes, damaged = [], [], []
        for file in there:
            try:
                said = ShardNotes.in_file(file)
                file.check()
            except DamagedError as why:
                damaged.append((file, str(why)))
            else:
                files.append(file)
                notes.append(said)
        return cls(folder, files, notes, damaged)

    def check(self) -> None:
        """Raise where shards are not all there, or not all made alike, or not by what runs here."""
        from pt_reuse.data.topic_jobs import in_ranges

        with_place: dict[str, Any] = {"place": str(self.folder), "argument": "shards"}
        if self.notes:
            self._check_alike()
            of = self.notes[0].of
        else:
            of = self.damaged[0][0].shard.of
        lacking = sorted(set(range(1, of + 1)) - {file.shard.number for file in self.files})
        if lacking:
            bad = [f"{file.path.name} cannot be used: {why}" for file, why in self.damaged if file.shard.of == of]
            said = f"{len(lacking):,} of {count(of, 'shard')} {'is' if len(lacking) == 1 else 'are'} missing"
            which = f" ({'; '.join(bad[:3])}{'; ...' if len(bad) > 3 else ''})" if bad else ""
            command = self.notes[0].command if self.notes else "COMMAND"
            again = f"`pt-reuse {command} ... --shard {lacking[0]}/{of} --out {self.folder}`"
            raise InputError(f"{said}: {in_ranges(lacking)}{which}. Run what is missing: {again}.", **with_place)
        made, here = self.notes[0].versions, versions()
        other = [name for name in made if made[name] != here.get(name)]
        if other:
            name = other[0]
            problem = f"{name} {made[name]} made the shards, and {here.get(name)} is here. Merge with the version that "
            raise InputError(problem + "made them, or make them again, in another folder.", **with_place)

    def _check_alike(self) -> None:
        keys = Counter(notes.key for notes in self.notes)
        if len(keys) == 1:
            return
        usual = keys.most_common(1)[0][0]
        rest = next(notes for notes in self.notes if notes.key == usual)
        odd = [(file, notes) for file, notes in zip(self.files, self.notes, strict=True) if notes.key != usual]
        file, notes = odd[0]
        names = examples(one.path.name for one, _ in odd)
        were = "was" if len(odd) == 1 else "were"
        said = f"{count(len(odd), 'shard')} ({names}) {were} not made as the {len(self.files) - len(odd):,} others"
        problem = f"{said}: {file.path.name} has {rest.unlike(notes)}. Remove what does not belong here, and run those "
        raise InputError(problem + "shards again.", place=str(self.folder), argument="shards")


class _Checking:
    """Looks on while runs and judgments are read for a merge, and raises where they are not those of the shards."""

    def __init__(self, notes: ShardNotes):
        self._notes = notes

    def at_judgments(self, source: JudgmentSource, qrels: Qrels) -> None:
        """Compare the judgments, where they are not in a file of the user's."""
        if source.file is None and digest_of_judgments(qrels) != self._notes.contents.get("judgments"):
            raise InputError(f"the judgments of {source.name} are not those of the shards. {AGAIN}", argument="qrels")

    def at_run_files(self, paths: Sequence[Path]) -> None:
        """Compare which files there are; what is in them has been compared before."""
        before = Counter(Path(file.given).name for file in self._notes.files if file.option == RUNS)
        now = Counter(path.name for path in paths)
        differ = sorted((before - now) + (now - before))
        if differ:
            said = f"the run files are not those of the shards: {examples(differ)} new or gone"
            raise InputError(f"{said}. {AGAIN}", argument="runs")

    def at_runs(self, runs: RunSet) -> None:
        """Compare what is known of the runs beside their files."""
        if digest_of_runs(runs) != self._notes.contents["runs"]:
            said = "the runs, or what is said of their teams, types and pooling, are not those of the shards"
            raise InputError(f"{said}. {AGAIN}", argument="runs")
