"""ShardFile: what came of one of several shares of a study's topics, in a file of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pt_reuse._check import ShardNumber
from pt_reuse._errors import InputError
from pt_reuse.data.array_file import ArrayFile, DamagedError, write_arrays
from pt_reuse.data.topic_jobs import Arrays, Merge, Shard, TopicWork, part_topics

_FILE = re.compile(r"shard-([0-9]{1,7})-of-([0-9]{1,7})\.ptr")


@dataclass(frozen=True)
class ShardFile:
    """The file of a shard, which may not be there.

    Attributes:
        shard: which one.
        path: of the file.
    """

    shard: ShardNumber
    path: Path

    @classmethod
    def of(cls, shard: ShardNumber, folder: Path) -> ShardFile:
        """Return the file of a shard in a folder."""
        return cls(shard, folder / shard.file_name)

    def write(self, parts: Iterable[Mapping[str, NDArray]], notes: Mapping[str, Any]) -> None:
        """Write arrays in parts, and what JSON can hold; the file takes its place only when it is whole.

        Raises:
            OSError: it cannot be written.
        """
        arrays: dict[str, NDArray] = {}
        shapes: list[dict[str, Sequence[int]]] = []
        for i, part in enumerate(parts):
            shapes.append({name: array.shape for name, array in part.items()})
            arrays |= {f"{i}/{name}": np.ascontiguousarray(array).reshape(-1) for name, array in part.items()}
        write_arrays(self.path, arrays, {**notes, "parts": shapes})

    def notes(self) -> dict[str, Any]:
        """Return what was written beside the arrays.

        Raises:
            DamagedError: the file is missing or damaged, or another shard has been given its name.
        """
        notes = ArrayFile(self.path).notes
        if "parts" not in notes:
            raise DamagedError("it is no shard")
        # without this a copy would count as there, and never be made again
        if notes.get("shard", self.shard.number) != self.shard.number:
            raise DamagedError(f"it is shard {notes['shard']} under another name")
        return notes

    def parts(self) -> Iterator[dict[str, NDArray]]:
        """Yield the parts, read one by one.

        Raises:
            DamagedError: the file is missing or damaged.
        """
        file = ArrayFile(self.path)
        for i, shapes in enumerate(file.notes["parts"]):
            arrays = file.read(*(f"{i}/{name}" for name in shapes))
            yield {name: array.reshape(shape) for (name, shape), array in zip(shapes.items(), arrays, strict=True)}

    def check(self) -> None:
        """Raise a DamagedError where anything is not as it was written."""
        self.notes()
        ArrayFile(self.path).check()


class WritingShard(Shard):
    """Does one share of the topics, and writes its file.

    Args:
        file: the file.
        notes: returns what stands beside the arrays.
    """

    def __init__(self, file: ShardFile, notes: Callable[[], Mapping[str, Any]]):
        super().__init__(file.shard.number, file.shard.of)
        self._file, self._notes = file, notes
        #: which topics were done, in words
        self.done = ""

    def write(self, work: TopicWork, topics: range, parts: Iterator[Arrays]) -> None:
        """Write what comes of the topics of this share."""
        mine = [work.topics[t] for t in topics]
        beside = {"kind": work.kind, "topics": mine}
        self._file.path.parent.mkdir(parents=True, exist_ok=True)
        self._file.write(parts, {**self._notes(), "shard": self._file.shard.number, **beside})
        ends = "no topic" if not mine else f"topic {mine[0]}" if len(mine) == 1 else f"topics {mine[0]} to {mine[-1]}"
        self.done = f"{ends} ({len(mine):,} of {len(work.topics):,})"


class ReadingShards(Merge):
    """Reads what shards hold.

    Args:
        files: of all shards, in their order.
    """

    def __init__(self, files: Sequence[ShardFile]):
        super().__init__()
        self._files = files

    def read(self, work: TopicWork) -> Iterator[Arrays]:
        """Yield the parts of each shard, one at a time.

        Raises:
            InputError: a shard is damaged, or of other work.
        """
        for file in self._files:
            read: list[str] = []
            try:
                notes = file.notes()
                for part in file.parts():
                    read += (work.topics[t] for t in part_topics(part))
                    yield part
            except DamagedError as error:
                raise InputError(f"{error}. Run this shard again.", place=str(file.path), argument="shards") from error
            if (notes["kind"], notes["topics"]) != (work.kind, read):
                problem = f"it holds {notes['kind']} of other topics than are merged. Run this shard again."
                raise InputError(problem, place=str(file.path), argument="shards")


def shards_in(folder: Path) -> list[ShardFile]:
    """Return the shards that a folder has, in their order.

    Raises:
        OSError: the folder cannot be looked through.
    """
    named = {path: _FILE.fullmatch(path.name) for path in folder.iterdir()}
    there = (ShardFile(ShardNumber(*map(int, m.groups())), path) for path, m in named.items() if m is not None)
    return sorted((file for file in there if file.path.name == file.shard.file_name), key=lambda f: f.shard)


def in_ranges(numbers: Iterable[int]) -> str:
    """Return ascending numbers as one writes them, those that follow one another as a range.

    Example:
        >>> in_ranges([3, 9, 10, 11, 12, 31, 33, 34])
        '3, 9-12, 31, 33-34'
    """
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in ranges)
