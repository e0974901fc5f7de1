"""import_labels: files that people judged come back, and become labels with all that is known of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Annotated, Any

import pandas as pd

from pt_reuse._files import read_file, user_path
from pt_reuse.columns import Table
from pt_reuse.data.frame_columns import row_in_words
from pt_reuse.data.judgments import Qrels
from pt_reuse.errors import InputError, count, did_you_mean, examples, flag, located, shown, warn
from pt_reuse.judging.people.export import (
    MANIFEST,
    RETURNED,
    SHEET,
    Manifest,
    Pair,
    read_manifest,
    read_sheet,
    restored,
    storable,
)
from pt_reuse.result import Result

#: files that are read, by how they end
ENDINGS = (".csv", ".tsv", ".txt", ".json")


@dataclass(frozen=True)
class Answer:
    """What a row of a file says, and where it stands."""

    file: str
    place: str
    pair: str  # its name, "" where there is none
    qid: str | None  # as it stands there
    docno: str | None
    task: str
    assigned: str  # for whom the row was written, "" for nobody
    said: tuple[str, ...]  # who gave the label by what stands there, the best name first
    labels: tuple[Any, ...]  # what was chosen
    note: str
    time: str  # ISO 8601, UTC
    seconds: float | None  # how long it took

    @property
    def where(self) -> str:
        return f"{self.file}, {self.place}"

    @property
    def names(self) -> tuple[str, ...]:
        """Return by what names a user may say whose it is, the one that says most first."""
        return (*self.said, self.file, Path(self.file).name, Path(self.file).stem)


def read_answers(path: Path, name: str) -> list[Answer]:
    """Return what stands in a file: a sheet, or what Label Studio exports."""
    ending = path.suffix.lower()
    with located(name):
        if ending not in ENDINGS:
            raise InputError(f"no file that can be read. Save a sheet as CSV; read are {', '.join(ENDINGS)}.")
        try:
            data = read_file(path)
            written = utc(datetime.fromtimestamp(path.stat().st_mtime, timezone.utc))
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror or error}.") from error
        if ending != ".json":
            return [_answer(row, row, f"line {line:,}", name, written) for line, row in read_sheet(data)]
        try:
            records = json.loads(data.decode("utf-8-sig", "replace"))
        except (ValueError, RecursionError) as error:
            raise InputError(f"no JSON ({error}). Export the file once more.") from error
        found: list[Answer] = []
        # Label Studio saves one task by itself
        for n, record in enumerate(records if isinstance(records, list) else [records], 1):
            try:
                found += _of_label_studio(record, f"record {n:,}", name, written)
            except (LookupError, TypeError, ValueError, AttributeError) as error:
                odd = f"no record that Label Studio exports as JSON, got {shown(record)}. Export it once more."
                raise InputError(odd, place=f"record {n:,}") from error
        return found


def _of_label_studio(record: Any, place: str, file: str, written: str) -> Iterator[Answer]:
    """Yield an answer for each annotation of a task, and one without a label where there is none."""
    for annotation in record["annotations"] or [{}]:
        said: dict[str, Any] = {"annotator": annotation.get("completed_by"), "label": [], "note": []}
        for part in annotation.get("result") or []:
            # there may be questions that the user added
            if part.get("from_name") in ("label", "note"):
                said[part["from_name"]] += part["value"].get("choices", part["value"].get("text", []))
        at = f"{place}, annotation {annotation['id']}" if "id" in annotation else place
        yield _answer(record["data"], {**annotation, **said}, at, file, written)


def _answer(ids: Mapping[str, Any], said: Mapping[str, Any], place: str, file: str, written: str) -> Answer:
    """Return the answer of a row: by its ids what it is of, and what somebody said."""
    who = said.get("annotator")
    people = [who.get(name) for name in ("email", "username", "id")] if isinstance(who, Mapping) else [who]
    times = [time for time in map(_time, (said.get("updated_at"), said.get("created_at"))) if time is not None]
    # a sheet has one of each, and a task that somebody skipped has no label
    notes, labels = (one if isinstance(one, list) else [one] for one in (said.get("note"), said.get("label")))
    skipped = said.get("was_cancelled") is True
    note = "\n".join(str(one) for one in notes if one is not None)
    return Answer(
        file=file,
        place=place,
        pair=str(ids.get("pair") or "").strip(),
        qid=None if ids.get("qid") is None else str(ids["qid"]),
        docno=None if ids.get("docno") is None else str(ids["docno"]),
        task=str(ids.get("task") or "").strip(),
        assigned=str(ids.get("assigned") or ""),
        said=tuple(str(name) for name in people if name is not None and str(name).strip()),
        labels=tuple(label for label in labels if label is not None and str(label).strip() and not skipped),
        # half a pair of surrogates, which JSON can say, cannot be written to a file
        note=note.encode("utf-16", "surrogatepass").decode("utf-16", "replace"),
        time=times[0] if times else written,
        seconds=_took(said.get("lead_time", said.get("seconds"))),
    )


def _time(said: Any) -> str | None:
    """Return a time as ISO 8601 in UTC, None where it is none; one without a zone is taken for UTC."""
    try:
        found = datetime.fromisoformat(str(said).strip().replace("Z", "+00:00"))
        return utc(found if found.tzinfo else found.replace(tzinfo=timezone.utc))
    except (ValueError, OverflowError):  # no date in UTC is before the year 1
        return None


def _took(value: Any) -> float | None:
    try:
        seconds = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return seconds if 0 <= seconds < float("inf") else None


def utc(moment: datetime) -> str:
    """Return a moment as ISO 8601 in UTC, to the second."""
    return moment.astimezone(timezone.utc).isoformat(timespec="seconds")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ReturnedLabels(Result):
    """The labels of people, made by :func:`~pt_reuse.judging.import_labels`; several may have judged one document.

    Attributes:
        table: one row per label: ``qid docno label annotator time strategy round reason note``, ``seconds`` that it
            took where Label Studio says so (its ``lead_time``), and what else the pool knew of the document (under
            ``pool_...`` where its column had a name of ours). ``time`` is ISO 8601 in UTC: that of Label Studio, else
            when the file was last written.
        missing: one row per missing label: ``qid docno annotator round note``; ``annotator`` is None where anybody may
            answer, ``note`` what somebody wrote who gave no label.
        settings: task, format, files, and as whom users of a tool count.
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

    def answers(self) -> list[str]:
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
            documents = count(len(several.drop_duplicates(["qid", "docno"])), "document")
            such = f"{documents} judged by several annotators, such as {row_in_words(several.iloc[0])}"
            raise InputError(f"{such}. Make one label of theirs by majority_vote(labels.table).")
        if bare := sorted(set(self.missing["qid"]) - set(self.table["qid"])):
            warn(f"{count(len(bare), 'topic')} without any label yet, left out of the judgments: {examples(bare)}.")
        return Qrels(self.table.rename(columns={"annotator": "judge"}), rel=rel)


#: what is mended on the way: what it is of -> what was done
_MENDED = {"id": "changed by a spreadsheet, restored by the names of the pairs", "label": "twice alike, counted once"}
#: what begins names that systems and programs give to files of their own
_HIDDEN = (".", "~$")
#: faults that a message lists
_LISTED = 30


class _Check:
    """Checks answers one after the other, and gathers what it finds; `given` says who users of a tool are."""

    def __init__(self, manifest: Manifest, answers: Sequence[Answer], given: Mapping[str, str]):
        self.manifest, self._given = manifest, given
        self.labels: dict[tuple[str, str], tuple[int, Answer]] = {}  # (name of the pair, annotator) -> label
        self.faults: list[InputError] = []
        self.faulty: set[str] = set()  # names of the pairs with an answer that cannot be used
        self.whole = True  # whether no file was left out as a whole
        self.mended: dict[str, list[str]] = {noun: [] for noun in _MENDED}
        self._told: set[tuple[str, str]] = set()
        #: (name of the pair, annotator, "" for anybody) -> what was written in place of a label
        self.notes: dict[tuple[str, str], str] = {}
        self._topics = {pair.qid: i for i, pair in enumerate(manifest.pairs)}
        self._known = {"topic": {qid for qid, _ in manifest.by_ids}, "document": {d for _, d in manifest.by_ids}}
        answers = [answer for answer in answers if self._is_of_the_task(answer)]
        #: by which names users and files are called
        self.names = {name for answer in answers for name in answer.names}
        people = manifest.annotators
        both = {(one.said[0], one.assigned) for one in answers if people and one.said and self._named(one) is None}
        users, rows = (Counter(pair[side] for pair in both) for side in (0, 1))
        #: user of a tool -> the one for whom all rows were written that only this user answered
        self.taken = {user: one for user, one in both if users[user] == rows[one] == 1 and one in people}
        for answer in answers:
            pair = manifest.by_name.get(answer.pair)
            try:
                pair = self._pair(answer)
                self._take(answer, pair)
            except InputError as fault:
                self._refuse(answer, fault.text)
                self.faulty |= set() if pair is None else {pair.name}

    def place(self, row: Sequence[Any]) -> tuple[int, str, str]:
        """Return where a row stands that begins with a pair and an annotator: topic by topic."""
        return self._topics[row[0].qid], row[0].docno, row[1] or ""

    def missing(self) -> Iterator[tuple[Pair, str | None]]:
        """Yield what was asked and has no label: the pair, and the annotator; None for anybody."""
        n_labels = Counter(name for name, _ in self.labels)
        for pair in self.manifest.pairs:
            if self.manifest.annotators:
                yield from ((pair, who) for who in pair.asked if (pair.name, who) not in self.labels)
            else:
                yield from [(pair, None)] * (pair.wanted - n_labels[pair.name])

    def _refuse(self, answer: Answer, text: str) -> None:
        # what is the same of each row of a file is told once
        if (answer.file, text) not in self._told:
            self._told.add((answer.file, text))
            self.faults.append(InputError(text, place=answer.where))

    def _is_of_the_task(self, answer: Answer) -> bool:
        """Return whether an answer says something of a pair of the task; what has no label says nothing."""
        if answer.task and answer.task != self.manifest.task:
            other = f"of another task, {shown(answer.task)}, where this folder's is {shown(self.manifest.task)}."
            self._refuse(answer, f"{other} Import a file with the folder of its own task.")
        elif not answer.pair and (answer.qid is None or answer.docno is None):
            self._refuse(answer, "no `pair`, and not both `qid` and `docno`. Keep what stands beside the texts.")
        else:
            if not answer.labels and answer.note:
                self.notes[answer.pair, answer.assigned] = answer.note
            return bool(answer.labels)
        self.whole = False
        return False

    def _pair(self, answer: Answer) -> Pair:
        """Return the pair that an answer is about; raise where it is none of the task, or another than it says."""
        pair = self.manifest.by_name.get(answer.pair)
        if pair is None:
            alike = self.manifest.by_ids.get((restored(answer.qid or ""), restored(answer.docno or "")), [])
            if len(alike) == 1:
                return alike[0]
            what = f"topic {shown(answer.qid)}, document {shown(answer.docno)} is no pair of the task."
            raise InputError(f"{what} Take the row out, or put back its ids as they were written.")
        for what, stands, was in (("topic", answer.qid, pair.qid), ("document", answer.docno, pair.docno)):
            if stands is None or storable(was) in (stands, restored(stands)):
                continue
            # an id of another pair of the task was moved; any other one a program changed
            if restored(stands) in self._known[what]:
                wrong = f"{what} {shown(stands)} stands beside pair {pair.name}, which is {pair.words}."
                advice = "Put back the ids of the row as they were written: cells may have been moved."
                raise InputError(f"{wrong} {advice}")
            self.mended["id"].append(f"{answer.where}: {shown(stands)} is {what} {shown(was)}")
        return pair

    def _take(self, answer: Answer, pair: Pair) -> None:
        """Keep the label of an answer, or raise where it is none, or of somebody else, or another than before."""
        label = self.manifest.scale.read(answer.labels[0]) if len(answer.labels) == 1 else None
        if label is None:
            what = f"{pair.words} has {count(len(answer.labels), 'label')}, {examples(answer.labels)}."
            raise InputError(f"{what} Give one of {self.manifest.scale}, as a number or in words.")
        annotator = self._annotator(answer)
        if self.manifest.annotators and annotator not in pair.asked:
            what = f"{pair.words} was asked of {examples(pair.asked, 6)}, not of {shown(annotator)}."
            raise InputError(f"{what} Take the row out, or say who it was by annotators=.")
        key = pair.name, annotator
        old, older = self.labels.setdefault(key, (label, answer))
        if old != label:
            what = f"{shown(annotator)} gives {pair.words} label {label}, but {old} in {older.where}."
            raise InputError(f"{what} Leave the label that is meant.")
        if older is not answer:
            self.mended["label"].append(f"{answer.where} and {older.where}")
            self.labels[key] = label, min(answer, older, key=lambda one: one.time)

    def _named(self, answer: Answer) -> str | None:
        """Return the annotator whom an answer names, or a user's ``annotators=`` for it."""
        named = (self._given[name] for name in answer.names if name in self._given)
        people = self.manifest.annotators
        forms = (form for name in answer.said for form in (name, restored(name)) if not people or form in people)
        return next(named, None) or next(forms, None)

    def _annotator(self, answer: Answer) -> str:
        """Return who gave an answer; raise where nobody knows."""
        file, people = Path(answer.file).name, self.manifest.annotators
        found = self._named(answer)
        if found is None and answer.said:
            user = answer.said[0]
            found = self.taken.get(user)
            unknown = f"{shown(user)} is none of the annotators {examples(people, 6)}.{did_you_mean(user, people)} "
            unknown += f"Say who it is by annotators={ ({user: 'NAME'}) }."
        elif found is None:
            # of tasks that anybody may do, a file without a name is of one person
            found = answer.assigned or self.manifest.files.get(file) or ("" if people else Path(file).stem)
            unknown = f"it does not say who judged. Fill in `annotator`, or give annotators the pair {file!r}, 'NAME'."
        if not found:
            raise InputError(unknown)
        return found


def _first(texts: Sequence[str]) -> str:
    return "; ".join(texts[:3]) + (f"; and {len(texts) - 3:,} more" if len(texts) > 3 else "")


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
    The same label twice counts once, with a warning. Sheets may be saved by any spreadsheet program; an id that it
    changed, such as to a date, is restored by the name of its pair, with a warning.

    Args:
        folder: the folder that :func:`~pt_reuse.judging.export_tasks` wrote.
        files: files that came back, or folders of such: sheets as CSV, or what Label Studio exports as JSON, CSV or
            TSV. Default: the sheets themselves, and all in the folder ``returned`` of `folder`.
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
        >>> pool, folder = pd.DataFrame({"qid": ["1"], "docno": ["d1"]}), tempfile.mkdtemp()
        >>> shown = {"topics": {"1": "a query"}, "texts": {"d1": "A text."}}
        >>> _ = ptr.judging.export_tasks(pool, folder, **shown, annotators=["ann"])
        >>> rows = pd.read_csv(f"{folder}/ann-round1.csv", dtype=str)
        >>> rows.assign(label="relevant").to_csv(f"{folder}/ann-round1.csv", index=False)
        >>> ptr.judging.import_labels(folder).to_qrels()
        Qrels: 1 topic, 1 judgment, 1 relevant (labels 1: 1)
    """
    flag("partial", partial)
    given = {} if annotators is None else annotators
    if not isinstance(given, Mapping) or not all(isinstance(name, str) and name for name in given.values()):
        what = "a dict of a tool's user or a file's name -> annotator"
        raise InputError(f"annotators must be {what}, got {shown(annotators)}.", argument="annotators")
    given = {str(user): name for user, name in given.items()}
    if not isinstance(folder, str | Path) or not str(folder) or "\0" in str(folder):
        raise InputError(f"folder must be a folder's path, got {shown(folder)}.", argument="folder")
    home = user_path(folder)
    manifest = read_manifest(home)
    people = examples(manifest.annotators, 6)
    if strangers := [name for name in given.values() if manifest.annotators and name not in manifest.annotators]:
        raise InputError(f"annotators must be of {people}, got {examples(strangers)}.", argument="annotators")
    answers: list[Answer] = []
    faults: list[InputError] = []
    paths = list(dict.fromkeys(_paths(home, files, manifest)))
    for path in paths:
        try:
            answers += read_answers(path, path.relative_to(home).as_posix() if path.is_relative_to(home) else str(path))
        except InputError as error:
            faults.append(error)
    check = _Check(manifest, answers, given)
    unused = [name for name in given if name not in check.names]
    if unused and not faults:
        problem = f"annotators has {examples(unused)}, which no file and no tool says. "
        raise InputError(f"{problem}There is {examples(sorted(check.names), 8)}.", argument="annotators")
    missing = list(check.missing())
    if not partial and not faults and check.whole:
        # what a fault stands in the way of is not told twice
        of: dict[str, list[str]] = {}
        for pair, who in missing:
            if pair.name not in check.faulty:
                of.setdefault("anybody" if who is None else shown(who), []).append(pair.words)
        for who, words in of.items():
            problem = f"{count(len(words), 'label')} missing: {_first(words)}. "
            advice = "Wait for the rest, or pass partial=True to take what is there."
            faults.append(InputError(problem + advice, place=f"asked of {who}"))
    faults += check.faults
    if faults:
        raise InputError.listing(faults, f"{count(len(faults), 'fault')} in what came back:", most=_LISTED)
    for noun, mended in check.mended.items():
        if mended:
            warn(f"{count(len(mended), noun)} {_MENDED[noun]}: {_first(mended)}.")
    lacking = [
        (pair.qid, pair.docno, who, pair.round, check.notes.get((pair.name, who or ""), ""))
        for pair, who in sorted(missing, key=check.place)
    ]
    columns = ["qid", "docno", "annotator", "round", "note"]
    return ReturnedLabels(
        table=_table(check),
        missing=pd.DataFrame(lacking, columns=columns, dtype=object).astype({"round": "int64"}),
        settings={
            "task": manifest.task,
            "format": manifest.form,
            "files": len(paths),
            "rounds": manifest.rounds,
            "users": ", ".join(f"{user}={who}" for user, who in sorted(check.taken.items())) or "as named",
        },
    )


def _table(check: _Check) -> pd.DataFrame:
    """Return the labels, topic by topic, with what is known of them."""
    found = [(check.manifest.by_name[name], who, *said) for (name, who), said in check.labels.items()]
    found.sort(key=check.place)
    table = pd.DataFrame(
        [(p.qid, p.docno, label, who, a.time, p.strategy, p.round, p.reason, a.note) for p, who, label, a in found],
        columns=["qid", "docno", "label", "annotator", "time", "strategy", "round", "reason", "note"],
        dtype=object,
    ).astype({"label": "int64", "round": "int64"})
    took = [answer.seconds for *_, answer in found]
    if any(seconds is not None for seconds in took):
        table["seconds"] = pd.Series(took, dtype="float64")
    own = {*table, "judge"}
    for name in dict.fromkeys(name for pair, *_ in found for name in pair.further):
        values = [pair.further.get(name) for pair, *_ in found]
        numbers = all(isinstance(value, float) or value is None for value in values)
        table[f"pool_{name}" if name in own else name] = pd.Series(values, dtype="float64" if numbers else object)
    return table


def _paths(home: Path, files: Any, manifest: Manifest) -> list[Path]:
    """Return the files that came back, each of which exists."""
    if files is None:
        sheets = [home / name for name in manifest.files if manifest.form == SHEET]
        found = [*(path for path in sheets if path.is_file()), *_inside(home / RETURNED)]
        beside = [path for path in home.iterdir() if path.is_file() and path.name not in (MANIFEST, *manifest.files)]
        # every row of the task bears its name
        unread = sorted(path.name for path in beside if manifest.task.encode() in read_file(path))
        if unread:
            warn(f"{examples(unread)} of this task not read. Put what came back into {RETURNED}, or name it by files=.")
        if not found:
            advice = f"Put what people or the tool give you into its folder {RETURNED}."
            raise InputError(f"{home} has no file that came back. {advice}", argument="folder")
        return found
    listed = [files] if isinstance(files, str | Path) else list(files) if isinstance(files, Iterable) else []
    if not listed or not all(isinstance(path, str | Path) and str(path) for path in listed):
        raise InputError(f"files must be paths of files or folders, got {shown(files)}.", argument="files")
    of_path = {path: [path] if path.is_file() else _inside(path) for path in map(user_path, listed)}
    if empty := [path for path, inside in of_path.items() if not inside]:
        raise InputError(f"{empty[0]} is no file, and no folder with a file.", argument="files")
    return [path for inside in of_path.values() for path in inside]


def _inside(folder: Path) -> list[Path]:
    paths = sorted(folder.rglob("*")) if folder.is_dir() else []
    visible = [path for path in paths if not any(p.startswith(_HIDDEN) for p in path.relative_to(folder).parts)]
    return [path for path in visible if path.is_file()]
