"""Manifest: what of a task people do not see and what must come back: pairs, who was asked, why, and the scale."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from pt_reuse._check import listed, shown, told
from pt_reuse._errors import Argument, Call, InputError, located
from pt_reuse._files import read_file, replacing
from pt_reuse.data.labelling import LABELS
from pt_reuse.judging.people.sheet import drawn, storable

#: the scale where nobody gives another
DEFAULT = {0: "not relevant", 1: "relevant"}
#: what means "in the pool, not judged" in judgments, and so cannot be what somebody says
_UNJUDGED = -1
#: a number, and perhaps its word behind it: "1", "1.0", "1: relevant", "1 = relevant"
_NUMBERED = re.compile(r"(-?\d{1,5})(?:[.,]0+)?(?:\s*[-:=.)–—]?\s*(\D.*))?", re.DOTALL)


@dataclass(frozen=True)
class Scale:
    """The labels that people may give."""

    words: Mapping[int, str]

    @classmethod
    def of(cls, labels: Any) -> Scale:
        """Return the scale that a user gives as label -> word."""
        if not isinstance(labels, Mapping) or len(labels) < 2:
            raise _refused("must be a dict of at least two labels and their words", told(labels))
        words: dict[int, str] = {}
        for label, word in labels.items():
            if isinstance(label, bool) or not isinstance(label, int | np.integer):
                raise _refused("must have whole numbers as labels", told(label))
            if not LABELS[0] <= label <= LABELS[1] or label == _UNJUDGED:
                raise _refused(
                    f"must have labels from {LABELS[0]} to {LABELS[1]}, and not -1, which means pooled and not judged",
                    str(label),
                )
            if not isinstance(word, str) or not word.strip() or not word.isprintable():
                raise _refused(f"must have a word, on one line, for label {label}", told(word))
            if _NUMBERED.fullmatch(word.strip()):
                raise _refused(f"must have words that are no numbers, for label {label}", told(word))
            words[int(label)] = " ".join(word.split())
        alike = [word for word in words.values() if sum(_plain(word) == _plain(other) for other in words.values()) > 1]
        if alike:
            raise _refused("must have a different word for each label", f"{shown(alike[0])} more than once")
        return cls(dict(sorted(words.items())))

    @cached_property
    def _by_word(self) -> dict[str, int]:
        return {_plain(word): label for label, word in self.words.items()}

    def read(self, said: Any) -> int | None:
        """Return the label that somebody's answer means, None where it is none of the scale."""
        if isinstance(said, bool) or not isinstance(said, str | int | float):
            return None
        if not isinstance(said, str):
            return int(said) if said in self.words else None
        by_word = self._by_word
        if _plain(said) in by_word:
            return by_word[_plain(said)]
        found = _NUMBERED.fullmatch(said.strip())
        if found is None or int(found[1]) not in self.words:
            return None
        label = int(found[1])
        return label if found[2] is None or by_word.get(_plain(found[2])) == label else None

    def __str__(self) -> str:
        return listed([f"{label} ({word})" for label, word in self.words.items()])


def _plain(word: str) -> str:
    return " ".join(word.split()).casefold()


def _refused(requirement: str, got: str) -> InputError:
    return InputError(Argument("labels"), f" {requirement}, such as {DEFAULT}, got {got}.", argument="labels")


#: the file that makes a folder one of tasks
MANIFEST = "tasks.json"
#: where files go that come back
RETURNED = "returned"
#: to be raised when what the file holds changes its meaning
FORMAT = 1
_KIND = "tasks for people who judge"
#: a topic and a document
Key: TypeAlias = "tuple[str, str]"
#: what a cell that a pool has of a document can be
Cell: TypeAlias = "str | int | float | bool | None"


class TaskFormat(Enum):
    """The form of the files that people get; the value is what a user calls it."""

    CSV = "csv"
    JSONL = "jsonl"
    DOCCANO = "doccano"
    LABEL_STUDIO = "label-studio"

    @property
    def ending(self) -> str:
        """Return what ends the names of the files."""
        return {"csv": "csv", "jsonl": "jsonl", "doccano": "jsonl", "label-studio": "json"}[self.value]

    @property
    def filled_in_place(self) -> bool:
        """Return whether people write their labels into the files that they get."""
        return self in (TaskFormat.CSV, TaskFormat.JSONL)


@dataclass(frozen=True)
class Pair:
    """A document to be judged for a topic.

    Attributes:
        name: what it is called in the files; no spreadsheet takes it for a number or a date.
        qid: the topic.
        docno: the document.
        wanted: how many people are to judge it.
        asked: who was asked; empty where anybody may answer.
        strategy: how it was chosen, None where nobody says.
        round: in which round, from 1.
        reason: why, None where nobody says.
        further: what else the pool knows of it: column -> value.
    """

    name: str
    qid: str
    docno: str
    wanted: int
    asked: tuple[str, ...]
    strategy: str | None
    round: int
    reason: str | None
    further: Mapping[str, Cell]

    @property
    def key(self) -> Key:
        """Return topic and document."""
        return self.qid, self.docno


@dataclass(frozen=True)
class TaskFile:
    """A file that was written for people."""

    name: str
    annotator: str | None
    pairs: int
    sha256: str


@dataclass(frozen=True)
class Round:
    """One export into the folder."""

    number: int
    seed: int
    overlap: float
    annotators: tuple[str, ...]
    files: tuple[TaskFile, ...]
    pool: Mapping[str, str]


@dataclass(frozen=True)
class Manifest:
    """What is known of a folder of tasks.

    Attributes:
        task: a name that every file and every row bears, by which those of another task are told.
        form: of the files.
        scale: the labels.
        instructions: what people were told, "" for nothing.
        named: whether annotators were named; else anybody may answer.
        rounds: the exports.
        pairs: the pairs of all rounds.
    """

    task: str
    form: TaskFormat
    scale: Scale
    instructions: str
    named: bool
    rounds: tuple[Round, ...]
    pairs: tuple[Pair, ...]

    @cached_property
    def by_name(self) -> dict[str, Pair]:
        """Return name of the pair -> pair."""
        return {pair.name: pair for pair in self.pairs}

    @cached_property
    def by_ids(self) -> dict[Key, list[Pair]]:
        """Return (topic, document) as files have them -> the pairs that look like that there, mostly one."""
        found: dict[Key, list[Pair]] = {}
        for pair in self.pairs:
            found.setdefault((storable(pair.qid), storable(pair.docno)), []).append(pair)
        return found

    @cached_property
    def by_key(self) -> dict[Key, Pair]:
        """Return (topic, document) -> pair."""
        return {pair.key: pair for pair in self.pairs}

    @cached_property
    def annotators(self) -> tuple[str, ...]:
        """Return who was named in any round, in order of appearance."""
        return tuple(dict.fromkeys(annotator for each in self.rounds for annotator in each.annotators))

    @cached_property
    def files(self) -> dict[str, TaskFile]:
        """Return name of the file -> file."""
        return {file.name: file for each in self.rounds for file in each.files}

    def write(self, folder: Path) -> None:
        """Write it; what was there stays until all of it is written."""
        body: dict[str, Any] = {
            "kind": _KIND,
            "format": FORMAT,
            "task": self.task,
            "form": self.form.value,
            "labels": {str(label): word for label, word in self.scale.words.items()},
            "instructions": self.instructions,
            "named": self.named,
            "rounds": [asdict(each) for each in self.rounds],
            # a pair is flat but for what the pool knows of it, and there may be many
            "pairs": [{**vars(pair), "further": dict(pair.further)} for pair in self.pairs],
        }
        parts = {**body, "checksum": _checksum(body)}
        # a line for each part, and for each pair
        pairs = ",\n".join(map(json.dumps, body["pairs"]))
        lines = [f'"{name}": ' + (f"[\n{pairs}\n]" if name == "pairs" else json.dumps(parts[name])) for name in parts]
        with replacing(folder / MANIFEST) as file:
            file.write(("{\n" + ",\n".join(lines) + "\n}\n").encode("ascii"))


def pair_name(task: str, key: Key) -> str:
    """Return what a pair is called: a letter that no number has before sixteen digits."""
    return "p" + drawn(0, task, *key)[:15]


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of a folder of tasks."""
    with located(str(folder)):
        if not folder.is_dir():
            raise InputError(
                "there is no such folder. Give one that ", Call("export_tasks"), " wrote.", argument="folder"
            )
        try:
            found = json.loads(read_file(folder / MANIFEST))
        except FileNotFoundError:
            raise InputError(
                f"no tasks: it has no {MANIFEST}. Give a folder that ",
                Call("export_tasks"),
                " wrote.",
                argument="folder",
            ) from None
        except (ValueError, RecursionError) as error:
            raise _changed("no JSON") from error
        except OSError as error:
            raise _changed(error.strerror) from error
        if not isinstance(found, dict) or found.get("kind") != _KIND:
            raise InputError(f"its {MANIFEST} is none of tasks for people.", argument="folder")
        version = found.get("format")
        if isinstance(version, int) and version > FORMAT:
            raise InputError(
                f"written by a newer version of pt_reuse (format {version}; this one reads up to {FORMAT}). Update "
                "pt_reuse.",
                argument="folder",
            )
        body = {name: value for name, value in found.items() if name != "checksum"}
        if found.get("checksum") != _checksum(body):
            raise _changed("its checksum is another")
        try:
            return _manifest(body)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise _changed(error) from error


def _manifest(body: Mapping[str, Any]) -> Manifest:
    return Manifest(
        task=body["task"],
        form=TaskFormat(body["form"]),
        scale=Scale({int(label): word for label, word in body["labels"].items()}),
        instructions=body["instructions"],
        named=body["named"],
        rounds=tuple(
            Round(
                **{
                    **each,
                    "annotators": tuple(each["annotators"]),
                    "files": tuple(TaskFile(**f) for f in each["files"]),
                }
            )
            for each in body["rounds"]
        ),
        pairs=tuple(Pair(**{**pair, "asked": tuple(pair["asked"])}) for pair in body["pairs"]),
    )


def _checksum(body: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True, separators=(",", ":")).encode("ascii")).hexdigest()


def _changed(what: object) -> InputError:
    return InputError(
        f"{MANIFEST} was changed or is damaged ({what}). Put back the file as it was written: it says what was asked "
        "of whom.",
        argument="folder",
    )
