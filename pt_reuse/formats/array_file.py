"""ArrayFile: arrays in one file, each with a checksum, read one by one into memory."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from io import FileIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pt_reuse._files import replacing
from pt_reuse.formats.checksum import checksum_of

#: of every file; the number is to be raised when what stands where in a file changes
_MAGIC = b"PTREUSE1"
_WORD = 8
_ALIGNED = 64  # bytes, so that arrays of any kind may be used as they lie
_LONGEST_HEADER = 1 << 30


class DamagedError(Exception):
    """A file of arrays that is missing, cut off or altered; the message is a clause about the file."""


def write_arrays(path: Path, arrays: Mapping[str, NDArray], notes: Mapping[str, Any]) -> None:
    """Write arrays of one dimension and what JSON can hold; the file takes its place only when it is whole.

    Raises:
        OSError: it cannot be written.
    """
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
    """A file that :func:`write_arrays` wrote.

    An array is checked as it is read, and lies in memory then: a map of a file that somebody cuts off ends the process.
    """

    path: Path

    @cached_property
    def _read(self) -> tuple[dict[str, Any], int]:
        # the header, and where the arrays begin
        with _opened(self.path) as file:
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

    def length(self, name: str) -> int:
        """Return the length of an array, which is not read for it."""
        return int(self._read[0]["arrays"][name]["length"])

    def read(self, *names: str) -> list[NDArray]:
        """Return some arrays.

        Raises:
            DamagedError: an array is not as it was written.
        """
        header, begin = self._read
        found = []
        with _opened(self.path) as file:
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

    def part(self, name: str, first: int, last: int) -> NDArray:
        """Return elements first to last of an array, the last one not counted, without a look at its checksum.

        Raises:
            DamagedError: the file ends before.
        """
        header, begin = self._read
        said = header["arrays"][name]
        array = np.empty(last - first, dtype=said["dtype"])
        with _opened(self.path) as file:
            file.seek(begin + said["offset"] + first * array.itemsize)
            if filled(file, array) != array.nbytes:
                raise DamagedError(f"its array {name} is cut off")
        return array

    def check(self) -> None:
        """Raise where any array is not as it was written."""
        for name in self._read[0]["arrays"]:
            self.read(name)


@contextmanager
def _opened(path: Path) -> Iterator[FileIO]:
    try:
        with FileIO(path) as file:
            yield file
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        raise DamagedError("it is missing" if missing else f"it cannot be read ({error.strerror or error})") from error


def filled(file: Any, array: NDArray) -> int:
    """Fill an array from an unbuffered file and return the bytes read, fewer than it has where the file ends."""
    # one read of the system may give less than asked for
    view, read = memoryview(array.reshape(-1).view(np.uint8).data) if array.nbytes else memoryview(b""), 0
    while read < array.nbytes and (n := file.readinto(view[read:])):
        read += n
    return read
