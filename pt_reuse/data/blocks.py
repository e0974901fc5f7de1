"""Blocks of a field in files: neighbouring topics with a vocabulary of their own, in a folder or for workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pt_reuse._check import shown
from pt_reuse._errors import InputError
from pt_reuse._jobs import folder_for_jobs
from pt_reuse.arrays import tokens
from pt_reuse.arrays.field import Field, Late, LateField
from pt_reuse.arrays.open_field import AnyField, OpenField, Stacked, Stepped, cut_topics
from pt_reuse.arrays.places import Places
from pt_reuse.data.array_file import ArrayFile, DamagedError, write_arrays

#: array -> the kind of its numbers: those that counting needs, and those that are read when somebody asks for them
_EARLY = {
    "vocabulary": "S", "topic_docs": "i", "doc_starts": "i", "starts": "i", "codes": "u", "ranked": "b",
    "long_names": "u",
}  # fmt: skip
_LATE = {
    "scores": "f", "file_lists": "i", "file_starts": "i", "file_at": "u", "file_values": "u", "rank_lists": "i",
    "rank_starts": "i", "rank_at": "u", "rank_values": "u",
}  # fmt: skip
_PLACES = ("lists", "starts", "at", "values")


def write_block(path: Path, field: Field) -> None:
    """Write a block; the file takes its place only when it is whole.

    Raises:
        OSError: it cannot be written.
    """
    long = tokens.long_names_in(tokens.as_words(field.vocabulary))
    arrays = {name: getattr(field, name) for name in _EARLY if name != "long_names"}
    arrays["long_names"] = np.frombuffer(b"\0".join(long), dtype=np.uint8)
    arrays["scores"] = field.scores
    for order in ("file", "rank"):
        arrays |= {f"{order}_{part}": getattr(getattr(field, order), part) for part in _PLACES}
    write_arrays(path, arrays, {"topics": list(field.topics), "runs": field.n_runs})


def read_block(path: Path, told: Callable[[DamagedError], Exception] = lambda error: error) -> Field:
    """Read a block; its scores and its places in other orders are read when one of them is asked for.

    Args:
        path: of the file.
        told: gives what is raised where it is not as it was written, of what is read later when it is asked for.

    Raises:
        DamagedError: it is not as it was written, unless `told` says otherwise.
    """
    file = ArrayFile(path)
    try:
        early = _arrays(file, _EARLY)
        topics, n_runs = tuple(file.notes["topics"]), int(file.notes["runs"])
        if len(early["starts"]) != len(topics) * n_runs + 1 or not _are_coded(early):
            raise DamagedError("its arrays do not fit each other")
    except DamagedError as error:
        raise told(error) from error
    if len(long := early.pop("long_names")):
        tokens.keep_long_names(long.tobytes().split(b"\0"))
    starts = early["starts"]

    def late() -> Late:
        try:
            found = _arrays(file, _LATE)
            places = [Places(*(found[f"{order}_{part}"] for part in _PLACES)) for order in ("file", "rank")]
            if len(found["scores"]) != starts[-1] or not all(_fit(part, starts) for part in places):
                raise DamagedError("its arrays do not fit each other")
        except DamagedError as error:
            raise told(error) from error
        return Late(found["scores"], *places)

    return LateField(late=late, n_runs=n_runs, topics=topics, **early)


def check_block(path: Path, topics: tuple[str, ...], n_runs: int) -> NDArray[np.int64]:
    """Return (topics, runs), the rows of each list, of a block of which every byte is looked at.

    Raises:
        DamagedError: it is not whole, or another block than that of some topics.
    """
    file = ArrayFile(path)
    if file.notes != {"topics": list(topics), "runs": n_runs}:
        raise DamagedError("it is another block")
    file.check()
    return np.diff(file.read("starts")[0]).reshape(len(topics), n_runs)


def _arrays(file: ArrayFile, kinds: Mapping[str, str]) -> dict[str, NDArray]:
    arrays = dict(zip(kinds, file.read(*kinds), strict=True))
    for name, kind in kinds.items():
        if arrays[name].dtype.kind != kind:
            raise DamagedError(f"its array {name} is damaged")
    return arrays


def _are_coded(arrays: Mapping[str, NDArray]) -> bool:
    starts, doc_starts, docs, codes = (arrays[name] for name in ("starts", "doc_starts", "topic_docs", "codes"))
    vocabulary, n_runs = arrays["vocabulary"], len(arrays["ranked"])
    if not _are_starts(starts, len(codes)) or not _are_starts(doc_starts, len(docs)):
        return False
    if n_runs * (len(doc_starts) - 1) != len(starts) - 1 or vocabulary.dtype.itemsize % 8:
        return False
    if len(docs) and not 0 <= docs.min() <= docs.max() < len(vocabulary):
        return False
    full = np.flatnonzero(np.diff(starts[::n_runs])) if n_runs else starts[:0]
    tops = np.maximum.reduceat(codes, starts[full * n_runs]) if len(full) else codes
    return bool((tops < np.diff(doc_starts)[full]).all())


def _are_starts(starts: NDArray[np.int64], end: int) -> bool:
    return bool(len(starts) and starts[0] == 0 and starts[-1] == end and (np.diff(starts) >= 0).all())


def _fit(places: Places, starts: NDArray[np.int64]) -> bool:
    lists = places.lists
    if len(places.starts) != len(lists) + 1 or len(places.at) != len(places.values):
        return False
    if not _are_starts(places.starts, len(places.values)) or not np.diff(places.starts).all():
        return False
    if len(lists) and not (lists[0] >= 0 and lists[-1] < len(starts) - 1 and (np.diff(lists) > 0).all()):
        return False
    if not len(lists):
        return True
    # in each list the rows ascend from 1 on, and neither they nor their places go beyond its end
    ascend = places.at[1:] > places.at[:-1]
    ascend[places.starts[1:-1] - 1] = True
    ends = np.maximum(places.at[places.starts[1:] - 1], np.maximum.reduceat(places.values, places.starts[:-1]))
    return bool(ascend.all() and (places.at[places.starts[:-1]] > 0).all() and (ends <= np.diff(starts)[lists]).all())


_ENDING = ".block"


class DamagedBlockError(InputError):
    """A block of a store cannot be used.

    Attributes:
        clause: says so of the store.
    """

    clause = ""


def block_name(first: int, end: int) -> str:
    """Return the name of the file of a block: of its first topic, and of the one behind its last."""
    return f"{first:06}-{end:06}{_ENDING}"


@dataclass(frozen=True)
class StoredBlocks:
    """Blocks in a folder.

    Attributes:
        folder: the folder.
        topics: of each block the number of its first topic, and of the one behind its last.
    """

    folder: str
    topics: tuple[tuple[int, int], ...]

    def only(self, blocks: Sequence[int]) -> StoredBlocks:
        """Return some of the blocks."""
        return StoredBlocks(self.folder, tuple(self.topics[i] for i in blocks))

    def places(self, i: int) -> list[str]:
        """Return the file of a block."""
        return [str(self._path(i))]

    def sizes(self) -> list[int]:
        """Return the bytes of the file of each block, 0 where it is missing."""
        paths = [self._path(i) for i in range(len(self.topics))]
        return [path.stat().st_size if path.is_file() else 0 for path in paths]

    def _path(self, i: int) -> Path:
        return Path(self.folder) / block_name(*self.topics[i])

    def load(self, i: int) -> Field:
        """Return a block; its scores and places are read when somebody asks for them.

        Raises:
            DamagedBlockError: it is damaged or missing, of what is read later when it is read.
        """
        path, (first, end) = self._path(i), self.topics[i]

        def told(error: DamagedError) -> DamagedBlockError:
            # another call has read other files, or in another way, into the same folder
            gone = not path.parent.exists()
            why = "the store was made anew, or removed, after these runs were read" if gone else error
            first_of_all = "R" if gone else f"Delete the folder {path.parent.parent} and r"
            found = DamagedBlockError(
                f"the block of {_topics_in(path, first, end)} cannot be used, as {why}: {path}. {first_of_all}ead the "
                f"runs again."
            )
            found.clause = f"its block {path.name} cannot be used: {error}"
            return found

        field = read_block(path, told)
        if field.n_topics != end - first:
            raise told(DamagedError("it is another block"))
        return field


def _topics_in(path: Path, first: int, end: int) -> str:
    # by their names, where the file still tells them
    try:
        names = ArrayFile(path).notes["topics"]
    except DamagedError:
        several = f"topics at places {first + 1:,} to {end:,}"
        return f"the {several if end - first > 1 else f'topic at place {end:,}'} of its folder"
    return f"topic {shown(names[0])}" if len(names) == 1 else f"topics {shown(names[0])} to {shown(names[-1])}"


#: rows of a block that is written for workers
_ROWS = 1 << 21


@dataclass(frozen=True)
class BlockFiles:
    """Blocks in files of their own, for as long as a call takes."""

    paths: list[str]

    def load(self, i: int) -> Field:
        """Read a block."""
        return read_block(Path(self.paths[i]))

    def only(self, blocks: Sequence[int]) -> BlockFiles:
        """Return some of the blocks."""
        return BlockFiles([self.paths[i] for i in blocks])

    def places(self, i: int) -> list[str]:
        """Return the file of a block."""
        return [self.paths[i]]


@contextmanager
def on_disk(field: AnyField) -> Iterator[OpenField]:
    """Give a field whose blocks all lie on disk; those of a field in memory lie there while the context lasts."""
    if isinstance(field, OpenField) and not _holds_arrays(field):
        yield field
        return
    with folder_for_jobs() as folder:
        yield _written(field, Path(folder))


def _holds_arrays(field: AnyField) -> bool:
    if isinstance(field, Field):
        return True
    source = field.source
    while isinstance(source, Stepped):
        source = source.source
    return isinstance(source, Stacked) and any(_holds_arrays(one) for one in source.fields)


def _written(field: AnyField, folder: Path) -> OpenField:
    paths: list[str] = []
    parts: list[range] = []
    for i, topics in enumerate(field.parts):
        block = field.part(i)
        for part in cut_topics(block, _ROWS):
            paths.append(str(folder / f"block-{len(paths)}"))
            write_block(Path(paths[-1]), block.block(part))
            parts.append(range(topics.start + part.start, topics.start + part.stop))
    return OpenField(field.topics, parts, field.lengths, field.ranked, BlockFiles(paths))
