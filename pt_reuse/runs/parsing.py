"""Parse run files in parallel and code them as one field."""

from __future__ import annotations

import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import asdict, dataclass
from pathlib import Path

import pyterrier as pt

from pt_reuse._check import count
from pt_reuse._errors import InputError, Option, Part, located
from pt_reuse.engine.field import Field
from pt_reuse.engine.run_rows import RunRows
from pt_reuse.formats.files import UnreadableError, in_memory, read_bytes
from pt_reuse.formats.trec import RUN_LINE, find_document, parse_run
from pt_reuse.runs.coding import code_runs

_PACKED = re.compile(r"\.(gz|bz2|xz|lz4|zst|Z)$")


@dataclass(frozen=True)
class Conventions:
    """How run files are read; what is kept in a cache depends on it.

    Attributes:
        order: the ranking order.
        names: ``"tag"`` or ``"file"``, what names a run.
        duplicates: ``"error"`` or ``"best"``.
    """

    order: str
    names: str
    duplicates: str

    def as_dict(self) -> dict[str, str]:
        """Return the conventions by their names."""
        return asdict(self)


def file_run_names(paths: Sequence[Path]) -> list[str]:
    """Return the names that runs have by their files, all different, without a look into the files."""
    names = [_PACKED.sub("", path.name).removeprefix("input.") or path.name for path in paths]
    _check_distinct(paths, names, "Rename one of the files")
    return names


def parse_files(
    paths: Sequence[Path], conventions: Conventions, *, threads: int, verbose: bool
) -> tuple[Field, list[str]]:
    """Return the field of some run files and the names of the runs."""
    context = copy_context()
    names = file_run_names(paths) if conventions.names == "file" else None
    with pt.tqdm(total=len(paths), desc="reading runs", unit="file", disable=not verbose) as bar:

        def read(path: Path) -> RunRows:
            # a thread begins without the caller's context, which says where errors are
            rows = context.copy().run(_read_run, path, conventions)
            bar.update(1)
            return rows

        pool = ThreadPoolExecutor(threads)
        try:
            rows = list(pool.map(read, paths))
        finally:
            # after an error or ctrl-C the files not begun are not read
            pool.shutdown(wait=True, cancel_futures=True)
    if names is None:
        names = [run.name for run in rows]
        _check_distinct(paths, names, "Pass ", Option("names", "file"), " to name runs by their files")
    for run, name in zip(rows, names, strict=True):
        run.name = name

    def lines(run: int, topic: str, docno: str) -> str:
        try:
            found = find_document(read_bytes(paths[run]), topic, docno)
        except UnreadableError:  # it was read a moment ago
            return f" ({paths[run]})"
        return f" (lines {', '.join(f'{line:,}' for line in found[:5])} of {paths[run]})"

    field = code_runs(rows, duplicates=conventions.duplicates, threads=threads, lines=lines)
    return field, names


def _read_run(path: Path, conventions: Conventions) -> RunRows:
    with located(str(path)), in_memory():
        try:
            data = read_bytes(path)
        except UnreadableError as error:
            raise InputError(f"the file {error}. Give a run file, {RUN_LINE}.") from error
        tags, rows = parse_run(data, conventions.order)
        if conventions.names == "tag" and len(tags) > 1:
            places = [f"{tag!r} from line {line:,}" for tag, line in list(tags.items())[:3]]
            more = f" and {len(tags) - 3:,} more" if len(tags) > 3 else ""
            raise InputError(
                f"{count(len(tags), 'run tag')} in the sixth column: {', '.join(places)}{more}; a run file has one. "
                f"Split the file by tag, or pass ",
                Option("names", "file"),
                " to name the run by its file.",
            )
        return rows


def _check_distinct(paths: Sequence[Path], names: Sequence[str], *advice: Part) -> None:
    first: dict[str, Path] = {}
    for path, name in zip(paths, names, strict=True):
        other = first.setdefault(name, path)
        if other is not path:
            raise InputError(f"{other} and {path} are both named {name!r}. ", *advice, ", or leave one out.")
