"""DocumentFiles: the documents of a user's own files, in whichever of the usual formats they are."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import IO

from pt_reuse._check import examples
from pt_reuse._errors import InputError, warn
from pt_reuse.collections.parts.rows import Columns, Row, format_by_ending, is_field, read_rows, unpacked, with_id

#: fields that may hold a document's id, and those that may hold its text, the first that is there
ID_FIELDS = ("docno", "doc_id", "id", "_id")
TEXT_FIELDS = ("text", "contents")
_COLUMNS = Columns(ID_FIELDS, ("docno", "text"), spill=True)
EXPECTED = (
    "JSON lines (.jsonl), tab-separated lines (.tsv), CSV with a header (.csv), or TREC's <DOC> text; packed with "
    "gzip, bzip2 or xz, or not"
)
_BLOCK = 1 << 20
_END = re.compile(rb"</DOC>", re.IGNORECASE)
_START = re.compile(rb"<DOC(?:\s[^>]*)?>", re.IGNORECASE)
_DOCNO = re.compile(r"<DOCNO>\s*(.*?)\s*</DOCNO>", re.IGNORECASE | re.DOTALL)
#: elements about the document, which are none of its text
_ABOUT = re.compile(r"<(DOC[A-Z]+)\b[^>]*>.*?</\1>|<!--.*?-->", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")


class DocumentFiles:
    """Documents of own files, read anew each time, one after the other.

    ir_datasets reads such files, too, but wants each format in one way: no further fields, no tab in a text, a tag at
    the beginning of a line.

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
        found = next(self._documents(), None)
        if found is None:
            raise InputError(f"no documents. Expected {EXPECTED}.", place=", ".join(map(str, self.paths[:3])))
        place, _, first = found
        usable = [name for name, value in first.items() if isinstance(value, str) and is_field(name)]
        left_out = [name for name in first if name not in usable]
        if left_out:
            warn(
                f"{examples(left_out)} left out of the documents: only fields that hold text, and whose names are "
                f"letters, digits and '_', are kept.",
                place=place,
            )
        if "text" not in usable:
            raise InputError(f"no text. A document needs a field 'text', it has {examples(first, 12)}.", place=place)
        return tuple(usable)

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        """Yield the id of each document and its :attr:`fields`.

        Raises:
            InputError: naming the file and what is wrong with it.
        """
        fields = self.fields
        known: set[str] | None = None
        for place, docno, document in self._documents():
            known = known or set(document)
            new = [name for name in document if name not in known]
            if new:
                warn(f"{examples(new)} left out: the fields are those of the first document.", place=place)
                known.update(new)
            values = [document.get(name) for name in fields]
            odd = [name for name, value in zip(fields, values, strict=True) if not isinstance(value, str | None)]
            if odd:
                raise InputError(f"{odd[0]!r} must be a text, got {document[odd[0]]!r}.", place=place)
            yield (docno, *(value or "" for value in values))

    def _documents(self) -> Iterator[tuple[str, str, Row]]:
        for path in self.paths:
            kind = document_format(path)
            with unpacked(path) as file:
                rows = _tagged(file, path) if kind == "trec" else read_rows(file, kind, path, _COLUMNS)
                for place, row in rows:
                    docno, rest = with_id(row, ID_FIELDS, "document", place)
                    text = next((name for name in TEXT_FIELDS if name in rest), None)
                    yield place, docno, {"text" if name == text else name: value for name, value in rest.items()}


def document_format(path: Path) -> str:
    """Return ``"jsonl"``, ``"tsv"`` or ``"csv"`` by the ending of a document file, ``"trec"`` for any other."""
    return format_by_ending(path) or "trec"


def _tagged(file: IO[bytes], path: Path) -> Iterator[tuple[str, Row]]:
    rest, n = b"", 0
    while block := file.read(_BLOCK):
        *whole, rest = _END.split(rest + block)
        for part in whole:
            n += 1
            yield f"{path}, document {n:,}", _document(part, f"{path}, document {n:,}")
    if _START.search(rest):
        raise InputError("a document without </DOC>. Is the file cut off?", place=str(path))
    if not n and rest.strip():
        raise InputError(f"no documents. Expected {EXPECTED}.", place=str(path))


def _document(part: bytes, place: str) -> Row:
    start = _START.search(part)
    if start is None:
        raise InputError("</DOC> without <DOC>.", place=place)
    raw = part[start.end() :]
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        # TREC's disks are older than UTF-8
        text = raw.decode("latin-1")
    docno = _DOCNO.search(text)
    if docno is None:
        raise InputError("a document without <DOCNO>.", place=place)
    return {"docno": docno.group(1), "text": html.unescape(_TAG.sub(" ", _ABOUT.sub(" ", text))).strip()}
