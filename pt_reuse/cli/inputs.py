"""InputFile: a file that a command reads, known by its checksum, so that another process can tell it again."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from pt_reuse._check import count, examples
from pt_reuse._errors import InputError
from pt_reuse._files import user_path

if TYPE_CHECKING:
    from pt_reuse.data.judgments import Qrels
    from pt_reuse.data.run_set import RunSet

#: options that may name a file, beside those that name runs
_FILES = ("qrels", "collection", "teams", "types", "pooled", "metadata", "contributors")
RUNS = "runs"
#: what an option holds, as JSON has it
Value: TypeAlias = "str | int | float | bool | list[str] | None"
_THREADS = 4


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

    def to_json(self) -> dict[str, str]:
        """Return it as JSON has it."""
        return asdict(self)


def option_files(options: argparse.Namespace) -> list[InputFile]:
    """Return the files that options name, but for runs."""
    named = [(name, getattr(options, name, None)) for name in _FILES]
    files = [(name, value) for name, value in named if isinstance(value, str) and _is_file(value)]
    return input_files(files)


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


@dataclass(frozen=True)
class Moved:
    """Files that were read by a relative path, seen from another folder."""

    folder: str

    def path(self, given: str) -> str:
        """Return the path of a file or folder, or of a pattern."""
        # an absolute path, or one that begins at a home, stays
        return given if not self.folder or given.startswith("~") else os.path.join(self.folder, given)

    def options(self, options: Mapping[str, Value], files: Sequence[InputFile]) -> dict[str, Value]:
        """Return options of a command whose paths lead to the files from here."""
        paths = {RUNS, "cache", *(file.option for file in files)}
        moved: dict[str, Value] = {}
        for name, value in options.items():
            if name in paths and isinstance(value, str):
                moved[name] = self.path(value)
            elif name in paths and isinstance(value, list):
                moved[name] = [self.path(text) for text in value]
            else:
                moved[name] = value
        return moved


def located(files: Sequence[InputFile], folders: Iterable[str], argument: str) -> Moved:
    """Return from which folder the paths of files lead to them, all as they were."""
    here = os.getcwd()
    ways = [Moved("" if folder == here else folder) for folder in dict.fromkeys([*folders, here])]
    lost = [[file for file in files if not os.path.exists(user_path(way.path(file.given)))] for way in ways]
    best = min(range(len(ways)), key=lambda i: len(lost[i]))
    if lost[best]:
        gone = _some([file.real for file in lost[best]], len(files))
        problem = (
            f"{gone} not there any more. Put back what was moved, or merge in a folder from which the paths that were "
            f"given lead to it, such as {lost[best][0].given}."
        )
        raise InputError(problem, argument=argument)
    now = input_files([(file.option, ways[best].path(file.given)) for file in files])
    changed = [file for file, found in zip(files, now, strict=True) if file.check != found.check]
    if changed:
        other = _some([ways[best].path(file.given) for file in changed], len(files))
        problem = (
            f"{other} not as when the shards were made. Put back what was changed, or make the shards again, in "
            "another folder."
        )
        raise InputError(problem, argument=argument)
    return ways[best]


def _some(paths: Sequence[str], of: int) -> str:
    # a path is shown whole
    more = f" and {len(paths) - 1:,} more" if len(paths) > 1 else ""
    return f"{len(paths):,} of {count(of, 'input file')} ({paths[0]}{more}) {'is' if len(paths) == 1 else 'are'}"


def run_files_differ(files: Sequence[InputFile], paths: Sequence[Path]) -> str | None:
    """Return in which files runs are that were not read before, or the other way round; None where nothing differs."""
    before = Counter(os.path.basename(file.given) for file in files if file.option == RUNS)
    now = Counter(path.name for path in paths)
    if before == now:
        return None
    new, gone = sorted((now - before).elements()), sorted((before - now).elements())
    said = [*([f"{examples(new)} new"] if new else []), *([f"{examples(gone)} gone"] if gone else [])]
    return ", ".join(said)
