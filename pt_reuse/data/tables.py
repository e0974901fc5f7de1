"""Tables of runs: Parquet and Arrow files, which are frames, read row group by row group."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pt_reuse._files import check_writable, checked_path, open_file, replacing
from pt_reuse.arrays import tokens
from pt_reuse.arrays.field import AnyField
from pt_reuse.arrays.lists import neighbours, ranges
from pt_reuse.data.coding import HowPooled
from pt_reuse.data.frame_columns import check_once, finite_column, number_column, text_column, text_groups
from pt_reuse.data.lines import RunPart
from pt_reuse.data.metadata import given_metadata, is_missing
from pt_reuse.data.packed_files import (
    ANY_UNPACKED,
    LONGEST_START,
    MOST_TIMES,
    DamagedFileError,
    TooLargeError,
    UnreadableError,
    kind_of_table,
)
from pt_reuse.errors import InputError, columns, examples, flag, shown, warn
from pt_reuse.options import ORDERS

SKIP_FILE = " Pass other_files='skip' to leave out files without a row of a run."
_ROW_BYTES = 24  # that a row takes in memory at least
#: threads, and columns that are read ahead, take more memory and hardly less time
_PARQUET = {"page_checksum_verification": True, "pre_buffer": False, "buffer_size": 1 << 16}


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
class _Table:
    """A Parquet or Arrow file that is open."""

    pa: Any
    kind: str
    file: IO[bytes]
    size: int
    columns: Sequence[str]
    metadata: Mapping[bytes, bytes]

    def frames(self, wanted: Sequence[str]) -> Iterator[pd.DataFrame]:
        """Yield some columns of one row group (record batch) after the other, checked; none without a row."""
        left = most = max(ANY_UNPACKED, MOST_TIMES * self.size)
        with _reading(self.kind):
            for claimed, read in self._parquet(wanted) if self.kind == "Parquet" else self._arrow(wanted):
                group = None
                if claimed <= left:
                    group = read()
                    # numbers that lead out of its buffers would be followed
                    group.validate(full=True)
                    left -= max(claimed, group.nbytes)
                if group is None or left < 0:
                    raise TooLargeError(
                        f"unpacks to more than {most:,} bytes, from {self.size:,}, which is taken for damage or an "
                        "attack (write its columns qid, docno, score, rank and name alone if it is right)"
                    )
                if group.num_rows:
                    yield group.to_pandas()
                del group  # before the next one is read

    def _parquet(self, wanted: Sequence[str]) -> Iterator[tuple[int, Callable[[], Any]]]:
        # the size that each part claims, and what reads it; names that repeat are read as numbers of the distinct ones
        repeated = [name for name in ("qid", "docno", "name") if name in wanted]
        reader = self.pa.parquet.ParquetFile(self.file, read_dictionary=repeated, **_PARQUET)
        groups = [reader.metadata.row_group(i) for i in range(reader.num_row_groups)]
        if sum(group.num_rows for group in groups) != reader.metadata.num_rows:
            raise ValueError("it has another number of rows than it says")
        for i, group in enumerate(groups):
            # of its columns nothing is asked: where they are damaged, pyarrow ends the process
            size = max(group.total_byte_size, group.num_rows * _ROW_BYTES)
            yield size, partial(reader.read_row_group, i, columns=list(wanted), use_threads=False)

    def _arrow(self, wanted: Sequence[str]) -> Iterator[tuple[int, Callable[[], Any]]]:
        chosen = [i for i, name in enumerate(self.columns) if name in wanted]
        self.file.seek(0)
        reader = self.pa.ipc.open_file(self.file, options=self.pa.ipc.IpcReadOptions(included_fields=chosen))
        for i in range(reader.num_record_batches):
            batch = reader.get_batch(i)
            yield batch.get_total_buffer_size(), partial(self.pa.Table.from_batches, [batch])


@contextmanager
def _opened(path: Path) -> Iterator[_Table]:
    try:
        file = open_file(path)
    except OSError as error:
        raise UnreadableError(f"cannot be read: {error.strerror or error}") from error
    with file:
        kind, size = kind_of_table(file.read(LONGEST_START)) or "Parquet", file.seek(0, 2)
        file.seek(0)
        pa = arrow(f"reading {path.name}, {'an' if kind == 'Arrow' else 'a'} {kind} file,")
        with _reading(kind):
            schema = pa.parquet.ParquetFile(file).schema_arrow if kind == "Parquet" else pa.ipc.open_file(file).schema
            table = _Table(pa, kind, file, size, schema.names, schema.metadata or {})
        yield table


@contextmanager
def _reading(kind: str) -> Iterator[None]:
    try:
        yield
    except UnreadableError:
        raise
    except MemoryError as error:
        raise UnreadableError(f"is a damaged {kind} file, or does not fit in memory") from error
    except Exception as error:
        # pyarrow has many classes for what it finds wrong; all of them mean that the file cannot be used
        reason = str(error).split("\n", 1)[0].rstrip(".")
        raise DamagedFileError(f"is a damaged or truncated {kind} file ({reason})") from error


#: under which the notes stand in the metadata of a file
KEY = b"pt_reuse"


def _notes_of(table: _Table) -> dict[str, Any] | None:
    """Return what a table says of its runs, None where it says nothing, or not what was written."""
    try:
        digest, text = json.loads(table.metadata[KEY])
        return dict(json.loads(text)) if digest == sha256(text.encode()).hexdigest() else None
    except (KeyError, ValueError, TypeError, AttributeError, RecursionError):
        return None


RUN_TABLE = "a row per document with the columns qid, docno and score"
_ENDING = re.compile(r"\.(parquet|pq|arrow|feather|ipc)\Z")


class NoRunError(InputError):
    """A table without any row of a run."""


class TableReading:
    """One reading of the runs in a table, which is a frame in parts; rows of each run may stand anywhere."""

    def __init__(self, path: Path, order: str):
        self.path, self.order = path, order
        self.names: dict[str, int] = {}
        self._listed: dict[str, int] = {}

    def ordered(self) -> list[str]:
        """Return the runs found so far as the writer of the table lists them, else in order of appearance."""
        return sorted(self.names, key=lambda name: self._listed.get(name, len(self._listed)))

    def parts(self) -> Iterator[RunPart]:
        """Yield the rows of each row group; a NoRunError says that there are none."""
        topics: dict[str, int] = {}
        own = _ENDING.sub("", self.path.name).removeprefix("input.") or self.path.name
        needed = ["qid", "docno", "score", *(["rank"] if self.order == "rank" else [])]
        with _opened(self.path) as table:
            wanted = list(dict.fromkeys([*needed, *({"rank", "name"} & set(table.columns))]))
            try:
                columns("a table of runs", table.columns, needed)
                check_once(table.columns, wanted)
            except InputError as error:
                raise NoRunError(f"{error.text}{SKIP_FILE}") from None
            self._listed = {run["name"]: i for i, run in enumerate((_notes_of(table) or {"runs": []})["runs"])}
            for frame in table.frames(wanted):
                run = np.full(len(frame), self.names.setdefault(own, 0)) if "name" not in frame else None
                if run is None:
                    run = _numbered(*text_groups("name", frame["name"]), self.names)
                topic = _numbered(*text_groups("qid", frame["qid"]), topics)
                docs, scores, ranks = (
                    text_column("docno", frame["docno"], frame["qid"]),
                    finite_column(frame, "score"),
                    None,
                )
                if "rank" in frame:
                    ranks = finite_column(frame, "rank") if self.order == "rank" else number_column(frame["rank"])
                yield RunPart(list(topics), topic, docs, scores, ranks, run)
                del frame  # before the next one is read
        if not self.names:
            raise NoRunError(f"the table has no rows; expected {RUN_TABLE}.{SKIP_FILE}")


def _numbered(codes: NDArray[np.int64], names: Sequence[str], known: dict[str, int]) -> NDArray[np.int64]:
    """Return numbers for the names of rows: those that are known, and further ones, which are added there."""
    return np.array([known.setdefault(name, len(known)) for name in names], dtype=np.int64)[codes]


class TableLabels:
    """What the tables among some files say of their runs: how they are ordered, how they were pooled, their labels."""

    def __init__(self, paths: Sequence[Path]):
        self._notes: dict[Path, dict[str, Any]] = {}
        for path in filter(is_table, paths):
            # whoever reads the runs says what is wrong with a file
            with suppress(UnreadableError), _opened(path) as table:
                if (notes := _notes_of(table)) is not None:
                    self._notes[path] = notes
                elif KEY in table.metadata:
                    warn("what it says of its runs is left aside: it is damaged, or of others.", place=str(path))

    @property
    def columns(self) -> set[str]:
        """Return the columns of a table of runs in which anything stands of some of them."""
        cells = [cell for notes in self._notes.values() for run in notes["runs"] for cell in run.items()]
        return {column for column, value in cells if value is not None} - {"name"}

    def base(self, names: Sequence[str], paths: Sequence[Path]) -> pd.DataFrame | None:
        """Return the table of some runs as far as their files say what stands in it; None where no file does."""
        if not self._notes.keys() & set(paths):
            return None
        on_record = {(path, run["name"]): run for path, notes in self._notes.items() for run in notes["runs"]}
        rows = [on_record.get(key, {}) for key in zip(paths, names, strict=True)]
        table = given_metadata().table(names)
        for column in dict.fromkeys(column for row in rows for column in row if column != "name"):
            values = [row.get(column) for row in rows]
            kinds = {type(value) for value in values if value is not None}
            texts = column in ("team", "type") or str in kinds or len(kinds) != 1
            table[column] = pd.Series(values, dtype="boolean" if column == "pooled" else object if texts else None)
        return table

    def how_pooled(self, given: HowPooled) -> HowPooled:
        """Return how the runs were pooled: what the user gives, and where this is nothing, what the tables say."""
        options: dict[str, Any] = {"pool_order": given.order, "pool_depth": given.depth}
        for option, value in options.items():
            kept = list(dict.fromkeys(notes[option] for notes in self._notes.values() if notes[option] is not None))
            if value is None and len(kept) > 1:
                problem = f"the tables say {option}={kept[0]!r} and {kept[1]!r} of their runs. Give {option}=."
                raise InputError(problem, argument=option)
            options[option] = value or next(iter(kept), None)
        return HowPooled(*options.values())

    def tell(self, order: str) -> None:
        """Warn where the default order, which nobody had to choose, is another than that of a table."""
        for path, notes in self._notes.items():
            if notes["order"] != order == next(iter(ORDERS)):
                was = f"its runs were in the order {notes['order']!r} when they were written, and are ranked here by "
                warn(f"{was}{order!r}. order='rank' keeps the ranks that they have in it.", place=str(path))
                return


def _plain_cell(value: Any) -> Any:
    # what is no text, number or flag is a text
    if is_missing(value):
        return None
    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, str | bool | int | float) else str(value)


_ENDINGS = (".parquet", ".arrow", ".feather")
_ROWS_AT_ONCE = 1 << 18  # of a row group; a topic that has more is a row group of its own
_PAGE = 8 << 20  # bytes of the distinct names of a row group that are kept once


def write_table(
    field: AnyField, table: pd.DataFrame, order: str, how_pooled: HowPooled, path: str | Path, *, overwrite: bool
) -> Path:
    """Write runs as one file; see :meth:`RunSet.write_table`."""
    flag("overwrite", overwrite)
    target = checked_path(path)
    if target.suffix not in _ENDINGS:
        raise InputError(f"the file must end in {examples(_ENDINGS)}, got {target.name!r}.", argument="path")
    pa = arrow(f"writing {target.name}")
    check_writable(target.parent, [target.name], overwrite=overwrite, argument="path")
    names = table["name"].tolist()
    empty = [names[r] for r in np.flatnonzero(field.lengths.sum(axis=0) == 0)]
    if empty:
        raise InputError(f"{examples(empty)} has no documents, and would have no row. Leave it out: runs.select(...).")
    cells = [{str(column): _plain_cell(value) for column, value in row.items()} for row in table.to_dict("records")]
    notes = {"order": order, "pool_order": how_pooled.order, "pool_depth": how_pooled.depth, "runs": cells}
    text = json.dumps(notes)
    columns = {"qid": pa.string(), "docno": pa.string(), "score": pa.float64(), "rank": pa.int64(), "name": pa.string()}
    schema = pa.schema(
        [pa.field(*column, nullable=False) for column in columns.items()],
        {KEY: json.dumps([sha256(text.encode()).hexdigest(), text])},
    )
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        repeated = [name for name in schema.names if name != "score"]
        options = {"use_dictionary": repeated, "dictionary_pagesize_limit": _PAGE, "write_page_checksum": True}
        with ExitStack() as stack:
            file = stack.enter_context(replacing(target))
            if target.suffix == ".parquet":
                opened = pa.parquet.ParquetWriter(file, schema, compression="zstd", **options)
            else:
                opened = pa.ipc.new_file(file, schema, options=pa.ipc.IpcWriteOptions(compression="zstd"))
            writer = stack.enter_context(opened)
            for topics in neighbours(field.lengths.sum(axis=1, dtype=np.int64), _ROWS_AT_ONCE):
                rows = pa.concat_tables([_topic_rows(pa, schema, field, t, names) for t in topics]).combine_chunks()
                writer.write_table(rows, rows.num_rows)
    except UnicodeEncodeError as error:
        raise InputError(
            f"the name {shown(error.object)} is no UTF-8. Write run files, which hold any bytes: runs.write()."
        ) from error
    except OSError as error:
        raise InputError(f"{target} cannot be written: {error.strerror or error}.", argument="path") from error
    return target


def _topic_rows(pa: Any, schema: Any, field: AnyField, t: int, names: Sequence[str]) -> Any:
    """Return the rows of one topic: run by run, each list as it is ranked."""
    block, at = field.of(t)
    rows, lengths = block.rows(at), field.lengths[t]
    docnos = pa.array(tokens.decode(block.vocabulary[block.docs(at)]), pa.string())
    columns = [
        pa.repeat(pa.scalar(field.topics[t], pa.string()), int(lengths.sum())),
        docnos.take(pa.array(block.codes[rows])),
        pa.array(block.scores[rows]),
        pa.array(ranges(np.zeros_like(lengths), lengths)),
        pa.array(names, pa.string()).take(pa.array(np.repeat(np.arange(len(names)), lengths))),
    ]
    return pa.Table.from_arrays(columns, schema=schema)
