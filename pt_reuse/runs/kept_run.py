"""KeptRun: the results of one pipeline in a folder, a file for each batch of topics."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pt_reuse._check import count, examples, shown
from pt_reuse._errors import InputError, warn
from pt_reuse.formats.array_file import ArrayFile, DamagedError, write_arrays
from pt_reuse.formats.frames import number_column
from pt_reuse.formats.result_rows import CodedRows, coded_rows
from pt_reuse.runs.pipeline_steps import difference
from pt_reuse.runs.topic_inputs import TopicInputs

#: to be raised when what stands in a file, or the checksum of a topic's input, changes
FORMAT = 1
_ENDING = ".results"
_FILE = re.compile(r"(\d{6,})-[0-9a-f]{8}\.results")
_OF_ROW = "topic"
#: characters of a run's name that the name of its folder has, so that people find it
_SHOWN = 40


def _texts(cells: pd.Series) -> list[str]:
    return list(map(str, cells.tolist()))


#: columns that a field is made of -> how a field would read them
_NEEDED: dict[str, Callable[[pd.Series], Any]] = {
    "qid": _texts,
    "docno": _texts,
    "score": number_column,
    "rank": number_column,
}


@dataclass(frozen=True)
class _Place:
    """Where the results of a topic are: in which file, and as which of its topics."""

    file: ArrayFile
    number: int


class KeptRun:
    """The results of one pipeline.

    Files are read and written while nobody else does so.

    Args:
        folder: that of the results of all pipelines.
        name: of the run.
        steps: of the pipeline, and the version of Python.
    """

    def __init__(self, folder: Path, name: str, steps: Sequence[str]):
        readable = re.sub(r"[^A-Za-z0-9_-]+", "-", name)[:_SHOWN].strip("-")
        mark = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        self.folder, self.name, self._steps = folder / f"{readable or 'run'}-{mark}", name, list(steps)
        self._last = 0
        self._damaged: list[Path] = []

    @cached_property
    def _places(self) -> dict[str, dict[str, _Place]]:
        # topic -> checksum of its input -> where its results are; what was written later counts
        places: dict[str, dict[str, _Place]] = {}
        for path in self._files():
            file, self._last = ArrayFile(path), _number(path)[0]
            try:
                notes = file.notes
            except DamagedError as error:
                self._tell_damaged(path, error)
                continue
            self._check(notes)
            for number, (topic, check) in enumerate(zip(notes["topics"], notes["checks"], strict=True)):
                places.setdefault(topic, {})[check] = _Place(file, number)
        return places

    def _files(self) -> list[Path]:
        if not self.folder.is_dir():
            return []
        return sorted((path for path in self.folder.iterdir() if _FILE.fullmatch(path.name)), key=_number)

    def _check(self, notes: dict[str, Any]) -> None:
        if notes["format"] > FORMAT:
            raise newer(self.folder, notes["format"])
        differ = difference(notes["steps"], self._steps)
        if differ is not None:
            before, now = differ
            raise InputError(
                f"{self.folder.parent} holds results of another pipeline as {shown(self.name)}: that one had "
                f"{shown(before)}, this one has {shown(now)}. Give this one another name, or give another folder, or "
                f"delete {self.folder}.",
                argument="cache",
            )

    def check(self) -> None:
        """Raise where the results that are kept are those of another pipeline, or of a newer version."""
        _ = self._places

    def _tell_damaged(self, path: Path, error: DamagedError) -> None:
        warn(
            f"results of run {shown(self.name)} in {path} cannot be used: {error}. The topics in it run again when "
            "they are asked for."
        )
        # what a disk or a right keeps from being read may be whole
        if not isinstance(error.__cause__, OSError):
            self._damaged.append(path)

    def pieces(self, inputs: TopicInputs, only: Collection[str] | None) -> Iterator[tuple[list[str], pd.DataFrame]]:
        """Yield topics whose results are here, and their rows, a file after the other.

        Args:
            inputs: what goes into the pipeline.
            only: the columns; default all.
        """
        of_file: dict[ArrayFile, dict[int, str]] = {}
        for topic, check in inputs.checks.items():
            place = self._places.get(topic, {}).get(check)
            if place is not None:
                of_file.setdefault(place.file, {})[place.number] = topic
        for file, topics in of_file.items():
            try:
                found = _read(file, list(topics), only)
            except DamagedError as error:
                self._tell_damaged(file.path, error)
                for places in self._places.values():
                    for check in [check for check, place in places.items() if place.file is file]:
                        del places[check]
            else:
                yield list(topics.values()), found

    def tell_other_inputs(self, inputs: TopicInputs) -> None:
        """Warn of the topics whose results are here for another input alone.

        Args:
            inputs: what is to go into the pipeline.
        """
        other = {topic: self._places[topic] for topic in inputs.topics if self._places.get(topic)}
        other = {topic: places for topic, places in other.items() if inputs.checks[topic] not in places}
        if not other:
            return
        before = next(reversed(next(iter(other.values())).values())).file.notes["inputs"]
        columns = ""
        if before != inputs.columns:
            columns = f" (columns {examples(before, 9) or 'none'} then, {examples(inputs.columns, 9) or 'none'} now)"
        warn(
            f"run {shown(self.name)} runs again for {count(len(other), 'topic')}, {examples(other)}: what goes into it "
            f"for them is not what the results in {self.folder} were made of{columns}."
        )

    def write(
        self, topics: Sequence[str], inputs: TopicInputs, results: pd.DataFrame, only: Collection[str] | None
    ) -> pd.DataFrame:
        """Keep the results of a batch of topics and return them as they will be read.

        Args:
            topics: of the batch.
            inputs: what went into the pipeline.
            results: the rows, of these topics alone.
            only: the columns to return; default all.

        Raises:
            OSError: they cannot be written.
        """
        arrays, notes = coded_rows(results)
        coded = {label for label, *_ in notes["columns"]}
        odd = [column for column in _NEEDED if column in results.columns and column not in coded]
        if odd:
            # such as names of which some are numbers
            arrays, notes = coded_rows(results.assign(**{column: _NEEDED[column](results[column]) for column in odd}))
        numbers = {topic: number for number, topic in enumerate(topics)}
        qids = results["qid"].tolist() if len(results) else []
        of_row = np.array([numbers[str(qid)] for qid in qids], dtype=np.int32)
        checks = [inputs.checks[topic] for topic in topics]
        notes |= {"format": FORMAT, "name": self.name, "steps": self._steps}
        notes |= {"topics": list(topics), "checks": checks, "inputs": inputs.columns}
        self.folder.mkdir(parents=True, exist_ok=True)
        self._last += 1
        file = ArrayFile(self.folder / f"{self._last:06}-{secrets.token_hex(4)}{_ENDING}")
        write_arrays(file.path, {_OF_ROW: of_row, **arrays}, notes)
        for number, (topic, check) in enumerate(zip(topics, checks, strict=True)):
            self._places.setdefault(topic, {})[check] = _Place(file, number)
        return CodedRows.of(notes, lambda *names: [arrays[name] for name in names]).frame(only=only)

    def forget_damaged(self) -> None:
        """Remove the files that could not be used, when their topics have run again."""
        while self._damaged:
            with suppress(OSError):
                self._damaged.pop().unlink()


def _number(path: Path) -> tuple[int, str]:
    return int(path.name.split("-")[0]), path.name


def _read(file: ArrayFile, numbers: Sequence[int], only: Collection[str] | None) -> pd.DataFrame:
    (of_row,) = file.read(_OF_ROW)
    rows = None if len(numbers) == len(file.notes["topics"]) else np.isin(of_row, numbers)
    return CodedRows.of(file.notes, partial(file.read)).frame(rows, only)


def newer(folder: Path, written: int) -> InputError:
    """Return the error that a newer version wrote a folder."""
    return InputError(
        f"{folder} was written by a newer version of pt_reuse (format {written}; this one reads {FORMAT}). Give "
        "another folder, or install a newer version.",
        argument="cache",
    )
