"""Collections as ir_datasets keeps its datasets, also of a user's own files."""

from __future__ import annotations

import csv
import gzip
import html
import io
import json
import keyword
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import islice
from pathlib import Path
from types import MethodType
from typing import IO, Any, NamedTuple
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pandas as pd

from pt_reuse._files import open_file
from pt_reuse._saving import CsvReader
from pt_reuse.collections.collection import Collection, Source, catalogued, home
from pt_reuse.data.judgments import Qrels, read_qrels
from pt_reuse.data.packed_files import packed_with
from pt_reuse.data.run_set import RunSet
from pt_reuse.errors import InputError, count, did_you_mean, examples, located, warn

#: ending of a file -> its format
ENDINGS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".tsv": "tsv", ".csv": "csv"}

Row = dict[str, Any]
#: what a damaged file, or one of another format, makes the libraries raise that read it
_FAULTS = (ValueError, LookupError, SyntaxError, OSError, EOFError, RecursionError, MemoryError, zlib.error, csv.Error)


class OwnPart:
    """A part (``"Docs" "Queries" "Qrels"``) of a dataset, with what ir_datasets' base class of it has, such as a dict.

    That class itself is not used: ir_datasets takes a third of a second to import. The constants are what is asked for
    by the name of the part and theirs, such as ``docs_lang()``.
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
    """Yield the rows of a file of one of the :data:`ENDINGS`; what is wrong is a ValueError, for :func:`reading`."""
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
    """Return the id of a row, from the first of the names that it has, and the rest; a ValueError where it has none."""
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
            f"{examples(left_out)} left out of the {what}: fields hold text, and their names are letters, digits and "
            "'_'.",
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


#: fields that may hold a document's id, and those that may hold its text, the first that is there
DOCUMENT_IDS = ("docno", "doc_id", "id", "_id")
TEXT_FIELDS = ("text", "contents")
EXPECTED_DOCUMENTS = (
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
    """Documents of own files of one format, read anew each time, in their order; by id, they are all kept in memory."""

    def __init__(self, paths: Sequence[str | Path], namespace: str, language: str | None = None):
        super().__init__("Docs", namespace=namespace, lang=language)
        self._paths = [Path(path) for path in paths]

    def docs_iter(self) -> _DocumentIterator:
        """Return an iterator over the documents, of which ``[start:stop:step]`` gives a part."""
        return _DocumentIterator(self)

    @cached_property
    def _store(self) -> _Docstore:
        return _Docstore(self)

    @cached_property
    def _count(self) -> int:
        return sum(1 for _ in self._rows())

    def docs_store(self, **_: Any) -> _Docstore:
        """Return the documents by id; the first call reads them."""
        return self._store

    def docs_count(self) -> int:
        """Return how many documents there are."""
        return self._count

    def docs_cls(self) -> Any:
        """Return the type of a document: its ``doc_id``, and the fields of the first one that are texts."""
        return self._type

    def read(self) -> Iterator[Any]:
        """Yield every document from the files; an InputError names the file that is broken."""
        fields = self.docs_cls()._fields[1:]
        for path, docno, row in self._rows():
            values = [row.get(name) for name in fields]
            if not all(isinstance(value, str | None) for value in values):
                raise InputError(f"a field of document {docno!r} is no text, as the first one's is.", place=str(path))
            yield self.docs_cls()(docno, *(value or "" for value in values))

    @cached_property
    def _type(self) -> Any:
        path, _, row = next(self._rows(), (None, "", {}))
        if path is None:
            place = ", ".join(map(str, self._paths[:3]))
            raise InputError(f"no documents. Expected {EXPECTED_DOCUMENTS}.", place=place)
        fields = text_fields([row], "documents", path)
        if "text" not in fields:
            raise InputError(f"no text. A document needs a field 'text', it has {examples(row, 12)}.", place=str(path))
        return record_type("OwnDoc", ("doc_id", *fields), [name for name in ("title", "text") if name in fields])

    def _rows(self) -> Iterator[tuple[Path, str, Row]]:
        for path in self._paths:
            kind = document_format(path)
            with reading(path) as file:
                tagged = kind == "trec"
                rows = _tagged_documents(file) if tagged else read_rows(file, kind, DOCUMENT_IDS, ("docno", "text"))
                for row in rows:
                    docno, rest = take_id(row, DOCUMENT_IDS)
                    text = next((name for name in TEXT_FIELDS if name in rest), None)
                    yield path, docno, {"text" if name == text else name: value for name, value in rest.items()}


class _Docstore:
    """Documents by id, all of them in memory; an id that stands twice is an InputError."""

    def __init__(self, documents: OwnDocuments):
        self._by_id: dict[str, Any] = {}
        for document in documents.read():
            if self._by_id.setdefault(document.doc_id, document) is not document:
                place = documents.docs_namespace()
                raise InputError(f"document {document.doc_id!r} stands more than once. Keep one.", place=place)

    def get(self, doc_id: str, field: str | None = None) -> Any:
        return getattr(self._by_id[doc_id], field) if field else self._by_id[doc_id]

    def get_many(self, doc_ids: Iterable[str], field: str | None = None) -> dict[str, Any]:
        # an unknown id is left out, as in ir_datasets
        return {doc_id: self.get(doc_id, field) for doc_id in doc_ids if doc_id in self._by_id}

    def get_many_iter(self, doc_ids: Iterable[str]) -> Iterator[Any]:
        return iter(self.get_many(doc_ids).values())

    def count(self) -> int:
        return len(self._by_id)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._by_id.values())


class _DocumentIterator:
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


def _tagged_documents(file: IO[bytes]) -> Iterator[Row]:
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


#: fields that may hold a topic's id, and those that are its query, the first that is there
TOPIC_IDS = ("qid", "query_id", "number", "num", "id", "_id")
QUERY_FIELDS = ("query", "title", "text")
EXPECTED_TOPICS = (
    "lines of topic id, tab and query (.tsv), CSV with a header (.csv), JSON lines (.jsonl), TREC's <top> or "
    "<DOC> text, or XML"
)
_NAMES = {"num": "qid", "desc": "description", "narr": "narrative"}
_TOP = re.compile(r"<top\b[^>]*>(.*?)</top>", re.IGNORECASE | re.DOTALL)
_FIELD = re.compile(r"^[ \t]*<([A-Za-z]\w*)>", re.MULTILINE)
#: what NIST puts between a tag and its content
_LABEL = re.compile(
    r"^\s*(?:Number|Topic|Description|Narrative|Domain|Summary|Concept\(s\)|Factor\(s\)|Definition\(s\)|Nationality|Time)"
    r"\s*:"
)


class OwnTopics(OwnPart):
    """Topics of an own file, read when they are first asked for."""

    def __init__(
        self,
        path: str | Path,
        namespace: str,
        language: str | None = None,
        *,
        ids: frozenset[str] | None = None,
        fields: Callable[[], Sequence[str]] = tuple,
    ):
        super().__init__("Queries", namespace=namespace, lang=language)
        self._path, self._ids, self._fields = Path(path), ids, fields

    def queries_iter(self) -> Iterator[Any]:
        """Yield every topic; an InputError names the file and what is wrong with it."""
        return iter(self._read[1])

    def queries_count(self) -> int:
        """Return how many topics there are."""
        return len(self._read[1])

    def queries_cls(self) -> Any:
        """Return the type of a topic: ``query_id``, and every field of text; one that only some have may be empty."""
        return self._read[0]

    @cached_property
    def _read(self) -> tuple[Any, list[Any]]:
        place = str(self._path)
        with reading(self._path) as file:
            rows = [take_id(row, TOPIC_IDS) for row in _rows(self._path, file.read())]
        if not rows:
            raise InputError(f"no topics. Expected {EXPECTED_TOPICS}.", place=place)
        texts = text_fields([row for _, row in rows], "topics", self._path)
        wanted = tuple(self._fields())
        called = dict(zip(texts, wanted if len(wanted) == len(texts) else texts, strict=True))
        query = next((name for name in QUERY_FIELDS if name in texts), texts[0])
        make = record_type("OwnQuery", ("query_id", *called.values()), [called[query]])
        topics: dict[str, Any] = {}
        for qid, row in rows:
            values = [(row.get(name) or "").strip() for name in texts]
            if qid in topics or not any(values):
                problem = "stands more than once. Keep one of them." if qid in topics else "has no query."
                raise InputError(f"topic {qid!r} {problem}", place=place)
            bare = qid.lstrip("0")
            known = self._ids is None or qid in self._ids or bare not in self._ids
            topics[qid] = make(qid if known else bare, *values)
        return make, list(topics.values())


class OwnJudgments(OwnPart):
    """Judgments of a TREC qrels file, read when they are first asked for."""

    def __init__(self, path: str | Path, rel: int | None = None):
        super().__init__("Qrels")
        self._path, self._rel = Path(path), rel

    @cached_property
    def _qrels(self) -> Qrels:
        return read_qrels(self._path, rel=self._rel)

    def qrels_iter(self) -> Iterator[Any]:
        """Yield ``GenericQrel(query_id, doc_id, relevance)``."""
        frame = self._qrels.to_frame()
        return map(self.qrels_cls(), frame["qid"], frame["docno"], frame["label"].tolist())

    def qrels_cls(self) -> Any:
        """Return the type of a judgment."""
        from ir_datasets.formats import GenericQrel

        return GenericQrel

    def qrels_count(self) -> int:
        """Return how many judgments there are."""
        return len(self._qrels)

    def qrels_defs(self) -> dict[int, str]:
        """Return what each label that occurs stands for."""
        kinds = dict.fromkeys(range(self._qrels.rel), "not relevant") | {-1: "pooled, not judged"}
        labels = sorted(set(self._qrels.arrays.labels.tolist()))
        return {label: kinds.get(label, "relevant" if label > 0 else "junk") for label in labels}


#: format of topics, in words
TOPIC_FORMATS = {
    "jsonl": "JSON lines",
    "tsv": "tab-separated lines",
    "csv": "CSV",
    "trec": "TREC's <top> text",
    "doc": "TREC's <DOC> text",
    "xml": "XML",
}


def topic_format(path: Path) -> str:
    """Return one of :data:`TOPIC_FORMATS`; an InputError where topics cannot be read from a file."""
    with reading(path) as file:
        return _format_of(path, file.read(_BLOCK))


def _rows(path: Path, data: bytes) -> Iterator[Row]:
    kind = _format_of(path, data)
    if kind == "trec":
        return _tagged_topics(data)
    if kind == "doc":
        documents = _tagged_documents(io.BytesIO(data))
        return ({"qid": row["docno"], "query": " ".join(row["text"].split())} for row in documents)
    return _xml(data) if kind == "xml" else read_rows(io.BytesIO(data), kind, TOPIC_IDS, ("qid", "query"))


def _format_of(path: Path, data: bytes) -> str:
    kind = format_by_ending(path)
    if kind:
        return kind
    start = data[:4096].removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if re.search(rb"^\s*<top[\s>]", data[: 1 << 16].lower(), re.MULTILINE):
        return "trec"
    if start.startswith(b"<"):
        return "doc" if start.startswith(b"<doc>") else "xml"
    if b"\t" in start.split(b"\n")[0]:
        return "tsv"
    raise InputError(f"no topics that can be read. Expected {EXPECTED_TOPICS}.", place=str(path))


def _tagged_topics(data: bytes) -> Iterator[Row]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        # TREC's first topics are older than UTF-8
        text = data.decode("latin-1")
    tops = _TOP.findall(text)
    if len(re.findall(r"<top\b[^>]*>", text, re.IGNORECASE)) != len(tops):
        raise ValueError("a <top> without </top>; it seems to be cut off")
    for top in tops:
        row: Row = {}
        _, *parts = _FIELD.split(top)
        for tag, content in zip(parts[::2], parts[1::2], strict=True):
            bare = re.sub(rf"</{tag}>", " ", content, flags=re.IGNORECASE)
            _add(row, _NAMES.get(tag.lower(), tag.lower()), " ".join(_LABEL.sub("", bare).split()))
        yield row


def _xml(data: bytes) -> Iterator[Row]:
    for element in ElementTree.fromstring(data):
        row: Row = dict(element.attrib)
        for part in element:
            _add(row, _NAMES.get(part.tag, part.tag), " ".join("".join(part.itertext()).split()))
        if own := " ".join((element.text or "").split()):
            _add(row, "query" if "query" not in row else "text", own)
        yield row


def _add(row: Row, name: str, content: str) -> None:
    # what a topic has several of, such as subtopics, stays together, one a line
    row[name] = f"{row[name]}\n{content}" if row.get(name) else content


#: part of a dataset of ir_datasets -> our word, the key of a definition, and the user's file that stands in for it
_PARTS = {
    "docs": ("documents", "documents", None),
    "queries": ("topics", "topics", "topics.tsv (qid and query, or NIST's own file as topics.txt or topics.xml)"),
    "qrels": ("judgments", "qrels", "qrels.txt"),
}


def not_known(collection: Collection, part: str) -> InputError:
    """Return the error for a part of which nobody knows where it is."""
    word, key, file = _PARTS[part]
    said, place = f"no {word} are known for it. ", f"reuse:{collection.name}"
    if collection.origin == "own":
        return InputError(f"{said}Add {key} = ... to its definition.", place=place)
    if file is None:
        call = "register_collection()"
        return InputError(f"{said}Define a collection of your own that names them: {call}.", place=place)
    at = collection.judgments_at
    if part == "qrels" and at is not None:
        said = f"ir_datasets does not have its judgments. They are published at {at}. "
    return InputError(f"{said}Put them into {home() / collection.name} as {file}.", place=place)


def not_readable(collection: Collection, part: str, error: Exception) -> InputError:
    """Return the error for a part that ir_datasets could not read: why, and where a file of it must be put."""
    import requests

    word, _, file = _PARTS[part]
    # of several addresses that ir_datasets tried, why the first one failed
    tried = error.args[1] if isinstance(error, RuntimeError) and len(error.args) > 1 else None
    first = tried[0][1] if isinstance(tried, list) and tried and isinstance(tried[0], tuple) else error
    url = getattr(getattr(first, "request", None), "url", None)
    if isinstance(first, requests.ConnectionError) and url:
        text = f"no connection to {urlsplit(url).hostname}"
    else:
        text = str(error.args[0] if isinstance(error, RuntimeError) and error.args else error)
    text = " ".join(text.split()).rstrip(".")[:160] or type(error).__name__
    what = f"Put them into {home() / collection.name} as {file}" if file else "See https://ir-datasets.com"
    more = " Where nothing reads queries, a frame with the column qid is enough." if part == "queries" else ""
    problem = f"its {word} come through ir_datasets ({collection.irds_id}), which could not read them: {text}. {what}."
    return InputError(f"{problem}{more}", place=f"reuse:{collection.name}")


@dataclass(frozen=True)
class SubmittedRun:
    """A run of a collection: who submitted it, whether it was pooled (None where nobody knows), and its documents."""

    run_id: str
    team: str | None
    type: str | None
    pooled: bool | None
    runs: RunSet = field(repr=False)

    def scoreddocs_iter(self) -> Iterator[Any]:
        """Yield ``GenericScoredDoc(query_id, doc_id, score)``, topic by topic in the run's ranking order."""
        from ir_datasets.formats import GenericScoredDoc

        frame = self.runs[self.run_id]
        return map(GenericScoredDoc, frame["qid"], frame["docno"], frame["score"].tolist())


class RunsPart:
    """What a dataset of this package has besides what ir_datasets asks for: its runs, read when they are asked for."""

    def __init__(self, get_runs: Callable[[], RunSet]):
        self._read = cache(get_runs)

    def runs_iter(self) -> Iterator[SubmittedRun]:
        """Yield every run that can be had."""
        runs = self._read()
        for name, team, kind, pooled in runs.run_table[["name", "team", "type", "pooled"]].to_numpy(dtype=object):
            yield SubmittedRun(name, team, kind, None if pd.isna(pooled) else bool(pooled), runs)


class IrdsPart:
    """One part (``"docs"``, ``"queries"``, ``"qrels"``) of a dataset of ir_datasets, opened when it is used."""

    def __init__(self, name: str, part: str, irds_id: str):
        self._name, self._part, self._irds_id = name, part, irds_id

    def __getattr__(self, attribute: str) -> Any:
        part = self.__dict__.get("_part")
        if part is None or not attribute.startswith(f"{part}_"):
            raise AttributeError(attribute)
        if attribute == f"{part}_handler":
            return lambda: getattr(self._dataset, attribute)()
        return getattr(self._dataset, attribute)

    @cached_property
    def _dataset(self) -> Any:
        return find_irds(self._part, self._irds_id, f"reuse:{self._name}")


def find_irds(part: str, irds_id: str, place: str) -> Any:
    """Return a dataset of ir_datasets that has a part, or raise an InputError at a place that says what there is."""
    import ir_datasets

    try:
        with located(place):
            dataset = ir_datasets.load(irds_id)
    except InputError:
        raise  # none of our collections, which says which are near
    except KeyError:
        said = f"ir_datasets {ir_datasets.__version__} has no dataset {irds_id!r}."
        raise InputError(f"{said}{did_you_mean(irds_id, ir_datasets.registry)}", place=place) from None
    if not dataset.has(part):
        there = examples(words[0] for name, words in _PARTS.items() if dataset.has(name))
        raise InputError(f"{irds_id!r} of ir_datasets has no {_PARTS[part][0]}, only {there or 'none'}.", place=place)
    return dataset


def build_irds(collection: Collection, get_runs: Callable[[], RunSet] | None = None) -> Any:
    """Return a collection as ir_datasets has its datasets, named ``reuse/NAME``; nothing is opened before it is used.

    Besides ir_datasets' own functions it has ``runs_iter()``, which yields one :class:`SubmittedRun` a run, but not
    where nobody knows of runs. A part that the collection does not name is absent: ``has_docs()`` is False.
    """
    # ir_datasets takes a third of a second to import, which the commands should not pay for
    import ir_datasets

    name, language = f"reuse/{collection.name}", collection.language

    def part(kind: str, source: Source | None, own: Callable[[Sequence[str]], Any]) -> Any:
        if isinstance(source, str):
            return IrdsPart(collection.name, kind, source.removeprefix("irds:"))
        return None if source is None else own(source)

    parts: list[Any] = [
        part("docs", collection.documents, lambda paths: OwnDocuments(paths, name, language)),
        part("queries", collection.topics, lambda paths: _own_topics(collection, paths[0])),
        part("qrels", collection.qrels, lambda paths: OwnJudgments(paths[0], collection.rel)),
    ]
    if get_runs is not None and (collection.submitted is not None or collection.runs is not None):
        parts.append(RunsPart(get_runs))
    dataset = ir_datasets.Dataset(*parts)
    return ir_datasets.Dataset(ir_datasets.util.MetadataComponent(name, dataset), dataset)


def _own_topics(collection: Collection, path: str) -> OwnTopics:
    name = f"reuse/{collection.name}"

    def fields() -> Sequence[str]:
        # a file in place of ir_datasets' own is called as that, so that a script runs with either
        official = catalogued(collection.name) if collection.origin == "catalogue" else None
        if official is None or not isinstance(official.topics, str):
            return ()
        return find_irds("queries", official.topics.removeprefix("irds:"), name).queries_cls()._fields[1:]

    return OwnTopics(path, name, collection.language, ids=collection.topic_ids, fields=fields)
