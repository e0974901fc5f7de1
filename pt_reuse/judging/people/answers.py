"""Answers: what stands in the files that come back, as each tool writes it; nothing of it is checked here."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path, PurePosixPath
from typing import Any

from pt_reuse._check import told
from pt_reuse._errors import InputError, located
from pt_reuse._files import open_file
from pt_reuse.judging.people.sheet import read_sheet

#: files that are read, by how they end
ENDINGS = (".csv", ".tsv", ".txt", ".json", ".jsonl", ".zip")
#: what a sheet has in any case; who has the name of the pair needs no more
_NEEDED = ("label",)
#: names of Doccano's files that are no user's
_NOBODY = ("all", "unknown")
#: names for what we ask: ours first, then those of the tools
_NOTES = ("note", "Comments", "comments")


@dataclass(frozen=True)
class Source:
    """A file, or one within an archive.

    Attributes:
        name: of the file, with that of the archive before it.
        stem: its name without folders and ending.
        is_user: whether the stem is a user of Doccano's.
        time: when it was written last, ISO 8601, UTC.
    """

    name: str
    stem: str
    is_user: bool
    time: str


@dataclass(frozen=True)
class Answer:
    """What a row of a file says.

    Attributes:
        source: the file.
        place: where in it.
        pair: name of the pair, "" where there is none.
        qid: the topic as it stands there, None where it does not.
        docno: the document as it stands there, None where it does not.
        task: the task, "" where there is none.
        said: who gave the label by what the tool says, the best name first.
        assigned: for whom the row was written, "" for nobody or where it does not stand there.
        labels: what was chosen; empty where nothing was.
        note: what else was said.
        time: when, ISO 8601, UTC.
        skipped: whether somebody decided to give no label.
    """

    source: Source
    place: str
    pair: str
    qid: str | None
    docno: str | None
    task: str
    said: tuple[str, ...]
    assigned: str
    labels: tuple[Any, ...]
    note: str
    time: str
    skipped: bool = False

    @property
    def is_unanswered(self) -> bool:
        """Return whether it is a text that nobody labelled, of which older versions of Doccano say nothing else."""
        return self.source.stem == "unknown" and not self.labels and not self.pair and not self.task


def read_answers(path: Path, name: str) -> list[Answer]:
    """Return what stands in a file, of whatever kind: CSV, JSON, JSON lines, or an archive of such.

    Args:
        path: the file.
        name: what it is called in messages.

    Raises:
        InputError: a file that is none of these, or is damaged.
    """
    with located(name):
        try:
            with open_file(path) as file:
                data, time = file.read(), utc(datetime.fromtimestamp(path.stat().st_mtime, timezone.utc))
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror or error}.") from error
        source = Source(name, path.stem, False, time)
        if path.suffix.lower() == ".zip":
            return _archive(data, source)
        return list(_file(data, path.suffix.lower(), source))


def _archive(data: bytes, source: Source) -> list[Answer]:
    found: list[Answer] = []
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for name in sorted(archive.namelist()):
                inner = PurePosixPath(name)
                hidden = any(part.startswith((".", "__")) for part in inner.parts)
                if hidden or inner.suffix.lower() not in ENDINGS[:-1]:
                    continue
                one = replace(source, name=f"{source.name}, {inner.name}", stem=inner.stem, is_user=True)
                with located(inner.name):
                    found += _file(archive.read(name), inner.suffix.lower(), one)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
        raise InputError(f"a damaged archive ({error}). Export it once more.") from error
    return found


def _file(data: bytes, ending: str, source: Source) -> Iterator[Answer]:
    if ending == ".json":
        for n, record in enumerate(_json(data), 1):
            yield from _record(record, f"record {n:,}", source)
    elif ending == ".jsonl":
        for line, text in enumerate(data.decode("utf-8-sig", "replace").split("\n"), 1):
            if text.strip():
                yield from _record(_parsed(text, f"line {line:,}"), f"line {line:,}", source)
    else:
        for line, row in read_sheet(data, _NEEDED):
            yield _plain(row, f"line {line:,}", source)


def _json(data: bytes) -> Sequence[Any]:
    found = _parsed(data.decode("utf-8-sig", "replace"), None)
    if isinstance(found, Mapping):
        # Label Studio saves one task by itself
        return [found]
    if not isinstance(found, list):
        raise InputError(f"must be a list of records, got {told(found)}. Export it once more.")
    return found


def _parsed(text: str, place: str | None) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"no JSON ({error}). Export the file once more.", place=place) from error


def _record(record: Any, place: str, source: Source) -> Iterator[Answer]:
    if not isinstance(record, Mapping):
        raise InputError(f"must be a record with 'label', got {told(record)}.", place=place)
    data = record.get("data")
    given = record.get("annotations", record.get("completions"))
    if isinstance(data, Mapping) and isinstance(given, list):
        yield from _label_studio(data, given, place, source)
    elif isinstance(given, list) and "label" not in record and "labels" not in record:
        raise InputError("labels as numbers of Doccano's own. Export as JSONL with the labels as texts.", place=place)
    else:
        meta = record.get("meta", record.get("metadata"))
        yield _plain({**meta, **record} if isinstance(meta, Mapping) else record, place, source)


def _label_studio(data: Mapping[str, Any], given: Sequence[Any], place: str, source: Source) -> Iterator[Answer]:
    """Yield one answer for each annotation of a task, and one without a label where there is none."""
    annotations = [each for each in given if isinstance(each, Mapping)]
    if not annotations:
        yield _answer(data, place, source)
    for annotation in annotations:
        labels: list[Any] = []
        notes: list[str] = []
        for part in annotation.get("result") or []:
            value = part.get("value") if isinstance(part, Mapping) else None
            if isinstance(value, Mapping) and part.get("from_name") == "label":
                labels += _several(value.get("choices"))
            elif isinstance(value, Mapping) and part.get("from_name") == "note":
                notes += map(str, _several(value.get("text")))
        skipped = bool(annotation.get("was_cancelled") or annotation.get("skipped"))
        at = f"{place}, annotation {annotation['id']}" if "id" in annotation else place
        answer = _answer(data, at, source)
        yield replace(
            answer,
            said=_user(annotation.get("completed_by")),
            labels=() if skipped else tuple(labels),
            note="\n".join(notes),
            time=_time(annotation.get("updated_at") or annotation.get("created_at")) or answer.time,
            skipped=skipped,
        )


def _plain(row: Mapping[str, Any], place: str, source: Source) -> Answer:
    """Return the answer of a record whose fields stand side by side: ours, Doccano's, Label Studio's short one."""
    found = row.get("label", row.get("labels"))
    if isinstance(found, Mapping):
        found = found.get("choices")
    labels = tuple(each for each in _several(found) if each is not None and str(each).strip())
    said = _user(row.get("annotator"))
    if not said and source.is_user and source.stem not in _NOBODY:
        said = (source.stem,)
    note = next((row[name] for name in _NOTES if row.get(name)), "")
    answer = _answer(row, place, source)
    return replace(
        answer,
        said=said,
        labels=labels,
        note="\n".join(map(str, _several(note))),
        time=_time(row.get("updated_at") or row.get("created_at")) or answer.time,
    )


def _answer(row: Mapping[str, Any], place: str, source: Source) -> Answer:
    def cell(name: str) -> str | None:
        value = row.get(name)
        return None if value is None else str(value)

    return Answer(
        source=source,
        place=place,
        pair=(cell("pair") or "").strip(),
        qid=cell("qid"),
        docno=cell("docno"),
        task=(cell("task") or "").strip(),
        said=(),
        assigned=cell("assigned") or "",
        labels=(),
        note="",
        time=source.time,
    )


def _several(value: Any) -> list[Any]:
    return [] if value is None else list(value) if isinstance(value, list | tuple) else [value]


def _user(value: Any) -> tuple[str, ...]:
    """Return the names of who is said to have answered: of Label Studio, an address and a number, or a number alone."""
    if isinstance(value, Mapping):
        return tuple(str(value[name]) for name in ("email", "username", "id") if value.get(name) not in (None, ""))
    return () if value is None or not str(value).strip() else (str(value),)


def _time(value: Any) -> str | None:
    """Return a time as ISO 8601 in UTC, None where it is none; one without a zone is taken for UTC."""
    if not isinstance(value, str):
        return None
    try:
        found = datetime.fromisoformat(value.strip().replace("Z", "+00:00"))
    except ValueError:
        return None
    return utc(found if found.tzinfo else found.replace(tzinfo=timezone.utc))


def utc(moment: datetime) -> str:
    """Return a moment as ISO 8601 in UTC, to the second."""
    return moment.astimezone(timezone.utc).isoformat(timespec="seconds")
