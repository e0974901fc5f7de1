"""`--shard` of a command, one share of its topics in a file, and `pt-reuse merge`, the result of all shares."""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import json
import os
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from pt_reuse._check import ShardNumber, count, examples
from pt_reuse._errors import Argument, InputError, Option, located
from pt_reuse._files import check_writable, checked_path, user_path
from pt_reuse._version import __version__
from pt_reuse.cli.field import JudgmentSource
from pt_reuse.cli.output import complain, say
from pt_reuse.cli.parser import Commands, Group, Parser, add_command, add_out, add_quiet, add_verbose, carry_out

if TYPE_CHECKING:
    from pt_reuse.data.judgments import Qrels
    from pt_reuse.data.run_set import RunSet
    from pt_reuse.data.topic_jobs import ShardFile

#: what an option holds, as JSON has it
_Value: TypeAlias = "str | int | float | bool | list[str] | None"
#: what a command runs
_Run: TypeAlias = "Callable[[argparse.Namespace], None]"
#: a shard, and how it was made
_Kept: TypeAlias = "tuple[ShardFile, ShardNotes]"
_RUNS = "runs"
#: options that may name a file, beside those that name runs
_FILES = ("qrels", "collection", "teams", "types", "pooled", "metadata", "contributors")
#: options that say what is printed and where to: those of the merge
_OUTPUT = ("out", "overwrite", "per_topic", "verbose", "quiet")
#: options that change no number: where things are kept, and how the work is done
_MEANS = ("cache", "memory", "jobs", "no_download")
#: packages whose versions may show in the last bits of a number
_COMPUTING = ("numpy", "ir-measures", "pytrec-eval-terrier")
#: what a user does where something has changed since the shards were made
_AGAIN = "Put back what was changed, or make the shards again, in another folder."
_THREADS = 4
#: to be raised when what stands in a shard changes
FORMAT = 1


@dataclass(frozen=True)
class InputFile:
    """A file that a command reads."""

    option: str
    given: str
    real: str
    check: str

    @property
    def known_by(self) -> tuple[str, str, str]:
        """Return what makes two of them the same, wherever they lie."""
        return self.option, os.path.basename(self.given), self.check


def _input_files(named: Iterable[tuple[str, str]]) -> list[InputFile]:
    """Return files, each given as the option that names it and its path."""
    from pt_reuse.data.array_file import checksums

    named = list(named)
    paths = [user_path(path) for _, path in named]
    try:
        checks = checksums(paths, _THREADS)
    except OSError as error:
        raise InputError(f"{error.filename} cannot be read: {error.strerror}.") from error
    return [
        InputFile(option, path, os.path.realpath(real), check)
        for (option, path), real, check in zip(named, paths, checks, strict=True)
    ]


def _is_file(value: Any) -> bool:
    # a list of names between commas may be longer than a path can be
    try:
        return isinstance(value, str) and os.path.isfile(user_path(value))
    except (OSError, ValueError):
        return False


def _versions() -> dict[str, str]:
    """Return the versions of the packages that compute, of this process."""
    from importlib.metadata import PackageNotFoundError, version

    found = {"pt_reuse": __version__, **dict.fromkeys(_COMPUTING, "missing")}
    for package in _COMPUTING:
        with contextlib.suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


@dataclass(kw_only=True)
class ShardNotes:
    """How a shard was made, so that none of another call is merged; what is read is added as it is read."""

    command: str
    of: int
    options: Mapping[str, _Value]
    versions: Mapping[str, str]
    folder: str
    files: list[InputFile] = field(default_factory=list)
    contents: dict[str, str] = field(default_factory=dict)  # what is in no file of the user's -> its checksum

    @classmethod
    def begun(cls, parser: Parser, options: argparse.Namespace, of: int) -> ShardNotes:
        """Return what can be said of a call before anything is read."""
        names = [name for name in parser.arguments if name not in ("help", "shard", *_OUTPUT)]
        files = [(name, str(value)) for name in _FILES if _is_file(value := getattr(options, name, None))]
        return cls(
            command=parser.prog.split(maxsplit=1)[1],
            of=of,
            # as they are read again
            options=json.loads(json.dumps({name: getattr(options, name) for name in names})),
            versions=_versions(),
            folder=os.getcwd(),
            files=_input_files(files),
        )

    def to_json(self) -> dict[str, Any]:
        """Return the notes as JSON has them."""
        return {"format": FORMAT, **asdict(self)}

    @classmethod
    def in_file(cls, file: ShardFile) -> ShardNotes:
        """Return the notes of a shard."""
        notes = file.notes()
        if notes.get("format") != FORMAT:
            problem = f"written by another version of pt_reuse (format {notes.get('format')}; this one reads {FORMAT})"
            raise InputError(f"{problem}. Take that version, or remove the file.", place=str(file.path))
        said = {part.name: notes[part.name] for part in fields(cls)}
        return cls(**{**said, "files": [InputFile(**one) for one in said["files"]]})

    @property
    def settings(self) -> dict[str, _Value]:
        """Return the options that matter for the numbers, but for those that name files, which :attr:`files` has."""
        passed_over = {*_MEANS, _RUNS, *(file.option for file in self.files)}
        return {name: value for name, value in self.options.items() if name not in passed_over}

    @property
    def key(self) -> str:
        """Return a text that shards have in common which were made alike."""
        files = [file.known_by for file in self.files]
        return json.dumps([self.command, self.of, self.settings, files, self.contents, self.versions], sort_keys=True)

    def unlike(self, other: ShardNotes) -> str | None:
        """Return in a clause what other notes have in place of what these have; None where the calls were alike.

        What only one of them knows yet of the contents is passed over.
        """
        return next(self._differences(other), None)

    def _differences(self, other: ShardNotes) -> Iterator[str]:
        if self.command != other.command:
            yield f"{other.command} in place of {self.command}"
        if self.of != other.of:
            yield f"{other.of} shards in place of {self.of}"
        mine, theirs = self.settings, other.settings
        for name in dict.fromkeys([*mine, *theirs]):
            if mine.get(name) != theirs.get(name):
                yield f"{_typed(name, theirs.get(name))} in place of {_typed(name, mine.get(name))}"
        for name in dict.fromkeys(file.option for file in (*self.files, *other.files)):
            ours, others = ([f for f in notes.files if f.option == name] for notes in (self, other))
            known = [f.known_by for f in ours]
            if known != [f.known_by for f in others]:
                new = [f.given for f in others if f.known_by not in known]
                what = examples(new) if new else f"{len(others):,} files in place of {len(ours):,}"
                yield f"other run files: {what}" if name == _RUNS else f"another file of --{name}: {what}"
        for name in self.contents:
            if name in other.contents and self.contents[name] != other.contents[name]:
                yield f"other {name}"
        for package, version in self.versions.items():
            if version != other.versions.get(package):
                yield f"{package} {other.versions.get(package)} in place of {version}"


def _typed(name: str, value: _Value) -> str:
    option = f"--{name.replace('_', '-')}"
    if value is None or value is False:
        return f"no {option}"
    if value is True:
        return option
    words = value if isinstance(value, list) else [value]
    return f"{option} {shlex.join(map(str, words))}"


def _digest_of_runs(runs: RunSet) -> str:
    """Return a checksum of what runs are, but not of their documents, which their files vouch for."""
    from pt_reuse.data.array_file import checksum_of

    pooling = runs.how_pooled
    lengths = checksum_of(runs.field.lengths.astype("<i8"))
    said = [runs.order, pooling.order, pooling.depth, list(runs.field.topics), lengths, len(runs.dropped)]
    return _digest([*map(json.dumps, said), runs.run_table.to_csv(index=False)])


def _digest_of_judgments(qrels: Qrels) -> str:
    """Return a checksum of judgments that do not lie in a file of the user's."""
    from pt_reuse.data.array_file import checksum_of

    documents = qrels.arrays.documents
    arrays = [checksum_of(documents.starts.astype("<i8")), checksum_of(qrels.arrays.labels.astype("<i8"))]
    return _digest([json.dumps(documents.topics), *arrays, *documents.docnos().tolist()])


def _digest(texts: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text.encode("utf-8", "surrogateescape") + b"\n")
    return digest.hexdigest()


# ---- making a shard


def add_shard(parser: Parser, run: _Run) -> None:
    """Add ``--shard`` to a command, and set what the command runs."""
    parser.add_option(
        "--shard",
        "K/N",
        "only the K-th of N shares of the topics, such as 3/40, into a file in --out; `pt-reuse merge` makes the "
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
    idle = [f"--{name.replace('_', '-')}" for name in ("per_topic", "verbose") if getattr(options, name, False)]
    if idle:
        parser.error(f"{idle[0]} is for the result, not for a shard of it. Give it to `pt-reuse merge`.")


def _run(parser: Parser, run: _Run, options: argparse.Namespace) -> None:
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
        from pt_reuse.data.topic_jobs import Shard

        self.file = file
        self.shard = Shard(file, lambda: self._notes.to_json())
        self._overwrite = options.overwrite
        # before they are read: a file that changes meanwhile is then another one for the merge
        self._notes = ShardNotes.begun(parser, options, file.shard.of)
        self._compared = False

    def at_judgments(self, source: JudgmentSource, qrels: Qrels) -> None:
        """Take note of the judgments, where they are not in a file of the user's."""
        if source.file is None:
            self._notes.contents["judgments"] = _digest_of_judgments(qrels)

    def at_run_files(self, paths: Sequence[Path]) -> None:
        """Take note of the files, and look whether the shard is there, before the runs are read."""
        folder = self.file.path.parent
        if any(path.parent.resolve() == folder.resolve() for path in paths):
            problem = "holds the run files, and what is written there would be read with them. Give another folder."
            raise InputError(f"{folder} {problem}", argument="out")
        self._notes.files += _input_files((_RUNS, str(path)) for path in paths)
        self._compare()

    def at_runs(self, runs: RunSet) -> None:
        """Take note of the runs."""
        if not self._compared:
            # they are those of the package, in no file of the user's
            self._compare()
        self._notes.contents["runs"] = _digest_of_runs(runs)

    def _compare(self) -> None:
        from pt_reuse.data.array_file import DamagedError
        from pt_reuse.data.topic_jobs import shards_in

        self._compared = True
        folder = self.file.path.parent
        for file in shards_in(folder) if folder.is_dir() else []:
            try:
                unlike = self._notes.unlike(ShardNotes.in_file(file))
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


# ---- merging shards


def add_merge(commands: Commands) -> Parser:
    """Add `pt-reuse merge` and return its parser."""
    parser = add_command(
        commands,
        "merge",
        "combine the shards of a command",
        "The shards are files that a command such as `lou` wrote with --shard. Which command it was, its options and "
        "what it reads stand in them. The result is the one of the command without --shard, to the last bit.",
    )
    with parser.group(Group.INPUT):
        parser.add_option("shards", "DIR", "the folder with all shards")
    with parser.group(Group.OUTPUT):
        parser.add_switch("--per-topic", "of `score`: also show a line for every run and topic")
    add_verbose(parser)
    add_out(parser, "what the command writes")
    add_quiet(parser)
    parser.set_defaults(run=_run_merge)
    return parser


def _run_merge(options: argparse.Namespace) -> int:
    from pt_reuse.data.topic_jobs import Merge, executed_by

    if not options.shards:
        raise InputError("expected the folder with all shards, got ''.", argument="shards")
    shards = _shards_of(user_path(options.shards))
    notes = shards[0][1]
    command = next(parser for parser in options.shell.commands if parser.prog == f"pt-reuse {notes.command}")
    if options.per_topic and "per_topic" not in command.arguments:
        raise InputError(f"--per-topic is of `pt-reuse score`, and these are shards of `{command.prog}`.")
    folder = _folder_of(notes.files, [one.folder for _, one in shards])
    given = {name: getattr(options, name) for name in _OUTPUT if name in command.arguments}
    asked = {**vars(command.parse_args([])), **_seen_from(folder, notes), **given, "reader": _Checking(notes)}
    # what the command says is worded as if it ran by itself
    with executed_by(Merge([file for file, _ in shards])):
        return carry_out(argparse.Namespace(**asked))


def _shards_of(folder: Path) -> list[_Kept]:
    """Return the shards of a folder, each read whole: all are there, made alike, and by what is here."""
    from pt_reuse.data.array_file import DamagedError
    from pt_reuse.data.topic_jobs import shards_in

    advice = "Give the folder that was --out of a command with --shard."
    with located(str(folder)):
        try:
            there = shards_in(folder)
        except OSError as error:
            problem = f"it cannot be looked through: {error.strerror or error}. {advice}"
            raise InputError(problem, argument="shards") from error
        if not there:
            raise InputError(f"no shard is there. {advice}", argument="shards")
    shards, damaged = [], []
    for file in there:
        try:
            notes = ShardNotes.in_file(file)
            file.check()
        except DamagedError as why:
            damaged.append((file, str(why)))
        else:
            shards.append((file, notes))
    with located(str(folder)):
        _check_alike(shards)
        _check_whole(folder, shards, damaged)
        _check_versions(shards[0][1].versions)
    return shards


def _check_alike(shards: Sequence[_Kept]) -> None:
    keys = Counter(notes.key for _, notes in shards)
    if len(keys) < 2:
        return
    usual = keys.most_common(1)[0][0]
    rest = next(notes for _, notes in shards if notes.key == usual)
    odd = [(file.path.name, notes) for file, notes in shards if notes.key != usual]
    were = "was" if len(odd) == 1 else "were"
    said = f"{count(len(odd), 'shard')} ({examples(name for name, _ in odd)}) {were} not made as the "
    raise InputError(
        f"{said}{len(shards) - len(odd):,} others: {odd[0][0]} has {rest.unlike(odd[0][1])}. Remove what does not "
        "belong here, and run those shards again.",
        argument="shards",
    )


def _check_whole(folder: Path, shards: Sequence[_Kept], damaged: Sequence[tuple[ShardFile, str]]) -> None:
    from pt_reuse.data.topic_jobs import in_ranges

    of = shards[0][1].of if shards else damaged[0][0].shard.of
    lacking = sorted(set(range(1, of + 1)) - {file.shard.number for file, _ in shards})
    if not lacking:
        return
    bad = [f"{file.path.name} cannot be used: {why}" for file, why in damaged if file.shard.of == of]
    said = f"{len(lacking):,} of {count(of, 'shard')} {'is' if len(lacking) == 1 else 'are'} missing"
    which = f" ({'; '.join(bad[:3])}{'; ...' if len(bad) > 3 else ''})" if bad else ""
    command = shards[0][1].command if shards else "COMMAND"
    again = f"`pt-reuse {command} ... --shard {lacking[0]}/{of} --out {folder}`"
    raise InputError(f"{said}: {in_ranges(lacking)}{which}. Run what is missing: {again}.", argument="shards")


def _check_versions(made: Mapping[str, str]) -> None:
    here = _versions()
    for name, version in made.items():
        if version != here.get(name):
            raise InputError(
                f"{name} {version} made the shards, and {here.get(name)} is here. Merge with the version that made "
                "them, or make them again, in another folder.",
                argument="shards",
            )


def _folder_of(files: Sequence[InputFile], folders: Iterable[str]) -> str:
    """Return from which folder the paths of files lead to them, all as they were; "" for the one that we are in."""
    here = os.getcwd()
    ways = ["" if folder == here else folder for folder in dict.fromkeys([*folders, here])]
    lost = {way: [f for f in files if not os.path.exists(user_path(_path_from(way, f.given)))] for way in ways}
    best = min(lost, key=lambda way: len(lost[way]))
    if lost[best]:
        gone = _some([file.real for file in lost[best]], len(files))
        problem = (
            f"{gone} not there any more. Put back what was moved, or merge in a folder from which the paths that were "
            f"given lead to it, such as {lost[best][0].given}."
        )
        raise InputError(problem, argument="shards")
    now = _input_files((file.option, _path_from(best, file.given)) for file in files)
    changed = [found.given for file, found in zip(files, now, strict=True) if file.check != found.check]
    if changed:
        problem = f"{_some(changed, len(files))} not as when the shards were made. {_AGAIN}"
        raise InputError(problem, argument="shards")
    return best


def _some(paths: Sequence[str], of: int) -> str:
    # a path is shown whole
    more = f" and {len(paths) - 1:,} more" if len(paths) > 1 else ""
    return f"{len(paths):,} of {count(of, 'input file')} ({paths[0]}{more}) {'is' if len(paths) == 1 else 'are'}"


def _path_from(folder: str, given: str) -> str:
    """Return a path or pattern that was given in a folder, seen from here; one from the root or a home stays."""
    return given if not folder or given.startswith("~") else os.path.join(folder, given)


def _seen_from(folder: str, notes: ShardNotes) -> dict[str, _Value]:
    """Return the options of a command whose paths, given in a folder, lead to the files from here."""
    found = dict(notes.options)
    for name in found.keys() & {_RUNS, "cache", *(file.option for file in notes.files)}:
        value = found[name]
        if isinstance(value, str):
            found[name] = _path_from(folder, value)
        elif isinstance(value, list):
            found[name] = [_path_from(folder, text) for text in value]
    return found


class _Checking:
    """Looks on while runs and judgments are read for a merge, and raises where they are not those of the shards."""

    def __init__(self, notes: ShardNotes):
        self._notes = notes

    def at_judgments(self, source: JudgmentSource, qrels: Qrels) -> None:
        """Compare the judgments, where they are not in a file of the user's."""
        if source.file is None and _digest_of_judgments(qrels) != self._notes.contents.get("judgments"):
            raise InputError(f"the judgments of {source.name} are not those of the shards. {_AGAIN}", argument="qrels")

    def at_run_files(self, paths: Sequence[Path]) -> None:
        """Compare which files there are; what is in them has been compared before."""
        before = Counter(Path(file.given).name for file in self._notes.files if file.option == _RUNS)
        now = Counter(path.name for path in paths)
        differ = sorted((before - now) + (now - before))
        if differ:
            said = f"the run files are not those of the shards: {examples(differ)} new or gone"
            raise InputError(f"{said}. {_AGAIN}", argument="runs")

    def at_runs(self, runs: RunSet) -> None:
        """Compare what is known of the runs beside their files."""
        if _digest_of_runs(runs) != self._notes.contents["runs"]:
            said = "the runs, or what is said of their teams, types and pooling, are not those of the shards"
            raise InputError(f"{said}. {_AGAIN}", argument="runs")
