"""DocumentFiles: the documents of a user's own files, in whichever of the usual formats they are."""

from __future__ import annotations

import bz2
import csv
import gzip
import html
import json
import keyword
import lzma
import re
import zlib
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import IO, Any

from pt_reuse._check import examples
from pt_reuse._errors import InputError, warn
from pt_reuse.formats.files import packed_with

#: ending of a file -> its format; files of other endings must hold TREC's tagged text
ENDINGS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".tsv": "tsv", ".csv": "csv"}
#: fields that may hold a document's id, and those that may hold its text, the first that is there
ID_FIELDS = ("docno", "doc_id", "id", "_id")
TEXT_FIELDS = ("text", "contents")
EXPECTED = (
    "JSON lines (.jsonl), tab-separated lines (.tsv), CSV with a header (.csv), or TREC's <DOC> text; packed with "
    "gzip, bzip2 or xz, or not"
)
_OPENERS: dict[str, Any] = {"gzip": gzip.open, "bzip2": bz2.open, "xz": lzma.open}
_BROKEN = (EOFError, OSError, lzma.LZMAError, zlib.error)
_BLOCK = 1 << 20
_END = re.compile(rb"</DOC>", re.IGNORECASE)
_START = re.compile(rb"<DOC(?:\s[^>]*)?>", re.IGNORECASE)
_DOCNO = re.compile(r"<DOCNO>\s*(.*?)\s*</DOCNO>", re.IGNORECASE | re.DOTALL)
#: elements about the document, which are none of its text
_ABOUT = re.compile(r"<(DOC[A-Z]+)\b[^>]*>.*?</\1>|<!--.*?-->", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")


class DocumentFiles:
    """Documents of own files, read anew each time, one after the other.

    Args:
        paths: files of one format, read in this order.
    """

    def __init__(self, paths: Sequence[str | Path]):
        self.paths = tuple(Path(path) for path in paths)

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """Return the names of what a document has besides its id: those of the first that are texts.

        Raises:
            InputError: no document at all, or one without an id or a text.
        """
        found = next(self._raw(), None)
        if found is None:
            raise InputError(f"{examples([str(path) for path in self.paths])}: no documents. Expected {EXPECTED}.")
        where, first = found
        names = [name for name, value in first.items() if name != "doc_id" and isinstance(value, str)]
        usable = [name for name in names if is_field(name)]
        left_out = [name for name in first if name not in ("doc_id", *usable)]
        if left_out:
            warn(
                f"{where}: {examples(left_out)} left out of the documents: only fields that hold text, and whose names "
                f"are letters, digits and '_', are kept.",
            )
        if "text" not in usable:
            raise InputError(f"{where}: no text. A document needs a field 'text', it has {examples(first, 12)}.")
        return tuple(usable)

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        """Yield the id of each document and its :attr:`fields`.

        Raises:
            InputError: naming the file, the line and what to do.
        """
        fields = self.fields
        known: set[str] | None = None
        for where, document in self._raw():
            if known is None:
                known = set(document)
            elif not known.issuperset(document):
                new = [name for name in document if name not in known]
                warn(
                    f"{where}: {examples(new)} left out: the fields are those of the first document, which lacks them.",
                )
                known.update(new)
            values = [document.get(name) for name in fields]
            odd = [name for name, value in zip(fields, values, strict=True) if not isinstance(value, str | None)]
            if odd:
                raise InputError(f"{where}: {odd[0]!r} must be a text, got {document[odd[0]]!r}.")
            yield (document["doc_id"], *(value or "" for value in values))

    def _raw(self) -> Iterator[tuple[str, dict[str, Any]]]:
        for path in self.paths:
            read = {"jsonl": json_lines, "tsv": _tab_lines, "csv": csv_lines, "trec": _tagged}[format_of(path)]
            try:
                with open_unpacked(path) as file:
                    for number, row in read(file, str(path)):
                        yield f"{path}, line {number:,}", _named(f"{path}, line {number:,}", row)
            except _BROKEN as error:
                why = getattr(error, "strerror", None) or error
                raise InputError(f"{path} cannot be read, or is damaged ({why}).") from error


def format_of(path: Path) -> str:
    """Return ``"jsonl"``, ``"tsv"``, ``"csv"`` or ``"trec"`` by the ending of a document file, ``.gz`` aside."""
    return ENDINGS.get(ending(path), "trec")


def ending(path: Path) -> str:
    """Return the ending of a file name without that of its compression, in lower case."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    while suffixes and suffixes[-1] in (".gz", ".bz2", ".xz"):
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def is_field(name: str) -> bool:
    """Return whether a name can be a field of ir_datasets' records."""
    return name.isidentifier() and not keyword.iskeyword(name) and not name.startswith("_")


def open_unpacked(path: Path) -> IO[bytes]:
    """Open a file that may be packed, as its first bytes say, to be read piece by piece.

    Raises:
        InputError: a packing that cannot be read so.
    """
    with path.open("rb") as file:
        packed = packed_with(file.read(16))
    if packed is None:
        return path.open("rb")
    if packed not in _OPENERS:
        raise InputError(f"{path}: packed with {packed}. Unpack it, or pack it with gzip.")
    opened: IO[bytes] = _OPENERS[packed](path, "rb")
    return opened


def check_id(where: str, value: Any, what: str) -> str:
    """Return an id as a text, or raise where no run or qrels file could hold it."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{where}: no id of the {what}, got {value!r}.")
    if len(value.split()) != 1 or value != value.strip():
        raise InputError(f"{where}: the id {value!r} of the {what} has white space, which run files cannot hold.")
    return value


def text_lines(file: IO[bytes], where: str) -> Iterator[tuple[int, str]]:
    """Yield the number and text of each line that is not blank."""
    for number, line in enumerate(file, 1):
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise InputError(f"{where}, line {number:,}: not UTF-8 ({error.reason}). Convert the file.") from error
        if text.strip():
            yield number, text


def json_lines(file: IO[bytes], where: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the number and object of each line of a JSON lines file."""
    for number, line in text_lines(file, where):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{where}, line {number:,}: no JSON ({error}). Expected one object a line.") from error
        if not isinstance(row, dict):
            raise InputError(f"{where}, line {number:,}: expected one JSON object a line, got {type(row).__name__}.")
        yield number, row


def csv_lines(file: IO[bytes], where: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the number and cells, by the names in the header, of each row of a CSV file."""
    lines = (line.decode("utf-8-sig" if not number else "utf-8") for number, line in enumerate(file))
    reader = csv.reader(lines, strict=True)
    header: list[str] = []
    try:
        for row in reader:
            if not any(cell.strip() for cell in row):
                continue
            if not header:
                header = [cell.strip() for cell in row]
                if len(set(header)) < len(header):
                    raise InputError(f"{where}, line 1: a column stands twice in the header {examples(header, 12)}.")
                continue
            if len(row) != len(header):
                raise InputError(
                    f"{where}, line {reader.line_num:,}: {len(row):,} cells where the header has {len(header):,}."
                )
            yield reader.line_num, dict(zip(header, row, strict=True))
    except (csv.Error, UnicodeDecodeError) as error:
        raise InputError(f"{where}, line {reader.line_num + 1:,}: cannot be read as CSV ({error}).") from error


def _tab_lines(file: IO[bytes], where: str) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in text_lines(file, where):
        docno, tab, text = line.partition("\t")
        if not tab:
            raise InputError(f"{where}, line {number:,}: no tab. Expected document id, tab, text; got {line[:60]!r}.")
        yield number, {"docno": docno, "text": text}


def _tagged(file: IO[bytes], where: str) -> Iterator[tuple[int, dict[str, Any]]]:
    line, done, buffer = 1, 0, b""
    while block := file.read(_BLOCK):
        buffer, done = buffer[done:] + block, 0
        for end in _END.finditer(buffer):
            part = buffer[done : end.end()]
            yield _document(part, where, line)
            line += part.count(b"\n")
            done = end.end()
    rest = buffer[done:]
    if _START.search(rest):
        raise InputError(f"{where}, line {line + _begin(rest):,}: a document without </DOC>. Is the file cut off?")
    if line == 1 and rest.strip():
        raise InputError(f"{where}: no documents. Expected {EXPECTED}.")


def _document(part: bytes, where: str, line: int) -> tuple[int, dict[str, Any]]:
    start = _START.search(part)
    line += _begin(part)
    if start is None:
        raise InputError(f"{where}, line {line:,}: </DOC> without <DOC>.")
    raw = part[start.end() : -len("</DOC>")]
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        # TREC's disks are older than UTF-8
        text = raw.decode("latin-1")
    docno = _DOCNO.search(text)
    if docno is None:
        raise InputError(f"{where}, line {line:,}: a document without <DOCNO>.")
    body = html.unescape(_TAG.sub(" ", _ABOUT.sub(" ", text)))
    return line, {"docno": docno.group(1), "text": body.strip()}


def _begin(part: bytes) -> int:
    start = _START.search(part)
    return part[: start.start()].count(b"\n") if start else 0


def _named(where: str, row: dict[str, Any]) -> dict[str, Any]:
    key = next((name for name in ID_FIELDS if name in row), None)
    if key is None:
        raise InputError(f"{where}: no document id. Expected a field 'docno', it has {examples(row, 12)}.")
    text = next((name for name in TEXT_FIELDS if name in row), None)
    rest = {"text" if name == text else name: value for name, value in row.items() if name != key}
    return {"doc_id": check_id(where, row[key], "document"), **rest}
