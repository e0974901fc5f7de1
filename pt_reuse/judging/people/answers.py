"""What files that come back say of pairs, and who gave an answer: by the user, a tool, a row, or who was asked."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from pt_reuse._check import did_you_mean, examples, shown, told
from pt_reuse._errors import Aside, InputError, Option, Part, located
from pt_reuse._files import open_file
from pt_reuse.data.packed_files import UnreadableError, read_members
from pt_reuse.judging.people.manifest import Manifest, read_sheet, restored

#: files that are read, by how they end
ENDINGS = (".csv", ".tsv", ".txt", ".json", ".jsonl", ".zip")
#: names of Doccano's files that are no user's
_NOBODY = ("all", "unknown")
#: names for what we ask: ours first, then those of the tools
_NOTES = ("note", "Comments", "comments")


class Source(NamedTuple):
    """A file, or one within an archive, which is called as a user of the tool; when it was written."""

    name: str
    stem: str
    is_user: bool
    time: str


@dataclass(frozen=True)
class Answer:
    """What a row of a file says, and where it stands."""

    source: Source
    place: str
    pair: str  # its name, "" where there is none
    qid: str | None  # as it stands there
    docno: str | None
    task: str
    assigned: str  # for whom the row was written, "" for nobody
    time: str  # ISO 8601, UTC
    said: tuple[str, ...] = ()  # who gave the label by what the tool says, the best name first
    labels: tuple[Any, ...] = ()  # what was chosen
    note: str = ""
    odd_time: Any = None  # what stands there as the time and is none
    skipped: bool = False  # whether somebody decided to give no label

    @property
    def where(self) -> str:
        return f"{self.source.name}, {self.place}"

    @property
    def names(self) -> tuple[str, ...]:
        """Return by what names a user may say whose it is, the one that says most first."""
        return (*self.said, self.source.name, self.file, self.source.stem)

    @property
    def file(self) -> str:
        return self.source.name.rpartition(", ")[2].rpartition("/")[2]

    @property
    def is_unanswered(self) -> bool:
        """Return whether it is a text that nobody labelled, of which older versions of Doccano say nothing else."""
        return self.source.stem == "unknown" and not self.labels and not self.pair and not self.task


def read_answers(path: Path, name: str) -> list[Answer]:
    """Return what stands in a file, of whatever kind: CSV, JSON, JSON lines, or an archive of such."""
    ending = path.suffix.lower()
    with located(name):
        if ending not in ENDINGS:
            raise InputError(f"no file that can be read. Save a sheet as CSV; read are {', '.join(ENDINGS)}.")
        try:
            with open_file(path) as file:
                data = b"" if ending == ".zip" else file.read()
            time = utc(datetime.fromtimestamp(path.stat().st_mtime, timezone.utc))
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror or error}.") from error
        source = Source(name, path.stem, False, time)
        try:
            return _archive(path, source) if ending == ".zip" else list(_records(data, ending, source))
        except RecursionError as error:
            raise InputError("lists within lists, deeper than can be read. Export the file once more.") from error


def _archive(path: Path, source: Source) -> list[Answer]:
    found: list[Answer] = []
    try:
        for inner, data in read_members(path, _is_read):
            one = Source(f"{source.name}, {inner.name}", inner.stem, True, source.time)
            with located(inner.name):
                found += _records(data, inner.suffix.lower(), one)
    except (UnreadableError, OSError) as error:
        raise InputError(f"the archive {error}. Export it once more.") from error
    return found


def _is_read(inner: PurePosixPath) -> bool:
    if any(part.startswith((".", "__")) for part in inner.parts):
        return False
    if inner.suffix.lower() not in ENDINGS[:-1]:
        raise UnreadableError(f"has a member {inner.name!r}, which cannot be read; read are {', '.join(ENDINGS[:-1])}")
    return True


def _records(data: bytes, ending: str, source: Source) -> Iterator[Answer]:
    if ending == ".json":
        found = _parsed(data.decode("utf-8-sig", "replace"), None)
        # Label Studio saves one task by itself
        records = [found] if isinstance(found, Mapping) else found
        if not isinstance(records, list):
            raise InputError(f"must be a list of records, got {told(found)}. Export it once more.")
        for n, record in enumerate(records, 1):
            yield from _record(record, f"record {n:,}", source)
    elif ending == ".jsonl":
        for line, text in enumerate(data.decode("utf-8-sig", "replace").split("\n"), 1):
            if text.strip():
                yield from _record(_parsed(text, f"line {line:,}"), f"line {line:,}", source)
    else:
        # who has the name of the pair needs no more than the label
        for line, row in read_sheet(data, ("label",)):
            yield _plain(row, f"line {line:,}", source)


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
    if isinstance(data, Mapping) and ("annotations" in record or "completions" in record):
        yield from _label_studio(data, given, place, source)
    elif isinstance(given, list) and "label" not in record and "labels" not in record:
        raise InputError("labels as numbers of Doccano's own. Export as JSONL with the labels as texts.", place=place)
    else:
        meta = record.get("meta", record.get("metadata"))
        yield _plain({**meta, **record} if isinstance(meta, Mapping) else record, place, source)


def _label_studio(data: Mapping[str, Any], given: Any, place: str, source: Source) -> Iterator[Answer]:
    """Yield one answer for each annotation of a task, and one without a label where there is none."""
    blank = _answer(data, place, source)
    annotations = _of_kind(given or [], list, "annotations", blank)
    if not annotations:
        yield blank
    for annotation in annotations:
        _of_kind(annotation, Mapping, "an annotation", blank)
        answer = replace(blank, place=f"{place}, annotation {annotation['id']}") if "id" in annotation else blank
        chosen: dict[str, list[Any]] = {"label": [], "note": []}
        for part in _of_kind(annotation.get("result") or [], list, "result", answer):
            kind = _of_kind(part, Mapping, "a result", answer).get("from_name")
            # there may be questions that the user added
            if kind in chosen:
                value = _of_kind(part.get("value"), Mapping, f"the value of {kind}", answer)
                chosen[kind] += _several(value.get("choices" if kind == "label" else "text"))
        skips = [annotation.get(name) for name in ("was_cancelled", "skipped")]
        skipped = any(_of_kind(skip, bool, "whether it was skipped", answer) for skip in skips if skip is not None)
        answer = replace(answer, said=_user(annotation.get("completed_by")), skipped=skipped)
        labels = () if skipped else tuple(chosen["label"])
        yield _timed(replace(answer, labels=labels, note=_note(chosen["note"])), annotation)


def _of_kind(value: Any, kind: type, what: str, answer: Answer) -> Any:
    if not isinstance(value, kind):
        of = f"topic {shown(answer.qid)}, document {shown(answer.docno)}"
        expected = {list: "a list", Mapping: "a record", bool: "true or false"}[kind]
        raise InputError(
            f"{what} of {of} must be {expected}, got {told(value)}. Export it once more.", place=answer.place
        )
    return value


def _plain(row: Mapping[str, Any], place: str, source: Source) -> Answer:
    """Return the answer of a record whose fields stand side by side: ours, Doccano's, Label Studio's short one."""
    answer = _answer(row, place, source)
    found = row.get("labels") if row.get("label") is None else row["label"]
    if isinstance(found, Mapping):
        found = _of_kind(found.get("choices"), list, "the choices", answer)
    labels = tuple(each for each in _several(found) if each is not None and str(each).strip())
    user = _user(row.get("annotator"))
    if not user and source.is_user and source.stem not in _NOBODY:
        user = (source.stem,)
    note = next((row[name] for name in _NOTES if row.get(name)), None)
    return _timed(replace(answer, said=user, labels=labels, note=_note(_several(note))), row)


def _timed(answer: Answer, row: Mapping[str, Any]) -> Answer:
    """Return an answer with the time that a tool says, else with that of the file, and with what is no time."""
    times = [row[name] for name in ("updated_at", "created_at") if row.get(name) not in (None, "")]
    known = [time for time in map(_time, times) if time is not None]
    return replace(answer, time=known[0]) if known else replace(answer, odd_time=next(iter(times), None))


def _answer(row: Mapping[str, Any], place: str, source: Source) -> Answer:
    pair, qid, docno, task, assigned = (
        None if row.get(name) is None else str(row[name]) for name in ("pair", "qid", "docno", "task", "assigned")
    )
    return Answer(
        source=source,
        place=place,
        pair=(pair or "").strip(),
        qid=qid,
        docno=docno,
        task=(task or "").strip(),
        assigned=assigned or "",
        time=source.time,
    )


def _note(notes: Iterable[Any]) -> str:
    # half a pair of surrogates, which JSON can say, cannot be written to a file
    return "\n".join(map(str, notes)).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


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
        return utc(found if found.tzinfo else found.replace(tzinfo=timezone.utc))
    except (ValueError, OverflowError):  # no date in UTC is before the year 1
        return None


def utc(moment: datetime) -> str:
    """Return a moment as ISO 8601 in UTC, to the second."""
    return moment.astimezone(timezone.utc).isoformat(timespec="seconds")


class Annotators:
    """Who gave an answer."""

    def __init__(self, manifest: Manifest, given: Mapping[str, str], answers: Iterable[Answer]):
        self._manifest, self._given = manifest, given
        self.taken: dict[str, str] = {}
        self.names: set[str] = set()
        rows_of: dict[str, set[str]] = {}
        users_of: dict[str, set[str]] = {}
        for answer in answers:
            self.names.update(answer.names)
            if manifest.named and answer.said and self._known(answer) is None:
                rows_of.setdefault(answer.said[0], set()).add(answer.assigned)
                users_of.setdefault(answer.assigned, set()).add(answer.said[0])
        for user, rows in rows_of.items():
            one = next(iter(rows))
            if len(rows) == 1 and one in manifest.annotators and users_of[one] == {user}:
                self.taken[user] = one

    def of(self, answer: Answer) -> str | None:
        known = self._known(answer)
        if known is not None or answer.said:
            return known if known is not None else self.taken.get(answer.said[0])
        written = self._manifest.files.get(answer.file)
        return answer.assigned or (written.annotator if written is not None else None)

    def unknown(self, answer: Answer) -> tuple[Part, ...]:
        if not answer.said:
            fill_in = " Fill in `annotator`, or say whose it is by "
            return "it does not say who judged.", fill_in, *naming(answer.file)
        user, people = answer.said[0], self._manifest.annotators
        what = f"{shown(user)} is none of the annotators {examples(people, 6)}.{did_you_mean(user, people)}"
        return what, " Say who it is by ", *naming(user)

    def _known(self, answer: Answer) -> str | None:
        for name in answer.names:
            if name in self._given:
                return self._given[name]
        # a file that is called as somebody is, as Doccano's are of an archive that was unpacked
        stem = answer.source.stem
        for name in answer.said or ((stem,) if stem in self._manifest.annotators else ()):
            for form in (name, restored(name)):
                if not self._manifest.named or form in self._manifest.annotators:
                    return form
        return None


def naming(name: str) -> tuple[Part, ...]:
    """Return the advice to say who somebody is that a tool or a file calls by a name."""
    return Option("annotators", ...), Aside(str({name: "NAME"})), "."
