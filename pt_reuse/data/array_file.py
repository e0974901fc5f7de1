"""Files of arrays with a checksum for each part, and blocks of a field in them."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import threading
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from io import FileIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pt_reuse._check import shown
from pt_reuse._files import open_file, replacing
from pt_reuse._jobs import folder_for_jobs
from pt_reuse.arrays import tokens
from pt_reuse.arrays.field import Field, Late, LateField
from pt_reuse.arrays.open_field import AnyField, OpenField, Stacked, Stepped, cut_topics
from pt_reuse.arrays.places import Places
from pt_reuse.errors import InputError

_PAGE = 4096  # bytes
_PIECE = 1024  # pages of a file that one thread sums up
_AT_ONCE = 128  # pages, which stay in the processor's cache from one step to the next
_STEP = _AT_ONCE * _PAGE  # bytes
_HALF = np.uint64(32)  # bits


def checksums(paths: Sequence[str | Path], threads: int) -> list[str]:
    """Return a checksum of each of some files as they lie on the disk."""
    sizes = [os.stat(path).st_size for path in paths]
    pieces = [(i, at) for i, size in enumerate(sizes) for at in range(0, max(size, 1), _PIECE * _PAGE)]
    sums = [b""] * len(pieces)

    def work(first: int) -> None:
        # large arrays are made once in a thread
        summing = _Summing()
        for p in range(first, len(pieces), threads):
            i, at = pieces[p]
            try:
                sums[p] = summing.of(paths[i], at, sizes[i])
            except OSError as error:
                # a fault while reading does not name the file
                raise OSError(error.errno, error.strerror, str(paths[i])) from error

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, range(threads)))
    digests = [hashlib.sha256(size.to_bytes(8, "little")) for size in sizes]
    for (i, _), part in zip(pieces, sums, strict=True):
        digests[i].update(part)
    return [digest.hexdigest() for digest in digests]


def checksum_of(array: NDArray) -> str:
    """Return the checksum of the bytes of an array, that of a file which holds nothing else."""
    data = np.ascontiguousarray(array).view(np.uint8).reshape(-1)
    return _checksum(len(data), (data[at : at + _STEP] for at in range(0, len(data), _STEP)))


def _checksum(size: int, pieces: Iterable[NDArray[np.uint8]]) -> str:
    summing, digest = _Summing(size), hashlib.sha256(size.to_bytes(8, "little"))
    for piece in pieces:
        digest.update(b"".join(summing.sums(piece)))
    return digest.hexdigest()


class _Summing:
    """Sums up pieces of files."""

    def __init__(self, most: int = _STEP) -> None:
        self._bytes = np.empty(min(most, _STEP), dtype=np.uint8)
        self._upper = np.empty((len(self._bytes) // _PAGE, _PAGE // 8), dtype="<u8")

    def of(self, path: str | Path, at: int, size: int) -> bytes:
        """Return the sums of one piece of a file of a size, which begins at byte `at`."""
        parts: list[bytes] = []
        with open_file(path) as file:
            file.seek(at)
            for begin in range(at, max(min(at + _PIECE * _PAGE, size), at + 1), len(self._bytes)):
                wanted = min(size - begin, len(self._bytes))
                read = file.readinto(self._bytes.data[:wanted])
                parts += self.sums(self._bytes[:read])
                if read < wanted:
                    break
        return b"".join(parts)

    def sums(self, data: NDArray[np.uint8]) -> list[bytes]:
        """Return the sums of the whole pages of some bytes, and what stands behind the last of them."""
        pages = len(data) // _PAGE
        pairs, upper = data[: pages * _PAGE].view("<u8").reshape(pages, _PAGE // 8), self._upper[:pages]
        # (lower + 2^32 upper) a + upper b: so a is the number of the lower word, 2^32 a + b that of the upper
        np.right_shift(pairs, _HALF, out=upper)
        sums = pairs.dot(_WEIGHTS[0])
        sums += upper.dot(_WEIGHTS[1])
        return [sums.astype("<u8", copy=False).tobytes(), data[pages * _PAGE :].tobytes()]


def _odd_numbers(n: int) -> NDArray[np.uint64]:
    # the finaliser of splitmix64 (Steele, Lea and Flood 2014) spreads 1, 2, 3, ... over 64 bits
    mixed = np.arange(1, n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (mixed ^ (mixed >> np.uint64(31))) | np.uint64(1)


_WEIGHTS = _odd_numbers(_PAGE // 4).reshape(2, -1)


#: of every file; the number is to be raised when what stands where in a file changes
_MAGIC = b"PTREUSE1"
_WORD = 8
_ALIGNED = 64  # bytes, so that arrays of any kind may be used as they lie
_LONGEST_HEADER = 1 << 30


class DamagedError(Exception):
    """A file of arrays that is missing, cut off or altered; the message is a clause about the file."""


def write_arrays(path: Path, arrays: Mapping[str, NDArray], notes: Mapping[str, Any]) -> None:
    """Write arrays of one dimension and what JSON can hold; the file takes its place only when it is whole."""
    header: dict[str, Any] = {"notes": dict(notes), "arrays": {}}
    offset = 0
    for name, array in arrays.items():
        check, dtype = checksum_of(array), array.dtype.str
        header["arrays"][name] = {"dtype": dtype, "length": len(array), "offset": offset, "check": check}
        offset += -(-array.nbytes // _ALIGNED) * _ALIGNED
    text = json.dumps(header).encode("ascii")
    with replacing(path) as file:
        file.write(_MAGIC + len(text).to_bytes(_WORD, "little") + hashlib.sha256(text).digest() + text)
        file.write(bytes(-file.tell() % _ALIGNED))
        for array in arrays.values():
            file.write(np.ascontiguousarray(array).view(np.uint8).data)
            file.write(bytes(-array.nbytes % _ALIGNED))


@dataclass(frozen=True)
class ArrayFile:
    """A file that :func:`write_arrays` wrote."""

    path: Path
    held: int | None = None
    _lock: Any = dataclasses.field(default_factory=threading.Lock, compare=False)

    @cached_property
    def _read(self) -> tuple[dict[str, Any], int]:
        # the header, and where the arrays begin
        with self._opened() as file:
            head = file.read(len(_MAGIC) + _WORD + hashlib.sha256().digest_size)
            size, digest = int.from_bytes(head[len(_MAGIC) :][:_WORD], "little"), head[len(_MAGIC) + _WORD :]
            if not head.startswith(_MAGIC) or size > _LONGEST_HEADER:
                raise DamagedError("its header is damaged")
            text = file.read(size)
        if hashlib.sha256(text).digest() != digest:
            raise DamagedError("its header is damaged")
        at = len(head) + size
        return json.loads(text), at + -at % _ALIGNED

    @property
    def notes(self) -> dict[str, Any]:
        """Return what was written beside the arrays."""
        notes: dict[str, Any] = self._read[0]["notes"]
        return notes

    def read(self, *names: str) -> list[NDArray]:
        """Return some arrays; raise a DamagedError where one is not as it was written."""
        header, begin = self._read
        found = []
        with self._opened() as file:
            for name in names:
                said = header["arrays"].get(name)
                if said is None:
                    raise DamagedError(f"its array {name} is missing")
                array = np.empty(said["length"], dtype=said["dtype"])
                file.seek(begin + said["offset"])
                if filled(file, array) != array.nbytes:
                    raise DamagedError(f"its array {name} is cut off")
                if checksum_of(array) != said["check"]:
                    raise DamagedError(f"its array {name} is damaged")
                found.append(array)
        return found

    def check(self) -> None:
        """Raise where any array is not as it was written; none of them is ever whole in memory."""
        header, begin = self._read
        with self._opened() as file:
            for name, said in header["arrays"].items():
                file.seek(begin + said["offset"])
                size = said["length"] * np.dtype(said["dtype"]).itemsize
                if _checksum(size, _pieces(file, size)) != said["check"]:
                    raise DamagedError(f"its array {name} is damaged")

    @contextmanager
    def _opened(self) -> Iterator[FileIO]:
        try:
            with ExitStack() as stack:
                stack.enter_context(self._lock)
                file = FileIO(self.path) if self.held is None else FileIO(self.held, closefd=False)
                file.seek(0)
                yield stack.enter_context(file)
        except OSError as error:
            missing = isinstance(error, FileNotFoundError)
            why = "it is missing" if missing else f"it cannot be read ({error.strerror or error})"
            raise DamagedError(why) from error


def _pieces(file: FileIO, size: int) -> Iterator[NDArray[np.uint8]]:
    buffer = np.empty(min(size, _STEP), dtype=np.uint8)
    for at in range(0, size, _STEP):
        piece = buffer[: min(size - at, _STEP)]
        yield piece[: filled(file, piece)]


def filled(file: Any, array: NDArray) -> int:
    """Fill an array from an unbuffered file and return the bytes read, fewer than it has where the file ends."""
    # one read of the system may give less than asked for
    view, read = memoryview(array.reshape(-1).view(np.uint8).data) if array.nbytes else memoryview(b""), 0
    while read < array.nbytes and (n := file.readinto(view[read:])):
        read += n
    return read


#: the arrays of a block that counting needs, and those that are read when somebody asks for them
_EARLY = ("vocabulary", "topic_docs", "doc_starts", "starts", "codes", "ranked")
_LATE = ("scores", *(f"{order}_{part}" for order in ("file", "rank") for part in ("lists", "starts", "at", "values")))
_PLACES = ("lists", "starts", "at", "values")


def write_block(path: Path, field: Field) -> None:
    """Write a block; the file takes its place only when it is whole."""
    long = tokens.long_names_in(tokens.as_words(field.vocabulary))
    arrays = {name: getattr(field, name) for name in _EARLY}
    arrays["long_names"] = np.frombuffer(b"\0".join(long), dtype=np.uint8)
    arrays["scores"] = field.scores
    for order in ("file", "rank"):
        arrays |= {f"{order}_{part}": getattr(getattr(field, order), part) for part in _PLACES}
    write_arrays(path, arrays, {"topics": list(field.topics), "runs": field.n_runs})


def _read_block(path: Path, *, hold: bool) -> Field:
    try:
        held = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0)) if hold else None
    except OSError as error:
        raise DamagedError("it cannot be read") from error
    file = ArrayFile(path, held)
    if held is not None:
        weakref.finalize(file, os.close, held)
        file.check()
    *early, long = file.read(*_EARLY, "long_names")
    if len(long):
        tokens.keep_long_names(long.tobytes().split(b"\0"))

    def late() -> Late:
        with _telling(path):
            scores, *places = file.read(*_LATE)
        return Late(scores, Places(*places[:4]), Places(*places[4:]))

    topics, n_runs = tuple(file.notes["topics"]), int(file.notes["runs"])
    return LateField(late=late, n_runs=n_runs, topics=topics, **dict(zip(_EARLY, early, strict=True)))


_ENDING = ".block"


class DamagedBlockError(InputError):
    """A block of a store cannot be used; `clause` says so of the store."""

    clause = ""


def block_name(first: int, end: int) -> str:
    """Return the name of the file of a block: of its first topic, and of the one behind its last."""
    return f"{first:06}-{end:06}{_ENDING}"


@dataclass(frozen=True)
class StoredBlocks:
    """Blocks in files: the path of each, and how many topics it has."""

    files: tuple[tuple[str, int], ...]

    def only(self, blocks: Sequence[int]) -> StoredBlocks:
        """Return some of the blocks."""
        return StoredBlocks(tuple(self.files[i] for i in blocks))

    def places(self, i: int) -> list[str]:
        """Return the file of a block."""
        return [self.files[i][0]]

    def load(self, i: int, *, hold: bool = False) -> Field:
        """Return a block; its scores and places are read when somebody asks for them."""
        path, n_topics = Path(self.files[i][0]), self.files[i][1]
        with _telling(path):
            block = _read_block(path, hold=hold)
            if block.n_topics != n_topics:
                raise DamagedError("it is another block")
            return block


@contextmanager
def _telling(path: Path) -> Iterator[None]:
    try:
        yield
    except DamagedError as error:
        # another call has read other files, or in another way, into the same folder
        gone = not path.parent.exists()
        why = "the store was made anew, or removed, after these runs were read" if gone else error
        first = "R" if gone else f"Delete the folder {path.parent.parent} and r"
        found = DamagedBlockError(
            f"the block of {_topics_in(path)} cannot be used, as {why}: {path}. {first}ead the runs again."
        )
        found.clause = f"its block {path.name} cannot be used: {error}"
        raise found from error


def _topics_in(path: Path) -> str:
    # by their names, where the file still tells them
    try:
        names = ArrayFile(path).notes["topics"]
    except DamagedError:
        return "some topics"
    return f"topic {shown(names[0])}" if len(names) == 1 else f"topics {shown(names[0])} to {shown(names[-1])}"


#: rows of a block that is written for workers
_ROWS = 1 << 21


@contextmanager
def on_disk(field: AnyField) -> Iterator[OpenField]:
    """Give a field whose blocks all lie on disk; those of a field in memory lie there while the context lasts."""
    if isinstance(field, OpenField) and not _holds_arrays(field):
        yield field
        return
    with folder_for_jobs() as folder:
        files: list[tuple[str, int]] = []
        parts: list[range] = []
        for i, topics in enumerate(field.parts):
            block = field.part(i)
            for part in cut_topics(block, _ROWS):
                path = Path(folder) / f"block-{len(files)}"
                write_block(path, block.block(part))
                files.append((str(path), len(part)))
                parts.append(range(topics.start + part.start, topics.start + part.stop))
        yield OpenField(field.topics, parts, field.lengths, field.ranked, StoredBlocks(tuple(files)))


def _holds_arrays(field: AnyField) -> bool:
    if isinstance(field, Field):
        return True
    source = field.source
    while isinstance(source, Stepped):
        source = source.source
    return isinstance(source, Stacked) and any(_holds_arrays(one) for one in source.fields)
