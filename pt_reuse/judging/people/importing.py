"""Importing: files that people judged come back, and become labels with all that is known of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, NamedTuple

import pandas as pd

from pt_reuse._check import count, did_you_mean, examples, flag, shown
from pt_reuse._files import open_file, user_path
from pt_reuse.columns import Table
from pt_reuse.data.judgments import Qrels
from pt_reuse.data.packed_files import UnreadableError, read_members
from pt_reuse.errors import InputError, located, warn
from pt_reuse.judging.people.manifest import (
    RETURNED,
    Manifest,
    Pair,
    changed_by_sheet,
    read_manifest,
    read_sheet,
    restored,
    storable,
)
from pt_reuse.result import Result

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
    seconds: float | None = None  # how long it took, by what the tool says
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
            raise InputError(f"must be a list of records, got {shown(found)}. Export it once more.")
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
        raise InputError(f"must be a record with 'label', got {shown(record)}.", place=place)
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
        problem = f"{what} of {of} must be {expected}, got {shown(value)}. Export it once more."
        raise InputError(problem, place=answer.place)
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
    """Return an answer with the times that a tool says, else with that of the file, and with what is no time."""
    answer = replace(answer, seconds=_took(row.get("lead_time", row.get("seconds"))))
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


def _took(value: Any) -> float | None:
    """Return a number of seconds, None where it is none."""
    try:
        seconds = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return seconds if 0 <= seconds < float("inf") else None


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

    def unknown(self, answer: Answer) -> str:
        if not answer.said:
            return f"it does not say who judged. Fill in `annotator`, or say whose it is by {naming(answer.file)}"
        user, people = answer.said[0], self._manifest.annotators
        what = f"{shown(user)} is none of the annotators {examples(people, 6)}.{did_you_mean(user, people)}"
        return f"{what} Say who it is by {naming(user)}"

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


def naming(name: str) -> str:
    """Return the advice to say who somebody is that a tool or a file calls by a name."""
    return f"annotators={dict([(name, 'NAME')])}."


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ReturnedLabels(Result):
    """The labels of people, made by :func:`~pt_reuse.judging.import_labels`; several may have judged one document.

    Attributes:
        table: one row per label: ``qid docno label annotator time strategy round reason note``, ``seconds`` that it
            took where a tool says so (``lead_time`` of Label Studio), and what else the pool knew of the document
            (under ``pool_...`` where its column had a name of ours). ``time`` is ISO 8601 in UTC: that of the tool if
            it keeps one, else the time when the file was last written.
        missing: one row per missing label: ``qid docno annotator round skipped note``; ``annotator`` is None where
            anybody may answer, ``skipped`` says that somebody saw the pair and gave no label.
        scale: the labels that could be given: ``label word``.
        settings: task, format, files, and what was repaired.
    """

    title = "ReturnedLabels"
    derived = {"by_annotator": "by_annotator"}
    columns = """
    annotator | Annotator |       | who judged
    labels    | Labels    | count | how many labels were given
    missing   | Missing   | count | how many are missing
    """
    valid_for = "the files of task {task} as they were read."
    not_covered = "whether annotators agree, and which label is right."
    missing: pd.DataFrame
    scale: pd.DataFrame

    def answers(self) -> list[str]:
        """Return how many labels there are, and how many are missing."""
        people = count(self.table["annotator"].nunique(), "annotator")
        pairs = count(len(self.table.drop_duplicates(["qid", "docno"])), "document")
        return [f"{count(len(self.table), 'label')} of {people} for {pairs}, {len(self.missing):,} missing"]

    def by_annotator(
        self,
    ) -> Annotated[pd.DataFrame, Table("annotator", "annotator topics labels missing", noun="annotators")]:
        """Return how many labels each annotator gave, over how many topics, and how many are missing."""
        lacking = self.missing["annotator"].map(lambda who: "anybody" if who is None else who)
        people = list(dict.fromkeys([*sorted(self.table["annotator"]), *sorted(lacking)]))
        given = self.table.groupby("annotator")["qid"]
        counts = {"topics": given.nunique(), "labels": given.size(), "missing": lacking.value_counts()}
        found = {name: n.reindex(people, fill_value=0).to_numpy() for name, n in counts.items()}
        return pd.DataFrame({"annotator": people, **found})

    def to_qrels(self, *, rel: int | None = None) -> Qrels:
        """Return the labels as judgments, if one person judged each document.

        Args:
            rel: the lowest label that is relevant; None: not stated, which counts as 1.

        Returns:
            Qrels: one judgment per document, with ``judge time strategy round reason note`` and what else the pool knew
            of it. Topics without any label yet are left out. For a sample (:func:`~pt_reuse.pools.sample_pool`)
            estimates also need the documents that were not sampled: use ``sample.judge(labels.to_qrels())``.

        Raises:
            InputError: a document that several judged, no label at all.
        """
        if not len(self.table):
            raise InputError("there is no label yet.")
        several = self.table[self.table.duplicated(["qid", "docno"], keep=False)]
        if len(several):
            qid, docno = several.iloc[0][["qid", "docno"]]
            n = len(several.drop_duplicates(["qid", "docno"]))
            raise InputError(
                f"{count(n, 'document')} judged by several annotators, such as topic {shown(qid)}, document "
                f"{shown(docno)}. Make one label of theirs by majority_vote(labels.table)."
            )
        bare = sorted(set(self.missing["qid"]) - set(self.table["qid"]))
        if bare:
            warn(f"{count(len(bare), 'topic')} without any label yet, left out of the judgments: {examples(bare)}.")
        return Qrels(self.table.rename(columns={"annotator": "judge"}), rel=rel)


#: what is mended on the way: what it is of -> what was done
_MENDED = {
    "id": "changed by a spreadsheet, restored by the names of the pairs",
    "time": "that cannot be read, taken to be when the file was written",
    "label": "twice alike, counted once",
}


class _Check:
    """Checks answers one after the other, and gathers what it finds."""

    def __init__(self, manifest: Manifest):
        self.manifest = manifest
        self.labels: dict[tuple[str, str], tuple[int, Answer]] = {}  # (name of the pair, annotator) -> label
        self.skipped: dict[tuple[str, str], str] = {}  # the note where somebody gave no label
        self.faults: list[InputError] = []
        self.faulty: set[str] = set()  # names of the pairs with an answer that cannot be used
        self.whole = True  # whether no file was left out as a whole
        self.mended: dict[str, list[str]] = {noun: [] for noun in _MENDED}
        self._told: set[tuple[str, str]] = set()

    def take(self, answers: Sequence[Answer], given: Mapping[str, str]) -> Annotators:
        """Take the labels of answers; return who gave them."""
        answers = [answer for answer in answers if self._is_of_the_task(answer)]
        people = Annotators(self.manifest, given, answers)
        for answer in answers:
            pair = self._pair(answer)
            if pair is not None and answer.odd_time is not None:
                self.mended["time"].append(f"{answer.where}: {shown(answer.odd_time)} for {pair.words}")
            if pair is not None and not self._is_taken(answer, pair, people):
                self.faulty.add(pair.name)
        return people

    def missing(self) -> Iterator[tuple[Pair, str | None]]:
        """Yield what was asked and has no label: the pair, and the annotator; None for anybody."""
        n_labels = Counter(name for name, _ in self.labels)
        for pair in self.manifest.pairs:
            if self.manifest.named:
                yield from ((pair, who) for who in pair.asked if (pair.name, who) not in self.labels)
            else:
                yield from [(pair, None)] * (pair.wanted - n_labels[pair.name])

    def _is_of_the_task(self, answer: Answer) -> bool:
        """Return whether an answer says which pair of the task it is about; what has no label says nothing."""
        if answer.task and answer.task != self.manifest.task:
            other = f"of another task, {shown(answer.task)}, where this folder's is {shown(self.manifest.task)}."
            self._once(answer, answer.task, f"{other} Import a file with the folder of its own task.")
        elif answer.is_unanswered:
            return False
        elif not answer.pair and (answer.qid is None or answer.docno is None):
            advice = " Keep what stands beside the texts."
            self._once(answer, "ids", f"no `pair`, and not both `qid` and `docno`.{advice}")
        else:
            return bool(answer.labels) or answer.skipped
        self.whole = False
        return False

    def _is_taken(self, answer: Answer, pair: Pair, people: Annotators) -> bool:
        label = None if answer.skipped else self._label(answer, pair)
        if label is None and not answer.skipped:
            return False
        annotator = people.of(answer)
        if annotator is None:
            return self._once(answer, f"user {answer.said[:1]}", people.unknown(answer))
        if self.manifest.named and annotator not in pair.asked:
            what = f"{pair.words} was asked of {examples(pair.asked, 6)}, not of {shown(annotator)}."
            advice = f" Take the row out, or say who it was by {naming(answer.said[0] if answer.said else 'FILE')}"
            return self._refused(answer, f"{what}{advice}")
        if label is None:
            self.skipped.setdefault((pair.name, annotator), answer.note)
            return True
        old, older = self.labels.get((pair.name, annotator), (label, None))
        if older is not None and old != label:
            what = f"{shown(annotator)} gives {pair.words} label {label}, but {old} in {older.where}."
            return self._refused(answer, f"{what} Leave the label that is meant.")
        if older is not None:
            self.mended["label"].append(f"{answer.where} and {older.where}")
        if older is None or answer.time < older.time:
            self.labels[pair.name, annotator] = label, answer
        return True

    def _pair(self, answer: Answer) -> Pair | None:
        """Return the pair that an answer is about, None where it is none of the task, or another than it says."""
        pair = self.manifest.by_name.get(answer.pair)
        if pair is None:
            by_ids = self.manifest.by_ids.get((restored(answer.qid or ""), restored(answer.docno or "")), [])
            if len(by_ids) == 1:
                return by_ids[0]
            what = f"topic {shown(answer.qid)}, document {shown(answer.docno)} is no pair of the task."
            self._refused(answer, f"{what} Take the row out, or put back its ids as they were written.")
            return None
        qid, docno = storable(pair.qid), storable(pair.docno)
        for what, stands, was in (("topic", answer.qid, qid), ("document", answer.docno, docno)):
            if stands is None or was in (stands, restored(stands)):
                continue
            # what is another pair of the task was rather moved than changed
            other = (qid, restored(stands)) if what == "document" else (restored(stands), docno)
            if other in self.manifest.by_ids or (stands.strip() and not changed_by_sheet(stands, was)):
                wrong = f"{what} {shown(stands)} stands beside pair {pair.name}, which is {pair.words}."
                advice = " Put back the ids of the row as they were written: cells may have been moved."
                self._refused(answer, f"{wrong}{advice}")
                self.faulty.add(pair.name)
                return None
            self.mended["id"].append(f"{answer.where}: {shown(stands)} is {what} {shown(was)}")
        return pair

    def _label(self, answer: Answer, pair: Pair) -> int | None:
        if len(answer.labels) > 1:
            what = f"{pair.words} has {count(len(answer.labels), 'label')}, {examples(answer.labels)}."
            advice = " Leave one. A tool gives one where a text may have a single label and annotations are not shared."
            self._refused(answer, f"{what}{advice}")
            return None
        label = self.manifest.scale.read(answer.labels[0])
        if label is None:
            what = f"{pair.words} has label {shown(answer.labels[0])}."
            self._refused(answer, f"{what} A label is one of {self.manifest.scale}, as a number or in words.")
        return label

    def _refused(self, answer: Answer, text: str) -> bool:
        self.faults.append(InputError(text, place=answer.where))
        return False

    def _once(self, answer: Answer, what: str, text: str) -> bool:
        """Tell what is the same of each row of a file, once."""
        if (answer.source.name, what) not in self._told:
            self._told.add((answer.source.name, what))
            self._refused(answer, text)
        return False


def _missing_faults(missing: Iterable[tuple[Pair, str | None]]) -> Iterator[InputError]:
    """Yield a fault for each annotator who has not given all labels."""
    of: dict[str | None, list[str]] = {}
    for pair, annotator in missing:
        of.setdefault(annotator, []).append(pair.words)
    for annotator, pairs in of.items():
        yield InputError(
            f"{count(len(pairs), 'label')} missing: {_first(pairs)}. Wait for the rest, or pass partial=True to "
            "take what is there.",
            place=f"asked of {'anybody' if annotator is None else shown(annotator)}",
        )


def _first(texts: Sequence[str]) -> str:
    return "; ".join(texts[:3]) + (f"; and {len(texts) - 3:,} more" if len(texts) > 3 else "")


#: what begins names that systems and programs give to files of their own
_HIDDEN = (".", "~$")
#: faults that a message lists
_LISTED = 30


def import_labels(
    folder: str | Path,
    files: str | Path | Iterable[str | Path] | None = None,
    *,
    annotators: Mapping[str, str] | None = None,
    partial: bool = False,
) -> ReturnedLabels:
    """Read the labels that people gave to the tasks of a folder, and check them against the tasks.

    All faults are reported together: pairs that are not in the task, ids moved to other rows, labels outside the scale,
    two labels of one annotator for one document, rows of another task or of somebody who was not asked, missing labels.
    The same label twice counts once, with a warning. A label is a number or a word of the scale.

    Files may be saved by any spreadsheet program: with commas, semicolons or tabs, with or without a UTF-8 mark. An id
    that it changed to a number or a date is restored by the name of its pair, with a warning.

    Args:
        folder: the folder that :func:`~pt_reuse.judging.export_tasks` wrote.
        files: files that came back, or folders of such: CSV, JSONL, or what Doccano (JSONL, JSON, CSV, ZIP) and Label
            Studio (JSON, JSON-MIN, CSV, TSV) export. A ZIP may unpack to 100 MB, or to 100 times its size up to 8 GB,
            and have 10,000 members; all except hidden ones are read. Default: the task files themselves, where people
            write into them, and all in the folder ``returned`` of `folder`.
        annotators: a tool's user, or the name of a file without an annotator -> annotator. A user who has no
            annotator's name counts as the one for whom the rows were written, if that is unique.
        partial: import the labels that are there if others are missing; ``ReturnedLabels.missing`` lists these. Default
            is an error.

    Returns:
        ReturnedLabels: the labels with annotator, time, and why each document was judged.

    Raises:
        InputError: with all faults, in ``faults``, and the first of them in words.

    Example:
        >>> import pandas as pd, pt_reuse as ptr, tempfile
        >>> from pathlib import Path
        >>> pool = ptr.Pool.from_frame(pd.DataFrame({"qid": ["1"], "docno": ["d1"]}))
        >>> folder = Path(tempfile.mkdtemp())
        >>> shown = {"topics": {"1": "a query"}, "texts": {"d1": "A text."}}
        >>> _ = ptr.judging.export_tasks(pool, folder, **shown, annotators=["ann"])
        >>> sheet = folder / "ann-round1.csv"
        >>> rows = pd.read_csv(sheet, dtype=str)
        >>> rows.assign(label="relevant").to_csv(sheet, index=False)
        >>> labels = import_labels(folder)
        >>> labels.table[["qid", "docno", "label", "annotator", "strategy"]]
          qid docno  label annotator strategy
        0   1    d1      1       ann     None
        >>> labels.to_qrels()
        Qrels: 1 topic, 1 judgment, 1 relevant (labels 1: 1)
    """
    flag("partial", partial)
    given = _checked_annotators(annotators)
    if not isinstance(folder, str | Path) or not str(folder) or "\0" in str(folder):
        raise InputError(f"folder must be a folder's path, got {shown(folder)}.", argument="folder")
    home = user_path(folder)
    manifest = read_manifest(home)
    strangers = [name for name in given.values() if manifest.named and name not in manifest.annotators]
    if strangers:
        known = examples(manifest.annotators, 6)
        raise InputError(
            f"annotators must be those of the task, {known}, got {examples(strangers)}.", argument="annotators"
        )
    answers: list[Answer] = []
    faults: list[InputError] = []
    paths = list(dict.fromkeys(_paths(home, files, manifest)))
    for path in paths:
        try:
            answers += read_answers(path, path.relative_to(home).as_posix() if path.is_relative_to(home) else str(path))
        except InputError as error:
            faults.append(error)
    check = _Check(manifest)
    people = check.take(answers, given)
    unused = [name for name in given if name not in people.names]
    if unused and not faults:
        said = examples(sorted(people.names), 8)
        raise InputError(
            f"annotators has {examples(unused)}, which no file and no tool says. There is {said}.",
            argument="annotators",
        )
    missing = list(check.missing())
    if not partial and not faults and check.whole:
        # what a fault stands in the way of is not told twice
        faults += _missing_faults((pair, who) for pair, who in missing if pair.name not in check.faulty)
    faults += check.faults
    if faults:
        raise InputError.listing(faults, f"{count(len(faults), 'fault')} in what came back:", most=_LISTED)
    for noun, mended in check.mended.items():
        if mended:
            warn(f"{count(len(mended), noun)} {_MENDED[noun]}: {_first(mended)}.")
    return _result(check, people, missing, len(paths))


def _result(
    check: _Check, people: Annotators, missing: Sequence[tuple[Pair, str | None]], n_files: int
) -> ReturnedLabels:
    manifest = check.manifest
    place = {pair.qid: i for i, pair in enumerate(manifest.pairs)}
    labels = [(manifest.by_name[name], who, *found) for (name, who), found in check.labels.items()]
    labels.sort(key=lambda row: (place[row[0].qid], row[0].docno, row[1]))
    lacking = sorted(missing, key=lambda row: (place[row[0].qid], row[0].docno, row[1] or ""))
    by_anybody = {name for name, _ in check.skipped}
    rows = [
        (
            *(pair.qid, pair.docno, who, pair.round),
            pair.name in by_anybody if who is None else (pair.name, who) in check.skipped,
            check.skipped.get((pair.name, who or ""), ""),
        )
        for pair, who in lacking
    ]
    return ReturnedLabels(
        table=_table(labels),
        missing=_frame("qid docno annotator round skipped note", rows, {"round": "int64", "skipped": bool}),
        scale=pd.DataFrame(list(manifest.scale.words.items()), columns=["label", "word"]),
        settings={
            "task": manifest.task,
            "format": manifest.form.value,
            "files": n_files,
            "rounds": len(manifest.rounds),
            "users": ", ".join(f"{user}={who}" for user, who in sorted(people.taken.items())) or "as named",
            "ids_restored": len(check.mended["id"]),
            "labels_twice_alike": len(check.mended["label"]),
        },
    )


def _table(labels: Sequence[tuple[Pair, str, int, Answer]]) -> pd.DataFrame:
    table = _frame(
        "qid docno label annotator time strategy round reason note",
        [(p.qid, p.docno, label, who, a.time, p.strategy, p.round, p.reason, a.note) for p, who, label, a in labels],
        {"label": "int64", "round": "int64"},
    )
    took = [answer.seconds for *_, answer in labels]
    if any(seconds is not None for seconds in took):
        table["seconds"] = pd.Series(took, dtype="float64")
    own = {*table, "judge"}
    for name in dict.fromkeys(name for pair, *_ in labels for name in pair.further):
        values = [pair.further.get(name) for pair, *_ in labels]
        numbers = all(isinstance(value, float) or value is None for value in values)
        table[f"pool_{name}" if name in own else name] = pd.Series(values, dtype="float64" if numbers else object)
    return table


def _frame(columns: str, rows: Sequence[tuple[Any, ...]], dtypes: Mapping[str, Any]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=columns.split(), dtype=object).astype(dtypes)


def _checked_annotators(annotators: Any) -> dict[str, str]:
    given = {} if annotators is None else annotators
    if not isinstance(given, Mapping) or not all(isinstance(name, str) and name for name in given.values()):
        what = "a dict of a tool's user or a file's name -> annotator"
        raise InputError(f"annotators must be {what}, got {shown(annotators)}.", argument="annotators")
    return {str(user): name for user, name in given.items()}


def _paths(home: Path, files: Any, manifest: Manifest) -> list[Path]:
    """Return the files that came back, each of which exists."""
    if files is None:
        given_out = [home / name for name in manifest.files if manifest.form.filled_in_place]
        found = [*(path for path in given_out if path.is_file()), *_inside(home / RETURNED)]
        if not found:
            advice = f"Put what people or the tool give you into its folder {RETURNED}."
            raise InputError(f"{home} has no file that came back. {advice}", argument="folder")
        return found
    listed = [files] if isinstance(files, str | Path) else list(files) if isinstance(files, Iterable) else []
    if not listed or not all(isinstance(path, str | Path) and str(path) for path in listed):
        raise InputError(f"files must be paths of files or folders, got {shown(files)}.", argument="files")
    found = []
    for path in map(user_path, listed):
        inside = [path] if path.is_file() else _inside(path)
        if not inside:
            problem = "has no file" if path.is_dir() else "is no file or folder"
            raise InputError(f"{path} {problem}.", argument="files")
        found += inside
    return found


def _inside(folder: Path) -> list[Path]:
    paths = sorted(folder.rglob("*")) if folder.is_dir() else []
    visible = [path for path in paths if not any(p.startswith(_HIDDEN) for p in path.relative_to(folder).parts)]
    return [path for path in visible if path.is_file()]
