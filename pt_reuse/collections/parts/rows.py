"""Rows of a user's own file, documents or topics, and the records that ir_datasets wants of them."""

from __future__ import annotations

import csv
import gzip
import io
import json
import keyword
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MethodType
from typing import IO, Any, NamedTuple

from pt_reuse._check import count, examples
from pt_reuse._errors import InputError, warn
from pt_reuse._files import open_file
from pt_reuse._saving import CsvReader
from pt_reuse.formats.files import packed_with

#: ending of a file -> its format
ENDINGS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".tsv": "tsv", ".csv": "csv"}

Row = dict[str, Any]
#: what a damaged file, or one of another format, makes the libraries raise that read it
_FAULTS = (
    ValueError,
    LookupError,
    SyntaxError,
    OSError,
    EOFError,
    RecursionError,
    MemoryError,
    zlib.error,
    csv.Error,
)


class OwnPart:
    """A part of a dataset, with what ir_datasets asks of any or adds to the base class of its own (``queries_dict``).

    The base class itself is not used: ir_datasets takes a third of a second to import.

    Args:
        part: ``"Docs"``, ``"Queries"`` or ``"Qrels"``.
        **constants: what is asked for by the name of the part and theirs, such as ``docs_lang()``.
    """

    def __init__(self, part: str, **constants: str | None):
        self._part, self._constants = part, {"handler": self, **constants}

    def __getattr__(self, name: str) -> Any:
        part, _, what = name.partition("_")
        if part and part == self._part.lower():
            from ir_datasets import formats

            if what in self._constants:
                return lambda: self._constants[what]
            extensions = getattr(formats, f"Base{self._part}").EXTENSIONS
            if name in extensions:
                return MethodType(extensions[name], self)
        raise AttributeError(name)


def format_by_ending(path: Path) -> str | None:
    """Return ``"jsonl"``, ``"tsv"`` or ``"csv"`` by the ending of a file, ``.gz`` aside; None for others."""
    return ENDINGS.get(Path(path.name.lower().removesuffix(".gz")).suffix)


@contextmanager
def reading(path: Path) -> Iterator[IO[bytes]]:
    """Open a file, packed with gzip or not; what is found wrong with it inside is an InputError that names it."""
    try:
        with open_file(path) as file:
            packed = packed_with(file.read(16))
        if packed not in (None, "gzip"):
            raise ValueError(f"it is packed with {packed}; unpack it, or pack it with gzip")
        opener: Any = gzip.open if packed else open
        with opener(path, "rb") as file:
            yield file
    except InputError:
        raise
    except _FAULTS as error:
        known = {UnicodeDecodeError: "it is no UTF-8", MemoryError: "it does not fit in memory"}
        what = known.get(type(error)) or getattr(error, "strerror", None) or error
        raise InputError(f"cannot be read, or is damaged: {what}. Mend the file.", place=str(path)) from error


def read_rows(file: IO[bytes], kind: str, ids: Sequence[str], names: Sequence[str]) -> Iterator[Row]:
    """Yield the rows of a file of one of the :data:`ENDINGS`, each as name -> value.

    Args:
        file: the bytes, UTF-8.
        kind: ``"jsonl"``, ``"csv"`` (with a header) or ``"tsv"``.
        ids: what the first column is called in a header of tab-separated lines.
        names: the columns of tab-separated lines without a header.

    Raises:
        ValueError: what is wrong, for :func:`reading`.
    """
    with io.TextIOWrapper(file, encoding="utf-8-sig", newline="\n") as text:
        if kind == "jsonl":
            for row in map(json.loads, filter(str.strip, text)):
                if not isinstance(row, dict):
                    raise ValueError(f"expected one JSON object a line, got {type(row).__name__}")
                yield row
            return
        lines = CsvReader(text, strict=True) if kind == "csv" else (line.rstrip("\r\n").split("\t") for line in text)
        header = [] if kind == "csv" else list(names)
        for n, line in enumerate(line for line in lines if any(cell.strip() for cell in line)):
            if n == 0 and (kind == "csv" or line[0].strip().lower() in ids):
                header = [cell.strip() if kind == "csv" else cell.strip().lower() for cell in line]
                if len(set(header)) < len(header):
                    raise ValueError(f"a column stands twice in the header {examples(header, 12)}")
            elif len(line) != len(header):
                raise ValueError(f"expected {examples(header, 12)}, got {count(len(line), 'cell')}: {examples(line)}")
            else:
                yield dict(zip(header, line, strict=True))


def take_id(row: Row, names: Sequence[str]) -> tuple[str, Row]:
    """Return the id of a row, from the first of the names that it has, and the rest of the row.

    Raises:
        ValueError: no id, or one that no run or qrels file could hold.
    """
    key = next((name for name in names if name in row), None)
    if key is None:
        raise ValueError(f"expected a field {names[0]!r} for the id, got {examples(row, 12)}")
    value = str(row[key]) if type(row[key]) is int else row[key]
    if not isinstance(value, str) or value.split() != [value]:
        raise ValueError(f"expected an id without white space, which run files cannot hold, got {value!r}")
    return value, {name: cell for name, cell in row.items() if name != key}


def text_fields(rows: Sequence[Row], what: str, path: Path) -> list[str]:
    """Return the names of what is text in all rows; warn of those left out."""
    names = dict.fromkeys(name for row in rows for name in row)
    usable = [name for name in names if name.isidentifier() and not keyword.iskeyword(name) and name[0] != "_"]
    texts = [name for name in usable if all(isinstance(row.get(name), str | None) for row in rows)]
    if left_out := [name for name in names if name not in texts]:
        warn(
            f"{examples(left_out)} left out of the {what}: only fields that hold text, and whose names are letters, "
            f"digits and '_', are kept.",
            place=str(path),
        )
    if not texts:
        raise InputError(f"no {what}: there is no field of text beside the id.", place=str(path))
    return texts


def record_type(name: str, fields: Sequence[str], text: Iterable[str]) -> Any:
    """Return a named tuple of texts whose ``default_text()`` joins the fields `text`."""
    # the types must be `str` itself, and a type checker knows fields only that stand in the code
    make: Any = NamedTuple
    made = make(name, [(field, str) for field in fields])
    made.default_text = lambda self: " ".join(getattr(self, field) for field in text)
    return made
