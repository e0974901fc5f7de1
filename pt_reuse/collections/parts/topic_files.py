"""TopicFile: the topics of a user's own file, in whichever of the usual formats it is."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from pt_reuse._check import examples
from pt_reuse._errors import InputError, warn
from pt_reuse.collections.parts.rows import Columns, Row, format_by_ending, is_field, read_rows, with_id
from pt_reuse.formats.files import UnreadableError, read_bytes

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


class TopicFile:
    """Topics of an own file.

    Args:
        path: the file; it may be packed.
    """

    def __init__(self, path: str | Path):
        self.path = Path(path)

    @property
    def fields(self) -> tuple[str, ...]:
        """Return the names of what a topic has besides its id; one that only some have is empty for the others."""
        return self._read[0]

    @property
    def query_field(self) -> str:
        """Return which field is the query where nobody says: ``query``, ``title``, ``text``, or the first."""
        return next((name for name in QUERY_FIELDS if name in self.fields), self.fields[0])

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        """Yield the id of each topic and its :attr:`fields`.

        Raises:
            InputError: naming the file and what is wrong with it.
        """
        return iter(self._read[1])

    @cached_property
    def _read(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        rows = [(place, *with_id(row, ID_FIELDS, "topic", place)) for place, row in _rows(self.path)]
        if not rows:
            raise InputError(f"no topics. Expected {EXPECTED}.", place=str(self.path))
        names = list(dict.fromkeys(name for *_, row in rows for name in row))
        texts = [n for n in names if is_field(n) and all(isinstance(row.get(n, ""), str | None) for *_, row in rows)]
        if len(texts) < len(names):
            warn(
                f"{examples([name for name in names if name not in texts])} left out of the topics: only fields that "
                f"hold text, and whose names are letters, digits and '_', are kept.",
                place=str(self.path),
            )
        topics: dict[str, tuple[str, ...]] = {}
        for place, qid, row in rows:
            values = [(row.get(name) or "").strip() for name in texts]
            if qid in topics:
                raise InputError(f"topic {qid!r} stands more than once. Keep one of them.", place=place)
            if not any(values):
                raise InputError(f"topic {qid!r} has no query.", place=place)
            topics[qid] = (qid, *values)
        return tuple(texts), list(topics.values())


def check_topic_file(path: Path) -> None:
    """Raise an InputError where a file is none that topics can be read from."""
    _format_of(path, _bytes(path))


def _rows(path: Path) -> Iterator[tuple[str, Row]]:
    data = _bytes(path)
    kind = _format_of(path, data)
    if kind == "trec":
        return _tagged(data, path)
    if kind == "xml":
        return _xml(data, path)
    return read_rows(io.BytesIO(data), kind, path, Columns(ID_FIELDS, ("qid", "query")))


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


def _bytes(path: Path) -> bytes:
    try:
        return read_bytes(path)
    except UnreadableError as error:
        raise InputError(f"{path} {error}.") from error


def _tagged(data: bytes, path: Path) -> Iterator[tuple[str, Row]]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        # TREC's first topics are older than UTF-8
        text = data.decode("latin-1")
    if len(re.findall(r"<top\b[^>]*>", text, re.IGNORECASE)) != len(_TOP.findall(text)):
        raise InputError("a <top> without </top>. Is the file cut off?", place=str(path))
    for n, top in enumerate(_TOP.findall(text), 1):
        row: Row = {}
        tags = list(_FIELD.finditer(top))
        for tag, following in zip(tags, [*tags[1:], None], strict=True):
            content = top[tag.end() : following.start() if following else None]
            content = re.sub(rf"</{tag.group(1)}>", " ", content, flags=re.IGNORECASE)
            name = tag.group(1).lower()
            _add(row, _NAMES.get(name, name), " ".join(_LABEL.sub("", content).split()))
        yield f"{path}, topic {n:,}", row


def _xml(data: bytes, path: Path) -> Iterator[tuple[str, Row]]:
    try:
        root = ElementTree.fromstring(data)
    except (ElementTree.ParseError, ValueError, LookupError) as error:
        raise InputError(f"cannot be read as XML ({error}). Mend the file.", place=str(path)) from error
    for n, element in enumerate(root, 1):
        row: Row = dict(element.attrib)
        for part in element:
            _add(row, _NAMES.get(part.tag, part.tag), " ".join("".join(part.itertext()).split()))
        own = " ".join((element.text or "").split())
        if own:
            _add(row, "query" if "query" not in row else "text", own)
        yield f"{path}, topic {n:,}", row


def _add(row: dict[str, Any], name: str, content: str) -> None:
    # what a topic has several of, such as subtopics, stays together, one a line
    row[name] = f"{row[name]}\n{content}" if row.get(name) else content
