"""What a table of runs says of them beside their rows, and tables as they are written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd

from pt_reuse._check import examples, flag, shown
from pt_reuse._choices import ORDERS
from pt_reuse._errors import Call, InputError, Option, warn
from pt_reuse._files import check_writable, checked_path, replacing
from pt_reuse.arrays import tokens
from pt_reuse.arrays.lists import ranges
from pt_reuse.arrays.open_field import AnyField
from pt_reuse.data.metadata import given_metadata, is_missing
from pt_reuse.data.ordering import HowPooled
from pt_reuse.data.tables import KEY, TableNotes, arrow, is_table, notes_of


@dataclass(frozen=True)
class TableLabels:
    """What tables say of their runs."""

    notes: Mapping[Path, TableNotes]

    @staticmethod
    def of(paths: Sequence[Path]) -> TableLabels:
        """Return what the tables among some files say."""
        said = {path: notes_of(path) for path in paths if is_table(path)}
        return TableLabels({path: notes for path, notes in said.items() if notes is not None})

    @property
    def columns(self) -> set[str]:
        """Return the columns of a table of runs in which anything stands of some of them."""
        cells = [cell for notes in self.notes.values() for run in notes.runs for cell in run.items()]
        return {column for column, value in cells if value is not None} - {"name"}

    def base(self, names: Sequence[str], paths: Sequence[Path]) -> pd.DataFrame | None:
        """Return the table of some runs as far as their files say what stands in it; None where no file does."""
        said = {(path, str(run["name"])): run for path, notes in self.notes.items() for run in notes.runs}
        if not self.notes.keys() & set(paths):
            return None
        rows = [said.get(key, {}) for key in zip(paths, names, strict=True)]
        table = given_metadata().table(names)
        for column in dict.fromkeys(column for row in rows for column in row if column != "name"):
            table[column] = _as_column([row.get(column) for row in rows], column)
        return table

    def how_pooled(self, given: HowPooled) -> HowPooled:
        """Return how the runs were pooled: what the user gives, and where this is nothing, what the tables say."""
        order = given.order or self._agreed("pool_order")
        return HowPooled(order, given.depth or self._agreed("pool_depth"))

    def _agreed(self, option: str) -> Any:
        said = {getattr(notes, option): path for path, notes in self.notes.items()}
        said.pop(None, None)
        if len(said) > 1:
            (mine, one), (theirs, other) = list(said.items())[:2]
            raise InputError(
                f"the runs in {one} were pooled with {option}={mine!r} by what it says, those in {other} with "
                f"{theirs!r}. Give both the same ",
                Option(option, ...),
                ".",
                argument=option,
            )
        return next(iter(said), None)

    def tell(self, order: str) -> None:
        """Warn where the default order, which nobody had to choose, is another than that of a table."""
        others = [(path, notes.order) for path, notes in self.notes.items() if notes.order != order]
        if order == next(iter(ORDERS)) and others:
            path, written = others[0]
            warn(
                f"its runs were in the order {written!r} when they were written, and are ranked here by {order!r}. ",
                Option("order", "rank"),
                " keeps the ranks that they have in it.",
                place=str(path),
            )


def _plain(value: Any) -> Any:
    # what is no text, number or flag is a text
    if is_missing(value):
        return None
    value = value.item() if hasattr(value, "item") else value
    return value if isinstance(value, str | bool | int | float) else str(value)


def _as_column(values: list[Any], column: str) -> pd.Series:
    if column == "pooled":
        return pd.Series(values, dtype="boolean")
    kinds = {type(value) for value in values if value is not None}
    texts = column in ("team", "type") or str in kinds or len(kinds) != 1
    return pd.Series(values, dtype=object if texts else None)


_ENDINGS = (".parquet", ".arrow", ".feather")
_ROWS = 1 << 18  # of a row group; a topic that has more is a row group of its own
_PAGE = 8 << 20  # bytes of the distinct names of a row group that are kept once


def write_table(
    field: AnyField, table: pd.DataFrame, order: str, how_pooled: HowPooled, path: str | Path, *, overwrite: bool
) -> Path:
    """Write runs as one file; see :meth:`RunSet.write_table`."""
    flag("overwrite", overwrite)
    target = checked_path(path)
    if target.suffix not in _ENDINGS:
        problem = f"the file must end in {examples(_ENDINGS)}, which says what it is, got {target.name!r}."
        raise InputError(problem, argument="path")
    pa = arrow(f"writing {target.name}")
    check_writable(target.parent, [target.name], overwrite=overwrite, argument="path")
    names = table["name"].tolist()
    empty = [names[r] for r in np.flatnonzero(field.lengths.sum(axis=0) == 0)]
    if empty:
        raise InputError(
            f"{examples(empty)} has no documents, so no row of the table would be its own. Leave it out: "
            f"runs.select(...)."
        )
    labels = [{str(column): _plain(value) for column, value in row.items()} for row in table.to_dict("records")]
    notes = TableNotes(order, how_pooled.order, how_pooled.depth, labels)
    columns = {"qid": pa.string(), "docno": pa.string(), "score": pa.float64(), "rank": pa.int64(), "name": pa.string()}
    schema = pa.schema([pa.field(*column, nullable=False) for column in columns.items()], {KEY: notes.packed()})
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with replacing(target) as file, _writer(pa, file, schema, target.suffix) as writer:
            for topics in _row_groups(field.lengths.sum(axis=1).tolist()):
                rows = pa.concat_tables([_topic_rows(pa, schema, field, t, names) for t in topics]).combine_chunks()
                writer.write_table(rows, rows.num_rows)
    except UnicodeEncodeError as error:
        raise InputError(
            f"the name {shown(error.object)} is no UTF-8, which all text of a table is. Write run files, which hold "
            f"any bytes: ",
            Call("runs.write", "folder"),
            ".",
        ) from error
    except OSError as error:
        problem = f"{target} cannot be written: {error.strerror or error}. What was there is as it was."
        raise InputError(problem, argument="path") from error
    return target


def _row_groups(rows: Sequence[int]) -> Iterator[range]:
    # consecutive topics of not much more than _ROWS rows together
    start, held = 0, 0
    for t, n in enumerate(rows):
        if held and held + n > _ROWS:
            yield range(start, t)
            start, held = t, 0
        held += n
    if held:
        yield range(start, len(rows))


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


@contextmanager
def _writer(pa: Any, file: IO[bytes], schema: Any, ending: str) -> Iterator[Any]:
    if ending == ".parquet":
        repeated = [name for name in schema.names if name != "score"]
        options = {"use_dictionary": repeated, "dictionary_pagesize_limit": _PAGE, "write_page_checksum": True}
        writer = pa.parquet.ParquetWriter(file, schema, compression="zstd", **options)
    else:
        writer = pa.ipc.new_file(file, schema, options=pa.ipc.IpcWriteOptions(compression="zstd"))
    with writer:
        yield writer
