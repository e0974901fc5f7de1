"""FileRun: what came of a run file; and what is told of all of them, however their rows are kept."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
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
from pt_reuse.formats.table_rows import RUN_TABLE, NoRunError, TableReading
from pt_reuse.formats.table_search import find_in_table, rows_in_table
from pt_reuse.formats.tables import is_table
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
        tag: its first tag, or the name that it has in its table; None where it is no run.
        left_out: why it is left out, None where it is not.
        fault: what is wrong with it, None where nothing is.
        commented: whether it begins with a comment.
        longer: how many lines have text after the sixth column, and the first of them.
        bad: the lines that were left out, from 1.
        reasons: why each of them was.
        table: whether the file is a table, which may hold several runs.
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


def no_run(error: InputError) -> str:
    """Return why a file without a run line is left out."""
    return f"no run line: {str(error.parts[0]).strip()}"


def packed_table(kind: str) -> InputError:
    """Return what is wrong with a text that is a table of a kind, once it is unpacked."""
    return InputError(f"a packed file, or a pipe, with a table in it ({kind}). Unpack it first.")


def no_table(error: InputError | UnreadableError, conventions: Conventions) -> tuple[str | None, InputError | None]:
    """Return of a table which reading as runs raised an error why it is left out, or what is wrong with it."""
    if isinstance(error, UnreadableError):
        return None, InputError(f"the file {error}. Give a table of runs, {RUN_TABLE}.")
    if isinstance(error, NoRunError) and conventions.other_files == "skip":
        return f"no row of a run: {str(error.parts[0]).strip()}", None
    return None, error


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
    n_files: int,
    conventions: Conventions,
    repeated: Callable[[list[FileRun], list[str]], dict[int, InputError]],
) -> tuple[list[FileRun], list[str]]:
    """Return those of the files that are runs, and their names, all different.

    Args:
        files: what came of each; several of a table that holds several.
        n_files: how many files there are.
        conventions: how they were read.
        repeated: finds of some runs what is wrong with those that have a document twice in a list, by position; asked
            only where another file is at fault.

    Raises:
        InputError: the first fault of every file that has one; none of the files is a run.
    """
    runs = [file for file in files if file.tag is not None]
    by_tag = conventions.names == "tag"
    names = _names_of([file.path for file in runs])
    names = [file.tag or "" if by_tag or file.table else name for file, name in zip(runs, names, strict=True)]
    twins = _twins(runs, names, _BY_TAG if by_tag else _BY_FILE)
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
    """Where documents stand in the files of runs, which are read once more for it.

    Args:
        runs: of which file each is.
        order: the ranking order.
    """

    def __init__(self, runs: Sequence[FileRun], order: str):
        self._runs, self._order = runs, order
        self.files = [str(file.path) for file in runs]

    def told(self, wanted: Sequence[tuple[int, str, str]]) -> list[str]:
        """Return in words the lines of documents, each given by run, topic and name."""
        said = {run: f" ({self.files[run]})" for run, _, _ in wanted}
        of_tables: dict[Path, list[tuple[int, str, str]]] = {}
        for run, topic, docno in wanted:
            path = self._runs[run].path
            if self._runs[run].table:
                of_tables.setdefault(path, []).append((run, topic, docno))
                continue
            with suppress(UnreadableError):  # it was read a moment ago
                found = find_document(chunks_of_lines(path, _CHUNK, _LONGEST), topic, docno, _TOLD)
                said[run] = f" (lines {', '.join(f'{line:,}' for line in found)} of {path})"
        for path, inside in of_tables.items():
            named = [(self._runs[run].tag or "", topic, docno) for run, topic, docno in inside]
            with suppress(UnreadableError):
                rows = find_in_table(path, self._order, named, _TOLD)
                said |= {run: f" ({told} of {path})" for (run, _, _), told in zip(inside, rows, strict=True)}
        return [said[run] for run, _, _ in wanted]

    def of_repeats(self, topics: Sequence[str], repeats: Repeats) -> NDArray[np.int64]:
        """Return (n,): the line of each row.

        Args:
            topics: of the field.
            repeats: the rows.
        """
        lines = np.zeros(len(repeats), dtype=np.int64)
        of_tables: dict[Path, list[NDArray[np.int64]]] = {}
        for run in np.unique(repeats.run).tolist():
            rows, file = np.flatnonzero(repeats.run == run), self._runs[run]
            if file.table:
                of_tables.setdefault(file.path, []).append(rows)
                continue
            of = [topics[t] for t in repeats.topic[rows].tolist()]
            with self._again(file.path):
                chunks = chunks_of_lines(file.path, _CHUNK, _LONGEST)
                lines[rows] = lines_of_rows(chunks, self._order, of, repeats.place[rows])
        for path, parts in of_tables.items():
            rows = np.concatenate(parts)
            runs = [self._runs[run].tag or "" for run in repeats.run[rows].tolist()]
            lists = [(run, topics[t]) for run, t in zip(runs, repeats.topic[rows].tolist(), strict=True)]
            with self._again(path):
                for which, group, at in rows_in_table(TableReading(path, self._order), lists, repeats.place[rows]):
                    lines[rows[which]] = group.row[at]
        return lines

    @contextmanager
    def _again(self, path: Path) -> Iterator[None]:
        try:
            yield
        except UnreadableError as error:
            raise InputError(f"the file {error}, though it was read before.", place=str(path)) from error


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
