"""Arrays in an uncompressed ``.npz`` file, each with the checksum of the zip format, and notes beside them."""

from __future__ import annotations

import json
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray

from pt_reuse._files import open_file, replacing

_NOTES = "notes.json"


class DamagedError(Exception):
    """A file of arrays that is missing, cut off or altered; the message is a clause about the file."""


@contextmanager
def writing(path: Path) -> Iterator[ZipFile]:
    """Open a file of arrays, which takes its place only when it is whole."""
    with replacing(path) as file, ZipFile(file, "w") as archive:
        yield archive


def add_array(archive: ZipFile, name: str, array: NDArray) -> None:
    """Write an array to a file that is open."""
    with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
        np.lib.format.write_array(member, array, allow_pickle=False)


def add_notes(archive: ZipFile, notes: Mapping[str, Any]) -> None:
    """Write what JSON can hold to a file that is open."""
    archive.writestr(_NOTES, json.dumps(notes))


def write_arrays(path: Path, arrays: Mapping[str, NDArray], notes: Mapping[str, Any]) -> None:
    """Write arrays and what JSON can hold; the file takes its place only when it is whole."""
    with writing(path) as archive:
        for name, array in arrays.items():
            add_array(archive, name, array)
        add_notes(archive, notes)


class ArrayFile:
    """A file of arrays that is held open, so that it can be read when its path leads elsewhere."""

    def __init__(self, path: Path):
        self.path = path
        with _telling():
            file = open_file(path)
            try:
                self._archive = ZipFile(file)
            except BaseException:
                file.close()
                raise
        self._close = weakref.finalize(self, file.close)

    def __enter__(self) -> ArrayFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    @cached_property
    def notes(self) -> dict[str, Any]:
        """Return what was written beside the arrays; raise a DamagedError where it cannot be read."""
        with _telling():
            return dict(json.loads(self._archive.read(_NOTES)))

    def read(self, *names: str) -> list[NDArray]:
        """Return some arrays; raise a DamagedError where one is not as it was written."""
        with _telling():
            return [_read(self._archive, name) for name in names]


def _read(archive: ZipFile, name: str) -> NDArray:
    # whole, which compares the checksum; the array is a view of it, which numpy's own reader would copy piece by piece
    data = archive.read(f"{name}.npy")
    member = BytesIO(data)
    np.lib.format.read_magic(member)
    shape, fortran, dtype = np.lib.format.read_array_header_1_0(member)
    return np.frombuffer(data, dtype, offset=member.tell()).reshape(shape, order="F" if fortran else "C")


@contextmanager
def _telling() -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise DamagedError("it is missing") from error
    except OSError as error:
        raise DamagedError(f"it cannot be read ({error.strerror or error})") from error
    except Exception as error:
        # zipfile, numpy and json have classes of their own for what they find wrong; all mean damage
        raise DamagedError(f"it is damaged ({error})") from error
