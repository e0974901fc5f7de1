"""Tables of runs as other programs write them."""

from __future__ import annotations

import pytest

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pq = pytest.importorskip("pyarrow.parquet")

COLUMNS = ("qid", "docno", "score", "rank", "name")
#: how programs write names
TEXTS = {
    "string": pa.string(),
    "large": pa.large_string(),
    "bytes": pa.binary(),
    "view": pa.string_view(),
    "dictionary": pa.dictionary(pa.int32(), pa.string()),
    "small dictionary": pa.dictionary(pa.uint8(), pa.large_string()),
}
KINDS = ("parquet", "arrow")


def put(path, table, *, kind="parquet", rows=2**20, **options):
    """Write a pyarrow table, with so many rows in each row group or record batch, and return the path."""
    if kind == "parquet":
        pq.write_table(table, path, row_group_size=rows, **options)
        return path
    # one dictionary for all batches, as these files need
    table = table.unify_dictionaries()
    with open(path, "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table, rows)
    return path


def table_of(rows, columns=COLUMNS, *, text="string", types=()):
    """Return rows as a table; names of a type of text, other columns of the types given or as pyarrow takes them."""
    found = {}
    for i, column in enumerate(columns):
        values, names = [row[i] for row in rows], column in ("qid", "docno", "name")
        kind = dict(types).get(column, TEXTS[text] if names else None)
        plain = pa.array(values, pa.string() if names and column not in dict(types) else kind)
        found[column] = plain.cast(kind) if names and column not in dict(types) else plain
    return pa.table(found)
