"""Files for other processes of this machine, and from them: large arrays go through files, as pipes are slow."""

from __future__ import annotations

import mmap
import os
import pickle
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from pt_reuse._job_tasks import Outcome, Task, run_task

#: bytes from which on an array goes through the file
_LARGE = 1 << 16


def temporary_folder() -> str:
    """Return the folder in which files for workers are put: the one that joblib is told, else the system's."""
    from joblib import parallel

    # what parallel_config(temp_folder=...) says; joblib has no public way to ask
    settings = getattr(getattr(parallel, "_backend", None), "config", None) or {}
    folder = settings.get("temp_folder")
    return folder if isinstance(folder, str) else os.environ.get("JOBLIB_TEMP_FOLDER") or tempfile.gettempdir()


@dataclass(frozen=True)
class Parcel:
    """What came of a job; its large arrays are in a file.

    Attributes:
        packed: the outcome, without them.
        path: of the file.
        sizes: bytes of each array; each begins where memory can be mapped.
    """

    packed: bytes
    path: str
    sizes: list[int]

    def opened(self) -> Outcome[Any]:
        """Return the outcome; its large arrays are mapped, and the file goes with the last of them."""
        maps, at = [], 0
        with open(self.path, "rb") as file:
            for size in self.sizes:
                maps.append(mmap.mmap(file.fileno(), size, access=mmap.ACCESS_COPY, offset=at))
                at += _pages(size)
        with suppress(OSError):  # Windows keeps a file that is mapped
            os.unlink(self.path)
        outcome: Outcome[Any] = pickle.loads(self.packed, buffers=maps)
        return outcome


def run_packing(task: Task[Any], folder: str) -> Outcome[Any] | Parcel:
    """Do a job, and return what came of it; its large arrays through a file of a folder.

    Other parallel work inside of the job is done one at a time: the cores are those of the jobs beside it.
    """
    from joblib import parallel_config

    with parallel_config("threading", n_jobs=1):
        outcome = run_task(task)
    if not isinstance(outcome.value, dict):
        return outcome
    large: list[memoryview] = []

    def is_small(buffer: pickle.PickleBuffer) -> bool:
        view = buffer.raw()
        if view.nbytes >= _LARGE:
            large.append(view)
        return view.nbytes < _LARGE

    packed = pickle.dumps(outcome, protocol=5, buffer_callback=is_small)
    if not large:
        return outcome
    try:
        return Parcel(packed, _written(large, folder), [view.nbytes for view in large])
    except OSError:  # the disk is full: pipes need none
        return outcome


def _written(views: list[memoryview], folder: str) -> str:
    handle, path = tempfile.mkstemp(dir=folder)
    try:
        with os.fdopen(handle, "wb", buffering=0) as file:
            for view in views:
                begin, done = file.tell(), 0
                while done < view.nbytes:
                    done += file.write(view[done:])
                file.seek(begin + _pages(view.nbytes))
    except OSError:
        os.unlink(path)
        raise
    return path


def _pages(size: int) -> int:
    return -(-size // mmap.ALLOCATIONGRANULARITY) * mmap.ALLOCATIONGRANULARITY
