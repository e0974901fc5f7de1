"""How a shard was made: the call, and the files that it read, so that shards of different calls are never merged."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any, TypeAlias

from pt_reuse._check import count, examples
from pt_reuse._errors import InputError
from pt_reuse._files import user_path
from pt_reuse._version import __version__
from pt_reuse.cli.parser import Parser

if TYPE_CHECKING:
    from pt_reuse.data.judgments import Qrels
    from pt_reuse.data.run_set import RunSet
    from pt_reuse.data.topic_jobs import ShardFile

#: options that may name a file, beside those that name runs
_FILES = ("qrels", "collection", "teams", "types", "pooled", "metadata", "contributors")
RUNS = "runs"
#: what an option holds, as JSON has it
Value: TypeAlias = "str | int | float | bool | list[str] | None"
_THREADS = 4
#: what a user does where something has changed since the shards were made
AGAIN = "Put back what was changed, or make the shards again, in another folder."
#: to be raised when what stands in a shard changes
FORMAT = 1
#: options that say what is printed and where to: those of the merge
OUTPUT = ("out", "overwrite", "all", "per_topic", "quiet")
#: options that change no number: where things are kept, and how the work is done
_MEANS = ("cache", "memory", "jobs", "no_download")
#: packages whose versions may show in the last bits of a number
_COMPUTING = ("numpy", "ir-measures", "pytrec-eval-terrier")


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


def _option_files(options: argparse.Namespace) -> list[InputFile]:
    """Return the files that options name, but for runs."""
    named = [(name, getattr(options, name, None)) for name in _FILES]
    return input_files([(name, value) for name, value in named if isinstance(value, str) and _is_file(value)])


def input_files(named: Sequence[tuple[str, str]]) -> list[InputFile]:
    """Return files, each given as the option that names it and its path."""
    from pt_reuse.data.array_file import checksums

    paths = [user_path(path) for _, path in named]
    try:
        checks = checksums(paths, _THREADS)
    except OSError as error:
        raise InputError(f"{error.filename} cannot be read: {error.strerror}.") from error
    return [
        InputFile(option, path, os.path.realpath(real), check)
        for (option, path), real, check in zip(named, paths, checks, strict=True)
    ]


def _is_file(text: str) -> bool:
    # a list of names between commas may be longer than a path can be
    try:
        return os.path.isfile(user_path(text))
    except (OSError, ValueError):
        return False


def digest_of_runs(runs: RunSet) -> str:
    """Return a checksum of what runs are, but not of their documents, which their files vouch for."""
    from pt_reuse.data.array_file import checksum_of

    pooling = runs.how_pooled
    lengths = checksum_of(runs.field.lengths.astype("<i8"))
    said = [runs.order, pooling.order, pooling.depth, list(runs.field.topics), lengths, len(runs.dropped)]
    return _digest([*map(json.dumps, said), runs.run_table.to_csv(index=False)])


def digest_of_judgments(qrels: Qrels) -> str:
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


def seen_from(folder: str, given: str) -> str:
    """Return a path or pattern that was given in a folder, seen from here; one from the root or a home stays."""
    return given if not folder or given.startswith("~") else os.path.join(folder, given)


def moved_options(options: Mapping[str, Value], files: Sequence[InputFile], folder: str) -> dict[str, Value]:
    """Return options of a command whose paths, given in a folder, lead to the files from here."""
    paths, moved = {RUNS, "cache", *(file.option for file in files)}, dict(options)
    for name in paths & set(options):
        value = options[name]
        if isinstance(value, str):
            moved[name] = seen_from(folder, value)
        elif isinstance(value, list):
            moved[name] = [seen_from(folder, text) for text in value]
    return moved


def folder_of(files: Sequence[InputFile], folders: Iterable[str], argument: str) -> str:
    """Return from which folder the paths of files lead to them, all as they were; "" for the one that we are in."""
    here = os.getcwd()
    ways = ["" if folder == here else folder for folder in dict.fromkeys([*folders, here])]
    lost = {way: [f for f in files if not os.path.exists(user_path(seen_from(way, f.given)))] for way in ways}
    best = min(lost, key=lambda way: len(lost[way]))
    if lost[best]:
        gone = _some([file.real for file in lost[best]], len(files))
        problem = (
            f"{gone} not there any more. Put back what was moved, or merge in a folder from which the paths that were "
            f"given lead to it, such as {lost[best][0].given}."
        )
        raise InputError(problem, argument=argument)
    now = input_files([(file.option, seen_from(best, file.given)) for file in files])
    changed = [found.given for file, found in zip(files, now, strict=True) if file.check != found.check]
    if changed:
        problem = f"{_some(changed, len(files))} not as when the shards were made. {AGAIN}"
        raise InputError(problem, argument=argument)
    return best


def _some(paths: Sequence[str], of: int) -> str:
    # a path is shown whole
    more = f" and {len(paths) - 1:,} more" if len(paths) > 1 else ""
    return f"{len(paths):,} of {count(of, 'input file')} ({paths[0]}{more}) {'is' if len(paths) == 1 else 'are'}"


@dataclass(kw_only=True)
class ShardNotes:
    """How a shard was made; files and checksums of contents are added as they are read."""

    command: str
    of: int
    options: Mapping[str, Value]
    versions: Mapping[str, str]
    folder: str
    files: list[InputFile] = field(default_factory=list)
    contents: dict[str, str] = field(default_factory=dict)

    @classmethod
    def begun(cls, parser: Parser, options: argparse.Namespace, of: int) -> ShardNotes:
        """Return what can be said of a call before anything is read."""
        names = [name for name in parser.arguments if name not in ("help", "shard", *OUTPUT)]
        return cls(
            command=parser.prog.split(maxsplit=1)[1],
            of=of,
            # as they are read again
            options=json.loads(json.dumps({name: getattr(options, name) for name in names})),
            versions=versions(),
            folder=os.getcwd(),
            files=_option_files(options),
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
    def settings(self) -> dict[str, Value]:
        """Return the options that matter for the numbers, but for those that name files, which :attr:`files` has."""
        passed_over = {*_MEANS, RUNS, *(file.option for file in self.files)}
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
        if self.command != other.command:
            return f"{other.command} in place of {self.command}"
        if self.of != other.of:
            return f"{other.of} shards in place of {self.of}"
        return next(self._differences(other), None)

    def _differences(self, other: ShardNotes) -> Iterator[str]:
        mine, theirs = self.settings, other.settings
        for name in dict.fromkeys([*mine, *theirs]):
            if mine.get(name) != theirs.get(name):
                yield f"{_typed(name, theirs.get(name))} in place of {_typed(name, mine.get(name))}"
        names = dict.fromkeys(file.option for file in (*self.files, *other.files))
        for name in names:
            ours, others = ([f for f in notes.files if f.option == name] for notes in (self, other))
            if [f.known_by for f in ours] != [f.known_by for f in others]:
                known = {f.known_by for f in ours}
                new = [f.given for f in others if f.known_by not in known]
                what = examples(new) if new else f"{len(others):,} files in place of {len(ours):,}"
                yield f"other run files: {what}" if name == RUNS else f"another file of --{name}: {what}"
        for name in self.contents:
            if name in other.contents and self.contents[name] != other.contents[name]:
                yield f"other {name}"
        for package in self.versions:
            if self.versions[package] != other.versions.get(package):
                yield f"{package} {other.versions.get(package)} in place of {self.versions[package]}"


def versions() -> dict[str, str]:
    """Return the versions of the packages that compute, of this process."""
    return {"pt_reuse": __version__, **{package: _version(package) for package in _COMPUTING}}


def _version(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return "missing"


def _typed(name: str, value: Value) -> str:
    option = f"--{name.replace('_', '-')}"
    if value is None or value is False:
        return f"no {option}"
    if value is True:
        return option
    words = value if isinstance(value, list) else [value]
    return f"{option} {shlex.join(map(str, words))}"
