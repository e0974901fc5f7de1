"""Whose: who gave an answer, by what the user says, by what a tool or a row says, and by whom it was written for."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path, PurePosixPath
from typing import Any

from pt_reuse._check import did_you_mean, examples, shown, told
from pt_reuse._errors import Aside, InputError, Option, Part, located
from pt_reuse._files import open_file
from pt_reuse.data.packed_files import UnreadableError, read_members
from pt_reuse.judging.people.manifest import Manifest, read_sheet, restored

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
    """A file, or one within an archive."""

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
        odd_time: what stands there as the time and is none, None where there is nothing of the kind.
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
    odd_time: Any = None
    skipped: bool = False

    @property
    def is_unanswered(self) -> bool:
        """Return whether it is a text that nobody labelled, of which older versions of Doccano say nothing else."""
        return self.source.stem == "unknown" and not self.labels and not self.pair and not self.task


def read_answers(path: Path, name: str) -> list[Answer]:
    """Return what stands in a file, of whatever kind: CSV, JSON, JSON lines, or an archive of such."""
    with located(name):
        try:
            with open_file(path) as file:
                data = b"" if path.suffix.lower() == ".zip" else file.read()
            time = utc(datetime.fromtimestamp(path.stat().st_mtime, timezone.utc))
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror or error}.") from error
        source = Source(name, path.stem, False, time)
        if path.suffix.lower() == ".zip":
            return _archive(path, source)
        return list(_file(data, path.suffix.lower(), source))


def _archive(path: Path, source: Source) -> list[Answer]:
    found: list[Answer] = []
    try:
        for inner, data in read_members(path, _is_read):
            one = replace(source, name=f"{source.name}, {inner.name}", stem=inner.stem, is_user=True)
            with located(inner.name):
                found += _file(data, inner.suffix.lower(), one)
    except (UnreadableError, OSError) as error:
        raise InputError(f"the archive {error}. Export it once more.") from error
    return found


def _is_read(inner: PurePosixPath) -> bool:
    if any(part.startswith((".", "__")) for part in inner.parts):
        return False
    if inner.suffix.lower() not in ENDINGS[:-1]:
        raise UnreadableError(
            f"has a member {inner.name!r}, which cannot be read; read are {', '.join(ENDINGS[:-1])}, not archives in it"
        )
    return True


def _file(data: bytes, ending: str, source: Source) -> Iterator[Answer]:
    try:
        yield from _records(data, ending, source)
    except RecursionError as error:
        raise InputError("lists within lists, deeper than can be read. Export the file once more.") from error


def _records(data: bytes, ending: str, source: Source) -> Iterator[Answer]:
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
    annotations = _listed(given, "annotations", blank)
    if not annotations:
        yield blank
    for annotation in annotations:
        if not isinstance(annotation, Mapping):
            raise _odd("an annotation", "a record", annotation, blank)
        answer = replace(blank, place=f"{place}, annotation {annotation['id']}") if "id" in annotation else blank
        labels: list[Any] = []
        notes: list[str] = []
        for part in _listed(annotation.get("result"), "result", answer):
            if not isinstance(part, Mapping):
                raise _odd("a result", "a record", part, answer)
            kind, value = part.get("from_name"), part.get("value")
            if kind not in ("label", "note"):
                # of a question that the user added
                continue
            if not isinstance(value, Mapping):
                raise _odd(f"the value of {kind}", "a record", value, answer)
            if kind == "label":
                labels += _several(value.get("choices"))
            else:
                notes += map(str, _several(value.get("text")))
        skipped = any(_is_said(annotation, name, answer) for name in ("was_cancelled", "skipped"))
        yield _timed(
            replace(
                answer,
                said=_user(annotation.get("completed_by")),
                labels=() if skipped else tuple(labels),
                note=_note(notes),
                skipped=skipped,
            ),
            annotation,
        )


def _listed(value: Any, what: str, answer: Answer) -> list[Any]:
    if value is not None and not isinstance(value, list):
        raise _odd(what, "a list", value, answer)
    return value or []


def _is_said(annotation: Mapping[str, Any], name: str, answer: Answer) -> bool:
    value = annotation.get(name)
    if value not in (None, True, False):
        raise _odd(name, "true or false", value, answer)
    return bool(value)


def _odd(what: str, expected: str, got: Any, answer: Answer) -> InputError:
    of = f"topic {shown(answer.qid)}, document {shown(answer.docno)}"
    return InputError(f"{what} of {of} must be {expected}, got {told(got)}. Export it once more.", place=answer.place)


def _plain(row: Mapping[str, Any], place: str, source: Source) -> Answer:
    """Return the answer of a record whose fields stand side by side: ours, Doccano's, Label Studio's short one."""
    answer = _answer(row, place, source)
    found = row.get("labels") if row.get("label") is None else row["label"]
    if isinstance(found, Mapping):
        if "choices" not in found:
            raise _odd("the label", "a text, a number or a list", found, answer)
        found = found["choices"]
    labels = tuple(each for each in _several(found) if each is not None and str(each).strip())
    said = _user(row.get("annotator"))
    if not said and source.is_user and source.stem not in _NOBODY:
        said = (source.stem,)
    note = next((row[name] for name in _NOTES if row.get(name)), "")
    return _timed(replace(answer, said=said, labels=labels, note=_note(map(str, _several(note)))), row)


def _timed(answer: Answer, row: Mapping[str, Any]) -> Answer:
    """Return an answer with the time that a tool says, else with that of the file, and with what is no time."""
    said = [row[name] for name in ("updated_at", "created_at") if row.get(name) not in (None, "")]
    times = [time for time in map(_time, said) if time is not None]
    return replace(answer, time=times[0]) if times else replace(answer, odd_time=next(iter(said), None))


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


def _note(said: Iterable[str]) -> str:
    # half a pair of surrogates, which JSON can say, cannot be written to a file
    return "\n".join(said).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


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


@dataclass(frozen=True)
class Nobody:
    """That it is not known who answered."""

    what: str
    parts: tuple[Part, ...]


class Whose:
    """Who gave an answer.

    What the user says of a tool's user or of a file comes first, then the name that a tool or a row gives. A tool's
    user whose name is none of the annotators' is taken for the annotator for whom the rows were written that the user
    answered, where these are those of one annotator, and no other such user answered any of them.
    """

    def __init__(self, manifest: Manifest, given: Mapping[str, str], answers: Iterable[Answer]):
        self._manifest, self._given = manifest, given
        self.taken: dict[str, str] = {}
        self.names: set[str] = set()
        rows_of: dict[str, set[str]] = {}
        users_of: dict[str, set[str]] = {}
        for answer in answers:
            self.names.update(_names(answer))
            if manifest.named and answer.said and self._known(answer) is None:
                rows_of.setdefault(answer.said[0], set()).add(answer.assigned)
                users_of.setdefault(answer.assigned, set()).add(answer.said[0])
        for user, rows in rows_of.items():
            one = next(iter(rows))
            if len(rows) == 1 and one in manifest.annotators and users_of[one] == {user}:
                self.taken[user] = one

    def of(self, answer: Answer) -> str | Nobody:
        """Return who gave an answer, or why that is not known."""
        known = self._known(answer)
        if known is not None:
            return known
        if not answer.said:
            written = self._manifest.files.get(_base(answer))
            whose = answer.assigned or (written.annotator if written is not None else None)
            fill_in = " Fill in `annotator`, or say whose it is by "
            return whose or Nobody("nobody", ("it does not say who judged.", fill_in, *naming(_base(answer))))
        user = answer.said[0]
        if user in self.taken:
            return self.taken[user]
        people = self._manifest.annotators
        what = f"{shown(user)} is none of the annotators {examples(people, 6)}.{did_you_mean(user, people)}"
        return Nobody(f"user {user}", (what, " Say who it is by ", *naming(user)))

    def _known(self, answer: Answer) -> str | None:
        for name in _names(answer):
            if name in self._given:
                return self._given[name]
        # a file that is called as somebody is, as Doccano's are of an archive that was unpacked
        stem = answer.source.stem
        said = answer.said or ((stem,) if stem in self._manifest.annotators else ())
        for name in said:
            for form in (name, restored(name)):
                if not self._manifest.named or form in self._manifest.annotators:
                    return form
        return None


def naming(name: str) -> tuple[Part, ...]:
    """Return the advice to say who somebody is that a tool or a file calls by a name."""
    return Option("annotators", ...), Aside(str({name: "NAME"})), "."


def _names(answer: Answer) -> tuple[str, ...]:
    """Return by what names a user may say whose an answer is, the one that says most first."""
    return (*answer.said, answer.source.name, _base(answer), answer.source.stem)


def _base(answer: Answer) -> str:
    return answer.source.name.rpartition(", ")[2].rpartition("/")[2]
