"""Spool: one run on the disk as it was parsed, of which the rows of any topics can be taken."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from pt_reuse._files import replacing
from pt_reuse.engine import long_names, tokens
from pt_reuse.engine.lists import offsets
from pt_reuse.engine.order import natural_order
from pt_reuse.engine.run_rows import FileRows, RunRows
from pt_reuse.formats.array_file import ArrayFile, DamagedError
from pt_reuse.formats.checksum import checksums
from pt_reuse.formats.run_parts import RunPart, RunParts
from pt_reuse.formats.spool_rows import (
    INDEX,
    PIECE,
    RANKS,
    ROWS,
    SpoolRows,
    by_list,
    places_of,
    rows_of,
    tied_place,
    write_index,
)


@dataclass(frozen=True)
class Spool:
    """One run as it was parsed, in a folder.

    A row is the words of its document name, and its score; rows of a topic stand in the order of the file.

    Attributes:
        folder: holds its files; those of several runs, where they came from one table.
        index: the file that says where its rows are.
        tags: the first few tags of the last column, each with the line on which it stands first.
        n_tags: how many there are.
        longer: how many lines have text after the sixth column, and the first of them.
        commented: whether the file begins with a comment.
        n_lines: lines of the file.
        width: words of the longest document name.
        n_rows: how many rows there are.
        ranked: whether they have ranks.
    """

    folder: Path
    index: str
    tags: dict[str, int]
    n_tags: int
    longer: tuple[int, int]
    commented: bool
    n_lines: int
    width: int
    n_rows: int
    ranked: bool

    @staticmethod
    def opened(folder: Path, *, check: bool, index: str = INDEX) -> Spool:
        """Return a spool that a folder holds.

        Args:
            folder: the folder.
            index: the file that says where its rows are.
            check: whether to look at every byte, which another process may have written long ago.

        Raises:
            DamagedError: there is none, or it is not as it was written.
        """
        file = ArrayFile(folder / index)
        notes = file.notes
        if check:
            file.check()
            if notes["checks"] is not None:
                check_rows(folder, notes["checks"])
            (long,) = file.read("long_names")
            if len(long):
                long_names.keep(long.tobytes().split(b"\0"))
        of_run = ("tags", "n_tags", "longer", "commented", "n_lines", "width", "n_rows", "ranked")
        return Spool(folder, index, **{**{name: notes[name] for name in of_run}, "longer": tuple(notes["longer"])})

    @property
    def _index(self) -> ArrayFile:
        return ArrayFile(self.folder / self.index)

    def sizes(self) -> tuple[list[str], NDArray[np.int64]]:
        """Return the topics, in natural order, and how many rows each has."""
        names, sizes = self._index.read("topics", "sizes")
        return tokens.as_texts(names.tobytes().split(b"\0")), sizes

    def left_out(self) -> tuple[NDArray[np.int64], list[str]]:
        """Return the lines that were left out, from 1, and why each was."""
        bad, codes = self._index.read("bad", "reasons")
        texts = self._index.notes["reasons"]
        return bad, [texts[code] for code in codes.tolist()]

    def rows(self, first: int, last: int, name: str, topics: list[str], order: str) -> RunRows:
        """Return the rows of topics first to last, the last one not counted, in a ranking order.

        Args:
            first: position of the first topic.
            last: behind the last one.
            name: of the run.
            topics: the names of these topics.
            order: the ranking order.
        """
        index = self._index
        sizes, zero = index.part("sizes", first, last), index.part("from_zero", first, last).astype(np.bool_)
        bounds = index.part("piece_starts", first, last + 1)
        pieces = index.part("pieces", int(bounds[0]) * PIECE, int(bounds[-1]) * PIECE).reshape(-1, PIECE)
        docs, scores = rows_of(self.folder / ROWS, pieces)
        topic = np.arange(last - first)
        rows = FileRows(topics, np.repeat(topic, sizes), lambda some: docs.take(some, axis=0), scores)
        if not self.ranked:
            return rows.in_order(name, order, None)
        lists = np.repeat(topic, np.diff(bounds))
        return rows.in_order(name, order, places_of(self.folder / RANKS, pieces, lists, offsets(sizes), zero))


def check_rows(folder: Path, checks: Sequence[str]) -> None:
    """Raise unless the rows and ranks of a spool have their checksums.

    Raises:
        DamagedError: they do not.
    """
    try:
        if checksums([folder / ROWS, folder / RANKS], 1) != list(checks):
            raise DamagedError("its rows are damaged")
    except OSError as error:
        raise DamagedError("its rows are missing") from error


class SpoolWriter:
    """Writes a spool, part by part of a run file."""

    _rows: SpoolRows

    def __init__(self, folder: Path):
        self._folder = folder
        self._pieces: list[NDArray[np.int64]] = []
        self._topics: list[NDArray[np.int64]] = []

    def begin(self, rows: IO[bytes], ranks: IO[bytes]) -> None:
        """Begin to write rows, and ranks, to files."""
        self._rows = SpoolRows(rows, ranks)

    def remove(self) -> None:
        """Remove what was written."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def append(self, part: RunPart) -> None:
        """Add the rows of a part.

        Raises:
            OSError: they cannot be written.
        """
        self._pieces.append(self._rows.append(part))
        self._topics.append(part.topics)

    def tied(self, run: RunParts) -> tuple[str, int] | None:
        """Return topic and place of the first row whose rank another row of its topic has, too; None where none has."""
        names = run.topics
        pieces, bounds = self._by(np.arange(len(names)))
        found = tied_place(self._folder / RANKS, pieces, bounds, run.sizes[: len(names)], run.from_zero)
        return found and (names[found[0]], found[1])

    def seal(self, run: RunParts) -> None:
        """Write what says that the spool is whole.

        Raises:
            OSError: it cannot be written.
        """
        names = run.topics
        order = np.array(natural_order(names), dtype=np.int64)
        pieces, bounds = self._by(np.argsort(order))
        lists = {
            "sizes": run.sizes[order],
            "from_zero": run.from_zero[order],
            "piece_starts": bounds,
            "pieces": pieces,
        }
        notes = {
            "tags": dict(list(run.tags.items())[:3]),
            "n_tags": len(run.tags),
            "longer": run.longer,
            "commented": run.commented,
            "n_lines": run.n_lines,
            "width": self._rows.width,
            "n_rows": run.n_rows,
            "ranked": True,
            "checks": checksums([self._folder / ROWS, self._folder / RANKS], 1),
        }
        left_out = np.concatenate([np.zeros(0, dtype=np.int64), *run.bad]), run.reasons
        topics = [names[i] for i in order.tolist()]
        write_index(self._folder / INDEX, topics, lists, left_out, self._rows.long, notes)

    def _by(self, place: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        # the pieces in an order of topics, and where each topic's begin
        return by_list(np.concatenate(self._pieces), place[np.concatenate(self._topics)], len(place))


def spooling(folder: Path) -> AbstractContextManager[SpoolWriter]:
    """Open a folder for a spool, of which nothing is left where this ends with an error.

    Raises:
        OSError: it cannot be written.
    """
    return writing(SpoolWriter(folder), folder, (ROWS, RANKS))


class _Writes(Protocol):
    @property
    def begin(self) -> Callable[..., None]: ...

    def remove(self) -> None: ...


Writer = TypeVar("Writer", bound=_Writes)


@contextmanager
def writing(writer: Writer, folder: Path, names: Sequence[str]) -> Iterator[Writer]:
    """Have a writer write files of a folder; nothing is left of them where this ends with an error.

    Args:
        writer: the writer.
        folder: made where it is missing.
        names: of the files, as the writer begins them.

    Raises:
        OSError: a file cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with ExitStack() as stack:
            writer.begin(*(stack.enter_context(replacing(folder / name)) for name in names))
            yield writer
    except BaseException:
        writer.remove()
        raise
