"""FileRun: what came of a run file; and what is told of all of them, however their rows are kept."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pt_reuse._check import count, shown
from pt_reuse._errors import InputError, Option, Part
from pt_reuse.engine.building import Repeats
from pt_reuse.formats.files import UnreadableError
from pt_reuse.formats.line_chunks import chunks_of_lines
from pt_reuse.formats.line_search import find_document, lines_of_rows
from pt_reuse.formats.read_field import Longer
from pt_reuse.formats.run_table import RunTable
from pt_reuse.formats.tables import is_table, kind_of_table
from pt_reuse.formats.trec_lines import RUN_LINE
from pt_reuse.runs.dropped import Dropped

#: of a packed file; ir_datasets' trec-browser-provider adds a further ending to files as they came
_PACKED = re.compile(r"\.(gz|bz2|xz|lz4|zst|Z)(\.raw)?$")
_BY_TAG: tuple[Part, ...] = ("Pass ", Option("names", "file"), " to name runs by their files")
_BY_FILE: tuple[Part, ...] = ("Rename one of the files",)
#: bytes of a file that are looked through at once, and of the longest line
_CHUNK, _LONGEST = 1 << 22, 1 << 30
_TOLD = 5  # lines of a document


@dataclass(frozen=True)
class Conventions:
    """How run files are read; what is kept in a cache depends on it.

    Attributes:
        order: the ranking order.
        names: ``"tag"`` or ``"file"``, what names a run.
        duplicates: ``"error"`` or ``"best"``.
        bad_lines: ``"error"`` or ``"skip"``, of lines that are no run line.
        other_files: ``"error"`` or ``"skip"``, of files without a run line.
    """

    order: str
    names: str
    duplicates: str
    bad_lines: str
    other_files: str

    def as_dict(self) -> dict[str, str]:
        """Return the conventions by their names."""
        return asdict(self)


@dataclass
class FileRun:
    """What came of a run file, or of one of the runs of a table.

    Attributes:
        path: the file.
        tag: its first tag, None where it is no run.
        left_out: why it is left out, None where it is not.
        fault: what is wrong with it, None where nothing is.
        commented: whether it begins with a comment.
        longer: how many lines have text after the sixth column, and the first of them.
        bad: the lines that were left out, from 1.
        reasons: why each of them was.
        table: whether it is one of the runs of a table, of which the tag is the name.
    """

    path: Path
    tag: str | None = None
    left_out: str | None = None
    fault: InputError | None = None
    commented: bool = False
    longer: tuple[int, int] = (0, 0)
    bad: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    reasons: list[str] = field(default_factory=list)
    table: bool = False

    def dropped(self, name: str | None) -> Iterator[Dropped]:
        """Yield what was left out of the file, whose run has a name, or of its field."""
        if self.left_out is not None:
            yield Dropped.of_file(str(self.path), self.left_out)
        if len(self.bad):
            yield Dropped.of_lines(str(self.path), self.bad, self.reasons, name or "")


def unreadable(error: UnreadableError) -> InputError:
    """Return what is wrong with a file that cannot be read or unpacked."""
    return InputError(f"the file {error}. Give a run file, {RUN_LINE}.")


def packed_table(data: bytes) -> InputError | None:
    """Return what is wrong with a file, of which the first bytes are given unpacked, where it is a table."""
    kind = kind_of_table(data)
    if kind is None:
        return None
    return InputError(f"a packed file, or a pipe, with a table in it ({kind}). Unpack it first.")


def no_run(error: InputError) -> str:
    """Return why a file without a run line is left out."""
    return f"no run line: {str(error.parts[0]).strip()}"


def many_tags(tags: dict[str, int], n: int) -> InputError:
    """Return what is wrong with a file of `n` tags, of which the first few are given, with the line of each."""
    places = [f"{shown(tag)} from line {line:,}" for tag, line in list(tags.items())[:3]]
    more = f" and {n - 3:,} more" if n > 3 else ""
    return InputError(
        f"{count(n, 'run tag')} in the sixth column: {', '.join(places)}{more}; a run file has one. ",
        "Split the file by tag, or pass ",
        Option("names", "file"),
        " to name the run by its file.",
    )


def file_run_names(paths: Sequence[Path]) -> list[str]:
    """Return the names that runs have by their files, all different, without a look into the files."""
    names = _names_of(paths)
    faults = _twins([FileRun(path) for path in paths], names, _BY_FILE)
    if faults:
        raise InputError.of_several(list(faults.values()), len(paths), "files")
    return names


def named_by_files(paths: Sequence[Path], names: str, other_files: str) -> list[str] | None:
    """Return the names of the runs where these are known before the files are read, else None.

    Args:
        paths: the files.
        names: ``"tag"`` or ``"file"``; tables have names of their own.
        other_files: ``"error"`` or ``"skip"``.
    """
    known = names == "file" and other_files == "error" and not any(map(is_table, paths))
    return file_run_names(paths) if known else None


def run_names_of(
    files: Sequence[FileRun],
    conventions: Conventions,
    repeated: Callable[[list[FileRun], list[str]], dict[int, InputError]],
) -> tuple[list[FileRun], list[str]]:
    """Return those of the files that are runs, and their names, all different.

    Args:
        files: what came of each.
        conventions: how they were read.
        repeated: finds of some runs what is wrong with those that have a document twice in a list, by position; asked
            only where another file is at fault.

    Raises:
        InputError: the first fault of every file that has one; none of the files is a run.
    """
    runs = [file for file in files if file.tag is not None]
    by_tag, by_file = conventions.names == "tag", _names_of([file.path for file in runs])
    names = [file.tag or "" if by_tag or file.table else name for file, name in zip(runs, by_file, strict=True)]
    twins = _twins(runs, names, _BY_TAG if by_tag else _BY_FILE)
    n_files = len({file.path for file in files})
    faults = {id(file): file.fault for file in files if file.fault is not None}
    faults |= {id(runs[i]): fault for i, fault in twins.items()}
    if faults:
        if conventions.duplicates == "error" and runs:
            faults = {id(runs[i]): fault for i, fault in repeated(runs, names).items()} | faults
        of_file: dict[Path, InputError] = {}
        for file in files:
            if id(file) in faults:
                of_file.setdefault(file.path, faults[id(file)])
        raise InputError.of_several([*of_file.values()], n_files, "files")
    if not runs:
        raise InputError(f"none of {count(n_files, 'file')} has a run line. Give run files, {RUN_LINE}.")
    return runs, names


def longer_lines(files: Sequence[FileRun]) -> tuple[Longer, ...]:
    """Return which files have lines with text after the sixth column."""
    return tuple(Longer(str(file.path), *file.longer) for file in files if file.longer[0])


class LinesInFiles:
    """Where documents stand in the files of runs, which are read once more for it."""

    def __init__(self, runs: Sequence[FileRun], order: str):
        self.runs, self.files, self.order = runs, [str(file.path) for file in runs], order
        self._tables: dict[Path, RunTable] = {}

    def told(self, run: int, topic: str, docno: str) -> str:
        """Return the lines of a document in words."""
        file = self.runs[run]
        try:
            if file.table:
                return f" ({self._table(run).find(file.tag or '', topic, docno)} of {file.path})"
            found = find_document(chunks_of_lines(file.path, _CHUNK, _LONGEST), topic, docno, _TOLD)
        except UnreadableError:  # it was read a moment ago
            return f" ({file.path})"
        return f" (lines {', '.join(f'{line:,}' for line in found)} of {file.path})"

    def of_repeats(self, topics: Sequence[str], repeats: Repeats) -> NDArray[np.int64]:
        """Return (n,): the line of each row, or its place in a table.

        Args:
            topics: of the field.
            repeats: the rows.
        """
        lines = np.zeros(len(repeats), dtype=np.int64)
        for run in np.unique(repeats.run).tolist():
            rows, file = np.flatnonzero(repeats.run == run), self.runs[run]
            of = [topics[t] for t in repeats.topic[rows].tolist()]
            try:
                if file.table:
                    lines[rows] = self._table(run).rows_at(file.tag or "", of, repeats.place[rows])
                    continue
                chunks = chunks_of_lines(file.path, _CHUNK, _LONGEST)
                lines[rows] = lines_of_rows(chunks, self.order, of, repeats.place[rows])
            except UnreadableError as error:
                raise InputError(f"the file {error}, though it was read before.", place=self.files[run]) from error
        return lines

    def _table(self, run: int) -> RunTable:
        # one table may hold many of the runs
        path = self.runs[run].path
        if path not in self._tables:
            self._tables[path] = RunTable(path, self.order)
        return self._tables[path]


def _names_of(paths: Sequence[Path]) -> list[str]:
    return [_PACKED.sub("", path.name).removeprefix("input.") or path.name for path in paths]


def _twins(files: Sequence[FileRun], names: Sequence[str], advice: tuple[Part, ...]) -> dict[int, InputError]:
    # the files whose runs bear the name of another one before them
    first: dict[str, FileRun] = {}
    faults = {}
    for i, (file, name) in enumerate(zip(files, names, strict=True)):
        other = first.setdefault(name, file)
        if other is not file:
            # nothing that one can pass renames the runs of a table
            table = file.table or other.table
            both = f"both have a run {shown(name)}" if table else f"are both named {shown(name)}"
            how = ("Rename one of the runs",) if table else advice
            faults[i] = InputError(f"{other.path} and {file.path} {both}. ", *how, ", or leave one out.")
    return faults
