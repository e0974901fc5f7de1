"""export_tasks: documents for people, as sheets or for Label Studio, and the manifest that says what went out."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, TypeAlias
from xml.sax.saxutils import quoteattr

import numpy as np
import pandas as pd
import pyterrier as pt

from pt_reuse._files import Alone, alone, check_writable, checked_path, read_file, replacing
from pt_reuse._saving import CsvReader
from pt_reuse.arrays.lists import natural_order
from pt_reuse.arrays.prediction_powered import share_of
from pt_reuse.columns import Table
from pt_reuse.data.judgments import Qrels, as_qrels
from pt_reuse.data.packed_files import separator_of
from pt_reuse.errors import InputError, checked_seed, choice, count, examples, flag, listed, located, shown, warn
from pt_reuse.judge import is_label
from pt_reuse.judging.topic_texts import TOPIC_FIELDS, document_texts, shown_topics
from pt_reuse.pooling.pool import Pool, provenance_of
from pt_reuse.result import Result

#: what a spreadsheet may take for the beginning of a formula, as letters of full width, too
_FORMULA = "=+-@＝＋－＠"
#: what keeps a cell a text
_GUARD = "'"
#: characters that a cell holds in the spreadsheets in use; a longer one is cut, or spills into the next
LONGEST_CELL = 32_767
_UNSTORABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def drawn(seed: int, *names: str) -> str:
    """Return a random text for some names; an order by it tells nothing of the one in which things came."""
    # a length before each name, so that no two lists of names are one text
    parts = [f"{len(name)}:{name}" for name in (str(seed), *names)]
    return hashlib.sha256("".join(parts).encode("utf-8", "surrogateescape")).hexdigest()


def guarded(cell: str) -> str:
    """Return a text as a cell that no spreadsheet takes for a formula (OWASP, "CSV Injection")."""
    begins = cell.lstrip()[:1]
    needs = cell[:1] in ("\t", "\r", "\n", _GUARD) or (begins and begins in _FORMULA)
    return _GUARD + cell if cell and needs else cell


def restored(cell: str) -> str:
    """Return the text of a cell that was guarded."""
    return cell.removeprefix(_GUARD)


def storable(text: str) -> str:
    """Return a text with a mark for what databases, JSON and XML cannot hold: NUL, control characters, stray bytes."""
    text = _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", text)
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def sheet_text(text: str) -> str:
    """Return a text as a cell can hold it: cut where it is too long, without what no file can hold."""
    text = storable(text)
    if len(text) < LONGEST_CELL:
        return text
    kept = LONGEST_CELL - 60
    return f"{text[:kept]} [cut here: {len(text) - kept:,} more characters]"


def write_sheet(header: Sequence[str], rows: Iterable[Sequence[str]]) -> bytes:
    """Return rows of texts as CSV; it begins with the mark by which spreadsheets know UTF-8."""
    held = io.StringIO(newline="")
    writer = csv.writer(held)
    writer.writerow(header)
    writer.writerows([guarded(cell) for cell in row] for row in rows)
    return held.getvalue().encode("utf-8-sig")


def read_sheet(data: bytes) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the line and the cells of each row of a CSV file, as whatever program saved it, but for empty rows."""
    # what a spreadsheet writes above the header to say how cells are separated becomes an empty line
    text = re.sub(r"\Asep=.(?=[\r\n])", "", _decoded(data).replace("\0", ""))
    first = next((line for line in text.splitlines() if line.strip()), "")
    reader = CsvReader(io.StringIO(text, newline=""), delimiter=separator_of(first), strict=True)
    header, line = list[str](), 0
    try:
        for row in reader:
            at, line = line + 1, reader.line_num
            if not any(cell.strip() for cell in row):
                continue
            if not header:
                header = [cell.strip() for cell in row]
                if header.count("label") != 1:
                    break
                continue
            if any(cell.strip() for cell in row[len(header) :]):
                problem = f"{len(row)} cells under a header of {len(header)}. "
                advice = "Save the sheet as CSV once more, with quotes around texts."
                raise InputError(f"{problem}{advice}", place=f"line {at:,}")
            # programs leave out empty cells at the end
            yield at, dict(zip(header, [*row, *[""] * len(header)], strict=False))
    except csv.Error as error:
        problem = f"no CSV from here on ({error}). Save the sheet as CSV once more."
        raise InputError(problem, place=f"line {line + 1:,}") from error
    if header.count("label") != 1:
        problem = "no header that has 'label' once. Keep the first line as it was written."
        raise InputError(problem, place=f"line {line:,}")


def _decoded(data: bytes) -> str:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


#: the scale where nobody gives another
DEFAULT = {0: "not relevant", 1: "relevant"}
#: a number, and perhaps its word behind it: "1", "1.0", "1: relevant", "1 = relevant"
_NUMBERED = re.compile(r"(-?\d{1,5})(?:[.,]0+)?(?:\s*[-:=.)–—]?\s*(\D.*))?", re.DOTALL)


@dataclass(frozen=True)
class Scale:
    """The labels that people may give."""

    words: Mapping[int, str]

    @classmethod
    def of(cls, labels: Any) -> Scale:
        """Return a user's ``labels=``, or say what is wrong with them."""
        if is_judgments(labels):
            highest = max(int(as_qrels(labels, "labels").arrays.labels.max(initial=0)), 1)
            labels = DEFAULT if highest == 1 else {label: f"grade {label}" for label in range(highest + 1)}
        words = dict(labels) if isinstance(labels, Mapping) else {}
        odd = [label for label, word in words.items() if not (is_label(label) and label != -1 and _is_word(word))]
        plain = [] if odd else [_plain(word) for word in words.values()]
        if len(words) < 2 or odd or len(set(plain)) < len(plain):
            got = f"{shown(odd[0])}: {shown(words[odd[0]])}" if odd else shown(labels)
            what = f"a dict of two whole numbers or more (-1 means not judged) -> a word each, such as {DEFAULT}"
            raise InputError(f"labels must be {what}, got {got}.", argument="labels")
        return cls({int(label): " ".join(words[label].split()) for label in sorted(words)})

    def read(self, answer: Any) -> int | None:
        """Return the label that somebody's answer means, None where it is none of the scale."""
        if not isinstance(answer, str):
            number = isinstance(answer, int | float) and not isinstance(answer, bool)
            return int(answer) if number and answer in self.words else None
        by_word = {_plain(word): label for label, word in self.words.items()}
        if _plain(answer) in by_word:
            return by_word[_plain(answer)]
        found = _NUMBERED.fullmatch(answer.strip())
        label = int(found[1]) if found else None
        right = found and (found[2] is None or by_word.get(_plain(found[2])) == label)
        return label if right and label in self.words else None

    def __str__(self) -> str:
        return listed([f"{label} ({word})" for label, word in self.words.items()])


def is_judgments(labels: Any) -> bool:
    """Return whether labels are given by judgments that have them."""
    return isinstance(labels, Qrels | pd.DataFrame) or hasattr(labels, "to_qrels")


def _is_word(word: Any) -> bool:
    stripped = word.strip() if isinstance(word, str) else ""
    return bool(stripped and word.isprintable() and not _NUMBERED.fullmatch(stripped))


def _plain(word: str) -> str:
    return " ".join(word.split()).casefold()


#: the file that makes a folder one of tasks, and where files go that come back
MANIFEST, RETURNED = "tasks.json", "returned"
#: the forms of the files that people get
SHEET, LABEL_STUDIO = "csv", "label-studio"
_KIND = "tasks for people who judge"
#: a topic and a document
Key: TypeAlias = "tuple[str, str]"


@dataclass(frozen=True)
class Pair:
    """A document to be judged for a topic."""

    name: str  # in the files; no spreadsheet takes it for a number or a date
    qid: str
    docno: str
    wanted: int  # how many people are to judge it
    asked: tuple[str, ...]  # who was asked; empty where anybody may answer
    strategy: str | None
    round: int
    reason: str | None
    further: Mapping[str, Any]  # what else the pool knows of it

    @property
    def key(self) -> Key:
        return self.qid, self.docno

    @property
    def words(self) -> str:
        return f"topic {shown(self.qid)}, document {shown(self.docno)}"


@dataclass(frozen=True)
class Manifest:
    """What is known of a folder of tasks."""

    task: str  # that every file and every row bears, by which those of another task are known
    form: str
    scale: Scale
    instructions: str
    annotators: tuple[str, ...]  # who was named in any round; none where anybody may answer
    rounds: int
    files: Mapping[str, str | None]  # file -> the annotator whose it is
    pairs: tuple[Pair, ...]

    @cached_property
    def by_name(self) -> dict[str, Pair]:
        return {pair.name: pair for pair in self.pairs}

    @cached_property
    def by_ids(self) -> dict[Key, list[Pair]]:
        """Return (topic, document) as files have them -> the pairs that look like that there, mostly one."""
        found: dict[Key, list[Pair]] = {}
        for pair in self.pairs:
            found.setdefault((storable(pair.qid), storable(pair.docno)), []).append(pair)
        return found

    def write(self, folder: Path) -> None:
        """Write it; what was there stays until all of it is written."""
        text = json.dumps({**asdict(self), "kind": _KIND, "scale": self.scale.words}, indent=0)
        with replacing(folder / MANIFEST) as file:
            file.write(json.dumps({"checksum": _checksum(text), **json.loads(text)}, indent=0).encode("ascii"))


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of a folder of tasks."""
    with located(str(folder)):
        try:
            found = json.loads(read_file(folder / MANIFEST))
            checksum, kind = found.pop("checksum"), found["kind"]
            if kind != _KIND or checksum != _checksum(json.dumps(found, indent=0)):
                raise ValueError("not as it was written")
        except (FileNotFoundError, NotADirectoryError):
            problem = f"no tasks: it has no {MANIFEST}" if folder.is_dir() else "there is no such folder"
            raise InputError(f"{problem}. Give a folder that export_tasks() wrote.", argument="folder") from None
        except (OSError, ValueError, RecursionError, LookupError, TypeError, AttributeError) as error:
            problem = f"its {MANIFEST}, which says what was asked of whom, was changed or is damaged. "
            raise InputError(f"{problem}Put back the file as it was written.", argument="folder") from error
    del found["kind"]
    found["scale"] = Scale({int(label): word for label, word in found["scale"].items()})
    pairs = tuple(Pair(**{**pair, "asked": tuple(pair["asked"])}) for pair in found["pairs"])
    return Manifest(**{**found, "annotators": tuple(found["annotators"]), "pairs": pairs})


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode("ascii")).hexdigest()


#: the longest beginning of a file's name that an annotator's name makes
_LONGEST = 40
#: columns of a pool that are counted from its runs, which people are not to see
_COUNTED = ("rank", "runs", "teams", "types")
#: what anybody is called who may answer
_ANYBODY = ""


def file_name(annotator: str, number: int, ending: str) -> str:
    """Return the name of an annotator's file of a round; it has no character that a path or a system could mind."""
    plain = re.sub(r"[^A-Za-z0-9_-]+", "_", annotator)[:_LONGEST].strip("_-")
    if plain != annotator or plain != plain.lower():
        # what was changed may be what distinguished two names, as capitals do on some systems
        plain = f"{plain}-{drawn(0, annotator)[:6]}".lstrip("-")
    return f"{plain if annotator else 'tasks'}-round{number}.{ending}"


def _task_file(form: str, fields: Sequence[str], records: Sequence[Mapping[str, str]]) -> bytes:
    """Return the file of one annotator, of a record for each pair."""
    if form == SHEET:
        header = ["label", "note", *fields, "text", "qid", "docno", "pair", "annotator", "task"]
        return write_sheet(header, [[sheet_text(record.get(name, "")) for name in header] for record in records])
    tasks = []
    for record in records:
        # a field that its interface shows must be there; `annotator` is a name of its short export
        data = {**dict.fromkeys(fields, ""), **{name: storable(cell) for name, cell in record.items()}}
        data["assigned"] = data.pop("annotator")
        tasks.append({"data": data})
    return (json.dumps(tasks, ensure_ascii=False, indent=0) + "\n").encode()


def _label_studio_config(manifest: Manifest, fields: Sequence[str]) -> str:
    """Return the labelling interface of Label Studio, as the XML that its settings take."""
    # a dollar sign would stand for a field of the task
    told = " ".join(storable(manifest.instructions).replace("$", "\N{FULLWIDTH DOLLAR SIGN}").split())
    lines = [
        "<View>",
        "  <Style>.htx-text { white-space: pre-wrap; }</Style>",
        *([f'  <Header value={quoteattr(told)} size="5"/>'] if told else []),
        *(f'  <Text name="{field}" value="${field}"/>' for field in (*fields, "text")),
        '  <Choices name="label" toName="text" choice="single" required="true">',
        *(f"    <Choice value={quoteattr(word)}/>" for word in manifest.scale.words.values()),
        "  </Choices>",
        '  <TextArea name="note" toName="text" placeholder="note" maxSubmissions="1" editable="true"/>',
        "</View>",
    ]
    return "\n".join(lines) + "\n"


def _instructions(manifest: Manifest) -> str:
    how = "Choose one label for each text."
    if manifest.form == SHEET:
        how = (
            "Write a label, as a number or in words, into the column `label` of each row, and what else you want to "
            "say as `note`. Leave the rest as it is, and save the file as CSV."
        )
    scale = ["The labels:", *(f"  {label}: {word}" for label, word in manifest.scale.words.items())]
    parts = [storable(manifest.instructions), "\n".join(scale), how]
    return "\n\n".join(part for part in parts if part) + "\n"


def _checked_overlap(overlap: Any, n_annotators: int) -> float:
    """Return how many annotators judge a pair, an int, or the share of pairs that all of them judge."""
    if isinstance(overlap, float | np.floating) and 0 < overlap < 1 and n_annotators:
        return float(overlap)
    whole = isinstance(overlap, int | np.integer) and not isinstance(overlap, bool)
    if whole and 1 <= overlap <= (n_annotators or overlap):
        return int(overlap)
    raise InputError(
        "overlap must be a whole number of annotators for each pair, or the share of pairs that all named annotators "
        f"judge; {count(n_annotators, 'annotator')} named, got {shown(overlap)}.",
        argument="overlap",
    )


def wanted_for(overlap: float, keys: Sequence[Key], n_annotators: int, seed: int) -> list[int]:
    """Return for each pair how many annotators it is to have; pairs for all are drawn, the same share of topics."""
    if isinstance(overlap, int):
        return [overlap] * len(keys)
    of_topic: dict[str, list[int]] = {}
    for i, (qid, _) in enumerate(keys):
        of_topic.setdefault(qid, []).append(i)
    wanted, before = [1] * len(keys), 0
    for places in of_topic.values():
        # cumulated, so that the shares of small topics add up to that of all
        after = before + len(places)
        n = share_of(overlap, after) - share_of(overlap, before)
        for i in sorted(places, key=lambda i: drawn(seed, "for all", *keys[i]))[:n]:
            wanted[i] = n_annotators
        before = after
    return wanted


def assign(
    pairs: Sequence[Pair], annotators: Sequence[str], loads: Counter[str], seed: int, *, whole_topics: bool
) -> list[tuple[str, ...]]:
    """Return for each pair who is asked it now, so that as many are as it wants, nobody twice."""
    loads, had, of_topic = Counter(loads), dict[str, Counter[str]](), dict[str, list[int]]()
    for pair in pairs:
        had.setdefault(pair.qid, Counter()).update(pair.asked)
        of_topic.setdefault(pair.qid, []).append(pair.wanted)
    teams, planned = dict[str, list[str]](), Counter(loads)
    # the longest topics choose first, of all those first who know the topic or have least to do
    sizes = {qid: len(wanted) * max(wanted) for qid, wanted in of_topic.items()} if whole_topics else {}
    for qid in sorted(sizes, key=lambda qid: (-sizes[qid], drawn(seed, "topic", qid))):
        known, wanted = had[qid], of_topic[qid]
        teams[qid] = sorted(annotators, key=lambda a: (-known[a], planned[a], drawn(seed, "team", qid, a)))
        planned.update({a: len(wanted) for a in teams[qid][: min(wanted)]})
    given: list[tuple[str, ...]] = [()] * len(pairs)
    for i in sorted(range(len(pairs)), key=lambda i: drawn(seed, "turn", *pairs[i].key)):
        pair, known = pairs[i], had[pairs[i].qid]
        free = [a for a in teams.get(pair.qid, annotators) if a not in pair.asked]
        if not whole_topics:
            free.sort(key=lambda a: (loads[a], known[a], drawn(seed, "who", *pair.key, a)))
        given[i] = tuple(sorted(free[: max(pair.wanted - len(pair.asked), 0)]))
        loads.update(given[i])
        known.update(given[i])
    return given


def _agreed(before: Manifest | None, format: Any, labels: Any, instructions: Any, annotators: Any) -> Manifest:
    """Return what was agreed on: the folder's manifest, or an empty one; what a user says may not be another."""
    form = None if format is None else choice("format", format, [SHEET, LABEL_STUDIO])
    # judgments say the scale of a new folder
    scale = None if labels is None or (before and is_judgments(labels)) else Scale.of(labels)
    if instructions is not None and not isinstance(instructions, str):
        raise InputError(f"instructions must be a text, got {shown(instructions)}.", argument="instructions")
    if before is not None:
        for argument, said, words in (
            ("format", form not in (None, before.form), before.form),
            ("labels", scale not in (None, before.scale), str(before.scale)),
            ("instructions", instructions not in (None, before.instructions), shown(before.instructions)),
            ("annotators", annotators is not None and not before.annotators, "nobody is named"),
        ):
            if said:
                problem = f"{argument} cannot be another in a further round than before: {words}. "
                raise InputError(f"{problem}Leave it out, or give a folder of its own.", argument=argument)
        return before
    scale = scale or Scale.of(DEFAULT)
    odd = [word for word in scale.words.values() if "$" in word]
    if form == LABEL_STUDIO and odd:
        field = f"Label Studio, which takes {shown(odd[0])} for a field of the task"
        raise InputError(f"labels cannot have a dollar sign in {field}. Use another word.", argument="labels")
    return Manifest("", form or SHEET, scale, instructions or "", (), 0, {}, ())


def _checked_people(annotators: Any) -> tuple[str, ...]:
    listed = isinstance(annotators, Iterable) and not isinstance(annotators, str)
    people = list(annotators) if listed else []
    plain = [isinstance(name, str) and name and name == name.strip() and name.isprintable() for name in people]
    if not people or not all(plain) or len({name.casefold() for name in people}) < len(people):
        what = "a list of names on one line each, without white space around them, no name twice"
        raise InputError(f"annotators must be {what}; got {shown(annotators)}.", argument="annotators")
    return tuple(people)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ExportedTasks(Result):
    """Files for people who judge; :func:`~pt_reuse.judging.import_labels` reads what comes back.

    Attributes:
        folder: where the files are.
        asked_before: pairs of the pool that are not asked now, since enough people were asked in earlier rounds.
    """

    title = "ExportedTasks"
    valid_for = "{format} files (task {task}, round {round}, seed {seed}) as they were written."
    not_covered = "what was judged since; import_labels reads that."
    columns = """
    file      | File      |       | the file that was written
    annotator | Annotator |       | who answers it, None where anybody may
    pairs     | Pairs     | count | how many documents it asks for
    """

    table: Annotated[pd.DataFrame, Table("file", "file annotator topics pairs", noun="files")]
    folder: str
    asked_before: int

    def answers(self) -> list[str]:
        pairs, files = int(self.table["pairs"].sum()), count(len(self.table), "file")
        before = f", {self.asked_before:,} of the pool asked before" if self.asked_before else ""
        return [
            f"{count(pairs, 'pair')} to judge in {files} in {self.folder}{before}; labels {self.settings['labels']}"
        ]


def export_tasks(
    pool: Pool | pd.DataFrame,
    folder: str | Path,
    *,
    topics: pd.DataFrame | Mapping[str, str] | None = None,
    texts: Mapping[str, str] | pd.DataFrame | Iterable[Mapping[str, Any]] | pt.Transformer | None = None,
    format: str | None = None,
    annotators: Sequence[str] | None = None,
    overlap: float = 1,
    whole_topics: bool = False,
    labels: Any = None,
    instructions: str | None = None,
    seed: int = 0,
    verbose: bool = False,
) -> ExportedTasks:
    """Write the documents of a pool as files for people to judge: one file for each annotator.

    People see the query and the text, but no ranks, runs, scores or strategies. Topics stay together; within a topic
    the documents are shuffled differently for each annotator, by `seed` and the names of documents. The file
    ``tasks.json`` keeps what people do not see; :func:`~pt_reuse.judging.import_labels` needs it.

    A further pool in the same folder is a new round, which replaces no file; nobody gets a pair twice.

    Args:
        pool: the documents to judge: a Pool, or a frame with ``qid`` and ``docno``. Its further columns come back with
            the labels.
        folder: where to; made when it does not exist.
        topics: a frame with ``qid`` and ``query`` (or ``title``), and optionally ``description`` and ``narrative``; or
            a dict of qid -> query.
        texts: a dict of docno -> text, a frame or the documents of a corpus with ``docno`` and ``text`` (and
            ``title``), or a transformer that adds ``text``. A warning counts empty texts.
        format: ``"csv"``, sheets into which people write, or ``"label-studio"``. Default: that of the folder, ``"csv"``
            for a new one.
        annotators: their names. Default: those of the folder's earlier rounds; in a new folder anybody may answer.
        overlap: how many annotators judge each pair, or the share of the pairs that all annotators judge, while one
            judges each other pair.
        whole_topics: give a topic as a whole to the same annotators, as TREC does. Default: pairs are spread equally.
        labels: label -> word, or judgments, whose scale from 0 on it is. Default: those of the folder; ``{0: "not
            relevant", 1: "relevant"}`` for a new one.
        instructions: a text shown beside the labels.
        seed: of the order and of who judges what, >= 0.
        verbose: show a progress bar while the texts of a corpus are looked up.

    Returns:
        ExportedTasks: the files, and how many pairs each has.

    Raises:
        InputError: a pair without query or text, two annotators of one name, more overlap than annotators, labels or a
            format that are not those of the folder, a file in the way.

    Example:
        >>> import pandas as pd, pt_reuse as ptr, tempfile
        >>> pool = pd.DataFrame({"qid": ["1", "1"], "docno": ["d1", "d2"]})
        >>> shown = {"topics": {"1": "a query"}, "texts": {"d1": "A text.", "d2": "Another."}}
        >>> tasks = ptr.judging.export_tasks(pool, tempfile.mkdtemp(), **shown, annotators=["ann", "bob"])
        >>> tasks.table["file"].tolist()
        ['ann-round1.csv', 'bob-round1.csv']
    """
    seed, whole_topics, verbose = checked_seed(seed), flag("whole_topics", whole_topics), flag("verbose", verbose)
    place = checked_path(folder)
    check_writable(place, [MANIFEST], overwrite=True, argument="folder")
    before = _manifest_in(place)
    people = () if annotators is None else _checked_people(annotators)
    agreed = _agreed(before, format, labels, instructions, annotators)
    people = people or agreed.annotators
    overlap = _checked_overlap(overlap, len(people))
    pool = _as_pool(pool)
    keys = list(zip(pool.documents.qids().tolist(), pool.documents.docnos().tolist(), strict=True))
    queries = shown_topics(topics, list(dict.fromkeys(qid for qid, _ in keys)))
    known, number = {pair.key: pair for pair in agreed.pairs}, agreed.rounds + 1
    terms = agreed.form, str(agreed.scale), agreed.instructions, *people
    task = agreed.task or "t" + drawn(seed, *terms, *sorted(drawn(seed, *key) for key in keys))[:11]
    wanted = wanted_for(overlap, keys, len(people), seed)
    # what all are to judge was drawn when a pair came first, and anybody could answer what is there already
    stays = isinstance(overlap, float) or not people
    pairs = [
        pair if pair.key not in known else known[pair.key] if stays else replace(known[pair.key], wanted=pair.wanted)
        for pair in _new_pairs(pool, task, number, keys, wanted)
    ]
    asked: list[tuple[str, ...]] = [() if pair.key in known else (_ANYBODY,) for pair in pairs]
    if people:
        loads = Counter(who for pair in known.values() for who in pair.asked)
        asked = assign(pairs, people, loads, seed, whole_topics=whole_topics)
    now = [pair.key for pair, who in zip(pairs, asked, strict=True) if who]
    texts_of = document_texts(texts, now, {qid: told["query"] for qid, told in queries.items()}, verbose=verbose)
    n_long = sum(len(text) >= LONGEST_CELL for text in texts_of.values())
    if n_long and agreed.form == SHEET:
        cut = f"{count(n_long, 'text')} cut, since a cell of a spreadsheet holds {LONGEST_CELL:,} characters. "
        warn(f"{cut}With format='label-studio' people see the whole.")
    every = dict(known)
    for pair, several in zip(pairs, asked, strict=True):
        of_pair = (*pair.asked, *(one for one in several if one != _ANYBODY))
        every[pair.key] = replace(pair, wanted=max(pair.wanted, len(of_pair)), asked=of_pair)
    qids = list(dict.fromkeys(qid for qid, _ in every))
    topic_place = {qids[t]: i for i, t in enumerate(natural_order(qids))}
    fields = [field for field in TOPIC_FIELDS if any(field in told for told in queries.values())]
    files, rows = {}, []
    for who in people or (_ANYBODY,):
        mine = [pair for pair, several in zip(pairs, asked, strict=True) if who in several]
        # topics in their order, documents in one that tells nothing of ranks
        mine.sort(key=lambda pair: (topic_place[pair.qid], drawn(seed, "order", who, *pair.key)))
        if mine:
            name, records = file_name(who, number, "csv" if agreed.form == SHEET else "json"), []
            for pair in mine:
                ids = {"qid": pair.qid, "docno": pair.docno, "pair": pair.name, "annotator": who, "task": task}
                records.append({**queries[pair.qid], "text": texts_of[pair.key], **ids})
            files[name] = _task_file(agreed.form, fields, records)
            rows.append((name, who or None, len({pair.qid for pair in mine}), len(mine)))
    if files:
        named = tuple(dict.fromkeys([*agreed.annotators, *people]))
        whose = {**agreed.files, **{name: who for name, who, *_ in rows}}
        # pairs by their names, which say nothing of the order of the pool
        in_order = tuple(sorted(every.values(), key=lambda pair: (topic_place[pair.qid], pair.name)))
        manifest = replace(agreed, task=task, annotators=named, rounds=number, files=whose, pairs=in_order)
        if before is None:
            files["instructions.txt"] = _instructions(manifest).encode()
            if agreed.form == LABEL_STUDIO:
                files["label-studio.xml"] = _label_studio_config(manifest, fields).encode()
        _place(place, before, files, manifest)
    table = pd.DataFrame(rows, columns=["file", "annotator", "topics", "pairs"])
    return ExportedTasks(
        table=table.astype({"file": object, "annotator": object, "topics": "int64", "pairs": "int64"}),
        settings={
            "task": task,
            "format": agreed.form,
            "round": number,
            "labels": str(agreed.scale),
            "overlap": overlap,
            "whole_topics": whole_topics,
            "seed": seed,
            **{f"pool_{name}": str(value) for name, value in pool.settings.items()},
        },
        folder=str(place),
        asked_before=len(pairs) - len(now),
    )


def _new_pairs(pool: Pool, task: str, number: int, keys: Sequence[Key], wanted: Sequence[int]) -> Iterable[Pair]:
    """Yield the pairs of a pool as ones that nobody was asked."""
    provenance = provenance_of(pool)
    columns = {str(name): list(map(_cell, provenance[name].tolist())) for name in provenance}
    for i, (qid, docno) in enumerate(keys):
        further = {name: cells[i] for name, cells in columns.items()}
        strategy, round_, reason = (further.pop(name, None) for name in ("strategy", "round", "reason"))
        yield Pair(
            # a letter that no number has before sixteen digits
            name="p" + drawn(0, task, qid, docno)[:15],
            qid=qid,
            docno=docno,
            wanted=wanted[i],
            asked=(),
            strategy=None if strategy is None else str(strategy),
            round=int(round_) if isinstance(round_, int | float) else number,
            reason=None if reason is None else str(reason),
            further=further,
        )


def _place(folder: Path, before: Manifest | None, files: Mapping[str, bytes], manifest: Manifest) -> None:
    """Write the files of a round, and last the manifest, without which they are none."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with alone(folder) as answer:
            if answer is Alone.NO or _manifest_in(folder) != before:
                problem = f"{folder} is being written to by somebody else. Export again."
                raise InputError(problem, argument="folder")
            # what an export left that was killed has no answers
            odd = [name for name, data in files.items() if _bytes(folder / name) not in (b"", data)]
            if odd:
                problem = f"{folder} has {examples(odd)}, which no round of the folder wrote. "
                raise InputError(f"{problem}Take it away, or give another folder.", argument="folder")
            for name, data in files.items():
                with replacing(folder / name) as file:
                    file.write(data)
            manifest.write(folder)
    except OSError as error:
        problem = f"{folder} cannot be written to: {error.strerror or error}."
        raise InputError(problem, argument="folder") from error


def _manifest_in(folder: Path) -> Manifest | None:
    return read_manifest(folder) if _bytes(folder / MANIFEST) else None


def _cell(value: Any) -> str | int | float | bool | None:
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or value is pd.NA or value is pd.NaT:
        return None
    return value if isinstance(value, str | bool | int) else str(value)


def _bytes(path: Path) -> bytes:
    try:
        return read_file(path)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}.", place=str(path), argument="folder") from error


def _as_pool(pool: Any) -> Pool:
    if isinstance(pool, pd.DataFrame):
        # a pool's own frame counts its runs
        pool = Pool.from_frame(pool.drop(columns=[name for name in _COUNTED if name in pool.columns]))
    if not isinstance(pool, Pool):
        raise InputError(f"pool must be a Pool, or a frame with 'qid' and 'docno', got {shown(pool)}.", argument="pool")
    if not len(pool):
        raise InputError("the pool has no document. There is nothing to judge.", argument="pool")
    return pool
