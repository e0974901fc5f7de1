"""Topics of a user's own file, in whichever of the usual formats it is."""

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
from pt_reuse.collections.parts.document_files import check_id, csv_lines, ending, is_field, json_lines, text_lines
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
            InputError: naming the file, the line and what to do.
        """
        return iter(self._read[1])

    @cached_property
    def _read(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        rows = list(self._rows())
        if not rows:
            raise InputError(f"{self.path}: no topics. Expected {EXPECTED}.")
        names = list(dict.fromkeys(name for _, row in rows for name in row if name != "qid"))
        texts = [n for n in names if is_field(n) and all(isinstance(row.get(n, ""), str | None) for _, row in rows)]
        if len(texts) < len(names):
            warn(
                f"{self.path}: {examples([name for name in names if name not in texts])} left out of the topics: only "
                f"fields that hold text, and whose names are letters, digits and '_', are kept.",
            )
        topics: dict[str, tuple[str, ...]] = {}
        for where, row in rows:
            topic = (row["qid"], *(row.get(name) or "" for name in texts))
            if topic[0] in topics:
                raise InputError(f"{where}: topic {topic[0]!r} stands more than once. Keep one of them.")
            if not any(value.strip() for value in topic[1:]):
                raise InputError(f"{where}: topic {topic[0]!r} has no query.")
            topics[topic[0]] = topic
        return tuple(texts), list(topics.values())

    def _rows(self) -> Iterator[tuple[str, dict[str, Any]]]:
        data, path = _bytes(self.path), str(self.path)
        kind = format_of(self.path, data)
        if kind == "trec":
            yield from _tagged(data, path)
        elif kind == "xml":
            yield from _xml(data, path)
        else:
            read = {"jsonl": json_lines, "csv": csv_lines, "tsv": _tab_lines}[kind]
            for number, row in read(io.BytesIO(data), path):
                yield f"{path}, line {number:,}", _named(f"{path}, line {number:,}", row)


def check_topic_file(path: Path) -> None:
    """Raise an InputError where a file is none that topics can be read from."""
    format_of(path, _bytes(path))


def format_of(path: Path, data: bytes) -> str:
    """Return ``"jsonl"``, ``"csv"``, ``"trec"``, ``"xml"`` or ``"tsv"``, by the ending of a file and what is in it."""
    by_ending = {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".csv": "csv", ".tsv": "tsv"}
    if ending(path) in by_ending:
        return by_ending[ending(path)]
    start = data[:4096].removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if re.search(rb"^\s*<top[\s>]", data[: 1 << 16].lower(), re.MULTILINE):
        return "trec"
    if start.startswith(b"<"):
        return "xml"
    if b"\t" in start.split(b"\n")[0]:
        return "tsv"
    raise InputError(f"{path}: no topics that can be read. Expected {EXPECTED}.")


def _bytes(path: Path) -> bytes:
    try:
        return read_bytes(path)
    except UnreadableError as error:
        raise InputError(f"{path} {error}.") from error


def _tab_lines(file: io.BytesIO, where: str) -> Iterator[tuple[int, dict[str, Any]]]:
    header: list[str] = []
    for number, line in text_lines(file, where):
        cells = line.split("\t")
        if number == 1 and cells[0].strip().lower() in ID_FIELDS:
            header = [cell.strip().lower() for cell in cells]
            continue
        names = header or ["qid", "query"]
        if len(cells) != len(names):
            raise InputError(
                f"{where}, line {number:,}: {len(cells):,} cells, expected {len(names):,}: {examples(names, 12)}, "
                f"separated by one tab. Further fields need a header."
            )
        yield number, dict(zip(names, (cell.strip() for cell in cells), strict=True))


def _tagged(data: bytes, path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    text = _text(data)
    if len(re.findall(r"<top\b[^>]*>", text, re.IGNORECASE)) != len(_TOP.findall(text)):
        raise InputError(f"{path}: a <top> without </top>. Is the file cut off?")
    for top in _TOP.finditer(text):
        where = f"{path}, line {text.count(chr(10), 0, top.start()) + 1:,}"
        row: dict[str, Any] = {}
        tags = list(_FIELD.finditer(top.group(1)))
        for tag, following in zip(tags, [*tags[1:], None], strict=True):
            content = top.group(1)[tag.end() : following.start() if following else None]
            content = re.sub(rf"</{tag.group(1)}>", " ", content, flags=re.IGNORECASE)
            name = tag.group(1).lower()
            _add(row, _NAMES.get(name, name), " ".join(_LABEL.sub("", content).split()))
        if "qid" not in row:
            raise InputError(f"{where}: a topic without <num>.")
        yield where, {**row, "qid": check_id(where, row["qid"], "topic")}


def _xml(data: bytes, path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        root = ElementTree.fromstring(data)
    except (ElementTree.ParseError, ValueError, LookupError) as error:
        raise InputError(f"{path}: cannot be read as XML ({error}). Mend the file.") from error
    for place, element in enumerate(root, 1):
        row: dict[str, Any] = dict(element.attrib)
        for part in element:
            _add(row, _NAMES.get(part.tag, part.tag), " ".join("".join(part.itertext()).split()))
        own = " ".join((element.text or "").split())
        if own:
            _add(row, "query" if "query" not in row else "text", own)
        where = f"{path}, topic {place:,}"
        yield where, _named(where, row)


def _add(row: dict[str, Any], name: str, content: str) -> None:
    # what a topic has several of, such as subtopics, stays together, one a line
    row[name] = f"{row[name]}\n{content}" if row.get(name) else content


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        # TREC's first topics are older than UTF-8
        return data.decode("latin-1")


def _named(where: str, row: dict[str, Any]) -> dict[str, Any]:
    key = next((name for name in ID_FIELDS if name in row), None)
    if key is None:
        raise InputError(f"{where}: no topic id. Expected a field 'qid', it has {examples(row, 12)}.")
    rest = {name: value for name, value in row.items() if name != key}
    return {"qid": check_id(where, row[key], "topic"), **rest}
