"""Arrays of many topics that are needed again and again: in memory, or in a file that jobs read, too."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pt_reuse._jobs import folder_for_jobs


class KeptArray(Protocol):
    """An array that is somewhere."""

    def get(self) -> NDArray[Any]:
        """Return it, to be read."""


@dataclass(frozen=True, eq=False)
class InMemory:
    """An array as it is."""

    array: NDArray[Any]

    def get(self) -> NDArray[Any]:
        """Return it."""
        return self.array


@dataclass(frozen=True)
class InFile:
    """An array in a file, of which the system holds what is being read; a job for another process takes the place."""

    path: str
    offset: int
    shape: tuple[int, ...]
    dtype: str

    def get(self) -> NDArray[Any]:
        """Return it."""
        if 0 in self.shape:
            return np.zeros(self.shape, dtype=self.dtype)
        return np.memmap(self.path, self.dtype, "r", self.offset, self.shape)


class Keeper:
    """Keeps arrays: in memory, or one after the other in a file.

    Args:
        path: of the file; None for memory.
    """

    def __init__(self, path: Path | None = None):
        self._path = path

    def keep(self, array: NDArray[Any]) -> KeptArray:
        """Keep an array."""
        if self._path is None:
            return InMemory(array)
        with self._path.open("ab") as file:
            kept = InFile(str(self._path), file.tell(), array.shape, array.dtype.str)
            array.tofile(file)
        return kept


@contextmanager
def keeper(*, in_file: bool) -> Iterator[Keeper]:
    """Give what keeps arrays for as long as the context lasts, in a file where they are too large or go to workers."""
    if not in_file:
        yield Keeper()
        return
    with folder_for_jobs() as folder:
        yield Keeper(Path(folder) / "topics")
