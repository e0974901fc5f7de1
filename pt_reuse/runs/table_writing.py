"""Write runs as one Parquet or Arrow file that reads back as they were, topic by topic."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd

from pt_reuse._check import examples, flag
from pt_reuse._errors import Call, InputError
from pt_reuse._files import check_writable, checked_path, replacing
from pt_reuse.engine import tokens
from pt_reuse.engine.lists import ranges
from pt_reuse.engine.open_field import AnyField
from pt_reuse.formats.table_notes import KEY, TableNotes
from pt_reuse.formats.tables import arrow
from pt_reuse.runs.how_pooled import HowPooled
from pt_reuse.runs.table_labels import packed_labels

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
        raise InputError(
            f"the file must end in {examples(_ENDINGS)}, which says what it is, got {target.name!r}.", argument="path"
        )
    pa = arrow(f"writing {target.name}")
    check_writable(target.parent, [target.name], overwrite=overwrite, argument="path")
    names = table["name"].tolist()
    empty = [name for name, n in zip(names, field.lengths.sum(axis=0).tolist(), strict=True) if n == 0]
    if empty:
        raise InputError(
            f"{examples(empty)} has no documents, so no row of the table would be its own. Leave it out: "
            f"runs.select(...)."
        )
    for what, texts in (("run name", names), ("topic", field.topics)):
        _check_text(texts, what)
    notes = TableNotes(order, how_pooled.order, how_pooled.depth, packed_labels(table))
    columns = {"qid": pa.string(), "docno": pa.string(), "score": pa.float64(), "rank": pa.int64(), "name": pa.string()}
    schema = pa.schema([pa.field(*column, nullable=False) for column in columns.items()], {KEY: notes.packed()})
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with replacing(target) as file, _writer(pa, file, schema, target.suffix) as writer:
            for topics in _row_groups(field.lengths.sum(axis=1).tolist()):
                rows = pa.concat_tables([_topic_rows(pa, schema, field, t, names) for t in topics]).combine_chunks()
                writer.write_table(rows, rows.num_rows)
    except OSError as error:
        raise InputError(
            f"{target} cannot be written: {error.strerror or error}. What was there is as it was.", argument="path"
        ) from error
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
    columns = [
        pa.repeat(pa.scalar(field.topics[t], pa.string()), int(lengths.sum())),
        _docnos(pa, tokens.names_of(block.vocabulary[block.docs(at)])).take(pa.array(block.codes[rows])),
        pa.array(block.scores[rows]),
        pa.array(ranges(np.zeros_like(lengths), lengths)),
        pa.array(names, pa.string()).take(pa.array(np.repeat(np.arange(len(names)), lengths))),
    ]
    return pa.Table.from_arrays(columns, schema=schema)


def _docnos(pa: Any, names: list[bytes]) -> Any:
    try:
        return pa.array(names, pa.binary()).cast(pa.string())
    except pa.ArrowInvalid:
        _check_text([name.decode("utf-8", "surrogateescape") for name in names], "docno")
        raise


def _check_text(names: Sequence[str], what: str) -> None:
    odd = [name for name in names if not _is_utf8(name)]
    if odd:
        raise InputError(
            f"the {what} {examples(odd)} is no UTF-8, which all text of a table is. Write run files, which hold any "
            f"bytes: ",
            Call("runs.write", "folder"),
            ".",
        )


def _is_utf8(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


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
