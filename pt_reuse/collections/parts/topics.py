"""OwnTopics and OwnJudgments: topics and judgments of own files, as ir_datasets keeps those of its datasets."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

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
from pt_reuse.qrels.judgments import Qrels
from pt_reuse.qrels.reading import read_qrels

#: fields that may hold a topic's id, and those that are its query, the first that is there
ID_FIELDS = ("qid", "query_id", "number", "num", "id", "_id")
QUERY_FIELDS = ("query", "title", "text")
EXPECTED = (
    "lines of topic id, tab and query (.tsv), CSV with a header (.csv), JSON lines (.jsonl), TREC's <top> text, or XML"
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
    """Topics of an own file, read when they are first asked for.

    Args:
        path: the file.
        namespace: what the ids of the topics belong to.
        language: of the topics, an ISO 639-1 code.
        ids: the topics there may be; NIST numbers its first ones from 051, and judges 51.
        fields: what the fields are to be called, where the file has as many.
    """

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
        """Yield every topic.

        Raises:
            InputError: naming the file and what is wrong with it.
        """
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
            rows = [take_id(row, ID_FIELDS) for row in _rows(self._path, file.read())]
        if not rows:
            raise InputError(f"no topics. Expected {EXPECTED}.", place=place)
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
    """Judgments of a TREC qrels file, read when they are first asked for.

    Args:
        path: the file.
        rel: the lowest label that is relevant; default 1.
    """

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


def check_topic_file(path: Path) -> None:
    """Raise an InputError where a file is none that topics can be read from."""
    with reading(path) as file:
        _format_of(path, file.read())


def _rows(path: Path, data: bytes) -> Iterator[Row]:
    kind = _format_of(path, data)
    if kind == "trec":
        return _tagged(data)
    return _xml(data) if kind == "xml" else read_rows(io.BytesIO(data), kind, ID_FIELDS, ("qid", "query"))


def _format_of(path: Path, data: bytes) -> str:
    kind = format_by_ending(path)
    if kind:
        return kind
    start = data[:4096].removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if re.search(rb"^\s*<top[\s>]", data[: 1 << 16].lower(), re.MULTILINE):
        return "trec"
    if start.startswith(b"<"):
        return "xml"
    if b"\t" in start.split(b"\n")[0]:
        return "tsv"
    raise InputError(f"no topics that can be read. Expected {EXPECTED}.", place=str(path))


def _tagged(data: bytes) -> Iterator[Row]:
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
