"""Table: a Parquet or Arrow file, known by its first bytes and read row group by row group."""

from __future__ import annotations

import re
import stat
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from pt_reuse._errors import InputError
from pt_reuse.formats.files import ANY_UNPACKED, MOST_TIMES, DamagedFileError, TooLargeError, UnreadableError

#: what begins a file -> its kind; in a text that begins alike, a printable character or white space would follow
_KINDS = (
    (re.compile(rb"PAR1[\x00-\x08\x0e-\x1f]"), "Parquet"),
    (re.compile(rb"ARROW1\x00\x00"), "Arrow"),
    (re.compile(rb"\xff\xff\xff\xff...\x00", re.DOTALL), "Arrow stream"),
)
_LONGEST_START = 8
#: names that repeat from row to row, which are read as numbers of the distinct ones
_REPEATED = ["qid", "name"]
_ROW_BYTES = 24  # that a row takes in memory at least


def kind_of_table(start: bytes) -> str | None:
    """Return which kind of table begins like this, ``"Parquet"``, ``"Arrow"`` or ``"Arrow stream"``; None for none."""
    return next((kind for begins, kind in _KINDS if begins.match(start)), None)


def is_table(path: Path) -> bool:
    """Return whether a file is a table by its first bytes; of a pipe, which can be read once only, nothing is read."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return False
        with path.open("rb", buffering=0) as file:
            return kind_of_table(file.read(_LONGEST_START)) is not None
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
    """A Parquet or Arrow file that is open.

    Attributes:
        kind: ``"Parquet"``, ``"Arrow"`` or ``"Arrow stream"``.
        schema: the pyarrow schema of its columns.
        metadata: what its writer says of it.
    """

    kind: str
    schema: Any
    metadata: Mapping[bytes, bytes]
    _file: IO[bytes]
    _size: int

    @property
    def part(self) -> str:
        """Return what a part of the file is called that is read at once."""
        return "row group" if self.kind == "Parquet" else "record batch"

    def groups(self, columns: Sequence[str]) -> Iterator[Any]:
        """Yield some columns of one row group (record batch) after the other, each as a checked pyarrow table.

        Raises:
            UnreadableError: it is damaged, or unpacks to more than is read.
        """
        found, most = 0, max(ANY_UNPACKED, MOST_TIMES * self._size)
        for size, read in self._parts(columns):
            if found + size <= most:
                with _reading(self.kind):
                    group = read()
                    # numbers that lead out of its buffers would be followed
                    group.validate(full=True)
                size = max(size, group.nbytes)
                yield group
            found += size
            if found > most:
                raise TooLargeError(
                    f"unpacks to more than {most:,} bytes, from {self._size:,}, which is taken for damage or an attack "
                    f"(write its columns qid, docno, score, rank and name alone if it is right)"
                )

    def _parts(self, columns: Sequence[str]) -> Iterator[tuple[int, Any]]:
        # the size that each part claims, and what reads it
        pa = arrow("reading tables")
        self._file.seek(0)
        if self.kind == "Parquet":
            with _reading(self.kind):
                file = _parquet(pa, self._file)
                sizes = [_claimed(file.metadata.row_group(i), columns) for i in range(file.num_row_groups)]
            for i, size in enumerate(sizes):
                yield size, lambda i=i: file.read_row_group(i, columns=list(columns))
            return
        chosen = [i for i, name in enumerate(self.schema.names) if name in columns]
        options = pa.ipc.IpcReadOptions(included_fields=chosen)
        with _reading(self.kind):
            if self.kind == "Arrow":
                reader = pa.ipc.open_file(self._file, options=options)
                batches = (reader.get_batch(i) for i in range(reader.num_record_batches))
            else:
                batches = iter(pa.ipc.open_stream(self._file, options=options))
        while True:
            with _reading(self.kind):
                batch = next(batches, None)
            if batch is None:
                return
            yield 0, lambda batch=batch: pa.Table.from_batches([batch])


@contextmanager
def opened(path: Path) -> Generator[Table, None, None]:
    """Open a file for which :func:`is_table` holds.

    Raises:
        UnreadableError: it cannot be read or is damaged.
        InputError: pyarrow is missing.
    """
    try:
        file = path.open("rb")
    except OSError as error:
        raise UnreadableError(f"cannot be read: {error.strerror or error}") from error
    with file:
        kind = kind_of_table(file.read(_LONGEST_START)) or "Parquet"
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
        yield Table(kind, schema, metadata or {}, file, size)


def _parquet(pa: Any, file: IO[bytes]) -> Any:
    schema = pa.parquet.ParquetFile(file).schema
    repeated = [schema.column(i).path for i in range(len(schema)) if schema.column(i).path in _REPEATED]
    return pa.parquet.ParquetFile(file, read_dictionary=repeated, page_checksum_verification=True)


def _claimed(group: Any, columns: Sequence[str]) -> int:
    # what a row group takes when it is unpacked, by its own account
    parts = [group.column(i) for i in range(group.num_columns)]
    unpacked = sum(part.total_uncompressed_size for part in parts if part.path_in_schema in columns)
    return max(unpacked, group.num_rows * _ROW_BYTES)


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
