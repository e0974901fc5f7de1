"""Table: a Parquet or Arrow file, known by its first bytes and read row group by row group."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from typing import IO, Any

from pt_reuse._errors import InputError, located, warn
from pt_reuse._files import open_file
from pt_reuse.data.packed_files import (
    ANY_UNPACKED,
    LONGEST_START,
    MOST_TIMES,
    DamagedFileError,
    TooLargeError,
    UnreadableError,
    give_back,
    kind_of_table,
)

#: names that repeat from row to row, which are read as numbers of the distinct ones
_REPEATED = ["qid", "name"]
_BUFFER = 1 << 16  # bytes of a column that are read at once
_LARGE = 1 << 20  # bytes of a row group that are given back before the next one is read
_ROW_BYTES = 24  # that a row takes in memory at least


def is_table(path: Path) -> bool:
    """Return whether a file is a table by its first bytes."""
    try:
        with open_file(path, buffering=0) as file:
            return kind_of_table(file.read(LONGEST_START)) is not None
    except OSError:
        # whoever reads the file says what is wrong with it
        return False


def arrow(what: str) -> Any:
    """Return pyarrow with its readers and writers, or say that what the user wants needs it."""
    try:
        import pyarrow as pa
        import pyarrow.ipc
        import pyarrow.parquet
    except ImportError as error:
        raise InputError(f"{what} needs pyarrow; `pip install 'pt-reuse[parquet]'` brings it.") from error
    return pa


@dataclass(frozen=True)
class Table:
    """A Parquet or Arrow file that is open."""

    kind: str
    columns: Sequence[str]
    metadata: Mapping[bytes, bytes]
    _file: IO[bytes]
    _size: int

    @property
    def part(self) -> str:
        """Return what a part of the file is called that is read at once."""
        return "row group" if self.kind == "Parquet" else "record batch"

    def groups(self, columns: Sequence[str], fits: Callable[[int, int], None]) -> Iterator[Any]:
        """Yield some columns of one row group (record batch) after the other, each as a checked pyarrow table."""
        left = max(ANY_UNPACKED, MOST_TIMES * self._size)
        for i, (rows, size, read) in enumerate(self._parts(columns), 1):
            self._check(size, left)
            with located(f"{self.part} {i:,}"):
                fits(rows, size)
                with _reading(self.kind):
                    group = read()
                    # numbers that lead out of its buffers would be followed
                    group.validate(full=True)
                fits(group.num_rows, group.nbytes)
            left -= max(size, group.nbytes)
            self._check(0, left)
            yield group
            large = group.nbytes > _LARGE
            del group  # before the next one is read
            if large:
                arrow("reading tables").default_memory_pool().release_unused()
                give_back()

    def _check(self, size: int, left: int) -> None:
        if size > left:
            most = max(ANY_UNPACKED, MOST_TIMES * self._size)
            raise TooLargeError(
                f"unpacks to more than {most:,} bytes, from {self._size:,}, which is taken for damage or an attack "
                f"(write its columns qid, docno, score, rank and name alone if it is right)"
            )

    def _parts(self, columns: Sequence[str]) -> Iterator[tuple[int, int, Any]]:
        # the rows and the size that each part claims, and what reads it
        pa = arrow("reading tables")
        self._file.seek(0)
        if self.kind == "Parquet":
            with _reading(self.kind):
                file = _parquet(pa, self._file)
                groups = [file.metadata.row_group(i) for i in range(file.num_row_groups)]
                if sum(group.num_rows for group in groups) != file.metadata.num_rows:
                    raise ValueError("it has another number of rows than it says")
                # of its columns nothing is asked: where they are damaged, pyarrow ends the process
                sizes = [(group.num_rows, max(group.total_byte_size, group.num_rows * _ROW_BYTES)) for group in groups]
            for i, (rows, size) in enumerate(sizes):
                yield rows, size, lambda i=i: file.read_row_group(i, columns=list(columns), use_threads=False)
            return
        chosen = [i for i, name in enumerate(self.columns) if name in columns]
        options = pa.ipc.IpcReadOptions(included_fields=chosen)
        with _reading(self.kind):
            if self.kind == "Arrow":
                reader = pa.ipc.open_file(self._file, options=options)
                batches = (reader.get_batch(i) for i in range(reader.num_record_batches))
            else:
                batches = iter(pa.ipc.open_stream(self._file, options=options))
        for i in count(1):
            with located(f"{self.part} {i:,}"), _reading(self.kind):
                batch = next(batches, None)
            if batch is None:
                return
            yield batch.num_rows, batch.nbytes, lambda batch=batch: pa.Table.from_batches([batch])


@contextmanager
def opened(path: Path) -> Generator[Table, None, None]:
    """Open a file for which :func:`is_table` holds."""
    try:
        file = open_file(path)
    except OSError as error:
        raise UnreadableError(f"cannot be read: {error.strerror or error}") from error
    with file:
        kind = kind_of_table(file.read(LONGEST_START)) or "Parquet"
        size = file.seek(0, 2)
        file.seek(0)
        pa = arrow(f"reading {path.name}, {'an' if kind.startswith('Arrow') else 'a'} {kind} file,")
        with _reading(kind):
            if kind == "Parquet":
                parquet = _parquet(pa, file)
                schema, metadata = parquet.schema_arrow, parquet.metadata.metadata
            else:
                schema = (pa.ipc.open_file if kind == "Arrow" else pa.ipc.open_stream)(file).schema
                metadata = schema.metadata
            columns = schema.names
        yield Table(kind, columns, metadata or {}, file, size)


def _parquet(pa: Any, file: IO[bytes]) -> Any:
    schema = pa.parquet.ParquetFile(file).schema
    repeated = [schema.column(i).path for i in range(len(schema)) if schema.column(i).path in _REPEATED]
    # threads, and columns that are read ahead, take more memory and hardly less time
    options = {"page_checksum_verification": True, "pre_buffer": False, "buffer_size": _BUFFER}
    return pa.parquet.ParquetFile(file, read_dictionary=repeated, **options)


@contextmanager
def _reading(kind: str) -> Iterator[None]:
    try:
        yield
    except MemoryError as error:
        raise UnreadableError(f"is a damaged {kind} file, or does not fit in memory") from error
    except Exception as error:
        # pyarrow has many classes for what it finds wrong; all of them mean that the file cannot be used
        said = str(error).split("\n", 1)[0].rstrip(".")
        raise DamagedFileError(f"is a damaged or truncated {kind} file ({said})") from error


#: under which the notes stand in the metadata of a file
KEY = b"pt_reuse"
_VERSION = 1


@dataclass(frozen=True)
class TableNotes:
    """What is said of the runs of a table."""

    order: str
    pool_order: str | None
    pool_depth: int | None
    runs: Sequence[Mapping[str, Any]]

    def packed(self) -> bytes:
        """Return them as ASCII text."""
        said = {"version": _VERSION, **asdict(self)}
        return json.dumps({**said, "check": _digest(said)}).encode("ascii")

    @staticmethod
    def unpacked(data: bytes) -> TableNotes:
        """Return what :meth:`packed` was given."""
        try:
            said = json.loads(data)
        except RecursionError as error:
            raise ValueError("it is nested too deep") from error
        if not isinstance(said, dict) or said.get("version") != _VERSION:
            raise ValueError(f"it is not of version {_VERSION}")
        if said.pop("check", None) != _digest(said):
            raise ValueError("it is damaged")
        # what has its digest is as it was written, by this version
        return TableNotes(*(said[key] for key in ("order", "pool_order", "pool_depth", "runs")))


def _digest(said: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(said).encode("ascii")).hexdigest()


def listed_runs(metadata: Mapping[bytes, bytes]) -> list[str]:
    """Return the runs of a table in the order in which its notes list them; none where there are no sound notes."""
    try:
        return [str(run["name"]) for run in TableNotes.unpacked(metadata[KEY]).runs]
    except (KeyError, ValueError):
        return []


def notes_of(path: Path) -> TableNotes | None:
    """Return what a table says of its runs, None where it says nothing; with a warning where that cannot be used."""
    try:
        with opened(path) as table:
            data = table.metadata.get(KEY)
    except UnreadableError:
        # whoever reads the runs says what is wrong with it
        return None
    try:
        return None if data is None else TableNotes.unpacked(data)
    except ValueError as error:
        warn(f"what it says of its runs is left aside: {error}.", place=str(path))
        return None
