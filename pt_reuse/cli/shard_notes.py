"""ShardNotes: how a shard was made, so that shards of different calls are never merged."""

from __future__ import annotations

import argparse
import json
import os
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pt_reuse._check import examples
from pt_reuse._errors import InputError
from pt_reuse._version import __version__
from pt_reuse.cli.inputs import RUNS, InputFile, Value
from pt_reuse.cli.parser import Parser

if TYPE_CHECKING:
    from pt_reuse.data.shards import ShardFile

#: to be raised when what stands in a shard changes
FORMAT = 1
#: options that say what is printed and where to: those of the merge
OUTPUT = ("out", "overwrite", "all", "per_topic", "quiet")
#: options that change no number: where things are kept, and how the work is done
_MEANS = ("cache", "memory", "jobs", "no_download")
#: packages whose versions may show in the last bits of a number
_COMPUTING = ("numpy", "ir-measures", "pytrec-eval-terrier")


@dataclass(frozen=True, kw_only=True)
class ShardNotes:
    """How a shard was made."""

    command: str
    of: int
    options: Mapping[str, Value]
    versions: Mapping[str, str]
    folder: str
    files: tuple[InputFile, ...] = ()
    contents: Mapping[str, str] = field(default_factory=dict)

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
        )

    def with_files(self, files: list[InputFile]) -> ShardNotes:
        """Return the notes with further files."""
        return replace(self, files=(*self.files, *files))

    def with_contents(self, **contents: str) -> ShardNotes:
        """Return the notes with further checksums."""
        return replace(self, contents={**self.contents, **contents})

    def to_json(self) -> dict[str, Any]:
        """Return the notes as JSON has them."""
        return {
            "format": FORMAT,
            "command": self.command,
            "of": self.of,
            "options": dict(self.options),
            "versions": dict(self.versions),
            "folder": self.folder,
            "files": [file.to_json() for file in self.files],
            "contents": dict(self.contents),
        }

    @classmethod
    def in_file(cls, file: ShardFile) -> ShardNotes:
        """Return the notes of a shard."""
        notes = file.notes()
        if notes.get("format") != FORMAT:
            problem = f"written by another version of pt_reuse (format {notes.get('format')}; this one reads {FORMAT})"
            raise InputError(f"{problem}. Take that version, or remove the file.", place=str(file.path))
        return cls(
            command=notes["command"],
            of=notes["of"],
            options=notes["options"],
            versions=notes["versions"],
            folder=notes["folder"],
            files=tuple(InputFile(**file) for file in notes["files"]),
            contents=notes["contents"],
        )

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
