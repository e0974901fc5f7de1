"""OwnDocuments: the documents of a user's own files, as ir_datasets keeps those of its datasets."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import IO, Any

from pt_reuse._check import examples
from pt_reuse._errors import InputError
from pt_reuse.collections.parts.rows import (
    OwnPart,
    Row,
    format_by_ending,
    read_rows,
    reading,
    record_type,
    take_id,
    text_fields,
)

#: fields that may hold a document's id, and those that may hold its text, the first that is there
ID_FIELDS = ("docno", "doc_id", "id", "_id")
TEXT_FIELDS = ("text", "contents")
EXPECTED = (
    "JSON lines (.jsonl), tab-separated lines (.tsv), CSV with a header (.csv), or TREC's <DOC> text; packed with "
    "gzip, or not"
)
_BLOCK = 1 << 20
_END = re.compile(rb"</DOC>", re.IGNORECASE)
_START = re.compile(rb"<DOC(?:\s[^>]*)?>", re.IGNORECASE)
#: where another document begins, and be it only with the first letters of its tag
_BEGUN = re.compile(rb"<(?:D|\s*$)", re.IGNORECASE)
_DOCNO = re.compile(r"<DOCNO>\s*(.*?)\s*</DOCNO>", re.IGNORECASE | re.DOTALL)
#: elements about the document, which are none of its text
_ABOUT = re.compile(r"<(DOC[A-Z]+)\b[^>]*>.*?</\1>|<!--.*?-->", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")


class OwnDocuments(OwnPart):
    """Documents of own files, read anew each time, one after the other; by id, they are all kept in memory.

    The readers of ir_datasets pass over what is broken, and write an index beside the files.

    Args:
        paths: files of one format, read in this order.
        namespace: what the ids of the documents belong to.
        language: of the documents, an ISO 639-1 code.
    """

    def __init__(self, paths: Sequence[str | Path], namespace: str, language: str | None = None):
        super().__init__("Docs", namespace=namespace, lang=language)
        self._paths = [Path(path) for path in paths]

    def docs_iter(self) -> DocumentIterator:
        """Return an iterator over the documents, of which ``[start:stop:step]`` gives a part."""
        return DocumentIterator(self)

    def docs_store(self, **_: Any) -> OwnDocstore:
        """Return the documents by id; the first call reads them."""
        return self._store

    def docs_count(self) -> int:
        """Return how many documents there are."""
        return self._count

    def docs_cls(self) -> Any:
        """Return the type of a document: its ``doc_id``, and the fields of the first one that are texts.

        Raises:
            InputError: no document at all, or a first one without a text.
        """
        return self._type

    def read(self) -> Iterator[Any]:
        """Yield every document from the files; an InputError names the file that is broken."""
        fields = self.docs_cls()._fields[1:]
        for path, docno, row in self._rows():
            values = [row.get(name) for name in fields]
            if not all(isinstance(value, str | None) for value in values):
                raise InputError(
                    f"a field of document {docno!r} is no text, unlike that of the first.", place=str(path)
                )
            yield self.docs_cls()(docno, *(value or "" for value in values))

    @cached_property
    def _store(self) -> OwnDocstore:
        return OwnDocstore(self)

    @cached_property
    def _count(self) -> int:
        return sum(1 for _ in self._rows())

    @cached_property
    def _type(self) -> Any:
        path, _, row = next(self._rows(), (None, "", {}))
        if path is None:
            raise InputError(f"no documents. Expected {EXPECTED}.", place=", ".join(map(str, self._paths[:3])))
        fields = text_fields([row], "documents", path)
        if "text" not in fields:
            raise InputError(f"no text. A document needs a field 'text', it has {examples(row, 12)}.", place=str(path))
        return record_type("OwnDoc", ("doc_id", *fields), [name for name in ("title", "text") if name in fields])

    def _rows(self) -> Iterator[tuple[Path, str, Row]]:
        for path in self._paths:
            kind = document_format(path)
            with reading(path) as file:
                for row in _tagged(file) if kind == "trec" else read_rows(file, kind, ID_FIELDS, ("docno", "text")):
                    docno, rest = take_id(row, ID_FIELDS)
                    text = next((name for name in TEXT_FIELDS if name in rest), None)
                    yield path, docno, {"text" if name == text else name: value for name, value in rest.items()}


class OwnDocstore:
    """Documents by id, all of them in memory; an id that stands twice is an InputError."""

    def __init__(self, documents: OwnDocuments):
        self._by_id: dict[str, Any] = {}
        for document in documents.read():
            if self._by_id.setdefault(document.doc_id, document) is not document:
                problem = f"document {document.doc_id!r} stands more than once. Keep one."
                raise InputError(problem, place=documents.docs_namespace())

    def get(self, doc_id: str, field: str | None = None) -> Any:
        """Return one document, or one field of it; a KeyError where there is none."""
        return getattr(self._by_id[doc_id], field) if field else self._by_id[doc_id]

    def get_many(self, doc_ids: Iterable[str], field: str | None = None) -> dict[str, Any]:
        """Return documents by id; an unknown id is left out, as in ir_datasets."""
        return {doc_id: self.get(doc_id, field) for doc_id in doc_ids if doc_id in self._by_id}

    def get_many_iter(self, doc_ids: Iterable[str]) -> Iterator[Any]:
        """Yield documents by id."""
        return iter(self.get_many(doc_ids).values())

    def count(self) -> int:
        """Return how many documents there are."""
        return len(self._by_id)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._by_id.values())


class DocumentIterator:
    """Documents one after the other; ``[10:20]`` gives an iterator over some of them, ``[10]`` one."""

    def __init__(self, documents: OwnDocuments):
        self._documents, self._rows = documents, documents.read()

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return next(self._rows)

    def __getitem__(self, key: slice | int) -> Any:
        places = range(self._documents.docs_count())[key]
        if isinstance(places, int):
            return next(islice(self._documents.read(), places, None))
        return islice(self._documents.read(), places.start, places.stop, places.step)


def document_format(path: Path) -> str:
    """Return ``"jsonl"``, ``"tsv"`` or ``"csv"`` by the ending of a document file, ``"trec"`` for any other."""
    return format_by_ending(path) or "trec"


def _tagged(file: IO[bytes]) -> Iterator[Row]:
    rest, found = b"", False
    while block := file.read(_BLOCK):
        *whole, rest = _END.split(rest + block)
        for part in whole:
            found = True
            yield _document(part)
    if _BEGUN.search(rest) or (rest.strip() and not found):
        raise ValueError(
            "expected <DOC> text with a </DOC> at its end; it seems to be cut off, or to be something else"
        )


def _document(part: bytes) -> Row:
    start = _START.search(part)
    if start is None:
        raise ValueError("</DOC> without <DOC>")
    raw = part[start.end() :]
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        # TREC's disks are older than UTF-8
        text = raw.decode("latin-1")
    docno = _DOCNO.search(text)
    if docno is None or len(_START.findall(part)) > 1:
        raise ValueError("a document without <DOCNO> or </DOC>")
    return {"docno": docno.group(1), "text": html.unescape(_TAG.sub(" ", _ABOUT.sub(" ", text))).strip()}
